//! Entities whose names have the same folded name: any of them leads to all of them.
//!
//! An entity that is the only one of its folded name needs no block. Two or more are listed in a ring of blocks, a line
//! each. The folded name's entry leads to one of the records, and each record has the line of the block that lists it:
//!
//! ```text
//!   folded name --> record --> block <--> block <--> block, and round
//!
//!   byte 0     4     8     12       16                64
//!        +-----+-----+-----+--------+--------+- -------+
//!        |next |prev |used |record 0|record 1|         |    used 1 to 13
//!        +-----+-----+-----+--------+--------+- -------+
//! ```
//!
//! Promises: adding or removing an entity reads two or three blocks, however many entities share the folded name (with
//! a list searched from its head, deleting n of them would cost n^2). A ring lists at least two, in no order. The
//! memory is part of the insert's plan. Writers hold the lock exclusively, readers shared.

use crate::Image;
use crate::filter::bucket::Entry;
use crate::folded::folded_name::FoldedName;
use crate::folded::words;
use crate::memory::alloc;
use crate::memory::casts::index;
use crate::memory::chunk::LINE_BYTES;
use crate::memory::flat::{Line, Memory};
use crate::memory::hash::Hash;
use crate::memory::id::RecordId;
use crate::memory::root::Counter;
use crate::records::record::{Record, planned};

const NEXT: usize = 0;
const PREV: usize = 4;
const USED: usize = 8;
const FIRST: usize = 12;
/// Records in a full block.
const MOST: u32 = 13;
/// Lines that a new entity may take here.
pub(crate) const LINES: usize = 1;

const _: () = assert!(FIRST + 4 * index(MOST) == LINE_BYTES);

/// A block of records whose names have the same folded name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'m> {
    line: u32,
    bytes: Line<'m>,
}

impl<'m> Block<'m> {
    pub(crate) fn new(mem: &'m Memory, line: u32) -> Block<'m> {
        #[cfg(test)]
        tests::LOOKED.set(tests::LOOKED.get() + 1);
        Block { line, bytes: mem.line(line) }
    }

    /// The block that lists a record; none if the record is the only one of its folded name.
    pub(crate) fn of(record: Record<'m>) -> Option<Block<'m>> {
        let line = record.alike();
        (line != 0).then(|| Block::new(record.mem(), line))
    }

    /// Makes a new block: after another one, or as a new ring.
    fn create(mem: &'m Memory, after: Option<Block<'m>>) -> Block<'m> {
        let line = planned(alloc::take(mem, 1)).get();
        // The line may hold words of another width: see alloc::give.
        mem.span(line).zero(1);
        let block = Block::new(mem, line);
        let (prev, next) = after.map_or((line, line), |after| (after.line, after.next()));
        block.bytes.set_u32(NEXT, next);
        block.bytes.set_u32(PREV, prev);
        mem.line(prev).set_u32(NEXT, line);
        mem.line(next).set_u32(PREV, line);
        block
    }

    fn free(self, mem: &Memory) {
        let (prev, next) = (self.prev(), self.next());
        mem.line(prev).set_u32(NEXT, next);
        mem.line(next).set_u32(PREV, prev);
        alloc::give(mem, self.line, 1);
    }

    pub(crate) fn next(self) -> u32 {
        self.bytes.u32(NEXT)
    }

    pub(crate) fn prev(self) -> u32 {
        self.bytes.u32(PREV)
    }

    /// The block's records; none if its count is invalid (for verify()).
    pub(crate) fn try_records(self) -> Option<impl Iterator<Item = Option<RecordId>> + use<'m>> {
        let used = self.bytes.u32(USED);
        (1..=MOST).contains(&used).then(|| (0..used).map(move |i| self.record(i)))
    }

    fn record(self, i: u32) -> Option<RecordId> {
        RecordId::from_word(self.bytes.u32(FIRST + 4 * index(i)))
    }

    /// How many more records fit.
    fn room(self) -> u32 {
        MOST - self.bytes.u32(USED)
    }

