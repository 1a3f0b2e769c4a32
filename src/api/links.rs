//! cft_relink, cft_linked, cft_documents, and the trigger that keeps links.

use crate::call::fmgr::Call;
use crate::call::site;
use crate::call::trigger::Trigger;
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::documents::Documents;
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::privileges::{has_policies, is_readable, require_owner};
use crate::catalog::registration::Functions;
use crate::error;
use crate::error::Fallible;
use crate::retrieve::found::Found;
use crate::retrieve::links;
use crate::retrieve::links::Links;
use crate::retrieve::search;
use crate::serve::plans::Planning;
use crate::serve::within;
use pgrx::prelude::*;
use std::collections::HashMap;

/// A trigger AFTER INSERT, UPDATE, DELETE or TRUNCATE for each statement: writes the links of the documents that were
/// changed, with the rights of their owner. Errors: 39P01 if it runs as a trigger of another kind; those of
/// cft_entities.
#[pg_extern(sql = false)]
fn cft_link(call: Call) -> Fallible<()> {
    let trigger = Trigger::of(&call).filter(|trigger| trigger.is_after() && !trigger.is_for_each_row());
    let trigger = trigger.ok_or_else(|| error::not_our_trigger("cft_link"))?;
    let documents = trigger.table();
    let functions = Functions::beside(call.function());
    links::as_owner(&EdgesTable::open(documents)?, || {
        // Documents that are no longer attached have no links.
        let of = Documents::of(functions, Some(documents), true).ok().flatten();
        let Some(of) = of.filter(|of| of.linked.is_some()) else { return };
        match Links::of(&of, functions) {
            Some(links) => links.changed(&trigger),
            None => error::warn_no_links(&of.shown),
        }
    });
    Ok(())
}

/// `cft_relink(documents regclass) -> bigint`: compares the links of all documents with what they mention now, and
/// writes those that differ: for how many documents. Owner only. Errors: 42P01, 42725 (no table of documents, or
/// several), 42501, 55000 (not linked); those of cft_entities.
#[pg_extern(sql = false)]
fn cft_relink(call: Call) -> Fallible<i64> {
    let functions = Functions::beside(call.function());
    let Some(of) = Documents::of(functions, call.oid(0), true)? else { return Ok(0) };
    require_owner(of.oid)?;
    links::as_owner(&EdgesTable::open(of.oid)?, || {
        let of = Documents::of(functions, Some(of.oid), true)?;
        let links = of.as_deref().and_then(|of| Links::of(of, functions));
        links.ok_or_else(|| error::not_linked(&of.as_deref().map_or(String::new(), |of| of.shown.clone())))?.renew()
    })
}

/// `cft_linked(document text, documents regclass) -> table(entity, label, mentions)`: the entities that a document is
/// about or mentions, those that it mentions most first; mentions is NULL where that is not counted. Errors: 42P01,
/// 42725 (no table of documents, or several), 55000 (no entities attached).
#[pg_extern(sql = false)]
fn cft_linked(call: Call) -> Fallible<()> {
    of_documents(call, search::entities_of)
}

/// `cft_documents(entity text, documents regclass) -> table(document_id, mentions)`: the documents that are about an
/// entity or mention it, those that mention it most first. Errors: those of cft_linked.
#[pg_extern(sql = false)]
fn cft_documents(call: Call) -> Fallible<()> {
    of_documents(call, search::documents_of)
}

fn of_documents(call: Call, statement: fn(&Documents) -> Fallible<String>) -> Fallible<()> {
    let rows = call.rows();
    let Some(of) = Documents::of(Functions::beside(call.function()), call.oid(1), true)? else { return Ok(()) };
    let sql = statement(&of)?;
    if let Some(name) = call.arg(0) {
        Found::into(rows).run(&sql, Planning::Generic(of.size_class()?), &[(pg_sys::TEXTOID, Some(name))]);
    }
    Ok(())
}

/// Whether entities are visible, and how many of them a query remembers.
type Known = HashMap<Vec<u8>, bool>;
const MOST_KNOWN: usize = 10_000;

/// `cft_is_visible(entity text, edges regclass) -> boolean`: whether the caller can see a row of the entity: for the
/// policy of links. Errors: none for a table that the caller may not read, or that is not attached; then it is not
/// visible, unless all who may read the table see all of it.
#[pg_extern(sql = false)]
fn cft_is_visible(call: Call) -> Fallible<bool> {
    let (Some(entity), Some(edges)) = (call.text(0), call.oid(1)) else { return Ok(false) };
    if !is_readable(edges) {
        return Ok(false);
    }
    if !has_policies(edges) {
        return Ok(true);
    }
    // A query asks for an entity once, for as many as are remembered: its answer costs a tenth of a millisecond.
    let mut known = site::kept(&call, || Ok(Known::new()))?; // bounded: MOST_KNOWN
    if let Some(known) = known.get(entity) {
        return Ok(*known);
    }
    let is_visible = match AttachedTable::of(call.function(), Some(edges)) {
        Ok(of) => !within::there(&of, &[entity], None)?.is_empty(),
        Err(_) => false,
    };
    if known.len() < MOST_KNOWN {
        known.insert(entity.to_vec(), is_visible); // bounded: MOST_KNOWN
    }
    Ok(is_visible)
}
