//! The two lists of an entity, "up" and "down": inline slots first, then blocks of five.
//!
//! ```text
//!   record --up----> head block (1 to 5 used) --> block (5 used) --> block (5 used)
//!          --down--> head block (1 to 5 used) --> ...
//! ```
//!
//! Promises: adding and removing a slot cost a constant number of lines, however long the list is; only the head block
//! may be partly filled, and no block is empty. Before the first block is added, inline slot 0 makes room for the
//! heads: its content moves to another inline slot or a block. The place of a removed slot is taken by the last slot of
//! the head block. Whenever a slot moves, the link to it is updated. The order in a list has no meaning. Writers hold
//! the lock exclusively, readers shared.

use crate::memory::alloc;
use crate::memory::casts::index;
use crate::memory::flat::{Line, Memory};
use crate::memory::id::{EntityId, Link, SLOTS_PER_LINE, SlotRef, TreeId};
use crate::records::record::{Direction, List, Record, planned};
use crate::records::slot::Slot;
use crate::records::version::Version;

/// A reader's position in a list. Valid while the image's epoch stays the same.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cursor {
    /// Inline slots not yet read, one bit each: five of this line of the record, then five of the next, and so on.
    inline: u32,
    line: u32,
    /// The block being read and how many of its slots are not yet read.
    block: u32,
    left: u32,
}

impl Cursor {
    /// A cursor at the start of a list.
    #[inline(always)]
    pub(crate) fn start(record: Record<'_>, direction: Direction) -> Cursor {
        let List { line, inline, block, used } = record.list(direction);
        Cursor { inline, line, block, left: used }
    }

    /// Whether everything was read.
    #[inline(always)]
    pub(crate) fn is_at_end(&self) -> bool {
        self.inline == 0 && self.block == 0
    }

    /// Prefetches the first block; if there is none, line 0, which always exists, because a test would be a branch.
    #[inline(always)]
    pub(crate) fn send_for_block(&self, mem: &Memory) {
        mem.prefetch(self.block);
    }

    /// The next slots: the inline ones of a line, or those of a block; none at the end. A cursor is read either by
    /// batches or slot by slot ([`Cursor::next`]).
    #[inline(always)]
    pub(crate) fn next_batch<'m>(&mut self, mem: &'m Memory) -> Option<Batch<'m>> {
        if self.inline != 0 {
            let lines = self.inline.trailing_zeros() / SLOTS_PER_LINE;
            self.inline >>= lines * SLOTS_PER_LINE;
            let line = mem.line(self.line + lines);
            let bits = self.inline & ((1 << SLOTS_PER_LINE) - 1);
            self.inline >>= SLOTS_PER_LINE;
            self.line += lines + 1;
            return Some(Batch { line, bits });
        }
        if self.block == 0 {
            return None;
        }
        let line = mem.line(self.block);
        let bits = (1 << self.left) - 1;
        // All blocks but the head are full.
        (self.block, self.left) = (line.u32(0), SLOTS_PER_LINE);
        mem.prefetch(self.block);
        Some(Batch { line, bits })
    }

    /// The next slot.
    #[inline]
    pub(crate) fn next(&mut self, mem: &Memory) -> Option<SlotRef> {
        if self.inline != 0 {
            let i = self.inline.trailing_zeros();
            self.inline &= self.inline - 1;
            return Some(inline_slot(self.line, i));
        }
        self.enter_block(mem).then(|| {
            self.left -= 1;
            SlotRef::new(self.block, self.left)
        })
    }

    /// Continues with the next block if this one is read; returns whether a slot is left.
    #[inline]
    fn enter_block(&mut self, mem: &Memory) -> bool {
        if self.left == 0 && self.block != 0 {
            self.block = mem.line(self.block).u32(0);
            self.left = if self.block == 0 { 0 } else { SLOTS_PER_LINE };
        }
        self.left > 0
    }
}

/// Slots that are read together. Holds their places, not copies: reading words that were just written stalls the
/// processor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch<'m> {
    line: Line<'m>,
    /// The slots of the line that belong to the batch, as a bit mask.
    bits: u32,
}

/// The number of bits set in each number: one load, where the oldest machines take 15 instructions.
const USED: [u8; 1 << SLOTS_PER_LINE] = {
    let mut used = [0; 1 << SLOTS_PER_LINE];
    let mut bits = 1;
    while bits < used.len() {
        used[bits] = used[bits / 2] + (bits % 2) as u8;
        bits += 1;
    }
    used
};

impl Batch<'_> {
    /// How many slots there are.
    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        USED[index(self.bits) % USED.len()].into()
    }

    /// The slots of that tree. The order of trees is unpredictable, so all slots of the line are compared, without a
    /// branch.
    #[inline(always)]
    pub(crate) fn of_tree(self, tree: Option<TreeId>) -> Self {
        let same = |i| u32::from(Slot::is_of_tree(self.line, i, tree)) << i;
        let all = (0..SLOTS_PER_LINE).fold(0, |all, i| all | same(i));
        Batch { bits: self.bits & all, ..self }
    }

    /// Prefetches the versions of the slots.
    pub(crate) fn send_for_versions(self, mem: &Memory) {
        for slot in self {
            if let Link::Version(version) = slot.link {
                mem.prefetch(version.line());
            }
        }
    }
}

impl Iterator for Batch<'_> {
    type Item = Slot;

    #[inline(always)]
    fn next(&mut self) -> Option<Slot> {
        if self.bits == 0 {
            return None;
        }
        let i = self.bits.trailing_zeros();
        self.bits &= self.bits - 1;
        Some(Slot::in_line(self.line, i).expect("a used slot has a neighbour"))
    }
}

