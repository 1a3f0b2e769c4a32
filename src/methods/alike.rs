//! Tells apart entities that share a label: a text names each of them by its path.
//!
//! Labels are not unique: a shop has three categories "Accessories". A text names an entity by its label, unless
//! another entity that the call asks about, or that is in the same entity's sentences, has the same label. Then the
//! text names it by its path in the sentence's tree ("Sports > Shoes > Accessories"). If the paths are equal too, are
//! others' labels, or consist of the label alone, the name follows ("Sports > Accessories (17)").

use crate::call::work_memory::Room;
use crate::catalog::attached_table::AttachedTable;
use crate::error::Fallible;
use crate::methods::prefix::each_prefix;
use crate::methods::walker::Walker;
use crate::pg::interrupt::check_interrupts;
use crate::serve::labels::Labels;
use crate::serve::sink::Relative;
use crate::serve::within;
use cftrag_core::Interruptible;
use pgrx::check_for_interrupts;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::rc::Rc;

/// What stands between the names of a path.
const SEPARATOR: &[u8] = b" > ";

/// Bytes that an entity takes while it is told apart, besides its names.
const PER_ENTITY: usize = 200;

/// The paths of this many entities are kept for the entities asked about next, which may have the same relatives.
const KEPT: usize = 10_000;

/// A tree and an entity in it.
type Place<'a> = (Option<&'a [u8]>, &'a [u8]);

/// Which entity has a label or a path; None: several have it.
type Whose<'a, K> = HashMap<K, Option<&'a [u8]>>;

/// The paths of an entity, one in each of its trees.
type Paths = Rc<Vec<Path>>;

struct Path {
    tree: Option<Vec<u8>>,
    path: Vec<u8>,
    /// How many names it has.
    length: usize,
}

/// Finds the paths of some entities, and remembers them.
struct Known<'a> {
    walker: &'a Walker,
    of: HashMap<Vec<u8>, Paths>,
    room: Room,
}

impl Known<'_> {
    /// The paths of these entities, in their order.
    fn paths(&mut self, entities: &[&[u8]]) -> Fallible<Vec<Paths>> {
        if self.of.len() > KEPT {
            (self.of, self.room) = (HashMap::new(), Room::new());
        }
        let is_new = |entity: &&&[u8]| !self.of.contains_key(**entity);
        let new: Vec<&[u8]> = entities.iter().filter(is_new).copied().collect();
        let mut found: HashMap<&[u8], Vec<Path>> = new.iter().map(|entity| (*entity, Vec::new())).collect();
        each_prefix(self.walker, &new, SEPARATOR, |tree, name, path, length| {
            self.room.take(tree.map_or(0, <[u8]>::len) + 2 * path.len() + name.len() + PER_ENTITY)?;
            let path = Path { tree: tree.map(<[u8]>::to_vec), path, length };
            if let Some(paths) = found.get_mut(name) {
                paths.push(path);
            }
            Ok(())
        })?;
        self.of.extend(found.into_iter().map(|(entity, paths)| (entity.to_vec(), Rc::new(paths))));
        Ok(entities.iter().map(|entity| Rc::clone(&self.of[*entity])).collect())
    }
}

/// What the entities of a call are called.
pub struct Alike<'a> {
    known: RefCell<Known<'a>>,
    /// The labels of the call's entities.
    asked: Whose<'a, Vec<u8>>,
    /// The paths of the call's entities that share a label with another of them.
    paths: Whose<'a, Vec<u8>>,
    has_labels: bool,
}

impl<'a> Alike<'a> {
    /// Prepares a call about these entities. Errors: those of cft_context.
    pub fn of(walker: &'a Walker, names: &'a [&'a [u8]]) -> Fallible<Self> {
        let labels = Labels::of(&walker.of, names)?;
        let (mut asked, mut paths, mut room) = (HashMap::new(), HashMap::new(), Room::new());
        // What a table of labels calls something that is no entity does not count.
        let is_sure = labels.is_empty() || walker.of.columns.has_labels();
        let there = if is_sure { HashSet::new() } else { there(&walker.of, names)? };
        for (n, name) in names.iter().enumerate() {
            if let Some(label) = labels.get(n)
                && (is_sure || there.contains(name))
            {
                room.take(2 * label.len() + PER_ENTITY)?;
                note(&mut asked, label.to_vec(), name);
            }
        }
        let is_shared = |n: &usize| labels.get(*n).is_some_and(|label| asked.get(label) == Some(&None));
        let mut shared: Vec<&[u8]> = (0..names.len()).filter(is_shared).map(|n| names[n]).collect();
        sorted(&mut shared);
        let mut known = Known { walker, of: HashMap::new(), room: Room::new() };
        for some in shared.chunks(KEPT) {
            for (entity, found) in some.iter().zip(known.paths(some)?) {
                for path in &*found {
                    room.take(path.path.len() + PER_ENTITY)?;
                    note(&mut paths, path.path.clone(), entity);
                }
            }
        }
        Ok(Self { known: RefCell::new(known), asked, paths, has_labels: !labels.is_empty() })
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
        rows.chunk_by(|a, b| a.entity == b.entity).try_for_each(|rows| {
            check_for_interrupts!();
            self.tell_one(rows, &mut take)
        })
    }

    /// Does the work of [`Alike::tell_apart`] for the rows of one entity.
    fn tell_one(&self, rows: &[Relative<'_>], take: &mut impl FnMut(&[Relative<'_>]) -> Fallible<()>) -> Fallible<()> {
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
        // The one entity of the call that has the same label. If there are several, their paths are known.
        let labels = rows.iter().flat_map(|row| [row.label, row.entity_label]).filter(|label| is_shared(*label));
        shared.extend(labels.filter_map(|label| self.asked.get(label?).copied().flatten()));
        shared.sort_unstable();
        shared.dedup();
        let paths = self.known.borrow_mut().paths(&shared)?;
        let each =
            || shared.iter().zip(&paths).flat_map(|(entity, paths)| paths.iter().map(move |path| (*entity, path)));
        let mut whose = HashMap::new();
        each().for_each(|(entity, path)| note(&mut whose, &path.path[..], entity));
        let mut called: HashMap<Place<'_>, Vec<u8>> = HashMap::new();
        for (entity, Path { tree, path, length }) in each() {
            let path = &path[..];
            let is_a_label = here.contains_key(path) || self.asked.contains_key(path);
            let is_unclear =
                *length == 1 || is_a_label || are_several(whose.get(path).copied(), self.paths.get(path).copied());
            let behind = if is_unclear { [b" (", entity, b")"].concat() } else { Vec::new() };
            called.insert((tree.as_deref(), entity), [path, &behind].concat());
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

/// Which of these are entities.
fn there<'n>(of: &AttachedTable, names: &[&'n [u8]]) -> Fallible<HashSet<&'n [u8]>> {
    let mut names = names.to_vec();
    sorted(&mut names);
    Ok(within::there(of, &names, None)?.into_iter().collect())
}

/// Sorts names, and drops duplicates.
fn sorted(names: &mut Vec<&[u8]>) {
    Interruptible::new(&mut { check_interrupts }).sort_by(names, Ord::cmp);
    names.dedup();
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
