//! The two tables of the filter, and what each takes of the memory: the sizes of its pages and directory.

/// Buckets of a page, as a power of two.
pub(crate) const PAGE_BITS: u32 = 7;
/// Lines of a page without tails: where they begin.
pub(crate) const TAILS_AT: usize = 48;
/// Lines of a page with tails.
pub(crate) const PAGE_LINES: usize = 64;
/// An empty table has one page.
pub(crate) const FIRST_LEVEL: u32 = PAGE_BITS;

/// What a table holds. As wide as the words beside it in a `Filter`: reading a word of which one
/// byte was just written stalls a processor until all stores before it are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Table {
    /// Names of entities and trees. Its buckets have no tails.
    Names,
    /// Folded names and prefixes.
    FoldedNames,
}

impl Table {
    #[inline]
    const fn has_tails(self) -> bool {
        matches!(self, Table::FoldedNames)
    }

    /// Lines of a page. A page of names has an unused line at its end: most records have two
    /// lines, and with an even number here all would begin on even ones and share half of a
    /// cache (1.35 of hashbrown's time for a name among a million, 1.17 with it).
    #[inline]
    pub(crate) const fn page_lines(self) -> u32 {
        (if self.has_tails() { PAGE_LINES } else { TAILS_AT + 1 }) as u32
    }
}
