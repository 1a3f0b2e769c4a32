//! Changes bytes of an image: verify() reports that and follows no wild reference. (The fuzz target open_bytes does so
//! at random.)

use cftrag_core::{Edge, HeapMemory, Image, Stamp};

fn sound() -> Vec<Vec<u8>> {
    let mut heap = HeapMemory::new(1 << 18);
    while heap.mapped() < 4 {
        assert!(heap.grow());
    }
    let image = Image::format(&heap, 1).unwrap();
    image.publish_chunks(4);
    for i in 0..30_u8 {
        let stamp = i.is_multiple_of(3).then_some(Stamp { xmin: u64::from(i), cmin: 0 });
        let tree = i.is_multiple_of(2).then_some(&b"tree"[..]);
        image.insert(&Edge { tree, parent: b"hub", child: &[i; 12] }, stamp).unwrap();
    }
    heap.dump()
}

fn problems(chunks: &[Vec<u8>]) -> usize {
    let heap = HeapMemory::load(chunks);
    let mut problems = 0;
    if let Ok(image) = Image::open(&heap) {
        image.verify(&mut |_| problems += 1);
    }
    problems
}

/// Flips every third bit of every word that is not zero. Nothing panics, whatever is found.
#[test]
fn verify_survives_a_turned_bit() {
    let sound = sound();
    let mut found = 0;
    for (at, word) in sound[0].chunks_exact(8).enumerate().filter(|(_, word)| **word != [0; 8]) {
        for bit in (at % 3..64).step_by(3) {
            let mut chunks = sound.clone();
            chunks[0][at * 8 + bit / 8] = word[bit / 8] ^ 1 << (bit % 8);
            found += usize::from(problems(&chunks) > 0);
        }
    }
    assert!(found > 1000, "{found}");
}

/// The place of the first page of names in a new image (crates/core/src/memory/root.rs, bucket.rs): 128 buckets of four
/// tags of two bytes each, then of four words of four bytes each.
const TAGS: usize = 19 * 64;
const WORDS: usize = TAGS + 128 * 8;

/// Before the entry of a name, puts an entry with its tag that leads out of memory.
#[test]
fn verify_follows_no_entry_that_leads_nowhere() {
    let sound = sound();
    let mut found = 0;
    for bucket in 0..128 {
        let (tags, words) = (TAGS + bucket * 8, WORDS + bucket * 16);
        let is_used = |slot: usize| sound[0][words + slot * 4..][..4] != [0; 4];
        if is_used(0) && !is_used(1) {
            let mut chunks = sound.clone();
            chunks[0].copy_within(tags..tags + 2, tags + 2);
            chunks[0].copy_within(words..words + 4, words + 4);
            // The higher bits of the line number.
            chunks[0][words + 3] = 0xFF;
            assert!(problems(&chunks) > 0, "bucket {bucket}");
            found += 1;
        }
    }
    assert!(found > 20, "{found}");
}
