//! The rows of cft_retrieve: what belongs to a question, each row with its reason.

use crate::call::fmgr::characters;
use crate::call::work_memory::Room;
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::documents::{Documents, Embeddings};
use crate::catalog::registration::Functions;
use crate::error;
use crate::error::Fallible;
use crate::guc::Match;
use crate::pg::interrupt::check_interrupts;
use crate::retrieve::about::{Key, Related};
use crate::retrieve::documents::{COLUMNS, Wanted};
use crate::retrieve::found::{Found, Row};
use crate::retrieve::hierarchy;
use crate::retrieve::hierarchy::Hierarchy;
use crate::retrieve::mentioned::first_mentions;
use crate::retrieve::words;
use crate::retrieve::words::{BESIDE, WITH_WEIGHTS};
use crate::serve::asked::{Question, Reach};
use crate::serve::labels::Labels;
use cftrag_core::Interruptible;
use cftrag_methods::retrieve::budget::Source;
use cftrag_methods::retrieve::{budget, fuse};
use pgrx::{check_for_interrupts, pg_sys};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// By what the documents and the entities of a question are found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The nearest documents; the entities that the question mentions.
    Cft,
    /// The documents by reciprocal rank fusion of the nearest, those with its words, and those about its entities; first those that have more of the
    /// question's words than any of its mentions.
    Hybrid,
    /// Baselines of the papers (docs/methods.md).
    Text,
    Naive,
    AnnTree,
    AnnGraph,
}

impl Mode {
    /// The mode of that name. 22023 if there is none.
    pub fn of(name: &[u8]) -> Fallible<Self> {
        Ok(match name {
            b"cft" => Self::Cft,
            b"hybrid" => Self::Hybrid,
            b"text" => Self::Text,
            b"naive" => Self::Naive,
            b"ann_tree" => Self::AnnTree,
            b"ann_graph" => Self::AnnGraph,
            _ => return Err(error::no_such_mode(name)),
        })
    }

    fn reads_names(self) -> bool {
        matches!(self, Self::Cft | Self::Hybrid | Self::Naive)
    }
}

/// The arguments of cft_retrieve.
#[derive(Clone, Copy)]
pub struct Asked {
    pub function: pg_sys::Oid,
    /// A text value.
    pub question: Option<pg_sys::Datum>,
    pub wanted: Wanted,
    pub k: i32,
    pub chunks: Option<i32>,
    pub up: i32,
    pub down: i32,
    /// None: hybrid, where the documents are attached for search by words and can be searched, else cft.
    pub mode: Option<Mode>,
    pub documents: Option<pg_sys::Oid>,
    pub matching: Match,
    pub narrow: bool,
}

/// A row of the result.
pub struct Line {
    pub source: Source,
    pub entity: Option<Vec<u8>>,
    pub document: Option<Vec<u8>>,
    pub rank: i32,
    pub distance: Option<f64>,
    pub text: Option<Vec<u8>>,
    pub tokens: i32,
    pub why: Vec<u8>,
}

/// An entity of the question, and why it is one.
struct Named {
    entity: Vec<u8>,
    why: Vec<u8>,
    /// How the question writes it; empty if it does not.
    mention: Vec<u8>,
    called: Vec<u8>,
}

