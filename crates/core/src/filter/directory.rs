//! Where the root keeps the fields of a table of the filter, and how large the table's directory is.

use crate::memory::root::{DIRECTORIES, FOLDED_DIRECTORIES, Field};
use crate::memory::tables::{PAGE_BITS, Table};

/// Pages in a directory page, as a power of two.
pub(crate) const DIRECTORY_BITS: u32 = 9;
/// The largest level for which the directories have pages.
pub(crate) const MOST_LEVEL: u32 = FOLDED_DIRECTORIES.ilog2() + DIRECTORY_BITS + PAGE_BITS;

impl Table {
    /// The fields of the table's level, split pointer and number of pages.
    #[inline]
    pub(crate) const fn fields(self) -> [Field; 3] {
        match self {
            Table::Names => [Field::Level, Field::Split, Field::Pages],
            Table::FoldedNames => [Field::FoldedLevel, Field::FoldedSplit, Field::FoldedPages],
            Table::Forms => [Field::FormsLevel, Field::FormsSplit, Field::FormsPages],
        }
    }

    /// Pages that its directory has room for.
    pub(crate) const fn most_pages(self) -> u32 {
        let directories = match self {
            Table::Names => DIRECTORIES,
            Table::FoldedNames | Table::Forms => FOLDED_DIRECTORIES,
        };
        directories << DIRECTORY_BITS
    }
}
