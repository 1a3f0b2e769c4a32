//! The rows of a statement, for functions that read a table of the user's as a query of his would: his rights, his snapshot.

#![expect(unsafe_code, reason = "SPI, called directly")]

use crate::error::Fallible;
use crate::meant::Statement;
use crate::raised;
use pgrx::pg_sys;
use std::ffi::CStr;

/// Rows fetched at once, or handled between two looks for an interrupt.
pub const BATCH: usize = 10_000;

/// A row of the statement.
pub struct Tuple {
    tuple: pg_sys::HeapTuple,
    desc: pg_sys::TupleDesc,
}

impl Tuple {
    /// A column, from 1. What it points to lives as long as the tuple.
    pub fn get(&self, column: i32) -> Option<pg_sys::Datum> {
        let mut null = false;
        // SAFETY: a row of the batch that is at hand, and its descriptor; a column that is none gives NULL.
        let datum = unsafe { pg_sys::SPI_getbinval(self.tuple, self.desc, column, &mut null) };
        (!null).then_some(datum)
    }
}

/// Gives each row to `take`, under the caller's active snapshot, until it fails. Raises 40001 if the text does not mean the statement's
/// tables now.
pub fn scan(statement: &Statement, take: impl FnMut(&Tuple) -> Fallible<()>) -> Fallible<()> {
    statement.run(|| run(statement.sql(), take))
}

fn run(sql: &CStr, mut take: impl FnMut(&Tuple) -> Fallible<()>) -> Fallible<()> {
    raised::whole(Some(sql), || {
        // SAFETY: SPI is connected and finished around its use; a row and its descriptor live until the batch is freed. An error that is
        // returned is raised, which ends SPI too.
        unsafe {
            pg_sys::SPI_connect();
            let plan = pg_sys::SPI_prepare(sql.as_ptr(), 0, std::ptr::null_mut());
            assert!(!plan.is_null(), "SPI_prepare raises or plans");
            let null = std::ptr::null_mut();
            let portal = pg_sys::SPI_cursor_open(std::ptr::null(), plan, null, std::ptr::null(), true);
            loop {
                pg_sys::SPI_cursor_fetch(portal, true, BATCH as std::ffi::c_long);
                let (table, count) = (pg_sys::SPI_tuptable, pg_sys::SPI_processed as usize);
                for i in 0..count {
                    take(&Tuple { tuple: *(*table).vals.add(i), desc: (*table).tupdesc })?;
                }
                pg_sys::SPI_freetuptable(table);
                if count == 0 {
                    break;
                }
            }
            pg_sys::SPI_cursor_close(portal);
            pg_sys::SPI_finish();
        }
        Ok(())
    })
}
