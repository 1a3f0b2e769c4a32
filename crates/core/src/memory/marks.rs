//! A bit for each line of an image: whether the record there was judged.
//!
//! The marks are used by scans that release the lock between two steps, so that the image may change. An entity stays
//! in its line as long as a snapshot sees an edge of it, so a marked one is not judged twice, even if its entry has
//! moved.

use crate::memory::casts::index;
use crate::memory::id::RecordId;

/// Words allocated at the start: 8 KiB, for an image of 4 MiB.
const USUAL_WORDS: usize = 1024;

#[derive(Debug, Default)]
pub(crate) struct Marks {
    words: Vec<u64>,
    /// Lines of the image at the last call of [`Marks::fit`].
    lines: u32,
}

impl Marks {
    /// Marks with room for a small image.
    pub(crate) fn new() -> Marks {
        Marks { words: vec![0; USUAL_WORDS], lines: 0 }
    }

    /// Whether there is room for an image of `lines` lines; if not, call [`Marks::make_room`].
    pub(crate) fn fit(&mut self, lines: u32) -> bool {
        self.lines = lines;
        self.has_room()
    }

    /// Makes room for the marks of the image, and of an eighth more lines. Called without the lock. Returns `false` if
    /// there is no memory.
    #[must_use]
    pub(crate) fn make_room(&mut self) -> bool {
        if self.has_room() {
            return true;
        }
        let words = index(self.lines / 64 + self.lines / 512) + USUAL_WORDS;
        let fits = self.words.try_reserve_exact(words.saturating_sub(self.words.len())).is_ok();
        if fits {
            self.words.resize(words, 0);
        }
        fits
    }

    fn has_room(&self) -> bool {
        index(self.lines) <= 64 * self.words.len()
    }

    pub(crate) fn has(&self, id: RecordId) -> bool {
        self.words[index(id.line() / 64)] >> (id.line() % 64) & 1 == 1
    }

    pub(crate) fn add(&mut self, id: RecordId) {
        self.words[index(id.line() / 64)] |= 1 << (id.line() % 64);
    }
}
