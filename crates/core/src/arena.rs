//! Names copied out of the image, each behind the four bytes the caller wants there.
//!
//! ```text
//!   | length u32 | prefix 4 bytes | the name, padded to 4 bytes | length u32 | ...
//!                ^ a Name counts words up to here
//! ```
//!
//! The room is kept from answer to answer, so that in the steady state nothing is
//! allocated or cleared. A name's prefix is 4-byte aligned: the server makes it a varlena
//! header. What follows a name's last byte up to the next word is anything.

use crate::id::{index, word};
use crate::memory::{as_bytes, as_bytes_mut};
use crate::record::{NAME_HEAD, Record};
use crate::sentences::Piece;

/// A name copied out of the image; read it with [`Walk::name`](crate::Walk::name).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(u32);

/// No name: the length of the first stands before its place.
pub(crate) const UNNAMED: Name = Name(0);

/// Words of the part of a name that is always copied.
const HEAD_WORDS: usize = NAME_HEAD / 4;

/// What stands before a name that was copied: a number, in the machine's order of bytes. No function,
/// because a name takes no longer than its call.
#[derive(Clone, Copy, Debug)]
pub struct Prefix {
    /// Of an empty name.
    pub plus: u32,
    /// More for each byte of it.
    pub times: u32,
}

impl Prefix {
    /// The name's length.
    pub const LENGTH: Prefix = Prefix { plus: 0, times: 1 };

    /// That of a name of `len` bytes; the lower 32 bits of it.
    #[must_use]
    #[inline]
    pub const fn of(self, len: u32) -> u32 {
        len.wrapping_mul(self.times).wrapping_add(self.plus)
    }
}

/// Where names go.
#[derive(Debug)]
pub(crate) struct Arena {
    words: Vec<u32>,
    /// So many words are used.
    end: usize,
    prefix: Prefix,
}

impl Arena {
    pub(crate) fn new(prefix: Prefix) -> Arena {
        Arena { words: Vec::new(), end: 0, prefix }
    }

    /// Adds a name.
    pub(crate) fn add(&mut self, name: &[u8]) -> Name {
        let (at, _) = self.begin(name.len());
        as_bytes_mut(&mut self.words[at + 1..])[..name.len()].copy_from_slice(name);
        Name(word(at))
    }

    /// Adds a record's name; its first eight bytes as a number that sorts as they do, bytes
    /// that are not there being 0.
    #[inline(always)]
    pub(crate) fn add_name_of(&mut self, record: Record<'_>) -> (Name, u64) {
        let len = record.name_len();
        let (at, room) = self.begin(len);
        // Most names are no longer than this, and a copy of known length has no branches.
        let head = record.name_start();
        *room = as_words(head);
        if len > NAME_HEAD {
            record.copy_name(&mut as_bytes_mut(&mut self.words[at + 1..])[..len]);
        }
        let first = head.first_chunk().map_or(0, |first| u64::from_be_bytes(*first));
        let unused = if len < 8 { u64::MAX >> (len * 8) } else { 0 };
        (Name(at as u32), first & !unused)
    }

    /// Room for a name of `len` bytes, and its length and prefix; where it begins, and the
    /// first words of the room.
    #[inline(always)]
    fn begin(&mut self, len: usize) -> (usize, &mut [u32; HEAD_WORDS]) {
        let from = self.end;
        if self.words.len() < from + 2 + HEAD_WORDS || len > NAME_HEAD {
            self.grow(from + 2 + len.div_ceil(4).max(HEAD_WORDS));
        }
        self.end = from + 2 + len.div_ceil(4);
        let words: &mut [u32; 2 + HEAD_WORDS] =
            self.words[from..].first_chunk_mut().expect("there is room for it");
        let [length, prefix, room @ ..] = words;
        (*length, *prefix) = (len as u32, self.prefix.of(len as u32));
        (from + 1, room)
    }

    /// Room for all words up to there.
    #[cold]
    fn grow(&mut self, room: usize) {
        if room > self.words.len() {
            // A place and a length are 32 bits.
            assert!(room <= index(u32::MAX), "an answer has at most 16 GB of names");
            self.words.resize(room.max(2 * self.words.len()).max(1024), 0);
        }
    }

    /// Room for so many names more of common length (20 bytes).
    pub(crate) fn reserve(&mut self, names: usize) {
        self.grow(self.end + names * 7 + HEAD_WORDS);
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

    /// The name, to be written.
    #[inline(always)]
    pub(crate) fn piece(&self, name: Name) -> Piece<'_> {
        let [len, _, rest @ ..] = &self.words[index(name.0) - 1..] else {
            unreachable!("a name follows its length")
        };
        Piece { bytes: as_bytes(rest), len: index(*len) }
    }

    /// How much there is, for [`Arena::truncate`].
    pub(crate) fn mark(&self) -> usize {
        self.end
    }

    /// Forgets what was added after the mark.
    pub(crate) fn truncate(&mut self, mark: usize) {
        self.end = mark;
    }
}

#[inline]
fn as_words(bytes: [u8; NAME_HEAD]) -> [u32; HEAD_WORDS] {
    let mut words = [0; HEAD_WORDS];
    for (to, four) in words.iter_mut().zip(bytes.as_chunks().0) {
        *to = u32::from_ne_bytes(*four);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{Hash, Kind};
    use crate::{HeapMemory, Image, record};

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
        assert!(heap.grow() && heap.grow() && heap.grow());
        let image = Image::format(&heap, 1).unwrap();
        image.publish_chunks(3);
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
