//! Delete: finds the row that a deleter means, and marks it.
//!
//! The row stays; [`settle`](crate::Image::settle) unlinks it when no snapshot can see it. Of several equal rows the
//! first of these is meant:
//!
//! ```text
//!  1  a version inserted by that xid (and command, for an own row), not deleted,
//!     or deleted by a transaction that rolled back
//!  2  a settled row
//!  3  a version of a settled row whose deleter rolled back
//! ```
//!
//! A row that the deleter inserted itself is never settled, so only case 1 applies to it. If its insert has not come
//! yet (a trigger deleted it before ours saw it), nothing matches, and no other row of the edge is taken in its place.
//!
//! Both lists are read in turns, one slot each, until one ends. If that takes long, a flush with many rows to delete
//! reads one of the lists for all of them at once ([`Partners`]). Nothing is written unless the answer is `Done`.
//! Writers only.

use crate::forest::fit::Candidate;
use crate::forest::fit::Fit;
use crate::forest::fit::Rank;
use crate::forest::fit::judge;
use crate::forest::partners::{Partner, Partners};
use crate::memory::alloc::Plan;
use crate::memory::id::{EntityId, Link, SlotRef, TreeId};
use crate::records::edge::Ends;
use crate::records::list::Cursor;
use crate::records::record::{Direction, Record};
use crate::records::slot::Slot;
use crate::records::version::{self, Version};
use crate::{Deleter, Deletion, Edge, Error, Fates, Image, RowVersion};

impl Image<'_> {
    /// Writer: marks a row of `edge` as deleted.
    ///
    /// # Errors
    /// [`Error::Full`] if a settled row was found and there is no memory for its version; then every byte is as it was.
    pub fn delete(
        &self,
        edge: &Edge<'_>,
        row: RowVersion,
        by: Deleter,
        fates: &impl Fates,
        ask: &mut Vec<u64>,
    ) -> Result<Deletion, Error> {
        match self.ends(edge) {
            Some(ends) => self.search(ends, row, by, fates, ask, usize::MAX, &mut 0),
            None => Ok(Deletion::NoPartner),
        }
    }

    /// Writer: [`Image::delete`] for one of many rows. Returns [`Deletion::Far`] if the row is in two long lists that
    /// `partners` has not read ([`Image::look_for`]).
    ///
    /// # Errors
    /// See [`Image::delete`].
    pub fn delete_next(
        &self,
        edge: &Edge<'_>,
        row: RowVersion,
        by: Deleter,
        fates: &impl Fates,
        ask: &mut Vec<u64>,
        partners: &mut Partners,
    ) -> Result<Deletion, Error> {
        let Some(ends) = partners.ends(*self, edge) else {
            return Ok(Deletion::NoPartner);
        };
        if !partners.know(*self, ends) {
            let (near, looked) = (partners.near, &mut partners.looked);
            return self.search(ends, row, by, fates, ask, near, looked);
        }
        match partners.find(*self, ends, row, by, fates, ask) {
            Partner::Row(candidate) => {
                let done = self.mark(ends, candidate, by);
                if done.is_err() {
                    partners.give_back(*self, ends, candidate);
                }
                done
            }
            Partner::None => Ok(Deletion::NoPartner),
            Partner::Ask => Ok(Deletion::Ask),
            Partner::Far => Ok(Deletion::Far),
        }
    }

    /// Searches up to `slots` slots of each list.
    #[expect(clippy::too_many_arguments, reason = "what delete has, and how far")]
    fn search(
        self,
        ends: Ends,
        row: RowVersion,
        by: Deleter,
        fates: &impl Fates,
        ask: &mut Vec<u64>,
        slots: usize,
        looked: &mut u64,
    ) -> Result<Deletion, Error> {
        let mut search =
            Search { image: self, row, fates, looked, best: None, unknown: Vec::new() };
        if !search.run(ends, slots) {
            return Ok(Deletion::Far);
        }
        let best = search.best;
        // A fate matters only if it could make a better candidate than the best one known.
        let better = |rank| best.is_none_or(|(known, _)| rank < known);
        search.unknown.retain(|&(rank, _)| better(rank));
        if !search.unknown.is_empty() {
            ask.extend(search.unknown.into_iter().map(|(_, xid)| xid));
            ask.sort_unstable();
            ask.dedup();
            return Ok(Deletion::Ask);
        }
        let Some((_, candidate)) = best else {
            return Ok(Deletion::NoPartner);
        };
        self.mark(ends, candidate, by)
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
    /// Slots read.
    looked: &'f mut u64,
    best: Option<(Rank, Candidate)>,
    /// Deleters whose fate is unknown, and the rank of their row if they rolled back.
    unknown: Vec<(Rank, u64)>,
}

