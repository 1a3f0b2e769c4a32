//! Loads an image from a table: under a SHARE lock (locked.rs), or beside writers (online.rs).
//!
//! Under a SHARE lock (a small table, by its first reader or by cft_build), every row that the build snapshot B sees is
//! settled and no change is in progress. Writers wait meanwhile, unless the build gives way to them, as that of a small
//! table does. Readers never wait, because the reference query answers them. The image is built where no other process
//! can see it and published at the end, before the lock is released. A failed build frees its memory, at the latest
//! when the backend exits (builder.rs). `scan_rows` reads a row: its edge, and its labels and other names, each as an
//! edge of a tree of its own.

#![expect(unsafe_code, reason = "locks, snapshots and a table scan")]

use crate::builds::builder;
use crate::builds::builder::{BuildOutcome, grow};
use crate::catalog::attach_line::{attach_hint, attach_line};
use crate::catalog::columns::Columns;
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::registration::Functions;
use crate::catalog::row_edges::RowTexts;
use crate::catalog::{column_value, registration};
use crate::error;
use crate::error::Fallible;
use crate::image::chunks;
use crate::image::control::Control;
use crate::image::slot::{COUNTING, Header, Key, Slot, State};
use crate::pg::backend;
use crate::pg::compat;
use crate::pg::compat::random_seed;
use crate::pg::lookup;
use crate::pg::snapshot;
use crate::pg::snapshot::{Snapshot, SnapshotView};
use cftrag_core::{Degrees, Edge, Error, Image, Language, Memory, Recent, chunk_bytes};
use pgrx::check_for_interrupts;
use pgrx::prelude::*;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::Instant;

/// Bytes for the counters of the smallest tables.
const LEAST_COUNTERS: usize = 4096;

/// Bytes read between two checks for waiting sessions and interrupts: about a millisecond's work.
const BYTES_BETWEEN_CHECKS: usize = 64 * 1024;

/// The longest value that a build under a SHARE lock reads while it gives way to writers: also about a millisecond's
/// work.
const READER_VALUE_MAX: usize = 1 << 20;

/// Notes in the slot how long a build took, without the time it waited, however the build ends.
struct Took<'s>(pub &'s Slot, pub Instant);

impl Drop for Took<'_> {
    fn drop(&mut self) {
        self.0.took.store(self.1.elapsed().as_micros() as i64, Relaxed);
    }
}

/// Builds the image of what the snapshot sees, and returns its header. Gives way to a session that waits for the
/// caller's `lock`.
#[expect(clippy::too_many_arguments, reason = "what both ways of building share")]
pub fn load(
    control: &Control,
    index: usize,
    table: &EdgesTable,
    functions: Functions,
    snapshot: Snapshot<'_>,
    started: Instant,
    memory: &mut Memory,
    lock: Option<pg_sys::LOCKMODE>,
) -> Fallible<Header> {
    let _took = Took(control.slot(index), Instant::now());
    let (key, columns, language) = key(table, Some(snapshot), functions)?;
    control.slot(index).kept.store(!registration::keeps(table.oid(), functions).is_empty(), Relaxed);
    free_useless(control, index, &key);
    let pace = || Pace { table, lock, read: 0 };
    let last_change = last_change(table, pace())?;
    let root = grow(control, memory)?;
    let image = Image::format(memory, random_seed()).map_err(|e| error::core(&e))?;
    image.set_language(language);
    image.set_address(0, root);
    // A first pass counts each entity's rows, so that its record is given its full size at once. The counts are only a
    // hint.
    let degrees = Degrees::new(image, counters_bytes(table));
    let slot = control.slot(index);
    let next_row = || slot.progress.done.fetch_add(1, Relaxed);
    let online = slot.loading.load(Relaxed) != 0;
    let rows = if online { snapshot } else { without_predicate_locks(snapshot) };
    let degrees = degrees.map(|mut degrees| {
        let phase = slot.progress.phase.swap(COUNTING, SeqCst);
        let counted = scan(table, &columns, rows, lock, |edge| {
            degrees.count(edge);
            next_row();
            Ok(())
        });
        slot.progress.total.store(slot.progress.done.swap(0, Relaxed), Relaxed);
        slot.progress.phase.store(phase, SeqCst);
        counted.map(|()| degrees)
    });
    let degrees = degrees.transpose()?;
    let mut recent = Recent::default();
    scan(table, &columns, rows, lock, |edge| {
        next_row();
        insert(control, memory, edge, &mut recent, degrees.as_ref())
    })?;
    // SAFETY: an MVCC snapshot that is registered longer than that.
    let seen = unsafe { SnapshotView::new(Snapshot::raw(Some(snapshot))) };
    let running: Vec<u64> = seen.running().collect();
    while !Image::open(memory).map_err(|e| error::core(&e))?.set_running(&running) {
        grow(control, memory)?;
    }
    Ok(Header {
        state: State::Ready,
        snapshot_xmax: seen.xmax(),
        last_change,
        root,
        built_at: backend::now(),
        build_microseconds: started.elapsed().as_micros() as u64,
        load: 0,
        rows: Image::open(memory).map_err(|e| error::core(&e))?.stats().edge_rows,
        key,
    })
}

