//! A slot: what shared memory holds about one table besides its entry (directory.rs), and the locks of its image.
//!
//! field                                     | lock                      | mode
//! ------------------------------------------|---------------------------|----------------------------------------------
//! Control.workers, the directory            | Control.lock              | exclusive to change; read any time (atomics)
//! Slot.header, .log, .log_bytes, chunks     | Slot.image_lock (lock.rs) | write: alone; read: beside other readers
//! temperature, version hints                | Slot.image_lock           | read, relaxed atomics (lossy is fine)
//! mapping and freeing chunks                | Slot.map                  | shared to map, exclusive to free
//! segments, granules (area.rs)              | Control.allocating        | exclusive
//! Entry.spoiled, .log_lost                  | none                      | atomics
//! Slot.builder, .used_at, counters, settled | none                      | atomics
//! .image_bytes, .build_bytes, .place_wanted | none                      | atomics
//! .verification, .verifier, .verified       | none                      | atomics
//!
//! Order: Control.lock, image_lock, map; map is never taken under image_lock, allocating under none. Under image_lock:
//! no SPI, no palloc, no ereport, no mapping, no clog lookup, no callback. No ERROR or FATAL can start there (only our
//! own panic could). Unwinding and the abort then release the locks, and the image's `mutating` word tells the next
//! process that it is broken.

use crate::catalog::columns::Columns;
use crate::catalog::pg_trigger::TriggerKey;
use crate::catalog::trust;
use crate::image::lock::ImageLock;
use crate::image::reads::Reads;
use crate::pg::backend;
use crate::pg::compat;
use crate::pg::compat::{Locator, plain};
use crate::pg::lwlock::{Apart, Lock};
use cftrag_core::{Counters, Settled};
use pgrx::pg_sys;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64};

/// The phase (see PHASES) of a build under a SHARE lock.
pub const LOCKED_SCAN: u32 = 5;

/// The phase (see PHASES) that counts the rows of each entity.
pub const COUNTING: u32 = 6;

/// Clears the slot's builder mark when dropped, even by a panic.
pub struct BuilderMark<'s>(pub &'s AtomicU32);

impl Drop for BuilderMark<'_> {
    fn drop(&mut self) {
        self.0.store(0, SeqCst);
    }
}

/// The phases of a check (see PHASES).
pub const VERIFYING_IMAGE: u32 = 7;

pub const VERIFYING_ROWS_OF_IMAGE: u32 = 8;

pub const VERIFYING_ROWS_OF_TABLE: u32 = 9;

/// Phases of an online build (see PHASES).
pub const WAITING: u32 = 1;

pub const LOCKING: u32 = 2;

pub const SCANNING: u32 = 3;

pub const APPLYING: u32 = 4;

/// The phases in which a builder only waits.
pub const WAITS: [u32; 2] = [WAITING, LOCKING];

/// After a failed load, no reader requests another for this long.
pub const RETRY_MICROSECONDS: i64 = 10_000_000;

/// The OID of the table's owner; 0 if the table is gone.
pub fn owner_of(table: pg_sys::Oid) -> u32 {
    trust::owner(table).map_or(0, u32::from)
}

/// Identifies what the image was built from; if any of it differs, the image is not the table's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Key {
    pub locator: Locator,
    /// Raw xmin of the pg_database row: a database dropped and recreated with its old OID has another.
    pub database_xmin: u32,
    pub row: TriggerKey,
    pub truncate: TriggerKey,
    pub columns: Columns,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum State {
    Empty = 0,
    Ready = 1,
}

/// Describes the image; copied out under the lock.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Header {
    pub state: State,
    /// Build snapshot's xmax, 64 bits.
    pub snapshot_xmax: u64,
    /// No transaction later than this one, 64 bits, had changed a row of the table when it was scanned.
    pub last_change: u64,
    /// token of chunk 0.
    pub root: u64,
    pub built_at: i64,
    pub build_microseconds: u64,
    /// The load that built it: the image has all entries logged for that load. 0: built under a SHARE lock.
    pub load: u64,
    /// Rows that its build found.
    pub rows: u64,
    pub key: Key,
}