    fn add(self, record: Record<'_>) {
        let used = self.bytes.u32(USED);
        self.bytes.set_u32(FIRST + 4 * index(used), record.id().line());
        self.bytes.set_u32(USED, used + 1);
        record.set_alike(self.line);
    }

    /// Removes a record; returns how many are left.
    fn remove(self, record: RecordId) -> u32 {
        let left = self.bytes.u32(USED) - 1;
        let last = self.bytes.u32(FIRST + 4 * index(left));
        let place = (0..=left).find(|&i| self.record(i) == Some(record));
        let place = place.expect("a record is in the block that it names");
        self.bytes.set_u32(FIRST + 4 * index(place), last);
        self.bytes.set_u32(USED, left);
        left
    }
}

/// The entities of a folded name, from the one that its entry leads to.
pub(crate) fn all<'m>(head: Record<'m>) -> impl Iterator<Item = Record<'m>> {
    let (mem, first) = (head.mem(), Block::of(head));
    let alone = first.is_none().then_some(head);
    let blocks = std::iter::successors(first, move |block| {
        let next = block.next();
        first.filter(|first| first.line != next).map(|_| Block::new(mem, next))
    });
    let listed = blocks.flat_map(|block| block.try_records().into_iter().flatten().flatten());
    alone.into_iter().chain(listed.map(move |id| Record::new(mem, id)))
}

/// Whether two records' names have the same folded name.
fn same_folded(a: Record<'_>, b: Record<'_>) -> bool {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    words::fold_name(&a.name(), &mut left)
        && words::fold_name(&b.name(), &mut right)
        && left == right
}

impl<'m> Image<'m> {
    /// Lines that blocks for new entities of these folded names will take.
    pub(crate) fn alike_lines(self, folded_names: &[Option<FoldedName>; 2]) -> usize {
        let [first, second] =
            folded_names.each_ref().map(|folded| folded.as_ref().map(|folded| folded.hash));
        let lines = |hash: Option<Hash>, new| hash.map_or(0, |hash| self.lines_of(hash, new));
        if first == second {
            return lines(first, 2);
        }
        lines(first, 1) + lines(second, 1)
    }

    /// Lines for `new` entities of one folded name: `new` is at most two, which fit into one block.
    fn lines_of(self, hash: Hash, new: u32) -> usize {
        let heads = self.folded_names().folded_names(hash).map(|(_, head)| match Block::of(head) {
            None => 0,
            Some(first) => {
                let newest = Block::new(self.mem(), first.next());
                first.room() + if newest.line == first.line { 0 } else { newest.room() }
            }
        });
        // The first entity of its folded name needs no block. If two folded names share a hash, the worse case counts.
        let room = heads.min().unwrap_or(1);
        if new > room { LINES } else { 0 }
    }

    /// Adds an entity to those of its folded name; `is_new` says that there are none yet.
    #[must_use]
    pub(crate) fn join(
        self,
        record: Record<'m>,
        folded: &FoldedName,
        is_new: bool,
        later: usize,
    ) -> bool {
        if !is_new && let Some(head) = self.head(folded.hash, record) {
            let first = Block::of(head).unwrap_or_else(|| {
                let first = Block::create(self.mem(), None);
                first.add(head);
                first
            });
            // The newest block comes after the first one.
            let newest = Block::new(self.mem(), first.next());
            let block = [first, newest].into_iter().find(|block| block.room() > 0);
            block.unwrap_or_else(|| Block::create(self.mem(), Some(first))).add(record);
            return true;
        }
        let entry = Entry::folded(folded.hash, record.id());
        let entered = self.folded_names().enter(folded.hash, entry, later);
        self.root().add(Counter::FoldedNames, usize::from(entered));
        entered
    }

