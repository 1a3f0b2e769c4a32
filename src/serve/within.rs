//! Which entities are among given ones (the tops) or below one of them, found by the ancestors of each.

#![expect(unsafe_code, reason = "values of a call's arguments")]

use crate::call::fmgr;
use crate::call::fmgr::text_array;
use crate::call::work_memory::Room;
use crate::catalog::attached_table::AttachedTable;
use crate::error::{Fallible, MAX_LEVELS};
use crate::pg::interrupt::check_interrupts;
use crate::serve::asked::Reach;
use crate::serve::sink::{Relative, Sink};
use crate::serve::walk::Served;
use crate::serve::{reference, walk};
use cftrag_core::Interruptible;
use pgrx::{check_for_interrupts, pg_sys};
use std::cell::Cell;
use std::collections::HashSet;

/// Bytes that a name takes in a set, besides its own.
const PER_NAME: usize = 80;

/// Of the distinct `names`, those that are entities with a row in one of the trees (see [`Reach::trees`]), in order. 53400, 53200 (memory).
pub fn there<'n>(of: &AttachedTable, names: &[&'n [u8]], trees: Option<pg_sys::Datum>) -> Fallible<Vec<&'n [u8]>> {
    Room::new().take(names.len() * PER_NAME)?;
    let (mut at, mut found) = (0, Vec::new());
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
    /// Sorted.
    tops: Vec<&'a [u8]>,
    trees: Option<pg_sys::Datum>,
    /// Rows that walks have passed on.
    rows: Cell<usize>,
}

/// An ancestor, and its tree.
type Above = (Option<Vec<u8>>, Vec<u8>);

impl<'a> Within<'a> {
    /// `tops` is a text[] value, in which NULLs are ignored; `trees` as in [`Reach::trees`]. 53400 (memory).
    pub fn of(of: &'a AttachedTable, tops: pg_sys::Datum, trees: Option<pg_sys::Datum>) -> Fallible<Self> {
        // SAFETY: SQL declares the argument text[].
        let tops = unsafe { fmgr::elements(tops) };
        Room::new().take(tops.len() * PER_NAME)?;
        Ok(Self::these(of, tops.into_iter().flatten().collect(), trees))
    }

    pub fn these(of: &'a AttachedTable, mut tops: Vec<&'a [u8]>, trees: Option<pg_sys::Datum>) -> Self {
        Interruptible::new(&mut { check_interrupts }).sort_by(&mut tops, Ord::cmp);
        Self { of, tops, trees, rows: Cell::new(0) }
    }

    fn is_top(&self, name: &[u8]) -> bool {
        self.tops.binary_search(&name).is_ok()
    }

    /// Of the distinct `names`, those that are tops, or below one in one of the trees. The trees do not matter for a top itself.
    /// 53400, 53200 (memory).
    pub fn those_of<'n>(&self, names: &[&'n [u8]]) -> Fallible<HashSet<&'n [u8]>> {
        let mut room = Room::new();
        room.take(names.len() * PER_NAME)?;
        let (mut found, mut others) = (HashSet::new(), Vec::new());
        let mut check_interrupts = check_interrupts;
        let mut work = Interruptible::new(&mut check_interrupts);
        for name in names {
            work.step();
            if self.is_top(name) {
                found.insert(*name);
            } else {
                others.push(*name);
            }
        }
        if !self.tops.is_empty() && !others.is_empty() && !self.by_image(&others, &mut found, &mut room)? {
            let below = reference::below(self.of, text_array(&others), text_array(&self.tops), self.trees)?;
            found.extend(below.into_iter().map(|n| others[n]));
        }
        Ok(found)
    }

    /// Whether that entity is a top or below one, and how many rows were read to tell; None if the image cannot serve.
    pub fn has(&self, name: &[u8]) -> Fallible<Option<(bool, usize)>> {
        let mut found = HashSet::new();
        self.rows.set(0);
        let is_known = self.is_top(name) || self.by_image(&[name], &mut found, &mut Room::new())?;
        Ok(is_known.then(|| (self.is_top(name) || !found.is_empty(), self.rows.get())))
    }

    /// Adds the names that are below a top. `false` if the image cannot serve.
    fn by_image<'n>(&self, names: &[&'n [u8]], found: &mut HashSet<&'n [u8]>, room: &mut Room) -> Fallible<bool> {
        let mut deep = HashSet::new();
        // Rows are in the order of the names.
        let mut at = 0;
        let is_served = self.ancestors(names, |row| {
            while names[at] != row.entity {
                at += 1;
            }
            if self.is_top(row.name) {
                found.insert(names[at]);
            } else if row.depth == MAX_LEVELS {
                deep.insert(names[at]);
            }
            Ok(())
        })?;
        for name in deep {
            if !found.contains(name) {
                match self.is_above(name, room)? {
                    Some(true) => _ = found.insert(name),
                    Some(false) => {}
                    None => return Ok(false),
                }
            }
        }
        Ok(is_served)
    }

    /// Whether a top is above this entity, at any depth: starts another walk wherever one ends at `MAX_LEVELS`. None if the image cannot serve.
    fn is_above(&self, name: &[u8], room: &mut Room) -> Fallible<Option<bool>> {
        let mut known: HashSet<Above> = HashSet::new();
        let mut todo: Vec<Above> = Vec::new();
        let mut is_found = false;
        let mut add = |row: &Relative<'_>, todo: &mut Vec<Above>| {
            if row.depth < MAX_LEVELS {
                return Ok(());
            }
            room.take(2 * (PER_NAME + row.name.len() + row.tree.map_or(0, <[u8]>::len)))?;
            let above = (row.tree.map(<[u8]>::to_vec), row.name.to_vec());
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

    /// Passes on the ancestors of these entities, up to `MAX_LEVELS`. `false` if the image cannot serve; then some were not passed on.
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
