//! cft_retrieve, cft_prompt and cft_chunks.

use crate::call::fmgr;
use crate::call::fmgr::{Call, text_value};
use crate::call::format;
use crate::call::format::Format;
use crate::call::tuple::float;
use crate::call::work_memory::{Bytes, Room, add};
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::documents::Documents;
use crate::catalog::registration::Functions;
use crate::error;
use crate::error::Fallible;
use crate::guc;
use crate::guc::Match;
use crate::retrieve::about::Among;
use crate::retrieve::documents::Wanted;
use crate::retrieve::expand::Expand;
use crate::retrieve::gather::gather;
use crate::retrieve::line::{Gathered, Line};
use crate::retrieve::question::{Mode, Request};
use crate::retrieve::resolve;
use crate::serve::answer::{reads_as_array, refuse_array};
use crate::serve::asked::{Reach, matching};
use cftrag_methods::retrieve::budget::Source;
use cftrag_methods::retrieve::prompt;
use cftrag_methods::retrieve::prompt::Parts;
use pgrx::prelude::*;
use pgrx::{Internal, check_for_interrupts};
use std::ffi::CStr;

/// `cft_retrieve(question text, embedding vector, k int, chunks int, up int, down int, budget int, mode text, edges
/// regclass, trees text[], within text[], documents regclass, filter jsonb, match text, narrow boolean, expand text) ->
/// table(source, entity, document_id, rank, distance, text, tokens, why, path)`: see retrieve/gather.rs. Errors: 22004
/// (up or down is NULL, or k without a budget), 22023.
#[pg_extern(sql = false)]
fn cft_retrieve(call: Call) -> Fallible<()> {
    let rows = call.rows();
    for line in gather(&asked(&call, 13, 15)?)?.lines {
        check_for_interrupts!();
        let source: &[u8] = match line.source {
            Source::Hierarchy => b"hierarchy",
            Source::Document => b"document",
            Source::Chunk => b"chunk",
        };
        let text = |text: &Option<Vec<u8>>| text.as_deref().map_or(Ok(pg_sys::Datum::null()), text_value);
        let (entity, document, body) = (text(&line.entity)?, text(&line.document)?, text(&line.text)?);
        let path = text(&line.path)?;
        let distance = line.distance.map_or(pg_sys::Datum::null(), float);
        let mut values = [
            text_value(source)?,
            entity,
            document,
            pg_sys::Datum::from(line.rank),
            distance,
            body,
            pg_sys::Datum::from(line.tokens),
            text_value(&line.why)?,
            path,
        ];
        let (no_entity, no_document) = (line.entity.is_none(), line.document.is_none());
        let (no_distance, no_text, no_path) = (line.distance.is_none(), line.text.is_none(), line.path.is_none());
        let mut nulls = [false, no_entity, no_document, false, no_distance, no_text, false, false, no_path];
        rows.add(&mut values, &mut nulls);
        fmgr::free([0, 1, 2, 5, 7, 8].map(|n| values[n]));
    }
    Ok(())
}

/// The arguments of cft_retrieve, or of cft_prompt; `matched`: the number of the argument `match`, before which is
/// `filter` and behind which is `narrow`; `expand`: that of the argument expand.
fn asked(call: &Call, matched: usize, expand: usize) -> Fallible<Request<'_>> {
    let (Some(up), Some(down)) = (call.int(4), call.int(5)) else { return Err(error::null_arguments("up and down")) };
    // No limit but the budget: each document takes a token at least.
    let budget = call.int(6).or_else(guc::budget);
    let k = call.int(2).or(budget).ok_or_else(|| error::null_argument("k"))?;
    Ok(Request {
        function: call.function(),
        question: call.stored(0),
        wanted: Wanted {
            vector: call.argument_types()[1],
            embedding: call.stored(1),
            edges: call.oid(8),
            trees: call.array(9),
            within: call.array(10),
            filter: call.stored(matched - 1),
            budget,
            shows: true,
        },
        k,
        chunks: call.int(3),
        up,
        down,
        mode: call.text(7).map(Mode::of).transpose()?,
        documents: call.oid(11),
        matching: matching(call.text(matched))?,
        narrow: call.is_true(matched + 1),
        expand: call.text(expand).map(Expand::of).transpose()?,
    })
}

