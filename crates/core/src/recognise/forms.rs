//! What a snapshot sees of the names that fold alike, kept for the rest of a text where looking for it costs much: rows that are not committed,
//! rows deleted beside an older snapshot, many names of one form. So a text that mentions them often reads their lists twice, not each time.
//!
//! Records are kept by their number. They stay where they are, because the snapshot sees a row of theirs.

use crate::memory::id::{EntityId, RecordId};
use std::collections::HashMap;
use std::ops::Range;

/// A form is kept if a word costs more slots than this, and more than `PER_FOUND` for each mention that it leads to.
const DEAR: usize = 16;
const PER_FOUND: usize = 4;
/// At most so many forms, and names of them, are kept.
const MOST: usize = 20_000;
/// What comparing all names of a kept form with a text costs at most, in slots: that is done in one go, under the lock.
const MOST_CELLS: usize = 4096;
/// Longer forms are not kept.
const LONGEST: usize = 512;

/// A name whose rows the snapshot sees: an entity's own, or a label and its entity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) name: RecordId,
    pub(crate) entity: EntityId,
}

/// What is known of a form.
#[derive(Clone, Debug)]
pub(crate) enum Kept {
    /// Its names are still to be read.
    Wanted,
    /// Where those that are seen are.
    Names(Range<usize>),
    /// More is seen than is compared in one go.
    TooMuch,
}

#[derive(Debug, Default)]
pub(crate) struct Forms {
    all: HashMap<Vec<u8>, Kept>,
    seen: Vec<Seen>,
    /// Forms of the current word that are to be kept from the next one on.
    dear: Vec<Vec<u8>>,
    /// The form whose names are being read.
    reading: Option<Reading>,
}

#[derive(Clone, Copy, Debug)]
struct Reading {
    /// How many names were read, where those that are seen begin, and what comparing these costs.
    read: usize,
    from: usize,
    cells: usize,
}

impl Forms {
    /// Forgets all forms.
    pub(crate) fn clear(&mut self) {
        if !self.all.is_empty() || !self.dear.is_empty() {
            *self = Forms::default();
        }
    }

    /// A form that is kept.
    #[inline]
    pub(crate) fn get(&self, form: &[u8]) -> Option<Kept> {
        if self.all.is_empty() { None } else { self.all.get(form).cloned() }
    }

    pub(crate) fn seen(&self, at: usize) -> Seen {
        self.seen[at]
    }

    /// Whether a word that cost so many slots, and led to so many mentions, is worth keeping.
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
        let mut copy = Vec::new();
        if copy.try_reserve_exact(form.len()).is_ok() && self.dear.try_reserve(1).is_ok() {
            copy.extend_from_slice(form);
            self.dear.push(copy);
        }
    }

    /// Begins another word.
    #[inline]
    pub(crate) fn next_word(&mut self) {
        if self.reading.is_some() || !self.dear.is_empty() {
            self.keep_dear();
        }
    }

    #[cold]
    fn keep_dear(&mut self) {
        self.begin_anew();
        if self.all.try_reserve(self.dear.len()).is_ok() {
            for form in self.dear.drain(..) {
                self.all.entry(form).or_insert(Kept::Wanted);
            }
        }
        self.dear.clear();
    }

    /// How many names of the current folded name were read; the first call begins with none.
    pub(crate) fn read(&mut self) -> usize {
        let from = self.seen.len();
        self.reading.get_or_insert(Reading { read: 0, from, cells: 0 }).read
    }

    /// Another name of the current folded name was read.
    pub(crate) fn go_on(&mut self) {
        if let Some(reading) = &mut self.reading {
            reading.read += 1;
        }
    }

    /// Adds a name of the current folded name, which costs so many slots to compare; `false` if that is too much, or there is no memory.
    pub(crate) fn add(&mut self, seen: Seen, cells: usize) -> bool {
        let Some(reading) = &mut self.reading else { return false };
        reading.cells += cells;
        let fits = reading.cells <= MOST_CELLS && self.seen.try_reserve(1).is_ok();
        if fits {
            self.seen.push(seen);
        }
        fits
    }

    /// All names of the current folded name were read; where those that are seen are.
    pub(crate) fn end(&mut self, form: &[u8]) -> Range<usize> {
        let from = self.reading.take().map_or(self.seen.len(), |reading| reading.from);
        let names = from..self.seen.len();
        self.set(form, Kept::Names(names.clone()));
        names
    }

    /// The names of the current folded name are too many: they are read each time.
    pub(crate) fn give_up(&mut self, form: &[u8]) {
        self.begin_anew();
        self.set(form, Kept::TooMuch);
    }

    fn set(&mut self, form: &[u8], kept: Kept) {
        if let Some(of) = self.all.get_mut(form) {
            *of = kept;
        }
    }

    /// The form at work is begun anew; whether there was one.
    pub(crate) fn begin_anew(&mut self) -> bool {
        let reading = self.reading.take();
        if let Some(Reading { from, .. }) = reading {
            self.seen.truncate(from);
        }
        reading.is_some()
    }
}
