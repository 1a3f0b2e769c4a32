//! May the image answer this call? The conditions of design.md section 2, each with its reason; all must hold, on every call.
//!
//! Otherwise the reference query answers, with the same rows. Cheap conditions come first. AccessShareLock on the table is held
//! from before the first check to the end of the transaction.

#![expect(unsafe_code, reason = "reads backend state")]

use crate::area::{self, RUNNING_WORDS, Unusable};
use crate::build::InPlace;
use crate::compat::{self, plain};
use crate::edges::{Columns, Edges};
use crate::registered;
use crate::registration::{Functions, Registration};
use crate::share;
use crate::shmem::{self, Control};
use crate::slot::{Header, Key, Spoil};
use crate::visibility::Seen;
use crate::{build, changes, delta, guc, running, worker};
use cftrag_core::Image;
use pgrx::pg_sys;
use std::cell::Cell;
use std::sync::atomic::Ordering::SeqCst;

/// Why the image cannot answer. The names are columns ref_<name> of pg_stat_cftrag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum Reason {
    /// cftrag.enable is off.
    Disabled,
    /// No shared memory: not preloaded (15, 16), another version of the library uses it, every slot is taken, or it cannot be mapped.
    NoMemory,
    /// Not built yet.
    NoImage,
    /// It lost something: memory, a torn write, a change that could not be noted.
    Incomplete,
    /// The snapshot is older than the build's, or of another kind.
    OldSnapshot,
    /// A statement that changes the table runs: the heap shows rows that our trigger has not seen.
    PendingTrigger,
    /// SERIALIZABLE: another backend's delta cannot raise the conflict that a heap scan would.
    Serializable,
    /// This transaction created the table or gave it a new relfilenode: its own rewrites fire no triggers.
    OwnDdl,
    /// The table has another relfilenode than at the build.
    Rewritten,
    /// The triggers are not those of the build, or not ENABLE ALWAYS: changes may have been lost.
    Triggers,
    /// Columns do not resolve as they did at the build.
    Columns,
    /// Not a plain heap table without children.
    Kind,
    /// Row-level security applies to the caller: the image knows no policies.
    RowSecurity,
    /// The caller may not read the columns: the table's own error is raised.
    Privilege,
    /// A parallel worker of a transaction that has written, or its leader with changes of its own.
    Parallel,
    /// A standby: triggers do not run here.
    Recovery,
    /// A version's transaction is older than the commit log.
    Ancient,
    /// cft_entities only: the database's encoding is not UTF8.
    Encoding,
}

pub const REASONS: [&str; 18] = [
    "disabled",
    "no_memory",
    "no_image",
    "incomplete",
    "old_snapshot",
    "pending_trigger",
    "serializable",
    "own_ddl",
    "rewritten",
    "triggers",
    "columns",
    "kind",
    "row_security",
    "privilege",
    "parallel",
    "recovery",
    "ancient",
    "encoding",
];

impl From<Unusable> for Reason {
    fn from(unusable: Unusable) -> Self {
        match unusable {
            Unusable::Empty => Reason::NoImage,
            Unusable::Incomplete => Reason::Incomplete,
            Unusable::Unmapped => Reason::NoMemory,
        }
    }
}

/// The right to read one image under one snapshot: every condition holds. Checked again (generation) at each slice of a walk.
pub struct Ticket {
    pub control: &'static Control,
    pub index: usize,
    pub generation: u64,
    pub seen: Seen,
}

