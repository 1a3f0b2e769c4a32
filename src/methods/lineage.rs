//! Where an entity stands in its trees (Tree-KG, HiRAG): lowest common ancestors, depth, size of what is under it. By walks of all
//! levels; where there are more than a walk takes, level by level.

#![expect(unsafe_code, reason = "PostgreSQL's function call interface")]

use crate::api::context::Relative;
use crate::error::Fallible;
use crate::fmgr::{Call, text_datum};
use crate::methods::breathe;
use crate::methods::search::{DOWN, Side, UP};
use crate::methods::walker::{ALL, Walker};
use cftrag_core::{Breath, Graph, Names};
use pgrx::prelude::*;
use std::collections::{BTreeMap, HashMap};

type Name = Vec<u8>;
type Tree = Option<Vec<u8>>;
/// By tree: the ancestors of an entity with their depths, and itself at 0.
type Ancestors = BTreeMap<Tree, HashMap<Name, i32>>;

/// `cft_lca(a text, b text, edges regclass) -> table(tree, ancestor, depth_a, depth_b)`
///
/// An entity is a common ancestor if a and b each are it or are under it. The lowest are those that have no other common ancestor under
/// them, but for one that they are under as well (in a cycle). depth_a, depth_b: steps from a, from b. Errors: those of cft_context.
#[pg_extern(sql = false)]
fn cft_lca(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let rows = call.rows();
    let (Some(a), Some(b)) = (call.text(0), call.text(1)) else { return Ok(()) };
    let walker = Walker::of(&call, 2)?;
    let (of_a, of_b) = (ancestors(&walker, a)?, ancestors(&walker, b)?);
    let mut common = Nodes::default();
    for (tree, of_a) in &of_a {
        let Some(of_b) = of_b.get(tree) else { continue };
        let mut names: Vec<&Name> = of_a.keys().filter(|name| of_b.contains_key(*name)).collect();
        names.sort_unstable();
        names.into_iter().for_each(|name| common.add(tree.as_deref(), name));
    }
    for (node, _) in lowest(&walker, &common).into_iter().enumerate().filter(|(_, lowest)| *lowest) {
        let (tree, name) = common.list[node];
        let depth = |of: &Ancestors| of[&tree.map(<[u8]>::to_vec)][name];
        let mut values = [
            text_datum(tree.unwrap_or_default()),
            text_datum(name),
            pg_sys::Datum::from(depth(&of_a)),
            pg_sys::Datum::from(depth(&of_b)),
        ];
        rows.add(&mut values, &mut [tree.is_none(), false, false, false]);
    }
    Ok(())
}

/// Entities in their trees, numbered in the order in which they came.
#[derive(Default)]
struct Nodes<'a> {
    list: Vec<(Option<&'a [u8]>, &'a [u8])>,
    numbers: HashMap<(Option<&'a [u8]>, &'a [u8]), u32>,
}

impl<'a> Nodes<'a> {
    /// What was not added before.
    fn add(&mut self, tree: Option<&'a [u8]>, name: &'a [u8]) {
        self.numbers.insert((tree, name), self.list.len() as u32);
        self.list.push((tree, name));
    }

    /// Gives each edge to one of these to `take`: the child, and the parent if that is one of these.
    fn each_parent(&self, walker: &Walker, mut take: impl FnMut(u32, Option<u32>)) {
        let mut names: Vec<&[u8]> = self.list.iter().map(|node| node.1).collect();
        names.sort_unstable();
        names.dedup();
        walker.relatives(&names, 1, 0, |rows| {
            for row in rows {
                if let Some(&child) = self.numbers.get(&(row.tree, row.entity)) {
                    take(child, self.numbers.get(&(row.tree, row.name)).copied());
                }
            }
        });
    }
}

fn ancestors(walker: &Walker, entity: &[u8]) -> Fallible<Ancestors> {
    let mut found = Ancestors::new();
    let mut deep = false;
    walker.relatives(&[entity], ALL, 1, |rows| {
        for rows in rows.chunk_by(|a, b| a.tree == b.tree) {
            let of = found.entry(rows[0].tree.map(<[u8]>::to_vec)).or_default();
            of.insert(entity.to_vec(), 0);
            of.extend(rows.iter().filter(|row| row.ancestor).map(|row| (row.name.to_vec(), row.depth)));
            deep |= too_deep(rows);
        }
    });
    if !deep {
        return Ok(found);
    }
    let mut names = Names::default();
    let side = Side::new(names.id(entity), UP).exhaust(walker, &mut names)?;
    let mut found = Ancestors::new();
    for ((tree, name), reached) in &side.found {
        let of = found.entry(tree.map(|tree| names.get(tree).to_vec())).or_default();
        of.insert(names.get(*name).to_vec(), reached.depth as i32);
    }
    Ok(found)
}

