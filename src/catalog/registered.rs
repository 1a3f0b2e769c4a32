//! What triggers that never fire say about tables: which columns of a table hold documents, entities, embeddings,
//! words, phrases, summaries, and to which table it belongs. Every reader and writer of such a trigger passes through
//! here; catalog/register.rs makes them.
//!
//!   AFTER UPDATE OF id, body [FROM other] ... WHEN (false) EXECUTE FUNCTION cft_documents('id', 'body'), ENABLE ALWAYS
//!
//! Columns and arguments go together: an argument has the roles of its column, separated by blanks. Triggers of an open
//! table are read from the relation cache, as of now; others by index, under a snapshot. If a table has several, the
//! owner's come first (ENABLE ALWAYS, which only the owner can set, and which a dump keeps), then the oldest. A trigger
//! whose arguments are longer than any of ours is no registration, and we do not copy them.

use crate::call::trigger::Trigger as Fired;
use crate::catalog::registration::Functions;
use crate::catalog::{pg_trigger, privileges, trust};
use crate::pg::relation::{Definition, Relation};
use crate::pg::snapshot::Snapshot;
use crate::pg::{encoding, lookup};
use pgrx::{check_for_interrupts, pg_sys};
use std::collections::BTreeMap;
use std::ffi::CStr;

/// What a registration says of its table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It holds documents.
    Documents,
    /// It says which entities the documents of another table are about.
    Mapping,
    /// Its documents are linked to the entities of another table that they mention.
    Links,
    /// It holds the embeddings of another table's entities.
    Embeddings,
    /// It holds classes of words for the names of another table's entities.
    Words,
    /// It holds the words of sentences about another table's entities.
    Phrases,
    /// It holds summaries of another table's entities.
    Summaries,
    /// Its summaries are made of the documents of another table.
    SummaryDocuments,
    /// It says which roles may see what is at or below another table's entities.
    Grants,
}

impl Kind {
    const ALL: [Self; 9] = [
        Self::Documents,
        Self::Mapping,
        Self::Links,
        Self::Embeddings,
        Self::Words,
        Self::Phrases,
        Self::Summaries,
        Self::SummaryDocuments,
        Self::Grants,
    ];

    /// The function of its triggers.
    pub fn function(self, functions: Functions) -> pg_sys::Oid {
        match self {
            Self::Documents => functions.documents(),
            Self::Mapping => functions.of_name(c"cft_document_entities"),
            Self::Links => functions.links(),
            Self::Embeddings => functions.of_name(c"cft_entity_embeddings"),
            Self::Words => functions.words(),
            Self::Phrases => functions.phrases(),
            Self::Summaries => functions.of_name(c"cft_summaries"),
            Self::SummaryDocuments => functions.of_name(c"cft_summary_documents"),
            Self::Grants => functions.of_name(c"cft_grants"),
        }
    }

    /// What its first trigger on a table is called.
    pub fn trigger_name(self) -> &'static str {
        match self {
            Self::Documents => "cftrag_documents",
            Self::Mapping => "cftrag_document_entities",
            Self::Links => "cftrag_links",
            Self::Embeddings => "cftrag_entities",
            Self::Words => "cftrag_words",
            Self::Phrases => "cftrag_phrases",
            Self::Summaries => "cftrag_summaries",
            Self::SummaryDocuments => "cftrag_summary_documents",
            Self::Grants => "cftrag_grants",
        }
    }

    /// The kind whose triggers call that function.
    pub fn of(function: pg_sys::Oid, functions: Functions) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.function(functions) == function)
    }

    /// The functions of all triggers which say that a table belongs to another.
    pub fn belonging(functions: Functions) -> Vec<pg_sys::Oid> {
        let kinds = Self::ALL.iter().filter(|kind| **kind != Self::Documents).map(|kind| kind.function(functions));
        functions.names_of().into_iter().chain(kinds).collect() // bounded: kinds
    }
}

/// What a trigger that never fires says.
pub struct Registered {
    pub trigger: pg_sys::Oid,
    pub name: String,
    pub table: pg_sys::Oid,
    /// The table after FROM; InvalidOid: none.
    pub other: pg_sys::Oid,
    /// ENABLE ALWAYS: only the table's owner can have made it so.
    pub always: bool,
    /// Each column, and its roles, separated by blanks.
    columns: Vec<(String, String)>,
}

impl Registered {
    /// The column that has this role.
    pub fn column(&self, role: &str) -> Option<&str> {
        let is_for = |(_, roles): &&(String, String)| roles.split(' ').any(|one| one == role);
        self.columns.iter().find(is_for).map(|(column, _)| column.as_str())
    }

    /// The column of each role.
    pub fn roles(&self) -> BTreeMap<&str, &str> {
        let mut all = BTreeMap::new();
        for (column, roles) in self.columns.iter().filter(|(_, roles)| !roles.is_empty()) {
            all.extend(roles.split(' ').map(|role| (role, column.as_str()))); // bounded: pg_trigger::ARGUMENTS
        }
        all
    }
}

/// What triggers of that function say about the table of a trigger that fires, as of now.
pub fn of_fired(trigger: &Fired<'_>, function: pg_sys::Oid) -> Vec<Registered> {
    of_relation(trigger.relation(), function)
}

