//! An entity's position in its trees (Tree-KG, HiRAG): lowest common ancestors, depth, size of its subtree. They are
//! found by walks of all levels or, if there are more levels than a walk takes, level by level.

use crate::call::fmgr;
use crate::call::fmgr::{Call, Rows, text_value};
use crate::call::work_memory::Room;
use crate::error::Fallible;
use crate::methods::big_map::Table;
use crate::methods::breadth_first::{DOWN, Node, Side, Texts, Tree, UP, named};
use crate::methods::walker::{ALL, Walker};
use crate::pg::interrupt::check_interrupts;
use crate::serve::labels::KeptLabels;
use crate::serve::sink::Relative;
use cftrag_core::{Interruptible, NameId, Names};
use cftrag_methods::Graph;
use pgrx::check_for_interrupts;
use pgrx::prelude::*;

/// The most bytes that an entity takes besides its name: in two lists, a hash table, and a graph.
const PER_ENTITY: usize = 160;

/// What a call has read: names, within the memory that it may take.
struct Reading {
    walker: Walker<'static>,
    names: Names,
    room: Room,
}

/// `cft_lca(a text, b text, edges regclass) -> table(tree, ancestor, depth_a, depth_b, label)`
///
/// An entity is a common ancestor if a and b each are it or are under it. The lowest ones have no other common ancestor
/// under them, except one that they are also under (in a cycle). depth_a, depth_b: steps from a, from b. Errors: 53400
/// (cftrag.work_memory); those of cft_context.
#[pg_extern(sql = false)]
fn cft_lca(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let (Some(a), Some(b)) = (call.text(0), call.text(1)) else { return Ok(()) };
    let mut reading = Reading::of(&call, 2)?;
    reading.walker.refuse_arrays(&call, &[0, 1])?;
    let (of_a, of_b) = (reading.ancestors(a)?, reading.ancestors(b)?);
    let mut check_interrupts = check_interrupts;
    let mut work = Interruptible::new(&mut check_interrupts);
    let mut of_b_by_node = Table::default();
    for (node, depth) in of_b {
        work.step();
        of_b_by_node.entry(node, || depth)?;
    }
    let mut common: Vec<(Node, i32, i32)> = Vec::new();
    for (node, depth_a) in of_a {
        work.step();
        common.extend(of_b_by_node.get(&node).map(|depth_b| (node, depth_a, *depth_b)));
    }
    let names = &reading.names;
    let key = |(tree, name): Node| (tree.map(|tree| names.get(tree)), names.get(name));
    work.sort_with(&mut common, |a, b, work| {
        let (a, b) = (key(a.0), key(b.0));
        work.compare_some(a.0, b.0).then_with(|| work.compare(a.1, b.1))
    });
    let mut nodes = Nodes::default();
    for (node, ..) in &common {
        nodes.add(*node)?;
    }
    let lowest = lowest(&mut reading, &nodes)?;
    let mut kept = KeptLabels::default();
    for (&((tree, name), depth_a, depth_b), _) in common.iter().zip(lowest).filter(|(_, lowest)| *lowest) {
        check_for_interrupts!();
        let tree_name = tree.map_or(&b""[..], |tree| reading.names.get(tree));
        let ancestor = reading.names.get(name);
        let labels = kept.of(&reading.walker.of, &[ancestor])?;
        let label = labels.get(0);
        let texts = [text_value(tree_name)?, text_value(ancestor)?, text_value(label.unwrap_or_default())?];
        let mut values = [texts[0], texts[1], pg_sys::Datum::from(depth_a), pg_sys::Datum::from(depth_b), texts[2]];
        rows.add(&mut values, &mut [tree.is_none(), false, false, false, label.is_none()]);
        fmgr::free(texts);
    }
    Ok(())
}

/// Entities in their trees, numbered in the order in which they were added.
#[derive(Default)]
struct Nodes {
    list: Vec<Node>,
    numbers: Table<Node, u32>,
}

impl Nodes {
    /// Adds a node that was not added before.
    fn add(&mut self, node: Node) -> Fallible<()> {
        if self.list.len().is_multiple_of(1 << 16) {
            check_for_interrupts!();
        }
        self.numbers.entry(node, || self.list.len() as u32)?;
        self.list.push(node);
        Ok(())
    }

