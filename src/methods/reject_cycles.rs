//! cft_reject_cycles: a constraint trigger that rejects a row which closes a cycle (CFT-RAG 2.3 filters cycles out
//! afterwards). Opt-in: the user creates the trigger.
//!
//! Two sessions may each insert half of a cycle, and neither sees the other's row before its commit. So the trigger
//! works as a foreign key's check does:
//!
//! - It first takes a lock, one per trigger, until the transaction ends. A second session waits for the first to end.
//! - It searches with a snapshot taken after that, even in REPEATABLE READ and SERIALIZABLE, whose own snapshot would
//!   not show what was committed meanwhile. So of two halves the second is rejected, whatever the isolation level.
//! - It searches by a statement (sql/cycle.sql) with the rights of the table's owner, past row-level security: rows that the writer may not see can
//!   close a cycle, too. The error shows the path only to callers who may read the table.
//!
//! It does not see rows written while the trigger did not exist or was disabled, or while session_replication_role was
//! replica. A cycle through several trees does not count. Writers of edges wait for each other's transactions;
//! deadlocks are detected as usual (40P01).

#![expect(unsafe_code, reason = "trigger data, locks and snapshots")]

use crate::call::fmgr::Call;
use crate::catalog::attach_line::attach_hint;
use crate::catalog::columns::{Column, Columns};
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::registration::Functions;
use crate::catalog::trust::NOFORCE_RLS;
use crate::catalog::{column_rules, column_value, name, registration, trust};
use crate::error;
use crate::error::Fallible;
use crate::pg::{encoding, error_context, lock_owner};
use crate::serve::reference::{Edge, Source};
use crate::serve::{conditions, reference};
use pgrx::prelude::*;
use std::collections::HashMap;
use std::ffi::CStr;

/// TRIGGER_EVENT_OPMASK, TRIGGER_EVENT_ROW and TRIGGER_EVENT_TIMINGMASK (commands/trigger.h); in the last, AFTER is 0.
const OPERATION: u32 = 3;

const INSERT: u32 = 0;

const UPDATE: u32 = 2;

const SHAPE: u32 = 4 | 0x18;

const AFTER_ROW: u32 = 4;

/// A longer cycle is shown with some entities left out.
const MOST_NAMED: usize = 40;

/// A row's tree, parent and child.
type Names = [Option<Vec<u8>>; 3];

/// A trigger AFTER INSERT OR UPDATE FOR EACH ROW, deferrable or not, without arguments, on an attached table. Checks
/// the columns of cft_attach. Errors: 23514 (the row closes a cycle), 39P01 (a trigger of another kind), 42P01 (not attached), 42703, 42804, 42809 (the table has
/// changed since).
#[pg_extern(sql = false)]
fn cft_reject_cycles(call: Call) -> Fallible<()> {
    let data = call.trigger().ok_or_else(error::not_a_cycle_trigger)?;
    let (old, new) = match (data.tg_event & SHAPE, data.tg_event & OPERATION) {
        (AFTER_ROW, INSERT) => (None, data.tg_trigtuple),
        (AFTER_ROW, UPDATE) => (Some(data.tg_trigtuple), data.tg_newtuple),
        _ => return Err(error::not_a_cycle_trigger()),
    };
    // SAFETY: the trigger manager's data.
    let (table, arguments) = unsafe { ((*data.tg_relation).rd_id, (*data.tg_trigger).tgnargs) };
    if arguments != 0 {
        return Err(error::not_a_cycle_trigger());
    }
    let table = EdgesTable::open(table)?;
    if let Some(why) = table.unsuitable() {
        return Err(error::no_cycles_to_check(&table.name(), why));
    }
    // SAFETY: the trigger is open; its name is NUL-terminated.
    let trigger = unsafe { encoding::decode(CStr::from_ptr((*data.tg_trigger).tgname).to_bytes()) };
    // Check attached columns only: the search is past row-level security, so it could reveal values of other columns to
    // callers who may not read them.
    let attached = registration::now(table.oid(), Functions::beside(call.function()));
    let attached = attached.filter(|registration| registration.names.has_parent());
    let names =
        attached.ok_or_else(|| error::not_attached(&name::display_name(table.oid()), attach_hint(&table)))?.names;
    let columns = table.require_columns(&names)?;
    column_rules::check_columns(&table, &names)?;
    let of = Source { table: &table, names: &names, columns: &columns };
    // SAFETY: tuples of the trigger's relation.
    let (edge, before) = unsafe { (edge(data, &columns, new), old.map(|old| self::edge(data, &columns, old))) };
    if before.as_ref() == Some(&edge) {
        return Ok(());
    }
    let [tree, Some(parent), Some(child)] = &edge else { return Ok(()) };
    let edge = Edge { parent, child, tree: tree.as_deref() };
    // SAFETY: the trigger is open. The transaction holds the lock: a cursor's lock could be released while the row
    // stays.
    lock_owner::to_the_end(|| unsafe {
        let lock = pg_sys::ExclusiveLock as pg_sys::LOCKMODE;
        let trigger = (*data.tg_trigger).tgoid;
        error_context::with_error_context(None, || {
            pg_sys::LockDatabaseObject(pg_sys::TriggerRelationId, trigger, 0, lock)
        });
    });
    let closes = || trust::as_owner(&table, NOFORCE_RLS, || reference::closes_cycle(of, edge));
    if !under_snapshot_of_now(closes) {
        return Ok(());
    }
    let above = || trust::as_owner(&table, NOFORCE_RLS, || reference::cycle_path(of, edge));
    // Without memory for it the error shows no path.
    let above = tells(&table, &columns).then(|| under_snapshot_of_now(above)).and_then(Result::ok);
    let shown = above.and_then(|above| path(&above, edge));
    say_which(data);
    Err(error::closes_cycle(&table.name(), &trigger, shown.as_deref()))
}

