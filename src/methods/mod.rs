//! Published ways to use a hierarchy, beside the context of an entity. docs/methods.md has their papers and what is exact.
//!
//! Those over an attached table are made of walks as cft_context makes them (walker.rs): from the image where it can serve, else by the
//! reference query, all under the caller's one snapshot and with the caller's rights. So they are as exact as their walks.

mod closing;
mod extract;
mod hierarchy;
mod lineage;
mod paths;
mod prefix;
mod reject_cycles;
mod relations;
#[path = "../call/work_memory.rs"]
pub mod room;
mod roots;
#[path = "rows.rs"]
pub mod scan;
#[path = "breadth_first.rs"]
pub mod search;
#[path = "big_map.rs"]
pub mod table;
pub mod walker;

/// What long work of the core calls now and then.
pub fn breathe() {
    pgrx::check_for_interrupts!();
}
