//! What all builds share: the builder's mark, memory for the image, publishing it, giving way, and the outcome.
//!
//! A table has one builder at a time: `alone` marks its slot, and the mark is removed however the process ends. An
//! image is built where no other process can see it and published in one step under its lock. A builder that holds a
//! lock on the table gives way to a session that waits for a stronger one.

#![expect(unsafe_code, reason = "locks, snapshots and a table scan")]

use crate::builds::worker_limit;
use crate::catalog::edges_table::EdgesTable;
use crate::error;
use crate::error::{Fallible, LoadLost};
use crate::image::control::Control;
use crate::image::grow::{SHORTAGE, Shortage};
use crate::image::slot::{BuilderMark, Header, SWEEPER};
use crate::image::{chunks, control, evict, grow, slot};
use crate::pg::{backend, lock_holders, shm};
use cftrag_core::{Image, Memory, chunk_bytes};
use pgrx::prelude::*;
use pgrx::{PgTryBuilder, pg_sys};
use std::cell::{Cell, RefCell};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::{Duration, Instant};

thread_local! {
    /// The slot that this process builds for, and the chunks it has allocated so far.
    pub static UNDER_WAY: RefCell<Option<(usize, Vec<u64>)>> = const { RefCell::new(None) };
    static WATCHED: Cell<bool> = const { Cell::new(false) };
    static OUTCOME: Cell<BuildOutcome> = const { Cell::new(BuildOutcome::None) };
    /// When the server's locks were last looked at.
    static LOOKED: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Why there is no image after a build.
pub enum Refused {
    /// Another process is building it.
    Busy,
    Failed(Box<error::Report>),
}

/// Runs `work` as the table's only builder, and cleans up after it whatever happens.
pub fn alone(control: &Control, table: pg_sys::Oid, work: impl FnOnce(usize) -> Fallible<()>) -> Result<(), Refused> {
    let Some((index, slot)) = control.find_or_take(table) else {
        return Err(Refused::Failed(Box::new(error::no_slot(&crate::catalog::name::display_name(table)))));
    };
    let me = std::process::id();
    let holder = slot.builder.load(SeqCst);
    // A dead builder's mark is taken over.
    let dead = ![0, SWEEPER].contains(&holder) && !backend::is_process(holder as i32);
    if slot.builder.compare_exchange(if dead { holder } else { 0 }, me, SeqCst, SeqCst).is_err() {
        return Err(Refused::Busy);
    }
    if !control.entry(index).is_of(table) {
        slot.builder.store(0, SeqCst);
        return Err(Refused::Busy);
    }
    slot.owner.store(slot::owner_of(table), Relaxed);
    slot.place_wanted.store(0, SeqCst);
    watch_exit();
    UNDER_WAY.set(Some((index, Vec::new())));
    let result = PgTryBuilder::new(AssertUnwindSafe(|| work(index)))
        .catch_others(|error| {
            // The ERROR or panic may have left a lightweight lock held that abandon() takes. So release them all first,
            // as every abort does. SAFETY: releases this process's lightweight locks; a builder's callers hold none.
            unsafe { pg_sys::LWLockReleaseAll() };
            abandon();
            error.rethrow()
        })
        .execute();
    abandon();
    match &result {
        Ok(()) => {
            slot.short_until.store(0, SeqCst);
            slot.note_error("");
        }
        Err(report) => {
            let outcome = OUTCOME.get();
            if [BuildOutcome::Memory, BuildOutcome::System].contains(&outcome) {
                slot.put_off();
            }
            // Others are tried again.
            if ![BuildOutcome::Yielded, BuildOutcome::NoPlace].contains(&outcome) {
                slot.note_error(report.message());
            }
        }
    }
    result.map_err(|report| Refused::Failed(Box::new(report)))
}

/// Frees what an unfinished build holds, and lets other processes build. After a finished build there is nothing left
/// to free.
fn abandon() {
    if let Some((index, tokens)) = UNDER_WAY.take()
        && let Some(control) = control::control()
    {
        let slot = control.slot(index);
        let _mark = BuilderMark(&slot.builder);
        slot.progress.phase.store(0, SeqCst);
        worker_limit::leave(control, index);
        for (i, token) in tokens.iter().enumerate() {
            chunks::release(control, *token, chunk_bytes(i));
        }
        slot.build_bytes.store(0, SeqCst);
        if slot.write(|_| slot.loading.swap(0, SeqCst)) != 0 {
            crate::pg::contain::attempt(|| drop(crate::capture::log_record::take(control, index)));
        }
    }
}

/// Notes why this process's build will fail, for the session that requested it.
pub fn note_outcome(outcome: BuildOutcome) {
    OUTCOME.set(outcome);
}

/// The outcome noted since the last call.
pub fn noted_outcome() -> BuildOutcome {
    OUTCOME.replace(BuildOutcome::None)
}

fn watch_exit() {
    if !WATCHED.replace(true) {
        // SAFETY: a function of this library, which is never unloaded; shared memory is still there when it runs.
        unsafe { pg_sys::before_shmem_exit(Some(at_exit), pg_sys::Datum::from(0usize)) };
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn at_exit(_code: i32, _arg: pg_sys::Datum) {
    abandon();
}

/// Makes this the table's image if `ready`, called under the lock, returns true. Until then an older image keeps
/// answering.
pub fn publish(control: &Control, index: usize, header: Header, ready: impl FnOnce() -> bool) -> bool {
    // As if it had just been asked for: it is not the next to go.
    control.slot(index).touch();
    chunks::swap_image(control, index, Some(header), || {
        let now = ready();
        if now {
            // From here on the chunks belong to the image: the end of this process must not free them.
            UNDER_WAY.with_borrow_mut(|u| u.as_mut().map(|(_, tokens)| tokens.clear()));
        }
        now
    })
}

/// Half of what an edge takes in the smallest images.
const LEAST_A_ROW: f32 = 35.0;

/// An error if the image of the table cannot fit, whatever made room for it. By the rows that ANALYZE or VACUUM
/// counted, not by the table's size: it may have other columns, and dead rows.
pub fn check_room(control: &Control, index: usize, table: &EdgesTable) -> Fallible<()> {
    let rows = table.counted().max(0.0);
    if evict::has_room(control, index, (rows * LEAST_A_ROW) as u64) {
        return Ok(());
    }
    SHORTAGE.set(Shortage::Limit);
    Err(no_memory())
}

/// Notes that shared memory ran out, and says which.
fn no_memory() -> error::Report {
    match SHORTAGE.get() {
        Shortage::Limit => {
            note_outcome(BuildOutcome::Memory);
            error::out_of_memory(crate::guc::MEMORY_LIMIT.get())
        }
        Shortage::System => {
            note_outcome(BuildOutcome::System);
            error::system_memory(shm::of_system(), crate::guc::MEMORY_LIMIT.get())
        }
    }
}

/// Adds a chunk to an image that is not published yet.
pub fn grow(control: &Control, memory: &mut Memory) -> Fallible<u64> {
    let number = memory.mapped();
    let Some((token, base)) = chunk(control, number) else {
        return Err(no_memory());
    };
    UNDER_WAY.with_borrow_mut(|u| {
        u.as_mut().map(|(index, tokens)| {
            tokens.push(token);
            control.slot(*index).build_bytes.fetch_add(chunk_bytes(number) as u64, SeqCst);
        })
    });
    // SAFETY: a fresh chunk of that number's size, page aligned and pinned, and ours until the image is published.
    if !unsafe { memory.map(base) } {
        note_outcome(BuildOutcome::Memory);
        return Err(error::no_memory_to_work(chunk_bytes(number)));
    }
    if number > 0 {
        let image = Image::open(memory).map_err(|e| error::core(&e))?;
        image.set_address(number, token);
        image.publish_chunks(number + 1);
    }
    Ok(token)
}

/// Allocates the chunk with that number.
fn chunk(control: &Control, number: usize) -> Option<(u64, std::ptr::NonNull<u8>)> {
    let index = UNDER_WAY.with_borrow(|under_way| under_way.as_ref().map(|(index, _)| *index))?;
    grow::allocate(control, index, chunk_bytes(number))
}

/// How a load ended, for the session that requested it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum BuildOutcome {
    None = 0,
    Built = 1,
    Memory = 2,
    Refused = 3,
    Busy = 4,
    Yielded = 5,
    /// There was no place for a worker, or another build needed it (worker_limit.rs).
    NoPlace = 6,
    /// Writers kept the table busy for as long as the build would wait.
    Waited = 7,
    /// The system has no more shared memory.
    System = 8,
}

impl BuildOutcome {
    /// Decodes the slot's `word` for that asker; `None` if its build has not ended, or if another asker's build has
    /// ended since.
    pub fn of(word: u64, asker: u64) -> Self {
        let all = [
            Self::Built,
            Self::Memory,
            Self::Refused,
            Self::Busy,
            Self::Yielded,
            Self::NoPlace,
            Self::Waited,
            Self::System,
        ];
        all.into_iter().find(|outcome| word == outcome.word(asker)).unwrap_or(Self::None)
    }

    pub fn word(self, asker: u64) -> u64 {
        asker << 8 | self as u64
    }
}

/// An error if this is a background worker and another session waits for it to leave the database.
pub fn leave(table: pg_sys::Oid) -> Fallible<()> {
    // SAFETY: a backend variable.
    if unsafe { !pg_sys::MyBgworkerEntry.is_null() } && lock_holders::database_is_wanted() {
        note_outcome(BuildOutcome::Yielded);
        return Err(error::load_left(&crate::catalog::name::display_name(table)));
    }
    Ok(())
}

/// Pause between two looks at all the server's locks.
pub const LOCK_POLL: Duration = Duration::from_millis(50);

/// An error if another session waits for our lock on the table, SHARE or ACCESS SHARE, or for this worker to leave the
/// database.
pub fn give_way(table: &EdgesTable, lock: pg_sys::LOCKMODE) -> Fallible<()> {
    leave(table.oid())?;
    let is_wanted = if lock == pg_sys::ShareLock as pg_sys::LOCKMODE {
        table.is_wanted(lock)
    } else {
        let is_turn = LOOKED.get().is_none_or(|looked| looked.elapsed() > LOCK_POLL);
        if is_turn {
            LOOKED.set(Some(Instant::now()));
        }
        is_turn && lock_holders::is_wanted(table.oid())
    };
    if is_wanted {
        note_outcome(BuildOutcome::Yielded);
        return Err(error::load_yielded(&table.name()));
    }
    Ok(())
}

/// An error if this process's build has become useless because its log lost a change.
pub fn check_still_wanted(table: pg_sys::Oid) -> Fallible<()> {
    let index = UNDER_WAY.with_borrow(|under_way| under_way.as_ref().map(|(index, _)| *index));
    let Some((control, index)) = control::control().zip(index) else { return Ok(()) };
    let slot = control.slot(index);
    let load = slot.loading.load(SeqCst);
    let lost = load != 0 && control.entry(index).log_lost.load(SeqCst) != 0;
    if lost && slot.log_short.load(SeqCst) == load {
        note_outcome(BuildOutcome::Memory);
        return Err(error::out_of_memory(crate::guc::MEMORY_LIMIT.get()));
    }
    if lost { Err(error::load_lost(&crate::catalog::name::display_name(table), LoadLost::Noted)) } else { Ok(()) }
}
