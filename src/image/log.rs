//! The log of a load, as a chain of segments in shared memory: given back when the load is over, or when it has lost something.
//!
//! capture/log_record.rs writes what is in it, builds/catch_up.rs reads it. Under the image's lock only links change; memory is freed outside.

#![expect(unsafe_code, reason = "shared memory")]

use crate::image::chunks;
use crate::image::control::Control;
use crate::image::slot::Slot;
use crate::pg::contain;
use crate::pg::contain::Unbroken;
use std::sync::atomic::Ordering::SeqCst;

/// Ends a load for want of memory: what its log has noted so far is of no use, and is freed. The builder notices.
pub fn run_short(control: &Control, index: usize, load: u64) {
    let slot = &control.slots[index];
    slot.log_short.store(load, SeqCst);
    slot.log_lost.store(load, SeqCst);
    discard(control, index, load);
}

/// Frees the log of a load that has lost something, whoever notices it first.
pub fn discard(control: &Control, index: usize, load: u64) {
    let slot = &control.slots[index];
    if slot.log.load(SeqCst) == 0 {
        return;
    }
    let _unbroken = Unbroken::enter();
    let token = slot.write(|_| if slot.loading.load(SeqCst) == load { unlink(slot) } else { 0 });
    contain::attempt(|| free(control, token, |_| ()));
}

/// Takes the log out of its slot. Under the image's lock.
pub fn unlink(slot: &Slot) -> u64 {
    slot.log_bytes.store(0, SeqCst);
    slot.log.swap(0, SeqCst)
}

/// Hands out and frees each segment of a log that was taken out, newest first. May raise.
pub fn free(control: &Control, mut token: u64, mut each: impl FnMut(&[u8])) {
    while token != 0 {
        let base = chunks::address(control, token).cast::<u64>();
        // SAFETY: a segment that capture() filled and linked; nobody else reads or frees it once it is out of the log.
        let (next, bytes) = unsafe {
            let len = base.add(1).read() as usize;
            (base.read(), std::slice::from_raw_parts(base.cast::<u8>(), len))
        };
        each(bytes);
        let len = bytes.len();
        chunks::release(control, token, len);
        token = next;
    }
}
