//! Names copied out of the image, each after four bytes that the caller chooses.
//!
//! ```text
//!   | length u32 | prefix 4 bytes | the name, padded to 4 bytes | length u32 | ...
//!                ^ a Name counts words up to here
//! ```
//!
//! The memory is reused from answer to answer, so in the steady state nothing is allocated or cleared. A name's prefix
//! is 4-byte aligned: the server makes it a varlena header. The padding after a name is undefined.

use crate::Interruptible;
use crate::memory::casts::{index, word};
use crate::memory::flat::{Memory, as_bytes, as_bytes_mut};
use crate::memory::id::RecordId;
use crate::records::record::{NAME_HEAD, Record};
use crate::walk::sentences::Piece;

/// A name copied out of the image; read it with [`Walk::name`](crate::Walk::name).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(u32);

/// No name. No name is at 0, because a length precedes each.
pub(crate) const UNNAMED: Name = Name(0);

/// Words of a length, a prefix and the bytes of a name that are always copied.
const LEAST_ROOM: usize = 2 + NAME_HEAD / 4;

/// Masks by length of a name, up to eight: which of its first eight bytes belong to it.
const IS_NAME: [u64; 9] = {
    let mut all = [0; 9];
    let mut len = 1;
    while len < all.len() {
        all[len] = u64::MAX << (64 - 8 * len);
        len += 1;
    }
    all
};

/// The number written before each copied name, in native byte order. It is computed from two fields, because the call
/// of a function would take as long as the copy.
#[derive(Clone, Copy, Debug)]
pub struct Prefix {
    /// The prefix of an empty name.
    pub plus: u32,
    /// What is added for each byte of the name.
    pub times: u32,
}

impl Prefix {
    /// A prefix that is the name's length.
    pub const LENGTH: Prefix = Prefix { plus: 0, times: 1 };

    /// The prefix of a name of `len` bytes, modulo 2^32.
    #[must_use]
    #[inline]
    pub const fn of(self, len: u32) -> u32 {
        len.wrapping_mul(self.times).wrapping_add(self.plus)
    }
}

/// Words added at a time, with a check for interrupts in between.
const AT_ONCE: usize = 1 << 20;

/// The copied names.
#[derive(Debug)]
pub(crate) struct Arena {
    words: Vec<u32>,
    /// Words used.
    end: u32,
    prefix: Prefix,
    /// Whether a record's name must not make the arena grow.
    bounded: bool,
    /// Words of a record's name for which there was no room, or 0.
    lacking: usize,
}

impl Arena {
    pub(crate) fn new(prefix: Prefix) -> Arena {
        Arena { words: Vec::new(), end: 0, prefix, bounded: false, lacking: 0 }
    }

    /// Adds a name.
    pub(crate) fn add(&mut self, name: &[u8]) -> Name {
        let (at, room) = self.begin(name.len());
        room.copy_from_slice(name);
        at
    }

    /// Adds a record's name; [`UNNAMED`] if a bounded arena has no room. Also returns the name's first eight bytes,
    /// padded with 0, as a number that sorts as they do.
    #[inline(always)]
    pub(crate) fn add_name_of(&mut self, record: Record<'_>) -> (Name, u64) {
        let from = index(self.end);
        let len = record.short_name_len();
        let name = match self.words.get_mut(from..from + LEAST_ROOM) {
            // Most names are no longer than this, and a copy of known length has no branch.
            Some([length, prefix, room @ ..]) if len <= NAME_HEAD as u32 => {
                (*length, *prefix) = (len, self.prefix.of(len));
                let room = as_bytes_mut(room).first_chunk_mut();
                *room.expect("there is room for it") = record.name_start();
                let name = Name(self.end + 1);
                self.end += 2 + ((len + 3) >> 2);
                name
            }
            _ => self.add_any_name_of(record.mem(), record.id()),
        };
        (name, record.name_key() & IS_NAME[index(len).min(8)])
    }

    /// Adds the label of a label's record: its name without the last byte. [`UNNAMED`] if there is no room, as in
    /// [`Arena::add_name_of`].
    pub(crate) fn add_label_of(&mut self, record: Record<'_>) -> Name {
        let (name, _) = self.add_name_of(record);
        if name != UNNAMED {
            let at = index(name.0);
            let len = self.words[at - 1] - 1;
            (self.words[at - 1], self.words[at]) = (len, self.prefix.of(len));
        }
        name
    }

    /// Adds a name of any length. Takes a record's parts, so that the caller need not spill its record to the stack.
    #[inline(never)]
    fn add_any_name_of(&mut self, mem: &Memory, id: RecordId) -> Name {
        let record = Record::new(mem, id);
        let words = LEAST_ROOM + record.name_len().div_ceil(4);
        if self.bounded && self.words.len() - index(self.end) < words {
            self.lacking = words;
            return UNNAMED;
        }
        let (at, room) = self.begin(record.name_len());
        record.copy_name(room);
        at
    }

    /// Writes the length and prefix of a name of `len` bytes; returns the room for its bytes.
    fn begin(&mut self, len: usize) -> (Name, &mut [u8]) {
        let from = index(self.end);
        let end = from + 2 + len.div_ceil(4);
        self.grow(end.max(from + LEAST_ROOM));
        self.end = word(end);
        let len_word = word(len);
        (self.words[from], self.words[from + 1]) = (len_word, self.prefix.of(len_word));
        (Name(word(from + 1)), &mut as_bytes_mut(&mut self.words[from + 2..])[..len])
    }

