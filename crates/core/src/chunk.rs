//! How lines lie in chunks: pure arithmetic.
//!
//! An address is a *line* number: 64 bytes, the cache line. Chunks double from
//! 64 KiB to 8 MiB and stay there, so that a line finds its chunk with a few
//! instructions, growing moves nothing, and at most 8 MiB lie idle at the end.
//!
//! ```text
//!   chunk   0       1        2       ...  6         7          8          ...
//!   lines   0..1 Ki 1..3 Ki  3..7 Ki      63..127Ki 127..255Ki 255..383Ki
//!   bytes   64 Ki   128 Ki   256 Ki       4 Mi      8 Mi       8 Mi
//! ```

use crate::id::{self, LINE_LIMIT};

/// Bytes of a line, the unit of address: a cache line.
pub const LINE_BYTES: usize = 64;

/// The first chunk is 64 KiB, so that a small table costs little.
const FIRST_CHUNK_LINES: u32 = 1 << FIRST_BITS;
const FIRST_BITS: u32 = 10;
/// Seven doublings: 8 MiB. Larger chunks would idle more than they save in table length.
const DOUBLINGS: u32 = 7;
/// From this line on, counted from one chunk before line 0, all chunks are equal.
const LINEAR: u32 = FIRST_CHUNK_LINES << DOUBLINGS;

/// Chunks an image can have: those that lie wholly below the last line number.
pub const MAX_CHUNKS: usize = {
    let mut n = 0;
    while first_line(n) <= LINE_LIMIT - lines_of(n) {
        n += 1;
    }
    n
};

/// Bytes of chunk `index`: 64 KiB doubling to 8 MiB, then 8 MiB each.
#[must_use]
pub const fn chunk_bytes(index: usize) -> usize {
    id::index(lines_of(index)) * LINE_BYTES
}

/// Lines of chunk `index`.
pub(crate) const fn lines_of(index: usize) -> u32 {
    let doublings = if index < DOUBLINGS as usize { index as u32 } else { DOUBLINGS };
    FIRST_CHUNK_LINES << doublings
}

/// The first line of chunk `index`, which may be one past the last.
pub(crate) const fn first_line(index: usize) -> u32 {
    if index <= DOUBLINGS as usize {
        (FIRST_CHUNK_LINES << index) - FIRST_CHUNK_LINES
    } else {
        LINEAR - FIRST_CHUNK_LINES + (index as u32 - DOUBLINGS) * LINEAR
    }
}

/// The chunk of a line, and the line's number in it.
#[inline]
pub(crate) const fn locate(line: u32) -> (usize, u32) {
    let n = line + FIRST_CHUNK_LINES;
    if n >= LINEAR {
        let chunk = n / LINEAR + (DOUBLINGS - 1);
        (chunk as usize, n % LINEAR)
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
