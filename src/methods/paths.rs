//! Neighbours of an entity and shortest paths between two (Tree-KG's hops, Apache AGE's shortest path): within one
//! tree, along edges in either direction.

use crate::call::fmgr;
use crate::call::fmgr::{Call, Rows, text_array, text_array_of, text_datum};
use crate::call::tuple;
use crate::call::tuple::Row;
use crate::call::work_memory::{Bytes, Room};
use crate::error;
use crate::error::Fallible;
use crate::methods::breadth_first;
use crate::methods::breadth_first::{DOWN, Paths, Side, Tree, UP};
use crate::methods::namesakes::{NamedEntities, Namesakes};
use crate::methods::walker::{ALL, Walker};
use crate::pg::interrupt::{ROWS_BETWEEN_CHECKS, check_interrupts};
use crate::serve::labels::{KeptLabels, Labels};
use cftrag_core::{Interruptible, NameId, Names};
use pgrx::check_for_interrupts;
use pgrx::prelude::*;

/// The most entities in all shortest paths of a call: some hundred megabytes of rows. Their number can be exponential
/// in the length.
const MOST_ENTITIES: u64 = 10_000_000;

/// Bytes that an entity of a sentence takes, besides its name and label.
const PER_STEP: usize = 120;

/// Steps that a path counts as when it is said.
const PER_PATH: usize = 64;

/// `cft_neighbors(entity text, hops int, direction text, edges regclass) -> table(tree, hops, neighbor, via, label)`
///
/// Returns the entities within that many steps, each with its distance, in each tree. `via` is the smallest neighbour
/// one step nearer that leads to it. With direction up or down the answer is cft_context's. Errors: 22023 (direction,
/// hops); 53400 (cftrag.work_memory); those of cft_context.
#[pg_extern(sql = false)]
fn cft_neighbors(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let (Some(entity), Some(hops), Some(direction)) = (call.text(0), call.int(1), call.text(2)) else { return Ok(()) };
    check_hops("max_hops", hops)?;
    let walker = Walker::of(&call, 3)?;
    walker.refuse_arrays(&call, &[0])?;
    let ways = match direction {
        b"up" => UP,
        b"down" => DOWN,
        b"both" => UP | DOWN,
        other => return Err(error::bad_direction(other)),
    };
    let (up, down) = match ways {
        UP if hops <= ALL => (hops, 0),
        DOWN if hops <= ALL => (0, hops),
        _ => {
            return around(&walker, entity, hops, ways, rows);
        }
    };
    walker.relatives(&[entity], up, down, |relatives| {
        add_neighbors(&walker, rows, relatives, |row| (row.tree, row.depth, row.name, row.via))
    })
}

fn around(walker: &Walker, entity: &[u8], hops: i32, ways: u8, rows: Rows) -> Fallible<()> {
    let (mut names, mut room) = (Names::default(), Room::new());
    let mut side = Side::new(breadth_first::named(&mut names, entity, &mut room)?, ways);
    for _ in 0..hops {
        side.expand(walker, &mut names, &mut room)?;
        if side.is_at_end() {
            break;
        }
    }
    let name = |id: NameId| names.get(id);
    room.spare(side.found.len() * size_of::<usize>() * 2)?;
    let mut check_interrupts = check_interrupts;
    let mut work = Interruptible::new(&mut check_interrupts);
    let mut found = Vec::with_capacity(side.found.len());
    for entry in side.found.iter() {
        work.step();
        found.extend((entry.1.depth > 0).then_some(entry));
    }
    let key = |(tree, entity): (Tree, NameId), depth: u32| (tree.map(name), depth, name(entity));
    work.sort_with(&mut found, |a, b, work| {
        let (a, b) = (key(*a.0, a.1.depth), key(*b.0, b.1.depth));
        work.compare_some(a.0, b.0).then_with(|| a.1.cmp(&b.1)).then_with(|| work.compare(a.2, b.2))
    });
    add_neighbors(walker, rows, &found, |&(&(tree, neighbor), found)| {
        let via = side.before(*found).map(|before| name(before.0)).min().unwrap_or_default();
        (tree.map(name), found.depth as i32, name(neighbor), via)
    })
}