impl Ticket {
    /// Reads the image that the ticket is for. One that took its place may be too new for the snapshot: NoImage.
    pub fn read<R>(&self, look: impl FnOnce(Image<'_>, &Seen) -> R) -> Result<R, Reason> {
        let slot = &self.control.slots[self.index];
        area::read(self.control, self.index, |_, image| {
            (slot.generation.load(SeqCst) == self.generation).then(|| look(image, &self.seen))
        })?
        .ok_or(Reason::NoImage)
    }

    /// Learns what became of xids that a reading met; not under a lock.
    pub fn learn(&mut self, xids: &[u64]) -> Result<(), Reason> {
        self.seen.learn(xids).ok_or_else(|| {
            self.control.slots[self.index].spoil(Spoil::Ancient);
            Reason::Ancient
        })
    }
}

/// Checks every condition. Flushes this transaction's own changes of the table; builds a small table's image if there is none.
pub fn route(
    table: &Edges,
    registration: &Registration,
    columns: &Columns,
    functions: Functions,
) -> Result<Ticket, Reason> {
    route_and(table, registration, columns, functions, |_, _| ()).map(|(ticket, ())| ticket)
}

/// The same, and what `first` makes of the image under the lock that it was checked under.
pub fn route_and<R>(
    table: &Edges,
    registration: &Registration,
    columns: &Columns,
    functions: Functions,
    mut first: impl FnMut(Image<'_>, &Seen) -> R,
) -> Result<(Ticket, R), Reason> {
    // SAFETY: an open relation. First, so that whoever may not read is told so whatever else is the case.
    unsafe { readable(table, columns)? };
    let control = backend(table)?;
    // SAFETY: an open relation; a snapshot is active in every SQL function.
    let snapshot = unsafe {
        if compat::rewritten_here(table.rel()) {
            return Err(Reason::OwnDdl);
        }
        if being_written(table) {
            return Err(Reason::PendingTrigger);
        }
        plain::GetActiveSnapshot()
    };
    // SAFETY: GetActiveSnapshot gives a valid snapshot, active while the function runs.
    let seen = unsafe { seen(snapshot)? };
    if !registration.sound {
        return Err(Reason::Triggers);
    }
    if delta::pending(table.oid()) {
        delta::flush(table.oid(), false);
        if delta::pending(table.oid()) {
            // A delete whose insert our trigger has not seen yet.
            return Err(Reason::PendingTrigger);
        }
    }
    let key = key(table, registration, columns);
    match check(control, table, &key, &seen, &mut first) {
        Ok((index, generation, result)) => Ok((Ticket { control, index, generation, seen }, result)),
        Err(reason) if heals(control, table, reason) => {
            let built = build::in_place(control, table, functions);
            if built != InPlace::Built {
                worker::request(control, table, functions, built == InPlace::GaveWay);
                return Err(reason);
            }
            let (index, generation, result) = check(control, table, &key, &seen, &mut first)?;
            Ok((Ticket { control, index, generation, seen }, result))
        }
        Err(reason) => Err(reason),
    }
}

/// What an image answers by: a snapshot of a primary.
///
/// # Safety
/// A valid snapshot, active while it is used.
pub unsafe fn seen(snapshot: pg_sys::Snapshot) -> Result<Seen, Reason> {
    // SAFETY: the caller's promise.
    unsafe {
        if (*snapshot).snapshot_type != pg_sys::SnapshotType::SNAPSHOT_MVCC || (*snapshot).takenDuringRecovery {
            return Err(Reason::OldSnapshot);
        }
        Ok(Seen::new(snapshot))
    }
}

/// The key that an image of the table has now.
pub fn key(table: &Edges, registration: &Registration, columns: &Columns) -> Key {
    Key {
        // SAFETY: an open relation.
        locator: unsafe { compat::locator(table.rel()) },
        database_xmin: registered::database_xmin(),
        row: registration.row,
        truncate: registration.truncate,
        columns: *columns,
    }
}

/// Whether the image is the table's of that key, and not newer than the snapshot.
pub fn matches(header: &Header, image: Image<'_>, key: &Key, seen: &Seen) -> Result<(), Reason> {
    same(header, key)?;
    new_enough(header, image, seen)
}

/// Whether a statement of this session that has not ended may be writing to the table, so that the page may show rows that our trigger has
/// not seen.
///
/// Whoever writes has an xid and holds RowExclusiveLock until the (sub)transaction ends. Until the statement ends it has the table open
/// (running.rs); or, where it was run on behalf of a foreign key, its events wait for the end of the statement around it. The queue of
/// events can be long: it is read last.
///
/// # Safety
/// An open table.
unsafe fn being_written(table: &Edges) -> bool {
    // SAFETY: the caller's promise; reads backend state and the lock table.
    unsafe {
        plain::GetTopTransactionIdIfAny() != pg_sys::InvalidTransactionId
            && pg_sys::CheckRelationLockedByMe(table.rel(), pg_sys::RowExclusiveLock as pg_sys::LOCKMODE, true)
            && (running::may_be_written(table.rel()) || pg_sys::AfterTriggerPendingOnRel(table.oid()))
    }
}

/// What does not depend on the table's content.
fn backend(table: &Edges) -> Result<&'static Control, Reason> {
    if !guc::ENABLE.get() {
        return Err(Reason::Disabled);
    }
    // SAFETY: backend variables.
    unsafe {
        if plain::RecoveryInProgress() {
            return Err(Reason::Recovery);
        }
        // READ ONLY DEFERRABLE is no exception: the flags say so now, not whether they did when the snapshot was taken.
        if pg_sys::XactIsoLevel as u32 == pg_sys::XACT_SERIALIZABLE {
            return Err(Reason::Serializable);
        }
        let written = plain::GetTopTransactionIdIfAny() != pg_sys::InvalidTransactionId;
        if written && (pg_sys::ParallelWorkerNumber >= 0 || (plain::IsInParallelMode() && delta::pending(table.oid())))
        {
            return Err(Reason::Parallel);
        }
    }
    if table.unsuitable().is_some() {
        return Err(Reason::Kind);
    }
    shmem::attach().ok_or(Reason::NoMemory)
}

/// Whether the caller reads the columns, all rows of them.
///
/// # Safety
/// None beyond an open table; reads catalogs.
pub unsafe fn readable(table: &Edges, columns: &Columns) -> Result<(), Reason> {
    // SAFETY: lookups by OID.
    unsafe {
        let (oid, role) = (table.oid(), plain::GetUserId());
        let here = (changes::catalogs(), oid, role, *columns);
        if READABLE.get() == Some(here) {
            return Ok(());
        }
        let select = pg_sys::ACL_SELECT as pg_sys::AclMode;
        let ok = pg_sys::AclResult::ACLCHECK_OK;
        let wanted = [columns.tree, columns.parent, columns.child];
        let each = || {
            wanted
                .iter()
                .filter(|c| c.number != 0)
                .all(|c| pg_sys::pg_attribute_aclcheck(oid, c.number as pg_sys::AttrNumber, role, select) == ok)
        };
        if !compat::schema_usage(table.schema(), role)
            || !(pg_sys::pg_class_aclcheck(oid, role, select) == ok || each())
        {
            return Err(Reason::Privilege);
        }
        // RLS_NONE: the table has no policies. Otherwise it depends on settings, too, whether they apply.
        match pg_sys::check_enable_rls(oid, pg_sys::InvalidOid, true) {
            rls if rls == pg_sys::CheckEnableRlsResult::RLS_ENABLED as i32 => return Err(Reason::RowSecurity),
            rls if rls == pg_sys::CheckEnableRlsResult::RLS_NONE as i32 => READABLE.set(Some(here)),
            _ => {}
        }
        Ok(())
    }
}

thread_local! {
    /// Whom [`readable`] found to read what, as of [`changes::catalogs`]: PostgreSQL's own answer rests on the same catalogs, and hears
    /// of their changes by the same invalidations.
    static READABLE: Cell<Option<(u64, pg_sys::Oid, pg_sys::Oid, Columns)>> = const { Cell::new(None) };
}

/// What can be seen only beside the image.
fn check<R>(
    control: &Control,
    table: &Edges,
    key: &Key,
    seen: &Seen,
    first: &mut impl FnMut(Image<'_>, &Seen) -> R,
) -> Result<(usize, u64, R), Reason> {
    let Some((index, slot)) = control.find_or_take(table.oid()) else { return Err(Reason::NoMemory) };
    let generation = slot.generation.load(SeqCst);
    area::read(control, index, |header, image| {
        if !slot.is_of(table.oid()) || slot.generation.load(SeqCst) != generation {
            return Err(Reason::NoImage);
        }
        matches(header, image, key, seen)?;
        Ok((index, generation, first(image, seen)))
    })?
}

fn same(header: &Header, key: &Key) -> Result<(), Reason> {
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

/// The snapshot is at least as new as the build's: rows deleted before that are not in the image.
fn new_enough(header: &Header, image: Image<'_>, seen: &Seen) -> Result<(), Reason> {
    if seen.xmin() >= header.snapshot_xmax {
        return Ok(());
    }
    if seen.xmax() < header.snapshot_xmax || header.snapshot_running == u32::MAX {
        return Err(Reason::OldSnapshot);
    }
    let ran_at_build =
        |xid: u64| (0..header.snapshot_running as usize).any(|i| image.owner_get(RUNNING_WORDS + i) == xid);
    match seen.running().filter(|xid| *xid < header.snapshot_xmax).all(ran_at_build) {
        true => Ok(()),
        false => Err(Reason::OldSnapshot),
    }
}

/// Whether a build by this reader could help. Where memory ran out it is looked for again after a while; cft_build looks at once.
fn heals(control: &Control, table: &Edges, reason: Reason) -> bool {
    let stale = [Reason::NoImage, Reason::Rewritten, Reason::Triggers, Reason::Columns, Reason::Incomplete];
    stale.contains(&reason)
        && control.find(table.oid()).is_none_or(|(_, slot)| slot.may_find_memory(share::free(control)))
}
