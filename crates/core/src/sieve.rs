//! The sieve: with which words, or pairs of words, names of entities begin, and all of them.
//!
//! ```text
//!   items of a name   its only word; or its first two words, and all of them
//!   hash of an item --> a word of 64 bits, in a line of the sieve --> three of its bits
//! ```
//!
//! Nearly no place of a text is the start of a name. One look at one word of a table of two bytes
//! an entity, which stays in the processor's caches, tells; the filter, ten times as large, is
//! asked only where the sieve lets something pass. It may let pass what is no name: 3 % of the
//! words and windows when it is full.
//!
//! Bits are set when an entity comes, never cleared when it goes. When 5 bits of 16 are set,
//! another sieve is filled from the forms in the filter, [`SWEPT`] buckets for each entity that
//! comes, and then takes its place: twice as large, or as large if the entities are not so many.
//! Without memory for it the old one stays, and lets more pass. Meanwhile new entities enter both.
//!
//! Promises: the sieve lets the items of every entity pass whose name has a form; one that is
//! being filled, the items of those forms that stand in buckets it was filled from (I14).
//! Writers hold the lock exclusively.

use crate::Image;
use crate::alloc;
use crate::bucket::Entry;
use crate::filter::Filter;
use crate::forms::Form;
use crate::hash::Hash;
use crate::id::index;
use crate::memory::{Line, Memory, Span};
use crate::record::Record;
use crate::root::{Counter, MAX_LINES, Root, Table};

/// Words of 64 bits in a line.
const WORDS: u32 = 8;
/// Items of names a word is made for; then a third of its bits is set.
const ITEMS: u64 = 8;
/// Buckets that are read for each new entity while another sieve is filled: a microsecond.
const SWEPT: u32 = 4;
/// Lines of a segment, as a power of two: 4 MiB, half of a large chunk.
const SEGMENT_BITS: u32 = 16;
/// A sieve has 2^level lines; the largest is 256 MiB.
pub(crate) const MOST_LEVEL: u32 = SEGMENT_BITS + crate::root::SEGMENTS.ilog2();

/// Full at 5 bits of 16.
fn is_full(level: u32, bits: u32) -> bool {
    u64::from(bits) * 16 > (512 << level) * 5
}

/// Lines of a segment of a sieve of that level, and how many segments it has.
pub(crate) fn shape(level: u32) -> (u32, u32) {
    let bits = level.min(SEGMENT_BITS);
    (1 << bits, 1 << (level - bits))
}

/// The three bits of an item.
#[inline]
fn mask(hash: Hash) -> u64 {
    let bit = |shift: u32| 1 << (hash.0 >> shift & 63);
    bit(58) | bit(52) | bit(46)
}

/// The sieve of an image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sieve<'m> {
    mem: &'m Memory,
    root: Root<'m>,
    /// Its last line.
    last: u32,
    /// Its first segment.
    first: Span<'m>,
}

/// A word of the sieve.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell<'m> {
    line: Line<'m>,
    at: usize,
    mask: u64,
}

impl Cell<'_> {
    #[inline]
    pub(crate) fn prefetch(self) {
        self.line.prefetch();
    }

    /// Whether names may begin with the item. False is certain.
    #[inline]
    pub(crate) fn passes(self) -> bool {
        self.line.u64(self.at) & self.mask == self.mask
    }
}

impl<'m> Sieve<'m> {
    #[inline]
    pub(crate) fn new(mem: &'m Memory, table: Table) -> Sieve<'m> {
        let root = Root::new(mem);
        let level = root.sieve(table).level;
        Sieve { mem, root, last: (1 << level) - 1, first: mem.span(root.segment(table, 0)) }
    }

    /// Where an item's bits are.
    #[inline]
    pub(crate) fn cell(self, item: Hash) -> Cell<'m> {
        self.cell_of(Table::Now, item)
    }

