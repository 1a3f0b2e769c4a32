//! A table of documents (cft_attach_documents) with its mapping to entities, and the table of embeddings of an edges
//! table's entities (cft_attach_embeddings), as the catalogs have them now: what a search of them is written from.
//!
//! Read from the relation cache and the system caches, and kept in the session until something in the catalogs changes.
//! Who may not read a table is told what PostgreSQL would say.

use crate::catalog::columns::collation_name;
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::name::{display_name, full_name, literal, quote};
use crate::catalog::privileges::{is_readable, require_readable};
use crate::catalog::registered::{Kind, Registered};
use crate::catalog::registration::Functions;
use crate::catalog::{column_sql, registered, registration, registration_cache, trust};
use crate::error;
use crate::error::Fallible;
use crate::guc::Match;
use crate::pg::invalidation::Cached;
use crate::pg::lookup::Row;
use crate::pg::{backend, invalidation, lookup};
use pgrx::{check_for_interrupts, pg_sys};
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
    /// The base type as SQL.
    pub type_name: String,
    /// Its collation as SQL, if it is of a type of strings of the server's own and the collation is deterministic.
    pub text_collation: Option<String>,
}

impl DocumentColumn {
    /// The column of that name.
    pub fn of(table: &EdgesTable, name: &str) -> Option<Self> {
        let found = table.column(name)?;
        let attribute = table.desc().column(found.number)?;
        let is_text = lookup::category(attribute.atttypid) == pg_sys::TYPCATEGORY_STRING
            && trust::is_builtin(attribute.atttypid)
            && attribute.attcollation != pg_sys::InvalidOid
            && lookup::get_collation_isdeterministic(attribute.attcollation);
        Some(Self {
            number: attribute.attnum,
            name: name.into(),
            type_oid: attribute.atttypid,
            base: pg_sys::Oid::from(found.type_oid),
            modifier: attribute.atttypmod,
            type_name: lookup::full_type_name(pg_sys::Oid::from(found.type_oid)).unwrap_or_default(),
            text_collation: if is_text { collation_name(attribute.attcollation) } else { None },
        })
    }

    /// Whether its type is one of the server's own that has an order: its operators are in pg_catalog.
    pub fn has_order(&self) -> bool {
        let is_ordered = lookup::category(self.type_oid) == pg_sys::TYPCATEGORY_STRING || lookup::orders(self.base).0;
        is_ordered && trust::is_builtin(self.type_oid)
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
    pub oid: pg_sys::Oid,
    pub name: String,
    pub entity: DocumentColumn,
    pub document: DocumentColumn,
    /// How often a document mentions the entity: of a table that cftrag fills (cft_attach_documents: link).
    pub mentions: Option<DocumentColumn>,
    /// Where the first one begins.
    pub start: Option<DocumentColumn>,
}

/// How documents are linked to the entities that they mention (retrieve/links.rs).
pub struct Linked {
    pub edges: pg_sys::Oid,
    pub matching: Match,
    /// The tree in which names are looked for.
    pub tree: Option<DocumentColumn>,
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
    /// The order of documents about one entity.
    pub sort: Option<DocumentColumn>,
    /// Columns that filters may name.
    pub columns: Vec<DocumentColumn>,
    /// Columns that a prompt shows beside the text.
    pub show: Vec<DocumentColumn>,
    pub mapping: Option<Mapping>,
    pub linked: Option<Linked>,
    pub distance: Distance,
}

/// A table of embeddings of entities.
pub struct Embeddings {
    pub oid: pg_sys::Oid,
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
    /// The cast of the column that an index on an expression has, as SQL; empty if there is none.
    pub cast: String,
    /// Whether an index orders by it.
    pub has_index: bool,
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

/// What the catalogs say, read when the tables are locked: their columns keep their names until the transaction ends.
/// While we wait for a lock, what was read before may change.
fn locked<T>(ask: impl Fn() -> Fallible<T>, tables: impl Fn(&T) -> Vec<pg_sys::Oid>) -> Fallible<T> {
    loop {
        let found = ask()?;
        let before = invalidation::catalogs();
        for table in tables(&found) {
            // One that is gone is forgotten, and not found again.
            let _locked = EdgesTable::open(table);
        }
        if invalidation::catalogs() == before {
            return Ok(found);
        }
        check_for_interrupts!();
    }
}

fn key(table: pg_sys::Oid, functions: Functions) -> Key {
    invalidation::process();
    (table, backend::user(), backend::row_security(), functions.capture)
}

/// The table of documents that a call names; if it names none, the only one that the caller may read and search_path
/// shows, if there is exactly one.
pub fn meant(functions: Functions, named: Option<pg_sys::Oid>) -> Option<pg_sys::Oid> {
    named.or_else(|| registration_cache::only_registered(functions.documents(), functions).ok())
}

impl Documents {
    /// The table that a call names; if it names none, the only one that the caller may read and search_path shows. None
    /// if no table is attached and `needed` is false. Errors: 42P01 (not attached), 42725 (several could be meant),
    /// 42501, 42804 (no embedding).
    pub fn of(functions: Functions, named: Option<pg_sys::Oid>, needed: bool) -> Fallible<Option<Rc<Self>>> {
        // cft_meant_documents gives 0 if search_path does not show exactly one.
        let table = match named.filter(|named| *named != pg_sys::InvalidOid) {
            Some(table) => table,
            None => {
                let only = registration_cache::only_registered(functions.documents(), functions);
                match only {
                    Ok(only) => only,
                    Err(none) if none.is_empty() && !needed => return Ok(None),
                    Err(several) => return Err(left_out(several)),
                }
            }
        };
        let ask = || DOCUMENTS.with(|all| all.get(key(table, functions), || read(table, functions).map(Rc::new)));
        locked(ask, |of| std::iter::once(of.oid).chain(of.mapping.as_ref().map(|mapping| mapping.oid)).collect())
            .map(Some)
            // The table that was found was dropped while we waited for its lock.
            .map_err(|error| match named {
                None if lookup::relation_name(table).is_none() => error::documents_left_out(&[]),
                _ => error,
            })
    }

