//! Finds out whether an unfinished statement of this session has a table open for writing (serve/conditions.rs).
//!
//! A row is on the page before its AFTER trigger's event is queued. In between PostgreSQL evaluates index expressions and predicates, exclusion
//! constraints, functions of operator classes, the WHEN clauses of other triggers, the operators and casts of foreign keys, ... A function
//! called there sees a row that our trigger knows nothing of. So we do not ask what is being evaluated, but whether the table is open: by
//! its relation's reference count, as PostgreSQL does before it alters a table (CheckTableNotInUse).
//!
//! The count includes readers. We subtract those we know: the executor's queries of this session in which the table is no result
//! relation. The rest we take for writers: COPY, the apply worker of logical replication, another extension, and what we have not thought
//! of. So a reader missed here makes an answer slower, not wrong.
//!
//! A query is on the list from the end of ExecutorStart until the start of ExecutorEnd, which closes its tables. If an ERROR ends it,
//! the abort of a (sub)transaction closes them, and empties the list.

#![expect(unsafe_code, reason = "the executor's hooks and state")]

use crate::pg::compat::{plain, unbound};
use pgrx::pg_sys;
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::ptr::null_mut;

/// A query between ExecutorStart and ExecutorEnd.
#[derive(Clone, Copy)]
struct Query {
    state: *mut pg_sys::EState,
    plan: *mut pg_sys::PlanState,
}

thread_local! {
    static NEXT_START: Cell<pg_sys::ExecutorStart_hook_type> = const { Cell::new(None) };
    static NEXT_END: Cell<pg_sys::ExecutorEnd_hook_type> = const { Cell::new(None) };
    static QUERIES: RefCell<Vec<Query>> = const { RefCell::new(Vec::new()) };
}

/// Called once, from _PG_init.
pub fn register() {
    // SAFETY: functions that live as long as the library, which is never unloaded.
    unsafe {
        NEXT_START.set(pg_sys::ExecutorStart_hook);
        pg_sys::ExecutorStart_hook = Some(start);
        NEXT_END.set(pg_sys::ExecutorEnd_hook);
        pg_sys::ExecutorEnd_hook = Some(end);
        pg_sys::RegisterXactCallback(Some(at_end), null_mut());
        pg_sys::RegisterSubXactCallback(Some(at_subtransaction_end), null_mut());
    }
}

/// Every statement passes here, so there is no guard, which would also strip CONTEXT from its errors. An ERROR jumps over frames that own nothing.
unsafe extern "C-unwind" fn start(query: *mut pg_sys::QueryDesc, flags: std::ffi::c_int) {
    // SAFETY: the executor's arguments; the callback is in the memory that it is called for.
    unsafe {
        match NEXT_START.get() {
            Some(next) => next(query, flags),
            None => plain::standard_ExecutorStart(query, flags),
        }
        let (state, plan) = ((*query).estate, (*query).planstate);
        let size = size_of::<pg_sys::MemoryContextCallback>();
        let callback: *mut pg_sys::MemoryContextCallback =
            plain::MemoryContextAllocZero((*state).es_query_cxt, size).cast();
        (*callback).func = Some(forget);
        (*callback).arg = state.cast();
        plain::MemoryContextRegisterResetCallback((*state).es_query_cxt, callback);
        QUERIES.with_borrow_mut(|queries| {
            // Without memory the query is not on the list: its tables count as written to.
            if queries.try_reserve(1).is_ok() {
                queries.push(Query { state, plan });
            }
        });
    }
}

unsafe extern "C-unwind" fn end(query: *mut pg_sys::QueryDesc) {
    // SAFETY: the executor's argument.
    unsafe {
        forget((*query).estate.cast());
        match NEXT_END.get() {
            Some(next) => next(query),
            None => plain::standard_ExecutorEnd(query),
        }
    }
}

/// Called when the query ends, or its memory is freed.
unsafe extern "C-unwind" fn forget(state: *mut c_void) {
    QUERIES.with_borrow_mut(|queries| {
        // Usually the last one.
        if let Some(i) = queries.iter().rposition(|query| std::ptr::eq(query.state, state.cast())) {
            queries.remove(i);
        }
    });
}

unsafe extern "C-unwind" fn at_end(event: pg_sys::XactEvent::Type, _arg: *mut c_void) {
    use pg_sys::XactEvent::*;
    let before = [XACT_EVENT_PRE_COMMIT, XACT_EVENT_PARALLEL_PRE_COMMIT, XACT_EVENT_PRE_PREPARE];
    if !before.contains(&event) {
        QUERIES.with_borrow_mut(Vec::clear);
    }
}

