//! The memory of a walk. With limits it grows only between steps, and never beyond the limits.
//!
//! A row takes 32 bytes, its name some 28, and its entry in the table of rows met 8 to 64. Questions share a block, so
//! if a block is too large for the limit, its questions are walked again one at a time, with each answer as a part,
//! before the walk gives up.

use super::{BLOCK, Node, Query, Walk};
use crate::Interruptible;
use crate::memory::casts::index;
use crate::memory::flat::Memory;
use crate::memory::limit::NoRoom;
use crate::memory::limit::some_is_left;
use crate::records::trees::Trees;
use crate::walk::answer::Row;
use crate::walk::arena::Name;
use crate::walk::order::Order;

/// A step gets room for this many more rows than were found so far, unless it has fewer slots.
const LEAST: usize = 1024;
/// Words of a common name, of 20 bytes.
const WORDS: usize = 7;
/// Row groups for which there is room before each step.
const STRANDS: usize = 64;

#[derive(Debug)]
pub(super) struct Room {
    /// None if the walk grows whenever it needs.
    limit: Option<usize>,
    /// When the answers have more bytes than this, they are taken before other questions begin.
    part: usize,
    /// Questions that are walked together.
    pub(super) block: usize,
    /// Whether each question is a part.
    alone: bool,
    /// Rows that fit without an allocation.
    rows: usize,
}

impl Default for Room {
    fn default() -> Room {
        Room { limit: None, part: usize::MAX, block: BLOCK, alone: false, rows: usize::MAX }
    }
}

impl Room {
    /// Returns to whole blocks, for other questions.
    pub(super) fn start(&mut self) {
        (self.block, self.alone) = (BLOCK, false);
    }
}

impl Walk {
    /// From now on steps allocate nothing; [`Walk::make_room`] does, up to `limit` bytes. With more than `part` bytes
    /// of answers, [`Walk::has_part`] is true.
    pub fn limit(&mut self, limit: usize, part: usize) {
        self.room = Room { limit: Some(limit), part, ..Room::default() };
        self.arena.bound();
    }

    /// Makes room for questions with `bytes` bytes of names. Called before [`Walk::begin`].
    ///
    /// # Errors
    /// If that takes more memory than the limit, or than is available.
    pub fn make_room_for(
        &mut self,
        questions: usize,
        bytes: usize,
        work: &mut Interruptible<'_>,
    ) -> Result<(), NoRoom> {
        let (end, _, words) = self.arena.words();
        let wanted = end + questions * 2 + bytes / 4 + questions + LEAST;
        let least =
            self.bytes() + wanted.saturating_sub(words) * 4 + questions * size_of::<Query>();
        self.allow(least)?;
        let fits = self.questions.try_reserve_exact(questions).is_ok()
            && self.arena.try_grow_to(wanted, work);
        if fits { Ok(()) } else { Err(NoRoom::Memory(least)) }
    }

    /// Makes room for what a step of `slots` slots may find. Called between steps, without the lock: a
    /// large walk's tables take tens of milliseconds to grow.
    ///
    /// # Errors
    /// If that takes more memory than the limit, or than is available.
    pub fn make_room(&mut self, slots: usize, work: &mut Interruptible<'_>) -> Result<(), NoRoom> {
        // At least a line of slots, or a step might make no progress.
        let made = self.try_room(slots.min(self.nodes.len() + LEAST).max(STRANDS), work);
        if matches!(made, Err(NoRoom::Limit(_)))
            && !self.room.alone
            && self.questions.len() > self.taken + 1
        {
            (self.room.block, self.room.alone) = (1, true);
            self.restart();
            return Ok(());
        }
        made
    }

    fn try_room(&mut self, more: usize, work: &mut Interruptible<'_>) -> Result<(), NoRoom> {
        self.make_room_to_ask();
        let (end, lacking, words) = self.arena.words();
        let rows = grown(self.nodes.len(), self.nodes.capacity(), more);
        let wanted = grown(end, words, more * WORDS + lacking);
        let row_groups = self.row_groups.len() / 2 + STRANDS;
        let (table, table_grown) = self.seen.bytes(self.seen.len() + more);
        let (known, known_grown) = self.row_groups.bytes(row_groups);
        let short = !self.row_groups.has_room(STRANDS);
        let more_table = table_grown.saturating_sub(table);
        let more_known = if short { known_grown.saturating_sub(known) } else { 0 };
        let least = self.bytes()
            + (rows - self.nodes.capacity()) * size_of::<Node>()
            + if self.wants_labels {
                (rows - self.row_labels.capacity().min(rows)) * size_of::<Name>()
            } else {
                0
            }
            + (wanted - words) * size_of::<u32>()
            + more_table
            + more_known
            + self.level.bytes_to_order(self.at.rows);
        self.allow(least)?;
        self.dear_labels.make_room();
        let labels = if self.wants_labels { rows.saturating_sub(self.row_labels.len()) } else { 0 };
        let fits = self.nodes.try_reserve_exact(rows - self.nodes.len()).is_ok()
            && self.row_labels.try_reserve_exact(labels).is_ok()
            && self.arena.try_grow_to(wanted, work)
            && self.seen.try_reserve(self.seen.len() + more)
            && (!short || self.row_groups.try_reserve(row_groups))
            && self.try_room_to_order()
            && some_is_left();
        let nodes = &self.nodes;
        if !fits {
            return Err(NoRoom::Memory(least));
        }
        self.seen.grow(more, |node| nodes[node].id, work);
        self.order_level(work);
        Ok(())
    }

