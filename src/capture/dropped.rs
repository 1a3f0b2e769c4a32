//! What a transaction drops or detaches: its images and entries in the directory go when it commits.
//!
//! PostgreSQL tells of each drop (object_access_hook) if the session has loaded the library, as all have with
//! shared_preload_libraries. What others drop, builds find later (image/gone.rs). Before the commit is written the
//! object is gone for this session and locked for all others; if the commit fails after all, the next reader has the
//! image built again.

#![expect(unsafe_code, reason = "a hook")]

use crate::catalog::registration;
use crate::catalog::registration::Functions;
use crate::image::control::Control;
use crate::image::{control, gone};
use crate::pg::backend;
use crate::pg::compat::{OAT_DROP, ObjectAccessHook, object_access_hook};
use crate::pg::contain;
use pgrx::pg_sys;
use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering::Relaxed;

thread_local! {
    static NEXT: Cell<ObjectAccessHook> = const { Cell::new(None) };
    static DROPPED: RefCell<Vec<Dropped>> = const { RefCell::new(Vec::new()) };
}

#[derive(Clone, Copy)]
enum Dropped {
    Table(u32),
    /// A table that stays.
    Detached(u32),
    Database(u32),
    /// An extension; ours takes all registrations of the database with it.
    Extension,
}

/// Called once, from _PG_init.
pub fn register() {
    // SAFETY: hooks are chained while a library is loaded, which is never unloaded.
    unsafe {
        NEXT.set(object_access_hook);
        object_access_hook = Some(accessed);
    }
}

/// Notes what is dropped. Nothing here can raise; there is no guard, which would strip CONTEXT from errors of the next
/// hook.
unsafe extern "C-unwind" fn accessed(
    access: c_int,
    class: pg_sys::Oid,
    object: pg_sys::Oid,
    part: c_int,
    arg: *mut c_void,
) {
    // SAFETY: the hook's own arguments.
    unsafe {
        if let Some(next) = NEXT.get() {
            next(access, class, object, part, arg);
        }
    }
    if access != OAT_DROP || part != 0 {
        return;
    }
    let dropped = match class {
        pg_sys::RelationRelationId
            if control::control().is_some_and(|control| control.find_entry(object).is_some()) =>
        {
            Dropped::Table(u32::from(object))
        }
        pg_sys::DatabaseRelationId => Dropped::Database(u32::from(object)),
        pg_sys::ExtensionRelationId => Dropped::Extension,
        _ => return,
    };
    note(dropped);
}

/// Notes that a table is detached.
pub fn note_detached(table: pg_sys::Oid) {
    note(Dropped::Detached(u32::from(table)));
}

fn note(dropped: Dropped) {
    DROPPED.with_borrow_mut(|all| {
        if all.try_reserve(1).is_ok() {
            all.push(dropped);
        }
    });
}

/// Gives back what belongs to objects that are gone now: a drop may have been rolled back.
pub fn before_commit() {
    let dropped = DROPPED.take();
    if dropped.is_empty() {
        return;
    }
    let Some(control) = control::control() else { return };
    dropped.into_iter().for_each(|dropped| give_back(control, dropped));
}

fn give_back(control: &Control, dropped: Dropped) {
    let here = backend::database();
    let all_of = |database: u32| {
        let of = control.entries().filter(move |(_, entry)| entry.database.load(Relaxed) == database);
        of.for_each(|(index, _)| give_back_one(control, index, move |held, _| held == database));
    };
    match dropped {
        Dropped::Table(table) => {
            if let Some(index) = control.find_entry(pg_sys::Oid::from(table)) {
                give_back_one(control, index, |database, held| held == table && !gone::exists(database, table));
            }
        }
        Dropped::Detached(table) => {
            let oid = pg_sys::Oid::from(table);
            let is_attached = || registration::now(oid, Functions::of_extension()).is_some();
            if let Some(index) = control.find_entry(oid) {
                give_back_one(control, index, |database, held| held == table && database == here && !is_attached());
            }
        }
        Dropped::Database(database) if database != here => {
            if contain::attempt(|| gone::exists(database, 0)) == Some(false) {
                all_of(database);
            }
        }
        Dropped::Database(_) => {}
        Dropped::Extension => {
            if contain::attempt(|| Functions::of_extension().capture) == Some(pg_sys::InvalidOid) {
                all_of(here);
            }
        }
    }
}

fn give_back_one(control: &Control, index: usize, gone: impl Fn(u32, u32) -> bool) {
    contain::attempt(|| gone::give_back_if(control, index, gone));
}

pub fn forget() {
    DROPPED.with_borrow_mut(Vec::clear);
}
