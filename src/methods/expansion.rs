//! cft_expand: goes from the entities found (the hits) up to where they meet, and down from there (TreeRAG's
//! bidirectional traversal).
//!
//! In each tree a hit climbs to the nearest of itself and its ancestors that has enough hits at or below it (within
//! `up` levels of these). Ties go to the one with the most hits, then to the smallest by bytes. A hit that meets no
//! others in any tree stays by itself, in the first of its trees.
//!
//! From where hits meet, one search finds all that is below within `down` levels, level by level. It finds each entity
//! from the nearest such place; ties go to the one with the most hits, then to the smallest by bytes. It takes the
//! shortest way; ties go to the way whose names are the smallest from the top down, as in cft_path_prefix: each level
//! is in the order of its ways. So all is linear in what is read, and the path of a row is a part of the path of each
//! row below it.

use crate::call::fmgr;
use crate::call::fmgr::{Call, Rows, text_array, text_datum};
use crate::error::Fallible;
use crate::methods::breadth_first::{DOWN, push};
use crate::methods::document_order::Paths;
use crate::methods::graph::{Above, Graph, Marks, NONE};
use crate::methods::walker::Walker;
use crate::methods::ways::{Ways, way_in_a_cycle};
use crate::pg::interrupt::{ROWS_BETWEEN_CHECKS, check_interrupts};
use crate::serve::answer::check_levels;
use crate::serve::asked::Reach;
use crate::serve::labels::Labels;
use cftrag_core::{Interruptible, NameId};
use pgrx::check_for_interrupts;
use pgrx::prelude::*;
use std::cmp::Reverse;

/// `cft_expansion(hits text[], up int, down int, min_support int, k int, edges regclass) -> table(entity, tree, common,
/// support, hit, leaf, more, path text[], label)`
///
/// Returns at most `k` rows, in the order of a document. It prefers hits, then what is nearest below where they meet.
/// `more` is how many of an entity's children are not among the rows. Errors: those of cft_context; 53400
/// (cftrag.work_memory).
#[pg_extern(sql = false)]
fn cft_expansion(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let Some(hits) = call.names(0)? else { return Ok(()) };
    let (Some(up), Some(down), Some(min_support)) = (call.int(1), call.int(2), call.int(3)) else { return Ok(()) };
    check_levels(Reach::levels(up, down))?;
    let walker = Walker::of(&call, 5)?;
    let mut check_interrupts = check_interrupts;
    let work = &mut Interruptible::new(&mut check_interrupts);
    let most = call.int(4).map_or(usize::MAX, |k| k.max(0) as usize);
    let mut expansion = Expansion::around(&walker, &hits, work)?;
    expansion.climb(up as u32, min_support.max(1) as u32, work)?;
    expansion.descend(down as u32, most, work)?;
    expansion.choose(most, work)?;
    expansion.write(rows)
}

struct Expansion<'w> {
    graph: Graph<'w>,
    /// How many hits there are. Their names have the first numbers.
    hits: usize,
    ways: Ways,
    paths: Paths,
    /// The paths of nodes by their ways from the top.
    path_of: Marks,
    /// How many hits are at or below a node.
    support: Marks,
    rows: Vec<Row>,
    /// Whether a node is among the rows.
    is_row: Marks,
}

/// An entity in a tree.
#[derive(Clone, Copy)]
struct Row {
    node: u32,
    /// The node where hits meet from which this one was found; NONE for a hit that meets no others.
    base: u32,
    /// 0 for a hit, else 1 plus the levels below the base.
    distance: u32,
    path: u32,
    /// The place of the path in the order of the document.
    place: u32,
}

/// A node that the search downwards has met.
#[derive(Clone, Copy)]
struct Reached {
    node: u32,
    base: u32,
    path: u32,
}

impl<'w> Expansion<'w> {
    fn around(walker: &'w Walker, hits: &[&[u8]], work: &mut Interruptible<'_>) -> Fallible<Self> {
        let mut graph = Graph::around(walker, hits)?;
        let places = places(&graph, hits.len(), work)?;
        let ways = Ways::to(&mut graph, places.into_iter().map(|(_, node)| node), work)?;
        Ok(Self {
            graph,
            hits: hits.len(),
            ways,
            paths: Paths::default(),
            path_of: Marks::default(),
            support: Marks::default(),
            rows: Vec::new(),
            is_row: Marks::default(),
        })
    }

