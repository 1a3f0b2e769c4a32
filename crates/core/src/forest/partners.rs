//! Partners: finds the rows that a flush deletes, if their lists are long.
//!
//! [`Image::delete_next`](crate::Image::delete_next) reads a few slots itself. Rows that share parent and child over
//! many trees, or are equal, are in two long lists: if each row were searched for, a flush would cost its rows times
//! their length. So the shorter list is read once, for all rows that the flush still has to delete, and the rows that
//! fit are kept here, in local memory, by identity:
//!
//! ```text
//!   (parent, child, tree, xmin, cmin) --> slots of rows with that inserter
//!   (parent, child, tree)             --> slots of settled rows
//! ```
//!
//! Reading needs the shared lock and may be done in steps. What is kept stays valid until some row is unlinked
//! ([`Field::Moves`](crate::memory::root::Field::Moves)): nothing else moves a slot of a long list. Meanwhile others
//! may mark or settle a row, so each row is judged again before it is taken. Rows that others insert meanwhile are
//! never meant: the deleter of a row has seen its inserter commit, and the row was flushed before that.

mod rows;

use crate::forest::fit::{Candidate, Fit, Rank, judge, undone};
use crate::memory::hash::Kind;
use crate::memory::id::{EntityId, Link, RecordId};
use crate::memory::root::Field;
use crate::records::edge::Ends;
use crate::records::list::Cursor;
use crate::records::record::{Direction, Record};
use crate::records::slot::Slot;
use crate::records::version::Version;
use crate::{Deleter, Edge, Fates, Image, Recent, RowVersion, Stamp};
use rows::{Class, FILTER_WORDS, KeptRows, ListOf, ListedSlot, Made, Taken};
use std::collections::{HashSet, TryReserveError};
use std::hash::BuildHasherDefault;

/// What [`Partners::find`] found.
pub(crate) enum Partner {
    Row(Candidate),
    None,
    /// The fates of the xids pushed to `ask` decide: ask again when they are known.
    Ask,
    /// The row is not known here: the lists must be read.
    Far,
}

/// The result of [`Image::read_lists`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum ListsRead {
    /// Everything is read.
    Done,
    /// There is more to read: call again.
    More,
    /// A row was unlinked meanwhile: begin again.
    Moved,
}

/// The two lists that contain a delete's row, while they are read.
#[derive(Debug)]
struct Reading {
    ends: Ends,
    /// Both lists are read until one ends; that one is then read again from its start.
    cursors: [Cursor; 2],
    shorter: Option<Direction>,
    /// Slots read whose deleter's fate was not known.
    unsure: Vec<ListedSlot>,
}

/// Slots of each list that a delete reads before its row counts as far: few entities have more.
const NEAR: usize = 64;

/// The rows kept for one flush of one image: see the file's head.
#[derive(Debug)]
pub struct Partners {
    /// Slots of each list after which a row is far.
    pub(crate) near: usize,
    moves: u32,
    rows: KeptRows,
    /// The last delete's entities, and the count of moves at that time: the next delete often has the same entities.
    last: Option<(Ends, u32)>,
    /// The lists that were read.
    lists: HashSet<ListOf, BuildHasherDefault<Made>>,
    filter: Vec<u64>,
    reading: Option<Reading>,
    /// Slots read in lists, including those of searches.
    pub(crate) looked: u64,
}

impl Default for Partners {
    fn default() -> Partners {
        Partners::after(NEAR)
    }
}

impl Partners {
    /// Partners that have read nothing. A row is far after `near` slots of each of its lists.
    #[must_use]
    pub fn after(near: usize) -> Partners {
        let (rows, lists, filter) = Default::default();
        Partners { near, moves: 0, rows, last: None, lists, filter, reading: None, looked: 0 }
    }

    /// Slots read so far, which is the cost of finding rows.
    #[must_use]
    pub fn looked(&self) -> u64 {
        self.looked
    }

