//! The rows of cft_retrieve: what belongs to a question, each row with its reason.

use crate::call::work_memory::Room;
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::documents::Documents;
use crate::catalog::registration::Functions;
use crate::error::Fallible;
use crate::methods::walker::Walker;
use crate::retrieve::about::{About, Among, Key, Related};
use crate::retrieve::hierarchy::{Hierarchy, Matters};
use crate::retrieve::line::{Gathered, Line, fit, head, sentences, shorten};
use crate::retrieve::named;
use crate::retrieve::named::{Named, Way, Words};
use crate::retrieve::place::{Paths, in_one_line, paths};
use crate::retrieve::question::{Mode, Request};
use crate::retrieve::ranked::{Document, fused, nearest};
use crate::retrieve::words;
use crate::retrieve::words::Weighed;
use cftrag_methods::retrieve::budget::Source;
use cftrag_methods::retrieve::{budget, prompt};
use pgrx::check_for_interrupts;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Where equal texts take the places of others, lists so many times as long are read, up to so many documents.
const MORE: usize = 8;
const LISTED: usize = 1000;

/// Bytes of a document or a row in a list, besides its texts.
const EACH: usize = 256;

/// What is shown beside a text is cut to this part of a budget.
const OF_SHOWN: usize = 4;

/// A path that takes more than this part of a budget is its last name alone.
const OF_PATH: usize = 20;

