//! The edge slot, and the grid of slots in a line.
//!
//! ```text
//!  byte 0    4         16        28        40        52        64
//!       +----+---------+---------+---------+---------+---------+
//!       |next|  slot 0 |  slot 1 |  slot 2 |  slot 3 |  slot 4 |    a block: all five
//!       +----+---------+---------+---------+---------+---------+    a record: what its name
//!            |neighbour| tree | link |                              leaves of the same grid
//! ```
//!
//! Blocks and records use one grid: the address of a slot (a [`SlotRef`]) is a line and a number below 5, so a link can
//! be followed without knowing which kind of line it leads to.

use crate::memory::casts::index;
use crate::memory::chunk::LINE_BYTES;
use crate::memory::flat::{Line, Memory};
use crate::memory::id::{EntityId, Link, SLOTS_PER_LINE, SlotRef, TreeId, to_word};

/// The first slot of a line begins here; in a block, the link to the next block is before it.
pub(crate) const SLOTS_AT: usize = 4;
/// Bytes of a slot: a word each for the neighbour, the tree and the link.
pub(crate) const SLOT_BYTES: usize = 12;

const _: () = assert!(SLOTS_AT + SLOT_BYTES * SLOTS_PER_LINE as usize == LINE_BYTES);

/// One edge row as one of its two entities sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) neighbour: EntityId,
    pub(crate) tree: Option<TreeId>,
    pub(crate) link: Link,
}

/// The byte of a line at which slot `i` begins.
#[inline(always)]
pub(crate) fn byte_of(i: u32) -> usize {
    SLOTS_AT + SLOT_BYTES * index(i)
}

impl Slot {
    /// Reads a used slot.
    ///
    /// # Panics
    /// If the slot has no neighbour and so is not used, which is a bug of the caller.
    #[inline]
    pub(crate) fn read(mem: &Memory, at: SlotRef) -> Slot {
        Slot::peek(mem, at).expect("a used slot has a neighbour")
    }

    /// Reads a slot that may never have been written: for verify().
    #[inline]
    pub(crate) fn peek(mem: &Memory, at: SlotRef) -> Option<Slot> {
        Slot::in_line(mem.line(at.line()), at.i())
    }

    /// Reads slot `i` of a line; none if its neighbour is 0.
    #[inline(always)]
    pub(crate) fn in_line(line: Line<'_>, i: u32) -> Option<Slot> {
        let [neighbour, tree, link] = line.words(byte_of(i));
        Some(Slot {
            neighbour: EntityId::from_word(neighbour)?,
            tree: TreeId::from_word(tree),
            link: Link::from_word(link),
        })
    }

    /// Whether slot `i` of a line is of that tree, provided that it is used.
    #[inline(always)]
    pub(crate) fn is_of_tree(line: Line<'_>, i: u32, tree: Option<TreeId>) -> bool {
        line.u32(byte_of(i) + 4) == to_word(tree)
    }

    pub(crate) fn write(self, mem: &Memory, at: SlotRef) {
        let (line, byte) = (mem.line(at.line()), byte_of(at.i()));
        line.set_u32(byte, self.neighbour.line());
        line.set_u32(byte + 4, to_word(self.tree));
        line.set_u32(byte + 8, self.link.to_word());
    }

    /// Writes only the link.
    pub(crate) fn set_link(mem: &Memory, at: SlotRef, link: Link) {
        mem.line(at.line()).set_u32(byte_of(at.i()) + 8, link.to_word());
    }
}
