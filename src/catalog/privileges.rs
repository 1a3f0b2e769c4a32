//! What the caller may do with a table given by its OID; SQL would have checked this while looking up the name.
//!
//! All checks read the system caches as of now, without a lock: a caller without rights must not queue for a table's
//! lock, where others would wait behind it. Functions that raise, raise PostgreSQL's own error (42501).

use crate::catalog::name::display_name;
use crate::error;
use crate::error::Fallible;
use crate::pg::{backend, compat, lookup};
use pgrx::pg_sys;
use pgrx::pg_sys::AclResult::{ACLCHECK_NO_PRIV, ACLCHECK_OK};

const SELECT: pg_sys::AclMode = pg_sys::ACL_SELECT as pg_sys::AclMode;

/// Whether the caller has USAGE on the schema, and SELECT on the table or on some column of it.
pub fn is_readable(table: pg_sys::Oid) -> bool {
    let (role, schema, any) = (backend::user(), lookup::get_rel_namespace(table), pg_sys::AclMaskHow::ACLMASK_ANY);
    // The table may be dropped while we check its schema.
    schema != pg_sys::InvalidOid
        && compat::schema_usage(schema, role)
        && (lookup::may(table, role, SELECT) == Some(true)
            || lookup::pg_attribute_aclcheck_all(table, role, SELECT, any) == ACLCHECK_OK)
}

/// Whether the caller has SELECT on the table, or on these columns of it. None: a column that is gone. False if the
/// table is dropped meanwhile.
pub fn may_select(table: pg_sys::Oid, columns: impl IntoIterator<Item = Option<i32>>) -> bool {
    let role = backend::user();
    let column = |number: i32| lookup::may_column(table, number as pg_sys::AttrNumber, role, SELECT);
    lookup::may(table, role, SELECT) == Some(true) || columns.into_iter().all(|number| number.is_some_and(column))
}

/// Raises 42501 unless the table [`is_readable`]; a table that is gone raises nothing here.
pub fn require_readable(table: pg_sys::Oid) {
    if !is_readable(table) {
        require_usage(table);
        refuse(table);
    }
}

/// Whether policies say which rows of a table the caller sees.
pub fn has_policies(table: pg_sys::Oid) -> bool {
    policies(table) == pg_sys::CheckEnableRlsResult::RLS_ENABLED as i32
}

/// Whether a table has policies, and whether they bind the caller (utils/rls.h).
pub fn policies(table: pg_sys::Oid) -> i32 {
    // A table that is gone has none.
    lookup::check_enable_rls(table, pg_sys::InvalidOid, true)
}

/// Whether the caller may take a SHARE lock on the table: what LOCK TABLE ... IN SHARE MODE asks for.
pub fn may_lock(table: pg_sys::Oid) -> bool {
    let any = pg_sys::ACL_UPDATE | pg_sys::ACL_DELETE | pg_sys::ACL_TRUNCATE;
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    let any = any | pg_sys::ACL_MAINTAIN;
    lookup::may(table, backend::user(), any as pg_sys::AclMode) == Some(true)
}

/// Raises 42501 without USAGE on the schema.
pub fn require_schema_usage(schema: pg_sys::Oid) {
    if !compat::schema_usage(schema, backend::user()) {
        let name = lookup::schema_name(schema).unwrap_or_default();
        lookup::refuse(ACLCHECK_NO_PRIV, pg_sys::ObjectType::OBJECT_SCHEMA, &name);
    }
}

/// Raises 42501 without USAGE on the table's schema, as SQL does when it looks up the table's name.
pub fn require_usage(table: pg_sys::Oid) {
    let schema = lookup::get_rel_namespace(table);
    if schema != pg_sys::InvalidOid {
        require_schema_usage(schema);
    }
}

/// Raises 42501 without TRIGGER on the table and USAGE on its schema. 42P01 if there is no such table (any number can
/// be called a regclass).
pub fn require_trigger(table: pg_sys::Oid) -> Fallible<()> {
    require_usage(table);
    match lookup::may(table, backend::user(), pg_sys::ACL_TRIGGER as pg_sys::AclMode) {
        None => return Err(error::no_such_table(u32::from(table))),
        Some(true) => {}
        Some(false) => refuse(table),
    }
    Ok(())
}

/// Raises 42501 without EXECUTE on the function and USAGE on its schema. 42883 if there is no such function.
pub fn require_execute(function: pg_sys::Oid) -> Fallible<()> {
    let name = lookup::function_name(function).ok_or_else(|| error::no_such_function(u32::from(function)))?;
    require_schema_usage(lookup::get_func_namespace(function));
    let may = compat::may_call(function, backend::user());
    if may != ACLCHECK_OK {
        lookup::refuse(may, pg_sys::ObjectType::OBJECT_FUNCTION, &name);
    }
    Ok(())
}

/// Raises 42501 without USAGE on the table's schema. 42501 if the caller does not own the table, 42P01 if there is
/// none.
pub fn require_owner(table: pg_sys::Oid) -> Fallible<()> {
    if lookup::relation_name(table).is_none() {
        return Err(error::no_such_table(u32::from(table)));
    }
    require_usage(table);
    if is_owner(table) { Ok(()) } else { Err(error::not_owner(&display_name(table))) }
}

/// Whether the caller has the rights of the table's owner.
pub fn is_owner(table: pg_sys::Oid) -> bool {
    compat::owns_table(table, backend::user())
}

/// Raises 42501, unless the table is gone.
fn refuse(table: pg_sys::Oid) {
    if let Some(name) = lookup::relation_name(table) {
        lookup::refuse_table(table, &name);
    }
}
