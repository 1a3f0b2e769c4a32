//! The record of an entity or a tree: its hash, its name, and for an entity the first few edge slots inline and the
//! heads of its lists.
//!
//! ```text
//!  byte  0       8       12     16
//!        +-------+-------+------+-------- - -+--------+--------+ - -
//!        | hash  | shape | bits | name ...   | slot 0 | slot 1 |
//!        +-------+-------+------+-------- - -+--------+--------+ - -
//!                         (in a tree: its number of edge rows)
//!
//!  shape  12 bits length of the name, 1 bit kind, 3 bits lines (how many more than slot 0 needs),
//!         16 bits temperature (how often it was looked up, see filter/temperature)
//!  bits   16 bits for the inline slots that are used, 16 bits for those of them that are "down"
//! ```
//!
//! The inline slots are the slots of the record's slot grid (see slot.rs) after the name. When an entity's lists
//! outgrow the inline slots, the heads of its block lists take the place of inline slot 0, which is then marked "down"
//! and not used:
//!
//! ```text
//!  heads  up u32 | down u32 | - u32       28 bits line of the head block, 4 bits how many of
//!                                         its 5 slots are used
//! ```
//!
//! The creator chooses how many inline slots there are ([`Room`]), at least one. A name of up to 2032 bytes is inside
//! the record. A longer one fills 32 lines and continues in a chain of pieces: the first word of line 32 is the line of
//! its first piece, the second word is its length:
//!
//! ```text
//!  piece  next u32 | - u32 | 8 to 4088 bytes of the name
//! ```
//!
//! So with a name of up to 36 bytes a record takes one line with one slot, with up to 24 bytes two slots, with up to 12
//! three; with a name of up to 88 bytes it takes two lines with two slots. Called by the filter, the lists and the
//! forest; writers hold the lock exclusively.

mod name;
mod shape;

use std::num::NonZeroU32;

use crate::memory::alloc::{self, Plan};
use crate::memory::casts::{index, word};
use crate::memory::chunk::LINE_BYTES;
use crate::memory::flat::{Line, Memory, Span};
use crate::memory::hash::{Hash, Kind};
use crate::memory::id::{RecordId, SLOTS_PER_LINE, SlotRef};
use crate::memory::root::MAX_LINES;
use crate::records::slot::byte_of;

use shape::first_slot;
pub(crate) use shape::{Room, Shape};

const HASH: usize = 0;
pub(crate) const SHAPE: usize = 8;
const BITS: usize = 12;
const NAME: usize = 16;

/// The bits of the shape that are the name's length.
const LEN: u32 = 0xFFF;
/// Stands for a length of more than [`INSIDE`].
const LONG: u32 = LEN;
/// A length that the shape of no record has.
pub(crate) const NO_LENGTH: u32 = LEN - 1;
/// The bit of the shape that marks a tree.
const TREE: u32 = 1 << 12;
const EXTRA_SHIFT: u32 = 13;
const MOST_EXTRA: u32 = 7;
const TEMPERATURE_SHIFT: u32 = 16;

/// The longest name that lies inside its record: 32 lines less the header.
pub(crate) const INSIDE: usize = 32 * LINE_BYTES - NAME;
/// Bytes read at once where a name begins; some of them may be beyond its end.
pub(crate) const NAME_HEAD: usize = 32;
/// The line of a record whose first word is the line of the first piece of a long name.
const CHAIN_LINE: u32 = 32;
/// The place of the long name's length in that line, and the bytes that both words take.
const LONG_LEN: usize = 4;
const CHAIN_BYTES: usize = 8;
/// Bytes of a name in a full piece.
const PIECE_BYTES: usize = MAX_LINES as usize * LINE_BYTES - PIECE_HEAD;
const PIECE_HEAD: usize = 8;
/// Bits in a mask of inline slots.
const MOST_INLINE: u32 = 16;
/// In the masks: slot 0 is marked "down" and not used.
const HEADS: u32 = 0x1_0000;

const _: () = assert!((NAME + INSIDE) / LINE_BYTES == CHAIN_LINE as usize);
const _: () = assert!(NAME + NAME_HEAD <= LINE_BYTES && INSIDE < NO_LENGTH as usize);

/// One of an entity's two lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Slots whose neighbour is a parent.
    Up,
    /// Slots whose neighbour is a child.
    Down,
}

/// The pieces that the rest of a long name takes: the number of full ones, and the lines of the last.
pub(crate) fn pieces(len: usize) -> (usize, Option<u32>) {
    let rest = len.saturating_sub(INSIDE);
    let last = rest % PIECE_BYTES;
    let lines = (last > 0).then(|| word((last + PIECE_HEAD).div_ceil(LINE_BYTES)));
    (rest / PIECE_BYTES, lines)
}

/// Enters the record's allocations into a plan, in the order of [`create`].
pub(crate) fn plan(plan: &mut Plan<'_>, kind: Kind, len: usize, room: Room) {
    plan.take(Shape::of(kind, len, room).lines, 1);
    let (full, last) = pieces(len);
    if full > 0 {
        plan.take(MAX_LINES, full);
    }
    if let Some(lines) = last {
        plan.take(lines, 1);
    }
}

