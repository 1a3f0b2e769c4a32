//! The line that attaches a table, for hints: as it can be typed, with the table's own columns.

#![expect(unsafe_code, reason = "reads the relation cache")]

use crate::catalog::columns::{ColumnNames, Columns};
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::name::display_name;
use crate::error;
use crate::error::Fallible;
use crate::pg::{compat, encoding};
use pgrx::{PgList, pg_sys};
use std::ffi::CStr;

/// Columns that a hint lists.
const LISTED: usize = 12;

/// "Attach it with: SELECT cft_attach('tags', parent => 'up', child => 'id');" where the table says which columns these are: by a foreign key to
/// itself, else by the names `parent` and `child`, or `parent_id` and `id`. Else what to say, and its columns.
pub fn attach_hint(table: &EdgesTable) -> String {
    let names = |parent: &str, child: &str| ColumnNames { parent: parent.into(), child: child.into(), tree: None };
    let has = |names: &ColumnNames| table.columns(names).is_ok();
    let usual = [names("parent", "child"), names("parent_id", "id")];
    match own_key(table).or_else(|| usual.into_iter().find(has)) {
        Some(names) => format!("Attach it with: {}", attach_line(table, &names)),
        None => {
            format!("Attach it with cft_attach, which takes its columns of parents and children; it {}", listed(table))
        }
    }
}

/// SELECT cft_attach(...) with those columns; defaults are left out.
pub fn attach_line(table: &EdgesTable, names: &ColumnNames) -> String {
    let quote = |text: &str| text.replace('\'', "''");
    let mut line = format!("SELECT cft_attach('{}'", quote(&display_name(table.oid())));
    let columns = [("parent", Some(&names.parent)), ("child", Some(&names.child)), ("tree", names.tree.as_ref())];
    for (argument, column) in columns {
        if let Some(column) = column.filter(|column| *column != argument || argument == "tree") {
            line += &format!(", {argument} => '{}'", quote(column));
        }
    }
    line + ");"
}

/// "has the columns "id", "name"."
pub fn listed(table: &EdgesTable) -> String {
    // SAFETY: the table is open; its descriptor's names are NUL-terminated.
    let names: Vec<String> = unsafe {
        let desc = (*table.rel()).rd_att;
        let all = (0..(*desc).natts).map(|i| &*compat::attribute(desc, i)).filter(|a| !a.attisdropped);
        all.map(|a| encoding::decode(CStr::from_ptr(a.attname.data.as_ptr()).to_bytes())).collect()
    };
    let some: Vec<String> = names.iter().take(LISTED).map(|name| format!("\"{name}\"")).collect();
    let more = if names.len() > LISTED { ", ..." } else { "." };
    format!("has the columns {}{more}", some.join(", "))
}

/// [`EdgesTable::columns`], or 42703.
pub fn require_columns(table: &EdgesTable, names: &ColumnNames) -> Fallible<Columns> {
    let missing =
        |(argument, column): (_, &str)| error::no_such_column(&table.name(), column, argument, &listed(table));
    table.columns(names).map_err(missing)
}

/// The columns of a foreign key of one column to the table itself.
fn own_key(table: &EdgesTable) -> Option<ColumnNames> {
    // SAFETY: the table is open; the list is of nodes of that kind, and in this call's memory.
    unsafe {
        let desc = (*table.rel()).rd_att;
        let name = |number: i16| {
            let column = &*compat::attribute(desc, i32::from(number) - 1);
            encoding::decode(CStr::from_ptr(column.attname.data.as_ptr()).to_bytes())
        };
        let keys = PgList::<pg_sys::ForeignKeyCacheInfo>::from_pg(pg_sys::RelationGetFKeyList(table.rel()));
        let own = keys.iter_ptr().find(|&key| (*key).confrelid == table.oid() && (*key).nkeys == 1)?;
        Some(ColumnNames { parent: name((*own).conkey[0]), child: name((*own).confkey[0]), tree: None })
    }
}
