//! Tells namesakes apart by the text. Of the entities that one window names, those count of which the text names most of what is above them; of these,
//! those whose ancestors are called by most other words of the text: "accessories for laptops" means those below Laptops, "boots for boys" those below
//! Boys' clothing. What is named first by the very window that names the entity first says nothing about it, nor do that window's words.
//!
//! The text says it for each entity once, not for each of its windows, so that a label that is repeated costs no more than once.

use crate::call::work_memory::{Room, list};
use crate::catalog::attached_table::AttachedTable;
use crate::error;
use crate::error::{Fallible, MAX_LEVELS};
use crate::pg::interrupt::check_interrupts;
use crate::serve::asked::Reach;
use crate::serve::labels::Labels;
use crate::serve::sink::{Relative, Sink};
use crate::serve::tiers::{Each, window};
use crate::serve::walk;
use crate::serve::walk::End;
use cftrag_core::{Interruptible, Names, NormalText, Recogniser};
use pgrx::pg_sys;
use std::collections::{HashMap, HashSet};

/// Bytes of an entity, a listing or a word in the tables here, which may have just doubled.
const EACH: usize = 256;

/// How many of an entity's ancestors the text names, and how many of its words name one.
type Score = (usize, usize);

/// A listing: see [`Mention::listed`](cftrag_core::Mention::listed). The recogniser, and where the list begins.
type Listing = (usize, usize);

/// The scores of namesakes.
#[derive(Default)]
pub struct Scores<'n> {
    of: HashMap<&'n [u8], Score>,
    listings: HashMap<Listing, Score>,
}

impl Scores<'_> {
    fn get(&self, entity: &[u8]) -> Score {
        self.of.get(entity).copied().unwrap_or_default()
    }

    /// Whether an entity of a listing counts: there is none, or this is one of its best.
    pub fn counts(&self, listing: Listing, entity: &[u8]) -> bool {
        self.listings.get(&listing).is_none_or(|best| self.get(entity) == *best)
    }

    /// The best score of what a mention stands for.
    fn best_of(&mut self, found: &[Recogniser], each: &Each, work: &mut Interruptible<'_>) -> Score {
        let Some(listing) = listing(each) else {
            work.step();
            return self.get(entity(found, each));
        };
        if let Some(best) = self.listings.get(&listing) {
            return *best;
        }
        let mut best = Score::default();
        for name in entities(found, each) {
            work.step();
            best = best.max(self.get(name));
        }
        self.listings.insert(listing, best);
        best
    }
}

fn entity<'n>(found: &'n [Recogniser], (n, mention): &Each) -> &'n [u8] {
    found[*n].name(mention.entity)
}

fn listing((n, mention): &Each) -> Option<Listing> {
    mention.listed().map(|list| (*n, list.start))
}

/// What a mention stands for: its entity, or those that are listed.
fn entities<'n>(found: &'n [Recogniser], each: &Each) -> impl Iterator<Item = &'n [u8]> {
    let own = each.1.listed().is_none().then(|| entity(found, each));
    let of = &found[each.0];
    let listed = each.1.listed().map(|list| of.mentions()[list].iter().map(|one| of.name(one.entity)));
    own.into_iter().chain(listed.into_iter().flatten())
}

/// The entities that the text names: a number for each, and the number of the window that names it first. `shared`: those with namesakes.
#[derive(Default)]
struct Named<'n> {
    first: HashMap<&'n [u8], (usize, usize)>,
    shared: Vec<&'n [u8]>,
    windows: Vec<(usize, usize)>,
}

