//! The index that finds entities in a text: their folded names (see words.rs), in the filter.
//!
//! ```text
//!   hash(w1 w2 w3) --> folded name --> entity --> all entities with it, see listed.rs
//!   hash(w1)       --> prefix: whether names that begin with w1 have 2 words, or more
//!   hash(w1 w2)    --> prefix: which of 3, 4, ... 13 words the names have that begin with w1 w2, or more
//!   hash(w1 .. w13)--> prefix: likewise 14, ... 24 words, or more; and so on
//! ```
//!
//! A window's hash rolls: each further word costs one multiplication. A word's prefix tells which lengths occur, and
//! only folded names of these lengths are looked up. Almost no word of a text is or begins a name: of such a word only
//! the tags of its two buckets are read.
//!
//! Promises: an entity whose name has a folded name is found from exactly one entry of a folded name, and counted once
//! in each of its prefixes; the memory is part of the insert's plan. Writers hold the lock exclusively.

use crate::folded::folded_name::FoldedName;
use crate::folded::forms::{FormKind, FormOf, Forms, LISTED};
use std::hint::select_unpredictable;

use crate::Image;
use crate::filter::bucket::{BucketSlot, Pattern, SLOTS};
use crate::filter::table::Filter;
use crate::memory::casts::{index, word};
use crate::memory::hash::Hash;
use crate::memory::id::RecordId;
use crate::memory::root::Root;
use crate::records::record::Record;
use crate::vocabulary::letters::Vocabulary;

/// Slots of two buckets, as a bit mask.
pub(crate) struct Places {
    buckets: [u32; 2],
    left: u32,
}

impl Iterator for Places {
    type Item = BucketSlot;

    #[inline]
    fn next(&mut self) -> Option<BucketSlot> {
        if self.left == 0 {
            return None;
        }
        let i = index(self.left.trailing_zeros());
        self.left &= self.left - 1;
        Some(BucketSlot { bucket: self.buckets[i / SLOTS], slot: i % SLOTS })
    }
}

impl<'m> Filter<'m> {
    /// The places of entries that match a pattern, in the first bucket or the second.
    #[inline]
    pub(crate) fn places(self, hash: Hash, pattern: impl Fn(bool) -> Pattern) -> Places {
        let (first, second) = self.geometry().buckets_of(hash);
        let found = self.bucket(first).agreeing(pattern(false));
        let others = if first == second { 0 } else { self.bucket(second).agreeing(pattern(true)) };
        Places { buckets: [first, second], left: found | others << SLOTS }
    }

    /// The entries of a folded name's hash, with the records they lead to; several folded names may share a hash.
    pub(crate) fn folded_entries(self, hash: Hash) -> impl Iterator<Item = (BucketSlot, RecordId)> {
        self.places(hash, move |second| Pattern::folded(hash, second))
            .filter_map(move |place| Some((place, self.get(place).head()?)))
    }

    pub(crate) fn prefix(self, hash: Hash) -> Option<BucketSlot> {
        let (first, second) = self.geometry().buckets_of(hash);
        let pattern = Pattern::prefix(hash);
        [first, second].into_iter().find_map(|bucket| {
            let found = self.bucket(bucket).agreeing(pattern);
            (found != 0).then(|| BucketSlot { bucket, slot: index(found.trailing_zeros()) })
        })
    }

    /// Where a folded name or a prefix of that hash would be.
    #[inline]
    pub(crate) fn folded_spot(self, hash: Hash) -> FoldedSpot {
        FoldedSpot { hash, buckets: self.geometry().buckets_of(hash).into() }
    }

    /// Prefetches both buckets of a hash, whole.
    #[inline]
    fn prefetch(self, hash: Hash) {
        for bucket in self.buckets_of(hash) {
            bucket.prefetch_tags();
            bucket.prefetch_entries();
        }
    }

    /// Prefetches the tags of both buckets.
    #[inline]
    pub(crate) fn fetch(self, spot: &FoldedSpot) {
        spot.buckets.iter().for_each(|&bucket| self.bucket(bucket).prefetch_tags());
    }

    /// The lengths of the names that begin with this prefix: see [`STEP`].
    #[inline]
    pub(crate) fn lengths(self, spot: &FoldedSpot) -> u32 {
        let pattern = Pattern::prefix(spot.hash);
        let lengths = spot.buckets.map(|bucket| {
            let bucket = self.bucket(bucket);
            let found = bucket.agreeing(pattern);
            if found == 0 { 0 } else { bucket.get(index(found.trailing_zeros())).lengths() }
        });
        lengths[0] | lengths[1]
    }

