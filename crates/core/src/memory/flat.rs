//! Flat memory in chunks, and the only unsafe code of the crate.
//!
//! `chunk.rs` says in which chunk a line is; this file maps chunks and finds lines in them, and the files of `flat/`
//! read and write the lines. The `at` of a line, span or page says what it relies on.
//!
//! Promises: a line that is not mapped, or an offset outside a line, panics and is never undefined behaviour; no `&` or
//! `&mut` to shared bytes is ever made; each word is read and written as a relaxed atomic (a plain move on the machines
//! we know), so that readers may raise a temperature or store a hint while others read. Bytes of names are copied
//! plainly: they never change while a record exists, and records are created and removed under the exclusive lock.
#![expect(
    unsafe_code,
    reason = "shared memory is raw pointers; every other file goes through the checks of these"
)]

mod bytes;
mod heap;
mod known;
mod lines;
mod pages;
mod spans;

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::memory::casts::index;
use crate::memory::chunk::{
    LINE_BYTES, MAX_CHUNKS, SEGMENT_LINES, first_line, lines_before_chunk, size,
};

pub(crate) use bytes::{as_bytes, as_bytes_mut, as_text, bits};
pub use heap::HeapMemory;
use known::KnownPages;
pub(crate) use lines::{FirstLines, Line};
pub(crate) use pages::{Page, Tags, Words, equal_slots, equal_tags};
pub(crate) use spans::Span;

/// Where this process has mapped the chunks of an image.
///
/// Each chunk is divided into *segments* of 64 KiB: a line finds its address with one shift and one load, whichever
/// chunk it is in. A smaller chunk is one segment, too.
#[derive(Debug, Default)]
pub struct Memory {
    segments: Vec<Segment>,
    mapped: usize,
    /// Indexed by [`crate::memory::tables::Table`].
    pages: [KnownPages; 3],
}

