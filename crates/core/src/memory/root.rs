//! The root of an image: the first lines of chunk 0, at fixed places.
//!
//! ```text
//!   line   what
//!      0   magic u64, layout u32, mutating u32, seed u64, epoch u64,
//!          chunks u32, bump u32, level u32, split u32, pages u32, cool u32, oldest u32, newest u32
//!      1   entities, trees, edge_rows, versions, kicks, splits, free_lines, folded names   (u64 each)
//!    2-9   free lists: for 1 to 64 lines: first u32, count u32
//!  10-12   the directories of names, of folded names, of forms: a node each, see filter/table/directory.rs
//!     13   the table of folded names: level u32, split u32, pages u32; moves u32
//!     14   the table of forms: level u32, split u32, pages u32; the language u32; forms u64;
//!          the first free half of a line of words u32; parts u64; the xids that ran at the build: first line u32, count u32
//!  15-16   the addresses of the first 16 chunks, u64 each; chunk 15 has the others
//!     17   the first line that is ever allocated
//! ```
//!
//! Only this file knows these places. The whole crate may call it.

use crate::memory::casts::{index, wide, word};
use crate::memory::chunk::{self, LINE_BYTES, WITH_ADDRESSES, lines_of};
use crate::memory::flat::{FirstLines, Line, Memory};
use crate::memory::id::{VersionId, to_word};
use crate::memory::tables;

/// The layout number; it is increased whenever a byte of the image changes its meaning.
pub const LAYOUT: u32 = 19;
/// "cftrag", then "IF" for an image of the forest.
const MAGIC: u64 = u64::from_be_bytes(*b"cftragIF");
/// The largest allocation, in lines: a page of folded names. Also the number of free lists.
pub(crate) const MAX_LINES: u32 = 64;

const COUNTERS: u32 = 1;
const FREE_LISTS: u32 = 2;
const DIRECTORIES: u32 = 10;
const FOLDED_NAMES: u32 = 13;
const FORMS: u32 = 14;
const RUNNING: usize = 40;
const ADDRESSES: u32 = 15;
/// The first line the allocator hands out.
pub(crate) const FIRST_LINE: u32 = 17;

const _: () = assert!(FREE_LISTS + MAX_LINES / 8 == DIRECTORIES && DIRECTORIES + 3 == FOLDED_NAMES);
const _: () = assert!(index(FIRST_LINE - ADDRESSES) * LINE_BYTES == (WITH_ADDRESSES + 1) * 8);
const _: () = assert!(FIRST_LINE + MAX_LINES < lines_of(0));

/// A counter of line 1, or of the line of the forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counter {
    Entities,
    Trees,
    EdgeRows,
    Versions,
    Kicks,
    Splits,
    FreeLines,
    /// Entries of the filter that are folded names or prefixes.
    FoldedNames,
    /// Entries of the table of forms.
    Forms,
    /// Parts of names that list several things.
    Parts,
}

impl Counter {
    /// The offset of the counter, as if the line of the forms came right after line 1.
    const fn at(self) -> usize {
        match self {
            Counter::Entities => 0,
            Counter::Trees => 8,
            Counter::EdgeRows => 16,
            Counter::Versions => 24,
            Counter::Kicks => 32,
            Counter::Splits => 40,
            Counter::FreeLines => 48,
            Counter::FoldedNames => 56,
            Counter::Forms => LINE_BYTES + 16,
            Counter::Parts => LINE_BYTES + 32,
        }
    }
}

/// A word of line 0, of that of the folded names, or of that of the forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// Chunks that may be allocated from.
    Chunks,
    /// The first line never handed out.
    Bump,
    /// The table of names has `2^level + split` buckets.
    Level,
    /// The next bucket of the table of names to be split.
    Split,
    /// Pages of the table of names.
    Pages,
    /// The table of folded names has `2^level + split` buckets.
    FoldedLevel,
    /// The next bucket of the table of folded names to be split.
    FoldedSplit,
    /// Pages of the table of folded names.
    FoldedPages,
    /// The table of forms has `2^level + split` buckets.
    FormsLevel,
    /// The next bucket of the table of forms to be split.
    FormsSplit,
    /// Pages of the table of forms.
    FormsPages,
    /// The language by whose rules forms are made: see `folded/normal.rs`.
    Language,
    /// The first half of a line that is free for a word: see `vocabulary/room.rs`.
    FreeHalf,
    /// The next bucket to be ordered by temperature.
    Cool,
    /// The version first in the queue.
    Oldest,
    /// The version last in the queue.
    Newest,
    /// Changes whenever a row is unlinked, which may move slots of its lists.
    Moves,
}

impl Field {
    /// The offset of the field, as if the line of the folded names and that of the forms came right after line 0.
    const fn at(self) -> usize {
        match self {
            Field::FoldedLevel => LINE_BYTES,
            Field::FoldedSplit => LINE_BYTES + 4,
            Field::FoldedPages => LINE_BYTES + 8,
            Field::Moves => LINE_BYTES + 12,
            Field::FormsLevel => 2 * LINE_BYTES,
            Field::FormsSplit => 2 * LINE_BYTES + 4,
            Field::FormsPages => 2 * LINE_BYTES + 8,
            Field::Language => 2 * LINE_BYTES + 12,
            Field::FreeHalf => 2 * LINE_BYTES + 24,
            Field::Chunks => 32,
            Field::Bump => 36,
            Field::Level => 40,
            Field::Split => 44,
            Field::Pages => 48,
            Field::Cool => 52,
            Field::Oldest => 56,
            Field::Newest => 60,
        }
    }
}

