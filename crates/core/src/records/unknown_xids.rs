//! The transactions that a reader could not judge: they are looked up once its lock is released.
//!
//! Adding one allocates nothing, because the reader holds the lock. When there is no room for more, they are left out:
//! the reader's answer is void anyway, and it asks for those the next time. [`UnknownXids::make_room`] makes room in between.

use crate::memory::key_set::KeySet;

/// Xids for which there is room at first.
const FIRST: usize = 64;
/// The most xids that are asked for at once: a reader that meets more begins again each time.
const MOST: usize = 1 << 16;
/// How much the room grows at a time. A reader may begin again each time, so this takes a seventh longer at most.
const GROWTH: usize = 8;

/// Different xids, in the order in which they were met.
#[derive(Debug)]
pub struct UnknownXids {
    xids: Vec<u64>,
    places: KeySet,
    room: usize,
    /// Whether an xid was unknown since [`UnknownXids::begin`].
    is_unsure: bool,
}

impl Default for UnknownXids {
    fn default() -> UnknownXids {
        UnknownXids::new()
    }
}

impl UnknownXids {
    /// No xids, and room for a few.
    #[must_use]
    pub fn new() -> UnknownXids {
        let mut places = KeySet::new();
        places.start(0, FIRST);
        UnknownXids { xids: Vec::with_capacity(FIRST), places, room: FIRST, is_unsure: false }
    }

    /// Adds an xid, if it is new and there is room.
    #[cold]
    pub(crate) fn add(&mut self, xid: u64) {
        self.is_unsure = true;
        let UnknownXids { xids, places, .. } = self;
        // Rows of one transaction are often adjacent.
        if xids.len() < self.room
            && xids.last() != Some(&xid)
            && places.find_or_add(xid, |at| xids[at]).is_none()
        {
            xids.push(xid);
        }
    }

    /// The xids, each once.
    #[must_use]
    pub fn xids(&self) -> &[u64] {
        &self.xids
    }

    /// Whether no xid was unknown.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.xids.is_empty()
    }

    /// Whether there is no room for another xid, so that a reader had better ask at once.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.xids.len() >= self.room
    }

    /// Begins another entity, for [`UnknownXids::is_unsure`].
    pub(crate) fn begin(&mut self) {
        self.is_unsure = false;
    }

    /// Whether the current entity depends on an unknown xid.
    pub(crate) fn is_unsure(&self) -> bool {
        self.is_unsure
    }

    /// Drops the xids; keeps the memory.
    pub(crate) fn clear(&mut self) {
        if !self.xids.is_empty() {
            self.xids.clear();
            self.places.start(0, 0);
        }
    }

    /// Between steps, without the lock: makes room for more xids if few are left, within so many bytes. Without memory
    /// the room stays as it is.
    pub(crate) fn make_room(&mut self, bytes: usize) {
        let wanted = (self.room * GROWTH).min(MOST);
        let more = wanted * size_of::<u64>() + self.places.bytes(wanted).1;
        if 2 * self.xids.len() >= self.room
            && wanted > self.room
            && more <= bytes
            && self.xids.try_reserve_exact(wanted - self.xids.len()).is_ok()
            && self.places.try_reserve(wanted)
        {
            self.room = wanted;
        }
    }

    /// Bytes of memory that they take.
    pub(crate) fn bytes(&self) -> usize {
        self.xids.capacity() * size_of::<u64>() + self.places.bytes(0).0
    }
}
