//! The sieves: with which words, and pairs of words, names of entities begin, and all of them.
//!
//! ```text
//!   a name of one word    that word                                  the sieve of words
//!   of several words      its first word                             the sieve of words
//!                         all of them                                the sieve of windows
//!   of three, of more     its first two words                        the sieve of windows
//!   hash of an item --> a word of 64 bits, in a line of the sieve --> three of its bits
//! ```
//!
//! Nearly no place of a text is the start of a name. One look at one word of a table of few bytes
//! an entity, which stays in the processor's caches, tells; the filter, ten times as large, is
//! asked only where the sieve lets something pass. What is no name passes too: of a full sieve
//! 3 % of the windows, 0.2 % of the words. The sieve of words is small, since names begin with
//! the same words again and again, and says with one word of 64 bits both whether a name is that
//! word and whether longer ones begin so. Where none does, the larger sieve is not asked. That of
//! windows says of two words in the same way whether they are a name, and whether names of three
//! or of more begin so: what is not among it is not looked for.
//!
//! Bits are set when an entity comes, never cleared when it goes. When a sieve is full (see
//! [`Fill`]), another is filled from the forms in the filter, [`SWEPT`] buckets for each entity
//! that comes, and then takes its place: four times as large, or as large if the entities are not
//! so many. Without memory for it the old one stays, and lets more pass. Meanwhile new entities
//! enter both.
//!
//! Promises: the sieves let the items of every entity pass whose name has a form; one that is
//! being filled, the items of those forms that stand in buckets it was filled from (I14).
//! Writers hold the lock exclusively.

use crate::Image;
use crate::filter::bucket::Entry;
use crate::filter::table::Filter;
use crate::folded::form::Form;
use crate::folded::item::{Item, Kinds};
use crate::memory::alloc;
use crate::memory::casts::index;
use crate::memory::flat::{Doubles, Memory};
use crate::memory::hash::Hash;
use crate::memory::root::{Counter, MAX_LINES, Root, SieveState, Sifted, Table};
use crate::records::record::Record;

/// Words of 64 bits in a line.
const WORDS: u32 = 8;
/// Buckets that are read for each new entity while another sieve is filled: a microsecond.
const SWEPT: u32 = 4;
/// Lines of a segment, as a power of two: 2 MiB, half of a chunk.
const SEGMENT_BITS: u32 = 15;

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

    /// The level of one that is filled after one of that level: four times as large, so that each
    /// entity enters a next one a third of a time, and not once. Of one line two are made.
    fn next_level(self, level: u32) -> u32 {
        (level + if level == 0 { 1 } else { 2 }).min(self.most_level())
    }

    fn is_full(self, level: u32, bits: u32) -> bool {
        u64::from(bits) * 16 > (512 << level) * self.fill().bits
    }

    /// Items that a full sieve of that level has.
    fn items(self, level: u32) -> u64 {
        (u64::from(WORDS) * self.fill().items) << level
    }
}

impl SieveState {
    /// Of the next: buckets from which it was filled, once all its segments are there.
    #[inline]
    fn swept(self) -> Option<u32> {
        let being_filled = self.segments > 0 && self.segments == shape(self.level).1;
        being_filled.then_some(self.swept)
    }
}

/// Lines of a segment of a sieve of that level, and how many segments it has.
pub(crate) fn shape(level: u32) -> (u32, u32) {
    let bits = level.min(SEGMENT_BITS);
    (1 << bits, 1 << (level - bits))
}

/// A sieve of an image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sieve<'m> {
    mem: &'m Memory,
    root: Root<'m>,
    of: Sifted,
    table: Table,
    level: u32,
    /// Its first segment, and all of it if it is of one.
    pub(crate) near: Segment<'m>,
}

/// A part of a sieve.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment<'m>(Doubles<'m>);

