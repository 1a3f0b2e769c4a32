//! Tests of `memory/flat.rs`.

use super::bytes::bits_plainly;
use super::pages::equal_tags_plainly;
use super::*;
use crate::memory::casts::index;
use crate::memory::chunk::chunk_bytes;
use crate::memory::tables::Table;

#[test]
fn words_and_bytes_read_back() {
    let mut heap = HeapMemory::new(1 << 20);
    assert!(heap.grow() && heap.grow());
    heap.line(1224).set_u64(56, u64::MAX - 1);
    assert_eq!(heap.line(1224).u64(56), u64::MAX - 1);
    heap.span(1224).copy_in(60, b"across lines, twice the eight bytes");
    assert!(heap.span(1224).bytes_are(60, b"across lines, twice the eight bytes"));
    assert!(!heap.span(1224).bytes_are(60, b"across lines, twice the eight bytez"));
    assert!(!heap.span(1224).bytes_are(60, b"bcross lines, twice the eight bytes"));
    assert!(heap.span(1224).bytes_are(60, b""));
    let copy = heap.copy();
    assert!(copy.span(1224).bytes_are(60, b"across lines"));
    assert_eq!(copy.dump(), heap.dump());
}

#[test]
fn bytes_of_any_length_are_compared_to_the_last() {
    let mut heap = HeapMemory::new(1 << 20);
    assert!(heap.grow());
    let bytes: Vec<u8> = (1..=200).collect();
    heap.span(200).copy_in(3, &bytes);
    for len in 0..=200 {
        let name = &bytes[..len];
        assert!(heap.span(200).bytes_are(3, name));
        for i in 0..len {
            let mut other = name.to_vec();
            other[i] ^= 1;
            assert!(!heap.span(200).bytes_are(3, &other), "byte {i} of {len}");
        }
    }
}

#[test]
fn one_byte_that_is_no_ascii_is_met_wherever_it_is() {
    for len in [0, 1, 15, 16, 31, 33, 127, 1023, 1024, 1025, 2100] {
        let mut bytes = vec![0x7F; len];
        let read = |bytes: &[u8]| {
            super::as_text(bytes, &mut crate::Interruptible::new(&mut || ()))
                .map(|(text, is_ascii)| (text.len(), is_ascii))
        };
        assert_eq!(read(&bytes), Some((len, true)));
        for at in 0..len {
            bytes[at] = 0x80;
            assert_eq!(read(&bytes), None, "byte {at} of {len}");
            bytes[at] = 0x7F;
            if at > 0 {
                bytes[at - 1..=at].copy_from_slice("é".as_bytes());
                assert_eq!(read(&bytes), Some((len, false)), "byte {at} of {len}");
                bytes[at - 1..=at].fill(0x7F);
            }
        }
    }
}

#[test]
fn tags_are_equal_where_they_are() {
    let mut heap = HeapMemory::new(1 << 20);
    assert!(heap.grow());
    let page = heap.page(200, 48);
    let mut state = 7_u64;
    for _ in 0..20_000 {
        let mut number = || {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            // Tags that often are equal, or differ in one bit, or in the sign.
            (state >> 33) & 0x8001_0001_8000_0003
        };
        let (tags, hash) = ([number(), number()], number() << 48 | 0x7654_3210);
        page.set_u64(8, tags[0]);
        page.set_u64(24, tags[1]);
        let mut expected = 0;
        for slot in 0..8 {
            let tag = tags[slot / 4] >> (slot % 4 * 16) & 0xFFFF;
            expected |= u32::from(tag == hash >> 48) << slot;
        }
        assert_eq!(equal_tags([page.tags(8), page.tags(24)], hash), expected);
        assert_eq!(equal_tags_plainly(tags, hash >> 48), expected);
    }
}

#[test]
fn every_byte_has_its_highest_bit() {
    for (i, j) in (0..64).flat_map(|i| [(i, i), (i, i / 3), (i, 63 - i)]) {
        for (high, low) in [(0xFF, 0), (0x80, 0x7F)] {
            let mut bytes = [low; 64];
            (bytes[i], bytes[j]) = (high, high);
            let expected = 1 << i | 1 << j;
            assert_eq!((bits(bytes), bits_plainly(bytes)), (expected, expected));
        }
    }
}