    /// Drops what is kept, because it is no longer valid or not enough.
    fn forget(&mut self, image: Image<'_>) {
        self.rows.clear();
        self.lists.clear();
        self.filter.clear();
        self.moves = image.root().get(Field::Moves);
    }

    fn has_read(&self, of: EntityId, side: Direction) -> bool {
        self.lists.contains(&ListOf::new(of, side))
    }

    /// Whether the rows between these entities are known.
    pub(crate) fn know(&self, image: Image<'_>, ends: Ends) -> bool {
        !self.lists.is_empty()
            && self.moves == image.root().get(Field::Moves)
            && (self.has_read(ends.child, Direction::Up)
                || self.has_read(ends.parent, Direction::Down))
    }

    /// [`Image::ends`] for one of many deletes: reuses those of the last one.
    pub(crate) fn ends(&mut self, image: Image<'_>, edge: &Edge<'_>) -> Option<Ends> {
        let moves = image.root().get(Field::Moves);
        // Only unlinking frees a record.
        let last = self.last.filter(|&(_, then)| then == moves).map(|(ends, _)| ends);
        let ends = image.ends_after(edge, last)?;
        self.last = Some((ends, moves));
        Some(ends)
    }

    /// Takes a row for a delete. The caller has asked [`Partners::know`].
    pub(crate) fn find(
        &mut self,
        image: Image<'_>,
        ends: Ends,
        row: RowVersion,
        by: Deleter,
        fates: &impl Fates,
        ask: &mut Vec<u64>,
    ) -> Partner {
        let settled = Class::settled(ends);
        let classes = [Some(Class::of(ends, row)), row.cmin.is_none().then_some(settled)];
        for class in classes.into_iter().flatten() {
            let Some(mut rows) = self.rows.taken(class) else { return Partner::Far };
            let mut settled_since = Vec::new();
            let of = (class == settled, &mut settled_since);
            let found = take(image, &mut rows, of, row, by, fates, ask);
            let more = rows.more();
            settled_since.into_iter().for_each(|place| self.rows.add(settled, place));
            match found {
                Partner::None if more => return Partner::Far,
                Partner::None => {}
                found => return found,
            }
        }
        Partner::None
    }

    /// Puts back a row that was found and could not be marked.
    pub(crate) fn give_back(&mut self, image: Image<'_>, ends: Ends, row: Candidate) {
        let class = match row.link {
            Link::Mirror(_) => Class::settled(ends),
            // Marking a row that has a version takes no memory, so it cannot have failed.
            Link::Version(_) => return,
        };
        debug_assert!(self.know(image, ends));
        self.rows.add(class, ListedSlot::new(row.slot, row.side));
    }

    /// Keeps the row that was just inserted: the flush may delete it later.
    pub fn inserted(&mut self, stamp: Stamp, recent: &Recent) {
        if self.lists.is_empty() {
            return;
        }
        let Some((ends, up, down)) = recent.row() else { return };
        let (slot, side) = if self.has_read(ends.child, Direction::Up) {
            (up, Direction::Up)
        } else if self.has_read(ends.parent, Direction::Down) {
            (down, Direction::Down)
        } else {
            return;
        };
        let class = Class::inserted(ends, stamp.xmin, Some(stamp.cmin));
        self.rows.add(class, ListedSlot::new(slot, side));
    }

    /// Notes the rows that the flush still has to delete.
    fn want<'e>(
        &mut self,
        image: Image<'_>,
        deletes: impl Iterator<Item = (Edge<'e>, RowVersion)>,
    ) -> Result<(), TryReserveError> {
        self.forget(image);
        self.filter.try_reserve_exact(FILTER_WORDS)?;
        self.filter.resize(FILTER_WORDS, 0);
        for (edge, row) in deletes {
            let Some(ends) = self.ends(image, &edge) else { continue };
            let class = Class::of(ends, row);
            self.rows.want(class, row.cmin.is_none())?;
            let (word, bit) = class.bit();
            self.filter[word] |= bit;
        }
        Ok(())
    }

