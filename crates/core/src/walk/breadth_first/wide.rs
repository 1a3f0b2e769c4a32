//! Levels of many trees. An entity that is reached in many trees has one list for each direction. In a wide level this
//! list is read once for all rows of the entity, not once for each, so a walk is linear in trees.

use super::{At, Node, Query, Start, Walk};
use crate::memory::casts::{halves, index, wide, word};
use crate::memory::flat::Memory;
use crate::memory::id::{EntityId, TreeId, to_word};
use crate::records::list::Cursor;
use crate::records::record::Record;
use crate::records::visibility::sees;
use crate::walk::arena::UNNAMED;
use crate::walk::breadth_first::lists::{MOST_RESTARTS, Owner, WORDS_A_CELL, direction};
use crate::walk::relation::Relation;
use crate::walk::row_groups::RowGroup;
use crate::{Interruptible, Visibility};
use std::ops::Range;

/// A level is wide if it has this many rows, and its questions have rows in as many trees on average.
const WIDE: usize = 16;
/// Rows that are named between two checks of the budget.
const AT_ONCE: usize = 64;

/// A level: the rows that are as far from their questions as the rows at work.
#[derive(Debug, Default)]
pub(super) struct Level {
    /// The first row of the next level; `usize::MAX` if there are few trees.
    pub(super) end: usize,
    /// The first row group of the block.
    row_groups: usize,
    is_wide: bool,
    /// The first row whose name is not yet copied.
    named: usize,
    order: Ordering,
    /// The rows whose lists are to be read, ordered by direction, entity and tree.
    turns: Vec<u32>,
    /// The range in `turns` of the entity whose list is read; and the place where the last tree was found.
    run: Range<usize>,
    hint: Range<usize>,
}

/// Whether `turns` is in order. Ordering is done between steps, because sorting takes long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Ordering {
    #[default]
    Missing,
    Wanted,
    Done,
}

impl Level {
    /// Begins a block whose first row and row group are these.
    pub(super) fn start(&mut self, first: usize, row_groups: usize) {
        (self.end, self.row_groups) = (first, row_groups);
        (self.is_wide, self.order) = (false, Ordering::Missing);
    }

    pub(super) fn free(self, work: &mut Interruptible<'_>) {
        work.free(self.turns);
    }

    /// The bytes that the level holds.
    pub(super) fn bytes(&self) -> usize {
        self.turns.capacity() * size_of::<u32>()
    }

    /// The additional bytes for ordering the level, if ordering is wanted.
    pub(super) fn bytes_to_order(&self, at: usize) -> usize {
        match self.order {
            Ordering::Wanted => {
                (self.end - at).saturating_sub(self.turns.capacity()) * size_of::<u32>()
            }
            _ => 0,
        }
    }
}

impl Walk {
    /// Whether the rows at work are a wide level; begins the next level.
    #[inline]
    pub(super) fn is_wide(&mut self) -> bool {
        if self.at.rows >= self.level.end {
            self.begin_level();
        }
        self.level.is_wide
    }

    #[inline(never)]
    fn begin_level(&mut self) {
        let (first, end) = (self.at.rows, self.nodes.len());
        let row_groups = self.level.row_groups;
        if self.row_groups.len() - row_groups < 2 * WIDE * self.starts.len() {
            (self.level.end, self.level.is_wide) = (usize::MAX, false);
            return;
        }
        let turns = std::mem::take(&mut self.level.turns);
        let depth = self.nodes.get(first).map_or(0, |node| node.depth);
        let goes_on = |start: &Start| {
            let Query { up, down, .. } = self.questions[index(start.group)];
            up.max(down) > depth
        };
        let is_wide = end - first >= WIDE && self.starts.iter().any(goes_on);
        self.level = Level { end, row_groups, is_wide, named: first, turns, ..Level::default() };
    }

    /// Names the rows of a wide level, then reads their lists; `true` if the budget ended first.
    pub(super) fn read_wide(
        &mut self,
        mem: &Memory,
        seen: &impl Visibility,
        budget: &mut usize,
    ) -> bool {
        if self.name_level(mem, seen, budget) {
            return true;
        }
        match self.level.order {
            Ordering::Missing => {
                self.level.order = Ordering::Wanted;
                return true;
            }
            Ordering::Wanted => self.order_level(&mut Interruptible::new(&mut || ())),
            Ordering::Done => {}
        }
        while self.level.run.start < self.level.turns.len() {
            if self.read_turns(mem, seen, budget) || *budget == 0 {
                return true;
            }
        }
        self.at = At { rows: self.level.end, restarts: 0, ..self.at };
        false
    }

    /// Copies the names of the level's rows, and their labels; `true` if the budget or the room ended first.
    fn name_level(&mut self, mem: &Memory, seen: &impl Visibility, budget: &mut usize) -> bool {
        while self.level.named < self.level.end {
            let first = self.level.named;
            let end = self.level.end.min(first + AT_ONCE);
            let names = self.arena.mark();
            for node in self.nodes[first..end].iter_mut().filter(|node| node.name == UNNAMED) {
                (node.name, node.key) = self.arena.add_name_of(Record::new(mem, node.entity()));
                *budget = budget.saturating_sub(1);
            }
            let words = index(self.arena.mark() - names);
            *budget = budget.saturating_sub(words / WORDS_A_CELL);
            if self.arena.lacks() || self.wants_labels && self.label_rows(mem, end, seen, budget) {
                return true;
            }
            self.level.named = end;
            if *budget == 0 {
                return true;
            }
        }
        false
    }

