//! A scan's position in a kept answer. Moves like a tuplestore's read pointer, so that SCROLL cursors work as over any
//! function.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// Rows before the next one forward.
    at: usize,
    /// Whether it has moved past the last row. If so, the next step backward returns the last row; if not, the one
    /// before the row last returned.
    ended: bool,
}

impl Cursor {
    /// The next row of `rows` in that direction.
    #[inline]
    pub fn step(&mut self, rows: usize, forward: bool) -> Option<usize> {
        if forward {
            if self.at < rows {
                self.at += 1;
                return Some(self.at - 1);
            }
            self.ended = true;
            return None;
        }
        if self.ended {
            (self.at, self.ended) = (rows, false);
        } else {
            self.at = self.at.saturating_sub(1);
        }
        self.at.checked_sub(1)
    }
}
