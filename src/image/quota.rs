//! How memory is shared: first come, first served, up to `cftrag.memory_limit`. One owner's tables get at most
//! `cftrag.owner_share` percent of the memory, and of the slots, so that no role uses up what others need. No table's
//! image is evicted for another's.
//!
//! An owner is charged for its tables' images (while one is rebuilt, for the larger of old and new) and for the logs of
//! builds.

#![expect(unsafe_code, reason = "dynamic shared memory")]

use crate::guc;
use crate::image::chunks;
use crate::image::chunks::{MAPPED, SHORTAGE, Shortage, read, release, write_if_mapped};
use crate::image::control::{Control, SLOTS};
use crate::image::slot::Slot;
use crate::pg::contain;
use cftrag_core::{MAX_CHUNKS, chunk_bytes};
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// Adds chunks until `bytes` are free. Returns false if memory runs out, or if the image is gone.
pub fn ensure(control: &Control, index: usize, bytes: usize) -> bool {
    let slot = &control.slots[index];
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
            let mapped = &mut mapped[index];
            if mapped.generation == generation && mapped.memory.mapped() == next {
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
                    image.owner_set(next, token);
                    image.publish_chunks(next + 1);
                    slot.image_bytes.fetch_add(bytes as u64, SeqCst);
                    published.set(true);
                }
            })
        });
        if !published.get() {
            // Another writer was faster: it published another chunk under the number that we mapped.
            MAPPED.with_borrow_mut(|mapped| mapped[index].forget());
            release(control, token, chunk_bytes(next));
        }
        if wrote.is_none() {
            return false;
        }
    }
}

/// Allocates shared memory for the slot's table. None if the limit, the owner's share of it, or the system's memory is
/// used up.
pub fn allocate(control: &Control, index: usize, bytes: usize) -> Option<(u64, NonNull<u8>)> {
    let mine = control.slots[index].owner.load(Relaxed);
    let held: u64 = of_owner(control, mine).map(Slot::held).sum();
    let share = share_of(guc::MEMORY_LIMIT.get() as u64 * 1024);
    SHORTAGE.set(Shortage::Limit);
    (held + bytes as u64 <= share).then(|| chunks::allocate(control, bytes)).flatten()
}

/// Whether another table of that owner may have an image.
pub fn has_place(control: &Control, owner: u32) -> bool {
    (of_owner(control, owner).filter(|slot| slot.holds_image()).count() as u64) < share_of(SLOTS as u64)
}

/// One owner's share of the whole.
fn share_of(all: u64) -> u64 {
    all * guc::OWNER_SHARE.get() as u64 / 100
}

fn of_owner(control: &Control, owner: u32) -> impl Iterator<Item = &Slot> {
    let of = move |slot: &&Slot| slot.table.load(SeqCst) != 0 && slot.owner.load(Relaxed) == owner;
    control.slots.iter().filter(of)
}
