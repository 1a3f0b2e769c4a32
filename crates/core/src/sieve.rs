//! The sieves: with which words, and pairs of words, names of entities begin, and all of them.
//!
//! ```text
//!   a name of one word    that word                                  the sieve of words
//!   of several words      its first word                             the sieve of words
//!                         its first two words, and all of them       the sieve of windows
//!   hash of an item --> a word of 64 bits, in a line of the sieve --> three of its bits
//! ```
//!
//! Nearly no place of a text is the start of a name. One look at one word of a table of two bytes
//! an entity, which stays in the processor's caches, tells; the filter, ten times as large, is
//! asked only where the sieve lets something pass. What is no name passes too: of a full sieve
//! 3 % of the windows, 0.2 % of the words. The sieve of words is small, since names begin with
//! the same words again and again, and says with one word of 64 bits both whether a name is that
//! word and whether longer ones begin so. Where none does, the larger sieve is not asked.
//!
//! Bits are set when an entity comes, never cleared when it goes. When a sieve is full (see
//! [`Fill`]), another is filled from the forms in the filter, [`SWEPT`] buckets for each entity
//! that comes, and then takes its place: twice as large, or as large if the entities are not so
//! many. Without memory for it the old one stays, and lets more pass. Meanwhile new entities enter
//! both.
//!
//! Promises: the sieves let the items of every entity pass whose name has a form; one that is
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
use crate::root::{Counter, MAX_LINES, Root, Sifted, Table};

/// Words of 64 bits in a line.
const WORDS: u32 = 8;
/// Buckets that are read for each new entity while another sieve is filled: a microsecond.
const SWEPT: u32 = 4;
/// Lines of a segment, as a power of two: 4 MiB, half of a large chunk.
const SEGMENT_BITS: u32 = 16;

/// When a sieve is full.
struct Fill {
    /// At so many bits of 16.
    bits: u64,
    /// So many items of names a word of 64 bits make it so.
    items: u64,
}

impl Sifted {
    /// A sieve has 2^level lines; the largest of windows is 256 MiB.
    pub(crate) const fn most_level(self) -> u32 {
        SEGMENT_BITS + self.segments().ilog2()
    }

    const fn fill(self) -> Fill {
        match self {
            Sifted::Windows => Fill { bits: 5, items: 8 },
            Sifted::Words => Fill { bits: 2, items: 3 },
        }
    }

    fn is_full(self, level: u32, bits: u32) -> bool {
        u64::from(bits) * 16 > (512 << level) * self.fill().bits
    }

    /// Items that a full sieve of that level has.
    fn items(self, level: u32) -> u64 {
        (u64::from(WORDS) * self.fill().items) << level
    }
}

/// Lines of a segment of a sieve of that level, and how many segments it has.
pub(crate) fn shape(level: u32) -> (u32, u32) {
    let bits = level.min(SEGMENT_BITS);
    (1 << bits, 1 << (level - bits))
}

/// What a sieve lets pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    hash: Hash,
    mask: u64,
}

impl Item {
    /// Some words, two at least.
    #[inline]
    pub(crate) fn window(hash: Hash) -> Item {
        Item { hash, mask: high_bits(hash) }
    }

    /// A word that is a name.
    #[inline]
    pub(crate) fn word(hash: Hash) -> Item {
        Item { hash, mask: low_bits(hash) }
    }

    /// A word that names of several words begin with.
    #[inline]
    pub(crate) fn first_word(hash: Hash) -> Item {
        Item { hash, mask: high_bits(hash) }
    }
}

/// Three of 64 bits, by parts of a hash that do not say which 64.
#[inline]
fn high_bits(hash: Hash) -> u64 {
    three_bits(hash.0 >> 46)
}

/// Another three.
#[inline]
fn low_bits(hash: Hash) -> u64 {
    three_bits(hash.0 >> 28)
}

#[inline]
fn three_bits(from: u64) -> u64 {
    let bit = |shift: u32| 1 << (from >> shift & 63);
    bit(0) | bit(6) | bit(12)
}

/// A sieve of an image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sieve<'m> {
    mem: &'m Memory,
    root: Root<'m>,
    of: Sifted,
    table: Table,
    /// Its last line.
    last: u32,
    /// Its first segment.
    first: Span<'m>,
}

/// A word of a sieve.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell<'m> {
    line: Line<'m>,
    at: usize,
}

impl Cell<'_> {
    #[inline]
    pub(crate) fn prefetch(self) {
        self.line.prefetch();
    }

    /// Whether it lets the item pass. False is certain.
    #[inline]
    pub(crate) fn passes(self, item: Item) -> bool {
        self.line.u64(self.at) & item.mask == item.mask
    }
}

