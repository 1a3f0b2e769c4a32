//! What the caller may do with a table given by its OID; SQL would have checked this while looking up the name.
//!
//! All checks read the system caches as of now, without a lock: a caller without rights must not queue for a table's
//! lock, where others would wait behind it. Functions that raise, raise PostgreSQL's own error (42501).

#![expect(unsafe_code, reason = "reads system catalogs")]

use crate::error;
use crate::error::Fallible;
use crate::pg::backend;
use crate::pg::compat;
use crate::pg::compat::plain;
use pgrx::pg_sys;

/// Whether the caller has USAGE on the schema, and SELECT on the table or on some column of it.
pub fn is_readable(table: pg_sys::Oid) -> bool {
    // SAFETY: system cache lookups by OID; a table that is gone gives InvalidOid or no privilege.
    unsafe {
        let role = pg_sys::GetUserId();
        let schema = pg_sys::get_rel_namespace(table);
        let select = pg_sys::ACL_SELECT as pg_sys::AclMode;
        let ok = pg_sys::AclResult::ACLCHECK_OK;
        // The table may be dropped while we check its schema.
        let mut missing = false;
        schema != pg_sys::InvalidOid
            && compat::schema_usage(schema, role)
            && (pg_sys::pg_class_aclcheck_ext(table, role, select, &mut missing) == ok
                || pg_sys::pg_attribute_aclcheck_all(table, role, select, pg_sys::AclMaskHow::ACLMASK_ANY) == ok)
    }
}

/// Whether the caller has SELECT on the table, or on these columns of it. None: a column that is gone. False if the
/// table is dropped meanwhile.
pub fn may_select(table: pg_sys::Oid, columns: impl IntoIterator<Item = Option<i32>>) -> bool {
    let (select, ok) = (pg_sys::ACL_SELECT as pg_sys::AclMode, pg_sys::AclResult::ACLCHECK_OK);
    // SAFETY: system cache lookups by OID and number.
    unsafe {
        let role = pg_sys::GetUserId();
        let column = |number: i32| {
            pg_sys::pg_attribute_aclcheck_ext(table, number as pg_sys::AttrNumber, role, select, &mut false)
        };
        pg_sys::pg_class_aclcheck_ext(table, role, select, &mut false) == ok
            || columns.into_iter().all(|number| number.is_some_and(|number| column(number) == ok))
    }
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
    // SAFETY: catalog lookups; a table that is gone has none.
    unsafe { pg_sys::check_enable_rls(table, pg_sys::InvalidOid, true) }
}

/// Whether the caller may take a SHARE lock on the table: what LOCK TABLE ... IN SHARE MODE asks for.
pub fn may_lock(table: pg_sys::Oid) -> bool {
    let any = pg_sys::ACL_UPDATE | pg_sys::ACL_DELETE | pg_sys::ACL_TRUNCATE;
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    let any = any | pg_sys::ACL_MAINTAIN;
    // SAFETY: a system cache lookup; a table that is gone gives no privilege.
    let may = unsafe { pg_sys::pg_class_aclcheck_ext(table, pg_sys::GetUserId(), any as pg_sys::AclMode, &mut false) };
    may == pg_sys::AclResult::ACLCHECK_OK
}

/// Raises 42501 without USAGE on the schema.
pub fn require_schema_usage(schema: pg_sys::Oid) {
    // SAFETY: system cache lookups.
    unsafe {
        if !compat::schema_usage(schema, plain::GetUserId()) {
            let name = pg_sys::get_namespace_name(schema);
            pg_sys::aclcheck_error(pg_sys::AclResult::ACLCHECK_NO_PRIV, pg_sys::ObjectType::OBJECT_SCHEMA, name);
        }
    }
}

/// Raises 42501 without USAGE on the table's schema, as SQL does when it looks up the table's name.
pub fn require_usage(table: pg_sys::Oid) {
    // SAFETY: a system cache lookup.
    let schema = unsafe { pg_sys::get_rel_namespace(table) };
    if schema != pg_sys::InvalidOid {
        require_schema_usage(schema);
    }
}

/// Raises 42501 without TRIGGER on the table and USAGE on its schema. 42P01 if there is no such table (any number can
/// be called a regclass).
pub fn require_trigger(table: pg_sys::Oid) -> Fallible<()> {
    require_usage(table);
    let mut missing = false;
    // SAFETY: system cache lookups.
    let may = unsafe {
        let trigger = pg_sys::ACL_TRIGGER as pg_sys::AclMode;
        pg_sys::pg_class_aclcheck_ext(table, plain::GetUserId(), trigger, &mut missing)
    };
    if missing {
        return Err(error::no_such_table(u32::from(table)));
    }
    if may != pg_sys::AclResult::ACLCHECK_OK {
        refuse(table);
    }
    Ok(())
}

/// Raises 42501 without EXECUTE on the function and USAGE on its schema. 42883 if there is no such function.
pub fn require_execute(function: pg_sys::Oid) -> Fallible<()> {
    // SAFETY: system cache lookups; null where there is none.
    unsafe {
        let name = pg_sys::get_func_name(function);
        if name.is_null() {
            return Err(error::no_such_function(u32::from(function)));
        }
        require_schema_usage(pg_sys::get_func_namespace(function));
        let may = compat::may_call(function, plain::GetUserId());
        if may != pg_sys::AclResult::ACLCHECK_OK {
            pg_sys::aclcheck_error(may, pg_sys::ObjectType::OBJECT_FUNCTION, name);
        }
    }
    Ok(())
}

/// Raises 42501 without USAGE on the table's schema. 42501 if the caller does not own the table, 42P01 if there is
/// none.
pub fn require_owner(table: pg_sys::Oid) -> Fallible<()> {
    // SAFETY: a system cache lookup; null where there is none.
    if unsafe { pg_sys::get_rel_name(table) }.is_null() {
        return Err(error::no_such_table(u32::from(table)));
    }
    require_usage(table);
    if is_owner(table) { Ok(()) } else { Err(error::not_owner(&crate::catalog::name::display_name(table))) }
}

/// Whether the caller has the rights of the table's owner.
pub fn is_owner(table: pg_sys::Oid) -> bool {
    compat::owns_table(table, backend::user())
}

/// Raises 42501, unless the table is gone.
fn refuse(table: pg_sys::Oid) {
    // SAFETY: a system cache lookup; null where there is none.
    unsafe {
        let name = pg_sys::get_rel_name(table);
        if !name.is_null() {
            let kind = pg_sys::get_relkind_objtype(pg_sys::get_rel_relkind(table));
            pg_sys::aclcheck_error(pg_sys::AclResult::ACLCHECK_NO_PRIV, kind, name);
        }
    }
}
