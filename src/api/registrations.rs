//! cft_registered, cft_columns and cft_attached_documents: what triggers that never fire say (catalog/registered.rs),
//! for the methods in SQL.

use crate::call::fmgr::{Call, jsonb_object, name_datum};
use crate::catalog::documents;
use crate::catalog::registered;
use crate::catalog::registered::{Kind, Registered, Which};
use crate::catalog::registration::Functions;
use crate::error::Fallible;
use crate::pg::encoding;
use crate::pg::snapshot::with_active;
use pgrx::prelude::*;

/// `cft_registered(trigger_function regprocedure, of_relation regclass, of_other regclass, every boolean) ->
/// table(relation regclass, other regclass, columns jsonb, trigger_name name, always boolean)`: what the triggers of a
/// function say of a table, of the tables that belong to another, or of all tables, whatever the caller may read.
/// Raises nothing of its own.
#[pg_extern(sql = false)]
fn cft_registered(call: Call) {
    let rows = call.rows();
    let Some(function) = call.oid(0) else { return };
    let which = Which { table: call.oid(1), other: call.oid(2), every: call.is_true(3) };
    for said in with_active(|snapshot| registered::read(function, which, Some(snapshot))) {
        let columns = columns_value(&said);
        rows.add(
            &mut [
                said.table.into(),
                said.other.into(),
                columns.unwrap_or(pg_sys::Datum::null()),
                name_datum(&said.name),
                said.always.into(),
            ],
            &mut [false, said.other == pg_sys::InvalidOid, columns.is_none(), false, false],
        );
    }
}

/// `cft_columns(trigger_function regprocedure, of_relation regclass, of_other regclass) -> table(relation regclass,
/// other regclass, columns jsonb, trigger_name name)`: what the triggers of a function say of tables that the caller
/// may read and that count: of a table, of those that belong to another or, if neither is named, of all. Raises nothing
/// of its own.
#[pg_extern(sql = false)]
fn cft_columns(call: Call) {
    let rows = call.rows();
    let Some(function) = call.oid(0) else { return };
    let (table, other) = (call.oid(1), call.oid(2));
    let which = Which { table, other, every: table.is_none() && other.is_none() };
    for said in with_active(|snapshot| registered::readable(function, which, Some(snapshot))) {
        let columns = columns_value(&said);
        rows.add(
            &mut [
                said.table.into(),
                said.other.into(),
                columns.unwrap_or(pg_sys::Datum::null()),
                name_datum(&said.name),
            ],
            &mut [false, said.other == pg_sys::InvalidOid, columns.is_none(), false],
        );
    }
}

/// `cft_attached_documents(documents regclass) -> table(relation regclass, id name, body name, embedding name, entity
/// name, tokens name, mapping regclass, mapping_entity name, mapping_document name, metadata name, search name)`: one
/// row. Errors: 42P01 (not attached, or NULL and none is attached), 42725 (NULL or 0), 42501.
#[pg_extern(sql = false)]
fn cft_attached_documents(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let functions = Functions::beside(call.function());
    let Some(table) = call.oid(0).filter(|table| *table != pg_sys::InvalidOid) else {
        return Err(documents::unclear(functions));
    };
    let first = |kind: Kind, which| {
        let all = with_active(|snapshot| registered::readable(kind.function(functions), which, Some(snapshot)));
        all.into_iter().next()
    };
    let Some(of) = first(Kind::Documents, Which { table: Some(table), ..Which::default() }) else {
        return Err(documents::not_attached(table, functions));
    };
    let mapping = first(Kind::Mapping, Which { other: Some(table), ..Which::default() });
    let own = |role| of.column(role);
    let mapped = |role| mapping.as_ref().and_then(|mapping| mapping.column(role));
    let value = |name: Option<&str>| name.map_or(pg_sys::Datum::null(), name_datum);
    let names = [own("id"), own("body"), own("embedding"), own("entity"), own("tokens")];
    let others = [mapped("entity"), mapped("document"), own("metadata"), own("search")];
    let [id, body, embedding, entity, tokens] = names.map(value);
    let [mapping_entity, mapping_document, metadata, search] = others.map(value);
    let relation = mapping.as_ref().map_or(pg_sys::InvalidOid, |mapping| mapping.table);
    let [no_id, no_body, no_embedding, no_entity, no_tokens] = names.map(|name| name.is_none());
    let [no_mapped_entity, no_mapped_document, no_metadata, no_search] = others.map(|name| name.is_none());
    rows.add(
        &mut [
            table.into(),
            id,
            body,
            embedding,
            entity,
            tokens,
            relation.into(),
            mapping_entity,
            mapping_document,
            metadata,
            search,
        ],
        &mut [
            false,
            no_id,
            no_body,
            no_embedding,
            no_entity,
            no_tokens,
            mapping.is_none(),
            no_mapped_entity,
            no_mapped_document,
            no_metadata,
            no_search,
        ],
    );
    Ok(())
}

/// The columns by role, as jsonb; None if there are none.
fn columns_value(said: &Registered) -> Option<pg_sys::Datum> {
    let pairs = said.roles().into_iter().flat_map(|(role, column)| [role, column]);
    let pairs: Vec<_> = pairs.map(encoding::encode).collect(); // bounded: a trigger's arguments
    let pairs: Vec<_> = pairs.iter().map(Vec::as_slice).collect(); // bounded: a trigger's arguments
    (!pairs.is_empty()).then(|| jsonb_object(&pairs))
}
