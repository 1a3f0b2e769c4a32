//! Placeholder for the first commit: signatures only.
use crate::{Image, Visibility};

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Step {
    /// Every question is answered.
    Done,
    /// The budget is spent; the lock may be released before the next step.
    More,
    /// Complete, but for xids the snapshot did not know: see [`Walk::asked`].
    Ask,
}

/// On which side of the entity a relative stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// Reached from child to parent.
    Ancestor,
    /// Reached from parent to child.
    Descendant,
}

/// A name copied out of the image; read it with [`Walk::name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Name(u32);

/// One row of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Which question: 0 for the first `begin` since `clear`.
    pub group: u32,
    /// The tree; `None` is SQL's NULL.
    pub tree: Option<Name>,
    /// Ancestor or descendant.
    pub relation: Relation,
    /// Steps from the entity, 1 at least.
    pub depth: u32,
    /// The relative.
    pub relative: Name,
    /// The bytewise smallest entity one step nearer that leads to it.
    pub via: Name,
}

/// What the walk cost since `clear`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Names looked up in the filter.
    pub lookups: u64,
    /// Names found.
    pub hits: u64,
    /// Fingerprints that matched, so that a record was read.
    pub fingerprint_checks: u64,
    /// Of these, other names.
    pub false_positives: u64,
    /// Edge slots read.
    pub slots_visited: u64,
}

/// The workspace of a reader: questions, frontier, answers.
#[derive(Debug)]
pub struct Walk {
    prefix: fn(usize) -> [u8; 4],
}

impl Walk {
    /// Every name copied out is preceded by `prefix(length)` and 4-byte aligned.
    #[must_use]
    pub fn new(prefix: fn(usize) -> [u8; 4]) -> Walk {
        Walk { prefix }
    }
    /// Forgets all questions and answers; keeps the room.
    pub fn clear(&mut self) {
        unimplemented!()
    }
    /// Starts another question; its group is the count of questions before it.
    pub fn begin(&mut self, _entity: &[u8], _up: u32, _down: u32) {
        unimplemented!()
    }
    /// Visits about `cells` edge slots.
    pub fn step(&mut self, _image: Image<'_>, _seen: &impl Visibility, _cells: usize) -> Step {
        unimplemented!()
    }
    /// The xids the snapshot did not know, sorted and unique.
    #[must_use]
    pub fn asked(&self) -> &[u64] {
        unimplemented!()
    }
    /// Starts all questions since `clear` again, after the asked xids were learned.
    pub fn restart(&mut self) {
        unimplemented!()
    }
    /// After [`Step::Done`]: puts the rows in the contract's order.
    pub fn finish(&mut self) {
        unimplemented!()
    }
    /// The rows, in order after [`Walk::finish`].
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        unimplemented!()
    }
    /// The name of the question's entity.
    #[must_use]
    pub fn entity(&self, _group: u32) -> Name {
        unimplemented!()
    }
    /// The bytes of a name.
    #[must_use]
    pub fn name(&self, _name: Name) -> &[u8] {
        unimplemented!()
    }
    /// The 4 bytes of `prefix` and the bytes of the name; the address is a multiple of 4.
    #[must_use]
    pub fn name_with_prefix(&self, _name: Name) -> &[u8] {
        let _ = self.prefix;
        unimplemented!()
    }
    /// What the walk cost since `clear`.
    #[must_use]
    pub fn counters(&self) -> Counters {
        unimplemented!()
    }
}
