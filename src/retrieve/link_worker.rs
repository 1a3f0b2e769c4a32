//! The background worker that looks for names in documents again (capture/linked.rs says when).
//!
//! It waits for the transactions that write names or documents when its turn begins: whoever writes documents later sees the names. It compares the documents
//! a thousand at a time, each thousand in a transaction of its own, and writes the links that are wrong. It waits for no document that is locked: it comes back.

#![expect(unsafe_code, reason = "a background worker")]

use crate::capture::linked::PAUSE;
use crate::catalog::documents::Documents;
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::registered;
use crate::catalog::registration::Functions;
use crate::error;
use crate::pg::background_worker::transaction;
use crate::pg::error_context::Entries;
use crate::pg::turn::Turn;
use crate::pg::{background_worker, latch, lock_holders};
use crate::retrieve::links;
use crate::retrieve::links::{Links, Part};
use pgrx::pg_sys::panic::CaughtError;
use pgrx::prelude::*;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

/// After an error it tries again, so often and after so long.
const TRIES: u32 = 10;
const AGAIN: Duration = Duration::from_secs(60);
/// Until it looks again at documents that were locked.
const LATER: Duration = Duration::from_secs(5);

/// The worker's main function. `bgw_extra`: database, table of documents.
#[pg_guard]
#[unsafe(no_mangle)]
extern "C-unwind" fn cftrag_link_worker(_arg: pg_sys::Datum) {
    let [_, documents, ..] = background_worker::connect();
    let documents = pg_sys::Oid::from(documents);
    if !transaction(|| Turn::Next.take(documents, false)) {
        return;
    }
    if !wait(PAUSE) {
        return;
    }
    transaction(|| Turn::Running.take(documents, true));
    transaction(|| Turn::Next.release(documents));
    let entries = Entries::now();
    for left in (0..TRIES).rev() {
        let done = PgTryBuilder::new(AssertUnwindSafe(|| {
            while !pass(documents) {
                if !wait(LATER) {
                    break;
                }
            }
            true
        }))
        .catch_others(|error| match left {
            0 => error.rethrow(),
            _ => {
                report(&error, &entries);
                false
            }
        })
        .execute();
        if done || !wait(AGAIN) {
            return;
        }
    }
}

/// Reports an ERROR in the log, and ends its transaction. `entries`: those of the error context before it, which is not unwound by itself.
fn report(error: &CaughtError, entries: &Entries) {
    entries.put_back();
    let (CaughtError::PostgresError(report)
    | CaughtError::ErrorReport(report)
    | CaughtError::RustPanic { ereport: report, .. }) = error;
    error::log_linker(report.message());
    // SAFETY: as after an ERROR in a session's main loop.
    unsafe { pg_sys::AbortCurrentTransaction() };
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
            return true;
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

/// Calls `work` with the rights of the documents' owner; None if they are no longer linked.
fn of_linked<R>(documents: pg_sys::Oid, work: impl FnOnce(&Links<'_>) -> R) -> Option<R> {
    let table = EdgesTable::open(documents).ok()?;
    links::as_owner(&table, || {
        let functions = Functions::of_extension();
        let of = Documents::of(functions, Some(documents), true).ok()??;
        Some(work(&Links::of(&of, functions)?))
    })
}

/// The documents, and all tables that have names which may be found in them.
fn tables(documents: pg_sys::Oid) -> Vec<pg_sys::Oid> {
    let functions = Functions::of_extension();
    let Some((edges, _)) = of_linked(documents, |links| links.edges()) else { return Vec::new() };
    let names = registered::tables_beside(edges, &functions.names_of());
    [documents, edges].into_iter().chain(names).collect() // bounded: attached tables
}
