//! What finds entities in a text: their names' forms (see words.rs), in the filter.
//!
//! ```text
//!   hash(w1 w2 w3) --> form --> entity --> all of that form, see alike.rs
//!   hash(w1)       --> beginning: names of 4, 5, ... 12 words begin so, or longer ones do
//!   hash(w1 .. w12)--> beginning: names of 13, ... 23 words, or longer; and so on
//! ```
//!
//! A window's hash rolls: one more word is one product. Which names of up to three words begin
//! with a word, the sieves tell (see sieve.rs); of longer ones that they do. Whoever stands at
//! such a word asks its beginning which lengths there are, and only then for the forms of these.
//!
//! Promises: an entity whose name has a form is found from exactly one form entry, and counted
//! once in each of its beginnings; the memory is part of the insert's plan.
//! Writers hold the lock exclusively.

use crate::folded::form::Form;
use std::hint::select_unpredictable;

use crate::Image;
use crate::filter::bucket::{Entry, Pattern, Place, SLOTS};
use crate::filter::table::Filter;
use crate::memory::casts::index;
use crate::memory::hash::Hash;
use crate::memory::id::RecordId;
use crate::memory::root::Counter;
use crate::records::record::Record;

/// Slots of two buckets, a bit each.
struct Places {
    buckets: [u32; 2],
    left: u32,
}

impl Iterator for Places {
    type Item = Place;

    #[inline]
    fn next(&mut self) -> Option<Place> {
        if self.left == 0 {
            return None;
        }
        let i = index(self.left.trailing_zeros());
        self.left &= self.left - 1;
        Some(Place { bucket: self.buckets[i / SLOTS], slot: i % SLOTS })
    }
}

impl<'m> Filter<'m> {
    /// The places of what agrees with a pattern, in the first bucket or the second.
    #[inline]
    fn places(self, hash: Hash, pattern: impl Fn(bool) -> Pattern) -> Places {
        let (first, second) = self.geometry().buckets_of(hash);
        let found = self.bucket(first).agreeing(pattern(false));
        let others = if first == second { 0 } else { self.bucket(second).agreeing(pattern(true)) };
        Places { buckets: [first, second], left: found | others << SLOTS }
    }

    /// The entries of a form's hash and where they lead; one hash may be that of several forms.
    pub(crate) fn form_entries(self, hash: Hash) -> impl Iterator<Item = (Place, RecordId)> {
        self.places(hash, move |second| Pattern::form(hash, second))
            .filter_map(move |place| Some((place, self.get(place).head()?)))
    }

    /// The first entities of the forms of that hash.
    pub(crate) fn forms(self, hash: Hash) -> impl Iterator<Item = (Place, Record<'m>)> {
        self.form_entries(hash).map(move |(place, head)| (place, Record::new(self.mem(), head)))
    }

    fn beginning(self, hash: Hash) -> Option<Place> {
        let (first, second) = self.geometry().buckets_of(hash);
        let pattern = Pattern::beginning(hash);
        [first, second].into_iter().find_map(|bucket| {
            let found = self.bucket(bucket).agreeing(pattern);
            (found != 0).then(|| Place { bucket, slot: index(found.trailing_zeros()) })
        })
    }

    /// Where a form or a beginning of that hash would be.
    #[inline]
    pub(crate) fn form_spot(self, hash: Hash) -> FormSpot {
        FormSpot { hash, buckets: self.geometry().buckets_of(hash).into() }
    }

    /// Asks memory for what is there.
    #[inline]
    pub(crate) fn fetch(self, spot: &FormSpot) {
        spot.buckets.iter().for_each(|&bucket| self.bucket(bucket).prefetch_tags());
    }

    /// Which lengths names have that begin so: see [`STEP`].
    #[inline]
    pub(crate) fn lengths(self, spot: &FormSpot) -> u32 {
        let pattern = Pattern::beginning(spot.hash);
        let lengths = spot.buckets.map(|bucket| {
            let bucket = self.bucket(bucket);
            let found = bucket.agreeing(pattern);
            if found == 0 { 0 } else { bucket.get(index(found.trailing_zeros())).lengths() }
        });
        lengths[0] | lengths[1]
    }

