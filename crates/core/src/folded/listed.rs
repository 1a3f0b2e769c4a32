//! The records whose names share a form: any number of them, each added and removed at the same cost.
//!
//! The entry of a form leads to its record. If names share the form, it leads to a ring of blocks that lists their
//! records, a line each; and each record has a second entry, under the hash of the form and the record, which leads to
//! the block that lists it:
//!
//! ```text
//!   form           --> record
//!   form           --> block <--> block <--> block, and round
//!   form, record   --> block                                    (a *place*)
//!
//!   byte 0     4     8     12       16                64
//!        +-----+-----+-----+--------+--------+- -------+
//!        |next |prev |used |record 0|record 1|         |    used 1 to 13, and a mark
//!        +-----+-----+-----+--------+--------+- -------+
//! ```
//!
//! The mark tells a block from a record: no record has it there. A ring lists at least two. Writers hold the lock
//! exclusively.

use std::borrow::Cow;

use crate::Image;
use crate::filter::bucket::{BucketSlot, Entry, Pattern};
use crate::filter::table::Filter;
use crate::folded::forms::{FormKind, FormOf, has_form, write_form};
use crate::memory::alloc;
use crate::memory::casts::index;
use crate::memory::chunk::LINE_BYTES;
use crate::memory::flat::{Line, Memory};
use crate::memory::hash::Hash;
use crate::memory::id::RecordId;
use crate::records::record::{NO_LENGTH, Record, planned};

const NEXT: usize = 0;
const PREV: usize = 4;
const USED: usize = crate::records::record::SHAPE;
const FIRST: usize = 12;
/// Records in a full block.
const MOST: u32 = 13;
/// In the word of `used`: a length that no record has, and where the number of records begins.
const MARK: u32 = NO_LENGTH;
const USED_SHIFT: u32 = 16;
const MARK_BITS: u32 = (1 << USED_SHIFT) - 1;

const _: () = assert!(FIRST + 4 * index(MOST) == LINE_BYTES && USED == 8);

/// Makes the hash of a form and a record.
fn place_hash(form: Hash, record: RecordId) -> Hash {
    form.and_number(u64::from(record.line()))
}

/// A block of records that share a form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'m> {
    line: u32,
    bytes: Line<'m>,
}

