//! cft_rollup_changed: the trigger that marks summaries as due (sql/install/methods/marks.sql). Like a foreign key's
//! trigger, it writes into another role's table on behalf of the session that makes a change, which needs no right on
//! that table and runs no code of its owner:
//!
//! - the summaries are found as of now, opened before any user's code runs, and stay open (catalog/side_table.rs);
//! - the changed rows are read from the transition tables, with the writer's rights;
//! - what is above them is found with the rights of the owner of the edges;
//! - marks are written with the rights of the owner of the summaries (whose triggers, defaults and indexes run as that
//!   owner).
//!
//! The last two run in a security-restricted operation, past forced row-level security, with statements whose text is
//! made just before.

use crate::call::fmgr::{Call, name_datum, text_array};
use crate::call::spi::{Connection, Table, Value, connected};
use crate::call::trigger::{Operation, Trigger};
use crate::capture::marked;
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::name::{display_name, quote};
use crate::catalog::registered;
use crate::catalog::registered::Registered;
use crate::catalog::registration::{Functions, internal_function};
use crate::catalog::side_table::SideTable;
use crate::catalog::trust::NOFORCE_RLS;
use crate::catalog::{column_rules, column_sql, columns, registration, trust};
use crate::error;
use crate::error::Fallible;
use crate::pg::compat::unguarded;
use crate::pg::{backend, encoding};
use pgrx::Internal;
use pgrx::pg_sys::{BOOLOID, Datum, NAMEOID, Oid, REGCLASSOID, TEXTARRAYOID};
use pgrx::prelude::*;
use std::ffi::CString;

/// A table of summaries, some of which may be due.
struct Touched<'a> {
    summaries: &'a SideTable,
    entity: String,
    /// The edges table by which ancestors are found; open.
    edges: EdgesTable,
    /// Set for changed edges: cft_rollup_due also returns the entities themselves, because another writer may have
    /// changed what is above them.
    twice: bool,
    /// SQL that reads the changed entities from the transition tables; None: all that have a summary.
    changed: Option<String>,
}

/// AFTER INSERT, UPDATE, DELETE or TRUNCATE, for each statement, with transition tables cft_new and cft_old where the
/// event has them; or for each row, which does nothing where the statement fires its trigger, too. Errors: 39P01 (a
/// trigger of another kind), 25001 (TRUNCATE of documents under an old snapshot), those of the INSERT of marks.
#[pg_extern(sql = false)]
fn cft_rollup_changed(call: Call) -> Fallible<()> {
    let mut trigger = Trigger::of(&call).ok_or_else(error::not_a_marking_trigger)?;
    let operation = trigger.operation();
    let (new, old) = (
        matches!(operation, Operation::Insert | Operation::Update).then_some(c"cft_new"),
        matches!(operation, Operation::Delete | Operation::Update).then_some(c"cft_old"),
    );
    // Without transition tables of these names, the statements below would read relations so named.
    if !trigger.is_after() || !trigger.names_tables(new, old) {
        return Err(error::not_a_marking_trigger());
    }
    if trigger.is_for_each_row() {
        // The apply worker of logical replication gives no transition tables, and fires no trigger of statements.
        if trigger.has_tables() {
            return Ok(());
        }
        trigger = trigger.with_tables_of_row();
    }
    let functions = [internal_function(c"cft_summaries", &[]), internal_function(c"cft_summary_documents", &[])];
    let tables = SideTable::all_of(trigger.table(), functions);
    let mut touched = Vec::new();
    for table in &tables {
        of_edges(table, &trigger, functions[0], call.function(), &mut touched);
        of_documents(table, &trigger, functions, call.function(), &mut touched)?;
    }
    connected(Some(&trigger), |spi| touched.iter().try_for_each(|touched| mark(spi, touched)))
}

/// `cft_rollup_write(summaries regclass, entities text[]) -> void`: remembers that this transaction has marked these
/// entities itself.
#[pg_extern(sql = false)]
fn cft_rollup_write(call: Call) -> Fallible<()> {
    if let (Some(summaries), Some(entities)) = (call.oid(0), call.names(1)?) {
        marked::note(summaries, entities.into_iter(), unguarded::GetCurrentSubTransactionId());
    }
    Ok(())
}

/// `cft_rollup_mine(entities text[], summaries regclass) -> text[]`: those of the entities that this transaction has
/// marked itself.
#[pg_extern(sql = false)]
fn cft_rollup_mine(call: Call) -> Fallible<Internal> {
    let summaries = call.oid(1).unwrap_or(pg_sys::InvalidOid);
    let mut mine = call.names(0)?.unwrap_or_default();
    mine.retain(|entity| marked::has(summaries, entity));
    Ok(Internal::from(Some(text_array(&mine))))
}

