//! The registration of an edges table: two triggers on the user's own table, and their arguments. We have no catalog of
//! our own to dump and restore, or to fall out of step.
//!
//!   cftrag_row       AFTER INSERT OR UPDATE OR DELETE, each row:  cft_capture('parent', 'child'[, ...])
//!   cftrag_truncate  AFTER TRUNCATE, each statement:              cft_capture_truncate('parent', 'child'[, ...])
//!
//! The arguments after these are the columns of the tree and of the label, the word "ids", the column of order, the
//! language of the names, the column of preferred labels, and those of other names; '' stands for one that is not
//! there, and no language for English. Both triggers are ENABLE ALWAYS, so that logical replication's apply worker and
//! session_replication_role = replica fire them. If one has another shape (WHEN, a column list), it would fire less
//! often and lose changes: the registration is then unsound, and the reference query answers. api/attach.rs creates and
//! drops them; capture/trigger.rs has the functions.
//!
//! A table of names (aliases or labels of entities) has both triggers, for an image of its own: cft_capture('',
//! 'entity', '', 'name'[, '', '', language]). Each name is a label of its entity, and there is no parent. A third
//! trigger names the edges table, and never fires. PostgreSQL keeps FROM as an OID, dumps it by name, and drops the
//! trigger with that table.
//!
//!   cftrag_aliases   constraint trigger, FROM the edges table, WHEN (false):  cft_alias_of('name', 'entity')
//!   cftrag_labels    constraint trigger, FROM the edges table, WHEN (false):  cft_label_of('name', 'entity')
//!
//! A table whose image makes no room for others has a trigger that never fires:
//!
//!   cftrag_keep      WHEN (false):  cft_keep()
//!
//! Its function is executed by who may keep images: PostgreSQL asks for that when the trigger is created.
//!
//! A table with preferred labels or other names has these as further arguments of all three triggers.

use crate::catalog::columns::ColumnNames;
use crate::catalog::pg_trigger;
use crate::catalog::pg_trigger::{Place, TriggerKey};
use crate::pg::invalidation;
use crate::pg::invalidation::Cached;
use crate::pg::lookup;
use crate::pg::snapshot::Snapshot;
use cftrag_core::Language;
use pgrx::pg_sys;
use std::convert::Infallible;
use std::ffi::CStr;

#[derive(Clone, Debug)]
pub struct Registration {
    pub names: ColumnNames,
    pub row: TriggerKey,
    pub truncate: TriggerKey,
    /// Both triggers are there and ENABLE ALWAYS.
    pub sound: bool,
}

impl Registration {
    /// The language of the names: by its rules texts may write them otherwise. The table's image is made in it.
    pub fn language(&self) -> Language {
        self.names.language
    }
}

/// The OIDs of the two trigger functions.
#[derive(Clone, Copy)]
pub struct Functions {
    pub capture: pg_sys::Oid,
    pub capture_truncate: pg_sys::Oid,
}

/// FOR EACH ROW, AFTER, INSERT | DELETE | UPDATE (catalog/pg_trigger.h: TRIGGER_TYPE_*).
const ROW_TYPE: i16 = (1 << 0) | (1 << 2) | (1 << 3) | (1 << 4);

/// FOR EACH STATEMENT, AFTER, TRUNCATE.
const TRUNCATE_TYPE: i16 = 1 << 5;

