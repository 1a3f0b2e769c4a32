//! cft_attach, cft_attach_aliases, cft_attach_labels and cft_detach_edges: create the triggers that register a user's
//! table, or drop them.

use crate::call::fmgr::{Call, name};
use crate::capture::{dropped, linked};
use crate::catalog::attach_line::{attach_hint, attach_line, with_label};
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::column_rules::{check_columns, check_position};
use crate::catalog::columns::{ColumnNames, MOST_NAMES};
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::name::display_name;
use crate::catalog::registered::Kind;
use crate::catalog::registration::Functions;
use crate::catalog::trigger_ddl::{Fires, Trigger};
use crate::catalog::{privileges, registered, registration, registration_cache, trigger_ddl, trust};
use crate::error;
use crate::error::Fallible;
use crate::pg::shm;
use crate::pg::{encoding, lock_owner};
use cftrag_core::Language;
use pgrx::prelude::*;
use std::ffi::CString;
use std::sync::atomic::Ordering::Relaxed;

/// `cft_attach(edges regclass, parent name, child name, tree name, label name, sort name, ids boolean, language text,
/// names text[], keep boolean) -> void`
///
/// Creates the triggers that keep an image of `edges` fresh. Idempotent; with other columns or another language it
/// replaces the registration. `keep`: the image never makes room for others; 42501 without EXECUTE on
/// cftrag_internal.cft_keep(). Errors: 42P01 no such table, 42809 not a plain table, 42703 no such column, 42701 a
/// column twice, 42804 type, 0A000 collation or virtual column, 42501 not the owner, 22023 an unknown language or other
/// names without a label, 54011 too many of them. A NOTICE says that integer ids are not found in texts, or that a
/// table of names keeps another language.
#[pg_extern(sql = false)]
fn cft_attach(call: Call) -> Fallible<()> {
    let functions = Functions::beside(call.function());
    let table = open_owned(call.oid(0).ok_or_else(|| error::null_argument("edges"))?)?;
    let names = ColumnNames {
        parent: name(&call, 1).ok_or_else(|| error::null_argument("parent"))?,
        child: name(&call, 2).ok_or_else(|| error::null_argument("child"))?,
        tree: name(&call, 3),
        label: name(&call, 4),
        names: other_names(&call, 8)?,
        preferred: None,
        position: name(&call, 5),
        ids: call.is_true(6),
        language: language(&call, 7)?.unwrap_or_default(),
    };
    let check = |table: &EdgesTable| {
        if let Some(why) = table.unsuitable().or_else(|| table.inherits()) {
            return Err(error::wrong_kind(&table.name(), why));
        }
        if names.label.is_none() && !names.names.is_empty() {
            return Err(error::names_without_label());
        }
        // In a registration, no name of a parent makes a table of names (cft_attach_labels).
        if !names.has_parent() {
            return Err(error::no_such_column(&table.name(), &names.parent, "parent", &table.listed()));
        }
        check_columns(table, &names)?;
        if let Some(position) = &names.position {
            check_position(table, position)?;
        }
        table.require_columns(&names)
    };
    check(&table)?;
    let oid = table.oid();
    let known = || registration::now(oid, functions);
    if known().is_some_and(|r| r.sound && r.names == names) {
        drop(table);
        return keep(oid, call.is_true(9), functions);
    }
    // From here on no other session can change what the table is attached as, or which table has its labels.
    let table = locked(table, known().is_some())?;
    let columns = check(&table)?;
    let before = known();
    let is_new = before.as_ref().is_none_or(|known| known.language() != names.language);
    if before.is_some_and(|known| !known.names.has_parent()) {
        return Err(error::attached_otherwise(&table.name(), "a table of names"));
    }
    let beside = registration_cache::name_tables_now(oid, functions);
    match &beside.labels {
        Some(labels) if names.label.is_some() => {
            return Err(error::labelled_otherwise(&table.name(), Some(&display_name(labels.table))));
        }
        None if names.label.is_none() && !columns.are_found_by_name(&names) => {
            let labelled = with_label(&table, names.clone());
            error::notice_not_in_texts(&table.name(), &attach_line(oid, &labelled), labelled.label.is_some());
        }
        _ => {}
    }
    if let Some(kb) = shm::too_small() {
        error::warning_shm(kb, crate::guc::MEMORY_LIMIT.get());
    }
    drop(table);
    drop_triggers(oid, functions)?;
    create_triggers(oid, &names, functions)?;
    keep(oid, call.is_true(9), functions)?;
    if is_new {
        beside.aliases.iter().chain(&beside.labels).for_each(|of| notice_if_other(of.table, names.language, functions));
    }
    Ok(())
}

