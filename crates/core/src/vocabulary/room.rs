//! Where words lie: a short one in half a line, others in a line.
//!
//! ```text
//!  byte of a free half   0   4       8
//!                       +---+-------+-------+---
//!                       | 0 | next  | prev  |        (a used one begins with its count, which is not 0)
//!                       +---+-------+-------+---
//! ```
//!
//! Half a line is free only if the other half is used: those halves are in a list, which begins in the root. A line of
//! two free halves goes back to the allocator. Writers hold the lock exclusively.

use crate::memory::alloc;
use crate::memory::flat::{Line, Memory};
use crate::memory::id::{WordId, to_word};
use crate::memory::root::{Field, Root};
use crate::records::record::planned;

/// Where a half begins, by its number.
pub(crate) const HALVES: [usize; 2] = [0, 32];
const HEAD: usize = 0;
const NEXT: usize = 4;
const PREV: usize = 8;

/// Half a line, in use or free.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Half<'m> {
    line: Line<'m>,
    at: usize,
}

impl<'m> Half<'m> {
    pub(crate) fn new(mem: &'m Memory, id: WordId) -> Half<'m> {
        Half { line: mem.line(id.line()), at: HALVES[id.half()] }
    }

    pub(crate) fn is_free(self) -> bool {
        self.line.u32(self.at + HEAD) == 0
    }

    /// The next free half.
    pub(crate) fn next(self) -> Option<WordId> {
        WordId::from_word(self.line.u32(self.at + NEXT))
    }

    pub(crate) fn prev(self) -> Option<WordId> {
        WordId::from_word(self.line.u32(self.at + PREV))
    }

    fn set(self, at: usize, id: Option<WordId>) {
        self.line.set_u32(self.at + at, to_word(id));
    }
}

/// The first free half.
pub(crate) fn first_free(root: Root<'_>) -> Option<WordId> {
    WordId::from_word(root.get(Field::FreeHalf))
}

/// Lines that so many new words will take that have a line each, and so many that have half a line.
pub(crate) fn lines_of(mem: &Memory, whole: usize, halves: usize) -> usize {
    let first = first_free(Root::new(mem));
    let free = std::iter::successors(first, |id| Half::new(mem, *id).next()).take(halves).count();
    whole + (halves - free).div_ceil(2)
}

/// Takes a line, which the caller has planned; its words are 0.
pub(crate) fn take_line(mem: &Memory) -> WordId {
    let line = planned(alloc::take(mem, 1));
    // The line may hold words of another width: see alloc::give.
    mem.span(line.get()).zero(1);
    WordId::at(line)
}

pub(crate) fn give_line(mem: &Memory, id: WordId) {
    alloc::give(mem, id.line(), 1);
}

/// Takes half a line, which the caller has planned. Its bytes from 12 on may hold anything.
pub(crate) fn take_half(mem: &Memory) -> WordId {
    if let Some(id) = first_free(Root::new(mem)) {
        unlink(mem, id);
        return id;
    }
    let first = take_line(mem);
    link(mem, first.other());
    first
}

pub(crate) fn give_half(mem: &Memory, id: WordId) {
    if Half::new(mem, id.other()).is_free() {
        unlink(mem, id.other());
        give_line(mem, id);
    } else {
        link(mem, id);
    }
}

/// Puts a half first in the list of free ones.
fn link(mem: &Memory, id: WordId) {
    let (root, half) = (Root::new(mem), Half::new(mem, id));
    let next = first_free(root);
    half.line.set_u32(half.at + HEAD, 0);
    half.set(NEXT, next);
    half.set(PREV, None);
    if let Some(next) = next {
        Half::new(mem, next).set(PREV, Some(id));
    }
    root.set(Field::FreeHalf, to_word(Some(id)));
}

/// Takes a half out of the list of free ones.
fn unlink(mem: &Memory, id: WordId) {
    let half = Half::new(mem, id);
    let (next, prev) = (half.next(), half.prev());
    match prev {
        Some(prev) => Half::new(mem, prev).set(NEXT, next),
        None => Root::new(mem).set(Field::FreeHalf, to_word(next)),
    }
    if let Some(next) = next {
        Half::new(mem, next).set(PREV, prev);
    }
}