/// What an entry of a form leads to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Listed<'m> {
    One(Record<'m>),
    Many(Block<'m>),
}

impl<'m> Listed<'m> {
    pub(crate) fn at(mem: &'m Memory, id: RecordId) -> Listed<'m> {
        let bytes = mem.line(id.line());
        if bytes.u32(USED) & MARK_BITS == MARK {
            Listed::Many(Block { line: id.line(), bytes })
        } else {
            Listed::One(Record::new(mem, id))
        }
    }

    /// One of the records.
    pub(crate) fn first(self, mem: &'m Memory) -> Option<Record<'m>> {
        match self {
            Listed::One(record) => Some(record),
            Listed::Many(block) => block.record(0).map(|id| Record::new(mem, id)),
        }
    }

    /// All of the records.
    pub(crate) fn all(self, mem: &'m Memory) -> impl Iterator<Item = Record<'m>> {
        let (one, first) = match self {
            Listed::One(record) => (Some(record), None),
            Listed::Many(block) => (None, Some(block)),
        };
        let blocks = std::iter::successors(first, move |block| {
            let next = block.next();
            first.filter(|first| first.line != next).map(|_| Block::new(mem, next))
        });
        let listed = blocks.flat_map(|block| block.records());
        one.into_iter().chain(listed.map(move |id| Record::new(mem, id)))
    }
}

impl<'m> Block<'m> {
    pub(crate) fn new(mem: &'m Memory, line: u32) -> Block<'m> {
        #[cfg(test)]
        tests::LOOKED.set(tests::LOOKED.get() + 1);
        Block { line, bytes: mem.line(line) }
    }

    /// Makes a new block: after another one, or as a new ring.
    fn create(mem: &'m Memory, after: Option<Block<'m>>) -> Block<'m> {
        let line = planned(alloc::take(mem, 1)).get();
        // The line may hold words of another width: see alloc::give.
        mem.span(line).zero(1);
        let block = Block::new(mem, line);
        block.set_used(0);
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

    pub(crate) fn line(self) -> u32 {
        self.line
    }

    pub(crate) fn next(self) -> u32 {
        self.bytes.u32(NEXT)
    }

    pub(crate) fn prev(self) -> u32 {
        self.bytes.u32(PREV)
    }

    pub(crate) fn used(self) -> u32 {
        self.bytes.u32(USED) >> USED_SHIFT
    }

    fn set_used(self, used: u32) {
        self.bytes.set_u32(USED, MARK | used << USED_SHIFT);
    }

    /// Whether it is a block, and has as many records as a block may have.
    pub(crate) fn is_valid(self) -> bool {
        let marked = self.bytes.u32(USED) & MARK_BITS == MARK;
        let sound = |i| self.record(i).is_some();
        marked && (1..=MOST).contains(&self.used()) && (0..self.used()).all(sound)
    }

    /// Its records, as far as it is valid.
    pub(crate) fn records(self) -> impl Iterator<Item = RecordId> + use<'m> {
        (0..self.used().min(MOST)).filter_map(move |i| self.record(i))
    }

    fn record(self, i: u32) -> Option<RecordId> {
        RecordId::from_word(self.bytes.u32(FIRST + 4 * index(i)))
    }

    fn has_room(self) -> bool {
        self.used() < MOST
    }

    fn add(self, record: RecordId) {
        let used = self.used();
        self.bytes.set_u32(FIRST + 4 * index(used), record.line());
        self.set_used(used + 1);
    }

    /// Removes a record; returns how many are left.
    fn remove(self, record: RecordId) -> u32 {
        let left = self.used() - 1;
        let last = self.bytes.u32(FIRST + 4 * index(left));
        let place = (0..=left).find(|&i| self.record(i) == Some(record));
        let place = place.expect("a record is in the block that its entry names");
        self.bytes.set_u32(FIRST + 4 * index(place), last);
        self.set_used(left);
        left
    }
}

impl<'m> Image<'m> {
    /// The table that has the entries of a kind of form.
    fn table_of(self, kind: FormKind) -> Filter<'m> {
        Filter::new(self.root(), kind.table())
    }

    /// What the entries of a form's hash lead to; several forms may share a hash.
    pub(crate) fn listed(
        self,
        kind: FormKind,
        hash: Hash,
    ) -> impl Iterator<Item = (BucketSlot, Listed<'m>)> {
        let mem = self.mem();
        self.table_of(kind)
            .folded_entries(hash)
            .map(move |(place, id)| (place, Listed::at(mem, id)))
    }

    /// The entry of a record's form.
    fn entry_of(
        self,
        FormOf { kind, hash, part }: FormOf<'_>,
        record: Record<'m>,
    ) -> Option<(BucketSlot, Listed<'m>)> {
        let (language, mut wanted) = (self.root().language(), part.map(Cow::Borrowed));
        self.listed(kind, hash).find(|(_, listed)| {
            let Some(first) = listed.first(self.mem()) else { return false };
            let wanted = wanted.get_or_insert_with(|| {
                let mut form = Vec::new();
                _ = write_form(kind, language, &record.name(), &mut form);
                Cow::Owned(form)
            });
            // A name may have several parts.
            kind != FormKind::Part && first.id() == record.id()
                || has_form(kind, language, &first.name(), wanted)
        })
    }

    /// Adds an entry; `false` if there is no room.
    fn enter_listed(self, kind: FormKind, hash: Hash, entry: Entry, later: usize) -> bool {
        let table = self.table_of(kind);
        let entered = table.enter(hash, entry, later);
        self.root().add(table.counter(), usize::from(entered));
        entered
    }

    fn enter_place(self, kind: FormKind, hash: Hash, block: Block<'_>, later: usize) -> bool {
        self.enter_listed(kind, hash, Entry::place(hash, line_id(block)), later)
    }

    /// Replaces an entry of a form, or removes an entry.
    fn replace_listed(self, kind: FormKind, hash: Hash, place: BucketSlot, by: Option<RecordId>) {
        let table = self.table_of(kind);
        let entry = by.map_or(Entry::NONE, |line| {
            let second = table.geometry().buckets_of(hash).0 != place.bucket;
            Entry::folded(hash, line).placed(second)
        });
        table.set(place, entry);
        self.root().subtract(table.counter(), usize::from(by.is_none()));
    }

    /// Lines that blocks for `new` new records of a form will take: `new` is at most two, which fit into one block.
    pub(crate) fn lines_of(self, kind: FormKind, hash: Hash, new: u32) -> usize {
        let room = |(_, listed)| match listed {
            Listed::One(_) => 0,
            Listed::Many(first) => {
                let newest = Block::new(self.mem(), first.next());
                let room = |block: Block<'_>| MOST - block.used();
                room(first) + if newest.line == first.line { 0 } else { room(newest) }
            }
        };
        // The first record of a form needs no block. If two forms share a hash, the worse case counts.
        let room = self.listed(kind, hash).map(room).min().unwrap_or(1);
        usize::from(new > room)
    }

    /// Lists a new record under its form; `false` if there is no room: then nothing has changed.
    #[must_use]
    pub(crate) fn list(self, form: FormOf<'_>, record: Record<'m>, later: usize) -> bool {
        let FormOf { kind, hash, .. } = form;
        let (mem, id) = (self.mem(), record.id());
        let Some((_, known)) = self.entry_of(form, record) else {
            return self.enter_listed(kind, hash, Entry::folded(hash, id), later);
        };
        let ring = match known {
            Listed::Many(first) => first,
            Listed::One(other) => {
                let ring = Block::create(mem, None);
                ring.add(other.id());
                if !self.enter_place(kind, place_hash(hash, other.id()), ring, later) {
                    ring.free(mem);
                    return false;
                }
                // The entry of the form may have moved.
                let (place, _) = self.entry_of(form, other).expect("a form has an entry");
                self.replace_listed(kind, hash, place, Some(line_id(ring)));
                ring
            }
        };
        // The newest block comes after the first one.
        let newest = Block::new(mem, ring.next());
        let block = [ring, newest].into_iter().find(|block| block.has_room());
        let block = block.unwrap_or_else(|| Block::create(mem, Some(ring)));
        let entered = self.enter_place(kind, place_hash(hash, id), block, later);
        if entered {
            block.add(id);
        } else if block.used() == 0 {
            block.free(mem);
        }
        if !entered {
            self.disband(form, ring);
        }
        entered
    }

    /// Removes a record from those of its form.
    pub(crate) fn unlist(self, form: FormOf<'_>, record: Record<'m>) {
        let FormOf { kind, hash, .. } = form;
        let (mem, id) = (self.mem(), record.id());
        let (place, known) = self.entry_of(form, record).expect("a form has an entry");
        let Listed::Many(first) = known else {
            self.replace_listed(kind, hash, place, None);
            return;
        };
        let (side, block) =
            self.table_of(kind).block_of(hash, id).expect("a listed record has an entry");
        self.replace_listed(kind, place_hash(hash, id), side, None);
        let mut ring = first;
        if block.remove(id) == 0 {
            if block.line == first.line {
                ring = Block::new(mem, block.next());
                self.replace_listed(kind, hash, place, Some(line_id(ring)));
            }
            block.free(mem);
        }
        self.disband(form, ring);
    }

    /// Frees a ring that lists only one record.
    fn disband(self, form: FormOf<'_>, ring: Block<'m>) {
        let FormOf { kind, hash, .. } = form;
        if ring.next() != ring.line || ring.used() != 1 {
            return;
        }
        let last = ring.record(0).expect("a block lists records");
        let (side, _) =
            self.table_of(kind).block_of(hash, last).expect("a listed record has an entry");
        self.replace_listed(kind, place_hash(hash, last), side, None);
        let record = Record::new(self.mem(), last);
        let (place, _) = self.entry_of(form, record).expect("a form has an entry");
        self.replace_listed(kind, hash, place, Some(last));
        alloc::give(self.mem(), ring.line, 1);
    }
}

/// A block's line, as an entry has it.
fn line_id(block: Block<'_>) -> RecordId {
    RecordId::from_word(block.line).expect("no block is in line 0")
}

impl<'m> Filter<'m> {
    /// The place of a record of a form, and the block that it leads to.
    fn block_of(self, form: Hash, record: RecordId) -> Option<(BucketSlot, Block<'m>)> {
        let hash = place_hash(form, record);
        let mut places = self.places(hash, move |second| Pattern::place(hash, second));
        places.find_map(|place| {
            let block = Block::new(self.mem(), self.get(place).block()?.line());
            block.records().any(|id| id == record).then_some((place, block))
        })
    }

    /// The block that lists a record of a form.
    pub(crate) fn place_in(self, form: Hash, record: RecordId) -> Option<Block<'m>> {
        self.block_of(form, record).map(|(_, block)| block)
    }

    /// Counts one more name under a beginning, whose entry it makes if it is the first.
    pub(crate) fn begin(self, hash: Hash, bit: u32, later: usize) -> bool {
        if let Some(place) = self.prefix(hash) {
            let (before, after) = (self.get(place), self.get(place).with(bit));
            // The entry of a prefix whose count is at its maximum often does not change.
            if after != before {
                self.set(place, after);
            }
            return true;
        }
        let entered = self.enter(hash, Entry::prefix(hash, bit), later);
        self.root().add(self.counter(), usize::from(entered));
        entered
    }

    /// Counts one name fewer under a beginning.
    pub(crate) fn end(self, hash: Hash) {
        let place = self.prefix(hash).expect("a prefix stays while names have it");
        let left = self.get(place).without();
        self.set(place, left);
        self.root().subtract(self.counter(), usize::from(left.is_empty()));
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::memory::root::Counter;
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
        while heap.mapped() < 18 {
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

    /// Names that differ only in their punctuation: a mark for each digit of `i`.
    fn marked(i: u32) -> Vec<u8> {
        let mark = |digit: u8| b"!?,;:+*#=~"[usize::from(digit - b'0')];
        b"alike".iter().copied().chain(i.to_string().bytes().map(mark)).collect()
    }

    /// The places of a form's records are spread over the filter, whatever its hash: one of a hundred seeds was refused
    /// when the hash of a place was linear in the record's line.
    #[test]
    fn a_form_has_room_for_many_names_whatever_the_seed() {
        // The 57th is one of those.
        let seeds = if std::env::var_os("CFTRAG_QUICK").is_some() { 57..=57 } else { 1..=240 };
        for seed in seeds.map(|seed: u64| seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)) {
            let mut heap = HeapMemory::new(1 << 23);
            while heap.mapped() < 18 {
                assert!(heap.grow());
            }
            let image = Image::format(&heap, seed).unwrap();
            image.publish_chunks(heap.mapped());
            for i in 1..3000 {
                image.insert(&Edge { tree: None, parent: b"+", child: &marked(i) }, None).unwrap();
            }
        }
    }

    #[test]
    fn a_name_goes_at_the_same_cost_however_many_share_its_forms() {
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
        // Two forms are shared: the folded name and the joined one.
        assert!(cost(16) <= 12);
        assert!(cost(4096) <= 12, "blocks looked at for each name");
    }
}
