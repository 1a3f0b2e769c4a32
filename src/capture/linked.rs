//! Documents that are linked to the entities they mention (retrieve/links.rs), when names change: a background worker
//! looks for the names in them again.
//!
//! The worker is started just before the commit, and waits for it with all other transactions that have written to the
//! tables. A list in shared memory says what it is to look at: one worker for a role, in a database, does it all. An
//! image that is built asks, too: what the names are may have changed otherwise (columns, languages, a crash).

#![expect(unsafe_code, reason = "backend state")]

use crate::catalog::registration::Functions;
use crate::catalog::{name, registered, registration, trust};
use crate::error;
use crate::image::{control, gone};
use crate::pg::backend;
use crate::pg::background_worker::{Handle, launch};
use crate::pg::contain;
use crate::pg::invalidation;
use crate::pg::invalidation::Cached;
use crate::pg::turn;
use pgrx::{PgMemoryContexts, pg_sys};
use std::cell::RefCell;
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

/// A worker waits so long before it looks at documents: the changes of a second are one.
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
    /// The worker that this session last started, and for which role.
    static STARTED: RefCell<Option<(pg_sys::Oid, Handle)>> = const { RefCell::new(None) };
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
    if backend::replication_role() == pg_sys::SESSION_REPLICATION_ROLE_REPLICA {
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

/// Has a worker look at the documents: at most one runs for a role in a database. Returns whether one does; else the
/// next one will.
fn start(documents: pg_sys::Oid) -> bool {
    let Some(owner) = trust::owner(documents) else { return true };
    if !leave(documents) {
        return false;
    }
    // Neither misses what was left before now: the one that is to begin looks then, the one whose turn it is when it
    // ends.
    let is_to_begin = |(of, worker): &(pg_sys::Oid, Handle)| *of == owner && worker.is_to_begin();
    if STARTED.with_borrow(|started| started.as_ref().is_some_and(is_to_begin)) || turn::is_taken(owner) {
        return true;
    }
    let database = pg_sys::Oid::from(backend::database());
    let extra = [u32::from(database), u32::from(owner), 0, 0, 0];
    // SAFETY: the handle outlives the transaction.
    let started = unsafe {
        PgMemoryContexts::TopMemoryContext.switch_to(|_| launch(c"cftrag linker", c"cftrag_link_worker", extra))
    };
    let is_started = started.is_some();
    if let Some((_, Handle(before))) = started.and_then(|worker| STARTED.replace(Some((owner, worker)))) {
        // SAFETY: ours, and nobody has it now.
        unsafe { pg_sys::pfree(before.cast()) };
    }
    is_started
}

/// Leaves the documents to a worker. Returns whether there is room: a place of what was dropped is free.
pub fn leave(documents: pg_sys::Oid) -> bool {
    let Some(control) = control::attach() else { return false };
    let key = key(documents);
    let is_taken = |place: &AtomicU64, held| place.compare_exchange(held, key, SeqCst, SeqCst).is_ok();
    let is_gone = |held: u64| !gone::exists((held >> 32) as u32, held as u32);
    control.wanted.iter().any(|place| place.load(SeqCst) == key)
        || control.wanted.iter().any(|place| is_taken(place, 0))
        || control.wanted.iter().any(|place| {
            let held = place.load(SeqCst);
            is_gone(held) && is_taken(place, held)
        })
}

/// Whether documents of the role in this database are left to a worker.
pub fn is_left(owner: pg_sys::Oid) -> bool {
    left(owner).next().is_some()
}

/// Takes documents of the role in this database that are left to a worker.
pub fn take_left(owner: pg_sys::Oid) -> Option<pg_sys::Oid> {
    left(owner)
        .find(|(place, documents)| place.compare_exchange(key(*documents), 0, SeqCst, SeqCst).is_ok())
        .map(|(_, documents)| documents)
}

/// Those of tables that are gone are any role's.
fn left(owner: pg_sys::Oid) -> impl Iterator<Item = (&'static AtomicU64, pg_sys::Oid)> {
    let places = control::attach().map_or(&[][..], |control| &control.wanted);
    let documents = |place: &'static AtomicU64| {
        let documents = pg_sys::Oid::from(place.load(SeqCst) as u32);
        (documents != pg_sys::InvalidOid && key(documents) == place.load(SeqCst)).then_some((place, documents))
    };
    places
        .iter()
        .filter_map(documents)
        .filter(move |(_, documents)| trust::owner(*documents).is_none_or(|of| of == owner))
}

fn key(documents: pg_sys::Oid) -> u64 {
    u64::from(backend::database()) << 32 | u64::from(u32::from(documents))
}
