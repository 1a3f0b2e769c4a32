//! The answer of a walk, as plain data. Made by `walk/breadth_first.rs`.

use crate::walk::arena::Name;
use crate::walk::relation::Relation;

/// One row of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The number of the question: 0 for the first `begin` since `clear`.
    pub group: u32,
    /// The tree; `None` is SQL's NULL.
    pub tree: Option<Name>,
    /// Whether the relative is an ancestor or a descendant.
    pub relation: Relation,
    /// Steps from the entity, at least 1.
    pub depth: u32,
    /// The relative's name.
    pub relative: Name,
    /// The relative's label, if labels are wanted and it has one.
    pub label: Option<Name>,
    /// The bytewise smallest of the entities one step nearer that lead to the relative.
    pub via: Name,
}
