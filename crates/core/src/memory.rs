//! Flat memory in chunks, and the only unsafe code of the crate.
//!
//! `chunk.rs` says which line is where; this file maps chunks and reads and writes lines.
//!
//! Promises: a line that is not mapped, or an offset outside a line, panics and
//! is never undefined behaviour; no `&` or `&mut` to shared bytes is ever made;
//! each word is read and written as a relaxed atomic (a plain move on the
//! machines we know), so that readers may bump a temperature or store a hint
//! while others read. Bytes of names are copied plainly: they never change while
//! a record lives, and records are born and die under the exclusive lock.
#![expect(
    unsafe_code,
    reason = "shared memory is raw pointers; every other file goes through the checks here"
)]

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::chunk::{LINE_BYTES, MAX_CHUNKS, chunk_bytes, first_line, lines_of};
use crate::filter::Table;
use crate::id::{index, word};

/// Where this process has mapped the chunks of an image.
///
/// Each chunk is a whole number of first chunks, *segments*: a line finds its address with one
/// shift and one load, whichever chunk it is in.
#[derive(Debug, Default)]
pub struct Memory {
    segments: Vec<Segment>,
    mapped: usize,
    /// By [`Table`].
    pages: [KnownPages; 2],
}

/// Where the first pages of a table of the filter are, in the order of their numbers, as far as
/// this process has asked. A page never moves while the chunks are mapped, so it is looked for in
/// the image's directory once.
#[derive(Debug, Default)]
struct KnownPages(UnsafeCell<Vec<NonNull<u8>>>);

/// As many lines as the first chunk has.
#[derive(Clone, Copy, Debug)]
struct Segment {
    start: NonNull<u8>,
    /// Lines from `start` to the end of its chunk.
    left: u32,
}

// SAFETY: a Memory is a list of addresses whose bytes the caller of `map` keeps alive for as
// long as the Memory lives, on whichever thread it is used; the bytes themselves are guarded by
// the caller's lock, see the file's head. It is not Sync: `pages` grows behind a shared reference.
unsafe impl Send for Memory {}

impl Memory {
    /// A memory with no chunk mapped.
    #[must_use]
    pub const fn new() -> Memory {
        Memory {
            segments: Vec::new(),
            mapped: 0,
            pages: [const { KnownPages(UnsafeCell::new(Vec::new())) }; 2],
        }
    }

    /// Maps the next chunk, number [`Memory::mapped`].
    ///
    /// # Safety
    /// `base` is 64-byte aligned and begins `chunk_bytes(self.mapped())` bytes that may be
    /// read and written, through this and through other mappings of the same bytes, until
    /// `self` is dropped or cleared. Whoever writes them (through whichever mapping) holds
    /// the image's lock exclusively, or writes only by relaxed atomics of the same width.
    ///
    /// # Panics
    /// If `base` is not aligned, or all of [`MAX_CHUNKS`] are mapped.
    pub unsafe fn map(&mut self, base: NonNull<u8>) {
        assert!(self.mapped < MAX_CHUNKS, "all chunks are mapped");
        assert!(base.as_ptr().addr().is_multiple_of(LINE_BYTES), "a chunk begins on a line");
        let lines = lines_of(self.mapped);
        self.segments.extend((0..lines).step_by(SEGMENT_LINES as usize).map(|line| {
            // SAFETY: the caller promises `lines` lines, and `line` is less.
            let start = unsafe { base.add(line as usize * LINE_BYTES) };
            Segment { start, left: lines - line }
        }));
        self.mapped += 1;
        for table in [Table::Names, Table::Forms] {
            // Room for all pages that these lines can be, because there is none to be had under a lock. What is not used
            // of it is address space.
            let most = index(first_line(self.mapped)) / index(table.page_lines());
            let known = self.pages[table as usize].0.get_mut();
            known.reserve_exact(most.saturating_sub(known.len()));
        }
    }

    /// Chunks mapped.
    #[must_use]
    pub fn mapped(&self) -> usize {
        self.mapped
    }

