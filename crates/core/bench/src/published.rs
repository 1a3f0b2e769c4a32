//! The published C++ filter, with the same hash function as all others here. Its calls are not inlined, so
//! `plain_called` is `plain` without inlining.

use std::ffi::c_void;

use xxhash_rust::xxh3::xxh3_64_with_seed;

unsafe extern "C" {
    fn published_new(names: usize) -> *mut c_void;
    fn published_free(filter: *mut c_void);
    fn published_add(filter: *mut c_void, hash: u64) -> bool;
    fn published_has(filter: *const c_void, hash: u64) -> bool;
}

/// A filter of 12-bit entries, in buckets of four.
pub struct Published(*mut c_void);

impl Published {
    /// A filter of `n` names.
    pub fn of(names: impl Iterator<Item = String>, n: usize) -> Published {
        // SAFETY: makes a filter, which `Published` alone owns until `drop` frees it.
        let published = Published(unsafe { published_new(n) });
        for name in names {
            let hash = xxh3_64_with_seed(name.as_bytes(), 1);
            // SAFETY: made by `published_new` and not freed.
            assert!(unsafe { published_add(published.0, hash) }, "the filter has room");
        }
        published
    }

    #[inline]
    pub fn may_have(&self, name: &[u8]) -> bool {
        let hash = xxh3_64_with_seed(name, 1);
        // SAFETY: made by `published_new` and not freed; the call reads only.
        unsafe { published_has(self.0, hash) }
    }
}

impl Drop for Published {
    fn drop(&mut self) {
        // SAFETY: made by `published_new`, freed once.
        unsafe { published_free(self.0) };
    }
}
