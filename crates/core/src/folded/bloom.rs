//! The Bloom filters. They hold names, and the words and pairs of words that names begin with.
//!
//! ```text
//!   name of one word      that word                                  in the Bloom filter of words
//!   of several words      its first word                             in the Bloom filter of words
//!                         all its words                              in the Bloom filter of windows
//!   of three or more      its first two words                        in the Bloom filter of windows
//!   hash of an item --> a word of 64 bits, in a line of the Bloom filter --> three of its bits
//! ```
//!
//! Almost no place of a text is the start of a name. To find those that are not, one reads a Bloom filter: it has a few
//! bytes per entity, and stays in the processor's caches. The filter, ten times as large, is searched only where the
//! Bloom filter lets an item pass. A full Bloom filter also passes 3 % of the windows, or 0.2 % of the words, that are
//! not names. The Bloom filter of words is small, because many names begin with the same words. One of its 64-bit words
//! tells both whether a name is that word and whether longer names begin with it; if none do, the larger Bloom filter
//! is not read. In the same way, the Bloom filter of windows tells whether two words are a name, and whether names of
//! three words or of more begin with them. What a Bloom filter excludes is not looked up.
//!
//! Bits are set when an entity is added, and not cleared when it is removed. When a Bloom filter is full (see
//! [`Fill`]), another one is filled from the folded names in the filter, [`SWEPT`] buckets for each new entity, and
//! then replaces it. The new one is four times as large, or of the same size if there are few entities. If there is no
//! memory for it, the old one stays and lets more pass. While the new one is being filled, new entities enter both.
//!
//! Promises: the Bloom filters let the items of every entity pass whose name has a folded name. A Bloom filter that is
//! being filled passes the items of the folded names in the buckets it was filled from (I14). Writers hold the lock
//! exclusively.

use crate::Image;
use crate::filter::bucket::Entry;
use crate::filter::table::Filter;
use crate::folded::folded_name::FoldedName;
use crate::folded::item::{Item, Kinds};
use crate::folded::listed::Listed;
use crate::memory::alloc;
use crate::memory::casts::index;
use crate::memory::flat::{Doubles, Memory};
use crate::memory::hash::Hash;
use crate::memory::root::{BloomItems, BloomState, Counter, MAX_LINES, Root, Segments, Table};

/// Words of 64 bits in a line.
const WORDS: u32 = 8;
/// Buckets read for each new entity while another Bloom filter is filled, which takes a microsecond.
const SWEPT: u32 = 4;
/// Lines of a segment, as a power of two: 2 MiB, half of a chunk. In unit tests few, to test several segments.
const SEGMENT_BITS: u32 = if cfg!(test) { 4 } else { 15 };

/// The limits at which a Bloom filter is full.
struct Fill {
    /// How many of 16 bits are set in a full Bloom filter.
    bits: u64,
    /// Items per word of 64 bits in a Bloom filter with that many bits set.
    items: u64,
}

impl BloomItems {
    /// A Bloom filter has at most 2^most_level lines; the largest of windows has 256 MiB.
    pub(crate) const fn most_level(self) -> u32 {
        SEGMENT_BITS + self.segments().ilog2()
    }

    const fn fill(self) -> Fill {
        match self {
            BloomItems::Windows => Fill { bits: 5, items: 8 },
            BloomItems::Words => Fill { bits: 2, items: 3 },
        }
    }

    /// The level of the Bloom filter that replaces one of that level. It is four times as large, so that on average an
    /// entity is copied a third of a time, not once. (After one line it is twice as large.)
    fn next_level(self, level: u32) -> u32 {
        (level + if level == 0 { 1 } else { 2 }).min(self.most_level())
    }

    fn is_full(self, level: u32, bits: u32) -> bool {
        u64::from(bits) * 16 > (512 << level) * self.fill().bits
    }

    /// The items in a full Bloom filter of that level.
    fn items(self, level: u32) -> u64 {
        (u64::from(WORDS) * self.fill().items) << level
    }
}

impl BloomState {
    /// The buckets from which the next Bloom filter was filled, once all its segments are allocated.
    #[inline]
    fn swept(self) -> Option<u32> {
        let being_filled = self.segments > 0 && self.segments == shape(self.level).1;
        being_filled.then_some(self.swept)
    }
}

