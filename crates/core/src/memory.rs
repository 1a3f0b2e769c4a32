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

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::chunk::{LINE_BYTES, MAX_CHUNKS, chunk_bytes, first_line, lines_of, locate};

/// Where this process has mapped the chunks of an image.
#[derive(Debug, Default)]
pub struct Memory {
    bases: Vec<NonNull<u8>>,
}

// SAFETY: a Memory is a list of addresses whose bytes the caller of `map` keeps alive for as
// long as the Memory lives, on whichever thread it is used. It is not Sync only because no
// one needs it; the bytes themselves are guarded by the caller's lock, see the file's head.
unsafe impl Send for Memory {}

impl Memory {
    /// A memory with no chunk mapped.
    #[must_use]
    pub const fn new() -> Memory {
        Memory { bases: Vec::new() }
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
        assert!(self.bases.len() < MAX_CHUNKS, "all chunks are mapped");
        assert!(base.as_ptr().addr().is_multiple_of(LINE_BYTES), "a chunk begins on a line");
        self.bases.push(base);
    }

    /// Chunks mapped.
    #[must_use]
    pub fn mapped(&self) -> usize {
        self.bases.len()
    }

    /// Forgets all chunks; their memory is the caller's again.
    pub fn clear(&mut self) {
        self.bases.clear();
    }

    /// The line of that number.
    #[inline]
    pub(crate) fn line(&self, line: u32) -> Line<'_> {
        let (chunk, offset) = locate(line);
        self.line_in(chunk, offset)
    }

    /// A line of chunk 0, where the root is.
    #[inline]
    pub(crate) fn root_line(&self, line: u32) -> Line<'_> {
        assert!(line < lines_of(0), "the root is in chunk 0");
        self.line_in(0, line)
    }

    #[inline]
    fn line_in(&self, chunk: usize, offset: u32) -> Line<'_> {
        let base = self.bases[chunk];
        // SAFETY: `chunk` is mapped, or the index above had panicked; `locate` gives an
        // offset below `lines_of(chunk)` (asserted for every chunk in the tests), as does
        // `root_line`, and `map` was promised that many lines. So the result is inside the
        // chunk's allocation.
        let start = unsafe { base.add(offset as usize * LINE_BYTES) };
        Line { start, memory: PhantomData }
    }

    /// The lines from that number to the end of its chunk, as one stretch of bytes.
    #[inline]
    pub(crate) fn span(&self, line: u32) -> Span<'_> {
        let (chunk, offset) = locate(line);
        Span { first: self.line_in(chunk, offset), lines: lines_of(chunk) - offset }
    }

    /// Asks the processor to fetch a line that may soon be read, if it is mapped.
    #[inline]
    pub(crate) fn prefetch(&self, line: u32) {
        let (chunk, offset) = locate(line);
        if chunk < self.bases.len() {
            self.line_in(chunk, offset).prefetch();
        }
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

    /// Asks the processor to fetch the line. Changes nothing.
    #[inline]
    pub(crate) fn prefetch(self) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: SSE is part of x86_64, and a prefetch has no effect the language sees.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(self.start.as_ptr().cast::<i8>()) };
        }
    }
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

    /// The address of `len` bytes from byte `at` on, which may go on in the lines after.
    #[inline]
    fn bytes(self, at: usize, len: usize) -> *mut u8 {
        let left = self.lines as usize * LINE_BYTES;
        assert!(at <= left && len <= left - at, "an allocation lies in one chunk");
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

    /// Whether the bytes in the image are these. Eight at a time: names are short.
    #[inline]
    pub(crate) fn bytes_are(self, at: usize, name: &[u8]) -> bool {
        let mut here: *const u8 = self.bytes(at, name.len());
        let (words, rest) = name.as_chunks::<8>();
        for word in words {
            // SAFETY: `bytes` checked `name.len()` bytes from `here` on, and each turn of
            // the loop consumes 8 of them; reading is allowed under either lock.
            let (there, next) = unsafe { (here.cast::<[u8; 8]>().read(), here.add(8)) };
            if there != *word {
                return false;
            }
            here = next;
        }
        rest.iter().enumerate().all(|(i, &byte)| {
            // SAFETY: `rest` are the bytes of `name` after the words, and `here` now stands
            // at the first of theirs, so `i` is inside what `bytes` checked.
            byte == unsafe { here.add(i).read() }
        })
    }
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
mod tests {
    use super::*;

    #[test]
    fn words_and_bytes_read_back() {
        let mut heap = HeapMemory::new(1 << 20);
        assert!(heap.grow() && heap.grow());
        heap.line(1500).set_u64(56, u64::MAX - 1);
        assert_eq!(heap.line(1500).u64(56), u64::MAX - 1);
        heap.span(1500).copy_in(60, b"across lines, twice the eight bytes");
        assert!(heap.span(1500).bytes_are(60, b"across lines, twice the eight bytes"));
        assert!(!heap.span(1500).bytes_are(60, b"across lines, twice the eight bytez"));
        assert!(!heap.span(1500).bytes_are(60, b"bcross lines, twice the eight bytes"));
        assert!(heap.span(1500).bytes_are(60, b""));
        let copy = heap.copy();
        assert!(copy.span(1500).bytes_are(60, b"across lines"));
        assert_eq!(copy.dump(), heap.dump());
    }

    #[test]
    fn a_heap_memory_stops_at_its_limit() {
        let mut heap = HeapMemory::new(chunk_bytes(0) + chunk_bytes(1));
        assert!(heap.grow() && heap.grow() && !heap.grow());
        assert_eq!(heap.mapped(), 2);
    }

    #[test]
    #[should_panic(expected = "index out of bounds")]
    fn an_unmapped_line_panics() {
        let mut heap = HeapMemory::new(1 << 20);
        assert!(heap.grow());
        let _ = heap.line(1024);
    }

    #[test]
    #[should_panic(expected = "one chunk")]
    fn bytes_past_a_chunk_panic() {
        let mut heap = HeapMemory::new(1 << 20);
        assert!(heap.grow() && heap.grow());
        heap.span(1023).copy_out(0, &mut [0; 65]);
    }
}
