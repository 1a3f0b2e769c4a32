//! The image: a root over a [`Memory`], and what all its readers and writers share.
//!
//! The caller holds the lock of the image. A method marked *writer* needs it exclusive, one marked *reader* shared. The
//! core never waits, never allocates shared memory from elsewhere, and calls back only the traits and functions it is
//! given.

use crate::memory::alloc;
use crate::memory::casts::{index, word};
use crate::memory::chunk::{LINE_BYTES, MAX_CHUNKS, SEGMENT_LINES, WITH_ADDRESSES, first_line};
use crate::memory::error::Error;
use crate::memory::flat::Memory;
use crate::memory::root::{Field, Root};

/// An image over a memory.
#[derive(Clone, Copy, Debug)]
pub struct Image<'m>(Root<'m>);

impl<'m> Image<'m> {
    /// The image of a valid root.
    pub(crate) fn of(root: Root<'m>) -> Image<'m> {
        Image(root)
    }

    #[inline]
    pub(crate) fn mem(self) -> &'m Memory {
        self.0.mem()
    }

    #[inline]
    pub(crate) fn root(self) -> Root<'m> {
        self.0
    }

    /// Reader: how many chunks the image uses.
    #[must_use]
    pub fn chunks(&self) -> usize {
        index(self.root().get(Field::Chunks))
    }

    /// Writer: publishes the first `n` chunks, which are mapped here, so that lines are allocated from them. A smaller
    /// `n` than before changes nothing.
    ///
    /// # Panics
    /// If they are not mapped.
    pub fn publish_chunks(&self, n: usize) {
        assert!(n <= self.mem().mapped() && n <= MAX_CHUNKS, "published chunks are mapped");
        if n > self.chunks() {
            self.root().set(Field::Chunks, word(n));
        }
    }

    /// Reader: bytes certainly available without another chunk, whatever the sizes of the requests. Freed memory is not
    /// counted, though it is used first.
    #[must_use]
    pub fn free_bytes(&self) -> usize {
        alloc::certain_lines(self.root()) * LINE_BYTES
    }

    /// Reader: the number that [`Image::set_address`] set for chunk `n`. It is below [`Image::addressed`].
    ///
    /// # Panics
    /// If it is not.
    #[must_use]
    pub fn address(&self, n: usize) -> u64 {
        assert!(n < self.addressed(), "chunk {n} has an address, and its line is mapped");
        let (line, at) = self.root().address_place(n);
        line.u64(at)
    }

    /// Writer: remembers where chunk `n` is, for those that are to map it. Called before it is published, when all
    /// chunks before it are mapped.
    ///
    /// # Panics
    /// If `n` is not below [`Image::addressed`].
    pub fn set_address(&self, n: usize, address: u64) {
        assert!(n < self.addressed(), "chunk {n} has an address, and its line is mapped");
        let (line, at) = self.root().address_place(n);
        line.set_u64(at, address);
    }

    /// Reader: of how many chunks the addresses can be read here, published or not: the root has those of the first 16
    /// chunks, the last of these has all others.
    #[must_use]
    pub fn addressed(&self) -> usize {
        if self.mem().mapped() > WITH_ADDRESSES { MAX_CHUNKS } else { WITH_ADDRESSES + 1 }
    }

    /// Whether a writer has begun and not ended. If it is set when the lock is taken, a writer died during a change,
    /// and the image must be dropped.
    #[must_use]
    pub fn mutating(&self) -> bool {
        self.root().mutating()
    }

    /// A number that changes with every operation that moves or removes anything.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.root().epoch()
    }

    /// Reader: how many segments of [`SEGMENT_BYTES`] have memory in use.
    #[must_use]
    pub fn segments(&self) -> usize {
        let lines = self.root().get(Field::Bump).min(first_line(self.chunks()));
        index(lines.div_ceil(SEGMENT_LINES))
    }

    /// Reader: copies segment `n`, which is below [`Image::segments`], and returns how many bytes it has.
    ///
    /// # Panics
    /// If there is no such segment, or no room for it.
    pub fn copy_segment(&self, n: usize, to: &mut [u8]) -> usize {
        self.mem().copy_segment(n, to)
    }

    /// Runs a writer's stores between the two marks of [`Image::mutating`].
    pub(crate) fn mutate<T>(self, work: impl FnOnce() -> T) -> T {
        self.root().set_mutating(true);
        let result = work();
        self.root().set_mutating(false);
        result
    }

    /// The error of an operation that needs `needed` bytes which are not available.
    pub(crate) fn full(self, needed: usize) -> Error {
        Error::Full { needed, free: alloc::loose_lines(self.root()) * LINE_BYTES }
    }
}
