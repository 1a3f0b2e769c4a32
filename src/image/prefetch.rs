//! An image's next chunk before it is needed: taken by the launcher (builds/launcher.rs), so that no writer waits for the kernel to clear a new
//! segment of dynamic shared memory. Segments double; one of 64 MB takes 33 ms.
//!
//! A flush that leaves little room says so, once, and goes on; the launcher is woken and does what area::ensure does for anybody. Where
//! there is none (not preloaded), or it is late, the writer that needs the chunk takes it as ever.

#![expect(unsafe_code, reason = "wakes another process")]

use crate::image::control::Control;
use cftrag_core::{Image, MAX_CHUNKS, chunk_bytes};
use pgrx::pg_sys;
use std::sync::atomic::Ordering::SeqCst;

/// A chunk is taken when the room left is this part of it: of 4 MiB some 6,000 rows, of which single commits take 100 ms at least.
const PART: usize = 4;

/// Whether the image should have its next chunk soon.
pub fn is_short(image: Image<'_>) -> bool {
    image.chunks() < MAX_CHUNKS && image.free_bytes() < room(image)
}

pub fn room(image: Image<'_>) -> usize {
    chunk_bytes(image.chunks()) / PART
}

/// Asks the launcher for the next chunk of that slot's image, unless it is asked already. Not under a lock; cannot fail.
pub fn ask(control: &Control, index: usize) {
    let launcher = control.launcher.load(SeqCst);
    if launcher != 0 && control.ahead.compare_exchange(0, index as u32 + 1, SeqCst, SeqCst).is_ok() {
        // SAFETY: process numbers are below the array's length; the latch of whatever process has it may be set at any time.
        unsafe { pg_sys::SetLatch(&raw mut (*(*pg_sys::ProcGlobal).allProcs.add(launcher as usize - 1)).procLatch) };
    }
}