    /// Passes each edge whose child is one of these to `take`: the child, and the parent if it is one of these.
    fn each_parent(&self, reading: &mut Reading, mut take: impl FnMut(u32, Option<u32>)) -> Fallible<()> {
        let Reading { walker, names, room } = reading;
        let mut asked: Vec<NameId> = self.list.iter().map(|node| node.1).collect();
        asked.sort_unstable();
        asked.dedup();
        let texts = Texts::of(&asked, names, room)?;
        let mut check_interrupts = check_interrupts;
        let mut work = Interruptible::new(&mut check_interrupts);
        walker.relatives(&texts.all(), 1, 0, |rows| {
            for row in rows {
                work.step();
                let tree = row.tree.map(|tree| named(names, tree, room)).transpose()?;
                if let Some(&child) = self.numbers.get(&(tree, named(names, row.entity, room)?)) {
                    room.take(PER_EDGE)?;
                    let parent = named(names, row.name, room)?;
                    take(child, self.numbers.get(&(tree, parent)).copied());
                }
            }
            Ok(())
        })
    }
}

/// Bytes that an edge between two ancestors takes.
const PER_EDGE: usize = 24;

impl Reading {
    fn of(call: &Call, n: usize) -> Fallible<Self> {
        Ok(Self { walker: Walker::of(call, n)?, names: Names::default(), room: Room::new() })
    }

    /// The ancestors of an entity in each of its trees, with their depths, and the entity itself at depth 0.
    fn ancestors(&mut self, entity: &[u8]) -> Fallible<Vec<(Node, i32)>> {
        let Self { walker, names, room } = self;
        let (mut found, mut deep) = (Vec::new(), false);
        let start = named(names, entity, room)?;
        let mut check_interrupts = check_interrupts;
        let mut work = Interruptible::new(&mut check_interrupts);
        walker.relatives_and_own(&[entity], ALL, 1, |rows| {
            for rows in rows.chunk_by(|a, b| a.tree == b.tree) {
                work.step();
                let tree = rows[0].tree.map(|tree| named(names, tree, room)).transpose()?;
                room.take(PER_ENTITY)?;
                found.push(((tree, start), 0));
                for row in rows.iter().filter(|row| row.ancestor && row.depth > 0) {
                    work.step();
                    room.take(PER_ENTITY)?;
                    found.push(((tree, named(names, row.name, room)?), row.depth));
                }
            }
            deep |= too_deep(rows);
            Ok(())
        })?;
        if deep {
            let side = Side::new(start, UP).exhaust(walker, names, room)?;
            found.clear();
            for (node, reached) in side.found.iter() {
                work.step();
                room.take(PER_ENTITY)?;
                found.push((*node, reached.depth as i32));
            }
        }
        Ok(found)
    }
}