    /// Keeps a slot of a list if a delete wants its row. `false` if that depends on the fate of the xid in `ask`.
    fn keep(
        &mut self,
        image: Image<'_>,
        of: EntityId,
        place: ListedSlot,
        fates: &impl Fates,
        ask: &mut Vec<u64>,
    ) -> Result<bool, TryReserveError> {
        let slot = Slot::read(image.mem(), place.slot());
        let (parent, child) = match place.side() {
            Direction::Up => (slot.neighbour, of),
            Direction::Down => (of, slot.neighbour),
        };
        let ends = Ends { parent, child, tree: slot.tree };
        let settled = Class::settled(ends);
        let (word, bit) = settled.bit();
        if self.filter[word] & bit == 0 {
            return Ok(true);
        }
        let version = match slot.link {
            Link::Mirror(_) => None,
            Link::Version(id) => Some(Version::new(image.mem(), id)),
        };
        let classes = match version.map(|version| (version.xmin(), version.cmin())) {
            None | Some((0, _)) => [Some(settled), None],
            Some((xmin, cmin)) => {
                [Some(cmin), None].map(|cmin| Some(Class::inserted(ends, xmin, cmin)))
            }
        };
        let deleted = version.filter(|version| version.xmax() != 0);
        for class in classes.into_iter().flatten() {
            if let Some(version) = deleted.filter(|_| self.rows.is_wanted(class)) {
                match undone(version, fates) {
                    Ok(true) => {}
                    Ok(false) => continue,
                    Err(xmax) => {
                        if ask.last() != Some(&xmax) {
                            ask.push(xmax);
                        }
                        return Ok(false);
                    }
                }
            }
            self.rows.keep(class, place, deleted.is_some())?;
        }
        Ok(true)
    }
}

