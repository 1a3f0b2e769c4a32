//! A word in memory, and its places in the chains of words that share a part.
//!
//! ```text
//!  byte 0                          4       8       12      16      20          28               64
//!       +--------------------------+-------+-------+-------+-------+-----------+----------------+
//!       |count 25|labels 1|shape 6 |next 0 |prev 0 |next 1 |prev 1 |letters (12 bytes) |             half a line
//!       |                          |       |       |       |       |next 2,    |letters         |  or a line
//!       +--------------------------+-------+-------+-------+-------+  prev 2 --+----------------+
//!
//!  shape  the number of bytes, of a word in half a line 40 more
//!  part --> first word <--> word <--> word         (a chain for each part)
//! ```
//!
//! A word of two parts and up to twelve bytes takes half a line: see room.rs. Chains are linked both ways, so that a
//! word leaves one of a million words as fast as one of two. Writers hold the lock exclusively.

use crate::memory::casts::{index, word};
use crate::memory::chunk::LINE_BYTES;
use crate::memory::flat::{Line, Memory};
use crate::memory::id::{WordId, to_word};
use crate::vocabulary::letters::{Letters, MOST_BYTES, MOST_SHORT, PARTS, Vocabulary};
use crate::vocabulary::room::{self, HALVES};

const HEAD: usize = 0;
const NEXT: usize = 4;
const PREV: usize = 8;
const CHAIN_BYTES: usize = 8;
/// Where the letters begin, in half a line and in a line.
const SHORT_LETTERS: usize = 20;
const LETTERS: usize = 28;

const SHAPE_MASK: u32 = (1 << 6) - 1;
const LABELS: u32 = 1 << 6;
const COUNT_SHIFT: u32 = 7;
/// Added to the number of bytes of a word that has half a line.
const SHORT: usize = 40;
/// A word of this many names stays for ever.
pub(crate) const MOST_COUNTED: u32 = u32::MAX >> COUNT_SHIFT;

const _: () = assert!(NEXT + PARTS * CHAIN_BYTES == LETTERS && LETTERS + MOST_BYTES == LINE_BYTES);
const _: () = assert!(NEXT + 2 * CHAIN_BYTES == SHORT_LETTERS);
const _: () = assert!(SHORT_LETTERS + MOST_SHORT == HALVES[1] && HALVES[1] * 2 == LINE_BYTES);
const _: () = assert!(MOST_BYTES < SHORT && SHORT + MOST_SHORT <= SHAPE_MASK as usize);

/// A word in a memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word<'m> {
    id: WordId,
    line: Line<'m>,
    /// Where it begins in its line.
    at: usize,
}

impl<'m> Word<'m> {
    #[inline]
    pub(crate) fn new(mem: &'m Memory, id: WordId) -> Word<'m> {
        Word { id, line: mem.line(id.line()), at: HALVES[id.half()] }
    }

    /// Asks memory for it.
    #[inline]
    pub(crate) fn prefetch(self) {
        self.line.prefetch();
    }

    /// Writes a new word of one name, which is in no chain. The caller has planned its line.
    pub(crate) fn create(mem: &'m Memory, of: Vocabulary, letters: &Letters<'_>) -> Word<'m> {
        let is_short = letters.are_short();
        let id = if is_short { room::take_half(mem) } else { room::take_line(mem) };
        let new = Word::new(mem, id);
        let (begin, more) = if is_short { (SHORT_LETTERS, SHORT) } else { (LETTERS, 0) };
        mem.span(id.line()).copy_in(new.at + begin, letters.bytes);
        let labels = if of == Vocabulary::Labels { LABELS } else { 0 };
        let shape = word(letters.bytes.len() + more);
        new.line.set_u32(new.at + HEAD, 1 << COUNT_SHIFT | labels | shape);
        let parts = if is_short { 2 } else { PARTS };
        (0..parts).for_each(|part| new.set_links(part, None, None));
        new
    }

