//! Images from tables: by a reader of a small table (locked.rs), in a background worker beside writers (online.rs), at server start
//! (launcher.rs).
//!
//! request.rs decides who builds, and starts workers; load.rs scans the table into an image; builder.rs has what all share. Locks on the
//! table as CREATE INDEX CONCURRENTLY takes them. A build that fails frees its memory and leaves the reference query to answer.

pub mod builder;
pub mod catch_up;
pub mod launcher;
pub mod load;
pub mod locked;
pub mod online;
pub mod request;
pub mod worker_limit;
