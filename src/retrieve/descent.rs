//! The descent of cft_tree_search: goes down from the top of a forest, guided by the similarity of its entities, level
//! by level, in all trees together.
//!
//! In a tree each entity is judged once, at the least depth at which it is reached through nodes that lead on. If
//! several such parents lead to it, its path comes from the one with the smallest name by bytes. An entity without a
//! score is passed through: it leads on, and is no result. Depth 0 always leads on. sql/install/methods/tree_search.sql
//! has the arguments and their papers.

use crate::call::fmgr;
use crate::call::fmgr::{Call, Rows, text_array, text_datum};
use crate::call::text::Text;
use crate::call::work_memory::Room;
use crate::error::Fallible;
use crate::methods::big_map::Table;
use crate::methods::breadth_first::{Texts, Tree, named, push};
use crate::methods::walker::Walker;
use crate::pg::interrupt::check_interrupts;
use crate::retrieve::found::Found;
use crate::retrieve::meaning::Meaning;
use crate::serve::plans::Planning;
use cftrag_core::{Interruptible, NameId, Names};
use pgrx::prelude::*;
use std::cmp::Ordering;

/// The most bytes that a node takes besides its name: in lists, tables, and the array of names that are scored.
const PER_NODE: usize = 250;

/// The number of no node.
const NONE: u32 = u32::MAX;

/// An entity in a tree, as it was reached.
#[derive(Clone, Copy)]
struct Node {
    tree: Tree,
    name: NameId,
    from: u32,
    leads: bool,
}

/// What all trees share about an entity.
#[derive(Clone, Copy)]
struct Entity {
    score: Option<f64>,
    /// Its node among the results: the one at the least depth, then in the first tree.
    hit: u32,
}

/// What a mode keeps of a level.
enum Kept {
    All,
    /// Entities that score at least this.
    From(f64),
    /// Entities that score more, or the same and come no later by name.
    Best(f64, NameId),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Prune,
    Beam,
    Collapsed,
}

struct Rules {
    mode: Mode,
    threshold: f64,
    descend_threshold: f64,
    prune_factor: f64,
    beam: usize,
}

/// Computes the scores of entities.
struct Scoring<'c> {
    statement: String,
    vector: pg_sys::Oid,
    embedding: Text<'c>,
    filter: Option<pg_sys::Datum>,
    compared: i64,
}

#[derive(Default)]
struct Descent {
    room: Room,
    names: Names,
    /// All nodes, in the order in which they were judged.
    nodes: Vec<Node>,
    /// The first node of each level.
    starts: Vec<u32>,
    places: Table<(Tree, NameId), u32>,
    entities: Table<NameId, Entity>,
}

/// `cft_descend(embedding vector, documents regclass, mode text, trees text[], names text[], threshold float8,
/// descend_threshold float8, prune_factor float8, beam int, max_depth int, k int, edges regclass, filter jsonb) ->
/// table(entity, tree, depth, score, path, compared)`
///
/// Returns the results, best first. `trees` and `names` are depth 0; retrieve/meaning.rs says where scores come from.
/// SET search_path. Errors: 55000 (no embeddings), 22000 (dimensions), 53400 (cftrag.work_memory).
#[pg_extern(sql = false)]
fn cft_descend(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let (Some(embedding), Some(_), Some(_)) = (call.stored(0), call.arg(3), call.arg(4)) else { return Ok(()) };
    let (walker, mut descent) = (Walker::of(&call, 11)?, Descent::default());
    let float = |n: usize, or: f64| call.arg(n).map_or(or, |value| f64::from_bits(value.value() as u64));
    let rules = Rules {
        mode: match call.text(2) {
            Some(b"prune") => Mode::Prune,
            Some(b"beam") => Mode::Beam,
            _ => Mode::Collapsed,
        },
        threshold: float(5, f64::NEG_INFINITY),
        descend_threshold: float(6, f64::NEG_INFINITY),
        prune_factor: float(7, 0.0),
        beam: call.int(8).unwrap_or(1).max(1) as usize,
    };
    let meaning = Meaning::of(&walker.of, call.oid(1))?;
    let (sql, filter) = meaning.scoring(embedding, call.stored(12))?;
    let statement = format!("SELECT s.place, s.score FROM ({sql}) AS s");
    let mut scoring = Scoring { statement, vector: call.argument_types()[0], embedding, filter, compared: 0 };
    if let (Some(trees), Some(tops)) = (call.texts(3)?, call.texts(4)?) {
        descent.begin(trees.zip(tops))?;
    }
    let max_depth = call.int(9).unwrap_or(0).max(0) as usize;
    for level in 0..=max_depth {
        if descent.level(level).is_empty() {
            break;
        }
        descent.score(level, &mut scoring)?;
        descent.judge(level, &rules)?;
        if level < max_depth {
            descent.go_down(level, &walker)?;
        }
    }
    let most = call.int(10).map_or(usize::MAX, |k| k.max(0) as usize);
    descent.results(most, scoring.compared, rows)
}