/// The fields of the root, in a memory whose chunk 0 is mapped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Root<'m> {
    mem: &'m Memory,
    lines: FirstLines<'m>,
}

impl<'m> Root<'m> {
    #[inline]
    pub(crate) fn new(mem: &'m Memory) -> Root<'m> {
        Root { mem, lines: mem.first_lines() }
    }

    #[inline]
    pub(crate) fn mem(self) -> &'m Memory {
        self.mem
    }

    /// Writes an empty root, without the magic: [`Root::sign`] writes that when everything else is there.
    pub(crate) fn format(mem: &'m Memory, seed: u64) -> Root<'m> {
        mem.span(0).zero(FIRST_LINE);
        let root = Root::new(mem);
        root.lines.line(0).set_u32(8, LAYOUT);
        root.lines.line(0).set_u64(16, seed);
        root.set(Field::Chunks, 1);
        root.set(Field::Bump, FIRST_LINE);
        root
    }

    pub(crate) fn sign(self) {
        self.lines.line(0).set_u64(0, MAGIC);
    }

    pub(crate) fn is_signed(self) -> bool {
        self.lines.line(0).u64(0) == MAGIC
    }

    pub(crate) fn layout(self) -> u32 {
        self.lines.line(0).u32(8)
    }

    #[inline]
    pub(crate) fn seed(self) -> u64 {
        self.lines.line(0).u64(16)
    }

    #[inline]
    pub(crate) fn epoch(self) -> u64 {
        self.lines.line(0).u64(24)
    }

    pub(crate) fn mutating(self) -> bool {
        self.lines.line(0).u32(12) != 0
    }

    /// A writer's first store (`on`), and its last. The compiler may not move other stores across; a process that dies
    /// leaves all stores before the one it died at.
    pub(crate) fn set_mutating(self, on: bool) {
        if on {
            self.lines.line(0).set_u32(12, 1);
            self.lines.line(0).set_u64(24, self.epoch().wrapping_add(1));
        }
        std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
        if !on {
            self.lines.line(0).set_u32(12, 0);
        }
    }

    #[inline]
    pub(crate) fn get(self, field: Field) -> u32 {
        let (line, at) = self.place(field);
        line.u32(at)
    }

    #[inline]
    pub(crate) fn set(self, field: Field, value: u32) {
        let (line, at) = self.place(field);
        line.set_u32(at, value);
    }

    #[inline]
    fn place(self, field: Field) -> (Line<'m>, usize) {
        let line = [0, FOLDED_NAMES, FORMS][field.at() / LINE_BYTES];
        (self.lines.line(line), field.at() % LINE_BYTES)
    }

    pub(crate) fn version(self, field: Field) -> Option<VersionId> {
        VersionId::from_word(self.get(field))
    }

    pub(crate) fn set_version(self, field: Field, version: Option<VersionId>) {
        self.set(field, to_word(version));
    }

    #[inline]
    fn counter_place(self, counter: Counter) -> (Line<'m>, usize) {
        let line = [COUNTERS, FORMS][counter.at() / LINE_BYTES];
        (self.lines.line(line), counter.at() % LINE_BYTES)
    }

    pub(crate) fn count(self, counter: Counter) -> u64 {
        let (line, at) = self.counter_place(counter);
        line.u64(at)
    }

    pub(crate) fn add(self, counter: Counter, n: usize) {
        let (line, at) = self.counter_place(counter);
        line.set_u64(at, line.u64(at).wrapping_add(wide(n)));
    }

    /// # Panics
    /// If the counter would fall below zero, which is a bug.
    pub(crate) fn subtract(self, counter: Counter, n: usize) {
        let (line, at) = self.counter_place(counter);
        let left = line.u64(at).checked_sub(wide(n));
        line.set_u64(at, left.expect("a counter counts down what it counted up"));
    }

    /// The free list of allocations of `lines` lines: its first line (0 if it is empty) and its length.
    pub(crate) fn free_list(self, lines: u32) -> (u32, u32) {
        let (line, at) = Root::free_place(lines);
        (self.lines.line(line).u32(at), self.lines.line(line).u32(at + 4))
    }

    pub(crate) fn set_free_list(self, lines: u32, first: u32, length: u32) {
        let (line, at) = Root::free_place(lines);
        self.lines.line(line).set_u32(at, first);
        self.lines.line(line).set_u32(at + 4, length);
    }

    fn free_place(lines: u32) -> (u32, usize) {
        debug_assert!((1..=MAX_LINES).contains(&lines));
        let i = lines - 1;
        (FREE_LISTS + i / 8, index(i % 8) * 8)
    }

    /// The line of the uppermost node of a table's directory.
    #[inline]
    pub(crate) const fn directory(table: tables::Table) -> u32 {
        DIRECTORIES + table as u32
    }

    /// The xids that ran at the build: the first line of their list, and how many there are. See `running.rs`.
    pub(crate) fn running(self) -> (u32, u32) {
        let line = self.lines.line(FORMS);
        (line.u32(RUNNING), line.u32(RUNNING + 4))
    }

    pub(crate) fn set_running(self, first: u32, count: u32) {
        let line = self.lines.line(FORMS);
        line.set_u32(RUNNING, first);
        line.set_u32(RUNNING + 4, count);
    }

    /// Where the address of chunk `n` is.
    pub(crate) fn address_place(self, n: usize) -> (Line<'m>, usize) {
        if n <= WITH_ADDRESSES {
            return (self.lines.line(ADDRESSES + word(n / 8)), n % 8 * 8);
        }
        let (line, at) = chunk::address_place(n);
        (self.mem.line(line), at)
    }
}
