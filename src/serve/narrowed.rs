//! Which of several namesakes a text means (how answers tell them apart: methods/namesakes.rs). Of each entity of a
//! window that names several, the text may say what is above it: by naming an ancestor, or by a word of what an
//! ancestor is called. An entity goes if the text says all that of another one of the window, and more: "accessories
//! for laptops" means those below Laptops, "boots for boys" those below Boys' clothing, "Paris, France and Paris,
//! Texas" both.
//!
//! What is named first by the very window that names the entity first says nothing about it, nor do words of mentions.
//! The text says it of an entity once, not in each of its windows, so that a label that is repeated costs no more than
//! once.

use crate::call::array::Texts;
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
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// Bytes of an entity, a listing, a name or a word in the tables here, which may have just doubled.
const EACH: usize = 256;
/// Bytes of an ancestor of an entity.
const PAIR: usize = 2 * size_of::<(usize, usize)>();

/// What the text says of an entity, as the number of a set. Entities of which it says nothing have the first one.
type Said = usize;

/// A listing: see [`Mention::listed`](cftrag_core::Mention::listed). The recogniser, and where the list begins.
type Listing = (usize, usize);

/// Which namesakes count.
#[derive(Default)]
pub struct Narrowed<'n> {
    said: HashMap<&'n [u8], Said>,
    /// The sets of the entities that count, where a listing first counts.
    listings: HashMap<Listing, Rc<Vec<Said>>>,
}

impl Narrowed<'_> {
    fn of(&self, entity: &[u8]) -> Said {
        self.said.get(entity).copied().unwrap_or_default()
    }

    /// Whether an entity of a listing counts.
    pub fn counts(&self, listing: Listing, entity: &[u8]) -> bool {
        self.listings.get(&listing).is_none_or(|those| those.contains(&self.of(entity)))
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

/// The entities that the text names, each with the window that names it first, those with namesakes, and the windows.
#[derive(Default)]
struct Named<'n> {
    first: HashMap<&'n [u8], usize>,
    shared: Vec<&'n [u8]>,
    windows: Vec<(usize, usize)>,
}

/// Keeps of the mentions, which are in the order of their windows, those that count. `read` reads the normal words of
/// the text. 53400, 53200 (memory).
pub fn narrow<'n>(
    of: &AttachedTable,
    trees: Option<Texts<'_>>,
    found: &'n [Recogniser],
    all: &mut Vec<Each>,
    text: &mut NormalText,
    read: impl FnOnce(&mut NormalText) -> Result<(), End>,
) -> Result<Narrowed<'n>, End> {
    let mut check_interrupts = check_interrupts;
    let work = &mut Interruptible::new(&mut check_interrupts);
    let room = &mut Room::new();
    let named = named(found, all, room, work).map_err(End::Error)?;
    if named.shared.is_empty() {
        return Ok(Narrowed::default());
    }
    read(text)?;
    let words = named.words_beside(text, room, work).map_err(End::Error)?;
    if named.windows.len() == 1 && words.is_empty() {
        return Ok(Narrowed::default());
    }
    let reach = Reach { trees, counts: false, ..Reach::levels(MAX_LEVELS, 0) };
    let above = ancestors(of, reach, &named.shared, room).map_err(End::Error)?;
    let mut narrowed = Narrowed::default();
    let sets = named.said(of, text, &words, above, &mut narrowed, room, work).map_err(End::Error)?;
    keep(found, all, &mut narrowed, &sets, room, work).map_err(End::Error)?;
    Ok(narrowed)
}

/// Keeps the mentions of the entities that count, window by window.
fn keep(
    found: &[Recogniser],
    all: &mut Vec<Each>,
    narrowed: &mut Narrowed<'_>,
    sets: &[Vec<usize>],
    room: &mut Room,
    work: &mut Interruptible<'_>,
) -> Fallible<()> {
    let mut of_listing: HashMap<Listing, BTreeSet<Said>> = HashMap::new(); // bounded: `room` has it
    let mut known: HashMap<BTreeSet<Said>, Rc<Vec<Said>>> = HashMap::new(); // bounded: `room` has it
    let (mut kept, mut from) = (0, 0);
    while from < all.len() {
        let to = from + all[from..].iter().take_while(|each| window(each) == window(&all[from])).count();
        let mut those = BTreeSet::new(); // bounded: the sets
        for each in &all[from..to] {
            work.step();
            let Some(listing) = listing(each) else {
                those.insert(narrowed.of(entity(found, each)));
                continue;
            };
            if let Entry::Vacant(place) = of_listing.entry(listing) {
                let mut own = BTreeSet::new(); // bounded: `room` has it
                for name in entities(found, each) {
                    work.step();
                    own.insert(narrowed.of(name));
                }
                room.take(EACH * (1 + own.len()))?;
                place.insert(own);
            }
            those.extend(&of_listing[&listing]);
        }
        let counting = match known.get(&those) {
            Some(counting) => Rc::clone(counting),
            None => {
                room.take(EACH * (1 + those.len()))?;
                let counting = Rc::new(largest(&those, sets, work));
                known.insert(those, Rc::clone(&counting));
                counting
            }
        };
        for n in from..to {
            work.step();
            let counts = match listing(&all[n]) {
                None => counting.contains(&narrowed.of(entity(found, &all[n]))),
                Some(listing) => {
                    let counts = counting.iter().any(|set| of_listing[&listing].contains(set));
                    if counts {
                        narrowed.listings.entry(listing).or_insert_with(|| Rc::clone(&counting));
                    }
                    counts
                }
            };
            if counts {
                all[kept] = all[n];
                kept += 1;
            }
        }
        from = to;
    }
    all.truncate(kept);
    Ok(())
}

