//! An image from a table: under a SHARE lock, or beside writers (online.rs).
//!
//! Under a SHARE lock (a small table, by its first reader or by cft_build): every row that the build snapshot B sees is settled and no
//! change is under way. Writers wait meanwhile, unless the build gives way to them (a small table's does); readers never do: the reference query answers them. The image is built where nobody can
//! see it and published at the end, before the lock is released. A failed build frees its memory: by the catch below, or at the
//! backend's exit if that is what ended it.

#![expect(unsafe_code, reason = "locks, snapshots and a table scan")]

use crate::area::{self, RUNNING_WORDS};
use crate::compat;
use crate::contain::Quiet;
use crate::edges::{Columns, Edges};
use crate::error::{self, Fallible};
use crate::huge;
use crate::online::Outcome;
use crate::registration::{self, Functions};
use crate::share;
use crate::shmem::{self, Control};
use crate::slot::{Header, Key, SWEEPER, Slot, State};
use crate::value;
use crate::visibility::Seen;
use cftrag_core::{Degrees, Edge, Error, Image, Memory, OWNER_WORDS, Recent, chunk_bytes};
use pgrx::prelude::*;
use pgrx::{PgTryBuilder, check_for_interrupts};
use std::cell::{Cell, RefCell};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::Instant;

/// The phase of slot::PHASES that a build under a SHARE lock is in.
const LOCKED_SCAN: u32 = 5;
/// The phase in which the rows of each entity are counted.
const COUNTING: u32 = 6;
/// Bytes of the counters of the smallest table.
const LEAST_COUNTERS: usize = 4096;
/// Rows between two looks at pending interrupts.
const ROWS_A_LOOK: u64 = 1024;

thread_local! {
    /// The slot this process builds for, and the chunks it has so far.
    static UNDER_WAY: RefCell<Option<(usize, Vec<u64>)>> = const { RefCell::new(None) };
    static WATCHED: Cell<bool> = const { Cell::new(false) };
    static OUTCOME: Cell<Outcome> = const { Cell::new(Outcome::None) };
}

/// Why there is no image after a build.
pub enum Refused {
    /// Another process builds it.
    Busy,
    Failed(Box<error::Report>),
}

/// Builds the image of a table on which the caller holds a SHARE lock, in a transaction without an xid. `yields`: fails when somebody
/// waits for that lock, and notes [`Outcome::Yielded`]. Raises what scanning the table raises.
pub fn build(control: &Control, table: &Edges, functions: Functions, yields: bool) -> Result<(), Refused> {
    note_outcome(Outcome::None);
    alone(control, table.oid(), |index| {
        crate::sweep::sweep(control, functions);
        control.slots[index].begin(LOCKED_SCAN, table.bytes());
        fill(control, index, table, functions, yields)
    })
}

/// Runs `work` as the table's only builder, and cleans up after it whatever happens.
pub fn alone(control: &Control, table: pg_sys::Oid, work: impl FnOnce(usize) -> Fallible<()>) -> Result<(), Refused> {
    let Some((index, slot)) = control.find_or_take(table) else {
        return Err(Refused::Failed(Box::new(error::no_slot(shmem::SLOTS))));
    };
    let me = std::process::id();
    let holder = slot.builder.load(SeqCst);
    // SAFETY: looks a process up in the process array; a dead builder's mark is taken over.
    let dead = ![0, SWEEPER].contains(&holder) && unsafe { pg_sys::BackendPidGetProc(holder as i32).is_null() };
    if slot.builder.compare_exchange(if dead { holder } else { 0 }, me, SeqCst, SeqCst).is_err() {
        return Err(Refused::Busy);
    }
    if !slot.is_of(table) {
        slot.builder.store(0, SeqCst);
        return Err(Refused::Busy);
    }
    slot.owner.store(share::owner_of(table), Relaxed);
    slot.memory_wanted.store(0, SeqCst);
    slot.place_wanted.store(0, SeqCst);
    watch_exit();
    UNDER_WAY.set(Some((index, Vec::new())));
    let result = PgTryBuilder::new(AssertUnwindSafe(|| work(index)))
        .catch_others(|error| {
            // An ERROR or a panic may come from under a lock that is wanted again: as every abort does first. A builder holds nobody else's.
            // SAFETY: releases this process's lightweight locks.
            unsafe { pg_sys::LWLockReleaseAll() };
            abandon();
            error.rethrow()
        })
        .execute();
    abandon();
    match &result {
        Ok(()) => slot.short_until.store(0, SeqCst),
        Err(_) if OUTCOME.get() == Outcome::Memory => slot.put_off(),
        Err(_) => {}
    }
    result.map_err(|report| Refused::Failed(Box::new(report)))
}

