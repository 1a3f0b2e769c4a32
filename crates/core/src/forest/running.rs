//! The xids that were running when the image was built, so that a later snapshot is known to see no less than the
//! build.
//!
//! ```text
//!   root --> next u32 | - u32 | 7 xids, u64 each --> next ... --> next 0
//! ```
//!
//! Most images have none, and no line for them. The list never changes; lines are taken one by one, because a small
//! image has no room for a run of them.

use crate::Image;
use crate::memory::alloc::{self, Plan};
use crate::memory::casts::{index, word};
use crate::records::record::planned;

/// Xids of a line.
const XIDS: usize = 7;

/// Lines of a list of so many xids.
pub(crate) fn lines_of(xids: usize) -> usize {
    xids.div_ceil(XIDS)
}

impl Image<'_> {
    /// Writer: remembers the xids that are running, once in a build. `false` if there is no memory; then nothing has
    /// changed.
    ///
    /// # Panics
    /// If it was called before, with any xids.
    #[must_use]
    pub fn set_running(&self, xids: &[u64]) -> bool {
        assert_eq!(self.running(), 0, "a build ends once");
        let mut plan = Plan::new(self.root());
        plan.take(1, lines_of(xids.len()));
        if plan.shortage().is_some() {
            return false;
        }
        self.mutate(|| {
            let mut next = 0;
            for some in xids.rchunks(XIDS) {
                let line = planned(alloc::take(self.mem(), 1)).get();
                self.mem().span(line).zero(1);
                self.mem().line(line).set_u32(0, next);
                for (i, xid) in some.iter().enumerate() {
                    self.mem().line(line).set_u64(8 + i * 8, *xid);
                }
                next = line;
            }
            self.root().set_running(next, word(xids.len()));
        });
        true
    }

    /// Reader: how many xids were running at the build.
    #[must_use]
    pub fn running(&self) -> usize {
        index(self.root().running().1)
    }

    /// Reader: whether the xid, which is not 0, was running at the build.
    #[must_use]
    pub fn ran(&self, xid: u64) -> bool {
        let (mut next, count) = self.root().running();
        for _ in 0..lines_of(index(count)) {
            let line = self.mem().line(next);
            // Unused places are 0.
            if (0..XIDS).any(|i| line.u64(8 + i * 8) == xid) {
                return true;
            }
            next = line.u32(0);
        }
        false
    }
}
