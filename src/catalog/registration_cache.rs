//! Registrations cached across transactions: searching pg_trigger at each statement costs more than the walk.
//!
//! CachedRegistration has the places of the table's two rows in pg_trigger. Under each snapshot we look at both places
//! again: each must still hold that very row (OID, raw xmin), and it must be visible. Whatever harms an image deletes
//! or replaces one of the rows: disabling a trigger, dropping it, recreating it. If another trigger of ours is added,
//! the relation cache's invalidation empties this cache. A transaction is visible a moment before its invalidations
//! arrive; until then the image remains right, because it takes changes from its own two triggers only
//! (capture/flush.rs, builds/online.rs).

#![expect(unsafe_code, reason = "reads system catalogs")]

use crate::catalog::columns::{ColumnNames, Columns};
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::pg_trigger::{Place, TriggerKey};
use crate::catalog::privileges::is_readable;
use crate::catalog::registration::{Functions, Registration, read, tables_with};
use crate::catalog::{pg_trigger, trust};
use crate::error::Fallible;
use crate::ffi::pg_guard_ffi_boundary;
use crate::pg::compat;
use crate::pg::compat::plain;
use crate::pg::invalidation::Cached;
use crate::pg::relation::{Opened, Relation};
use crate::pg::snapshot;
use crate::pg::snapshot::Snapshot;
use crate::pg::{backend, invalidation, lookup};
use pgrx::pg_sys;
use std::convert::Infallible;
use std::ffi::CString;
use std::rc::Rc;

const MAIN: pg_sys::ForkNumber::Type = pg_sys::ForkNumber::MAIN_FORKNUM;

/// Registrations that a session caches.
const ROOM: usize = 16;

#[derive(Clone)]
struct CachedRegistration {
    registration: Rc<Registration>,
    pub places: [Place; 2],
    /// The buffers that last held the pages of the places; 0: not known.
    buffers: [pg_sys::Buffer; 2],
}

/// A registration compared by address: equal only to itself.
struct This(Rc<Registration>);

