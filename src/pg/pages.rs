//! Gives pages of shared memory back to the system, and takes them again.
//!
//! A segment of dynamic shared memory stays while any process has it mapped, and so would its memory. But the kernel
//! frees the pages in it that nobody needs, whoever has mapped them: `MADV_REMOVE` makes a hole. Where a page of a hole
//! is used again and the system is full, the process dies (SIGBUS), so [`take`] asks for pages first. Kernels that
//! cannot answer (before Linux 5.14) and other systems keep the memory until the segment goes.

#![expect(unsafe_code, reason = "system calls")]

use std::ptr::NonNull;
use std::sync::LazyLock;

/// `MADV_POPULATE_WRITE`, which the libc crate does not have for every target.
#[cfg(target_os = "linux")]
const POPULATE_WRITE: i32 = 23;

/// Whether the kernel knows both requests. With no address and no length, it answers just that.
#[cfg(target_os = "linux")]
static POSSIBLE: LazyLock<bool> = LazyLock::new(|| {
    // SAFETY: no memory is concerned.
    let knows = |request| unsafe { libc::madvise(std::ptr::null_mut(), 0, request) } == 0;
    knows(POPULATE_WRITE) && knows(libc::MADV_REMOVE)
});

/// Makes sure that the bytes are there to be written. False if the system has no memory for them.
pub fn take(start: NonNull<u8>, bytes: usize) -> bool {
    #[cfg(target_os = "linux")]
    if *POSSIBLE && let Some((first, len)) = whole_pages(start, bytes) {
        // SAFETY: pages of an allocation of the caller's.
        let done = unsafe { libc::madvise(first, len, POPULATE_WRITE) } == 0;
        let error = std::io::Error::last_os_error().raw_os_error();
        // EINTR, EAGAIN: not a shortage. Only what says that there is no memory is one.
        return done || ![Some(libc::ENOMEM), Some(libc::EFAULT)].contains(&error);
    }
    true
}

/// Gives the pages that lie wholly within the bytes back to the system. Their content is lost.
///
/// # Safety
/// Shared memory that nobody uses, and nobody will before [`take`].
pub unsafe fn give_back(start: NonNull<u8>, bytes: usize) {
    #[cfg(target_os = "linux")]
    if *POSSIBLE && let Some((first, len)) = whole_pages(start, bytes) {
        // SAFETY: the caller's promise. If the memory is of a kind that has no holes, nothing happens.
        unsafe { libc::madvise(first, len, libc::MADV_REMOVE) };
    }
}

#[cfg(target_os = "linux")]
fn whole_pages(start: NonNull<u8>, bytes: usize) -> Option<(*mut libc::c_void, usize)> {
    // SAFETY: asks for a constant.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
    let before = start.as_ptr().align_offset(page);
    let len = bytes.checked_sub(before)? / page * page;
    (len > 0).then(|| (start.as_ptr().wrapping_add(before).cast(), len))
}