/// What triggers of that function say about an open relation, as of now.
pub fn of_relation(rel: &Relation, function: pg_sys::Oid) -> Vec<Registered> {
    let text = |text: &CStr| encoding::decode(text.to_bytes());
    let length = |t: &Definition<'_>| t.arguments().map(|argument| argument.count_bytes() + 1).sum::<usize>();
    let ours = rel.triggers().filter(|t| t.tgfoid == function && !t.tgisinternal && !t.tgisclone);
    let ours = ours.filter(|t| length(t) <= pg_trigger::ARGUMENTS);
    let column = |number: &i16| rel.desc().column(i32::from(*number)).map(|column| lookup::name_of(&column.attname));
    let registered = |t: Definition<'_>| {
        let columns = t.columns().iter().zip(t.arguments());
        Registered {
            trigger: t.tgoid,
            name: text(t.name()),
            table: rel.oid(),
            other: t.tgconstrrelid,
            always: t.tgenabled as u8 == pg_sys::TRIGGER_FIRES_ALWAYS,
            columns: columns.filter_map(|(number, argument)| Some((column(number)?, text(argument)))).collect(), // bounded: columns
        }
    };
    let mut all: Vec<_> = ours.map(registered).collect(); // bounded: triggers of one table
    all.sort_by_key(|one| (!one.always, u32::from(one.trigger)));
    all
}

/// Which registrations are wanted: those that one of these is true of.
#[derive(Clone, Copy, Default)]
pub struct Which {
    /// Those of this table.
    pub table: Option<pg_sys::Oid>,
    /// Those of tables that belong to this one.
    pub other: Option<pg_sys::Oid>,
    pub every: bool,
}

impl Which {
    fn has(self, form: &pg_sys::FormData_pg_trigger) -> bool {
        self.every || self.table == Some(form.tgrelid) || self.other == Some(form.tgconstrrelid)
    }
}

/// What triggers of that function say, as the snapshot (None: now) sees them, whatever the caller may read; by table,
/// then by the table that it belongs to. Those of a table are found by an index, however many others there are.
pub fn read(function: pg_sys::Oid, which: Which, snapshot: Option<Snapshot<'_>>) -> Vec<Registered> {
    let mut found = Vec::new(); // bounded: triggers
    let mut take = |row: &pg_trigger::Row<'_>| found.extend(of_row(row, function, which));
    if let Some(table) = which.table {
        pg_trigger::of_table(table, snapshot, &mut take);
    }
    let beside = which.other.map(|other| (pg_sys::RelationRelationId, other));
    let all = which.every.then_some((pg_sys::ProcedureRelationId, function));
    for (class, object) in beside.into_iter().chain(all) {
        for trigger in pg_trigger::that_depend_on(class, object, snapshot) {
            check_for_interrupts!();
            pg_trigger::that_is(trigger, snapshot, &mut take);
        }
    }
    found.sort_by_key(|one| (u32::from(one.table), u32::from(one.other), !one.always, u32::from(one.trigger)));
    found.dedup_by_key(|one| one.trigger);
    found
}

/// What [`read`] returns of tables that the caller may read and that count ([`trust::counts_beside`]); if they belong
/// to another, those of its owner come first.
pub fn readable(function: pg_sys::Oid, which: Which, snapshot: Option<Snapshot<'_>>) -> Vec<Registered> {
    let mut all = read(function, which, snapshot);
    let counts = |said: &Registered| said.other == pg_sys::InvalidOid || trust::counts_beside(said.table, said.other);
    all.retain(|said| privileges::is_readable(said.table) && counts(said));
    all.sort_by_key(|said| trust::owner(said.table) != trust::owner(said.other));
    all
}

fn of_row(form: &pg_trigger::Row<'_>, function: pg_sys::Oid, which: Which) -> Option<Registered> {
    let is_own = !form.tgisinternal && form.tgparentid == pg_sys::InvalidOid;
    if form.tgfoid != function || !is_own || !which.has(form) {
        return None;
    }
    let arguments = form.argument_bytes()?;
    let named = form.columns().iter().zip(arguments.split(|byte| *byte == 0));
    let columns = named
        .filter_map(|(number, roles)| Some((lookup::column_name(form.tgrelid, *number)?, encoding::decode(roles))));
    Some(Registered {
        trigger: form.oid,
        name: lookup::name_of(&form.tgname),
        table: form.tgrelid,
        other: form.tgconstrrelid,
        always: form.tgenabled as u8 == pg_sys::TRIGGER_FIRES_ALWAYS,
        columns: columns.collect(), // bounded: pg_trigger::ARGUMENTS
    })
}

/// The triggers of these functions which say that their table belongs to `other`, as of now, and that table.
pub fn belonging(other: pg_sys::Oid, functions: &[pg_sys::Oid]) -> Vec<(pg_sys::Oid, pg_sys::Oid)> {
    let mut found = Vec::new(); // bounded: triggers that name one table
    for trigger in pg_trigger::that_depend_on(pg_sys::RelationRelationId, other, None) {
        pg_trigger::that_is(trigger, None, |form| {
            if form.tgconstrrelid == other && functions.contains(&form.tgfoid) {
                found.push((trigger, form.tgrelid));
            }
        });
    }
    found
}

/// The tables that triggers of these functions say belong to `other`, as of now, ascending by OID.
pub fn tables_beside(other: pg_sys::Oid, functions: &[pg_sys::Oid]) -> Vec<pg_sys::Oid> {
    let mut tables: Vec<_> = belonging(other, functions).into_iter().map(|(_, table)| table).collect(); // bounded: triggers that name one table
    tables.sort_unstable_by_key(|table| u32::from(*table));
    tables.dedup();
    tables
}
