//! The rows of cft_retrieve: what belongs to a question, each row with its reason.

use crate::call::work_memory::Room;
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::documents::Documents;
use crate::catalog::registration::Functions;
use crate::error::Fallible;
use crate::methods::walker::Walker;
use crate::retrieve::about::{Among, Key, Related};
use crate::retrieve::hierarchy::{Hierarchy, Matters};
use crate::retrieve::line::{Gathered, Line, fit, sentences};
use crate::retrieve::named;
use crate::retrieve::named::{Named, Way, Words};
use crate::retrieve::place::{Paths, paths};
use crate::retrieve::question::{Asked, Mode};
use crate::retrieve::ranked::{Document, fused, nearest};
use crate::retrieve::words;
use cftrag_methods::retrieve::budget::Source;
use cftrag_methods::retrieve::{budget, prompt};
use pgrx::check_for_interrupts;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Bytes of a document or a row in a list, besides its texts.
const EACH: usize = 256;

/// A path that takes more than this part of a budget is its last name alone.
const OF_PATH: usize = 20;

/// Gathers the rows, in the order documents, hierarchy, chunks. Errors: 22023, those of cft_entities, cft_nearest_documents, cft_context_parts and
/// cft_chunks; 53400, 53200 (memory).
pub fn gather(asked: &Asked) -> Fallible<Gathered> {
    asked.check()?;
    let functions = Functions::beside(asked.function);
    // Without an embedding no documents need be attached.
    let documents = Documents::of(functions, asked.documents, asked.wanted.embedding.is_some())?;
    // A column of texts whose index is gone cannot be searched by words.
    let can_search = |of: &Rc<Documents>| of.search.is_some() && words::require(of).is_ok();
    let has_words = asked.mode.is_none() && documents.as_ref().is_some_and(can_search);
    let usual = if has_words { Mode::Hybrid } else { Mode::Cft };
    let asked = &Asked { mode: asked.mode.or(Some(usual)), ..*asked };
    let about = documents.as_ref().filter(|documents| documents.has_entities());
    let mut named = named(asked)?;
    let words = match (&documents, asked.question) {
        (Some(documents), Some(question)) if asked.mode() == Mode::Hybrid && asked.k > 0 && can_search(documents) => {
            let mut words = Words::of(&asked.wanted, documents, asked.k, question, &named)?;
            words.leave_out_spelled(&mut named);
            Some(words)
        }
        _ => None,
    };
    let near = |names: &[&[u8]]| match &documents {
        None => Ok(Vec::new()),
        Some(documents) if asked.mode() == Mode::Hybrid && asked.k > 0 => {
            fused(asked, documents, about.is_some(), names, words.as_ref().map(|words| &words.weighed))
        }
        Some(documents) => nearest(asked, documents),
    };
    // Where the question names nothing, what the documents are about speaks for it.
    let is_about = about.is_some() && asked.question.is_some() && asked.mode().reads_names();
    let found = if named.is_empty() && is_about { Some(near(&[])?) } else { None };
    if let Some(found) = &found {
        named = named::most_of(found.iter().map(|one| one.entity.as_deref()));
        named::call(asked.function, asked.wanted.edges, &mut named)?;
    }
    let names: Vec<&[u8]> = named.iter().map(|named| named.entity.as_slice()).collect(); // bounded: those that were found
    let (mut hierarchy, is_above) = hierarchy_of(asked, &named, &names)?;
    let ways = named::ways(&named, &is_above, words.as_ref());
    hierarchy.sentences.retain(|sentence| match ways[sentence.of] {
        Way::Whole => true,
        Way::Place => sentence.is_upward(),
        Way::Nothing => false,
    });
    let told: Vec<usize> = (0..named.len()).filter(|&n| ways[n] != Way::Nothing).collect(); // bounded: the names
    let mut lines = Lines::default();
    let found = match found {
        Some(found) => found,
        None => near(&told.iter().map(|&n| names[n]).collect::<Vec<_>>())?, // bounded: the names
    };
    let others = lines.of_documents(asked, found)?;
    if let Some(documents) = about {
        lines.of_chunks(asked, documents, &named, &told, &others, words.as_ref())?;
    }
    let mut lines = lines.all;
    let paths = if asked.mode() == Mode::Text { Paths::new() } else { paths_of(asked, &lines, &names)? };
    hierarchy.go_to_the_top(&names, &paths)?;
    place(&mut lines, &paths, &hierarchy.placed(&names), asked.wanted.budget);
    let entities = lines.iter().filter_map(|line| line.entity.clone()).collect::<HashSet<_>>(); // bounded: the lines
    let matters = Matters {
        entities: entities.iter().map(Vec::as_slice).collect(), // bounded: the lines
        words: asked.question.map(named::words_of).unwrap_or_default(),
    };
    hierarchy.write(&matters)?;
    let first = lines.iter().take_while(|line| line.source == Source::Document).count();
    lines.splice(first..first, sentences(&hierarchy, &named));
    let mut all = Gathered { lines, left_out: [0; 2] };
    fit(asked.wanted.budget, &mut all, first, &mut hierarchy, &named, &matters)?;
    Ok(all)
}

