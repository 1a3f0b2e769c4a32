//! The two directions of a hierarchy.

/// On which side of the entity a relative stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// Reached from child to parent.
    Ancestor,
    /// Reached from parent to child.
    Descendant,
}