impl<'m> Sieve<'m> {
    #[inline]
    pub(crate) fn new(mem: &'m Memory, of: Sifted, table: Table) -> Sieve<'m> {
        let root = Root::new(mem);
        let level = root.sieve(of, table).level;
        let first = mem.span(root.segment(of, table, 0));
        Sieve { mem, root, of, table, last: (1 << level) - 1, first }
    }

    /// Where an item's bits are, if it is of this sieve.
    #[inline]
    pub(crate) fn cell(self, hash: Hash) -> Cell<'m> {
        let line = (hash.first() / WORDS) & self.last;
        let line = match line >> SEGMENT_BITS {
            0 => self.first.line(line),
            other => self.line_of(other, line & ((1 << SEGMENT_BITS) - 1)),
        };
        Cell { line, at: index(hash.first() % WORDS) * 8 }
    }

    /// Whether it is of one segment, and so all cells are those of [`Sieve::near_cell`].
    #[inline]
    pub(crate) fn is_near(self) -> bool {
        self.last >> SEGMENT_BITS == 0
    }

    /// The same as [`Sieve::cell`], in the first segment.
    #[inline]
    pub(crate) fn near_cell(self, hash: Hash) -> Cell<'m> {
        let line = self.first.line((hash.first() / WORDS) & self.last);
        Cell { line, at: index(hash.first() % WORDS) * 8 }
    }

    /// Whether it lets an item of its kind pass. False is certain.
    #[inline]
    pub(crate) fn passes(self, item: Item) -> bool {
        self.cell(item.hash).passes(item)
    }

    /// A line of another segment than the first: of a sieve of more than a million names.
    #[cold]
    fn line_of(self, segment: u32, line: u32) -> Line<'m> {
        self.mem.span(self.root.segment(self.of, self.table, segment)).line(line)
    }

    /// Sets the bits of those of a form's items that are of this sieve.
    fn mark(self, form: &Form) {
        for item in form.items(self.of) {
            let Cell { line, at } = self.cell(item.hash);
            let old = line.u64(at);
            let new = item.mask & !old;
            if new != 0 {
                line.set_u64(at, old | new);
                self.root.add_bits(self.of, self.table, new.count_ones());
            }
        }
    }
}

const BOTH: [Sifted; 2] = [Sifted::Words, Sifted::Windows];

/// Makes empty sieves of one line in a new image.
///
/// # Panics
/// If there is no memory for them; a fresh chunk 0 has it.
pub(crate) fn format(mem: &Memory) {
    for of in BOTH {
        let line = crate::record::planned(alloc::take(mem, 1)).get();
        mem.span(line).zero(1);
        Root::new(mem).set_segment(of, Table::Now, 0, line);
    }
}

impl<'m> Image<'m> {
    #[inline]
    pub(crate) fn sieve(self, of: Sifted) -> Sieve<'m> {
        Sieve::new(self.mem(), of, Table::Now)
    }

    /// An entity of that form is in the filter now. So many single lines stay available.
    pub(crate) fn let_pass(self, form: &Form, later: usize) {
        for of in BOTH {
            self.sieve(of).mark(form);
            if self.forms().swept(of).is_some() {
                Sieve::new(self.mem(), of, Table::Next).mark(form);
            }
            self.tend_sieve(of, later);
        }
    }

    /// Begins to fill another sieve if this one is full, or goes on with it.
    fn tend_sieve(self, of: Sifted, later: usize) {
        let root = self.root();
        let now = root.sieve(of, Table::Now);
        let mut next = root.sieve(of, Table::Next);
        if next.segments == 0 {
            if !of.is_full(now.level, now.bits) {
                return;
            }
            // No form has more than two items of a kind, nor has a beginning more than one. If
            // those there are would fill less than half of it, much is out of date.
            let most = match of {
                Sifted::Windows => root.count(Counter::Entities) * 2,
                Sifted::Words => root.count(Counter::Forms),
            };
            let grows = most * 2 > of.items(now.level);
            if grows && now.level == of.most_level() {
                return;
            }
            next.level = now.level + u32::from(grows);
        }
        let (lines, segments) = shape(next.level);
        while next.segments < segments {
            let Some(line) = alloc::take_run(self.mem(), lines, later) else { return };
            self.mem().span(line.get()).zero(lines);
            root.set_segment(of, Table::Next, next.segments, line.get());
            next.segments += 1;
            root.set_sieve(of, Table::Next, next);
        }
        self.sweep(of);
    }

    /// Fills the next sieve from some buckets more; after the last it takes the place of this.
    fn sweep(self, of: Sifted) {
        let (filter, root) = (self.forms(), self.root());
        let from = root.sieve(of, Table::Next).swept;
        let buckets = filter.geometry().buckets();
        let to = buckets.min(from + SWEPT);
        for bucket in from..to {
            filter.read(bucket).into_iter().for_each(|entry| filter.mark_next(of, entry));
        }
        // The next entity's turn reads these.
        for entry in (to..buckets.min(to + SWEPT)).flat_map(|bucket| filter.read(bucket)) {
            if let Some(head) = entry.head() {
                self.mem().prefetch(head.line());
            }
        }
        let mut next = root.sieve(of, Table::Next);
        next.swept = to;
        root.set_sieve(of, Table::Next, next);
        if to == buckets {
            self.replace_sieve(of);
        }
    }

    fn replace_sieve(self, of: Sifted) {
        let root = self.root();
        let (now, mut next) = (root.sieve(of, Table::Now), root.sieve(of, Table::Next));
        let (lines, segments) = shape(now.level);
        for i in 0..segments {
            let line = root.segment(of, Table::Now, i);
            for at in (0..lines).step_by(index(MAX_LINES)) {
                alloc::give(self.mem(), line + at, MAX_LINES.min(lines - at));
            }
        }
        for i in 0..next.segments {
            root.set_segment(of, Table::Now, i, root.segment(of, Table::Next, i));
        }
        (next.segments, next.swept) = (0, 0);
        root.set_sieve(of, Table::Now, next);
        root.set_sieve(of, Table::Next, Default::default());
    }
}

