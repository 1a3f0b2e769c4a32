//! What a walk answers, as plain data. Made by `walk/breadth_first.rs`.

use crate::walk::arena::Name;
use crate::walk::relation::Relation;

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
    /// What it is called, if labels are wanted and it has one.
    pub label: Option<Name>,
    /// The bytewise smallest entity one step nearer that leads to it.
    pub via: Name,
}
