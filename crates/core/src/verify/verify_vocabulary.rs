//! The part of the check for the words of names: I14 of `verify/whole.rs`.

use crate::filter::bucket::NOT_IN_WORDS;
use crate::filter::table::Filter;
use crate::folded::forms::Forms;
use crate::memory::casts::{halves, index, wide};
use crate::memory::hash::Hash;
use crate::memory::id::{WordId, to_word};
use crate::verify::verifier::{Known, Owner, Verifier};
use crate::verify::verify_folded::{EXPECTED, known_of};
use crate::vocabulary::letters::{Letters, Vocabulary, part_of};
use crate::vocabulary::room::{self, Half};
use crate::vocabulary::word::{MOST_COUNTED, Word};

/// The sorter of words: the hash of a word, and its place, or a mark for each name that has it.
const WORDS: usize = 0;
/// The sorter of parts: what is known of the hash, and the first word of its chain, or, marked, one that has the part.
const PARTS: usize = 1;

impl<'m> Verifier<'m, '_> {
    /// Checks the entries of words and parts, after all records were read.
    pub(crate) fn check_words(&mut self, table: Filter<'_>) {
        for bucket in 0..table.geometry().buckets() {
            self.step();
            for entry in table.read(bucket) {
                let Some(id) = entry.vocabulary() else { continue };
                let hash = Hash(entry.hash_in(bucket).0 & !NOT_IN_WORDS);
                if part_of(hash).is_some() {
                    self.sorters[PARTS].add((hash.0, number(id)));
                } else if self.claim_word(id) {
                    self.check_word(hash, id);
                }
            }
        }
        self.check_halves();
        self.count_words();
        self.compare_words();
        self.compare_parts();
    }

    /// Notes the words of all records.
    fn count_words(&mut self) {
        for line in 0..self.lines.len() {
            let Some(record) = self.record_at(line).filter(|record| !record.is_tree()) else {
                continue;
            };
            self.step_name(record);
            let name = record.name();
            let (of, forms) = (Vocabulary::of(&name), Forms::of(self.root, &name));
            for word in forms.words.vocabulary() {
                self.sorters[WORDS].add((of.hash(self.root.seed(), word).0, EXPECTED));
            }
        }
    }

    /// Claims the line of a word, or half of it. `false` if the word must not be read further.
    fn claim_word(&mut self, id: WordId) -> bool {
        let sound = self.is_allocation(id.line(), 1);
        if !self.check(10, sound, || format!("word at {id:?}")) {
            return false;
        }
        let word = Word::new(self.mem, id);
        if !self.check(14, word.is_valid(), || format!("{id:?} has no shape of a word")) {
            return false;
        }
        let known = self.lines[index(id.line())];
        if word.is_short() && known.owner == Owner::Words && known.up != 0 {
            self.lines[index(id.line())].up |= half(id);
            return self
                .check(14, known.up == half(id.other()), || format!("{id:?} has two words"));
        }
        let claimed = self.claim(id.line(), 1, Owner::Words);
        if claimed && word.is_short() {
            self.lines[index(id.line())].up = half(id);
        }
        claimed
    }

    /// Checks that the free halves are in their list, and no others.
    fn check_halves(&mut self) {
        let (mut prev, mut next) = (None, room::first_free(self.root));
        while let Some(id) = next {
            let known = self.lines.get_mut(index(id.line()));
            let known = known.filter(|known| {
                known.owner == Owner::Words && known.up == half(id.other()) && known.down == 0
            });
            let is_free = known.map(|known| known.down = 1).is_some();
            if !self.check(14, is_free, || format!("{id:?} is not free")) {
                return;
            }
            let half = Half::new(self.mem, id);
            let linked = half.is_free() && half.prev() == prev;
            self.check(14, linked, || format!("free {id:?} follows {prev:?}"));
            (prev, next) = (Some(id), half.next());
        }
        let mut lost = 0;
        for line in 0..self.lines.len() {
            self.step_line(line);
            let Known { owner, up, down } = self.lines[line];
            lost += u64::from(owner == Owner::Words && up.count_ones() == 1 && down == 0);
        }
        self.check(14, lost == 0, || format!("{lost} halves are in no list"));
    }

    /// Checks a word, and notes it and its parts.
    fn check_word(&mut self, hash: Hash, id: WordId) {
        let word = Word::new(self.mem, id);
        let (of, (bytes, len)) = (word.of(), word.letters());
        let bytes = &bytes[..len];
        let letters = Letters::of(bytes).filter(|letters| letters.are_short() == word.is_short());
        let Some(letters) = letters else {
            self.check(14, false, || format!("{id:?} is no word"));
            return;
        };
        let seed = self.root.seed();
        let whole = of.hash(seed, bytes);
        self.check(14, known_of(whole) == hash.0, || {
            format!("an entry leads to {id:?}, of another hash")
        });
        self.sorters[WORDS].add((whole.0, number(id)));
        for (_, hash) in letters.parts(of, seed) {
            self.sorters[PARTS].add((known_of(hash), EXPECTED | number(id)));
        }
    }

    /// Compares the numbers of names that words say with those of the names that have them.
    fn compare_words(&mut self) {
        let mut missing = 0;
        let mut next = self.sorters[WORDS].next();
        while let Some((hash, value)) = next {
            let mut others = Vec::new();
            let mut names = 0;
            next = Some((hash, value));
            while let Some((_, value)) = next.filter(|(other, _)| *other == hash) {
                match WordId::from_word(halves(value).0) {
                    Some(id) if value & EXPECTED == 0 => others.push(id),
                    _ => names += 1,
                }
                next = self.sorters[WORDS].next();
            }
            missing += u64::from(others.is_empty());
            for (i, id) in others.into_iter().enumerate() {
                let (count, names) =
                    (Word::new(self.mem, id).count(), Some(names).filter(|n| i == 0 && *n > 0));
                self.check(14, names == Some(count) || count == MOST_COUNTED, || {
                    format!("{id:?} says {count} names, there are {names:?}")
                });
            }
        }
        self.check(14, missing == 0, || format!("{missing} words are missing"));
    }

    /// Compares the chains of parts with the words that have them.
    fn compare_parts(&mut self) {
        let mut missing = 0;
        let mut next = self.sorters[PARTS].next();
        while let Some((hash, _)) = next {
            let (mut firsts, mut words) = (Vec::new(), Vec::new());
            while let Some((_, value)) = next.filter(|(other, _)| *other == hash) {
                let list = if value & EXPECTED == 0 { &mut firsts } else { &mut words };
                list.extend(WordId::from_word(halves(value).0));
                next = self.sorters[PARTS].next();
            }
            missing += u64::from(firsts.is_empty());
            for first in firsts {
                self.check_chain(Hash(hash), first, std::mem::take(&mut words));
            }
        }
        self.check(14, missing == 0, || format!("{missing} parts are missing"));
    }

    /// Checks that these words, in order, are the chain of a part.
    fn check_chain(&mut self, hash: Hash, first: WordId, words: Vec<WordId>) {
        let part = part_of(hash).unwrap_or_default();
        let (mut prev, mut next, mut count) = (None, Some(first), 0);
        while let Some(id) = next {
            let known = words.binary_search(&id).is_ok() && count < words.len();
            if !self.check(14, known, || format!("{id:?} is in a chain of part {part}")) {
                return;
            }
            let word = Word::new(self.mem, id);
            let back = word.prev(part);
            self.check(14, back == prev, || format!("{id:?} follows {prev:?} and says {back:?}"));
            (prev, next) = (Some(id), word.next(part));
            count += 1;
        }
        let all = wide(words.len());
        self.check(14, wide(count) == all, || format!("{count} of {all} words are in a chain"));
    }
}

/// The word's place as a number without [`EXPECTED`].
fn number(id: WordId) -> u64 {
    u64::from(to_word(Some(id)))
}

/// The bit of a word's half of its line.
fn half(id: WordId) -> u8 {
    1 << id.half()
}