/// Marks the table as one whose image never makes room for others, or takes the mark away. 42501.
fn keep(table: pg_sys::Oid, keep: bool, functions: Functions) -> Fallible<()> {
    if keep != registration::keeps(table, functions).is_empty() {
        return Ok(());
    }
    if keep {
        trigger_ddl::create(&Trigger {
            name: &trigger_ddl::free_name(table, "cftrag_keep"),
            function: functions.keep(),
            events: pg_sys::TRIGGER_TYPE_INSERT,
            never: true,
            each_row: true,
            ..Trigger::on(table)
        })?;
    } else {
        trigger_ddl::drop(table, || registration::keeps(table, functions))?;
    }
    // The image that is there; the next build reads the mark.
    if let Some((_, slot)) = crate::image::control::attach().and_then(|control| control.find(table)) {
        slot.kept.store(keep, Relaxed);
    }
    Ok(())
}

/// The trigger function that marks a table whose image is kept. Its triggers never fire. Errors: 39P01.
#[pg_extern(sql = false)]
fn cft_keep(_call: Call) -> Fallible<()> {
    Err(error::not_our_trigger("cft_keep"))
}

/// Says that a table of names keeps its language, if that is another than the one its edges table has now.
fn notice_if_other(table: pg_sys::Oid, language: Language, functions: Functions) {
    let known = registration::now(table, functions);
    if let Some(known) = known.filter(|known| known.language() != language) {
        let line = attach_line(table, &ColumnNames { language, ..known.names });
        error::notice_other_language(&display_name(table), known.names.language.name(), &line);
    }
}

/// `cft_attach_aliases(aliases regclass, alias name, entity name, edges regclass, language text) -> void`
///
/// Registers `aliases` as other names of entities of `edges` (if NULL, of the only attached table), and keeps an image
/// of it. Idempotent; replaces its earlier registration for `edges`. Errors: those of cft_attach, for `aliases`; 55000
/// (it is attached as something else); 42P01 (edges is not attached), 22023 (it is the same table, or an unknown
/// language); 42501 without TRIGGER on `edges`, because it changes what every user finds in a text.
#[pg_extern(sql = false)]
fn cft_attach_aliases(call: Call) -> Fallible<()> {
    let table = open_owned(call.oid(0).ok_or_else(|| error::null_argument("aliases"))?)?;
    let alias = name(&call, 1).ok_or_else(|| error::null_argument("alias"))?;
    let entity = name(&call, 2).ok_or_else(|| error::null_argument("entity"))?;
    attach_names(&call, table, [("aliases", alias), ("entities", entity)], (Vec::new(), None), false)
}

/// `cft_attach_labels(labels regclass, entity name, label name, edges regclass, language text, names text[], preferred
/// name) -> void`
///
/// Registers `labels` as what people call the entities of `edges`, in place of a column of labels in `edges` itself.
/// Idempotent. Errors: those of cft_attach_aliases; 55000 also if `edges` has a column of labels, or another table of
/// labels; 54011, 42804 as for cft_attach.
#[pg_extern(sql = false)]
fn cft_attach_labels(call: Call) -> Fallible<()> {
    let table = open_owned(call.oid(0).ok_or_else(|| error::null_argument("labels"))?)?;
    let entity = name(&call, 1).ok_or_else(|| error::null_argument("entity"))?;
    let label = name(&call, 2).ok_or_else(|| error::null_argument("label"))?;
    let others = (other_names(&call, 5)?, name(&call, 6));
    attach_names(&call, table, [("labels", label), ("entities", entity)], others, true)
}

/// The columns of other names that an argument lists. 54011 if they are too many.
fn other_names(call: &Call, n: usize) -> Fallible<Vec<String>> {
    let names = call.names(n)?.unwrap_or_default();
    if names.len() > MOST_NAMES {
        return Err(error::too_many_names(MOST_NAMES));
    }
    Ok(names.into_iter().map(encoding::decode).collect()) // bounded: MOST_NAMES
}