/// Lines of a segment of a Bloom filter of that level, and its number of segments.
pub(crate) fn shape(level: u32) -> (u32, u32) {
    let bits = level.min(SEGMENT_BITS);
    (1 << bits, 1 << (level - bits))
}

/// Lines of the list of so many segments.
pub(crate) fn list_lines(segments: u32) -> u32 {
    if segments > 1 { segments.div_ceil(16) } else { 0 }
}

/// The line of a list that has segment `i`, and where.
pub(crate) fn in_list(list: u32, i: u32) -> (u32, usize) {
    (list + i / 16, index(i % 16) * 4)
}

/// A Bloom filter of an image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BloomFilter<'m> {
    root: Root<'m>,
    of: BloomItems,
    table: Table,
    level: u32,
    list: u32,
    /// Its first segment, often its only one.
    pub(crate) near: Segment<'m>,
}

/// A part of a Bloom filter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment<'m>(Doubles<'m>);

impl Segment<'_> {
    /// Prefetches what [`Segment::kinds`] reads.
    #[inline]
    pub(crate) fn prefetch(self, hash: Hash) {
        self.0.prefetch(hash.first());
    }

    /// The kinds of items with this hash that the segment lets pass. No item of another kind was added.
    #[inline]
    pub(crate) fn kinds(self, hash: Hash) -> Kinds {
        Kinds::of(self.look(hash), hash)
    }

    /// The word that [`Kinds::of`] evaluates.
    #[inline(always)]
    pub(crate) fn look(self, hash: Hash) -> u64 {
        self.0.get(hash.first())
    }
}

impl<'m> BloomFilter<'m> {
    #[inline]
    pub(crate) fn new(mem: &'m Memory, of: BloomItems, table: Table) -> BloomFilter<'m> {
        let root = Root::new(mem);
        BloomFilter::of_level(root, of, table, root.bloom(of, table).level)
    }

    /// [`BloomFilter::new`] when the level is already known.
    #[inline]
    fn of_level(root: Root<'m>, of: BloomItems, table: Table, level: u32) -> BloomFilter<'m> {
        let Segments { first, list } = root.segments(of, table);
        let near = BloomFilter::at(root.mem(), first, level);
        BloomFilter { root, of, table, level, list, near }
    }

    /// The segment at that line.
    #[inline]
    fn at(mem: &'m Memory, line: u32, level: u32) -> Segment<'m> {
        Segment(mem.span(line).doubles(shape(level).0))
    }

    /// Whether the Bloom filter has no other segment than [`BloomFilter::near`].
    #[inline]
    pub(crate) fn is_near(self) -> bool {
        self.level <= SEGMENT_BITS
    }

    /// The segment that has an item's bits.
    #[inline]
    pub(crate) fn segment(self, hash: Hash) -> Segment<'m> {
        let line = (hash.first() / WORDS) & ((1 << self.level) - 1);
        match line >> SEGMENT_BITS {
            0 => self.near,
            other => self.far(other),
        }
    }

    /// Whether the Bloom filter lets an item pass. If not, the item was certainly not added.
    pub(crate) fn passes(self, item: Item) -> bool {
        self.segment(item.hash).kinds(item.hash).0 & item.kind != 0
    }

    /// A segment after the first, which only a Bloom filter for more than a million names has.
    #[cold]
    fn far(self, i: u32) -> Segment<'m> {
        let (line, at) = in_list(self.list, i);
        BloomFilter::at(self.root.mem(), self.root.mem().line(line).u32(at), self.level)
    }

    /// Sets the bits of a folded name's items in this Bloom filter; returns, for each item, how many were not set
    /// before.
    #[inline(always)]
    fn mark(self, folded: &FoldedName) -> [u32; 2] {
        let (items, count) = folded.items(self.of);
        let mut bits = [0; 2];
        for (item, bits) in items[..count].iter().zip(&mut bits) {
            let Segment(words) = self.segment(item.hash);
            let at = item.hash.first();
            let old = words.get(at);
            let new = item.mask() & !old;
            if new != 0 {
                words.set(at, old | new);
                *bits = new.count_ones();
            }
        }
        if bits != [0; 2] {
            self.root.add_bits(self.of, self.table, bits[0] + bits[1]);
        }
        bits
    }

    /// Adds the folded name that an entry leads to, if it leads to one.
    fn mark_head(self, entry: Entry) {
        if let Some(head) = entry.head() {
            let first = Listed::at(self.root.mem(), head).first(self.root.mem());
            let folded = first.and_then(|first| FoldedName::of_record(self.root.seed(), first));
            self.mark(&folded.expect("what a folded name leads to has one"));
        }
    }
}

/// The result of [`Image::let_pass`].
pub(crate) struct Passed {
    /// Whether the folded name is known to be new. `false` proves nothing.
    pub(crate) is_new: bool,
    /// Which Bloom filters need [`Image::tend_blooms`].
    tend: [bool; 2],
}

const BOTH: [BloomItems; 2] = [BloomItems::Words, BloomItems::Windows];

/// Makes empty Bloom filters of one line in a new image.
///
/// # Panics
/// If there is no memory for them; a fresh chunk 0 has it.
pub(crate) fn format(mem: &Memory) {
    for of in BOTH {
        let line = crate::records::record::planned(alloc::take(mem, 1)).get();
        mem.span(line).zero(1);
        Root::new(mem).set_segments(of, Table::Now, Segments { first: line, list: 0 });
    }
}

impl<'m> Image<'m> {
    #[inline]
    pub(crate) fn bloom(self, of: BloomItems) -> BloomFilter<'m> {
        BloomFilter::new(self.mem(), of, Table::Now)
    }