    /// Makes the rows of the hits.
    fn climb(&mut self, up: u32, min_support: u32, work: &mut Interruptible<'_>) -> Fallible<()> {
        let places = places(&self.graph, self.hits, work)?;
        let mut above = Above::default();
        for &(_, node) in &places {
            above.search(&self.graph, node, up, work)?;
            for of in &above.list {
                work.step();
                let known = self.support.get(of.id);
                self.support.set(of.id, if known == NONE { 1 } else { known + 1 })?;
            }
        }
        for of_hit in places.chunk_by(|a, b| a.0 == b.0) {
            let before = self.rows.len();
            for &(_, node) in of_hit {
                above.search(&self.graph, node, up, work)?;
                let has_enough = above.list.iter().filter(|of| self.support.get(of.id) >= min_support);
                let key = |id: u32| (Reverse(self.support.get(id)), self.graph.name(id));
                let Some(base) = has_enough.min_by(|a, b| (a.depth, key(a.id)).cmp(&(b.depth, key(b.id)))) else {
                    continue;
                };
                let mut path = self.path_from_top(base.id, work)?;
                for id in above.way_from(base.id) {
                    work.step();
                    path = self.paths.then(path, self.graph.node(id).1, &mut self.graph.room)?;
                }
                self.add(Row { node, base: base.id, distance: 0, path, place: 0 })?;
            }
            if self.rows.len() == before {
                let (_, node) = of_hit[0];
                let path = self.path_from_top(node, work)?;
                self.add(Row { node, base: NONE, distance: 0, path, place: 0 })?;
            }
        }
        Ok(())
    }

    fn add(&mut self, row: Row) -> Fallible<()> {
        self.is_row.set(row.node, 0)?;
        push(&mut self.rows, row)
    }

    /// The path to a node by its way from the top.
    fn path_from_top(&mut self, node: u32, work: &mut Interruptible<'_>) -> Fallible<u32> {
        let (tree, _) = self.graph.node(node);
        if !self.ways.has_top(node) {
            let mut path = self.paths.in_tree(tree, &mut self.graph.room)?;
            for id in way_in_a_cycle(&self.graph, node, work)? {
                path = self.paths.then(path, self.graph.node(id).1, &mut self.graph.room)?;
            }
            return Ok(path);
        }
        let mut way = Vec::new();
        let mut at = Some(node);
        let mut path = self.paths.in_tree(tree, &mut self.graph.room)?;
        while let Some(id) = at {
            work.step();
            if self.path_of.get(id) != NONE {
                path = self.path_of.get(id);
                break;
            }
            push(&mut way, id)?;
            at = self.ways.before(id);
        }
        for id in way.into_iter().rev() {
            path = self.paths.then(path, self.graph.node(id).1, &mut self.graph.room)?;
            self.path_of.set(id, path)?;
        }
        Ok(path)
    }

    /// Makes the rows of what is below where hits meet, level by level, until there are enough.
    fn descend(&mut self, down: u32, most: usize, work: &mut Interruptible<'_>) -> Fallible<()> {
        let mut seen = Marks::default();
        let mut level = Vec::new();
        for at in 0..self.rows.len() {
            let base = self.rows[at].base;
            if base != NONE && seen.get(base) == NONE {
                let path = self.path_from_top(base, work)?;
                seen.set(base, 0)?;
                push(&mut level, Reached { node: base, base, path })?;
            }
        }
        let key = |id: u32| (Reverse(self.support.get(id)), self.graph.name(id));
        work.sort_by(&mut level, |a, b| key(a.base).cmp(&key(b.base)));
        for distance in 1.. {
            for of in &level {
                work.step();
                if self.is_row.get(of.node) == NONE {
                    self.add(Row { node: of.node, base: of.base, distance, path: of.path, place: 0 })?;
                }
            }
            if distance > down || level.is_empty() || self.rows.len() >= most {
                return Ok(());
            }
            self.graph.ask(level.iter().map(|of| of.node), DOWN)?;
            let mut next: Vec<Reached> = Vec::new();
            for of in &level {
                let first = next.len();
                for node in self.graph.next(of.node, DOWN) {
                    work.step();
                    if seen.get(node) == NONE {
                        seen.set(node, 0)?;
                        push(&mut next, Reached { node, ..*of })?;
                    }
                }
                let name = |of: &Reached| self.graph.name(of.node);
                work.sort_with(&mut next[first..], |a, b, work| work.compare(name(a), name(b)));
            }
            for of in &mut next {
                of.path = self.paths.then(of.path, self.graph.node(of.node).1, &mut self.graph.room)?;
            }
            level = next;
        }
        Ok(())
    }

