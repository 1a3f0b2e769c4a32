//! May the image answer this call? The conditions of design.md section 2, each with its reason; all must hold, on every
//! call.
//!
//! Otherwise the reference query answers, with the same rows. Cheap conditions come first. AccessShareLock on the table
//! is held from before the first check until the transaction ends.

use crate::capture::transaction;
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::columns::Columns;
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::registration::{Functions, Registration};
use crate::catalog::{privileges, registration, registration_cache};
use crate::error::Damage;
use crate::guc;
use crate::image::control::Control;
use crate::image::reason::Reason;
use crate::image::slot::{Header, Key};
use crate::image::{chunks, control};
use crate::pg::compat::plain;
use crate::pg::invalidation::Cached;
use crate::pg::snapshot::SnapshotView;
use crate::pg::{backend, compat, invalidation, lock_owner};
use cftrag_core::Image;
use pgrx::{check_for_interrupts, pg_sys};
use std::sync::atomic::Ordering::SeqCst;

/// The right to read one image under one snapshot, given when every condition holds. Each slice of a walk checks the
/// generation again.
pub struct Ticket {
    pub control: &'static Control,
    pub index: usize,
    generation: u64,
    seen: SnapshotView,
}

impl Ticket {
    /// Reads the ticket's image. NoImage if another image has replaced it, which may be too new for the snapshot.
    pub fn read<R>(&self, look: impl FnOnce(Image<'_>, &SnapshotView) -> R) -> Result<R, Reason> {
        let slot = self.control.slot(self.index);
        chunks::read(self.control, self.index, |_, image| {
            (slot.generation.load(SeqCst) == self.generation).then(|| look(image, &self.seen))
        })?
        .ok_or(Reason::NoImage)
    }

    /// Notes that the image is asked for, and by somebody who wants its answer.
    pub fn touch(&self) {
        self.control.slot(self.index).touch();
    }

    /// Called between reads: checks for interrupts, and lets a waiting writer go first.
    pub fn pause(&self) {
        check_for_interrupts!();
        self.control.slot(self.index).let_writers_go();
    }

    /// What the snapshot sees.
    pub fn seen(&self) -> &SnapshotView {
        &self.seen
    }

    /// Learns the fates of xids that a read met; not called under a lock.
    pub fn learn(&mut self, xids: &[u64]) -> Result<(), Reason> {
        self.seen.learn(xids).ok_or_else(|| {
            self.control.entry(self.index).spoil(Damage::XidTooOld);
            Reason::XidTooOld
        })
    }
}

/// The key that an image of the table would have now.
pub fn key(table: &EdgesTable, registration: &Registration, columns: &Columns) -> Key {
    Key {
        locator: table.locator(),
        database_xmin: registration_cache::database_xmin(),
        row: registration.row,
        truncate: registration.truncate,
        columns: *columns,
    }
}

/// Whether the image has that key, and is not newer than the snapshot.
pub fn matches(header: &Header, image: Image<'_>, key: &Key, seen: &SnapshotView) -> Result<(), Reason> {
    same(header, key)?;
    new_enough(header, image, seen)
}

/// Conditions that do not depend on the table's content.
fn backend(table: &EdgesTable) -> Result<&'static Control, Reason> {
    if !guc::ENABLE.get() {
        return Err(Reason::Disabled);
    }
    if plain::RecoveryInProgress() {
        return Err(Reason::Recovery);
    }
    // READ ONLY DEFERRABLE is no exception: the flags say what holds now, not when the snapshot was taken.
    if backend::isolation() == pg_sys::XACT_SERIALIZABLE {
        return Err(Reason::Serializable);
    }
    let written = plain::GetTopTransactionIdIfAny() != pg_sys::InvalidTransactionId;
    let pending = || plain::IsInParallelMode() && transaction::pending(table.oid());
    if written && (backend::is_parallel_worker() || pending()) {
        return Err(Reason::Parallel);
    }
    if table.unsuitable().is_some() {
        return Err(Reason::NotPlainTable);
    }
    control::attach().ok_or(Reason::NoMemory)
}

/// Whether the caller may read the columns, in all rows.
pub fn readable(table: &EdgesTable, columns: &Columns) -> Result<(), Reason> {
    let (oid, role) = (table.oid(), backend::user());
    let ask = || {
        let numbers = columns.all().into_iter().map(|column| column.number).filter(|number| *number != 0).map(Some);
        if !compat::schema_usage(table.schema(), role) || !privileges::may_select(oid, numbers) {
            return Err(Some(Reason::Privilege));
        }
        // RLS_NONE: the table has no policies. Otherwise settings also decide whether they apply, so we do not cache
        // that.
        match privileges::policies(oid) {
            rls if rls == pg_sys::CheckEnableRlsResult::RLS_ENABLED as i32 => Err(Some(Reason::RowSecurity)),
            rls if rls == pg_sys::CheckEnableRlsResult::RLS_NONE as i32 => Ok(()),
            _ => Err(None),
        }
    };
    match READABLE.with(|last| last.get((oid, role, *columns), ask)) {
        Ok(()) | Err(None) => Ok(()),
        Err(Some(reason)) => Err(reason),
    }
}

