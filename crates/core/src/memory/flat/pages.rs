//! The pages of the filter: words in adjacent lines, and tags that are compared at once.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use super::Memory;
use super::lines::prefetch;
use crate::memory::casts::halves;
use crate::memory::chunk::LINE_BYTES;

/// The lines of a page of the filter. Most accesses are within [`NEAR`] lines, which the compiler can check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page<'m> {
    start: NonNull<u8>,
    lines: usize,
    memory: PhantomData<&'m Memory>,
}

/// Lines that each page has.
const NEAR: usize = crate::memory::tables::TAILS_AT;

impl<'m> Page<'m> {
    /// # Safety
    /// `start` begins `lines` lines of a chunk, each as [`super::Line::at`] requires.
    #[inline(always)]
    pub(super) unsafe fn at(start: NonNull<u8>, lines: usize) -> Page<'m> {
        Page { start, lines, memory: PhantomData }
    }

    #[inline(always)]
    pub(super) fn start(self) -> NonNull<u8> {
        self.start
    }

    #[inline]
    pub(crate) fn lines(self) -> usize {
        self.lines
    }

    /// The two words at `at`, which is a multiple of 8: four tags.
    #[inline(always)]
    pub(crate) fn tags(self, at: usize) -> Tags<'m> {
        Tags { start: self.place(at, 8, NEAR), memory: PhantomData }
    }

    /// The four words at `at`, which is a multiple of 16.
    #[inline(always)]
    pub(crate) fn words(self, at: usize) -> Words<'m> {
        Words { start: self.place(at, 16, NEAR), memory: PhantomData }
    }

    #[inline]
    fn place(self, at: usize, bytes: usize, lines: usize) -> NonNull<u8> {
        let inside = at <= lines * LINE_BYTES - bytes && at.is_multiple_of(bytes);
        assert!(inside && lines <= self.lines, "a word lies in its page");
        // SAFETY: `self.lines` lines of the chunk begin at `start`, see `Page::at`,
        // and `bytes` bytes from `at` on are inside `lines` of them, by the line above.
        unsafe { self.start.add(at) }
    }

    #[inline]
    fn double(self, at: usize, lines: usize) -> &'m AtomicU64 {
        // SAFETY: 8 bytes of a mapped page, for as long as the Memory is borrowed; a page begins
        // on a line and `at` is a multiple of 8; see `Line::word` for other writers.
        unsafe { AtomicU64::from_ptr(self.place(at, 8, lines).as_ptr().cast()) }
    }

    #[inline]
    pub(crate) fn set_u64(self, at: usize, value: u64) {
        self.double(at, NEAR).store(value, Relaxed);
    }

    /// The two words at `at`, anywhere in the page.
    #[inline]
    pub(crate) fn far_u64(self, at: usize) -> u64 {
        self.double(at, self.lines).load(Relaxed)
    }

    /// Prefetches what [`Page::far_u64`] reads.
    #[inline]
    pub(crate) fn prefetch(self, at: usize) {
        prefetch(self.double(at, self.lines).as_ptr().cast());
    }

    #[inline]
    pub(crate) fn set_far_u64(self, at: usize, value: u64) {
        self.double(at, self.lines).store(value, Relaxed);
    }
}

/// Four tags of 16 bits. Only writers change them, under the exclusive lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tags<'m> {
    start: NonNull<u8>,
    memory: PhantomData<&'m Memory>,
}

impl Tags<'_> {
    /// Prefetches the tags.
    #[inline]
    pub(crate) fn prefetch(self) {
        prefetch(self.start.as_ptr());
    }

    #[inline]
    pub(crate) fn get(self) -> u64 {
        // SAFETY: `Page::tags` checked that 8 bytes of a mapped page begin there, on a multiple
        // of 8, for as long as the Memory is borrowed.
        unsafe { AtomicU64::from_ptr(self.start.as_ptr().cast()) }.load(Relaxed)
    }
}

/// Four adjacent words; see [`super::Line`] for who may write them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'m> {
    start: NonNull<u8>,
    memory: PhantomData<&'m Memory>,
}

impl<'m> Words<'m> {
    /// Selects the first or the second, without a branch.
    #[inline(always)]
    pub(crate) fn select(first: bool, a: Words<'m>, b: Words<'m>) -> Words<'m> {
        let start = std::hint::select_unpredictable(first, a.start, b.start);
        Words { start, memory: PhantomData }
    }

    #[inline(always)]
    fn word(self, i: usize) -> &'m AtomicU32 {
        // SAFETY: `Page::words` checked that 16 bytes of a mapped page begin there, on a multiple
        // of 16, for as long as the Memory is borrowed; i % 4 is one of four.
        unsafe { AtomicU32::from_ptr(self.start.as_ptr().add(i % 4 * 4).cast()) }
    }

    #[inline(always)]
    pub(crate) fn get(self, i: usize) -> u32 {
        self.word(i).load(Relaxed)
    }

    #[inline]
    pub(crate) fn set(self, i: usize, value: u32) {
        self.word(i).store(value, Relaxed);
    }

    /// Prefetches the words.
    #[inline]
    pub(crate) fn prefetch(self) {
        prefetch(self.start.as_ptr());
    }
}

/// Which of the eight tags of two buckets equal the upper 16 bits of a hash, as a bit mask.
#[inline(always)]
pub(crate) fn equal_tags(tags: [Tags<'_>; 2], hash: u64) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{
            _mm_cmpeq_epi16, _mm_cvtsi64_si128, _mm_loadl_epi64, _mm_movemask_epi8,
            _mm_packs_epi16, _mm_setzero_si128, _mm_shufflelo_epi16, _mm_unpacklo_epi64,
        };
        // SAFETY: SSE2 is part of x86_64. The loads are 8 bytes each, see `Tags::get`, and plain: no process writes
        // tags while the caller holds the lock.
        unsafe {
            let [first, second] = tags.map(|tags| _mm_loadl_epi64(tags.start.as_ptr().cast()));
            let wanted = _mm_shufflelo_epi16::<0xFF>(_mm_cvtsi64_si128(hash.cast_signed()));
            let wanted = _mm_unpacklo_epi64(wanted, wanted);
            let equal = _mm_cmpeq_epi16(_mm_unpacklo_epi64(first, second), wanted);
            _mm_movemask_epi8(_mm_packs_epi16(equal, _mm_setzero_si128())).cast_unsigned()
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    equal_tags_plainly(tags.map(Tags::get), hash >> 48)
}

/// Which of four tags equal the wanted one, as a bit mask.
#[inline]
pub(crate) fn equal_slots(tags: u64, wanted: u64) -> u32 {
    // Only a difference of 0 has neither a carry into its top bit nor a top bit.
    const LOW: u64 = 0x7FFF_7FFF_7FFF_7FFF;
    let differ = tags ^ (wanted * 0x0001_0001_0001_0001);
    let equal = !(((differ & LOW) + LOW) | differ) & !LOW;
    // Makes bits 15, 31, 47 and 63 adjacent: the product has each once, at 60 to 63.
    halves((equal >> 15).wrapping_mul(0x1000_2000_4000_8000) >> 60).0
}

/// Computes in arithmetic, for every machine, what the SSE2 function computes.
#[cfg(any(test, not(target_arch = "x86_64")))]
pub(super) fn equal_tags_plainly(tags: [u64; 2], wanted: u64) -> u32 {
    let [first, second] = tags.map(|tags| equal_slots(tags, wanted));
    first | second << 4
}