/// Notes the summaries of the changed edges, if `table` has any: those of the parents are due.
fn of_edges<'a>(
    table: &'a SideTable,
    trigger: &Trigger<'_>,
    summaries: Oid,
    function: Oid,
    touched: &mut Vec<Touched<'a>>,
) {
    let (changed, operation) = (trigger.table(), trigger.operation());
    let Some((said, entity)) = of(table, summaries, changed) else { return };
    if operation == Operation::Truncate || !counts(table, &said) {
        return;
    }
    let Some(names) = registration::now(changed, Functions::beside(function)).map(|r| r.names) else {
        return error::warn_not_attached(&table.name(), &display_name(changed));
    };
    // Like the image: columns that cannot be read cause a WARNING and do not fail the statement.
    let edges = EdgesTable::open(changed).and_then(|edges| {
        let columns = edges.require_columns(&names)?;
        column_rules::check_types(&names, &columns).map(|()| edges)
    });
    let edges = match edges {
        Ok(edges) => edges,
        Err(why) => return error::warn_not_marked(&table.name(), why.message(), Some(&display_name(changed))),
    };
    let text_of = |column: &str| text_of(trigger, column);
    let (parent, child) = (text_of(&names.parent), text_of(&names.child));
    let tree = names.tree.as_deref().map_or("NULL::text".into(), text_of);
    // An UPDATE of a label changes the summaries that say it.
    let label = names.label.as_deref().filter(|_| operation == Operation::Update).map(text_of);
    let called = label.as_deref().unwrap_or("NULL");
    let mut statement = format!(
        "SELECT array_agg(DISTINCT z.parent) FROM ({}) AS z(parent, child, tree, label) WHERE z.parent IS NOT NULL \
            AND z.child IS NOT NULL",
        changes(operation, &format!("{parent}, {child}, {tree}, {called}"))
    );
    if said.column("leaves").is_some() && operation != Operation::Delete {
        // A child that had no parent before this statement may have returned with a summary of its former state.
        let children =
            |of: &str| format!("SELECT {child} FROM {of} AS r WHERE {child} IS NOT NULL AND {parent} IS NOT NULL");
        let before = match operation {
            Operation::Update => format!(" EXCEPT {}", children("cft_old")),
            _ => String::new(),
        };
        statement =
            format!("SELECT ({statement}) || array_agg(z.child) FROM ({}{before}) AS z(child)", children("cft_new"));
    }
    if let Some(label) = label {
        // The entity's own summary says what it is called.
        let rows = |of: &str| format!("SELECT {child}, {label} FROM {of} AS r");
        let (after, before) = (rows("cft_new"), rows("cft_old"));
        statement = format!(
            "SELECT ({statement}) || array_agg(z.child) FROM \
             (SELECT n.child FROM ({after} EXCEPT {before}) AS n(child, label) INTERSECT \
              SELECT o.child FROM ({before} EXCEPT {after}) AS o(child, label)) AS z WHERE z.child IS NOT NULL"
        );
    }
    touched.push(Touched { summaries: table, entity, edges, twice: true, changed: Some(statement) });
}

/// Notes the summaries made of the changed documents, if `table` has any: those of the documents' entities are due.
fn of_documents<'a>(
    table: &'a SideTable,
    trigger: &Trigger<'_>,
    functions: [Oid; 2],
    function: Oid,
    touched: &mut Vec<Touched<'a>>,
) -> Fallible<()> {
    let [summaries, summary_documents] = functions;
    let (changed, operation) = (trigger.table(), trigger.operation());
    let said = registered::of_fired(trigger, internal_function(c"cft_documents", &[])).into_iter().next();
    let Some(of_documents) = table.registered(summary_documents).into_iter().find(|said| said.other == changed) else {
        return Ok(());
    };
    if !counts(table, &of_documents) {
        return Ok(());
    }
    for of_edges in table.registered(summaries) {
        let Some(entity) = of_edges.column("entity") else { continue };
        if !counts(table, &of_edges) {
            continue;
        }
        let attached = registration::now(of_edges.other, Functions::beside(function)).is_some();
        let columns =
            said.as_ref().and_then(|said| Some([said.column("entity")?, said.column("body")?, said.column("id")?]));
        let (Some(columns), true) = (columns, attached) else {
            let which = if attached { changed } else { of_edges.other };
            error::warn_not_attached(&table.name(), &display_name(which));
            continue;
        };
        let Ok(edges) = EdgesTable::open(of_edges.other) else { continue };
        let statement = match operation {
            Operation::Truncate => {
                // No row says which entities the documents were about, and an old snapshot may miss some entities that
                // had summaries of them.
                if backend::isolation() >= pg_sys::XACT_REPEATABLE_READ {
                    return Err(error::truncated_in_an_old_snapshot(&display_name(changed), &table.name()));
                }
                None
            }
            _ => {
                let list = columns.map(|column| text_of(trigger, column)).join(", ");
                Some(format!(
                    "SELECT array_agg(DISTINCT z.entity) FROM ({}) AS z(entity, body, id) WHERE z.entity IS NOT NULL",
                    changes(operation, &list)
                ))
            }
        };
        touched.push(Touched { summaries: table, entity: entity.to_owned(), edges, twice: false, changed: statement });
    }
    Ok(())
}