impl PartialEq for This {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

thread_local! {
    /// Registrations by table and capture function.
    static KEPT: Cached<(pg_sys::Oid, pg_sys::Oid), CachedRegistration> = const { Cached::new(ROOM, invalidation::relations) };
    /// The registered tables, by trigger function.
    static TABLES: Cached<pg_sys::Oid, Rc<[pg_sys::Oid]>> = const { Cached::new(2, invalidation::relations) };
    static COLUMNS: Cached<(pg_sys::Oid, This), Columns> = const { Cached::new(1, invalidation::relations) };
    static DATABASE: Cached<(), u32> = const { Cached::new(1, invalidation::relations) };
    /// Registrations as a snapshot sees them: pg_trigger is read once per snapshot, not once per call.
    static LAST: Cached<(SnapshotId, pg_sys::Oid), Rc<Registration>> = const { Cached::new(4, invalidation::relations) };
    /// The default table, by snapshot, trigger function, role and search_path.
    static ONLY: Cached<(SnapshotId, pg_sys::Oid, pg_sys::Oid, CString), pg_sys::Oid> = const { Cached::new(2, invalidation::relations) };
    /// The tables of names of an edges table, by snapshot, role and edges table.
    static NAMES: Cached<(SnapshotId, pg_sys::Oid, pg_sys::Oid), Rc<NameTables>> =
        const { Cached::new(4, invalidation::catalogs) };
}

/// The table's registration if it is sound and its two rows are visible to the active snapshot.
fn cached_sound(table: pg_sys::Oid, functions: Functions) -> Option<Rc<Registration>> {
    let lock = pg_sys::AccessShareLock;
    // While it is locked it is neither rewritten nor truncated; taking the lock processes invalidations.
    let triggers = Opened::open(pg_sys::TriggerRelationId, lock)?;
    let found = find_sound(&triggers, table, functions);
    triggers.unlock(lock as pg_sys::LOCKMODE);
    found
}

/// `triggers`: pg_trigger, locked.
fn find_sound(triggers: &Relation, table: pg_sys::Oid, functions: Functions) -> Option<Rc<Registration>> {
    let now = invalidation::relations();
    let key = (table, functions.capture);
    let mut kept = match KEPT.with(|all| all.known(now, &key)) {
        Some(kept) => kept,
        None => {
            // Read as of now: a change that an older snapshot does not see yet has already sent its invalidation.
            let (registration, places) = crate::catalog::registration::read_placed(table, None, functions)?;
            let (registration, places) = (Rc::new(registration), places?);
            CachedRegistration { registration, places, buffers: [0; 2] }
        }
    };
    let registration = Rc::clone(&kept.registration);
    // SAFETY: pg_trigger is locked, the snapshot active. An ERROR jumps out of the closure, which owns nothing; the
    // transaction then releases pins and locks.
    let is_visible =
        |snapshot: Snapshot<'_>| unsafe { pg_guard_ffi_boundary(|| visible(triggers.raw(), &mut kept, snapshot)) };
    if !snapshot::with_active(is_visible) {
        return None;
    }
    KEPT.with(|all| all.keep(now, key, kept));
    Some(registration)
}

/// Whether both places still hold those very rows, and the snapshot sees them.
///
/// # Safety
/// Under a guard; `triggers` is pg_trigger, open and locked; the buffers held the rows' pages before, or are 0 if the
/// rows were read under this lock.
unsafe fn visible(triggers: pg_sys::Relation, kept: &mut CachedRegistration, snapshot: Snapshot<'_>) -> bool {
    let (places, buffers) = (&kept.places, &mut kept.buffers);
    // SAFETY: the page is pinned and locked while it is read.
    unsafe {
        let block = |n: usize| pgrx::itemptr::item_pointer_get_block_number_no_check(places[n].tid);
        let Some(mut buffer) = pin(triggers, block(0), buffers[0]) else { return false };
        buffers[0] = buffer;
        if !is_seen(&places[0], buffer, snapshot) {
            plain::UnlockReleaseBuffer(buffer);
            return false;
        }
        if block(1) != block(0) {
            plain::UnlockReleaseBuffer(buffer);
            let Some(other) = pin(triggers, block(1), buffers[1]) else { return false };
            buffer = other;
        }
        buffers[1] = buffer;
        let seen = is_seen(&places[1], buffer, snapshot);
        plain::UnlockReleaseBuffer(buffer);
        seen
    }
}

/// Pins and locks the page, first trying the buffer that last held it. None if the page has been truncated away:
/// reading it from the file would be an error.
///
/// # Safety
/// As for [`visible`].
unsafe fn pin(triggers: pg_sys::Relation, block: u32, buffer: pg_sys::Buffer) -> Option<pg_sys::Buffer> {
    // SAFETY: the caller's promise.
    unsafe {
        let buffer = match buffer {
            0 => pg_sys::ReadBuffer(triggers, block),
            recent if plain::ReadRecentBuffer(compat::file(triggers), MAIN, block, recent) => recent,
            _ if block < pg_sys::RelationGetNumberOfBlocksInFork(triggers, MAIN) => pg_sys::ReadBuffer(triggers, block),
            _ => return None,
        };
        plain::LockBuffer(buffer, pg_sys::BUFFER_LOCK_SHARE as i32);
        Some(buffer)
    }
}

/// # Safety
/// A buffer with a page of pg_trigger, pinned and locked.
unsafe fn is_seen(place: &Place, buffer: pg_sys::Buffer, snapshot: Snapshot<'_>) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let offset = pgrx::itemptr::item_pointer_get_offset_number_no_check(place.tid);
        let Some((data, len)) = compat::tuple_at(pg_sys::BufferGetPage(buffer), offset) else { return false };
        let mut tuple = pg_sys::HeapTupleData {
            t_len: len,
            t_self: place.tid,
            t_tableOid: pg_sys::TriggerRelationId,
            t_data: data,
        };
        let form = pg_sys::GETSTRUCT(&mut tuple).cast::<pg_sys::FormData_pg_trigger>();
        u32::from((*form).oid) == place.key.oid
            && u32::from(pg_sys::htup::HeapTupleHeaderGetRawXmin(data)) == place.key.xmin
            && plain::HeapTupleSatisfiesVisibility(&mut tuple, Snapshot::raw(Some(snapshot)), buffer)
    }
}

