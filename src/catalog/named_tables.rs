//! Statements that name tables which were chosen by OID: what they mean is looked at when they are parsed.
//!
//! A text can only name a table, and a name may mean another one by the time it is parsed: ALTER SCHEMA RENAME locks neither the tables in
//! the schema nor the schema. So [`name`] locks the table, which makes whoever renames, moves or drops it wait, and puts its OID behind
//! its name, in a comment; a hook of the parser refuses a statement that has such comments and reads or writes any other table, or calls a
//! function of somebody whom the caller does not trust (an operator is named by its schema, too). Nothing of the statement was run then.
//! A text may be kept, and be made part of another: all that is known of it stands in it.

#![expect(unsafe_code, reason = "locks, system caches, a hook of the parser")]

use crate::catalog::trust;
use crate::error;
use crate::pg::compat::plain;
use crate::pg::{compat, error_context};
use pgrx::prelude::*;
use std::cell::Cell;
use std::ffi::{CStr, c_int, c_void};

/// What begins and ends the comment, which has the OID in digits between them.
const BEGIN: &[u8] = b"/*cftrag:";

const END: &[u8] = b"*/";

/// query_tree_walker: tells of entries of range tables before what is in them (nodes/nodeFuncs.h).
const EXAMINE_TABLES: c_int = pg_sys::QTW_EXAMINE_RTES_BEFORE as c_int;

/// OIDs below are the server's own (access/transam.h: FirstNormalObjectId).
const FIRST_OF_USERS: u32 = 16384;

thread_local! {
    static NEXT: Cell<pg_sys::post_parse_analyze_hook_type> = const { Cell::new(None) };
    /// Whether this session has made any such text.
    pub static MADE: Cell<bool> = const { Cell::new(false) };
}

/// Called once, from _PG_init.
pub fn register() {
    // SAFETY: a function that lives as long as the library, which is never unloaded.
    unsafe {
        NEXT.set(pg_sys::post_parse_analyze_hook);
        pg_sys::post_parse_analyze_hook = Some(analyzed);
    }
}

/// Whether the caller may use some of the table, and so hold its lock.
fn may_lock(table: pg_sys::Oid) -> bool {
    let of_columns = (pg_sys::ACL_SELECT | pg_sys::ACL_INSERT | pg_sys::ACL_UPDATE) as pg_sys::AclMode;
    let of_table = of_columns | pg_sys::ACL_DELETE as pg_sys::AclMode;
    let any = pg_sys::AclMaskHow::ACLMASK_ANY;
    let ok = pg_sys::AclResult::ACLCHECK_OK;
    // SAFETY: system cache lookups; no rights to what is gone.
    unsafe {
        let (caller, schema) = (plain::GetUserId(), pg_sys::get_rel_namespace(table));
        if schema == pg_sys::InvalidOid || !compat::schema_usage(schema, caller) {
            return false;
        }
        // Any of these.
        let mut missing = false;
        pg_sys::pg_class_aclcheck_ext(table, caller, of_table, &mut missing) == ok
            || (!missing && pg_sys::pg_attribute_aclcheck_all(table, caller, of_columns, any) == ok)
    }
}

/// Locks the table until the transaction ends, if the caller may; waits for who renames or drops it. Whether it is there then.
pub fn lock(table: pg_sys::Oid) -> bool {
    if may_lock(table) {
        let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
        // SAFETY: any OID may be locked. A deadlock's statements are told to the log only.
        error_context::with_error_context(None, || unsafe { pg_sys::LockRelationOid(table, lock) });
    }
    is_there(table)
}

fn is_there(table: pg_sys::Oid) -> bool {
    // SAFETY: a system cache lookup.
    unsafe { pg_sys::get_rel_namespace(table) != pg_sys::InvalidOid }
}

/// The table as SQL, in the database's encoding: its name and OID. None: it is gone.
pub fn name(table: pg_sys::Oid) -> Option<Vec<u8>> {
    MADE.set(true);
    // SAFETY: system cache lookups; palloc'd C strings, null where there is none.
    let mut text = unsafe {
        let schema = pg_sys::get_namespace_name(pg_sys::get_rel_namespace(table));
        let name = pg_sys::get_rel_name(table);
        if schema.is_null() || name.is_null() {
            return None;
        }
        CStr::from_ptr(pg_sys::quote_qualified_identifier(schema, name)).to_bytes().to_vec()
    };
    text.push(b' ');
    text.extend_from_slice(BEGIN);
    text.extend_from_slice(u32::from(table).to_string().as_bytes());
    text.extend_from_slice(END);
    Some(text)
}