impl Image<'_> {
    /// Reader: begins to read the lists of a row that [`Image::delete_next`](crate::Image::delete_next) called far;
    /// `deletes` are the deletes that remain in the flush, that row's first.
    ///
    /// # Errors
    /// If there is no memory. Then search for this row alone.
    pub fn look_for<'e>(
        &self,
        partners: &mut Partners,
        deletes: impl Iterator<Item = (Edge<'e>, RowVersion)> + Clone,
    ) -> Result<ListsRead, TryReserveError> {
        partners.reading = None;
        let Some((edge, row)) = deletes.clone().next() else { return Ok(ListsRead::Done) };
        let Some(ends) = self.ends(&edge) else { return Ok(ListsRead::Done) };
        // Either the rows are known but were not enough, or the names were unknown when the lists were read.
        let stale = partners.know(*self, ends)
            || partners.moves != self.root().get(Field::Moves)
            || !partners.rows.is_wanted(Class::of(ends, row));
        if stale {
            partners.want(*self, deletes)?;
        }
        let start = |id: EntityId, side| Cursor::start(Record::new(self.mem(), id), side);
        let cursors = [start(ends.child, Direction::Up), start(ends.parent, Direction::Down)];
        partners.reading = Some(Reading { ends, cursors, shorter: None, unsure: Vec::new() });
        Ok(ListsRead::More)
    }

    /// Reader: continues what [`Image::look_for`] began, for `steps` slots. Pushes xids whose fates are needed and
    /// unknown to `ask`.
    ///
    /// # Errors
    /// See [`Image::look_for`].
    pub fn read_lists(
        &self,
        partners: &mut Partners,
        fates: &impl Fates,
        ask: &mut Vec<u64>,
        steps: usize,
    ) -> Result<ListsRead, TryReserveError> {
        let Some(mut reading) = partners.reading.take() else { return Ok(ListsRead::Done) };
        if partners.moves != self.root().get(Field::Moves) {
            return Ok(ListsRead::Moved);
        }
        let mem = self.mem();
        let [up, down] = &mut reading.cursors;
        for _ in 0..steps {
            if reading.shorter.is_some() {
                break;
            }
            partners.looked += 2;
            if up.next(mem).is_none() {
                reading.shorter = Some(Direction::Up);
                *up = Cursor::start(Record::new(mem, reading.ends.child), Direction::Up);
            } else if down.next(mem).is_none() {
                reading.shorter = Some(Direction::Down);
                *down = Cursor::start(Record::new(mem, reading.ends.parent), Direction::Down);
            }
        }
        let Some(side) = reading.shorter else {
            partners.reading = Some(reading);
            return Ok(ListsRead::More);
        };
        let (of, cursor) = match side {
            Direction::Up => (reading.ends.child, up),
            Direction::Down => (reading.ends.parent, down),
        };
        for place in std::mem::take(&mut reading.unsure) {
            if !partners.keep(*self, of, place, fates, ask)? {
                reading.unsure.try_reserve(1)?;
                reading.unsure.push(place);
            }
        }
        for _ in 0..steps {
            let Some(slot) = cursor.next(mem) else {
                if reading.unsure.is_empty() {
                    partners.lists.try_reserve(1)?;
                    partners.lists.insert(ListOf::new(of, side));
                    return Ok(ListsRead::Done);
                }
                break;
            };
            partners.looked += 1;
            let place = ListedSlot::new(slot, side);
            if !partners.keep(*self, of, place, fates, ask)? {
                reading.unsure.try_reserve(1)?;
                reading.unsure.push(place);
            }
        }
        ask.sort_unstable();
        ask.dedup();
        partners.reading = Some(reading);
        Ok(ListsRead::More)
    }

    /// The entities and the tree of an edge; none if a name is unknown.
    pub(crate) fn ends(self, edge: &Edge<'_>) -> Option<Ends> {
        self.ends_after(edge, None)
    }

    /// [`Image::ends`] for an edge that may share names with the last one.
    fn ends_after(self, edge: &Edge<'_>, last: Option<Ends>) -> Option<Ends> {
        let key = |last, kind, name| self.key_after(last, kind, name).record;
        let [parent, child] = [last.map(|last| last.parent), last.map(|last| last.child)];
        let entity = |last: Option<EntityId>, name| {
            Some(key(last.map(RecordId::from), Kind::Entity, name)?.entity())
        };
        let (parent, child) = (entity(parent, edge.parent)?, entity(child, edge.child)?);
        let tree = match edge.tree {
            Some(name) => {
                let last = last.and_then(|last| last.tree);
                Some(key(last.map(RecordId::from), Kind::Tree, name)?.tree())
            }
            None => None,
        };
        Some(Ends { parent, child, tree })
    }
}

/// Takes the next row of a class that fits a delete. Rows in the class of an inserter that were settled since they were
/// kept go to `settled_since`.
fn take(
    image: Image<'_>,
    rows: &mut Taken<'_>,
    (is_settled, settled_since): (bool, &mut Vec<ListedSlot>),
    row: RowVersion,
    by: Deleter,
    fates: &impl Fates,
    ask: &mut Vec<u64>,
) -> Partner {
    while let Some(place) = rows.first() {
        let link = Slot::read(image.mem(), place.slot()).link;
        match judge(image, link, row, fates) {
            Fit::If(_, xmax) if xmax != by.xmax => {
                ask.push(xmax);
                return Partner::Ask;
            }
            Fit::Rank(rank) if is_settled == (rank != Rank::Inserter) => {
                rows.pop();
                return Partner::Row(Candidate { slot: place.slot(), link, side: place.side() });
            }
            Fit::Rank(_) => {
                rows.pop();
                // A settled row is dropped from an inserter's class. If there is no memory to keep it as settled, it is
                // found when the lists are read again.
                if is_settled {
                    continue;
                }
                if settled_since.try_reserve(1).is_ok() {
                    settled_since.push(place);
                } else {
                    rows.set_more();
                }
            }
            Fit::If(..) | Fit::None => rows.pop(),
        }
    }
    Partner::None
}

#[cfg(test)]
#[path = "partners_tests.rs"]
mod tests;
