//! Sharing the room of all images between roles: where cftrag.memory_limit or the slots are used up, whoever has most gives way to who has
//! less. So one role's tables cannot keep everybody else's from having images, and a server with one role is as if this were not here.
//!
//! Memory is counted for the owner of its table: of an image, of one that is being built, and of the log of a build (capture/log_record.rs). Whoever
//! wants `need` more takes it from the richest other role only if that one has more than the taker would have then. Where it goes next it
//! is not taken back by the same rule, so two roles never evict each other in turn. An image that gave way is incomplete: the reference query answers, and a
//! reader has it built again once as much is free. A build that gave way ends with 53200.

#![expect(unsafe_code, reason = "dynamic shared memory")]

use crate::image::chunks::{MAPPED, read, release, write_if_mapped};
use crate::image::control::Control;
use crate::image::huge_pages::Segments;
use crate::image::slot::Slot;
use crate::image::{chunks, huge_pages, log, sweep};
use crate::pg::contain;
use cftrag_core::{MAX_CHUNKS, chunk_bytes};
use pgrx::pg_sys;
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// Adds chunks until `bytes` more are sure. False: there is not so much memory, or the image is gone.
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
        // SAFETY: reads a variable of this process: who works beside the sessions has the time.
        if unsafe { pg_sys::MyBackendType } == pg_sys::BackendType::B_BG_WORKER {
            huge_pages::collapse(base, chunk_bytes(next));
        }
        MAPPED.with_borrow_mut(|mapped| {
            let mapped = &mut mapped[index];
            if mapped.generation == generation && mapped.memory.mapped() == next {
                // SAFETY: as in map(); not published yet.
                unsafe { mapped.add(base, &Segments::read([chunk_bytes(next)])) };
            }
        });
        // Nothing is mapped here, for what raises would lose the chunk: whoever was faster is looked at by the next turn. A panic, a bug of
        // ours, would lose it too.
        let published = Cell::new(false);
        let wrote = contain::panic(|| {
            write_if_mapped(control, index, |_, image| {
                if slot.generation.load(SeqCst) == generation && image.chunks() == next {
                    image.owner_set(next, token);
                    image.publish_chunks(next + 1);
                    published.set(true);
                }
            })
        });
        if !published.get() {
            // Another writer was faster: what we mapped under that number is not what it published.
            MAPPED.with_borrow_mut(|mapped| mapped[index].forget());
            release(control, token, chunk_bytes(next));
        }
        if wrote.is_none() {
            return false;
        }
    }
}

/// A builder looks whether it is to end every thousand rows, and at each wait. One that does not within so many milliseconds is not
/// waited for: it may be a COMMIT that needs the memory.
const BUILDER_WAIT_TRIES: u32 = 200;

/// What is counted: an image, one that is being built, the log of a build, a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    Image,
    Build,
    Log,
    Slot,
}

/// How much of what a table has, and whose table it is.
#[derive(Clone, Copy)]
struct Holding {
    slot: usize,
    owner: u32,
    what: What,
    amount: u64,
}

/// Shared memory for the table of that slot, from a role that has more if there is no other.
pub fn allocate(control: &Control, index: usize, bytes: usize) -> Option<(u64, NonNull<u8>)> {
    loop {
        let found = chunks::allocate(control, bytes);
        if found.is_some() || !evict_for(control, index, bytes as u64) {
            return found;
        }
    }
}

/// Bytes that images may still take.
pub fn free(control: &Control) -> u64 {
    (crate::guc::MEMORY_LIMIT.get() as u64 * 1024).saturating_sub(control.memory_used.load(SeqCst))
}

/// Has a role that has more give up something, for `bytes` of the table of that slot. False: nobody has to give way.
fn evict_for(control: &Control, index: usize, bytes: u64) -> bool {
    let mine = control.slots[index].owner.load(Relaxed);
    let mut holdings: Vec<Holding> = Vec::new();
    for (i, slot) in control.slots.iter().enumerate() {
        let image = if slot.holds_image() { chunks::bytes(control, i) } else { 0 };
        let (build, log) = (slot.build_bytes.load(SeqCst), slot.log_bytes.load(SeqCst));
        for (what, amount) in [(What::Image, image), (What::Build, build), (What::Log, log)] {
            if amount > 0 {
                holdings.push(Holding { slot: i, owner: slot.owner.load(Relaxed), what, amount });
            }
        }
    }
    let Some(victim) = victim(&holdings, mine, bytes, |holding| holding.amount) else { return false };
    let slot = &control.slots[victim.slot];
    match victim.what {
        What::Log => {
            log::run_short(control, victim.slot, slot.loading.load(SeqCst));
            true
        }
        What::Build => end_build(slot),
        What::Image | What::Slot => {
            slot.give_way(victim.amount);
            chunks::swap_image(control, victim.slot, None, || true)
        }
    }
}

/// Tells a builder to end, and waits a little until it has freed its memory. False: it has not.
fn end_build(slot: &Slot) -> bool {
    slot.memory_wanted.store(slot.builder.load(SeqCst), SeqCst);
    for _ in 0..BUILDER_WAIT_TRIES {
        if slot.build_bytes.load(SeqCst) == 0 {
            return true;
        }
        // SAFETY: sleeps a millisecond; a signal may end it early.
        unsafe { pg_sys::pg_usleep(1000) };
    }
    false
}

/// Frees a slot of a role that has more of them.
pub fn make_slot(control: &Control, owner: u32) {
    let calls = |slot: &Slot| slot.sum(|reads| &reads.image_calls);
    let taken = control.slots.iter().enumerate().filter(|(_, slot)| slot.table.load(SeqCst) != 0);
    let of =
        |(i, slot): (usize, &Slot)| Holding { slot: i, owner: slot.owner.load(Relaxed), what: What::Slot, amount: 1 };
    let holdings: Vec<Holding> = taken.map(of).collect();
    if let Some(victim) = victim(&holdings, owner, 1, |holding| u64::MAX - calls(&control.slots[holding.slot])) {
        sweep::give_back(control, victim.slot);
    }
}

/// Of the other role that has most, if that is more than this one would have with `need` more: what is first by `rank`.
fn victim(holdings: &[Holding], mine: u32, need: u64, rank: impl Fn(&Holding) -> u64) -> Option<Holding> {
    let total = |role: u32| holdings.iter().filter(|holding| holding.owner == role).map(|h| h.amount).sum::<u64>();
    let richest =
        holdings.iter().map(|holding| holding.owner).filter(|role| *role != mine).max_by_key(|role| total(*role))?;
    if total(richest) <= total(mine) + need {
        return None;
    }
    holdings.iter().filter(|holding| holding.owner == richest).max_by_key(|holding| rank(holding)).copied()
}
