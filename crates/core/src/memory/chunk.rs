//! Where each line is in the chunks: pure arithmetic.
//!
//! An address is a *line* number: 64 bytes, the cache line. A chunk is half as large as all before it: 16 KiB four
//! times, then each power of two twice, up to 2 MiB. Then chunks have 4 MiB each, up to 256 MiB in all, and 8 MiB each
//! after that. So the chunk of a line is found with a few instructions, growing moves nothing, and at most a third of a
//! small image, or a thirtieth of a large one, is unused at its end.
//!
//! ```text
//!   chunk   0       1       ... 4       5       6       7       8        ... 18        ... 80         ...
//!   lines   0..     1 Ki..      4 Ki..  5 Ki..  6 Ki..  7 Ki..  8 Ki..       132 Ki..      4100 Ki..
//!   bytes   16 Ki   16 Ki       32 Ki   32 Ki   64 Ki   64 Ki   128 Ki       4 Mi          8 Mi
//! ```
//!
//! A process finds a line by its *segment*, 1 Ki lines (see `flat.rs`). So a chunk smaller than that leaves the line
//! numbers up to the next multiple unused: a *gap*. Chunk [`WITH_ADDRESSES`] ends in lines that are never allocated,
//! because they hold the addresses of the chunks after it: to the allocator, they are a gap too.

use crate::memory::casts;
use crate::memory::id::LINE_LIMIT;

/// Bytes of a line, the unit of address: a cache line.
pub const LINE_BYTES: usize = 64;

/// Lines that a process finds by one address.
pub(crate) const SEGMENT_LINES: u32 = 1 << 10;
/// Bytes of a segment.
pub const SEGMENT_BYTES: usize = casts::index(SEGMENT_LINES) * LINE_BYTES;
/// Lines of the chunks that are smaller than a segment. 16 KiB hold an empty image, and one of 20 edges.
const SMALL: [u32; 6] = [256, 256, 256, 256, 512, 512];
/// From the first other chunk on, lines are counted as if all before it had the size of that chunk.
const FIRST: usize = SMALL.len();
const SHIFT: u32 = (SMALL.len() as u32 - 2) * SEGMENT_LINES;
/// Lines of the chunks that have the same size, 4 MiB, and where they begin, counted so.
const EQUAL: u32 = 1 << 16;
const EQUAL_FROM: u32 = 2 * EQUAL;
const FIRST_EQUAL: usize = FIRST + 2 * (EQUAL / SEGMENT_LINES).ilog2() as usize;
/// Lines of the chunks that are twice as large, and where they begin. Still larger ones would waste more than they save
/// in table length.
const LARGE: u32 = 2 * EQUAL;
const LARGE_FROM: u32 = SEGMENT_LINES << 12;
const FIRST_LARGE: usize = FIRST_EQUAL + ((LARGE_FROM - EQUAL_FROM) / EQUAL) as usize;

/// The most chunks of an image: those that lie wholly below the last line number.
pub const MAX_CHUNKS: usize = {
    let mut n = 0;
    while first_line(n) <= LINE_LIMIT - size(n) {
        n += 1;
    }
    n
};

/// The chunk whose last lines hold addresses: 1 MiB, so that they are half a percent of the image.
pub(crate) const WITH_ADDRESSES: usize = 15;
/// These lines: eight addresses each, of the chunks after it.
const ADDRESS_LINES: u32 = (MAX_CHUNKS - WITH_ADDRESSES - 1).div_ceil(LINE_BYTES / 8) as u32;

/// Line numbers in the gaps of all chunks before each one, up to the last chunk with a gap.
const GAPS: [u32; WITH_ADDRESSES + 2] = {
    let mut gaps = [0; WITH_ADDRESSES + 2];
    let mut i = 0;
    while i <= WITH_ADDRESSES {
        gaps[i + 1] = gaps[i] + (first_line(i + 1) - first_line(i) - lines_of(i));
        i += 1;
    }
    gaps
};

/// Bytes of chunk `index`: 16 KiB rising to 4 MiB, then 4 MiB each, then 8 MiB each.
#[must_use]
pub const fn chunk_bytes(index: usize) -> usize {
    casts::index(size(index)) * LINE_BYTES
}

/// Where chunk `index` begins in a file that has segment `n` at `n * SEGMENT_BYTES`.
#[must_use]
pub const fn chunk_start(index: usize) -> usize {
    casts::index(first_line(index)) * LINE_BYTES
}

/// Lines of chunk `index`.
pub(crate) const fn size(index: usize) -> u32 {
    if index < FIRST {
        SMALL[index]
    } else if index < FIRST_EQUAL {
        SEGMENT_LINES << ((index - FIRST) / 2)
    } else if index < FIRST_LARGE {
        EQUAL
    } else {
        LARGE
    }
}

