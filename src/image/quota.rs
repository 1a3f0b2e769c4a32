//! Sharing the room of all images between roles: where cftrag.memory_limit or the slots are used up, whoever has most gives way to who has
//! less. So one role's tables cannot keep everybody else's from having images, and a server with one role is as if this were not here.
//!
//! Memory is counted for the owner of its table: of an image, of one that is being built, and of the log of a build (loading.rs). Whoever
//! wants `need` more takes it from the richest other role only if that one has more than he would have then. Where it goes next it
//! is not taken back by the same rule, so nothing goes to and fro. An image that gave way is incomplete: the reference query answers, and a
//! reader has it built again once as much is free. A build that gave way ends with 53200.

#![expect(unsafe_code, reason = "sleeps")]

use crate::area;
use crate::build;
use crate::error::{self, Fallible, LoadLost};
use crate::loading;
use crate::online::Outcome;
use crate::owners;
use crate::shmem::Control;
use crate::slot::Slot;
use crate::sweep;
use pgrx::pg_sys;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// A builder looks whether it is to end every thousand rows, and at each wait. One that does not within so many milliseconds is not
/// waited for: it may be a COMMIT that needs the memory.
const BUILDER_PATIENCE: u32 = 200;

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

/// Notes whose the slot is. Called before it is taken, and by whoever builds.
pub fn owner_of(table: pg_sys::Oid) -> u32 {
    owners::owner_and_children(table).map_or(0, |(owner, _)| u32::from(owner))
}

/// Shared memory for the table of that slot, from a role that has more if there is no other.
pub fn allocate(control: &Control, index: usize, bytes: usize) -> Option<(u64, NonNull<u8>)> {
    loop {
        let found = area::allocate(control, bytes);
        if found.is_some() || !make_memory(control, index, bytes as u64) {
            return found;
        }
    }
}

/// Bytes that images may still take.
pub fn free(control: &Control) -> u64 {
    (crate::guc::MEMORY_LIMIT.get() as u64 * 1024).saturating_sub(control.memory_used.load(SeqCst))
}

/// Has a role that has more give up something, for `bytes` of the table of that slot. False: nobody has to give way.
fn make_memory(control: &Control, index: usize, bytes: u64) -> bool {
    let mine = control.slots[index].owner.load(Relaxed);
    let mut holdings: Vec<Holding> = Vec::new();
    for (i, slot) in control.slots.iter().enumerate() {
        let image = if slot.holds_image() { area::bytes(control, i) } else { 0 };
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
            loading::run_short(control, victim.slot, slot.loading.load(SeqCst));
            true
        }
        What::Build => end_build(slot),
        What::Image | What::Slot => {
            slot.give_way(victim.amount);
            area::swap_image(control, victim.slot, None, || true)
        }
    }
}

/// Tells a builder to end, and waits a little until it has freed its memory. False: it has not.
fn end_build(slot: &Slot) -> bool {
    slot.memory_wanted.store(slot.builder.load(SeqCst), SeqCst);
    for _ in 0..BUILDER_PATIENCE {
        if slot.build_bytes.load(SeqCst) == 0 {
            return true;
        }
        // SAFETY: sleeps a millisecond; a signal may end it early.
        unsafe { pg_sys::pg_usleep(1000) };
    }
    false
}

/// An error if this process's build for that slot is of no use any more: its log has lost something, or who has less needs its memory.
pub fn goes_on(slot: &Slot, table: pg_sys::Oid) -> Fallible<()> {
    let load = slot.loading.load(SeqCst);
    let lost = load != 0 && slot.log_lost.load(SeqCst) == load;
    if slot.memory_wanted.load(SeqCst) == std::process::id() || lost && slot.log_short.load(SeqCst) == load {
        build::note_outcome(Outcome::Memory);
        return Err(error::out_of_memory(crate::guc::MEMORY_LIMIT.get()));
    }
    if lost { Err(error::load_lost(&crate::edges::display_name(table), LoadLost::Noted)) } else { Ok(()) }
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
