//! Test builds: a setting that shows memory that counts as used but belongs to no image, so that tests find leaks.

#![expect(unsafe_code, reason = "raises as PostgreSQL does")]

use crate::image::{chunks, control};
use cftrag_core::chunk_bytes;
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, pg_guard};
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::sync::atomic::Ordering::SeqCst;

/// Defines `cftrag.memory_lost`.
pub fn define_lost() {
    // SAFETY: the hook shows a number, and keeps its text.
    unsafe {
        GucRegistry::define_int_guc_with_hooks(
            c"cftrag.memory_lost",
            c"Shows the bytes that count against cftrag.memory_limit and belong to no image.",
            c"Test builds only.",
            &LOST,
            0,
            0,
            GucContext::Internal,
            GucFlags::default(),
            None,
            None,
            Some(show_lost),
        );
    }
}

/// Never read: `show_lost` computes the value shown.
static LOST: GucSetting<i32> = GucSetting::<i32>::new(0);

thread_local! {
    static SHOWN: RefCell<CString> = RefCell::default();
}

#[pg_guard]
unsafe extern "C-unwind" fn show_lost() -> *const c_char {
    let lost = control::attach().map_or(0, |control| {
        let of = |index| chunks::read(control, index, |_, image| (0..image.chunks()).map(chunk_bytes).sum::<usize>());
        let images: usize = control.slots().map(|(index, ..)| of(index).unwrap_or(0)).sum();
        control.memory_used.load(SeqCst) as i64 - images as i64
    });
    SHOWN.with_borrow_mut(|shown| {
        *shown = CString::new(lost.to_string()).unwrap_or_default();
        shown.as_ptr()
    })
}
