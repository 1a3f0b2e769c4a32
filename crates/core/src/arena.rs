//! Names copied out of the image, each behind the four bytes the caller wants there.
//!
//! ```text
//!   | length u32 | prefix 4 bytes | the name, padded to 4 bytes | length u32 | ...
//!                ^ a Name counts words up to here
//! ```
//!
//! The room is kept from answer to answer, so that in the steady state nothing is
//! allocated. A name's prefix is 4-byte aligned: the server makes it a varlena header.

use crate::id::{index, word};
use crate::memory::{as_bytes, as_bytes_mut};

/// A name copied out of the image; read it with [`Walk::name`](crate::Walk::name).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(u32);

/// Where names go.
#[derive(Debug)]
pub(crate) struct Arena {
    words: Vec<u32>,
    prefix: fn(usize) -> [u8; 4],
}

impl Arena {
    pub(crate) fn new(prefix: fn(usize) -> [u8; 4]) -> Arena {
        Arena { words: Vec::new(), prefix }
    }

    /// Adds a name of `len` bytes, which `fill` writes.
    #[inline]
    pub(crate) fn add(&mut self, len: usize, fill: impl FnOnce(&mut [u8])) -> Name {
        let at = self.words.len() + 1;
        self.words.resize(at + 1 + len.div_ceil(4), 0);
        self.words[at - 1] = word(len);
        self.words[at] = u32::from_ne_bytes((self.prefix)(len));
        fill(&mut as_bytes_mut(&mut self.words[at + 1..])[..len]);
        Name(word(at))
    }

    /// Room for so many names more of common length (20 bytes).
    pub(crate) fn reserve(&mut self, names: usize) {
        self.words.reserve(names * 7);
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

    /// How much there is, for [`Arena::truncate`].
    pub(crate) fn mark(&self) -> usize {
        self.words.len()
    }

    /// Forgets what was added after the mark.
    pub(crate) fn truncate(&mut self, mark: usize) {
        self.words.truncate(mark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_aligned_behind_their_prefix() {
        let mut arena = Arena::new(|len| (len as u32 + 1000).to_le_bytes());
        let names: Vec<Name> =
            (0..20).map(|len| arena.add(len, |to| to.fill(b'a' + len as u8))).collect();
        for (len, &name) in names.iter().enumerate() {
            let whole = arena.with_prefix(name);
            assert!(whole.as_ptr().addr().is_multiple_of(4));
            assert_eq!(whole[..4], (len as u32 + 1000).to_le_bytes());
            assert_eq!(arena.get(name), vec![b'a' + len as u8; len]);
        }
    }
}
