//! Decides which row a delete means: how well each row of its edge fits.

use crate::memory::id::{Link, SlotRef};
use crate::memory::image::Image;
use crate::records::edge::{Fate, Fates, RowVersion};
use crate::records::record::Direction;
use crate::records::version::{Hint, Side, Version};

/// How well a row fits: a lower rank fits better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    Inserter,
    Settled,
    Marked,
}

/// Where a row is: its slot in the list that was searched, and what the slot links to.
#[derive(Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) slot: SlotRef,
    pub(crate) link: Link,
    pub(crate) side: Direction,
}

/// How a row fits a delete.
pub(crate) enum Fit {
    Rank(Rank),
    /// This rank, but only if that deleter rolled back.
    If(Rank, u64),
    None,
}

/// How the row of a slot of the wanted edge fits, as far as the fate of its deleter is known.
pub(crate) fn judge(image: Image<'_>, link: Link, row: RowVersion, fates: &impl Fates) -> Fit {
    let Link::Version(id) = link else {
        return if row.cmin.is_none() { Fit::Rank(Rank::Settled) } else { Fit::None };
    };
    let version = Version::new(image.mem(), id);
    let rank = match version.xmin() {
        0 if row.cmin.is_some() => return Fit::None,
        // A version without xmin and xmax is a settled row that still waits in the queue.
        0 if version.xmax() == 0 => Rank::Settled,
        0 => Rank::Marked,
        xmin if inserted_by(row, xmin, version.cmin()) => Rank::Inserter,
        _ => return Fit::None,
    };
    match undone(version, fates) {
        Ok(true) => Fit::Rank(rank),
        Ok(false) => Fit::None,
        Err(xmax) => Fit::If(rank, xmax),
    }
}

/// Whether the row has no deleter, or its deleter rolled back. The error is a deleter whose fate is unknown.
pub(crate) fn undone(version: Version<'_>, fates: &impl Fates) -> Result<bool, u64> {
    let xmax = version.xmax();
    if xmax == 0 {
        return Ok(true);
    }
    let fate = match version.hint(Side::Xmax) {
        Hint::Committed => Fate::Committed,
        Hint::Aborted => Fate::Aborted,
        Hint::None => fates.fate(xmax),
    };
    match fate {
        Fate::Aborted => Ok(true),
        Fate::Running | Fate::Committed => Ok(false),
        Fate::Unknown => Err(xmax),
    }
}

/// Whether the row to delete was inserted by this xid and command.
fn inserted_by(row: RowVersion, xmin: u64, cmin: u32) -> bool {
    let same_xid = match row.xmin {
        0 => crate::memory::casts::halves(xmin).0 == row.raw_xmin,
        xid => xid == xmin,
    };
    same_xid && row.cmin.is_none_or(|command| command == cmin)
}
