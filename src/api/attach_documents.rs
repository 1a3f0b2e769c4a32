//! cft_attach_documents, cft_attach_embeddings, cft_attach_words and cft_attach_phrases: which tables and columns hold
//! what belongs to entities.

use crate::call::fmgr::{Call, name};
use crate::catalog::attached_table::{AttachedTable, default_edges_table};
use crate::catalog::privileges::require_readable;
use crate::catalog::registration::Functions;
use crate::error;
use crate::error::Fallible;
use crate::guc::Match;
use crate::pg::encoding;
use crate::retrieve::attach;
use crate::retrieve::attach::{NewDocuments, NewMapping};
use crate::retrieve::links::NewLinks;
use crate::serve::asked::matching;
use crate::serve::plans::with_safe_path;
use pgrx::prelude::*;

/// Columns that are named of which one, at least, is not there: more than a table can have.
const MOST_COLUMNS: usize = pg_sys::MaxHeapAttributeNumber as usize + 1;

/// `cft_attach_documents(documents regclass, id name, body name, embedding name, entity name, tokens name, mapping
/// regclass, mapping_entity name, mapping_document name, metadata name, search name, columns text[], sort name, show
/// text[], link boolean, match text, edges regclass, tree name) -> void`
///
/// Registers the columns of a table of documents, and those of its mapping to entities. Idempotent; replaces what was
/// registered before. Errors: 22004 (no table or column), 22023 (an entity and a mapping, or a mapping and links),
/// 42701 (a column twice), 42P01 (no such table), 42501 (not the owner), 42P16 (a temporary mapping), 42809 (no table),
/// 42703 (no such column), 42804 (a column's type), 42883 (documents and mapping cannot be compared). A NOTICE says
/// that no index serves searches of many documents.
#[pg_extern(sql = false)]
fn cft_attach_documents(call: Call) -> Fallible<()> {
    let functions = Functions::beside(call.function());
    let missing = || error::null_arguments("documents, id, body and embedding");
    let needed = |n| name(&call, n).ok_or_else(missing);
    let mapping = |table| Ok(NewMapping { table, entity: needed(7)?, document: needed(8)? });
    let columns = |n| -> Fallible<Vec<String>> {
        Ok(call.names(n)?.unwrap_or_default().into_iter().take(MOST_COLUMNS).map(cut).collect()) // bounded: MOST_COLUMNS
    };
    let wanted = NewDocuments {
        table: call.oid(0).ok_or_else(missing)?,
        id: needed(1)?,
        body: needed(2)?,
        embedding: needed(3)?,
        entity: name(&call, 4),
        tokens: name(&call, 5),
        metadata: name(&call, 9),
        search: name(&call, 10),
        sort: name(&call, 12),
        filtered: columns(11)?,
        show: columns(13)?,
        mapping: call.oid(6).map(mapping).transpose()?,
        links: call.is_true(14).then(|| links(&call, functions)).transpose()?,
    };
    with_safe_path(|| wanted.attach(functions))
}

/// How the arguments link, match, edges and tree say that documents are linked.
fn links(call: &Call, functions: Functions) -> Fallible<NewLinks> {
    let matching = call.text(15).map_or(Ok(Match::Inflected), |value| matching(Some(value)))?;
    let edges = meant_edges(call.oid(16), functions)?;
    AttachedTable::of(call.function(), Some(edges))?;
    Ok(NewLinks { edges, matching, tree: name(call, 17) })
}

/// The edges table that a call names, or the only one that the caller's search_path shows.
fn meant_edges(named: Option<pg_sys::Oid>, functions: Functions) -> Fallible<pg_sys::Oid> {
    named.map_or_else(|| default_edges_table(functions), Ok)
}

/// `cft_detach_documents(documents regclass) -> void`: drops what cft_attach_documents registered; mappings of other
/// owners stay. STRICT. Errors: 42P01 (not attached, or no such table), 42501 (not the owner).
#[pg_extern(sql = false)]
fn cft_detach_documents(call: Call) -> Fallible<()> {
    let Some(table) = call.oid(0) else { return Ok(()) };
    attach::detach_documents(table, Functions::beside(call.function()))
}

/// `cft_attach_embeddings(embeddings regclass, entity name, embedding name, edges regclass) -> void`
///
/// Registers the columns of a table of embeddings of the entities of `edges` (if NULL, of the only attached table).
/// Replaces what was registered for them before. Errors: 22004, 42701 (a column twice), 55000 (another table is
/// attached); those of cft_attach_documents for a table, and of cft_context for `edges`; 42501 if the owner may not
/// speak for `edges`.
#[pg_extern(sql = false)]
fn cft_attach_embeddings(call: Call) -> Fallible<()> {
    attach_two(call, "embeddings, entity and embedding", attach::embeddings)
}