    /// Adds an entity's folded name to the Bloom filters, before the entity enters the filter. If its name or its first
    /// word did not pass until now, it is the first entity of its folded name.
    pub(crate) fn let_pass(self, folded: &FoldedName) -> Passed {
        let (word, tend_words) = self.let_one_pass(BloomItems::Words, folded);
        let (window, tend_windows) = self.let_one_pass(BloomItems::Windows, folded);
        Passed { is_new: word | window, tend: [tend_words, tend_windows] }
    }

    /// Returns whether the first item did not pass until now, and whether the filter needs tending.
    // Always inline: most of it is constant once `of` is.
    #[inline(always)]
    fn let_one_pass(self, of: BloomItems, folded: &FoldedName) -> (bool, bool) {
        let root = self.root();
        let [now, next] = [Table::Now, Table::Next].map(|table| root.bloom(of, table));
        let [first, second] = BloomFilter::of_level(root, of, Table::Now, now.level).mark(folded);
        if next.swept().is_some() {
            BloomFilter::of_level(root, of, Table::Next, next.level).mark(folded);
        }
        let is_full = of.is_full(now.level, now.bits + first + second);
        (first > 0, next.segments > 0 || is_full)
    }

    /// Continues to fill the next Bloom filters where the current ones are full, once the folded name is in the filter.
    /// Leaves `later` single lines available.
    #[inline]
    pub(crate) fn tend_blooms(self, passed: &Passed, later: usize) {
        for (of, tend) in BOTH.into_iter().zip(passed.tend) {
            if tend {
                self.tend_bloom(of, later);
            }
        }
    }

    /// Begins or continues to fill the next Bloom filter, because this one is full. Not called for two of three
    /// entities.
    #[inline(never)]
    fn tend_bloom(self, of: BloomItems, later: usize) {
        let root = self.root();
        let now = root.bloom(of, Table::Now);
        let mut next = root.bloom(of, Table::Next);
        if next.segments == 0 {
            // A folded name has at most two items of windows, and one of words. If the items of all names fill less
            // than half of the Bloom filter, many of its bits belong to deleted names.
            let most = match of {
                BloomItems::Windows => root.count(Counter::Entities) * 2,
                BloomItems::Words => root.count(Counter::FoldedNames),
            };
            let grows = most * 2 > of.items(now.level);
            if grows && now.level == of.most_level() {
                return;
            }
            next.level = if grows { of.next_level(now.level) } else { now.level };
        }
        let (lines, segments) = shape(next.level);
        if next.segments < segments {
            // One segment at a time: clearing 2 MiB takes a third of a millisecond.
            let Some(at) = self.take_segment(of, segments, next.segments, lines, later) else {
                return;
            };
            root.set_segments(of, Table::Next, at);
            next.segments += 1;
            root.set_bloom(of, Table::Next, next);
        }
        if next.segments == segments {
            self.sweep(of);
        }
    }

