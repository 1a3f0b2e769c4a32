//! Settle: versions that no snapshot needs any more go.
//!
//! ```text
//!  xmin aborted, xmin < horizon              the row never was: unlinked
//!  xmax committed, xmax < horizon            nobody sees the row: unlinked
//!  xmax aborted                              nobody deleted it: xmax cleared, go on
//!  no xmax; xmin committed, xmin < horizon   everyone sees it: the version is freed
//!  else                                      to the end of the queue
//! ```
//!
//! An xid below the horizon is not running, so only its fate is asked for. Versions are
//! examined from the front of the queue, each at most once a call. Writers only.

use crate::id::{Link, wide};
use crate::root::{Counter, Field};
use crate::slot::Slot;
use crate::version::{self, Side, Version};
use crate::visibility::Hint;
use crate::{Fate, Fates, Image, Settled};

/// What a version came to.
enum Verdict {
    /// The row goes.
    Unlink,
    /// The row stays and needs no version.
    Free,
    /// Not yet.
    Keep,
}

impl<'m> Image<'m> {
    /// Writer: examines up to `max` versions. Xids below `horizon` are visible to every
    /// snapshot or to none; fates needed and unknown are pushed to `ask`, each once.
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
            for _ in 0..turns {
                let Some(id) = self.root().version(Field::Oldest) else {
                    break;
                };
                let version = Version::new(self.mem(), id);
                done.examined += 1;
                match judge(version, horizon, fates, ask) {
                    Verdict::Unlink => self.unlink_versioned(version),
                    Verdict::Free => self.settle_row(version),
                    Verdict::Keep => {
                        version::put_last(self.mem(), version);
                        continue;
                    }
                }
                done.freed += 1;
            }
        });
        ask.sort_unstable();
        ask.dedup();
        done
    }

    /// The row's slots point at each other again.
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
            _ => return Verdict::Keep,
        },
    }
    if inserted == Fate::Committed && version.xmin() < horizon {
        Verdict::Free
    } else {
        Verdict::Keep
    }
}

/// What is remembered, else what is known of an xid below the horizon, and then remembered.
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
            // Rows of one transaction stand together in the queue.
            if ask.last() != Some(&xid) {
                ask.push(xid);
            }
        }
    }
    fate
}
