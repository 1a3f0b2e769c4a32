//! Orders entities as in a document whose headings are a forest: by tree, an entity before those below it, and siblings
//! by position, if the table has a column of positions, then by name. Numbers in names count as numbers ("3.10" is
//! after "3.2").

use crate::call::work_memory::Room;
use crate::error::Fallible;
use crate::methods::big_map::Table;
use crate::methods::breadth_first::{Tree, push};
use crate::methods::graph::{Graph, NONE};
use crate::serve::siblings;
use crate::serve::sink::Sibling;
use cftrag_core::{Interruptible, NameId};
use std::cmp::Ordering;

/// The most bytes that a step takes.
const PER_STEP: usize = 120;

/// Bytes that a step takes while its position is found.
const PER_SIBLING: usize = size_of::<Sibling<'_>>() + 32;

/// Paths that have beginnings in common, as a tree of steps: the first step of each is a tree of the forest, the others
/// are names.
#[derive(Default)]
pub struct Paths {
    steps: Vec<Step>,
    ids: Table<Step, u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Step {
    before: u32,
    name: Option<NameId>,
}

impl Paths {
    /// The empty path in a tree.
    pub fn in_tree(&mut self, tree: Tree, room: &mut Room) -> Fallible<u32> {
        self.step(Step { before: NONE, name: tree }, room)
    }

    /// A path extended by one name.
    pub fn then(&mut self, before: u32, name: NameId, room: &mut Room) -> Fallible<u32> {
        self.step(Step { before, name: Some(name) }, room)
    }

    fn step(&mut self, step: Step, room: &mut Room) -> Fallible<u32> {
        let next = self.steps.len() as u32;
        let (id, is_new) = self.ids.entry(step, || next)?;
        let id = *id;
        if is_new {
            room.take(PER_STEP)?;
            push(&mut self.steps, step)?;
        }
        Ok(id)
    }

    /// The names of a path, from the top.
    pub fn names<'g>(&self, path: u32, graph: &'g Graph<'_>) -> Vec<&'g [u8]> {
        let step = |path: u32| self.steps.get(path as usize).filter(|step| step.before != NONE);
        let names = std::iter::successors(step(path), |of| step(of.before)).filter_map(|step| step.name);
        let mut names: Vec<&[u8]> = names.map(|name| graph.names.get(name)).collect();
        names.reverse();
        names
    }

    /// The place of each path in the order of the document.
    pub fn places(&self, graph: &Graph<'_>, work: &mut Interruptible<'_>) -> Fallible<Vec<u32>> {
        let positions = self.positions(graph)?;
        let text = |step: Step| step.name.map(|name| graph.names.get(name));
        let position = |path: u32| positions.get(path as usize);
        let mut all: Vec<u32> = Vec::new();
        (0..self.steps.len() as u32).try_for_each(|path| push(&mut all, path))?;
        // Steps that follow the same step stand together.
        work.sort_with(&mut all, |a, b, work| {
            let (one, other) = (self.steps[*a as usize], self.steps[*b as usize]);
            let of_tree = one.before == NONE;
            one.before.cmp(&other.before).then_with(|| match (of_tree, text(one), text(other)) {
                (false, Some(one), Some(other)) => {
                    work.steps(one.len() / 64);
                    position(*a).cmp(&position(*b)).then_with(|| natural(one, other)).then_with(|| one.cmp(other))
                }
                (_, one, other) => work.compare_some(one, other),
            })
        });
        let start = |path: u32| all.partition_point(|next| self.steps[*next as usize].before < path);
        let (mut places, mut place) = (Vec::new(), 0);
        (0..self.steps.len()).try_for_each(|_| push(&mut places, 0))?;
        // Each entry has a step whose followers get their places now, and the next of these.
        let mut stack = vec![(NONE, start(NONE))];
        while let Some((before, at)) = stack.last_mut() {
            work.step();
            match all.get(*at).filter(|next| self.steps[**next as usize].before == *before) {
                Some(&next) => {
                    *at += 1;
                    places[next as usize] = place;
                    place += 1;
                    push(&mut stack, (next, start(next)))?;
                }
                None => {
                    stack.pop();
                }
            }
        }
        Ok(places)
    }

    /// The position of each step below the one before it; empty if the table has no column of positions.
    fn positions(&self, graph: &Graph<'_>) -> Fallible<Vec<i64>> {
        let of = &graph.walker.of;
        if of.registration.names.position.is_none() {
            return Ok(Vec::new());
        }
        let name = |name: Option<NameId>| name.map(|name| graph.names.get(name));
        Room::new().take(self.steps.len() * PER_SIBLING)?;
        // The step that has the tree.
        let (mut tops, mut siblings) = (Vec::new(), Vec::new());
        for (n, step) in self.steps.iter().enumerate() {
            let before = self.steps.get(step.before as usize);
            let top = before.map_or(n, |_| tops[step.before as usize]);
            push(&mut tops, top)?;
            let parent = before.filter(|before| before.before != NONE);
            let parent = parent.and_then(|parent| name(parent.name));
            let tree = name(self.steps[top].name);
            push(&mut siblings, Sibling { name: name(step.name).unwrap_or_default(), tree, parent })?;
        }
        Ok(siblings::places(of, &siblings)?.unwrap_or_default())
    }
}

/// Compares two names by bytes, but runs of digits as numbers.
fn natural(a: &[u8], b: &[u8]) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let (Some(one), Some(other)) = (a.first(), b.first()) else { return a.len().cmp(&b.len()) };
        if one.is_ascii_digit() && other.is_ascii_digit() {
            let ((number, left), (other, right)) = (number(a), number(b));
            let order = number.len().cmp(&other.len()).then_with(|| number.cmp(other));
            if order.is_ne() {
                return order;
            }
            (a, b) = (left, right);
        } else if one != other {
            return one.cmp(other);
        } else {
            (a, b) = (&a[1..], &b[1..]);
        }
    }
}

/// Splits a text behind the digits that it begins with; leading zeros are dropped.
fn number(text: &[u8]) -> (&[u8], &[u8]) {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let zeros = text[..digits].iter().take_while(|byte| **byte == b'0').count();
    (&text[zeros..digits], &text[digits..])
}
