//! cft_reject_cycles: a constraint trigger that rejects a row which closes a cycle (CFT-RAG 2.3 filters cycles out
//! afterwards). Opt-in: the user creates the trigger.
//!
//! Two sessions may each insert half of a cycle, and neither sees the other's row before its commit. So the trigger
//! works as a foreign key's check does:
//!
//! - It first takes a lock, one per trigger, until the transaction ends. A second session waits for the first to end.
//! - It searches with a snapshot taken after that, even in REPEATABLE READ and SERIALIZABLE, whose own snapshot would
//!   not show what was committed meanwhile. So of two halves the second is rejected, whatever the isolation level.
//! - It searches by a statement (sql/cycle.sql) with the rights of the table's owner, past row-level security: rows
//!   that the writer may not see can
//!   close a cycle, too. The error shows the path only to callers who may read the table.
//!
//! It does not see rows written while the trigger did not exist or was disabled, or while session_replication_role was
//! replica. A cycle through several trees does not count. Writers of edges wait for each other's transactions;
//! deadlocks are detected as usual (40P01).

use crate::call::fmgr::Call;
use crate::call::trigger::{Operation, Trigger};
use crate::catalog::attach_line::attach_hint;
use crate::catalog::columns::{Column, Columns};
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::registration::Functions;
use crate::catalog::trust::NOFORCE_RLS;
use crate::catalog::{column_rules, column_value, name, registration, trust};
use crate::error;
use crate::error::Fallible;
use crate::pg::relation::Tuple;
use crate::pg::{backend, encoding, snapshot};
use crate::serve::reference::{Edge, Source};
use crate::serve::{conditions, reference};
use pgrx::prelude::*;
use std::collections::HashMap;

/// A longer cycle is shown with some entities left out.
const MOST_NAMED: usize = 40;

/// A row's tree, parent and child.
type Names = [Option<Vec<u8>>; 3];

/// A trigger AFTER INSERT OR UPDATE FOR EACH ROW, deferrable or not, without arguments, on an attached table. Checks
/// the columns of cft_attach. Errors: 23514 (the row closes a cycle), 39P01 (a trigger of another kind), 42P01 (not
/// attached), 42703, 42804, 42809 (the table has changed since).
#[pg_extern(sql = false)]
fn cft_reject_cycles(call: Call) -> Fallible<()> {
    let trigger = Trigger::of(&call).ok_or_else(error::not_a_cycle_trigger)?;
    let is_ours = trigger.is_after() && trigger.is_for_each_row() && trigger.arguments() == 0;
    let ([old, Some(new)], Operation::Insert | Operation::Update, true) =
        (trigger.rows(), trigger.operation(), is_ours)
    else {
        return Err(error::not_a_cycle_trigger());
    };
    let table = EdgesTable::open(trigger.table())?;
    if let Some(why) = table.unsuitable() {
        return Err(error::no_cycles_to_check(&table.name(), why));
    }
    // Check attached columns only: the search is past row-level security, so it could reveal values of other columns to
    // callers who may not read them.
    let attached = registration::now(table.oid(), Functions::beside(call.function()));
    let attached = attached.filter(|registration| registration.names.has_parent());
    let names =
        attached.ok_or_else(|| error::not_attached(&name::display_name(table.oid()), attach_hint(&table)))?.names;
    let columns = table.require_columns(&names)?;
    column_rules::check_columns(&table, &names)?;
    let of = Source { table: &table, names: &names, columns: &columns };
    let edge = self::names(&new, &columns);
    if old.is_some_and(|old| self::names(&old, &columns) == edge) {
        return Ok(());
    }
    let [tree, Some(parent), Some(child)] = &edge else { return Ok(()) };
    let edge = Edge { parent, child, tree: tree.as_deref() };
    trigger.lock();
    let closes = || trust::as_owner(&table, NOFORCE_RLS, || reference::closes_cycle(of, edge));
    if !under_snapshot_of_now(closes) {
        return Ok(());
    }
    let above = || trust::as_owner(&table, NOFORCE_RLS, || reference::cycle_path(of, edge));
    // What the table holds is told to callers who may read it. Without memory for the path the error shows none.
    let above =
        conditions::readable(&table, &columns).is_ok().then(|| under_snapshot_of_now(above)).and_then(Result::ok);
    let shown = above.and_then(|above| path(&above, edge));
    let name = encoding::decode(trigger.name().to_bytes());
    trigger.raise(error::closes_cycle(&table.name(), &name, shown.as_deref()))
}

/// A row's tree, parent and child.
fn names(row: &Tuple<'_>, columns: &Columns) -> Names {
    let of = |column: Column| (column.number != 0).then(|| column_value::of_fired(row, column.number)).flatten();
    [columns.tree, columns.parent, columns.child].map(of)
}

/// Runs `run` under a snapshot that sees what is committed now and what this statement has done so far, as
/// RI_FKey_check does it.
fn under_snapshot_of_now<T>(run: impl FnOnce() -> T) -> T {
    backend::next_command();
    snapshot::under_latest(run)
}

/// The cycle, from the edge's child down to itself, by a shortest way; among these the one with the smallest names by
/// bytes, from the parent up. None if the search gave up before it met the child.
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