thread_local! {
    /// (cft_capture, the functions that mark tables of aliases and of labels in its schema)
    static NAMES_OF: Cached<pg_sys::Oid, [pg_sys::Oid; 2]> = const { Cached::new(1, invalidation::never) };
    /// (cft_capture and the name of a function, the function of that name in its schema)
    static OF_NAME: Cached<(pg_sys::Oid, &'static CStr), pg_sys::Oid> = const { Cached::new(16, invalidation::never) };
    /// (a function of ours, the trigger functions of its extension): while a function runs, its OID cannot pass to
    /// another extension.
    static FUNCTIONS: Cached<pg_sys::Oid, Functions> = const { Cached::new(1, invalidation::never) };
    /// The trigger functions of the extension in this database.
    static OF_EXTENSION: Cached<(), Functions> = const { Cached::new(1, invalidation::catalogs) };
}

impl Functions {
    /// The trigger functions of the extension that has `function`, which may be any SQL function of ours.
    pub fn beside(function: pg_sys::Oid) -> Self {
        // Those that are not there, while the schema has another name, may come to be.
        let find = || Some(Self::of_extension()).filter(|found| found.capture != pg_sys::InvalidOid).ok_or(());
        let nowhere = Self { capture: pg_sys::InvalidOid, capture_truncate: pg_sys::InvalidOid };
        FUNCTIONS.with(|last| last.get(function, find)).unwrap_or(nowhere)
    }

    /// The trigger functions of the extension in this database; invalid OIDs if the database does not have it.
    pub fn of_extension() -> Self {
        let find = || {
            let [capture, capture_truncate] =
                [c"cft_capture", c"cft_capture_truncate"].map(|name| internal_function(name, &[]));
            Ok::<_, Infallible>(Self { capture, capture_truncate })
        };
        let Ok(functions) = OF_EXTENSION.with(|last| last.get((), find));
        functions
    }

    /// The function of the trigger that says which columns of a table hold documents.
    pub fn documents(self) -> pg_sys::Oid {
        self.of_name(c"cft_documents")
    }

    /// The function of the triggers that mark tables of word classes.
    pub fn words(self) -> pg_sys::Oid {
        self.of_name(c"cft_word_classes")
    }

    /// The function of the triggers that mark tables of phrases.
    pub fn phrases(self) -> pg_sys::Oid {
        self.of_name(c"cft_phrases")
    }

    /// The function of the triggers that mark tables of documents that are linked to the entities they mention.
    pub fn links(self) -> pg_sys::Oid {
        self.of_name(c"cft_links")
    }

    /// The function of the triggers that mark tables whose images are kept.
    pub fn keep(self) -> pg_sys::Oid {
        self.of_name(c"cft_keep")
    }

    /// The functions of the triggers that mark tables of aliases, and of labels.
    pub fn names_of(self) -> [pg_sys::Oid; 2] {
        let find = || Ok::<_, Infallible>([c"cft_alias_of", c"cft_label_of"].map(|name| internal_function(name, &[])));
        let Ok(found) = NAMES_OF.with(|last| last.get(self.capture, find));
        found
    }

    /// The trigger function of that name.
    pub fn of_name(self, name: &'static CStr) -> pg_sys::Oid {
        // One that is not there, of a database without the extension or of an older version of it, may come to be.
        let find = || Some(internal_function(name, &[])).filter(|found| *found != pg_sys::InvalidOid).ok_or(());
        OF_NAME.with(|all| all.get((self.capture, name), find)).unwrap_or(pg_sys::InvalidOid)
    }
}

/// Looks up a function of the schema cftrag_internal by name and argument types; InvalidOid if there is none, or if the
/// schema is not the extension's: in a database without the extension any user may have a schema of that name.
pub fn internal_function(name: &CStr, types: &[pg_sys::Oid]) -> pg_sys::Oid {
    let (extension, schema) = (lookup::extension(c"cftrag"), lookup::schema(c"cftrag_internal"));
    if extension == pg_sys::InvalidOid
        || schema == pg_sys::InvalidOid
        || lookup::getExtensionOfObject(pg_sys::NamespaceRelationId, schema) != extension
    {
        return pg_sys::InvalidOid;
    }
    lookup::function(name, types, schema)
}

/// The markers of a table of names, as of now: for each, the marking function and the edges table.
pub fn name_markers(table: pg_sys::Oid, functions: Functions) -> Vec<(pg_sys::Oid, pg_sys::Oid)> {
    let mut edges = Vec::new();
    pg_trigger::of_table(table, None, |row| {
        if functions.names_of().contains(&row.tgfoid) {
            edges.push((row.tgfoid, row.tgconstrrelid));
        }
    });
    edges
}

/// The registration of `table` as `snapshot` sees it (null: as of now). None if it is not attached.
///
/// Every trigger that runs one of our functions counts, whatever its name and shape: two would capture each row twice.
pub fn read(table: pg_sys::Oid, snapshot: Option<Snapshot<'_>>, functions: Functions) -> Option<Registration> {
    read_placed(table, snapshot, functions).map(|(registration, _)| registration)
}

/// The registration of `table` as of now.
pub fn now(table: pg_sys::Oid, functions: Functions) -> Option<Registration> {
    read(table, None, functions)
}

/// Reads what [`read`] does, and the places of the two rows if the registration is sound.
pub fn read_placed(
    table: pg_sys::Oid,
    snapshot: Option<Snapshot<'_>>,
    functions: Functions,
) -> Option<(Registration, Option<[Place; 2]>)> {
    let mut names = None;
    let (mut row, mut truncate) = (Vec::new(), Vec::new());
    pg_trigger::of_table(table, snapshot, |trigger| {
        let (expected, found) = match trigger.tgfoid {
            f if f == functions.capture => (ROW_TYPE, &mut row),
            f if f == functions.capture_truncate => (TRUNCATE_TYPE, &mut truncate),
            _ => return,
        };
        let plain = trigger.is_plain() && trigger.tgtype == expected;
        found.push((trigger.place(), plain && trigger.tgenabled as u8 == pg_sys::TRIGGER_FIRES_ALWAYS));
        if plain && expected == ROW_TYPE && names.is_none() {
            names = trigger.arguments();
        }
    });
    let places = match (&row[..], &truncate[..]) {
        ([(row, true)], [(truncate, true)]) => Some([*row, *truncate]),
        _ => None,
    };
    let key = |found: &[(Place, bool)]| found.first().map(|f| f.0.key).unwrap_or_default();
    let sound = places.is_some();
    Some((Registration { names: names?, row: key(&row), truncate: key(&truncate), sound }, places))
}

/// The table's triggers that belong to its registration, as of now.
pub fn triggers(table: pg_sys::Oid, functions: Functions) -> Vec<pg_sys::Oid> {
    let ours = [functions.capture, functions.capture_truncate, functions.keep()];
    triggers_of(table, |form| ours.contains(&form.tgfoid) || functions.names_of().contains(&form.tgfoid))
}

/// The triggers which say that the table's image is kept, as of now.
pub fn keeps(table: pg_sys::Oid, functions: Functions) -> Vec<pg_sys::Oid> {
    let keep = functions.keep();
    triggers_of(table, |form| form.tgfoid == keep && keep != pg_sys::InvalidOid)
}

/// The table's triggers for which `is` is true, as of now.
pub fn triggers_of(table: pg_sys::Oid, is: impl Fn(&pg_sys::FormData_pg_trigger) -> bool) -> Vec<pg_sys::Oid> {
    let mut found = Vec::new();
    pg_trigger::of_table(table, None, |row| {
        if is(row) {
            found.push(row.oid);
        }
    });
    found
}

/// Tables with a trigger that runs our capture function, as of now, ascending by OID.
pub fn attached_tables(functions: Functions) -> Vec<pg_sys::Oid> {
    tables_with(functions.capture)
}

/// Tables with a trigger that runs that function, as of now, ascending by OID.
pub fn tables_with(function: pg_sys::Oid) -> Vec<pg_sys::Oid> {
    let triggers = pg_trigger::that_depend_on(pg_sys::ProcedureRelationId, function, None);
    let mut tables = Vec::with_capacity(triggers.len());
    for trigger in triggers {
        pg_trigger::that_is(trigger, None, |row| tables.push(row.tgrelid));
    }
    tables.sort_unstable_by_key(|t| u32::from(*t));
    tables.dedup();
    tables
}
