//! A table of documents (cft_attach_documents) with its mapping to entities, and the table of embeddings of an edges table's entities
//! (cft_attach_embeddings), as the catalogs have them now: what a search of them is written from.
//!
//! Read from the relation cache and the system caches, and kept in the session until something in the catalogs changes. Who may not read a table is
//! told what PostgreSQL would say.

#![expect(unsafe_code, reason = "reads the relation cache and system catalogs")]

use crate::catalog::columns::collation_name;
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::name::{full_name, quote};
use crate::catalog::privileges::{is_readable, require_readable};
use crate::catalog::registration::Functions;
use crate::catalog::side_table::Registered;
use crate::catalog::{column_sql, registration, registration_cache, roles, side_table, trust};
use crate::error;
use crate::error::Fallible;
use crate::pg::compat::plain;
use crate::pg::invalidation::Cached;
use crate::pg::{compat, encoding, invalidation};
use pgrx::pg_sys;
use std::ffi::CStr;
use std::rc::Rc;

/// A column, as of now.
pub struct DocumentColumn {
    pub number: i16,
    pub name: String,
    /// Its declared type, and the base type if that is a domain.
    pub type_oid: pg_sys::Oid,
    pub base: pg_sys::Oid,
    /// The type's modifier: of a vector its dimensions, -1 if they are not declared.
    pub modifier: i32,
    /// Its collation as SQL, if it is of a type of strings of the server's own and the collation is deterministic.
    pub text_collation: Option<String>,
}

impl DocumentColumn {
    fn of(table: &EdgesTable, name: &str) -> Option<Self> {
        let found = table.column(name)?;
        // SAFETY: an open table's column of that number.
        let attribute = unsafe { &*compat::attribute((*table.rel()).rd_att, found.number - 1) };
        let (mut category, mut preferred) = (0, false);
        // SAFETY: system cache lookups, by a column's type and collation.
        let is_text = unsafe {
            pg_sys::get_type_category_preferred(attribute.atttypid, &mut category, &mut preferred);
            category as u8 == pg_sys::TYPCATEGORY_STRING
                && trust::is_builtin(attribute.atttypid)
                && attribute.attcollation != pg_sys::InvalidOid
                && pg_sys::get_collation_isdeterministic(attribute.attcollation)
        };
        Some(Self {
            number: attribute.attnum,
            name: name.into(),
            type_oid: attribute.atttypid,
            base: pg_sys::Oid::from(found.type_oid),
            modifier: attribute.atttypmod,
            text_collation: if is_text { collation_name(attribute.attcollation) } else { None },
        })
    }

    /// The column of the row `alias`, as SQL.
    pub fn of_row(&self, alias: &str) -> String {
        format!("{alias}.{}", quote(&self.name))
    }

    /// A value of the column, given as SQL, as text.
    pub fn as_text(&self, value: &str) -> String {
        column_sql::as_text(value, u32::from(self.base))
    }
}

/// A table that says which entities documents are about.
pub struct Mapping {
    pub name: String,
    pub entity: DocumentColumn,
    pub document: DocumentColumn,
}

/// A table of documents.
pub struct Documents {
    pub oid: pg_sys::Oid,
    /// Its name as SQL, with its schema; and as a message shows it.
    pub name: String,
    pub shown: String,
    pub id: DocumentColumn,
    pub body: DocumentColumn,
    pub embedding: DocumentColumn,
    pub entity: Option<DocumentColumn>,
    pub tokens: Option<DocumentColumn>,
    pub metadata: Option<DocumentColumn>,
    pub search: Option<DocumentColumn>,
    pub mapping: Option<Mapping>,
    pub distance: Distance,
}

/// A table of embeddings of entities.
pub struct Embeddings {
    pub name: String,
    pub shown: String,
    pub entity: DocumentColumn,
    pub embedding: DocumentColumn,
    pub distance: Distance,
}

/// How embeddings of a column are compared.
pub struct Distance {
    /// The operator, and the type of its operands, as SQL.
    pub operator: String,
    pub type_name: String,
    /// Whether it is the cosine distance.
    pub is_cosine: bool,
    /// pgvector's schema, as SQL.
    pub schema: String,
}

/// A table, the role that asks, row_security, and a function of the extension (which may be made again).
type Key = (pg_sys::Oid, pg_sys::Oid, bool, pg_sys::Oid);

/// Tables kept.
const MOST: usize = 64;

thread_local! {
    static DOCUMENTS: Cached<Key, Rc<Documents>> = const { Cached::new(MOST, invalidation::catalogs) };
    static EMBEDDINGS: Cached<Key, Option<Rc<Embeddings>>> = const { Cached::new(MOST, invalidation::catalogs) };
}

fn key(table: pg_sys::Oid, functions: Functions) -> Key {
    // SAFETY: reads backend variables; processes invalidations.
    unsafe {
        pg_sys::AcceptInvalidationMessages();
        (table, plain::GetUserId(), pg_sys::row_security, functions.capture)
    }
}