    /// Grows to at least `room` words.
    fn grow(&mut self, room: usize) {
        if room > self.words.len() {
            // A name's place and its length are 32 bits each.
            assert!(room <= index(u32::MAX), "an answer has at most 16 GB of names");
            self.words.resize(room.max(2 * self.words.len()).max(1024), 0);
        }
    }

    /// From now on only [`Arena::try_grow_to`] and [`Arena::add`] make the arena grow.
    pub(crate) fn bound(&mut self) {
        self.bounded = true;
    }

    /// Whether there was no room for a record's name.
    #[inline]
    pub(crate) fn lacks(&self) -> bool {
        self.lacking > 0
    }

    /// Words used, words of a name for which there was no room, and words in all.
    pub(crate) fn words(&self) -> (usize, usize, usize) {
        (index(self.end), self.lacking, self.words.len())
    }

    /// Grows to at least `words` words; `false` if there is no memory.
    pub(crate) fn try_grow_to(&mut self, words: usize, work: &mut Interruptible<'_>) -> bool {
        let more = words.saturating_sub(self.words.len());
        if words > index(u32::MAX) || self.words.try_reserve_exact(more).is_err() {
            return false;
        }
        while self.words.len() < words {
            let len = words.min(self.words.len() + AT_ONCE);
            work.steps(len - self.words.len());
            self.words.resize(len, 0);
        }
        self.lacking = 0;
        true
    }

    /// Frees its memory.
    pub(crate) fn free(self, work: &mut Interruptible<'_>) {
        work.free(self.words);
    }

    /// The prefix and the bytes of a name.
    #[inline]
    pub(crate) fn with_prefix(&self, name: Name) -> &[u8] {
        let at = index(name.0);
        let len = index(self.words[at - 1]);
        &as_bytes(&self.words[at..])[..4 + len]
    }

    #[inline]
    pub(crate) fn get(&self, name: Name) -> &[u8] {
        &self.with_prefix(name)[4..]
    }

    /// The name as a [`Piece`] of a sentence.
    #[inline(always)]
    pub(crate) fn piece(&self, name: Name) -> Piece<'_> {
        let [len, _, rest @ ..] = &self.words[index(name.0) - 1..] else {
            unreachable!("a name follows its length")
        };
        Piece { bytes: as_bytes(rest), len: index(*len) }
    }

    /// The end of the names, for [`Arena::truncate`].
    pub(crate) fn mark(&self) -> u32 {
        self.end
    }

    /// Moves a name down to that end of the names, and the end behind it. Names are moved in the order in which they
    /// stand.
    pub(crate) fn move_down(&mut self, name: Name, end: &mut u32) -> Name {
        let from = index(name.0) - 1;
        let words = 2 + index(self.words[from]).div_ceil(4);
        self.words.copy_within(from..from + words, index(*end));
        let moved = Name(*end + 1);
        *end += word(words);
        moved
    }

    /// Drops a name, and moves the last one, which follows it, to its place.
    pub(crate) fn replace(&mut self, name: Name, last: Name) -> Name {
        let mut end = name.0 - 1;
        let moved = self.move_down(last, &mut end);
        self.truncate(end);
        moved
    }

    /// Drops all names added after the mark.
    pub(crate) fn truncate(&mut self, mark: u32) {
        self.end = mark;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::hash::{Hash, Kind};
    use crate::records::record;
    use crate::{HeapMemory, Image};

    #[test]
    fn names_stand_aligned_behind_their_prefix() {
        let mut arena = Arena::new(Prefix { plus: 1000, times: 3 });
        let names: Vec<Name> =
            (0..20).map(|len| arena.add(&vec![b'a' + len; len.into()])).collect();
        for (len, &name) in names.iter().enumerate() {
            let whole = arena.with_prefix(name);
            assert!(whole.as_ptr().addr().is_multiple_of(4));
            assert_eq!(whole[..4], (len as u32 * 3 + 1000).to_ne_bytes());
            assert_eq!(arena.get(name), vec![b'a' + len as u8; len]);
        }
    }

    #[test]
    fn names_of_records_are_copied_to_the_last_byte_and_sort_by_their_first_eight() {
        let mut heap = HeapMemory::new(1 << 22);
        (0..10).for_each(|_| assert!(heap.grow()));
        let image = Image::format(&heap, 1).unwrap();
        image.publish_chunks(heap.mapped());
        let mut arena = Arena::new(Prefix::LENGTH);
        let mut all = Vec::new();
        for len in (0..80).chain([2015, 2016, 2017, 9000]) {
            let name: Vec<u8> = (0..len).map(|i| (i * 7 + len) as u8).collect();
            let record =
                record::create(image.mem(), Kind::Entity, Hash(1), &name, record::Room::USUAL);
            all.push((arena.add_name_of(record), name));
        }
        for ((name, key), bytes) in &all {
            assert_eq!(arena.get(*name), bytes);
            let mut first = [0; 8];
            let len = bytes.len().min(8);
            first[..len].copy_from_slice(&bytes[..len]);
            assert_eq!(*key, u64::from_be_bytes(first));
        }
    }
}
