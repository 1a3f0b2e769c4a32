//! A scan of our own for `SELECT ... FROM cft_context(...)` and `cft_entities(...)`. PostgreSQL's function scan copies
//! each row into a tuplestore and out again; this one returns rows whose values stay in the memory of the walk or the
//! recogniser.
//!
//!   function.rs  the functions that it scans
//!   plan.rs      where it replaces a function scan, and its plan
//!   node.rs      the executor's node
//!   arguments.rs, tuple_slot.rs, cursor.rs    the call's arguments, its rows, the position in the answer
//!   explain.rs   EXPLAIN's output
//!
//! Users notice no difference except time and a line of EXPLAIN. If the image cannot serve, the node keeps the
//! reference query's rows as the function scan does. PostgreSQL runs calls that are not a whole FROM item (WITH
//! ORDINALITY, ROWS FROM with several functions, the select list).

#![expect(unsafe_code, reason = "tables of callbacks are shared between threads as far as Rust knows")]

pub mod arguments;
pub mod cursor;
pub mod explain;
pub mod function;
pub mod node;
pub mod plan;
pub mod tuple_slot;

/// A table of callbacks. They are functions of this library, which is never unloaded.
pub struct Methods<T>(pub T);

impl<T> Methods<T> {
    fn is(&self, other: *const T) -> bool {
        std::ptr::eq(&self.0, other)
    }
}

// SAFETY: never written; a backend has one thread.
unsafe impl<T> Sync for Methods<T> {}

pub fn register() {
    plan::register();
}