/// Adds a row for each of `found`; `row` gives its tree, hops, neighbor and via.
fn add_neighbors<'a, T>(
    walker: &Walker,
    rows: Rows,
    found: &[T],
    row: impl Fn(&T) -> (Option<&'a [u8]>, i32, &'a [u8], &'a [u8]),
) -> Fallible<()> {
    for found in found.chunks(ROWS_BETWEEN_CHECKS) {
        check_for_interrupts!();
        let neighbors: Vec<&[u8]> = found.iter().map(|found| row(found).2).collect();
        let labels = Labels::of(&walker.of, &neighbors)?;
        let found: Vec<(usize, &T)> = found.iter().enumerate().collect();
        tuple::add_all(rows, &found, |&(n, found), to: &mut Row<5>| {
            let (tree, hops, neighbor, via) = row(found);
            match tree {
                Some(tree) => to.text(tree),
                None => to.null(),
            }
            to.int(hops);
            to.text(neighbor);
            to.text(via);
            to.any(labels.get(n));
        });
    }
    Ok(())
}

/// `cft_path(a text, b text, max_hops int, edges regclass) -> table(tree, hops, path text[], steps text[], labels
/// text[])`
///
/// Returns all shortest paths in each tree, ordered by the bytes of their entities. `steps[i]` leads from `path[i]` to
/// `path[i + 1]`: up (to a parent), down, or both (each is the other's parent). Errors: 22023 (max_hops); 54000 (too
/// many paths); 53400 (cftrag.work_memory); those of cft_context.
#[pg_extern(sql = false)]
fn cft_path(call: Call) -> Fallible<()> {
    let (rows, mut kept) = (call.rows(), KeptLabels::default());
    let Some(asked) = PathRequest::of(&call)? else { return Ok(()) };
    each_path(&asked, MOST_ENTITIES, |names, paths, path| {
        let entities: Vec<_> = path.iter().map(|(entity, _)| names.get(*entity)).collect();
        let steps: Vec<_> = path[1..].iter().map(|(_, steps)| step_name(*steps).as_bytes()).collect();
        let tree = paths.tree.map(|tree| names.get(tree));
        let mut values = [
            text_datum(tree.unwrap_or_default()),
            pg_sys::Datum::from(paths.hops),
            text_array(&entities),
            text_array(&steps),
            pg_sys::Datum::from(0usize),
        ];
        let labels = kept.of(&asked.walker.of, &entities)?;
        let has_labels = !labels.is_empty();
        if has_labels {
            values[4] = text_array_of((0..entities.len()).map(|n| labels.get(n)));
        }
        rows.add(&mut values, &mut [tree.is_none(), false, false, false, !has_labels]);
        if has_labels {
            fmgr::free([values[4]]);
        }
        // Free the values: all paths may not fit into memory, while the rows may be on disk.
        fmgr::free([0, 2, 3].map(|n| values[n]));
        Ok(true)
    })
}

fn step_name(steps: u8) -> &'static str {
    match steps {
        UP => "up",
        DOWN => "down",
        _ => "both",
    }
}

/// `cft_explain_path(a text, b text, max_hops int, edges regclass) -> text`
///
/// Returns the first shortest path of each tree as a sentence; NULL if there is none. Entities that share a label are
/// told apart as in cft_context_text. Equal data give equal bytes.
/// Errors: those of cft_path.
#[pg_extern(sql = false)]
fn cft_explain_path(call: Call) -> Fallible<Option<Vec<u8>>> {
    let Some(mut asked) = PathRequest::of(&call)? else { return Ok(None) };
    let (mut paths, mut kept, mut named, mut room) =
        (Vec::new(), KeptLabels::default(), NamedEntities::default(), Room::new());
    each_path(&asked, u64::MAX, |names, of, path| {
        let entities: Vec<_> = path.iter().map(|(entity, _)| names.get(*entity)).collect();
        let labels = kept.of(&asked.walker.of, &entities)?;
        named.note_tree(of.tree.map(|tree| names.get(tree)))?;
        let mut steps = Vec::with_capacity(path.len());
        for (n, (entity, (_, way))) in entities.iter().zip(path).enumerate() {
            let label = labels.get(n);
            room.take(entity.len() + label.map_or(0, <[u8]>::len) + PER_STEP)?;
            named.note(label.unwrap_or(entity), entity)?;
            steps.push(Step { entity: entity.to_vec(), label: label.map(<[u8]>::to_vec), way: *way });
        }
        paths.push((of.tree.map(|tree| names.get(tree).to_vec()), steps));
        Ok(false)
    })?;
    let namesakes = named.tell_apart(&mut asked.walker)?;
    let (mut said, is_one) = (Bytes::default(), paths.len() == 1);
    let mut check_interrupts = check_interrupts;
    let work = &mut Interruptible::new(&mut check_interrupts);
    for (tree, steps) in paths {
        work.steps(PER_PATH);
        let tree = tree.as_deref();
        let sentence = sentence(steps.iter().map(|step| (step.called(tree, &namesakes), step.way)));
        let place: [&[u8]; 3] = match tree {
            _ if is_one => [b"", b"", b""],
            None => [b"In the tree without a name, ", b"", b""],
            Some(tree) => [b"In the tree ", tree, b", "],
        };
        let between: &[u8] = if said.0.is_empty() { b"" } else { b"\n" };
        let parts = [between, place[0], place[1], place[2], &sentence];
        said.room(parts.iter().map(|part| part.len()).sum())?;
        parts.iter().for_each(|part| said.0.extend_from_slice(part));
    }
    Ok((!said.0.is_empty()).then_some(said.0))
}

