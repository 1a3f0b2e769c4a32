//! What a walk answers, as plain data: rows, and what they cost. Made by `walk.rs`.

use crate::arena::Name;

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Step {
    /// Every question is answered.
    Done,
    /// The budget is spent; the lock may be released before the next step.
    More,
    /// Complete, but for xids the snapshot did not know: see [`Walk::asked`](crate::Walk::asked).
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
