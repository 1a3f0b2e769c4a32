//! Which two buckets a hash has, while the table grows bucket by bucket.
//!
//! With level n and split pointer p there are 2^n + p buckets. A record's two buckets are `i1'` and `i2' = i1' xor
//! h(fingerprint)` with n + 1 bits, each folded: if the low n bits are p or more they are the bucket, else all n + 1
//! bits are. Both always come from the record's stored hash, never from a bucket number: folding loses the bit that
//! would be needed.

use std::hint::select_unpredictable;

use crate::memory::hash::Hash;

/// The number of buckets, as level and split pointer; it decides where a hash folds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    pub(crate) level: u32,
    pub(crate) split: u32,
}

impl Geometry {
    pub(crate) fn buckets(self) -> u32 {
        (1 << self.level) + self.split
    }

    #[inline]
    fn fold(self, i: u32) -> u32 {
        let mask = (1 << self.level) - 1;
        let low = i & mask;
        if low < self.split { i & (mask << 1 | 1) } else { low }
    }

    /// The two buckets of a hash; they may be one.
    #[inline]
    pub(crate) fn buckets_of(self, hash: Hash) -> (u32, u32) {
        (self.fold(hash.first()), self.fold(hash.second()))
    }

    /// Whether an entry of the bucket that is split next moves to the new one. If both of the entry's buckets were this
    /// one, it may be in either.
    #[inline]
    pub(crate) fn goes(self, hash: Hash) -> bool {
        let is_first = hash.first() & ((1 << self.level) - 1) == self.split;
        let number = select_unpredictable(is_first, hash.first(), hash.second());
        number >> self.level & 1 == 1
    }

    /// The geometry after one more split.
    pub(crate) fn grown(self) -> Geometry {
        let split = self.split + 1;
        if split == 1 << self.level {
            Geometry { level: self.level + 1, split: 0 }
        } else {
            Geometry { split, ..self }
        }
    }
}