/// A document that was found.
struct Document {
    id: Option<Vec<u8>>,
    entity: Option<Vec<u8>>,
    body: Option<Vec<u8>>,
    tokens: i32,
    distance: Option<f64>,
    /// The lists that have it, and its places there.
    lists: Vec<(&'static str, u32)>,
    score: u64,
    /// Its place among those that come first.
    first: Option<u32>,
}

impl Document {
    /// Bytes of its id and text.
    fn bytes(&self) -> usize {
        [&self.id, &self.body].into_iter().flatten().map(Vec::len).sum()
    }
}

/// Bytes of a document or a row in a list, besides its texts.
const EACH: usize = 256;

/// Different mentions whose words are weighed.
const MENTIONS: usize = 1000;

/// Rows of each list that is fused, at least: what an HNSW index returns at once.
const FUSED: i32 = 40;

/// Gathers the rows, in the order documents, hierarchy, chunks. Errors: 22023, those of cft_entities, cft_nearest_documents, cft_context_parts and
/// cft_chunks; 53400, 53200 (memory).
pub fn gather(asked: &Asked) -> Fallible<Vec<Line>> {
    check(asked)?;
    let functions = Functions::beside(asked.function);
    // Without an embedding no documents need be attached.
    let documents = Documents::of(functions, asked.documents, asked.wanted.embedding.is_some())?;
    // A column of texts whose index is gone cannot be searched by words.
    let can_search = |of: &Rc<Documents>| of.search.is_some() && words::require(of).is_ok();
    let has_words = asked.mode.is_none() && documents.as_ref().is_some_and(can_search);
    let usual = if has_words { Mode::Hybrid } else { Mode::Cft };
    let asked = &Asked { mode: asked.mode.or(Some(usual)), ..*asked };
    let named = named(asked)?;
    let names: Vec<&[u8]> = named.iter().map(|named| named.entity.as_slice()).collect(); // bounded: those that were found
    let (mut hierarchy, told) = hierarchy_of(asked, &names)?;
    let told: Vec<usize> = (0..names.len()).filter(|&n| told[n]).collect(); // bounded: the names
    let about = documents.as_ref().filter(|documents| documents.has_entities());
    let near = match &documents {
        None => Vec::new(),
        Some(documents) if asked.mode() == Mode::Hybrid && asked.k > 0 => {
            fused(asked, documents, about.is_some(), &named, &told)?
        }
        Some(documents) => nearest(asked, documents)?,
    };
    let mut lines = Lines::default();
    let others = lines.of_documents(asked, near)?;
    lines.of_sentences(&hierarchy, &named)?;
    if let Some(documents) = about {
        lines.of_chunks(asked, documents, &named, &told, &others)?;
    }
    let (mut lines, count) = (lines.all, others.len());
    let taken = within_budget(asked, &lines, count, &mut hierarchy, &named);
    for (n, sentence) in hierarchy.sentences.into_iter().enumerate() {
        let line = &mut lines[count + n];
        line.tokens = sentence.tokens() as i32;
        line.text = Some(sentence.text);
    }
    if let Some(taken) = taken {
        let mut is_taken = taken.into_iter();
        lines.retain(|_| is_taken.next() == Some(true));
    }
    Ok(lines)
}

/// Rows that are being gathered.
#[derive(Default)]
struct Lines {
    all: Vec<Line>,
    room: Room,
}

impl Lines {
    /// Adds the documents; returns their keys, in order.
    fn of_documents(&mut self, asked: &Asked, documents: Vec<Document>) -> Fallible<Vec<Key>> {
        let (count, mut keys) = (documents.len(), Vec::new());
        for (document, rank) in documents.into_iter().zip(1..) {
            check_for_interrupts!();
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
            self.room.take(2 * EACH + document.bytes())?;
            keys.push((document.id.clone(), document.body.clone()));
            self.all.push(Line {
                source: Source::Document,
                entity: document.entity,
                document: document.id,
                rank,
                distance: document.distance,
                text: document.body,
                tokens: document.tokens,
                why: why.into_bytes(),
            });
        }
        Ok(keys)
    }

    /// Adds the sentences, without their texts, which a budget may shorten.
    fn of_sentences(&mut self, hierarchy: &Hierarchy, named: &[Named]) -> Fallible<()> {
        for (sentence, rank) in hierarchy.sentences.iter().zip(1..) {
            check_for_interrupts!();
            let Named { entity, why, .. } = &named[sentence.of];
            self.room.take(EACH + entity.len() + why.len() + sentence.text.len())?;
            self.all.push(Line {
                source: Source::Hierarchy,
                entity: Some(entity.clone()),
                document: None,
                rank,
                distance: None,
                text: None,
                tokens: sentence.tokens() as i32,
                why: why.clone(),
            });
        }
        Ok(())
    }

