//! Where each line is in the chunks: pure arithmetic.
//!
//! An address is a *line* number: 64 bytes, the cache line. Chunks double from 64 KiB to 4 MiB, keep that size up to
//! 256 MiB in all, and have 8 MiB each after that. So the chunk of a line is found with a few instructions, growing
//! moves nothing, and at most a thirtieth of a large image is unused at its end.
//!
//! ```text
//!   chunk   0       1        2       ...  5          6          ...  68             69         ...
//!   lines   0..1 Ki 1..3 Ki  3..7 Ki      31..63 Ki  63..127 Ki      4031..4095 Ki  4095..4223 Ki
//!   bytes   64 Ki   128 Ki   256 Ki       2 Mi       4 Mi            4 Mi           8 Mi
//! ```

use crate::memory::casts;
use crate::memory::id::LINE_LIMIT;

/// Bytes of a line, the unit of address: a cache line.
pub const LINE_BYTES: usize = 64;

/// The first chunk is 64 KiB, so that a small table costs little.
const FIRST_CHUNK_LINES: u32 = 1 << FIRST_BITS;
const FIRST_BITS: u32 = 10;
/// Doublings before chunks have the same size, 4 MiB each.
const DOUBLINGS: u32 = 6;
/// From this line on, chunks have the same size. Lines are counted from one first chunk before line 0.
const EQUAL: u32 = FIRST_CHUNK_LINES << DOUBLINGS;
/// From this line on, counted in the same way, chunks are twice as large. Still larger ones would waste more than they
/// save in table length.
const LARGE_FROM: u32 = FIRST_CHUNK_LINES << 12;
const LARGE: u32 = 2 * EQUAL;
/// The first of these larger chunks.
const FIRST_LARGE: u32 = DOUBLINGS + LARGE_FROM / EQUAL - 1;

/// The most chunks of an image: those that lie wholly below the last line number.
pub const MAX_CHUNKS: usize = {
    let mut n = 0;
    while first_line(n) <= LINE_LIMIT - lines_of(n) {
        n += 1;
    }
    n
};

/// Bytes of chunk `index`: 64 KiB doubling to 4 MiB, then 4 MiB each, then 8 MiB each.
#[must_use]
pub const fn chunk_bytes(index: usize) -> usize {
    casts::index(lines_of(index)) * LINE_BYTES
}

/// Lines of chunk `index`.
pub(crate) const fn lines_of(index: usize) -> u32 {
    if index < DOUBLINGS as usize {
        FIRST_CHUNK_LINES << index
    } else if index < FIRST_LARGE as usize {
        EQUAL
    } else {
        LARGE
    }
}

/// The first line of chunk `index`, which may be one past the last.
pub(crate) const fn first_line(index: usize) -> u32 {
    let from_before = if index <= DOUBLINGS as usize {
        FIRST_CHUNK_LINES << index
    } else if index <= FIRST_LARGE as usize {
        (index as u32 - DOUBLINGS + 1) * EQUAL
    } else {
        LARGE_FROM + (index as u32 - FIRST_LARGE) * LARGE
    };
    from_before - FIRST_CHUNK_LINES
}

/// The chunk of a line, and the line's number in it.
#[inline]
pub(crate) const fn locate(line: u32) -> (usize, u32) {
    let n = line + FIRST_CHUNK_LINES;
    if n >= LARGE_FROM {
        ((FIRST_LARGE + (n - LARGE_FROM) / LARGE) as usize, n % LARGE)
    } else if n >= EQUAL {
        ((DOUBLINGS + n / EQUAL - 1) as usize, n % EQUAL)
    } else {
        let log = n.ilog2();
        ((log - FIRST_BITS) as usize, n - (1 << log))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chunk_holds_exactly_the_lines_that_locate_says() {
        let mut next = 0;
        for chunk in 0..MAX_CHUNKS {
            assert_eq!(first_line(chunk), next);
            let last = lines_of(chunk) - 1;
            assert_eq!(locate(next), (chunk, 0));
            assert_eq!(locate(next + last), (chunk, last));
            next += last + 1;
        }
        assert!(next <= LINE_LIMIT && LINE_LIMIT - next < lines_of(MAX_CHUNKS));
    }
}