    /// Whether a form of that hash may be there, by the tags; asks memory for what tells.
    #[inline]
    pub(crate) fn may_have(self, spot: &FormSpot) -> bool {
        let buckets = spot.buckets.map(|bucket| self.bucket(bucket));
        let first = buckets[0].has_tag(Pattern::form(spot.hash, false));
        let second = buckets[1].has_tag(Pattern::form(spot.hash, true));
        select_unpredictable(first, buckets[0], buckets[1]).prefetch_entries();
        first | second
    }

    /// Calls `each` for the heads of [`Filter::forms`], and fetches their records.
    #[inline]
    pub(crate) fn heads(self, spot: &FormSpot, mut each: impl FnMut(RecordId)) {
        for (bucket, is_second) in spot.buckets.into_iter().zip([false, true]) {
            let bucket = self.bucket(bucket);
            let mut found = bucket.agreeing(Pattern::form(spot.hash, is_second));
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

/// A hash and its buckets, as long as the lock is held.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FormSpot {
    hash: Hash,
    buckets: [u32; 2],
}

impl FormSpot {
    #[inline]
    pub(crate) fn hash(&self) -> Hash {
        self.hash
    }
}

impl<'m> Image<'m> {
    /// Enters a new record: its name, and an entity's form. `later` as in [`Filter::add`];
    /// `false`: no room, and it is in no place of the filter.
    #[must_use]
    pub(crate) fn enter(
        self,
        hash: Hash,
        record: RecordId,
        form: Option<&Form>,
        later: usize,
    ) -> bool {
        if !self.names().add(hash, record, later) {
            return false;
        }
        let record = Record::new(self.mem(), record);
        let Some(form) = form else { return true };
        for (i, (hash, lengths)) in form.beginnings().enumerate() {
            if !self.begin(hash, lengths, later) {
                form.beginnings().take(i).for_each(|(hash, _)| self.end(hash));
                self.names().remove(record);
                return false;
            }
        }
        let passed = self.let_pass(form);
        if !self.join(record, form, passed.is_new, later) {
            form.beginnings().for_each(|(hash, _)| self.end(hash));
            self.names().remove(record);
            return false;
        }
        self.tend_sieves(&passed, later);
        true
    }

    /// Takes a record out of all places of the filter.
    pub(crate) fn leave(self, record: Record<'m>) {
        self.names().remove(record);
        if record.is_tree() {
            return;
        }
        if let Some(form) = Form::of_record(self.root().seed(), record) {
            form.beginnings().for_each(|(hash, _)| self.end(hash));
            self.part(record, &form);
        }
    }

    /// One name more begins so.
    fn begin(self, hash: Hash, lengths: u32, later: usize) -> bool {
        let filter = self.forms();
        if let Some(place) = filter.beginning(hash) {
            let (before, after) = (filter.get(place), filter.get(place).with(lengths));
            // One of very many names is as it was.
            if after != before {
                filter.set(place, after);
            }
            return true;
        }
        let entered = filter.enter(hash, Entry::beginning(hash, lengths), later);
        self.root().add(Counter::Forms, usize::from(entered));
        entered
    }

    /// One name less begins so.
    fn end(self, hash: Hash) {
        let filter = self.forms();
        let place = filter.beginning(hash).expect("a beginning stays while names have it");
        let left = filter.get(place).without();
        filter.set(place, left);
        self.root().subtract(Counter::Forms, usize::from(left.is_empty()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folded::words::MOST_WORDS;
    use crate::{AllSeen, Breath, Edge, HeapMemory, Prefix, Reader, Recogniser, Seek, Step};

    fn found(image: Image<'_>, text: &str) -> Vec<Vec<u8>> {
        let mut recogniser = Recogniser::new(Prefix::LENGTH);
        recogniser.begin(Seek::Entities, false);
        let mut reader = Reader::new(text);
        loop {
            recogniser.read(&mut reader, &mut Breath::new(&mut || ())).unwrap();
            if recogniser.step(image, &AllSeen, 100) == Step::Done {
                break;
            }
        }
        recogniser.finish();
        let names = recogniser.mentions().iter().map(|m| recogniser.name(m.entity).to_vec());
        names.collect()
    }

    #[test]
    fn a_form_is_compared_after_its_hash() {
        let mut heap = HeapMemory::new(1 << 20);
        assert!(heap.grow());
        let image = Image::format(&heap, 7).unwrap();
        image.insert(&Edge { tree: None, parent: b"One", child: b"Two" }, None).unwrap();
        assert_eq!(found(image, "one two"), [b"One", b"Two"]);
        // An entry that says that "three" is "Two", as a collision of hashes would.
        let two = image.key(crate::memory::hash::Kind::Entity, b"Two").record.unwrap();
        let three = Form::of(7, b"three").unwrap().hash;
        assert!(image.forms().enter(three, Entry::form(three, two), 0));
        assert_eq!(found(image, "three one"), [b"One"]);
    }

    #[test]
    fn a_form_without_room_takes_its_beginnings_back() {
        let mut heap = HeapMemory::new(1 << 20);
        assert!(heap.grow());
        let image = Image::format(&heap, 7).unwrap();
        let edge = Edge { tree: None, parent: b"one", child: b"two" };
        image.insert(&edge, None).unwrap();
        let two = image.key(crate::memory::hash::Kind::Entity, b"two").record.unwrap();
        let form = Form::of(7, b"a name of four").unwrap();
        let beginning = form.beginnings().next().unwrap().0;
        // Eight of one hash: no split tells them apart.
        for _ in 0..8 {
            assert!(image.forms().enter(form.hash, Entry::form(form.hash, two), 0));
        }
        let before = image.root().count(Counter::Forms);
        let edge = Edge { tree: None, parent: b"one", child: b"a name of four" };
        assert!(image.insert(&edge, None).is_err());
        assert_eq!(image.root().count(Counter::Forms), before);
        assert!(image.forms().beginning(beginning).is_none());
        assert!(image.key(crate::memory::hash::Kind::Entity, b"a name of four").record.is_none());
    }

    #[test]
    fn names_of_any_length_are_found_whatever_begins_as_they_do() {
        let mut heap = HeapMemory::new(1 << 24);
        while heap.grow() {}
        let image = Image::format(&heap, 7).unwrap();
        image.publish_chunks(heap.mapped());
        // Of one length only begins with these words, then all of them with the same two.
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
    fn names_of_one_form_are_all_found_and_go_one_by_one() {
        let mut heap = HeapMemory::new(1 << 20);
        assert!(heap.grow());
        let image = Image::format(&heap, 7).unwrap();
        let names = ["a b", "A b", "a-B", "A, B!"];
        for (i, child) in names.iter().enumerate() {
            let stamp = crate::Stamp { xmin: 10 + i as u64, cmin: 0 };
            let edge = Edge { tree: None, parent: b"+", child: child.as_bytes() };
            image.insert(&edge, Some(stamp)).unwrap();
        }
        for gone in 0..=names.len() {
            let mut left: Vec<_> =
                names[gone..].iter().map(|name| name.as_bytes().to_vec()).collect();
            left.sort();
            assert_eq!(found(image, "of a b?"), left);
            image.verify(&mut |problem| panic!("{problem:?}"));
            image.settle(1, 11 + gone as u64, &|_| crate::Fate::Aborted, &mut Vec::new());
        }
        assert_eq!(image.root().count(Counter::Forms), 0);
    }

    #[test]
    fn the_table_of_forms_grows_with_what_is_in_it() {
        let mut heap = HeapMemory::new(1 << 22);
        while heap.mapped() < 4 {
            assert!(heap.grow());
        }
        let image = Image::format(&heap, 7).unwrap();
        image.publish_chunks(4);
        for i in 0..1000 {
            let child = format!("number{i} of many");
            let edge = Edge { tree: None, parent: b"many", child: child.as_bytes() };
            image.insert(&edge, None).unwrap();
            let slots = u64::from(image.forms().geometry().buckets()) * 4;
            let used = image.root().count(Counter::Forms);
            assert!(used * 5 <= slots * 4, "{used} of {slots}");
        }
    }
}