impl Filter<'_> {
    /// Buckets from which the next sieve was filled, if one is being filled.
    #[inline]
    pub(crate) fn swept(self, of: Sifted) -> Option<u32> {
        let next = self.root().sieve(of, Table::Next);
        let being_filled = next.segments > 0 && next.segments == shape(next.level).1;
        being_filled.then_some(next.swept)
    }

    /// A form's entry has moved; if it went where a next sieve was filled from already, that
    /// would not meet it any more.
    pub(crate) fn follow(self, entry: Entry, from: u32, to: u32) {
        if self.table() == crate::filter::Table::Forms {
            for of in BOTH {
                if self.swept(of).is_some_and(|swept| to < swept && from >= swept) {
                    self.mark_next(of, entry);
                }
            }
        }
    }

    fn mark_next(self, of: Sifted, entry: Entry) {
        if let Some(head) = entry.head() {
            let record = Record::new(self.mem(), head);
            let form = Form::of_record(self.root().seed(), record);
            let form = form.expect("what a form leads to has one");
            Sieve::new(self.mem(), of, Table::Next).mark(&form);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Edge, Fate, HeapMemory, Stamp};

    fn name(i: u32) -> String {
        match i % 5 {
            0 => format!("n{i}"),
            1 => format!("n{i} of {} of more", i % 97),
            _ => format!("n{i} of {}", i % 97),
        }
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
        let mut beside = [0; 2];
        for i in 0..6000 {
            let (parent, child) = (name(i), name(i + 1));
            let edge = Edge { tree: None, parent: parent.as_bytes(), child: child.as_bytes() };
            image.insert(&edge, Some(Stamp { xmin: 10, cmin: 0 })).unwrap();
            let swept = BOTH.map(|of| image.forms().swept(of));
            for (beside, swept) in beside.iter_mut().zip(swept) {
                *beside += u32::from(swept.is_some());
            }
            if i % 200 == 0 || swept.into_iter().flatten().any(|swept| swept % 256 == 0) {
                verify(image);
            }
        }
        for (of, beside) in BOTH.into_iter().zip(beside) {
            let level = image.root().sieve(of, Table::Now).level;
            assert!(level >= 6 && beside > 300, "{of:?}: level {level}, beside {beside}");
            let passes = |i: u32| {
                let form = Form::of(7, name(i).as_bytes()).unwrap();
                let mut items = form.items(of);
                items.all(|item| image.sieve(of).passes(item))
            };
            assert!((0..=6000).all(passes));
            // Those of one word are nothing to a sieve of windows.
            let wrong = (10_000..20_000).filter(|i| i % 5 > 0 && passes(*i)).count();
            assert!(wrong < 480, "{of:?}: {wrong} of 8,000 pass that are not there");
        }
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
        assert!(image.stats().entities < 50);
        // 50 entities have 100 forms and beginnings at most.
        for (of, most) in BOTH.into_iter().zip([4, 1]) {
            let now = image.root().sieve(of, Table::Now);
            assert!(now.level <= most, "{of:?}: {now:?}");
        }
        let taken = empty - alloc::loose_lines(image.root());
        assert!(taken < 500, "{taken} lines for what is left");
    }

    #[test]
    fn a_word_says_whether_it_is_a_name_and_whether_longer_ones_begin_so() {
        let mut heap = HeapMemory::new(1 << 22);
        while heap.grow() {}
        let image = Image::format(&heap, 7).unwrap();
        image.publish_chunks(heap.mapped());
        let edge = Edge { tree: None, parent: b"one", child: b"two three" };
        image.insert(&edge, None).unwrap();
        let says = |word: &[u8]| {
            let hash = Hash::NOTHING.and(Hash::of_word(7, word));
            [Item::word(hash), Item::first_word(hash)]
                .map(|item| image.sieve(Sifted::Words).passes(item))
        };
        assert_eq!([says(b"one"), says(b"two")], [[true, false], [false, true]]);
        assert_eq!(says(b"three"), [false; 2]);
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
