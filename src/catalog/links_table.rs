//! What PostgreSQL's catalogs know of a table of links and of the table of documents that it belongs to.

#![expect(unsafe_code, reason = "reads and writes system catalogs")]

use crate::catalog::edges_table::EdgesTable;
use crate::catalog::name::own_name;
use crate::pg::encoding;
use pgrx::{PgList, pg_sys};
use std::ffi::{CStr, CString};
use std::ptr::null;

/// The table of that name in the schema of the documents, which is dropped with them from now on, as an index is.
/// InvalidOid if there is none: that is no table to register.
pub fn beside(documents: &EdgesTable, name: &str) -> pg_sys::Oid {
    let name = CString::new(encoding::encode(name)).unwrap_or_default();
    // SAFETY: a system cache lookup; both tables are there.
    unsafe {
        let oid = pg_sys::get_relname_relid(name.as_ptr(), documents.schema());
        let of = |oid| pg_sys::ObjectAddress { classId: pg_sys::RelationRelationId, objectId: oid, objectSubId: 0 };
        pg_sys::recordDependencyOn(&of(oid), &of(documents.oid()), pg_sys::DependencyType::DEPENDENCY_AUTO);
        oid
    }
}

/// What a table of links of a table of documents is called, as PostgreSQL names an index: cut where it cuts, with a
/// number if the name is taken.
pub fn free_name(documents: &EdgesTable) -> String {
    let name = encoding::encode(&own_name(documents.oid()).unwrap_or_default());
    let name = CString::new(name).unwrap_or_default();
    // SAFETY: a palloc'd C string.
    unsafe {
        let free = pg_sys::ChooseRelationName(name.as_ptr(), null(), c"links".as_ptr(), documents.schema(), false);
        encoding::decode(CStr::from_ptr(free).to_bytes())
    }
}

/// Whether an index says that no two rows have the same value in that column.
pub fn has_unique_index(table: &EdgesTable, column: i16) -> bool {
    let cache = pg_sys::SysCacheIdentifier::INDEXRELID as i32;
    // SAFETY: an open relation; system cache lookups; the tuples are released.
    unsafe {
        let indexes = PgList::<pg_sys::Oid>::from_pg(pg_sys::RelationGetIndexList(table.rel()));
        indexes.iter_oid().any(|index| {
            let tuple = pg_sys::SearchSysCache1(cache, pg_sys::Datum::from(index));
            if tuple.is_null() {
                return false;
            }
            let form = &*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_index>();
            let is_unique = form.indisunique && form.indimmediate && form.indisvalid && form.indnkeyatts == 1;
            let is_of_column = form.indkey.values.as_slice(1)[0] == column;
            let mut is_whole = false;
            pg_sys::SysCacheGetAttr(cache, tuple, pg_sys::Anum_pg_index_indpred as i16, &mut is_whole);
            pg_sys::ReleaseSysCache(tuple);
            is_unique && is_of_column && is_whole
        })
    }
}