    /// The entity that the folded name's entry leads to.
    #[cold]
    fn head(self, hash: Hash, record: Record<'m>) -> Option<Record<'m>> {
        let mut folded_names = self.folded_names().folded_names(hash);
        folded_names.find(|(_, head)| same_folded(*head, record)).map(|(_, head)| head)
    }

    /// Removes an entity from those of its folded name.
    pub(crate) fn part(self, record: Record<'m>, folded: &FoldedName) {
        let other = self.unlist(record);
        let folded_names = self.folded_names();
        let mut entries = folded_names.folded_entries(folded.hash);
        let entry = entries.find(|&(_, head)| head == record.id());
        let Some((place, _)) = entry else {
            assert!(other.is_some(), "a folded name has an entry");
            return;
        };
        let next = other.map_or(Entry::NONE, |other| {
            let second = folded_names.geometry().buckets_of(folded.hash).0 != place.bucket;
            Entry::folded(folded.hash, other).placed(second)
        });
        folded_names.set(place, next);
        self.root().subtract(Counter::FoldedNames, usize::from(next.is_empty()));
    }

    /// Removes a record from its block; returns another record of its folded name, if there is one.
    fn unlist(self, record: Record<'m>) -> Option<RecordId> {
        let mem = self.mem();
        let block = Block::of(record)?;
        let left = block.remove(record.id());
        let next = Block::new(mem, block.next());
        let rest = if left == 0 { next } else { block };
        let other = rest.record(0);
        if left == 0 {
            block.free(mem);
        }
        self.disband(rest);
        other
    }

    /// Frees the ring if it lists only one record.
    fn disband(self, block: Block<'m>) {
        if block.next() == block.line && block.bytes.u32(USED) == 1 {
            let last = block.record(0).expect("a block lists records");
            Record::new(self.mem(), last).set_alike(0);
            alloc::give(self.mem(), block.line, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::{Edge, Fate, HeapMemory, Stamp};

    thread_local! {
        /// Blocks read.
        pub(super) static LOOKED: Cell<u64> = const { Cell::new(0) };
    }

    /// Names that have the same folded name: the bits of `i` choose the case of each letter.
    fn name(i: u32) -> Vec<u8> {
        (0..16).map(|bit| if i >> bit & 1 == 0 { b'a' } else { b'A' }).collect()
    }

    /// An image of `names` such names, each inserted by its own transaction.
    fn with(names: u32) -> HeapMemory {
        let mut heap = HeapMemory::new(1 << 24);
        while heap.mapped() < 8 {
            assert!(heap.grow());
        }
        let image = Image::format(&heap, 7).unwrap();
        image.publish_chunks(heap.mapped());
        for i in 0..names {
            let stamp = Some(Stamp { xmin: 10 + u64::from(order(i, names)), cmin: 0 });
            image.insert(&Edge { tree: None, parent: b"+", child: &name(i) }, stamp).unwrap();
        }
        image.verify(&mut |problem| panic!("{problem:?}"));
        heap
    }

    /// A permutation, so that entities are not removed in the order of the blocks.
    fn order(i: u32, names: u32) -> u32 {
        i * 7919 % names
    }

    #[test]
    fn a_name_goes_at_the_same_cost_however_many_are_alike() {
        let cost = |names: u32| {
            let heap = with(names);
            let image = Image::open(&heap).unwrap();
            LOOKED.set(0);
            let count = index(names);
            let done = image.settle(count, u64::MAX, &|_| Fate::Aborted, &mut Vec::new());
            assert_eq!(done.freed, count);
            image.verify(&mut |problem| panic!("{problem:?}"));
            assert_eq!(image.root().count(Counter::FoldedNames), 0);
            LOOKED.get() / u64::from(names)
        };
        assert!(cost(16) <= 3);
        assert!(cost(4096) <= 3, "blocks looked at for each name");
    }

    #[test]
    fn a_block_is_filled_before_the_next() {
        let heap = with(1000);
        let image = Image::open(&heap).unwrap();
        let head = image.key(crate::memory::hash::Kind::Entity, &name(0)).record.unwrap();
        let listed: Vec<u32> = all(Record::new(&heap, head)).map(Record::alike).collect();
        assert_eq!(listed.len(), 1000);
        let blocks = listed.chunk_by(|a, b| a == b).count();
        assert_eq!(blocks, 1000_usize.div_ceil(index(MOST)));
    }
}
