//! Whose code may run with whose rights, and where row-level security does not bind (`NOFORCE_RLS`). The rules are
//! PostgreSQL's: docs/security.md has them.

#![expect(unsafe_code, reason = "reads system catalogs, switches the current user")]

use crate::catalog::edges_table::EdgesTable;
use crate::pg::background_worker::SAFE_PATH;
use crate::pg::compat;
use crate::pg::compat::plain;
use crate::pg::lookup;
use pgrx::pg_sys;

/// The context in which forced row-level security does not bind the owner: for checks that must see every row, like
/// those of foreign keys.
pub const NOFORCE_RLS: u32 = pg_sys::SECURITY_NOFORCE_RLS;

/// Whether we run in an operation with [`NOFORCE_RLS`].
pub fn is_past_forced_policies() -> bool {
    plain::InNoForceRLSOperation()
}

/// Calls [`as_role`] for the table's owner.
pub fn as_owner<R>(table: &EdgesTable, context_beside: u32, work: impl FnOnce() -> R) -> R {
    as_role(table.owner(), context_beside, work)
}

/// Runs `work` with the rights of the role, in a security-restricted operation and with a safe search_path, as VACUUM
/// and CREATE INDEX do with the rights of a table's owner. Settings that `work` changes are restored. After an ERROR,
/// the abort restores user and settings.
pub fn as_role<R>(role: pg_sys::Oid, context_beside: u32, work: impl FnOnce() -> R) -> R {
    let (mut user, mut context) = (pg_sys::InvalidOid, 0);
    // SAFETY: as index builds do it. The nest level is left before the user is restored.
    let level = unsafe {
        pg_sys::GetUserIdAndSecContext(&mut user, &mut context);
        let restricted = pg_sys::SECURITY_RESTRICTED_OPERATION | context_beside;
        pg_sys::SetUserIdAndSecContext(role, context | restricted as i32);
        let level = pg_sys::NewGUCNestLevel();
        pg_sys::set_config_option(
            c"search_path".as_ptr(),
            SAFE_PATH.as_ptr(),
            pg_sys::GucContext::PGC_USERSET,
            pg_sys::GucSource::PGC_S_SESSION,
            pg_sys::GucAction::GUC_ACTION_SAVE,
            true,
            0,
            false,
        );
        level
    };
    let result = work();
    // SAFETY: the level and the user of above.
    unsafe {
        pg_sys::AtEOXact_GUC(false, level);
        pg_sys::SetUserIdAndSecContext(user, context);
    }
    result
}

/// OIDs below this one are the server's own (access/transam.h: FirstNormalObjectId).
const FIRST_OF_USERS: u32 = 16384;

/// A relation's owner, as of now; None if it is gone.
pub fn owner(table: pg_sys::Oid) -> Option<pg_sys::Oid> {
    lookup::Row::<pg_sys::FormData_pg_class>::of(table).map(|class| class.relowner)
}

/// Whether a table that belongs to `beside` by a trigger counts: its owner must own `beside` too, be able to SET ROLE
/// to its owner, or be a superuser. (A role that may only create triggers on `beside` could make any table of its own
/// belong to it.)
pub fn counts_beside(table: pg_sys::Oid, beside: pg_sys::Oid) -> bool {
    match (owner(table), owner(beside)) {
        (Some(owner), Some(of)) => compat::may_become(owner, of),
        _ => false,
    }
}

/// Whether the type is the server's own, or a domain over such a type: its casts are a superuser's code. Those of other
/// types may be any user's.
pub fn is_builtin(type_oid: pg_sys::Oid) -> bool {
    lookup::get_typtype(type_oid) != 0 && u32::from(lookup::getBaseType(type_oid)) < FIRST_OF_USERS
}
