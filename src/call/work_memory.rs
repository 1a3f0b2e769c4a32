//! The memory of the session that one call may use for its work (`cftrag.work_memory`). Rust's allocator aborts the
//! server when memory runs out, so what grows with a user's data is counted, by an estimate, and reserved first.
//!
//! Work that is counted can also be cancelled: reserving memory checks for interrupts now and then.

use crate::error::Fallible;
use crate::pg::backend;
use crate::{error, guc};
use cftrag_core::NoRoom;
use pgrx::check_for_interrupts;

/// What a new workspace and a few hundred rows take.
const LEAST_WORK: usize = 256 << 10;

/// The size from which on we check that the allocation leaves memory for others; also the bytes copied between two
/// checks for interrupts.
pub const LARGE: usize = 1 << 20;

/// Lists of fewer bytes are neither counted nor checked.
pub const FEW: usize = 64 << 10;

/// `work_mem` in bytes: an answer's rows beyond it are on disk.
pub fn work_mem() -> usize {
    backend::work_mem() * 1024
}

/// The session memory that a call's answer may take: at least what a new workspace takes, whatever `cftrag.work_memory`
/// is.
pub fn limit() -> usize {
    guc::work_bytes().max(LEAST_WORK)
}

/// Bytes of an answer that grow with users' data, within `cftrag.work_memory`.
#[derive(Default)]
pub struct Bytes(pub Vec<u8>);

impl Bytes {
    /// Reserves `more` bytes more. 53400, 53200.
    pub fn room(&mut self, more: usize) -> Fallible<()> {
        self.room_beside(more, 0)
    }

    /// Does what [`Bytes::room`] does, and counts `others` bytes as well.
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
    /// The system had memory of this size a moment ago.
    seen: usize,
    calls: u32,
}

/// Smaller amounts are not checked with the allocator.
const LEAST: usize = 16 << 20;

/// Calls between two checks for interrupts.
const CALLS: u32 = 1 << 12;

impl Default for Room {
    fn default() -> Room {
        Room::new()
    }
}

impl Room {
    pub fn new() -> Room {
        Room { taken: 0, seen: 0, calls: 0 }
    }

    /// Counts these bytes. 53400 if they exceed the setting, 53200 if the system has no memory.
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
            // Check for twice the amount, so that checks stay rare.
            let wanted = (2 * self.taken).max(LEAST);
            is_there(wanted)?;
            self.seen = wanted;
        }
        Ok(())
    }

    /// The bytes counted.
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// Counts what is missing to a total of `bytes`.
    pub fn grow_to(&mut self, bytes: usize) -> Fallible<()> {
        self.take(bytes.saturating_sub(self.taken))
    }

    /// Checks that this many more bytes could be used for a while, without counting them.
    pub fn spare(&self, bytes: usize) -> Fallible<()> {
        if self.taken.saturating_add(bytes) > guc::work_bytes() {
            return Err(error::too_large_to_work(guc::work_bytes()));
        }
        if bytes > LEAST { is_there(bytes) } else { Ok(()) }
    }
}

/// A list with room for so many items. 53400, 53200.
pub fn list<T>(items: usize, room: &mut Room) -> Fallible<Vec<T>> {
    let bytes = items.saturating_mul(size_of::<T>());
    if bytes > FEW {
        room.take(bytes)?;
    }
    let mut list = Vec::new();
    list.try_reserve_exact(items).map_err(|_| error::no_memory_to_work(bytes))?;
    if bytes < LARGE || cftrag_core::some_is_left() { Ok(list) } else { Err(error::no_memory_to_work(bytes)) }
}

/// A copy of these bytes. 53400, 53200.
pub fn copy(bytes: &[u8], room: &mut Room) -> Fallible<Vec<u8>> {
    let mut copy = list(bytes.len(), room)?;
    for some in bytes.chunks(LARGE) {
        check_for_interrupts!();
        copy.extend_from_slice(some);
    }
    Ok(copy)
}

/// Checks that the system has this much memory: 53200 if not.
pub fn is_there(bytes: usize) -> Fallible<()> {
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| error::no_memory_to_work(bytes))
}
