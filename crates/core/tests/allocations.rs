//! Tests that no step of a reader allocates: it holds the image's lock, and Rust's allocator ends the process when
//! memory runs out. An allocator counts.

#![expect(unsafe_code, reason = "an allocator")]

#[expect(dead_code, reason = "the world of the random tests")]
mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::ptr::null_mut;

use cftrag_core::{
    Edge, HeapMemory, Hint, Image, Interruptible, LABELS, Near, Prefix, Reader, Recogniser, Seek,
    Stamp, Step, View, Visibility, Vocabulary, Walk,
};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    /// How many allocations succeed.
    static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Counts an allocation; `false` if it fails.
fn count() -> bool {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
    let left = LEFT.get();
    LEFT.set(left.saturating_sub(usize::from(left < usize::MAX)));
    left > 0
}

// SAFETY: passes each call on as it is; a counter without a destructor allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        if count() { unsafe { System.alloc(layout) } } else { null_mut() }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        if count() { unsafe { System.realloc(at, layout, size) } } else { null_mut() }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Runs a step, which allocates nothing.
fn step<R>(step: impl FnOnce() -> R) -> R {
    let before = ALLOCATIONS.get();
    let result = step();
    assert_eq!(ALLOCATIONS.get() - before, 0, "allocations in a step");
    result
}

/// Sees the xids that it was told of.
#[derive(Default)]
struct Told(RefCell<BTreeSet<u64>>);

impl Told {
    fn learn(&self, xids: &[u64]) {
        assert!(xids.iter().all(|xid| self.0.borrow_mut().insert(*xid)), "each is asked once");
    }
}

impl Visibility for Told {
    fn view(&self, xid: u64, _hint: Hint) -> View {
        if self.0.borrow().contains(&xid) { View::Seen } else { View::Unknown }
    }
    fn learned(&self, _xid: u64) -> Hint {
        Hint::None
    }
    fn curcid(&self) -> u32 {
        0
    }
}

fn insert(heap: &mut HeapMemory, tree: Option<&[u8]>, parent: &str, child: &str, xmin: u64) {
    let edge = Edge { tree, parent: parent.as_bytes(), child: child.as_bytes() };
    while Image::open(heap).unwrap().free_bytes() < Image::insert_bound(&edge) {
        assert!(heap.grow());
        Image::open(heap).unwrap().publish_chunks(heap.mapped());
    }
    Image::open(heap).unwrap().insert(&edge, Some(Stamp { xmin, cmin: 0 })).unwrap();
}

/// The most labels of an entity: the hub has so many.
const MANY: u64 = 10_000;

/// A hub with 100 children in each of 20 trees, some with names of 5,000 bytes. Each row is of a transaction of its
/// own, as are the labels: many of the hub, several of each child.
fn world() -> HeapMemory {
    let mut heap = common::heap(1);
    let mut xids = 1000..;
    let mut xid = || xids.next().unwrap();
    let name = |n: u64| match n % 10 {
        7 => format!("child {n} {}", "long ".repeat(1000)),
        _ => format!("child {n}"),
    };
    for tree in 0..20 {
        let tree = format!("tree {tree}");
        for n in 0..100 {
            insert(&mut heap, Some(tree.as_bytes()), "hub", &name(n), xid());
        }
    }
    for n in (0..MANY).rev() {
        insert(&mut heap, Some(LABELS), &format!("Hub {n:05}\0"), "hub", xid());
    }
    for n in 0..100 {
        for label in 0..n % 4 {
            insert(&mut heap, Some(LABELS), &format!("Child {n}.{label}\0"), &name(n), xid());
        }
    }
    heap
}

#[test]
fn a_step_of_a_walk_with_labels_allocates_nothing() {
    let heap = world();
    let image = Image::open(&heap).unwrap();
    for slots in [1, 100, 20_000] {
        let (told, mut nothing) = (Told::default(), || ());
        let work = &mut Interruptible::new(&mut nothing);
        let mut walk = Walk::new(Prefix::LENGTH);
        walk.limit(64 << 20, usize::MAX);
        walk.answer_labels(true);
        walk.make_room(1000, work).unwrap();
        walk.make_room_for(2, 100, work).unwrap();
        walk.begin(b"hub", 0, 2);
        walk.begin(b"child 1", 1, 0);
        let mut asked = 0;
        for steps in 0.. {
            assert!(steps < 1_000_000, "it comes no further");
            let visited = walk.counters().slots_visited;
            match step(|| walk.step(image, &told, slots)) {
                Step::Done => break,
                Step::More => walk.make_room(slots, work).unwrap(),
                Step::Ask => {
                    told.learn(walk.asked());
                    asked += 1;
                    walk.restart();
                }
            }
            assert!(walk.counters().slots_visited <= visited + 2 * slots as u64 + 64);
        }
        walk.try_finish(work).unwrap();
        let name = |name| String::from_utf8(walk.name(name).to_vec()).unwrap();
        assert_eq!(walk.label(0).map(name), Some("Hub 00000".into()));
        assert_eq!(walk.rows().len(), 20 * 101);
        for row in walk.rows().iter().filter(|row| row.group == 0) {
            let child = name(row.relative);
            let n: u64 = child.split(' ').nth(1).unwrap().parse().unwrap();
            let label = (!n.is_multiple_of(4)).then(|| format!("Child {n}.0"));
            assert_eq!(row.label.map(name), label, "{child:.20}");
        }
        assert!((2..20).contains(&asked), "{asked} times asked");
        // The labels that are not the smallest take no memory.
        assert!(walk.bytes() < 4 << 20, "{} bytes", walk.bytes());
    }
}