/// Whether a relative is at the last level of a walk, so that others may be beyond it.
fn too_deep(rows: &[Relative<'_>]) -> bool {
    rows.iter().any(|row| row.depth >= ALL)
}

/// Says which members of a set are lowest: those of which all members under them are above them, too. The set contains
/// all that is above its members. The lowest are the members of the strongly connected components that no edge within
/// the set leaves downwards.
fn lowest(reading: &mut Reading, nodes: &Nodes) -> Fallible<Vec<bool>> {
    // All that lies between two members is in the set, so parents and children suffice.
    let mut down = Vec::new();
    nodes.each_parent(reading, |child, parent| down.extend(parent.map(|parent| (parent, child))))?;
    let mut check_interrupts = check_interrupts;
    let mut work = Interruptible::new(&mut check_interrupts);
    work.sort_by(&mut down, Ord::cmp);
    let graph = Graph::new(nodes.list.len(), &down);
    let component = graph.components(&mut work);
    let of = |node: u32| component[node as usize] as usize;
    let mut has_lower = vec![false; nodes.list.len()];
    for (parent, child) in graph.edges() {
        work.step();
        has_lower[of(parent)] |= of(parent) != of(child);
    }
    Ok(component.iter().map(|&component| !has_lower[component as usize]).collect())
}

/// `cft_depth(entity text, edges regclass) -> table(tree, depth)`
///
/// Returns the fewest steps up to a root of each tree (an entity without a parent but itself); NULL if no root is above
/// it (cycles).
/// Errors: those of cft_lca.
#[pg_extern(sql = false)]
fn cft_depth(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let Some(entity) = call.text(0) else { return Ok(()) };
    let mut reading = Reading::of(&call, 1)?;
    reading.walker.refuse_arrays(&call, &[0])?;
    let found = reading.ancestors(entity)?;
    let mut above = Nodes::default();
    for (node, _) in &found {
        above.add(*node)?;
    }
    let mut is_root = vec![true; above.list.len()];
    above.each_parent(&mut reading, |child, _| is_root[child as usize] = false)?;
    let mut depths: Table<Tree, Option<i32>> = Table::default();
    let mut check_interrupts = check_interrupts;
    let mut work = Interruptible::new(&mut check_interrupts);
    for (&((tree, _), depth), is_root) in found.iter().zip(is_root) {
        work.step();
        let (least, _) = depths.entry(tree, || None)?;
        if is_root {
            *least = Some(least.map_or(depth, |least| least.min(depth)));
        }
    }
    in_order(depths, &reading.names, |tree, depth| add(rows, tree, depth.map(pg_sys::Datum::from)))
}

/// `cft_subtree_size(entity text, edges regclass) -> table(tree, size bigint)`
///
/// Returns the number of different entities under an entity, itself included. Errors: those of cft_lca.
#[pg_extern(sql = false)]
fn cft_subtree_size(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let Some(entity) = call.text(0) else { return Ok(()) };
    let mut reading = Reading::of(&call, 1)?;
    reading.walker.refuse_arrays(&call, &[0])?;
    let Reading { walker, names, room } = &mut reading;
    let (mut sizes, mut deep): (Table<Tree, i64>, _) = (Table::default(), false);
    let start = named(names, entity, room)?;
    let mut check_interrupts = check_interrupts;
    let mut work = Interruptible::new(&mut check_interrupts);
    walker.relatives_and_own(&[entity], 1, ALL, |relatives| {
        deep |= too_deep(relatives);
        for of in relatives.chunk_by(|a, b| a.tree == b.tree) {
            work.steps(of.len());
            room.take(PER_ENTITY)?;
            let tree = of[0].tree.map(|tree| named(names, tree, room)).transpose()?;
            let under = of.iter().filter(|row| !row.ancestor).count();
            *sizes.entry(tree, || 1)?.0 += under as i64;
        }
        Ok(())
    })?;
    if deep {
        sizes = Table::default();
        let side = Side::new(start, DOWN).exhaust(walker, names, room)?;
        for (tree, _) in side.found.keys() {
            work.step();
            *sizes.entry(*tree, || 0)?.0 += 1;
        }
    }
    in_order(sizes, &reading.names, |tree, size| add(rows, tree, Some(pg_sys::Datum::from(size))))
}

/// Passes the value of each tree to `f`, ordered by the bytes of the trees' names; the tree without a name comes first.
fn in_order<T: Copy>(
    by_tree: Table<Tree, T>,
    names: &Names,
    mut f: impl FnMut(Option<&[u8]>, T) -> Fallible<()>,
) -> Fallible<()> {
    let name = |tree: &Tree| tree.map(|tree| names.get(tree));
    let mut all: Vec<(Tree, T)> = by_tree.iter().map(|(tree, what)| (*tree, *what)).collect();
    Interruptible::new(&mut { check_interrupts })
        .sort_with(&mut all, |a, b, work| work.compare_some(name(&a.0), name(&b.0)));
    for (i, (tree, what)) in all.into_iter().enumerate() {
        if i % 10_000 == 0 {
            check_for_interrupts!();
        }
        f(name(&tree), what)?;
    }
    Ok(())
}

/// Adds a row with a tree and a number.
fn add(rows: Rows, tree: Option<&[u8]>, number: Option<pg_sys::Datum>) -> Fallible<()> {
    let name = text_value(tree.unwrap_or_default())?;
    rows.add(&mut [name, number.unwrap_or(pg_sys::Datum::from(0usize))], &mut [tree.is_none(), number.is_none()]);
    fmgr::free([name]);
    Ok(())
}