    #[inline]
    pub(crate) fn cell_of(self, table: Table, item: Hash) -> Cell<'m> {
        let line = (item.first() / WORDS) & self.last;
        let line = match line >> SEGMENT_BITS {
            0 => self.first.line(line),
            other => self.line_of(table, other, line & ((1 << SEGMENT_BITS) - 1)),
        };
        Cell { line, at: index(item.first() % WORDS) * 8, mask: mask(item) }
    }

    /// Whether it is of one segment, and so all cells are those of [`Sieve::near_cell`].
    #[inline]
    pub(crate) fn is_near(self) -> bool {
        self.last >> SEGMENT_BITS == 0
    }

    /// The same as [`Sieve::cell`], in the first segment.
    #[inline]
    pub(crate) fn near_cell(self, item: Hash) -> Cell<'m> {
        let line = self.first.line((item.first() / WORDS) & self.last);
        Cell { line, at: index(item.first() % WORDS) * 8, mask: mask(item) }
    }

    /// A line of another segment than the first: of a sieve of more than a million names.
    #[cold]
    fn line_of(self, table: Table, segment: u32, line: u32) -> Line<'m> {
        self.mem.span(self.root.segment(table, segment)).line(line)
    }

    /// Sets the bits of a form's items.
    fn mark(self, table: Table, form: &Form) {
        let mut set = 0;
        for item in form.items() {
            let Cell { line, at, mask } = self.cell_of(table, item);
            let old = line.u64(at);
            line.set_u64(at, old | mask);
            set += (mask & !old).count_ones();
        }
        if set > 0 {
            let mut state = self.root.sieve(table);
            state.bits += set;
            self.root.set_sieve(table, state);
        }
    }
}

/// Makes an empty sieve of one line in a new image.
///
/// # Panics
/// If there is no memory for it; a fresh chunk 0 has it.
pub(crate) fn format(mem: &Memory) {
    let line = crate::record::planned(alloc::take(mem, 1)).get();
    mem.span(line).zero(1);
    Root::new(mem).set_segment(Table::Now, 0, line);
}

impl<'m> Image<'m> {
    #[inline]
    pub(crate) fn sieve(self) -> Sieve<'m> {
        Sieve::new(self.mem(), Table::Now)
    }

    /// An entity of that form is in the filter now. So many single lines stay available.
    pub(crate) fn let_pass(self, form: &Form, later: usize) {
        self.sieve().mark(Table::Now, form);
        if self.forms().swept().is_some() {
            Sieve::new(self.mem(), Table::Next).mark(Table::Next, form);
        }
        self.tend_sieve(later);
    }

    /// Begins to fill another sieve if this one is full, or goes on with it.
    fn tend_sieve(self, later: usize) {
        let root = self.root();
        let now = root.sieve(Table::Now);
        let mut next = root.sieve(Table::Next);
        if next.segments == 0 {
            if !is_full(now.level, now.bits) {
                return;
            }
            // Of names that are there the items are half as many at most? Much is out of date.
            let items = (u64::from(WORDS) * ITEMS) << now.level;
            let grows = root.count(Counter::Entities) * 4 > items;
            if grows && now.level == MOST_LEVEL {
                return;
            }
            next.level = now.level + u32::from(grows);
        }
        let (lines, segments) = shape(next.level);
        while next.segments < segments {
            let Some(line) = alloc::take_run(self.mem(), lines, later) else { return };
            self.mem().span(line.get()).zero(lines);
            root.set_segment(Table::Next, next.segments, line.get());
            next.segments += 1;
            root.set_sieve(Table::Next, next);
        }
        self.sweep();
    }

    /// Fills the next sieve from some buckets more; after the last it takes the place of this.
    fn sweep(self) {
        let (filter, root) = (self.forms(), self.root());
        let from = root.sieve(Table::Next).swept;
        let buckets = filter.geometry().buckets();
        let to = buckets.min(from + SWEPT);
        for bucket in from..to {
            filter.read(bucket).into_iter().for_each(|entry| filter.mark_next(entry));
        }
        // The next entity's turn reads these.
        for entry in (to..buckets.min(to + SWEPT)).flat_map(|bucket| filter.read(bucket)) {
            if let Some(head) = entry.head() {
                self.mem().prefetch(head.line());
            }
        }
        let mut next = root.sieve(Table::Next);
        next.swept = to;
        root.set_sieve(Table::Next, next);
        if to == buckets {
            self.replace_sieve();
        }
    }

    fn replace_sieve(self) {
        let root = self.root();
        let (now, mut next) = (root.sieve(Table::Now), root.sieve(Table::Next));
        let (lines, segments) = shape(now.level);
        for i in 0..segments {
            let line = root.segment(Table::Now, i);
            for at in (0..lines).step_by(index(MAX_LINES)) {
                alloc::give(self.mem(), line + at, MAX_LINES.min(lines - at));
            }
        }
        for i in 0..next.segments {
            root.set_segment(Table::Now, i, root.segment(Table::Next, i));
        }
        (next.segments, next.swept) = (0, 0);
        root.set_sieve(Table::Now, next);
        root.set_sieve(Table::Next, Default::default());
    }
}

