//! The memory that one call may take for work in its session (`cftrag.work_memory`). Rust's allocator aborts the server where it gets
//! none, so what grows with a user's data is counted, by an estimate, and asked for before.
//!
//! What counts can be cancelled, too: whoever asks for memory again and again is looked after for interrupts.

#![expect(unsafe_code, reason = "reads a setting of the server")]

use crate::call::fmgr::LARGE;
use crate::error::Fallible;
use crate::{error, guc};
use cftrag_core::NoRoom;
use pgrx::{check_for_interrupts, pg_sys};

/// That of a new workspace, and of a few hundred rows.
const LEAST_WORK: usize = 256 << 10;

/// `work_mem` in bytes: past it an answer's rows are on disk.
pub fn work_mem() -> usize {
    // SAFETY: a setting, at least 64.
    unsafe { pg_sys::work_mem as usize * 1024 }
}

/// What the answer of a call may take of the session's memory: a workspace has some from the start, whatever `cftrag.work_memory` is.
pub fn limit() -> usize {
    guc::work_bytes().max(LEAST_WORK)
}

/// Bytes of an answer that grow by what users have, within `cftrag.work_memory`.
#[derive(Default)]
pub struct Bytes(pub Vec<u8>);

impl Bytes {
    /// Room for so many more. 53400, 53200.
    pub fn room(&mut self, more: usize) -> Fallible<()> {
        self.room_beside(more, 0)
    }

    /// [`Bytes::room`] where so many other bytes count, too.
    pub fn room_beside(&mut self, more: usize, others: usize) -> Fallible<()> {
        let limit = limit();
        let wanted = self.0.len() + more;
        if wanted + others > limit {
            return Err(error::no_room(NoRoom::Limit(wanted + others)));
        }
        if wanted <= self.0.capacity() {
            return Ok(());
        }
        let more = wanted.max((self.0.len() * 3 / 2).min(limit)) - self.0.len();
        match self.0.try_reserve_exact(more).is_ok() && (wanted < LARGE || cftrag_core::some_is_left()) {
            true => Ok(()),
            false => Err(error::no_room(NoRoom::Memory(wanted + others))),
        }
    }
}

pub fn add(text: &str, out: &mut Bytes) -> Fallible<()> {
    out.room(text.len())?;
    out.0.extend_from_slice(text.as_bytes());
    Ok(())
}

pub struct Room {
    taken: usize,
    /// Memory of this size was there a moment ago.
    seen: usize,
    calls: u32,
}

/// Smaller amounts are not checked with the allocator.
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

    /// Takes what is missing to a sum of so many bytes.
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
pub fn is_there(bytes: usize) -> Fallible<()> {
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| error::no_memory_to_work(bytes))
}
