//! Which entities are among given ones (the tops) or below one of them, found by the ancestors of each.

use crate::call::array::Texts;
use crate::call::work_memory::{Room, list};
use crate::catalog::attached_table::AttachedTable;
use crate::error::{Fallible, MAX_LEVELS};
use crate::pg::interrupt::check_interrupts;
use crate::serve::asked::Reach;
use crate::serve::sink::{Relative, Sink};
use crate::serve::walk::Served;
use crate::serve::{reference, walk};
use cftrag_core::{Interruptible, Names};
use pgrx::check_for_interrupts;
use std::cell::Cell;
use std::collections::HashSet;

/// Bytes that an ancestor takes in a set, besides its name and tree.
const PER_NAME: usize = 80;

/// Of the distinct `names`, those that are entities with a row in one of the trees (see [`Reach::trees`]), in order.
/// 53400, 53200 (memory).
pub fn there<'n>(of: &AttachedTable, names: &[&'n [u8]], trees: Option<Texts<'_>>) -> Fallible<Vec<&'n [u8]>> {
    let (mut at, mut found) = (0, list(names.len(), &mut Room::new())?);
    let reach = Reach { trees, counts: false, ..Reach::levels(1, 1) };
    let mut take = |rows: &[Relative<'_>]| {
        for row in rows {
            if found.last().is_none_or(|last| *last != row.entity) {
                while names[at] != row.entity {
                    at += 1;
                }
                found.push(names[at]);
            }
        }
        Ok(())
    };
    // Rows of itself show an entity that has no relatives.
    walk::answer(of, names, reach, &mut Sink::Nodes { take: &mut take, own: true })?;
    Ok(found)
}

/// A filter for entities: those that are tops, or below one.
pub struct Within<'a> {
    of: &'a AttachedTable,
    tops: &'a Names,
    trees: Option<Texts<'a>>,
    /// Rows that walks have passed on.
    rows: Cell<usize>,
}

/// An ancestor, and its tree.
type Above = (Option<Vec<u8>>, Vec<u8>);

impl<'a> Within<'a> {
    /// `trees`: as in [`Reach::trees`].
    pub fn of(of: &'a AttachedTable, tops: &'a Names, trees: Option<Texts<'a>>) -> Self {
        Self { of, tops, trees, rows: Cell::new(0) }
    }

    fn is_top(&self, name: &[u8]) -> bool {
        self.tops.contains(name)
    }

    /// Whether each of the distinct `names` is a top, or below one in one of the trees. The trees do not matter for a
    /// top itself. 53400, 53200 (memory).
    pub fn those_of(&self, names: &[&[u8]]) -> Fallible<Vec<bool>> {
        let room = &mut Room::new();
        let (mut those, mut others, mut places) =
            (list(names.len(), room)?, list(names.len(), room)?, list(names.len(), room)?);
        let mut check_interrupts = check_interrupts;
        let mut work = Interruptible::new(&mut check_interrupts);
        for (place, name) in names.iter().enumerate() {
            work.step();
            those.push(self.is_top(name));
            if !those[place] {
                others.push(*name);
                places.push(place);
            }
        }
        if self.tops.is_empty() || others.is_empty() {
            return Ok(those);
        }
        let mut found = |other: usize| those[places[other]] = true;
        if !self.by_image(&others, &mut found, room)? {
            let tops = Texts::new(self.tops.ids().map(|id| Some(self.tops.get(id))));
            reference::below(self.of, Texts::new(others.iter().map(|name| Some(*name))), tops, self.trees)?
                .into_iter()
                .for_each(found);
        }
        Ok(those)
    }

    /// Whether that entity is a top or below one, and how many rows were read to tell; None if the image cannot serve.
    pub fn has(&self, name: &[u8]) -> Fallible<Option<(bool, usize)>> {
        let mut is_in = self.is_top(name);
        self.rows.set(0);
        let is_known = is_in || self.by_image(&[name], &mut |_| is_in = true, &mut Room::new())?;
        Ok(is_known.then(|| (is_in, self.rows.get())))
    }

    /// Passes on the places of the names that are below a top. `false` if the image cannot serve.
    fn by_image(&self, names: &[&[u8]], found: &mut impl FnMut(usize), room: &mut Room) -> Fallible<bool> {
        // Rows are in the order of the names. Whether a name is found, and whether it has more ancestors than a walk
        // reads.
        let (mut at, mut is_found, mut is_deep) = (0, false, false);
        let mut deep = list(names.len(), room)?;
        let is_served = self.ancestors(names, |row| {
            while names[at] != row.entity {
                if is_deep && !is_found {
                    deep.push(at);
                }
                (at, is_found, is_deep) = (at + 1, false, false);
            }
            if self.is_top(row.name) {
                is_found = true;
                found(at);
            } else {
                is_deep |= row.depth == MAX_LEVELS;
            }
            Ok(())
        })?;
        if is_deep && !is_found {
            deep.push(at);
        }
        for at in deep {
            match self.is_above(names[at], room)? {
                Some(true) => found(at),
                Some(false) => {}
                None => return Ok(false),
            }
        }
        Ok(is_served)
    }

    /// Whether a top is above this entity, at any depth: starts another walk wherever one ends at `MAX_LEVELS`. None if
    /// the image cannot serve.
    fn is_above(&self, name: &[u8], room: &mut Room) -> Fallible<Option<bool>> {
        let mut known: HashSet<Above> = HashSet::new(); // bounded: counted
        let mut todo: Vec<Above> = Vec::new();
        let mut is_found = false;
        let mut add = |row: &Relative<'_>, todo: &mut Vec<Above>| {
            if row.depth < MAX_LEVELS {
                return Ok(());
            }
            room.take(2 * (PER_NAME + row.name.len() + row.tree.map_or(0, <[u8]>::len)))?;
            let above = (row.tree.map(<[u8]>::to_vec), row.name.to_vec()); // bounded: counted
            if known.insert(above.clone()) {
                todo.push(above);
            }
            Ok(())
        };
        let mut is_served = self.ancestors(&[name], |row| {
            is_found |= self.is_top(row.name);
            add(row, &mut todo)
        })?;
        while !is_found
            && is_served
            && let Some((tree, name)) = todo.pop()
        {
            is_served = self.ancestors(&[&name], |row| {
                if row.tree == tree.as_deref() {
                    is_found |= self.is_top(row.name);
                    add(row, &mut todo)?;
                }
                Ok(())
            })?;
        }
        Ok(is_served.then_some(is_found))
    }

    /// Passes on the ancestors of these entities, up to `MAX_LEVELS`. `false` if the image cannot serve; then some were
    /// not passed on.
    fn ancestors(&self, names: &[&[u8]], mut each: impl FnMut(&Relative<'_>) -> Fallible<()>) -> Fallible<bool> {
        check_for_interrupts!();
        let reach = Reach { trees: self.trees, counts: false, ..Reach::levels(MAX_LEVELS, 0) };
        let mut take = |rows: &[Relative<'_>]| {
            self.rows.set(self.rows.get() + rows.len());
            rows.iter().try_for_each(&mut each)
        };
        let mut sink = Sink::Nodes { take: &mut take, own: false };
        let mut walk = walk::workspace()?;
        let served = walk::walk_from(self.of, names, reach, &mut walk, |walk| sink.take(walk, false))?;
        let is_served = matches!(served, Served::All(_));
        if is_served {
            sink.take(&mut walk, true)?;
        }
        walk::give_back(walk);
        Ok(is_served)
    }
}
