//! Keeps what an ERROR of PostgreSQL's says besides its message: CONTEXT, the fields (schema, table, column, type,
//! constraint), the inner query and position, the detail for the log.
//!
//! pgrx turns an ERROR that passes through Rust into a panic, and finally raises another with its message; the rest is
//! lost. So code that may run a user's code, or wait for a lock, does so in [`with_error_context`], which pushes an
//! entry on the stack of error contexts:
//!
//! ```text
//!   raised:     entries of C below us, [ours: copies the error], entries above us (which do not matter: they are called again)
//!   Rust        unwinds to the function that PostgreSQL called
//!   raised by pgrx:                    [ours: restores the copy], entries above us
//! ```
//!
//! Code that catches a panic and goes on pops the entries ([`Entries`]).

#![expect(unsafe_code, reason = "the stack of error contexts")]

use crate::pg::compat::plain;
use pgrx::pg_sys;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;

/// Palloc'd in the context that is current at its creation, which still exists when the error is raised again.
pub struct Entry {
    callback: pg_sys::ErrorContextCallback,
    memory: pg_sys::MemoryContext,
    /// The last ERROR that passed.
    error: *mut pg_sys::ErrorData,
    /// Rust is unwinding, or has unwound: when that error passes again, pgrx has raised it.
    unwound: bool,
    /// A statement of ours, which no user wrote: its line of CONTEXT is left out. May be null.
    statement: *const c_char,
}

impl Entry {
    fn forget(&mut self) {
        let error = std::mem::replace(&mut self.error, null_mut());
        if !error.is_null() {
            // SAFETY: a copy that is ours; freeing raises nothing.
            unsafe { plain::FreeErrorData(error) };
        }
    }
}

/// Makes an ERROR as cheap as PostgreSQL's own: no panic takes a backtrace, whatever the server's environment says. The
/// client would see the backtrace, and without memory for it the process would hang. Called once, from _PG_init.
pub fn without_backtraces() {
    for name in ["RUST_BACKTRACE", "RUST_LIB_BACKTRACE"] {
        // SAFETY: a PostgreSQL process has one thread when it loads a library; the standard library reads these when it
        // first panics.
        unsafe { std::env::remove_var(name) };
    }
}

/// Runs code whose ERRORs must keep all their fields. `statement`: our SQL that it runs, if any.
pub fn with_error_context<R>(statement: Option<&CStr>, run: impl FnOnce() -> R) -> R {
    let pushed = push(statement.map_or(std::ptr::null(), CStr::as_ptr));
    let result = run();
    drop(pushed);
    result
}

/// None if there is no memory for it.
fn push(statement: *const c_char) -> Option<Pushed> {
    // SAFETY: Drop pops the entry; or, if Rust unwinds, the code that catches the error does, while the memory exists.
    // The allocation raises nothing.
    unsafe {
        let (memory, previous) = (pg_sys::CurrentMemoryContext, pg_sys::error_context_stack);
        let flags = pg_sys::MCXT_ALLOC_NO_OOM as c_int;
        let entry = plain::MemoryContextAllocExtended(memory, size_of::<Entry>(), flags).cast::<Entry>();
        if entry.is_null() {
            return None;
        }
        let callback = pg_sys::ErrorContextCallback { previous, callback: Some(passes), arg: entry.cast() };
        entry.write(Entry { callback, memory, error: null_mut(), unwound: false, statement });
        pg_sys::error_context_stack = &raw mut (*entry).callback;
        Some(Pushed(entry))
    }
}

/// An entry that is on the stack.
pub struct Pushed(pub *mut Entry);

impl Drop for Pushed {
    fn drop(&mut self) {
        // SAFETY: made by `push`.
        unsafe {
            match std::thread::panicking() {
                true => (*self.0).unwound = true,
                false => {
                    pg_sys::error_context_stack = (*self.0).callback.previous;
                    (*self.0).forget();
                    plain::pfree(self.0.cast());
                }
            }
        }
    }
}

/// The current stack of entries, for code that catches a panic: restoring it drops the entries of unwound frames.
pub struct Entries(pub *mut pg_sys::ErrorContextCallback);

impl Entries {
    pub fn now() -> Self {
        // SAFETY: a backend variable.
        Self(unsafe { pg_sys::error_context_stack })
    }

    pub fn put_back(&self) {
        // SAFETY: the entries of frames that are still there.
        unsafe { pg_sys::error_context_stack = self.0 };
    }
}