/// `cft_prompt(question text, embedding vector, k int, chunks int, up int, down int, budget int, mode text, edges
/// regclass, trees text[], within text[], documents regclass, template text, filter jsonb, match text, narrow boolean,
/// document_template text, expand text) -> text`: the rows of cft_retrieve as a prompt; NULL without a question.
/// Errors: those of cft_retrieve, 22023 (a template).
#[pg_extern(sql = false)]
fn cft_prompt(call: Call) -> Fallible<Internal> {
    let [of_prompt, of_document, of_rest] =
        [guc::prompt_template(), guc::document_template(), guc::left_out_template()];
    let template = |n, setting| call.text(n).or(Option::as_deref(setting).map(CStr::to_bytes));
    let document = template(16, &of_document).filter(|text| !text.is_empty());
    let document = document.map(|document| Format::parse(document, &format::DOCUMENT)).transpose()?;
    let template = template(12, &of_prompt).map(|template| Format::parse(template, &format::PROMPT)).transpose()?;
    let rest = of_rest.as_deref().map(|rest| Format::parse(rest.to_bytes(), &format::LEFT_OUT)).transpose()?;
    let asked = asked(&call, 14, 17)?;
    let Gathered { lines, left_out } = gather(&asked)?;
    let Some(question) = call.text(0) else { return Ok(Internal::from(None)) };
    let (mut parts, mut room, mut number) = (Parts::default(), Room::new(), 0);
    for Line { source, document: id, entity, text, path, place, shown, .. } in lines {
        let text = text.unwrap_or_default();
        let mut out = Bytes::default();
        if source == Source::Hierarchy {
            room.take(2 * text.len())?;
            parts.add(source, &text);
            continue;
        }
        number += 1;
        let [id, entity, path, place, shown] = [id, entity, path, place, shown].map(Option::unwrap_or_default);
        let number = number.to_string();
        match &document {
            Some(document) => document.write(&[number.as_bytes(), &id, &entity, &text, &path, &shown], &mut out)?,
            None => {
                let pieces = prompt::document(number.as_bytes(), &place, &shown, &text);
                out.room(pieces.iter().map(|piece| piece.len()).sum())?;
                pieces.into_iter().for_each(|piece| out.0.extend_from_slice(piece));
            }
        }
        room.take(2 * out.0.len())?;
        parts.add(source, &out.0);
    }
    let (mut out, mut said) = (Bytes::default(), Bytes::default());
    if let Some(budget) = asked.wanted.budget.filter(|_| left_out != [0; 2]) {
        let [documents, sentences] = left_out.map(|count| count.to_string());
        match rest {
            Some(rest) => {
                rest.write(&[documents.as_bytes(), sentences.as_bytes(), budget.to_string().as_bytes()], &mut said)?;
            }
            None => add(&prompt::left_out(left_out, budget), &mut said)?,
        }
    }
    match template {
        Some(format) => {
            format.write(&[question, &parts.documents, &parts.hierarchy, &parts.chunks, &said.0], &mut out)?
        }
        None => {
            for piece in parts.pieces(&said.0, question) {
                out.room(piece.len())?;
                out.0.extend_from_slice(piece);
            }
        }
    }
    fmgr::text_value(&out.0).map(|text| Internal::from(Some(text)))
}

/// `cft_resolve(mention text, embedding vector, k int, edges regclass, trees text[], within text[], documents regclass,
/// match text) -> table(entity, score, method, label)`: see retrieve/resolve.rs. No rows for a NULL mention or k.
/// Errors: 22023 (k, match), those of cft_entities and cft_nearest_entities.
#[pg_extern(sql = false)]
fn cft_resolve(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let (Some(mention), Some(k)) = (call.stored(0), call.int(2)) else { return Ok(()) };
    let asked = resolve::ResolveRequest {
        function: call.function(),
        wanted: Wanted {
            vector: call.argument_types()[1],
            embedding: call.stored(1),
            edges: call.oid(3),
            trees: call.array(4),
            within: call.array(5),
            filter: None,
            budget: None,
            shows: false,
        },
        k: usize::try_from(k).map_err(|_| error::negative("k", k))?,
        documents: call.oid(6),
        matching: call.text(7).map_or(Ok(Match::Fuzzy), |value| matching(Some(value)))?,
    };
    for meant in resolve::resolve(&asked, mention)? {
        check_for_interrupts!();
        let label = meant.label.as_deref().map_or(Ok(pg_sys::Datum::null()), text_value)?;
        let values = &mut [text_value(&meant.entity)?, float(meant.score), text_value(&meant.method)?, label];
        rows.add(values, &mut [false, false, false, meant.label.is_none()]);
    }
    Ok(())
}

/// `cft_chunks(entities text[], embedding vector, up int, down int, edges regclass, trees text[], documents regclass)
/// -> table(entity, relation, depth, relative, document_id, body, tokens, distance)`. No rows for NULL entities or
/// levels. Errors: those of cft_context, 42P01, 42725 (documents), 55000 (no entities attached).
#[pg_extern(sql = false)]
fn cft_chunks_many(call: Call) -> Fallible<()> {
    let names = call.names(0)?;
    chunks(&call, names)
}

/// `cft_chunks(entity text, ...)`: of one entity.
#[pg_extern(sql = false)]
fn cft_chunks_one(call: Call) -> Fallible<()> {
    let name = call.text(0);
    if let Some(name) = name.filter(|name| reads_as_array(name) && call.is_given_text(0)) {
        refuse_array(&AttachedTable::open(&call, 4)?, name, Some("entities"))?;
    }
    chunks(&call, name.map(|name| vec![name]))
}

fn chunks(call: &Call, names: Option<Vec<&[u8]>>) -> Fallible<()> {
    let rows = call.rows();
    let (Some(names), Some(up), Some(down)) = (names, call.int(2), call.int(3)) else { return Ok(()) };
    let wanted = Wanted {
        vector: call.argument_types()[1],
        embedding: call.stored(1),
        edges: call.oid(4),
        trees: call.array(5),
        within: None,
        filter: None,
        budget: None,
        shows: false,
    };
    let Some(documents) = Documents::of(Functions::beside(call.function()), call.oid(6), true)? else { return Ok(()) };
    let reach = Reach { trees: wanted.trees, ..Reach::levels(up, down) };
    let among = Among { reach, most: None, words: None, others: &[] };
    let found = wanted.about_all(call.function(), &documents, &names, &among)?;
    for one in found {
        check_for_interrupts!();
        let text = |text: Option<&[u8]>| text.map_or(Ok(pg_sys::Datum::null()), text_value);
        let mut values = [
            text_value(names[one.of])?,
            text_value(one.related.name().as_bytes())?,
            pg_sys::Datum::from(one.depth),
            text_value(&one.relative)?,
            text(one.id.as_deref())?,
            text(one.body.as_deref())?,
            pg_sys::Datum::from(one.tokens),
            one.distance.map_or(pg_sys::Datum::null(), float),
        ];
        let mut nulls =
            [false, false, false, false, one.id.is_none(), one.body.is_none(), false, one.distance.is_none()];
        rows.add(&mut values, &mut nulls);
        fmgr::free([0, 1, 3, 4, 5].map(|n| values[n]));
    }
    Ok(())
}