    /// Forgets all chunks; their memory is the caller's again.
    pub fn clear(&mut self) {
        self.segments.clear();
        self.mapped = 0;
        self.forget_pages();
    }

    /// Where a page is, if it was learned.
    #[inline(always)]
    pub(crate) fn known_page(&self, table: Table, page: u32) -> Option<Page<'_>> {
        // SAFETY: a Memory is not Sync, and whoever has a mutable reference to the list calls
        // nothing of ours while it has it; this reference ends here.
        let known = unsafe { &*self.pages[table as usize].0.get() };
        // `learn_page` asked for a page of so many lines there.
        let start = *known.get(index(page))?;
        Some(Page { start, lines: index(table.page_lines()), memory: PhantomData })
    }

    /// Where a page is by the image's directory, which is `line_of`; learns some that come before
    /// it, and it, if all before it are known.
    #[cold]
    pub(crate) fn learn_page(
        &self,
        table: Table,
        page: u32,
        line_of: impl Fn(u32) -> u32,
    ) -> Page<'_> {
        let found = self.page(line_of(page), index(table.page_lines()));
        let list = self.pages[table as usize].0.get();
        for _ in 0..LEARNED_TOGETHER {
            // SAFETY: as in `known_page`.
            let (len, room) = unsafe { ((*list).len(), (*list).capacity()) };
            // An image that is not sound may say that there are more pages than lines for them.
            if len > index(page) || len == room {
                break;
            }
            let next = self.page(line_of(word(len)), index(table.page_lines()));
            // SAFETY: no reference to the list is alive, see `known_page`; `push` has room.
            unsafe { (*list).push(next.start) };
        }
        found
    }

    /// Forgets where pages are: the directory is about to be another's, or is not trusted.
    pub(crate) fn forget_pages(&self) {
        for known in &self.pages {
            // SAFETY: no reference to the list is alive, see `known_page`.
            unsafe { (*known.0.get()).clear() };
        }
    }

    /// The line of that number.
    #[inline]
    pub(crate) fn line(&self, line: u32) -> Line<'_> {
        self.span(line).first
    }

    /// The lines of chunk 0, where the root is.
    #[inline]
    pub(crate) fn first_lines(&self) -> FirstLines<'_> {
        FirstLines { start: self.span(0).first.start, memory: PhantomData }
    }

    /// The lines from that number to the end of its chunk, as one stretch of bytes.
    #[inline(always)]
    pub(crate) fn span(&self, line: u32) -> Span<'_> {
        let offset = line % SEGMENT_LINES;
        let segment = self.segments[(line / SEGMENT_LINES) as usize];
        // SAFETY: the segment is mapped, or the index above had panicked; a segment has
        // SEGMENT_LINES lines (every chunk is a multiple: asserted below), and `offset` is less.
        // So the result is inside the chunk's allocation.
        let start = unsafe { segment.start.add(offset as usize * LINE_BYTES) };
        Span { first: Line { start, memory: PhantomData }, lines: segment.left - offset }
    }

    /// So many lines from that number on.
    #[inline]
    pub(crate) fn page(&self, line: u32, lines: usize) -> Page<'_> {
        let span = self.span(line);
        assert!(lines <= span.lines as usize, "an allocation lies in one chunk");
        Page { start: span.first.start, lines, memory: PhantomData }
    }

    /// Asks the processor to fetch a line that may soon be read, if it is mapped.
    #[inline]
    pub(crate) fn prefetch(&self, line: u32) {
        if ((line / SEGMENT_LINES) as usize) < self.segments.len() {
            self.line(line).prefetch();
        }
    }

    /// The same of a line and the next.
    #[inline]
    pub(crate) fn prefetch_two(&self, line: u32) {
        if ((line / SEGMENT_LINES) as usize) < self.segments.len() {
            let first = self.line(line).start.as_ptr();
            prefetch(first);
            // It may be past the end of the chunk; nothing is read.
            prefetch(first.wrapping_add(LINE_BYTES));
        }
    }
}

