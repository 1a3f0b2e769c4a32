//! Tells apart entities that share a label: a text names each of them by its path.
//!
//! Labels are not unique: a shop has three categories "Accessories". A text names an entity by its label, unless
//! another entity that the call asks about, or that is in the same entity's sentences, has the same label. Then the
//! text names it by its path in the sentence's tree ("Sports > Shoes > Accessories"). If the paths are equal too, or
//! consist of the label alone, the name follows ("Sports > Accessories (17)").

use crate::call::work_memory::Room;
use crate::error::Fallible;
use crate::methods::prefix::each_prefix;
use crate::methods::walker::Walker;
use crate::serve::labels::Labels;
use crate::serve::sink::Relative;
use pgrx::check_for_interrupts;
use std::collections::HashMap;
use std::hash::Hash;

/// What stands between the names of a path.
const SEPARATOR: &[u8] = b" > ";

/// Bytes that an entity takes while it is told apart, besides its names.
const PER_ENTITY: usize = 200;

/// A tree and an entity in it.
type Place<'a> = (Option<&'a [u8]>, &'a [u8]);

/// Which entity has a label or a path; None: several have it.
type Whose<'a, K> = HashMap<K, Option<&'a [u8]>>;

/// The paths of some entities, each in each of its trees.
#[derive(Default)]
struct Paths {
    all: Vec<Path>,
    room: Room,
}

struct Path {
    tree: Option<Vec<u8>>,
    entity: Vec<u8>,
    path: Vec<u8>,
    /// How many names it has.
    length: usize,
}

impl Paths {
    fn find(walker: &Walker, entities: &[&[u8]]) -> Fallible<Self> {
        let mut paths = Self::default();
        each_prefix(walker, entities, SEPARATOR, |tree, name, path, length| {
            paths.room.take(tree.map_or(0, <[u8]>::len) + 2 * path.len() + name.len() + PER_ENTITY)?;
            paths.all.push(Path { tree: tree.map(<[u8]>::to_vec), entity: name.to_vec(), path, length });
            Ok(())
        })?;
        Ok(paths)
    }

    fn whose(&self) -> Whose<'_, &[u8]> {
        let mut whose = HashMap::new();
        self.all.iter().for_each(|path| note(&mut whose, &path.path[..], &path.entity));
        whose
    }
}

/// What the entities of a call are called.
pub struct Alike<'a> {
    walker: &'a Walker,
    /// The labels of the call's entities.
    asked: Whose<'a, Vec<u8>>,
    /// The paths of the call's entities that share a label with another of them.
    paths: Paths,
    has_labels: bool,
}

impl<'a> Alike<'a> {
    /// Prepares a call about these entities. Errors: those of cft_context.
    pub fn of(walker: &'a Walker, names: &'a [&'a [u8]]) -> Fallible<Self> {
        let labels = Labels::of(&walker.of, names)?;
        let (mut asked, mut room) = (HashMap::new(), Room::new());
        for (n, name) in names.iter().enumerate() {
            if let Some(label) = labels.get(n) {
                room.take(2 * label.len() + PER_ENTITY)?;
                note(&mut asked, label.to_vec(), name);
            }
        }
        let is_shared = |n: &usize| labels.get(*n).is_some_and(|label| asked.get(label) == Some(&None));
        let shared: Vec<&[u8]> = (0..names.len()).filter(is_shared).map(|n| names[n]).collect();
        let paths = Paths::find(walker, &shared)?;
        Ok(Self { walker, asked, paths, has_labels: !labels.is_empty() })
    }

    /// Passes on the rows, entity by entity, with a path in place of a label that several entities have.
    pub fn tell_apart(
        &self,
        rows: &[Relative<'_>],
        mut take: impl FnMut(&[Relative<'_>]) -> Fallible<()>,
    ) -> Fallible<()> {
        if !self.has_labels {
            return take(rows);
        }
        let asked = self.paths.whose();
        rows.chunk_by(|a, b| a.entity == b.entity).try_for_each(|rows| {
            check_for_interrupts!();
            self.tell_one(rows, &asked, &mut take)
        })
    }

    /// Does the work of [`Alike::tell_apart`] for the rows of one entity.
    fn tell_one(
        &self,
        rows: &[Relative<'_>],
        paths_asked: &Whose<'_, &[u8]>,
        take: &mut impl FnMut(&[Relative<'_>]) -> Fallible<()>,
    ) -> Fallible<()> {
        Room::new().take(rows.len() * PER_ENTITY)?;
        let mut here = HashMap::new();
        rows.iter().for_each(|row| row.label.into_iter().for_each(|label| note(&mut here, label, row.name)));
        let is_shared = |label: Option<&[u8]>| {
            label.is_some_and(|label| are_several(here.get(label).copied(), self.asked.get(label).copied()))
        };
        let shared = rows.iter().filter(|row| is_shared(row.label)).map(|row| row.name);
        let own = rows.iter().take(1).filter(|row| is_shared(row.entity_label)).map(|row| row.entity);
        let mut shared: Vec<&[u8]> = own.chain(shared).collect();
        if shared.is_empty() {
            return take(rows);
        }
        shared.sort_unstable();
        shared.dedup();
        let paths = Paths::find(self.walker, &shared)?;
        let whose = paths.whose();
        let mut called: HashMap<Place<'_>, Vec<u8>> = HashMap::new();
        for Path { tree, entity, path, length } in &paths.all {
            let is_unclear =
                *length == 1 || are_several(whose.get(&path[..]).copied(), paths_asked.get(&path[..]).copied());
            let behind = if is_unclear { [b" (", &entity[..], b")"].concat() } else { Vec::new() };
            called.insert((tree.as_deref(), entity), [&path[..], &behind].concat());
        }
        let path =
            |tree, name, label| if is_shared(label) { called.get(&(tree, name)).map(Vec::as_slice) } else { None };
        let mut told = rows.to_vec();
        for row in &mut told {
            row.label = path(row.tree, row.name, row.label).or(row.label);
            row.entity_label = path(row.tree, row.entity, row.entity_label).or(row.entity_label);
        }
        take(&told)
    }
}

/// Notes that an entity has a label, or a path.
fn note<'n, K: Eq + Hash>(of: &mut Whose<'n, K>, key: K, name: &'n [u8]) {
    of.entry(key).and_modify(|known| *known = known.filter(|known| *known == name)).or_insert(Some(name));
}

/// Whether several entities have a label or a path, given what two maps say of it.
fn are_several(one: Option<Option<&[u8]>>, other: Option<Option<&[u8]>>) -> bool {
    match (one, other) {
        (Some(None), _) | (_, Some(None)) => true,
        (Some(one), Some(other)) => one != other,
        _ => false,
    }
}
