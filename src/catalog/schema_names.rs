//! Triggers are made by statements, which name their tables, and PostgreSQL parses those without a hook of ours (named_tables.rs, statement.rs). So
//! while they run no schema of the database changes its name, and none of the tables does.
//!
//! ALTER SCHEMA RENAME locks pg_namespace, as all do that change it, to the end of its transaction. Nobody waits for us long: the tables are
//! locked before, as the statements need them; and we do not wait in the queue of that lock, where everybody else would wait behind us.

#![expect(unsafe_code, reason = "locks")]

use crate::error;
use crate::error::Fallible;
use crate::pg::{error_context, latch};
use pgrx::{check_for_interrupts, pg_sys};
use std::time::{Duration, Instant};

/// How long we wait for a concurrent rename: it may be waiting for our tables.
const RENAME_WAIT_MAX: Duration = Duration::from_secs(1);

/// Keeps others from changing pg_namespace.
const LOCK: pg_sys::LOCKMODE = pg_sys::ShareLock as pg_sys::LOCKMODE;

/// Locks the tables until the transaction ends, then all names of schemas until [`release`], or until an ERROR. The caller may lock the tables
/// so. 40001: somebody renames a schema.
pub fn hold(tables: &[(pg_sys::Oid, u32)]) -> Fallible<()> {
    for &(table, lock) in tables {
        // SAFETY: any OID may be locked. A deadlock's statements are told to the log only.
        error_context::with_error_context(None, || unsafe { pg_sys::LockRelationOid(table, lock as pg_sys::LOCKMODE) });
    }
    let begun = Instant::now();
    // SAFETY: as above.
    while !unsafe { pg_sys::ConditionalLockRelationOid(pg_sys::NamespaceRelationId, LOCK) } {
        check_for_interrupts!();
        if begun.elapsed() > RENAME_WAIT_MAX {
            return Err(error::renamed_beside());
        }
        latch::pause();
    }
    Ok(())
}

/// Lets names change again.
pub fn release() {
    // SAFETY: taken by hold().
    unsafe { pg_sys::UnlockRelationOid(pg_sys::NamespaceRelationId, LOCK) };
}