#[repr(C)]
pub struct Slot {
    image_lock: ImageLock<Header>,
    pub map: Apart<Lock>,
    /// The role that owned the table when its image was last built: it has few workers at a time
    /// (builds/worker_limit.rs).
    pub owner: AtomicU32,
    /// When the image was last asked for, to about a second; a TimestampTz.
    used_at: AtomicI64,
    /// Whether the image may not make room for others (evict.rs).
    pub kept: AtomicBool,
    /// Process id of the builder; 0: none; SWEEPER while the slot is being freed.
    pub builder: AtomicU32,
    /// Changes whenever the image does: chunks mapped under another generation are not this image's.
    pub generation: AtomicU64,
    /// How often each reason sent a call to the reference query (by reason::Reason's number).
    pub reasons: [AtomicU64; 32],
    pub flushes: AtomicU64,
    /// How often the image's lock was taken to write: a copy made in pieces is one if it has not changed.
    writes: AtomicU64,
    pub settled: SettledUpTo,
    /// Not 0: an image is being loaded beside writers, and flushes write to its log (capture/log_record.rs). Each load
    /// has its own number.
    pub loading: AtomicU64,
    /// The load whose log ran out of memory.
    pub log_short: AtomicU64,
    /// token of the log's newest segment, 0 if it is empty. Guarded by image_lock, as the header is.
    pub log: AtomicU64,
    /// Bytes of all segments of the log.
    pub log_bytes: AtomicU64,
    /// Bytes of the chunks of the image.
    pub image_bytes: AtomicU64,
    /// Bytes of the chunks of an image that is being built, not yet published.
    pub build_bytes: AtomicU64,
    /// Process id of the worker that should end, if it only waits, because another build needs its place
    /// (builds/worker_limit.rs).
    pub place_wanted: AtomicU32,
    pub progress: Progress,
    /// The progress of a check (cft_verify), and its process; the first one's, if there are several.
    verification: Progress,
    verifier: AtomicU32,
    pub verified: Verified,
    /// Readers start no worker for the table before this time (a TimestampTz).
    pub retry_at: AtomicI64,
    /// Readers do not try again to find memory for the table's image before this time (a TimestampTz).
    pub short_until: AtomicI64,
    /// Microseconds that the last build took, finished or not.
    pub took: AtomicI64,
    /// Why the last build failed, in words; only the builder writes it.
    error: [AtomicU64; ERROR_BYTES / 8],
    /// How the last online build ended: its asker's number, and a BuildOutcome in the low 8 bits.
    pub outcome: AtomicU64,
}

/// Counts versions that no settling frees before the horizon moves. Otherwise, while a snapshot is held for hours,
/// every sixteenth commit would examine a thousand of them in vain. Written without a lock: an error here delays
/// settling until the horizon moves, and changes no answer.
#[derive(Default)]
#[repr(C)]
pub struct SettledUpTo {
    horizon: AtomicU64,
    /// Versions examined with that horizon, one after the other, without freeing any.
    versions: AtomicU64,
}

impl SettledUpTo {
    /// Whether all of an image's versions were examined with this horizon. Later versions need no look: their
    /// transactions were running at that time, or began later, so none of them is below it.
    pub fn are_all(&self, horizon: u64, versions: usize) -> bool {
        self.horizon.load(Relaxed) == horizon && self.versions.load(Relaxed) >= versions as u64
    }

    /// Notes how many versions were examined with this horizon, and how many freed.
    pub fn note(&self, horizon: u64, settled: Settled) {
        if settled.freed > 0 || self.horizon.swap(horizon, Relaxed) != horizon {
            self.versions.store(0, Relaxed);
        }
        if settled.freed == 0 {
            self.versions.fetch_add(settled.examined as u64, Relaxed);
        }
    }
}

/// The progress of a build or a check, shown by pg_stat_progress_cftrag. Only its process writes it.
#[derive(Default)]
#[repr(C)]
pub struct Progress {
    pub phase: AtomicU32,
    /// Process id of the session that the build waits for.
    pub waits_for: AtomicU32,
    /// The xid of the prepared transaction that it waits for.
    pub waits_for_xid: AtomicU32,
    pub done: AtomicU64,
    pub total: AtomicU64,
    pub started: AtomicI64,
}

impl Progress {
    fn begin(&self, phase: u32, rows: u64) {
        self.started.store(backend::now(), Relaxed);
        self.done.store(0, Relaxed);
        self.total.store(rows, Relaxed);
        self.wait_for_none();
        self.phase.store(phase, SeqCst);
    }