/// Registers a table of names, given its columns of names and of entities, what each holds, and its other names and the
/// column of preferred ones.
fn attach_names(
    call: &Call,
    table: EdgesTable,
    columns: [(&str, String); 2],
    (names, preferred): (Vec<String>, Option<String>),
    are_labels: bool,
) -> Fallible<()> {
    let functions = Functions::beside(call.function());
    let what = if are_labels { "labels" } else { "aliases" };
    let language = language(call, 4)?;
    let edges = AttachedTable::open(call, 3)?;
    if edges.oid() == table.oid() {
        return Err(error::names_of_itself(&table.name(), what));
    }
    if let Some(why) = table.unsuitable().or_else(|| table.inherits()) {
        return Err(error::wrong_kind(&table.name(), why));
    }
    let others = names.iter().map(|name| ("other names", name));
    let all = columns.iter().map(|(what, column)| (*what, column)).chain(others);
    for (what, column) in all.chain(preferred.iter().map(|column| ("preferred labels", column))) {
        let missing = || error::no_such_name_column(&table.name(), column, what, &table.listed());
        table.column(column).ok_or_else(missing)?;
    }
    let [(_, name), (_, entity)] = columns;
    let mut names = ColumnNames { names, preferred, ..ColumnNames::of_names(&entity, &name) };
    names.language = language.unwrap_or(edges.registration.language());
    check_columns(&table, &names)?;
    let marker = (functions.names_of()[usize::from(are_labels)], edges.oid());
    let (oid, of) = (table.oid(), edges.oid());
    let known = || registration::now(oid, functions);
    let markers = || registration::name_markers(oid, functions);
    let is_known = |names: &ColumnNames| known().is_some_and(|r| r.sound && r.names == *names);
    if is_known(&names) && markers().contains(&marker) {
        return Ok(());
    }
    if !trust::counts_beside(oid, of) {
        return Err(error::not_owner_beside(&table.name(), &edges.table.name()));
    }
    // From here on no other session can change what either table is attached as.
    let table = locked(table, known().is_some())?;
    check_columns(&table, &names)?;
    trigger_ddl::lock(of, pg_sys::ShareUpdateExclusiveLock)?;
    let Some(of_now) = registration::now(of, functions).filter(|now| now.names.has_parent()) else {
        return Err(error::not_attached(&display_name(of), attach_hint(&edges.table)));
    };
    names.language = language.unwrap_or(of_now.language());
    if are_labels {
        let others = registration_cache::name_tables_now(of, functions).labels;
        let other = others.map(|other| other.table).filter(|other| *other != oid);
        if of_now.names.label.is_some() || other.is_some() {
            return Err(error::labelled_otherwise(&edges.table.name(), other.map(display_name).as_deref()));
        }
    }
    let has_others = markers().iter().any(|other| *other != marker);
    let before = known();
    if before.as_ref().is_some_and(|known| known.names.has_parent()) || has_others && !is_known(&names) {
        let other = before.filter(|known| known.names.are_names_as(&names) && known.language() != names.language);
        let what = match other.map(|other| other.language().name()) {
            Some(language) => format!("a table of names by the rules of {language}"),
            None if has_others => "a table of names, in other columns".into(),
            None => "edges".into(),
        };
        return Err(error::attached_otherwise(&table.name(), &what));
    }
    drop(edges);
    drop(table);
    if !is_known(&names) {
        drop_triggers(oid, functions)?;
        create_triggers(oid, &names, functions)?;
    }
    // One table may hold the names of several edges tables.
    let base = if are_labels { "cftrag_labels" } else { "cftrag_aliases" };
    let marked = ColumnNames { parent: name, child: entity, label: None, language: Language::default(), ..names };
    let arguments: Vec<_> = marked.arguments().into_iter().map(c_string).collect(); // bounded: names of columns
    trigger_ddl::create(&Trigger {
        from: Some(of),
        name: &trigger_ddl::free_name(oid, base),
        function: marker.0,
        events: pg_sys::TRIGGER_TYPE_INSERT,
        arguments: &arguments,
        never: true,
        each_row: true,
        ..Trigger::on(oid)
    })
}

