//! How the filter reads a hash: the fingerprint, and the two buckets.
//!
//! ```text
//!  63          52 51  48 47    32 31                                   0
//! +--------------+------+--------+--------------------------------------+
//! | fingerprint  |      |        |  first bucket, as many bits as needed |
//! +--------------+------+--------+--------------------------------------+
//! |  tag of a name      |
//! ```
//!
//! The fingerprint decides how far an entry's two buckets are apart. A name's tag has four bits more, so that with
//! eight full slots a different name is compared once in 8192 lookups.

use crate::memory::casts::halves;
use crate::memory::hash::Hash;

/// Bits of a fingerprint: the paper's 12, which alone would give a false positive in about one of 500 lookups.
pub(crate) const FINGERPRINT_BITS: u32 = 12;

impl Hash {
    #[inline]
    pub(crate) const fn fingerprint(self) -> u64 {
        self.0 >> (64 - FINGERPRINT_BITS)
    }

    /// The 16 bits of a name's hash that its bucket stores.
    #[inline]
    pub(crate) const fn tag(self) -> u64 {
        self.0 >> 48
    }

    /// The unfolded number of the first bucket: `i1'` in filter/bucket/geometry.rs.
    #[inline]
    pub(crate) const fn first(self) -> u32 {
        halves(self.0).0
    }

    /// The unfolded number of the second bucket: `i2' = i1' xor h(fingerprint)`.
    #[inline]
    pub(crate) const fn second(self) -> u32 {
        self.first() ^ Hash::mixed(self.fingerprint())
    }

    /// `h(fingerprint)`: xoring it with the number of one bucket of an entry gives the other.
    #[inline]
    pub(crate) const fn mixed(fingerprint: u64) -> u32 {
        // + 1 keeps fingerprint 0 from having only one bucket; the high half of the product depends on every bit of the
        // fingerprint.
        halves((fingerprint + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_bucket_differs_for_almost_every_fingerprint() {
        let same = (0..1 << FINGERPRINT_BITS)
            .map(|fp: u64| Hash(fp << (64 - FINGERPRINT_BITS)))
            .filter(|h| (h.first() ^ h.second()) & 127 == 0)
            .count();
        assert!(same <= 64, "{same} of 4096 fingerprints have one bucket in 128");
    }
}
