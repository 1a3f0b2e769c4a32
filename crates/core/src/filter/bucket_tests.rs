//! Tests of `bucket.rs`, and of the bits and the arithmetic in its folder.

use super::*;
use crate::memory::casts::halves;
use crate::memory::casts::word;
use crate::memory::id::LINE_BITS;

fn hashes() -> impl Iterator<Item = Hash> {
    let most = if cfg!(miri) { 200 } else { 5000 };
    (1..most).map(|i: u64| Hash(i.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ i << 52))
}

/// A memory in which line 128 may be the first of a page.
fn memory() -> crate::HeapMemory {
    let mut heap = crate::HeapMemory::new(1 << 20);
    assert!(heap.grow());
    heap.span(128).zero(64);
    heap
}

#[test]
fn an_entry_reads_back_as_it_was_made() {
    let heap = memory();
    for (n, hash) in hashes().enumerate() {
        let (line, _) = halves(hash.0 >> 7 & ((1 << LINE_BITS) - 1) | 1);
        let record = RecordId::from_word(line);
        let entry = Entry::new(hash, record.unwrap());
        assert_eq!((entry.record(), entry.temperature_class()), (record, 0));
        assert!(entry.has_tag_of(hash) && !entry.has_tag_of(Hash(!hash.0)));
        let bucket = Bucket::new(heap.page(128, TAILS_AT), word(n % 128));
        let before = bucket.read();
        bucket.set(n % 4, entry);
        Cell { words: bucket.words(), slot: n % 4 }.set_temperature_class(9);
        let after = bucket.read();
        assert_eq!((after[n % 4].record(), after[n % 4].temperature_class()), (record, 9));
        assert!((0..4).all(|slot| slot == n % 4 || before[slot] == after[slot]));
        bucket.clear();
        assert_eq!((bucket.read(), bucket.empty_slot()), ([Entry::NONE; 4], Some(0)));
    }
    assert_eq!(Entry::NONE.record(), None);
}

#[test]
fn the_candidates_are_the_slots_with_the_tag() {
    let heap = memory();
    let buckets = [5, 99].map(|i| Bucket::new(heap.page(128, TAILS_AT), i));
    let all: Vec<Hash> = hashes().take(8).collect();
    for (i, &hash) in all.iter().enumerate() {
        let record = RecordId::from_word(word(i) + 1).unwrap();
        buckets[i / 4].set(i % 4, Entry::new(hash, record));
    }
    for (i, &hash) in all.iter().enumerate() {
        let found: Vec<_> = Candidates::of(hash, buckets).collect();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].0.line(), found[0].1.slot), (word(i) + 1, i));
        // One bit of the tag is enough to tell two hashes apart, and no other bit counts.
        assert_eq!(Candidates::of(Hash(hash.0 ^ 1 << 48), buckets).count(), 0);
        assert_eq!(Candidates::of(Hash(hash.0 ^ 1 << 47), buckets).count(), 1);
    }
    let empty = [7, 8].map(|i| Bucket::new(heap.page(128, TAILS_AT), i));
    assert_eq!(Candidates::of(Hash(0), empty).count(), 0, "a tag of 0 is no entry");
    empty[0].set(0, Entry::new(Hash(7), RecordId::from_word(1).unwrap()));
    assert_eq!(empty[0].empty_slot(), Some(1), "an entry with a tag of 0 is one");
}

#[test]
fn a_folded_name_and_a_prefix_know_their_buckets_wherever_they_stand() {
    let heap = memory();
    let record = RecordId::from_word(5).unwrap();
    for (n, hash) in hashes().enumerate() {
        let geometry = Geometry { level: 7 + n as u32 % 20, split: n as u32 % 128 };
        let both = geometry.buckets_of(hash);
        for (second, number) in [(false, both.0), (true, both.1)] {
            let folded = Entry::folded(hash, record).placed(second);
            assert_eq!(geometry.buckets_of(folded.hash_in(number)), both);
            assert_eq!(folded.head(), Some(record));
            let prefix = Entry::prefix(hash, 5);
            assert_eq!(geometry.buckets_of(prefix.hash_in(number)), both);
            assert_eq!((prefix.head(), prefix.lengths()), (None, 5));
            let bucket = Bucket::new(heap.page(128, PAGE_LINES), number % 128);
            bucket.clear();
            bucket.set(1, folded);
            bucket.set(3, prefix);
            assert_eq!(bucket.read(), [Entry::NONE, folded, Entry::NONE, prefix]);
            bucket.write([prefix, Entry::NONE, folded, folded]);
            assert_eq!(bucket.read(), [prefix, Entry::NONE, folded, folded]);
            bucket.write([Entry::NONE, folded, Entry::NONE, prefix]);
            assert_eq!(bucket.agreeing(Pattern::folded(hash, second)), 2);
            assert_eq!(bucket.agreeing(Pattern::folded(hash, !second)), 0);
            assert_eq!(bucket.agreeing(Pattern::prefix(hash)), 8);
            for bit in (7..28).chain(52..64) {
                let other = Hash(hash.0 ^ 1 << bit);
                assert_eq!(bucket.agreeing(Pattern::folded(other, second)), 0, "bit {bit}");
                assert_eq!(bucket.agreeing(Pattern::prefix(other)), 0, "bit {bit}");
            }
        }
    }
}

#[test]
fn a_prefix_counts_to_its_most_and_stays_there() {
    let mut prefix = Entry::prefix(Hash(u64::MAX), 1);
    for count in 1..=MOST_COUNTED {
        assert_eq!((prefix.count(), prefix.is_folded()), (count, false));
        let less = prefix.without();
        assert_eq!(less.is_empty(), count == 1);
        assert!(count == 1 || count == MOST_COUNTED || less.count() == count - 1);
        prefix = prefix.with(1 << (count % LENGTH_BITS));
    }
    assert_eq!((prefix.count(), prefix.without()), (MOST_COUNTED, prefix));
    assert_eq!((prefix.lengths(), prefix.hash_in(0).fingerprint()), (0xFFF, 0xFFF));
}

#[test]
fn a_split_moves_a_bucket_only_to_its_new_half() {
    let mut old = Geometry { level: 3, split: 0 };
    while old.level < 8 {
        let new = old.grown();
        assert_eq!(new.buckets(), old.buckets() + 1);
        for hash in hashes() {
            let ((a, b), (c, d)) = (old.buckets_of(hash), new.buckets_of(hash));
            for (before, after) in [(a, c), (b, d)] {
                let moved = before == old.split && after == old.buckets();
                assert!(before == after || moved, "{old:?} {before} -> {after}");
                if a != b && before == old.split {
                    assert_eq!(old.goes(hash), moved, "{old:?} {hash:?}");
                }
            }
        }
        old = new;
    }
}