/// `cft_attach_words(words regclass, word name, class name, edges regclass) -> void`
///
/// Registers the columns of a table of words that may stand for each other in the names of `edges` (if NULL, of the
/// only attached table): those of one class. Idempotent; replaces what was registered for them before. A NOTICE says
/// that texts have none of some words. Errors: 22004, 42701; those of cft_attach_embeddings for the tables.
#[pg_extern(sql = false)]
fn cft_attach_words(call: Call) -> Fallible<()> {
    attach_two(call, "words, word and class", attach::word_classes)
}

/// `cft_attach_phrases(phrases regclass, tree name, up name, down name, edges regclass, up_several name, down_several
/// name, more name) -> void`
///
/// Registers the columns of a table of formats, in which prompts write what is above and below the entities of `edges`
/// (if NULL, of the only attached table); without a column of trees each row is for all. Idempotent; replaces what was
/// registered for them before. Errors: 22004, 55000 (another table is attached), 22023 (a row has what is no format);
/// those of cft_attach_embeddings for the tables.
#[pg_extern(sql = false)]
fn cft_attach_phrases(call: Call) -> Fallible<()> {
    attach_beside(call, 4, |call, edges, functions| {
        let missing = || error::null_arguments("phrases, up and down");
        let (table, up, down) = (call.oid(0), name(call, 2), name(call, 3));
        let (table, up, down) = (table.ok_or_else(missing)?, up.ok_or_else(missing)?, down.ok_or_else(missing)?);
        let others = [(1, "tree"), (5, "up_several"), (6, "down_several"), (7, "more")];
        let others = others.into_iter().filter_map(|(n, role)| Some((name(call, n)?, role)));
        let all = [(up, "up"), (down, "down")].into_iter().chain(others);
        let columns: Vec<_> = all.map(|(column, role)| (column, role.to_string())).collect(); // bounded: the arguments
        attach::phrases(table, &columns, edges, functions)
    })
}

/// `cft_attach_grants(grants regclass, entity name, role name, allow name, edges regclass) -> void`
///
/// Registers the columns of a table which says which roles may see what is at or below the entities of `edges` (if
/// NULL, of the only attached table); without `allow` each row is a grant. Idempotent; replaces what was registered
/// before. Errors: 22004, 42804 (`allow` is not boolean); those of cft_attach_embeddings for the tables.
#[pg_extern(sql = false)]
fn cft_attach_grants(call: Call) -> Fallible<()> {
    attach_beside(call, 4, |call, edges, functions| {
        let missing = || error::null_arguments("grants, entity and role");
        let (table, entity, role) = (call.oid(0), name(call, 1), name(call, 2));
        let (table, entity, role) =
            (table.ok_or_else(missing)?, entity.ok_or_else(missing)?, role.ok_or_else(missing)?);
        let all = [(entity, "entity"), (role, "role")].into_iter().chain(name(call, 3).map(|allow| (allow, "allow")));
        let columns: Vec<_> = all.map(|(column, role)| (column, role.to_string())).collect(); // bounded: the arguments
        attach::grants(table, &columns, edges, functions)
    })
}

/// Attaches a table and two columns of it beside an edges table. `arguments`: what must not be NULL.
fn attach_two(
    call: Call,
    arguments: &str,
    attach: impl FnOnce(pg_sys::Oid, String, String, pg_sys::Oid, Functions) -> Fallible<()>,
) -> Fallible<()> {
    attach_beside(call, 3, |call, edges, functions| {
        let (Some(table), Some(one), Some(other)) = (call.oid(0), name(call, 1), name(call, 2)) else {
            return Err(error::null_arguments(arguments));
        };
        attach(table, one, other, edges, functions)
    })
}

/// Attaches something beside the edges table of argument `n`.
fn attach_beside(
    call: Call,
    n: usize,
    attach: impl FnOnce(&Call, pg_sys::Oid, Functions) -> Fallible<()>,
) -> Fallible<()> {
    let functions = Functions::beside(call.function());
    let edges = meant_edges(call.oid(n), functions)?;
    with_safe_path(|| {
        AttachedTable::of(call.function(), Some(edges))?;
        require_readable(edges);
        attach(&call, edges, functions)
    })
}

/// A text as a name: cut where PostgreSQL cuts it.
fn cut(text: &[u8]) -> String {
    encoding::decode(&text[..encoding::clipped(text, pg_sys::NAMEDATALEN as usize - 1)])
}