    /// Adds the chunks: documents about the entities of these numbers and their relatives, but none of `others`.
    fn of_chunks(
        &mut self,
        asked: &Asked,
        documents: &Documents,
        named: &[Named],
        told: &[usize],
        others: &[Key],
    ) -> Fallible<()> {
        let most = usize::try_from(asked.chunks.unwrap_or(asked.k)).unwrap_or_default();
        if most == 0 || told.is_empty() {
            return Ok(());
        }
        let names: Vec<&[u8]> = told.iter().map(|&n| named[n].entity.as_slice()).collect(); // bounded: the names
        let found = asked.wanted.about_all(asked.function, documents, &names, asked.reach(), Some(most), others)?;
        for (one, rank) in found.into_iter().zip(1..) {
            check_for_interrupts!();
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
            });
        }
        Ok(())
    }
}

/// Which lines fit the budget, if there is one. Of the sentences, which are the lines from `first` on, those that do not fit are shortened.
fn within_budget(
    asked: &Asked,
    lines: &[Line],
    first: usize,
    hierarchy: &mut Hierarchy,
    named: &[Named],
) -> Option<Vec<bool>> {
    /// Characters of a sentence besides the entity's label, at least.
    const LEAST: usize = 40;
    let budget = asked.wanted.budget?;
    let items: Vec<budget::Item> =
        lines.iter().map(|line| (line.source, line.rank as u32, line.tokens as usize)).collect(); // bounded: the lines
    let cut = |n: usize, room: usize| {
        let sentence = &mut hierarchy.sentences[n - first];
        let fits = (characters(&named[sentence.of].called) + LEAST) / 4 <= room;
        if fits && asked.mode() != Mode::AnnGraph { sentence.cut(room) } else { None }
    };
    Some(budget::taken(&items, usize::try_from(budget).unwrap_or_default(), cut))
}

fn check(asked: &Asked) -> Fallible<()> {
    let Asked { k, up, down, chunks, .. } = *asked;
    let all =
        [("k", Some(k)), ("up", Some(up)), ("down", Some(down)), ("budget", asked.wanted.budget), ("chunks", chunks)];
    let negative =
        all.into_iter().find_map(|(argument, value)| value.filter(|value| *value < 0).map(|value| (argument, value)));
    negative.map_or(Ok(()), |(argument, value)| Err(error::negative(argument, value)))
}

impl Asked {
    fn mode(&self) -> Mode {
        self.mode.unwrap_or(Mode::Cft)
    }

    fn reach(&self) -> Reach {
        Reach { trees: self.wanted.trees, ..Reach::levels(self.up, self.down) }
    }

    fn of_hierarchy(&self) -> hierarchy::Asked {
        hierarchy::Asked { function: self.function, edges: self.wanted.edges, reach: self.reach() }
    }
}