/// Notes in its slot how long a build took, however it ends. Without what it waited for.
struct Took<'s>(&'s Slot, Instant);

impl Drop for Took<'_> {
    fn drop(&mut self) {
        self.0.took.store(self.1.elapsed().as_micros() as i64, Relaxed);
    }
}

/// Frees what an unfinished build holds, and lets others build. Nothing to do after a finished one but the latter.
fn abandon() {
    if let Some((index, tokens)) = UNDER_WAY.take()
        && let Some(control) = shmem::control()
    {
        let slot = &control.slots[index];
        let _mark = Mark(&slot.builder);
        slot.progress.phase.store(0, SeqCst);
        slot.worker.store(0, SeqCst);
        for (i, token) in tokens.iter().enumerate() {
            area::release(control, *token, chunk_bytes(i));
        }
        slot.build_bytes.store(0, SeqCst);
        if slot.write(|_| slot.loading.swap(0, SeqCst)) != 0 {
            crate::contain::attempt(|| drop(crate::loading::take(control, index)));
        }
    }
}

/// A slot's builder is at work as long as this lives; a panic, too, takes the mark off.
pub struct Mark<'s>(pub &'s AtomicU32);

impl Drop for Mark<'_> {
    fn drop(&mut self) {
        self.0.store(0, SeqCst);
    }
}

/// Notes why the build of this process will fail, for whoever asked for it.
pub fn note_outcome(outcome: Outcome) {
    OUTCOME.set(outcome);
}

