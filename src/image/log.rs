//! The log of a load: a chain of segments in shared memory, freed when the load ends, or when the log has lost a
//! change.
//!
//! capture/log_record.rs writes the segments and takes them out again, builds/catch_up.rs applies them. Under the
//! image's lock only links change; memory is freed outside.

#![expect(unsafe_code, reason = "shared memory")]

use crate::image::chunks;
use crate::image::control::Control;
use crate::image::slot::Slot;
use crate::pg::contain;
use crate::pg::contain::Unbroken;
use std::sync::atomic::Ordering::SeqCst;

/// Ends a load for want of memory: frees its log, which has become useless. The builder notices.
pub fn run_short(control: &Control, index: usize, load: u64) {
    control.slot(index).log_short.store(load, SeqCst);
    control.entry(index).lose_log();
    discard(control, index, load);
}

/// Frees the log of a load that has lost a change. The first process that notices calls it.
pub fn discard(control: &Control, index: usize, load: u64) {
    let slot = control.slot(index);
    if slot.log.load(SeqCst) == 0 {
        return;
    }
    let _unbroken = Unbroken::enter();
    let token = slot.write(|_| if slot.loading.load(SeqCst) == load { unlink(slot) } else { 0 });
    contain::attempt(|| free(control, token, |_| ()));
}

/// Takes the log out of its slot. Called under the image's lock.
pub fn unlink(slot: &Slot) -> u64 {
    slot.log_bytes.store(0, SeqCst);
    slot.log.swap(0, SeqCst)
}

/// Passes each segment of an unlinked log to `each`, newest first, and frees it. May raise.
pub fn free(control: &Control, mut token: u64, mut each: impl FnMut(&[u8])) {
    while token != 0 {
        let Some(base) = control.memory(token).map(|base| base.as_ptr().cast::<u64>()) else { return };
        // SAFETY: capture() filled and linked the segment; once it is out of the log, no other process reads or frees
        // it.
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
