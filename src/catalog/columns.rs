//! Columns of an edges table: their numbers, types and collations, found by name in a tuple descriptor.
//!
//! The numbers are looked up again at each opening, since a name may come to mean another column.

use crate::call::trigger::Trigger;
use crate::catalog::name::qualified_name;
use crate::pg::lookup;
use crate::pg::lookup::Row;
use crate::pg::relation::Desc;
use cftrag_core::Language;
use pgrx::pg_sys;
use std::ops::RangeInclusive;

/// A column that holds names, as of its lookup. If any of this changes, the column's values may no longer be those that
/// were captured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Column {
    pub number: i32,
    /// The OID of its type; of its base type if that is a domain.
    pub type_oid: u32,
    pub collation: u32,
    pub generated: u32,
}

/// The most columns of other names.
pub const MOST_NAMES: usize = 4;

/// The columns; the number of one that the table has not is 0, and `parent.number` in a table of names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Columns {
    pub tree: Column,
    pub parent: Column,
    pub child: Column,
    /// What people call the child.
    pub label: Column,
    /// What else they call it.
    pub names: [Column; MOST_NAMES],
    /// Whether the label is preferred to others of the child.
    pub preferred: Column,
}

impl Columns {
    pub const ALL: usize = 5 + MOST_NAMES;

    pub fn all(&self) -> [Column; Self::ALL] {
        let [a, b, c, d] = self.names;
        [self.tree, self.parent, self.child, self.label, a, b, c, d, self.preferred]
    }

    /// The columns of that list.
    pub fn of([tree, parent, child, label, a, b, c, d, preferred]: [Column; Self::ALL]) -> Self {
        Self { tree, parent, child, label, names: [a, b, c, d], preferred }
    }

    pub fn has_labels(&self) -> bool {
        self.label.number != 0
    }

    /// Whether entities are integers.
    pub fn are_integers(&self) -> bool {
        let integers = [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID, pg_sys::NUMERICOID].map(u32::from);
        [self.parent, self.child].iter().all(|column| integers.contains(&column.type_oid))
    }

    /// Whether texts name entities by their own names, if there is no table of labels: only if there is no column of
    /// labels either and, for integers, only if `ids` asks for it. (With labels `ids` alone decides: serve/tables.rs.)
    pub fn are_found_by_name(&self, names: &ColumnNames) -> bool {
        !self.has_labels() && (names.ids || !self.are_integers())
    }
}

/// The columns' names, as the trigger's arguments give them. In a table of names (aliases or labels of entities) the
/// child is an entity, the label is its name, and the parent is empty.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ColumnNames {
    pub parent: String,
    pub child: String,
    pub tree: Option<String>,
    pub label: Option<String>,
    /// Columns of other names, by which texts may call the child: at most [`MOST_NAMES`].
    pub names: Vec<String>,
    /// The column of type boolean which says that a label is preferred to others of its child.
    pub preferred: Option<String>,
    /// Whether texts name entities by their ids, too, though they are integers or have labels.
    pub ids: bool,
    /// The column that orders siblings. The image does not hold it.
    pub position: Option<String>,
    /// By whose rules texts may write the names otherwise.
    pub language: Language,
}

impl ColumnNames {
    /// A parent and a child, and nothing else.
    pub fn pair(parent: impl Into<String>, child: impl Into<String>) -> Self {
        let (parent, child) = (parent.into(), child.into());
        Self {
            parent,
            child,
            tree: None,
            label: None,
            names: Vec::new(),
            preferred: None,
            ids: false,
            position: None,
            language: Language::default(),
        }
    }

    /// The columns of a table of names.
    pub fn of_names(entity: impl Into<String>, name: impl Into<String>) -> Self {
        Self { label: Some(name.into()), ..Self::pair("", entity) }
    }

    /// Whether both are tables of names with the same columns, in whatever language.
    pub fn are_names_as(&self, other: &Self) -> bool {
        let names = |of: &Self| !of.has_parent() && of.tree.is_none();
        let columns = |of: &Self| (of.child.clone(), of.label.clone(), of.names.clone(), of.preferred.clone());
        names(self) && names(other) && columns(self) == columns(other)
    }

    /// Whether it is a table of edges, rather than one of names.
    pub fn has_parent(&self) -> bool {
        !self.parent.is_empty()
    }

    /// Each column of names with the name of cft_attach's argument for it, in the order of [`Columns::all`] but for the
    /// tree.
    pub fn all(&self) -> Vec<(&'static str, &str)> {
        let parent = Some(self.parent.as_str()).filter(|_| self.has_parent());
        let some = [
            ("parent", parent),
            ("child", Some(self.child.as_str())),
            ("tree", self.tree.as_deref()),
            ("label", self.label.as_deref()),
        ];
        let some = some.into_iter().filter_map(|(argument, column)| Some((argument, column?)));
        some.chain(self.names.iter().map(|name| ("names", name.as_str()))).collect() // bounded: columns
    }

    /// The trigger's arguments: parent, child, then tree, label, "ids", position, language, preferred and the other
    /// names as far as there are any; empty counts as absent, an absent language as English.
    pub fn arguments(&self) -> Vec<&str> {
        let [tree, label, position, preferred] =
            [&self.tree, &self.label, &self.position, &self.preferred].map(|name| name.as_deref().unwrap_or_default());
        let ids = if self.ids { IDS } else { "" };
        let language = if self.language == Language::default() { "" } else { self.language.name() };
        let mut arguments =
            vec![self.parent.as_str(), self.child.as_str(), tree, label, ids, position, language, preferred];
        arguments.extend(self.names.iter().map(String::as_str));
        while arguments.last().is_some_and(|last| last.is_empty()) {
            arguments.pop();
        }
        arguments
    }
}

/// The trigger's argument which says that texts name entities by their ids, too.
pub const IDS: &str = "ids";

/// How many arguments a trigger may have: those of [`ColumnNames::arguments`].
pub const ARGUMENTS: RangeInclusive<i16> = 2..=8 + MOST_NAMES as i16;

/// The column of that name; None if there is none.
pub fn find_column(desc: &Desc, name: &[u8]) -> Option<Column> {
    desc.columns().find(|a| !a.attisdropped && lookup::bytes_of(&a.attname) == name).map(|a| Column {
        number: i32::from(a.attnum),
        type_oid: u32::from(lookup::getBaseType(a.atttypid)),
        collation: u32::from(a.attcollation),
        generated: a.attgenerated as u8 as u32,
    })
}

/// The column of that name of a trigger's table; None if there is none.
pub fn of_fired(trigger: &Trigger<'_>, name: &[u8]) -> Option<Column> {
    find_column(trigger.relation().desc(), name)
}

/// A column's collation as SQL: its own if that is deterministic, else "C".
pub fn collation_sql(column: &Column) -> String {
    let c = || "pg_catalog.\"C\"".to_string();
    let oid = pg_sys::Oid::from(column.collation);
    let textual = [pg_sys::TEXTOID, pg_sys::VARCHAROID].contains(&pg_sys::Oid::from(column.type_oid));
    if oid == pg_sys::InvalidOid || !textual || !lookup::get_collation_isdeterministic(oid) {
        return c();
    }
    collation_name(oid).unwrap_or_else(c)
}

/// A collation as SQL, if there is one.
pub fn collation_name(oid: pg_sys::Oid) -> Option<String> {
    let row = Row::<pg_sys::FormData_pg_collation>::of(oid)?;
    Some(qualified_name(row.collnamespace, &lookup::name_of(&row.collname)))
}
