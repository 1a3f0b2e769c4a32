//! cft_found_by_search and cft_sentences_of_neighbors: the parts of the papers' baselines (retrieve/baselines.rs), to
//! measure and to check them by themselves. They are modes of cft_retrieve.

use crate::call::fmgr::{Call, text_datum, text_value};
use crate::catalog::attached_table::AttachedTable;
use crate::error::Fallible;
use crate::retrieve::baselines;
use pgrx::prelude::*;

/// `cft_found_by_search(entities text[], edges regclass) -> setof text`: which entities T-RAG finds. Errors: those of
/// cft_context.
#[pg_extern(sql = false)]
fn cft_found_by_search(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let names = call.names(0)?.unwrap_or_default();
    for name in baselines::found_by_search(&AttachedTable::of_reader(call.function(), call.oid(1))?, &names)? {
        rows.add(&mut [text_value(&name)?], &mut [false]);
    }
    Ok(())
}

/// `cft_sentences_of_neighbors(entities text[], hops int, edges regclass, trees text[]) -> table(entity text, text
/// text)`: a sentence for each entity that has neighbours. Errors: those of cft_context.
#[pg_extern(sql = false)]
fn cft_sentences_of_neighbors(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let (names, hops) = (call.names(0)?.unwrap_or_default(), call.int(1).unwrap_or_default());
    let of = AttachedTable::of_reader(call.function(), call.oid(2))?;
    for name in names {
        if let Some(sentence) = baselines::neighbors(&of, name, hops, call.array(3))? {
            rows.add(&mut [text_datum(name), text_value(&sentence)?], &mut [false, false]);
        }
    }
    Ok(())
}
