//! An image whose bytes were changed: verify() reports it and follows nothing that leads nowhere. (fuzz: open_bytes does this at random.)

use cftrag_core::{Edge, HeapMemory, Image, Stamp};

fn sound() -> Vec<Vec<u8>> {
    let mut heap = HeapMemory::new(1 << 16);
    assert!(heap.grow());
    let image = Image::format(&heap, 1).unwrap();
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

/// Each of 64 bits, turned in every word that is not zero: no panic, whatever is found.
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

/// An entry of the filter that has a name's fingerprint, leads out of memory, and stands before the name's own.
#[test]
fn verify_follows_no_entry_that_leads_nowhere() {
    let sound = sound();
    let mut found = 0;
    for bucket in (0..sound[0].len()).step_by(32) {
        let slot = |i: usize| bucket + 8 * i..bucket + 8 * i + 8;
        let (first, second) = (&sound[0][slot(0)], &sound[0][slot(1)]);
        if first != [0; 8] && second == [0; 8] {
            let mut chunks = sound.clone();
            chunks[0].copy_within(slot(0), bucket + 8);
            // The line's higher bits (crates/core/src/bucket.rs).
            chunks[0][bucket + 5] = 0xFF;
            found += usize::from(problems(&chunks) > 0);
        }
    }
    assert!(found > 20, "{found}");
}
