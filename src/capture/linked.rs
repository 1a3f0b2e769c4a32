//! Documents that are linked to the entities they mention (retrieve/links.rs), when names change: a background worker looks for the names in them again.
//!
//! The worker is started just before the commit, and waits for it with all other transactions that have written to the tables. One that waits for its turn
//! serves all that ask meanwhile. An image that is built asks, too: what the names are may have changed otherwise (columns, languages, a crash).

#![expect(unsafe_code, reason = "backend state")]

use crate::catalog::registration::Functions;
use crate::catalog::{name, registered, registration};
use crate::error;
use crate::pg::background_worker::launch;
use crate::pg::contain;
use crate::pg::invalidation;
use crate::pg::invalidation::Cached;
use crate::pg::turn::Turn;
use pgrx::pg_sys;
use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A worker waits at least so long before it begins.
pub const PAUSE: Duration = Duration::from_secs(1);

/// Tables of names whose documents are remembered.
const MOST: usize = 8;

thread_local! {
    /// Tables of names that this transaction has changed.
    static CHANGED: RefCell<Vec<pg_sys::Oid>> = const { RefCell::new(Vec::new()) };
    /// Documents that this transaction wants to be looked at.
    static WANTED: RefCell<Vec<pg_sys::Oid>> = const { RefCell::new(Vec::new()) };
    /// (a table of names, the marker of linked documents): the tables of documents that are linked to its entities.
    static DOCUMENTS: Cached<(pg_sys::Oid, pg_sys::Oid), Rc<[pg_sys::Oid]>> = const { Cached::new(MOST, invalidation::relations) };
    /// For which documents this session last started a worker, and when.
    static STARTED: Cell<Option<(pg_sys::Oid, Instant)>> = const { Cell::new(None) };
}

/// Notes that this transaction changes a table of names.
pub fn note(table: pg_sys::Oid) {
    CHANGED.with_borrow_mut(|tables| {
        if tables.last() != Some(&table) && !tables.contains(&table) {
            tables.push(table);
        }
    });
}

/// Has documents looked at once this transaction has committed.
pub fn want(documents: pg_sys::Oid) {
    WANTED.with_borrow_mut(|all| {
        if !all.contains(&documents) {
            all.push(documents);
        }
    });
}

/// Has the documents looked at that are linked to the entities of a table of names, which may be one no longer then.
pub fn want_beside(table: pg_sys::Oid, functions: Functions) {
    of_names(table, functions).iter().copied().for_each(want);
}

/// Called before the commit, which must not fail for what comes after it.
pub fn before_commit() {
    if CHANGED.with_borrow(Vec::is_empty) && WANTED.with_borrow(Vec::is_empty) {
        return;
    }
    contain::attempt(start_all);
}

fn start_all() {
    let (tables, mut documents) = (CHANGED.take(), WANTED.take());
    // What comes from another server brings its links.
    // SAFETY: reads a setting.
    if unsafe { pg_sys::SessionReplicationRole } as u32 == pg_sys::SESSION_REPLICATION_ROLE_REPLICA {
        return;
    }
    if !tables.is_empty() {
        let functions = Functions::of_extension();
        documents.extend(tables.iter().flat_map(|table| of_names(*table, functions).to_vec())); // bounded: attached tables
    }
    for documents in documents {
        if !start(documents) {
            error::warn_not_linked(&name::display_name(documents));
        }
    }
}

pub fn forget() {
    CHANGED.with_borrow_mut(Vec::clear);
    WANTED.with_borrow_mut(Vec::clear);
}

/// Has the documents looked at that are linked to the entities of a table whose image was built.
pub fn names_may_differ(table: pg_sys::Oid, functions: Functions) {
    // SAFETY: backend state.
    if unsafe { !pg_sys::RecoveryInProgress() } {
        contain::attempt(|| of_names(table, functions).iter().for_each(|documents| _ = start(*documents)));
    }
}

/// The documents that are linked to the entities of a table of names: an edges table, or one of labels or aliases.
fn of_names(table: pg_sys::Oid, functions: Functions) -> Rc<[pg_sys::Oid]> {
    let function = functions.links();
    if function == pg_sys::InvalidOid {
        return Rc::default();
    }
    let find = || {
        let beside = registration::name_markers(table, functions).into_iter().map(|(_, edges)| edges);
        let edges = std::iter::once(table).chain(beside);
        Ok::<_, Infallible>(edges.flat_map(|edges| registered::tables_beside(edges, &[function])).collect())
    };
    let Ok(documents) = DOCUMENTS.with(|all| all.get((table, function), find));
    documents
}

/// Starts a worker for the documents, unless one that has not begun will see all that this transaction did. Returns whether one will look at them.
fn start(documents: pg_sys::Oid) -> bool {
    let is_recent = |(of, at): (pg_sys::Oid, Instant)| of == documents && at.elapsed() < PAUSE;
    if STARTED.get().is_some_and(is_recent) || Turn::Next.is_taken(documents) {
        return true;
    }
    // SAFETY: a backend variable.
    let database = unsafe { pg_sys::MyDatabaseId };
    let extra = [u32::from(database), u32::from(documents), 0, 0, 0];
    let is_started = launch(c"cftrag linker", c"cftrag_link_worker", extra).is_some();
    if is_started {
        STARTED.set(Some((documents, Instant::now())));
    }
    is_started
}