/// What was noted since the last time this was asked.
pub fn noted_outcome() -> Outcome {
    OUTCOME.replace(Outcome::None)
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

fn fill(control: &Control, index: usize, table: &Edges, functions: Functions, yields: bool) -> Fallible<()> {
    let started = Instant::now();
    // SAFETY: a snapshot of now, registered while it is used (an ERROR's abort forgets it); taken under the SHARE lock.
    let snapshot = unsafe { pg_sys::RegisterSnapshot(pg_sys::GetLatestSnapshot()) };
    let mut memory = Memory::new();
    let lock = yields.then_some(pg_sys::ShareLock as pg_sys::LOCKMODE);
    let header = load(control, index, table, functions, snapshot, started, &mut memory, lock);
    // SAFETY: registered above.
    unsafe { pg_sys::UnregisterSnapshot(snapshot) };
    // Once more, because what it lacks for a moment is memory to map the old image.
    let header = header?;
    match publish(control, index, header, || true) || publish(control, index, header, || true) {
        true => Ok(()),
        false => Err(error::out_of_memory(crate::guc::MEMORY_LIMIT.get())),
    }
}

/// Makes the image the table's, if `ready` (asked under the lock) still says so. Until then the old one, if there is one, serves.
pub fn publish(control: &Control, index: usize, header: Header, ready: impl FnOnce() -> bool) -> bool {
    area::swap_image(control, index, Some(header), || {
        let now = ready();
        if now {
            // From here on the chunks are the image's: whatever ends this process must not free them.
            UNDER_WAY.with_borrow_mut(|u| u.as_mut().map(|(_, tokens)| tokens.clear()));
            control.slots[index].build_bytes.store(0, SeqCst);
        }
        now
    })
}

/// Makes the image of what the snapshot sees, and describes it. Gives way to who waits for the caller's `lock`.
#[expect(clippy::too_many_arguments, reason = "what both ways of building share")]
pub fn load(
    control: &Control,
    index: usize,
    table: &Edges,
    functions: Functions,
    snapshot: pg_sys::Snapshot,
    started: Instant,
    memory: &mut Memory,
    lock: Option<pg_sys::LOCKMODE>,
) -> Fallible<Header> {
    let _took = Took(&control.slots[index], Instant::now());
    let (key, columns) = key(table, snapshot, functions)?;
    free_useless(control, index, &key);
    let root = grow(control, memory)?;
    let image = Image::format(memory, random_seed()).map_err(|e| error::core(&e))?;
    image.owner_set(0, root);
    // How many rows each entity has, in a pass of its own: a hint, so that its record is as large as it needs to be.
    let degrees = Degrees::new(image, counters_bytes(table));
    let slot = &control.slots[index];
    let next_row = || {
        let row = slot.progress.done.fetch_add(1, Relaxed);
        lock.map_or(Ok(()), |lock| crate::online::give_way_at(table, lock, row))
    };
    let online = slot.loading.load(Relaxed) != 0;
    let rows = if online { snapshot } else { nobodys(snapshot) };
    let degrees = degrees.map(|mut degrees| {
        let phase = slot.progress.phase.swap(COUNTING, SeqCst);
        let counted = scan(table, &columns, rows, |edge| {
            degrees.count(edge);
            next_row()
        });
        slot.progress.total.store(slot.progress.done.swap(0, Relaxed), Relaxed);
        slot.progress.phase.store(phase, SeqCst);
        counted.map(|()| degrees)
    });
    let degrees = degrees.transpose()?;
    let mut recent = Recent::default();
    scan(table, &columns, rows, |edge| {
        next_row()?;
        insert(control, memory, edge, &mut recent, degrees.as_ref())
    })?;
    // SAFETY: an MVCC snapshot that is still registered.
    let (seen, image) = (unsafe { Seen::new(snapshot) }, Image::open(memory).map_err(|e| error::core(&e))?);
    let running: Vec<u64> = seen.running().collect();
    let kept = running.len() <= OWNER_WORDS - RUNNING_WORDS;
    if kept {
        running.iter().enumerate().for_each(|(i, xid)| image.owner_set(RUNNING_WORDS + i, *xid));
    }
    Ok(Header {
        state: State::Ready,
        snapshot_running: if kept { running.len() as u32 } else { u32::MAX },
        snapshot_xmax: seen.xmax(),
        root: image.owner_get(0),
        // SAFETY: reads the clock.
        built_at: unsafe { pg_sys::GetCurrentTimestamp() },
        build_microseconds: started.elapsed().as_micros() as u64,
        load: 0,
        key,
    })
}

/// What a build under a SHARE lock scans with, so that its scan is no read of the user's transaction. A SERIALIZABLE one would take predicate
/// locks and note conflicts, which fail writes; PostgreSQL leaves out scans whose snapshot is of another kind, as those of CREATE INDEX.
/// Under that lock, without an xid, all that is committed is all that the build's snapshot sees.
fn nobodys(snapshot: pg_sys::Snapshot) -> pg_sys::Snapshot {
    // SAFETY: backend variables.
    unsafe {
        match pg_sys::XactIsoLevel as u32 == pg_sys::XACT_SERIALIZABLE {
            true => &raw mut pg_sys::SnapshotSelfData,
            false => snapshot,
        }
    }
}

/// Frees the old image before the new one needs memory, if no snapshot can use it: it lost something, or the table was rewritten since.
fn free_useless(control: &Control, index: usize, key: &Key) {
    let slot = &control.slots[index];
    let useless = slot.spoiled.load(SeqCst) != 0 || slot.read(|header| header.key.locator != key.locator);
    if useless {
        area::drop_image(control, index);
    }
}

/// The key of the image, as the build snapshot sees registration and columns.
pub fn key(table: &Edges, snapshot: pg_sys::Snapshot, functions: Functions) -> Fallible<(Key, Columns)> {
    if let Some(why) = table.unsuitable() {
        return Err(error::wrong_kind(&table.name(), why));
    }
    let Some(registration) = registration::read(table.oid(), snapshot, functions) else {
        return Err(error::not_attached(&crate::edges::display_name(table.oid())));
    };
    if !registration.sound {
        return Err(error::triggers_missing(&crate::edges::display_name(table.oid())));
    }
    let columns = table.require_columns(&registration.names)?;
    crate::api::attach::check_columns(table, &registration.names)?;
    // SAFETY: an open relation.
    let locator = unsafe { compat::locator(table.rel()) };
    let key = Key {
        locator,
        database_xmin: compat::database_xmin(),
        row: registration.row,
        truncate: registration.truncate,
        columns,
    };
    Ok((key, columns))
}

/// Adds a chunk to an image that nobody else can see.
pub fn grow(control: &Control, memory: &mut Memory) -> Fallible<u64> {
    let number = memory.mapped();
    let Some((token, base)) = chunk(control, number) else {
        note_outcome(Outcome::Memory);
        return Err(error::out_of_memory(crate::guc::MEMORY_LIMIT.get()));
    };
    UNDER_WAY.with_borrow_mut(|u| {
        u.as_mut().map(|(index, tokens)| {
            tokens.push(token);
            control.slots[*index].build_bytes.fetch_add(chunk_bytes(number) as u64, SeqCst);
        })
    });
    huge::collapse(base, chunk_bytes(number));
    // SAFETY: a fresh chunk of that number's size, page aligned and pinned, ours until it is published.
    unsafe { memory.map(base) };
    if number > 0 {
        let image = Image::open(memory).map_err(|e| error::core(&e))?;
        image.owner_set(number, token);
        image.publish_chunks(number + 1);
    }
    Ok(token)
}

/// A chunk of that number.
fn chunk(control: &Control, number: usize) -> Option<(u64, std::ptr::NonNull<u8>)> {
    let index = UNDER_WAY.with_borrow(|under_way| under_way.as_ref().map(|(index, _)| *index))?;
    share::allocate(control, index, chunk_bytes(number))
}

/// Bytes of the counters of a table's entities: a sixteenth of the table's, within maintenance_work_mem.
fn counters_bytes(table: &Edges) -> usize {
    // SAFETY: reads a setting, in kilobytes.
    let most = unsafe { pg_sys::maintenance_work_mem }.max(0) as usize * 1024;
    (table.bytes() as usize / 16).clamp(LEAST_COUNTERS, most.max(LEAST_COUNTERS))
}

fn insert(
    control: &Control,
    memory: &mut Memory,
    edge: &Edge,
    recent: &mut Recent,
    degrees: Option<&Degrees>,
) -> Fallible<()> {
    loop {
        let full = {
            let image = Image::open(memory).map_err(|e| error::core(&e))?;
            match degrees {
                Some(degrees) => image.insert_counted(edge, recent, degrees),
                None => image.insert_next(edge, None, recent),
            }
        };
        match full {
            Ok(()) => return Ok(()),
            Err(Error::Full { .. }) => _ = grow(control, memory)?,
            Err(other) => return Err(error::core(&other)),
        }
    }
}

pub fn random_seed() -> u64 {
    let mut bytes = [0u8; 8];
    // SAFETY: fills eight bytes; on failure (no entropy) they stay zero and only resistance to aimed collisions is lost.
    unsafe { pg_sys::pg_strong_random(bytes.as_mut_ptr().cast(), bytes.len()) };
    u64::from_ne_bytes(bytes)
}

/// Every edge of the table that the snapshot sees, read with the rights of its owner (rights.rs). The scan and the six types' output
/// evaluate nothing that a user could have put there; should that change, it is not with the caller's rights, or a worker's.
pub fn scan(
    table: &Edges,
    columns: &Columns,
    snapshot: pg_sys::Snapshot,
    each: impl FnMut(&Edge) -> Fallible<()>,
) -> Fallible<()> {
    crate::rights::as_owner(table, || scan_rows(table, columns, snapshot, each))
}

fn scan_rows(
    table: &Edges,
    columns: &Columns,
    snapshot: pg_sys::Snapshot,
    mut each: impl FnMut(&Edge) -> Fallible<()>,
) -> Fallible<()> {
    let wanted = [columns.tree, columns.parent, columns.child];
    let mut names = [Vec::new(), Vec::new(), Vec::new()];
    let (mut rows, mut result) = (0u64, Ok(()));
    // SAFETY: a heap scan under a registered snapshot; attribute numbers are the relation's, values are non-null.
    unsafe {
        let scan = pg_sys::heap_beginscan(
            table.rel(),
            snapshot,
            0,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            pg_sys::ScanOptions::SO_TYPE_SEQSCAN
                | pg_sys::ScanOptions::SO_ALLOW_STRAT
                | pg_sys::ScanOptions::SO_ALLOW_PAGEMODE,
        );
        while result.is_ok() {
            let tuple = pg_sys::heap_getnext(scan, pg_sys::ScanDirection::ForwardScanDirection);
            if tuple.is_null() {
                break;
            }
            rows += 1;
            if rows.is_multiple_of(ROWS_A_LOOK) {
                check_for_interrupts!();
                result = goes_on(table.oid());
            }
            let mut present = [false; 3];
            for ((column, name), present) in wanted.iter().zip(&mut names).zip(&mut present) {
                if column.number != 0 {
                    let mut null = false;
                    let datum = pg_sys::htup::heap_getattr(tuple, column.number, (*table.rel()).rd_att, &mut null);
                    if !null {
                        name.clear();
                        *present = true;
                        if !value::write(pg_sys::Oid::from(column.type_oid), datum, name) {
                            result = Err(error::out_of_memory(crate::guc::MEMORY_LIMIT.get()));
                        }
                    }
                }
            }
            if result.is_ok() && present[1] && present[2] {
                let tree = present[0].then_some(names[0].as_slice());
                result = each(&Edge { tree, parent: &names[1], child: &names[2] });
            }
        }
        pg_sys::heap_endscan(scan);
    }
    result
}

/// Whether the build of this process, if the scan is one's, is still of use.
fn goes_on(table: pg_sys::Oid) -> Fallible<()> {
    let index = UNDER_WAY.with_borrow(|under_way| under_way.as_ref().map(|(index, _)| *index));
    let slot = shmem::control().zip(index).map(|(control, index)| &control.slots[index]);
    slot.map_or(Ok(()), |slot| share::goes_on(slot, table))
}

/// What came of [`in_place`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum InPlace {
    Built,
    /// A writer waits: better beside him.
    GaveWay,
    No,
}

