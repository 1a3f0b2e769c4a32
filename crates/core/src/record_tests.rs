//! Tests of `record.rs`: shapes, names of any length, inline bits.

use super::*;
use crate::root::{Counter, Root};
use crate::{HeapMemory, Image};

fn memory() -> HeapMemory {
    let mut heap = HeapMemory::new(1 << 23);
    while heap.grow() {}
    Image::format(&heap, 1).unwrap().publish_chunks(heap.mapped());
    heap
}

#[test]
fn shapes_are_what_the_head_of_the_file_says() {
    let entity = |len| {
        let shape = Shape::of(Kind::Entity, len);
        (shape.lines, shape.inline())
    };
    assert_eq!(entity(0), (1, 2));
    assert_eq!(entity(8), (1, 2));
    assert_eq!(entity(9), (2, 6));
    assert_eq!(entity(16), (2, 6));
    assert_eq!(entity(32), (2, 5));
    assert_eq!(entity(72), (2, 2));
    assert_eq!(entity(73), (3, 6));
    assert_eq!(entity(INSIDE), (33, 5));
    assert_eq!(entity(INSIDE + 1), (33, 5));
    assert_eq!(entity(1 << 20), (33, 5));
    for len in 0..3000 {
        for kind in [Kind::Entity, Kind::Tree] {
            let shape = Shape::of(kind, len);
            assert_eq!(Shape::from_word(shape.to_word()), shape);
            let slots = shape.inline();
            let range = if kind == Kind::Tree { 0..=0 } else { 2..=6 };
            assert!(range.contains(&slots), "{len}: {shape:?}");
            let end = NAME + len.min(INSIDE);
            let first = index(shape.base / SLOTS_PER_LINE) * LINE_BYTES
                + index(shape.base % SLOTS_PER_LINE) * SLOT_BYTES
                + SLOTS_AT;
            assert!(first >= end && end <= index(shape.lines) * LINE_BYTES, "{len}");
        }
    }
}

#[test]
fn names_of_any_length_read_back_and_give_their_memory_back() {
    let heap = memory();
    let mut lengths: Vec<usize> = (0..200).collect();
    for border in [INSIDE, INSIDE + PIECE_BYTES, INSIDE + 3 * PIECE_BYTES, 1 << 20] {
        lengths.extend([border - 1, border, border + 1]);
    }
    for len in lengths {
        let name: Vec<u8> = (0..len).map(|i| (i * 7 + i / 256) as u8).collect();
        let before = crate::alloc::loose_lines(Root::new(&heap));
        let hash = Hash(len as u64 + 1);
        let record = create(&heap, Kind::Entity, hash, &name);
        let taken = before - crate::alloc::loose_lines(Root::new(&heap));
        assert!(taken <= bound_lines(1, len), "{len}");
        assert_eq!(record.name(), name);
        assert!(record.is(Kind::Entity, &name));
        assert!(!record.is(Kind::Tree, &name));
        for at in [0, len / 2, len.saturating_sub(1)] {
            let mut other = name.clone();
            if let Some(byte) = other.get_mut(at) {
                *byte ^= 1;
                assert!(!record.is(Kind::Entity, &other), "{len} at {at}");
            }
        }
        assert!(!record.is(Kind::Entity, &[&name[..], b"x"].concat()));
        record.free();
        assert_eq!(crate::alloc::loose_lines(Root::new(&heap)), before);
    }
    assert!(Root::new(&heap).count(Counter::FreeLines) > 0);
}

#[test]
fn inline_bits_are_up_or_down_or_free() {
    let heap = memory();
    let record = create(&heap, Kind::Entity, Hash(1), b"sixteen bytes!!!");
    assert_eq!(record.inline_free(), 0b11_1111);
    record.set_inline(2, Some(Direction::Down));
    record.set_inline(0, Some(Direction::Up));
    assert_eq!(record.inline_used(Direction::Up), 0b00_0001);
    assert_eq!(record.inline_used(Direction::Down), 0b00_0100);
    assert_eq!(record.inline_free(), 0b11_1010);
    record.set_inline(2, Some(Direction::Up));
    assert_eq!(record.inline_used(Direction::Down), 0);
    assert!(!record.is_lone());
    (0..6).for_each(|i| record.set_inline(i, None));
    assert!(record.is_lone());
}
