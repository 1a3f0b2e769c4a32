//! The documents of a question, the best first: by one list, or by several.

use crate::call::work_memory::Room;
use crate::catalog::documents::Documents;
use crate::error::Fallible;
use crate::pg::interrupt::check_interrupts;
use crate::retrieve::about::{Among, Key, Related};
use crate::retrieve::documents::WITH_SHOWN;
use crate::retrieve::found::{Found, Row};
use crate::retrieve::question::Request;
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
    /// The lists that have it, and its places there.
    pub lists: Vec<(&'static str, u32)>,
    score: u64,
    /// Whether it is about what the question asks about.
    pub is_own: bool,
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
fn document(asked: &Request, row: &Row, room: &mut Room) -> Fallible<Document> {
    room.take(EACH)?;
    let (id, entity) = (row.copy(0, room)?, row.copy(1, room)?);
    let (body, tokens) = asked.wanted.body(row, 2, room)?;
    let (distance, shown) = (row.float(4), row.copy(5, room)?);
    Ok(Document { id, entity, body, tokens, distance, shown, lists: Vec::new(), score: 0, is_own: false, first: None })
}

/// The `most` nearest documents.
pub fn nearest(asked: &Request, documents: &Documents, most: i32) -> Fallible<Vec<Document>> {
    let (mut found, mut all, mut room) = (Found::of(&WITH_SHOWN), Vec::new(), Room::new());
    asked.wanted.nearest(documents, most, &mut found)?;
    found.each(|row| {
        all.push(document(asked, row, &mut room)?);
        Ok(())
    })?;
    Ok(all)
}

/// The documents of the question by reciprocal rank fusion of lists of `most`, at least [`FUSED`]: the nearest, those
/// with its words, those about its entities and their relatives. `names`: the entities, and whether the question asks
/// about each: the first documents, half of `k` at most, are about one of these. Then come up to half that are the
/// first of those with its words, if these have more of them, by rarity, than any of its mentions: a document about
/// what is mentioned does not hide the one that has the rare word beside it.
pub fn fused(
    asked: &Request,
    documents: &Documents,
    has_entities: bool,
    names: &[(&[u8], bool)],
    words: Option<&Weighed>,
    most: i32,
) -> Fallible<Vec<Document>> {
    let most = most.max(FUSED);
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
        let are_own: Vec<bool> = names.iter().map(|(_, is_own)| *is_own).collect(); // bounded: the names
        let names: Vec<&[u8]> = names.iter().map(|(name, _)| *name).collect(); // bounded: the names
        let about = asked.wanted.about_all(asked.function, documents, &names, &among)?;
        for one in about {
            check_for_interrupts!();
            let is_own = one.related == Related::Itself && !one.is_aside && are_own[one.of];
            let one = Document {
                id: one.id,
                entity: Some(one.relative),
                body: one.body,
                tokens: one.tokens,
                distance: one.distance,
                shown: one.shown,
                lists: Vec::new(),
                score: 0,
                is_own: false,
                first: None,
            };
            fused.add("hierarchy", one)?.is_own |= is_own;
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

    /// The best of all: half of `k` are about what the question asks about, then come those that are first by words.
    fn best(self, k: i32) -> Fallible<Vec<Document>> {
        let mut all = self.all;
        all.iter_mut().for_each(|one| one.score = fuse::score(one.lists.iter().map(|(_, place)| *place)));
        let mut check_interrupts = check_interrupts;
        let mut work = Interruptible::new(&mut check_interrupts);
        let by_score = |a: &Document, b: &Document| {
            let by_score = b.score.cmp(&a.score).then_with(|| in_order(&a.id, &b.id));
            by_score.then_with(|| in_order(&a.body, &b.body))
        };
        work.sort_with(&mut all, |a, b, work| {
            work.step();
            by_score(a, b)
        });
        let mut left = (k as u32).div_ceil(2);
        for one in &mut all {
            one.is_own &= left > 0;
            left -= u32::from(one.is_own);
        }
        work.sort_with(&mut all, |a, b, work| {
            work.step();
            let place = |one: &Document| if one.is_own { 0 } else { one.first.unwrap_or(u32::MAX) };
            place(a).cmp(&place(b)).then_with(|| by_score(a, b))
        });
        Ok(all)
    }
}

/// The order of texts by bytes, NULL last.
fn in_order(a: &Option<Vec<u8>>, b: &Option<Vec<u8>>) -> std::cmp::Ordering {
    a.is_none().cmp(&b.is_none()).then_with(|| a.cmp(b))
}
