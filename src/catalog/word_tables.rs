//! The tables of word classes that belong to an edges table (cft_attach_words), opened to be read. Which tables these are is read as of now,
//! as PostgreSQL reads foreign keys, whatever the snapshot; what they hold is read by SQL, with the caller's rights.

#![expect(unsafe_code, reason = "reads the relation cache")]

use crate::catalog::edges_table::EdgesTable;
use crate::catalog::privileges::require_readable;
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
    static TABLES: Cached<(pg_sys::Oid, pg_sys::Oid), Rc<[pg_sys::Oid]>> = const { Cached::new(4, invalidation::relations) };
}

/// Opens the tables of words of an edges table that count, ascending by OID. 42501 if the caller may not read one of them.
pub fn open(edges: pg_sys::Oid, functions: Functions) -> Fallible<Vec<WordTable>> {
    let function = functions.words();
    let find = || Ok::<_, Infallible>(registered::tables_beside(edges, &[function]).into());
    let Ok(tables) = TABLES.with(|all| all.get((edges, function), find));
    let mut all = Vec::new();
    for table in tables.iter().filter(|table| trust::counts_beside(**table, edges)) {
        require_readable(*table);
        // A table that was dropped while we waited for its lock no longer counts.
        if let Ok(table) = EdgesTable::open(*table) {
            // SAFETY: an open relation.
            let registered = unsafe { registered::of_open(table.rel(), function) };
            let own = registered.iter().find(|one| one.other == edges);
            if let Some((word, class)) = own.and_then(|own| own.column("word").zip(own.column("class"))) {
                let (word, class) = (word.to_string(), class.to_string());
                all.push(WordTable { table, word, class });
            }
        }
        check_for_interrupts!();
    }
    Ok(all)
}
