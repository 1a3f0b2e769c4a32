//! The reader: breadth-first walks from entities, within each tree, as the contract of docs/design.md section 1 defines
//! them.
//!
//! ```text
//!   begin(X), begin(Y) --> step: look up a block of questions --> read the lists of X, of Y,
//!       then those of the rows found, in the order in which they were found --> next block
//! ```
//!
//! A row is reached once per (question, relation, tree), at its least depth, because rows are expanded in the order in
//! which they were found. If it is reached again at that depth, it keeps the smaller `via`. Reaching a row only
//! prefetches its record. When its turn comes, together with a few others, its name is copied and the first block of
//! its list is prefetched; then their lists are read. The other rows (of both relations, all trees, all questions of
//! the block) come in between, so a walk seldom waits for memory. Everything a row needs is copied, so the answer
//! outlives the lock.
//!
//! Promises: a step visits about as many slots as asked and may be continued after the lock was released and taken
//! again. If the image changed meanwhile, a list that was read in part is read again from its start, which changes
//! nothing that was found; after 8 times it is read to its end in one step. Entities reached do not move, because the
//! snapshot sees an edge of each; the entities of the questions may have no visible edge, so they are looked up again.
//! In the steady state nothing is allocated.
//!
//! A step of a walk with limits (`limit`) allocates nothing, because the caller may hold the lock: it ends early, and
//! `make_room` grows the workspace or says why not. The answers to many questions can be taken in parts (`has_part`),
//! so they need not fit into memory together.

mod answers;
mod lists;
mod room;
mod wide;

use crate::filter::counters::Counters;
use crate::filter::table::{Spot, TOGETHER};
use crate::filter::temperature::count::Chance;
use crate::memory::casts::{halves, index, wide, word};
use crate::memory::flat::Memory;
use crate::memory::hash::{Hash, Kind};
use crate::memory::id::{EntityId, RecordId};
use crate::memory::key_set::KeySet;
use crate::memory::root::Counter;
use crate::memory::step::Step;
use crate::records::label::LabelTrees;
use crate::records::list::Cursor;
use crate::records::record::Direction;
use crate::records::trees::Trees;
use crate::records::unknown_xids::UnknownXids;
use crate::walk::answer::Row;
use crate::walk::arena::{Arena, Name, Prefix, UNNAMED};
use crate::walk::dear_labels::DearLabels;
use crate::walk::order::Order;
use crate::walk::row_groups::RowGroups;
use crate::walk::sentences::Text;
use crate::{Image, Visibility};
use lists::Labelling;
use room::Room;
use wide::Level;

/// Questions walked together: as many as are looked up together. So some tens of records are fetched at a time, as many
/// as a processor can fetch.
const BLOCK: usize = TOGETHER;
/// Rows per question for which the table of rows met has room at first.
const USUAL_ROWS: usize = 32;
/// The cost of a lookup, in slots: two buckets and a record.
const LOOKUP_SLOTS: usize = 4;

/// The workspace of a reader: questions, frontier, answers. Its memory is reused.
#[derive(Debug)]
pub struct Walk {
    arena: Arena,
    /// Where `restart` truncates the arena: the end of the last question's name.
    floor: u32,
    questions: Vec<Query>,
    room: Room,
    /// The number of questions whose answers were taken, and the cost of these.
    taken: usize,
    cost_of_taken: Counters,
    /// The rows found, in the order in which they were found.
    nodes: Vec<Node>,
    /// The row of each (row group, relative) of the current block.
    seen: KeySet,
    row_groups: RowGroups,
    order: Order,
    rows: Vec<Row>,
    text: Text,
    asked: UnknownXids,
    counters: Counters,
    /// The questions of the block that were found, and the number of questions looked up.
    starts: Vec<Start>,
    looked_up: usize,
    at: At,
    level: Level,
    epoch: u64,
    /// Whether the image has versions.
    versions: bool,
    /// Whether an edge from an entity to itself is a row of the answer.
    own: bool,
    /// The trees to which the walk is limited, if it is.
    trees: Option<Trees>,
    /// The trees of labels, whose edges lead to no relatives; whether labels are wanted; and the label of each row
    /// named so far, [`UNNAMED`] if it has none.
    labels: LabelTrees,
    wants_labels: bool,
    row_labels: Vec<Name>,
    labelling: Labelling,
    /// The labels of relatives in many rows.
    dear_labels: DearLabels,
    /// Whether lookups are counted, and the chance by which some of them are.
    warms: bool,
    chance: Chance,
}

#[derive(Clone, Copy, Debug)]
struct Query {
    entity: Name,
    /// The entity's label; [`UNNAMED`] if it has none, or labels are not wanted.
    label: Name,
    up: u32,
    down: u32,
}

/// A question whose entity was found.
#[derive(Clone, Copy, Debug)]
struct Start {
    group: u32,
    /// None if the entity was removed meanwhile.
    entity: Option<EntityId>,
}

