//! Arguments, results and memory of one call of a function: fmgr.rs, tuple.rs, utf8.rs, work_memory.rs; formats of users: format.rs.
//!
//! Apart from pg, since it raises our errors. Knows no table.

pub mod fmgr;
pub mod format;
pub mod tuple;
pub mod utf8;
pub mod work_memory;
