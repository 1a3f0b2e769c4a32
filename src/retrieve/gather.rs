//! The rows of cft_retrieve: what belongs to a question, each row with its reason.

use crate::call::fmgr::beginning;
use crate::call::work_memory::Room;
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::documents::Documents;
use crate::catalog::registration::Functions;
use crate::error;
use crate::error::Fallible;
use crate::guc::Match;
use crate::methods::walker::Walker;
use crate::pg::interrupt::check_interrupts;
use crate::retrieve::about::{Among, Key, Related};
use crate::retrieve::documents::{WITH_SHOWN, Wanted};
use crate::retrieve::found::{Found, Row};
use crate::retrieve::hierarchy;
use crate::retrieve::hierarchy::{Hierarchy, Matters, Sentence};
use crate::retrieve::named;
use crate::retrieve::named::{Named, Way, Words};
use crate::retrieve::place::{Paths, paths};
use crate::retrieve::words;
use crate::retrieve::words::{BESIDE, WITH_WEIGHTS};
use crate::serve::asked::Reach;
use cftrag_core::Interruptible;
use cftrag_methods::retrieve::budget::{Item, Source};
use cftrag_methods::retrieve::{budget, fuse, prompt};
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
    /// The columns of a document that are shown beside its text.
    pub shown: Option<Vec<u8>>,
    /// The path to the entity that a document is about; and what a prompt writes of it, which does not say twice what the hierarchy says.
    pub path: Option<Vec<u8>>,
    pub place: Option<Vec<u8>>,
}

/// What belongs to a question.
#[derive(Default)]
pub struct Gathered {
    pub lines: Vec<Line>,
    /// Documents and sentences that do not fit the budget.
    pub left_out: [usize; 2],
}