impl Documents {
    /// The table that a call names; if it names none, the only one that the caller may read and search_path shows. None if no table is attached and
    /// `needed` is false. Errors: 42P01 (not attached), 42725 (several could be meant), 42501, 42804 (no embedding).
    pub fn of(functions: Functions, named: Option<pg_sys::Oid>, needed: bool) -> Fallible<Option<Rc<Self>>> {
        let table = match named {
            // What cft_meant_documents gives if search_path does not show exactly one.
            Some(pg_sys::InvalidOid) => {
                return left_out(registration_cache::readable(functions.documents(), functions));
            }
            Some(table) => table,
            None => {
                // SAFETY: a snapshot is active in every SQL function.
                let only = unsafe {
                    let snapshot = plain::GetActiveSnapshot();
                    registration_cache::only_registered(functions.documents(), functions, snapshot)
                };
                match only {
                    Ok(only) => only,
                    Err(none) if none.is_empty() && !needed => return Ok(None),
                    Err(several) => return left_out(several),
                }
            }
        };
        DOCUMENTS.with(|all| all.get(key(table, functions), || read(table, functions).map(Rc::new))).map(Some)
    }

    /// The documents, if they are attached to entities; 55000 otherwise.
    pub fn require_entities(&self) -> Fallible<()> {
        if self.has_entities() { Ok(()) } else { Err(error::documents_without_entities(&self.shown)) }
    }

    pub fn has_entities(&self) -> bool {
        self.entity.is_some() || self.mapping.is_some()
    }
}

impl Embeddings {
    /// The table of embeddings of an edges table's entities that the caller may read, if one is attached.
    pub fn of(functions: Functions, edges: pg_sys::Oid) -> Fallible<Option<Rc<Self>>> {
        EMBEDDINGS.with(|all| all.get(key(edges, functions), || read_embeddings(edges, functions)))
    }
}

/// The error of a call that names none of several tables of documents, or where there is none.
fn left_out<T>(tables: Vec<pg_sys::Oid>) -> Fallible<T> {
    let mut names: Vec<_> = tables.into_iter().map(full_name).collect(); // bounded: attached tables
    names.sort_unstable();
    Err(error::documents_left_out(&names))
}

fn read(oid: pg_sys::Oid, functions: Functions) -> Fallible<Documents> {
    let function = functions.documents();
    if !is_readable(oid) && !registration::triggers_of(oid, |form| form.tgfoid == function).is_empty() {
        require_readable(oid);
    }
    let not_attached = |table: Option<&EdgesTable>| {
        let usual = |table: &EdgesTable| ["id", "body", "embedding"].iter().all(|name| table.column(name).is_some());
        let listed = table.map(|table| (table.listed(), usual(table)));
        error::no_documents(&full_name(oid), listed)
    };
    if !is_readable(oid) {
        return Err(not_attached(None));
    }
    let Ok(table) = EdgesTable::open(oid) else { return Err(not_attached(None)) };
    // SAFETY: an open relation.
    let all = unsafe { side_table::registered(table.rel(), function) };
    let Some(first) = all.first() else { return Err(not_attached(Some(&table))) };
    let column = |role: &str| first.column(role).and_then(|name| DocumentColumn::of(&table, name));
    let (Some(id), Some(body), Some(embedding)) = (column("id"), column("body"), column("embedding")) else {
        return Err(not_attached(Some(&table)));
    };
    let distance = distance(&table, &embedding)?;
    let (entity, tokens) = (column("entity"), column("tokens"));
    let (metadata, search) = (column("metadata"), column("search"));
    let mapping = belonging(oid, functions, c"cft_document_entities", |table, said| {
        let column = |role: &str| said.column(role).and_then(|name| DocumentColumn::of(table, name));
        Some(Mapping { name: table.qualified(), entity: column("entity")?, document: column("document")? })
    });
    let (name, shown) = (table.qualified(), full_name(oid));
    Ok(Documents { oid, name, shown, id, body, embedding, entity, tokens, metadata, search, mapping, distance })
}

fn read_embeddings(edges: pg_sys::Oid, functions: Functions) -> Fallible<Option<Rc<Embeddings>>> {
    let found = belonging(edges, functions, c"cft_entity_embeddings", |table, said| {
        let column = |role: &str| said.column(role).and_then(|name| DocumentColumn::of(table, name));
        let (entity, embedding) = (column("entity")?, column("embedding")?);
        let distance = distance(table, &embedding);
        Some(distance.map(|distance| Embeddings {
            name: table.qualified(),
            shown: full_name(table.oid()),
            entity,
            embedding,
            distance,
        }))
    });
    found.transpose().map(|found| found.map(Rc::new))
}