/// The OIDs in a text.
pub fn tables(text: &[u8]) -> Vec<pg_sys::Oid> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = find(rest, BEGIN) {
        rest = &rest[at + BEGIN.len()..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let oid = std::str::from_utf8(&rest[..digits]).ok().and_then(|digits| digits.parse::<u32>().ok());
        if let Some(oid) = oid
            && rest[digits..].starts_with(END)
        {
            found.push(oid.into());
        }
    }
    found
}

/// Texts are long, and few have it: by its first byte first.
fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(next) = text[at..].iter().position(|byte| *byte == what[0]) {
        at += next;
        if text[at..].starts_with(what) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Every statement comes by: no guard, which would also take CONTEXT off its errors. An ERROR jumps out of frames that own nothing.
unsafe extern "C-unwind" fn analyzed(
    state: *mut pg_sys::ParseState,
    query: *mut pg_sys::Query,
    jumble: *mut pg_sys::JumbleState,
) {
    // SAFETY: the parser's arguments; the text is NUL-terminated, or null.
    unsafe {
        if let Some(next) = NEXT.get() {
            next(state, query, jumble);
        }
        let text = (*state).p_sourcetext;
        if MADE.get() && !text.is_null() && find(CStr::from_ptr(text).to_bytes(), BEGIN).is_some() {
            check(text, query);
        }
    }
}

/// What a statement may read, and whether it has anything else.
struct Look {
    tables: Vec<pg_sys::Oid>,
    other: bool,
}

/// 40001 if the statement reads or writes a table whose OID is not in its text, or runs a function of an untrusted role's.
#[pg_guard]
unsafe extern "C-unwind" fn check(text: *const std::ffi::c_char, query: *mut pg_sys::Query) {
    // SAFETY: analyzed()'s arguments.
    let mut look = unsafe { Look { tables: tables(CStr::from_ptr(text).to_bytes()), other: false } };
    if look.tables.is_empty() {
        return;
    }
    // SAFETY: a query that was just made; an ERROR jumps out of frames that own nothing, to here.
    unsafe {
        let context = (&raw mut look).cast();
        crate::ffi::pg_guard_ffi_boundary(|| plain::query_tree_walker_impl(query, Some(walk), context, EXAMINE_TABLES));
    }
    if look.other {
        error::renamed_beside().report(PgLogLevel::ERROR);
    }
}

unsafe extern "C-unwind" fn walk(node: *mut pg_sys::Node, look: *mut c_void) -> bool {
    // SAFETY: a walker of PostgreSQL's; an ERROR jumps out of frames that own nothing.
    unsafe {
        if node.is_null() {
            return false;
        }
        let found = &mut *look.cast::<Look>();
        match (*node).type_ {
            pg_sys::NodeTag::T_RangeTblEntry => {
                let entry = &*node.cast::<pg_sys::RangeTblEntry>();
                found.other = entry.rtekind == pg_sys::RTEKind::RTE_RELATION && !found.tables.contains(&entry.relid);
                found.other
            }
            pg_sys::NodeTag::T_Query => plain::query_tree_walker_impl(node.cast(), Some(walk), look, EXAMINE_TABLES),
            pg_sys::NodeTag::T_CoerceToDomain if !trusts_type((*node.cast::<pg_sys::CoerceToDomain>()).resulttype) => {
                found.other = true;
                true
            }
            _ => {
                if pg_sys::check_functions_in_node(node, Some(is_untrusted), look) {
                    found.other = true;
                    return true;
                }
                plain::expression_tree_walker_impl(node, Some(walk), look)
            }
        }
    }
}

unsafe extern "C-unwind" fn is_untrusted(function: pg_sys::Oid, _look: *mut c_void) -> bool {
    u32::from(function) >= FIRST_OF_USERS && !owned_by_trusted(pg_sys::SysCacheIdentifier::PROCOID, function)
}

fn trusts_type(of: pg_sys::Oid) -> bool {
    u32::from(of) < FIRST_OF_USERS || owned_by_trusted(pg_sys::SysCacheIdentifier::TYPEOID, of)
}

/// Whether the caller trusts the owner of a function or type.
fn owned_by_trusted(cache: pg_sys::SysCacheIdentifier::Type, object: pg_sys::Oid) -> bool {
    // SAFETY: a system cache lookup by OID; a tuple of pg_proc, else of pg_type.
    let owner = unsafe {
        let tuple = pg_sys::SearchSysCache1(cache as i32, pg_sys::Datum::from(object));
        if tuple.is_null() {
            return false;
        }
        let form = pg_sys::GETSTRUCT(tuple);
        let owner = match cache {
            pg_sys::SysCacheIdentifier::PROCOID => (*form.cast::<pg_sys::FormData_pg_proc>()).proowner,
            _ => (*form.cast::<pg_sys::FormData_pg_type>()).typowner,
        };
        pg_sys::ReleaseSysCache(tuple);
        owner
    };
    trust::trusts_role(owner)
}
