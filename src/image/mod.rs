//! Images in shared memory: the control block, a slot for each table, chunks of memory, the image's lock, and what keeps an image small.
//!
//! Bytes and locks only: who may see what is the core's business, whether an image may answer is serve's. The table of locks stands at the
//! head of slot.rs. Under an image lock nothing raises, allocates from PostgreSQL, or calls back.

pub mod chunks;
pub mod control;
pub mod counters;
pub mod directory;
#[cfg(feature = "inject")]
pub mod inject;
pub mod lock;
pub mod log;
pub mod quota;
pub mod reason;
pub mod settle;
pub mod slot;
pub mod sweep;
