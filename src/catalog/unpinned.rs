//! Whether a page in shared buffers is as it was, without a pin or a lock: for readers that would all write the same buffer's header.
//!
//! What is compared is the page's LSN, which every change of a logged relation moves before its transaction is visible to anybody. So for
//! a reader whose snapshot was taken before it looks here, the same LSN means that no transaction the snapshot sees has changed the page.
//! Half-done changes and hint bits do not matter here: no snapshot sees them yet.
//!
//! The buffer may be given to another page at any moment. Its tag and BM_VALID are compared before and after: at the first look the
//! buffer held the page as it is now, so nothing older can be read from it later. (Another page that one WAL record changed together
//! with ours has the same LSN; it would have to come and go again between the two looks.)

#![expect(unsafe_code, reason = "shared buffers")]

use crate::pg::compat::{File, plain};
use pgrx::pg_sys;
use std::mem::{offset_of, size_of};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Acquire;

/// The words of a buffer's tag: tablespace, database, file, fork, block.
const TAG: usize = 5;

const _: () = assert!(size_of::<pg_sys::BufferTag>() == 4 * TAG && offset_of!(pg_sys::BufferDesc, tag) == 0);

const STATE: usize = offset_of!(pg_sys::BufferDesc, state) / size_of::<u32>();

/// PageHeaderData.pd_lsn: high and low word.
const _: () = assert!(offset_of!(pg_sys::PageHeaderData, pd_lsn) == 0);

/// A page's LSN, and the buffer that has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    buffer: pg_sys::Buffer,
    lsn: u64,
}

impl Seen {
    /// # Safety
    /// Under a guard; a shared buffer, pinned and locked.
    pub unsafe fn of(buffer: pg_sys::Buffer) -> Self {
        // SAFETY: the caller's promise.
        Self { buffer, lsn: unsafe { plain::BufferGetLSNAtomic(buffer) } }
    }

    /// Whether the page, a block of that file, is there and was not changed by anybody whom a snapshot taken before sees.
    pub fn is_unchanged(self, file: &File, block: u32) -> bool {
        // SAFETY: the buffer was pinned once, so it is one of shared memory's, which is mapped for the life of the process. Words are
        // read that others may be writing.
        unsafe {
            let number = self.buffer as usize - 1;
            let header = (&raw const (*pg_sys::BufferDescriptors.add(number)).bufferdesc).cast::<u32>();
            let page = pg_sys::BufferBlocks.add(number * pg_sys::BLCKSZ as usize).cast::<u32>();
            let read = |word: *const u32| AtomicU32::from_ptr(word.cast_mut()).load(Acquire);
            let wanted = tag(file, block);
            let here = || {
                read(header.add(STATE)) & pg_sys::BM_VALID != 0 && (0..TAG).all(|i| read(header.add(i)) == wanted[i])
            };
            here() && (u64::from(read(page)) << 32 | u64::from(read(page.add(1)))) == self.lsn && here()
        }
    }
}

fn tag(file: &File, block: u32) -> [u32; TAG] {
    let fork = pg_sys::ForkNumber::MAIN_FORKNUM as u32;
    #[cfg(feature = "pg15")]
    return [u32::from(file.spcNode), u32::from(file.dbNode), u32::from(file.relNode), fork, block];
    #[cfg(not(feature = "pg15"))]
    return [u32::from(file.spcOid), u32::from(file.dbOid), u32::from(file.relNumber), fork, block];
}
