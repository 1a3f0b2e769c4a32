//! Several walks over one attached table in one call.

#![expect(unsafe_code, reason = "makes arrays")]

use crate::api::context::{self, Opened};
use crate::api::sink::{Relative, Sink};
use crate::error::{Fallible, MAX_LEVELS};
use crate::fmgr::{Call, text_datum};
use pgrx::{check_for_interrupts, pg_sys};

/// What a walk of all levels asks for. Where there are more, they are gone through one by one (search.rs).
pub const ALL: i32 = MAX_LEVELS;

pub struct Walker(Opened);

impl Walker {
    /// Of the table in argument `n`, or the only one. Errors: those of cft_context.
    pub fn of(call: &Call, n: usize) -> Fallible<Walker> {
        context::open(call, n).map(Walker)
    }

    /// Gives what cft_context returns to `take`, in parts: all rows of some of the names at a time. The names are different from each
    /// other.
    pub fn relatives(
        &self,
        names: &[&[u8]],
        up: i32,
        down: i32,
        mut take: impl FnMut(&[Relative<'_>]) -> Fallible<()>,
    ) -> Fallible<()> {
        check_for_interrupts!();
        if names.is_empty() {
            return Ok(());
        }
        context::answer_of(&self.0, names, || text_array(names), up, down, &mut Sink::Parts(&mut take))
    }
}

/// A text[] value, palloc'd.
pub fn text_array(texts: &[&[u8]]) -> pg_sys::Datum {
    let mut elements: Vec<_> = texts.iter().map(|text| text_datum(text)).collect();
    // SAFETY: text elements, which are copied and then ours to free.
    unsafe {
        let array = pg_sys::construct_array(
            elements.as_mut_ptr(),
            elements.len() as i32,
            pg_sys::TEXTOID,
            -1,
            false,
            pg_sys::TYPALIGN_INT as std::ffi::c_char,
        );
        elements.iter().for_each(|element| pg_sys::pfree(element.cast_mut_ptr()));
        pg_sys::Datum::from(array)
    }
}
