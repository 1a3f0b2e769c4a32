//! The items of a Bloom filter (bloom.rs), and the kinds of items that it lets pass for a hash.

use crate::memory::casts::halves;
use crate::memory::hash::Hash;

/// Names of up to this many words: the Bloom filters tell how many words they have.
pub(crate) const FEW: usize = 3;

/// An item of a Bloom filter: three bits of the 64-bit word that its hash leads to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub(crate) hash: Hash,
    pub(crate) kind: u64,
}

/// The kinds of items with one hash that a 64-bit word lets pass, as adjacent bits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kinds(pub(crate) u64);

impl Kinds {
    /// A whole name.
    const WHOLE: u64 = 1;
    /// A word with which names of two or three words begin.
    const FIRST: u64 = 2;
    /// A word with which longer names begin.
    const FIRST_OF_MORE: u64 = 4;
    /// Two words with which names of three words begin.
    const OF_THREE: u64 = 2;
    /// Two words with which longer names begin.
    const OF_MORE: u64 = 4;
    const ALL: u64 = 7;

    /// The kinds that `word`, the word that the hash leads to, lets pass.
    #[inline(always)]
    pub(crate) fn of(word: u64, hash: Hash) -> Kinds {
        let [a, b, c] = places(hash);
        let all = word.rotate_right(a) & word.rotate_right(b) & word.rotate_right(c);
        Kinds(all & Kinds::ALL)
    }

    /// Whether there may be such a name.
    #[inline(always)]
    pub(crate) fn is_whole(self) -> bool {
        self.0 & Kinds::WHOLE != 0
    }

    /// Whether the word is certainly neither a name nor the first of one.
    #[inline(always)]
    pub(crate) fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The kinds that remain for the last word of a text, which begins no longer name.
    #[inline]
    pub(crate) fn of_last(self) -> Kinds {
        Kinds(self.0 & Kinds::WHOLE)
    }

    /// The names that may begin with a word and the next one, for which the Bloom filter of windows has `both`.
    #[inline(always)]
    pub(crate) fn with_next(self, both: Kinds) -> Begun {
        let few = (self.0 & Kinds::FIRST) * (Kinds::WHOLE | Kinds::OF_THREE);
        let more = (self.0 & Kinds::FIRST_OF_MORE) << 1;
        Begun(self.0 & Kinds::WHOLE | both.0 << 1 & (few | more))
    }
}

/// Which names may begin with a word: one bit each for names of one, two and three words, and one for longer names.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Begun(u64);

impl Begun {
    #[inline(always)]
    pub(crate) fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Whether there may be names of one, two and three words.
    #[inline(always)]
    pub(crate) fn few(self) -> [bool; 3] {
        [1, 2, 4].map(|bit| self.0 & bit != 0)
    }

    /// Whether there may be longer names.
    #[inline(always)]
    pub(crate) fn more(self) -> bool {
        self.0 & 8 != 0
    }
}

/// How far a 64-bit word is rotated, modulo 64: parts of the hash that do not select the word.
#[inline(always)]
fn places(hash: Hash) -> [u32; 3] {
    let turn = |shift: u32| halves(hash.0 >> shift).0;
    [turn(28), turn(34), turn(40)]
}

impl Item {
    /// An item for words that are a name.
    pub(crate) fn whole(hash: Hash) -> Item {
        Item { hash, kind: Kinds::WHOLE }
    }

    /// An item for the first word of a name of `words` words, which are at least two.
    pub(crate) fn first_word(hash: Hash, words: usize) -> Item {
        Item { hash, kind: if words <= FEW { Kinds::FIRST } else { Kinds::FIRST_OF_MORE } }
    }

    /// An item for the first two words of a name of `words` words, which are at least three.
    pub(crate) fn first_two(hash: Hash, words: usize) -> Item {
        Item { hash, kind: if words == 3 { Kinds::OF_THREE } else { Kinds::OF_MORE } }
    }

    pub(crate) fn mask(self) -> u64 {
        let [a, b, c] = places(self.hash);
        self.kind.rotate_left(a) | self.kind.rotate_left(b) | self.kind.rotate_left(c)
    }
}
