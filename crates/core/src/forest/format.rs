//! Makes an empty image, and opens an existing one.

use crate::filter::table::Filter;
use crate::memory::chunk::lines_of;
use crate::memory::error::Error;
use crate::memory::flat::Memory;
use crate::memory::image::Image;
use crate::memory::root::{FIRST_LINE, LAYOUT, MAX_LINES, Root};
use crate::memory::tables::Table;

impl<'m> Image<'m> {
    /// Writer: writes an empty image into chunk 0, which must be mapped. The seed should be random, so that no user can
    /// construct colliding names.
    ///
    /// # Errors
    /// [`Error::Unmapped`] without chunk 0.
    pub fn format(mem: &'m Memory, seed: u64) -> Result<Image<'m>, Error> {
        if mem.mapped() == 0 {
            return Err(Error::Unmapped { used: 1, mapped: 0 });
        }
        let root = Root::format(mem, seed);
        Filter::new(root, Table::Names).format();
        Filter::new(root, Table::FoldedNames).format();
        Filter::new(root, Table::Forms).format();
        root.sign();
        Ok(Image::of(root))
    }

    /// Reader: the image in a memory. Only chunk 0 need be mapped. Before using more than its addresses,
    /// map as many chunks as [`Image::chunks`] says.
    ///
    /// # Errors
    /// [`Error::Unmapped`] without chunk 0, [`Error::NotAnImage`], [`Error::Layout`].
    pub fn open(mem: &'m Memory) -> Result<Image<'m>, Error> {
        if mem.mapped() == 0 {
            return Err(Error::Unmapped { used: 1, mapped: 0 });
        }
        let root = Root::new(mem);
        if !root.is_signed() {
            return Err(Error::NotAnImage);
        }
        if root.layout() != LAYOUT {
            return Err(Error::Layout { found: root.layout() });
        }
        Ok(Image::of(root))
    }
}

/// Three pages.
const _: () = assert!(lines_of(0) >= FIRST_LINE + 3 * MAX_LINES);
