//! The names of a form (a folded name) that a snapshot sees, kept for the rest of a text. They are kept where finding
//! them costs much: rows that are not committed, rows deleted that an older snapshot sees, many names of one form. So a
//! text that mentions them often has their lists read twice, not each time.
//!
//! Names are kept by the numbers of their records. A record stays in its place, because the snapshot sees a row of it.

use crate::memory::id::{EntityId, RecordId};
use crate::walk::names::Names;
use std::ops::Range;

/// A form is kept if a word costs more slots than this plus `PER_FOUND` for each mention that it leads to.
const DEAR: usize = 16;
const PER_FOUND: usize = 4;
/// The most forms that are kept, and the most names of them.
const MOST: usize = 20_000;
/// The most that comparing all names of a kept form with a text may cost, in slots: they are compared in one step,
/// under the lock.
const MOST_SLOTS: usize = 4096;
/// Bytes of the longest form that is kept.
const LONGEST: usize = 512;
/// Forms for which there is room at first, and bytes of each.
const FIRST: usize = 16;
const USUAL: usize = 64;
/// How many entities found before are compared with the next one in a label's list.
pub(crate) const LAST: usize = 16;

/// A name whose rows the snapshot sees: an entity's own, or a label and its entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SeenName {
    pub(crate) name: RecordId,
    pub(crate) entity: EntityId,
}

/// The state of a kept form.
#[derive(Clone, Debug)]
pub(crate) enum FormNames {
    /// Its names are still to be read.
    Wanted,
    /// The range of its names that the snapshot sees.
    Names(Range<usize>),
    /// The snapshot sees more than can be compared in one step.
    TooMuch,
}

#[derive(Debug, Default)]
pub(crate) struct Forms {
    /// The forms, and what is known of each; the last ones are those of the current word, kept from the next word on.
    all: Names,
    kept: Vec<FormNames>,
    in_force: usize,
    seen: Vec<SeenName>,
    /// The form whose names are being read.
    reading: Option<Reading>,
    /// Whether a form found no room.
    is_short: bool,
}

#[derive(Clone, Copy, Debug)]
struct Reading {
    /// How many names were read, where the seen ones begin, and what comparing these costs.
    read: usize,
    from: usize,
    slots: usize,
}

impl Forms {
    /// Forgets all forms.
    pub(crate) fn clear(&mut self) {
        if !self.all.is_empty() {
            *self = Forms::default();
        }
    }

    /// Between steps: makes room for a form's names and for more forms, as far as there is memory.
    pub(crate) fn make_room(&mut self) {
        if std::mem::take(&mut self.is_short) || self.kept.capacity() == 0 {
            let more = self.kept.len().max(FIRST);
            _ = self.all.try_reserve(more, more * USUAL)
                && self.kept.try_reserve(more).is_ok()
                && self.seen.try_reserve(MOST_SLOTS.max(self.seen.len())).is_ok();
        }
    }

    /// The state of a form, if it is kept.
    #[inline]
    pub(crate) fn get(&self, form: &[u8]) -> Option<FormNames> {
        if self.in_force == 0 {
            return None;
        }
        self.kept[..self.in_force].get(self.all.known(form)?.number()).cloned()
    }

    pub(crate) fn seen(&self, at: usize) -> SeenName {
        self.seen[at]
    }

    /// Whether a form is worth keeping, given the slots that a word of it cost and the mentions that the word led to.
    #[inline]
    pub(crate) fn is_dear(cost: usize, found: usize) -> bool {
        cost > DEAR + PER_FOUND * found
    }

    /// Keeps a form from the next word on, if there is room.
    #[cold]
    pub(crate) fn note(&mut self, form: &[u8]) {
        if self.all.len().max(self.seen.len()) >= MOST || form.len() > LONGEST {
            return;
        }
        let has_room = self.all.has_room(form.len()) && self.kept.len() < self.kept.capacity();
        self.is_short |= !has_room;
        if has_room && !self.all.contains(form) {
            self.all.id(form);
            self.kept.push(FormNames::Wanted);
        }
    }

    /// Begins another word.
    #[inline]
    pub(crate) fn next_word(&mut self) {
        if self.reading.is_some() || self.in_force < self.kept.len() {
            self.begin_anew();
            self.in_force = self.kept.len();
        }
    }

    /// How many names of the current form were read; begins the form if none is being read.
    pub(crate) fn read(&mut self) -> usize {
        let from = self.seen.len();
        self.reading.get_or_insert(Reading { read: 0, from, slots: 0 }).read
    }

    /// Counts one more name of the current form as read.
    pub(crate) fn go_on(&mut self) {
        if let Some(reading) = &mut self.reading {
            reading.read += 1;
        }
    }

    /// Adds a name of the current form, which costs so many slots to compare, unless it is one of the last ones;
    /// `false` if the form becomes too expensive, or finds no room.
    pub(crate) fn add(&mut self, seen: SeenName, slots: usize) -> bool {
        let Some(reading) = &mut self.reading else { return false };
        if self.seen[reading.from..].iter().rev().take(LAST).any(|before| *before == seen) {
            return true;
        }
        reading.slots += slots;
        let has_room = self.seen.len() < self.seen.capacity();
        self.is_short |= !has_room;
        let fits = reading.slots <= MOST_SLOTS && has_room;
        if fits {
            self.seen.push(seen);
        }
        fits
    }

    /// Ends the current form, as all its names were read; returns the range of those that the snapshot sees.
    pub(crate) fn end(&mut self, form: &[u8]) -> Range<usize> {
        let from = self.reading.take().map_or(self.seen.len(), |reading| reading.from);
        let names = from..self.seen.len();
        self.set(form, FormNames::Names(names.clone()));
        names
    }

    /// Gives up the current form, which has too many names: they are read each time.
    pub(crate) fn give_up(&mut self, form: &[u8]) {
        self.begin_anew();
        self.set(form, FormNames::TooMuch);
    }

    fn set(&mut self, form: &[u8], kept: FormNames) {
        if let Some(id) = self.all.known(form) {
            self.kept[id.number()] = kept;
        }
    }

    /// Drops what was read of the current form, to begin it again; returns whether there was one.
    pub(crate) fn begin_anew(&mut self) -> bool {
        let reading = self.reading.take();
        if let Some(Reading { from, .. }) = reading {
            self.seen.truncate(from);
        }
        reading.is_some()
    }
}