/// Called for a passing error or message, in ErrorContext. An ERROR raised here is an error within an error, which
/// PostgreSQL handles.
unsafe extern "C-unwind" fn passes(entry: *mut c_void) {
    // SAFETY: an entry of `with_error_context`, in memory that is there; a jump out of here passes frames that own
    // nothing.
    unsafe {
        let entry = &mut *entry.cast::<Entry>();
        // Without memory, a copy would raise the same error again and again.
        if plain::geterrcode() == pgrx::PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY as c_int {
            return;
        }
        let before = pg_sys::CurrentMemoryContext;
        pg_sys::CurrentMemoryContext = entry.memory;
        let now = plain::CopyErrorData();
        pg_sys::CurrentMemoryContext = before;
        if (*now).elevel < pgrx::PgLogLevel::ERROR as c_int {
            plain::FreeErrorData(now);
        } else if !entry.unwound {
            leave_out((*now).context, entry.statement);
            if is((*now).internalquery, entry.statement) {
                *(*now).internalquery = 0;
            }
            // Frees an earlier error, which was caught on the way.
            entry.forget();
            entry.error = now;
        } else if !entry.error.is_null() && (*entry.error).sqlerrcode == (*now).sqlerrcode {
            put_back(&*entry.error, &*now);
        }
    }
}

/// Copies the fields of the original error to the error being raised.
///
/// # Safety
/// Within an error context's callback.
unsafe fn put_back(error: &pg_sys::ErrorData, now: &pg_sys::ErrorData) {
    // SAFETY: the caller's promise; fields are null or C strings.
    unsafe {
        // pgrx has passed the message on as UTF-8, or with invalid bytes replaced.
        let told = CStr::from_ptr(error.message).to_string_lossy();
        let is_same = told.as_bytes() == CStr::from_ptr(now.message).to_bytes();
        drop(told);
        if !is_same {
            return;
        }
        let text = |put: unsafe extern "C-unwind" fn(*const c_char, ...) -> c_int, value: *mut c_char| {
            if !value.is_null() && *value != 0 {
                put(c"%s".as_ptr(), value);
            }
        };
        plain::set_errcontext_domain(std::ptr::null());
        text(plain::errmsg_internal, error.message);
        text(plain::errdetail_internal, error.detail);
        text(plain::errdetail_log, error.detail_log);
        text(plain::errhint, error.hint);
        text(plain::errcontext_msg, error.context);
        for (field, value) in [
            (pg_sys::PG_DIAG_SCHEMA_NAME, error.schema_name),
            (pg_sys::PG_DIAG_TABLE_NAME, error.table_name),
            (pg_sys::PG_DIAG_COLUMN_NAME, error.column_name),
            (pg_sys::PG_DIAG_DATATYPE_NAME, error.datatype_name),
            (pg_sys::PG_DIAG_CONSTRAINT_NAME, error.constraint_name),
        ] {
            if !value.is_null() {
                plain::err_generic_string(c_int::from(field), value);
            }
        }
        if !error.internalquery.is_null() && *error.internalquery != 0 {
            plain::internalerrquery(error.internalquery);
            plain::internalerrposition(error.internalpos);
        }
        plain::errposition(error.cursorpos);
        plain::errhidestmt(error.hide_stmt);
        plain::errhidecontext(error.hide_ctx);
    }
}

/// # Safety
/// C strings, or null.
unsafe fn is(query: *const c_char, statement: *const c_char) -> bool {
    // SAFETY: the caller's promise.
    unsafe { !query.is_null() && !statement.is_null() && CStr::from_ptr(query) == CStr::from_ptr(statement) }
}

/// Removes the lines with the statement from a CONTEXT: "SQL statement "..."", in any language.
///
/// # Safety
/// C strings, or null; the first may be written to.
unsafe fn leave_out(context: *mut c_char, statement: *const c_char) {
    if context.is_null() || statement.is_null() {
        return;
    }
    // SAFETY: the caller's promise; what is left is shorter.
    unsafe {
        let (text, statement) = (CStr::from_ptr(context).to_bytes(), CStr::from_ptr(statement).to_bytes());
        let length = text.len();
        let Some(at) = text.windows(statement.len().max(1)).rposition(|part| part == statement) else { return };
        let start = text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |line| line + 1);
        let after = at + statement.len();
        let end = text[after..].iter().position(|byte| *byte == b'\n').map_or(length, |line| after + line + 1);
        // If the line to remove is the last one, remove the newline before it.
        let start = if end == length { start.saturating_sub(1) } else { start };
        std::ptr::copy(context.add(end), context.add(start), length - end + 1);
    }
}
