//! Settings that hold while some code runs.

#![expect(unsafe_code, reason = "settings")]

use crate::pg::background_worker::SAFE_PATH;
use pgrx::pg_sys;
use std::ffi::CStr;

/// Runs without JIT compilation. The planner's estimate for a recursive query, or for the names in a text, is a
/// thousand times too high, and compiling for it took 1.6 s of a call of 1.8 s (12 thousand edges).
pub fn without_jit<T>(work: impl FnOnce() -> T) -> T {
    with_settings(&[(c"jit", c"off")], work)
}

/// Runs with the server's operators and types, whatever the caller's search_path shows first; names in messages have
/// their schemas.
pub fn with_safe_path<T>(work: impl FnOnce() -> T) -> T {
    with_settings(&[(c"search_path", SAFE_PATH)], work)
}

/// Runs with settings that any user may change. After an ERROR the abort restores them.
pub fn with_settings<T>(settings: &[(&CStr, &CStr)], work: impl FnOnce() -> T) -> T {
    // SAFETY: a level of our own, closed below.
    unsafe {
        let level = pg_sys::NewGUCNestLevel();
        for (name, value) in settings {
            pg_sys::set_config_option(
                name.as_ptr(),
                value.as_ptr(),
                pg_sys::GucContext::PGC_USERSET,
                pg_sys::GucSource::PGC_S_SESSION,
                pg_sys::GucAction::GUC_ACTION_SAVE,
                true,
                0,
                false,
            );
        }
        let done = work();
        pg_sys::AtEOXact_GUC(true, level);
        done
    }
}

/// Whether a setting has that value now; false if there is no such setting.
pub fn is(setting: &CStr, value: &CStr) -> bool {
    // SAFETY: a setting's value as a C string, compared at once; null for no setting.
    unsafe {
        let current = pg_sys::GetConfigOption(setting.as_ptr(), true, false);
        !current.is_null() && CStr::from_ptr(current) == value
    }
}
