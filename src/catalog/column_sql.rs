//! A column's value as text, in the SQL that we make: what the output function of its type gives, as in a SELECT of it.
//!
//! Every statement of ours that turns a user's column into text passes through here (SQL calls cft_as_text). A cast is
//! used only where it is the server's own: for its own type any role can create a cast to text, at any time, which then
//! runs as whoever reads. Not even `=` or `||` may be given a value of such a type, since they too look for casts.

use crate::catalog::edges_table::EdgesTable;
use crate::catalog::{name, trust};
use crate::pg::lookup;
use pgrx::pg_sys;

/// A column of the table, called r in the statement, as text.
pub fn text_of(table: &EdgesTable, column: &str) -> String {
    let type_oid = table.column(column).map_or(0, |column| column.type_oid);
    as_text(&format!("r.{}", name::quote(column)), type_oid)
}

/// A value, given as SQL, as text; `type_oid` is its type, or the base type of its domain.
pub fn as_text(value: &str, type_oid: u32) -> String {
    let type_oid = pg_sys::Oid::from(type_oid);
    if !trust::is_builtin(type_oid) {
        return format!(
            "(CASE WHEN pg_catalog.num_nulls({value}) OPERATOR(pg_catalog.=) 0 THEN pg_catalog.concat({value}) END)"
        );
    }
    // A cast gives the same text, and can use an index on that expression. Other types of the server have a built-in
    // cast to text; for these a superuser can create one.
    let output = match type_oid {
        pg_sys::INT2OID => "int2out",
        pg_sys::INT4OID => "int4out",
        pg_sys::INT8OID => "int8out",
        pg_sys::NUMERICOID => "numeric_out",
        pg_sys::UUIDOID => "uuid_out",
        _ => return format!("{value}::pg_catalog.text"),
    };
    match lookup::has_cast_to_text(type_oid) {
        true => format!("pg_catalog.textin(pg_catalog.{output}({value}))"),
        false => format!("{value}::pg_catalog.text"),
    }
}
