//! Allocations of several lines: bytes that are copied or compared.

use super::Line;
use crate::memory::chunk::LINE_BYTES;

/// More bytes than a chunk has.
const FAR: usize = 1 << 30;

/// A line and those after it in its chunk, where an allocation lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span<'m> {
    first: Line<'m>,
    /// Lines to the end of the chunk, at least 1.
    lines: u32,
}

impl<'m> Span<'m> {
    /// # Safety
    /// `lines` lines of a chunk begin with `first`, each as [`Line::at`] requires.
    #[inline(always)]
    pub(super) unsafe fn at(first: Line<'m>, lines: u32) -> Span<'m> {
        Span { first, lines }
    }

    #[inline(always)]
    pub(super) fn lines(self) -> u32 {
        self.lines
    }

    #[inline]
    pub(crate) fn first(self) -> Line<'m> {
        self.first
    }

    /// Line `i` of the span.
    #[inline]
    pub(crate) fn line(self, i: u32) -> Line<'m> {
        assert!(i < self.lines, "an allocation lies in one chunk");
        // SAFETY: `lines` lines of the chunk begin at `first`, and `i` is less.
        unsafe { Line::at(self.first.start().add(i as usize * LINE_BYTES)) }
    }

    /// The address of `len` bytes from byte `at` on; they may extend into later lines.
    #[inline(always)]
    fn bytes(self, at: usize, len: usize) -> *mut u8 {
        let left = self.lines as usize * LINE_BYTES;
        // No overflow: a slice has at most isize::MAX bytes, and a place in a chunk is less.
        assert!(at < FAR && len <= isize::MAX.cast_unsigned(), "a place is in a chunk");
        assert!(at + len <= left, "an allocation lies in one chunk");
        // SAFETY: `left` bytes of the chunk begin at `first`, and `at` is at most that.
        unsafe { self.first.start().as_ptr().add(at) }
    }

    /// Writes zeros over whole lines.
    pub(crate) fn zero(self, lines: u32) {
        let len = lines as usize * LINE_BYTES;
        let to = self.bytes(0, len);
        // SAFETY: `bytes` checked the room; the caller writes, so it holds the lock exclusively and no other process
        // touches the bytes.
        unsafe { to.write_bytes(0, len) };
    }

    /// Copies bytes into the image.
    pub(crate) fn copy_in(self, at: usize, from: &[u8]) {
        let to = self.bytes(at, from.len());
        // SAFETY: `bytes` checked the room; the caller writes, so it holds the lock
        // exclusively; `from` is an ordinary slice and overlaps no shared memory.
        unsafe { to.copy_from_nonoverlapping(from.as_ptr(), from.len()) };
    }

    /// Copies bytes out of the image.
    #[inline]
    pub(crate) fn copy_out(self, at: usize, to: &mut [u8]) {
        let from = self.bytes(at, to.len());
        // SAFETY: `bytes` checked the extent; `to` is an ordinary slice and overlaps no
        // shared memory; bytes of names do not change while the lock is held.
        unsafe { from.copy_to_nonoverlapping(to.as_mut_ptr(), to.len()) };
    }

    /// Whether the bytes at `at` are those of a name. Names are short, and of any length: comparing the first and the
    /// last bytes, which may overlap, takes one branch, while the end of a loop would be mispredicted.
    #[inline(always)]
    pub(crate) fn bytes_are(self, at: usize, name: &[u8]) -> bool {
        let here: *const u8 = self.bytes(at, name.len());
        if name.len() > 32 {
            let (words, rest) = name.as_chunks::<8>();
            let last = name.len() - 8;
            // SAFETY: `bytes` checked `name.len()` bytes from `here` on.
            return unsafe { words.iter().enumerate().all(|(i, word)| same(here, i * 8, word)) }
                && (rest.is_empty()
                    || name.last_chunk().is_some_and(|end| {
                        // SAFETY: `bytes` checked these, too; `end` is the 8 bytes from `last` on.
                        unsafe { same::<8>(here, last, end) }
                    }));
        }
        // SAFETY: `bytes` checked `name.len()` bytes from `here` on, and `ends` reads no others.
        unsafe {
            match name.len() {
                17..=32 => ends::<16>(here, name),
                8..=16 => ends::<8>(here, name),
                4..8 => ends::<4>(here, name),
                2..4 => ends::<2>(here, name),
                _ => ends::<1>(here, name),
            }
        }
    }
}

/// Whether the `N` bytes at `at` equal `bytes`.
///
/// # Safety
/// `here` begins `at + N` bytes that may be read and that are not written meanwhile.
#[inline]
unsafe fn same<const N: usize>(here: *const u8, at: usize, bytes: &[u8; N]) -> bool {
    // SAFETY: as the caller promises; an array of bytes has no alignment.
    *bytes == unsafe { here.add(at).cast::<[u8; N]>().read() }
}

/// Whether the first and the last `N` bytes at `here` are those of the name.
///
/// # Safety
/// `here` begins `name.len()` bytes that may be read and that are not written meanwhile.
#[inline]
unsafe fn ends<const N: usize>(here: *const u8, name: &[u8]) -> bool {
    let (Some(first), Some(last)) = (name.first_chunk::<N>(), name.last_chunk::<N>()) else {
        return name.is_empty();
    };
    // SAFETY: the name has `N` bytes or more, so both are inside.
    unsafe { same(here, 0, first) & same(here, name.len() - N, last) }
}