    /// Shows that the build waits for that transaction.
    pub fn wait_for(&self, transaction: &pg_sys::VirtualTransactionId) {
        self.waits_for.store(compat::process_of(transaction), Relaxed);
        self.waits_for_xid.store(compat::prepared_xid(transaction), Relaxed);
    }

    pub fn wait_for_none(&self) {
        self.waits_for.store(0, Relaxed);
        self.waits_for_xid.store(0, Relaxed);
    }
}

/// Phases of a build, in order, except that counting comes before either scan, and of a check; 0 is none.
pub const PHASES: [&str; 10] = [
    "",
    "waiting for writers",
    "waiting for lock",
    "scanning table",
    "applying changes",
    "scanning table under lock",
    "counting rows",
    "verifying image",
    "verifying rows of image",
    "verifying rows of table",
];

/// How `cftrag.verify_interval` found the image (api/verify_worker.rs).
#[derive(Default)]
#[repr(C)]
pub struct Verified {
    /// When, a TimestampTz; 0: never.
    pub at: AtomicI64,
    /// Not again before this time, after a check that could not end.
    pub not_before: AtomicI64,
    pub problems: AtomicU64,
    /// The number of the first broken invariant; 0: rows differ.
    pub invariant: AtomicU32,
    /// The rows of the first edge that differs.
    pub in_table: AtomicI64,
    pub in_image: AtomicI64,
}

impl Verified {
    /// Whether the last check was so many microseconds ago.
    pub fn is_due(&self, interval: i64) -> bool {
        let now = backend::now();
        now >= self.not_before.load(SeqCst) && now >= self.at.load(SeqCst).saturating_add(interval)
    }
}

/// Shows a check's progress as long as it lives.
pub struct Verifying<'s>(Option<&'s Slot>);

impl Verifying<'_> {
    pub fn begin(&self, phase: u32, rows: u64) {
        if let Some(slot) = self.0 {
            slot.verification.begin(phase, rows);
        }
    }

    pub fn row(&self) {
        if let Some(slot) = self.0 {
            slot.verification.done.fetch_add(1, Relaxed);
        }
    }
}

impl Drop for Verifying<'_> {
    fn drop(&mut self) {
        if let Some(slot) = self.0 {
            slot.verification.phase.store(0, SeqCst);
            slot.verifier.store(0, SeqCst);
        }
    }
}

/// About what an edge's row takes on a page: a build's total is an estimate.
pub const ROW_BYTES: u64 = 80;

/// No process has this id; it marks a slot that is being swept.
pub const SWEEPER: u32 = u32::MAX;

/// Microseconds between two notes that an image is asked for.
const TOUCH: i64 = 1_000_000;

/// Microseconds for which no reader tries again after memory for an image ran out.
const SHORT: i64 = 10_000_000;

/// No reader tries again for this many times the last build's duration, either, so that vain builds take at most a
/// twentieth of the time.
const SHORT_BUILDS: i64 = 20;

/// What is kept of the words.
const ERROR_BYTES: usize = 160;

impl Slot {
    /// Notes why a build failed; nothing if it did not.
    pub fn note_error(&self, words: &str) {
        let mut bytes = [0; ERROR_BYTES];
        let end = (0..=words.len().min(ERROR_BYTES)).rev().find(|end| words.is_char_boundary(*end)).unwrap_or(0);
        bytes[..end].copy_from_slice(&words.as_bytes()[..end]);
        for (word, bytes) in self.error.iter().zip(bytes.chunks_exact(8)) {
            word.store(bytes.try_into().map_or(0, u64::from_ne_bytes), Relaxed);
        }
    }

    /// Why the last build failed, if it did.
    pub fn error(&self) -> Option<String> {
        let bytes: Vec<u8> = self.error.iter().flat_map(|word| word.load(Relaxed).to_ne_bytes()).collect(); // bounded: ERROR_BYTES
        let words = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        // A build may have written it at the same time.
        (!words.is_empty()).then(|| String::from_utf8_lossy(words).into_owned())
    }

    pub fn locks(&self) -> impl Iterator<Item = &Lock> {
        std::iter::once(&*self.map).chain(self.image_lock.locks())
    }

    /// Counts a call that the image answered.
    pub fn count_call(&self, counters: Counters) {
        self.image_lock.count_call(counters);
    }

    /// Runs `f` with the header, which cannot change while `f` runs. Other readers may run at the same time.
    pub fn read<R>(&self, f: impl FnOnce(&Header) -> R) -> R {
        self.image_lock.read(f)
    }