impl<F: Fates> Search<'_, '_, F> {
    /// Reads both lists in turns. Each row is in both, so the search ends when either ends. `false` if it did not end
    /// within `slots` slots.
    fn run(&mut self, ends: Ends, slots: usize) -> bool {
        let mem = self.image.mem();
        let start = |id: EntityId, side| Cursor::start(Record::new(mem, id), side);
        let mut up = start(ends.child, Direction::Up);
        let mut down = start(ends.parent, Direction::Down);
        for _ in 0..slots {
            // No row is better than rank Inserter, so the first row of that rank ends the search.
            if matches!(self.best, Some((Rank::Inserter, _))) {
                return true;
            }
            *self.looked += 2;
            let Some(slot) = up.next(mem) else { return true };
            self.consider(slot, Direction::Up, ends.parent, ends.tree);
            let Some(slot) = down.next(mem) else { return true };
            self.consider(slot, Direction::Down, ends.child, ends.tree);
        }
        up.is_at_end() || down.is_at_end() || matches!(self.best, Some((Rank::Inserter, _)))
    }

    fn consider(&mut self, at: SlotRef, side: Direction, other: EntityId, tree: Option<TreeId>) {
        let slot = Slot::read(self.image.mem(), at);
        if slot.neighbour != other || slot.tree != tree {
            return;
        }
        match judge(self.image, slot.link, self.row, self.fates) {
            Fit::Rank(rank) if self.best.is_none_or(|(best, _)| rank < best) => {
                self.best = Some((rank, Candidate { slot: at, link: slot.link, side }));
            }
            // Rows of one transaction are often adjacent.
            Fit::If(rank, xid) if self.unknown.last() != Some(&(rank, xid)) => {
                self.unknown.push((rank, xid));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fate;
    use crate::records::version::{Hint, Side};
    use crate::{HeapMemory, Stamp};

    const EDGE: Edge<'_> = Edge { tree: None, parent: b"p", child: b"c" };

    /// Xids below 10 aborted, xids from 20 on are running, 15 is unknown, the others committed.
    fn fates(xid: u64) -> Fate {
        match xid {
            15 => Fate::Unknown,
            0..10 => Fate::Aborted,
            20.. => Fate::Running,
            _ => Fate::Committed,
        }
    }

    /// An image with these rows of one edge: (xmin, cmin, xmax), where 0 stands for none.
    fn with(rows: &[(u64, u32, u64)]) -> HeapMemory {
        let mut heap = HeapMemory::new(1 << 20);
        assert!(heap.grow());
        let image = Image::format(&heap, 1).unwrap();
        for &(xmin, cmin, xmax) in rows {
            image.insert(&EDGE, (xmin > 0).then_some(Stamp { xmin, cmin })).unwrap();
            if xmax > 0 {
                let row = RowVersion { xmin, raw_xmin: 0, cmin: Some(cmin) };
                let row = if xmin == 0 { RowVersion { cmin: None, ..row } } else { row };
                let by = Deleter { xmax, cmax: 0 };
                let done = image.delete(&EDGE, row, by, &|_| Fate::Running, &mut Vec::new());
                assert_eq!(done, Ok(Deletion::Done));
            }
        }
        heap
    }

    #[test]
    fn own_row_that_is_not_there_yet_takes_no_settled_row() {
        let heap = with(&[(0, 0, 0)]);
        let image = Image::open(&heap).unwrap();
        let row = RowVersion { xmin: 30, raw_xmin: 30, cmin: Some(2) };
        let by = Deleter { xmax: 30, cmax: 3 };
        let mut ask = Vec::new();
        assert_eq!(image.delete(&EDGE, row, by, &fates, &mut ask), Ok(Deletion::NoPartner));
        image.insert(&EDGE, Some(Stamp { xmin: 30, cmin: 2 })).unwrap();
        assert_eq!(image.delete(&EDGE, row, by, &fates, &mut ask), Ok(Deletion::Done));
    }

    /// Deletes by xid 30 and returns the (xmin, cmin) of the version that was marked.
    fn marked(heap: &HeapMemory, row: RowVersion) -> Result<(u64, u32), (Deletion, Vec<u64>)> {
        let image = Image::open(heap).unwrap();
        let before = heap.dump();
        let mut ask = Vec::new();
        let done = image.delete(&EDGE, row, Deleter { xmax: 30, cmax: 4 }, &fates, &mut ask);
        let done = done.unwrap();
        if done != Deletion::Done {
            assert!(heap.dump() == before, "{done:?} wrote");
            return Err((done, ask));
        }
        let mut next = image.root().version(crate::memory::root::Field::Oldest);
        let mut found = Vec::new();
        while let Some(id) = next {
            let version = Version::new(heap, id);
            if version.xmax() == 30 {
                assert_eq!((version.cmax(), version.hint(Side::Xmax)), (4, Hint::None));
                found.push((version.xmin(), version.cmin()));
            }
            next = version.next();
        }
        assert_eq!(found.len(), 1);
        Ok(found[0])
    }

    fn by_xid(xmin: u64) -> RowVersion {
        RowVersion { xmin, raw_xmin: crate::memory::casts::halves(xmin).0, cmin: None }
    }

    fn frozen(raw_xmin: u32) -> RowVersion {
        RowVersion { xmin: 0, raw_xmin, cmin: None }
    }

    const NONE: Result<(u64, u32), (Deletion, Vec<u64>)> = Err((Deletion::NoPartner, Vec::new()));

    #[test]
    fn the_inserters_row_comes_first_then_a_settled_then_one_whose_deleter_rolled_back() {
        let rows = [(0, 0, 5), (0, 0, 0), (12, 0, 0)];
        assert_eq!(marked(&with(&rows), by_xid(12)), Ok((12, 0)));
        assert_eq!(marked(&with(&rows[..2]), by_xid(12)), Ok((0, 0)));
        assert_eq!(marked(&with(&rows[..1]), by_xid(12)), Ok((0, 0)));
        assert_eq!(marked(&with(&[]), by_xid(12)), NONE);
        // The settled row gets a version; the row marked by 5 stays marked.
        let heap = with(&rows[..2]);
        assert_eq!(marked(&heap, frozen(2)), Ok((0, 0)));
        assert_eq!(Image::open(&heap).unwrap().stats().versions, 2);
    }

    #[test]
    fn another_xid_or_command_is_another_row() {
        assert_eq!(marked(&with(&[(13, 0, 0)]), by_xid(12)), NONE);
        let own = |cmin| RowVersion { cmin: Some(cmin), ..by_xid(30) };
        let rows = [(30, 1, 0), (30, 2, 0)];
        assert_eq!(marked(&with(&rows), own(2)), Ok((30, 2)));
        assert_eq!(marked(&with(&rows), own(3)), NONE);
    }

    #[test]
    fn a_frozen_xid_matches_by_its_32_bits() {
        let old = (7 << 32) + 12;
        assert_eq!(marked(&with(&[(old, 0, 0)]), frozen(12)), Ok((old, 0)));
        assert_eq!(marked(&with(&[(old, 0, 0)]), frozen(13)), NONE);
        assert_eq!(marked(&with(&[(old, 0, 0)]), by_xid(12)), NONE);
    }

    #[test]
    fn a_row_deleted_by_another_is_no_partner_unless_that_one_rolled_back() {
        for (xmax, expected) in [(5, Ok((12, 0))), (12, NONE), (25, NONE)] {
            assert_eq!(marked(&with(&[(12, 0, xmax)]), by_xid(12)), expected, "xmax {xmax}");
        }
        assert_eq!(marked(&with(&[(0, 0, 12)]), frozen(2)), NONE);
    }

    #[test]
    fn an_unknown_fate_is_asked_only_if_it_decides() {
        let ask = Err((Deletion::Ask, vec![15]));
        assert_eq!(marked(&with(&[(12, 0, 15)]), by_xid(12)), ask);
        assert_eq!(marked(&with(&[(12, 0, 15), (0, 0, 0)]), by_xid(12)), ask);
        assert_eq!(marked(&with(&[(12, 0, 15), (12, 0, 0)]), by_xid(12)), Ok((12, 0)));
        assert_eq!(marked(&with(&[(0, 0, 15), (0, 0, 0)]), by_xid(12)), Ok((0, 0)));
        assert_eq!(marked(&with(&[(0, 0, 15)]), by_xid(12)), ask);
    }

    #[test]
    fn other_names_and_trees_are_no_partner() {
        let heap = with(&[(0, 0, 0)]);
        let image = Image::open(&heap).unwrap();
        image.insert(&Edge { tree: Some(b"t"), parent: b"p", child: b"d" }, None).unwrap();
        for edge in [
            Edge { tree: Some(b"t"), ..EDGE },
            Edge { tree: Some(b"unknown"), ..EDGE },
            Edge { parent: b"c", child: b"p", ..EDGE },
            Edge { child: b"d", ..EDGE },
            Edge { child: b"unknown", ..EDGE },
        ] {
            let by = Deleter { xmax: 30, cmax: 0 };
            let done = image.delete(&edge, frozen(2), by, &fates, &mut Vec::new());
            assert_eq!(done, Ok(Deletion::NoPartner), "{edge:?}");
        }
    }
}