impl Descent {
    /// Makes depth 0 of these entities in these trees.
    fn begin<'t>(&mut self, nodes: impl Iterator<Item = (Option<&'t [u8]>, Option<&'t [u8]>)>) -> Fallible<()> {
        self.starts.push(0);
        for (tree, top) in nodes {
            let Some(top) = top else { continue };
            let tree = tree.map(|tree| named(&mut self.names, tree, &mut self.room)).transpose()?;
            let name = named(&mut self.names, top, &mut self.room)?;
            self.reach(0, tree, name, NONE)?;
        }
        Ok(())
    }

    /// The nodes of a level.
    fn level(&self, level: usize) -> std::ops::Range<usize> {
        let end = self.starts.get(level + 1).map_or(self.nodes.len(), |start| *start as usize);
        self.starts.get(level).map_or(end, |start| *start as usize)..end
    }

    /// Adds a node to the last level, which begins at `first`, or lets it come from another parent.
    fn reach(&mut self, first: u32, tree: Tree, name: NameId, from: u32) -> Fallible<()> {
        let next = self.nodes.len() as u32;
        let (place, is_new) = self.places.entry((tree, name), || next)?;
        if is_new {
            self.room.take(PER_NODE)?;
            push(&mut self.nodes, Node { tree, name, from, leads: true })?;
        } else if *place >= first && from != NONE {
            let known = self.nodes[*place as usize].from;
            let by_name = |node: u32| self.names.get(self.nodes[node as usize].name);
            if by_name(from) < by_name(known) {
                self.nodes[*place as usize].from = from;
            }
        }
        Ok(())
    }

    /// Finds the scores of a level's entities that have none yet.
    fn score(&mut self, level: usize, scoring: &mut Scoring) -> Fallible<()> {
        let mut asked: Vec<NameId> = Vec::new();
        let mut check_interrupts = check_interrupts;
        let mut work = Interruptible::new(&mut check_interrupts);
        for node in &self.nodes[self.level(level)] {
            work.step();
            if self.entities.entry(node.name, || Entity { score: None, hit: NONE })?.1 {
                asked.push(node.name);
            }
        }
        let texts: Vec<&[u8]> = asked.iter().map(|name| self.names.get(*name)).collect(); // bounded: PER_NODE
        let entities = &mut self.entities;
        scoring.of(&texts, |place, score| {
            let (entity, _) = entities.entry(asked[place], || Entity { score: None, hit: NONE })?;
            // An entity with several embeddings has the score of the nearest.
            if entity.score.is_none_or(|known| score > known) {
                entity.score = Some(score);
            }
            Ok(())
        })
    }

    fn score_of(&self, node: Node) -> Option<f64> {
        self.entities.get(&node.name).and_then(|entity| entity.score)
    }

    /// Says which nodes of a level lead on, and which are results.
    fn judge(&mut self, level: usize, rules: &Rules) -> Fallible<()> {
        let mut check_interrupts = check_interrupts;
        let mut work = Interruptible::new(&mut check_interrupts);
        let kept = self.kept(level, rules, &mut work);
        let (nodes, first) = (self.level(level), self.starts[level]);
        for place in nodes {
            work.step();
            let node = self.nodes[place];
            let Some(score) = self.score_of(node) else { continue };
            let is_kept = match kept {
                Kept::All => true,
                Kept::From(least) => score >= least,
                Kept::Best(least, last) => {
                    score > least || score == least && self.names.get(node.name) <= self.names.get(last)
                }
            };
            self.nodes[place].leads = level == 0 || is_kept && score >= rules.descend_threshold;
            if is_kept && score >= rules.threshold {
                let hit = self.entities.get(&node.name).map_or(NONE, |entity| entity.hit);
                let tree = |place: u32| self.nodes[place as usize].tree.map(|tree| self.names.get(tree));
                // On one level the first tree counts; the tree without a name comes first.
                if hit == NONE || hit >= first && tree(place as u32) < tree(hit) {
                    self.entities.entry(node.name, || Entity { score: None, hit: NONE })?.0.hit = place as u32;
                }
            }
        }
        Ok(())
    }

    fn kept(&self, level: usize, rules: &Rules, work: &mut Interruptible<'_>) -> Kept {
        let nodes = &self.nodes[self.level(level)];
        work.steps(nodes.len());
        let scores = nodes.iter().filter_map(|node| Some((self.score_of(*node)?, node.name)));
        match rules.mode {
            Mode::Collapsed => Kept::All,
            Mode::Prune => scores.map(|(score, _)| score).reduce(f64::max).map_or(Kept::All, |best| {
                let least = best - (1.0 - rules.prune_factor) * best.abs();
                Kept::From(if least.is_nan() { best } else { least })
            }),
            Mode::Beam => {
                let mut all: Vec<(f64, NameId)> = scores.collect(); // bounded: PER_NODE
                work.sort_by(&mut all, |a, b| self.better(*a, *b));
                all.dedup_by_key(|one| one.1);
                all.get(rules.beam - 1).map_or(Kept::All, |&(score, name)| Kept::Best(score, name))
            }
        }
    }

    /// Orders by score, the best first, then by name. No score is NaN.
    fn better(&self, a: (f64, NameId), b: (f64, NameId)) -> Ordering {
        let by_score = b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal);
        by_score.then_with(|| self.names.get(a.1).cmp(self.names.get(b.1)))
    }

    /// Makes the next level: the children of what leads on.
    fn go_down(&mut self, level: usize, walker: &Walker) -> Fallible<()> {
        let nodes = self.level(level);
        let first = self.nodes.len() as u32;
        self.starts.push(first);
        let mut asked: Vec<NameId> =
            self.nodes[nodes.clone()].iter().filter(|node| node.leads).map(|node| node.name).collect(); // bounded: PER_NODE
        let mut check_interrupts = check_interrupts;
        let mut work = Interruptible::new(&mut check_interrupts);
        work.sort_by(&mut asked, Ord::cmp);
        asked.dedup();
        let texts = Texts::of(&asked, &self.names, &self.room)?;
        let texts = texts.all();
        walker.relatives(&texts, 0, 1, |rows| {
            for rows in rows.chunk_by(|a, b| a.entity == b.entity && a.tree == b.tree) {
                work.steps(rows.len());
                let tree = rows[0].tree.map(|tree| named(&mut self.names, tree, &mut self.room)).transpose()?;
                let parent = named(&mut self.names, rows[0].entity, &mut self.room)?;
                // The parent may lead on in another tree only.
                let from = self.places.get(&(tree, parent)).copied().unwrap_or(NONE);
                if !nodes.contains(&(from as usize)) || !self.nodes[from as usize].leads {
                    continue;
                }
                for row in rows {
                    let name = named(&mut self.names, row.name, &mut self.room)?;
                    self.reach(first, tree, name, from)?;
                }
            }
            Ok(())
        })
    }

    /// Adds rows of the best results.
    fn results(&self, most: usize, compared: i64, rows: Rows) -> Fallible<()> {
        let depth = |place: u32| self.starts.partition_point(|start| *start <= place) - 1;
        let mut all: Vec<(f64, usize, NameId, u32)> = self
            .entities
            .iter()
            .filter(|(_, entity)| entity.hit != NONE)
            .filter_map(|(name, entity)| Some((entity.score?, depth(entity.hit), *name, entity.hit)))
            .collect(); // bounded: PER_NODE
        let mut check_interrupts = check_interrupts;
        let mut work = Interruptible::new(&mut check_interrupts);
        work.sort_by(&mut all, |a, b| {
            let by_score = b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal);
            by_score.then(a.1.cmp(&b.1)).then_with(|| self.names.get(a.2).cmp(self.names.get(b.2)))
        });
        all.truncate(most);
        for (score, depth, name, place) in all {
            work.step();
            let mut path: Vec<&[u8]> = std::iter::successors(Some(place), |place| {
                let from = self.nodes[*place as usize].from;
                (from != NONE).then_some(from)
            })
            .map(|place| self.names.get(self.nodes[place as usize].name))
            .collect(); // bounded: PER_NODE
            path.reverse();
            let tree = self.nodes[place as usize].tree.map(|tree| self.names.get(tree));
            let mut values = [
                text_datum(self.names.get(name)),
                text_datum(tree.unwrap_or_default()),
                pg_sys::Datum::from(depth as i32),
                pg_sys::Datum::from(score.to_bits()),
                text_array(&path),
                pg_sys::Datum::from(compared),
            ];
            rows.add(&mut values, &mut [false, tree.is_none(), false, false, false, false]);
            fmgr::free([values[0], values[1], values[4]]);
        }
        Ok(())
    }
}

impl Scoring<'_> {
    /// Passes the place of a name and its score to `take`; a name may have no score, or several.
    fn of(&mut self, names: &[&[u8]], mut take: impl FnMut(usize, f64) -> Fallible<()>) -> Fallible<()> {
        if names.is_empty() {
            return Ok(());
        }
        let values = [
            (pg_sys::TEXTARRAYOID, Some(text_array(names))),
            (self.vector, Some(self.embedding.datum())),
            (pg_sys::TEXTARRAYOID, self.filter),
        ];
        let mut found = Found::of(&[pg_sys::INT8OID, pg_sys::FLOAT8OID]);
        self.compared += found.run(&self.statement, Planning::Custom, &values) as i64;
        found.each(|row| match (row.long(0), row.float(1)) {
            (Some(place), Some(score)) => take(place as usize - 1, score),
            _ => Ok(()),
        })
    }
}