    /// How often the lock was taken to write; read under the lock.
    pub fn writes(&self) -> u64 {
        self.writes.load(Relaxed)
    }

    /// Whether a writer waits for the image's readers.
    pub fn is_wanted(&self) -> bool {
        self.image_lock.is_wanted()
    }

    /// Waits until the waiting writers have written. The caller holds no lock.
    pub fn let_writers_go(&self) {
        self.image_lock.let_writers_go();
    }

    /// Waits a while for readers that sleep: for who writes in slices, and holds no lock between them.
    pub fn let_readers_go(&self) {
        self.image_lock.let_readers_go();
    }

    /// Runs `f` with the header under the exclusive lock.
    pub fn write<R>(&self, f: impl FnOnce(&mut Header) -> R) -> R {
        self.image_lock.write(|header| {
            self.writes.fetch_add(1, Relaxed);
            f(header)
        })
    }

    /// Does what [`Slot::write`] does without waiting; None if the image is busy.
    pub fn write_if_free<R>(&self, f: impl FnOnce(&mut Header) -> R) -> Option<R> {
        self.image_lock.write_if_free(|header| {
            self.writes.fetch_add(1, Relaxed);
            f(header)
        })
    }

    /// Memory ran out: no reader tries again for a while.
    pub fn put_off(&self) {
        let wait = SHORT.max(self.took.load(Relaxed).saturating_mul(SHORT_BUILDS));
        self.short_until.store(backend::now().saturating_add(wait), SeqCst);
    }

    /// Whether a reader may have an image built: the last build found memory, or failed long ago.
    pub fn may_find_memory(&self) -> bool {
        let now = backend::now();
        now >= self.short_until.load(SeqCst)
    }

    /// Bytes of the image, of one that is being built, and of its log.
    pub fn held(&self) -> u64 {
        [&self.image_bytes, &self.build_bytes, &self.log_bytes].iter().map(|bytes| bytes.load(SeqCst)).sum()
    }

    /// Notes that the image is asked for (or built).
    pub fn touch(&self) {
        let now = plain::GetCurrentStatementStartTimestamp();
        // Written now and then: all processes read this cache line.
        if now - self.used_at.load(Relaxed) > TOUCH {
            self.used_at.store(now, Relaxed);
        }
    }

    /// When the image was last asked for, or built; a TimestampTz.
    pub fn used_at(&self) -> i64 {
        self.used_at.load(Relaxed)
    }
}

impl Slot {
    /// Records that a build began, in that phase, on a table of that many bytes.
    pub fn begin(&self, phase: u32, bytes: u64) {
        self.progress.begin(phase, bytes / ROW_BYTES);
    }

    /// Shows the progress of a check by this process, unless another's is shown.
    pub fn verify(&self) -> Verifying<'_> {
        let holder = self.verifier.load(SeqCst);
        // A process that was killed has left its mark.
        let dead = holder != 0 && !backend::is_process(holder as i32);
        let free = if dead { holder } else { 0 };
        let is_shown = self.verifier.compare_exchange(free, std::process::id(), SeqCst, SeqCst).is_ok();
        Verifying(is_shown.then_some(self))
    }

    /// What is under way, each with its process.
    pub fn under_way(&self) -> [(&Progress, &AtomicU32); 2] {
        [(&self.progress, &self.builder), (&self.verification, &self.verifier)]
    }

    pub fn reset_counters(&self) {
        self.reasons.iter().for_each(|count| count.store(0, Relaxed));
        self.image_lock.reset_counters();
    }

    /// Whether the slot holds an image, usable or not.
    pub fn holds_image(&self) -> bool {
        self.read(|header| header.state == State::Ready)
    }

    /// Forgets all that the slot says of its table (Control::give_back).
    pub fn forget(&self) {
        self.note_error("");
        self.used_at.store(0, Relaxed);
        self.kept.store(false, Relaxed);
        self.flushes.store(0, Relaxed);
        self.settled.versions.store(0, Relaxed);
        self.retry_at.store(0, Relaxed);
        self.short_until.store(0, Relaxed);
        self.took.store(0, Relaxed);
        self.verified.at.store(0, Relaxed);
        self.verified.not_before.store(0, Relaxed);
        self.reset_counters();
    }

    /// A sum over the readers' counters.
    pub fn sum(&self, of: impl Fn(&Reads) -> &AtomicU64) -> u64 {
        self.image_lock.sum(of)
    }
}
