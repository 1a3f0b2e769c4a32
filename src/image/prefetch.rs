//! An image's next chunk before it is needed: taken by the launcher (launcher.rs), so that no writer waits for the kernel to clear a new
//! segment of dynamic shared memory. Segments double; one of 64 MB takes 33 ms.
//!
//! A flush that leaves little room says so, once, and goes on; the launcher is woken and does what area::ensure does for anybody. Where
//! there is none (not preloaded), or it is late, the writer that needs the chunk takes it as ever.

#![expect(unsafe_code, reason = "wakes another process")]

use crate::area;
use crate::compat;
use crate::guc;
use crate::online;
use crate::shmem::{self, Control};
use cftrag_core::{Image, MAX_CHUNKS, chunk_bytes};
use pgrx::pg_sys;
use std::sync::atomic::Ordering::SeqCst;

/// A chunk is taken when the room left is this part of it: of 4 MiB some 6,000 rows, of which single commits take 100 ms at least.
const PART: usize = 4;

/// Whether the image should have its next chunk soon.
pub fn is_short(image: Image<'_>) -> bool {
    image.chunks() < MAX_CHUNKS && image.free_bytes() < room(image)
}

fn room(image: Image<'_>) -> usize {
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

/// Takes requests from now on. Called by the launcher.
pub fn listen() {
    if let Some(control) = online::transaction(shmem::attach) {
        control.ahead.store(0, SeqCst);
        control.launcher.store(compat::process_number() as u32 + 1, SeqCst);
    }
}

/// Serves a request, if there is one. Called by the launcher after each wake-up.
pub fn serve() {
    let Some(control) = shmem::control() else { return };
    let index = match control.ahead.load(SeqCst) {
        0 => return,
        slot => slot as usize - 1,
    };
    if !online::transaction(|| take(control, index)) {
        // Nothing to be had: who asks meanwhile is not heard.
        online::rest();
    }
    control.ahead.store(0, SeqCst);
}

/// Whether the image has its next chunk, or needs none. What is for later must not use up what others need now.
fn take(control: &Control, index: usize) -> bool {
    let wanted =
        area::read(control, index, |_, image| is_short(image).then(|| (room(image), chunk_bytes(image.chunks()))));
    match wanted {
        Ok(Some((room, chunk))) => {
            let limit = guc::MEMORY_LIMIT.get() as u64 * 1024;
            control.memory_used.load(SeqCst) + chunk as u64 <= limit / 2 && area::ensure(control, index, room)
        }
        Ok(None) => true,
        Err(_) => false,
    }
}
