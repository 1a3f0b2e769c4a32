//! Chunks in huge pages: one entry of the processor's address tables for 2 MB instead of 512. A text's words, or a hierarchy, are cache
//! lines far apart, and among a million entities finding their pages took longer than reading them.
//!
//! ```text
//!   the segment's file   |------- 4 kB pages -------|       | 2 MB | 2 MB | 2 MB |
//!   PostgreSQL's mapping    at any page:  collapse ->   the same bytes, in 4 kB steps
//!   a View of ours          at an address that is as far from a multiple of 2 MB as it is in the file: in steps of 2 MB
//! ```
//!
//! The kernel makes huge pages of what is there (MADV_COLLAPSE, Linux 6.1; whatever shmem_enabled says but `deny`). Asked to by builds
//! and by the launcher, before anybody else reads the chunk: 0.7 ms a MB, a tenth of a build. A writer who needs a chunk at once does
//! not ask. All of this may fail at any step, and then the pages are small ones. Segments that `huge_pages` has put into huge pages
//! already are left alone.

#![expect(unsafe_code, reason = "maps memory")]

use crate::guc;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::ops::Range;
use std::ptr::NonNull;

/// x86-64's, and ARM's with pages of 4 kB. Where they are of another size the kernel finds no use for a View, and none is lost.
const HUGE: usize = 2 << 20;

/// A second mapping of a part of a segment. What was mapped for it stays there, whatever becomes of the first.
#[derive(Debug)]
pub struct View(pub Range<usize>);

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: a mapping of our own, which its owner uses no more.
        unsafe { libc::munmap(self.0.start as *mut _, self.0.len()) };
    }
}

impl View {
    /// Asks the kernel for huge pages. The bytes stay as they are; whoever reads or writes one meanwhile may wait a millisecond.
    fn collapse(&self) {
        #[cfg(target_os = "linux")]
        // SAFETY: changes how the mapping is backed, not what is in it. It fails on older kernels, and where no such page is free.
        unsafe {
            libc::madvise(self.0.start as *mut _, self.0.len(), libc::MADV_COLLAPSE)
        };
    }
}

/// A mapping of this process: where it is, and from where on in the file.
pub struct Mapping {
    at: Range<usize>,
    offset: usize,
}

/// The segments of dynamic shared memory that are mapped here, as far as they are files in memory.
pub struct Segments(pub Vec<Mapping>);

impl Segments {
    /// For chunks of these sizes. Empty where no View is to be had of any.
    pub fn read(sizes: impl IntoIterator<Item = usize>) -> Self {
        let wanted = cfg!(target_os = "linux") && guc::HUGE_PAGES.get() && sizes.into_iter().any(|bytes| bytes >= HUGE);
        let maps = wanted.then(|| File::open("/proc/self/maps").ok()).flatten();
        Self(
            maps.into_iter()
                .flat_map(|maps| BufReader::new(maps).lines().map_while(Result::ok))
                .filter_map(|line| mapping(&line))
                .collect(),
        )
    }

    /// A view of the chunk, and its address there. None: it is too small, or the kernel does not want to.
    pub fn view(&self, base: NonNull<u8>, bytes: usize) -> Option<(View, NonNull<u8>)> {
        let at = base.addr().get();
        let Mapping { at: mapped, offset } = self.0.iter().find(|m| m.at.start <= at && at + bytes <= m.at.end)?;
        // In the file: the chunk, and with it what is beside it in the same huge pages.
        let chunk = offset + (at - mapped.start);
        let from = (chunk / HUGE * HUGE).max(*offset);
        let to = (chunk + bytes).next_multiple_of(HUGE).min(offset + mapped.len());
        if from.next_multiple_of(HUGE) + HUGE > to {
            return None;
        }
        let view = again(mapped.start + (from - offset), to - from, from % HUGE)?;
        let base = NonNull::new((view.0.start + (chunk - from)) as *mut u8)?;
        Some((view, base))
    }
}

/// Makes huge pages of a chunk that nobody reads yet.
pub fn collapse(base: NonNull<u8>, bytes: usize) {
    if let Some((view, _)) = Segments::read([bytes]).view(base, bytes) {
        view.collapse();
    }
}

/// A line of /proc/self/maps: `7f0123456000-7f0123556000 rw-s 00000000 00:1a 1234    /dev/shm/PostgreSQL.1234`
fn mapping(line: &str) -> Option<Mapping> {
    let mut fields = line.split_ascii_whitespace();
    let (at, rights, offset, path) = (fields.next()?, fields.next()?, fields.next()?, fields.nth(2)?);
    let number = |text| usize::from_str_radix(text, 16).ok();
    let (from, to) = at.split_once('-')?;
    let mapping = Mapping { at: number(from)?..number(to)?, offset: number(offset)? };
    (rights == "rw-s" && path.starts_with("/dev/shm/PostgreSQL.")).then_some(mapping)
}

/// Maps shared bytes once more, so far after a multiple of HUGE.
#[cfg(target_os = "linux")]
fn again(start: usize, bytes: usize, after: usize) -> Option<View> {
    let room = bytes + 2 * HUGE;
    let nothing = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: new addresses, of which the kernel has the choice; what is mapped over them is ours, and nobody else's. An old size of 0
    // maps the same shared pages once more (mremap(2)).
    unsafe {
        let reserved = libc::mmap(std::ptr::null_mut(), room, libc::PROT_NONE, nothing, -1, 0);
        if reserved == libc::MAP_FAILED {
            return None;
        }
        let reserved = reserved.addr();
        let at = reserved.next_multiple_of(HUGE) + after;
        let place = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        let mapped = libc::mremap(start as *mut _, 0, bytes, place, at as *mut libc::c_void) != libc::MAP_FAILED;
        if !mapped {
            libc::munmap(reserved as *mut _, room);
            return None;
        }
        if at > reserved {
            libc::munmap(reserved as *mut _, at - reserved);
        }
        libc::munmap((at + bytes) as *mut _, reserved + room - at - bytes);
        Some(View(at..at + bytes))
    }
}

#[cfg(not(target_os = "linux"))]
fn again(_: usize, _: usize, _: usize) -> Option<View> {
    None
}