/// A relative at the last level that was asked for may have others behind it.
fn too_deep(rows: &[Relative<'_>]) -> bool {
    rows.iter().any(|row| row.depth >= ALL)
}

/// Of a set that has all that is above its members: whether nothing of it is under a node that is not above the node, too. These are the
/// members of the components (entities that are above each other) which no edge leads out of, downwards and within the set.
fn lowest(walker: &Walker, nodes: &Nodes) -> Vec<bool> {
    // Whatever lies between two of the set is in it, so parents and children suffice.
    let mut down = Vec::new();
    nodes.each_parent(walker, |child, parent| down.extend(parent.map(|parent| (parent, child))));
    down.sort_unstable();
    let graph = Graph::new(nodes.list.len(), &down);
    let component = graph.components(&mut Breath::new(&mut breathe));
    let of = |node: u32| component[node as usize] as usize;
    let mut has_lower = vec![false; nodes.list.len()];
    for (parent, child) in graph.edges() {
        has_lower[of(parent)] |= of(parent) != of(child);
    }
    component.iter().map(|&component| !has_lower[component as usize]).collect()
}

/// `cft_depth(entity text, edges regclass) -> table(tree, depth)`
///
/// The least number of steps up to a root of the tree (an entity without a parent but itself); NULL if it has none above it (cycles).
/// Errors: those of cft_context.
#[pg_extern(sql = false)]
fn cft_depth(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let rows = call.rows();
    let Some(entity) = call.text(0) else { return Ok(()) };
    let walker = Walker::of(&call, 1)?;
    let found = ancestors(&walker, entity)?;
    let mut above = Nodes::default();
    found.iter().for_each(|(tree, of)| of.keys().for_each(|name| above.add(tree.as_deref(), name)));
    let mut is_root = vec![true; above.list.len()];
    above.each_parent(&walker, |child, _| is_root[child as usize] = false);
    for (tree, of) in &found {
        let root = |name: &Name| is_root[above.numbers[&(tree.as_deref(), &**name)] as usize];
        let depth = of.iter().filter(|(name, _)| root(name)).map(|(_, depth)| *depth).min();
        let mut values =
            [text_datum(tree.as_deref().unwrap_or_default()), pg_sys::Datum::from(depth.unwrap_or_default())];
        rows.add(&mut values, &mut [tree.is_none(), depth.is_none()]);
    }
    Ok(())
}

/// `cft_subtree_size(entity text, edges regclass) -> table(tree, size bigint)`
///
/// How many different entities are under an entity, itself counted. Errors: those of cft_context.
#[pg_extern(sql = false)]
fn cft_subtree_size(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let rows = call.rows();
    let Some(entity) = call.text(0) else { return Ok(()) };
    let walker = Walker::of(&call, 1)?;
    let (mut sizes, mut deep) = (BTreeMap::<Tree, i64>::new(), false);
    walker.relatives(&[entity], 1, ALL, |relatives| {
        deep = too_deep(relatives);
        for of in relatives.chunk_by(|a, b| a.tree == b.tree) {
            let under = of.iter().filter(|row| !row.ancestor).count();
            sizes.insert(of[0].tree.map(<[u8]>::to_vec), 1 + under as i64);
        }
    });
    if deep {
        sizes.clear();
        let mut names = Names::default();
        let side = Side::new(names.id(entity), DOWN).exhaust(&walker, &mut names)?;
        for (tree, _) in side.found.keys() {
            *sizes.entry(tree.map(|tree| names.get(tree).to_vec())).or_default() += 1;
        }
    }
    for (tree, size) in sizes {
        let mut values = [text_datum(tree.as_deref().unwrap_or_default()), pg_sys::Datum::from(size)];
        rows.add(&mut values, &mut [tree.is_none(), false]);
    }
    Ok(())
}
