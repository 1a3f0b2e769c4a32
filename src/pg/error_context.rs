//! What an ERROR of PostgreSQL's says beside its message: CONTEXT, the fields (schema, table, column, type, constraint), the inner query and
//! position, the detail for the log.
//!
//! pgrx turns an ERROR that passes through Rust into a panic, and at the end raises another with the same words; the rest is lost. So the code that
//! calls what may run a user's code, or wait for a lock, does it in [`with_error_context`], which puts an entry on the stack of error contexts:
//!
//! ```text
//!   raised:     entries of C below us, [ours: copies the error], entries above us (which do not matter: they are called again)
//!   Rust        unwinds to the function that PostgreSQL called
//!   raised by pgrx:                    [ours: puts back what it has], entries above us
//! ```
//!
//! Code that catches a panic and goes on takes the entries off again ([`Entries`]).

#![expect(unsafe_code, reason = "the stack of error contexts")]

use crate::pg::compat::plain;
use pgrx::pg_sys;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;

/// Palloc'd in the memory that is current when it is made: it is still there when the error is raised again.
pub struct Entry {
    callback: pg_sys::ErrorContextCallback,
    memory: pg_sys::MemoryContext,
    /// The last ERROR that came by.
    error: *mut pg_sys::ErrorData,
    /// Rust unwinds, or has: when that error comes by again, it is raised by pgrx.
    unwound: bool,
    /// A statement of ours, which nobody wrote: its line of CONTEXT is left out. Null: none.
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

/// An ERROR costs what PostgreSQL's does: whatever the server's environment says, none takes a backtrace, which would be shown to the client,
/// and waits for ever where there is no memory for it. Called once, from _PG_init.
pub fn without_backtraces() {
    for name in ["RUST_BACKTRACE", "RUST_LIB_BACKTRACE"] {
        // SAFETY: a process of PostgreSQL has one thread when it loads a library; the standard library looks at these when it first panics.
        unsafe { std::env::remove_var(name) };
    }
}

/// Runs something whose ERROR is to say all it said. `statement`: the one of ours that it runs.
pub fn with_error_context<R>(statement: Option<&CStr>, run: impl FnOnce() -> R) -> R {
    let pushed = push(statement.map_or(std::ptr::null(), CStr::as_ptr));
    let result = run();
    drop(pushed);
    result
}

/// None: there is no memory for it.
fn push(statement: *const c_char) -> Option<Pushed> {
    // SAFETY: the entry is taken off by Drop; or, if Rust unwinds, by the code that catches the error, while the memory is there. The allocation
    // raises nothing.
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

/// The entries there are, for who catches a panic: those of frames that were unwound go.
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

/// An error or a message comes by, in the memory of errors. What raises here is an error in an error, which PostgreSQL knows.
unsafe extern "C-unwind" fn passes(entry: *mut c_void) {
    // SAFETY: an entry of `with_error_context`, in memory that is there; a jump out of here passes frames that own nothing.
    unsafe {
        let entry = &mut *entry.cast::<Entry>();
        // Where there is no memory, a copy would raise the same again, and again.
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
            // One that was caught on the way.
            entry.forget();
            entry.error = now;
        } else if !entry.error.is_null() && (*entry.error).sqlerrcode == (*now).sqlerrcode {
            put_back(&*entry.error, &*now);
        }
    }
}

/// Gives the error that is being raised what the one before said.
///
/// # Safety
/// Within an error context's callback.
unsafe fn put_back(error: &pg_sys::ErrorData, now: &pg_sys::ErrorData) {
    // SAFETY: the caller's promise; fields are null or C strings.
    unsafe {
        // pgrx has passed it on as UTF-8, or what became of it.
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

/// Takes the lines that have the statement out of a CONTEXT: "SQL statement "..."", in whatever language.
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
        // The line before it ends with the context.
        let start = if end == length { start.saturating_sub(1) } else { start };
        std::ptr::copy(context.add(end), context.add(start), length - end + 1);
    }
}
