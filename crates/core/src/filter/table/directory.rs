//! Where a table's pages are: a tree of nodes of one line.
//!
//! ```text
//!   up to 16 pages     root's node --> page
//!   up to 256 pages    root's node --> node --> page
//!   ...                                              each arrow: one of 16 words, 4 bits of the page's number
//! ```
//!
//! The tree grows at its root: when 16, 256, ... pages fill it, the root's node is copied to a new line, and leads to
//! that and to a second one. A process follows the arrows once for each page: see `memory/flat/known.rs`.

use crate::filter::table::Filter;
use crate::memory::alloc;
use crate::memory::casts::index;
use crate::memory::root::{Field, Root};
use crate::memory::tables::{MOST_PAGES_BITS, Table};
use crate::records::record::planned;

/// Words of a node, as a power of two.
const NODE_BITS: u32 = 4;
/// The most nodes that one page adds: 16^4 pages fill the root's node for the fourth time.
pub(crate) const MOST_NODES: u32 = MOST_PAGES_BITS / NODE_BITS + 1;

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
}

/// How many bits of a page's number the root's node leaves to the nodes below it, if there are so many pages.
fn below_root(pages: u32) -> u32 {
    let last = pages.saturating_sub(1).max(1);
    last.ilog2() / NODE_BITS * NODE_BITS
}

/// The word of a node that leads to a page, if the nodes below have so many bits of its number.
fn at(page: u32, below: u32) -> usize {
    index(page >> below & ((1 << NODE_BITS) - 1)) * 4
}

/// The nodes that a new page adds.
pub(crate) fn nodes_for(page: u32) -> u32 {
    if page == 0 {
        return 0;
    }
    let begun = page.trailing_zeros() / NODE_BITS;
    begun + u32::from(begun > 0 && page == 1 << (begun * NODE_BITS))
}

impl Filter<'_> {
    /// The first line of a page.
    pub(crate) fn page(self, page: u32) -> u32 {
        let (line, at) = self.page_place(page, &mut |_| true).expect("nothing is refused");
        self.mem().line(line).u32(at)
    }

    /// The word that has the first line of a page. Calls `node` with each node that begins with this page, before it is
    /// read; none if `node` refuses it.
    pub(crate) fn page_place(
        self,
        page: u32,
        node: &mut dyn FnMut(u32) -> bool,
    ) -> Option<(u32, usize)> {
        let (mut line, mut below) = (Root::directory(self.table()), below_root(self.pages()));
        while below > 0 {
            line = self.mem().line(line).u32(at(page, below));
            if page.trailing_zeros() >= below && !node(line) {
                return None;
            }
            below -= NODE_BITS;
        }
        Some((line, at(page, 0)))
    }

    /// Adds a page, which is at that line. The nodes it needs, [`nodes_for`] it, are planned.
    pub(super) fn note_page(self, first: u32) {
        let (mem, page) = (self.mem(), self.pages());
        let new_node = || {
            let line = planned(alloc::take(mem, 1)).get();
            mem.span(line).zero(1);
            line
        };
        let (mut line, mut below) = (Root::directory(self.table()), below_root(page + 1));
        if below > below_root(page) {
            let lower = new_node();
            for at in (0..crate::memory::chunk::LINE_BYTES).step_by(4) {
                mem.line(lower).set_u32(at, mem.line(line).u32(at));
                mem.line(line).set_u32(at, 0);
            }
            mem.line(line).set_u32(0, lower);
        }
        while below > 0 {
            if page.trailing_zeros() >= below {
                mem.line(line).set_u32(at(page, below), new_node());
            }
            line = mem.line(line).u32(at(page, below));
            below -= NODE_BITS;
        }
        mem.line(line).set_u32(at(page, 0), first);
        self.root().set(self.table().fields()[2], page + 1);
    }
}
