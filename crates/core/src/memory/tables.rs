//! The three tables of the filter: the sizes of their pages and directories.

/// Buckets of a page, as a power of two.
pub(crate) const PAGE_BITS: u32 = 7;
/// The most pages of the folded names, and of the forms; names have fewer: 2^18 pages for 16 GiB of records.
pub(crate) const MOST_PAGES_BITS: u32 = 19;
/// The largest level of a table.
pub(crate) const MOST_LEVEL: u32 = MOST_PAGES_BITS + PAGE_BITS;
/// Lines of a page without tails; in a page with tails, the line where they begin.
pub(crate) const TAILS_AT: usize = 48;
/// Lines of a page with tails.
pub(crate) const PAGE_LINES: usize = 64;
/// An empty table has one page.
pub(crate) const FIRST_LEVEL: u32 = PAGE_BITS;

/// What a table holds. The type is as wide as the words beside it in a `Filter`: reading a word of which one byte was
/// just written stalls the processor until all stores before it are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Table {
    /// Names of entities and trees. Its buckets have no tails.
    Names,
    /// Folded names and prefixes.
    FoldedNames,
    /// Other forms of names, by which texts find what they write otherwise: see `folded/forms.rs`.
    Forms,
}

impl Table {
    /// Pages that the table may have.
    pub(crate) const fn most_pages(self) -> u32 {
        match self {
            Table::Names => 1 << (MOST_PAGES_BITS - 1),
            Table::FoldedNames | Table::Forms => 1 << MOST_PAGES_BITS,
        }
    }

    #[inline]
    const fn has_tails(self) -> bool {
        !matches!(self, Table::Names)
    }

    /// Lines of a page. A page of names has an unused line at its end: most records have two lines, and if the number
    /// here were even, all would begin on even lines and share half of a cache (1.35 times hashbrown's time for a name
    /// among a million, 1.17 times with the unused line).
    #[inline]
    pub(crate) const fn page_lines(self) -> u32 {
        (if self.has_tails() { PAGE_LINES } else { TAILS_AT + 1 }) as u32
    }
}
