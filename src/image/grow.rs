//! Memory for images and logs, within `cftrag.memory_limit`; and more of it for an image that serves.

#![expect(unsafe_code, reason = "dynamic shared memory")]

use crate::guc;
use crate::image::chunks::{MAPPED, Mapped, read, release, write_if_mapped};
use crate::image::control::Control;
use crate::image::evict;
use crate::pg::contain;
use crate::pg::contain::Unbroken;
use cftrag_core::{MAX_CHUNKS, chunk_bytes};
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::SeqCst;

/// What ran out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shortage {
    /// cftrag.memory_limit, less the images that may not make room.
    Limit,
    /// The system's dynamic shared memory.
    System,
}

thread_local! {
    /// Why the last allocation of this process failed, if it did.
    pub static SHORTAGE: Cell<Shortage> = const { Cell::new(Shortage::Limit) };
}

/// Allocates memory for the slot's image or log; returns its token and its address here. Where memory is short,
/// other images make room (evict.rs). None if too few of them may, or if the system's memory is exhausted.
pub fn allocate(control: &Control, index: usize, bytes: usize) -> Option<(u64, NonNull<u8>)> {
    let limit = guc::memory_bytes();
    let _unbroken = Unbroken::enter();
    let noted = Noted::of(control, bytes);
    let short = noted.all.saturating_sub(limit);
    if short > 0 {
        evict::make_room(control, index, short);
    }
    SHORTAGE.set(Shortage::Limit);
    if control.memory_used.load(SeqCst) > limit {
        return None;
    }
    SHORTAGE.set(Shortage::System);
    let chunk = control.take_memory(bytes).or_else(|| {
        evict::make_room(control, index, bytes as u64);
        control.take_memory(bytes)
    })?;
    noted.keep();
    Some(chunk)
}

/// Bytes counted as used before they are allocated. Drop takes them back on every way out, also when an ERROR passes
/// the caller within another attempt (pg/contain.rs): a FATAL waits (`Unbroken`), and after a crash the control block
/// is created anew.
struct Noted<'c> {
    control: &'c Control,
    bytes: u64,
    /// memory_used, these bytes included.
    all: u64,
}

impl<'c> Noted<'c> {
    fn of(control: &'c Control, bytes: usize) -> Self {
        let bytes = bytes as u64;
        Self { control, bytes, all: control.memory_used.fetch_add(bytes, SeqCst) + bytes }
    }

    /// The bytes are now in use.
    fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        self.control.memory_used.fetch_sub(self.bytes, SeqCst);
    }
}

/// Adds chunks until `bytes` are free. Returns false if memory runs out, or if the image is gone.
pub fn ensure(control: &Control, index: usize, bytes: usize) -> bool {
    let slot = control.slot(index);
    loop {
        let Ok((enough, next, generation)) = read(control, index, |_, image| {
            (image.free_bytes() >= bytes, image.chunks(), slot.generation.load(SeqCst))
        }) else {
            return false;
        };
        if enough {
            return true;
        }
        if next >= MAX_CHUNKS {
            return false;
        }
        let bytes = chunk_bytes(next);
        let Some((token, base)) = allocate(control, index, bytes) else { return false };
        MAPPED.with_borrow_mut(|mapped| {
            if let Some(mapped) = mapped.of(index)
                && mapped.generation == generation
                && mapped.memory.mapped() == next
            {
                // SAFETY: as in map(); not published yet. What finds no memory here, the next turn's read reports.
                _ = unsafe { mapped.memory.map(base) };
            }
        });
        // We map nothing here, because an ERROR would lose the chunk: the next turn maps what a faster writer has
        // published. A panic, a bug of ours, would lose it too.
        let published = Cell::new(false);
        let wrote = contain::panic(|| {
            write_if_mapped(control, index, |_, image| {
                if slot.generation.load(SeqCst) == generation && image.chunks() == next {
                    image.set_address(next, token);
                    image.publish_chunks(next + 1);
                    slot.image_bytes.fetch_add(bytes as u64, SeqCst);
                    published.set(true);
                }
            })
        });
        if !published.get() {
            // Another writer was faster: it published another chunk under the number that we mapped.
            MAPPED.with_borrow_mut(|mapped| mapped.of(index).map(Mapped::forget));
            release(control, token, chunk_bytes(next));
        }
        if wrote.is_none() {
            return false;
        }
    }
}