/// A row that was found.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// The row group and the entity, which together identify a row of a block.
    id: u64,
    /// The first eight bytes of the name, once it was copied.
    key: u64,
    depth: u32,
    /// How many more steps the walk takes from this row.
    left: u32,
    via: Name,
    /// [`UNNAMED`] until it is copied.
    name: Name,
}

impl Node {
    #[inline]
    fn id(row_group: u32, entity: EntityId) -> u64 {
        u64::from(row_group) << 32 | u64::from(entity.line())
    }

    #[inline]
    fn row_group(&self) -> u32 {
        halves(self.id).1
    }

    #[inline]
    fn entity(&self) -> EntityId {
        EntityId::from_word(halves(self.id).0).expect("a row is of an entity")
    }
}

/// The progress of a walk.
#[derive(Clone, Copy, Debug)]
struct At {
    /// How many lists of starts were read: two for each start, up and down. A block is done when all of them and all
    /// rows are read.
    lists: usize,
    /// How many rows had their name copied and their list read.
    rows: usize,
    /// The position in the current list; none at its start.
    cursor: Option<Cursor>,
    restarts: u32,
}

const AT_START: At = At { lists: 0, rows: 0, cursor: None, restarts: 0 };

impl Walk {
    /// Makes a workspace. Every copied name follows its prefix, 4-byte aligned.
    #[must_use]
    pub fn new(prefix: Prefix) -> Walk {
        Walk {
            arena: Arena::new(prefix),
            floor: 0,
            questions: Vec::new(),
            room: Room::default(),
            taken: 0,
            cost_of_taken: Counters::default(),
            nodes: Vec::new(),
            seen: KeySet::new(),
            row_groups: RowGroups::new(),
            order: Order::default(),
            rows: Vec::new(),
            text: Text::default(),
            asked: UnknownXids::new(),
            counters: Counters::default(),
            starts: Vec::with_capacity(BLOCK),
            looked_up: 0,
            at: AT_START,
            level: Level::default(),
            epoch: 0,
            versions: true,
            own: false,
            trees: None,
            labels: LabelTrees::default(),
            wants_labels: false,
            row_labels: Vec::new(),
            labelling: Labelling::default(),
            dear_labels: DearLabels::default(),
            warms: true,
            chance: Chance::new(),
        }
    }

    /// This walk, for a reader that only estimates: its lookups do not count in temperatures.
    #[must_use]
    pub fn unnoticed(self) -> Walk {
        Walk { warms: false, ..self }
    }

    /// Drops all questions and answers; keeps the memory.
    pub fn clear(&mut self) {
        self.questions.clear();
        self.floor = 0;
        self.taken = 0;
        self.cost_of_taken = Counters::default();
        self.trees = None;
        self.room.start();
        self.text.clear();
        self.restart();
    }

    /// Asks for the relatives of another entity, `up` steps towards its ancestors and `down`
    /// towards its descendants. Its group is the number of questions before it.
    pub fn begin(&mut self, entity: &[u8], up: u32, down: u32) {
        let entity = self.arena.add(entity);
        self.questions.push(Query { entity, label: UNNAMED, up, down });
        self.floor = self.arena.mark();
    }

    /// Limits all questions to relatives in these trees. By default, and after `clear`, relatives in every tree are
    /// answered.
    pub fn only_in(&mut self, trees: Trees) {
        self.trees = Some(trees);
    }

    /// Restarts all questions whose answers were not taken, once the asked xids are known.
    pub fn restart(&mut self) {
        // Questions that are asked again are not counted again.
        self.counters = self.cost_of_taken;
        self.arena.truncate(self.floor);
        self.rows.clear();
        self.nodes.clear();
        self.row_labels.clear();
        self.labelling = Labelling::default();
        self.dear_labels.clear();
        let answered = self.questions.iter_mut().take(self.looked_up).skip(self.taken);
        answered.for_each(|question| question.label = UNNAMED);
        // The keys of this set were in the rows.
        self.seen.start(0, 0);
        self.row_groups.clear();
        self.make_room_to_ask();
        self.asked.clear();
        self.starts.clear();
        self.looked_up = self.taken;
        self.at = AT_START;
        self.level.start(0, 0);
    }

    /// Sets whether lookups count in the entities' temperatures. By default they do.
    pub fn count_lookups(&mut self, on: bool) {
        self.warms = on;
    }

    /// Sets whether, for questions that go up, an edge from a question's entity to itself is a row too: an ancestor at
    /// depth 0. By default it is not.
    pub fn answer_own_rows(&mut self, on: bool) {
        self.own = on;
    }

    /// Sets whether rows have the labels of their relatives. By default they do not.
    pub fn answer_labels(&mut self, on: bool) {
        self.wants_labels = on;
    }

