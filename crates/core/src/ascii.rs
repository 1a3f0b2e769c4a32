//! Words of ASCII text: rules WB5 to WB13b of UAX #29, 64 bytes at a time.
//!
//! ```text
//!   text    S j - H o r n e r ' s   A . B ,   0 . 5
//!   runs    1 1 . 1 1 1 1 1 1 . 1 . 1 . 1 . . 1 . 1    letters, digits, underscores
//!   words   1 1 . 1 1 1 1 1 1 1 1 . 1 1 1 . . 1 1 1    and what joins two runs
//! ```
//!
//! A word of underscores only is none. Called by `words.rs`.

use crate::id::index;

/// Bytes that are looked at together: a bit of a `u64` each.
const BLOCK: usize = 64;

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Which bytes of a block are parts of words.
#[inline]
fn parts(block: &[u8; BLOCK]) -> u64 {
    // Written so that the compiler does sixteen at a time.
    let flags = block.map(|byte| u8::from(is_part(byte)));
    let mut bits = 0;
    for (i, eight) in flags.chunks_exact(8).enumerate() {
        let flags = u64::from_le_bytes(eight.try_into().expect("eight bytes"));
        // The product's highest byte has a bit of each of the eight.
        bits |= (flags.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (i * 8);
    }
    bits
}

/// The same for the block that begins at a place; bytes after the last are none.
#[inline]
fn parts_at(bytes: &[u8], at: usize) -> u64 {
    let rest = &bytes[at..];
    if let Some(block) = rest.first_chunk() {
        return parts(block);
    }
    let mut block = [0; BLOCK];
    block[..rest.len()].copy_from_slice(rest);
    parts(&block)
}

/// Whether the character at a place, which is no part of a word, joins those beside it.
#[inline]
fn joins(bytes: &[u8], at: usize) -> bool {
    // Mostly a blank follows, and that joins nothing.
    if bytes.get(at) == Some(&b' ') {
        return false;
    }
    let Some(&[before, between, after]) = bytes.get(at - 1..at + 2) else { return false };
    let letters = || before.is_ascii_alphabetic() && after.is_ascii_alphabetic();
    let digits = || before.is_ascii_digit() && after.is_ascii_digit();
    match between {
        b'.' | b'\'' => letters() || digits(),
        b':' => letters(),
        b',' | b';' => digits(),
        _ => false,
    }
}

/// A place in a stretch of ASCII.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cutter {
    /// Where the next block begins.
    next: usize,
    /// Of the block before it: parts of words that are still to come.
    bits: u64,
}

impl Cutter {
    /// At a place where no word is.
    pub(crate) fn at(at: usize) -> Cutter {
        Cutter { next: at, bits: 0 }
    }

    /// Goes on to the next block, if there is one.
    #[inline]
    fn enter(&mut self, bytes: &[u8]) -> Option<()> {
        if self.next >= bytes.len() {
            return None;
        }
        self.bits = parts_at(bytes, self.next);
        self.next += BLOCK;
        Some(())
    }

    /// The next run of parts: where it begins, and where it has ended.
    #[inline]
    fn run(&mut self, bytes: &[u8]) -> Option<(usize, usize)> {
        while self.bits == 0 {
            self.enter(bytes)?;
        }
        let from = self.next - BLOCK + index(self.bits.trailing_zeros());
        // To add to the lowest bit of a run clears it, and sets the bit after it.
        let (carried, passes) = self.bits.overflowing_add(self.bits & self.bits.wrapping_neg());
        if passes {
            return Some((from, self.rest_of_run(bytes)));
        }
        self.bits &= carried;
        Some((from, self.next - BLOCK + index(carried.trailing_zeros())))
    }

    /// Where the run ends that reaches the end of the block.
    fn rest_of_run(&mut self, bytes: &[u8]) -> usize {
        self.bits = 0;
        while self.enter(bytes).is_some() {
            let ones = self.bits.trailing_ones();
            if ones < u64::BITS {
                self.bits &= u64::MAX << ones;
                return self.next - BLOCK + index(ones);
            }
            self.bits = 0;
        }
        bytes.len()
    }

    /// The next word: where it begins, and where it has ended.
    #[inline]
    pub(crate) fn word(&mut self, bytes: &[u8]) -> Option<(usize, usize)> {
        loop {
            let (from, mut to) = self.run(bytes)?;
            while joins(bytes, to) {
                (_, to) = self.run(bytes)?;
            }
            if bytes[from] != b'_' || bytes[from..to].iter().any(|byte| *byte != b'_') {
                return Some((from, to));
            }
        }
    }
}
