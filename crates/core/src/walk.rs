//! The reader: breadth-first walks from entities, within each tree, as the contract of
//! DESIGN.md section 1 defines them.
//!
//! ```text
//!   begin(X) --> step: look X up --> Ancestor: X's list, then the rows' lists, by depth
//!                                --> Descendant: the same, downwards --> next question
//! ```
//!
//! A row is reached once per (tree, relation), at its least depth, because rows are
//! expanded in the order they were found. Reached again at that depth, it keeps the
//! smaller `via`. Everything a row needs is copied when it is found, so the answer
//! outlives the lock.
//!
//! Promises: a step visits about as many slots as asked and may be continued after the
//! lock was released and taken again. If the image changed meanwhile, a half-read list is
//! read again from its start, which changes nothing that was found; after 8 times it is
//! read to its end in one go. Entities reached stay where they are, because the snapshot
//! sees an edge of theirs; the start itself is looked up again.
//! In the steady state nothing is allocated.

use crate::answer::{Counters, Relation, Row, Step};
use crate::arena::{Arena, Name};
use crate::filter::Spot;
use crate::hash::{Hash, Kind};
use crate::id::{EntityId, TreeId, wide, word};
use crate::list::Cursor;
use crate::record::{Direction, Record};
use crate::seen::Seen;
use crate::slot::Slot;
use crate::temperature::Chance;
use crate::trees::Trees;
use crate::visibility::sees;
use crate::{Image, Visibility};
use std::cmp::Ordering::Equal;

/// Times a list is read again because the image changed, before it is read in one go.
const MOST_RESTARTS: u32 = 8;
/// What looking a name up counts for, in slots: two buckets and a record.
const LOOKUP_CELLS: usize = 4;

/// The workspace of a reader: questions, frontier, answers. Its room is used again.
#[derive(Debug)]
pub struct Walk {
    arena: Arena,
    /// What `restart` truncates the arena to: the end of the last question's name.
    floor: usize,
    questions: Vec<Question>,
    rows: Vec<Row>,
    /// The handles of each row of the question at work, at the same place.
    nodes: Vec<Node>,
    /// (tree, relative) of the question and relation at work, and their row.
    seen: Seen,
    trees: Trees,
    asked: Vec<u64>,
    counters: Counters,
    /// The entities of the next questions, last first; of no use after a change of the image.
    starts: Vec<Option<EntityId>>,
    /// Whether lookups are counted, and which of them.
    warms: bool,
    chance: Chance,
    /// The question at work, and how far it is.
    current: usize,
    stage: Stage,
    epoch: u64,
}

#[derive(Clone, Copy, Debug)]
struct Question {
    entity: Name,
    up: u32,
    down: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    tree: Option<TreeId>,
    entity: EntityId,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    /// The current question's name is to be looked up.
    Lookup,
    /// A list is to be read, or half read.
    List(Expansion),
}

/// The list that is being read.
#[derive(Clone, Copy, Debug)]
struct Expansion {
    start: EntityId,
    relation: Relation,
    /// The row whose list it is; none: the start's.
    row: Option<usize>,
    /// The first row of this question and relation.
    first: usize,
    /// Where in the list; none: at its start.
    cursor: Option<Cursor>,
    restarts: u32,
}

/// The entity whose list is read: the start, or a row's relative.
#[derive(Clone, Copy, Debug)]
struct Owner {
    entity: EntityId,
    /// None: edges of every tree count.
    tree: Option<Option<TreeId>>,
    depth: u32,
    name: Name,
}

impl Walk {
    /// A workspace. Every name copied out is preceded by `prefix(length)` and 4-byte aligned.
    #[must_use]
    pub fn new(prefix: fn(usize) -> [u8; 4]) -> Walk {
        Walk {
            arena: Arena::new(prefix),
            floor: 0,
            questions: Vec::new(),
            rows: Vec::new(),
            nodes: Vec::new(),
            seen: Seen::new(),
            trees: Trees::new(),
            asked: Vec::new(),
            counters: Counters::default(),
            starts: Vec::new(),
            warms: true,
            chance: Chance::new(),
            current: 0,
            stage: Stage::Lookup,
            epoch: 0,
        }
    }

    /// The same for a reader that only estimates: its lookups do not count in temperatures.
    #[must_use]
    pub fn unnoticed(self) -> Walk {
        Walk { warms: false, ..self }
    }

    /// Forgets all questions and answers; keeps the room.
    pub fn clear(&mut self) {
        self.questions.clear();
        self.floor = 0;
        self.restart();
        self.counters = Counters::default();
    }

    /// Asks for the relatives of another entity, `up` steps towards its ancestors and `down`
    /// towards its descendants. Its group is the number of questions before it.
    pub fn begin(&mut self, entity: &[u8], up: u32, down: u32) {
        let entity = self.arena.add(entity.len(), |to| to.copy_from_slice(entity));
        self.questions.push(Question { entity, up, down });
        self.floor = self.arena.mark();
    }

