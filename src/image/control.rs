//! The control block: shared memory with one name and one size for all versions of this library.
//!
//!   +0   magic, layout, disabled      always in this place: a backend with another layout only sets `disabled`
//!   +..  memory_used, area            bytes of all chunks and logs, the memory of all images and slots (area.rs)
//!   +..  put_off                      whether tables were put off at server start
//!   +..  wanted                       documents whose links wait for a worker (capture/linked.rs)
//!   +..  workers                      the slots whose images background workers build (builds/worker_limit.rs)
//!   +..  directory                    an entry for each table that was asked about (directory.rs)
//!
//! With shared_preload_libraries, it comes from the shared memory hooks, so every process has it from its start.
//! Otherwise it comes from the DSM registry at first use, on PostgreSQL 17 and later; 15 and 16 then have none, a
//! normal state: the reference query answers.

#![expect(unsafe_code, reason = "shared memory")]

use crate::pg::lwlock::{Apart, EXCLUSIVE, Lock};
use pgrx::pg_sys;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

const MAGIC: u64 = 0x6366_7472_6167_0001; // "cftrag"

/// Changes whenever the layout of Control, Slot or the core does. A release that changes one of them bumps this number;
/// docs/design.md has the list.
const LAYOUT: u32 = 0x000A_0000 + cftrag_core::LAYOUT;

/// The size that all versions ask for: the DSM registry refuses another size for the same name.
const CONTROL_BYTES: usize = 1 << 20;

/// A server has only a few hundred segments in all.
pub const SEGMENTS: usize = 512;

pub const GRANULES: usize = 1024;

#[repr(C)]
pub struct Segment {
    pub handle: AtomicU32,
    pub granules: AtomicU32,
    pub used: [AtomicU64; GRANULES / 64],
}

/// Guarded by Control.allocating.
#[repr(C)]
pub struct Area {
    pub count: AtomicU32,
    pub segments: [Segment; SEGMENTS],
}

/// Tables of all databases that have an entry at a time: as many as a `next` can name.
pub const MOST: usize = u16::MAX as usize;

/// Slots that are allocated at once.
pub const BLOCK: usize = 64;

pub const BLOCKS: usize = MOST.div_ceil(BLOCK);

/// Chains of entries.
pub const HEADS: usize = 1 << 14;

/// What is known about a table, wherever its slot is.
#[repr(C)]
pub struct Entry {
    pub database: AtomicU32,
    /// 0: the entry is free.
    pub table: AtomicU32,
    /// The next entry of the chain, or of the free ones, plus 1.
    pub next: AtomicU16,
    /// Not 0: the image lost a change (a Damage); set without a lock, cleared by a build.
    pub spoiled: AtomicU8,
    /// Not 0: the log of a running load lost a change; cleared when a load begins.
    pub log_lost: AtomicU8,
}

#[repr(C)]
pub struct Directory {
    /// The token of each block of slots; 0: not allocated.
    pub blocks: [AtomicU64; BLOCKS],
    /// The first entry of each chain, plus 1.
    pub heads: [AtomicU16; HEADS],
    /// The first free entry, plus 1.
    pub free: AtomicU32,
    /// Entries that were ever taken: those behind it are free, too.
    pub taken: AtomicU32,
    pub entries: [Entry; MOST],
}

#[repr(C)]
pub struct Control {
    magic: AtomicU64,
    layout: AtomicU32,
    disabled: AtomicU32,
    tranche: AtomicU32,
    /// Bytes of all chunks of all images, and of all logs.
    pub memory_used: AtomicU64,
    /// Not 0 if tables of the database just built were put off at server start because they had writers
    /// (builds/launcher.rs).
    pub put_off: AtomicU32,
    /// Documents (database, table) whose links are to be looked at by a worker; 0 is a free place.
    pub wanted: [AtomicU64; 1024],
    /// The number of a slot, plus 1, whose image a background worker builds; 0 is a free place.
    pub workers: [AtomicU32; 64],
    /// The next entry that a build looks at (gone.rs).
    pub looked_at: AtomicU32,
    pub area: Area,
    /// Guards the area.
    pub allocating: Apart<Lock>,
    /// Guards the directory (which entry is which table's) and the places of workers.
    pub lock: Apart<Lock>,
    pub directory: Directory,
}

const _: () = assert!(size_of::<Control>() <= CONTROL_BYTES);

impl Control {
    pub fn tranche(&self) -> i32 {
        self.tranche.load(Ordering::Relaxed) as i32
    }
}

/// The control block in this process; null until it is attached.
static CONTROL: AtomicPtr<Control> = AtomicPtr::new(std::ptr::null_mut());

/// Whether the control block has another version's layout.
static FOREIGN: AtomicBool = AtomicBool::new(false);

