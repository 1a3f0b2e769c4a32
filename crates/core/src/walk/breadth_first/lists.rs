//! Reads the lists of a block of questions: see the head of `walk/breadth_first.rs`.

use super::{At, Node, Walk, send_for};
use crate::memory::casts::{halves, index, wide};
use crate::memory::flat::Memory;
use crate::memory::id::{EntityId, TreeId};
use crate::records::list::Cursor;
use crate::records::record::{Direction, Record};
use crate::records::slot::Slot;
use crate::records::visibility::sees;
use crate::walk::arena::{Name, UNNAMED};
use crate::walk::relation::Relation;
use crate::walk::row_groups::RowGroup;
use crate::{Image, Visibility};

/// How often a list is read again because the image changed, before it is read in one step.
pub(super) const MOST_RESTARTS: u32 = 8;
/// Rows whose records are read before their lists.
const AT_ONCE: usize = 4;
/// Words of names that take as long to copy as a slot takes to read.
pub(super) const WORDS_A_CELL: usize = 128;

/// The entity whose list is read: a start, or a row's relative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    /// The name of the question's entity, or of the row's.
    pub(super) name: Name,
    pub(super) group: u32,
    pub(super) start: EntityId,
    pub(super) relation: Relation,
    /// The row group of a row, and the tree to which the row's list is limited; not used for a start.
    pub(super) row_group: u32,
    pub(super) tree: Option<TreeId>,
    /// Depth and remaining steps of the rows to which its list leads.
    pub(super) depth: u32,
    pub(super) left: u32,
}

/// The label of an entity whose list was read in part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Labelling {
    cursor: Option<Cursor>,
    /// The smallest label so far: the rank of its tree, the label, and its copy, the last name of the arena.
    least: Option<(usize, EntityId, Name)>,
    slots: usize,
    restarts: u32,
}

impl Labelling {
    /// Begins the list again, because the image changed. The label found stays, as the snapshot sees it.
    pub(super) fn begin_anew(&mut self) {
        if self.cursor.take().is_some() {
            self.restarts += 1;
        }
    }
}

impl Walk {
    /// Continues with the lists of the block; `true` if the budget ended first.
    pub(super) fn read_on(
        &mut self,
        image: Image<'_>,
        seen: &impl Visibility,
        budget: &mut usize,
    ) -> bool {
        let mem = image.mem();
        while self.is_at_starts() {
            if self.wants_labels && self.is_at_start() && self.label_start(mem, seen, budget) {
                return true;
            }
            if let Some(owner) = self.start_at_work() {
                let at_start = || start_of(mem, owner.start, owner.relation);
                let cursor = self.at.cursor.take().unwrap_or_else(at_start);
                if self.read_list::<true>(mem, &owner, cursor, seen, budget) {
                    return true;
                }
            }
            self.at = At { lists: self.at.lists + 1, restarts: 0, ..self.at };
            self.row_groups.begin_list();
            if *budget == 0 {
                return true;
            }
        }
        while self.at.rows < self.nodes.len() {
            let ended = match self.is_wide() {
                true => self.read_wide(mem, seen, budget),
                false => self.read_some(mem, seen, budget),
            };
            if ended || *budget == 0 {
                return true;
            }
        }
        false
    }

    /// Copies the names of the next rows and prefetches the first blocks of their lists, then reads the lists. `true`
    /// if the budget ended first.
    #[inline]
    fn read_some(&mut self, mem: &Memory, seen: &impl Visibility, budget: &mut usize) -> bool {
        // The rows with a list to be read. Which rows these are is unpredictable, so no branch depends on it.
        let mut lists = [(0, Cursor::default()); AT_ONCE];
        let mut count = 0;
        let first = self.at.rows;
        let end = self.nodes.len().min(first + AT_ONCE).min(self.level.end);
        let names = self.arena.mark();
        for (row, node) in (first..).zip(&mut self.nodes[first..end]) {
            let record = Record::new(mem, node.entity());
            if node.name == UNNAMED {
                (node.name, node.key) = self.arena.add_name_of(record);
            }
            if node.left > 0 {
                let relation = self.row_groups.get(node.row_group()).relation;
                let cursor = Cursor::start(record, direction(relation));
                cursor.send_for_block(mem);
                lists[count % AT_ONCE] = (row, cursor);
                count += usize::from(!cursor.is_at_end());
            }
        }
        // Long names cost budget too, because they are copied under the lock.
        *budget = budget.saturating_sub(index(self.arena.mark() - names) / WORDS_A_CELL);
        if self.arena.lacks() || self.wants_labels && self.label_rows(mem, end, seen, budget) {
            return true;
        }
        if let Some(resumed) = self.at.cursor.take() {
            lists[0].1 = resumed;
        }
        *budget = budget.saturating_sub(end - first);
        for &(row, cursor) in &lists[..count] {
            if row > self.at.rows {
                self.at = At { rows: row, restarts: 0, ..self.at };
            }
            let Node { id, depth, left, name, .. } = self.nodes[row];
            let (_, row_group) = halves(id);
            let RowGroup { relation, group, start, tree, .. } = *self.row_groups.get(row_group);
            let (depth, left) = (depth + 1, left - 1);
            let owner = Owner { name, group, start, relation, row_group, tree, depth, left };
            if self.read_list::<false>(mem, &owner, cursor, seen, budget) {
                return true;
            }
        }
        self.at = At { rows: end, restarts: 0, ..self.at };
        false
    }