/// A document that was found.
struct Document {
    id: Option<Vec<u8>>,
    entity: Option<Vec<u8>>,
    body: Option<Vec<u8>>,
    tokens: i32,
    distance: Option<f64>,
    shown: Option<Vec<u8>>,
    /// Others with the same text.
    same: Vec<Vec<u8>>,
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

/// A path that takes more than this part of a budget is its last name alone.
const OF_PATH: usize = 20;

/// Rows of each list that is fused, at least: what an HNSW index returns at once.
const FUSED: i32 = 40;

/// Gathers the rows, in the order documents, hierarchy, chunks. Errors: 22023, those of cft_entities, cft_nearest_documents, cft_context_parts and
/// cft_chunks; 53400, 53200 (memory).
pub fn gather(asked: &Asked) -> Fallible<Gathered> {
    check(asked)?;
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
            fused(asked, documents, about.is_some(), names, words.as_ref())
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
    let placed = hierarchy.placed(&names);
    for line in &mut lines {
        let Some(path) = line.entity.as_ref().and_then(|entity| paths.get(entity)) else { continue };
        let text = path.text();
        let is_long = asked.wanted.budget.is_some_and(|budget| budget::tokens(&text) > budget as usize / OF_PATH);
        let is_said = is_long || line.entity.as_deref().is_some_and(|entity| placed.contains(entity));
        let called = path.names.last().map(|(_, called)| &called[..]).unwrap_or_default();
        line.place = Some(match is_said {
            true => prompt::unless_first(called, line.text.as_deref().unwrap_or_default()).to_vec(), // bounded: a label
            false => text.clone(),
        });
        line.path = Some(text);
    }
    let entities = lines.iter().filter_map(|line| line.entity.clone()).collect::<HashSet<_>>(); // bounded: the lines
    let matters = Matters {
        entities: entities.iter().map(Vec::as_slice).collect(), // bounded: the lines
        words: asked.question.map(named::words_of).unwrap_or_default(),
    };
    hierarchy.write(&matters)?;
    let first = lines.iter().take_while(|line| line.source == Source::Document).count();
    lines.splice(first..first, sentences(&hierarchy, &named));
    let mut all = Gathered { lines, left_out: [0; 2] };
    fit(asked, &mut all, first, &mut hierarchy, &named, &matters)?;
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

/// The sentences as lines.
fn sentences(hierarchy: &Hierarchy, named: &[Named]) -> Vec<Line> {
    let line = |(sentence, rank): (&Sentence, i32)| Line {
        source: Source::Hierarchy,
        entity: Some(named[sentence.of].entity.clone()),
        document: None,
        rank,
        distance: None,
        text: Some(sentence.text.clone()),
        tokens: budget::tokens(&sentence.text) as i32,
        why: named[sentence.of].why.clone(),
        shown: None,
        path: None,
        place: None,
    };
    hierarchy.sentences.iter().zip(1..).map(line).collect() // bounded: the sentences
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

/// Keeps the lines that fit the budget, if there is one, shortened where they are too long. Those from `first` on are the sentences.
fn fit(
    asked: &Asked,
    all: &mut Gathered,
    first: usize,
    hierarchy: &mut Hierarchy,
    named: &[Named],
    matters: &Matters<'_>,
) -> Fallible<()> {
    let lines = &mut all.lines;
    let Some(budget) = asked.wanted.budget else { return Ok(()) };
    let turns = named::turns(hierarchy, named);
    let item = |(n, line): (usize, &Line)| Item {
        source: line.source,
        turn: n.checked_sub(first).and_then(|n| turns.get(n)).map_or(line.rank as u32, |turn| *turn),
        tokens: line.tokens as usize + head(line),
        head: head(line),
    };
    let items: Vec<Item> = lines.iter().enumerate().map(item).collect(); // bounded: the lines
    let mut failed = None;
    let cut = |n: usize, room: usize| {
        hierarchy.cut(n - first, room, matters).unwrap_or_else(|error| {
            failed = Some(error);
            None
        })
    };
    let taken = budget::taken(&items, usize::try_from(budget).unwrap_or_default(), cut);
    if let Some(error) = failed {
        return Err(error);
    }
    for (n, (line, taken)) in lines.iter_mut().zip(&taken).enumerate() {
        let Some(tokens) = taken.map(|taken| taken - head(line)).filter(|tokens| *tokens < line.tokens as usize) else {
            continue;
        };
        line.why.extend_from_slice(b", shortened");
        match &mut line.text {
            Some(text) if line.source == Source::Hierarchy => text.clone_from(&hierarchy.sentences[n - first].text),
            Some(text) => shorten(text, tokens, line.tokens as usize, budget as usize),
            None => {}
        }
        line.tokens = tokens as i32;
    }
    for (line, _) in lines.iter().zip(&taken).filter(|(_, taken)| taken.is_none()) {
        all.left_out[usize::from(line.source == Source::Hierarchy)] += 1;
    }
    let mut taken = taken.into_iter();
    lines.retain(|_| taken.next().flatten().is_some());
    Ok(())
}

/// The tokens of what stands before a document's text.
fn head(line: &Line) -> usize {
    let all = [&line.place, &line.shown].into_iter().flatten();
    all.map(|text| budget::tokens(text)).sum()
}

/// Shortens a text, of which at most `read` tokens are there, to so many of all its tokens.
fn shorten(text: &mut Vec<u8>, tokens: usize, all: usize, read: usize) {
    const MARK: &[u8] = b" ...";
    let kept = beginning(text, tokens - 1, all.min(read)).len();
    text.truncate(kept);
    text.extend_from_slice(MARK);
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

/// Reads a document that a search has found; of its text as much as the budget has.
fn document(asked: &Asked, row: &Row, room: &mut Room) -> Fallible<Document> {
    room.take(EACH)?;
    let (id, entity) = (row.copy(0, room)?, row.copy(1, room)?);
    let (body, tokens) = asked.wanted.body(row, 2, room)?;
    let (distance, shown) = (row.float(4), row.copy(5, room)?);
    Ok(Document {
        id,
        entity,
        body,
        tokens,
        distance,
        shown,
        same: Vec::new(),
        lists: Vec::new(),
        score: 0,
        first: None,
    })
}

/// The nearest documents.
fn nearest(asked: &Asked, documents: &Documents) -> Fallible<Vec<Document>> {
    let (mut found, mut all, mut room) = (Found::of(&WITH_SHOWN), Vec::new(), Room::new());
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
    names: &[&[u8]],
    words: Option<&Words>,
) -> Fallible<Vec<Document>> {
    let most = asked.k.max(FUSED);
    let mut room = Room::new();
    let mut fused = Fused::default();
    let mut found = Found::of(&WITH_SHOWN);
    asked.wanted.nearest(documents, most, &mut found)?;
    found.each(|row| fused.add("nearest", document(asked, row, &mut room)?).map(|_| ()))?;
    if let Some(Words { weighed, .. }) = words {
        let mut found = Found::of(&WITH_WEIGHTS);
        asked.wanted.with_words(documents, most, weighed, &mut found)?;
        let mut firsts = 1..=(asked.k as u32).div_ceil(2);
        found.each(|row| {
            let is_heavier = row.float(6).is_some_and(|weight| weight >= weighed.heaviest + BESIDE);
            let one = fused.add("words", document(asked, row, &mut room)?)?;
            one.first = if is_heavier { firsts.next() } else { None };
            Ok(())
        })?;
    } else {
        words::require(documents)?;
    }
    if has_entities && !names.is_empty() {
        let words = words.map(|words| &words.weighed);
        let among = Among { reach: asked.reach(), most: Some(most as usize), words, others: &[] };
        let about = asked.wanted.about_all(asked.function, documents, names, &among)?;
        for one in about {
            check_for_interrupts!();
            let one = Document {
                id: one.id,
                entity: Some(one.relative),
                body: one.body,
                tokens: one.tokens,
                distance: one.distance,
                shown: one.shown,
                same: Vec::new(),
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
        Ok(distinct(all, usize::try_from(k).unwrap_or_default()))
    }
}

/// The first `k` of different texts, each with the ids of others that have the same one.
fn distinct(all: Vec<Document>, k: usize) -> Vec<Document> {
    let mut seen: HashMap<(&[u8], Option<&[u8]>), usize> = HashMap::new(); // bounded: k texts
    let mut same: Vec<Vec<Vec<u8>>> = Vec::new(); // bounded: the documents
    let mut places = Vec::new(); // bounded: the documents
    for one in &all {
        let known = one.body.as_deref().map(|body| *seen.entry((body, one.shown.as_deref())).or_insert(same.len()));
        match known.filter(|known| *known < same.len()) {
            Some(known) => same[known].extend(one.id.clone()),
            None if same.len() == k => break,
            None => same.push(Vec::new()),
        }
        places.push(known.unwrap_or(same.len() - 1));
    }
    let mut taken = 0;
    let firsts = all.into_iter().zip(places).filter_map(|(one, place)| {
        (place == taken).then(|| {
            taken += 1;
            one
        })
    });
    firsts.zip(same).map(|(one, same)| Document { same, ..one }).collect() // bounded: the documents
}

/// The order of texts by bytes, NULL last.
fn in_order(a: &Option<Vec<u8>>, b: &Option<Vec<u8>>) -> std::cmp::Ordering {
    a.is_none().cmp(&b.is_none()).then_with(|| a.cmp(b))
}