    /// Puts the rows of a wide level in order, if a step has asked for that; the room was reserved before.
    pub(super) fn order_level(&mut self, work: &mut Interruptible<'_>) {
        if self.level.order != Ordering::Wanted {
            return;
        }
        let mut turns = std::mem::take(&mut self.level.turns);
        turns.clear();
        for row in self.at.rows..self.level.end {
            work.step();
            if self.nodes[row].left > 0 {
                turns.push(word(row));
            }
        }
        work.sort_by(&mut turns, |a, b| {
            let key = |turn: u32| (self.list_of(turn), to_word(self.tree_of(turn)));
            key(*a).cmp(&key(*b))
        });
        (self.level.turns, self.level.run) = (turns, 0..0);
        self.level.order = Ordering::Done;
    }

    /// Reserves what [`Walk::order_level`] needs; `false` if there is no memory.
    pub(super) fn try_room_to_order(&mut self) -> bool {
        let Level { order, turns, end, .. } = &mut self.level;
        if *order != Ordering::Wanted {
            return true;
        }
        turns.clear();
        turns.try_reserve_exact(*end - self.at.rows).is_ok()
    }

    /// Continues with the list of the next entity, for all its rows; `true` if the budget or the room ended first.
    fn read_turns(&mut self, mem: &Memory, seen: &impl Visibility, budget: &mut usize) -> bool {
        let first = self.level.run.start;
        let (relation, entity) = self.list_of(self.level.turns[first]);
        if self.level.run.is_empty() {
            let of_list = |turn: &&u32| self.list_of(**turn) == (relation, entity);
            let rows = self.level.turns[first..].iter().take_while(of_list).count();
            (self.level.run, self.level.hint) = (first..first + rows, first..first);
        }
        let start = || Cursor::start(Record::new(mem, entity), direction(relation));
        let mut cursor = self.at.cursor.take().unwrap_or_else(start);
        let mut visited = 0;
        loop {
            let before = cursor;
            let Some(batch) = cursor.next_batch(mem) else { break };
            let rows: usize = batch.map(|slot| self.turns_of(slot.tree).len()).sum();
            if !self.has_room::<false>(rows) {
                self.at.cursor = Some(before);
                break;
            }
            visited += batch.len() + rows;
            for slot in batch {
                let turns = self.turns_of(slot.tree);
                if turns.is_empty() || self.versions && !sees(mem, slot.link, seen, &mut self.asked)
                {
                    continue;
                }
                for turn in turns {
                    let owner = self.owner_of(self.level.turns[turn]);
                    if slot.neighbour != owner.start {
                        self.reach::<false>(mem, &owner, slot);
                    }
                }
            }
            if visited >= *budget && self.at.restarts < MOST_RESTARTS
                || self.versions && self.asked.is_full()
            {
                self.at.cursor = Some(cursor);
                break;
            }
        }
        self.counters.slots_visited += wide(visited);
        *budget = budget.saturating_sub(visited);
        if self.at.cursor.is_some() {
            return true;
        }
        self.level.run = self.level.run.end..self.level.run.end;
        self.at.restarts = 0;
        false
    }

    /// The direction and the entity of the list of a row.
    fn list_of(&self, turn: u32) -> (Relation, EntityId) {
        let node = &self.nodes[index(turn)];
        (self.row_groups.get(node.row_group()).relation, node.entity())
    }

    fn tree_of(&self, turn: u32) -> Option<TreeId> {
        self.row_groups.get(self.nodes[index(turn)].row_group()).tree
    }

    /// The rows at work in that tree: one for each question. The trees of a list mostly come in the order of rows, or
    /// in reverse order.
    fn turns_of(&mut self, tree: Option<TreeId>) -> Range<usize> {
        let Range { start, end } = self.level.run;
        let of = |at: usize| self.tree_of(self.level.turns[at]);
        let hint = self.level.hint.clone();
        let near = [hint.start, hint.end, hint.start.wrapping_sub(1)];
        let near = near.into_iter().find(|at| (start..end).contains(at) && of(*at) == tree);
        let found = near.unwrap_or_else(|| {
            let before = |turn: &u32| to_word(self.tree_of(*turn)) < to_word(tree);
            start + self.level.turns[start..end].partition_point(before)
        });
        let first = (start..found).rev().take_while(|at| of(*at) == tree).last().unwrap_or(found);
        let rows = (first..end).take_while(|at| of(*at) == tree).count();
        if rows > 0 {
            self.level.hint = first..first + rows;
        }
        first..first + rows
    }

    /// A row as the owner of its list.
    fn owner_of(&self, turn: u32) -> Owner {
        let Node { id, depth, left, name, .. } = self.nodes[index(turn)];
        let (_, row_group) = halves(id);
        let RowGroup { relation, group, start, tree, .. } = *self.row_groups.get(row_group);
        Owner { name, group, start, relation, row_group, tree, depth: depth + 1, left: left - 1 }
    }
}