/// A part of a chunk: [`SEGMENT_LINES`] lines, or a chunk with fewer.
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
        Memory { segments: Vec::new(), mapped: 0, pages: [const { KnownPages::new() }; 3] }
    }

    /// Maps the next chunk, number [`Memory::mapped`]; `false` if there is no memory to note its address.
    ///
    /// # Safety
    /// `base` is 64-byte aligned and begins `chunk_bytes(self.mapped())` bytes that may be read and written, through
    /// this and through other mappings of the same bytes, until `self` is dropped or cleared. A writer of them (through
    /// any mapping) holds the image's lock exclusively, or writes only by relaxed atomics of the same width.
    ///
    /// # Panics
    /// If `base` is not aligned, or all of [`MAX_CHUNKS`] are mapped.
    #[must_use]
    pub unsafe fn map(&mut self, base: NonNull<u8>) -> bool {
        assert!(self.mapped < MAX_CHUNKS, "all chunks are mapped");
        assert!(base.as_ptr().addr().is_multiple_of(LINE_BYTES), "a chunk begins on a line");
        if !self.make_room_for_chunk() {
            return false;
        }
        let lines = size(self.mapped);
        self.segments.extend((0..lines).step_by(SEGMENT_LINES as usize).map(|line| {
            // SAFETY: the caller promises `lines` lines, and `line` is less.
            let start = unsafe { base.add(line as usize * LINE_BYTES) };
            Segment { start, left: lines - line }
        }));
        self.mapped += 1;
        true
    }

    /// Makes room for the addresses of the next chunk; `false` if there is no memory.
    fn make_room_for_chunk(&mut self) -> bool {
        let segments = index(size(self.mapped).div_ceil(SEGMENT_LINES));
        self.segments.try_reserve(segments).is_ok()
            && self.make_room_for_pages(lines_before_chunk(self.mapped + 1))
    }

    /// The number of chunks mapped.
    #[must_use]
    pub fn mapped(&self) -> usize {
        self.mapped
    }

    /// Copies a segment, and returns how many bytes it has.
    pub(crate) fn copy_segment(&self, n: usize, to: &mut [u8]) -> usize {
        let segment = self.segments[n];
        let words = index(segment.left.min(SEGMENT_LINES)) * LINE_BYTES / size_of::<u64>();
        for (i, to) in to.as_chunks_mut().0[..words].iter_mut().enumerate() {
            // SAFETY: the segment is mapped, or the index above had panicked, and has that many words, aligned. Others
            // may store hints in them, by relaxed atomics.
            let word = unsafe { AtomicU64::from_ptr(segment.start.cast::<u64>().add(i).as_ptr()) };
            *to = word.load(Relaxed).to_ne_bytes();
        }
        words * size_of::<u64>()
    }

    /// Unmaps all chunks; their memory is the caller's again.
    pub fn clear(&mut self) {
        self.segments.clear();
        self.mapped = 0;
        self.forget_pages();
    }

    /// The line with that number.
    #[inline]
    pub(crate) fn line(&self, line: u32) -> Line<'_> {
        self.span(line).first()
    }

    /// The lines of chunk 0, which has the root.
    #[inline]
    pub(crate) fn first_lines(&self) -> FirstLines<'_> {
        // SAFETY: line 0 is the first of chunk 0, and `span` found it mapped.
        unsafe { FirstLines::at(self.line(0)) }
    }

    /// The lines from that number to the end of its chunk, as one stretch of bytes.
    #[inline(always)]
    pub(crate) fn span(&self, line: u32) -> Span<'_> {
        let offset = line % SEGMENT_LINES;
        let segment = self.segments[(line / SEGMENT_LINES) as usize];
        assert!(offset < segment.left, "a line lies in its chunk");
        // SAFETY: the segment is mapped, or the index above had panicked; `left` lines from its
        // start are its chunk's, and `offset` is less, by the line above.
        // So the result is inside the chunk's allocation, `left - offset` lines before its end;
        // the bytes are there until `map` or `clear`, which want the Memory exclusively.
        unsafe {
            let start = segment.start.add(offset as usize * LINE_BYTES);
            Span::at(Line::at(start), segment.left - offset)
        }
    }

    /// `lines` lines from that number on.
    #[inline]
    pub(crate) fn page(&self, line: u32, lines: usize) -> Page<'_> {
        let span = self.span(line);
        assert!(lines <= span.lines() as usize, "an allocation lies in one chunk");
        // SAFETY: the span has that many lines, by the line above.
        unsafe { Page::at(span.first().start(), lines) }
    }

    /// Prefetches a line, if it is mapped.
    #[inline]
    pub(crate) fn prefetch(&self, line: u32) {
        if let Some(address) = self.perhaps(line) {
            lines::prefetch(address);
        }
    }

    /// Prefetches this line and the next.
    #[inline]
    pub(crate) fn prefetch_two(&self, line: u32) {
        if let Some(address) = self.perhaps(line) {
            lines::prefetch(address);
            lines::prefetch(address.wrapping_add(LINE_BYTES));
        }
    }

    /// Where a line would be if its segment had all lines. It may be beyond the end of the chunk, but a prefetch reads
    /// nothing.
    #[inline]
    fn perhaps(&self, line: u32) -> Option<*const u8> {
        let segment = self.segments.get((line / SEGMENT_LINES) as usize)?;
        let offset = (line % SEGMENT_LINES) as usize * LINE_BYTES;
        Some(segment.start.as_ptr().wrapping_add(offset))
    }
}

const _: () = {
    let mut chunk = 0;
    while chunk < MAX_CHUNKS {
        assert!(size(chunk).is_multiple_of(SEGMENT_LINES) || size(chunk) < SEGMENT_LINES);
        assert!(first_line(chunk).is_multiple_of(SEGMENT_LINES));
        chunk += 1;
    }
};

#[cfg(test)]
#[path = "flat_tests.rs"]
mod tests;
