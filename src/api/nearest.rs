//! cft_nearest_documents and cft_nearest_entities.

use crate::call::fmgr::{Call, text_datum};
use crate::call::tuple::float;
use crate::catalog::documents::Documents;
use crate::catalog::filter::{Condition, OF_SEARCHES};
use crate::catalog::registration::Functions;
use crate::error;
use crate::error::Fallible;
use crate::pg::encoding;
use crate::retrieve::documents::Wanted;
use crate::retrieve::found::Found;
use crate::retrieve::search::{Belongs, By, How, Order, Search};
use crate::retrieve::{search, words};
use pgrx::prelude::*;

/// `cft_nearest_documents(embedding vector, k int, edges regclass, within text[], documents regclass, filter jsonb) ->
/// table(document_id, entity, body, tokens, distance)`.
///
/// NULL embedding: no rows. Errors: 42P01, 42725 (no table of documents, or several), 22004 (k), 22023 (a negative k, a
/// filter that is no object, a zero vector), 55000 (no entities, or no metadata, attached), 22000 (dimensions); those
/// of cft_under and of the distance operator.
#[pg_extern(sql = false)]
fn cft_nearest_documents(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let wanted = Wanted {
        vector: call.argument_types()[0],
        embedding: call.stored(0),
        edges: call.oid(2),
        trees: None,
        within: call.array(3),
        filter: call.stored(5),
        budget: None,
        shows: false,
    };
    let Some(of) = Documents::of(Functions::beside(call.function()), call.oid(4), true)? else { return Ok(()) };
    wanted.condition(&of)?;
    let k = k(&call)?;
    wanted.nearest(&of, k, &mut Found::into(rows))
}

/// `cft_nearest_entities(embedding vector, k int, edges regclass, within text[], documents regclass, filter jsonb) ->
/// table(entity, distance, score, label)`: by the table of cft_attach_embeddings, else those of the nearest documents.
/// Errors: those of cft_nearest_documents.
#[pg_extern(sql = false)]
fn cft_nearest_entities(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let wanted = Wanted {
        vector: call.argument_types()[0],
        embedding: call.stored(0),
        edges: call.oid(2),
        trees: None,
        within: call.array(3),
        filter: call.stored(5),
        budget: None,
        shows: false,
    };
    let k = k(&call)?;
    if wanted.embedding.is_none() {
        return Ok(());
    }
    let near = wanted.nearest_entities(call.function(), k, call.oid(4))?;
    let labels = near.labels(call.function(), wanted.edges)?;
    for (n, (entity, distance)) in near.all.iter().enumerate() {
        let label = labels.get(n);
        let values = &mut [
            text_datum(entity),
            float(*distance),
            float(near.score(*distance)),
            label.map_or(pg_sys::Datum::null(), text_datum),
        ];
        rows.add(values, &mut [false, false, false, label.is_none()]);
    }
    Ok(())
}

/// The argument k. 22004 if it is NULL, 22023 if it is negative.
fn k(call: &Call) -> Fallible<i32> {
    let k = call.int(1).ok_or_else(|| error::null_argument("k"))?;
    if k < 0 { Err(error::negative("k", k)) } else { Ok(k) }
}

/// `cft_search_statement(documents regclass, by text, within boolean, filter jsonb) -> text`: the statement of a
/// search, for tests and for cft_rollup. `by`: nearest, nearest with ties, exactly, words, about, about by distance,
/// centroid. Errors: 22023, 55000, 42804.
#[pg_extern(sql = false)]
fn cft_search_statement(call: Call) -> Fallible<Option<Vec<u8>>> {
    let Some(of) = Documents::of(Functions::beside(call.function()), call.oid(0), true)? else { return Ok(None) };
    let by = call.text(1).unwrap_or_default();
    let filter = call.stored(3).map(|filter| Condition::of(filter, &of, OF_SEARCHES)).transpose()?;
    let filter = filter.as_ref().map(|filter| filter.sql.as_str());
    let search = Search {
        by: By::Nearest,
        k: 5,
        within: call.is_true(2),
        filter,
        how: How::First,
        shows: false,
        one_by_one: false,
    };
    let sql = match by {
        b"nearest" => search.statement(&of),
        b"nearest with ties" => Search { how: How::Ties, ..search }.statement(&of),
        b"exactly" => Search { how: How::Exactly, ..search }.statement(&of),
        b"words" => {
            let compared = words::compared(&of)?;
            Search { by: By::Words(&compared.value), how: How::Ties, ..search }.statement(&of)
        }
        b"about" => search::about(&of, Belongs::Own, false, filter, Order::All),
        b"about by distance" => search::about(&of, Belongs::Own, true, filter, Order::All),
        b"centroid" => search.centroid(&of),
        other => return Err(error::no_such_search(other)),
    };
    sql.map(|sql| Some(encoding::encode(&sql).to_vec())) // bounded: a statement of ours
}

/// `cft_condition(documents regclass, filter jsonb, parameter int) -> (condition text, parameters text[])`: a filter as
/// a condition on a document (d), for cft_tree_search. STRICT. Errors: 22023, 55000, 42804.
#[pg_extern(sql = false)]
fn cft_condition(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let (Some(filter), Some(number)) = (call.stored(1), call.int(2)) else { return Ok(()) };
    let Some(of) = Documents::of(Functions::beside(call.function()), call.oid(0), true)? else { return Ok(()) };
    let condition = Condition::of(filter, &of, usize::try_from(number).unwrap_or_default())?;
    rows.add(&mut [text_datum(&encoding::encode(&condition.sql)), condition.parameter()], &mut [false, false]);
    Ok(())
}
