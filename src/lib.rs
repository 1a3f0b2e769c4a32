//! cftrag: exact hierarchy retrieval inside PostgreSQL.
//!
//! This crate is glue. The filter and the forest are in crates/core and know nothing of PostgreSQL; sql/reference.sql
//! defines what an answer is. docs/design.md has the contract and how we keep it, docs/rules.md the file and the test
//! of each rule.
//!
//! Its folders are layers: an import points down, never up or in a circle (tools/layers). From the top:
//!
//!   scan        the executor's node for FROM cft_context and FROM cft_entities
//!   api         every SQL function of the core: convert, one call, convert
//!   methods     the papers' functions, built on walks
//!   serve       one answer: conditions, what heals an image, walk, mentions, the reference query, rows and sentences
//!   builds      images from tables: under a lock, beside writers, at server start; who builds
//!   capture     how a write reaches the image: trigger, delta, flush
//!   image       shared memory: control block, slots, chunks, locks, limits, settling, counters
//!   catalog     the user's tables in the catalogs: names, columns, registrations, trust, the table that a call means
//!   call        arguments, results and memory of one call
//!   error.rs    every message
//!   pg          how to live in PostgreSQL 15 to 18, and their differences
//!   guc.rs      settings

#![allow(clippy::result_large_err, reason = "ErrorReport is pgrx's error type; it is built once per failed statement")]

use pgrx::prelude::*;
use std::ffi::CStr;

// The code that pgrx's #[pg_guard] generates for our extern block (pg/compat.rs) looks for this name here.
use pgrx::pg_sys::submodules::ffi;

mod api;
mod builds;
mod call;
mod capture;
mod catalog;
mod error;
mod guc;
mod image;
mod methods;
mod pg;
#[cfg(feature = "pg_test")]
mod pg_tests;
mod retrieve;
mod scan;
mod serve;

// pgrx-tests looks for it here.
#[cfg(all(test, feature = "pg_test"))]
pub use pg_tests::pg_test;

/// The library's version. The module magic spells out name and version, because pgrx 0.18.1 puts `version` in place of
/// the name (pg_get_loaded_modules, since 18). Only the compiler evaluates this.
const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => panic!("a version has no NUL"),
};
pgrx::pg_module_magic!(name = c"cftrag", version = VERSION);

// The files form a chain: files with the same requirements have no fixed order, and the generated script would differ
// from build to build.
extension_sql_file!("../sql/install/functions.sql", name = "functions");
extension_sql_file!("../sql/install/under.sql", name = "under", requires = ["functions"]);
extension_sql_file!("../sql/install/grants.sql", name = "grants", requires = ["under"]);
extension_sql_file!("../sql/install/text.sql", name = "text", requires = ["grants"]);
extension_sql_file!("../sql/install/documents.sql", name = "documents", requires = ["text"]);
extension_sql_file!("../sql/install/methods/baselines.sql", name = "baselines", requires = ["documents"]);
extension_sql_file!("../sql/install/retrieve.sql", name = "retrieve", requires = ["baselines"]);
extension_sql_file!("../sql/install/methods/meaning.sql", name = "meaning", requires = ["retrieve"]);
extension_sql_file!("../sql/install/methods/tree_search.sql", name = "tree_search", requires = ["meaning"]);
extension_sql_file!("../sql/install/methods/tree_rag.sql", name = "tree_rag", requires = ["tree_search"]);
extension_sql_file!("../sql/install/methods/hirag.sql", name = "hirag", requires = ["tree_rag"]);
extension_sql_file!("../sql/install/methods/summaries.sql", name = "summaries", requires = ["hirag"]);
extension_sql_file!("../sql/install/methods/marks.sql", name = "marks", requires = ["summaries"]);
extension_sql_file!("../sql/install/methods/rollup.sql", name = "rollup", requires = ["marks"]);
extension_sql_file!("../sql/install/methods/hierarchy.sql", name = "hierarchy", requires = ["rollup"]);
extension_sql_file!("../sql/install/methods/paths.sql", name = "paths", requires = ["hierarchy"]);
extension_sql_file!("../sql/install/methods/relations.sql", name = "relations", requires = ["paths"]);
extension_sql_file!("../sql/install/methods/extract.sql", name = "extract", requires = ["relations"]);
extension_sql_file!("../sql/install/internal.sql", name = "internal", requires = ["extract"]);
extension_sql_file!("../sql/install/views.sql", name = "views", requires = ["internal"]);
extension_sql_file!("../sql/install/health.sql", name = "health", requires = ["views"]);

/// All that loading the library does: disables backtraces, defines settings, registers shared memory and the launcher
/// when preloaded, and installs callbacks of transactions and resource owners and hooks of planner and executor.
#[pg_guard]
extern "C-unwind" fn _PG_init() {
    pg::error_context::without_backtraces();
    guc::define();
    call::format::define();
    #[cfg(feature = "inject")]
    {
        pg::inject::define();
        image::inject::define_lost();
    }
    guc::reserve();
    image::control::preload();
    builds::launcher::register();
    capture::transaction::register();
    capture::dropped::register();
    pg::lock_owner::register();
    scan::register();
}
