//! Methods of retrieval by hierarchies, which need neither PostgreSQL nor an image of an edges table:
//! relations found in sentences, relations filtered, and a hierarchy made of a graph.

mod extract;
mod hierarchy;
mod relations;

pub use extract::{Relation as Extracted, extract};
pub use hierarchy::{Encoding, MAX_HEIGHT, Network, build as build_hierarchy};
pub use relations::{Graph, KNOT, Verdict, filter as filter_relations};
