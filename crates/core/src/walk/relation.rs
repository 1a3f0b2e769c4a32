//! The two directions of a hierarchy.

/// Whether a relative is above or below the entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// Reached from child to parent.
    Ancestor,
    /// Reached from parent to child.
    Descendant,
}
