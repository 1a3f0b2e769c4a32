//! Reading the lists of a block of questions: see the head of `walk.rs`.

use super::{At, Node, Walk, send_for};
use crate::answer::Relation;
use crate::arena::Name;
use crate::id::{EntityId, TreeId, index, wide};
use crate::list::Cursor;
use crate::memory::Memory;
use crate::record::{Direction, Record};
use crate::slot::Slot;
use crate::strands::Strand;
use crate::visibility::sees;
use crate::{Image, Visibility};

/// Times a list is read again because the image changed, before it is read in one go.
const MOST_RESTARTS: u32 = 8;
/// Rows between looking at a record's head, for the block its list begins with, and reading it.
const AHEAD: usize = 4;

/// The entity whose list is read: a start, or a row's relative.
#[derive(Clone, Copy, Debug)]
struct Owner {
    entity: EntityId,
    relation: Relation,
    group: u32,
    start: EntityId,
    /// The strand of a row, and its tree; none: edges of every tree count.
    strand: Option<(u32, Option<TreeId>)>,
    depth: u32,
    limit: u32,
    name: Name,
}

impl Walk {
    /// Reads on in the lists of the block; `true` if the budget ended first.
    pub(super) fn read_on(
        &mut self,
        image: Image<'_>,
        seen: &impl Visibility,
        budget: &mut usize,
    ) -> bool {
        while self.is_at_starts() {
            if let Some(owner) = self.start_at_work()
                && self.read_list(image.mem(), &owner, seen, budget)
            {
                return true;
            }
            self.at = At { lists: self.at.lists + 1, cursor: None, restarts: 0, ..self.at };
            if *budget == 0 {
                return true;
            }
        }
        while let Some(&node) = self.nodes.get(self.at.rows) {
            self.look_ahead(image.mem());
            let owner = self.arrive(image.mem(), node);
            if owner.depth < owner.limit && self.read_list(image.mem(), &owner, seen, budget) {
                return true;
            }
            self.at = At { rows: self.at.rows + 1, cursor: None, restarts: 0, ..self.at };
            if *budget == 0 {
                return true;
            }
        }
        false
    }

    /// The start whose list is to be read, if it is.
    fn start_at_work(&self) -> Option<Owner> {
        let start = self.starts[self.at.lists / 2];
        let question = self.questions[index(start.group)];
        let (relation, limit) = match self.at.lists % 2 {
            0 => (Relation::Ancestor, question.up),
            _ => (Relation::Descendant, question.down),
        };
        let entity = start.entity?;
        let (group, strand, depth, name) = (start.group, None, 0, question.entity);
        let owner = Owner { entity, relation, group, start: entity, strand, depth, limit, name };
        (limit > 0).then_some(owner)
    }

    /// A row's turn has come: its name is copied, unless a half-read list is gone on with.
    fn arrive(&mut self, mem: &Memory, node: Node) -> Owner {
        let Node { entity, depth, .. } = node;
        let strand = self.strands.get(node.strand);
        let Strand { relation, group, start, limit, tree, .. } = *strand;
        let mut name = node.name;
        if self.at.cursor.is_none() && self.at.restarts == 0 {
            let key;
            (name, key) = self.arena.add_name_of(Record::new(mem, entity));
            let node = &mut self.nodes[self.at.rows];
            (node.name, node.key) = (name, key);
        }
        let strand = Some((node.strand, tree));
        Owner { entity, relation, group, start, strand, depth, limit, name }
    }

    /// Sends for the block that the list of one of the next rows begins with.
    fn look_ahead(&self, mem: &Memory) {
        if let Some(node) = self.nodes.get(self.at.rows + AHEAD)
            && let strand = self.strands.get(node.strand)
            && node.depth < strand.limit
        {
            let (block, _) = Record::new(mem, node.entity).list(direction(strand.relation));
            if block != 0 {
                mem.prefetch(block);
            }
        }
    }

    /// Reads on in a list; `true` if the budget ended first.
    fn read_list(
        &mut self,
        mem: &Memory,
        owner: &Owner,
        seen: &impl Visibility,
        budget: &mut usize,
    ) -> bool {
        // An empty list costs a record, so it counts too.
        *budget = budget.saturating_sub(1);
        let mut cursor = match self.at.cursor.take() {
            Some(cursor) => cursor,
            None => Cursor::start(Record::new(mem, owner.entity), direction(owner.relation)),
        };
        while let Some(batch) = cursor.next_batch(mem) {
            if self.versions {
                batch.send_for_versions(mem);
            }
            for slot in batch {
                let wanted = slot.neighbour != owner.start
                    && owner.strand.is_none_or(|(_, tree)| tree == slot.tree);
                if wanted && sees(mem, slot.link, seen, &mut self.asked) {
                    self.reach(mem, owner, slot);
                }
            }
            self.counters.slots_visited += wide(batch.len());
            *budget = budget.saturating_sub(batch.len());
            if *budget == 0 && self.at.restarts < MOST_RESTARTS {
                self.at.cursor = Some(cursor);
                return true;
            }
        }
        false
    }

    /// A visible edge leads from the list's owner to the slot's neighbour.
    fn reach(&mut self, mem: &Memory, owner: &Owner, slot: Slot) {
        let Owner { group, relation, start, limit, .. } = *owner;
        let strand = match owner.strand {
            Some((strand, _)) => strand,
            None => {
                let (tree, tree_name, rows) = (slot.tree, None, 0);
                let like = Strand { group, relation, tree, tree_name, start, limit, rows };
                self.strands.number(mem, like)
            }
        };
        let (entity, depth) = (slot.neighbour, owner.depth + 1);
        // Until it has a name of its own: some name.
        let (name, via) = (owner.name, owner.name);
        let node = Node { key: 0, entity, strand, depth, via, name };
        let nodes = &mut self.nodes;
        match self.seen.find_or_add(node.id(), |at| nodes[at].id()) {
            Some(known) => {
                let known = &mut nodes[known];
                if known.depth == depth
                    && known.via != via
                    && self.arena.get(via) < self.arena.get(known.via)
                {
                    known.via = via;
                }
            }
            None => {
                send_for(mem, entity);
                self.strands.count_row(strand);
                nodes.push(node);
            }
        }
    }
}

fn direction(relation: Relation) -> Direction {
    match relation {
        Relation::Ancestor => Direction::Up,
        Relation::Descendant => Direction::Down,
    }
}
