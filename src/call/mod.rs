//! Arguments, results and memory of one function call: fmgr.rs, text.rs, array.rs, tuple.rs, store.rs, utf8.rs,
//! work_memory.rs; what a trigger is told: trigger.rs; statements that a call runs: spi.rs; entities as values of their
//! columns' types: entity_value.rs; users' formats: format.rs; what is kept from row to row: site.rs; what the planner
//! asks: planner.rs.
//!
//! It is not in pg, because it raises our errors. It knows no table.

pub mod array;
pub mod entity_value;
pub mod fmgr;
pub mod format;
pub mod planner;
pub mod site;
pub mod spi;
pub mod store;
pub mod text;
pub mod trigger;
pub mod tuple;
pub mod utf8;
pub mod work_memory;
