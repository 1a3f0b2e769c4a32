//! The addresses of the pages of the filter's tables, as this process has learned them.

use std::cell::UnsafeCell;
use std::ptr::NonNull;

use super::{Memory, Page};
use crate::memory::casts::{index, word};
use crate::memory::tables::Table;

/// The most pages that one lookup learns, which takes a few microseconds.
const LEARNED_TOGETHER: usize = 512;

/// The addresses of the first pages of a table of the filter, in the order of their numbers, as far as this process has
/// used them. A page never moves while the chunks are mapped, so it is looked up in the image's directory once.
#[derive(Debug, Default)]
pub(super) struct KnownPages(pub(super) UnsafeCell<Vec<NonNull<u8>>>);

impl KnownPages {
    pub(super) const fn new() -> KnownPages {
        KnownPages(UnsafeCell::new(Vec::new()))
    }
}

impl Memory {
    /// Reserves room for the most pages that so many lines can hold, because nothing may be allocated under a lock;
    /// `false` if there is no memory. Unused room costs only address space.
    pub(super) fn make_room_for_pages(&mut self, lines: u32) -> bool {
        [Table::Names, Table::FoldedNames, Table::Forms].into_iter().all(|table| {
            let most = index(lines / table.page_lines());
            let known = self.pages[table as usize].0.get_mut();
            known.try_reserve_exact(most.saturating_sub(known.len())).is_ok()
        })
    }

    /// A page, if its address is known.
    #[inline(always)]
    pub(crate) fn known_page(&self, table: Table, page: u32) -> Option<Page<'_>> {
        // SAFETY: a Memory is not Sync, and code with a mutable reference to the list calls nothing of this file while
        // it has it; this reference ends here.
        let known = unsafe { &*self.pages[table as usize].0.get() };
        let start = *known.get(index(page))?;
        // SAFETY: `learn_page` was given a page of that many lines there, and `clear` forgets it.
        Some(unsafe { Page::at(start, index(table.page_lines())) })
    }

    /// Finds a page in the image's directory, which `line_of` reads. Also learns pages before it, and the page itself
    /// if all pages before it are known.
    #[cold]
    pub(crate) fn learn_page(
        &self,
        table: Table,
        page: u32,
        line_of: impl Fn(u32) -> u32,
    ) -> Page<'_> {
        let found = self.page(line_of(page), index(table.page_lines()));
        let list = self.pages[table as usize].0.get();
        for _ in 0..LEARNED_TOGETHER {
            // SAFETY: as in `known_page`.
            let (len, room) = unsafe { ((*list).len(), (*list).capacity()) };
            // A damaged image may claim more pages than there are lines for them.
            if len > index(page) || len == room {
                break;
            }
            let next = self.page(line_of(word(len)), index(table.page_lines()));
            // SAFETY: no reference to the list is alive, see `known_page`; `push` has room.
            unsafe { (*list).push(next.start()) };
        }
        found
    }

    /// Forgets the addresses, because the directory will be replaced or is not trusted.
    pub(crate) fn forget_pages(&self) {
        for known in &self.pages {
            // SAFETY: no reference to the list is alive, see `known_page`.
            unsafe { (*known.0.get()).clear() };
        }
    }
}
