//! The paper's temperature: how often an entity was looked up, and hot ones moved to the front of their bucket.
//!
//! `count.rs` counts lookups, `hottest.rs` reads the counts for cft_hot_entities, `order.rs` sorts buckets. A lookup
//! never waits for any of these.
//!
//! Counting makes cft_hot_entities possible, and costs a lookup 26 to 40 instructions, which no statement shows.
//! Sorting gains nothing here, since all slots of two buckets are compared at once; the paper's code compares them one
//! after the other. Among a million names, Zipf, a lookup in the core took 289 ns without counting, 314 counted, 323
//! sorted (docs/measurements.md; `growth temperature` in crates/core/bench). So counting is the default; sorting exists
//! to reproduce the paper's system.

pub(crate) mod count;
pub(crate) mod hottest;
pub(crate) mod order;
