//! Tests of `records/record.rs`: shapes, names of any length, inline bits.

use super::*;
use crate::memory::root::{Counter, Root};
use crate::records::slot::{SLOT_BYTES, SLOTS_AT};
use crate::{HeapMemory, Image};

fn memory() -> HeapMemory {
    let mut heap = HeapMemory::new(1 << 23);
    while heap.grow() {}
    Image::format(&heap, 1).unwrap().publish_chunks(heap.mapped());
    heap
}

#[test]
fn shapes_are_what_the_head_of_the_file_says() {
    let entity = |len, rows| {
        let shape = Shape::of(Kind::Entity, len, Room::of(rows));
        (shape.lines, shape.inline())
    };
    assert_eq!(entity(36, 0), (1, 1));
    assert_eq!(entity(36, 1), (1, 1));
    assert_eq!(entity(24, 1), (1, 2));
    assert_eq!(entity(24, 2), (1, 2));
    assert_eq!(entity(24, 3), (2, 7));
    assert_eq!(entity(12, 3), (1, 3));
    assert_eq!(entity(37, 1), (2, 5));
    assert_eq!(entity(88, 2), (2, 2));
    assert_eq!(entity(89, 2), (3, 6));
    assert_eq!(entity(28, 6), (2, 6));
    assert_eq!(entity(28, 7), (3, 11));
    assert_eq!(entity(28, 16), (4, 16));
    assert_eq!(entity(20, u32::MAX), (4, 16));
    assert_eq!(entity(INSIDE, 2), (33, 5));
    assert_eq!(entity(INSIDE + 1, 2), (33, 4));
    assert_eq!(entity(1 << 20, 2), (33, 4));
    for len in 0..3000 {
        for (kind, rows) in (0..20).map(|rows| (Kind::Entity, rows)).chain([(Kind::Tree, 1)]) {
            let shape = Shape::of(kind, len, Room::of(rows));
            assert_eq!(Shape::from_word(shape.to_word(len)), shape);
            assert!(shape.is_of(len), "{len}: {shape:?}");
            let slots = shape.inline();
            let least = rows.clamp(1, MOST_INLINE);
            let range = if kind == Kind::Tree { 0..=0 } else { least..=MOST_INLINE.min(least + 4) };
            assert!(range.contains(&slots), "{len}: {shape:?}");
            let end = NAME + len.min(INSIDE);
            let first = index(shape.base / SLOTS_PER_LINE) * LINE_BYTES
                + index(shape.base % SLOTS_PER_LINE) * SLOT_BYTES
                + SLOTS_AT;
            assert!(first >= end && end <= index(shape.lines) * LINE_BYTES, "{len}");
        }
    }
    let shape = Shape::of(Kind::Entity, 28, Room::of(1));
    assert!(!shape.is_of(37) && !shape.is_of(24));
    assert!(!Shape { lines: 5, ..shape }.is_of(28) && !Shape { lines: 0, ..shape }.is_of(28));
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
        let before = crate::memory::alloc::loose_lines(Root::new(&heap));
        let hash = Hash(len as u64 + 1);
        let rows = word(len % 20);
        let record = create(&heap, Kind::Entity, hash, &name, Room::of(rows));
        let taken = before - crate::memory::alloc::loose_lines(Root::new(&heap));
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
        assert_eq!(crate::memory::alloc::loose_lines(Root::new(&heap)), before);
    }
    assert!(Root::new(&heap).count(Counter::FreeLines) > 0);
}

#[test]
fn inline_bits_are_up_or_down_or_free() {
    let heap = memory();
    let record = create(&heap, Kind::Entity, Hash(1), b"twenty-five bytes, no more", Room::USUAL);
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

#[test]
fn heads_take_the_place_of_slot_0_and_give_it_back() {
    let heap = memory();
    for len in [1, 21, 32, 34, 100, INSIDE, INSIDE + 1] {
        let record = create(&heap, Kind::Entity, Hash(1), &vec![b'x'; len], Room::of(1));
        let blocks = |direction| (record.list(direction).block, record.list(direction).used);
        let free = record.inline_free();
        assert_eq!(blocks(Direction::Down), (0, 0));
        record.make_heads();
        assert!(record.has_heads() && !record.is_lone());
        assert_eq!(record.inline_free(), free & !1);
        assert_eq!(record.inline_used(Direction::Up) | record.inline_used(Direction::Down), 0);
        record.set_list(Direction::Down, 77, 5);
        record.set_list(Direction::Up, 78, 1);
        assert_eq!(blocks(Direction::Down), (77, 5));
        assert_eq!(blocks(Direction::Up), (78, 1));
        assert_eq!(record.name(), vec![b'x'; len]);
        record.set_list(Direction::Down, 0, 0);
        assert!(record.has_heads());
        record.set_list(Direction::Up, 0, 0);
        assert!(record.is_lone());
        assert_eq!(record.inline_free(), free);
        // Once the slot is used, its words are not read as heads.
        record.set_inline(0, Some(Direction::Down));
        assert_eq!(blocks(Direction::Up), (0, 0));
    }
}