/// The first table that a trigger of that function says belongs to `other`, of those that count and that the caller may read: those of the other's owner
/// come first, then by OID.
fn belonging<T>(
    other: pg_sys::Oid,
    functions: Functions,
    function: &CStr,
    read: impl Fn(&EdgesTable, &Registered) -> Option<T>,
) -> Option<T> {
    let function = functions.of_name(function);
    let mut tables: Vec<_> = side_table::belonging(other, &[function]).into_iter().map(|(_, table)| table).collect(); // bounded: triggers that name one table
    tables.sort_unstable_by_key(|table| (roles::owner(*table) != roles::owner(other), u32::from(*table)));
    tables.dedup();
    let counts = |table: &pg_sys::Oid| trust::counts_beside(*table, other) && is_readable(*table);
    tables.into_iter().filter(counts).find_map(|table| {
        let table = EdgesTable::open(table).ok()?;
        // SAFETY: an open relation.
        let all = unsafe { side_table::registered(table.rel(), function) };
        let said = all.iter().find(|said| said.other == other)?;
        read(&table, said)
    })
}

/// The distance of an embedding column: that of the first index on it which orders by one, else the cosine distance. 42804 if its type is not pgvector's.
fn distance(table: &EdgesTable, embedding: &DocumentColumn) -> Fallible<Distance> {
    let of = embedding.type_oid;
    // SAFETY: catalog lookups; an open relation; the syscache's tuples are released.
    unsafe {
        let vector = pg_sys::get_extension_oid(c"vector".as_ptr(), true);
        let is_base = pg_sys::get_typtype(of) as u8 == pg_sys::TYPTYPE_BASE;
        let extension = pg_sys::getExtensionOfObject(pg_sys::TypeRelationId, of);
        let not_embedding = || error::no_embedding(&embedding.name, &full_name(table.oid()));
        if vector == pg_sys::InvalidOid || !is_base || extension != vector {
            return Err(not_embedding());
        }
        let indexes = pgrx::PgList::<pg_sys::Oid>::from_pg(pg_sys::RelationGetIndexList(table.rel()));
        let schema = type_schema(of);
        let by_index = indexes.iter_oid().find_map(|index| operator_of(index, embedding));
        let operator = by_index.unwrap_or_else(|| {
            let [name, of] = [pg_sys::Datum::from(c"<=>".as_ptr()), pg_sys::Datum::from(of)];
            let cache = pg_sys::SysCacheIdentifier::OPERNAMENSP as i32;
            let number = pg_sys::Anum_pg_operator_oid as pg_sys::AttrNumber;
            pg_sys::GetSysCacheOid(cache, number, name, of, of, pg_sys::Datum::from(schema))
        });
        let name = pg_sys::get_opname(operator);
        if name.is_null() {
            return Err(not_embedding());
        }
        let name = encoding::decode(CStr::from_ptr(name).to_bytes());
        let text = |text: *mut std::ffi::c_char| encoding::decode(CStr::from_ptr(text).to_bytes());
        let schema = quote(&text(pg_sys::get_namespace_name(schema)));
        Ok(Distance {
            operator: format!("OPERATOR({schema}.{name})"),
            type_name: text(pg_sys::format_type_be_qualified(of)),
            is_cosine: name == "<=>",
            schema,
        })
    }
}

/// # Safety
/// A type's OID.
unsafe fn type_schema(of: pg_sys::Oid) -> pg_sys::Oid {
    // SAFETY: a system cache lookup; the tuple is released.
    unsafe {
        let tuple = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::TYPEOID as i32, pg_sys::Datum::from(of));
        if tuple.is_null() {
            return pg_sys::InvalidOid;
        }
        let schema = (*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_type>()).typnamespace;
        pg_sys::ReleaseSysCache(tuple);
        schema
    }
}

/// The operator by which a valid index of all rows orders that column.
///
/// # Safety
/// An index's OID.
unsafe fn operator_of(index: pg_sys::Oid, column: &DocumentColumn) -> Option<pg_sys::Oid> {
    let cache = pg_sys::SysCacheIdentifier::INDEXRELID as i32;
    // SAFETY: a system cache lookup; the tuple is released; an index has one class for each key.
    unsafe {
        let tuple = pg_sys::SearchSysCache1(cache, pg_sys::Datum::from(index));
        if tuple.is_null() {
            return None;
        }
        let form = &*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_index>();
        let is_on_it = form.indisvalid && form.indkey.values.as_slice(1) == [column.number];
        let (mut is_whole, mut null) = (false, false);
        pg_sys::SysCacheGetAttr(cache, tuple, pg_sys::Anum_pg_index_indpred as i16, &mut is_whole);
        let classes = pg_sys::SysCacheGetAttr(cache, tuple, pg_sys::Anum_pg_index_indclass as i16, &mut null);
        let class = (*classes.cast_mut_ptr::<pg_sys::oidvector>()).values.as_slice(1)[0];
        pg_sys::ReleaseSysCache(tuple);
        if !is_on_it || !is_whole {
            return None;
        }
        let family = pg_sys::get_opclass_family(class);
        let operator = pg_sys::get_opfamily_member(family, column.type_oid, column.type_oid, 1);
        let orders = operator != pg_sys::InvalidOid
            && pg_sys::get_op_opfamily_sortfamily(operator, family) != pg_sys::InvalidOid;
        orders.then_some(operator)
    }
}
