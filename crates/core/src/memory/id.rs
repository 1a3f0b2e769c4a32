//! The handles of the image: newtypes over a line number, so that an entity cannot be passed for a block and nothing is
//! -1.
//!
//! A handle is a `NonZeroU32` below 2^28: line 0 is the root, so the word 0 in memory always means "none".

use std::fmt;
use std::num::NonZeroU32;

/// Bits of a line number: 2^28 lines of 64 bytes are 16 GiB.
pub(crate) const LINE_BITS: u32 = 28;
/// All line numbers are below this.
pub(crate) const LINE_LIMIT: u32 = 1 << LINE_BITS;
/// Edge slots in a line, see `slot.rs`.
pub(crate) const SLOTS_PER_LINE: u32 = 5;

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident, $letter:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $name(NonZeroU32);

        impl $name {
            /// The handle in a word of memory; 0 is none.
            #[inline]
            pub(crate) const fn from_word(line: u32) -> Option<Self> {
                match NonZeroU32::new(line) {
                    Some(line) => Some(Self(line)),
                    None => None,
                }
            }
            #[inline]
            pub(crate) const fn line(self) -> u32 {
                self.0.get()
            }
        }

        impl From<$name> for NonZeroU32 {
            #[inline]
            fn from(id: $name) -> NonZeroU32 {
                id.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($letter, "{}"), self.0)
            }
        }
    };
}

handle!(
    /// A record: an entity or a tree.
    RecordId,
    "r"
);
handle!(
    /// A record that is an entity.
    EntityId,
    "e"
);
handle!(
    /// A record that is a tree.
    TreeId,
    "t"
);
handle!(
    /// A version record.
    VersionId,
    "v"
);

/// The word that stands for a handle in memory; 0 is none.
#[inline]
pub(crate) fn to_word(id: Option<impl Into<NonZeroU32>>) -> u32 {
    id.map_or(0, |id| id.into().get())
}

impl From<EntityId> for RecordId {
    #[inline]
    fn from(id: EntityId) -> RecordId {
        RecordId(id.0)
    }
}

impl From<TreeId> for RecordId {
    #[inline]
    fn from(id: TreeId) -> RecordId {
        RecordId(id.0)
    }
}

impl RecordId {
    /// The handle of a record that was just allocated.
    #[inline]
    pub(crate) const fn at(line: NonZeroU32) -> Self {
        Self(line)
    }
    /// The record as an entity; the caller knows its kind.
    #[inline]
    pub(crate) const fn entity(self) -> EntityId {
        EntityId(self.0)
    }
    /// The record as a tree; the caller knows its kind.
    #[inline]
    pub(crate) const fn tree(self) -> TreeId {
        TreeId(self.0)
    }
}

/// A word of a vocabulary, or a free place for one: its line, and in the lowest bit the half of the line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct WordId(NonZeroU32);

impl WordId {
    /// The handle in a word of memory; 0 is none.
    #[inline]
    pub(crate) const fn from_word(word: u32) -> Option<WordId> {
        match NonZeroU32::new(word) {
            Some(word) if word.get() > 1 => Some(WordId(word)),
            _ => None,
        }
    }
    /// The first half of a line that was just allocated.
    pub(crate) fn at(line: NonZeroU32) -> WordId {
        WordId::from_word(line.get() << 1).expect("a line number has 28 bits")
    }
    #[inline]
    pub(crate) const fn line(self) -> u32 {
        self.0.get() >> 1
    }
    /// 0 or 1.
    #[inline]
    pub(crate) const fn half(self) -> usize {
        (self.0.get() & 1) as usize
    }
    /// The other half of the line.
    pub(crate) const fn other(self) -> WordId {
        match WordId::from_word(self.0.get() ^ 1) {
            Some(other) => other,
            None => self,
        }
    }
}

impl From<WordId> for NonZeroU32 {
    #[inline]
    fn from(id: WordId) -> NonZeroU32 {
        id.0
    }
}

impl fmt::Debug for WordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "w{}/{}", self.line(), self.half())
    }
}

impl VersionId {
    /// The handle of a version that was just allocated.
    #[inline]
    pub(crate) const fn at(line: NonZeroU32) -> Self {
        Self(line)
    }
}

/// The address of an edge slot: the line it is in, and which of the line's five.
///
/// ```text
///  31 30                              3 2  0
/// +--+---------------------------------+----+
/// | 0|  line                           | i  |   i < 5
/// +--+---------------------------------+----+
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SlotRef(u32);

impl SlotRef {
    #[inline]
    pub(crate) const fn new(line: u32, i: u32) -> SlotRef {
        debug_assert!(line < LINE_LIMIT && i < SLOTS_PER_LINE);
        SlotRef(line << 3 | i)
    }
    #[inline]
    pub(crate) const fn from_word(word: u32) -> SlotRef {
        SlotRef(word)
    }
    #[inline]
    pub(crate) const fn to_word(self) -> u32 {
        self.0
    }
    #[inline]
    pub(crate) const fn line(self) -> u32 {
        self.0 >> 3
    }
    #[inline]
    pub(crate) const fn i(self) -> u32 {
        self.0 & 7
    }
}

impl fmt::Debug for SlotRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}.{}", self.line(), self.i())
    }
}

/// What the third word of an edge slot points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// The row is settled: the slot of the same row in the other entity's list.
    Mirror(SlotRef),
    /// The row carries a version, which knows both slots.
    Version(VersionId),
}

impl Link {
    const VERSION: u32 = 1 << 31;

    #[inline]
    pub(crate) const fn from_word(word: u32) -> Link {
        if word & Link::VERSION != 0
            && let Some(version) = VersionId::from_word(word & !Link::VERSION)
        {
            return Link::Version(version);
        }
        Link::Mirror(SlotRef::from_word(word))
    }
    #[inline]
    pub(crate) const fn to_word(self) -> u32 {
        match self {
            Link::Mirror(slot) => slot.to_word(),
            Link::Version(version) => version.line() | Link::VERSION,
        }
    }
}

const _: () = assert!(LINE_BITS + 3 < 32, "a SlotRef leaves the top bit to Link");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_zero_is_no_handle() {
        assert_eq!(EntityId::from_word(0), None);
        assert_eq!(to_word(None::<EntityId>), 0);
        assert_eq!(EntityId::from_word(7).map(EntityId::line), Some(7));
    }

    #[test]
    fn a_link_reads_back_as_it_was_written() {
        let slot = SlotRef::new(LINE_LIMIT - 1, 4);
        assert_eq!((slot.line(), slot.i()), (LINE_LIMIT - 1, 4));
        let version = VersionId::from_word(LINE_LIMIT - 1).unwrap();
        for link in [Link::Mirror(slot), Link::Version(version)] {
            assert_eq!(Link::from_word(link.to_word()), link);
        }
    }
}