/// An abort closes the tables of what ran in it, even of older cursors. Only PostgreSQL knows which, so we empty the list.
unsafe extern "C-unwind" fn at_subtransaction_end(
    event: pg_sys::SubXactEvent::Type,
    _mine: pg_sys::SubTransactionId,
    _parent: pg_sys::SubTransactionId,
    _arg: *mut c_void,
) {
    if event == pg_sys::SubXactEvent::SUBXACT_EVENT_ABORT_SUB {
        QUERIES.with_borrow_mut(Vec::clear);
    }
}

/// Whether any code but the caller has the table open and may be writing to it.
///
/// # Safety
/// `rel` is open; the caller has opened it once.
pub unsafe fn is_open_for_writing(rel: pg_sys::Relation) -> bool {
    // SAFETY: the caller's promise.
    let mut others = unsafe { (*rel).rd_refcnt } - 1;
    let mut next = 0;
    // The list is not borrowed meanwhile: walking through a plan may raise.
    while others > 0
        && let Some(query) = QUERIES.with_borrow(|queries| queries.get(next).copied())
    {
        next += 1;
        // SAFETY: a query on the list has its memory and its tables.
        unsafe {
            let opened = opened(&*query.state, rel);
            if opened == 0 {
                continue;
            }
            if is_written(&*query.state, rel) {
                return true;
            }
            others -= opened;
            if others > 0 {
                others -= scans(query.plan, rel);
            }
        }
    }
    others != 0
}

/// How often the query's range table has opened the table: one reference each.
///
/// # Safety
/// A query on the list.
unsafe fn opened(state: &pg_sys::EState, rel: pg_sys::Relation) -> i32 {
    let entries = state.es_range_table_size as usize;
    // SAFETY: the caller's promise; es_range_table_size counts the entries.
    (0..entries).filter(|i| unsafe { *state.es_relations.add(*i) } == rel).count() as i32
}

/// Whether the table is a result relation of the query.
///
/// # Safety
/// A query on the list.
unsafe fn is_written(state: &pg_sys::EState, rel: pg_sys::Relation) -> bool {
    // SAFETY: the caller's promise; a list of indexes into the range table, from 1.
    unsafe {
        let results = pgrx::PgList::<c_void>::from_pg((*state.es_plannedstmt).resultRelations);
        let entry = |i| results.get_int(i).map(|index| *state.es_relations.add(index as usize - 1));
        (0..results.len()).any(|i| entry(i) == Some(rel))
    }
}

/// The scans of a heap that a plan has begun.
struct Scans {
    rel: pg_sys::Relation,
    found: [*mut pg_sys::ScanState; MOST_SCANS],
    count: usize,
}

/// If a statement scans the table more often than this, the further scans are not subtracted.
const MOST_SCANS: usize = 16;

/// How many scans of the table the plan has started: one reference each (heap_beginscan).
///
/// # Safety
/// The plan of a query on the list.
unsafe fn scans(plan: *mut pg_sys::PlanState, rel: pg_sys::Relation) -> i32 {
    let mut scans = Scans { rel, found: [null_mut(); MOST_SCANS], count: 0 };
    // SAFETY: the caller's promise. We look at the root here; PostgreSQL's walker, under a guard, at all nodes below.
    unsafe {
        look(plan, &mut scans);
        unbound::planstate_tree_walker_impl(plan, Some(walk), (&raw mut scans).cast());
    }
    scans.count as i32
}

unsafe extern "C-unwind" fn walk(plan: *mut pg_sys::PlanState, scans: *mut c_void) -> bool {
    // SAFETY: the walker's arguments; an ERROR (the depth of the stack) jumps out of frames that own nothing.
    unsafe {
        look(plan, &mut *scans.cast::<Scans>());
        plain::planstate_tree_walker_impl(plan, Some(walk), scans)
    }
}

/// # Safety
/// A node of a running plan.
unsafe fn look(plan: *mut pg_sys::PlanState, scans: &mut Scans) {
    use pg_sys::NodeTag::*;
    let of_heap = [T_SeqScanState, T_SampleScanState, T_BitmapHeapScanState, T_TidScanState, T_TidRangeScanState];
    // SAFETY: the caller's promise; these nodes begin with a ScanState.
    unsafe {
        if !of_heap.contains(&(*plan).type_) {
            return;
        }
        let node = plan.cast::<pg_sys::ScanState>();
        let scan = (*node).ss_currentScanDesc;
        // The walker may pass a subplan twice.
        let known = scans.found[..scans.count].contains(&node);
        if !scan.is_null() && (*scan).rs_rd == scans.rel && !known && scans.count < MOST_SCANS {
            scans.found[scans.count] = node;
            scans.count += 1;
        }
    }
}
