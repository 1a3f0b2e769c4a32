//! Walks: an entity's ancestors and descendants in order, and the roots of all trees.

pub(crate) mod answer;
pub(crate) mod arena;
pub(crate) mod breadth_first;
pub(crate) mod dear_labels;
pub(crate) mod names;
pub(crate) mod order;
pub(crate) mod relation;
pub(crate) mod roots;
pub(crate) mod row_groups;
pub(crate) mod sentences;