/// More bytes than a chunk has.
const FAR: usize = 1 << 30;
/// Pages that one lookup learns at most, a few microseconds.
const LEARNED_TOGETHER: usize = 512;
/// Lines of a segment.
const SEGMENT_LINES: u32 = lines_of(0);

const _: () = {
    let mut chunk = 0;
    while chunk < MAX_CHUNKS {
        assert!(lines_of(chunk).is_multiple_of(SEGMENT_LINES));
        assert!(first_line(chunk).is_multiple_of(SEGMENT_LINES));
        chunk += 1;
    }
};

/// The lines of chunk 0. Once it is known to be mapped, which is asked once, each has its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstLines<'m> {
    start: NonNull<u8>,
    memory: PhantomData<&'m Memory>,
}

impl<'m> FirstLines<'m> {
    #[inline(always)]
    pub(crate) fn line(self, line: u32) -> Line<'m> {
        assert!(line < SEGMENT_LINES, "the root is in chunk 0");
        // SAFETY: `Memory::first_lines` found segment 0 mapped; it has SEGMENT_LINES lines.
        let start = unsafe { self.start.add(line as usize * LINE_BYTES) };
        Line { start, memory: PhantomData }
    }
}

/// A mapped line. Words in it are relaxed atomics.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'m> {
    start: NonNull<u8>,
    memory: PhantomData<&'m Memory>,
}

impl<'m> Line<'m> {
    #[inline]
    fn word(self, at: usize) -> &'m AtomicU32 {
        assert!(at <= LINE_BYTES - 4 && at.is_multiple_of(4), "a word lies in its line");
        // SAFETY: the line is 64 mapped bytes, 64-byte aligned, for as long as the Memory is
        // borrowed ('m: `map` and `clear` want it exclusively); `at` is inside and aligned.
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

    /// Sets bits; what a reader does to remember a fact.
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

    /// Asks the processor to fetch the line.
    #[inline]
    pub(crate) fn prefetch(self) {
        prefetch(self.start.as_ptr());
    }
}

/// The lines of a filter's page. Most of it is within [`NEAR`] lines, where a place is checked
/// by the compiler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page<'m> {
    start: NonNull<u8>,
    lines: usize,
    memory: PhantomData<&'m Memory>,
}

/// Lines that each page has.
const NEAR: usize = crate::bucket::TAILS_AT;

impl<'m> Page<'m> {
    #[inline]
    pub(crate) fn lines(self) -> usize {
        self.lines
    }

    /// The two words at `at`, which is a multiple of 8: four tags.
    #[inline(always)]
    pub(crate) fn tags(self, at: usize) -> Tags<'m> {
        Tags { start: self.at(at, 8, NEAR), memory: PhantomData }
    }

    /// The four words at `at`, which is a multiple of 16.
    #[inline(always)]
    pub(crate) fn words(self, at: usize) -> Words<'m> {
        Words { start: self.at(at, 16, NEAR), memory: PhantomData }
    }

    #[inline]
    fn at(self, at: usize, bytes: usize, lines: usize) -> NonNull<u8> {
        let inside = at <= lines * LINE_BYTES - bytes && at.is_multiple_of(bytes);
        assert!(inside && lines <= self.lines, "a word lies in its page");
        // SAFETY: `Memory::page` checked that `self.lines` lines of the chunk begin at `start`,
        // and `bytes` bytes from `at` on are inside `lines` of them, by the line above.
        unsafe { self.start.add(at) }
    }

    #[inline]
    fn double(self, at: usize, lines: usize) -> &'m AtomicU64 {
        // SAFETY: 8 bytes of a mapped page, for as long as the Memory is borrowed; a page begins
        // on a line and `at` is a multiple of 8; see `Line::word` for other writers.
        unsafe { AtomicU64::from_ptr(self.at(at, 8, lines).as_ptr().cast()) }
    }

    #[inline]
    pub(crate) fn set_u64(self, at: usize, value: u64) {
        self.double(at, NEAR).store(value, Relaxed);
    }

    /// As [`Page::u64`], anywhere in the page.
    #[inline]
    pub(crate) fn far_u64(self, at: usize) -> u64 {
        self.double(at, self.lines).load(Relaxed)
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
    /// Asks the processor to fetch them.
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

/// Four words that lie together; see [`Line`] for who may write them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'m> {
    start: NonNull<u8>,
    memory: PhantomData<&'m Memory>,
}