/// An entity of a path, and the step that leads to it.
struct Step {
    entity: Vec<u8>,
    label: Option<Vec<u8>>,
    way: u8,
}

impl Step {
    fn called<'a>(&'a self, tree: Option<&[u8]>, namesakes: &'a Namesakes) -> &'a [u8] {
        namesakes.called(tree, &self.entity).or(self.label.as_deref()).unwrap_or(&self.entity)
    }
}

/// "A is under B, which is above C."
fn sentence<'n>(path: impl Iterator<Item = (&'n [u8], u8)>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut steps_taken = 0;
    for (i, (entity, steps)) in path.enumerate() {
        match i {
            0 => {}
            1 => out.extend_from_slice(b" is "),
            _ => out.extend_from_slice(b", which is "),
        }
        if i > 0 {
            out.extend_from_slice(match steps {
                UP => b"under ",
                DOWN => b"above ",
                _ => b"under and above ",
            });
        }
        out.extend_from_slice(entity);
        steps_taken = i;
    }
    out.extend_from_slice(if steps_taken == 0 { b" is the same entity." } else { b"." });
    out
}

/// What a call (a, b, max_hops, edges) asks for.
struct PathRequest<'a> {
    walker: Walker<'a>,
    a: &'a [u8],
    b: &'a [u8],
    most: u32,
}

impl<'a> PathRequest<'a> {
    /// None if an entity or the number of hops is NULL. Errors: 22023 (max_hops); those of cft_context.
    fn of(call: &'a Call) -> Fallible<Option<Self>> {
        let (Some(a), Some(b), Some(most)) = (call.text(0), call.text(1), call.int(2)) else { return Ok(None) };
        check_hops("max_hops", most)?;
        let walker = Walker::of(call, 3)?;
        walker.refuse_arrays(call, &[0, 1])?;
        Ok(Some(Self { walker, a, b, most: most as u32 }))
    }
}

/// Passes each shortest path to `take`, trees and paths in order. `take` returns whether it wants another path of this
/// tree. A path is its entities, each with the step that leads to it. Error: 54000 if all paths together have more than
/// `most_entities`.
fn each_path(
    asked: &PathRequest<'_>,
    most_entities: u64,
    mut take: impl FnMut(&Names, &Paths, &[(NameId, u8)]) -> Fallible<bool>,
) -> Fallible<()> {
    let mut names = Names::default();
    let mut room = Room::new();
    let a = breadth_first::named(&mut names, asked.a, &mut room)?;
    let b = breadth_first::named(&mut names, asked.b, &mut room)?;
    let mut shortest = breadth_first::shortest(&asked.walker, &mut names, a, b, asked.most)?;
    let mut check_interrupts = check_interrupts;
    let work = &mut Interruptible::new(&mut check_interrupts);
    let mut trees = std::mem::take(&mut shortest.trees);
    let of = |paths: &breadth_first::Paths| paths.tree.map(|tree| names.get(tree));
    work.sort_with(&mut trees, |a, b, work| work.compare_some(of(a), of(b)));
    let (mut count, mut entities) = (0_u64, 0_u64);
    for paths in &trees {
        let of_tree = shortest.count(paths, a, work);
        count = count.saturating_add(of_tree);
        entities = entities.saturating_add(of_tree.saturating_mul(u64::from(paths.hops) + 1));
    }
    if entities > most_entities {
        return Err(error::too_many_paths(count, most_entities));
    }
    for paths in &trees {
        // The choices left at each entity of the path.
        let mut path = vec![(a, 0)];
        let mut left = vec![shortest.next(paths, a)];
        loop {
            check_for_interrupts!();
            if path.len() == paths.hops as usize + 1 && !take(&names, paths, &path)? {
                break;
            }
            while left.last().is_some_and(|next| next.is_empty()) {
                left.pop();
                path.pop();
            }
            let Some(next) = left.last_mut() else { break };
            let step = next[0];
            path.push((step.to, step.steps));
            *next = &next[1..];
            left.push(shortest.next(paths, step.to));
        }
    }
    Ok(())
}

fn check_hops(argument: &str, value: i32) -> Fallible<()> {
    if value >= 0 { Ok(()) } else { Err(error::negative(argument, value)) }
}