/// An upper bound of the lines of `n` records whose names have `bytes` bytes together: a byte takes at most a 63rd of a
/// line; the header, the edge slots and two unused ends of lines take less than six lines.
#[inline]
pub(crate) const fn bound_lines(n: usize, bytes: usize) -> usize {
    bytes / (LINE_BYTES - 1) + 6 * n
}

/// A record in a memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'m> {
    mem: &'m Memory,
    id: RecordId,
    span: Span<'m>,
    head: Line<'m>,
}

/// Writes a new record without edges. The caller has planned its memory.
///
/// # Panics
/// If the memory is not available after all, which is a bug.
pub(crate) fn create<'m>(
    mem: &'m Memory,
    kind: Kind,
    hash: Hash,
    name: &[u8],
    room: Room,
) -> Record<'m> {
    let shape = Shape::of(kind, name.len(), room);
    let line = planned(alloc::take(mem, shape.lines));
    let span = mem.span(line.get());
    span.zero(shape.lines);
    let head = span.first();
    head.set_u64(HASH, hash.0);
    head.set_u32(SHAPE, shape.to_word(name.len()));
    let (inside, mut rest) = name.split_at(name.len().min(INSIDE));
    span.copy_in(NAME, inside);
    if !rest.is_empty() {
        span.line(CHAIN_LINE).set_u32(LONG_LEN, word(name.len()));
    }
    let mut link = (line.get() + CHAIN_LINE, 0);
    while !rest.is_empty() {
        let part;
        (part, rest) = rest.split_at(rest.len().min(PIECE_BYTES));
        let lines = word((part.len() + PIECE_HEAD).div_ceil(LINE_BYTES));
        let piece = planned(alloc::take(mem, lines)).get();
        mem.line(piece).set_u32(0, 0);
        mem.span(piece).copy_in(PIECE_HEAD, part);
        mem.line(link.0).set_u32(link.1, piece);
        link = (piece, 0);
    }
    Record::new(mem, RecordId::at(line))
}

/// The hash of the record that begins at a line. Line 0 has no record, but can be read.
#[inline]
pub(crate) fn hash_at(mem: &Memory, line: u32) -> Hash {
    Hash(mem.line(line).u64(HASH))
}

/// Unwraps an allocation that a plan promised.
pub(crate) fn planned(line: Option<NonZeroU32>) -> NonZeroU32 {
    line.expect("the plan found room for this")
}

impl<'m> Record<'m> {
    #[inline(always)]
    pub(crate) fn new(mem: &'m Memory, id: impl Into<RecordId>) -> Record<'m> {
        let id = id.into();
        let span = mem.span(id.line());
        Record { mem, id, span, head: span.first() }
    }

    #[inline]
    #[cfg(test)]
    pub(crate) fn span(self) -> Span<'m> {
        self.span
    }