/// Lines of chunk `index` that may be allocated, which are its first.
pub(crate) const fn lines_of(index: usize) -> u32 {
    size(index) - if index == WITH_ADDRESSES { ADDRESS_LINES } else { 0 }
}

/// The first line of chunk `index`, which may be one past the last.
pub(crate) const fn first_line(index: usize) -> u32 {
    if index < FIRST {
        index as u32 * SEGMENT_LINES
    } else if index < FIRST_EQUAL {
        let (pair, second) = ((index - FIRST) / 2, (index - FIRST) as u32 % 2);
        SHIFT + ((2 + second) << pair) * SEGMENT_LINES
    } else if index < FIRST_LARGE {
        SHIFT + EQUAL_FROM + (index - FIRST_EQUAL) as u32 * EQUAL
    } else {
        SHIFT + LARGE_FROM + (index - FIRST_LARGE) as u32 * LARGE
    }
}

/// The chunk of a line, and the line's number in it. If that is not less than [`lines_of`], the line is in a gap.
#[inline]
pub(crate) const fn locate(line: u32) -> (usize, u32) {
    if line < FIRST as u32 * SEGMENT_LINES {
        return ((line / SEGMENT_LINES) as usize, line % SEGMENT_LINES);
    }
    let n = line - SHIFT;
    if n >= LARGE_FROM {
        (FIRST_LARGE + ((n - LARGE_FROM) / LARGE) as usize, n % LARGE)
    } else if n >= EQUAL_FROM {
        (FIRST_EQUAL + ((n - EQUAL_FROM) / EQUAL) as usize, n % EQUAL)
    } else {
        // The highest bit tells the pair, the next one which of the two.
        let half = n.ilog2() - 1;
        let pair = (half - SEGMENT_LINES.ilog2()) as usize;
        (FIRST + 2 * pair + (n >> half & 1) as usize, n % (1 << half))
    }
}

/// Whether no allocation may have the line.
pub(crate) const fn is_gap(line: u32) -> bool {
    let (chunk, offset) = locate(line);
    offset >= lines_of(chunk)
}

/// Lines that may be allocated before this line, which is a chunk's first, in it, or the one after its last.
pub(crate) fn lines_before(line: u32) -> u32 {
    let (chunk, offset) = locate(line);
    lines_before_chunk(chunk) + offset.min(lines_of(chunk))
}

/// Lines that may be allocated in the chunks before this one.
#[inline]
pub(crate) fn lines_before_chunk(index: usize) -> u32 {
    first_line(index) - GAPS[index.min(GAPS.len() - 1)]
}

/// The line that holds the address of chunk `index`, and where: only for the chunks after [`WITH_ADDRESSES`].
pub(crate) fn address_place(index: usize) -> (u32, usize) {
    let i = index - WITH_ADDRESSES - 1;
    let first = first_line(WITH_ADDRESSES) + lines_of(WITH_ADDRESSES);
    (first + casts::word(i / 8), i % 8 * 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chunk_holds_exactly_the_lines_that_locate_says() {
        let (mut next, mut lines) = (0, 0);
        for chunk in 0..MAX_CHUNKS {
            let (first, size) = (first_line(chunk), size(chunk));
            assert_eq!(first, next, "{chunk}");
            assert_eq!(locate(first), (chunk, 0));
            assert_eq!(locate(first + size - 1), (chunk, size - 1));
            assert_eq!(lines_before(first), lines);
            assert!(!is_gap(first) && !is_gap(first + lines_of(chunk) - 1));
            lines += lines_of(chunk);
            let end = first + lines_of(chunk);
            assert_eq!(lines_before(end), lines);
            next = (first + size).next_multiple_of(SEGMENT_LINES);
            assert!((end..next).all(is_gap), "{chunk}");
        }
        assert!(next <= LINE_LIMIT && LINE_LIMIT - next < size(MAX_CHUNKS));
    }

    #[test]
    fn a_chunk_is_half_as_large_as_all_before_it_and_later_a_thirtieth() {
        let mut before = chunk_bytes(0);
        for chunk in 1..MAX_CHUNKS {
            assert!(chunk_bytes(chunk) * 2 <= before || chunk < 3, "{chunk}");
            assert!(chunk_bytes(chunk) * 30 <= before || before < 128 << 20, "{chunk}");
            before += chunk_bytes(chunk);
        }
        assert_eq!((0..4).map(chunk_bytes).sum::<usize>(), 64 << 10);
    }
}
