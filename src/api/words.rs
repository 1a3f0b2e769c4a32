//! cft_words and cft_form: the words and forms that cft_entities is defined by (sql/entities.sql).

#![expect(unsafe_code, reason = "talks to the executor directly")]

use crate::error::{self, Fallible};
use crate::fmgr::{Call, text_datum};
use pgrx::check_for_interrupts;
use pgrx::prelude::*;

/// Words between two looks for an interrupt.
const BREATH: usize = 1000;

/// `cft_words(text)`: place (from 1), form (folded, as UTF-8), start and length in characters. See crates/core/src/words.rs.
#[pg_extern(sql = false)]
fn cft_words(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let rows = call.rows();
    let Some(text) = call.text(0) else { return Ok(()) };
    let text = as_utf8(text)?.ok_or_else(error::not_utf8)?;
    let (mut place, mut at, mut start) = (0_i32, 0, 1_i32);
    let mut form = Vec::new();
    for (i, (offset, word)) in cftrag_core::Words::of(text).enumerate() {
        if i % BREATH == 0 {
            check_for_interrupts!();
        }
        start += characters(&text[at..offset]);
        at = offset;
        form.clear();
        cftrag_core::fold(word, &mut form);
        if form.is_empty() {
            continue;
        }
        place += 1;
        let mut values = [
            pg_sys::Datum::from(place),
            text_datum(&form),
            pg_sys::Datum::from(start),
            pg_sys::Datum::from(characters(word)),
        ];
        rows.add(&mut values, &mut [false; 4]);
    }
    Ok(())
}

/// `cft_form(name)`: its folded words joined by one blank, as UTF-8; NULL if the name is never found in a text.
#[pg_extern(sql = false)]
fn cft_form(name: &[u8]) -> Fallible<Option<Vec<u8>>> {
    let mut form = Vec::new();
    let name = as_utf8(name)?;
    Ok(name.is_some_and(|name| cftrag_core::form(name.as_bytes(), &mut form)).then_some(form))
}

/// As the database counts them: in SQL_ASCII every byte is one.
fn characters(text: &str) -> i32 {
    // SAFETY: reads a backend variable.
    let bytes = unsafe { pg_sys::GetDatabaseEncoding() } == pg_sys::pg_enc::PG_SQL_ASCII as i32;
    (if bytes { text.len() } else { text.chars().count() }) as i32
}

/// A text as UTF-8, whatever the database's encoding is. None: it is none (SQL_ASCII holds any bytes). 0A000 where a character may be two
/// of Unicode's, so that positions would differ.
fn as_utf8(text: &[u8]) -> Fallible<Option<&str>> {
    let utf8 = pg_sys::pg_enc::PG_UTF8 as i32;
    // SAFETY: reads a backend variable; pg_server_to_any gives the same bytes, or a NUL-terminated copy in the caller's memory context.
    unsafe {
        let encoding = pg_sys::GetDatabaseEncoding();
        if encoding == pg_sys::pg_enc::PG_EUC_JIS_2004 as i32 {
            return Err(error::two_characters_for_one());
        }
        if [utf8, pg_sys::pg_enc::PG_SQL_ASCII as i32].contains(&encoding) {
            return Ok(std::str::from_utf8(text).ok());
        }
        let converted = pg_sys::pg_server_to_any(text.as_ptr().cast(), text.len() as i32, utf8);
        if converted.cast_const() == text.as_ptr().cast() {
            return Ok(std::str::from_utf8(text).ok());
        }
        Ok(std::ffi::CStr::from_ptr(converted).to_str().ok())
    }
}