/// Builds a small table's image in the caller's own call, if that can be done at once: no xid, no parallel operation, the SHARE lock free,
/// and nobody who waits for it.
pub fn in_place(control: &Control, table: &Edges, functions: Functions) -> InPlace {
    let limit = crate::guc::in_place_bytes();
    let _quiet = Quiet::enter();
    // SAFETY: reads backend state.
    let possible = unsafe {
        limit > 0
            && pg_sys::GetTopTransactionIdIfAny() == pg_sys::InvalidTransactionId
            && !pg_sys::IsInParallelMode()
            && table.bytes() <= limit
            && pg_sys::ConditionalLockRelation(table.rel(), pg_sys::ShareLock as pg_sys::LOCKMODE)
    };
    if !possible {
        return InPlace::No;
    }
    // Somebody may have built it meanwhile; or only the caller's snapshot is older than the registration.
    let built = if is_current(control, table, functions) { Ok(()) } else { build(control, table, functions, true) };
    // SAFETY: taken above; the image is published, so writers may go on.
    unsafe { pg_sys::UnlockRelation(table.rel(), pg_sys::ShareLock as pg_sys::LOCKMODE) };
    match built {
        Ok(()) => InPlace::Built,
        Err(_) if noted_outcome() == Outcome::Yielded => InPlace::GaveWay,
        Err(_) => InPlace::No,
    }
}

/// Whether there is a usable image of the table as it is registered now.
pub fn is_current(control: &Control, table: &Edges, functions: Functions) -> bool {
    let Some((index, _)) = control.find(table.oid()) else { return false };
    let Ok((now, _)) = key(table, std::ptr::null_mut(), functions) else { return false };
    area::read(control, index, |header, _| header.key == now).unwrap_or(false)
}