/// The snapshot that a build under a SHARE lock scans with. In a SERIALIZABLE transaction, an MVCC scan would take
/// predicate locks and note conflicts, which make writes fail. PostgreSQL exempts scans with other kinds of snapshots,
/// CREATE INDEX's for example. SnapshotSelf sees the same rows: under the lock, and without an xid of our own, the
/// build's snapshot sees every committed row.
fn without_predicate_locks(snapshot: Snapshot<'_>) -> Snapshot<'_> {
    if backend::isolation() == pg_sys::XACT_SERIALIZABLE { Snapshot::of_self() } else { snapshot }
}

/// Frees the old image before the new one needs memory, if no snapshot can use it: it lost a change, or the table was
/// rewritten since.
fn free_useless(control: &Control, index: usize, key: &Key) {
    let slot = control.slot(index);
    let useless =
        control.entry(index).spoiled.load(SeqCst) != 0 || slot.read(|header| header.key.locator != key.locator);
    if useless {
        chunks::drop_image(control, index);
    }
}

/// The image's key and its language, from the registration, and the columns as the build snapshot sees them.
pub fn key(
    table: &EdgesTable,
    snapshot: Option<Snapshot<'_>>,
    functions: Functions,
) -> Fallible<(Key, Columns, Language)> {
    if let Some(why) = table.unsuitable() {
        return Err(error::wrong_kind(&table.name(), why));
    }
    let Some(registration) = registration::read(table.oid(), snapshot, functions) else {
        return Err(error::not_attached(&crate::catalog::name::display_name(table.oid()), attach_hint(table)));
    };
    if !registration.sound {
        return Err(error::triggers_missing(
            &crate::catalog::name::display_name(table.oid()),
            &attach_line(table.oid(), &registration.names),
        ));
    }
    let columns = table.require_columns(&registration.names)?;
    crate::catalog::column_rules::check_columns(table, &registration.names)?;
    let locator = table.locator();
    let key = Key {
        locator,
        database_xmin: lookup::database_xmin(),
        row: registration.row,
        truncate: registration.truncate,
        columns,
    };
    Ok((key, columns, registration.language()))
}

/// Bytes for counting the rows of a table's entities: a sixteenth of the table's size, within maintenance_work_mem.
fn counters_bytes(table: &EdgesTable) -> usize {
    let most = backend::maintenance_work_mem().max(0) as usize * 1024;
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
            Err(Error::Full { needed, .. }) => {
                // All at once: each try reads a long name again.
                let mut free = Image::open(memory).map_err(|e| error::core(&e))?.free_bytes();
                loop {
                    check_for_interrupts!();
                    free += chunk_bytes(memory.mapped());
                    grow(control, memory)?;
                    if free >= needed {
                        break;
                    }
                }
            }
            Err(other) => return Err(error::core(&other)),
        }
    }
}

/// The latest transaction that wrote a row version which is in the table, or deleted one, 64 bits: a snapshot that sees
/// all up to it sees the same rows as the build's. (Versions that such a snapshot sees are there as long as the
/// snapshot is.)
fn last_change(table: &EdgesTable, mut pace: Pace<'_>) -> Fallible<u64> {
    if compat::snapshots_expire() {
        return Ok(u64::MAX);
    }
    let mut last = 0;
    let mut result = Ok(());
    // SAFETY: a heap scan of an open table that returns every version, with a pin on its page.
    unsafe {
        let (any, none) = (&raw mut pg_sys::SnapshotAnyData, std::ptr::null_mut());
        let options = pg_sys::ScanOptions::SO_TYPE_SEQSCAN | pg_sys::ScanOptions::SO_ALLOW_STRAT;
        let scan = pg_sys::heap_beginscan(table.raw(), any, 0, none, std::ptr::null_mut(), options);
        while result.is_ok() {
            let tuple = pg_sys::heap_getnext(scan, pg_sys::ScanDirection::ForwardScanDirection);
            if tuple.is_null() {
                break;
            }
            result = pace.before((*tuple).t_len as usize);
            let xids = compat::writers((*tuple).t_data).into_iter().flatten();
            last = xids.map(snapshot::full_xid).fold(last, u64::max);
        }
        pg_sys::heap_endscan(scan);
    }
    result.map(|()| last)
}