    /// The documents, if they are attached to entities; 55000 otherwise.
    pub fn require_entities(&self) -> Fallible<()> {
        if self.has_entities() { Ok(()) } else { Err(error::documents_without_entities(&self.shown)) }
    }

    /// The columns that a prompt shows of the row `alias`, as SQL: "price: 30, updated_at: 2026-01-31", without those
    /// that are NULL.
    pub fn shown_of(&self, alias: &str) -> String {
        if self.show.is_empty() {
            return "NULL::pg_catalog.text".into();
        }
        let one = |column: &DocumentColumn| {
            let name = literal(&format!("{}: ", column.name));
            format!("{name} OPERATOR(pg_catalog.||) {}", column.as_text(&column.of_row(alias)))
        };
        let all: Vec<String> = self.show.iter().map(one).collect(); // bounded: columns of a table
        format!("NULLIF(pg_catalog.concat_ws(', ', VARIADIC ARRAY[{}]), '')", all.join(", "))
    }

    /// About how many documents there are, as the planner counts; 0 if that is not known, of a view for example.
    pub fn rows(&self) -> Fallible<i64> {
        let table = EdgesTable::open(self.oid)?;
        let counted = table.counted();
        Ok(match table.kind() {
            pg_sys::RELKIND_RELATION | pg_sys::RELKIND_PARTITIONED_TABLE if counted >= 0.0 => counted as i64,
            // Never analysed: by its size, as if a document took a kilobyte.
            pg_sys::RELKIND_RELATION => (table.bytes() / 1024) as i64,
            _ => 0,
        })
    }

    /// The size of the table, for plans that are kept (EdgesTable::size_class).
    pub fn size_class(&self) -> Fallible<u32> {
        Ok(EdgesTable::open(self.oid)?.size_class())
    }

    /// Whether cftrag keeps a table of the entities that they mention.
    pub fn is_linked(&self) -> bool {
        self.mapping.as_ref().is_some_and(|mapping| mapping.mentions.is_some())
    }

