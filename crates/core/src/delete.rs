//! Delete: finds the row a deleter means, and marks it.
//!
//! The row stays; [`settle`](crate::Image::settle) unlinks it when no snapshot can see it.
//! Which of several equal rows is meant, in this order:
//!
//! ```text
//!  1  a version inserted by that xid (and command, for an own row), not deleted,
//!     or deleted by someone who rolled back
//!  2  a settled row
//!  3  a version of a settled row whose deleter rolled back
//! ```
//!
//! Finding costs the shorter of the two lists: both are read in turns, one slot each, until
//! one ends. Nothing is written unless the answer is `Done`. Writers only.

use crate::alloc::Plan;
use crate::hash::Kind;
use crate::id::{EntityId, Link, SlotRef, TreeId, VersionId};
use crate::list::Cursor;
use crate::record::{Direction, Record};
use crate::slot::Slot;
use crate::version::{self, Side, Version};
use crate::visibility::Hint;
use crate::{Deleter, Deletion, Edge, Error, Fate, Fates, Image, RowVersion};

/// The row to mark, and how well it fits: a lower rank fits better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Inserter,
    Settled,
    Marked,
}

/// Where a row stands: its slot in the list that was searched, and what the slot links to.
#[derive(Clone, Copy)]
struct Candidate {
    slot: SlotRef,
    link: Link,
    side: Direction,
}

/// The entities and the tree of an edge whose names are all known.
#[derive(Clone, Copy)]
struct Ends {
    parent: EntityId,
    child: EntityId,
    tree: Option<TreeId>,
}

impl Image<'_> {
    /// Writer: a row of `edge` gets a deleter.
    ///
    /// # Errors
    /// [`Error::Full`] if a settled row was found and there is no memory for its version;
    /// every byte is as it was.
    pub fn delete(
        &self,
        edge: &Edge<'_>,
        row: RowVersion,
        by: Deleter,
        fates: &impl Fates,
        ask: &mut Vec<u64>,
    ) -> Result<Deletion, Error> {
        let Some(ends) = self.ends(edge) else {
            return Ok(Deletion::NoPartner);
        };
        let mut search = Search { image: *self, row, fates, best: None, unknown: Vec::new() };
        search.run(ends);
        let best = search.best;
        // A fate matters if it could make a better candidate than the best one known.
        let better = |rank| best.is_none_or(|(known, _)| rank < known);
        search.unknown.retain(|&(rank, _)| better(rank));
        if !search.unknown.is_empty() {
            ask.extend(search.unknown.into_iter().map(|(_, xid)| xid));
            return Ok(Deletion::Ask);
        }
        let Some((_, candidate)) = best else {
            return Ok(Deletion::NoPartner);
        };
        self.mark(ends, candidate, by)
    }

    fn ends(self, edge: &Edge<'_>) -> Option<Ends> {
        let entity = |name| Some(self.key(Kind::Entity, name).record?.id().entity());
        let (parent, child) = (entity(edge.parent)?, entity(edge.child)?);
        let tree = match edge.tree {
            Some(name) => Some(self.key(Kind::Tree, name).record?.id().tree()),
            None => None,
        };
        Some(Ends { parent, child, tree })
    }

    fn mark(self, ends: Ends, found: Candidate, by: Deleter) -> Result<Deletion, Error> {
        let mem = self.mem();
        let mirror = match found.link {
            Link::Version(version) => {
                self.mutate(|| Version::new(mem, version).set_deleter(by.xmax, by.cmax));
                return Ok(Deletion::Done);
            }
            Link::Mirror(mirror) => mirror,
        };
        let mut plan = Plan::new(self.root());
        plan.take(1, 1);
        if let Some(needed) = plan.shortage() {
            return Err(self.full(needed));
        }
        let (up, down) = match found.side {
            Direction::Up => (found.slot, mirror),
            Direction::Down => (mirror, found.slot),
        };
        let Ends { parent, child, tree } = ends;
        self.mutate(|| {
            let version =
                version::create(mem, 0, 0, version::Row { parent, child, tree, up, down });
            version.set_deleter(by.xmax, by.cmax);
            Slot::set_link(mem, up, Link::Version(version.id()));
            Slot::set_link(mem, down, Link::Version(version.id()));
        });
        Ok(Deletion::Done)
    }
}

struct Search<'m, 'f, F> {
    image: Image<'m>,
    row: RowVersion,
    fates: &'f F,
    best: Option<(Rank, Candidate)>,
    /// Deleters whose fate is unknown, and what their row would be if they rolled back.
    unknown: Vec<(Rank, u64)>,
}

impl<F: Fates> Search<'_, '_, F> {
    /// Reads both lists in turns. Each row is in both, so the end of either is the end.
    fn run(&mut self, ends: Ends) {
        let mem = self.image.mem();
        let start = |id: EntityId, side| Cursor::start(Record::new(mem, id), side);
        let mut up = start(ends.child, Direction::Up);
        let mut down = start(ends.parent, Direction::Down);
        // No row is better than rank Inserter, so the first of it ends the search.
        while !matches!(self.best, Some((Rank::Inserter, _))) {
            let Some(slot) = up.next(mem) else { return };
            self.consider(slot, Direction::Up, ends.parent, ends.tree);
            let Some(slot) = down.next(mem) else { return };
            self.consider(slot, Direction::Down, ends.child, ends.tree);
        }
    }

    fn consider(&mut self, at: SlotRef, side: Direction, other: EntityId, tree: Option<TreeId>) {
        let slot = Slot::read(self.image.mem(), at);
        if slot.neighbour != other || slot.tree != tree {
            return;
        }
        let rank = match slot.link {
            Link::Mirror(_) => Some(Rank::Settled),
            Link::Version(version) => self.rank(version),
        };
        if let Some(rank) = rank
            && self.best.is_none_or(|(best, _)| rank < best)
        {
            self.best = Some((rank, Candidate { slot: at, link: slot.link, side }));
        }
    }

    /// How a row with a version fits, if it does and its deleter's fate is known.
    fn rank(&mut self, id: VersionId) -> Option<Rank> {
        let version = Version::new(self.image.mem(), id);
        let rank = match version.xmin() {
            0 => Rank::Marked,
            xmin if self.inserted_by(xmin, version.cmin()) => Rank::Inserter,
            _ => return None,
        };
        let xmax = version.xmax();
        if xmax == 0 {
            // A version without xmin and xmax is a settled row that awaits its turn.
            return Some(if rank == Rank::Marked { Rank::Settled } else { rank });
        }
        let fate = match version.hint(Side::Xmax) {
            Hint::Committed => Fate::Committed,
            Hint::Aborted => Fate::Aborted,
            Hint::None => self.fates.fate(xmax),
        };
        match fate {
            Fate::Aborted => Some(rank),
            Fate::Running | Fate::Committed => None,
            Fate::Unknown => {
                if !self.unknown.contains(&(rank, xmax)) {
                    self.unknown.push((rank, xmax));
                }
                None
            }
        }
    }

    /// Whether the row that is deleted was inserted by this xid and command.
    fn inserted_by(&self, xmin: u64, cmin: u32) -> bool {
        let same_xid = match self.row.xmin {
            0 => crate::id::halves(xmin).0 == self.row.raw_xmin,
            xid => xid == xmin,
        };
        same_xid && self.row.cmin.is_none_or(|command| command == cmin)
    }
}