/// The tables that triggers of that function register, as of now; searched again only after an invalidation. An edges
/// table has readable arguments, and is not a table of names.
fn registered(function: pg_sys::Oid, functions: Functions) -> Rc<[pg_sys::Oid]> {
    invalidation::process();
    let is_edges =
        |table: pg_sys::Oid| read(table, None, functions).is_some_and(|registration| registration.names.has_parent());
    let is_meant = |table: &pg_sys::Oid| function != functions.capture || is_edges(*table);
    let find = || Ok::<_, Infallible>(tables_with(function).into_iter().filter(is_meant).collect());
    let Ok(tables) = TABLES.with(|tables| tables.get(function, find));
    tables
}

/// The columns of an open table; looked up again only after an invalidation. 42703 if one is gone, 42804 if reading one
/// would run another role's code.
pub fn columns(table: &EdgesTable, registration: &Rc<Registration>) -> Fallible<Columns> {
    let find = || {
        let columns = table.require_columns(&registration.names)?;
        crate::catalog::column_rules::check_types(&registration.names, &columns)?;
        Ok(columns)
    };
    COLUMNS.with(|last| last.get((table.oid(), This(Rc::clone(registration))), find))
}

/// Caches [`lookup::database_xmin`] until the next invalidation.
pub fn database_xmin() -> u32 {
    let Ok(xmin) = DATABASE.with(|last| last.get((), || Ok::<_, Infallible>(lookup::database_xmin())));
    xmin
}

/// If a database has more markers than this, we search what depends on the edges table instead.
const FEW_MARKERS: usize = 4;

/// A table of names of entities.
pub struct NameTable {
    pub table: pg_sys::Oid,
    names: ColumnNames,
}

/// The tables of names of an edges table.
#[derive(Default)]
pub struct NameTables {
    pub aliases: Vec<NameTable>,
    pub labels: Option<NameTable>,
}

/// Identifies what a snapshot sees of the catalogs, within one transaction and as long as no subtransaction aborts.
/// Below a given xmax, transactions can only end, so an equal count of running ones means an equal set. This holds for
/// copied snapshots too, which keep the count with or without the list, and across transactions that had no xid: they
/// changed nothing and are in no snapshot.
///
/// 32-bit xids wrap around after 4 billion transactions; if one of these changed a relation, the cache has been emptied
/// by then.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SnapshotId {
    xmin: pg_sys::TransactionId,
    xmax: pg_sys::TransactionId,
    running: u32,
    /// The number of running transactions in a snapshot taken during recovery; in others, of the subtransactions
    /// listed, which adds nothing after an overflow.
    subtransactions: i32,
    curcid: pg_sys::CommandId,
}

impl SnapshotId {
    pub fn active() -> Self {
        snapshot::with_active(|snapshot| {
            let s = snapshot.get();
            Self { xmin: s.xmin, xmax: s.xmax, running: s.xcnt, subtransactions: s.subxcnt, curcid: s.curcid }
        })
    }
}

/// Empties the caches keyed by SnapshotId if an id may mean something else from now on. Called when a transaction ends,
/// or a subtransaction begins or ends. On a standby it always empties them: snapshots there do not list running
/// transactions the same way.
pub fn forget() {
    // The default table depends on privileges, which are as of now, not as of a snapshot.
    ONLY.with(Cached::forget);
    let may_differ = plain::GetTopTransactionIdIfAny() != pg_sys::InvalidTransactionId || plain::RecoveryInProgress();
    if may_differ {
        LAST.with(Cached::forget);
        NAMES.with(Cached::forget);
    }
}

/// Forgets the default table, which is gone.
pub fn forget_default_table() {
    ONLY.with(Cached::forget);
}

/// The table's registration as the snapshot sees it, read at most once per snapshot. It is sound only if it is also the
/// one of now: what this transaction writes is captured by the triggers of now, so an image for an older registration
/// would miss it.
pub fn read_once(table: pg_sys::Oid, functions: Functions) -> Option<Rc<Registration>> {
    let id = SnapshotId::active();
    let sound = || cached_sound(table, functions);
    let seen = || snapshot::with_active(|snapshot| read(table, Some(snapshot), functions));
    let unsound = |registration| Rc::new(Registration { sound: false, ..registration });
    let find = || sound().or_else(|| seen().map(unsound)).ok_or(());
    LAST.with(|last| last.get((id, table), find)).ok()
}

