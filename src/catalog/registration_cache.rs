//! Registrations kept from one transaction to the next: searching pg_trigger at each statement costs more than the walk.
//!
//! Kept is the place of the table's two rows in pg_trigger. Under each snapshot both are looked at again there: each must be the very
//! row (OID, raw xmin) and visible. Whatever harms an image deletes or replaces one of them: a trigger disabled, dropped, made anew.
//! A trigger of ours that came beside them is noticed by the relation cache's invalidation, after which nothing kept is used. A
//! transaction is visible a moment before its invalidations arrive; until then the image is right as it is, because it takes no notes
//! of other triggers than its own (flush.rs, online.rs).
//!
//! A row that is committed and deleted by nobody stays visible to whoever sees its xmin, as long as its page is not changed. Where that
//! is so the page is looked at without a pin or a lock (unpinned.rs): a reader writes nothing then that other readers read.

#![expect(unsafe_code, reason = "reads system catalogs")]

use crate::changes;
use crate::compat::{self, plain, unguarded};
use crate::edges::{Columns, Edges};
use crate::error::Fallible;
use crate::ffi::pg_guard_ffi_boundary;
use crate::registration::{self, Functions, Registration};
use crate::triggers::TriggerKey;
use crate::unpinned::Seen;
use pgrx::pg_sys;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

const MAIN: pg_sys::ForkNumber::Type = pg_sys::ForkNumber::MAIN_FORKNUM;

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
    lasting: Option<[Lasting; 2]>,
}

/// A row that was committed and deleted by nobody.
#[derive(Clone, Copy)]
struct Lasting {
    page: Seen,
    block: u32,
    /// FrozenTransactionId: every snapshot sees it.
    xmin: u32,
}

/// What a row is to a snapshot.
enum Row {
    Unseen,
    Seen,
    /// The snapshot sees it, as will every one that sees its xmin, until the page is changed.
    Lasting(Lasting),
}

/// The attached edges tables, as of an epoch, of the extension with that capture function.
type Attached = (u64, pg_sys::Oid, Rc<[pg_sys::Oid]>);

thread_local! {
    static KEPT: RefCell<Vec<Kept>> = const { RefCell::new(Vec::new()) };
    static TABLES: RefCell<Option<Attached>> = const { RefCell::new(None) };
}

/// A table's columns, as of an epoch.
type Resolved = (u64, pg_sys::Oid, Rc<Registration>, Columns);