    /// Whether the tags allow a folded name of that hash; prefetches the entries.
    #[inline]
    pub(crate) fn may_have(self, spot: &FoldedSpot) -> bool {
        self.may_match(spot, |second| Pattern::folded(spot.hash, second))
    }

    /// Whether the tags allow a prefix of that hash; prefetches the entries.
    #[inline]
    pub(crate) fn may_begin(self, spot: &FoldedSpot) -> bool {
        self.may_match(spot, |_| Pattern::prefix(spot.hash))
    }

    #[inline(always)]
    fn may_match(self, spot: &FoldedSpot, pattern: impl Fn(bool) -> Pattern) -> bool {
        let buckets = [self.bucket(spot.buckets[0]), self.bucket(spot.buckets[1])];
        let first = buckets[0].has_tag(pattern(false));
        let second = buckets[1].has_tag(pattern(true));
        select_unpredictable(first, buckets[0], buckets[1]).prefetch_entries();
        first | second
    }

    /// Calls `each` for the heads of [`Filter::folded_names`], and fetches their records.
    #[inline]
    pub(crate) fn heads(self, spot: &FoldedSpot, mut each: impl FnMut(RecordId)) {
        for (bucket, is_second) in spot.buckets.into_iter().zip([false, true]) {
            let bucket = self.bucket(bucket);
            let mut found = bucket.agreeing(Pattern::folded(spot.hash, is_second));
            while found != 0 {
                let entry = bucket.get(index(found.trailing_zeros()));
                found &= found - 1;
                if let Some(head) = entry.head() {
                    self.mem().prefetch_two(head.line());
                    each(head);
                }
            }
        }
    }
}

/// A hash and its buckets, valid while the lock is held.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FoldedSpot {
    hash: Hash,
    buckets: [u32; 2],
}

impl FoldedSpot {
    #[inline]
    pub(crate) fn hash(&self) -> Hash {
        self.hash
    }
}

/// What a name is found by in texts, and the vocabulary that has its words.
#[derive(Debug)]
pub(crate) struct Indexed {
    pub(crate) folded: FoldedName,
    forms: Forms,
    vocabulary: Vocabulary,
}

impl Indexed {
    /// None if no text can name it.
    pub(crate) fn of(root: Root<'_>, name: &[u8]) -> Option<Indexed> {
        let folded = FoldedName::of(root.seed(), name)?;
        Some(Indexed { folded, forms: Forms::of(root, name), vocabulary: Vocabulary::of(name) })
    }

    /// The most entries that it takes in the table of folded names, and in that of forms; they may be fewer, as names
    /// may share them.
    pub(crate) fn entries(&self) -> [u32; 2] {
        [LISTED - 1 + word(self.folded.entries()), self.forms.entries()]
    }

    /// The most lines that its words take.
    pub(crate) fn word_lines(&self) -> usize {
        self.forms.words.len()
    }

    /// Its distinct words, with their vocabulary.
    fn words(&self) -> impl Iterator<Item = (Vocabulary, &[u8])> + Clone {
        self.forms.words.vocabulary().map(|word| (self.vocabulary, word))
    }

    /// Its forms of all kinds, with their hashes.
    fn hashes(&self) -> impl Iterator<Item = (FormKind, Hash)> {
        let others = self.forms.all().map(|(form, _)| (form.kind, form.hash));
        std::iter::once((FormKind::Folded, self.folded.hash)).chain(others)
    }
}

impl<'m> Image<'m> {
    /// Lines that lists of names with the same form will take for new names.
    pub(crate) fn list_lines(self, indexed: &[Option<Indexed>; 2]) -> usize {
        let [first, second] = indexed;
        let has =
            |of: &Option<Indexed>, form| of.iter().any(|of| of.hashes().any(|one| one == form));
        let own = first.iter().flat_map(Indexed::hashes);
        let own = own.map(|form| (form, 1 + u32::from(has(second, form))));
        let others = second.iter().flat_map(Indexed::hashes).filter(|form| !has(first, *form));
        let all = own.chain(others.map(|form| (form, 1)));
        all.map(|((kind, hash), new)| self.lines_of(kind, hash, new)).sum()
    }

    /// Lines that the words of new names will take: those that no name has yet.
    pub(crate) fn word_lines(self, indexed: &[Option<Indexed>; 2]) -> usize {
        let is_new = |(of, word): &(_, &[u8])| self.word(*of, word).is_none();
        let [first, second] = indexed.each_ref().map(|of| of.iter().flat_map(Indexed::words));
        let own = first.clone().filter(is_new);
        let others = second.filter(is_new).filter(|word| first.clone().all(|own| own != *word));
        self.lines_of_words(own.chain(others).map(|(_, word)| word))
    }

