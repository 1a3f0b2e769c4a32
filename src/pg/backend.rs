//! What this process is and knows: variables of the backend.

#![expect(unsafe_code, reason = "reads backend variables")]

use crate::pg::compat::plain;
use pgrx::pg_sys;

/// The OID of the database that it is connected to; 0 before that.
pub fn database() -> u32 {
    // SAFETY: reads a backend variable.
    u32::from(unsafe { pg_sys::MyDatabaseId })
}

/// The role whose rights count.
pub fn user() -> pg_sys::Oid {
    // SAFETY: reads a backend variable.
    unsafe { plain::GetUserId() }
}

/// Microseconds since PostgreSQL's epoch.
pub fn now() -> pg_sys::TimestampTz {
    // SAFETY: reads the clock.
    unsafe { pg_sys::GetCurrentTimestamp() }
}

/// Whether the database's encoding is that one.
fn has_encoding(encoding: pg_sys::pg_enc::Type) -> bool {
    // SAFETY: reads a backend variable.
    unsafe { pg_sys::GetDatabaseEncoding() == encoding as i32 }
}

pub fn is_utf8() -> bool {
    has_encoding(pg_sys::pg_enc::PG_UTF8)
}

/// Each byte is a character then.
pub fn is_sql_ascii() -> bool {
    has_encoding(pg_sys::pg_enc::PG_SQL_ASCII)
}
