//! One seeded 64-bit hash of names and words; filter/fingerprint.rs says how the filter reads it.
//!
//! Each image has its own seed, so that no user can construct colliding names. Entities and trees hash with different
//! seeds, so that a tree named like an entity has a different hash.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::memory::casts::{fold_product, wide};

/// Makes the hash of a word differ from that of an entity with the same name.
const OF_WORDS: u64 = 0xC2B2_AE3D_27D4_EB4F;
/// Bytes of the longest word that fits into two pieces of eight bytes.
const SHORT: usize = 16;

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Entity,
    Tree,
}

/// The hash of a name, as its record stores it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hash(pub(crate) u64);

impl Hash {
    #[inline]
    pub(crate) fn of(seed: u64, kind: Kind, name: &[u8]) -> Hash {
        let seed = match kind {
            Kind::Entity => seed,
            // Any odd constant will do: these are the golden ratio's bits.
            Kind::Tree => seed ^ 0x9E37_79B9_7F4A_7C15,
        };
        Hash(xxh3_64_with_seed(name, seed))
    }

    /// The hash of a folded word. Short words take a separate way, in a third of the time: they fit into two pieces of
    /// eight bytes, and two multiplications use all bits of the seed.
    #[inline(never)]
    pub(crate) fn of_word(seed: u64, word: &[u8]) -> Hash {
        let mut room = [0; SHORT];
        match room.get_mut(..word.len()) {
            Some(short) => {
                short.copy_from_slice(word);
                Hash::of_short_word(seed, &room, word.len())
            }
            None => Hash(xxh3_64_with_seed(word, seed ^ OF_WORDS)),
        }
    }

    /// The hash of a word inside a longer text. No branch depends on the length of a short word.
    #[inline(always)]
    pub(crate) fn of_word_in(seed: u64, text: &[u8], at: usize, len: usize) -> Hash {
        match text.get(at..at.wrapping_add(SHORT)).and_then(<[u8]>::first_chunk) {
            Some(chunk) if len <= SHORT => Hash::of_short_word(seed, chunk, len),
            _ => Hash::of_word(seed, &text[at..at + len]),
        }
    }

    #[inline(always)]
    fn of_short_word(seed: u64, chunk: &[u8; SHORT], len: usize) -> Hash {
        let eight = |at: usize| u64::from_le_bytes(*chunk[at..].first_chunk().expect("of sixteen"));
        let [first, last] = BYTES_OF[len];
        let seed = seed ^ OF_WORDS;
        let (first, last) = (eight(0) & first ^ seed, eight(8) & last ^ seed.rotate_left(32));
        let once = fold_product(first, last ^ 0xA409_3822_299F_31D0);
        Hash(fold_product(once ^ wide(len), 0x082E_FA98_EC4E_6C89))
    }

    /// The hash of some words followed by one more, which makes a window's hash roll. Without the seed no word's hash
    /// can be predicted.
    #[inline]
    pub(crate) const fn and(self, word: Hash) -> Hash {
        Hash(fold_product(self.0 ^ 0x1319_8A2E_0370_7344, word.0 | 1))
    }

    /// The hash of this and a number. The number is mixed first (by the finalizer of MurmurHash3): without, numbers in
    /// a row would for some hashes share so few buckets that a table had no room for them.
    #[inline]
    pub(crate) const fn and_number(self, number: u64) -> Hash {
        let mixed = (number ^ number >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        let mixed = (mixed ^ mixed >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
        self.and(Hash(mixed ^ mixed >> 33))
    }
}

/// Masks by length of a word: which of its first eight bytes, and of the next eight, belong to it.
const BYTES_OF: [[u64; 2]; SHORT + 1] = {
    let mut all = [[0; 2]; SHORT + 1];
    let mut byte = 0;
    while byte < SHORT {
        all[byte + 1] = all[byte];
        all[byte + 1][byte / 8] |= 0xFF << (byte % 8 * 8);
        byte += 1;
    }
    all
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_and_the_length_of_a_word_count() {
        let mut seen = std::collections::HashSet::new();
        let mut words = 0;
        let mut add = |seed: u64, word: &[u8]| {
            words += 1;
            seen.insert(Hash::of_word(seed, word).0);
        };
        for len in 0..40 {
            let word = vec![b'a'; len];
            add(7, &word);
            add(8, &word);
            for at in 0..len {
                for byte in [b'b', 0, 0xFF] {
                    let mut other = word.clone();
                    other[at] = byte;
                    add(7, &other);
                }
            }
        }
        for letters in 0..26_u16 * 26 * 26 {
            let letter = |n: u16| b'a' + (n % 26) as u8;
            let three = [letter(letters), letter(letters / 26), letter(letters / 676)];
            add(9, &three);
            if letters < 676 {
                add(9, &three[..2]);
            }
        }
        assert_eq!(seen.len(), words);
    }

    #[test]
    fn a_word_in_a_text_has_the_hash_of_the_word_alone() {
        let text: Vec<u8> = (0..100_u8).map(|i| i.wrapping_mul(37) | 1).collect();
        for at in 0..text.len() {
            for len in 1..=text.len() - at {
                let alone = Hash::of_word(7, &text[at..at + len]);
                assert_eq!(Hash::of_word_in(7, &text, at, len), alone, "{at} {len}");
            }
        }
    }

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
}