    /// Prefetches the buckets of a new name's entries: entering them then waits for memory once, not for each.
    pub(crate) fn prefetch(self, indexed: &Indexed) {
        let (folded, forms) = (self.folded_names(), self.forms());
        let prefixes = indexed.folded.prefixes().map(|(hash, _)| hash);
        prefixes.chain([indexed.folded.hash]).for_each(|hash| folded.prefetch(hash));
        for (form, begin) in indexed.forms.all() {
            forms.prefetch(form.hash);
            begin.into_iter().for_each(|(hash, _)| forms.prefetch(hash));
        }
        let seed = self.root().seed();
        indexed.words().for_each(|(of, word)| forms.prefetch(of.hash(seed, word)));
    }

    /// Enters a new record: its name and, for an entity, its folded name, its prefixes, its other forms and its words.
    /// `later` is as in [`Filter::add`]; `false` if there is no room: then nothing of the record is in the filter.
    #[must_use]
    pub(crate) fn enter(
        self,
        hash: Hash,
        record: RecordId,
        indexed: Option<&Indexed>,
        later: usize,
    ) -> bool {
        if !self.names().add(hash, record, later) {
            return false;
        }
        let record = Record::new(self.mem(), record);
        let Some(Indexed { folded, forms, vocabulary }) = indexed else { return true };
        for (i, (hash, lengths)) in folded.prefixes().enumerate() {
            if !self.folded_names().begin(hash, lengths, later) {
                folded.prefixes().take(i).for_each(|(hash, _)| self.folded_names().end(hash));
                self.names().remove(record);
                return false;
            }
        }
        let form = FormOf { kind: FormKind::Folded, hash: folded.hash, part: None };
        if !self.list(form, record, later) {
            folded.prefixes().for_each(|(hash, _)| self.folded_names().end(hash));
            self.names().remove(record);
            return false;
        }
        let has_forms = self.enter_forms(record, forms, later);
        if !has_forms || !self.enter_words(*vocabulary, forms.words.vocabulary(), later) {
            if has_forms {
                self.leave_forms(record, forms);
            }
            folded.prefixes().for_each(|(hash, _)| self.folded_names().end(hash));
            self.unlist(form, record);
            self.names().remove(record);
            return false;
        }
        true
    }