/// The only table registered by `function` that the caller may read and that search_path shows; searched at most once
/// per snapshot, role and search_path. The error holds all that the caller may read, if there is not exactly one.
pub fn only_registered(function: pg_sys::Oid, functions: Functions) -> Result<pg_sys::Oid, Vec<pg_sys::Oid>> {
    let key = (SnapshotId::active(), function, backend::user(), backend::search_path().to_owned());
    let find = || {
        let tables = readable(function, functions);
        let mut visible = tables.iter().filter(|table| is_visible(**table));
        match (visible.next(), visible.next()) {
            (Some(only), None) => Ok(*only),
            _ => Err(tables),
        }
    };
    ONLY.with(|last| last.get(key, find))
}

/// The tables registered by `function` that the caller may read.
pub fn readable(function: pg_sys::Oid, functions: Functions) -> Vec<pg_sys::Oid> {
    registered(function, functions).iter().copied().filter(|table| is_readable(*table)).collect()
}

/// Whether the caller's search_path finds the table by its name without a schema.
fn is_visible(table: pg_sys::Oid) -> bool {
    // The second finds what the first has found: no invalidations are processed in between.
    lookup::get_rel_namespace(table) != pg_sys::InvalidOid && lookup::RelationIsVisible(table)
}

/// The tables of names of an edges table that count ([`trust::counts_beside`]), ascending by OID; searched at most once
/// per snapshot.
pub fn name_tables(edges: pg_sys::Oid, functions: Functions) -> Rc<NameTables> {
    let key = (SnapshotId::active(), backend::user(), edges);
    let find_seen = |snapshot: Snapshot<'_>| Rc::new(find_name_tables(edges, Some(snapshot), functions));
    let find = || Ok::<_, Infallible>(snapshot::with_active(find_seen));
    let Ok(tables) = NAMES.with(|last| last.get(key, find));
    tables
}

/// [`name_tables`] as of now, for commands that change them, under a lock.
pub fn name_tables_now(edges: pg_sys::Oid, functions: Functions) -> NameTables {
    find_name_tables(edges, None, functions)
}

fn find_name_tables(edges: pg_sys::Oid, snapshot: Option<Snapshot<'_>>, functions: Functions) -> NameTables {
    let [alias_of, label_of] = functions.names_of();
    // Few databases have many markers; what depends on the edges table includes its other triggers.
    let marked_by = |function| pg_trigger::that_depend_on(pg_sys::ProcedureRelationId, function, snapshot);
    let mut markers = marked_by(alias_of);
    markers.extend(marked_by(label_of));
    if markers.len() > FEW_MARKERS {
        markers = pg_trigger::that_depend_on(pg_sys::RelationRelationId, edges, snapshot);
    }
    let (mut aliases, mut labels) = (Vec::new(), Vec::new());
    for trigger in markers {
        pg_trigger::that_is(trigger, snapshot, |form| {
            let names = form.arguments();
            let found = if form.tgfoid == alias_of { &mut aliases } else { &mut labels };
            if functions.names_of().contains(&form.tgfoid)
                && form.tgconstrrelid == edges
                && trust::counts_beside(form.tgrelid, edges)
                && let Some(ColumnNames { parent: name, child: entity, names, preferred, .. }) = names
            {
                let names = ColumnNames { names, preferred, ..ColumnNames::of_names(entity, name) };
                found.push(NameTable { table: form.tgrelid, names });
            }
        });
    }
    aliases.sort_unstable_by_key(|names| u32::from(names.table));
    NameTables { aliases, labels: labels.into_iter().min_by_key(|names| u32::from(names.table)) }
}

impl NameTable {
    /// The registration of the table's own image, which also says its language; not sound if there is none for these
    /// columns.
    pub fn registration(&self, functions: Functions) -> Rc<Registration> {
        let registration = read_once(self.table, functions);
        registration.filter(|registration| registration.names.are_names_as(&self.names)).unwrap_or_else(|| {
            let (row, truncate) = (TriggerKey::default(), TriggerKey::default());
            Rc::new(Registration { names: self.names.clone(), row, truncate, sound: false })
        })
    }
}
