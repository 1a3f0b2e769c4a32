//! The documents of a question, the best first: by one list, or by several.

use crate::call::work_memory::Room;
use crate::catalog::documents::Documents;
use crate::error::Fallible;
use crate::pg::interrupt::check_interrupts;
use crate::retrieve::about::{Among, Key};
use crate::retrieve::documents::WITH_SHOWN;
use crate::retrieve::found::{Found, Row};
use crate::retrieve::question::Asked;
use crate::retrieve::words;
use crate::retrieve::words::{BESIDE, WITH_WEIGHTS, Weighed};
use cftrag_core::Interruptible;
use cftrag_methods::retrieve::fuse;
use pgrx::check_for_interrupts;
use std::collections::HashMap;

/// Bytes of a document in a list, besides its texts.
const EACH: usize = 256;

/// Rows of each list that is fused, at least: what an HNSW index returns at once.
const FUSED: i32 = 40;

/// A document that was found.
pub struct Document {
    pub id: Option<Vec<u8>>,
    pub entity: Option<Vec<u8>>,
    pub body: Option<Vec<u8>>,
    pub tokens: i32,
    pub distance: Option<f64>,
    pub shown: Option<Vec<u8>>,
    /// Others with the same text.
    pub same: Vec<Vec<u8>>,
    /// The lists that have it, and its places there.
    pub lists: Vec<(&'static str, u32)>,
    score: u64,
    /// Its place among those that come first.
    pub first: Option<u32>,
}

impl Document {
    /// Bytes of its id and text.
    pub fn bytes(&self) -> usize {
        [&self.id, &self.body].into_iter().flatten().map(Vec::len).sum()
    }
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
pub fn nearest(asked: &Asked, documents: &Documents) -> Fallible<Vec<Document>> {
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
pub fn fused(
    asked: &Asked,
    documents: &Documents,
    has_entities: bool,
    names: &[&[u8]],
    words: Option<&Weighed>,
) -> Fallible<Vec<Document>> {
    let most = asked.k.max(FUSED);
    let mut room = Room::new();
    let mut fused = Fused::default();
    let mut found = Found::of(&WITH_SHOWN);
    asked.wanted.nearest(documents, most, &mut found)?;
    found.each(|row| fused.add("nearest", document(asked, row, &mut room)?).map(|_| ()))?;
    if let Some(weighed) = words {
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
