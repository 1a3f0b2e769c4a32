//! Tests of `filter/table.rs`: bounds, growth, and that nothing is lost on the way.

use std::cmp::Reverse;

use super::growth::GROW_LOAD;
use super::*;
use crate::filter::table::directory::nodes_for;
use crate::filter::temperature::count::Chance;
use crate::memory::alloc::loose_lines;
use crate::memory::casts::index;
use crate::records::record::{self, Room};
use crate::{HeapMemory, Image};

/// An image with more than enough memory.
fn memory() -> HeapMemory {
    let mut heap = HeapMemory::new(usize::MAX);
    while heap.mapped() < if quick() { 20 } else { 27 } {
        assert!(heap.grow());
    }
    Image::format(&heap, 0x5EED).unwrap().publish_chunks(heap.mapped());
    heap
}

fn quick() -> bool {
    std::env::var_os("CFTRAG_QUICK").is_some()
}

fn name(i: u64) -> [u8; 8] {
    i.to_be_bytes()
}

fn names(heap: &HeapMemory) -> Filter<'_> {
    Filter::new(Root::new(heap), Table::Names)
}

fn hash_of(heap: &HeapMemory, name: &[u8]) -> Hash {
    Hash::of(Root::new(heap).seed(), Kind::Tree, name)
}

/// A record of that name, in no bucket. A tree's, because trees have the smallest records.
fn record<'m>(heap: &'m HeapMemory, i: u64) -> Record<'m> {
    record::create(heap, Kind::Tree, hash_of(heap, &name(i)), &name(i), Room::USUAL)
}

fn enter(heap: &HeapMemory, i: u64) {
    let filter = names(heap);
    filter.grow(1);
    let record = record(heap, i);
    assert!(filter.add(record.hash(), record.id(), 0));
    Root::new(heap).add(Counter::Trees, 1);
}

fn find<'m>(heap: &'m HeapMemory, i: u64, counters: &mut Counters) -> Option<Spot<'m>> {
    let hash = hash_of(heap, &name(i));
    names(heap).find(Kind::Tree, hash, &name(i), counters)
}

/// A filter without entries, grown to 2^level buckets.
fn table(level: u32) -> HeapMemory {
    let heap = memory();
    let filter = names(&heap);
    while filter.geometry() != (Geometry { level, split: 0 }) {
        filter.split();
    }
    heap
}

/// Fills a table, without splits, until no room is found; returns the entries and the load.
fn fill(heap: &HeapMemory) -> (u64, f64) {
    let filter = names(heap);
    let slots = f64::from(filter.geometry().buckets()) * 4.0;
    for i in 0.. {
        let record = record(heap, i);
        let Some(place) = filter.make_room(record.hash()) else {
            return (i, i as f64 / slots);
        };
        filter.set(place, Entry::new(record.hash(), record.id()));
    }
    unreachable!("a table is finite")
}

#[test]
fn every_entry_is_found_while_the_table_grows_bucket_by_bucket() {
    let heap = memory();
    let entries = if quick() { 3000 } else { 20_000 };
    for i in 0..entries {
        enter(&heap, i);
        if i % 97 == 0 || i < 600 {
            for j in (0..=i).step_by(1 + usize::try_from(i).unwrap() / 600) {
                assert!(find(&heap, j, &mut Counters::default()).is_some(), "{j} of {i}");
            }
        }
    }
    let filter = names(&heap);
    let load = entries as f64 / f64::from(filter.geometry().buckets() * 4);
    assert!((0.749..=0.75).contains(&load), "load {load}");
}

#[test]
#[cfg_attr(
    miri,
    ignore = "fills a table, which takes miri an hour; smaller ones are filled by others"
)]
fn a_full_table_takes_95_percent_and_misses_pass_as_the_bound_says() {
    let heap = table(if quick() { 9 } else { 12 });
    let (entries, load) = fill(&heap);
    assert!(load >= 0.95, "load {load}");
    let mut counters = Counters::default();
    let misses = if quick() { 200_000 } else { 4_000_000 };
    for i in entries + 1..=entries + misses {
        assert!(find(&heap, i, &mut counters).is_none());
    }
    assert_eq!(counters.fingerprint_checks, counters.false_positives);
    let rate = counters.false_positives as f64 / misses as f64;
    // A tag has four bits more than the fingerprint.
    let bound = 2.0 * 4.0 / f64::from(16 << crate::filter::fingerprint::FINGERPRINT_BITS);
    assert!(rate <= bound * 1.2 && rate > bound * 0.7, "{rate} of {bound}");
}

