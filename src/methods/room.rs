//! The memory that one call may take for work in its session (`cftrag.work_memory`). Rust's allocator aborts the server where it gets
//! none, so what grows with a user's table is counted, by an estimate, and asked for before.

use crate::error::{self, Fallible};
use crate::guc;

pub struct Room {
    taken: usize,
    /// Memory of this size was there a moment ago.
    seen: usize,
}

/// Less is not asked for.
const LEAST: usize = 16 << 20;

impl Room {
    pub fn new() -> Room {
        Room { taken: 0, seen: LEAST }
    }

    /// 53400 past the setting, 53200 where the system has no memory.
    pub fn take(&mut self, bytes: usize) -> Fallible<()> {
        self.taken += bytes;
        if self.taken > guc::work_bytes() {
            return Err(error::too_large_to_work(guc::work_bytes()));
        }
        if self.taken > self.seen {
            // What is there already, and as much again.
            self.seen = 2 * self.taken;
            if Vec::<u8>::new().try_reserve_exact(self.seen).is_err() {
                return Err(error::no_memory_to_work(self.seen));
            }
        }
        Ok(())
    }

    /// The same where the sum is known.
    pub fn grow_to(&mut self, bytes: usize) -> Fallible<()> {
        self.take(bytes.saturating_sub(self.taken))
    }
}