/// The language that an argument names, case aside; None if it is NULL. 22023 if there are no rules of it.
fn language(call: &Call, n: usize) -> Fallible<Option<Language>> {
    let of = |name: &[u8]| std::str::from_utf8(name).ok().and_then(Language::of);
    call.text(n).map(|name| of(name).ok_or_else(|| error::bad_language(name))).transpose()
}

/// The trigger function that marks a table of aliases. Its triggers never fire. Errors: 39P01.
#[pg_extern(sql = false)]
fn cft_alias_of(_call: Call) -> Fallible<()> {
    Err(error::not_our_trigger("cft_alias_of"))
}

/// The trigger function that marks a table of labels. Its triggers never fire. Errors: 39P01.
#[pg_extern(sql = false)]
fn cft_label_of(_call: Call) -> Fallible<()> {
    Err(error::not_our_trigger("cft_label_of"))
}

/// `cft_detach_edges(relation regclass) -> boolean`: drops the triggers of edges, aliases or labels, and those on
/// tables of others which say that they belong to this one and do not count; returns whether there were any. STRICT.
/// Errors: 42P01 no such table, 42501 not the owner.
#[pg_extern(sql = false)]
fn cft_detach_edges(call: Call) -> Fallible<bool> {
    let Some(oid) = call.oid(0) else { return Ok(false) };
    let functions = Functions::beside(call.function());
    let had = drop_triggers(oid, functions)?;
    if had {
        dropped::note_detached(oid);
    }
    let others = registered::belonging(oid, &Kind::belonging(functions)).into_iter();
    let strangers: Vec<_> =
        others.filter(|(_, of)| !trust::counts_beside(*of, oid)).map(|(trigger, _)| trigger).collect(); // bounded: triggers that name one table
    Ok(trigger_ddl::drop_from(oid, &strangers)? | had)
}

/// Drops the triggers of a registration, whatever their names: a user may have renamed them. Returns whether there were
/// any.
fn drop_triggers(table: pg_sys::Oid, functions: Functions) -> Fallible<bool> {
    linked::want_beside(table, functions);
    trigger_ddl::drop(table, || registration::triggers(table, functions))
}

/// Opens a table that the caller owns, with a lock that [`locked`] releases. 42P01, 42501: checked before we wait for
/// its lock, and again after, as the owner may have changed.
fn open_owned(table: pg_sys::Oid) -> Fallible<EdgesTable> {
    privileges::require_owner(table)?;
    let opened = EdgesTable::open_and_unlock_later(table)?;
    privileges::require_owner(table)?;
    Ok(opened)
}

/// Locks a table to create triggers, or to drop some first, and opens it again. The lock is the first that we hold:
/// whoever holds a weaker one while it waits for a stronger one can end in a deadlock. 42P01, 42501.
fn locked(table: EdgesTable, drops: bool) -> Fallible<EdgesTable> {
    let oid = table.oid();
    drop(table);
    // The lock that open_owned took.
    lock_owner::let_go(oid);
    trigger_ddl::lock(oid, if drops { pg_sys::AccessExclusiveLock } else { pg_sys::ShareRowExclusiveLock })?;
    open_owned(oid)
}

fn create_triggers(table: pg_sys::Oid, names: &ColumnNames, functions: Functions) -> Fallible<()> {
    // What texts name may be others now.
    linked::note(table);
    let arguments: Vec<CString> = names.arguments().into_iter().map(c_string).collect(); // bounded: names of columns
    let rows = pg_sys::TRIGGER_TYPE_INSERT | pg_sys::TRIGGER_TYPE_UPDATE | pg_sys::TRIGGER_TYPE_DELETE;
    let common = || Trigger { arguments: &arguments, fires: Fires::Always, replace: true, ..Trigger::on(table) };
    let row = Trigger { name: c"cftrag_row", function: functions.capture, events: rows, each_row: true, ..common() };
    let truncate = Trigger {
        name: c"cftrag_truncate",
        function: functions.capture_truncate,
        events: pg_sys::TRIGGER_TYPE_TRUNCATE,
        ..common()
    };
    trigger_ddl::create(&row)?;
    trigger_ddl::create(&truncate)
}

/// A name in the database's encoding.
fn c_string(name: &str) -> CString {
    let Ok(name) = CString::new(encoding::encode(name)) else { unreachable!("identifiers have no NUL") };
    name
}
