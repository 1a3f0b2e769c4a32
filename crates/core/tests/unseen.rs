//! Tests of texts whose names have many rows that the snapshot does not see: what is found, and what is read.

#[expect(dead_code, reason = "the world of the random tests")]
mod common;

use cftrag_core::{
    Edge, HeapMemory, Hint, Image, Interruptible, LABELS, Prefix, Reader, Recogniser, Seek, Stamp,
    Step, View, Visibility,
};
use common::{heap, verify};

/// A snapshot that sees the transactions before 100.
struct Before;

impl Visibility for Before {
    fn view(&self, xid: u64, _hint: Hint) -> View {
        if xid < 100 { View::Seen } else { View::Unseen }
    }
    fn learned(&self, _xid: u64) -> Hint {
        Hint::None
    }
    fn curcid(&self) -> u32 {
        0
    }
}

fn insert(heap: &mut HeapMemory, tree: Option<&[u8]>, parent: &[u8], child: &[u8], xmin: u64) {
    let edge = Edge { tree, parent, child };
    while Image::open(heap).unwrap().free_bytes() < Image::insert_bound(&edge) {
        assert!(heap.grow());
        Image::open(heap).unwrap().publish_chunks(heap.mapped());
    }
    Image::open(heap).unwrap().insert(&edge, Some(Stamp { xmin, cmin: 0 })).unwrap();
}

/// Inserts the rows of a name that texts contain: a hub of which nothing is seen, a hub whose oldest row is seen, or
/// one of several names with the same folded name.
fn name(heap: &mut HeapMemory, name: &str, seen: bool) {
    let label = [name.as_bytes(), LABELS].concat();
    let rows = if name.starts_with("hub") { 500 } else { 3 };
    for n in 0..rows {
        let id = format!("{name}{n}");
        let xmin = if seen && n == 0 { 7 } else { 100 + n };
        insert(heap, None, name.as_bytes(), format!("x{n}").as_bytes(), xmin);
        insert(heap, Some(LABELS), &label, id.as_bytes(), xmin);
    }
}

fn world() -> HeapMemory {
    let mut heap = heap(1);
    name(&mut heap, "hub one", false);
    name(&mut heap, "hub two", true);
    name(&mut heap, "hub", true);
    for n in 0..64_u32 {
        let letter = |at: usize, c: char| if n >> at & 1 == 1 { c.to_ascii_uppercase() } else { c };
        let form: String = "ward no".chars().enumerate().map(|(at, c)| letter(at, c)).collect();
        name(&mut heap, &form, n % 16 == 3);
    }
    verify(Image::open(&heap).unwrap());
    heap
}

/// The mentions: place, entity, alias, spelling.
type Found = Vec<(usize, usize, String, Option<String>, u32)>;

fn search(
    heap: &mut HeapMemory,
    text: &str,
    seek: Seek,
    slots: usize,
    changing: bool,
) -> (Found, u64) {
    let mut check_interrupts = || ();
    let work = &mut Interruptible::new(&mut check_interrupts);
    let mut recogniser = Recogniser::new(Prefix::LENGTH);
    recogniser.begin(seek, false);
    let mut reader = Reader::of(text.as_bytes(), work).unwrap();
    for steps in 0.. {
        assert!(steps < 1_000_000, "it comes no further");
        recogniser.read(&mut reader, work).unwrap();
        match recogniser.step(Image::open(heap).unwrap(), &Before, slots, &reader) {
            Step::Done => break,
            Step::More => recogniser.make_room(slots).unwrap(),
            Step::Ask => unreachable!("everything is known"),
        }
        if changing && steps < 500 {
            insert(heap, None, b"stranger", format!("stranger {steps}").as_bytes(), 1000);
        }
    }
    recogniser.finish();
    let name = |of| String::from_utf8(recogniser.name(of).to_vec()).unwrap();
    let mentions = recogniser.mentions().iter();
    let found = mentions.map(|m| (m.from, m.to, name(m.entity), m.alias.map(name), m.spelling));
    (found.collect(), recogniser.counters().slots_visited)
}

#[test]
fn a_name_is_the_same_each_time_and_its_rows_are_not_read_each_time() {
    let mut heap = world();
    let once = "a hub one, the Hub Two and ward no, WARD NO; Ward no. ";
    for seek in [Seek::Entities, Seek::Labelled, Seek::Aliased] {
        let (first, read_once) = search(&mut heap, once, seek, 20_000, false);
        assert!(!first.is_empty() && first.iter().any(|found| found.2.starts_with("hub two")));
        assert!(!first.iter().any(|found| found.2.starts_with("hub one")));
        for (slots, changing) in [(20_000, false), (50, false), (1, false), (50, true), (1, true)] {
            let (all, read) = search(&mut heap, &once.repeat(40), seek, slots, changing);
            let again = |n: usize| {
                let shift = n * once.len();
                first.iter().cloned().map(move |(from, to, entity, alias, spelling)| {
                    (from + shift, to + shift, entity, alias, spelling)
                })
            };
            let expected: Found = (0..40).flat_map(again).collect();
            assert_eq!(all, expected, "{seek:?} {slots} {changing}");
            assert!(changing || read < 4 * read_once, "{seek:?}: {read_once} slots, then {read}");
        }
    }
}

/// Of a label's entities 5,000 are seen and six times as many are not, which is more than is kept.
#[test]
fn a_label_of_very_many_entities_is_found_each_time() {
    let mut heap = heap(1);
    for n in 0..35_000_u64 {
        let xmin = if n % 7 == 0 { 7 } else { 100 + n };
        let label = [b"shop", LABELS].concat();
        insert(&mut heap, Some(LABELS), &label, format!("id {n}").as_bytes(), xmin);
    }
    for seek in [Seek::Labelled, Seek::Aliased] {
        for (slots, changing) in [(20_000, false), (500, false), (500, true)] {
            let (found, _) = search(&mut heap, "a shop, a shop; a shop", seek, slots, changing);
            assert_eq!(found.len(), 3 * 5000, "{seek:?} {slots} {changing}");
            let places: Vec<usize> = found.iter().map(|one| one.0).collect();
            assert_eq!((places[0], places[5000], places[10_000]), (2, 10, 18));
        }
    }
}
