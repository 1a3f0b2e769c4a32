//! The reference query: the definition of every answer (sql/reference.sql, sql/roots.sql, sql/entities.sql), run when the image cannot serve.
//!
//! It runs under the caller's own active snapshot and rights: SPI, called directly with read_only = true. (pgrx's Spi client turns
//! to read-write once the transaction has an xid, and that takes a new snapshot.) Plans are kept by statement text.

#![expect(unsafe_code, reason = "SPI, called directly")]

use crate::api::context::{self, Relative, Sink};
use crate::api::text::sentences;
use crate::compat;
use crate::edges::{self, ColumnNames, Columns, Edges};
use crate::encoding;
use crate::fmgr::{Rows, text_bytes, text_datum};
use pgrx::pg_sys;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::CString;

const TEMPLATE: &str = include_str!("../sql/reference.sql");
const ENTITIES: &str = include_str!("../sql/entities.sql");
const ROOTS: &str = include_str!("../sql/roots.sql");
const CYCLE: &str = include_str!("../sql/cycle.sql");

/// Statements of so many tables are kept planned; past it all are forgotten.
const PLANS: usize = 64;

thread_local! {
    static KEPT: RefCell<HashMap<CString, pg_sys::SPIPlanPtr>> = RefCell::new(HashMap::new());
}

/// The statement for one table.
pub fn statement(table: &Edges, names: &ColumnNames, columns: &Columns) -> String {
    let sql = without_comments(TEMPLATE)
        .replace("{parent_collation}", &edges::collation_sql(&columns.parent))
        .replace("{child_collation}", &edges::collation_sql(&columns.child));
    fill_columns(&sql, table, names)
}

/// The names last, and in one pass: a name may contain anything, braces too.
fn fill_columns(sql: &str, table: &Edges, names: &ColumnNames) -> String {
    let tree = names.tree.as_deref().map_or("NULL::pg_catalog.text".to_string(), |name| text_of(table, name));
    fill(
        sql,
        &[
            ("{edges}", &table.qualified()),
            ("{tree}", &tree),
            ("{parent}", &text_of(table, &names.parent)),
            ("{child}", &text_of(table, &names.child)),
        ],
    )
}

/// A column as text: what the output function of its type says, as in the image (value.rs). A cast says the same, and an index on it
/// serves; unless somebody has made a cast of his own from that type to text.
pub fn text_of(table: &Edges, column: &str) -> String {
    let (name, type_oid) = (edges::quote(column), table.column(column).map_or(0, |column| column.type_oid));
    let output = match pg_sys::Oid::from(type_oid) {
        pg_sys::INT4OID => "int4out",
        pg_sys::INT8OID => "int8out",
        pg_sys::UUIDOID => "uuid_out",
        // The others have PostgreSQL's own cast, beside which there can be no second.
        _ => return format!("r.{name}::pg_catalog.text"),
    };
    match compat::has_cast_to_text(type_oid) {
        true => format!("pg_catalog.textin(pg_catalog.{output}(r.{name}))"),
        false => format!("r.{name}::pg_catalog.text"),
    }
}

fn without_comments(template: &str) -> String {
    template.lines().filter(|line| !line.trim_start().starts_with("--")).map(|line| format!("{line}\n")).collect()
}

fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len() * 2);
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match values.iter().find(|(key, _)| rest.starts_with(key)) {
            Some((key, value)) => {
                out.push_str(value);
                rest = &rest[key.len()..];
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Answers by the reference query. `entities` is a text[] value. Raises what the table itself would raise (42501, ...).
pub fn answer(
    table: &Edges,
    names: &ColumnNames,
    columns: &Columns,
    entities: pg_sys::Datum,
    up: i32,
    down: i32,
    sink: &mut Sink,
) {
    let types = [pg_sys::TEXTARRAYOID, pg_sys::INT4OID, pg_sys::INT4OID];
    let values = [entities, pg_sys::Datum::from(up), pg_sys::Datum::from(down)];
    run(statement(table, names, columns), types, values, sink);
}

/// Answers cft_roots by its definition (sql/roots.sql).
pub fn roots(table: &Edges, names: &ColumnNames, rows: Rows) {
    let sql = fill_columns(&without_comments(ROOTS), table, names);
    run(sql, [], [], &mut Sink::Rows(rows));
}

/// Answers cft_entities by its definition (sql/entities.sql), which uses functions beside `function`. `aliases`: tables with entity as
/// parent and alias as child.
pub fn entities(
    table: &Edges,
    names: &ColumnNames,
    aliases: &[(&Edges, &ColumnNames)],
    function: pg_sys::Oid,
    question: pg_sys::Datum,
    overlapping: pg_sys::Datum,
    rows: Rows,
) {
    // SAFETY: a system cache lookup of our own function.
    let schema = edges::schema_name(unsafe { pg_sys::get_func_namespace(function) });
    let aliases: Vec<_> = aliases.iter().map(|(table, names)| aliases_of(table, names)).collect();
    let aliases = aliases.join(" UNION ALL ");
    let none = "SELECT NULL::pg_catalog.text, NULL::pg_catalog.text WHERE false";
    let sql = fill(
        &without_comments(ENTITIES),
        &[
            ("{edges}", &table.qualified()),
            ("{schema}", &schema),
            ("{aliases}", if aliases.is_empty() { none } else { &aliases }),
            ("{parent}", &text_of(table, &names.parent)),
            ("{child}", &text_of(table, &names.child)),
        ],
    );
    run(sql, [pg_sys::TEXTOID, pg_sys::BOOLOID], [question, overlapping], &mut Sink::Rows(rows));
}

/// Whether an edge that is in the table closes a cycle (sql/cycle.sql), under the active snapshot.
pub fn closes_cycle(
    table: &Edges,
    names: &ColumnNames,
    columns: &Columns,
    parent: &[u8],
    child: &[u8],
    tree: Option<&[u8]>,
) -> bool {
    let same_tree = names.tree.as_deref().map_or("true".to_string(), |name| {
        let column = text_of(table, name);
        format!(
            "({column} OPERATOR(pg_catalog.=) $3 COLLATE pg_catalog.\"C\" OR ({column} IS NULL AND $3::pg_catalog.text IS NULL))"
        )
    });
    let sql = without_comments(CYCLE).replace("{child_collation}", &edges::collation_sql(&columns.child));
    let sql = fill(
        &sql,
        &[
            ("{edges}", &table.qualified()),
            ("{same_tree}", &same_tree),
            ("{parent}", &text_of(table, &names.parent)),
            ("{child}", &text_of(table, &names.child)),
        ],
    );
    let values = [text_datum(parent), text_datum(child), text_datum(tree.unwrap_or_default())];
    let mut nulls = [b' ', b' ', if tree.is_none() { b'n' } else { b' ' }];
    let mut rows = 0;
    execute(sql, [pg_sys::TEXTOID; 3], values, Some(&mut nulls), |table| rows = table.numvals);
    rows > 0
}

fn aliases_of(table: &Edges, names: &ColumnNames) -> String {
    let (alias, entity) = (text_of(table, &names.child), text_of(table, &names.parent));
    let table = table.qualified();
    let c = "COLLATE pg_catalog.\"C\"";
    format!("SELECT {alias} {c}, {entity} {c} FROM {table} AS r WHERE {alias} IS NOT NULL AND {entity} IS NOT NULL")
}

/// Runs a statement of a template; its select list is the row type of the sink's rows.
fn run<const N: usize>(sql: String, types: [pg_sys::Oid; N], values: [pg_sys::Datum; N], sink: &mut Sink) {
    // SAFETY: a backend variable.
    let caller = unsafe { pg_sys::CurrentMemoryContext };
    execute(sql, types, values, None, |table| {
        // SAFETY: the rows of the result; their type is that of the function by the statement's select list; tuplestore_puttuple copies.
        unsafe {
            let tuples = (0..table.numvals as usize).map(|i| *table.vals.add(i));
            match sink {
                Sink::Rows(rows) => tuples.for_each(|tuple| rows.add_tuple(tuple)),
                // The value outlives SPI's memory.
                Sink::Text(text) => {
                    let sentences = sentences(&tuples.map(|tuple| relative(tuple, table.tupdesc)).collect::<Vec<_>>());
                    let context = pg_sys::MemoryContextSwitchTo(caller);
                    **text = context::text_of(sentences.as_bytes());
                    pg_sys::MemoryContextSwitchTo(context);
                }
                Sink::Whole(take) => take(&tuples.map(|tuple| relative(tuple, table.tupdesc)).collect::<Vec<_>>()),
            }
        }
    });
}

/// Runs a statement under the active snapshot and gives its result to `take`. `nulls`: an 'n' where a value is NULL.
fn execute<const N: usize>(
    sql: String,
    mut types: [pg_sys::Oid; N],
    mut values: [pg_sys::Datum; N],
    nulls: Option<&mut [u8; N]>,
    take: impl FnOnce(&pg_sys::SPITupleTable),
) {
    let Ok(sql) = CString::new(encoding::encode(&sql)) else {
        unreachable!("identifiers come from the catalog and have no NUL");
    };
    let nulls = nulls.map_or(std::ptr::null(), |nulls| nulls.as_ptr().cast());
    // SAFETY: SPI is connected and finished around its use; argument types are those the plan was made for.
    unsafe {
        pg_sys::SPI_connect();
        let plan = plan(sql, &mut types);
        let code = pg_sys::SPI_execute_plan(plan, values.as_mut_ptr(), nulls, true, 0);
        assert_eq!(code, pg_sys::SPI_OK_SELECT as i32, "the reference query is a SELECT");
        take(&*pg_sys::SPI_tuptable);
        pg_sys::SPI_finish();
    }
}

/// A row of the reference query; the bytes live as long as its result.
///
/// # Safety
/// A tuple of the reference query and its descriptor, and SPI is connected.
unsafe fn relative<'a>(tuple: pg_sys::HeapTuple, desc: pg_sys::TupleDesc) -> Relative<'a> {
    let get = |column| {
        let mut null = false;
        // SAFETY: the caller's promise; there are six columns.
        let datum = unsafe { pg_sys::SPI_getbinval(tuple, desc, column, &mut null) };
        (!null).then_some(datum)
    };
    // SAFETY: all columns but depth are texts, and none but the tree is ever NULL.
    let text = |column| get(column).map(|datum| unsafe { text_bytes(datum) });
    Relative {
        entity: text(1).unwrap_or_default(),
        tree: text(2),
        ancestor: text(3) == Some(b"ancestor"),
        depth: get(4).map_or(0, |datum| datum.value() as i32),
        name: text(5).unwrap_or_default(),
        via: text(6).unwrap_or_default(),
    }
}

/// # Safety
/// SPI is connected.
unsafe fn plan(sql: CString, types: &mut [pg_sys::Oid]) -> pg_sys::SPIPlanPtr {
    if let Some(plan) = KEPT.with_borrow(|kept| kept.get(&sql).copied()) {
        return plan;
    }
    // SAFETY: the caller's promise; SPI_prepare raises on a bad statement.
    let plan = unsafe {
        let plan = pg_sys::SPI_prepare(sql.as_ptr(), types.len() as i32, types.as_mut_ptr());
        assert!(!plan.is_null(), "SPI_prepare raises or plans");
        pg_sys::SPI_keepplan(plan);
        plan
    };
    let forgotten = KEPT.with_borrow_mut(|kept| {
        let old = if kept.len() >= PLANS { std::mem::take(kept) } else { HashMap::new() };
        kept.insert(sql, plan);
        old
    });
    for old in forgotten.into_values() {
        // SAFETY: a kept plan that the map no longer holds.
        unsafe { pg_sys::SPI_freeplan(old) };
    }
    plan
}
