//! Words of ASCII text: rules WB5 to WB13b of UAX #29, 64 bytes at a time.
//!
//! ```text
//!   text    S j - H o r n e r ' s   A . B ,   0 . 5
//!   parts   1 1 . 1 1 1 1 1 1 . 1 . 1 . 1 . . 1 . 1    letters, digits, underscores
//!   joins   . . . . . . . . . 1 . . . 1 . . . . 1 .    what joins the two beside it
//!   words   1 1 . 1 1 1 1 1 1 1 1 . 1 1 1 . . 1 1 1
//! ```
//!
//! A word of underscores only is none. Called by `words.rs` and `text.rs`.

use crate::id::index;
use crate::memory::bits;

/// Bytes that are looked at together: a bit of a `u64` each.
pub(crate) const BLOCK: usize = 64;

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Which bytes of the block that begins at a place are in words.
#[inline]
fn words_at<const N: usize>(bytes: &[u8], at: usize, block: &[u8; N]) -> u64 {
    // Written so that the compiler does sixteen at a time.
    let parts = bits(block.map(|byte| u8::from(is_part(byte))));
    let blanks = bits(block.map(|byte| u8::from(byte == b' ')));
    // What is beside another block is asked there.
    let beside = (parts << 1 | 1) & (parts >> 1 | 1 << (N - 1));
    let (mut words, mut between) = (parts, beside & !parts & !blanks);
    while between != 0 {
        let i = between.trailing_zeros();
        between &= between - 1;
        words |= u64::from(joins(bytes, at + index(i))) << i;
    }
    words
}

/// Whether the character at a place, which is no part of a word, joins those beside it.
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

/// Calls `each` for every word of a text of one block, of up to 64 bytes: where it begins, and
/// where it has ended.
#[inline]
pub(crate) fn each_word<const N: usize>(text: &[u8; N], mut each: impl FnMut(usize, usize)) {
    let mut bits = words_at(text, 0, text);
    while bits != 0 {
        let from = bits.trailing_zeros();
        // To add to the lowest bit of a run clears it, and sets the bit after it, if there is one.
        let carried = bits.wrapping_add(1 << from);
        bits &= carried;
        let (from, to) = (index(from), index(carried.trailing_zeros()));
        if is_word(&text[from..to]) {
            each(from, to);
        }
    }
}

/// Whether it is not of underscores only.
#[inline]
fn is_word(run: &[u8]) -> bool {
    run[0] != b'_' || run.iter().any(|byte| *byte != b'_')
}

/// A place in a stretch of ASCII.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cutter {
    /// Where the next block begins.
    next: usize,
    /// Of the block before it: bytes of words that are still to come.
    bits: u64,
}

impl Cutter {
    /// At a place where no word is.
    pub(crate) fn at(at: usize) -> Cutter {
        Cutter { next: at, bits: 0 }
    }

    /// Whether there may be words before that place.
    #[inline]
    pub(crate) fn is_before(&self, end: usize) -> bool {
        self.bits != 0 || self.next < end
    }

    /// Whether all words of the blocks so far were given.
    #[inline]
    pub(crate) fn is_between_blocks(&self) -> bool {
        self.bits == 0
    }

    /// Where the next block begins.
    pub(crate) fn next(&self) -> usize {
        self.next
    }

    /// Goes on to the next block, if there is one. Past the end of the text it has blanks.
    #[inline]
    fn enter(&mut self, bytes: &[u8], entered: &mut impl FnMut(usize, &[u8; BLOCK])) -> Option<()> {
        let rest = bytes.get(self.next..).filter(|rest| !rest.is_empty())?;
        let mut last = [b' '; BLOCK];
        let block = match rest.first_chunk() {
            Some(block) => block,
            None => {
                last[..rest.len()].copy_from_slice(rest);
                &last
            }
        };
        self.bits = words_at(bytes, self.next, block);
        if self.bits != 0 {
            entered(self.next, block);
        }
        self.next += BLOCK;
        Some(())
    }

    /// The next run of bits: where it begins, and where it has ended.
    #[inline]
    fn run(
        &mut self,
        bytes: &[u8],
        entered: &mut impl FnMut(usize, &[u8; BLOCK]),
    ) -> Option<(usize, usize)> {
        while self.bits == 0 {
            self.enter(bytes, entered)?;
        }
        let block = self.next - BLOCK;
        let from = block + index(self.bits.trailing_zeros());
        // To add to the lowest bit of a run clears it, and sets the bit after it.
        let (carried, passes) = self.bits.overflowing_add(self.bits & self.bits.wrapping_neg());
        if passes {
            return Some((from, self.rest_of_run(bytes, entered)));
        }
        self.bits &= carried;
        Some((from, block + index(carried.trailing_zeros())))
    }

    /// Where the run ends that reaches the end of the block.
    fn rest_of_run(
        &mut self,
        bytes: &[u8],
        entered: &mut impl FnMut(usize, &[u8; BLOCK]),
    ) -> usize {
        self.bits = 0;
        while self.enter(bytes, entered).is_some() {
            let ones = self.bits.trailing_ones();
            if ones < u64::BITS {
                self.bits &= u64::MAX << ones;
                return self.next - BLOCK + index(ones);
            }
            self.bits = 0;
        }
        bytes.len()
    }

    /// The next word: where it begins, and where it has ended. Calls `entered` with each block
    /// that has words, before any word that ends in it, and with where it begins.
    #[inline]
    pub(crate) fn word(
        &mut self,
        bytes: &[u8],
        mut entered: impl FnMut(usize, &[u8; BLOCK]),
    ) -> Option<(usize, usize)> {
        loop {
            let (from, to) = self.run(bytes, &mut entered)?;
            if is_word(&bytes[from..to]) {
                return Some((from, to));
            }
        }
    }
}
