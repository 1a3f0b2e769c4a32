//! The shared memory of all images: segments that all processes map when they need them, divided into granules.
//!
//! PostgreSQL's own allocator (dsa.c) keeps what is freed, and a segment stays while any process has it mapped. So we
//! keep the segments, and give the pages of free granules back to the system (pg/pages.rs). What is known of granules
//! is in the control block, not in them: freeing needs no memory, and taking fails where the system has none.
//!
//! ```text
//!   used      a bit for each granule of a segment
//!   token     number of the segment, plus 1, in the high 24 bits | offset in the segment
//! ```

#![expect(unsafe_code, reason = "dynamic shared memory")]

use crate::image::control::{Control, GRANULES, SEGMENTS, Segment};
use crate::pg::lwlock::EXCLUSIVE;
use crate::pg::{contain, pages};
use pgrx::pg_sys;
use std::ptr::NonNull;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// Granules of the first segments; the next are larger, so that memory of any size needs few segments.
const GRANULE: usize = 16 << 10;

/// Segments with granules of the same size.
const OF_A_SIZE: usize = 64;

/// Sizes that are tried where the system has no memory for a whole segment, in granules.
const SMALLER: [usize; 4] = [GRANULES, GRANULES / 4, GRANULES / 16, GRANULES / 64];

const OFFSET_BITS: u32 = 40;

/// The addresses of the segments in this process. They stay mapped.
static MAPPED: [AtomicPtr<u8>; SEGMENTS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; SEGMENTS];

/// The size of a segment's granules.
fn granule(segment: usize) -> usize {
    GRANULE << (segment / OF_A_SIZE)
}

impl Segment {
    fn is_used(&self, granule: usize) -> bool {
        self.used[granule / 64].load(Relaxed) >> (granule % 64) & 1 != 0
    }

    /// The first run of that many free granules.
    fn find(&self, wanted: usize) -> Option<usize> {
        let (mut first, all) = (0, self.granules.load(Relaxed) as usize);
        let mut at = 0;
        while at < all {
            if at.is_multiple_of(64) && self.used[at / 64].load(Relaxed) == u64::MAX {
                (at, first) = (at + 64, at + 64);
                continue;
            }
            at += 1;
            if self.is_used(at - 1) {
                first = at;
            } else if at - first == wanted {
                return Some(first);
            }
        }
        None
    }

    fn mark(&self, first: usize, count: usize, used: bool) {
        for granule in first..first + count {
            let (word, bit) = (&self.used[granule / 64], 1 << (granule % 64));
            if used {
                word.fetch_or(bit, Relaxed)
            } else {
                word.fetch_and(!bit, Relaxed)
            };
        }
    }
}

impl Control {
    /// Takes memory; returns its token and its address here. None if the system has no more.
    pub fn take_memory(&self, bytes: usize) -> Option<(u64, NonNull<u8>)> {
        loop {
            let found = self.allocating.with(EXCLUSIVE, || {
                let count = self.area.count.load(Relaxed) as usize;
                self.area.segments[..count].iter().enumerate().find_map(|(number, segment)| {
                    let granules = bytes.div_ceil(granule(number));
                    let first = segment.find(granules)?;
                    segment.mark(first, granules, true);
                    Some((number, first))
                })
            });
            let Some((number, first)) = found else {
                if !self.add_segment(bytes) {
                    return None;
                }
                continue;
            };
            let token = (number as u64 + 1) << OFFSET_BITS | (first * granule(number)) as u64;
            // Freed again on every way out but the last.
            let taken = Taken { control: self, token, bytes };
            let address = contain::attempt(|| self.memory(token)).flatten()?;
            if !pages::take(address, bytes) {
                return None;
            }
            std::mem::forget(taken);
            return Some((token, address));
        }
    }

    /// Frees memory, and gives its pages back to the system. If it cannot be mapped here, the pages stay.
    ///
    /// # Safety
    /// What [`Control::take_memory`] returned for that many bytes, and nobody uses.
    pub unsafe fn free_memory(&self, token: u64, bytes: usize) {
        let _taken = Taken { control: self, token, bytes };
        if let Some(address) = contain::attempt(|| self.memory(token)).flatten() {
            // SAFETY: the caller's promise.
            unsafe { pages::give_back(address, bytes) };
        }
    }

