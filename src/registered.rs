//! Registrations kept from one transaction to the next: searching pg_trigger at each statement costs more than the walk.
//!
//! Kept is the place of the table's two rows in pg_trigger. Under each snapshot both are looked at again there: each must be the very
//! row (OID, raw xmin) and visible. Whatever harms an image deletes or replaces one of them: a trigger disabled, dropped, made anew.
//! A trigger of ours that came beside them is noticed by the relation cache's invalidation, after which nothing kept is used. A
//! transaction is visible a moment before its invalidations arrive; until then the image is right as it is, because it takes no notes
//! of other triggers than its own (flush.rs, online.rs).

#![expect(unsafe_code, reason = "reads system catalogs")]

use crate::compat;
use crate::edges::{Columns, Edges};
use crate::error::Fallible;
use crate::registration::{self, Functions, Registration, TriggerKey};
use pgrx::pg_sys;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Tables of a session whose registrations are kept.
const ROOM: usize = 16;

/// Where a row of pg_trigger is.
#[derive(Clone, Copy)]
pub struct Place {
    pub key: TriggerKey,
    pub tid: pg_sys::ItemPointerData,
}

#[derive(Clone)]
struct Kept {
    epoch: u64,
    table: pg_sys::Oid,
    capture: pg_sys::Oid,
    registration: Rc<Registration>,
    places: [Place; 2],
    /// The buffers where their pages were last; 0: not known.
    buffers: [pg_sys::Buffer; 2],
}

/// The attached edges tables, as of an epoch, of the extension with that capture function.
type Attached = (u64, pg_sys::Oid, Rc<[pg_sys::Oid]>);

thread_local! {
    /// Counts invalidations of relation cache entries, of any table, and of pg_database.
    static EPOCH: Cell<u64> = const { Cell::new(0) };
    static KEPT: RefCell<Vec<Kept>> = const { RefCell::new(Vec::new()) };
    static TABLES: RefCell<Option<Attached>> = const { RefCell::new(None) };
}

/// A table's columns, as of an epoch.
type Resolved = (u64, pg_sys::Oid, Rc<Registration>, Columns);

thread_local! {
    static COLUMNS: RefCell<Option<Resolved>> = const { RefCell::new(None) };
    static DATABASE: Cell<Option<(u64, u32)>> = const { Cell::new(None) };
}

unsafe extern "C-unwind" fn database_invalidated(_arg: pg_sys::Datum, _cache: i32, _hash: u32) {
    EPOCH.set(EPOCH.get() + 1);
}

unsafe extern "C-unwind" fn invalidated(_arg: pg_sys::Datum, _table: pg_sys::Oid) {
    EPOCH.set(EPOCH.get() + 1);
}

/// The number of invalidations so far. Those that other sessions have sent count once a lock was taken or a transaction begun.
fn epoch() -> u64 {
    if EPOCH.get() == 0 {
        EPOCH.set(1);
        // SAFETY: functions of this library, which is never unloaded; registered once in a process.
        unsafe {
            let none = pg_sys::Datum::from(0usize);
            pg_sys::CacheRegisterRelcacheCallback(Some(invalidated), none);
            let databases = pg_sys::SysCacheIdentifier::DATABASEOID as i32;
            pg_sys::CacheRegisterSyscacheCallback(databases, Some(database_invalidated), none);
        }
    }
    EPOCH.get()
}

/// The table's registration if it is sound and its two rows are visible to the snapshot.
///
/// # Safety
/// `snapshot` is the active snapshot; the table is locked.
pub unsafe fn sound(table: pg_sys::Oid, snapshot: pg_sys::Snapshot, functions: Functions) -> Option<Rc<Registration>> {
    let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
    // SAFETY: a catalog, opened and closed. While it is locked it is not rewritten, nor cut off at its end; taking the lock lets
    // invalidations in.
    unsafe {
        let triggers = pg_sys::table_open(pg_sys::TriggerRelationId, lock);
        let found = look(triggers, table, snapshot, functions);
        pg_sys::table_close(triggers, lock);
        found
    }
}

/// # Safety
/// As for [`sound`]; `triggers` is pg_trigger, open and locked.
unsafe fn look(
    triggers: pg_sys::Relation,
    table: pg_sys::Oid,
    snapshot: pg_sys::Snapshot,
    functions: Functions,
) -> Option<Rc<Registration>> {
    let now = epoch();
    let known = |kept: &&Kept| kept.table == table && kept.capture == functions.capture && kept.epoch == now;
    let mut kept = match KEPT.with_borrow(|all| all.iter().find(known).cloned()) {
        Some(kept) => kept,
        None => {
            // As of now: what an older snapshot does not see yet sends no invalidation any more.
            let (registration, places) = registration::read_placed(table, std::ptr::null_mut(), functions)?;
            let (registration, places) = (Rc::new(registration), places?);
            Kept { epoch: now, table, capture: functions.capture, registration, places, buffers: [0; 2] }
        }
    };
    for n in 0..2 {
        // SAFETY: the caller's promise.
        kept.buffers[n] = unsafe { visible_at(triggers, &kept.places[n], kept.buffers[n], snapshot) }?;
    }
    let registration = Rc::clone(&kept.registration);
    KEPT.with_borrow_mut(|all| match all.iter_mut().find(|other| other.table == table) {
        Some(other) => *other = kept,
        None => {
            if all.len() == ROOM {
                all.clear();
            }
            all.push(kept);
        }
    });
    Some(registration)
}

