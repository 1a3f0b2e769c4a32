//! How a reader says which transactions its snapshot sees, and the heap's visibility rule for rows.
//!
//! The glue implements [`Visibility`]; the walk, the scan and `hot` use [`sees`]. Xids that a snapshot cannot judge
//! without I/O are collected, and looked up after the lock is released.

use crate::memory::flat::Memory;
use crate::memory::id::Link;
use crate::records::list::Cursor;
use crate::records::record::{Direction, Record};
use crate::records::slot::Slot;
use crate::records::trees::Trees;
use crate::records::unknown_xids::UnknownXids;
use crate::records::version::{Hint, Side, Version};

/// A snapshot's view of an xid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The caller's own transaction (or one of its subtransactions): command ids decide.
    Own,
    /// Committed, and the snapshot sees it.
    Seen,
    /// Running, aborted, or committed after the snapshot was taken.
    Unseen,
    /// The caller cannot tell without I/O: the xid counts as unseen, and the walk asks for it.
    Unknown,
}

/// A snapshot, as the core needs it. No method may block, allocate or raise.
pub trait Visibility {
    /// The snapshot's view of `xid`, given what the version remembers about it.
    fn view(&self, xid: u64, hint: Hint) -> View;
    /// A fact worth storing in the version. Asked only if the hint was [`Hint::None`] and the view was not
    /// [`View::Unknown`].
    fn learned(&self, xid: u64) -> Hint;
    /// The command id from which on rows written by the own transaction are invisible.
    fn curcid(&self) -> u32;
}

/// A snapshot to which every xid is committed and seen: for tools, and for images without versions.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllSeen;

impl Visibility for AllSeen {
    fn view(&self, _xid: u64, _hint: Hint) -> View {
        View::Seen
    }
    fn learned(&self, _xid: u64) -> Hint {
        Hint::None
    }
    fn curcid(&self) -> u32 {
        0
    }
}

/// Whether a snapshot sees the row that a slot belongs to. Unknown xids go to `ask` and count as unseen.
#[inline]
pub(crate) fn sees(
    mem: &Memory,
    link: Link,
    seen: &impl Visibility,
    ask: &mut UnknownXids,
) -> bool {
    match link {
        Link::Mirror(_) => true,
        Link::Version(id) => sees_version(Version::new(mem, id), seen, ask),
    }
}

/// Whether a snapshot sees any edge of an entity, or one in these trees if some are given. Adds the slots read to
/// `visited`.
pub(crate) fn has_visible_edge(
    mem: &Memory,
    record: Record<'_>,
    only: Option<&Trees>,
    seen: &impl Visibility,
    ask: &mut UnknownXids,
    visited: &mut usize,
) -> bool {
    [Direction::Up, Direction::Down].into_iter().any(|direction| {
        let mut cursor = Cursor::start(record, direction);
        std::iter::from_fn(|| cursor.next(mem)).any(|at| {
            *visited += 1;
            let slot = Slot::read(mem, at);
            only.is_none_or(|trees| trees.has(slot.tree)) && sees(mem, slot.link, seen, ask)
        })
    })
}

/// The heap's visibility rule: the row was inserted before the snapshot (or by an earlier command of the own
/// transaction), and not deleted before it.
fn sees_version(version: Version<'_>, seen: &impl Visibility, ask: &mut UnknownXids) -> bool {
    let mut view = |xid, side| {
        let hint = version.hint(side);
        let view = seen.view(xid, hint);
        match view {
            View::Unknown => ask.add(xid),
            _ if hint == Hint::None => version.remember(side, seen.learned(xid)),
            _ => {}
        }
        view
    };
    let inserted = match version.xmin() {
        0 => true,
        xmin => match view(xmin, Side::Xmin) {
            View::Own => version.cmin() < seen.curcid(),
            View::Seen => true,
            View::Unseen => false,
            // The deleter may be unknown as well: ask for both in one round.
            View::Unknown => {
                if version.xmax() != 0 {
                    view(version.xmax(), Side::Xmax);
                }
                false
            }
        },
    };
    inserted
        && match version.xmax() {
            0 => true,
            xmax => match view(xmax, Side::Xmax) {
                View::Own => version.cmax() >= seen.curcid(),
                View::Unseen => true,
                View::Seen | View::Unknown => false,
            },
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Deleter, Deletion, Edge, Fate, HeapMemory, Image, Prefix, RowVersion, Stamp, Step, Walk,
    };

    /// Own transaction 50 at command 5; xid 10 is seen, 20 is not, 30 is unknown.
    struct Snapshot;

    impl Visibility for Snapshot {
        fn view(&self, xid: u64, _hint: Hint) -> View {
            match xid {
                50 => View::Own,
                10 => View::Seen,
                20 => View::Unseen,
                _ => View::Unknown,
            }
        }
        fn learned(&self, _xid: u64) -> Hint {
            Hint::None
        }
        fn curcid(&self) -> u32 {
            5
        }
    }

    fn sees_row(xmin: Option<(u64, u32)>, xmax: Option<(u64, u32)>) -> (bool, Vec<u64>) {
        let mut heap = HeapMemory::new(1 << 20);
        assert!(heap.grow());
        let image = Image::format(&heap, 1).unwrap();
        let edge = Edge { tree: None, parent: b"p", child: b"c" };
        image.insert(&edge, xmin.map(|(xmin, cmin)| Stamp { xmin, cmin })).unwrap();
        if let Some((xmax, cmax)) = xmax {
            let row = RowVersion { xmin: xmin.map_or(0, |x| x.0), raw_xmin: 2, cmin: None };
            let fates = |_| Fate::Running;
            let by = Deleter { xmax, cmax };
            let done = image.delete(&edge, row, by, &fates, &mut Vec::new());
            assert_eq!(done, Ok(Deletion::Done));
        }
        let mut walk = Walk::new(Prefix::LENGTH);
        walk.begin(b"c", 1, 0);
        let step = walk.step(image, &Snapshot, 100);
        assert_eq!(step == Step::Ask, !walk.asked().is_empty());
        walk.finish();
        (!walk.rows().is_empty(), walk.asked().to_vec())
    }

    #[test]
    fn the_rule_is_the_heaps() {
        let insert = [
            (None, true),
            (Some((10, 0)), true),
            (Some((20, 0)), false),
            (Some((50, 4)), true),
            (Some((50, 5)), false),
        ];
        let delete = [
            (None, true),
            (Some((10, 0)), false),
            (Some((20, 0)), true),
            (Some((50, 4)), false),
            (Some((50, 5)), true),
        ];
        for (xmin, inserted) in insert {
            for (xmax, stays) in delete {
                let expected = (inserted && stays, vec![]);
                assert_eq!(sees_row(xmin, xmax), expected, "xmin {xmin:?} xmax {xmax:?}");
            }
        }
    }

    #[test]
    fn the_unknown_is_unseen_and_asked_once() {
        assert_eq!(sees_row(Some((30, 0)), None), (false, vec![30]));
        assert_eq!(sees_row(Some((30, 0)), Some((31, 0))), (false, vec![30, 31]));
        assert_eq!(sees_row(None, Some((31, 0))), (false, vec![31]));
        assert_eq!(sees_row(Some((20, 0)), Some((31, 0))), (false, vec![]));
    }
}