thread_local! {
    static COLUMNS: RefCell<Option<Resolved>> = const { RefCell::new(None) };
    static DATABASE: Cell<Option<(u64, u32)>> = const { Cell::new(None) };
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
    let now = changes::relations();
    let known = |kept: &&Kept| kept.table == table && kept.capture == functions.capture && kept.epoch == now;
    let mut kept = match KEPT.with_borrow(|all| all.iter().find(known).cloned()) {
        Some(kept) => kept,
        None => {
            // As of now: what an older snapshot does not see yet sends no invalidation any more.
            let (registration, places) = registration::read_placed(table, std::ptr::null_mut(), functions)?;
            let (registration, places) = (Rc::new(registration), places?);
            Kept { epoch: now, table, capture: functions.capture, registration, places, buffers: [0; 2], lasting: None }
        }
    };
    let registration = Rc::clone(&kept.registration);
    // SAFETY: the caller's promise. An ERROR jumps out of the closure, which owns nothing; pins and locks are then the transaction's to
    // release.
    unsafe {
        if kept.lasting.is_some_and(|rows| rows.iter().all(|row| row.is_seen(triggers, snapshot))) {
            return Some(registration);
        }
        kept.lasting = None;
        if !pg_guard_ffi_boundary(|| visible(triggers, &mut kept, snapshot)) {
            return None;
        }
    }
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

impl Lasting {
    /// Whether the snapshot sees the row still.
    ///
    /// # Safety
    /// `triggers` is pg_trigger, open and locked; a valid snapshot, taken before.
    unsafe fn is_seen(&self, triggers: pg_sys::Relation, snapshot: pg_sys::Snapshot) -> bool {
        // SAFETY: the caller's promise.
        let (s, file) = unsafe { (&*snapshot, compat::file(triggers)) };
        // As TransactionIdPrecedes: xids of rows that are not frozen are less than 2 billion transactions old.
        let old = self.xmin == u32::from(pg_sys::FrozenTransactionId)
            || (self.xmin.wrapping_sub(u32::from(s.xmin)) as i32) < 0;
        old && s.snapshot_type == pg_sys::SnapshotType::SNAPSHOT_MVCC
            && !s.takenDuringRecovery
            && self.page.is_unchanged(&file, self.block)
    }
}

/// Whether each of the rows is there, that very row, and the snapshot sees it.
///
/// # Safety
/// Under a guard; `triggers` is pg_trigger, open and locked; the buffers are where the rows' pages were before, or 0 if the rows were
/// read under this lock.
unsafe fn visible(triggers: pg_sys::Relation, kept: &mut Kept, snapshot: pg_sys::Snapshot) -> bool {
    let (places, buffers) = (&kept.places, &mut kept.buffers);
    // SAFETY: the page is pinned and locked while it is read.
    unsafe {
        let block = |n: usize| pgrx::itemptr::item_pointer_get_block_number_no_check(places[n].tid);
        let Some(mut buffer) = pin(triggers, block(0), buffers[0]) else { return false };
        buffers[0] = buffer;
        let first = look_at(&places[0], buffer, snapshot);
        if matches!(first, Row::Unseen) {
            plain::UnlockReleaseBuffer(buffer);
            return false;
        }
        if block(1) != block(0) {
            plain::UnlockReleaseBuffer(buffer);
            let Some(other) = pin(triggers, block(1), buffers[1]) else { return false };
            buffer = other;
        }
        buffers[1] = buffer;
        let second = look_at(&places[1], buffer, snapshot);
        plain::UnlockReleaseBuffer(buffer);
        if let (Row::Lasting(first), Row::Lasting(second)) = (&first, &second) {
            kept.lasting = Some([*first, *second]);
        }
        !matches!(second, Row::Unseen)
    }
}

/// Pins and locks a page that is there, and was in that buffer. A page that was cut off meanwhile is in no buffer, and not asked of the
/// file.
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
unsafe fn look_at(place: &Place, buffer: pg_sys::Buffer, snapshot: pg_sys::Snapshot) -> Row {
    // SAFETY: the caller's promise.
    unsafe {
        let offset = pgrx::itemptr::item_pointer_get_offset_number_no_check(place.tid);
        let Some((data, len)) = compat::tuple_at(pg_sys::BufferGetPage(buffer), offset) else { return Row::Unseen };
        let mut tuple = pg_sys::HeapTupleData {
            t_len: len,
            t_self: place.tid,
            t_tableOid: pg_sys::TriggerRelationId,
            t_data: data,
        };
        let form = pg_sys::GETSTRUCT(&mut tuple).cast::<pg_sys::FormData_pg_trigger>();
        let raw = pg_sys::htup::HeapTupleHeaderGetRawXmin(data);
        if u32::from((*form).oid) != place.key.oid
            || u32::from(raw) != place.key.xmin
            || !plain::HeapTupleSatisfiesVisibility(&mut tuple, snapshot, buffer)
        {
            return Row::Unseen;
        }
        // What is visible and not our own is committed; the hint that says so may come later.
        let deleter = u32::from((*data).t_infomask) & pg_sys::HEAP_XMAX_INVALID == 0;
        if deleter || unguarded::TransactionIdIsCurrentTransactionId(raw) {
            return Row::Seen;
        }
        let frozen = pg_sys::htup::HeapTupleHeaderFrozen(data);
        Row::Lasting(Lasting {
            page: Seen::of(buffer),
            block: pgrx::itemptr::item_pointer_get_block_number_no_check(place.tid),
            xmin: u32::from(if frozen { pg_sys::FrozenTransactionId } else { raw }),
        })
    }
}

/// The edges tables that are attached, as of now: asked again after an invalidation only.
pub fn attached(functions: Functions, find: impl FnOnce() -> Vec<pg_sys::Oid>) -> Rc<[pg_sys::Oid]> {
    // SAFETY: in a transaction; may run the callbacks of invalidations, of which ours only counts.
    unsafe { pg_sys::AcceptInvalidationMessages() };
    let now = changes::relations();
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

/// The columns of an open table, found by their names again after an invalidation only. 42703 if one is gone, 42804 if reading one would
/// run another role's code.
pub fn columns(table: &Edges, registration: &Rc<Registration>) -> Fallible<Columns> {
    let (now, oid) = (changes::relations(), table.oid());
    let known = |of: &&Resolved| of.0 == now && of.1 == oid && Rc::ptr_eq(&of.2, registration);
    if let Some(columns) = COLUMNS.with_borrow(|last| last.as_ref().filter(known).map(|of| of.3)) {
        return Ok(columns);
    }
    let columns = table.require_columns(&registration.names)?;
    crate::api::attach::check_types(&registration.names, &columns)?;
    COLUMNS.set(Some((now, oid, Rc::clone(registration), columns)));
    Ok(columns)
}

/// [`compat::database_xmin`], asked again after an invalidation only.
pub fn database_xmin() -> u32 {
    let now = changes::relations();
    match DATABASE.get() {
        Some((epoch, xmin)) if epoch == now => xmin,
        _ => {
            let xmin = compat::database_xmin();
            DATABASE.set(Some((now, xmin)));
            xmin
        }
    }
}
