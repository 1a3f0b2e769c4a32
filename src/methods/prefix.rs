//! cft_path_prefix: the path from the top of a tree to an entity (TreeRAG's Tree-Chunking).
//!
//! Runs two walks for some entities at a time: one for all that is above them, one for which of those have a parent.
//! What is kept between the two is within cftrag.work_memory. Where there are more levels than a walk takes, ways.rs
//! finds the way.

use crate::call::fmgr;
use crate::call::fmgr::{Call, Rows, text_array, text_datum, text_value};
use crate::call::work_memory::Room;
use crate::error;
use crate::error::Fallible;
use crate::methods::big_map::{Map, Set};
use crate::methods::breadth_first::{Tree, named, push};
use crate::methods::graph::Graph;
use crate::methods::walker::{ALL, Walker};
use crate::methods::ways::Ways;
use crate::pg::interrupt::check_interrupts;
use crate::serve::answer::{reads_as_array, refuse_array};
use crate::serve::labels::Labels;
use cftrag_core::{Interruptible, NameId, Names};
use pgrx::prelude::*;
use pgrx::{Internal, check_for_interrupts};
use std::cmp::Reverse;

/// The number of entities in the first two walks. The next constant is the number of ancestors that later walks should
/// find together: some megabytes, in few calls.
const FIRST: usize = 256;

const ANCESTORS: usize = 1 << 18;

/// Bytes that a name takes besides itself, as measured.
const PER_NAME: usize = 130;

/// `cft_path_prefix(entities text[], edges regclass, trees text[], separator text) -> table(entity, tree, path text[],
/// prefix text)`
///
/// The path begins at the nearest entity above that has no parent; ties go to the smallest by bytes. In a cycle without
/// such an entity, it begins at the farthest above. It is the shortest path; ties go to the one whose names are the
/// smallest from the top down. Errors: those of cft_context; 53400.
#[pg_extern(sql = false)]
fn cft_path_prefix(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let Some(entities) = call.names(0)? else { return Ok(()) };
    let walker = Walker { trees: call.array(2), ..Walker::of(&call, 1)? };
    each_place(&walker, &entities, ALL, |places, place, under, called| {
        places.write(place, under, called, call.text(3), rows);
        Ok(())
    })
}

/// Entities that have a parent, each with the tree where it has one.
type Under = Set<(Tree, NameId)>;

/// The labels of entities.
type Called = Map<NameId, Vec<u8>>;

/// Calls `each` for each place of the entities, in their order. Reads that many levels above them, and where these are
/// `ALL`, whole paths.
fn each_place(
    walker: &Walker,
    entities: &[&[u8]],
    levels: i32,
    mut each: impl FnMut(&Places, &Place, &Under, &Called) -> Fallible<()>,
) -> Fallible<()> {
    let (mut left, mut size) = (entities, FIRST);
    while !left.is_empty() {
        let (some, others) = left.split_at(size.min(left.len()));
        let mut places = Places::above(walker, some, levels)?;
        if levels == ALL {
            places.go_further(walker)?;
        }
        let under = places.under(walker)?;
        let called = places.called(walker)?;
        for place in &places.list {
            check_for_interrupts!();
            each(&places, place, &under, &called)?;
        }
        let found = places.list.iter().map(|place| place.above.len() + place.whole.len()).sum::<usize>();
        size = (ANCESTORS * some.len() / (found + some.len())).max(1);
        left = others;
    }
    Ok(())
}

/// Calls `each` with each entity's tree, name and prefix, and how many names the path has, in each of its trees. The
/// prefix of an entity with more than `levels` levels above it is what it is called itself.
pub fn each_prefix(
    walker: &Walker,
    entities: &[&[u8]],
    levels: i32,
    separator: &[u8],
    mut each: impl FnMut(Option<&[u8]>, &[u8], Vec<u8>, usize) -> Fallible<()>,
) -> Fallible<()> {
    each_place(walker, entities, levels, |places, place, under, called| {
        let name = |id| places.names.get(id);
        let is_top = |above: &Above| !under.contains(&(place.tree, above.name));
        let ends = place.above.iter().all(|above| above.depth < levels) || place.above.iter().any(is_top);
        let path = if ends { places.path(place, under) } else { vec![place.entity] };
        each(place.tree.map(name), name(place.entity), places.prefix(&path, called, separator), path.len())
    })
}

