//! Published ways to use a hierarchy, beyond an entity's context. docs/methods.md has their papers and what is exact.
//!
//! Methods over an attached table are built on walks like cft_context's (walker.rs): from the image if it can serve,
//! else by the reference query, all under the caller's one snapshot and with the caller's rights. So they are as exact
//! as their walks.

pub mod below;
pub mod big_map;
pub mod breadth_first;
pub mod bridge;
pub mod descendants;
pub mod document_order;
pub mod expansion;
pub mod extract;
pub mod graph;
pub mod hierarchy;
pub mod lineage;
pub mod namesakes;
pub mod paths;
pub mod picture;
pub mod prefix;
pub mod reject_cycles;
pub mod relations;
pub mod rollup_marks;
pub mod roots;
pub mod told;
pub mod walker;
pub mod ways;