    /// Makes room for more xids, in a small part of the limit.
    pub(super) fn make_room_to_ask(&mut self) {
        self.asked.make_room(self.room.limit.unwrap_or(usize::MAX) / 8);
    }

    pub(super) fn allow(&self, bytes: usize) -> Result<(), NoRoom> {
        if bytes > self.room.limit.unwrap_or(usize::MAX) {
            Err(NoRoom::Limit(bytes))
        } else {
            Ok(())
        }
    }

    /// Frees the walk's memory, interruptibly.
    pub fn free(self, work: &mut Interruptible<'_>) {
        let Walk { nodes, arena, seen, row_groups, order, rows, row_labels, text, level, .. } =
            self;
        work.free(rows);
        work.free(row_labels);
        work.free(nodes);
        arena.free(work);
        seen.free(work);
        row_groups.free(work);
        order.free(work);
        text.free(work);
        level.free(work);
    }

    /// Bytes that the walk holds, without those that only [`Walk::finish`] needs.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.arena.words().2 * size_of::<u32>()
            + self.seen.bytes(0).0
            + self.row_groups.bytes(0).0
            + self.row_labels.capacity() * size_of::<Name>()
            + self.dear_labels.bytes()
            + self.questions.capacity() * size_of::<Query>()
            + self.asked.bytes()
            + self.level.bytes()
            + self.trees.as_ref().map_or(0, Trees::bytes)
    }

    /// Bytes of the answers found so far, as rows with their names; without the names that are asked for.
    #[must_use]
    pub fn answer_bytes(&self) -> usize {
        self.nodes.len() * size_of::<Row>()
            + index(self.arena.mark() - self.floor) * size_of::<u32>()
    }

    /// After [`Step::More`](crate::Step::More): whether the answers so far must be taken, with [`Walk::finish`] and
    /// [`Walk::take_part`], before the walk continues.
    #[must_use]
    pub fn has_part(&self) -> bool {
        self.is_between_blocks()
            && self.row_groups.are_named()
            && self.asked.is_empty()
            && self.is_part()
    }

    /// Drops the answers of [`Walk::has_part`], which were taken; returns the number of questions done.
    pub fn take_part(&mut self) -> usize {
        self.taken = self.looked_up;
        self.cost_of_taken = self.counters;
        self.restart();
        self.taken
    }

    /// Whether there are enough answers for a part, and questions after them.
    pub(super) fn is_part(&self) -> bool {
        let full = self.room.alone || self.answer_bytes() > self.room.part;
        full && self.looked_up < self.questions.len() && !self.nodes.is_empty()
    }

    pub(super) fn name_trees(&mut self, mem: &Memory, budget: &mut usize) -> bool {
        self.row_groups.name_trees(mem, &mut self.arena, budget)
    }

    /// Counts the rows that fit.
    pub(super) fn count_room(&mut self) {
        if self.room.limit.is_some() {
            self.room.rows = self.nodes.capacity().min(self.seen.places());
            if self.wants_labels {
                self.room.rows = self.room.rows.min(self.row_labels.capacity());
            }
        }
    }

    /// Whether `more` rows fit without an allocation, and for a question as many row groups.
    #[inline(always)]
    pub(super) fn has_room<const START: bool>(&self, more: usize) -> bool {
        self.nodes.len() + more <= self.room.rows
            && (!START || self.room.limit.is_none() || self.row_groups.has_room(more))
    }

    /// Makes room for the order of all rows, and for the rows themselves if they are wanted.
    pub(super) fn make_room_to_finish(&mut self, as_rows: bool) -> Result<(), NoRoom> {
        let (nodes, row_groups) = (self.nodes.len(), self.row_groups.len());
        if nodes > LARGE {
            self.seen.drop_room();
        }
        let rows = if as_rows { nodes } else { 0 };
        let more = Order::bytes(nodes, row_groups) + rows * size_of::<Row>();
        if self.room.limit.is_some() {
            self.allow(self.bytes() + more)?;
            let fits = (nodes < LARGE || some_is_left())
                && self.order.try_reserve(nodes, row_groups)
                && self.rows.try_reserve_exact(rows.saturating_sub(self.rows.len())).is_ok();
            return if fits { Ok(()) } else { Err(NoRoom::Memory(self.bytes() + more)) };
        }
        Ok(())
    }

    /// Frees the nodes of a large answer after its rows are made.
    pub(super) fn drop_nodes(&mut self, work: &mut Interruptible<'_>) {
        if self.nodes.len() > LARGE && self.room.limit.is_some() {
            work.free(std::mem::take(&mut self.nodes));
            std::mem::take(&mut self.order).free(work);
            self.count_room();
        }
    }
}

/// With more rows than this, the table of rows met is freed before the rows are put in order, and the nodes after that.
const LARGE: usize = 100_000;

/// The new capacity for `more` entries: if it must grow, by at least half.
fn grown(len: usize, capacity: usize, more: usize) -> usize {
    if len + more <= capacity { capacity } else { (len + more).max(capacity + capacity / 2) }
}
