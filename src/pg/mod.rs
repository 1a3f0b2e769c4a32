//! How to live in PostgreSQL 15 to 18: locks, snapshots, errors, interrupts, invalidation, workers.
//!
//! Knows no image, no edges table and no message of ours; everything above may use it. compat.rs has the differences
//! between majors, and declares what pgrx does not bind.

pub mod backend;
pub mod background_worker;
pub mod client;
pub mod compat;
pub mod contain;
pub mod encoding;
pub mod error_context;
#[cfg(feature = "inject")]
pub mod inject;
pub mod interrupt;
pub mod invalidation;
pub mod latch;
pub mod lock_holders;
pub mod lock_owner;
pub mod lookup;
pub mod lwlock;
pub mod pages;
pub mod relation;
pub mod settings;
pub mod shm;
pub mod snapshot;
pub mod sort;
pub mod temp_file;
pub mod turn;
#[cfg(feature = "inject")]
pub mod watch;

#[cfg(not(feature = "inject"))]
pub mod inject {
    /// Test builds can make a use of dynamic shared memory fail (inject.rs).
    pub fn fails() -> bool {
        false
    }

    pub fn panics() {}

    pub fn armed() -> bool {
        false
    }
}