impl<'m> Words<'m> {
    /// One of two, without a branch.
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

    /// Asks the processor to fetch them.
    #[inline]
    pub(crate) fn prefetch(self) {
        prefetch(self.start.as_ptr());
    }
}

/// Asks the processor to fetch a line. Changes nothing.
#[inline]
fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: SSE is part of x86_64, and a prefetch has no effect the language sees.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast::<i8>()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// A line and those after it in its chunk: where an allocation is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span<'m> {
    first: Line<'m>,
    /// Lines to the end of the chunk, at least 1.
    lines: u32,
}

impl<'m> Span<'m> {
    #[inline]
    pub(crate) fn first(self) -> Line<'m> {
        self.first
    }

    /// Line `i` of the span.
    #[inline]
    pub(crate) fn line(self, i: u32) -> Line<'m> {
        assert!(i < self.lines, "an allocation lies in one chunk");
        // SAFETY: `lines` lines of the chunk begin at `first`, and `i` is less.
        let start = unsafe { self.first.start.add(i as usize * LINE_BYTES) };
        Line { start, memory: PhantomData }
    }

    /// So many of its first lines, a power of two.
    #[inline]
    pub(crate) fn doubles(self, lines: u32) -> Doubles<'m> {
        let fit = lines.is_power_of_two() && lines <= self.lines;
        assert!(fit, "an allocation lies in one chunk");
        let last = lines * (LINE_BYTES as u32 / 8) - 1;
        Doubles { start: self.first.start, last, memory: PhantomData }
    }

    /// The address of `len` bytes from byte `at` on, which may go on in the lines after.
    #[inline(always)]
    fn bytes(self, at: usize, len: usize) -> *mut u8 {
        let left = self.lines as usize * LINE_BYTES;
        // No overflow: a slice has at most isize::MAX bytes, and a place in a chunk is less.
        assert!(at < FAR && len <= isize::MAX.cast_unsigned(), "a place is in a chunk");
        assert!(at + len <= left, "an allocation lies in one chunk");
        // SAFETY: `left` bytes of the chunk begin at `first`, and `at` is at most that.
        unsafe { self.first.start.as_ptr().add(at) }
    }

    /// Writes zeros over whole lines.
    pub(crate) fn zero(self, lines: u32) {
        let len = lines as usize * LINE_BYTES;
        let to = self.bytes(0, len);
        // SAFETY: `bytes` checked the room; the caller writes, so it holds the lock
        // exclusively and no one else touches the bytes.
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

    /// Whether the bytes in the image are these. Names are short, and of any length: the first
    /// and the last eight bytes, which may overlap, take one branch where a loop's end takes
    /// the processor by surprise.
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
                        // SAFETY: the same; `end` are the 8 bytes from `last` on.
                        unsafe { same::<8>(here, last, end) }
                    }));
        }
        // SAFETY: `bytes` checked `name.len()` bytes from `here` on, and `ends` looks at no others.
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

/// As many words of 64 bits as a power of two, in lines that lie together. Of a number that is too
/// great the lower bits count: nothing is to be checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Doubles<'m> {
    start: NonNull<u8>,
    /// The last one's number.
    last: u32,
    memory: PhantomData<&'m Memory>,
}

