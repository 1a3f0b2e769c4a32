//! The tables of word classes (cft_attach_words) and of phrases (cft_attach_phrases) that belong to an edges table,
//! opened to be read. Which tables these are is read as of now, as PostgreSQL reads foreign keys, whatever the
//! snapshot; what they hold is read by SQL, with the caller's rights.

use crate::catalog::edges_table::EdgesTable;
use crate::catalog::privileges::{is_readable, may_select, require_readable};
use crate::catalog::registered::Registered;
use crate::catalog::registration::Functions;
use crate::catalog::{registered, trust};
use crate::error::Fallible;
use crate::pg::invalidation;
use crate::pg::invalidation::Cached;
use pgrx::check_for_interrupts;
use pgrx::prelude::*;
use std::convert::Infallible;
use std::rc::Rc;

/// A table of words, open, and the columns of the words and of their classes.
pub struct WordTable {
    pub table: EdgesTable,
    pub word: String,
    pub class: String,
}

thread_local! {
    static TABLES: Cached<(pg_sys::Oid, pg_sys::Oid), Rc<[pg_sys::Oid]>> = const { Cached::new(8, invalidation::relations) };
}

/// Opens the tables of words of an edges table that count, ascending by OID. 42501 if the caller may not read one of
/// them.
pub fn open(edges: pg_sys::Oid, functions: Functions) -> Fallible<Vec<WordTable>> {
    let all = beside(edges, functions.words(), |table| {
        require_readable(table);
        true
    });
    let of_words = |(table, said): (EdgesTable, Registered)| {
        let (word, class) = said.column("word").zip(said.column("class"))?;
        let (word, class) = (word.to_string(), class.to_string());
        Some(WordTable { table, word, class })
    };
    Ok(all.into_iter().filter_map(of_words).collect()) // bounded: attached tables
}

/// Opens the first table of phrases of an edges table that counts and whose columns the caller may read, and says what
/// these are for.
pub fn phrases(edges: pg_sys::Oid, functions: Functions) -> Option<(EdgesTable, Registered)> {
    let all = beside(edges, functions.phrases(), is_readable);
    all.into_iter().find(|(table, said)| {
        may_select(table.oid(), said.roles().values().map(|column| table.column(column).map(|column| column.number)))
    })
}

/// Opens the tables that triggers of that function say belong to an edges table, those that count and are wanted,
/// ascending by OID.
fn beside(
    edges: pg_sys::Oid,
    function: pg_sys::Oid,
    is_wanted: impl Fn(pg_sys::Oid) -> bool,
) -> Vec<(EdgesTable, Registered)> {
    let find = || Ok::<_, Infallible>(registered::tables_beside(edges, &[function]).into());
    let Ok(tables) = TABLES.with(|all| all.get((edges, function), find));
    let open = |table: &pg_sys::Oid| {
        check_for_interrupts!();
        // A table that was dropped while we waited for its lock no longer counts.
        let table = EdgesTable::open(*table).ok()?;
        let all = registered::of_relation(&table, function);
        Some((table, all.into_iter().find(|one| one.other == edges)?))
    };
    tables.iter().filter(|table| trust::counts_beside(**table, edges) && is_wanted(**table)).filter_map(open).collect() // bounded: attached tables
}