    /// Starts all questions since `clear` again, after the asked xids were learned.
    pub fn restart(&mut self) {
        // The same questions once more are not more questions.
        self.counters = Counters::default();
        self.arena.truncate(self.floor);
        self.rows.clear();
        self.nodes.clear();
        self.trees.clear();
        self.asked.clear();
        self.starts.clear();
        self.current = 0;
        self.stage = Stage::Lookup;
    }

    /// Whether lookups count in the entities' temperatures. They do unless told otherwise.
    pub fn count_lookups(&mut self, on: bool) {
        self.warms = on;
    }

    /// Room for what a step of so many cells may find. Called between steps, without the lock: a large walk's tables take
    /// tens of milliseconds to grow.
    pub fn make_room(&mut self, cells: usize) {
        self.rows.reserve(cells);
        self.nodes.reserve(cells);
        self.seen.reserve(cells);
        self.arena.reserve(cells);
    }

    /// Reader: goes on with the questions, for about `cells` edge slots.
    pub fn step(&mut self, image: Image<'_>, seen: &impl Visibility, cells: usize) -> Step {
        self.notice_changes(image);
        let mut budget = cells.max(1);
        while let Some(&question) = self.questions.get(self.current) {
            let enough = match self.stage {
                Stage::Lookup => self.look_up(image, &mut budget),
                Stage::List(list) => self.expand(image, question, list, seen, &mut budget),
            };
            if enough {
                return Step::More;
            }
        }
        if self.asked.is_empty() {
            return Step::Done;
        }
        self.asked.sort_unstable();
        self.asked.dedup();
        Step::Ask
    }

    /// The xids the snapshot did not know, sorted and unique after [`Step::Ask`].
    #[must_use]
    pub fn asked(&self) -> &[u64] {
        &self.asked
    }

    /// After [`Step::Done`]: puts the rows of each group in the contract's order: tree (NULL
    /// first), ancestors before descendants, depth, relative; names by bytes.
    pub fn finish(&mut self) {
        let arena = &self.arena;
        let relative = |row: &Row| arena.get(row.relative);
        for group in self.rows.chunk_by_mut(|a, b| a.group == b.group) {
            if group.iter().any(|row| row.tree != group[0].tree) {
                let tree = |row: &Row| row.tree.map(|tree| arena.get(tree));
                let level = |row: &Row| (row.relation, row.depth);
                // What is compared without reading a name comes first.
                group.sort_unstable_by(|a, b| {
                    let trees = if a.tree == b.tree { Equal } else { tree(a).cmp(&tree(b)) };
                    trees
                        .then_with(|| level(a).cmp(&level(b)))
                        .then_with(|| relative(a).cmp(relative(b)))
                });
                continue;
            }
            // One tree: they were found by relation and depth.
            let level = |a: &Row, b: &Row| (a.relation, a.depth) == (b.relation, b.depth);
            for level in group.chunk_by_mut(level) {
                level.sort_unstable_by(|a, b| relative(a).cmp(relative(b)));
            }
        }
    }

