//! Drops mentions that do not count, between steps: those of entities that the caller rejects, and those of the same
//! words as a better spelled one. Each entity is judged once. So a recogniser needs memory for what counts and for one
//! word more, not for each name that is written so: in a table of many tenants, "Shoes" may be the name of thousands.
//!
//! Entities are known by the numbers of their records. A record stays in its place, because the snapshot sees a row of
//! it.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::{Mention, Recogniser};
use crate::Interruptible;
use crate::memory::casts::index;
use crate::memory::id::{EntityId, RecordId};
use crate::memory::limit::NoRoom;
use crate::memory::mixed::Mixed;
use crate::walk::arena::Name;

/// When this many mentions are not judged, a step ends.
const MANY: usize = 10_000;

/// What is known of the entities found, and which mentions were judged.
#[derive(Debug, Default)]
pub(super) struct Counting {
    /// Whether the caller judges entities.
    judges: bool,
    verdicts: HashMap<EntityId, bool, BuildHasherDefault<Mixed>>,
    /// The entities of the mentions that are not judged yet, if the caller judges.
    pub(super) entities: Vec<EntityId>,
    /// How many mentions are judged, and where their names end.
    pub(super) judged: usize,
    names: u32,
    /// Whether a label's entities are listed once, and for each label that was: its first entity, if the caller judges,
    /// and the places of the mentions.
    pub(super) once: bool,
    listed: HashMap<RecordId, (Option<EntityId>, u32, u32), BuildHasherDefault<Mixed>>,
}

impl Counting {
    pub(super) fn begin(&mut self, judges: bool) {
        self.judges = judges;
        self.entities.clear();
        (self.judged, self.names) = (0, 0);
        if !self.verdicts.is_empty() {
            self.verdicts = HashMap::default();
        }
        if !self.listed.is_empty() {
            self.listed = HashMap::default();
        }
    }

    /// Where the entities of that label are listed.
    #[inline]
    pub(super) fn listed(&self, label: RecordId) -> Option<(Option<EntityId>, u32, u32)> {
        if self.listed.is_empty() { None } else { self.listed.get(&label).copied() }
    }

    /// Notes that the mention at that place is the next one of its label in a list; `false` if there is no memory.
    fn list(
        &mut self,
        mention: &Mention,
        at: usize,
        entity: Option<EntityId>,
        found: &[Mention],
    ) -> bool {
        let (Some(label), None, true) = (mention.label, mention.listed, self.once) else {
            return true;
        };
        if self.listed.try_reserve(1).is_err() {
            return false;
        }
        let Ok(at) = u32::try_from(at) else { return true };
        let (_, from, to) = self.listed.entry(label).or_insert((entity, at, at));
        if *to == at && found[index(*from)].from == mention.from {
            *to += 1;
        }
        true
    }

    /// Whether the entity is rejected.
    #[inline]
    pub(super) fn rejects(&self, entity: EntityId) -> bool {
        !self.verdicts.is_empty() && self.verdicts.get(&entity) == Some(&false)
    }

    /// Whether the entity of that mention, which was just asked about, is rejected.
    fn is_rejected(&self, mention: usize) -> bool {
        self.judges && self.rejects(self.entities[mention - self.judged])
    }

    /// Notes the entity of a new mention, for which there is room.
    #[inline]
    pub(super) fn note(&mut self, entity: EntityId) {
        if self.judges {
            self.entities.push(entity);
        }
    }

    /// Whether there is room for one more mention.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        !self.judges || self.entities.len() < self.entities.capacity()
    }

    /// Makes room for that many mentions in all; `false` if there is no memory.
    pub(super) fn reserve(&mut self, mentions: usize) -> bool {
        let more = mentions.saturating_sub(self.judged + self.entities.len());
        !self.judges || self.entities.try_reserve_exact(more).is_ok()
    }

    /// Bytes, and bytes for that many mentions in all.
    pub(super) fn bytes(&self, mentions: usize) -> usize {
        let entities = if self.judges { mentions - self.judged } else { 0 };
        self.verdicts.capacity() * size_of::<(EntityId, bool, u8)>()
            + self.listed.capacity() * size_of::<(RecordId, [u32; 4], u8)>()
            + entities * size_of::<EntityId>()
    }
}

impl Recogniser {
    /// Sets whether the caller judges entities, by [`Recogniser::keep`], before a text is begun.
    pub fn judging(&mut self, judges: bool) {
        self.judges = judges;
    }