/// Fills a new control block.
unsafe extern "C-unwind" fn init(block: *mut std::ffi::c_void) {
    let control = block.cast::<Control>();
    // SAFETY: CONTROL_BYTES of fresh memory that only we know; all-zero is a valid Control except for its locks.
    unsafe {
        std::ptr::write_bytes(block.cast::<u8>(), 0, CONTROL_BYTES);
        let tranche = pg_sys::LWLockNewTrancheId();
        (*control).tranche.store(tranche as u32, Ordering::Relaxed);
        (*control).lock.init(tranche);
        (*control).allocating.init(tranche);
        (*control).layout.store(LAYOUT, Ordering::Relaxed);
        (*control).magic.store(MAGIC, Ordering::Release);
    }
}

/// Uses the block in this process if its layout is ours; otherwise disables it for all processes. Whether it did that
/// now, for the first time in this process.
fn adopt(block: *mut Control) -> bool {
    // SAFETY: the first 16 bytes mean the same in every version.
    let control = unsafe { &*block };
    if control.magic.load(Ordering::Acquire) != MAGIC || control.layout.load(Ordering::Relaxed) != LAYOUT {
        control.disabled.store(1, Ordering::Release);
        return !FOREIGN.swap(true, Ordering::Relaxed);
    }
    // SAFETY: a static name; the tranche is the block's.
    unsafe { pg_sys::LWLockRegisterTranche(control.tranche(), c"cftrag".as_ptr()) };
    CONTROL.store(block, Ordering::Release);
    false
}

/// The control block, if this process has attached it and it is usable. On 17 and later, [`attach`] attaches it.
pub fn control() -> Option<&'static Control> {
    let block = CONTROL.load(Ordering::Acquire);
    if block.is_null() {
        return None;
    }
    // SAFETY: mapped for the life of the process by adopt().
    let control = unsafe { &*block };
    (control.disabled.load(Ordering::Acquire) == 0).then_some(control)
}

/// Attaches the control block if that is possible late (17 and later). A failure is contained: it must never fail a
/// user's write.
pub fn attach() -> Option<&'static Control> {
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    if CONTROL.load(Ordering::Acquire).is_null() {
        let mut disabled = false;
        crate::pg::contain::attempt(|| {
            let mut found = false;
            // SAFETY: name and size never change; init() fills a new block.
            let block =
                unsafe { pg_sys::GetNamedDSMSegment(c"cftrag".as_ptr(), CONTROL_BYTES, Some(init), &mut found) };
            disabled = adopt(block.cast());
        });
        if disabled {
            crate::error::warn_other_layout();
        }
    }
    control()
}

/// Whether a control block may exist that this process could not attach (rather than none existing, or one of another
/// layout).
pub fn unreachable() -> bool {
    cfg!(not(any(feature = "pg15", feature = "pg16")))
        && CONTROL.load(Ordering::Acquire).is_null()
        && !FOREIGN.load(Ordering::Relaxed)
}

/// Installs the shared memory hooks, if the postmaster is loading the library. Called from _PG_init.
pub fn preload() {
    hooks::install();
}

mod hooks {
    use super::{CONTROL_BYTES, adopt, init};
    use pgrx::prelude::*;
    use std::cell::Cell;

    thread_local! {
        static PREVIOUS_REQUEST: Cell<pg_sys::shmem_request_hook_type> = const { Cell::new(None) };
        static PREVIOUS_STARTUP: Cell<pg_sys::shmem_startup_hook_type> = const { Cell::new(None) };
    }

    pub fn install() {
        // SAFETY: hooks are chained in the postmaster, while it loads libraries, as PostgreSQL documents.
        unsafe {
            if !pg_sys::process_shared_preload_libraries_in_progress {
                return;
            }
            PREVIOUS_REQUEST.set(pg_sys::shmem_request_hook);
            pg_sys::shmem_request_hook = Some(request);
            PREVIOUS_STARTUP.set(pg_sys::shmem_startup_hook);
            pg_sys::shmem_startup_hook = Some(startup);
        }
    }

    #[pg_guard]
    unsafe extern "C-unwind" fn request() {
        // SAFETY: the postmaster calls it when it collects such requests.
        unsafe {
            if let Some(previous) = PREVIOUS_REQUEST.get() {
                previous();
            }
            pg_sys::RequestAddinShmemSpace(CONTROL_BYTES);
        }
    }

    #[pg_guard]
    unsafe extern "C-unwind" fn startup() {
        // SAFETY: as request(); after a crash this runs again on fresh memory.
        unsafe {
            if let Some(previous) = PREVIOUS_STARTUP.get() {
                previous();
            }
            let mut found = false;
            let lock = &raw mut (*pg_sys::MainLWLockArray.add(ADDIN_SHMEM_INIT_LOCK)).lock;
            pg_sys::LWLockAcquire(lock, super::EXCLUSIVE);
            let block = pg_sys::ShmemInitStruct(c"cftrag".as_ptr(), CONTROL_BYTES, &mut found);
            if !found {
                init(block);
            }
            pg_sys::LWLockRelease(lock);
            if adopt(block.cast()) {
                crate::error::warn_other_layout();
            }
        }
    }

    /// AddinShmemInitLock in storage/lmgr/lwlocknames.txt.
    const ADDIN_SHMEM_INIT_LOCK: usize = 21;
}