#[test]
fn a_step_of_a_search_for_near_words_allocates_nothing() {
    let heap = world();
    let image = Image::open(&heap).unwrap();
    let (names, labels) = (Vocabulary::Names, Vocabulary::Labels);
    for (of, typed, count) in [(names, "chlid", 1), (labels, "childx", 1), (labels, "hobb", 0)] {
        let mut near = Near::new();
        near.begin(of, typed.as_bytes());
        while step(|| near.step(image, 1)) == Step::More {}
        assert_eq!(near.words().len(), count, "{typed}");
        assert!(near.words().iter().all(|near| near.word() == b"child"));
    }
}

/// A text of more words than are held at a time, where names of many words begin everywhere. 3,000 entities are called
/// "shop" or are written like it, as are those of a label.
#[test]
fn a_step_of_a_recogniser_allocates_nothing() {
    let mut heap = world();
    let mut xids = 1_000_000..;
    for n in 0..3000 {
        let (xid, shop) = (xids.next().unwrap(), "shop".to_string());
        let shop = shop + &"!".repeat(n % 60) + &"?".repeat(n / 60) + " front";
        insert(&mut heap, None, "hub", &shop, xid);
        insert(
            &mut heap,
            Some(LABELS),
            "Shop front\0",
            &format!("id {n} {}", "x".repeat(n % 300)),
            xid,
        );
    }
    for words in 4..64 {
        let name = "of ".repeat(words);
        insert(&mut heap, None, "hub", &name, xids.next().unwrap());
        insert(&mut heap, Some(LABELS), &format!("{name}\0"), "hub", xids.next().unwrap());
    }
    let image = Image::open(&heap).unwrap();
    let text =
        "of ".repeat(700) + &"A child 1, the SHOP front; a hub. Hub 00017, Child 3.1 ".repeat(60);
    for (seek, slots) in [
        (Seek::Entities, 20_000),
        (Seek::Entities, 300),
        (Seek::Labelled, 20_000),
        (Seek::Aliased, 300),
    ] {
        let (told, mut nothing) = (Told::default(), || ());
        let work = &mut Interruptible::new(&mut nothing);
        let mut recogniser = Recogniser::new(Prefix::LENGTH);
        recogniser.limit(1 << 30);
        recogniser.begin(seek, false);
        let mut reader = Reader::of(text.as_bytes(), work).unwrap();
        for steps in 0.. {
            assert!(steps < 1_000_000, "it comes no further");
            recogniser.read(&mut reader, work).unwrap();
            match step(|| recogniser.step(image, &told, slots, &reader)) {
                Step::Done => break,
                Step::More => recogniser.make_room(slots).unwrap(),
                Step::Ask => {
                    told.learn(recogniser.asked());
                    recogniser.begin(seek, false);
                    reader = Reader::of(text.as_bytes(), work).unwrap();
                }
            }
        }
        recogniser.finish();
        let mut unlimited = Recogniser::new(Prefix::LENGTH);
        unlimited.begin(seek, false);
        let mut reader = Reader::of(text.as_bytes(), work).unwrap();
        loop {
            unlimited.read(&mut reader, work).unwrap();
            if unlimited.step(image, &told, usize::MAX, &reader) == Step::Done {
                break;
            }
        }
        unlimited.finish();
        assert!(recogniser.mentions().len() > 100, "{seek:?}");
        let found = |by: &Recogniser| -> Vec<_> {
            let name = |name| by.name(name).to_vec();
            let each = by.mentions().iter();
            each.map(|m| (m.from, m.to, name(m.entity), m.alias.map(name), m.spelling)).collect()
        };
        assert!(found(&recogniser) == found(&unlimited), "{seek:?} {slots}");
    }
}

#[test]
fn a_chunk_is_not_mapped_if_its_address_finds_no_memory() {
    for allocations in 0.. {
        let mut heap = common::heap(1);
        let mapped = heap.mapped();
        LEFT.set(allocations);
        let grown = heap.grow();
        LEFT.set(usize::MAX);
        if grown {
            assert!(allocations > 2, "lists of addresses grow with the chunks");
            break;
        }
        assert_eq!(heap.mapped(), mapped);
    }
}