/// Calls `each` for every edge and label of the table that the snapshot sees. The scan and the output functions of
/// these types run no user's code. If that changed, the code would run with the rights of the table's owner
/// (catalog/trust.rs), not with the caller's or a worker's. If `lock` is given, fails when another session waits for
/// it.
pub fn scan(
    table: &EdgesTable,
    columns: &Columns,
    snapshot: Snapshot<'_>,
    lock: Option<pg_sys::LOCKMODE>,
    each: impl FnMut(&Edge) -> Fallible<()>,
) -> Fallible<()> {
    let pace = Pace { table, lock, read: 0 };
    crate::catalog::trust::as_owner(table, 0, || scan_rows(table, columns, snapshot, pace, each))
}

/// Checks for waiting sessions and interrupts while a table is read: once per so many bytes, not rows, since a few rows
/// may be long.
struct Pace<'t> {
    table: &'t EdgesTable,
    lock: Option<pg_sys::LOCKMODE>,
    /// Bytes read since the last check.
    read: usize,
}

impl Pace<'_> {
    /// Called before reading so many bytes; an error if the build should stop instead.
    #[inline]
    fn before(&mut self, bytes: usize) -> Fallible<()> {
        self.read += bytes;
        if self.read < BYTES_BETWEEN_CHECKS { Ok(()) } else { self.check(bytes) }
    }

    #[cold]
    fn check(&mut self, bytes: usize) -> Fallible<()> {
        self.read = 0;
        check_for_interrupts!();
        builder::check_still_wanted(self.table.oid())?;
        let Some(lock) = self.lock else { return Ok(()) };
        if lock == pg_sys::ShareLock as pg_sys::LOCKMODE && bytes > READER_VALUE_MAX {
            builder::note_outcome(BuildOutcome::Yielded);
            return Err(error::load_yielded(&self.table.name()));
        }
        builder::give_way(self.table, lock)
    }
}

fn scan_rows(
    table: &EdgesTable,
    columns: &Columns,
    snapshot: Snapshot<'_>,
    mut pace: Pace<'_>,
    mut each: impl FnMut(&Edge) -> Fallible<()>,
) -> Fallible<()> {
    let [tree, parent, child, label, others @ .., preferred] = columns.all();
    let wanted = [tree, parent, child, label].into_iter().chain(others);
    let (mut names, mut label) = ([const { Vec::new() }; Columns::ALL - 1], Vec::new());
    let mut result = Ok(());
    // SAFETY: a heap scan under a registered snapshot; attribute numbers are the relation's, values are non-null.
    unsafe {
        let scan = pg_sys::heap_beginscan(
            table.raw(),
            Snapshot::raw(Some(snapshot)),
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
            result = pace.before((*tuple).t_len as usize);
            let mut present = [false; Columns::ALL - 1];
            for ((column, name), present) in wanted.clone().zip(&mut names).zip(&mut present) {
                if column.number != 0 {
                    let mut null = false;
                    let datum = pg_sys::htup::heap_getattr(tuple, column.number, table.desc().raw(), &mut null);
                    let elsewhere =
                        if null { 0 } else { column_value::bytes_elsewhere(pg_sys::Oid::from(column.type_oid), datum) };
                    if elsewhere > 0 && result.is_ok() {
                        result = pace.before(elsewhere);
                    }
                    if !null && result.is_ok() {
                        name.clear();
                        *present = true;
                        if !column_value::write(pg_sys::Oid::from(column.type_oid), datum, name) {
                            result = Err(error::out_of_memory(crate::guc::MEMORY_LIMIT.get()));
                        }
                    }
                }
            }
            if result.is_ok() && present[2] {
                let mut null = false;
                let is_preferred = preferred.number == 0
                    || pg_sys::htup::heap_getattr(tuple, preferred.number, table.desc().raw(), &mut null).value()
                        & 0xff
                        != 0
                        && !null;
                let text = |n: usize| present[n].then_some(names[n].as_slice());
                let texts = RowTexts { tree: text(0), parent: text(1), child: &names[2], is_preferred };
                result = texts.each_edge(columns.parent.number != 0, (3..names.len()).map(text), &mut label, &mut each);
            }
        }
        pg_sys::heap_endscan(scan);
    }
    result
}
