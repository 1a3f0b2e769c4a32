//! Lookups in the system caches, by OID or by name. What is not there gives InvalidOid, 0, false or None.

#![expect(unsafe_code, reason = "reads system caches")]

pub use crate::pg::compat::numbers::*;
use crate::pg::{backend, encoding};
use pgrx::pg_sys;
use pgrx::pg_sys::{AclMode, Datum, Oid};
use std::ffi::{CStr, CString, c_char, c_int};
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;

/// A C string as a name of the catalogs; None for a null pointer.
///
/// # Safety
/// NUL-terminated, or null.
pub unsafe fn name(text: *const c_char) -> Option<String> {
    // SAFETY: the caller's promise; copied at once.
    (!text.is_null()).then(|| encoding::decode(unsafe { CStr::from_ptr(text) }.to_bytes()))
}

/// A name that a catalog's row has.
pub fn name_of(name: &pg_sys::NameData) -> String {
    encoding::decode(bytes_of(name))
}

/// The bytes of a name.
pub fn bytes_of(name: &pg_sys::NameData) -> &[u8] {
    // SAFETY: an array of bytes.
    let bytes: &[u8; pg_sys::NAMEDATALEN as usize] = unsafe { &*(&raw const name.data).cast() };
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// A name in the database's encoding.
pub fn c_string(name: &str) -> CString {
    CString::new(encoding::encode(name)).unwrap_or_default()
}

macro_rules! names {
    ($(#[$doc:meta] $alias:ident = $name:ident($($argument:ident: $of:ty),*) $(, $more:expr)*;)*) => {$(
        #[$doc]
        pub fn $alias($($argument: $of),*) -> Option<String> {
            // SAFETY: a lookup by numbers, which may be any; null, or a palloc'd C string.
            unsafe { name(pg_sys::$name($($argument),* $(, $more)*)) }
        }
    )*};
}

names! {
    /// A relation's name without its schema.
    relation_name = get_rel_name(table: Oid);
    /// A schema's name.
    schema_name = get_namespace_name(schema: Oid);
    /// A function's name.
    function_name = get_func_name(function: Oid);
    /// An operator's name.
    operator_name = get_opname(operator: Oid);
    /// An extension's name.
    extension_name = get_extension_name(extension: Oid);
    /// A column's name.
    column_name = get_attname(table: Oid, number: i16), true;
    /// A type as SQL, as short as search_path allows.
    type_name = format_type_be(of: Oid);
    /// A type as SQL, with its schema and without a modifier: character is not character(1).
    full_type_name = format_type_extended(of: Oid), -1, (pg_sys::FORMAT_TYPE_TYPEMOD_GIVEN | pg_sys::FORMAT_TYPE_FORCE_QUALIFY) as u16;
}

/// An identifier as SQL, quoted where that needs it.
pub fn quoted(identifier: &str) -> String {
    let text = c_string(identifier);
    // SAFETY: a C string, which lives as long as its quoted form is read.
    unsafe { name(pg_sys::quote_identifier(text.as_ptr())) }.unwrap_or_default()
}

/// The text that a type's output function gives of an OID: that of regclass, for example.
pub fn oid_as_text(output: u32, value: Oid) -> String {
    // SAFETY: an output function of the server's for OIDs, which may be any.
    unsafe { name(pg_sys::OidOutputFunctionCall(Oid::from(output), Datum::from(value))) }.unwrap_or_default()
}

/// What an index's first key is, as SQL; raises if there is no such index.
pub fn first_key_as_sql(index: Oid) -> String {
    let (function, none) = (Oid::from(pg_sys::F_PG_GET_INDEXDEF_OID_INT4_BOOL), pg_sys::InvalidOid);
    // SAFETY: the function takes these, and gives a text, stored plainly.
    unsafe {
        let text = pg_sys::OidFunctionCall3Coll(function, none, index.into(), 1_i32.into(), false.into());
        let text = text.cast_mut_ptr::<pg_sys::varlena>();
        let text = std::slice::from_raw_parts(pgrx::vardata_any(text).cast::<u8>(), pgrx::varsize_any_exhdr(text));
        encoding::decode(text)
    }
}

/// The column of that name, from 1.
pub fn column_number(table: Oid, column: &str) -> i16 {
    // SAFETY: a lookup by name.
    unsafe { pg_sys::get_attnum(table, c_string(column).as_ptr()) }
}

pub fn extension(name: &CStr) -> Oid {
    // SAFETY: a lookup by name.
    unsafe { pg_sys::get_extension_oid(name.as_ptr(), true) }
}

pub fn schema(name: &CStr) -> Oid {
    // SAFETY: a lookup by name.
    unsafe { pg_sys::get_namespace_oid(name.as_ptr(), true) }
}

/// A function by its name, argument types and schema.
pub fn function(name: &CStr, types: &[Oid], schema: Oid) -> Oid {
    // SAFETY: the keys have the types of the cache's columns.
    unsafe {
        let types = pg_sys::buildoidvector(types.as_ptr(), types.len() as i32);
        let keys = [Datum::from(name.as_ptr()), Datum::from(types), Datum::from(schema)];
        oid_of(
            pg_sys::SysCacheIdentifier::PROCNAMEARGSNSP as i32,
            pg_sys::Anum_pg_proc_oid,
            [keys[0], keys[1], keys[2], Datum::null()],
        )
    }
}

/// An operator of two values of a type, by its name and schema.
pub fn operator(name: &CStr, of: Oid, schema: Oid) -> Oid {
    let keys = [Datum::from(name.as_ptr()), Datum::from(of), Datum::from(of), Datum::from(schema)];
    // SAFETY: the keys have the types of the cache's columns.
    unsafe { oid_of(pg_sys::SysCacheIdentifier::OPERNAMENSP as i32, pg_sys::Anum_pg_operator_oid, keys) }
}

/// # Safety
/// Keys of the types of the cache's columns, and the number of the column that has the OID.
unsafe fn oid_of(cache: i32, column: u32, keys: [Datum; 4]) -> Oid {
    // SAFETY: the caller's promise.
    unsafe { pg_sys::GetSysCacheOid(cache, column as i16, keys[0], keys[1], keys[2], keys[3]) }
}

/// The modifier of a type, or of its base type if it is a domain.
pub fn base_modifier(of: Oid, mut modifier: i32) -> i32 {
    // SAFETY: a lookup by numbers, which raises if there is no such type.
    unsafe { pg_sys::getBaseTypeAndTypmod(of, &mut modifier) };
    modifier
}

/// The category of a type (TYPCATEGORY_STRING and the like).
pub fn category(of: Oid) -> u8 {
    let (mut category, mut is_preferred) = (0, false);
    // SAFETY: a lookup by a number, which raises if there is no such type.
    unsafe { pg_sys::get_type_category_preferred(of, &mut category, &mut is_preferred) };
    category as u8
}

/// Whether the type itself has an order, rather than one that it is binary-compatible with; and whether it can be
/// sorted at all.
pub fn orders(of: Oid) -> (bool, bool) {
    let wanted = pg_sys::TYPECACHE_BTREE_OPFAMILY | pg_sys::TYPECACHE_LT_OPR;
    // SAFETY: the type cache has an entry for each type.
    let entry = unsafe { &*pg_sys::lookup_type_cache(of, wanted as i32) };
    (entry.btree_opintype == of, entry.lt_opr != pg_sys::InvalidOid)
}

/// The privileges of a role on a table; None if the table is gone.
pub fn may(table: Oid, role: Oid, mode: AclMode) -> Option<bool> {
    let mut is_missing = false;
    // SAFETY: a lookup by numbers, which may be any.
    let result = unsafe { pg_sys::pg_class_aclcheck_ext(table, role, mode, &mut is_missing) };
    (!is_missing).then_some(result == pg_sys::AclResult::ACLCHECK_OK)
}

/// The privileges of a role on a column.
pub fn may_column(table: Oid, column: i16, role: Oid, mode: AclMode) -> bool {
    // SAFETY: a lookup by numbers, which may be any.
    let result = unsafe { pg_sys::pg_attribute_aclcheck_ext(table, column, role, mode, &mut false) };
    result == pg_sys::AclResult::ACLCHECK_OK
}

/// Raises PostgreSQL's own error for a missing privilege.
pub fn refuse(why: pg_sys::AclResult::Type, kind: pg_sys::ObjectType::Type, name: &str) {
    // SAFETY: raises with a copy of the name.
    unsafe { pg_sys::aclcheck_error(why, kind, c_string(name).as_ptr()) };
}

/// [`refuse`] for a table, a view, or whatever it is.
pub fn refuse_table(table: Oid, name: &str) {
    // SAFETY: a number to a number.
    let kind = unsafe { pg_sys::get_relkind_objtype(get_rel_relkind(table)) };
    refuse(pg_sys::AclResult::ACLCHECK_NO_PRIV, kind, name);
}

/// Whether pg_cast has a cast of that type to text, other than one WITH INOUT (which is also the default without an
/// entry).
pub fn has_cast_to_text(of: Oid) -> bool {
    /// Anum_pg_cast_castmethod, COERCION_METHOD_INOUT (catalog/pg_cast.h).
    const METHOD: (u32, u8) = (6, b'i');
    let (cache, to) = (pg_sys::SysCacheIdentifier::CASTSOURCETARGET, Datum::from(pg_sys::TEXTOID));
    // SAFETY: the keys are two types.
    let cast = unsafe { Row::<()>::new(pg_sys::SearchSysCache2(cache as c_int, Datum::from(of), to), cache) };
    cast.and_then(|cast| cast.value(METHOD.0)).is_some_and(|method| method.value() as u8 != METHOD.1)
}

/// Raw xmin of this database's pg_database row: a database dropped and recreated with its old OID (CREATE DATABASE ...
/// OID) has another. Read from the system cache at each call, so that all sessions agree after GRANT ON DATABASE has
/// written a new row.
pub fn database_xmin() -> u32 {
    let row = Row::<pg_sys::FormData_pg_database>::of(Oid::from(backend::database()));
    row.unwrap_or_else(|| unreachable!("a session's database exists")).xmin()
}

/// A row of a catalog that a system cache finds by its OID.
///
/// # Safety
/// `CACHE` has that catalog's rows, by one OID.
pub unsafe trait Catalog {
    const CACHE: pg_sys::SysCacheIdentifier::Type;
}

macro_rules! catalogs {
    ($($row:ident: $cache:ident,)*) => {$(
        // SAFETY: as catalog/syscache_info.h has it.
        unsafe impl Catalog for pg_sys::$row {
            const CACHE: pg_sys::SysCacheIdentifier::Type = pg_sys::SysCacheIdentifier::$cache;
        }
    )*};
}

catalogs! {
    FormData_pg_class: RELOID,
    FormData_pg_collation: COLLOID,
    FormData_pg_database: DATABASEOID,
    FormData_pg_index: INDEXRELID,
    FormData_pg_proc: PROCOID,
    FormData_pg_type: TYPEOID,
}

/// A row of a catalog, released when it is dropped.
pub struct Row<C> {
    tuple: NonNull<pg_sys::HeapTupleData>,
    cache: c_int,
    of: PhantomData<C>,
}

impl<C: Catalog> Row<C> {
    pub fn of(oid: Oid) -> Option<Self> {
        // SAFETY: the catalog's cache has one key, an OID.
        unsafe { Self::new(pg_sys::SearchSysCache1(C::CACHE as c_int, Datum::from(oid)), C::CACHE) }
    }
}

impl Row<pg_sys::FormData_pg_attribute> {
    /// The column of a table by its number; None for a dropped one.
    pub fn of_column(table: Oid, number: i16) -> Option<Self> {
        // SAFETY: a lookup by numbers.
        unsafe { Self::new(pg_sys::SearchSysCacheAttNum(table, number), pg_sys::SysCacheIdentifier::ATTNUM) }
    }
}

impl Row<pg_sys::FormData_pg_index> {
    /// Whether it has all rows of its table.
    pub fn is_whole(&self) -> bool {
        self.value(pg_sys::Anum_pg_index_indpred).is_none()
    }

    /// The first key: a column's number, or 0 for an expression.
    pub fn first_key(&self) -> i16 {
        // SAFETY: an index has one key at least.
        unsafe { self.indkey.values.as_slice(1)[0] }
    }

    /// The operator class of the first key.
    pub fn first_class(&self) -> Oid {
        let classes = self.value(pg_sys::Anum_pg_index_indclass).unwrap_or(Datum::null());
        // SAFETY: never NULL, and an index has one class for each key.
        unsafe { (*classes.cast_mut_ptr::<pg_sys::oidvector>()).values.as_slice(1)[0] }
    }
}

impl<C> Row<C> {
    /// # Safety
    /// Null, or a row of that catalog from that cache.
    unsafe fn new(tuple: pg_sys::HeapTuple, cache: pg_sys::SysCacheIdentifier::Type) -> Option<Self> {
        NonNull::new(tuple).map(|tuple| Self { tuple, cache: cache as c_int, of: PhantomData })
    }

    /// The xid that wrote it.
    fn xmin(&self) -> u32 {
        // SAFETY: a row with its header.
        u32::from(unsafe { pg_sys::htup::HeapTupleHeaderGetRawXmin((*self.tuple.as_ptr()).t_data) })
    }

    /// A column; None for NULL. What it points to lives as long as the row.
    fn value(&self, column: u32) -> Option<Datum> {
        let mut is_null = false;
        // SAFETY: a row of that cache.
        let value = unsafe { pg_sys::SysCacheGetAttr(self.cache, self.tuple.as_ptr(), column as i16, &mut is_null) };
        (!is_null).then_some(value)
    }
}

impl<C> Deref for Row<C> {
    type Target = C;

    fn deref(&self) -> &C {
        // SAFETY: a row of that catalog.
        unsafe { &*pg_sys::GETSTRUCT(self.tuple.as_ptr()).cast() }
    }
}

impl<C> Drop for Row<C> {
    fn drop(&mut self) {
        // While an ERROR unwinds, we leave it to the transaction's abort.
        if !std::thread::panicking() {
            // SAFETY: from the cache, released once.
            unsafe { pg_sys::ReleaseSysCache(self.tuple.as_ptr()) };
        }
    }
}
