//! A word in memory, and its places in the chains of words that share a part.
//!
//! ```text
//!  byte 0                               4       8       12      16      20      24      28         64
//!       +-------------------------------+-------+-------+-------+-------+-------+-------+----------+
//!       | count 25 | labels 1 | bytes 6 |next 0 |prev 0 |next 1 |prev 1 |next 2 |prev 2 | letters  |
//!       +-------------------------------+-------+-------+-------+-------+-------+-------+----------+
//!  part --> first word <--> word <--> word         (a chain for each part)
//! ```
//!
//! Chains are linked both ways, so that a word leaves one of a million words as fast as one of two. Writers hold the
//! lock exclusively.

use crate::memory::alloc;
use crate::memory::casts::{index, word};
use crate::memory::chunk::LINE_BYTES;
use crate::memory::flat::{Line, Memory};
use crate::memory::id::{WordId, to_word};
use crate::records::record::planned;
use crate::vocabulary::letters::{Letters, MOST_BYTES, PARTS, Vocabulary};

const HEAD: usize = 0;
const NEXT: usize = 4;
const PREV: usize = 8;
const CHAIN_BYTES: usize = 8;
const LETTERS: usize = 28;

const BYTES_MASK: u32 = (1 << 6) - 1;
const LABELS: u32 = 1 << 6;
const COUNT_SHIFT: u32 = 7;
/// A word of this many names stays for ever.
pub(crate) const MOST_COUNTED: u32 = u32::MAX >> COUNT_SHIFT;

const _: () = assert!(NEXT + PARTS * CHAIN_BYTES == LETTERS && LETTERS + MOST_BYTES == LINE_BYTES);
const _: () = assert!(MOST_BYTES <= BYTES_MASK as usize);

/// A word in a memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word<'m> {
    id: WordId,
    line: Line<'m>,
}

impl<'m> Word<'m> {
    #[inline]
    pub(crate) fn new(mem: &'m Memory, id: WordId) -> Word<'m> {
        Word { id, line: mem.line(id.line()) }
    }

    /// Writes a new word of one name, which is in no chain. The caller has planned its line.
    pub(crate) fn create(mem: &'m Memory, of: Vocabulary, letters: &Letters<'_>) -> Word<'m> {
        let line = planned(alloc::take(mem, 1));
        // The line may hold words of another width: see alloc::give.
        mem.span(line.get()).zero(1);
        mem.span(line.get()).copy_in(LETTERS, letters.bytes);
        let new = Word::new(mem, WordId::at(line));
        let labels = if of == Vocabulary::Labels { LABELS } else { 0 };
        new.line.set_u32(HEAD, 1 << COUNT_SHIFT | labels | word(letters.bytes.len()));
        new
    }

    pub(crate) fn free(self, mem: &Memory) {
        alloc::give(mem, self.id.line(), 1);
    }

    pub(crate) fn id(self) -> WordId {
        self.id
    }

    /// In how many names it is; [`MOST_COUNTED`] is that many or more.
    #[inline]
    pub(crate) fn count(self) -> u32 {
        self.line.u32(HEAD) >> COUNT_SHIFT
    }

    pub(crate) fn set_count(self, count: u32) {
        let rest = self.line.u32(HEAD) & ((1 << COUNT_SHIFT) - 1);
        self.line.set_u32(HEAD, count << COUNT_SHIFT | rest);
    }

    #[inline]
    pub(crate) fn of(self) -> Vocabulary {
        let labels = self.line.u32(HEAD) & LABELS != 0;
        if labels { Vocabulary::Labels } else { Vocabulary::Names }
    }

    /// How many bytes its letters have.
    #[inline]
    pub(crate) fn len(self) -> usize {
        index(self.line.u32(HEAD) & BYTES_MASK).min(MOST_BYTES)
    }

    /// Its letters, and behind them bytes without meaning.
    #[inline]
    pub(crate) fn letters(self) -> [u8; MOST_BYTES] {
        self.line.bytes(LETTERS)
    }

    #[inline]
    pub(crate) fn is(self, of: Vocabulary, letters: &[u8]) -> bool {
        let len = self.len();
        self.of() == of && len == letters.len() && self.letters()[..len] == *letters
    }

    /// The next word in the chain of a part.
    #[inline]
    pub(crate) fn next(self, part: usize) -> Option<WordId> {
        WordId::from_word(self.line.u32(NEXT + part * CHAIN_BYTES))
    }

    pub(crate) fn prev(self, part: usize) -> Option<WordId> {
        WordId::from_word(self.line.u32(PREV + part * CHAIN_BYTES))
    }

    fn set_next(self, part: usize, next: Option<WordId>) {
        self.line.set_u32(NEXT + part * CHAIN_BYTES, to_word(next));
    }

    fn set_prev(self, part: usize, prev: Option<WordId>) {
        self.line.set_u32(PREV + part * CHAIN_BYTES, to_word(prev));
    }

    /// Puts this word, which is in no chain of that part, before another one, which is the first of its chain.
    pub(crate) fn link(self, mem: &'m Memory, part: usize, before: WordId) {
        self.set_next(part, Some(before));
        Word::new(mem, before).set_prev(part, Some(self.id));
    }

    /// Takes this word out of the chain of a part.
    pub(crate) fn unlink(self, mem: &'m Memory, part: usize) {
        let (next, prev) = (self.next(part), self.prev(part));
        if let Some(prev) = prev {
            Word::new(mem, prev).set_next(part, next);
        }
        if let Some(next) = next {
            Word::new(mem, next).set_prev(part, prev);
        }
    }
}
