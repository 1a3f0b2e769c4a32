//! Where an entity stands in its trees: lowest common ancestors, depth, size of what is under it. By walks of all levels.

#![expect(unsafe_code, reason = "PostgreSQL's function call interface")]

use crate::api::context::Relative;
use crate::error::{self, Fallible};
use crate::fmgr::{Call, text_datum};
use crate::methods::walker::{ALL, Walker};
use cftrag_core::Graph;
use pgrx::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};

type Name = Vec<u8>;
type Tree = Option<Vec<u8>>;

/// `cft_lca(a text, b text, edges regclass) -> table(tree, ancestor, depth_a, depth_b)`
///
/// An entity is a common ancestor if a and b each are it or are under it. The lowest are those that have no other common ancestor under
/// them, but for one that they are under as well (in a cycle). depth_a, depth_b: steps from a, from b. Errors: 54000 where there are more
/// levels than a walk takes; those of cft_context.
#[pg_extern(sql = false)]
fn cft_lca(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let rows = call.rows();
    let (Some(a), Some(b)) = (call.text(0), call.text(1)) else { return Ok(()) };
    let walker = Walker::of(&call, 2)?;
    let (of_a, of_b) = (ancestors(&walker, a)?, ancestors(&walker, b)?);
    for (tree, of_a) in &of_a {
        let Some(of_b) = of_b.get(tree) else { continue };
        let common: HashSet<&[u8]> = of_a.keys().filter(|name| of_b.contains_key(*name)).map(|name| &**name).collect();
        let mut lowest: Vec<&[u8]> = lowest(&walker, tree, &common);
        lowest.sort_unstable();
        for name in lowest {
            let mut values = [
                text_datum(tree.as_deref().unwrap_or_default()),
                text_datum(name),
                pg_sys::Datum::from(of_a[name]),
                pg_sys::Datum::from(of_b[name]),
            ];
            rows.add(&mut values, &mut [tree.is_none(), false, false, false]);
        }
    }
    Ok(())
}

/// The ancestors of an entity with their depths, and itself at 0, by tree.
fn ancestors(walker: &Walker, entity: &[u8]) -> Fallible<BTreeMap<Tree, HashMap<Name, i32>>> {
    let mut found: BTreeMap<Tree, HashMap<Name, i32>> = BTreeMap::new();
    let mut deep = false;
    walker.relatives(&[entity], ALL, 1, |rows| {
        for rows in rows.chunk_by(|a, b| a.tree == b.tree) {
            let of = found.entry(rows[0].tree.map(<[u8]>::to_vec)).or_default();
            of.insert(entity.to_vec(), 0);
            of.extend(rows.iter().filter(|row| row.ancestor).map(|row| (row.name.to_vec(), row.depth)));
            deep |= too_deep(rows);
        }
    });
    if deep { Err(error::too_many_levels(ALL)) } else { Ok(found) }
}

/// A relative at the last level that was asked for may have others behind it.
fn too_deep(rows: &[Relative<'_>]) -> bool {
    rows.iter().any(|row| row.depth >= ALL)
}

/// Those of an upward closed set that have no other one under them which is not above them, too: the members of the components (entities
/// that are above each other) which no edge leads out of, downwards and within the set.
fn lowest<'a>(walker: &Walker, tree: &Tree, set: &HashSet<&'a [u8]>) -> Vec<&'a [u8]> {
    let names: Vec<&[u8]> = set.iter().copied().collect();
    let numbers: HashMap<&[u8], u32> = names.iter().copied().zip(0..).collect();
    // Whatever lies between two of the set is in it, so parents and children suffice.
    let mut down = Vec::new();
    walker.relatives(&names, 1, 0, |rows| {
        for row in rows.iter().filter(|row| row.tree == tree.as_deref()) {
            if let (Some(&child), Some(&parent)) = (numbers.get(row.entity), numbers.get(row.name)) {
                down.push((parent, child));
            }
        }
    });
    down.sort_unstable();
    let graph = Graph::new(names.len(), &down);
    let component = graph.components();
    let of = |node: u32| component[node as usize] as usize;
    let mut has_lower = vec![false; names.len()];
    for (parent, child) in graph.edges() {
        has_lower[of(parent)] |= of(parent) != of(child);
    }
    (0..names.len()).filter(|&i| !has_lower[component[i] as usize]).map(|i| names[i]).collect()
}

/// `cft_depth(entity text, edges regclass) -> table(tree, depth)`
///
/// The least number of steps up to a root of the tree (an entity without a parent but itself); NULL if it has none above it (cycles).
/// Errors: 54000, those of cft_context.
#[pg_extern(sql = false)]
fn cft_depth(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let rows = call.rows();
    let Some(entity) = call.text(0) else { return Ok(()) };
    let walker = Walker::of(&call, 1)?;
    let found = ancestors(&walker, entity)?;
    let names: HashSet<&[u8]> = found.values().flat_map(|of| of.keys().map(|name| &**name)).collect();
    let names: Vec<&[u8]> = names.into_iter().collect();
    let mut with_parent: HashSet<(Tree, Name)> = HashSet::new();
    walker.relatives(&names, 1, 0, |rows| {
        with_parent.extend(rows.iter().map(|row| (row.tree.map(<[u8]>::to_vec), row.entity.to_vec())));
    });
    for (tree, of) in &found {
        let is_root = |name: &Name| !with_parent.contains(&(tree.clone(), name.clone()));
        let depth = of.iter().filter(|(name, _)| is_root(name)).map(|(_, depth)| *depth).min();
        let mut values =
            [text_datum(tree.as_deref().unwrap_or_default()), pg_sys::Datum::from(depth.unwrap_or_default())];
        rows.add(&mut values, &mut [tree.is_none(), depth.is_none()]);
    }
    Ok(())
}

/// `cft_subtree_size(entity text, edges regclass) -> table(tree, size bigint)`
///
/// How many different entities are under an entity, itself counted. Errors: 54000, those of cft_context.
#[pg_extern(sql = false)]
fn cft_subtree_size(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let rows = call.rows();
    let Some(entity) = call.text(0) else { return Ok(()) };
    let walker = Walker::of(&call, 1)?;
    let mut deep = false;
    walker.relatives(&[entity], 1, ALL, |relatives| {
        deep = too_deep(relatives);
        for of in relatives.chunk_by(|a, b| a.tree == b.tree) {
            let size = 1 + of.iter().filter(|row| !row.ancestor).count();
            let mut values = [text_datum(of[0].tree.unwrap_or_default()), pg_sys::Datum::from(size as i64)];
            rows.add(&mut values, &mut [of[0].tree.is_none(), false]);
        }
    });
    if deep { Err(error::too_many_levels(ALL)) } else { Ok(()) }
}
