//! The background worker that looks for names in documents again (capture/linked.rs says when).
//!
//! There is one for a role in a database. It waits for the transactions that write names or documents when it begins
//! with a table: whoever writes documents later sees the names. It compares the documents a thousand at a time, each
//! thousand in a transaction of its own, and writes the links that are wrong. It waits for no document that is locked:
//! it comes back.

#![expect(unsafe_code, reason = "a background worker's name")]

use crate::capture::linked;
use crate::capture::linked::PAUSE;
use crate::catalog::documents::Documents;
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::registered;
use crate::catalog::registration::Functions;
use crate::error;
use crate::pg::background_worker::transaction;
use crate::pg::{backend, background_worker, latch, lock_holders, turn};
use crate::retrieve::links;
use crate::retrieve::links::{Links, Part};
use crate::serve::plans::with_settings;
use pgrx::pg_sys::panic::ErrorReportWithLevel;
use pgrx::prelude::*;
use std::ffi::CString;
use std::time::{Duration, Instant};

/// After an error it tries again, so often and after so long.
const TRIES: u32 = 10;
const AGAIN: Duration = Duration::from_secs(60);
/// Until it looks again at documents that were locked.
const LATER: Duration = Duration::from_secs(5);

/// How an attempt ended.
enum End {
    Done,
    /// Documents, or a table, were locked.
    Locked,
    Failed,
}

/// Documents to look at.
struct Todo {
    documents: pg_sys::Oid,
    at: Instant,
    failures: u32,
}

/// The worker's main function. `bgw_extra`: database, role.
#[pg_guard]
#[unsafe(no_mangle)]
extern "C-unwind" fn cftrag_link_worker(_arg: pg_sys::Datum) {
    let [_, owner, ..] = background_worker::connect();
    let owner = pg_sys::Oid::from(owner);
    let mut todo = Vec::new(); // bounded: linked tables
    // What is left while this one ends is looked for once more.
    while transaction(|| linked::is_left(owner) && turn::take(owner)) {
        while let Some(Todo { documents, failures, .. }) = next(owner, &mut todo) {
            let once = || if pass(documents) { End::Done } else { End::Locked };
            let (pause, failures) = match background_worker::attempt(once, report) {
                End::Done => continue,
                End::Locked => (LATER, failures),
                End::Failed => (AGAIN, failures + 1),
            };
            if failures < TRIES {
                todo.push(Todo { documents, at: Instant::now() + pause, failures });
            }
        }
        transaction(|| turn::release(owner));
        if transaction(lock_holders::database_is_wanted) {
            // For the next one.
            todo.into_iter().for_each(|one: Todo| _ = transaction(|| linked::leave(one.documents)));
            return;
        }
    }
}

/// What to look at next, when it is time; None if there is nothing, or if the database is wanted.
fn next(owner: pg_sys::Oid, todo: &mut Vec<Todo>) -> Option<Todo> {
    loop {
        let now = Instant::now();
        if let Some(due) = todo.iter().position(|one| one.at <= now) {
            return Some(todo.swap_remove(due));
        }
        if transaction(|| linked::is_left(owner)) {
            if !wait(PAUSE) {
                return None;
            }
            while let Some(documents) = transaction(|| linked::take_left(owner)) {
                todo.retain(|one| one.documents != documents);
                todo.push(Todo { documents, at: now, failures: 0 });
            }
        } else if todo.is_empty() || transaction(lock_holders::database_is_wanted) {
            return None;
        } else {
            latch::nap();
        }
    }
}

/// Reports an ERROR in the log, unless a lock was not to be had.
fn report(error: &ErrorReportWithLevel) -> End {
    if error.sql_error_code() == PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE {
        return End::Locked;
    }
    error::log_linker(error.message());
    End::Failed
}

/// Waits so long; returns false at once if the database is wanted.
fn wait(time: Duration) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < time {
        if transaction(lock_holders::database_is_wanted) {
            return false;
        }
        latch::nap();
    }
    true
}

/// Compares all documents once. Returns whether that was the end: none was left out.
fn pass(documents: pg_sys::Oid) -> bool {
    for table in transaction(|| tables(documents)) {
        transaction(|| lock_holders::join_writers(table));
    }
    transaction(|| {
        of_linked(documents, |links| {
            let (edges, matching) = links.edges();
            // An error will be met again below.
            _ = links::wait_for_images(edges, matching, Functions::of_extension());
        })
    });
    let (mut after, mut is_done) = (None::<Vec<u8>>, true);
    loop {
        if transaction(lock_holders::database_is_wanted) {
            return false;
        }
        let part = transaction(|| {
            of_linked(documents, |links| {
                let part = links.renew_part(after.as_deref(), "FOR NO KEY UPDATE SKIP LOCKED");
                if part.last.is_none() {
                    links.drop_orphans();
                }
                part
            })
        });
        let Some(Part { last, left_out, .. }) = part else { return true };
        is_done &= !left_out;
        after = last;
        if after.is_none() {
            return is_done;
        }
    }
}

/// Calls `work` with the rights of the documents' owner; None if they are no longer linked. It gives up a lock (55P03)
/// before the deadlock detector of a session that waits for us runs.
fn of_linked<R>(documents: pg_sys::Oid, work: impl FnOnce(&Links<'_>) -> R) -> Option<R> {
    let patience = backend::deadlock_timeout() / 2;
    let patience = CString::new(patience.max(1).to_string()).unwrap_or_default();
    with_settings(&[(c"lock_timeout", patience.as_c_str())], || {
        let table = EdgesTable::open(documents).ok()?;
        links::as_owner(&table, || {
            let functions = Functions::of_extension();
            let of = Documents::of(functions, Some(documents), true).ok()??;
            Some(work(&Links::of(&of, functions)?))
        })
    })
}

/// The documents, and all tables that have names which may be found in them.
fn tables(documents: pg_sys::Oid) -> Vec<pg_sys::Oid> {
    let functions = Functions::of_extension();
    let Some((edges, _)) = of_linked(documents, |links| links.edges()) else { return Vec::new() };
    let names = registered::tables_beside(edges, &functions.names_of());
    [documents, edges].into_iter().chain(names).collect() // bounded: attached tables
}
