//! Builds images from tables: in the process of a small table's reader (locked.rs), in a background worker beside
//! writers (online.rs), and at server start (launcher.rs), those first that were asked most (asked.rs).
//!
//! request.rs starts workers; load.rs scans the table into an image; builder.rs has what all builds share. Workers lock
//! the table as CREATE INDEX CONCURRENTLY does. A build that fails frees its memory, and the reference query keeps
//! answering.

pub mod asked;
pub mod builder;
pub mod catch_up;
pub mod launcher;
pub mod load;
pub mod locked;
pub mod online;
pub mod request;
pub mod worker_limit;
