//! Test builds only (cargo feature `inject`, never in a shipped library): makes the n-th use of dynamic shared memory
//! fail, or makes Rust panic there, or under the image's lock.
//!
//! `fails` is called before each dsa_* call that allocates, attaches or maps. tests/inject runs a script for every n.

#![expect(unsafe_code, reason = "raises as PostgreSQL does")]

use crate::pg::watch;
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, pg_sys};
use std::cell::Cell;

/// `cftrag.fail_at`: n raises at a process's n-th use, as a full /dev/shm does; -n reports no memory there, where the
/// call can say so.
static FAIL_AT: GucSetting<i32> = GucSetting::<i32>::new(0);

/// `cftrag.panic_at`: n panics at a process's n-th use, uses of the image's lock included, as a bug of ours would.
static PANIC_AT: GucSetting<i32> = GucSetting::<i32>::new(0);

thread_local! {
    static PLACES: Cell<i32> = const { Cell::new(0) };
    static USES: Cell<i32> = const { Cell::new(0) };
}

pub fn define() {
    watch::define();
    GucRegistry::define_int_guc(
        c"cftrag.fail_at",
        c"Sets which use of dynamic shared memory of a process fails.",
        c"Test builds only.",
        &FAIL_AT,
        i32::MIN + 1,
        i32::MAX,
        GucContext::Suset,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"cftrag.panic_at",
        c"Sets at which use of an image's memory or lock a process panics.",
        c"Test builds only.",
        &PANIC_AT,
        0,
        i32::MAX,
        GucContext::Suset,
        GucFlags::default(),
    );
}

/// Whether a panic is set: then rare steps are always taken, so that the panic tests undoing them.
pub fn armed() -> bool {
    PANIC_AT.get() != 0
}

/// Counts a place, and panics there.
pub fn panics() {
    if armed() {
        PLACES.set(PLACES.get() + 1);
        if PLACES.get() == PANIC_AT.get() {
            pgrx::log!("cftrag: injected failure {}", PANIC_AT.get());
            panic!("injected");
        }
    }
}

/// Counts a use. At the n-th, returns true (no memory) or raises.
pub fn fails() -> bool {
    panics();
    let at = FAIL_AT.get();
    if at == 0 {
        return false;
    }
    USES.set(USES.get() + 1);
    if USES.get() != at.abs() {
        return false;
    }
    pgrx::log!("cftrag: injected failure {at}");
    if at > 0 {
        // SAFETY: there is no such area, so this raises PostgreSQL's own ERROR, where a real one would.
        unsafe { pg_sys::dsa_attach(2) };
    }
    true
}
