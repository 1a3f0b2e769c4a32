//! Methods of retrieval by hierarchies that need neither PostgreSQL nor an image of an edges table: extracting
//! relations from sentences, filtering them, building a hierarchy for a graph; and the pure parts of retrieval.

mod extract;
mod hierarchy;
mod relations;
pub mod retrieve;

pub use extract::{Relation as Extracted, extract};
pub use hierarchy::{
    Encoding, Format as PictureFormat, MAX_HEIGHT, Network, Node, PER_EDGE, PER_NODE, Picture,
    build as build_hierarchy, json_escape,
};
pub use relations::{Graph, KNOT, Verdict, filter as filter_relations};