impl Segment<'_> {
    /// Asks memory for what [`Segment::kinds`] reads.
    #[inline]
    pub(crate) fn prefetch(self, hash: Hash) {
        self.0.prefetch(hash.first());
    }

    /// As what it lets the hash pass. What is not among it is certain.
    #[inline]
    pub(crate) fn kinds(self, hash: Hash) -> Kinds {
        Kinds::of(self.look(hash), hash)
    }

    /// What [`Kinds::of`] judges.
    #[inline(always)]
    pub(crate) fn look(self, hash: Hash) -> u64 {
        self.0.get(hash.first())
    }
}

impl<'m> Sieve<'m> {
    #[inline]
    pub(crate) fn new(mem: &'m Memory, of: Sifted, table: Table) -> Sieve<'m> {
        let root = Root::new(mem);
        Sieve::of_level(root, of, table, root.sieve(of, table).level)
    }

    /// Of a state that was read.
    #[inline]
    fn of_level(root: Root<'m>, of: Sifted, table: Table, level: u32) -> Sieve<'m> {
        let mem = root.mem();
        let near = Sieve::nth(mem, root, of, table, level, 0);
        Sieve { mem, root, of, table, level, near }
    }

    #[inline]
    fn nth(
        mem: &'m Memory,
        root: Root<'m>,
        of: Sifted,
        table: Table,
        level: u32,
        i: u32,
    ) -> Segment<'m> {
        Segment(mem.span(root.segment(of, table, i)).doubles(shape(level).0))
    }

    /// Whether all of it is [`Sieve::near`].
    #[inline]
    pub(crate) fn is_near(self) -> bool {
        self.level <= SEGMENT_BITS
    }

    /// Where an item's bits are, if it is of this sieve.
    #[inline]
    pub(crate) fn segment(self, hash: Hash) -> Segment<'m> {
        let line = (hash.first() / WORDS) & ((1 << self.level) - 1);
        match line >> SEGMENT_BITS {
            0 => self.near,
            other => self.far(other),
        }
    }

    /// Whether it lets an item pass. False is certain.
    pub(crate) fn passes(self, item: Item) -> bool {
        self.segment(item.hash).kinds(item.hash).0 & item.kind != 0
    }

    /// Another segment than the first: of a sieve of more than a million names.
    #[cold]
    fn far(self, i: u32) -> Segment<'m> {
        Sieve::nth(self.mem, self.root, self.of, self.table, self.level, i)
    }

    /// Sets the bits of those of a form's items that are of this sieve; how many were not set, of
    /// each item.
    #[inline(always)]
    fn mark(self, form: &Form) -> [u32; 2] {
        let (items, count) = form.items(self.of);
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

    /// Lets pass what an entry of the table of forms leads to.
    fn mark_head(self, entry: Entry) {
        if let Some(head) = entry.head() {
            let form = Form::of_record(self.root.seed(), Record::new(self.mem, head));
            self.mark(&form.expect("what a form leads to has one"));
        }
    }
}

/// What came of letting a form pass.
pub(crate) struct Passed {
    /// No entity of this form was there.
    pub(crate) is_new: bool,
    /// Which sieves ask for [`Image::tend_sieves`].
    tend: [bool; 2],
}

const BOTH: [Sifted; 2] = [Sifted::Words, Sifted::Windows];

/// Makes empty sieves of one line in a new image.
///
/// # Panics
/// If there is no memory for them; a fresh chunk 0 has it.
pub(crate) fn format(mem: &Memory) {
    for of in BOTH {
        let line = crate::records::record::planned(alloc::take(mem, 1)).get();
        mem.span(line).zero(1);
        Root::new(mem).set_segment(of, Table::Now, 0, line);
    }
}