thread_local! {
    /// The last table whose columns a role may read. PostgreSQL's own check depends on the same catalogs, and learns of
    /// their changes through the same invalidations.
    static READABLE: Cached<(pg_sys::Oid, pg_sys::Oid, Columns), ()> = const { Cached::new(1, invalidation::catalogs) };
}

/// Conditions that need the image, checked under its lock.
fn check<R>(
    control: &Control,
    table: pg_sys::Oid,
    key: &Key,
    seen: &SnapshotView,
    first: &mut impl FnMut(Image<'_>, &SnapshotView) -> R,
) -> Result<(usize, u64, R), Reason> {
    let Some((index, slot)) = control.find(table) else { return Err(Reason::NoImage) };
    let generation = slot.generation.load(SeqCst);
    chunks::read(control, index, |header, image| {
        if !control.entry(index).is_of(table) || slot.generation.load(SeqCst) != generation {
            return Err(Reason::NoImage);
        }
        matches(header, image, key, seen)?;
        Ok((index, generation, first(image, seen)))
    })?
}

pub fn same(header: &Header, key: &Key) -> Result<(), Reason> {
    let old = &header.key;
    if old.locator != key.locator || old.database_xmin != key.database_xmin {
        return Err(Reason::Rewritten);
    }
    if old.row != key.row || old.truncate != key.truncate {
        return Err(Reason::Triggers);
    }
    if old.columns != key.columns {
        return Err(Reason::Columns);
    }
    Ok(())
}

/// The snapshot must be at least as new as the build's, or see all that was changed in the table before it: rows
/// deleted before the build are not in the image.
fn new_enough(header: &Header, image: Image<'_>, seen: &SnapshotView) -> Result<(), Reason> {
    if seen.xmin() >= header.snapshot_xmax || seen.xmin() > header.last_change {
        return Ok(());
    }
    if seen.xmax() < header.snapshot_xmax {
        return Err(Reason::OldSnapshot);
    }
    match seen.running().filter(|xid| *xid < header.snapshot_xmax).all(|xid| image.ran(xid)) {
        true => Ok(()),
        false => Err(Reason::OldSnapshot),
    }
}

/// The conditions checked before the image is read; checking them changes nothing.
pub struct ImageRequest {
    control: &'static Control,
    table: pg_sys::Oid,
    key: Key,
    seen: SnapshotView,
}

/// Checks every condition that does not depend on the image, by cost; rights come first, so that a caller without them
/// gets that error.
pub fn before(of: &AttachedTable) -> Result<ImageRequest, Reason> {
    readable(&of.table, &of.columns)?;
    for_all_readers(of)
}

/// Checks what [`before`] does, but the caller's rights.
fn for_all_readers(of: &AttachedTable) -> Result<ImageRequest, Reason> {
    let AttachedTable { table, registration, columns, .. } = of;
    let control = backend(table)?;
    if table.is_rewritten_here() {
        return Err(Reason::CreatedHere);
    }
    if table.is_being_written() {
        return Err(Reason::PendingTrigger);
    }
    let seen = SnapshotView::active().ok_or(Reason::OldSnapshot)?;
    if !registration.sound {
        return Err(Reason::Triggers);
    }
    Ok(ImageRequest { control, table: table.oid(), key: key(table, registration, columns), seen })
}

/// Why the image would not answer a call of this session now that may read all of the table: the conditions of a call,
/// except rights. None if a session that changes the table's definition has it locked. Waits for no lock, keeps none,
/// and gets no image built.
pub fn would_serve(table: pg_sys::Oid, functions: Functions) -> Option<Result<(), Reason>> {
    let open = EdgesTable::try_open(table)?;
    let looked = AttachedTable::of_table(open, functions).map_err(|_| match registration::now(table, functions) {
        Some(_) => Reason::Columns,
        None => Reason::Triggers,
    });
    let answer = looked.and_then(|of| {
        let question = for_all_readers(&of)?;
        let control = question.control();
        question.of_image(&mut |_, _| ()).map(|_| ()).map_err(|(reason, _)| for_memory(control, table, reason))
    });
    // The lock that try_open() took; the relation is closed.
    lock_owner::let_go(table);
    Some(answer)
}

/// The reason, or that there is no image for want of memory or of a place.
pub fn for_memory(control: &Control, table: pg_sys::Oid, reason: Reason) -> Reason {
    let is_short = || !may_find_memory(control, table) || control.is_full() && control.find_entry(table).is_none();
    if reason == Reason::NoImage && is_short() { Reason::NoMemory } else { reason }
}

/// Whether a reader would have an image built: the last build found memory, or failed long ago.
pub fn may_find_memory(control: &Control, table: pg_sys::Oid) -> bool {
    control.find(table).is_none_or(|(_, slot)| slot.may_find_memory())
}

impl ImageRequest {
    /// Checks the conditions that need the image and calls `first`, without releasing the image's lock in between.
    pub fn of_image<R>(
        self,
        first: &mut impl FnMut(Image<'_>, &SnapshotView) -> R,
    ) -> Result<(Ticket, R), (Reason, Self)> {
        match check(self.control, self.table, &self.key, &self.seen, first) {
            Ok((index, generation, result)) => {
                Ok((Ticket { control: self.control, index, generation, seen: self.seen }, result))
            }
            Err(reason) => Err((reason, self)),
        }
    }

    pub fn control(&self) -> &'static Control {
        self.control
    }
}
