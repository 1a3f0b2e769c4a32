//! Puts the mentions together that several recognisers found, each with the number of its recogniser: by windows, each
//! entity once in a window.

use crate::call::work_memory::{Room, list};
use crate::error;
use crate::error::Fallible;
use crate::pg::interrupt::check_interrupts;
use crate::serve::narrowed::Narrowed;
use crate::serve::tiers::{Each, window};
use crate::serve::walk::End;
use cftrag_core::{Interruptible, NoRoom, Recogniser};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The windows of mentions, which are in the order of these. 53400, 53200 (memory).
pub fn windows_of(mentions: &[Each], work: &mut Interruptible<'_>) -> Result<Rc<Vec<(usize, usize)>>, End> {
    let of = |(_, mention): &Each| (mention.from, mention.to);
    let mut windows = list(mentions.len(), &mut Room::new()).map_err(End::Error)?;
    for same in mentions.chunk_by(|a, b| of(a) == of(b)) {
        work.steps(same.len());
        windows.push(of(&same[0]));
    }
    Ok(Rc::new(windows))
}

/// Reserves room for what all recognisers found.
pub fn room_for(mentions: &mut Vec<Each>, alone: bool, found: &[Recogniser]) -> Result<(), End> {
    let count: usize = found.iter().map(|of| of.mentions().len()).sum();
    // Merging also needs the sorted copy.
    let each = size_of::<Each>() * if alone { 1 } else { 2 };
    Room::new().take(count * each).map_err(End::Error)?;
    let bytes = count * each;
    mentions.try_reserve_exact(count).map_err(|_| End::Error(error::no_room(NoRoom::Memory(bytes))))
}

/// Merges the mentions that these recognisers found, of which the first one has the number `first`, in the order of the
/// windows. So many of them, `sources`, read the text as written; a window in which they find a name is not given to
/// the others.
pub fn merge(found: &[Recogniser], first: usize, sources: usize, all: &mut Vec<Each>) {
    let mut check_interrupts = check_interrupts;
    let work = &mut Interruptible::new(&mut check_interrupts);
    for (n, of) in found.iter().enumerate() {
        all.extend(of.mentions().iter().map(|mention| (first + n, *mention)).inspect(|_| work.step()));
    }
    work.sort_by(all, |a, b| window(a).cmp(&window(b)));
    keep_best(all, sources, work);
}

/// Of the mentions, which are in the order of their windows, keeps those of each entity's first window. 53400, 53200
/// (memory). `narrowed` says which entities of a listing count.
pub fn keep_first(found: &[Recogniser], all: &mut Vec<Each>, narrowed: &Narrowed<'_>) -> Fallible<()> {
    let mut check_interrupts = check_interrupts;
    let work = &mut Interruptible::new(&mut check_interrupts);
    let mut first = First::default();
    // The labels whose mentions were listed, and those mentions where a window stands for them.
    let (mut listed, mut more) = (HashSet::new(), Vec::new()); // bounded: by `first`, which has an entity of each
    let mut kept = 0;
    for n in 0..all.len() {
        work.step();
        let (recogniser, mention) = all[n];
        let of = &found[recogniser];
        let Some(list) = mention.listed() else {
            if first.is_at(of.name(mention.entity), window(&all[n]))? {
                all[kept] = all[n];
                kept += 1;
            }
            continue;
        };
        let start = list.start;
        if listed.insert((recogniser, start)) {
            for one in &of.mentions()[list] {
                work.step();
                let name = of.name(one.entity);
                if narrowed.counts((recogniser, start), name) && first.is_at(name, window(&all[n]))? {
                    let mut mention = mention;
                    (mention.entity, mention.alias) = (one.entity, one.alias);
                    more.push((recogniser, mention));
                }
            }
        }
    }
    all.truncate(kept);
    if !more.is_empty() {
        all.append(&mut more);
        work.sort_by(all, |a, b| window(a).cmp(&window(b)));
    }
    Ok(())
}

/// The first window of each entity.
#[derive(Default)]
struct First<'n> {
    windows: HashMap<&'n [u8], (usize, Reverse<usize>)>,
    room: Room,
}

impl<'n> First<'n> {
    /// Bytes of an entity here and in `keep_first`, whose tables may have just doubled.
    const EACH: usize = 256 + size_of::<Each>() * 3;

    /// Whether an entity has its first mention in that window. 53400, 53200 (memory).
    fn is_at(&mut self, entity: &'n [u8], window: (usize, Reverse<usize>)) -> Fallible<bool> {
        if let Some(first) = self.windows.get(entity) {
            return Ok(*first == window);
        }
        self.room.take(Self::EACH)?;
        self.windows.try_reserve(1).map_err(|_| error::no_memory_to_work(Self::EACH * self.windows.len()))?;
        self.windows.insert(entity, window);
        Ok(true)
    }
}

/// Puts the mentions of each window in the order of their entities, and keeps one of each entity.
pub fn order(found: &[Recogniser], all: &mut Vec<Each>) {
    let entity = |(n, mention): &Each| found[*n].name(mention.entity);
    let alias = |(n, mention): &Each| mention.alias.map(|alias| found[*n].name(alias));
    let mut check_interrupts = check_interrupts;
    let work = &mut Interruptible::new(&mut check_interrupts);
    for same in all.chunk_by_mut(|a, b| window(a) == window(b)) {
        work.sort_with(same, |a, b, work| {
            work.compare(entity(a), entity(b)).then_with(|| work.compare_some(alias(a), alias(b)))
        });
    }
    // An entity's own name sorts first, then its smallest alias.
    all.dedup_by(|a, b| {
        work.step();
        window(a) == window(b) && entity(a) == entity(b)
    });
}

/// Of the mentions of each window, prefers those of the text as written to those of its plain form; of these, keeps the
/// best spelled ones.
fn keep_best(all: &mut Vec<Each>, sources: usize, work: &mut Interruptible<'_>) {
    let how = |(n, mention): &Each| (Reverse(*n / sources), mention.spelling);
    let mut kept = 0;
    let mut from = 0;
    while from < all.len() {
        let window = |(_, mention): &Each| (mention.from, mention.to);
        let to = from + all[from..].iter().take_while(|mention| window(mention) == window(&all[from])).count();
        let best = all[from..to].iter().map(how).max();
        for i in from..to {
            work.step();
            if Some(how(&all[i])) == best {
                all[kept] = all[i];
                kept += 1;
            }
        }
        from = to;
    }
    all.truncate(kept);
}