/// The slot with that number in the grid that begins with a line.
#[inline]
fn inline_slot(line: u32, number: u32) -> SlotRef {
    SlotRef::new(line + number / SLOTS_PER_LINE, number % SLOTS_PER_LINE)
}

/// How many blocks adding these slots to a record will allocate.
pub(crate) fn blocks_needed(record: Record<'_>, directions: &[Direction]) -> usize {
    let mut inline = record.inline_free().count_ones();
    if index(inline) >= directions.len() {
        return 0;
    }
    let moved = if record.has_heads() { None } else { first_inline(record) };
    if moved.is_none() && !record.has_heads() {
        inline -= 1;
    }
    let mut lists = [Direction::Up, Direction::Down].map(|direction| record.list(direction).used);
    let mut blocks = 0;
    let add = |direction| {
        if inline > 0 {
            inline -= 1;
            return;
        }
        let used = &mut lists[match direction {
            Direction::Up => 0,
            Direction::Down => 1,
        }];
        blocks += usize::from(matches!(*used, 0 | SLOTS_PER_LINE));
        *used = *used % SLOTS_PER_LINE + 1;
    };
    moved.into_iter().chain(directions.iter().copied()).for_each(add);
    blocks
}

/// The direction in which inline slot 0 is used, if it is.
fn first_inline(record: Record<'_>) -> Option<Direction> {
    let directions = [Direction::Up, Direction::Down];
    directions.into_iter().find(|&direction| record.inline_used(direction) & 1 == 1)
}

/// Makes room for two slots of one entity that are added next: adding the second must not move the first. The caller's
/// plan includes a block.
pub(crate) fn make_room(mem: &Memory, owner: EntityId) {
    let record = Record::new(mem, owner);
    if record.inline_free().count_ones() < 2 && !record.has_heads() {
        make_heads(mem, record);
    }
}

/// Puts the heads in the place of inline slot 0; the slot there moves elsewhere.
fn make_heads(mem: &Memory, record: Record<'_>) {
    let slot = first_inline(record).map(|of| (of, Slot::read(mem, record.inline_slot(0))));
    // Slot 0 still counts as used, so it is not taken here.
    let elsewhere = slot.and_then(|(direction, _)| record.take_inline(direction));
    record.set_inline(0, None);
    record.make_heads();
    if let Some((direction, slot)) = slot {
        let to = elsewhere.unwrap_or_else(|| place_in_block(mem, record, direction));
        move_slot(mem, direction, slot, to);
    }
}

/// Writes a slot to another place, and updates the link to it.
fn move_slot(mem: &Memory, direction: Direction, slot: Slot, to: SlotRef) {
    slot.write(mem, to);
    match slot.link {
        Link::Mirror(mirror) => Slot::set_link(mem, mirror, Link::Mirror(to)),
        Link::Version(version) => Version::new(mem, version).set_slot(direction, to),
    }
}

/// Adds a slot, whose link is set later. The caller's plan includes the blocks. Another slot of the entity may move:
/// call [`make_room`] before adding two.
pub(crate) fn add(
    mem: &Memory,
    owner: EntityId,
    direction: Direction,
    neighbour: EntityId,
    tree: Option<TreeId>,
) -> SlotRef {
    let record = Record::new(mem, owner);
    let at = place(mem, record, direction);
    let link = Link::Mirror(at);
    Slot { neighbour, tree, link }.write(mem, at);
    at
}

fn place(mem: &Memory, record: Record<'_>, direction: Direction) -> SlotRef {
    if let Some(slot) = record.take_inline(direction) {
        return slot;
    }
    if !record.has_heads() {
        make_heads(mem, record);
    }
    place_in_block(mem, record, direction)
}

/// Takes a place in the head block of a list. The record has heads.
fn place_in_block(mem: &Memory, record: Record<'_>, direction: Direction) -> SlotRef {
    let List { mut block, mut used, .. } = record.list(direction);
    if block == 0 || used == SLOTS_PER_LINE {
        let next = block;
        block = planned(alloc::take(mem, 1)).get();
        // The block may hold words of another width: see alloc::give.
        mem.span(block).zero(1);
        mem.line(block).set_u32(0, next);
        used = 0;
    }
    record.set_list(direction, block, used + 1);
    SlotRef::new(block, used)
}

/// Removes a slot. The last slot of the head block moves into its place.
pub(crate) fn remove(mem: &Memory, owner: EntityId, direction: Direction, hole: SlotRef) {
    let record = Record::new(mem, owner);
    let inline = inline_number(record, hole);
    let List { block, used, .. } = record.list(direction);
    if block == 0 {
        let i = inline.expect("a list without blocks has inline slots only");
        record.set_inline(i, None);
        return;
    }
    let last = SlotRef::new(block, used - 1);
    if last != hole {
        move_slot(mem, direction, Slot::read(mem, last), hole);
    }
    if used > 1 {
        record.set_list(direction, block, used - 1);
        return;
    }
    let next = mem.line(block).u32(0);
    record.set_list(direction, next, if next == 0 { 0 } else { SLOTS_PER_LINE });
    alloc::give(mem, block, 1);
}

/// The number of an inline slot of `record`; none if the slot is in a block.
fn inline_number(record: Record<'_>, slot: SlotRef) -> Option<u32> {
    let shape = record.shape();
    let line = slot.line().checked_sub(record.id().line())?;
    (line < shape.lines).then(|| line * SLOTS_PER_LINE + slot.i() - shape.base)
}