/// Calls `each` with each entity that is there, its first tree, and the entities on the path to it with what they are
/// called. The path of an entity with more than `levels` levels above it is that entity.
pub fn first_paths(
    walker: &Walker,
    entities: &[&[u8]],
    levels: i32,
    mut each: impl FnMut(&[u8], Option<&[u8]>, &[(&[u8], &[u8])]) -> Fallible<()>,
) -> Fallible<()> {
    let mut last = None;
    each_place(walker, entities, levels, |places, place, under, called| {
        if last.replace(place.entity) == Some(place.entity) {
            return Ok(());
        }
        let ends = place.above.iter().all(|above| above.depth < levels);
        let path = if ends { places.path(place, under) } else { vec![place.entity] };
        let name = |id| places.names.get(id);
        let both = |id: &NameId| (name(*id), called.get(id).map_or(name(*id), Vec::as_slice));
        each(name(place.entity), place.tree.map(name), &path.iter().map(both).collect::<Vec<_>>())
    })
}

/// `cft_path_prefix(entity text, edges regclass, trees text[], separator text) -> text`: the prefix in the entity's
/// first tree, of all or of these; NULL if it is in none.
#[pg_extern(sql = false)]
fn cft_path_prefix_one(call: Call) -> Fallible<Internal> {
    let Some(name) = call.text(0) else { return Ok(Internal::from(None)) };
    let walker = Walker { trees: call.array(2), ..Walker::of(&call, 1)? };
    if reads_as_array(name) && call.is_given_text(0) {
        refuse_array(&walker.of, name, Some("entities"))?;
    }
    let mut places = Places::above(&walker, &[name], ALL)?;
    places.go_further(&walker)?;
    let under = places.under(&walker)?;
    let (Some(first), Some(separator)) = (places.list.first(), call.text(3)) else { return Ok(Internal::from(None)) };
    let called = places.called(&walker)?;
    let prefix = places.prefix(&places.path(first, &under), &called, separator);
    text_value(&prefix).map(|prefix| Internal::from(Some(prefix)))
}

#[derive(Default)]
struct Places {
    names: Names,
    /// Each entity in each of its trees, in the order of the rows.
    pub list: Vec<Place>,
}

/// An entity in a tree.
pub struct Place {
    entity: NameId,
    tree: Tree,
    above: Vec<Above>,
    /// The whole path, if it has more levels than a walk takes.
    whole: Vec<NameId>,
}

#[derive(Clone, Copy)]
struct Above {
    name: NameId,
    via: NameId,
    depth: i32,
}

impl Places {
    /// Finds what is above the entities, as far as that many levels.
    fn above(walker: &Walker, entities: &[&[u8]], levels: i32) -> Fallible<Places> {
        let mut places = Places::default();
        let mut room = Room::new();
        walker.relatives_and_own(entities, levels, 1, |rows| {
            for rows in rows.chunk_by(|a, b| a.entity == b.entity && a.tree == b.tree) {
                let names = &mut places.names;
                let known = names.len();
                let mut bytes = 0;
                let mut take = |name: &[u8]| {
                    bytes += 2 * name.len();
                    names.try_id(name).ok_or_else(|| error::no_memory_to_work(2 * names.bytes()))
                };
                let (entity, tree) = (take(rows[0].entity)?, rows[0].tree.map(&mut take).transpose()?);
                let above = rows.iter().filter(|row| row.ancestor && row.depth > 0);
                let above = above
                    .map(|row| Ok(Above { name: take(row.name)?, via: take(row.via)?, depth: row.depth }))
                    .collect::<Fallible<Vec<_>>>()?;
                let new = names.len() - known;
                let names = if new == 0 { 0 } else { bytes + new * PER_NAME };
                room.take(names + size_of::<Place>() + above.len() * size_of::<Above>())?;
                places.list.push(Place { entity, tree, above, whole: Vec::new() });
            }
            Ok(())
        })?;
        Ok(places)
    }

