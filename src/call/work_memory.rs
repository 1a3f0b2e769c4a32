//! The memory that one call may take for work in its session (`cftrag.work_memory`). Rust's allocator aborts the server where it gets
//! none, so what grows with a user's data is counted, by an estimate, and asked for before.
//!
//! What counts can be cancelled, too: whoever asks for memory again and again is looked after for interrupts.

use crate::error::{self, Fallible};
use crate::guc;
use pgrx::check_for_interrupts;

pub struct Room {
    taken: usize,
    /// Memory of this size was there a moment ago.
    seen: usize,
    calls: u32,
}

/// Less is not asked for.
const LEAST: usize = 16 << 20;
/// Calls between two looks for an interrupt.
const CALLS: u32 = 1 << 12;

impl Room {
    pub fn new() -> Room {
        Room { taken: 0, seen: 0, calls: 0 }
    }

    /// 53400 past the setting, 53200 where the system has no memory.
    pub fn take(&mut self, bytes: usize) -> Fallible<()> {
        self.calls = self.calls.wrapping_add(1);
        if self.calls.is_multiple_of(CALLS) {
            check_for_interrupts!();
        }
        self.taken = self.taken.saturating_add(bytes);
        if self.taken > guc::work_bytes() {
            return Err(error::too_large_to_work(guc::work_bytes()));
        }
        if self.taken > self.seen {
            // What is there already, and as much again.
            let wanted = (2 * self.taken).max(LEAST);
            is_there(wanted)?;
            self.seen = wanted;
        }
        Ok(())
    }

    /// Bytes that were taken.
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// The same where the sum is known.
    pub fn grow_to(&mut self, bytes: usize) -> Fallible<()> {
        self.take(bytes.saturating_sub(self.taken))
    }

    /// Whether so many bytes more can be had for a while.
    pub fn spare(&self, bytes: usize) -> Fallible<()> {
        if self.taken.saturating_add(bytes) > guc::work_bytes() {
            return Err(error::too_large_to_work(guc::work_bytes()));
        }
        if bytes > LEAST { is_there(bytes) } else { Ok(()) }
    }
}

/// 53200 if the system has no such memory.
fn is_there(bytes: usize) -> Fallible<()> {
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| error::no_memory_to_work(bytes))
}