    /// Removes a record's name, folded name, prefixes, other forms and words from the filter.
    pub(crate) fn leave(self, record: Record<'m>) {
        self.names().remove(record);
        if record.is_tree() {
            return;
        }
        if let Some(folded) = FoldedName::of_record(self.root().seed(), record) {
            folded.prefixes().for_each(|(hash, _)| self.folded_names().end(hash));
            let form = FormOf { kind: FormKind::Folded, hash: folded.hash, part: None };
            self.unlist(form, record);
            let name = record.name();
            let forms = Forms::of(self.root(), &name);
            self.leave_forms(record, &forms);
            self.leave_words(Vocabulary::of(&name), forms.words.vocabulary());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::bucket::Entry;
    use crate::folded::words::MOST_WORDS;
    use crate::memory::root::Counter;
    use crate::{AllSeen, Edge, HeapMemory, Interruptible, Prefix, Reader, Recogniser, Seek, Step};

    fn found(image: Image<'_>, text: &str) -> Vec<Vec<u8>> {
        let mut recogniser = Recogniser::new(Prefix::LENGTH);
        recogniser.begin(Seek::Entities, false);
        let mut reader = Reader::new(text);
        loop {
            recogniser.read(&mut reader, &mut Interruptible::new(&mut || ())).unwrap();
            if recogniser.step(image, &AllSeen, 100, &reader) == Step::Done {
                break;
            }
        }
        recogniser.finish();
        let names = recogniser.mentions().iter().map(|m| recogniser.name(m.entity).to_vec());
        names.collect()
    }

    #[test]
    fn a_folded_name_is_compared_after_its_hash() {
        let mut heap = HeapMemory::new(1 << 20);
        assert!(heap.grow());
        let image = Image::format(&heap, 7).unwrap();
        image.insert(&Edge { tree: None, parent: b"One", child: b"Two" }, None).unwrap();
        assert_eq!(found(image, "one two"), [b"One", b"Two"]);
        // An entry that leads from "three" to "Two", as after a collision of hashes.
        let two = image.key(crate::memory::hash::Kind::Entity, b"Two").record.unwrap();
        let three = FoldedName::of(7, b"three").unwrap().hash;
        assert!(image.folded_names().enter(three, Entry::folded(three, two), 0));
        assert_eq!(found(image, "three one"), [b"One"]);
    }

    #[test]
    fn a_folded_name_without_room_takes_its_prefixes_back() {
        let mut heap = HeapMemory::new(1 << 20);
        assert!(heap.grow());
        let image = Image::format(&heap, 7).unwrap();
        let edge = Edge { tree: None, parent: b"one", child: b"two" };
        image.insert(&edge, None).unwrap();
        let two = image.key(crate::memory::hash::Kind::Entity, b"two").record.unwrap();
        let folded = FoldedName::of(7, b"a name of four").unwrap();
        let prefix = folded.prefixes().next().unwrap().0;
        // Eight entries with one hash: no split separates them.
        for _ in 0..8 {
            assert!(image.folded_names().enter(folded.hash, Entry::folded(folded.hash, two), 0));
        }
        let before = image.root().count(Counter::FoldedNames);
        let edge = Edge { tree: None, parent: b"one", child: b"a name of four" };
        assert!(image.insert(&edge, None).is_err());
        assert_eq!(image.root().count(Counter::FoldedNames), before);
        assert!(image.folded_names().prefix(prefix).is_none());
        assert!(image.key(crate::memory::hash::Kind::Entity, b"a name of four").record.is_none());
    }

    #[test]
    fn names_of_any_length_are_found_whatever_begins_as_they_do() {
        let mut heap = HeapMemory::new(1 << 24);
        while heap.grow() {}
        let image = Image::format(&heap, 7).unwrap();
        image.publish_chunks(heap.mapped());
        // Names with distinct first words, then names that all begin with the same two.
        let alone = |n: usize| (0..n).map(move |i| format!("{n}x{i} "));
        let same = |n: usize| {
            (0..n).map(move |i| if i < 2 { "same ".into() } else { format!("{n}y{i} ") })
        };
        let mut names = Vec::new();
        for n in 1..=MOST_WORDS {
            names.push(alone(n).collect::<String>());
            names.push(same(n).collect::<String>());
        }
        for name in &mut names {
            name.truncate(name.trim_end().len());
            let edge = Edge { tree: None, parent: b"+", child: name.as_bytes() };
            image.insert(&edge, None).unwrap();
        }
        let text = names.join(" and ");
        assert_eq!(
            found(image, &text),
            names.iter().map(|name| name.as_bytes()).collect::<Vec<_>>()
        );
    }

    #[test]
    fn names_that_fold_alike_are_all_found_and_go_one_by_one() {
        let mut heap = HeapMemory::new(1 << 20);
        assert!(heap.grow());
        let image = Image::format(&heap, 7).unwrap();
        let names = ["aa bb", "Aa bb", "aa-Bb", "Aa, Bb!"];
        for (i, child) in names.iter().enumerate() {
            let stamp = crate::Stamp { xmin: 10 + i as u64, cmin: 0 };
            let edge = Edge { tree: None, parent: b"+", child: child.as_bytes() };
            image.insert(&edge, Some(stamp)).unwrap();
        }
        for gone in 0..=names.len() {
            let mut left: Vec<_> =
                names[gone..].iter().map(|name| name.as_bytes().to_vec()).collect();
            left.sort();
            assert_eq!(found(image, "of AA/bb?"), left);
            image.verify(&mut |problem| panic!("{problem:?}"));
            image.settle(1, 11 + gone as u64, &|_| crate::Fate::Aborted, &mut Vec::new());
        }
        assert_eq!(image.root().count(Counter::FoldedNames), 0);
    }

    #[test]
    fn the_table_of_folded_names_grows_with_what_is_in_it() {
        let mut heap = HeapMemory::new(1 << 22);
        while heap.mapped() < 12 {
            assert!(heap.grow());
        }
        let image = Image::format(&heap, 7).unwrap();
        image.publish_chunks(heap.mapped());
        for i in 0..1000 {
            let child = format!("number{i} of many");
            let edge = Edge { tree: None, parent: b"many", child: child.as_bytes() };
            image.insert(&edge, None).unwrap();
            let slots = u64::from(image.folded_names().geometry().buckets()) * 4;
            let used = image.root().count(Counter::FoldedNames);
            assert!(used * 5 <= slots * 4, "{used} of {slots}");
        }
    }
}