#[test]
#[cfg_attr(
    miri,
    ignore = "fills a table, which takes miri an hour; smaller ones are filled by others"
)]
fn loads_before_growth_and_costs_of_search() {
    // A quarter, half and three quarters into a doubling, where the table holds the least.
    for quarter in 1..4 {
        let heap = table(if quick() { 8 } else { 12 });
        let filter = names(&heap);
        let buckets = filter.geometry().buckets();
        (0..buckets / 4 * quarter).for_each(|_| filter.split());
        let (_, load) = fill(&heap);
        assert!(load * 1000.0 > GROW_LOAD as f64, "load {load} at {quarter} quarters");
    }
}

#[test]
fn order_puts_the_hot_first_and_keeps_everything() {
    let heap = memory();
    (0..300).for_each(|i| enter(&heap, i));
    let filter = names(&heap);
    for i in 0..300 {
        for _ in 0..i % 7 {
            find(&heap, i, &mut Counters::default()).unwrap().raise(Chance::new());
        }
    }
    for bucket in 0..filter.geometry().buckets() {
        let mut before = filter.read(bucket);
        filter.order(bucket);
        let mut after = filter.read(bucket);
        let class = |e: &Entry| (e.record().is_some(), e.temperature_class());
        assert!(after.is_sorted_by_key(|e| Reverse(class(e))));
        let word = |e: &Entry| (e.record(), *e == Entry::NONE, class(e));
        before.sort_by_key(word);
        after.sort_by_key(word);
        assert_eq!(before, after);
    }
}

#[test]
fn a_removed_entry_is_gone_and_its_slot_is_used_again() {
    let heap = memory();
    (0..200).for_each(|i| enter(&heap, i));
    let filter = names(&heap);
    for i in 0..200 {
        let record = find(&heap, i, &mut Counters::default()).unwrap().record();
        filter.remove(record);
        assert!(find(&heap, i, &mut Counters::default()).is_none());
        assert!(filter.add(record.hash(), record.id(), 0));
    }
}

#[test]
fn nine_entries_of_one_hash_do_not_fit_and_say_so() {
    let heap = memory();
    let hash = Hash(0x1234_5678_9ABC_DEF0);
    for i in 0..9 {
        let record = record::create(&heap, Kind::Tree, hash, &name(i), Room::USUAL);
        assert_eq!(names(&heap).add(hash, record.id(), 0), i < 8, "entry {i}");
    }
    assert_eq!(Root::new(&heap).count(Counter::Splits), u64::from(MOST_SPLITS));
}

#[test]
fn a_directory_grows_by_the_nodes_that_were_planned_and_finds_every_page() {
    let heap = memory();
    let (filter, root) = (names(&heap), Root::new(&heap));
    let pages = if cfg!(miri) { 300 } else { 4200 };
    let mut lines = vec![filter.page(0)];
    for page in 1..pages {
        let before = loose_lines(root);
        filter.add_page();
        let taken = before - loose_lines(root);
        assert_eq!(taken, index(Table::Names.page_lines() + nodes_for(page)), "page {page}");
        lines.push(filter.page(page));
        // A full root moves down with every page in it.
        if nodes_for(page) > 1 {
            assert!((0..=page).all(|page| filter.page(page) == lines[index(page)]));
        }
    }
    assert!((0..pages).all(|page| filter.page(page) == lines[index(page)]));
    lines.sort_unstable();
    assert!(lines.windows(2).all(|two| two[1] - two[0] >= Table::Names.page_lines()));
    let nodes = |page: u32| [page - 1, page, page + 1].map(nodes_for);
    assert_eq!([16, 32, 256, 512, 4096].map(nodes).map(|of| of[1]), [2, 1, 3, 2, 4]);
    assert_eq!([16, 32, 256, 512, 4096].map(nodes).map(|of| of[0] + of[2]), [0; 5]);
    let most = (0..Table::Forms.most_pages()).map(nodes_for).max();
    assert_eq!(most, Some(crate::filter::table::directory::MOST_NODES));
}