impl<'m> Image<'m> {
    #[inline]
    pub(crate) fn sieve(self, of: Sifted) -> Sieve<'m> {
        Sieve::new(self.mem(), of, Table::Now)
    }

    /// An entity of that form comes into the filter. Before it does: a sieve that did not let its
    /// name pass, or its first word, knows that it is the first of its form.
    pub(crate) fn let_pass(self, form: &Form) -> Passed {
        let (word, tend_words) = self.let_one_pass(Sifted::Words, form);
        let (window, tend_windows) = self.let_one_pass(Sifted::Windows, form);
        Passed { is_new: word | window, tend: [tend_words, tend_windows] }
    }

    /// Whether its first item did not pass, and whether there is something to be done.
    // Always inline: which of the sieves it is decides most of it.
    #[inline(always)]
    fn let_one_pass(self, of: Sifted, form: &Form) -> (bool, bool) {
        let root = self.root();
        let [now, next] = [Table::Now, Table::Next].map(|table| root.sieve(of, table));
        let [first, second] = Sieve::of_level(root, of, Table::Now, now.level).mark(form);
        if next.swept().is_some() {
            Sieve::of_level(root, of, Table::Next, next.level).mark(form);
        }
        let is_full = of.is_full(now.level, now.bits + first + second);
        (first > 0, next.segments > 0 || is_full)
    }

    /// Goes on with other sieves where these are full, once the form is in the filter. So many
    /// single lines stay available.
    #[inline]
    pub(crate) fn tend_sieves(self, passed: &Passed, later: usize) {
        for (of, tend) in BOTH.into_iter().zip(passed.tend) {
            if tend {
                self.tend_sieve(of, later);
            }
        }
    }

    /// Begins to fill another sieve, as this one is full, or goes on with it: two of three entities
    /// do without.
    #[inline(never)]
    fn tend_sieve(self, of: Sifted, later: usize) {
        let root = self.root();
        let now = root.sieve(of, Table::Now);
        let mut next = root.sieve(of, Table::Next);
        if next.segments == 0 {
            // A form has two items for that of windows at most, and one for that of words. If those
            // there are would fill less than half of it, much is out of date.
            let most = match of {
                Sifted::Windows => root.count(Counter::Entities) * 2,
                Sifted::Words => root.count(Counter::Forms),
            };
            let grows = most * 2 > of.items(now.level);
            if grows && now.level == of.most_level() {
                return;
            }
            next.level = if grows { of.next_level(now.level) } else { now.level };
        }
        let (lines, segments) = shape(next.level);
        if next.segments < segments {
            // One at a time: to clear 2 MiB takes a third of a millisecond.
            let Some(line) = alloc::take_run(self.mem(), lines, later) else { return };
            self.mem().span(line.get()).zero(lines);
            root.set_segment(of, Table::Next, next.segments, line.get());
            next.segments += 1;
            root.set_sieve(of, Table::Next, next);
        }
        if next.segments == segments {
            self.sweep(of);
        }
    }

    /// Fills the next sieve from some buckets more; after the last it takes the place of this.
    fn sweep(self, of: Sifted) {
        let (filter, root) = (self.forms(), self.root());
        let from = root.sieve(of, Table::Next).swept;
        let buckets = filter.geometry().buckets();
        let to = buckets.min(from + SWEPT);
        let sieve = Sieve::new(self.mem(), of, Table::Next);
        for bucket in from..to {
            filter.read(bucket).into_iter().for_each(|entry| sieve.mark_head(entry));
        }
        // The next entity's turn reads these.
        for bucket in to..buckets.min(to + SWEPT) {
            let heads = filter.read(bucket).into_iter().filter_map(Entry::head);
            heads.for_each(|head| self.mem().prefetch(head.line()));
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
        self.root().sieve(of, Table::Next).swept()
    }

    /// A form's entry has moved; if it went where a next sieve was filled from already, that
    /// would not meet it any more.
    pub(crate) fn follow(self, entry: Entry, from: u32, to: u32) {
        if self.table() == crate::memory::tables::Table::Forms {
            for of in BOTH {
                if self.swept(of).is_some_and(|swept| to < swept && from >= swept) {
                    Sieve::new(self.mem(), of, Table::Next).mark_head(entry);
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "sieve_tests.rs"]
mod tests;