    /// Finds the whole way for entities with more levels above them than a walk takes.
    fn go_further(&mut self, walker: &Walker) -> Fallible<()> {
        let is_deep = |place: &&Place| place.above.iter().any(|above| above.depth >= ALL);
        let deep: Set<NameId> = self.list.iter().filter(is_deep).map(|place| place.entity).collect();
        if deep.is_empty() {
            return Ok(());
        }
        let entities: Vec<&[u8]> = deep.iter().map(|&entity| self.names.get(entity)).collect();
        let mut check_interrupts = check_interrupts;
        let work = &mut Interruptible::new(&mut check_interrupts);
        let mut graph = Graph::around(walker, &entities)?;
        let nodes = graph.first_nodes(entities.len(), work)?;
        let ways = Ways::to(&mut graph, nodes.iter().copied(), work)?;
        let (mut whole, mut room) = (Map::<(Tree, NameId), Vec<NameId>>::default(), Room::new());
        for node in nodes {
            let mut names = Vec::new();
            for id in ways.way_to(&graph, node, work)? {
                work.step();
                room.take(size_of::<NameId>())?;
                push(&mut names, named(&mut self.names, graph.name(id), &mut room)?)?;
            }
            let (tree, _) = graph.node(node);
            let tree = tree.map(|tree| self.names.id(graph.names.get(tree)));
            whole.insert((tree, self.names.id(graph.name(node))), names);
        }
        for place in self.list.iter_mut().filter(|place| deep.contains(&place.entity)) {
            place.above = Vec::new();
            place.whole = whole.remove(&(place.tree, place.entity)).unwrap_or_default();
        }
        Ok(())
    }

    /// The entities above that have a parent other than themselves.
    fn under(&mut self, walker: &Walker) -> Fallible<Under> {
        let above: Set<NameId> = self.list.iter().flat_map(|place| &place.above).map(|above| above.name).collect();
        let names: Vec<Vec<u8>> = above.into_iter().map(|name| self.names.get(name).to_vec()).collect();
        let names: Vec<&[u8]> = names.iter().map(|name| &**name).collect();
        let mut under = Set::default();
        walker.relatives(&names, 1, 0, |rows| {
            for row in rows {
                under.insert((row.tree.map(|tree| self.names.id(tree)), self.names.id(row.entity)));
            }
            Ok(())
        })?;
        Ok(under)
    }

    /// The names from the top to the entity.
    fn path(&self, place: &Place, under: &Under) -> Vec<NameId> {
        if !place.whole.is_empty() {
            return place.whole.clone();
        }
        let top = place.above.iter().min_by_key(|above| {
            let has_parent = under.contains(&(place.tree, above.name));
            let far = if has_parent { Err(Reverse(above.depth)) } else { Ok(above.depth) };
            (has_parent, far, self.names.get(above.name))
        });
        let via: Map<NameId, NameId> = place.above.iter().map(|above| (above.name, above.via)).collect();
        let way = std::iter::successors(top.map(|top| top.name), |name| via.get(name).copied());
        // Ends at the entity itself, which has nothing below it.
        let mut path: Vec<NameId> = way.take_while(|&name| name != place.entity).collect();
        path.push(place.entity);
        path
    }

    /// The labels of all these entities; empty if the table has none.
    fn called(&self, walker: &Walker) -> Fallible<Called> {
        let mut called = Map::default();
        let of_place = |place: &Place| {
            let above = place.above.iter().map(|above| above.name);
            [place.entity].into_iter().chain(above).chain(place.whole.iter().copied()).collect::<Vec<_>>()
        };
        let mut all: Vec<NameId> = self.list.iter().flat_map(of_place).collect();
        all.sort_unstable();
        all.dedup();
        let names: Vec<&[u8]> = all.iter().map(|name| self.names.get(*name)).collect();
        let labels = Labels::of(&walker.of, &names)?;
        for (n, name) in all.into_iter().enumerate() {
            called.extend(labels.get(n).map(|label| (name, label.to_vec())));
        }
        Ok(called)
    }

    /// The labels of a path, or names where there is none.
    fn prefix(&self, path: &[NameId], called: &Called, separator: &[u8]) -> Vec<u8> {
        let of = |name: &NameId| called.get(name).map_or(self.names.get(*name), Vec::as_slice);
        path.iter().map(of).collect::<Vec<_>>().join(separator)
    }

    fn write(&self, place: &Place, under: &Under, called: &Called, separator: Option<&[u8]>, rows: Rows) {
        let path = self.path(place, under);
        let tree = place.tree.map(|tree| self.names.get(tree)).unwrap_or_default();
        let prefix = separator.map(|separator| self.prefix(&path, called, separator));
        let path: Vec<&[u8]> = path.iter().map(|name| self.names.get(*name)).collect();
        let mut values = [
            text_datum(self.names.get(place.entity)),
            text_datum(tree),
            text_array(&path),
            text_datum(prefix.as_deref().unwrap_or_default()),
        ];
        rows.add(&mut values, &mut [false, place.tree.is_none(), false, prefix.is_none()]);
        fmgr::free(values);
    }
}