impl<'m> Doubles<'m> {
    #[inline(always)]
    fn double(self, i: u32) -> &'m AtomicU64 {
        let at = index(i & self.last) * 8;
        // SAFETY: `Span::doubles` checked that `last + 1` words of 8 bytes of a chunk begin at
        // `start`, which is a line's first byte, and `last` is one less than a power of two: so
        // the masked number is one of theirs. See `Line::word` for other writers.
        unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(at).cast()) }
    }

    #[inline(always)]
    pub(crate) fn get(self, i: u32) -> u64 {
        self.double(i).load(Relaxed)
    }

    pub(crate) fn set(self, i: u32, value: u64) {
        self.double(i).store(value, Relaxed);
    }

    /// Asks the processor to fetch it.
    #[inline(always)]
    pub(crate) fn prefetch(self, i: u32) {
        prefetch(self.double(i).as_ptr().cast());
    }
}

/// Whether the `N` bytes at `at` are these.
///
/// # Safety
/// `here` begins `at + N` bytes that may be read and that nobody writes.
#[inline]
unsafe fn same<const N: usize>(here: *const u8, at: usize, bytes: &[u8; N]) -> bool {
    // SAFETY: as the caller promises; an array of bytes has no alignment.
    *bytes == unsafe { here.add(at).cast::<[u8; N]>().read() }
}

/// Whether the first and the last `N` bytes at `here` are those of the name.
///
/// # Safety
/// `here` begins `name.len()` bytes that may be read and that nobody writes.
#[inline]
unsafe fn ends<const N: usize>(here: *const u8, name: &[u8]) -> bool {
    let (Some(first), Some(last)) = (name.first_chunk::<N>(), name.last_chunk::<N>()) else {
        return name.is_empty();
    };
    // SAFETY: the name has `N` bytes or more, so both are inside.
    unsafe { same(here, 0, first) & same(here, name.len() - N, last) }
}

/// Which of the eight tags of two buckets are the upper 16 bits of a hash, a bit each.
#[inline(always)]
pub(crate) fn equal_tags(tags: [Tags<'_>; 2], hash: u64) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{
            _mm_cmpeq_epi16, _mm_cvtsi64_si128, _mm_loadl_epi64, _mm_movemask_epi8,
            _mm_packs_epi16, _mm_setzero_si128, _mm_shufflelo_epi16, _mm_unpacklo_epi64,
        };
        // SAFETY: SSE2 is part of x86_64. The loads are 8 bytes each, see `Tags::get`, and plain:
        // nobody writes tags while the caller holds the lock.
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

/// The same in arithmetic that every machine has.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn equal_tags_plainly(tags: [u64; 2], wanted: u64) -> u32 {
    let [first, second] = tags.map(|tags| crate::bucket::equal_slots(tags, wanted));
    first | second << 4
}

/// A bit for each byte of 16, 32, 48 or 64: its highest.
#[inline(always)]
pub(crate) fn bits<const N: usize>(bytes: [u8; N]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_loadu_si128, _mm_movemask_epi8};
        let sixteens = bytes.as_chunks::<16>().0.iter().enumerate();
        sixteens.fold(0, |bits, (i, sixteen)| {
            // SAFETY: SSE2 is part of x86_64; the load is of the 16 bytes of an array.
            let mask = unsafe { _mm_movemask_epi8(_mm_loadu_si128(sixteen.as_ptr().cast())) };
            bits | u64::from(mask.cast_unsigned()) << (i * 16)
        })
    }
    #[cfg(not(target_arch = "x86_64"))]
    bits_plainly(bytes)
}

/// The same in arithmetic that every machine has.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn bits_plainly<const N: usize>(bytes: [u8; N]) -> u64 {
    bytes.as_chunks::<8>().0.iter().enumerate().fold(0, |bits, (i, eight)| {
        // The product's highest byte has a bit of each of the eight.
        let ones = u64::from_le_bytes(*eight) >> 7 & 0x0101_0101_0101_0101;
        bits | (ones.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (i * 8)
    })
}