    #[inline]
    pub(crate) fn mem(self) -> &'m Memory {
        self.mem
    }

    #[inline]
    pub(crate) fn id(self) -> RecordId {
        self.id
    }

    #[inline]
    pub(crate) fn hash(self) -> Hash {
        Hash(self.head.u64(HASH))
    }

    #[inline]
    pub(crate) fn shape(self) -> Shape {
        Shape::from_word(self.head.u32(SHAPE))
    }

    #[inline]
    pub(crate) fn kind(self) -> Kind {
        if self.head.u32(SHAPE) & TREE == 0 { Kind::Entity } else { Kind::Tree }
    }

    pub(crate) fn is_tree(self) -> bool {
        self.kind() == Kind::Tree
    }

    /// How often the entity was looked up, as the bits of a temperature.
    #[inline]
    pub(crate) fn temperature_bits(self) -> u32 {
        self.head.u32(SHAPE) >> TEMPERATURE_SHIFT
    }

    /// Readers may call this: the word's other bits never change while the record exists.
    #[inline]
    pub(crate) fn set_temperature_bits(self, temperature: u32) {
        let shape = self.head.u32(SHAPE) & ((1 << TEMPERATURE_SHIFT) - 1);
        self.head.set_u32(SHAPE, shape | temperature << TEMPERATURE_SHIFT);
    }

    /// Frees the record's memory, to which nothing refers any more.
    pub(crate) fn free(self) {
        let lines = self.shape().lines;
        self.for_each_piece(|piece, from, to| {
            let lines = word((to - from + PIECE_HEAD).div_ceil(LINE_BYTES));
            alloc::give(self.mem, piece, lines);
        });
        alloc::give(self.mem, self.id.line(), lines);
    }

    /// The start of a list.
    #[inline(always)]
    pub(crate) fn list(self, direction: Direction) -> List {
        // Each word is loaded once: compilers do not merge atomic loads.
        let bits = self.head.u32(BITS);
        let (line, slot) = self.first_slot();
        // Whether there are heads is unpredictable, so no branch depends on it.
        let are_heads = bits >> 16 & !bits & 1;
        let heads = self.span.line(line);
        let head = heads.u32(byte_of(slot) + head_of(direction)) & are_heads.wrapping_neg();
        List {
            line: self.id.line() + line,
            inline: inline_used(bits, direction) << slot,
            block: head & ((1 << 28) - 1),
            used: head >> 28,
        }
    }

    /// Sets the head of a list. [`Record::make_heads`] made the place of the heads, which is freed with the last block.
    pub(crate) fn set_list(self, direction: Direction, block: u32, used: u32) {
        debug_assert!(used <= SLOTS_PER_LINE && (used == 0) == (block == 0) && self.has_heads());
        let (line, byte) = self.heads();
        line.set_u32(byte + head_of(direction), block | used << 28);
        if block == 0 && line.u32(byte) == 0 && line.u32(byte + 4) == 0 {
            self.head.set_u32(BITS, self.head.u32(BITS) & !HEADS);
        }
    }

    /// Whether the heads of block lists are in the place of inline slot 0.
    pub(crate) fn has_heads(self) -> bool {
        self.head.u32(BITS) & (HEADS | 1) == HEADS
    }

    /// Turns inline slot 0, which must be unused, into the place of the heads.
    pub(crate) fn make_heads(self) {
        debug_assert!(self.inline_free() & 1 == 1);
        let (line, byte) = self.heads();
        line.set_u32(byte, 0);
        line.set_u32(byte + 4, 0);
        self.head.set_u32(BITS, self.head.u32(BITS) | HEADS);
    }

    /// The first inline slot: its line in the record, and its number in that line.
    #[inline(always)]
    fn first_slot(self) -> (u32, u32) {
        first_slot(index(self.head.u32(SHAPE) & LEN))
    }

    /// The place of the heads, if there are any.
    fn heads(self) -> (Line<'m>, usize) {
        let (line, slot) = self.first_slot();
        (self.span.line(line), byte_of(slot))
    }

    /// The inline slots used in that direction, as a bit mask.
    pub(crate) fn inline_used(self, direction: Direction) -> u32 {
        inline_used(self.head.u32(BITS), direction)
    }

    /// The inline slots that are neither used nor the place of the heads, as a bit mask.
    #[inline]
    pub(crate) fn inline_free(self) -> u32 {
        let shape = self.head.u32(SHAPE);
        let (_, slot) = first_slot(index(shape & LEN));
        let lines = (shape >> EXTRA_SHIFT & MOST_EXTRA) + 1;
        let all = (1 << (lines * SLOTS_PER_LINE - slot).min(MOST_INLINE)) - 1;
        let bits = self.head.u32(BITS);
        all & !(bits | bits >> 16)
    }

    /// Takes a free inline slot.
    #[inline]
    pub(crate) fn take_inline(self, direction: Direction) -> Option<SlotRef> {
        let free = self.inline_free();
        if free == 0 {
            return None;
        }
        // Up and down take slots from opposite ends, so that slots read together are adjacent.
        let i = match direction {
            Direction::Up => free.trailing_zeros(),
            Direction::Down => free.ilog2(),
        };
        self.set_inline(i, Some(direction));
        Some(self.inline_slot(i))
    }

    /// The place of inline slot `i`.
    #[inline]
    pub(crate) fn inline_slot(self, i: u32) -> SlotRef {
        let (line, slot) = self.first_slot();
        let (lines, slot) = ((slot + i) / SLOTS_PER_LINE, (slot + i) % SLOTS_PER_LINE);
        SlotRef::new(self.id.line() + line + lines, slot)
    }

    pub(crate) fn set_inline(self, i: u32, used: Option<Direction>) {
        let clear = self.head.u32(BITS) & !(0x1_0001 << i);
        let bits = match used {
            None => 0,
            Some(Direction::Up) => 0x1,
            Some(Direction::Down) => 0x1_0001,
        };
        self.head.set_u32(BITS, clear | bits << i);
    }

    /// Whether an entity has no edge rows, visible or not.
    pub(crate) fn is_lone(self) -> bool {
        self.head.u32(BITS) == 0
    }

    /// The number of a tree's edge rows.
    pub(crate) fn tree_rows(self) -> u32 {
        self.head.u32(BITS)
    }

    pub(crate) fn set_tree_rows(self, rows: u32) {
        self.head.set_u32(BITS, rows);
    }
}

/// The start of a list, in the form that a reader needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct List {
    /// The line of the first inline slots.
    pub(crate) line: u32,
    /// The inline slots that are used, one bit each, from the first of that line on.
    pub(crate) inline: u32,
    /// The head block, or 0.
    pub(crate) block: u32,
    /// How many of its slots are used.
    pub(crate) used: u32,
}

#[inline(always)]
fn inline_used(bits: u32, direction: Direction) -> u32 {
    let down = bits >> 16;
    match direction {
        Direction::Up => bits & 0xFFFF & !down,
        Direction::Down => bits & down,
    }
}

/// The offset of a list's head within the place of the heads.
#[inline(always)]
fn head_of(direction: Direction) -> usize {
    match direction {
        Direction::Up => 0,
        Direction::Down => 4,
    }
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
