//! The layout of a record: where its inline slots begin, and how many lines it has.

use super::{CHAIN_BYTES, EXTRA_SHIFT, INSIDE, LEN, LONG, MOST_EXTRA, MOST_INLINE, NAME, TREE};
use crate::memory::casts::{index, word};
use crate::memory::chunk::LINE_BYTES;
use crate::memory::hash::Kind;
use crate::memory::id::SLOTS_PER_LINE;
use crate::records::slot::{SLOT_BYTES, SLOTS_AT};

/// How the lines of a record are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) kind: Kind,
    /// Lines of the record without pieces.
    pub(crate) lines: u32,
    /// The number of these lines after the line of slot 0.
    pub(super) extra: u32,
    /// Number of the first inline slot in the record's slot grid.
    pub(crate) base: u32,
}

/// The number of edge rows for which a new entity has inline slots: 1 to 16, plus what rounding up to whole lines adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room(u32);

impl Room {
    /// The room of an entity whose number of rows is unknown.
    pub(crate) const USUAL: Room = Room(2);

    /// The room for `rows` rows, at least 1 and at most 16.
    pub(crate) const fn of(rows: u32) -> Room {
        Room(if rows < 1 {
            1
        } else if rows > MOST_INLINE {
            MOST_INLINE
        } else {
            rows
        })
    }
}

impl Shape {
    /// The shape of a record whose name has `len` bytes.
    pub(crate) fn of(kind: Kind, len: usize, Room(slots): Room) -> Shape {
        let least = Shape::least(kind, len);
        match kind {
            Kind::Entity => {
                let in_line = least.base % SLOTS_PER_LINE;
                least.with((in_line + slots - 1) / SLOTS_PER_LINE)
            }
            Kind::Tree => least,
        }
    }

    fn with(self, extra: u32) -> Shape {
        Shape { lines: self.lines + extra, extra, ..self }
    }

    /// The shape with the fewest lines.
    #[inline]
    fn least(kind: Kind, len: usize) -> Shape {
        let (line, slot) = first_slot(len);
        let lines = match kind {
            Kind::Entity => line + 1,
            Kind::Tree => word(end_of(len).div_ceil(LINE_BYTES)),
        };
        Shape { kind, lines, extra: 0, base: line * SLOTS_PER_LINE + slot }
    }

    /// Whether a record whose name has `len` bytes may have this shape.
    pub(crate) fn is_of(self, len: usize) -> bool {
        let most = Shape::of(self.kind, len, Room::of(MOST_INLINE));
        self.extra <= most.extra && self == Shape::least(self.kind, len).with(self.extra)
    }

    pub(super) fn from_word(shape: u32) -> Shape {
        let kind = if shape & TREE == 0 { Kind::Entity } else { Kind::Tree };
        Shape::least(kind, index(shape & LEN)).with(shape >> EXTRA_SHIFT & MOST_EXTRA)
    }

    pub(super) fn to_word(self, len: usize) -> u32 {
        debug_assert!(self.extra <= MOST_EXTRA);
        let len = if len > INSIDE { LONG } else { word(len) };
        len | kind_bit(self.kind) | self.extra << EXTRA_SHIFT
    }

    /// How many inline slots there are.
    pub(crate) fn inline(self) -> u32 {
        match self.kind {
            Kind::Entity => (self.lines * SLOTS_PER_LINE - self.base).min(MOST_INLINE),
            Kind::Tree => 0,
        }
    }
}

/// Where a name of that length ends; for a long one, where the two words of its chain end. Any length above [`INSIDE`]
/// stands for a long name.
const fn end_of(len: usize) -> usize {
    NAME + if len > INSIDE { INSIDE + CHAIN_BYTES } else { len }
}

/// The first inline slot after a name of that length (any length above [`INSIDE`] stands for a long name): its line in
/// the record, and its number in that line.
#[inline(always)]
pub(super) fn first_slot(len: usize) -> (u32, u32) {
    let place = u32::from(FIRST_SLOTS[len.min(index(LONG))]);
    (place / 8, place % 8)
}

/// The first inline slot by length of the name: eight times its line, plus its number. Names have similar lengths, so
/// only a cache line or two of the table are read.
static FIRST_SLOTS: [u16; 1 << LEN.count_ones()] = {
    let mut all = [0; 1 << LEN.count_ones()];
    let mut len = 0;
    while len < all.len() {
        let end = end_of(len);
        let (line, rest) = (end / LINE_BYTES, end % LINE_BYTES);
        let taken = (rest + SLOT_BYTES - 1).saturating_sub(SLOTS_AT) / SLOT_BYTES;
        let next_line = taken == index(SLOTS_PER_LINE);
        all[len] = if next_line { 8 * (line + 1) } else { 8 * line + taken } as u16;
        len += 1;
    }
    all
};

#[inline]
pub(super) const fn kind_bit(kind: Kind) -> u32 {
    match kind {
        Kind::Entity => 0,
        Kind::Tree => TREE,
    }
}
