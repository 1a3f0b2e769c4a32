//! cftrag: exact hierarchy retrieval inside PostgreSQL.
//!
//! This crate is glue. The filter and the forest are in crates/core and know no PostgreSQL; what an answer *is* stands in
//! sql/reference.sql. docs/design.md has the contract and the reasons, and names the file where each rule is kept.
//!
//!   api/            what SQL calls: convert, one call, convert
//!   route.rs        may the image answer this call? (the conditions of design.md section 2)
//!   raised.rs       an ERROR on its way through Rust says all it said
//!   running.rs      who has the table open for writing
//!   reference.rs    the reference query; meant.rs: that its text means the tables that were given
//!   scan/           the executor's node for cft_context and cft_entities in FROM
//!   trigger.rs -> delta.rs -> flush.rs     a write on its way into the image
//!   visibility.rs   which versions a snapshot sees
//!   build.rs        an image from a table; online.rs beside its writers, in a worker (worker.rs), also at server start (launcher.rs)
//!   methods/        published ways to use a hierarchy, over walks as cft_context makes them
//!   locks.rs        table locks that are relied on
//!   named.rs        a statement's names mean the tables they were made for
//!   changes.rs      what is kept of the catalogs ends when they change
//!   template        templates of users, bounded
//!   shmem.rs, slot.rs, area.rs             shared memory: control block, locks (table at the head of slot.rs), chunks; huge.rs: their pages

#![allow(clippy::result_large_err, reason = "ErrorReport is pgrx's error type; it is built once per failed statement")]

use pgrx::prelude::*;
use std::ffi::CStr;

// pgrx's #[pg_guard] on our extern block (compat.rs) looks for this name here.
use pgrx::pg_sys::submodules::ffi;

#[path = "image/prefetch.rs"]
mod ahead;
mod api;
#[path = "capture/apply.rs"]
mod apply;
#[path = "image/chunks.rs"]
mod area;
#[path = "builds/load.rs"]
mod build;
#[path = "builds/catch_up.rs"]
mod catchup;
#[path = "pg/invalidation.rs"]
mod changes;
#[path = "catalog/default_table.rs"]
mod chosen;
#[path = "pg/client.rs"]
mod clients;
#[path = "pg/compat.rs"]
mod compat;
#[path = "pg/contain.rs"]
mod contain;
#[path = "image/counters.rs"]
mod counters;
#[path = "capture/transaction.rs"]
mod delta;
#[path = "catalog/edges_table.rs"]
mod edges;
#[path = "pg/encoding.rs"]
mod encoding;
mod error;
#[path = "capture/flush.rs"]
mod flush;
#[path = "call/fmgr.rs"]
mod fmgr;
mod guc;
#[path = "pg/lock_holders.rs"]
mod holders;
#[path = "image/huge_pages.rs"]
mod huge;
#[cfg(feature = "inject")]
#[path = "pg/inject.rs"]
mod inject;
#[cfg(not(feature = "inject"))]
mod inject {
    /// Test builds can make a use of dynamic shared memory fail (inject.rs).
    pub fn fails() -> bool {
        false
    }

    pub fn panics() {}

    pub fn looked() {}

    pub fn armed() -> bool {
        false
    }
}
#[path = "builds/launcher.rs"]
mod launcher;
#[path = "capture/log_record.rs"]
mod loading;
#[path = "pg/lock_owner.rs"]
mod locks;
#[path = "catalog/statement.rs"]
mod meant;
mod methods;
#[path = "catalog/named_tables.rs"]
mod named;
#[path = "catalog/schema_names.rs"]
mod naming;
#[path = "builds/online.rs"]
mod online;
#[path = "catalog/roles.rs"]
mod owners;
#[path = "pg/interrupt.rs"]
mod patience;
#[path = "builds/worker_limit.rs"]
mod places;
#[path = "pg/error_context.rs"]
mod raised;
#[path = "serve/reference.rs"]
mod reference;
#[path = "catalog/registration_cache.rs"]
mod registered;
#[path = "catalog/registration.rs"]
mod registration;
#[path = "catalog/trust.rs"]
mod rights;
#[path = "serve/conditions.rs"]
mod route;
#[path = "call/tuple.rs"]
mod row;
#[path = "pg/open_relations.rs"]
mod running;
mod scan;
#[path = "image/quota.rs"]
mod share;
#[path = "image/control.rs"]
mod shmem;
#[path = "image/slot.rs"]
mod slot;
#[path = "image/sweep.rs"]
mod sweep;
mod template;
#[path = "capture/trigger.rs"]
mod trigger;
#[path = "catalog/pg_trigger.rs"]
mod triggers;
#[path = "image/lock.rs"]
mod turns;
#[path = "catalog/unpinned.rs"]
mod unpinned;
#[path = "catalog/column_value.rs"]
mod value;
#[path = "pg/snapshot.rs"]
mod visibility;
#[cfg(feature = "inject")]
#[path = "pg/watch.rs"]
mod watch;
#[path = "builds/request.rs"]
mod worker;

/// Spelled out, because pgrx 0.18.1 writes `version` where the name is (pg_get_loaded_modules, since 18). Evaluated by the compiler only.
const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => panic!("a version has no NUL"),
};
pgrx::pg_module_magic!(name = c"cftrag", version = VERSION);

// A chain: what requires the same has no order of its own, and the generated script would differ from build to build.
extension_sql_file!("../sql/install/functions.sql", name = "functions");
extension_sql_file!("../sql/install/text.sql", name = "text", requires = ["functions"]);
extension_sql_file!("../sql/install/documents.sql", name = "documents", requires = ["text"]);
extension_sql_file!("../sql/install/statements.sql", name = "statements", requires = ["documents"]);
extension_sql_file!("../sql/install/retrieve.sql", name = "retrieve", requires = ["statements"]);
extension_sql_file!("../sql/install/meaning.sql", name = "meaning", requires = ["retrieve"]);
extension_sql_file!("../sql/install/tree_search.sql", name = "tree_search", requires = ["meaning"]);
extension_sql_file!("../sql/install/tree_rag.sql", name = "tree_rag", requires = ["tree_search"]);
extension_sql_file!("../sql/install/hirag.sql", name = "hirag", requires = ["tree_rag"]);
extension_sql_file!("../sql/install/summaries.sql", name = "summaries", requires = ["hirag"]);
extension_sql_file!("../sql/install/marks.sql", name = "marks", requires = ["summaries"]);
extension_sql_file!("../sql/install/rollup.sql", name = "rollup", requires = ["marks"]);
extension_sql_file!("../sql/install/hierarchy.sql", name = "hierarchy", requires = ["rollup"]);
extension_sql_file!("../sql/install/paths.sql", name = "paths", requires = ["hierarchy"]);
extension_sql_file!("../sql/install/relations.sql", name = "relations", requires = ["paths"]);
extension_sql_file!("../sql/install/extract.sql", name = "extract", requires = ["relations"]);
extension_sql_file!("../sql/install/internal.sql", name = "internal", requires = ["extract"]);
extension_sql_file!("../sql/install/views.sql", name = "views", requires = ["internal"]);

/// What loading the library starts, and nothing else: settings, and when preloaded shared memory and the launcher; callbacks of transactions
/// and resource owners; hooks of planner and executor.
#[pg_guard]
pub extern "C-unwind" fn _PG_init() {
    guc::define();
    shmem::preload();
    launcher::register();
    delta::register();
    locks::register();
    named::register();
    scan::register();
    running::register();
    meant::register();
}
