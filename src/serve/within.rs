//! Which entities are one of some entities or below one, and which have none of the others below them: by the ancestors of each.

#![expect(unsafe_code, reason = "values of a call's arguments")]

use crate::call::fmgr;
use crate::call::fmgr::text_array;
use crate::call::work_memory::Room;
use crate::catalog::attached_table::AttachedTable;
use crate::error::{Fallible, MAX_LEVELS};
use crate::serve::asked::Reach;
use crate::serve::sink::{Relative, Sink};
use crate::serve::walk;
use pgrx::{check_for_interrupts, pg_sys};
use std::collections::{HashMap, HashSet};

/// Bytes that a name takes in a set, besides its own.
const PER_NAME: usize = 80;

/// Those of the names, which are distinct, that are entities with a row in one of the trees (see [`Reach::trees`]), in order. 53400, 53200 (memory).
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
    // With its own rows one without relatives is known, too.
    walk::answer(of, names, || text_array(names), reach, &mut Sink::Nodes { take: &mut take, own: true })?;
    Ok(found)
}

/// Those of the names, which are distinct, that no other of them is below in one of the trees within as many levels as one walk has, unless it is above
/// that one, too; in order. 53400, 53200 (memory).
pub fn lowest<'n>(of: &AttachedTable, names: &[&'n [u8]], trees: Option<pg_sys::Datum>) -> Fallible<Vec<&'n [u8]>> {
    let mut room = Room::new();
    room.take(names.len() * PER_NAME)?;
    let numbers: HashMap<&[u8], usize> = names.iter().enumerate().map(|(n, name)| (*name, n)).collect();
    let mut above = HashSet::new();
    let all = Within { of, tops: HashSet::new(), trees };
    let mut at = 0;
    all.ancestors(names, |row| {
        while names[at] != row.entity {
            at += 1;
        }
        if let Some(&other) = numbers.get(row.name).filter(|other| **other != at)
            && above.insert((at, other))
        {
            room.take(2 * size_of::<(usize, usize)>())?;
        }
        Ok(())
    })?;
    let has_lower: HashSet<usize> =
        above.iter().filter(|(lower, upper)| !above.contains(&(*upper, *lower))).map(|(_, upper)| *upper).collect();
    Ok(names.iter().enumerate().filter(|(n, _)| !has_lower.contains(n)).map(|(_, name)| *name).collect())
}

/// What entities are to be or to be below.
pub struct Within<'a> {
    of: &'a AttachedTable,
    tops: HashSet<&'a [u8]>,
    trees: Option<pg_sys::Datum>,
}

/// An ancestor, and its tree.
type Above = (Option<Vec<u8>>, Vec<u8>);

impl<'a> Within<'a> {
    /// `tops` is a text[] value, whose NULLs are no entities; `trees` as [`Reach::trees`]. 53400 (memory).
    pub fn of(of: &'a AttachedTable, tops: pg_sys::Datum, trees: Option<pg_sys::Datum>) -> Fallible<Self> {
        // SAFETY: SQL declares the argument text[].
        let tops = unsafe { fmgr::elements(tops) };
        Room::new().take(tops.len() * PER_NAME)?;
        Ok(Self { of, tops: tops.into_iter().flatten().collect(), trees })
    }

    /// Those of the names, which are distinct, that are one of these or below one in one of the trees; a name counts as itself in any.
    /// 53400, 53200 (memory).
    pub fn those_of<'n>(&self, names: &[&'n [u8]]) -> Fallible<HashSet<&'n [u8]>> {
        let mut room = Room::new();
        room.take(names.len() * PER_NAME)?;
        let (mut found, mut deep) = (HashSet::new(), HashSet::new());
        let others: Vec<&[u8]> = names.iter().copied().filter(|name| !self.tops.contains(name)).collect();
        found.extend(names.iter().copied().filter(|name| self.tops.contains(name)));
        if self.tops.is_empty() || others.is_empty() {
            return Ok(found);
        }
        // Rows are in the order of the names.
        let mut at = 0;
        self.ancestors(&others, |row| {
            while others[at] != row.entity {
                at += 1;
            }
            if self.tops.contains(row.name) {
                found.insert(others[at]);
            } else if row.depth == MAX_LEVELS {
                deep.insert(others[at]);
            }
            Ok(())
        })?;
        for name in deep {
            if !found.contains(name) && self.is_above(name, &mut room)? {
                found.insert(name);
            }
        }
        Ok(found)
    }

    /// Whether one of the tops is above this entity, by walks from walks' ends.
    fn is_above(&self, name: &[u8], room: &mut Room) -> Fallible<bool> {
        let mut known: HashSet<Above> = HashSet::new();
        let mut todo: Vec<Above> = Vec::new();
        let mut is_found = false;
        let mut add = |row: &Relative<'_>, todo: &mut Vec<Above>| {
            let above = (row.tree.map(<[u8]>::to_vec), row.name.to_vec());
            if row.depth == MAX_LEVELS && !known.contains(&above) {
                room.take(2 * (PER_NAME + row.name.len() + row.tree.map_or(0, <[u8]>::len)))?;
                known.insert(above.clone());
                todo.push(above);
            }
            Ok(())
        };
        self.ancestors(&[name], |row| {
            is_found |= self.tops.contains(row.name);
            add(row, &mut todo)
        })?;
        while let Some((tree, name)) = todo.pop() {
            if is_found {
                break;
            }
            self.ancestors(&[&name], |row| {
                if row.tree == tree.as_deref() {
                    is_found |= self.tops.contains(row.name);
                    add(row, &mut todo)?;
                }
                Ok(())
            })?;
        }
        Ok(is_found)
    }

    /// Passes the ancestors of these entities on, of as many levels as one walk has.
    fn ancestors(&self, names: &[&[u8]], mut each: impl FnMut(&Relative<'_>) -> Fallible<()>) -> Fallible<()> {
        check_for_interrupts!();
        let reach = Reach { trees: self.trees, counts: false, ..Reach::levels(MAX_LEVELS, 0) };
        let mut take = |rows: &[Relative<'_>]| rows.iter().try_for_each(&mut each);
        walk::answer(self.of, names, || text_array(names), reach, &mut Sink::Nodes { take: &mut take, own: false })
    }
}