    /// Keeps at most `most` rows, and puts them in the order of the document.
    fn choose(&mut self, most: usize, work: &mut Interruptible<'_>) -> Fallible<()> {
        let places = self.paths.places(&self.graph, work)?;
        self.rows.iter_mut().for_each(|row| row.place = places[row.path as usize]);
        if self.rows.len() > most {
            work.sort_by(&mut self.rows, |a, b| (a.distance, a.place).cmp(&(b.distance, b.place)));
            for row in self.rows.drain(most..) {
                self.is_row.set(row.node, NONE)?;
            }
        }
        work.sort_by(&mut self.rows, |a, b| a.place.cmp(&b.place));
        self.graph.ask(self.rows.iter().map(|row| row.node), DOWN)
    }

    fn write(&self, rows: Rows) -> Fallible<()> {
        for some in self.rows.chunks(ROWS_BETWEEN_CHECKS) {
            let names: Vec<&[u8]> = some.iter().map(|row| self.graph.name(row.node)).collect();
            let labels = Labels::of(&self.graph.walker.of, &names)?;
            for (n, row) in some.iter().enumerate() {
                check_for_interrupts!();
                self.write_one(*row, labels.get(n), rows);
            }
        }
        Ok(())
    }

    fn write_one(&self, row: Row, label: Option<&[u8]>, rows: Rows) {
        let (tree, name): (_, NameId) = self.graph.node(row.node);
        let tree = tree.map(|tree| self.graph.names.get(tree));
        let is_alone = row.base == NONE;
        let common = if is_alone { None } else { Some(self.graph.name(row.base)) };
        let (mut children, mut more) = (0, 0);
        for child in self.graph.next(row.node, DOWN) {
            children += 1;
            more += i64::from(self.is_row.get(child) == NONE);
        }
        let text = |text: Option<&[u8]>| text_datum(text.unwrap_or_default());
        let mut values = [
            text_datum(self.graph.names.get(name)),
            text(tree),
            text(common),
            pg_sys::Datum::from(if is_alone { 0 } else { self.support.get(row.base) as i32 }),
            pg_sys::Datum::from(name.number() < self.hits),
            pg_sys::Datum::from(children == 0),
            pg_sys::Datum::from(more),
            text_array(&self.paths.names(row.path, &self.graph)),
            text(label),
        ];
        rows.add(
            &mut values,
            &mut [false, tree.is_none(), is_alone, is_alone, false, false, false, false, label.is_none()],
        );
        fmgr::free([0, 1, 2, 7, 8].map(|n| values[n]));
    }
}

/// Each hit in each of its trees. The hits have the first `hits` names.
fn places(graph: &Graph<'_>, hits: usize, work: &mut Interruptible<'_>) -> Fallible<Vec<(NameId, u32)>> {
    let mut places = Vec::new();
    for id in graph.first_nodes(hits, work)? {
        push(&mut places, (graph.node(id).1, id))?;
    }
    work.sort_with(&mut places, |a, b, work| {
        let tree = |id: u32| graph.node(id).0.map(|tree| graph.names.get(tree));
        a.0.cmp(&b.0).then_with(|| work.compare_some(tree(a.1), tree(b.1)))
    });
    Ok(places)
}