    /// Takes the lines of segment `i` of the next Bloom filter, and with the first one those of the list.
    fn take_segment(
        self,
        of: BloomItems,
        segments: u32,
        i: u32,
        lines: u32,
        later: usize,
    ) -> Option<Segments> {
        let (mem, mut at) = (self.mem(), self.root().segments(of, Table::Next));
        let new_list = if i == 0 { list_lines(segments) } else { 0 };
        if new_list > 0 {
            at.list = alloc::take_run(mem, new_list, later)?.get();
            mem.span(at.list).zero(new_list);
        }
        let Some(line) = alloc::take_run(mem, lines, later) else {
            if new_list > 0 {
                alloc::give(mem, at.list, new_list);
            }
            return None;
        };
        mem.span(line.get()).zero(lines);
        if at.list > 0 {
            let (list, place) = in_list(at.list, i);
            mem.line(list).set_u32(place, line.get());
        }
        Some(Segments { first: if i == 0 { line.get() } else { at.first }, ..at })
    }

    /// Fills the next Bloom filter from a few more buckets; after the last one it replaces this one.
    fn sweep(self, of: BloomItems) {
        let (filter, root) = (self.folded_names(), self.root());
        let from = root.bloom(of, Table::Next).swept;
        let buckets = filter.geometry().buckets();
        let to = buckets.min(from + SWEPT);
        let bloom = BloomFilter::new(self.mem(), of, Table::Next);
        for bucket in from..to {
            filter.read(bucket).into_iter().for_each(|entry| bloom.mark_head(entry));
        }
        // The next new entity reads these records.
        for bucket in to..buckets.min(to + SWEPT) {
            let heads = filter.read(bucket).into_iter().filter_map(Entry::head);
            heads.for_each(|head| self.mem().prefetch(head.line()));
        }
        let mut next = root.bloom(of, Table::Next);
        next.swept = to;
        root.set_bloom(of, Table::Next, next);
        if to == buckets {
            self.replace_bloom(of);
        }
    }

    fn replace_bloom(self, of: BloomItems) {
        let root = self.root();
        let (now, mut next) = (root.bloom(of, Table::Now), root.bloom(of, Table::Next));
        let (lines, segments) = shape(now.level);
        let Segments { first, list } = root.segments(of, Table::Now);
        for i in 0..segments {
            let (place, at) = in_list(list, i);
            let line = if list > 0 { self.mem().line(place).u32(at) } else { first };
            for at in (0..lines).step_by(index(MAX_LINES)) {
                alloc::give(self.mem(), line + at, MAX_LINES.min(lines - at));
            }
        }
        if list > 0 {
            alloc::give(self.mem(), list, list_lines(segments));
        }
        root.set_segments(of, Table::Now, root.segments(of, Table::Next));
        root.set_segments(of, Table::Next, Segments::default());
        (next.segments, next.swept) = (0, 0);
        root.set_bloom(of, Table::Now, next);
        root.set_bloom(of, Table::Next, Default::default());
    }
}

impl Filter<'_> {
    /// Buckets from which the next Bloom filter was filled; none if it is not being filled.
    #[inline]
    pub(crate) fn swept(self, of: BloomItems) -> Option<u32> {
        self.root().bloom(of, Table::Next).swept()
    }

    /// Called when a folded name's entry has moved. If it went to a bucket that was swept already, the next Bloom
    /// filter would miss it, so it is added here.
    pub(crate) fn follow(self, entry: Entry, from: u32, to: u32) {
        if self.table() == crate::memory::tables::Table::FoldedNames {
            for of in BOTH {
                if self.swept(of).is_some_and(|swept| to < swept && from >= swept) {
                    BloomFilter::new(self.mem(), of, Table::Next).mark_head(entry);
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "bloom_tests.rs"]
mod tests;