/// Words as the bytes they are in memory: what keeps the arena of names aligned.
#[inline]
pub(crate) fn as_bytes(words: &[u32]) -> &[u8] {
    // SAFETY: every bit pattern of a u32 is four valid bytes, the alignment of u8 is 1, and
    // the length in bytes is that of the borrowed slice.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

/// Words as the bytes they are in memory, to write them.
#[inline]
pub(crate) fn as_bytes_mut(words: &mut [u32]) -> &mut [u8] {
    // SAFETY: as in `as_bytes`; and any four bytes are a valid u32.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}

/// A memory on the heap, for tests and tools.
///
/// New chunks are filled with a pattern: the core must not count on zeros.
#[derive(Debug)]
pub struct HeapMemory {
    memory: Memory,
    chunks: Vec<NonNull<[Bytes]>>,
    limit: usize,
    bytes: usize,
}

#[repr(align(64))]
#[derive(Clone, Copy)]
struct Bytes([u8; LINE_BYTES]);

const _: () = assert!(size_of::<Bytes>() == LINE_BYTES);

// SAFETY: the chunks are owned, plain bytes; see Memory.
unsafe impl Send for HeapMemory {}

impl HeapMemory {
    /// An empty memory that may grow to `limit` bytes of chunks.
    #[must_use]
    pub fn new(limit: usize) -> HeapMemory {
        HeapMemory { memory: Memory::new(), chunks: Vec::new(), limit, bytes: 0 }
    }

    /// Maps one more chunk; `false`, and nothing changed, at the limit.
    #[must_use]
    pub fn grow(&mut self) -> bool {
        let more = chunk_bytes(self.chunks.len());
        if self.chunks.len() == MAX_CHUNKS || more > self.limit - self.bytes {
            return false;
        }
        self.adopt(vec![Bytes([0xA5; LINE_BYTES]); more / LINE_BYTES].into_boxed_slice());
        true
    }

    fn adopt(&mut self, chunk: Box<[Bytes]>) {
        self.bytes += size_of_val(&*chunk);
        let chunk = NonNull::from(Box::leak(chunk));
        self.chunks.push(chunk);
        // SAFETY: Bytes is 64-byte aligned; `grow` and `copy` make chunks of the size of
        // their number; they live until `self` is dropped, and `memory` with it.
        unsafe { self.memory.map(chunk.cast()) };
    }

    /// The same bytes at other addresses.
    #[must_use]
    pub fn copy(&self) -> HeapMemory {
        let mut copy = HeapMemory::load(&self.dump());
        copy.limit = self.limit;
        copy
    }

    /// A memory of these bytes, as [`HeapMemory::dump`] gave them. Missing bytes are 0.
    #[must_use]
    pub fn load(chunks: &[Vec<u8>]) -> HeapMemory {
        let mut heap = HeapMemory::new(usize::MAX);
        for (i, bytes) in chunks.iter().enumerate() {
            let mut chunk = vec![Bytes([0; LINE_BYTES]); chunk_bytes(i) / LINE_BYTES];
            for (line, from) in chunk.iter_mut().zip(bytes.chunks(LINE_BYTES)) {
                line.0[..from.len()].copy_from_slice(from);
            }
            heap.adopt(chunk.into_boxed_slice());
        }
        heap
    }

    /// The bytes of each chunk.
    #[must_use]
    pub fn dump(&self) -> Vec<Vec<u8>> {
        let mut chunks = Vec::new();
        for i in 0..self.chunks.len() {
            let mut bytes = vec![0; chunk_bytes(i)];
            self.memory.span(first_line(i)).copy_out(0, &mut bytes);
            chunks.push(bytes);
        }
        chunks
    }
}

impl std::ops::Deref for HeapMemory {
    type Target = Memory;
    fn deref(&self) -> &Memory {
        &self.memory
    }
}

impl Drop for HeapMemory {
    fn drop(&mut self) {
        self.memory.clear();
        for chunk in self.chunks.drain(..) {
            // SAFETY: each pointer came from Box::leak in `adopt`, is freed only here, and
            // the one Memory that refers to it has just forgotten it.
            drop(unsafe { Box::from_raw(chunk.as_ptr()) });
        }
    }
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
