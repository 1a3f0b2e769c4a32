//! The version of an edge row that not all snapshots see alike, and the queue in which versions wait to be settled.
//!
//! ```text
//!  byte 0     8     16    20    24     28      32        36     40    44   48   52   56
//!       +-----+-----+-----+-----+------+-------+---------+------+-----+----+----+----+---+
//!       |xmin |xmax |cmin |cmax |hints |up_slot|down_slot|parent|child|tree|next|prev| - |
//!       +-----+-----+-----+-----+------+-------+---------+------+-----+----+----+----+---+
//!  xmin 0: settled, everyone sees the insert.  xmax 0: not deleted.
//! ```
//!
//! The queue is first in, first out; root.rs has its ends. Hints are the only thing that a reader stores here (it sets
//! bits, atomically); only writers store anything else.

use crate::memory::alloc;
use crate::memory::flat::{Line, Memory};
use crate::memory::id::{EntityId, SlotRef, TreeId, VersionId, to_word};
use crate::memory::root::{Counter, Field, Root};
use crate::records::record::{Direction, planned};

const XMIN: usize = 0;
const XMAX: usize = 8;
const CMIN: usize = 16;
const CMAX: usize = 20;
const HINTS: usize = 24;
const UP_SLOT: usize = 28;
const DOWN_SLOT: usize = 32;
const PARENT: usize = 36;
const CHILD: usize = 40;
const TREE: usize = 44;
const NEXT: usize = 48;
const PREV: usize = 52;

/// What a version record remembers about one of its xids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Nothing yet.
    None,
    /// It committed.
    Committed,
    /// It rolled back.
    Aborted,
}

/// Which xid of a version a hint is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Xmin,
    Xmax,
}

impl Side {
    /// The bits "committed" and "aborted" of the hints' word.
    const fn bits(self) -> (u32, u32) {
        match self {
            Side::Xmin => (1, 2),
            Side::Xmax => (4, 8),
        }
    }
}

/// A version in a memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Version<'m> {
    id: VersionId,
    line: Line<'m>,
}

/// The row that a version belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) parent: EntityId,
    pub(crate) child: EntityId,
    pub(crate) tree: Option<TreeId>,
    pub(crate) up: SlotRef,
    pub(crate) down: SlotRef,
}

/// Writes a version at the end of the queue. The caller has planned its line.
pub(crate) fn create<'m>(mem: &'m Memory, xmin: u64, cmin: u32, row: Row) -> Version<'m> {
    let line = planned(alloc::take(mem, 1));
    mem.span(line.get()).zero(1);
    let version = Version::new(mem, VersionId::at(line));
    version.line.set_u64(XMIN, xmin);
    version.line.set_u32(CMIN, cmin);
    version.line.set_u32(UP_SLOT, row.up.to_word());
    version.line.set_u32(DOWN_SLOT, row.down.to_word());
    version.line.set_u32(PARENT, row.parent.line());
    version.line.set_u32(CHILD, row.child.line());
    version.line.set_u32(TREE, to_word(row.tree));
    enqueue(mem, version);
    Root::new(mem).add(Counter::Versions, 1);
    version
}

fn enqueue<'m>(mem: &'m Memory, version: Version<'m>) {
    let root = Root::new(mem);
    let last = root.version(Field::Newest);
    version.line.set_u32(NEXT, 0);
    version.line.set_u32(PREV, to_word(last));
    match last {
        Some(last) => mem.line(last.line()).set_u32(NEXT, version.id.line()),
        None => root.set_version(Field::Oldest, Some(version.id)),
    }
    root.set_version(Field::Newest, Some(version.id));
}

fn dequeue<'m>(mem: &'m Memory, version: Version<'m>) {
    let root = Root::new(mem);
    let (next, prev) = (version.next(), version.prev());
    match prev {
        Some(prev) => mem.line(prev.line()).set_u32(NEXT, to_word(next)),
        None => root.set_version(Field::Oldest, next),
    }
    match next {
        Some(next) => mem.line(next.line()).set_u32(PREV, to_word(prev)),
        None => root.set_version(Field::Newest, prev),
    }
}