    /// The address of memory in this process. May raise.
    pub fn memory(&self, token: u64) -> Option<NonNull<u8>> {
        if crate::pg::inject::fails() {
            return None;
        }
        let (number, offset) = place(token);
        // SAFETY: an offset in the segment.
        self.map_segment(number).map(|start| unsafe { start.add(offset) })
    }

    fn map_segment(&self, number: usize) -> Option<NonNull<u8>> {
        let known = NonNull::new(MAPPED[number].load(Relaxed));
        known.or_else(|| {
            // SAFETY: a pinned segment that is not mapped here yet.
            let start = unsafe { stay(pg_sys::dsm_attach(self.area.segments[number].handle.load(SeqCst))) }?;
            MAPPED[number].store(start.as_ptr(), Relaxed);
            Some(start)
        })
    }

    /// Adds a segment, in which so many bytes fit. False if there is no memory for it, or no number.
    fn add_segment(&self, bytes: usize) -> bool {
        let count = self.area.count.load(SeqCst) as usize;
        let sizes = SMALLER.into_iter().filter(|granules| granules * granule(count) >= bytes);
        count < SEGMENTS && sizes.into_iter().any(|granules| self.add_segment_of(granules))
    }

    fn add_segment_of(&self, granules: usize) -> bool {
        let size = granules * granule(self.area.count.load(SeqCst) as usize);
        let created = contain::attempt(|| {
            if crate::pg::inject::fails() {
                return None;
            }
            // SAFETY: a new segment, which stays until the server ends, mapped here until the process does.
            unsafe {
                let segment = pg_sys::dsm_create(size, pg_sys::DSM_CREATE_NULL_IF_MAXSEGMENTS as i32);
                let start = stay(segment)?;
                pg_sys::dsm_pin_segment(segment);
                pages::give_back(start, size);
                Some((segment, start))
            }
        });
        let Some((new, start)) = created.flatten() else { return false };
        // SAFETY: created above.
        let handle = unsafe { pg_sys::dsm_segment_handle(new) };
        let is_added = self.allocating.with(EXCLUSIVE, || {
            let number = self.area.count.load(SeqCst) as usize;
            // Another process may have added one meanwhile, the last of its size.
            if number == SEGMENTS || granules * granule(number) != size {
                return false;
            }
            let segment = &self.area.segments[number];
            segment.handle.store(handle, SeqCst);
            segment.granules.store(granules as u32, SeqCst);
            MAPPED[number].store(start.as_ptr(), Relaxed);
            self.area.count.store(number as u32 + 1, SeqCst);
            true
        });
        if !is_added {
            // SAFETY: created above, and known to nobody else.
            contain::attempt(|| unsafe {
                pg_sys::dsm_unpin_segment(handle);
                pg_sys::dsm_detach(new);
            });
        }
        is_added
    }
}

/// Keeps a segment mapped until the process ends; its address here. None if there is no segment.
///
/// # Safety
/// What dsm_attach or dsm_create returned.
unsafe fn stay(segment: *mut pg_sys::dsm_segment) -> Option<NonNull<u8>> {
    // SAFETY: the caller's promise.
    NonNull::new(segment).and_then(|_| unsafe {
        pg_sys::dsm_pin_mapping(segment);
        NonNull::new(pg_sys::dsm_segment_address(segment).cast::<u8>())
    })
}

fn place(token: u64) -> (usize, usize) {
    ((token >> OFFSET_BITS) as usize - 1, (token & ((1 << OFFSET_BITS) - 1)) as usize)
}

/// Memory whose granules are free when this is dropped.
struct Taken<'c> {
    control: &'c Control,
    token: u64,
    bytes: usize,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let (number, offset) = place(self.token);
        let granule = granule(number);
        self.control.allocating.with(EXCLUSIVE, || {
            self.control.area.segments[number].mark(offset / granule, self.bytes.div_ceil(granule), false);
        });
    }
}
