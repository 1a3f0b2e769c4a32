//! A line, and the words in it.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use super::Memory;
use crate::memory::chunk::{LINE_BYTES, size};

/// The lines of chunk 0. One check that it is mapped serves for all of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstLines<'m> {
    start: NonNull<u8>,
    memory: PhantomData<&'m Memory>,
}

impl<'m> FirstLines<'m> {
    /// # Safety
    /// `first` is the first line of a chunk 0.
    #[inline(always)]
    pub(super) unsafe fn at(first: Line<'m>) -> FirstLines<'m> {
        FirstLines { start: first.start, memory: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn line(self, line: u32) -> Line<'m> {
        assert!(line < const { size(0) }, "the root is in chunk 0");
        // SAFETY: chunk 0 begins at `start`, see `FirstLines::at`; it has that many lines.
        unsafe { Line::at(self.start.add(line as usize * LINE_BYTES)) }
    }
}

/// A mapped line. Words in it are relaxed atomics.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'m> {
    start: NonNull<u8>,
    memory: PhantomData<&'m Memory>,
}

impl<'m> Line<'m> {
    /// # Safety
    /// `start` begins 64 mapped bytes, 64-byte aligned, for as long as a Memory is borrowed ('m).
    /// Others write them only as [`Memory::map`] demands.
    #[inline(always)]
    pub(super) unsafe fn at(start: NonNull<u8>) -> Line<'m> {
        Line { start, memory: PhantomData }
    }

    #[inline(always)]
    pub(super) fn start(self) -> NonNull<u8> {
        self.start
    }

    #[inline]
    fn word(self, at: usize) -> &'m AtomicU32 {
        assert!(at <= LINE_BYTES - 4 && at.is_multiple_of(4), "a word lies in its line");
        // SAFETY: the line is 64 mapped bytes, 64-byte aligned, for as long as the Memory is
        // borrowed, see `Line::at`; `at` is inside and aligned.
        // An AtomicU32 allows for other writers of the word, as `map` demands of them.
        unsafe { AtomicU32::from_ptr(self.start.as_ptr().add(at).cast()) }
    }

    #[inline]
    fn double(self, at: usize) -> &'m AtomicU64 {
        assert!(at <= LINE_BYTES - 8 && at.is_multiple_of(8), "a word lies in its line");
        // SAFETY: as in `word`, for 8 bytes.
        unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(at).cast()) }
    }

    #[inline]
    pub(crate) fn u32(self, at: usize) -> u32 {
        self.word(at).load(Relaxed)
    }

    /// The three words from `at` on.
    #[inline(always)]
    pub(crate) fn words(self, at: usize) -> [u32; 3] {
        assert!(at <= LINE_BYTES - 12 && at.is_multiple_of(4), "words lie in their line");
        [0, 4, 8].map(|i| self.u32(at + i))
    }

    #[inline]
    pub(crate) fn set_u32(self, at: usize, value: u32) {
        self.word(at).store(value, Relaxed);
    }

    /// Sets bits. Readers may call it, to remember a fact.
    #[inline]
    pub(crate) fn or_u32(self, at: usize, bits: u32) {
        self.word(at).fetch_or(bits, Relaxed);
    }

    #[inline]
    pub(crate) fn u64(self, at: usize) -> u64 {
        self.double(at).load(Relaxed)
    }

    #[inline]
    pub(crate) fn set_u64(self, at: usize, value: u64) {
        self.double(at).store(value, Relaxed);
    }

    /// The bytes from `at` on.
    #[inline(always)]
    pub(crate) fn bytes<const N: usize>(self, at: usize) -> [u8; N] {
        assert!(N <= LINE_BYTES && at <= LINE_BYTES - N, "bytes lie in their line");
        // SAFETY: the line is 64 mapped bytes, see `Line::at`, and these are inside; the caller holds the lock, and
        // readers write only other words meanwhile, atomically.
        unsafe { self.start.as_ptr().add(at).cast::<[u8; N]>().read() }
    }

    /// Prefetches the line.
    #[inline]
    pub(crate) fn prefetch(self) {
        prefetch(self.start.as_ptr());
    }
}

/// Prefetches a line. Changes nothing.
#[inline]
pub(super) fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: SSE is part of x86_64, and a prefetch has no effect the language sees.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast::<i8>()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