/// Takes a version out of the queue and frees it. No slot links to it any more.
pub(crate) fn free<'m>(mem: &'m Memory, version: Version<'m>) {
    dequeue(mem, version);
    alloc::give(mem, version.id.line(), 1);
    Root::new(mem).subtract(Counter::Versions, 1);
}

/// Moves a version to the end of the queue.
pub(crate) fn put_last<'m>(mem: &'m Memory, version: Version<'m>) {
    dequeue(mem, version);
    enqueue(mem, version);
}

impl<'m> Version<'m> {
    #[inline]
    pub(crate) fn new(mem: &'m Memory, id: VersionId) -> Version<'m> {
        Version { id, line: mem.line(id.line()) }
    }

    pub(crate) fn id(self) -> VersionId {
        self.id
    }

    #[inline]
    pub(crate) fn xmin(self) -> u64 {
        self.line.u64(XMIN)
    }

    #[inline]
    pub(crate) fn cmin(self) -> u32 {
        self.line.u32(CMIN)
    }

    #[inline]
    pub(crate) fn xmax(self) -> u64 {
        self.line.u64(XMAX)
    }

    #[inline]
    pub(crate) fn cmax(self) -> u32 {
        self.line.u32(CMAX)
    }

    /// Sets the deleter (none if `xmax` is 0), and clears its hints.
    pub(crate) fn set_deleter(self, xmax: u64, cmax: u32) {
        let (committed, aborted) = Side::Xmax.bits();
        self.line.set_u64(XMAX, xmax);
        self.line.set_u32(CMAX, cmax);
        self.line.set_u32(HINTS, self.line.u32(HINTS) & !(committed | aborted));
    }

    #[inline]
    pub(crate) fn hint(self, side: Side) -> Hint {
        let (committed, aborted) = side.bits();
        let hints = self.line.u32(HINTS);
        if hints & committed != 0 {
            Hint::Committed
        } else if hints & aborted != 0 {
            Hint::Aborted
        } else {
            Hint::None
        }
    }

    /// Remembers a fate. Readers may call it, under the shared lock.
    #[inline]
    pub(crate) fn remember(self, side: Side, hint: Hint) {
        let (committed, aborted) = side.bits();
        match hint {
            Hint::None => {}
            Hint::Committed => self.line.or_u32(HINTS, committed),
            Hint::Aborted => self.line.or_u32(HINTS, aborted),
        }
    }

    /// Sets the place of the row's slot in that direction, after the slot has moved.
    pub(crate) fn set_slot(self, direction: Direction, slot: SlotRef) {
        let at = match direction {
            Direction::Up => UP_SLOT,
            Direction::Down => DOWN_SLOT,
        };
        self.line.set_u32(at, slot.to_word());
    }

    /// The row; none if the words cannot be a row's (for verify()).
    pub(crate) fn try_row(self) -> Option<Row> {
        Some(Row {
            parent: EntityId::from_word(self.line.u32(PARENT))?,
            child: EntityId::from_word(self.line.u32(CHILD))?,
            tree: TreeId::from_word(self.line.u32(TREE)),
            up: SlotRef::from_word(self.line.u32(UP_SLOT)),
            down: SlotRef::from_word(self.line.u32(DOWN_SLOT)),
        })
    }

    /// The row.
    ///
    /// # Panics
    /// If the version has no valid row, which is a bug.
    pub(crate) fn row(self) -> Row {
        self.try_row().expect("a version has a parent and a child")
    }

    pub(crate) fn next(self) -> Option<VersionId> {
        VersionId::from_word(self.line.u32(NEXT))
    }

    pub(crate) fn prev(self) -> Option<VersionId> {
        VersionId::from_word(self.line.u32(PREV))
    }
}