/// Makes the next error carry table and trigger in fields of their own, as errors of PostgreSQL's constraints do: while
/// an error is raised, the entries on the stack of contexts can add to it. The error's handler pops the entry.
fn say_which(data: &pg_sys::TriggerData) {
    #[pg_guard]
    unsafe extern "C-unwind" fn say(data: *mut std::ffi::c_void) {
        // SAFETY: the data of a trigger that raises.
        unsafe {
            let data = &*data.cast::<pg_sys::TriggerData>();
            pg_sys::errtableconstraint(data.tg_relation, (*data.tg_trigger).tgname);
        }
    }
    // SAFETY: the entry lives as long as the call, which returns an error at once; nothing else happens before that is
    // raised.
    unsafe {
        let entry = pg_sys::palloc0(size_of::<pg_sys::ErrorContextCallback>()).cast::<pg_sys::ErrorContextCallback>();
        *entry = pg_sys::ErrorContextCallback {
            previous: pg_sys::error_context_stack,
            callback: Some(say),
            arg: std::ptr::from_ref(data).cast_mut().cast(),
        };
        pg_sys::error_context_stack = entry;
    }
}

/// # Safety
/// `tuple` is a row of the trigger's relation, whose columns hold names.
unsafe fn edge(data: &pg_sys::TriggerData, columns: &Columns, tuple: pg_sys::HeapTuple) -> Names {
    [columns.tree, columns.parent, columns.child].map(|column: Column| {
        if column.number == 0 {
            return None;
        }
        let (mut null, mut name) = (false, Vec::new());
        // SAFETY: the caller's promise; the attribute number is the relation's.
        let written = unsafe {
            let datum = pg_sys::htup::heap_getattr(tuple, column.number, (*data.tg_relation).rd_att, &mut null);
            !null && column_value::write(pg_sys::Oid::from(column.type_oid), datum, &mut name)
        };
        written.then_some(name)
    })
}

/// Whether the caller may learn what is in the table.
fn tells(table: &EdgesTable, columns: &Columns) -> bool {
    // SAFETY: an open table.
    unsafe { conditions::readable(table, columns).is_ok() }
}

/// Runs `run` under a snapshot that sees what is committed now and what this statement has done so far.
fn under_snapshot_of_now<T>(run: impl FnOnce() -> T) -> T {
    // SAFETY: as RI_FKey_check does it; after an ERROR in between the transaction's abort pops the snapshot.
    unsafe {
        pg_sys::CommandCounterIncrement();
        pg_sys::PushActiveSnapshot(pg_sys::GetLatestSnapshot());
    }
    let result = run();
    // SAFETY: pushed above.
    unsafe { pg_sys::PopActiveSnapshot() };
    result
}

/// The cycle, from the edge's child down to itself, by a shortest way; among these the one with the smallest names by bytes, from the parent up. None if
/// the search gave up before it met the child.
fn path(above: &[[Option<Vec<u8>>; 2]], edge: Edge<'_>) -> Option<String> {
    // The level of each entity, and the one below it.
    let mut met: HashMap<&[u8], (usize, &[u8])> = HashMap::from([(edge.parent, (0, edge.parent))]);
    for row in above {
        let [Some(entity), Some(below)] = row else { continue };
        let level = met.get(below.as_slice())?.0 + 1;
        let found = met.entry(entity).or_insert((level, below));
        if found.0 == level && below.as_slice() < found.1 {
            found.1 = below;
        }
    }
    let mut path: Vec<&[u8]> = vec![edge.child];
    while path[path.len() - 1] != edge.parent {
        path.push(met.get(path[path.len() - 1])?.1);
    }
    path.push(edge.child);
    let shown = |names: &[&[u8]]| names.iter().map(|name| encoding::decode(name)).collect::<Vec<_>>().join(" > ");
    Some(match path.len() {
        ..=MOST_NAMED => shown(&path),
        length => {
            let half = MOST_NAMED / 2;
            format!("{} > ... > {}", shown(&path[..half]), shown(&path[length - half..]))
        }
    })
}