/// Keeps of the mentions, which are in the order of their windows, those that count. `read` reads the normal
/// words of the text. 53400, 53200 (memory).
pub fn narrow<'n>(
    of: &AttachedTable,
    trees: Option<pg_sys::Datum>,
    found: &'n [Recogniser],
    all: &mut Vec<Each>,
    text: &mut NormalText,
    read: impl FnOnce(&mut NormalText) -> Result<(), End>,
) -> Result<Scores<'n>, End> {
    let mut check_interrupts = check_interrupts;
    let work = &mut Interruptible::new(&mut check_interrupts);
    let mut scores = Scores::default();
    let room = &mut Room::new();
    let named = named(found, all, room, work).map_err(End::Error)?;
    if named.shared.is_empty() {
        return Ok(scores);
    }
    let reach = Reach { trees, counts: false, ..Reach::levels(MAX_LEVELS, 0) };
    named.count_ancestors(of, reach, &mut scores, room).map_err(End::Error)?;
    let tied = tied(found, all, &mut scores, room, work).map_err(End::Error)?;
    if !tied.is_empty() {
        read(text)?;
        named.count_words(of, reach, &tied, text, &mut scores, room, work).map_err(End::Error)?;
    }
    scores.listings.clear();
    let mut kept = 0;
    let mut from = 0;
    while from < all.len() {
        let same = all[from..].iter().take_while(|each| window(each) == window(&all[from])).count();
        let mut best = Score::default();
        for each in &all[from..from + same] {
            best = best.max(scores.best_of(found, each, work));
        }
        for n in from..from + same {
            if scores.best_of(found, &all[n], work) == best {
                all[kept] = all[n];
                kept += 1;
            }
        }
        from += same;
    }
    all.truncate(kept);
    Ok(scores)
}

/// Reads which entities the mentions name.
fn named<'n>(
    found: &'n [Recogniser],
    all: &[Each],
    room: &mut Room,
    work: &mut Interruptible<'_>,
) -> Fallible<Named<'n>> {
    let mut named = Named::default();
    let is_shared = |same: &[Each]| {
        let mut names = same.iter().flat_map(|each| entities(found, each));
        let first = names.next();
        names.any(|name| Some(name) != first)
    };
    if !all.chunk_by(|a, b| window(a) == window(b)).any(is_shared) {
        return Ok(named);
    }
    let mut listed: HashSet<Listing> = HashSet::new(); // bounded: `room` has it
    let mut has_shared: HashSet<&[u8]> = HashSet::new(); // bounded: `room` has it
    named.windows = list(all.len(), room)?;
    for same in all.chunk_by(|a, b| window(a) == window(b)) {
        let is_shared = is_shared(same);
        named.windows.push((same[0].1.from, same[0].1.to));
        for each in same {
            work.step();
            if let Some(listing) = listing(each)
                && !listed.insert(listing)
            {
                continue;
            }
            for name in entities(found, each) {
                work.step();
                if !named.first.contains_key(name) {
                    room.take(2 * EACH)?;
                    let number = named.first.len();
                    named.first.insert(name, (number, named.windows.len() - 1));
                }
                if is_shared && has_shared.insert(name) {
                    room.take(EACH)?;
                    named.shared.push(name);
                }
            }
        }
    }
    Ok(named)
}

/// The entities that have the best score of a window, if there are several of them.
fn tied<'n>(
    found: &'n [Recogniser],
    all: &[Each],
    scores: &mut Scores<'n>,
    room: &mut Room,
    work: &mut Interruptible<'_>,
) -> Fallible<Vec<&'n [u8]>> {
    let (mut tied, mut known, mut listed) = (Vec::new(), HashSet::new(), HashSet::new()); // bounded: `room` has them
    for same in all.chunk_by(|a, b| window(a) == window(b)) {
        let mut best = Score::default();
        for each in same {
            best = best.max(scores.best_of(found, each, work));
        }
        let is_new = |each: &&Each| listing(each).is_none_or(|listing| listed.insert(listing));
        let mut those = Vec::new(); // bounded: `room` has them
        for name in same.iter().filter(is_new).flat_map(|each| entities(found, each)) {
            work.step();
            if scores.get(name) == best && those.last() != Some(&name) {
                room.take(2 * EACH)?;
                those.push(name);
            }
        }
        if those.len() > 1 {
            tied.extend(those.into_iter().filter(|name| known.insert(*name)));
        }
    }
    Ok(tied)
}

