//! Gives the memory of a failed build back to the system, so that others find it: parallel queries use the same /dev/shm.
//!
//! A DSA area gives a segment back only when the last of its small objects is freed, not after a large one such as a chunk
//! (dsa.c, `destroy_superblock`). So this takes all free memory in small objects, and frees them. Nobody else has mapped
//! the segments of a build that failed; those of images that served are kept for the next ones, since the sessions that
//! have mapped them would keep them from the system anyway.

#![expect(unsafe_code, reason = "dynamic shared memory")]

use crate::image::chunks::area;
use crate::image::control::Control;
use crate::pg::contain;
use crate::pg::contain::Unbroken;
use crate::pg::lwlock::EXCLUSIVE;
use pgrx::pg_sys;
use std::cell::Cell;

/// The largest object that DSA allocates from a superblock.
const SMALL: usize = 8192;

/// Gives back segments in which nothing is allocated. One may stay, which holds DSA's own notes: 8 MB of 22, and no more
/// after the next failure.
pub fn trim(control: &Control) {
    let _unbroken = Unbroken::enter();
    // The last object that is allocated here, also after an ERROR (a segment that cannot be mapped); 0: none.
    let last = Cell::new(0);
    let done = contain::attempt(|| {
        let area = area(control);
        // Nobody may allocate meanwhile, since nothing would be free.
        control.allocating.with(EXCLUSIVE, || {
            // SAFETY: our area. No segment is added while the limit is below what there is.
            unsafe {
                pg_sys::dsa_set_size_limit(area, 1);
                allocate_all(area, &last);
                give_back(area, &last);
            }
        });
    });
    if done.is_none() {
        contain::attempt(|| {
            let area = area(control);
            // SAFETY: our area, and objects of ours.
            control.allocating.with(EXCLUSIVE, || unsafe { give_back(area, &last) });
        });
    }
}

/// Allocates all that is free; each object begins with the dsa_pointer of the one before.
///
/// # Safety
/// An area that may not grow.
unsafe fn allocate_all(area: *mut pg_sys::dsa_area, last: &Cell<u64>) {
    loop {
        // SAFETY: the caller's promise; an object just allocated has an address, and room for a number.
        unsafe {
            let object = pg_sys::dsa_allocate_extended(area, SMALL, pg_sys::DSA_ALLOC_NO_OOM as i32);
            if object == 0 {
                return;
            }
            pg_sys::dsa_get_address(area, object).cast::<u64>().write(last.get());
            last.set(object);
        }
    }
}

/// Lets the area grow again, and frees the objects.
///
/// # Safety
/// Objects of `allocate_all`.
unsafe fn give_back(area: *mut pg_sys::dsa_area, last: &Cell<u64>) {
    // SAFETY: the caller's promise.
    unsafe {
        pg_sys::dsa_set_size_limit(area, usize::MAX);
        while last.get() != 0 {
            let object = last.get();
            last.set(pg_sys::dsa_get_address(area, object).cast::<u64>().read());
            pg_sys::dsa_free(area, object);
        }
        pg_sys::dsa_trim(area);
    }
}