/// The entities of the question.
fn named(asked: &Asked) -> Fallible<Vec<Named>> {
    let Asked { function, wanted, .. } = *asked;
    let mut all: Vec<Named> = Vec::new(); // bounded: those that were found
    if asked.mode().reads_names() {
        let Some(text) = asked.question else { return Ok(all) };
        let question = Question {
            text,
            trees: wanted.trees,
            within: wanted.within,
            overlapping: pg_sys::Datum::from(false),
            once: true,
            matching: asked.matching,
            narrow: asked.narrow,
        };
        for one in first_mentions(function, wanted.edges, &question)? {
            let mut why = [b"mentioned as \"", &one.mention[..], b"\""].concat();
            if let Some(alias) = &one.alias {
                why.extend_from_slice(&[b", by the alias \"", &alias[..], b"\""].concat());
            }
            all.push(Named { entity: one.entity, why, mention: one.mention, called: Vec::new() });
        }
    } else if matches!(asked.mode(), Mode::AnnTree | Mode::AnnGraph) && wanted.embedding.is_some() {
        // Embeddings of entities have no metadata.
        let edges = AttachedTable::of(function, wanted.edges)?.oid();
        let by_entities = Embeddings::of(Functions::beside(function), edges)?.is_some();
        let wanted = Wanted { filter: wanted.filter.filter(|_| !by_entities), ..wanted };
        let mut seen = HashSet::new(); // bounded: those that were found
        for (entity, distance) in wanted.nearest_entities(function, asked.k, asked.documents)?.all {
            // An entity may have several embeddings.
            if !seen.insert(entity.clone()) {
                continue;
            }
            let why = format!("one of the nearest entities, distance {distance:.4}").into_bytes();
            all.push(Named { entity, why, mention: Vec::new(), called: Vec::new() });
        }
    }
    if all.is_empty() {
        return Ok(all);
    }
    let names: Vec<&[u8]> = all.iter().map(|named| named.entity.as_slice()).collect(); // bounded: those that were found
    let labels = Labels::of(&AttachedTable::of(function, wanted.edges)?, &names)?;
    for (n, named) in all.iter_mut().enumerate() {
        named.called = labels.get(n).unwrap_or(&named.entity).to_vec(); // bounded: a label
    }
    Ok(all)
}

/// The sentences about the entities, and which of these are told of, or have no relatives.
fn hierarchy_of(asked: &Asked, names: &[&[u8]]) -> Fallible<(Hierarchy, Vec<bool>)> {
    let all = || vec![true; names.len()];
    if names.is_empty() {
        return Ok((Hierarchy::default(), all()));
    }
    let (of, can_cut) = (asked.of_hierarchy(), asked.wanted.budget.is_some());
    let mut hierarchy = match asked.mode() {
        Mode::Text => Hierarchy::default(),
        Mode::Cft | Mode::Hybrid | Mode::AnnTree => Hierarchy::of(of, names, can_cut)?,
        Mode::Naive => Hierarchy::by_search(of, names, can_cut)?,
        Mode::AnnGraph => Hierarchy::of_neighbors(of, names, asked.down.max(1))?,
    };
    let told = match asked.mode().reads_names() && names.len() > 1 {
        true => hierarchy.leave_out_ancestors(of, names)?,
        false => all(),
    };
    Ok((hierarchy, told))
}

/// Reads a document that a search has found; without its text, if that can never fit the budget.
fn document(asked: &Asked, row: &Row, room: &mut Room) -> Fallible<Document> {
    room.take(EACH)?;
    let tokens = row.int(3).unwrap_or_default();
    let (id, entity) = (row.copy(0, room)?, row.copy(1, room)?);
    let body = if asked.wanted.reads(tokens) { row.copy(2, room)? } else { None };
    Ok(Document { id, entity, body, tokens, distance: row.float(4), lists: Vec::new(), score: 0, first: None })
}

/// The nearest documents.
fn nearest(asked: &Asked, documents: &Documents) -> Fallible<Vec<Document>> {
    let (mut found, mut all, mut room) = (Found::of(&COLUMNS), Vec::new(), Room::new());
    asked.wanted.nearest(documents, asked.k, &mut found)?;
    found.each(|row| {
        all.push(document(asked, row, &mut room)?);
        Ok(())
    })?;
    Ok(all)
}