/// Gathers the rows, in the order documents, hierarchy, chunks. Errors: 22023, those of cft_entities,
/// cft_nearest_documents, cft_context_parts and cft_chunks; 53400, 53200 (memory).
pub fn gather(asked: &Request) -> Fallible<Gathered> {
    asked.check()?;
    let functions = Functions::beside(asked.function);
    // Without an embedding no documents need be attached.
    let documents = Documents::of(functions, asked.documents, asked.wanted.embedding.is_some())?;
    // A column of texts whose index is gone cannot be searched by words.
    let can_search = |of: &Rc<Documents>| of.search.is_some() && words::require(of).is_ok();
    let has_words = asked.mode.is_none() && documents.as_ref().is_some_and(can_search);
    let usual = if has_words { Mode::Hybrid } else { Mode::Cft };
    let asked = &Request { mode: asked.mode.or(Some(usual)), ..*asked };
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
    let near = |names: &[(&[u8], bool)], most: i32| match &documents {
        None => Ok(Vec::new()),
        Some(documents) if asked.mode() == Mode::Hybrid && asked.k > 0 => {
            fused(asked, documents, about.is_some(), names, words.as_ref().map(|words| &words.weighed), most)
        }
        Some(documents) => nearest(asked, documents, most),
    };
    // Where the question names nothing, what the documents are about speaks for it.
    let is_about = about.is_some() && asked.question.is_some() && asked.mode().reads_names();
    let found = if named.is_empty() && is_about { Some(near(&[], asked.k)?) } else { None };
    if let Some(found) = &found {
        named = named::most_of(found.iter().take(asked.k as usize).map(|one| one.entity.as_deref()));
        named::call(asked.function, asked.wanted.edges, &mut named)?;
    }
    let names: Vec<&[u8]> = named.iter().map(|named| named.entity.as_slice()).collect(); // bounded: those that were found
    let (mut hierarchy, is_above) = hierarchy_of(asked, &named, &names)?;
    let ways = named::ways(&named, &hierarchy, &is_above, words.as_ref());
    hierarchy.sentences.retain(|sentence| match ways[sentence.of] {
        Way::Whole => true,
        Way::Place => sentence.is_upward(),
        Way::Nothing => false,
    });
    let told: Vec<usize> = (0..named.len()).filter(|&n| ways[n] != Way::Nothing).collect(); // bounded: the names
    let is_asked = |n| words.as_ref().is_none_or(|words| !words.is(n, Weighed::lacks_the_rarest));
    let names_told: Vec<(&[u8], bool)> = told.iter().map(|&n| (names[n], is_asked(n))).collect(); // bounded: the names
    let (mut lines, mut most, mut found) = (Lines::default(), asked.k, found);
    let others = loop {
        let found = found.take().map_or_else(|| near(&names_told, most), Ok)?;
        let is_all = found.len() < most as usize || most as usize > LISTED;
        let keys = lines.of_documents(asked, found)?;
        // Of equal texts one counts: more are read until there are enough.
        if is_all || lines.all.len() >= asked.k as usize {
            break keys;
        }
        (lines, most) = (Lines::default(), most * MORE as i32);
    };
    if let Some(documents) = about {
        lines.of_chunks(asked, documents, &named, &told, &others, words.as_ref())?;
    }
    let mut lines = lines.all;
    let paths = if asked.mode() == Mode::Text { Paths::new() } else { paths_of(asked, &lines, &names)? };
    hierarchy.go_to_the_top(&names, &paths)?;
    place(&mut lines, &paths, &hierarchy.placed(&names), asked.wanted.budget)?;
    let entities = lines.iter().filter_map(|line| line.entity.clone()).collect::<HashSet<_>>(); // bounded: the lines
    let matters = Matters {
        entities: entities.iter().map(Vec::as_slice).collect(), // bounded: the lines
        words: asked.question.map(named::words_of).unwrap_or_default(),
    };
    hierarchy.write(asked.of_hierarchy(), &matters)?;
    if let (Some(expand), Some(documents)) = (asked.expand, &documents) {
        let sentences = hierarchy.sentences.iter().map(|sentence| budget::tokens(&sentence.text));
        let taken: usize = lines.iter().map(|line| line.tokens as usize + head(line)).chain(sentences).sum();
        let rest = asked.wanted.budget.map(|budget| budget.saturating_sub(i32::try_from(taken).unwrap_or(i32::MAX)));
        expand.lines(&asked.wanted, documents, &mut lines, rest)?;
    }
    let first = lines.iter().take_while(|line| line.source == Source::Document).count();
    lines.splice(first..first, sentences(&mut hierarchy, &named));
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
    /// Whether a line shows that text already, of which another document has so many tokens; its reason then says
    /// which.
    fn has(&mut self, asked: &Request, one: [&Option<Vec<u8>>; 3], tokens: i32) -> Fallible<bool> {
        let [Some(text), shown, id] = one else { return Ok(false) };
        // Of a text that is longer than the budget only the beginning is known.
        if asked.wanted.budget.is_some_and(|budget| tokens > budget) {
            return Ok(false);
        }
        self.room.take(EACH + text.len() + shown.as_ref().map_or(0, Vec::len))?;
        let key = (text.clone(), shown.clone());
        let known = *self.texts.entry(key).or_insert(self.all.len());
        let Some(line) = self.all.get_mut(known) else { return Ok(false) };
        if let Some(id) = id.as_ref().filter(|id| line.document.as_ref() != Some(*id)) {
            self.room.take(EACH + id.len())?;
            line.same.push(id.clone());
        }
        Ok(true)
    }

    /// Adds the documents, at most `k`; returns the keys of those that were read, in order.
    fn of_documents(&mut self, asked: &Request, documents: Vec<Document>) -> Fallible<Vec<Key>> {
        let (count, mut keys) = (documents.len().min(asked.k as usize), Vec::new());
        for document in documents {
            check_for_interrupts!();
            let rank = self.all.len() as i32 + 1;
            if rank > asked.k {
                break;
            }
            keys.push((document.id.clone(), document.body.clone()));
            if self.has(asked, [&document.body, &document.shown, &document.id], document.tokens)? {
                continue;
            }
            let why = match asked.mode() {
                Mode::Hybrid => {
                    let each = document.lists.iter().map(|(list, place)| format!("{list} {place}"));
                    let lists: Vec<_> = each.collect(); // bounded: three
                    let by = match document.first {
                        _ if document.is_own => "what the question names",
                        Some(_) => "the question's words",
                        None => "reciprocal rank",
                    };
                    format!("number {rank} of {count} by {by}: {}", lists.join(", "))
                }
                _ if (count as i64) < i64::from(asked.k) => {
                    format!("number {rank} of the {count} documents that can be compared")
                }
                _ => format!("number {rank} of the {count} nearest documents"),
            };
            let why = why.into_bytes();
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
                same: Vec::new(),
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
        asked: &Request,
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
        let words = words.map(|words| &words.weighed);
        // Of equal texts one counts: more are read until there are enough.
        let (first, mut read, mut limit) = (self.all.len(), 0, most);
        while self.all.len() - first < most {
            let among = Among { reach: asked.reach(), most: Some(limit), words, others };
            let found = asked.wanted.about_all(asked.function, documents, &names, &among)?;
            let is_all = found.len() < limit || limit > LISTED;
            for one in found.into_iter().skip(std::mem::replace(&mut read, limit)) {
                check_for_interrupts!();
                if self.all.len() - first < most && !self.has(asked, [&one.body, &one.shown, &one.id], one.tokens)? {
                    let rank = (self.all.len() - first) as i32 + 1;
                    self.add_chunk(one, rank, named, told)?;
                }
            }
            if is_all {
                break;
            }
            limit *= MORE;
        }
        Ok(())
    }

    fn add_chunk(&mut self, one: About, rank: i32, named: &[Named], told: &[usize]) -> Fallible<()> {
        let Named { called, why: mentioned, .. } = &named[told[one.of]];
        let about = if one.is_mention { "mentions" } else { "about" };
        let whom = match one.related {
            Related::Itself => "",
            Related::Ancestor => " an ancestor of",
            Related::Descendant => " a descendant of",
        };
        let depth = if one.depth == 0 { String::new() } else { format!(" (depth {})", one.depth) };
        let why =
            [about.as_bytes(), whom.as_bytes(), b" \"", called, b"\"", depth.as_bytes(), b", ", mentioned].concat();
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
            same: Vec::new(),
            shown: one.shown,
            path: None,
            place: None,
        });
        Ok(())
    }
}