/// Rows that are being gathered.
#[derive(Default)]
struct Lines {
    all: Vec<Line>,
    /// Each text with what is shown beside it, and the line that has it.
    texts: HashMap<(Vec<u8>, Option<Vec<u8>>), usize>,
    room: Room,
}

impl Lines {
    /// Whether a line shows that text already; its reason then says that another document has it, too.
    fn has(&mut self, text: Option<&[u8]>, shown: Option<&[u8]>, id: Option<&[u8]>) -> Fallible<bool> {
        let Some(text) = text else { return Ok(false) };
        self.room.take(EACH + text.len() + shown.map_or(0, <[u8]>::len))?;
        let key = (text.to_vec(), shown.map(<[u8]>::to_vec)); // bounded: `room` has it
        let known = *self.texts.entry(key).or_insert(self.all.len());
        let Some(line) = self.all.get_mut(known) else { return Ok(false) };
        if let Some(id) = id.filter(|id| line.document.as_deref() != Some(*id)) {
            self.room.take(EACH + id.len())?;
            line.why.extend_from_slice(&[b", the same text as ", id].concat());
        }
        Ok(true)
    }

    /// Adds the documents; returns their keys, in order.
    fn of_documents(&mut self, asked: &Asked, documents: Vec<Document>) -> Fallible<Vec<Key>> {
        let (count, mut keys) = (documents.len(), Vec::new());
        let mut ranks = 1..;
        for document in documents {
            check_for_interrupts!();
            keys.push((document.id.clone(), document.body.clone()));
            let is_there = self.has(document.body.as_deref(), document.shown.as_deref(), document.id.as_deref())?;
            if is_there {
                continue;
            }
            let rank = ranks.next().unwrap_or(i32::MAX);
            let why = match asked.mode() {
                Mode::Hybrid => {
                    let each = document.lists.iter().map(|(list, place)| format!("{list} {place}"));
                    let lists: Vec<_> = each.collect(); // bounded: three
                    let by = if document.first.is_some() { "the question's words" } else { "reciprocal rank" };
                    format!("number {rank} of {count} by {by}: {}", lists.join(", "))
                }
                _ if (count as i64) < i64::from(asked.k) => {
                    format!("number {rank} of the {count} documents that can be compared")
                }
                _ => format!("number {rank} of the {count} nearest documents"),
            };
            let mut why = why.into_bytes();
            document.same.iter().for_each(|id| why.extend_from_slice(&[b", the same text as ", &id[..]].concat()));
            self.room.take(2 * EACH + document.bytes() + why.len())?;
            self.all.push(Line {
                source: Source::Document,
                entity: document.entity,
                document: document.id,
                rank,
                distance: document.distance,
                text: document.body,
                tokens: document.tokens,
                why,
                shown: document.shown,
                path: None,
                place: None,
            });
        }
        Ok(keys)
    }

