//! Words of ASCII text: rules WB5 to WB13b of UAX #29, 64 bytes at a time.
//!
//! ```text
//!   text    S j - H o r n e r ' s   A . B ,   0 . 5
//!   parts   1 1 . 1 1 1 1 1 1 . 1 . 1 . 1 . . 1 . 1    letters, digits, underscores
//!   joins   . . . . . . . . . 1 . . . 1 . . . . 1 .    characters that join their neighbours
//!   words   1 1 . 1 1 1 1 1 1 1 1 . 1 1 1 . . 1 1 1
//! ```
//!
//! Underscores alone are not a word. Called by `words.rs` and `text.rs`.

use crate::memory::casts::index;
use crate::memory::flat::{PLACES, bits};

/// Bytes processed together, each one bit of a `u64`.
pub(crate) const BLOCK: usize = 64;

/// The words of a block of bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<const N: usize> {
    /// Which of the bytes are in words.
    words: u64,
    /// The bytes, folded.
    pub(crate) folded: [u8; N],
    /// Whether some words may be underscores only, which do not count.
    pub(crate) has_underscores: bool,
}

impl<const N: usize> Block<N> {
    /// The block at byte `at`, up to 64 bytes. Written so that the compiler does sixteen at a time.
    #[inline(always)]
    pub(crate) fn of(bytes: &[u8], at: usize, block: &[u8; N]) -> Block<N> {
        let letters = block.map(|byte| mask((byte | CASE).wrapping_sub(b'a') < 26));
        let digits = block.map(|byte| mask(byte.wrapping_sub(b'0') < 10));
        let parts = bits::<N>(std::array::from_fn(|i| letters[i] | digits[i]));
        let blanks = bits(block.map(|byte| mask(byte == b' ')));
        let folded = std::array::from_fn(|i| block[i] | letters[i] & CASE);
        let (words, has_underscores) = if parts | blanks == u64::MAX >> (BLOCK - N) {
            (parts, false)
        } else {
            with_between(bytes, at, block, parts, blanks)
        };
        Block { words, folded, has_underscores }
    }

    /// Whether no byte of it is in a word.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.words == 0
    }

    /// Whether its last byte is in a word, which may continue in the next block.
    #[inline]
    pub(crate) fn ends_inside(&self) -> bool {
        self.words >> (N - 1) == 1
    }

    /// Where words begin and end; `inside` says whether the block begins inside a word.
    #[inline]
    pub(crate) fn borders(&self, inside: bool) -> Borders {
        Borders(self.words ^ (self.words << 1 | u64::from(inside)))
    }
}

/// Adds the characters within words that are neither letters nor digits; also returns whether there are underscores.
#[inline(never)]
fn with_between<const N: usize>(
    bytes: &[u8],
    at: usize,
    block: &[u8; N],
    parts: u64,
    blanks: u64,
) -> (u64, bool) {
    let underscores = bits(block.map(|byte| mask(byte == b'_')));
    let mut words = parts | underscores;
    // At the edges of the block `joins` decides: it sees the bytes of the neighbouring blocks.
    let beside = (words << 1 | 1) & (words >> 1 | 1 << (N - 1));
    let mut between = beside & !words & !blanks;
    while between != 0 {
        let i = between.trailing_zeros();
        between &= between - 1;
        words |= u64::from(joins(bytes, at + index(i))) << i;
    }
    (words, underscores != 0)
}

