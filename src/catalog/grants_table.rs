//! A table of grants (cft_attach_grants), opened to be read: which roles may see what is at or below an entity.

use crate::call::entity_value::EntityType;
use crate::catalog::column_sql::text_of;
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::name::{display_name, quote};
use crate::catalog::privileges::{has_policies, require_readable};
use crate::catalog::registered::{self, Kind};
use crate::catalog::registration::Functions;
use crate::catalog::registration_cache::SnapshotId;
use crate::catalog::trust;
use crate::error;
use crate::error::Fallible;
use crate::pg::invalidation::Cached;
use crate::pg::{backend, invalidation};
use cftrag_core::Names;
use pgrx::pg_sys;
use std::rc::Rc;

/// For roles that take more, nothing is remembered: their copy would ask nobody for memory.
const MOST_BYTES: usize = 1 << 16;

/// A snapshot, a table of grants, who reads it, and roles.
type Question = (SnapshotId, pg_sys::Oid, pg_sys::Oid, Vec<Vec<u8>>);

thread_local! {
    /// The entities granted to some roles, and whether they are all: the planner asks three times, and then the query.
    static GRANTED: Cached<Question, (Rc<Names>, bool)> = const { Cached::new(1, invalidation::catalogs) };
}

pub struct GrantsTable {
    pub table: EdgesTable,
    /// The edges table of the entities.
    pub edges: pg_sys::Oid,
    entity: String,
    role: String,
    allow: Option<String>,
}

/// A column as SQL that an index on it serves, and the type of what it is compared with.
pub struct Key {
    pub sql: String,
    pub of: EntityType,
}

impl GrantsTable {
    /// Errors: 42P01 (no such table, or it has no grants attached), 42501.
    pub fn open(table: pg_sys::Oid, functions: Functions) -> Fallible<Self> {
        require_readable(table);
        let table = EdgesTable::open(table)?;
        let all = registered::of_relation(&table, Kind::Grants.function(functions));
        let counts = |said: &registered::Registered| trust::counts_beside(table.oid(), said.other);
        let missing = || error::no_grants(&display_name(table.oid()));
        let said = all.into_iter().find(counts).ok_or_else(missing)?;
        let column = |role| said.column(role).map(str::to_string);
        let (Some(entity), Some(role)) = (column("entity"), column("role")) else { return Err(missing()) };
        Ok(Self { edges: said.other, entity, role, allow: column("allow"), table })
    }

    pub fn entity(&self) -> Key {
        self.key(&self.entity)
    }

    pub fn role(&self) -> Key {
        self.key(&self.role)
    }

    /// The entity's name.
    pub fn name(&self) -> String {
        text_of(&self.table, &self.entity)
    }

    /// Whether a row allows what it is about, as SQL; NULL where it does not say.
    pub fn allows(&self) -> String {
        self.allow.as_ref().map_or_else(|| "true".to_string(), |allow| format!("r.{}", quote(allow)))
    }

    /// 55000 if policies hide rows of the grants or of the edges from the caller: by a law that asks which entries
    /// refuse, that would give rights.
    pub fn require_all_rows(&self) -> Fallible<()> {
        require_all_rows(self.edges)?;
        require_all_rows(self.table.oid())
    }

    /// 55000 if policies hide rows of the grants from the caller, of which some may refuse: that would give rights by
    /// any law.
    pub fn require_refusals(&self) -> Fallible<()> {
        if self.allow.is_some() { require_all_rows(self.table.oid()) } else { Ok(()) }
    }

    /// About how many rows the table has: -1 if that is not known.
    pub fn rows(&self) -> f32 {
        self.table.counted()
    }

    /// The entities granted to these roles, and whether they are all, as `read` finds them: once for a snapshot, if no
    /// policies say what it sees.
    pub fn granted_to(
        &self,
        roles: &[&[u8]],
        some_will_do: bool,
        read: impl FnOnce() -> Fallible<(Names, bool)>,
    ) -> Fallible<(Rc<Names>, bool)> {
        let read = || read().map(|(names, is_all)| (Rc::new(names), is_all));
        let bytes: usize = roles.iter().map(|role| role.len() + size_of::<Vec<u8>>()).sum();
        if has_policies(self.table.oid()) || bytes > MOST_BYTES {
            return read();
        }
        let roles = roles.iter().map(|role| role.to_vec()).collect(); // bounded: MOST_BYTES
        let key = (SnapshotId::active(), self.table.oid(), backend::user(), roles);
        let count = invalidation::catalogs();
        let known = GRANTED.with(|last| last.known(count, &key)).filter(|(_, is_all)| *is_all || some_will_do);
        known.map_or_else(
            || {
                let found = read()?;
                GRANTED.with(|last| last.keep(count, key, found.clone()));
                Ok(found)
            },
            Ok,
        )
    }

    fn key(&self, column: &str) -> Key {
        let type_oid = self.table.column(column).map_or(0, |column| column.type_oid);
        let of = match pg_sys::Oid::from(type_oid) {
            pg_sys::INT2OID | pg_sys::INT4OID | pg_sys::INT8OID => EntityType::Int8,
            pg_sys::UUIDOID => EntityType::Uuid,
            _ => return Key { sql: text_of(&self.table, column), of: EntityType::Text },
        };
        Key { sql: format!("r.{}", quote(column)), of }
    }
}

/// Called when a transaction ends, or a subtransaction begins or ends: a snapshot's id may mean something else then.
pub fn forget() {
    GRANTED.with(Cached::forget);
}

fn require_all_rows(table: pg_sys::Oid) -> Fallible<()> {
    if has_policies(table) { Err(error::hidden_grants(&display_name(table))) } else { Ok(()) }
}

impl Key {
    /// A condition: the column is one of parameter `n`. Texts are compared byte by byte, whatever their collation takes
    /// for equal.
    pub fn is_one_of(&self, n: usize) -> String {
        let (sql, of) = (
            &self.sql,
            match self.of {
                EntityType::Text => "text",
                EntityType::Uuid => "uuid",
                EntityType::Int4 | EntityType::Int8 => "int8",
            },
        );
        let equal = |sql: &str| format!("{sql} OPERATOR(pg_catalog.=) ANY (${n}::pg_catalog.{of}[])");
        match self.of {
            EntityType::Text => format!("({} AND {})", equal(sql), equal(&format!("{sql} COLLATE pg_catalog.\"C\""))),
            _ => equal(sql),
        }
    }
}
