//! cft_tree_search, cft_coarse_fine, cft_expand and cft_texts: methods that search a forest by embeddings
//! (retrieve/tree_search.rs).

use crate::call::fmgr::{Call, name, text_value};
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::documents::{distance_of, meant};
use crate::catalog::privileges::require_readable;
use crate::catalog::registration::Functions;
use crate::error;
use crate::error::Fallible;
use crate::pg::encoding;
use crate::retrieve::documents::Wanted;
use crate::retrieve::found::Found;
use crate::retrieve::meaning;
use crate::retrieve::tree_search::{Descent, Forest, Shares};
use crate::serve::plans::with_safe_path;
use pgrx::prelude::*;

/// Levels of a descent that is not limited.
const ALL_LEVELS: i32 = 1000;

/// `cft_tree_search(embedding vector, k int, budget int, mode text, start text[], threshold float8, descend_threshold
/// float8, prune_factor float8, beam int, max_depth int, edges regclass, within text[], documents regclass, filter
/// jsonb) -> table(entity, tree, depth, score, path, text, tokens, compared, label)`.
///
/// No rows without an embedding. Errors: 22004 (mode, prune_factor, beam or max_depth is NULL), 22023 (their values, a
/// filter that is not understood), 55000 (no embeddings), 22000 (dimensions); those of cft_context for `edges`.
#[pg_extern(sql = false)]
fn cft_tree_search(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let float = |n| call.arg(n).map(|value| f64::from_bits(value.value() as u64));
    let (Some(mode), Some(prune_factor), Some(beam), Some(max_depth)) =
        (call.text(3), float(7), call.int(8), call.int(9))
    else {
        return Err(error::null_arguments("mode, prune_factor, beam and max_depth"));
    };
    if ![&b"prune"[..], b"beam", b"collapsed"].contains(&mode) {
        return Err(error::no_such_descent(mode));
    }
    if !(0.0..=1.0).contains(&prune_factor) {
        return Err(error::not_between("prune_factor", "0 and 1", &prune_factor.to_string()));
    }
    let (k, budget) = (call.int(1), call.int(2));
    require_none_negative([("k", k), ("budget", budget)])?;
    if beam < 1 {
        return Err(error::less_than_one("beam", beam));
    }
    if !(0..=ALL_LEVELS).contains(&max_depth) {
        return Err(error::not_between("max_depth", "0 and 1000", &max_depth.to_string()));
    }
    let (threshold, descend_threshold) = (float(5), float(6));
    if [threshold, descend_threshold].iter().flatten().any(|threshold| threshold.is_nan()) {
        return Err(error::nan("threshold and descend_threshold"));
    }
    let wanted = Wanted { within: call.array(11), filter: call.stored(13), budget, ..wanted(&call) };
    if wanted.embedding.is_none() {
        return Ok(());
    }
    let start = call.array(4);
    let mut found = Found::into(rows);
    in_forest(&call, 10, 12, |forest| {
        if mode == b"collapsed" && start.is_none() && descend_threshold.is_none() && max_depth == ALL_LEVELS {
            return forest.collapsed(&wanted, k, threshold, &mut found);
        }
        let asked = Descent { mode, threshold, descend_threshold, prune_factor, beam, max_depth, start };
        forest.descend(&wanted, k, &asked, &mut found);
        Ok(())
    })
}

/// `cft_coarse_fine(embedding vector, coarse_k int, fine_k int, down int, max_hops int, budget int, local_share float8,
/// bridge_share float8, global_share float8, edges regclass, documents regclass) -> table(part, entity, tree, score,
/// under, text, tokens, label)`.
///
/// No rows without an embedding. Errors: 22004 (a NULL), 22023 (negative values, shares of more than 1); those of
/// cft_tree_search, cft_context and cft_bridge.
#[pg_extern(sql = false)]
fn cft_coarse_fine(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let float = |n| call.arg(n).map(|value| f64::from_bits(value.value() as u64));
    let (Some(coarse_k), Some(fine_k), Some(down), Some(max_hops)) =
        (call.int(1), call.int(2), call.int(3), call.int(4))
    else {
        return Err(error::null_arguments(COARSE_FINE));
    };
    let (Some(local), Some(bridge), Some(global)) = (float(6), float(7), float(8)) else {
        return Err(error::null_arguments(COARSE_FINE));
    };
    let budget = call.int(5);
    require_none_negative([("coarse_k", Some(coarse_k)), ("fine_k", Some(fine_k)), ("budget", budget)])?;
    let shares = [local, bridge, global];
    if !shares.iter().all(|share| *share >= 0.0) || shares.iter().sum::<f64>() > 1.000001 {
        return Err(error::bad_shares());
    }
    let wanted = Wanted { budget, ..wanted(&call) };
    if wanted.embedding.is_none() {
        return Ok(());
    }
    let mut found = Found::into(rows);
    in_forest(&call, 9, 10, |forest| {
        forest.coarse_fine(&wanted, [coarse_k, fine_k, down, max_hops], &Shares { global, bridge, local }, &mut found)
    })
}

