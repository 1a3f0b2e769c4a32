//! Test builds only (cargo feature `inject`, never in a library that is shipped): makes the n-th use of dynamic shared memory fail.
//!
//! Each call of dsa_* that allocates, attaches or maps stands behind `fails`. tests/inject runs a script for every n.

#![expect(unsafe_code, reason = "raises as PostgreSQL does")]

use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, pg_sys};
use std::cell::Cell;

/// `cftrag.fail_at`: n raises at the n-th use of a process, as a full /dev/shm does; -n has it find no memory, where it can say so.
static FAIL_AT: GucSetting<i32> = GucSetting::<i32>::new(0);

thread_local! {
    static USES: Cell<i32> = const { Cell::new(0) };
}

pub fn define() {
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
}

/// Counts a use. True: there is no memory; or raises.
pub fn fails() -> bool {
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
        // SAFETY: there is no such area: an ERROR of PostgreSQL's own, from where a real one would come.
        unsafe { pg_sys::dsa_attach(2) };
    }
    true
}
