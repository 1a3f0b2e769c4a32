//! Who owns what, for trust.rs: as of now, from the system caches.

use crate::pg::lookup;
use pgrx::pg_sys;

/// OIDs below this one are the server's own (access/transam.h: FirstNormalObjectId).
pub const FIRST_OF_USERS: u32 = 16384;

/// A relation's owner; None if it is gone.
pub fn owner(table: pg_sys::Oid) -> Option<pg_sys::Oid> {
    lookup::Row::<pg_sys::FormData_pg_class>::of(table).map(|class| class.relowner)
}