/// Where in the buffer pool the row's page is, if that very row is there and the snapshot sees it.
///
/// # Safety
/// `triggers` is pg_trigger, open and locked; the buffer is where the row's page was before, or 0 if the row was read under this lock.
unsafe fn visible_at(
    triggers: pg_sys::Relation,
    place: &Place,
    buffer: pg_sys::Buffer,
    snapshot: pg_sys::Snapshot,
) -> Option<pg_sys::Buffer> {
    // SAFETY: the page is pinned and locked while it is read. Of a buffer known from before it is checked that it still has that page;
    // a page that was cut off meanwhile is in no buffer, and not asked of the file.
    unsafe {
        let block = pgrx::itemptr::item_pointer_get_block_number_no_check(place.tid);
        let buffer = match buffer {
            0 => pg_sys::ReadBuffer(triggers, block),
            recent if compat::read_recent_buffer(triggers, block, recent) => recent,
            _ if block < pg_sys::RelationGetNumberOfBlocksInFork(triggers, pg_sys::ForkNumber::MAIN_FORKNUM) => {
                pg_sys::ReadBuffer(triggers, block)
            }
            _ => return None,
        };
        pg_sys::LockBuffer(buffer, pg_sys::BUFFER_LOCK_SHARE as i32);
        let page = pg_sys::BufferGetPage(buffer);
        let offset = pgrx::itemptr::item_pointer_get_offset_number_no_check(place.tid);
        let seen = compat::tuple_at(page, offset).is_some_and(|(data, len)| {
            let mut tuple = pg_sys::HeapTupleData {
                t_len: len,
                t_self: place.tid,
                t_tableOid: pg_sys::TriggerRelationId,
                t_data: data,
            };
            let form = pg_sys::GETSTRUCT(&mut tuple).cast::<pg_sys::FormData_pg_trigger>();
            u32::from((*form).oid) == place.key.oid
                && u32::from(pg_sys::htup::HeapTupleHeaderGetRawXmin(data)) == place.key.xmin
                && pg_sys::HeapTupleSatisfiesVisibility(&mut tuple, snapshot, buffer)
        });
        pg_sys::UnlockReleaseBuffer(buffer);
        seen.then_some(buffer)
    }
}

/// The edges tables that are attached, as of now: asked again after an invalidation only.
pub fn attached(functions: Functions, find: impl FnOnce() -> Vec<pg_sys::Oid>) -> Rc<[pg_sys::Oid]> {
    // SAFETY: in a transaction; may run the callbacks of invalidations, of which ours only counts.
    unsafe { pg_sys::AcceptInvalidationMessages() };
    let now = epoch();
    let known = TABLES.with_borrow(|tables| match tables {
        Some((epoch, capture, tables)) if (*epoch, *capture) == (now, functions.capture) => Some(Rc::clone(tables)),
        _ => None,
    });
    known.unwrap_or_else(|| {
        let tables: Rc<[pg_sys::Oid]> = find().into();
        TABLES.set(Some((now, functions.capture, Rc::clone(&tables))));
        tables
    })
}

/// The columns of an open table, found by their names again after an invalidation only. 42703 if one is gone.
pub fn columns(table: &Edges, registration: &Rc<Registration>) -> Fallible<Columns> {
    let (now, oid) = (epoch(), table.oid());
    let known = |of: &&Resolved| of.0 == now && of.1 == oid && Rc::ptr_eq(&of.2, registration);
    if let Some(columns) = COLUMNS.with_borrow(|last| last.as_ref().filter(known).map(|of| of.3)) {
        return Ok(columns);
    }
    let columns = table.require_columns(&registration.names)?;
    COLUMNS.set(Some((now, oid, Rc::clone(registration), columns)));
    Ok(columns)
}

/// [`compat::database_xmin`], asked again after an invalidation only.
pub fn database_xmin() -> u32 {
    let now = epoch();
    match DATABASE.get() {
        Some((epoch, xmin)) if epoch == now => xmin,
        _ => {
            let xmin = compat::database_xmin();
            DATABASE.set(Some((now, xmin)));
            xmin
        }
    }
}