impl<'n> Named<'n> {
    /// Counts the ancestors of namesakes that the text names otherwise.
    fn count_ancestors(
        &self,
        of: &AttachedTable,
        reach: Reach,
        scores: &mut Scores<'n>,
        room: &mut Room,
    ) -> Fallible<()> {
        let (mut at, mut above) = (0, Vec::new());
        let mut end = |at: usize, above: &mut Vec<usize>| {
            above.sort_unstable();
            above.dedup();
            if !above.is_empty() {
                room.take(EACH)?;
                scores.of.insert(self.shared[at], (above.len(), 0));
                above.clear();
            }
            Ok(())
        };
        let mut take = |rows: &[Relative<'_>]| {
            for row in rows {
                while self.shared[at] != row.entity {
                    end(at, &mut above)?;
                    at += 1;
                }
                let own = self.first[row.entity].1;
                // An ancestor in many trees comes once for each.
                if let Some((number, window)) = self.first.get(row.name)
                    && *window != own
                    && above.last() != Some(number)
                {
                    above.push(*number);
                }
            }
            Ok(())
        };
        walk::answer(of, &self.shared, reach, &mut Sink::Nodes { take: &mut take, own: false })?;
        if at < self.shared.len() {
            end(at, &mut above)?;
        }
        Ok(())
    }

    /// Counts the words of the text that name ancestors of the tied entities.
    #[expect(clippy::too_many_arguments, reason = "what a search has")]
    fn count_words(
        &self,
        of: &AttachedTable,
        reach: Reach,
        tied: &[&'n [u8]],
        text: &NormalText,
        scores: &mut Scores<'n>,
        room: &mut Room,
        work: &mut Interruptible<'_>,
    ) -> Fallible<()> {
        // Each word of the text once, and the windows where it is said.
        let mut words: HashMap<&[u8], usize> = HashMap::new(); // bounded: `room` has it
        for (_, word) in text.content() {
            work.step();
            room.take(EACH)?;
            let number = words.len();
            words.entry(word).or_insert(number);
        }
        if words.is_empty() {
            return Ok(());
        }
        let (ancestors, above) = ancestors(of, reach, tied, room)?;
        let names: Vec<&[u8]> = ancestors.ids().map(|id| ancestors.get(id)).collect(); // bounded: `room` has them
        let labels = Labels::of(of, &names)?;
        let mut said: Vec<Vec<usize>> = list(names.len(), room)?;
        for (n, name) in names.iter().enumerate() {
            work.step();
            let called = if labels.is_empty() { Some(*name) } else { labels.get(n) };
            let normal = called.and_then(|called| cftrag_core::normal_words(text.language(), called));
            let normal = normal.unwrap_or_default();
            said.push(normal.split(|byte| *byte == b' ').filter_map(|word| words.get(word).copied()).collect()); // bounded: the words of a name
        }
        let mut own: HashMap<usize, HashSet<usize>> = HashMap::new(); // bounded: the words of the text
        for same in above.chunk_by(|a, b| a.0 == b.0) {
            let name = tied[same[0].0];
            let window = self.first[name].1;
            let own = own.entry(window).or_insert_with(|| {
                let (from, to) = self.windows[window];
                text.content_from(from).take_while(|(place, _)| place.start < to).map(|(_, word)| words[word]).collect() // bounded: a window's words
            });
            let mut those: Vec<usize> = Vec::new(); // bounded: `room` has the pairs
            for (_, ancestor) in same {
                work.step();
                those.extend(said[*ancestor].iter().filter(|word| !own.contains(word)));
            }
            those.sort_unstable();
            those.dedup();
            if !those.is_empty() {
                room.take(EACH)?;
                scores.of.entry(name).or_default().1 = those.len();
            }
        }
        Ok(())
    }
}

/// The ancestors of these entities, and which of them each has: the number of the entity, that of the ancestor.
fn ancestors(
    of: &AttachedTable,
    reach: Reach,
    entities: &[&[u8]],
    room: &mut Room,
) -> Fallible<(Names, Vec<(usize, usize)>)> {
    let (mut names, mut above, mut at) = (Names::default(), Vec::new(), 0);
    let mut take = |rows: &[Relative<'_>]| {
        for row in rows {
            while entities[at] != row.entity {
                at += 1;
            }
            if row.name != row.entity {
                room.take(EACH + row.name.len())?;
                let id = names.try_id(row.name).ok_or_else(|| error::no_memory_to_work(names.bytes()))?;
                above.push((at, id.number()));
            }
        }
        Ok(())
    };
    walk::answer(of, entities, reach, &mut Sink::Nodes { take: &mut take, own: false })?;
    Ok((names, above))
}
