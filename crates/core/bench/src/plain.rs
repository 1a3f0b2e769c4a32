//! Only a cuckoo filter: 12-bit fingerprints, four slots, packed in 6 bytes a bucket, as in Fan et al. 2014.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::Random;

/// A filter of 12-bit entries, in buckets of four.
pub struct Plain {
    /// Has two extra bytes, so that eight can be read at the last bucket.
    bytes: Vec<u8>,
    mask: u64,
}

const BUCKET: usize = 6;
const LOW: u64 = 0x7FF7_FF7F_F7FF;
const HIGH: u64 = 0x8008_0080_0800;
const ONES: u64 = 0x0010_0100_1001;

impl Plain {
    /// A filter of `n` names, loaded to at most 95 %.
    pub fn of(names: impl Iterator<Item = String>, n: usize) -> Plain {
        let buckets = (n * 20 / 19).div_ceil(4).next_power_of_two();
        let mut plain = Plain { bytes: vec![0; buckets * BUCKET + 2], mask: buckets as u64 - 1 };
        let mut random = Random(7);
        for name in names {
            plain.insert(name.as_bytes(), &mut random);
        }
        plain
    }

    /// The fingerprint, never 0, and the first bucket.
    #[inline]
    fn place(&self, hash: u64) -> (u64, u64) {
        let fingerprint = hash >> 52;
        (fingerprint + u64::from(fingerprint == 0), hash & self.mask)
    }

    fn other(&self, bucket: u64, fingerprint: u64) -> u64 {
        (bucket ^ fingerprint.wrapping_mul(0x5BD1_E995)) & self.mask
    }

    fn read(&self, bucket: u64) -> u64 {
        let at = bucket as usize * BUCKET;
        u64::from_le_bytes(*self.bytes[at..].first_chunk().expect("two bytes more")) & 0xFFFF_FFFF_FFFF
    }

    fn put(&mut self, bucket: u64, slot: u32, fingerprint: u64) {
        let at = bucket as usize * BUCKET;
        let slots = self.read(bucket) & !(0xFFF << (slot * 12)) | fingerprint << (slot * 12);
        self.bytes[at..at + BUCKET].copy_from_slice(&slots.to_le_bytes()[..BUCKET]);
    }

    fn insert(&mut self, name: &[u8], random: &mut Random) {
        let (mut fingerprint, mut bucket) = self.place(xxh3_64_with_seed(name, 1));
        let other = self.other(bucket, fingerprint);
        if self.enter(bucket, fingerprint) || self.enter(other, fingerprint) {
            return;
        }
        while !self.enter(bucket, fingerprint) {
            let slot = random.below(4) as u32;
            let kicked = self.read(bucket) >> (slot * 12) & 0xFFF;
            self.put(bucket, slot, fingerprint);
            (fingerprint, bucket) = (kicked, self.other(bucket, kicked));
        }
    }

    /// Enters a fingerprint if the bucket has room; returns whether it had.
    fn enter(&mut self, bucket: u64, fingerprint: u64) -> bool {
        let slots = self.read(bucket);
        let empty = (0..4).find(|slot| slots >> (slot * 12) & 0xFFF == 0);
        empty.inspect(|&slot| self.put(bucket, slot, fingerprint)).is_some()
    }

    /// Whether a fingerprint of that name is in the filter.
    #[inline]
    pub fn may_have(&self, name: &[u8]) -> bool {
        self.may_have_hash(xxh3_64_with_seed(name, 1))
    }

    /// [`Self::may_have`] by a call that is not inlined, as in the published filter.
    pub fn called_may_have(&self, name: &[u8]) -> bool {
        self.call(xxh3_64_with_seed(name, 1))
    }

    #[inline(never)]
    extern "C" fn call(&self, hash: u64) -> bool {
        self.may_have_hash(hash)
    }

    #[inline]
    fn may_have_hash(&self, hash: u64) -> bool {
        let (fingerprint, first) = self.place(hash);
        let wanted = fingerprint * ONES;
        // Only a difference of 0 in 12 bits has neither a carry into the top bit nor a top bit.
        let equal = |bucket| {
            let differ = self.read(bucket) ^ wanted;
            !(((differ & LOW) + LOW) | differ) & HIGH
        };
        equal(first) | equal(self.other(first, fingerprint)) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name;

    #[test]
    fn what_was_entered_may_be_there_and_little_else() {
        let plain = Plain::of((0..60_000).map(name), 60_000);
        assert!((0..60_000).all(|i| plain.may_have(name(i).as_bytes())));
        let wrong = (60_001..160_001).filter(|&i| plain.may_have(name(i).as_bytes())).count();
        assert!((50..250).contains(&wrong), "{wrong} of 100,000");
    }
}
