//! Settle: removes versions that no snapshot needs any more.
//!
//! ```text
//!  xmin aborted, xmin < horizon              no snapshot ever sees the row: unlinked
//!  xmax committed, xmax < horizon            no snapshot sees the row any more: unlinked
//!  xmax aborted                              the row was not deleted: xmax is cleared, next rule
//!  no xmax; xmin committed, xmin < horizon   every snapshot sees the row: the version is freed
//!  a fate is not known                       asked for; the version stays where it is
//!  else                                      moved to the end of the queue
//! ```
//!
//! Only fates of xids below the horizon are asked for, as these are not running. Versions are examined from the front
//! of the queue, each at most once a call. A version that waits for a fate stays in front until the answer comes:
//! otherwise a queue of more transactions than a call asks about would circulate for ever. Writers only.

use crate::memory::casts::wide;
use crate::memory::id::Link;
use crate::memory::root::{Counter, Field};
use crate::records::slot::Slot;
use crate::records::version::Hint;
use crate::records::version::{self, Side, Version};
use crate::{Fate, Fates, Image, Settled};

/// What to do with a version.
enum Verdict {
    /// Remove the row.
    Unlink,
    /// The row stays, without a version.
    Free,
    /// Keep it for now.
    Keep,
    /// Wait until a fate is known.
    Ask,
}

impl<'m> Image<'m> {
    /// Writer: examines up to `max` versions. Xids below `horizon` are visible to every snapshot or to none; fates that
    /// are needed and unknown are pushed to `ask`, each once.
    pub fn settle(
        &self,
        max: usize,
        horizon: u64,
        fates: &impl Fates,
        ask: &mut Vec<u64>,
    ) -> Settled {
        let waiting = self.root().count(Counter::Versions);
        let turns = wide(max).min(waiting);
        let mut done = Settled::default();
        if turns == 0 {
            return done;
        }
        self.mutate(|| {
            let mut next = self.root().version(Field::Oldest);
            for _ in 0..turns {
                let Some(id) = next else {
                    break;
                };
                let version = Version::new(self.mem(), id);
                next = version.next();
                done.examined += 1;
                match judge(version, horizon, fates, ask) {
                    Verdict::Unlink => self.unlink_versioned(version),
                    Verdict::Free => self.settle_row(version),
                    Verdict::Keep => {
                        version::put_last(self.mem(), version);
                        continue;
                    }
                    Verdict::Ask => continue,
                }
                done.freed += 1;
            }
        });
        ask.sort_unstable();
        ask.dedup();
        done
    }

    /// Makes the row's slots point at each other again.
    fn settle_row(self, version: Version<'m>) {
        let row = version.row();
        Slot::set_link(self.mem(), row.up, Link::Mirror(row.down));
        Slot::set_link(self.mem(), row.down, Link::Mirror(row.up));
        version::free(self.mem(), version);
    }

    fn unlink_versioned(self, version: Version<'m>) {
        let row = version.row();
        version::free(self.mem(), version);
        self.unlink(row);
    }
}

fn judge(version: Version<'_>, horizon: u64, fates: &impl Fates, ask: &mut Vec<u64>) -> Verdict {
    let mut fate = |xid, side| fate_of(version, xid, side, horizon, fates, ask);
    let inserted = match version.xmin() {
        0 => Fate::Committed,
        xmin => fate(xmin, Side::Xmin),
    };
    if inserted == Fate::Aborted && version.xmin() < horizon {
        return Verdict::Unlink;
    }
    match version.xmax() {
        0 => {}
        xmax => match fate(xmax, Side::Xmax) {
            Fate::Committed if xmax < horizon => return Verdict::Unlink,
            Fate::Aborted => version.set_deleter(0, 0),
            Fate::Unknown => return Verdict::Ask,
            Fate::Committed | Fate::Running => return Verdict::Keep,
        },
    }
    match inserted {
        Fate::Committed if version.xmin() < horizon => Verdict::Free,
        Fate::Unknown => Verdict::Ask,
        _ => Verdict::Keep,
    }
}