    pub fn has_entities(&self) -> bool {
        self.entity.is_some() || self.mapping.is_some()
    }
}

impl Embeddings {
    /// The table of embeddings of an edges table's entities that the caller may read, if one is attached.
    pub fn of(functions: Functions, edges: pg_sys::Oid) -> Fallible<Option<Rc<Self>>> {
        let ask = || EMBEDDINGS.with(|all| all.get(key(edges, functions), || read_embeddings(edges, functions)));
        locked(ask, |of| of.iter().map(|of| of.oid).collect())
    }
}

/// The error of a call that names none of several tables of documents, or where there is none.
fn left_out(tables: Vec<pg_sys::Oid>) -> error::Report {
    let mut names: Vec<_> = tables.into_iter().map(full_name).collect(); // bounded: attached tables
    names.sort_unstable();
    error::documents_left_out(&names)
}

/// The error of a call that leaves out the table of documents: 42P01 if the caller may read none that is attached, else
/// 42725.
pub fn unclear(functions: Functions) -> error::Report {
    left_out(registration_cache::readable(functions.documents(), functions))
}

/// The error of a table that has no documents attached: 42P01, with how to attach it. Raises 42501 if it has, and the
/// caller may not read it.
pub fn not_attached(oid: pg_sys::Oid, functions: Functions) -> error::Report {
    let function = functions.documents();
    if !is_readable(oid) && !registration::triggers_of(oid, |form| form.tgfoid == function).is_empty() {
        require_readable(oid);
    }
    let table = is_readable(oid).then(|| EdgesTable::open(oid).ok()).flatten();
    let usual = |table: &EdgesTable| ["id", "body", "embedding"].iter().all(|name| table.column(name).is_some());
    error::no_documents(&full_name(oid), table.map(|table| (table.listed(), usual(&table))))
}

fn read(oid: pg_sys::Oid, functions: Functions) -> Fallible<Documents> {
    if !is_readable(oid) {
        return Err(not_attached(oid, functions));
    }
    let Ok(table) = EdgesTable::open(oid) else { return Err(not_attached(oid, functions)) };
    let all = registered::of_relation(&table, functions.documents());
    let Some(first) = all.first() else { return Err(not_attached(oid, functions)) };
    let column = |role: &str| first.column(role).and_then(|name| DocumentColumn::of(&table, name));
    let (Some(id), Some(body), Some(embedding)) = (column("id"), column("body"), column("embedding")) else {
        return Err(not_attached(oid, functions));
    };
    let distance = distance(&table, &embedding)?;
    let (entity, tokens) = (column("entity"), column("tokens"));
    let (metadata, search) = (column("metadata"), column("search"));
    let sort = column("sort");
    let numbered = |role| (1..).map_while(|n| column(&format!("{role}{n}"))).collect(); // bounded: a trigger's arguments
    let (columns, show) = (numbered("column"), numbered("show"));
    let linked = registered::of_relation(&table, functions.links());
    // What is written by way of a parent fires no trigger that keeps links.
    let is_followed = linked.is_empty() || table.unsuitable().or_else(|| table.inherits()).is_none();
    let mapping = belonging(oid, functions, Kind::Mapping, |table, said| {
        if !is_followed {
            return None;
        }
        let column = |role: &str| said.column(role).and_then(|name| DocumentColumn::of(table, name));
        Some(Mapping {
            oid: table.oid(),
            name: table.qualified(),
            entity: column("entity")?,
            document: column("document")?,
            mentions: column("mentions"),
            start: column("start"),
        })
    });
    let linked = linked.iter().find_map(|said| {
        Some(Linked {
            edges: said.other,
            matching: Match::ALL.into_iter().find(|matching| said.column(matching.name()).is_some())?,
            tree: said.column("tree").and_then(|name| DocumentColumn::of(&table, name)),
        })
    });
    let (name, shown) = (table.qualified(), full_name(oid));
    Ok(Documents {
        oid,
        name,
        shown,
        id,
        body,
        embedding,
        entity,
        tokens,
        metadata,
        search,
        sort,
        columns,
        show,
        mapping,
        linked,
        distance,
    })
}

fn read_embeddings(edges: pg_sys::Oid, functions: Functions) -> Fallible<Option<Rc<Embeddings>>> {
    let found = belonging(edges, functions, Kind::Embeddings, |table, said| {
        let column = |role: &str| said.column(role).and_then(|name| DocumentColumn::of(table, name));
        let (entity, embedding) = (column("entity")?, column("embedding")?);
        let distance = distance(table, &embedding);
        Some(distance.map(|distance| Embeddings {
            oid: table.oid(),
            name: table.qualified(),
            shown: full_name(table.oid()),
            entity,
            embedding,
            distance,
        }))
    });
    found.transpose().map(|found| found.map(Rc::new))
}

/// The first table that a trigger of that function says belongs to `other`, of those that count and that the caller may
/// read: those of the other's owner come first, then by OID.
fn belonging<T>(
    other: pg_sys::Oid,
    functions: Functions,
    kind: Kind,
    read: impl Fn(&EdgesTable, &Registered) -> Option<T>,
) -> Option<T> {
    let function = kind.function(functions);
    let mut tables = registered::tables_beside(other, &[function]);
    tables.sort_by_key(|table| trust::owner(*table) != trust::owner(other));
    let counts = |table: &pg_sys::Oid| trust::counts_beside(*table, other) && is_readable(*table);
    tables.into_iter().filter(counts).find_map(|table| {
        let table = EdgesTable::open(table).ok()?;
        let all = registered::of_relation(&table, function);
        let said = all.iter().find(|said| said.other == other)?;
        read(&table, said)
    })
}

/// The distance of an embedding column: that of the first index on it, or on a cast of it to another type of pgvector,
/// which orders by one; else the cosine distance. 42804 if its type is not pgvector's.
fn distance(table: &EdgesTable, embedding: &DocumentColumn) -> Fallible<Distance> {
    let not_embedding = || error::no_embedding(&embedding.name, &full_name(table.oid()));
    if !is_vector(embedding.type_oid) {
        return Err(not_embedding());
    }
    let ordered: Vec<_> = table.indexes().into_iter().filter_map(|index| ordered_by(index, embedding)).collect(); // bounded: indexes
    // An index on the column itself comes first.
    let by_index = ordered.iter().find(|index| index.cast.is_none()).or(ordered.first());
    let of = by_index.map_or(embedding.type_oid, |index| index.of);
    let schema = Row::<pg_sys::FormData_pg_type>::of(of).map_or(pg_sys::InvalidOid, |row| row.typnamespace);
    let operator = by_index.map_or_else(|| lookup::operator(c"<=>", of, schema), |index| index.operator);
    let name = lookup::operator_name(operator).ok_or_else(not_embedding)?;
    let schema = quote(&lookup::schema_name(schema).unwrap_or_default());
    let type_name = lookup::full_type_name(of).unwrap_or_default();
    let dimensions = by_index.and_then(|index| index.cast.as_deref());
    Ok(Distance {
        operator: format!("OPERATOR({schema}.{name})"),
        cast: dimensions.map(|dimensions| format!("::{type_name}({dimensions})")).unwrap_or_default(),
        has_index: by_index.is_some(),
        type_name,
        is_cosine: name == "<=>",
        schema,
    })
}

/// How embeddings of that column of a table are compared. 42804 unless it is of a type of pgvector's.
pub fn distance_of(table: pg_sys::Oid, column: &str) -> Fallible<Distance> {
    let opened = EdgesTable::open(table)?;
    let found = DocumentColumn::of(&opened, column).and_then(|column| distance(&opened, &column).ok());
    found.ok_or_else(|| error::no_embedding(column, &display_name(table)))
}

/// 42804 unless that column of the table is of a type of pgvector's.
pub fn require_embedding(table: pg_sys::Oid, column: &str) -> Fallible<()> {
    distance_of(table, column).map(|_| ())
}

/// Whether it is a type of pgvector's: not another role's with the same name.
fn is_vector(of: pg_sys::Oid) -> bool {
    let vector = lookup::extension(c"vector");
    let is_base = lookup::get_typtype(of) as u8 == pg_sys::TYPTYPE_BASE;
    vector != pg_sys::InvalidOid && is_base && lookup::getExtensionOfObject(pg_sys::TypeRelationId, of) == vector
}

/// An index that orders by a distance.
struct Ordered {
    operator: pg_sys::Oid,
    /// The type of what is indexed.
    of: pg_sys::Oid,
    /// The dimensions to which the column is cast, if the index is on such an expression.
    cast: Option<String>,
}

/// A valid index of all rows that orders that column by a distance, or a cast of it to a type of pgvector's with so
/// many dimensions.
fn ordered_by(index: pg_sys::Oid, column: &DocumentColumn) -> Option<Ordered> {
    let row = Row::<pg_sys::FormData_pg_index>::of(index)?;
    let (key, class) = (row.first_key(), row.first_class());
    if !row.indisvalid || !row.is_whole() || key != 0 && key != column.number {
        return None;
    }
    let (of, family) = (lookup::get_opclass_input_type(class), lookup::get_opclass_family(class));
    let operator = lookup::get_opfamily_member(family, of, of, 1);
    let orders =
        operator != pg_sys::InvalidOid && lookup::get_op_opfamily_sortfamily(operator, family) != pg_sys::InvalidOid;
    if !orders || !is_vector(of) {
        return None;
    }
    if key == column.number {
        return (of == column.type_oid).then_some(Ordered { operator, of, cast: None });
    }
    // Nothing of an index's expression becomes SQL but a number.
    let text = lookup::first_key_as_sql(index);
    let start = format!("(({})::{}(", lookup::quoted(&column.name), lookup::type_name(of)?);
    let dimensions = text.strip_prefix(&start)?.strip_suffix("))")?;
    let is_number = !dimensions.is_empty() && dimensions.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| Ordered { operator, of, cast: Some(dimensions.into()) })
}
