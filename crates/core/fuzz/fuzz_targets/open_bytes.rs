//! Changes the bytes of an image at random: verify() reports and never panics or hangs; if it finds nothing, everything
//! else works as well.
//!
//!     cargo +nightly fuzz run open_bytes

#![no_main]

use std::sync::LazyLock;

use cftrag_core::{
    AllSeen, Edge, Fate, HeapMemory, Hot, Image, Interruptible, Prefix, Reader, Recogniser, Scan,
    Seek, Stamp, Step, Walk,
};
use libfuzzer_sys::fuzz_target;

/// An image with settled and unsettled rows, trees, a hub with blocks, a self-edge, freed memory.
static SOUND: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let mut heap = HeapMemory::new(1 << 16);
    while heap.grow() {}
    let image = Image::format(&heap, 1).unwrap();
    image.publish_chunks(heap.mapped());
    for i in 0..30_u8 {
        let stamp = i.is_multiple_of(3).then_some(Stamp { xmin: u64::from(i), cmin: 0 });
        let tree = i.is_multiple_of(2).then_some(&b"tree"[..]);
        image.insert(&Edge { tree, parent: b"hub", child: &[i; 12] }, stamp).unwrap();
        // Folded names with one prefix, and two names for each folded name.
        let child = format!("{} {:05}", ["child", "Child"][usize::from(i % 2)], i / 2);
        image.insert(&Edge { tree, parent: b"hub", child: child.as_bytes() }, stamp).unwrap();
    }
    image.insert(&Edge { tree: None, parent: b"own", child: b"own" }, None).unwrap();
    image.settle(4, 20, &|_| Fate::Aborted, &mut Vec::new());
    heap.dump()
});

fuzz_target!(|data: &[u8]| {
    let mut chunks = SOUND.clone();
    // Each change has a word's number in the four chunks (2 bytes) and the bits to flip in that word (4 bytes).
    for change in data.chunks_exact(6).take(16) {
        let word = usize::from(u16::from_le_bytes([change[0], change[1]])) % (1024 * 16);
        let (chunk, at) = (word / (1024 * 4), word % (1024 * 4) * 4);
        for (to, from) in chunks[chunk][at..at + 4].iter_mut().zip(&change[2..]) {
            *to ^= from;
        }
    }
    let heap = HeapMemory::load(&chunks);
    let Ok(image) = Image::open(&heap) else { return };
    let mut problems = 0;
    image.verify(&mut |_| problems += 1);
    if problems > 0 {
        return;
    }
    let mut walk = Walk::new(Prefix::LENGTH);
    for name in [&b"hub"[..], b"own", b"nobody", &[7; 12]] {
        walk.begin(name, 3, 3);
    }
    let mut steps = 0;
    while walk.step(image, &AllSeen, 7) == Step::More {
        steps += 1;
        assert!(steps < 10_000);
    }
    walk.finish();
    let mut recogniser = Recogniser::new(Prefix::LENGTH);
    recogniser.begin(Seek::Entities, false);
    let mut text = Reader::new("the HUB of child 00003, its own: child 00007");
    let mut steps = 0;
    loop {
        recogniser.read(&mut text, &mut Interruptible::new(&mut || ())).unwrap();
        if recogniser.step(image, &AllSeen, 5, &text) != Step::More {
            break;
        }
        steps += 1;
        assert!(steps < 10_000);
    }
    recogniser.finish();
    let mut scan = Scan::new();
    while image.edges(&mut scan, 64, &AllSeen, |_, _, _| ()) == Step::More {}
    let (mut hot, mut nothing) = (Hot::new(3, usize::MAX), || ());
    let work = &mut Interruptible::new(&mut nothing);
    while image.hot(&mut hot, 64, &AllSeen) == Ok(Step::More) {
        hot.make_room(work).unwrap();
    }
    assert!(hot.finish(work).is_ok());
    let _ = image.insert(&Edge { tree: Some(b"t"), parent: b"hub", child: b"new" }, None);
    image.settle(100, 1000, &|_| Fate::Committed, &mut Vec::new());
    image.cool(10);
    image.verify(&mut |problem| panic!("{problem:?}"));
});