impl Filter<'_> {
    /// Buckets from which the next sieve was filled, if one is being filled.
    #[inline]
    pub(crate) fn swept(self) -> Option<u32> {
        let next = self.root().sieve(Table::Next);
        let being_filled = next.segments > 0 && next.segments == shape(next.level).1;
        being_filled.then_some(next.swept)
    }

    /// A form's entry has moved; if it went where the next sieve was filled from already, that
    /// would not meet it any more.
    pub(crate) fn follow(self, entry: Entry, from: u32, to: u32) {
        let holds_forms = self.table() == crate::filter::Table::Forms;
        if holds_forms && self.swept().is_some_and(|swept| to < swept && from >= swept) {
            self.mark_next(entry);
        }
    }

    fn mark_next(self, entry: Entry) {
        if let Some(head) = entry.head() {
            let record = Record::new(self.mem(), head);
            let form = Form::of_record(self.root().seed(), record);
            let form = form.expect("what a form leads to has one");
            Sieve::new(self.mem(), Table::Next).mark(Table::Next, &form);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Edge, Fate, HeapMemory, Stamp};

    fn name(i: u32) -> String {
        format!("n{i} of {}{}", i % 97, if i.is_multiple_of(3) { " of more" } else { "" })
    }

    fn verify(image: Image<'_>) {
        image.verify(&mut |problem| panic!("{problem:?}"));
    }

    #[test]
    fn it_grows_with_the_names_and_lets_all_of_them_pass() {
        let mut heap = HeapMemory::new(1 << 24);
        while heap.grow() {}
        let image = Image::format(&heap, 7).unwrap();
        image.publish_chunks(heap.mapped());
        let mut beside = 0;
        for i in 0..6000 {
            let (parent, child) = (name(i), name(i + 1));
            let edge = Edge { tree: None, parent: parent.as_bytes(), child: child.as_bytes() };
            image.insert(&edge, Some(Stamp { xmin: 10, cmin: 0 })).unwrap();
            beside += u32::from(image.forms().swept().is_some());
            if i % 200 == 0 || image.forms().swept().is_some_and(|swept| swept % 256 == 0) {
                verify(image);
            }
        }
        let level = image.root().sieve(Table::Now).level;
        assert!(level >= 6 && beside > 300, "level {level}, beside {beside}");
        let passes = |i: u32| {
            let form = Form::of(7, name(i).as_bytes()).unwrap();
            form.items().iter().all(|item| image.sieve().cell(*item).passes())
        };
        assert!((0..=6000).all(passes));
        let wrong = (10_000..20_000).filter(|i| passes(*i)).count();
        assert!(wrong < 600, "{wrong} of 10,000 pass that are not there");
    }

    #[test]
    fn it_forgets_names_that_are_gone_when_it_is_full() {
        let mut heap = HeapMemory::new(1 << 22);
        while heap.grow() {}
        let image = Image::format(&heap, 7).unwrap();
        image.publish_chunks(heap.mapped());
        let empty = alloc::loose_lines(image.root());
        for i in 0..6_000 {
            let (parent, child) = (name(i), name(i + 1));
            let edge = Edge { tree: None, parent: parent.as_bytes(), child: child.as_bytes() };
            image.insert(&edge, Some(Stamp { xmin: u64::from(i) + 10, cmin: 0 })).unwrap();
            if i >= 20 {
                let horizon = u64::from(i) - 9;
                image.settle(2, horizon, &|_| Fate::Aborted, &mut Vec::new());
            }
        }
        verify(image);
        let now = image.root().sieve(Table::Now);
        assert!(image.stats().entities < 50 && now.level <= 1, "{now:?}");
        let taken = empty - alloc::loose_lines(image.root());
        assert!(taken < 500, "{taken} lines for what is left");
    }

    #[test]
    fn without_memory_it_stays_as_it_is() {
        let mut heap = HeapMemory::new(1 << 19);
        while heap.grow() {}
        let image = Image::format(&heap, 7).unwrap();
        image.publish_chunks(heap.mapped());
        let full = (0..).find(|i| {
            let (parent, child) = (name(*i), name(i + 1));
            let edge = Edge { tree: None, parent: parent.as_bytes(), child: child.as_bytes() };
            image.insert(&edge, None).is_err()
        });
        assert!(full > Some(500));
        verify(image);
    }
}