    /// Whether no list of the start at work was read, so that its label is read first.
    fn is_at_start(&self) -> bool {
        self.at.lists.is_multiple_of(2) && self.at.cursor.is_none()
    }

    /// Copies the label of the start at work; `true` if the budget or the room ended first.
    #[inline(never)]
    fn label_start(&mut self, mem: &Memory, seen: &impl Visibility, budget: &mut usize) -> bool {
        let start = self.starts[self.at.lists / 2];
        let is_known = self.questions[index(start.group)].label != UNNAMED;
        let (false, Some(entity), false) = (self.labels.is_empty(), start.entity, is_known) else {
            return false;
        };
        let Some((label, _)) = self.label_of(mem, entity, seen, budget) else {
            return true;
        };
        self.questions[index(start.group)].label = label;
        false
    }

    /// Copies the labels of the rows up to `end`; `true` if the budget or the room ended first.
    #[inline(never)]
    pub(super) fn label_rows(
        &mut self,
        mem: &Memory,
        end: usize,
        seen: &impl Visibility,
        budget: &mut usize,
    ) -> bool {
        if self.labels.is_empty() {
            return false;
        }
        while self.row_labels.len() < end {
            if *budget == 0 {
                return true;
            }
            let entity = self.nodes[self.row_labels.len()].entity();
            let label = match self.dear_labels.get(entity) {
                Some(label) => label,
                None => {
                    let read = self.label_of(mem, entity, seen, budget);
                    let Some((label, slots)) = read else { return true };
                    self.dear_labels.note(entity, label, slots);
                    label
                }
            };
            self.row_labels.push(label);
        }
        false
    }

    /// The smallest of an entity's labels that the snapshot sees, else of its other names, copied, or [`UNNAMED`]; and
    /// the number of slots read. None if the budget or the room ended first: the next call continues. No other name is
    /// copied meanwhile.
    fn label_of(
        &mut self,
        mem: &Memory,
        entity: EntityId,
        seen: &impl Visibility,
        budget: &mut usize,
    ) -> Option<(Name, usize)> {
        let mut half = std::mem::take(&mut self.labelling);
        let start = || Cursor::start(Record::new(mem, entity), Direction::Up);
        let mut cursor = half.cursor.unwrap_or_else(start);
        loop {
            half.cursor = Some(cursor);
            let Some(batch) = cursor.next_batch(mem) else { break };
            half.slots += batch.len();
            *budget = budget.saturating_sub(batch.len());
            let ranked = self
                .labels
                .ranked()
                .flat_map(|(rank, tree)| batch.of_tree(Some(tree)).map(move |slot| (rank, slot)));
            for (rank, slot) in ranked {
                let known = half.least.is_some_and(|(known, label, _)| {
                    known < rank || (known, label) == (rank, slot.neighbour)
                });
                if known || !sees(mem, slot.link, seen, &mut self.asked) {
                    continue;
                }
                let mark = self.arena.mark();
                let name = self.arena.add_label_of(Record::new(mem, slot.neighbour));
                if name == UNNAMED {
                    self.labelling = half;
                    return None;
                }
                let words = index(self.arena.mark() - mark);
                *budget = budget.saturating_sub(words / WORDS_A_CELL);
                match half.least {
                    Some((known, _, least))
                        if known == rank && self.arena.get(name) >= self.arena.get(least) =>
                    {
                        self.arena.truncate(mark);
                    }
                    Some((_, _, least)) => {
                        half.least = Some((rank, slot.neighbour, self.arena.replace(least, name)));
                    }
                    None => half.least = Some((rank, slot.neighbour, name)),
                }
            }
            let is_over = *budget == 0 && half.restarts < MOST_RESTARTS || self.asked.is_full();
            if is_over && !cursor.is_at_end() {
                self.labelling = Labelling { cursor: Some(cursor), ..half };
                return None;
            }
        }
        Some((half.least.map_or(UNNAMED, |(_, _, name)| name), half.slots))
    }

