//! The words of a vocabulary come and go with the names that have them.
//!
//! A word has an entry in the table of forms, and each of its parts one that leads to the first word of the part's
//! chain. A word is compared after its hash. Parts are not: those that share 40 bits of their hash share a chain, and
//! the search compares the words of it anyway.
//!
//! Promises: the memory is part of the insert's plan; if a table has no room for an entry, nothing has changed.

use crate::Image;
use crate::filter::bucket::{BucketSlot, Entry, Pattern};
use crate::filter::table::Filter;
use crate::memory::casts::index;
use crate::memory::hash::Hash;
use crate::memory::id::WordId;
use crate::vocabulary::letters::{Letters, Vocabulary};
use crate::vocabulary::room;
use crate::vocabulary::word::{MOST_COUNTED, Word};

impl Filter<'_> {
    /// The first entry of a word's or part's hash that leads to a word which `is` the right one.
    #[inline]
    fn find_word(self, hash: Hash, is: impl Fn(WordId) -> bool) -> Option<(BucketSlot, WordId)> {
        let (first, second) = self.geometry().buckets_of(hash);
        for (bucket, is_second) in [(first, false), (second, true)] {
            let entries = self.bucket(bucket);
            let mut found = entries.agreeing(Pattern::of_word(hash, is_second));
            while found != 0 {
                let slot = index(found.trailing_zeros());
                found &= found - 1;
                if let Some(word) = entries.get(slot).vocabulary().filter(|word| is(*word)) {
                    return Some((BucketSlot { bucket, slot }, word));
                }
            }
        }
        None
    }

    /// The first word of a part's chain, and the entry that leads to it.
    #[inline]
    pub(crate) fn first_of(self, part: Hash) -> Option<(BucketSlot, WordId)> {
        self.find_word(part, |_| true)
    }

    fn enter_word(self, hash: Hash, word: WordId, later: usize) -> bool {
        let entered = self.enter(hash, Entry::of_word(hash, word), later);
        self.root().add(self.counter(), usize::from(entered));
        entered
    }

    /// Makes an entry of that hash lead to another word, or to none.
    fn lead_word(self, hash: Hash, place: BucketSlot, to: Option<WordId>) {
        let entry = to.map_or(Entry::NONE, |word| {
            let second = self.geometry().buckets_of(hash).0 != place.bucket;
            Entry::of_word(hash, word).placed(second)
        });
        self.set(place, entry);
        self.root().subtract(self.counter(), usize::from(to.is_none()));
    }
}

impl<'m> Image<'m> {
    /// Reader: in how many names or labels a word is; it is one of their normal words.
    #[must_use]
    pub fn count_of(&self, of: Vocabulary, word: &[u8]) -> u32 {
        self.word(of, word).map_or(0, |(_, word)| word.count())
    }

    /// A word of a vocabulary, and the entry that leads to it.
    pub(crate) fn word(self, of: Vocabulary, letters: &[u8]) -> Option<(BucketSlot, Word<'m>)> {
        let hash = of.hash(self.root().seed(), letters);
        let mem = self.mem();
        let found = self.forms().find_word(hash, |id| Word::new(mem, id).is(of, letters));
        found.map(|(place, id)| (place, Word::new(mem, id)))
    }

    /// Counts one more name for each of its distinct words; `later` is as in
    /// [`Filter::add`](crate::filter::table::Filter::add). `false` if there is no room: then none is counted.
    #[must_use]
    pub(crate) fn enter_words<'w>(
        self,
        of: Vocabulary,
        words: impl Iterator<Item = &'w [u8]> + Clone,
        later: usize,
    ) -> bool {
        for (n, word) in words.clone().enumerate() {
            if !self.count_word(of, word, later) {
                self.leave_words(of, words.take(n));
                return false;
            }
        }
        true
    }

    /// Counts one name fewer for each of its distinct words.
    pub(crate) fn leave_words<'w>(self, of: Vocabulary, words: impl Iterator<Item = &'w [u8]>) {
        for letters in words {
            let known = self.word(of, letters);
            let (place, word) = known.expect("a word stays while names have it");
            match word.count() {
                MOST_COUNTED => {}
                1 => self.remove_word(of, letters, place, word),
                count => word.set_count(count - 1),
            }
        }
    }

    /// Lines that new words will take.
    pub(crate) fn lines_of_words<'w>(self, words: impl Iterator<Item = &'w [u8]>) -> usize {
        let (mut whole, mut halves) = (0, 0);
        for letters in words.filter_map(Letters::of) {
            *(if letters.are_short() { &mut halves } else { &mut whole }) += 1;
        }
        room::lines_of(self.mem(), whole, halves)
    }

    fn count_word(self, of: Vocabulary, letters: &[u8], later: usize) -> bool {
        if let Some((_, word)) = self.word(of, letters) {
            word.set_count((word.count() + 1).min(MOST_COUNTED));
            return true;
        }
        Letters::of(letters).is_none_or(|letters| self.create_word(of, &letters, later))
    }

    fn create_word(self, of: Vocabulary, letters: &Letters<'_>, later: usize) -> bool {
        let (mem, seed, table) = (self.mem(), self.root().seed(), self.forms());
        let word = Word::create(mem, of, letters);
        let hash = of.hash(seed, letters.bytes);
        if !table.enter_word(hash, word.id(), later) {
            word.free(mem);
            return false;
        }
        for (part, hash) in letters.parts(of, seed) {
            if let Some((place, first)) = table.first_of(hash) {
                word.link(mem, part, first);
                table.lead_word(hash, place, Some(word.id()));
            } else if !table.enter_word(hash, word.id(), later) {
                letters.parts(of, seed).take(part).for_each(|(n, h)| self.leave_part(n, h, word));
                self.forget_word(of, letters, word);
                return false;
            }
        }
        true
    }

    fn remove_word(self, of: Vocabulary, letters: &[u8], place: BucketSlot, word: Word<'m>) {
        let seed = self.root().seed();
        self.forms().lead_word(of.hash(seed, letters), place, None);
        if let Some(letters) = Letters::of(letters) {
            letters.parts(of, seed).for_each(|(part, hash)| self.leave_part(part, hash, word));
        }
        word.free(self.mem());
    }

    /// Removes a word that is in no chain.
    fn forget_word(self, of: Vocabulary, letters: &Letters<'_>, word: Word<'m>) {
        // The entry may have moved.
        let (place, _) = self.word(of, letters.bytes).expect("a word has an entry");
        let hash = of.hash(self.root().seed(), letters.bytes);
        self.forms().lead_word(hash, place, None);
        word.free(self.mem());
    }

    /// Takes a word out of the chain of a part.
    fn leave_part(self, part: usize, hash: Hash, word: Word<'m>) {
        if word.prev(part).is_none() {
            let (place, _) = self.forms().first_of(hash).expect("a part has an entry");
            self.forms().lead_word(hash, place, word.next(part));
        }
        word.unlink(self.mem(), part);
    }
}