const COARSE_FINE: &str = "coarse_k, fine_k, down, max_hops and the shares";

/// `cft_expand(entities text[], k int, up int, down int, min_support int, edges regclass, documents regclass) ->
/// table(entity, tree, common, support, hit, leaf, path, text, tokens, label, more)`. Errors: 22004 (up, down or
/// min_support is NULL), 22023; those of cft_context.
#[pg_extern(sql = false)]
fn cft_expand(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let (Some(up), Some(down), Some(min_support)) = (call.int(2), call.int(3), call.int(4)) else {
        return Err(error::null_arguments("up, down and min_support"));
    };
    if min_support < 1 {
        return Err(error::less_than_one("min_support", min_support));
    }
    let k = call.int(1);
    require_none_negative([("k", k)])?;
    let mut found = Found::into(rows);
    in_forest(&call, 5, 6, |forest| {
        forest.expand(call.array(0), [up, down, min_support], k, &mut found);
        Ok(())
    })
}

/// `cft_texts(entities text[], documents regclass, edges regclass, summaries_count boolean) -> table(entity, text,
/// tokens, named)`: what distinct entities say; see retrieve/meaning.rs. NULL documents: none. Errors: those of
/// cft_context, 42P01 (documents).
#[pg_extern(sql = false)]
fn cft_texts(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let mut names = call.names(0)?.unwrap_or_default();
    names.sort_unstable();
    let edges = AttachedTable::of_reader(call.function(), call.oid(2))?;
    let documents = call.oid(1).filter(|documents| *documents != pg_sys::InvalidOid);
    with_safe_path(|| meaning::texts(&edges, documents, &names, call.is_true(3), &mut Found::into(rows)))
}

/// `cft_distance(relation regclass, embedding name) -> (operator text, type text, cosine boolean)`: how embeddings of a
/// column are compared, for the summaries in SQL. Errors: 42804, 42501: it locks the table, so it needs a reader's
/// rights.
#[pg_extern(sql = false)]
fn cft_distance(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let (Some(table), Some(column)) = (call.oid(0), name(&call, 1)) else { return Ok(()) };
    require_readable(table);
    let of = distance_of(table, &column)?;
    let text = |text: &str| text_value(&encoding::encode(text));
    rows.add(&mut [text(&of.operator)?, text(&of.type_name)?, of.is_cosine.into()], &mut [false; 3]);
    Ok(())
}

/// What the embedding of a call is compared in.
fn wanted(call: &Call) -> Wanted<'_> {
    Wanted {
        vector: call.argument_types()[0],
        embedding: call.stored(0),
        edges: None,
        trees: None,
        within: None,
        filter: None,
        budget: None,
        shows: false,
    }
}

/// Works in the forest and with the documents that the caller's search_path shows, then under a pinned one. `edges`,
/// `documents`: numbers of arguments.
fn in_forest<T>(call: &Call, edges: usize, documents: usize, work: impl FnOnce(&Forest) -> Fallible<T>) -> Fallible<T> {
    let edges = AttachedTable::of_reader(call.function(), call.oid(edges))?;
    let documents = meant(Functions::beside(call.function()), call.oid(documents));
    with_safe_path(|| work(&Forest { edges, documents }))
}

/// 22023 for the first that is negative.
fn require_none_negative<const N: usize>(all: [(&str, Option<i32>); N]) -> Fallible<()> {
    let negative = all.into_iter().find_map(|(argument, value)| Some((argument, value.filter(|value| *value < 0)?)));
    negative.map_or(Ok(()), |(argument, value)| Err(error::negative(argument, value)))
}
