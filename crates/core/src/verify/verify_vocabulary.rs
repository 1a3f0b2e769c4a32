//! The part of the check for the words of names: I15 of `verify/whole.rs`.

use std::collections::HashMap;

use crate::folded::forms::Forms;
use crate::memory::casts::wide;
use crate::memory::hash::Hash;
use crate::memory::id::WordId;
use crate::records::record::Record;
use crate::verify::verifier::{Owner, Verifier};
use crate::verify::verify_folded::known_of;
use crate::vocabulary::letters::{Letters, Vocabulary, part_of};
use crate::vocabulary::room::{self, Half};
use crate::vocabulary::word::{MOST_COUNTED, Word};

/// In how many names each word is.
type Counts = HashMap<(Vocabulary, Vec<u8>), u32>;
/// The word of a line that has one word in one half, or none if both halves have words.
type Halves = HashMap<u32, Option<WordId>>;
/// The words that have each part, by the part of its hash that an entry keeps.
type Parts = HashMap<u64, Vec<WordId>>;

impl<'m> Verifier<'m, '_> {
    /// Checks the entries of words and parts, after all records were read.
    pub(crate) fn check_words(&mut self, entries: &[(Hash, WordId)]) {
        let mut counts = self.counts();
        let (mut parts, mut halves) = (Parts::new(), Halves::new());
        let is_part = |entry: &&(Hash, WordId)| part_of(entry.0).is_some();
        for (hash, id) in entries.iter().filter(|entry| !is_part(entry)) {
            if self.claim_word(*id, &mut halves) {
                self.check_word(*hash, *id, &mut counts, &mut parts);
            }
        }
        self.check_halves(halves);
        self.check(15, counts.is_empty(), || format!("{} words are missing", counts.len()));
        for (hash, first) in entries.iter().filter(is_part) {
            let words = parts.remove(&hash.0).unwrap_or_default();
            self.check_chain(*hash, *first, words);
        }
        self.check(15, parts.is_empty(), || format!("{} parts are missing", parts.len()));
    }

    /// The words of all records.
    fn counts(&mut self) -> Counts {
        let mut counts = Counts::new();
        for i in 0..self.records.len() {
            let record = Record::new(self.mem, self.records[i]);
            self.step_name(record);
            if record.is_tree() {
                continue;
            }
            let name = record.name();
            let (of, forms) = (Vocabulary::of(&name), Forms::of(self.root, &name));
            for word in forms.words.vocabulary() {
                *counts.entry((of, word.to_vec())).or_default() += 1;
            }
        }
        counts
    }

    /// Claims the line of a word, or half of it. `false` if the word must not be read further.
    fn claim_word(&mut self, id: WordId, halves: &mut Halves) -> bool {
        let sound = self.is_allocation(id.line(), 1);
        if !self.check(10, sound, || format!("word at {id:?}")) {
            return false;
        }
        let word = Word::new(self.mem, id);
        if !self.check(15, word.is_valid(), || format!("{id:?} has no shape of a word")) {
            return false;
        }
        if word.is_short() && halves.contains_key(&id.line()) {
            let first = halves.insert(id.line(), None).flatten();
            return self.check(15, first == Some(id.other()), || format!("{id:?} has two words"));
        }
        let claimed = self.claim(id.line(), 1, Owner::Words);
        if claimed && word.is_short() {
            halves.insert(id.line(), Some(id));
        }
        claimed
    }

    /// Checks that the free halves are in their list, and no others.
    fn check_halves(&mut self, mut halves: Halves) {
        halves.retain(|_, used| used.is_some());
        let (mut prev, mut next) = (None, room::first_free(self.root));
        while let Some(id) = next {
            let used = halves.remove(&id.line()).flatten();
            if !self.check(15, used == Some(id.other()), || format!("{id:?} is not free")) {
                return;
            }
            let half = Half::new(self.mem, id);
            let linked = half.is_free() && half.prev() == prev;
            self.check(15, linked, || format!("free {id:?} follows {prev:?}"));
            (prev, next) = (Some(id), half.next());
        }
        self.check(15, halves.is_empty(), || format!("{} halves are in no list", halves.len()));
    }

    /// Checks a word, and notes its parts.
    fn check_word(&mut self, hash: Hash, id: WordId, counts: &mut Counts, parts: &mut Parts) {
        let word = Word::new(self.mem, id);
        let (of, (bytes, len)) = (word.of(), word.letters());
        let bytes = &bytes[..len];
        let letters = Letters::of(bytes).filter(|letters| letters.are_short() == word.is_short());
        let Some(letters) = letters else {
            self.check(15, false, || format!("{id:?} is no word"));
            return;
        };
        let seed = self.root.seed();
        let found = known_of(of.hash(seed, bytes)) == hash.0;
        self.check(15, found, || format!("an entry leads to {id:?}, of another hash"));
        let (names, count) = (counts.remove(&(of, bytes.to_vec())), word.count());
        let right = names.is_some_and(|names| names == count || count == MOST_COUNTED);
        self.check(15, right || count == MOST_COUNTED, || {
            format!("{id:?} says {count} names, there are {names:?}")
        });
        for (_, hash) in letters.parts(of, seed) {
            parts.entry(known_of(hash)).or_default().push(id);
        }
    }

    /// Checks that these words are the chain of a part.
    fn check_chain(&mut self, hash: Hash, first: WordId, mut words: Vec<WordId>) {
        words.sort_unstable();
        let part = part_of(hash).unwrap_or_default();
        let (mut prev, mut next, mut count) = (None, Some(first), 0);
        while let Some(id) = next {
            let known = words.binary_search(&id).is_ok() && count < words.len();
            if !self.check(15, known, || format!("{id:?} is in a chain of part {part}")) {
                return;
            }
            let word = Word::new(self.mem, id);
            let back = word.prev(part);
            self.check(15, back == prev, || format!("{id:?} follows {prev:?} and says {back:?}"));
            (prev, next) = (Some(id), word.next(part));
            count += 1;
        }
        let all = wide(words.len());
        self.check(15, wide(count) == all, || format!("{count} of {all} words are in a chain"));
    }
}
