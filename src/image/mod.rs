//! Images in shared memory: the control block, a slot for each table, chunks of memory, the image's lock, and what
//! keeps an image small.
//!
//! This folder knows only bytes and locks: the core decides who sees what, and serve whether an image may answer. The
//! table of locks is at the head of slot.rs. Under an image lock nothing raises, allocates from PostgreSQL, or calls
//! back.

pub mod area;
pub mod chunks;
pub mod control;
pub mod copied;
pub mod counters;
pub mod directory;
pub mod evict;
pub mod gone;
pub mod grow;
#[cfg(feature = "inject")]
pub mod inject;
pub mod lock;
pub mod log;
pub mod reads;
pub mod reason;
pub mod settle;
pub mod slot;