/// The fate that the version remembers. If there is none and the xid is below the horizon, asks `fates` and remembers a
/// final answer.
fn fate_of(
    version: Version<'_>,
    xid: u64,
    side: Side,
    horizon: u64,
    fates: &impl Fates,
    ask: &mut Vec<u64>,
) -> Fate {
    match version.hint(side) {
        Hint::Committed => return Fate::Committed,
        Hint::Aborted => return Fate::Aborted,
        Hint::None if xid >= horizon => return Fate::Running,
        Hint::None => {}
    }
    let fate = fates.fate(xid);
    match fate {
        Fate::Committed => version.remember(side, Hint::Committed),
        Fate::Aborted => version.remember(side, Hint::Aborted),
        Fate::Running => {}
        Fate::Unknown => {
            // Rows of one transaction are adjacent in the queue.
            if ask.last() != Some(&xid) {
                ask.push(xid);
            }
        }
    }
    fate
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Deleter, Deletion, Edge, HeapMemory, RowVersion, Stamp};

    const EDGE: Edge<'_> = Edge { tree: Some(b"t"), parent: b"p", child: b"c" };
    const HORIZON: u64 = 100;

    /// 1x committed, 2x aborted, 3x unknown; 1xx likewise, but not below the horizon.
    fn fates(xid: u64) -> Fate {
        match xid / 10 % 10 {
            1 => Fate::Committed,
            2 => Fate::Aborted,
            3 => Fate::Unknown,
            _ => Fate::Running,
        }
    }

    /// The result for a row: the (edge rows, versions) that remain, and the xids that were asked for.
    fn settled(xmin: u64, xmax: u64) -> (u64, u64, Vec<u64>) {
        let mut heap = HeapMemory::new(1 << 20);
        assert!(heap.grow());
        let image = Image::format(&heap, 1).unwrap();
        image.insert(&EDGE, (xmin > 0).then_some(Stamp { xmin, cmin: 0 })).unwrap();
        if xmax > 0 {
            let row = RowVersion { xmin, raw_xmin: 0, cmin: None };
            let by = Deleter { xmax, cmax: 0 };
            let done = image.delete(&EDGE, row, by, &fates, &mut Vec::new());
            assert_eq!(done, Ok(Deletion::Done));
        }
        let mut ask = Vec::new();
        let done = image.settle(10, HORIZON, &fates, &mut ask);
        let stats = image.stats();
        assert_eq!(done.freed, if stats.versions == 0 { 1 } else { 0 });
        assert_eq!(done.examined, 1);
        image.verify(&mut |problem| panic!("{problem:?}"));
        (stats.edge_rows, stats.versions, ask)
    }

    #[test]
    fn each_rule_of_the_table_holds() {
        // Inserted rows.
        assert_eq!(settled(10, 0), (1, 0, vec![]), "committed: settled");
        assert_eq!(settled(20, 0), (0, 0, vec![]), "aborted: never was");
        assert_eq!(settled(30, 0), (1, 1, vec![30]), "unknown: asked");
        assert_eq!(settled(110, 0), (1, 1, vec![]), "some snapshot may not see it");
        assert_eq!(settled(120, 0), (1, 1, vec![]), "not judged before the horizon");
        // Deleted rows.
        assert_eq!(settled(0, 11), (0, 0, vec![]), "committed: gone");
        assert_eq!(settled(0, 21), (1, 0, vec![]), "aborted: settled again");
        assert_eq!(settled(0, 31), (1, 1, vec![31]), "unknown: asked");
        assert_eq!(settled(0, 111), (1, 1, vec![]), "some snapshot still sees it");
        // Rows inserted and deleted.
        assert_eq!(settled(10, 11), (0, 0, vec![]));
        assert_eq!(settled(10, 21), (1, 0, vec![]));
        assert_eq!(settled(10, 111), (1, 1, vec![]));
        assert_eq!(settled(20, 21), (0, 0, vec![]), "own subtransactions, all rolled back");
        assert_eq!(settled(110, 21), (1, 1, vec![]));
        assert_eq!(settled(30, 31), (1, 1, vec![30, 31]));
        assert_eq!(settled(30, 21), (1, 1, vec![30]));
    }

    #[test]
    fn a_remembered_fate_does_not_stand_in_for_the_horizon() {
        for (hint, xmin, xmax) in [
            (Hint::Committed, 110, 0),
            (Hint::Aborted, 120, 0),
            (Hint::Committed, 0, 110),
            (Hint::Committed, 10, 110),
        ] {
            let mut heap = HeapMemory::new(1 << 20);
            assert!(heap.grow());
            let image = Image::format(&heap, 1).unwrap();
            image.insert(&EDGE, (xmin > 0).then_some(Stamp { xmin, cmin: 0 })).unwrap();
            if xmax > 0 {
                let row = RowVersion { xmin, raw_xmin: 0, cmin: None };
                let by = Deleter { xmax, cmax: 0 };
                let done = image.delete(&EDGE, row, by, &fates, &mut Vec::new());
                assert_eq!(done, Ok(Deletion::Done));
            }
            // A reader, whose snapshot is younger than the horizon, stored what it knows.
            let version = Version::new(&heap, image.root().version(Field::Oldest).unwrap());
            version.remember(if xmax > 0 { Side::Xmax } else { Side::Xmin }, hint);
            let done = image.settle(1, HORIZON, &fates, &mut Vec::new());
            assert_eq!((done.freed, image.stats().versions), (0, 1), "{hint:?} {xmin} {xmax}");
            let done = image.settle(1, HORIZON * 2, &fates, &mut Vec::new());
            assert_eq!(done.freed, 1);
        }
    }

    #[test]
    fn the_queue_goes_round_and_never_past_max() {
        let mut heap = HeapMemory::new(1 << 20);
        assert!(heap.grow());
        let image = Image::format(&heap, 1).unwrap();
        for xmin in [30, 110, 10, 31, 30, 10] {
            image.insert(&EDGE, Some(Stamp { xmin, cmin: 0 })).unwrap();
        }
        let step = |max| {
            let mut ask = Vec::new();
            let done = image.settle(max, HORIZON, &fates, &mut ask);
            image.verify(&mut |problem| panic!("{problem:?}"));
            (done.examined, done.freed, ask)
        };
        assert_eq!(step(0), (0, 0, vec![]));
        assert_eq!(step(2), (2, 0, vec![30]));
        assert_eq!(step(2), (2, 1, vec![30]), "asked about and in front still");
        assert_eq!(step(2), (2, 0, vec![30, 31]));
        assert_eq!(step(99), (5, 1, vec![30, 31]), "each once");
        let known = |xid| if xid == 30 { Fate::Committed } else { fates(xid) };
        let mut ask = Vec::new();
        assert_eq!(image.settle(3, HORIZON, &known, &mut ask).freed, 2, "30, 31, 30");
        assert_eq!(ask, [31]);
        let epoch = image.epoch();
        assert_eq!(step(0), (0, 0, vec![]));
        assert_eq!(image.epoch(), epoch, "nothing to do is no mutation");
    }

    #[test]
    fn a_fate_is_remembered() {
        let mut heap = HeapMemory::new(1 << 20);
        assert!(heap.grow());
        let image = Image::format(&heap, 1).unwrap();
        image.insert(&EDGE, Some(Stamp { xmin: 10, cmin: 0 })).unwrap();
        let row = RowVersion { xmin: 10, raw_xmin: 10, cmin: None };
        let by = Deleter { xmax: 110, cmax: 0 };
        assert_eq!(image.delete(&EDGE, row, by, &fates, &mut Vec::new()), Ok(Deletion::Done));
        image.settle(1, HORIZON, &fates, &mut Vec::new());
        let unknown = |xid| if xid == 110 { Fate::Aborted } else { Fate::Unknown };
        let mut ask = Vec::new();
        let done = image.settle(1, HORIZON * 2, &unknown, &mut ask);
        assert_eq!((done.freed, ask), (1, vec![]));
    }
}