    /// Reader: continues with the questions, for about `slots` edge slots.
    pub fn step(&mut self, image: Image<'_>, seen: &impl Visibility, slots: usize) -> Step {
        self.notice_changes(image);
        self.versions = image.root().count(Counter::Versions) > 0;
        self.labels = image.labels();
        let mut budget = slots.max(1);
        if let Some(trees) = &mut self.trees
            && !trees.look_up(image, &mut budget)
        {
            return Step::More;
        }
        self.count_room();
        loop {
            if self.is_between_blocks() {
                if !self.name_trees(image.mem(), &mut budget) {
                    return Step::More;
                }
                if self.is_part() || !self.look_up(image, &mut budget) {
                    break;
                }
            }
            if budget == 0 || self.read_on(image, seen, &mut budget) {
                return if self.asked.is_full() { Step::Ask } else { Step::More };
            }
        }
        match self.asked.is_empty() {
            false => Step::Ask,
            true if self.is_part() => Step::More,
            true => Step::Done,
        }
    }

    /// The xids that the snapshot did not know, each once, after [`Step::Ask`].
    #[must_use]
    pub fn asked(&self) -> &[u64] {
        self.asked.xids()
    }

    /// The progress of an unfinished walk: the number of questions begun and of rows found.
    #[must_use]
    pub fn so_far(&self) -> (usize, usize) {
        (self.looked_up, self.nodes.len())
    }

    /// The depth of the last row found.
    #[must_use]
    pub fn depth_so_far(&self) -> u32 {
        self.nodes.last().map_or(0, |node| node.depth)
    }

    /// The rows, in order; call it after [`Walk::finish`].
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The name of a question's entity.
    ///
    /// # Panics
    /// If there is no such question.
    #[must_use]
    pub fn entity(&self, group: u32) -> Name {
        self.questions[index(group)].entity
    }

    /// The label of a question's entity, if labels are wanted and it has one.
    ///
    /// # Panics
    /// If there is no such question.
    #[must_use]
    pub fn label(&self, group: u32) -> Option<Name> {
        Some(self.questions[index(group)].label).filter(|&label| label != UNNAMED)
    }

    /// The bytes of a name of this walk.
    #[must_use]
    pub fn name(&self, name: Name) -> &[u8] {
        self.arena.get(name)
    }

    /// The 4 bytes of a name's prefix and its bytes; the address is a multiple of 4.
    #[must_use]
    pub fn name_with_prefix(&self, name: Name) -> &[u8] {
        self.arena.with_prefix(name)
    }

    /// The cost of the walk since `clear`.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// If the image changed since the last step, drops the position in the list, which is no longer valid, and looks up
    /// the starts again.
    fn notice_changes(&mut self, image: Image<'_>) {
        let epoch = image.epoch();
        if epoch == self.epoch {
            return;
        }
        self.epoch = epoch;
        if self.at.cursor.take().is_some() {
            self.at.restarts += 1;
        }
        self.labelling.begin_anew();
        // Starts may have been removed, and their memory reused for other records.
        for i in self.at.lists / 2..self.starts.len() {
            let name = self.arena.get(self.questions[index(self.starts[i].group)].entity);
            let record = image.key(Kind::Entity, name).record;
            self.starts[i].entity = record.map(RecordId::entity);
        }
    }

    fn is_between_blocks(&self) -> bool {
        !self.is_at_starts() && self.at.rows == self.nodes.len()
    }

    fn is_at_starts(&self) -> bool {
        self.at.lists < 2 * self.starts.len()
    }

    /// Looks up the next block of questions; `false` if there is none.
    fn look_up(&mut self, image: Image<'_>, budget: &mut usize) -> bool {
        let from = self.looked_up;
        let to = self.questions.len().min(from + self.room.block);
        if from == to {
            return false;
        }
        self.starts.clear();
        self.seen.start(self.nodes.len(), (to - from) * USUAL_ROWS);
        self.at = At { rows: self.nodes.len(), ..AT_START };
        self.level.start(self.nodes.len(), self.row_groups.len());
        let Walk { arena, starts, counters, chance, warms, .. } = self;
        let mut groups = word(from)..;
        let mut note = |spot: Option<Spot<'_>>| {
            if let (Some(group), Some(spot)) = (groups.next(), spot) {
                if *warms {
                    spot.raise(chance.next());
                }
                let entity = spot.record().id().entity();
                send_for(image.mem(), entity);
                for direction in [Direction::Up, Direction::Down] {
                    Cursor::start(spot.record(), direction).send_for_block(image.mem());
                }
                starts.push(Start { group, entity: Some(entity) });
            }
        };
        let names = self.questions[from..to].iter().map(|asked| arena.get(asked.entity));
        match names.len() {
            1 => names.for_each(|name| {
                let hash = Hash::of(image.root().seed(), Kind::Entity, name);
                note(image.names().find(Kind::Entity, hash, name, counters));
            }),
            _ => image.names().find_together(Kind::Entity, names, counters, note),
        }
        self.looked_up = to;
        self.count_room();
        self.counters.lookups += wide(to - from);
        self.counters.hits += wide(self.starts.len());
        *budget = budget.saturating_sub((to - from) * LOOKUP_SLOTS);
        true
    }
}

/// Prefetches a record's first two lines: its inline slots are mostly in the line after its name.
#[inline]
fn send_for(mem: &Memory, entity: EntityId) {
    mem.prefetch_two(entity.line());
}