/// What triggers of that function say about `table` and `other`, and the column of entities.
fn of(table: &SideTable, function: Oid, other: Oid) -> Option<(Registered, String)> {
    let said = table.registered(function).into_iter().find(|said| said.other == other)?;
    let entity = said.column("entity")?.to_owned();
    Some((said, entity))
}

/// Whether the registration counts: its owner may say so, and has enabled it always; a WARNING tells the owner who has
/// not. One that may not say so is nothing to the writers of other tables.
fn counts(table: &SideTable, said: &Registered) -> bool {
    if !trust::counts_beside(table.oid(), said.other) {
        return false;
    }
    if !said.always {
        error::warn_not_always(&table.name(), &said.name, &quote(&said.name));
    }
    said.always
}

/// A column of r, a part of the changed table, as SQL: two values are equal if their texts are, byte by byte.
fn text_of(trigger: &Trigger<'_>, column: &str) -> String {
    let found = columns::of_fired(trigger, &encoding::encode(column));
    let value = format!("r.{}", quote(column));
    column_sql::as_text(&value, found.map_or(0, |found| found.type_oid)) + " COLLATE pg_catalog.\"C\""
}

/// SQL for these columns of the rows that the statement changed. Rows equal before and after (UPDATE of another column)
/// do not count.
fn changes(operation: Operation, columns: &str) -> String {
    let (after, before) =
        (format!("SELECT {columns} FROM cft_new AS r"), format!("SELECT {columns} FROM cft_old AS r"));
    match operation {
        Operation::Insert => after,
        Operation::Delete => before,
        _ => format!("({after} EXCEPT ALL {before}) UNION ALL ({before} EXCEPT ALL {after})"),
    }
}

fn mark(spi: &Connection, touched: &Touched<'_>) -> Fallible<()> {
    let (summaries, edges) = (Datum::from(touched.summaries.oid()), Datum::from(touched.edges.oid()));
    let owner = touched.summaries.owner();
    let note = |rows: &Table| -> Fallible<Option<Datum>> {
        let Some(row) = rows.rows().next() else { return Ok(None) };
        let Some(names) = row.texts(1)? else { return Ok(None) };
        marked::note(touched.summaries.oid(), names.flatten(), unguarded::GetCurrentSubTransactionId());
        Ok(row.value(1))
    };
    let as_their_owner = || {
        let (name, entity) = (touched.summaries.qualified(), quote(&touched.entity));
        run(spi, &format!("SELECT array_agg(DISTINCT s.{entity}::text) FROM {name} AS s"), &[], note)
    };
    let changed = match &touched.changed {
        Some(statement) => run(spi, statement, &[], note)?,
        None => trust::as_role(owner, NOFORCE_RLS, as_their_owner)?,
    };
    let Some(entities) = changed else { return Ok(()) };
    let due = trust::as_owner(&touched.edges, NOFORCE_RLS, || {
        let values = [(TEXTARRAYOID, entities), (REGCLASSOID, edges), (BOOLOID, touched.twice.into())];
        run(spi, "SELECT cftrag_internal.cft_rollup_due($1, $2, $3)", &values.map(given), |rows| {
            rows.rows().next().and_then(|row| row.value(1))
        })
    });
    let Some(due) = due else { return Ok(()) };
    let entity = name_datum(&touched.entity);
    trust::as_role(owner, NOFORCE_RLS, || {
        let values = [(REGCLASSOID, summaries), (NAMEOID, entity), (TEXTARRAYOID, due)];
        run(spi, "SELECT cftrag_internal.cft_rollup_insert($1, $2, $3)", &values.map(given), |_| ());
    });
    Ok(())
}

fn given((of, value): (Oid, Datum)) -> Value {
    (of, Some(value))
}

/// Runs a SELECT that returns one row, and sees what this statement has changed. The SQL is ours, and identifiers have
/// no NUL.
fn run<R>(spi: &Connection, sql: &str, values: &[Value], take: impl FnOnce(&Table<'_>) -> R) -> R {
    spi.once(&CString::new(encoding::encode(sql)).unwrap_or_default(), values, take)
}