/// Says of each document where it belongs: the path to its entity, or of one that the hierarchy places, or of a path
/// that is long for the budget, its name.
fn place(lines: &mut [Line], paths: &Paths, placed: &HashSet<Vec<u8>>, budget: Option<i32>) -> Fallible<()> {
    let mut room = Room::new();
    for line in lines {
        check_for_interrupts!();
        if let Some(shown) = &mut line.shown {
            *shown = in_one_line(shown);
            if let Some(budget) = budget {
                shorten(shown, budget as usize / OF_SHOWN);
            }
        }
        let Some((entity, path)) = line.entity.as_ref().and_then(|entity| paths.get_key_value(entity)) else {
            continue;
        };
        // The path, and what is written of it.
        room.take(2 * path.bytes())?;
        let text = path.text();
        let is_long = budget.is_some_and(|budget| budget::tokens(&text) > budget as usize / OF_PATH);
        let called = path.names.last().map(|(_, called)| &called[..]).unwrap_or_default();
        line.place = Some(match is_long || placed.contains(entity) {
            true => prompt::unless_first(called, line.text.as_deref().unwrap_or_default()).to_vec(), // bounded: a label
            false => text.clone(),
        });
        line.path = Some(text);
    }
    Ok(())
}

/// Where the entities, and those that documents are about, are in the hierarchy.
fn paths_of(asked: &Request, lines: &[Line], names: &[&[u8]]) -> Fallible<Paths> {
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
fn named(asked: &Request) -> Fallible<Vec<Named>> {
    let Request { function, wanted, .. } = *asked;
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
fn hierarchy_of(asked: &Request, named: &[Named], names: &[&[u8]]) -> Fallible<(Hierarchy, HashSet<usize>)> {
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
