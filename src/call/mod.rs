//! Arguments, results and memory of one function call: fmgr.rs, tuple.rs, utf8.rs, work_memory.rs; users' formats: format.rs.
//!
//! Not in pg, since it raises our errors. Knows no table.

pub mod fmgr;
pub mod format;
pub mod tuple;
pub mod utf8;
pub mod work_memory;