    /// The start whose list is next; none if it was removed or its question asks for no steps in that direction.
    fn start_at_work(&self) -> Option<Owner> {
        let start = self.starts[self.at.lists / 2];
        let question = self.questions[index(start.group)];
        let (relation, limit) = match self.at.lists % 2 {
            0 => (Relation::Ancestor, question.up),
            _ => (Relation::Descendant, question.down),
        };
        let (group, name) = (start.group, question.entity);
        let (start, left) = (start.entity?, limit.checked_sub(1)?);
        Some(Owner { name, group, start, relation, row_group: 0, tree: None, depth: 1, left })
    }

    /// Continues with a list, of a start or of a row; `true` if the budget ended first.
    #[inline]
    fn read_list<const START: bool>(
        &mut self,
        mem: &Memory,
        owner: &Owner,
        cursor: Cursor,
        seen: &impl Visibility,
        budget: &mut usize,
    ) -> bool {
        if self.versions {
            self.read_list_of::<START, true>(mem, owner, cursor, seen, budget)
        } else {
            self.read_list_of::<START, false>(mem, owner, cursor, seen, budget)
        }
    }

    /// [`Walk::read_list`], compiled separately for images in which every row is settled.
    fn read_list_of<const START: bool, const VERSIONS: bool>(
        &mut self,
        mem: &Memory,
        owner: &Owner,
        mut cursor: Cursor,
        seen: &impl Visibility,
        budget: &mut usize,
    ) -> bool {
        let mut visited = 0;
        loop {
            let before = cursor;
            let Some(mut batch) = cursor.next_batch(mem) else { break };
            if !self.has_room::<START>(batch.len()) {
                self.at.cursor = Some(before);
                break;
            }
            visited += batch.len();
            if !START {
                batch = batch.of_tree(owner.tree);
            }
            if VERSIONS {
                batch.send_for_versions(mem);
            }
            for slot in batch {
                if START && self.leaves_out(slot.tree) {
                    continue;
                }
                let is_own = slot.neighbour == owner.start;
                let wanted = !is_own || START && self.own && owner.relation == Relation::Ancestor;
                if wanted && (!VERSIONS || sees(mem, slot.link, seen, &mut self.asked)) {
                    if is_own {
                        self.reach::<START>(mem, &Owner { depth: 0, left: 0, ..*owner }, slot);
                    } else {
                        self.reach::<START>(mem, owner, slot);
                    }
                }
            }
            if visited >= *budget && self.at.restarts < MOST_RESTARTS
                || VERSIONS && self.asked.is_full()
            {
                self.at.cursor = Some(cursor);
                break;
            }
        }
        self.counters.slots_visited += wide(visited);
        *budget = budget.saturating_sub(visited);
        self.at.cursor.is_some()
    }

    /// Whether edges of that tree lead to no relatives, or are not asked for.
    #[inline]
    fn leaves_out(&self, tree: Option<TreeId>) -> bool {
        self.labels.has(tree) || self.trees.as_ref().is_some_and(|trees| !trees.has(tree))
    }

    /// Adds the row to which a visible edge leads, or gives a known row the smaller `via`.
    #[inline(always)]
    pub(super) fn reach<const START: bool>(&mut self, mem: &Memory, owner: &Owner, slot: Slot) {
        let Owner { depth, left, name, .. } = *owner;
        let row_group = if START {
            let Owner { group, relation, start, .. } = *owner;
            self.row_groups.number(mem, group, relation, slot.tree, start)
        } else {
            owner.row_group
        };
        let id = Node::id(row_group, slot.neighbour);
        let nodes = &mut self.nodes;
        match self.seen.find_or_add(id, |at| nodes[at].id) {
            Some(known) => {
                let known = &mut nodes[known];
                if known.depth == depth
                    && known.via != name
                    && self.arena.get(name) < self.arena.get(known.via)
                {
                    known.via = name;
                }
            }
            None => {
                send_for(mem, slot.neighbour);
                self.row_groups.count_row(row_group);
                nodes.push(Node { id, key: 0, depth, left, via: name, name: UNNAMED });
            }
        }
    }
}

#[inline]
fn start_of(mem: &Memory, entity: EntityId, relation: Relation) -> Cursor {
    Cursor::start(Record::new(mem, entity), direction(relation))
}

#[inline]
pub(super) fn direction(relation: Relation) -> Direction {
    match relation {
        Relation::Ancestor => Direction::Up,
        Relation::Descendant => Direction::Down,
    }
}
