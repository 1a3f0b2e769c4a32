//! cftrag.edges and cftrag.documents: the tables that a session or a role has chosen to mean where none is named.
//!
//! A choice counts only for who trusts whoever made it, or the owner of the table (trust.rs). So a function that runs with its owner's rights does not follow the
//! caller's choice, nor a superuser that of a database's owner (ALTER DATABASE). The name is qualified: it means the same under any search_path.

#![expect(unsafe_code, reason = "a setting's hooks")]

use crate::catalog::{roles, trust};
use crate::error;
use crate::error::Fallible;
use crate::pg::{compat, encoding};
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, pg_guard, pg_sys};
use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_void};

static EDGES: Setting = Setting { name: c"cftrag.edges", value: GucSetting::<Option<CString>>::new(Some(c"")) };

static DOCUMENTS: Setting = Setting { name: c"cftrag.documents", value: GucSetting::<Option<CString>>::new(Some(c"")) };

struct Setting {
    name: &'static CStr,
    value: GucSetting<Option<CString>>,
}

thread_local! {
    /// The server's records of both settings, which stay where they are.
    static RECORDS: Cell<[*const pg_sys::config_generic; 2]> = const { Cell::new([std::ptr::null(); 2]) };
}

pub fn define() {
    let settings = [
        (&EDGES, c"Sets the edges table that is meant where a call names none."),
        (&DOCUMENTS, c"Sets the table of documents that is meant where a call names none."),
    ];
    for (setting, short) in settings {
        // SAFETY: the hook is a guarded function that reads what it is given.
        unsafe {
            GucRegistry::define_string_guc_with_hooks(
                setting.name,
                short,
                c"A name with its schema. Empty: the only attached table of an owner whom the caller trusts.",
                &setting.value,
                GucContext::Userset,
                GucFlags::default(),
                Some(check),
                None,
                None,
            );
        }
    }
    // SAFETY: both were just defined.
    RECORDS.set(unsafe { [compat::setting(EDGES.name), compat::setting(DOCUMENTS.name)] });
}

/// The edges table that was chosen for the caller, if any. 42P01 if it is not there.
pub fn edges() -> Fallible<Option<pg_sys::Oid>> {
    find(&EDGES, RECORDS.get()[0])
}

/// The table of documents that cftrag.documents names.
pub fn documents() -> Fallible<Option<pg_sys::Oid>> {
    find(&DOCUMENTS, RECORDS.get()[1])
}

fn find(setting: &'static Setting, record: *const pg_sys::config_generic) -> Fallible<Option<pg_sys::Oid>> {
    // SAFETY: the server's record of a setting of ours, or null where the library was not initialised.
    let Some(record) = (unsafe { record.as_ref() }) else { return Ok(None) };
    // At each call, and seldom set: copying the value would be felt.
    if record.source == pg_sys::GucSource::PGC_S_DEFAULT {
        return Ok(None);
    }
    let Some(name) = setting.value.get().filter(|name| !name.is_empty()) else { return Ok(None) };
    let Some([schema, table]) = qualified(name.to_bytes()) else { return Ok(None) };
    let counts = counts(record);
    // SAFETY: system cache lookups by name; InvalidOid where there is none.
    let found = unsafe {
        match pg_sys::get_namespace_oid(schema.as_ptr(), true) {
            pg_sys::InvalidOid => pg_sys::InvalidOid,
            schema => pg_sys::get_relname_relid(table.as_ptr(), schema),
        }
    };
    // A table that would be chosen if it were the only one is not chosen for its owner's sake.
    if !counts && (found == pg_sys::InvalidOid || !trust::trusts(found)) {
        return Ok(None);
    }
    if found == pg_sys::InvalidOid {
        let setting = setting.name.to_string_lossy();
        return Err(error::no_chosen_table(&setting, &encoding::decode(name.to_bytes())));
    }
    Ok(Some(found))
}

/// Whether the choice counts for the caller, whatever table it is. Who made it: a superuser (the server's configuration, ALTER ROLE ALL); an
/// owner of the database, a former one perhaps, which PostgreSQL does not keep: only for ordinary callers (trust.rs); whoever administers the session's role;
/// or, of a session's own, the role that was current then, which PostgreSQL keeps, also for parallel workers.
fn counts(record: &pg_sys::config_generic) -> bool {
    use pg_sys::GucSource::{PGC_S_CLIENT, PGC_S_DATABASE, PGC_S_GLOBAL};
    match record.source {
        source if source <= PGC_S_GLOBAL => true,
        PGC_S_DATABASE => trust::is_ordinary() && trust::trusts_role(roles::database_owner()),
        // SAFETY: reads a backend variable.
        source if source < PGC_S_CLIENT => trust::trusts_role(unsafe { pg_sys::GetAuthenticatedUserId() }),
        _ => trust::trusts_role(record.srole),
    }
}

/// Refuses what is no qualified name.
#[pg_guard]
unsafe extern "C-unwind" fn check(
    value: *mut *mut c_char,
    _extra: *mut *mut c_void,
    _source: pg_sys::GucSource::Type,
) -> bool {
    // SAFETY: `value` points to the new value, a C string or null; the detail is a copy in the memory context of the check.
    unsafe {
        let name = if (*value).is_null() { c"" } else { CStr::from_ptr(*value) };
        let good = name.is_empty() || qualified(name.to_bytes()).is_some();
        if !good {
            pg_sys::GUC_check_errdetail_string =
                pg_sys::pstrdup(c"It must be a table's name with its schema.".as_ptr());
        }
        good
    }
}

/// Schema and name, as SQL reads identifiers: folded unless quoted. None if it is anything else.
fn qualified(name: &[u8]) -> Option<[CString; 2]> {
    let (schema, rest) = identifier(name)?;
    let (table, rest) = identifier(rest.strip_prefix(b".")?)?;
    let max = pg_sys::NAMEDATALEN as usize;
    (rest.is_empty() && schema.as_bytes().len() < max && table.as_bytes().len() < max).then_some([schema, table])
}

/// The identifier that the text begins with, and what follows it.
fn identifier(text: &[u8]) -> Option<(CString, &[u8])> {
    let mut name = Vec::new();
    let mut rest = text;
    if let Some(mut quoted) = text.strip_prefix(b"\"") {
        loop {
            let at = quoted.iter().position(|byte| *byte == b'"')?;
            name.extend_from_slice(&quoted[..at]);
            quoted = &quoted[at + 1..];
            let Some(more) = quoted.strip_prefix(b"\"") else { break };
            name.push(b'"');
            quoted = more;
        }
        rest = quoted;
    } else {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii();
        let length = text.iter().position(|byte| !is_part(byte)).unwrap_or(text.len());
        if text.first().is_none_or(|byte| byte.is_ascii_digit() || *byte == b'$') {
            return None;
        }
        name.extend(text[..length].iter().map(u8::to_ascii_lowercase));
        rest = &rest[length..];
    }
    (!name.is_empty()).then(|| CString::new(name).ok().map(|name| (name, rest)))?
}
