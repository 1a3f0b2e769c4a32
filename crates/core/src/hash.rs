//! One seeded 64-bit hash, and how the filter reads it.
//!
//! ```text
//!  63          52 51        32 31                                   0
//! +--------------+------------+--------------------------------------+
//! | fingerprint  |  (unused)  |  first bucket, as many bits as needed |
//! +--------------+------------+--------------------------------------+
//! ```
//!
//! The seed is the image's, so nobody can aim collisions; entities and trees hash
//! with different seeds, so that a tree named like an entity is another key.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::id::{fold_product, halves};

/// Bits of a fingerprint: 12 make a false positive of one lookup in about 500, and leave
/// 28 + 24 bits of the slot for the handle and the temperature.
pub(crate) const FINGERPRINT_BITS: u32 = 12;

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Entity,
    Tree,
}

/// The hash of a name, as it stands in its record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hash(pub(crate) u64);

impl Hash {
    #[inline]
    pub(crate) fn of(seed: u64, kind: Kind, name: &[u8]) -> Hash {
        let seed = match kind {
            Kind::Entity => seed,
            // Any odd constant: the golden ratio's bits.
            Kind::Tree => seed ^ 0x9E37_79B9_7F4A_7C15,
        };
        Hash(xxh3_64_with_seed(name, seed))
    }

    #[inline]
    pub(crate) const fn fingerprint(self) -> u64 {
        self.0 >> (64 - FINGERPRINT_BITS)
    }

    /// The unfolded number of the first bucket: `i1'` in DESIGN.md.
    #[inline]
    pub(crate) const fn first(self) -> u32 {
        halves(self.0).0
    }

    /// The unfolded number of the second bucket: `i2' = i1' xor h(fingerprint)`.
    #[inline]
    pub(crate) const fn second(self) -> u32 {
        self.first() ^ Hash::mixed(self.fingerprint())
    }

    /// `h(fingerprint)`, by which an entry's two buckets differ.
    #[inline]
    pub(crate) const fn mixed(fingerprint: u64) -> u32 {
        // + 1 keeps fingerprint 0 from having one bucket only; the high half of the
        // product depends on every bit of the fingerprint.
        halves((fingerprint + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)).1
    }

    /// The hash of no words at all.
    pub(crate) const NOTHING: Hash = Hash(0x243F_6A88_85A3_08D3);

    /// The hash of a folded word.
    #[inline]
    pub(crate) fn of_word(seed: u64, word: &[u8]) -> u64 {
        xxh3_64_with_seed(word, seed ^ 0xC2B2_AE3D_27D4_EB4F)
    }

    /// The hash of some words and one more: what makes a window's hash roll. Whoever does not
    /// know the seed knows no word's hash.
    #[inline]
    pub(crate) const fn and(self, word: u64) -> Hash {
        Hash(fold_product(self.0 ^ 0x1319_8A2E_0370_7344, word | 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_and_seed_and_name_all_count() {
        let hashes = [
            Hash::of(1, Kind::Entity, b"heart"),
            Hash::of(1, Kind::Tree, b"heart"),
            Hash::of(2, Kind::Entity, b"heart"),
            Hash::of(1, Kind::Entity, b"hearts"),
            Hash::of(1, Kind::Entity, b""),
        ];
        for (i, a) in hashes.iter().enumerate() {
            assert!(hashes[..i].iter().all(|b| a != b));
        }
    }

    #[test]
    fn the_second_bucket_differs_for_almost_every_fingerprint() {
        let same = (0..1 << FINGERPRINT_BITS)
            .map(|fp: u64| Hash(fp << (64 - FINGERPRINT_BITS)))
            .filter(|h| (h.first() ^ h.second()) & 127 == 0)
            .count();
        assert!(same <= 64, "{same} of 4096 fingerprints have one bucket in 128");
    }
}