    /// The rows, in order after [`Walk::finish`].
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
        self.questions[crate::id::index(group)].entity
    }

    /// The bytes of a name of this walk.
    #[must_use]
    pub fn name(&self, name: Name) -> &[u8] {
        self.arena.get(name)
    }

    /// The 4 bytes of `prefix` and the bytes of the name; the address is a multiple of 4.
    #[must_use]
    pub fn name_with_prefix(&self, name: Name) -> &[u8] {
        self.arena.with_prefix(name)
    }

    /// What the walk cost since `clear`.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The image changed since the last step: positions in lists mean nothing any more.
    fn notice_changes(&mut self, image: Image<'_>) {
        let epoch = image.epoch();
        if epoch == self.epoch {
            return;
        }
        self.epoch = epoch;
        self.starts.clear();
        let Stage::List(list) = &mut self.stage else {
            return;
        };
        if list.cursor.take().is_some() {
            list.restarts += 1;
        }
        if list.row.is_none() {
            // The start may have been removed, and its memory be another record's.
            let name = self.arena.get(self.questions[self.current].entity);
            match image.key(Kind::Entity, name).record {
                Some(record) => list.start = record.id().entity(),
                None => self.next_question(),
            }
        }
    }

    fn next_question(&mut self) {
        self.current += 1;
        self.stage = Stage::Lookup;
    }

    fn look_up(&mut self, image: Image<'_>, budget: &mut usize) -> bool {
        if self.starts.is_empty() {
            self.find_starts(image);
        }
        self.counters.lookups += 1;
        match self.starts.pop().flatten() {
            Some(start) => {
                self.counters.hits += 1;
                self.start_relation(start, Relation::Ancestor);
            }
            None => self.next_question(),
        }
        *budget = budget.saturating_sub(LOOKUP_CELLS);
        *budget == 0
    }

    /// Finds the entities of the next questions.
    fn find_starts(&mut self, image: Image<'_>) {
        let Walk { arena, starts, counters, chance, warms, .. } = self;
        let mut note = |spot: Option<Spot<'_>>| {
            let record = spot.map(|spot| {
                if *warms {
                    spot.warm(chance.next());
                }
                spot.record().id().entity()
            });
            starts.push(record);
        };
        let names = self.questions[self.current..].iter().map(|asked| arena.get(asked.entity));
        match names.len() {
            1 => names.for_each(|name| {
                let hash = Hash::of(image.root().seed(), Kind::Entity, name);
                note(image.names().find(Kind::Entity, hash, name, counters));
            }),
            _ => image.names().find_together(Kind::Entity, names, counters, note),
        }
        starts.reverse();
    }

    fn start_relation(&mut self, start: EntityId, relation: Relation) {
        self.seen.start();
        self.stage = Stage::List(Expansion {
            start,
            relation,
            row: None,
            first: self.rows.len(),
            cursor: None,
            restarts: 0,
        });
    }

    /// Reads on in the lists of a question and relation; `true` if the budget ended first.
    fn expand(
        &mut self,
        image: Image<'_>,
        question: Question,
        mut list: Expansion,
        seen: &impl Visibility,
        budget: &mut usize,
    ) -> bool {
        let mem = image.mem();
        let (direction, limit) = match list.relation {
            Relation::Ancestor => (Direction::Up, question.up),
            Relation::Descendant => (Direction::Down, question.down),
        };
        loop {
            let owner = self.owner(question, &list);
            if owner.depth >= limit {
                self.end_relation(&list);
                return false;
            }
            // An empty list costs a record, so it counts too.
            *budget = budget.saturating_sub(1);
            let mut cursor = match list.cursor.take() {
                Some(cursor) => cursor,
                None => Cursor::start(Record::new(mem, owner.entity), direction),
            };
            loop {
                let batch = cursor.next_batch(mem);
                if batch.len() == 0 {
                    break;
                }
                for slot in batch.slots() {
                    let wanted = slot.neighbour != list.start
                        && owner.tree.is_none_or(|tree| tree == slot.tree);
                    if wanted && sees(mem, slot.link, seen, &mut self.asked) {
                        self.reach(image, &list, &owner, slot);
                    }
                }
                self.counters.slots_visited += wide(batch.len());
                *budget = budget.saturating_sub(batch.len());
                if *budget == 0 && list.restarts < MOST_RESTARTS {
                    self.stage = Stage::List(Expansion { cursor: Some(cursor), ..list });
                    return true;
                }
            }
            let next = list.row.map_or(list.first, |row| row + 1);
            if next == self.rows.len() {
                self.end_relation(&list);
                return *budget == 0;
            }
            list = Expansion { row: Some(next), cursor: None, restarts: 0, ..list };
            if *budget == 0 {
                self.stage = Stage::List(list);
                return true;
            }
        }
    }

    /// Whose list it is.
    fn owner(&self, question: Question, list: &Expansion) -> Owner {
        match list.row {
            None => Owner { entity: list.start, tree: None, depth: 0, name: question.entity },
            Some(row) => {
                let (node, row) = (self.nodes[row], &self.rows[row]);
                let name = row.relative;
                Owner { entity: node.entity, tree: Some(node.tree), depth: row.depth, name }
            }
        }
    }

    fn end_relation(&mut self, list: &Expansion) {
        match list.relation {
            Relation::Ancestor => self.start_relation(list.start, Relation::Descendant),
            Relation::Descendant => self.next_question(),
        }
    }

    /// A visible edge leads from the list's owner to the slot's neighbour.
    fn reach(&mut self, image: Image<'_>, list: &Expansion, owner: &Owner, slot: Slot) {
        let (tree, entity) = (slot.tree, slot.neighbour);
        if let Some(known) = self.seen.get_or_insert(tree, Some(entity), self.rows.len()) {
            let row = &mut self.rows[known];
            if row.depth == owner.depth + 1
                && row.via != owner.name
                && self.arena.get(owner.name) < self.arena.get(row.via)
            {
                row.via = owner.name;
            }
            return;
        }
        let tree_name = tree.map(|tree| self.trees.name(image.mem(), &mut self.arena, tree));
        let record = Record::new(image.mem(), entity);
        // Its inline slots are mostly in the line after its name.
        image.mem().prefetch(entity.line() + 1);
        self.rows.push(Row {
            group: word(self.current),
            tree: tree_name,
            relation: list.relation,
            depth: owner.depth + 1,
            relative: self.arena.add(record.name_len(), |to| record.copy_name(to)),
            via: owner.name,
        });
        self.nodes.push(Node { tree, entity });
    }
}
