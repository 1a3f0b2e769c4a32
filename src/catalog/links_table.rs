//! What PostgreSQL's catalogs know of a table of links and of the table of documents that it belongs to.

#![expect(unsafe_code, reason = "reads and writes system catalogs")]

use crate::catalog::edges_table::EdgesTable;
use crate::pg::encoding;
use crate::pg::lookup;
use crate::pg::lookup::{Row, c_string};
use pgrx::pg_sys;
use std::ffi::CStr;
use std::ptr::null;

/// The table of that name in the schema of the documents, which is dropped with them from now on, as an index is.
/// InvalidOid if there is none: that is no table to register.
pub fn beside(documents: &EdgesTable, name: &str) -> pg_sys::Oid {
    let name = c_string(name);
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
    let name = c_string(&lookup::relation_name(documents.oid()).unwrap_or_default());
    // SAFETY: a palloc'd C string.
    unsafe {
        let free = pg_sys::ChooseRelationName(name.as_ptr(), null(), c"links".as_ptr(), documents.schema(), false);
        encoding::decode(CStr::from_ptr(free).to_bytes())
    }
}

/// Whether an index says that no two rows have the same value in that column.
pub fn has_unique_index(table: &EdgesTable, column: i16) -> bool {
    table.indexes().into_iter().filter_map(Row::<pg_sys::FormData_pg_index>::of).any(|index| {
        let is_unique = index.indisunique && index.indimmediate && index.indisvalid && index.indnkeyatts == 1;
        is_unique && index.first_key() == column && index.is_whole()
    })
}