/// The `k` documents of the question by reciprocal rank fusion: the nearest, those with its words, those about its entities and their relatives. Up to half
/// of them are the first of those with its words, if these have more of them, by rarity, than any of its mentions: a document about what is mentioned does
/// not hide the one that has the rare word beside it.
fn fused(
    asked: &Asked,
    documents: &Rc<Documents>,
    has_entities: bool,
    named: &[Named],
    told: &[usize],
) -> Fallible<Vec<Document>> {
    let most = asked.k.max(FUSED);
    let mut room = Room::new();
    let mut fused = Fused::default();
    let mut found = Found::of(&COLUMNS);
    asked.wanted.nearest(documents, most, &mut found)?;
    found.each(|row| fused.add("nearest", document(asked, row, &mut room)?).map(|_| ()))?;
    if let Some(question) = asked.question {
        // Namesakes are called alike: thousands of them are one text.
        let mut mentions: Vec<[&[u8]; 2]> = named.iter().map(|one| [&one.mention[..], &one.called]).collect(); // bounded: those that were found
        mentions.sort_unstable();
        mentions.dedup();
        mentions.truncate(MENTIONS);
        let mentions: Vec<Vec<u8>> =
            mentions.iter().map(|[mention, called]| [mention, &b" "[..], called].concat()).collect(); // bounded: MENTIONS
        let mentions: Vec<&[u8]> = mentions.iter().map(Vec::as_slice).collect(); // bounded: MENTIONS
        let mut found = Found::of(&WITH_WEIGHTS);
        let heaviest = asked.wanted.with_words(documents, [most, asked.k], question, &mentions, &mut found)?;
        let mut firsts = 1..=(asked.k as u32).div_ceil(2);
        found.each(|row| {
            let is_heavier = row.float(5).is_some_and(|weight| weight >= heaviest + BESIDE);
            let one = fused.add("words", document(asked, row, &mut room)?)?;
            one.first = if is_heavier { firsts.next() } else { None };
            Ok(())
        })?;
    } else {
        words::require(documents)?;
    }
    if has_entities && !told.is_empty() {
        let told: Vec<&[u8]> = told.iter().map(|&n| named[n].entity.as_slice()).collect(); // bounded: the names
        let about =
            asked.wanted.about_all(asked.function, documents, &told, asked.reach(), Some(most as usize), &[])?;
        for one in about {
            check_for_interrupts!();
            let one = Document {
                id: one.id,
                entity: Some(one.relative),
                body: one.body,
                tokens: one.tokens,
                distance: one.distance,
                lists: Vec::new(),
                score: 0,
                first: None,
            };
            fused.add("hierarchy", one)?;
        }
    }
    fused.best(asked.k)
}

/// Documents of several lists.
#[derive(Default)]
struct Fused {
    all: Vec<Document>,
    known: HashMap<Key, usize>,
    keys: Room,
    /// How many the last list has.
    list: &'static str,
    count: u32,
}

impl Fused {
    /// Adds the next document of a list.
    fn add(&mut self, list: &'static str, one: Document) -> Fallible<&mut Document> {
        self.count = if self.list == list { self.count + 1 } else { 1 };
        self.list = list;
        self.keys.take(EACH + one.bytes())?;
        let n = *self.known.entry((one.id.clone(), one.body.clone())).or_insert(self.all.len());
        if n == self.all.len() {
            self.all.push(one);
        } else {
            let known = &mut self.all[n];
            known.tokens = known.tokens.max(one.tokens);
            known.distance = match (known.distance, one.distance) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        }
        self.all[n].lists.push((list, self.count));
        Ok(&mut self.all[n])
    }

    /// The best of all.
    fn best(self, k: i32) -> Fallible<Vec<Document>> {
        let mut all = self.all;
        all.iter_mut().for_each(|one| one.score = fuse::score(one.lists.iter().map(|(_, place)| *place)));
        let mut check_interrupts = check_interrupts;
        Interruptible::new(&mut check_interrupts).sort_with(&mut all, |a, b, work| {
            work.step();
            let place = |one: &Document| one.first.unwrap_or(u32::MAX);
            let by_score = place(a).cmp(&place(b)).then_with(|| b.score.cmp(&a.score));
            by_score.then_with(|| in_order(&a.id, &b.id)).then_with(|| in_order(&a.body, &b.body))
        });
        all.truncate(usize::try_from(k).unwrap_or_default());
        Ok(all)
    }
}

/// The order of texts by bytes, NULL last.
fn in_order(a: &Option<Vec<u8>>, b: &Option<Vec<u8>>) -> std::cmp::Ordering {
    a.is_none().cmp(&b.is_none()).then_with(|| a.cmp(b))
}
