//! How a write reaches the image: trigger.rs -> transaction.rs (the delta, by savepoint) -> flush.rs -> apply.rs, or
//! log_record.rs while an image is being built.
//!
//! A statement's trigger appends to local memory; before the commit record, all of it is in the image. Apart from a
//! cancel, a commit raises only if this process cannot map the control block (flush.rs).

pub mod apply;
pub mod delta;
pub mod dropped;
pub mod flush;
pub mod linked;
pub mod log_record;
pub mod marked;
pub mod transaction;
pub mod trigger;