#[cold]
fn filled_up(rest: &[u8]) -> [u8; BLOCK] {
    let mut last = [b' '; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    last
}

/// The bit by which letters of ASCII differ in case.
pub(crate) const CASE: u8 = b'a' ^ b'A';

/// All bits of a byte, or none.
pub(crate) fn mask(all: bool) -> u8 {
    u8::from(all).wrapping_neg()
}

/// Room for the borders of a block: twice the 64 that it can have, so that no access needs a bounds check.
pub(crate) const NOTED: usize = 2 * BLOCK;

/// Where words begin and end in a block, alternately: at bytes whose bit is set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Borders(u64);

impl Borders {
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Writes the borders to `room` as places after `here`, then the end of the block; returns the number of borders.
    /// Takes eight bits at a time, without a branch: their number is unpredictable.
    #[inline(always)]
    pub(crate) fn note(self, here: u32, room: &mut [u32; NOTED]) -> usize {
        let (mut noted, mut first) = (0, here);
        for bits in self.0.to_le_bytes() {
            let places = &PLACES[usize::from(bits)];
            for (to, place) in room[noted % BLOCK..][..8].iter_mut().zip(places) {
                *to = first + u32::from(*place);
            }
            noted += index(bits.count_ones());
            first += 8;
        }
        room[noted % NOTED] = first;
        noted
    }

    /// The next border; the end of the block if there is none.
    #[inline]
    pub(crate) fn next(&mut self) -> u32 {
        let at = self.0.trailing_zeros();
        self.0 &= self.0.wrapping_sub(1);
        at
    }
}

/// Whether a word contains more than underscores.
#[inline]
pub(crate) fn is_word(word: &[u8]) -> bool {
    word.first() != Some(&b'_') || word.iter().any(|byte| *byte != b'_')
}

/// Whether the character at a place, which is neither a letter nor a digit, joins its neighbours.
fn joins(bytes: &[u8], at: usize) -> bool {
    let Some(&[before, between, after]) = bytes.get(at.wrapping_sub(1)..at + 2) else {
        return false;
    };
    let letters = || before.is_ascii_alphabetic() && after.is_ascii_alphabetic();
    let digits = || before.is_ascii_digit() && after.is_ascii_digit();
    match between {
        b'.' | b'\'' => letters() || digits(),
        b':' => letters(),
        b',' | b';' => digits(),
        _ => false,
    }
}

/// A reader of the words of an ASCII text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cutter {
    /// Where the next block begins.
    next: usize,
    /// The remaining borders of the block before it.
    left: Borders,
    /// Where the current word began, if one has begun and not ended.
    begun: Option<usize>,
}

impl Cutter {
    /// Starts at a place that is not inside a word.
    pub(crate) fn at(at: usize) -> Cutter {
        Cutter { next: at, left: Borders(0), begun: None }
    }

    /// Whether there may be more words before `end`.
    #[inline]
    pub(crate) fn is_before(&self, end: usize) -> bool {
        self.next < end || !self.left.is_empty() || self.begun.is_some()
    }

    /// Where the next block begins.
    pub(crate) fn next(&self) -> usize {
        self.next
    }

    /// The next block, for a caller that takes all its words. Beyond the text's end it is filled with blanks.
    #[inline(always)]
    pub(crate) fn block(&mut self, bytes: &[u8]) -> Option<Block<BLOCK>> {
        let rest = bytes.get(self.next..).filter(|rest| !rest.is_empty())?;
        let last;
        let block = match rest.first_chunk() {
            Some(block) => block,
            None => {
                last = filled_up(rest);
                &last
            }
        };
        let block = Block::of(bytes, self.next, block);
        self.next += BLOCK;
        Some(block)
    }

    /// The next word: where it begins, and where it ends.
    #[inline]
    pub(crate) fn word(&mut self, bytes: &[u8]) -> Option<(usize, usize)> {
        loop {
            while self.left.is_empty() {
                let Some(block) = self.block(bytes) else {
                    let from = self.begun.take()?;
                    return is_word(&bytes[from..]).then_some((from, bytes.len()));
                };
                self.left = block.borders(self.begun.is_some());
            }
            let at = self.next - BLOCK + index(self.left.next());
            match self.begun.take() {
                None => self.begun = Some(at),
                Some(from) if is_word(&bytes[from..at]) => return Some((from, at)),
                Some(_) => {}
            }
        }
    }
}