    /// Whether so many mentions are not judged yet that the caller should call [`Recogniser::keep`]. A step ends then.
    #[must_use]
    pub fn has_many(&self) -> bool {
        self.unjudged() >= MANY
    }

    /// How many mentions are not judged yet. 0 in the middle of a word: none of its mentions can be judged.
    fn unjudged(&self) -> usize {
        if self.listing.is_some() { 0 } else { self.found.len() - self.counting.judged }
    }

    /// Between steps: drops the mentions that do not count. If the caller judges, `counts` says of different entities
    /// which count; it is asked once about each.
    ///
    /// # Errors
    /// Those of `counts`; those of `no_room` if that takes more memory than the limit, or than is available.
    pub fn keep<E>(
        &mut self,
        work: &mut Interruptible<'_>,
        counts: impl FnOnce(&[&[u8]]) -> Result<Vec<bool>, E>,
        no_room: impl Fn(NoRoom) -> E,
    ) -> Result<(), E> {
        if self.unjudged() == 0 {
            return Ok(());
        }
        if self.counting.judges {
            self.ask(work, counts, &no_room)?;
        }
        let first = self.counting.judged;
        let mut kept = first;
        let mut end = self.counting.names;
        let mut alias: Option<(Name, Name)> = None;
        let mut from = first;
        while from < self.found.len() {
            let place = (self.found[from].start, self.found[from].length);
            let same = self.found[from..].iter().take_while(|m| (m.start, m.length) == place);
            let to = from + same.count();
            let is_kept = |n: usize| !self.counting.is_rejected(n);
            let best = (from..to).filter(|n| is_kept(*n)).map(|n| self.found[n].spelling).max();
            for n in from..to {
                work.step();
                let mut mention = self.found[n];
                if Some(mention.spelling) != best || self.counting.is_rejected(n) {
                    continue;
                }
                // Names are copied in the order in which they stand, so that none is overwritten.
                let is_new = mention.listed.is_none();
                if let Some(old) = mention.alias.filter(|_| is_new) {
                    let moved = match alias.filter(|(before, _)| *before == old) {
                        Some((_, moved)) => moved,
                        None => self.arena.move_down(old, &mut end),
                    };
                    alias = Some((old, moved));
                    mention.alias = Some(moved);
                }
                if is_new {
                    mention.entity = self.arena.move_down(mention.entity, &mut end);
                }
                self.found[kept] = mention;
                let entity = self.counting.entities.get(n - first).copied();
                if !self.counting.list(&mention, kept, entity, &self.found) {
                    return Err(no_room(NoRoom::Memory(self.bytes())));
                }
                kept += 1;
            }
            from = to;
        }
        self.found.truncate(kept);
        self.arena.truncate(end);
        self.counting.entities.clear();
        (self.counting.judged, self.counting.names) = (kept, end);
        Ok(())
    }

    /// Asks about the entities that are not known.
    fn ask<E>(
        &mut self,
        work: &mut Interruptible<'_>,
        counts: impl FnOnce(&[&[u8]]) -> Result<Vec<bool>, E>,
        no_room: impl Fn(NoRoom) -> E,
    ) -> Result<(), E> {
        let Self { counting, found, arena, limit, .. } = self;
        let unjudged = &counting.entities;
        let each = size_of::<(EntityId, bool, u8)>() + size_of::<(EntityId, &[u8])>();
        let wanted = counting.bytes(found.len()) + unjudged.len() * each;
        if wanted > *limit {
            return Err(no_room(NoRoom::Limit(wanted)));
        }
        let (mut new, mut names) = (Vec::new(), Vec::new());
        let fits = counting.verdicts.try_reserve(unjudged.len()).is_ok()
            && new.try_reserve_exact(unjudged.len()).is_ok()
            && names.try_reserve_exact(unjudged.len()).is_ok();
        if !fits {
            return Err(no_room(NoRoom::Memory(wanted)));
        }
        for (entity, mention) in unjudged.iter().zip(&found[counting.judged..]) {
            work.step();
            counting.verdicts.entry(*entity).or_insert_with(|| {
                new.push(*entity);
                names.push(arena.get(mention.entity));
                false
            });
        }
        for (entity, verdict) in new.into_iter().zip(counts(&names)?) {
            work.step();
            counting.verdicts.insert(entity, verdict);
        }
        Ok(())
    }
}