    pub(crate) fn free(self, mem: &Memory) {
        if self.is_short() { room::give_half(mem, self.id) } else { room::give_line(mem, self.id) }
    }

    pub(crate) fn id(self) -> WordId {
        self.id
    }

    #[inline]
    fn head(self) -> u32 {
        self.line.u32(self.at + HEAD)
    }

    /// In how many names it is; [`MOST_COUNTED`] is that many or more.
    #[inline]
    pub(crate) fn count(self) -> u32 {
        self.head() >> COUNT_SHIFT
    }

    pub(crate) fn set_count(self, count: u32) {
        let rest = self.head() & ((1 << COUNT_SHIFT) - 1);
        self.line.set_u32(self.at + HEAD, count << COUNT_SHIFT | rest);
    }

    #[inline]
    pub(crate) fn of(self) -> Vocabulary {
        if self.head() & LABELS == 0 { Vocabulary::Names } else { Vocabulary::Labels }
    }

    #[inline]
    fn shape(self) -> usize {
        index(self.head() & SHAPE_MASK)
    }

    /// Whether it takes half a line.
    #[inline]
    pub(crate) fn is_short(self) -> bool {
        self.shape() >= SHORT || self.at > 0
    }

    /// Whether its shape is one that a word in its place may have.
    pub(crate) fn is_valid(self) -> bool {
        let shape = self.shape();
        if self.at > 0 || shape >= SHORT {
            (SHORT + 1..=SHORT + MOST_SHORT).contains(&shape)
        } else {
            shape <= MOST_BYTES
        }
    }

    /// Its letters and, behind them, bytes without meaning.
    #[inline]
    pub(crate) fn letters(self) -> ([u8; MOST_BYTES], usize) {
        if self.is_short() {
            let mut letters = [0; MOST_BYTES];
            letters[..MOST_SHORT]
                .copy_from_slice(&self.line.bytes::<MOST_SHORT>(self.at + SHORT_LETTERS));
            (letters, self.shape().saturating_sub(SHORT).min(MOST_SHORT))
        } else {
            (self.line.bytes(LETTERS), self.shape().min(MOST_BYTES))
        }
    }

    #[inline]
    pub(crate) fn is(self, of: Vocabulary, letters: &[u8]) -> bool {
        let (own, len) = self.letters();
        self.of() == of && own[..len] == *letters
    }

    /// The next word in the chain of a part; none in that of a part which it does not have.
    #[inline]
    pub(crate) fn next(self, part: usize) -> Option<WordId> {
        self.link_at(NEXT, part)
    }

    pub(crate) fn prev(self, part: usize) -> Option<WordId> {
        self.link_at(PREV, part)
    }

    #[inline]
    fn link_at(self, at: usize, part: usize) -> Option<WordId> {
        let has = part < if self.is_short() { 2 } else { PARTS };
        has.then(|| self.line.u32(self.at + at + part * CHAIN_BYTES)).and_then(WordId::from_word)
    }

    fn set_links(self, part: usize, next: Option<WordId>, prev: Option<WordId>) {
        self.line.set_u32(self.at + NEXT + part * CHAIN_BYTES, to_word(next));
        self.line.set_u32(self.at + PREV + part * CHAIN_BYTES, to_word(prev));
    }

    /// Puts this word, which is in no chain of that part, before another one, which is the first of its chain.
    pub(crate) fn link(self, mem: &'m Memory, part: usize, before: WordId) {
        self.set_links(part, Some(before), None);
        let before = Word::new(mem, before);
        before.set_links(part, before.next(part), Some(self.id));
    }

    /// Takes this word out of the chain of a part.
    pub(crate) fn unlink(self, mem: &'m Memory, part: usize) {
        let (next, prev) = (self.next(part), self.prev(part));
        if let Some(prev) = prev.map(|prev| Word::new(mem, prev)) {
            prev.set_links(part, next, prev.prev(part));
        }
        if let Some(next) = next.map(|next| Word::new(mem, next)) {
            next.set_links(part, next.next(part), prev);
        }
    }
}