    /// Adds the chunks: documents about the entities and their relatives, but none of `others`.
    fn of_chunks(
        &mut self,
        asked: &Asked,
        documents: &Documents,
        named: &[Named],
        told: &[usize],
        others: &[Key],
        words: Option<&Words>,
    ) -> Fallible<()> {
        let most = usize::try_from(asked.chunks.unwrap_or(asked.k)).unwrap_or_default();
        if most == 0 || told.is_empty() {
            return Ok(());
        }
        let names: Vec<&[u8]> = told.iter().map(|&n| named[n].entity.as_slice()).collect(); // bounded: the names
        let among = Among { reach: asked.reach(), most: Some(most), words: words.map(|words| &words.weighed), others };
        let found = asked.wanted.about_all(asked.function, documents, &names, &among)?;
        let mut ranks = 1..;
        for one in found {
            check_for_interrupts!();
            if self.has(one.body.as_deref(), one.shown.as_deref(), one.id.as_deref())? {
                continue;
            }
            let rank = ranks.next().unwrap_or(i32::MAX);
            let Named { called, why: mentioned, .. } = &named[told[one.of]];
            let about = match one.related {
                Related::Itself => "about",
                Related::Ancestor => "about an ancestor of",
                Related::Descendant => "about a descendant of",
            };
            let depth = if one.depth == 0 { String::new() } else { format!(" (depth {})", one.depth) };
            let why = [about.as_bytes(), b" \"", called, b"\"", depth.as_bytes(), b", ", mentioned].concat();
            self.room.take(EACH + why.len())?;
            self.all.push(Line {
                source: Source::Chunk,
                entity: Some(one.relative),
                document: one.id,
                rank,
                distance: one.distance,
                text: one.body,
                tokens: one.tokens,
                why,
                shown: one.shown,
                path: None,
                place: None,
            });
        }
        Ok(())
    }
}

/// Says of each document where it belongs: the path to its entity, or of one that the hierarchy places, or of a path that is long for the budget, its name.
fn place(lines: &mut [Line], paths: &Paths, placed: &HashSet<Vec<u8>>, budget: Option<i32>) {
    for line in lines {
        let Some((entity, path)) = line.entity.as_ref().and_then(|entity| paths.get_key_value(entity)) else {
            continue;
        };
        let text = path.text();
        let is_long = budget.is_some_and(|budget| budget::tokens(&text) > budget as usize / OF_PATH);
        let called = path.names.last().map(|(_, called)| &called[..]).unwrap_or_default();
        line.place = Some(match is_long || placed.contains(entity) {
            true => prompt::unless_first(called, line.text.as_deref().unwrap_or_default()).to_vec(), // bounded: a label
            false => text.clone(),
        });
        line.path = Some(text);
    }
}

/// Where the entities, and those that documents are about, are in the hierarchy.
fn paths_of(asked: &Asked, lines: &[Line], names: &[&[u8]]) -> Fallible<Paths> {
    let mut entities: Vec<&[u8]> = lines.iter().filter_map(|line| line.entity.as_deref()).collect(); // bounded: the lines
    entities.extend_from_slice(names);
    entities.sort_unstable();
    entities.dedup();
    // Documents may be about entities of no hierarchy that is attached.
    match AttachedTable::of(asked.function, asked.wanted.edges) {
        Ok(of) if !entities.is_empty() => paths(&Walker { of, trees: asked.wanted.trees }, &entities),
        _ => Ok(Paths::new()),
    }
}

/// The entities of the question.
fn named(asked: &Asked) -> Fallible<Vec<Named>> {
    let Asked { function, wanted, .. } = *asked;
    let mut all = match (asked.mode(), asked.question) {
        (Mode::Cft | Mode::Hybrid | Mode::Naive, Some(question)) => {
            named::mentioned(function, &wanted, question, asked.matching, asked.narrow)?
        }
        (Mode::AnnTree | Mode::AnnGraph, _) => named::nearest(function, &wanted, asked.k, asked.documents)?,
        _ => return Ok(Vec::new()),
    };
    named::call(function, wanted.edges, &mut all)?;
    Ok(all)
}

/// The sentences about the entities, and which of these are above others.
fn hierarchy_of(asked: &Asked, named: &[Named], names: &[&[u8]]) -> Fallible<(Hierarchy, HashSet<usize>)> {
    let mut is_above = HashSet::new(); // bounded: the names
    if names.is_empty() {
        return Ok((Hierarchy::default(), is_above));
    }
    let of = asked.of_hierarchy();
    let behind: Vec<Vec<u8>> = named.iter().map(Named::behind).collect(); // bounded: the names
    let mut hierarchy = match asked.mode() {
        Mode::Text => Hierarchy::default(),
        Mode::Cft | Mode::Hybrid | Mode::AnnTree => Hierarchy::of(of, names, &behind)?,
        Mode::Naive => Hierarchy::by_search(of, names, &behind)?,
        Mode::AnnGraph => Hierarchy::of_neighbors(of, names, asked.down.max(1))?,
    };
    if asked.mode().reads_names() && names.len() > 1 && asked.up > 0 {
        is_above = hierarchy.relate(of, names)?;
    }
    Ok((hierarchy, is_above))
}