#[test]
fn a_heap_memory_stops_at_its_limit() {
    let mut heap = HeapMemory::new(chunk_bytes(0) + chunk_bytes(1));
    assert!(heap.grow() && heap.grow() && !heap.grow());
    assert_eq!(heap.mapped(), 2);
}

#[test]
#[should_panic(expected = "index out of bounds")]
fn an_unmapped_line_panics() {
    let mut heap = HeapMemory::new(1 << 20);
    assert!(heap.grow());
    let _ = heap.line(1024);
}

#[test]
#[should_panic(expected = "in its chunk")]
fn a_line_in_a_gap_panics() {
    let mut heap = HeapMemory::new(1 << 20);
    assert!(heap.grow() && heap.grow());
    heap.prefetch(256);
    heap.prefetch_two(1023);
    let _ = heap.line(256);
}

#[test]
#[should_panic(expected = "one chunk")]
fn a_page_past_a_chunk_panics() {
    let mut heap = HeapMemory::new(1 << 20);
    (0..10).for_each(|_| assert!(heap.grow()));
    // The second half of chunk 8, which is two segments; chunk 9 is mapped.
    let _ = heap.page(10 * 1024 - 47, 48);
}

#[test]
#[should_panic(expected = "in its page")]
fn a_word_past_a_page_panics() {
    let mut heap = HeapMemory::new(1 << 20);
    assert!(heap.grow());
    let _ = heap.page(200, 48).far_u64(48 * 64);
}

#[test]
#[should_panic(expected = "one chunk")]
fn bytes_past_a_chunk_panic() {
    let mut heap = HeapMemory::new(1 << 20);
    assert!(heap.grow() && heap.grow());
    heap.span(255).copy_out(0, &mut [0; 65]);
}

#[test]
fn a_page_is_looked_for_in_the_directory_once_and_no_more_than_there_is_room_for() {
    let mut heap = HeapMemory::new(1 << 20);
    (0..6).for_each(|_| assert!(heap.grow()));
    let most = 2048 / Table::FoldedNames.page_lines();
    let asked = std::cell::Cell::new(0);
    let line_of = |page: u32| {
        asked.set(asked.get() + 1);
        100 + page
    };
    assert!(heap.known_page(Table::FoldedNames, 5).is_none());
    heap.learn_page(Table::FoldedNames, 5, line_of);
    assert_eq!(asked.get(), 7, "six are learned, and the page itself");
    let known = |page| heap.known_page(Table::FoldedNames, page).map(|page| page.start());
    assert!((0..6).all(|page| known(page) == Some(heap.line(100 + page).start())));
    assert_eq!((known(6), heap.known_page(Table::Names, 0).map(|page| page.start())), (None, None));
    // A directory that claims more pages than there are lines for them.
    heap.learn_page(Table::FoldedNames, most + 100, |_| 100);
    let room = heap.pages[Table::FoldedNames as usize].0.get();
    // SAFETY: no other reference to the list is alive.
    let (len, room) = unsafe { ((*room).len(), (*room).capacity()) };
    assert!(len == room && len >= index(most));
    heap.forget_pages();
    assert_eq!(known(0), None);
    heap.memory.clear();
}

#[test]
fn a_reader_that_knows_pages_finds_what_another_process_adds() {
    let mut heap = HeapMemory::new(1 << 24);
    assert!(heap.grow());
    let image = crate::Image::format(&heap, 1).unwrap();
    image.insert(&crate::Edge { tree: None, parent: b"0", child: b"1" }, None).unwrap();
    let mut reader = Memory::new();
    for i in 0..6000_u32 {
        let (parent, child) = ((i / 3).to_string(), (i + 1).to_string());
        let (parent, child) = (parent.as_bytes(), child.as_bytes());
        let edge = crate::Edge { tree: None, parent, child };
        while crate::Image::open(&heap).unwrap().insert(&edge, None).is_err() {
            assert!(heap.grow());
            crate::Image::open(&heap).unwrap().publish_chunks(heap.mapped());
        }
        for chunk in &heap.chunks[reader.mapped()..] {
            // SAFETY: the chunk has the size of its number, and lives until `heap` is dropped, after the last use of
            // `reader`; one thread writes and reads in turns.
            assert!(unsafe { reader.map(chunk.cast()) });
        }
        let image = crate::Image::open(&reader).unwrap();
        assert!(image.find(child).is_some() && image.find(b"none").is_none());
        assert!(i % 500 != 0 || (0..=i).all(|i| image.find(i.to_string().as_bytes()).is_some()));
    }
}