/// Of these sets, those that are no proper part of another one, in order.
fn largest(those: &BTreeSet<Said>, sets: &[Vec<usize>], work: &mut Interruptible<'_>) -> Vec<Said> {
    // The sets that have each element: a larger set has the rarest element, too.
    let mut having: HashMap<usize, Vec<Said>> = HashMap::new(); // bounded: `room` has the sets
    for set in those {
        for element in &sets[*set] {
            work.step();
            having.entry(*element).or_default().push(*set);
        }
    }
    let mut is_largest = |set: &Said| {
        let own = &sets[*set];
        let Some(near) = own.iter().map(|element| &having[element]).min_by_key(|near| near.len()) else {
            return those.len() == 1;
        };
        !near.iter().any(|other| {
            work.steps(own.len());
            let larger = &sets[*other];
            larger.len() > own.len() && own.iter().all(|element| larger.binary_search(element).is_ok())
        })
    };
    those.iter().copied().filter(|set| is_largest(set)).collect() // bounded: the sets
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
                    named.first.insert(name, named.windows.len() - 1);
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

impl<'n> Named<'n> {
    /// The words of the text that count and are in no mention, each with a number.
    fn words_beside<'t>(
        &self,
        text: &'t NormalText,
        room: &mut Room,
        work: &mut Interruptible<'_>,
    ) -> Fallible<HashMap<&'t [u8], usize>> {
        let mut words: HashMap<&[u8], usize> = HashMap::new(); // bounded: `room` has it
        let (mut next, mut until) = (0, 0);
        for (place, word) in text.content() {
            work.step();
            while let Some((_, to)) = self.windows.get(next).filter(|window| window.0 <= place.start) {
                until = until.max(*to);
                next += 1;
            }
            if place.start >= until && !words.contains_key(word) {
                room.take(EACH)?;
                words.insert(word, self.windows.len() + words.len());
            }
        }
        Ok(words)
    }

    /// Notes what the text says of each namesake; returns the sets of what it says: numbers of windows and of words, in
    /// order.
    #[expect(clippy::too_many_arguments, reason = "what a search has")]
    fn said(
        &self,
        of: &AttachedTable,
        text: &NormalText,
        words: &HashMap<&[u8], usize>,
        (ancestors, above): (Names, Vec<(usize, usize)>),
        narrowed: &mut Narrowed<'n>,
        room: &mut Room,
        work: &mut Interruptible<'_>,
    ) -> Fallible<Vec<Vec<usize>>> {
        let names: Vec<&[u8]> = ancestors.ids().map(|id| ancestors.get(id)).collect(); // bounded: `room` has them
        let labels = if words.is_empty() { Labels::default() } else { Labels::of(of, &names)? };
        // What the text says by each ancestor.
        let mut by: Vec<Vec<usize>> = list(names.len(), room)?;
        for (n, name) in names.iter().enumerate() {
            work.step();
            let called = if labels.is_empty() { Some(*name) } else { labels.get(n) };
            let called = called.filter(|_| !words.is_empty());
            let normal = called.and_then(|called| cftrag_core::normal_words(text.language(), called));
            let normal = normal.unwrap_or_default();
            let said = normal.split(|byte| *byte == b' ').filter_map(|word| words.get(word));
            by.push(self.first.get(name).into_iter().chain(said).copied().collect()); // bounded: the words of a name
        }
        let mut sets = vec![Vec::new()];
        let mut known: HashMap<Vec<usize>, Said> = HashMap::new(); // bounded: `room` has it
        for same in above.chunk_by(|a, b| a.0 == b.0) {
            let name = self.shared[same[0].0];
            let mut set: Vec<usize> = Vec::new(); // bounded: `room` has the pairs
            for (_, ancestor) in same {
                work.step();
                set.extend(by[*ancestor].iter().filter(|said| **said != self.first[name]));
            }
            set.sort_unstable();
            set.dedup();
            if set.is_empty() {
                continue;
            }
            room.take(EACH + 4 * set.len() * size_of::<usize>())?;
            let number = *known.entry(set).or_insert_with_key(|set| {
                sets.push(set.clone());
                sets.len() - 1
            });
            narrowed.said.insert(name, number);
        }
        Ok(sets)
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
                room.take(PAIR)?;
                let known = names.known(row.name);
                if known.is_none() {
                    room.take(EACH + row.name.len())?;
                }
                let id =
                    known.or_else(|| names.try_id(row.name)).ok_or_else(|| error::no_memory_to_work(names.bytes()))?;
                above.push((at, id.number()));
            }
        }
        Ok(())
    };
    walk::answer(of, entities, reach, &mut Sink::Nodes { take: &mut take, own: false })?;
    Ok((names, above))
}
