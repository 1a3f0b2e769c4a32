//! Users' formats: a text with placeholders, `{entity}`; `{{` and `}}` stand for braces. They come from the arguments
//! `template`, from tables of phrases, and from settings, which are checked when they are set. Their bytes are in the
//! server's encoding, and in every such encoding the byte of a brace is a brace.
//!
//! Errors: 22023 (an unknown placeholder; the message lists those allowed), 53400 and 53200 (cftrag.work_memory).

#![expect(unsafe_code, reason = "hooks of settings")]

use crate::call::work_memory;
use crate::call::work_memory::Bytes;
use crate::error;
use crate::error::Fallible;
use crate::guc::{DOCUMENT_TEMPLATE, LEFT_OUT_TEMPLATE, PROMPT_TEMPLATE, TEMPLATE};
use pgrx::prelude::*;
use pgrx::{GucContext, GucFlags, GucRegistry, check_for_interrupts};
use std::ffi::{CStr, CString, c_char, c_void};

/// Placeholders of a sentence of cft_context_text: the relatives of an entity in one tree and relation ("ancestor",
/// "descendant"), and their count.
pub const SENTENCE: [&str; 5] = ["entity", "tree", "relation", "relatives", "count"];

/// Placeholders of a sentence of a prompt: the relatives of an entity in one tree and direction.
pub const PHRASE: [&str; 3] = ["entity", "names", "tree"];

/// Placeholders of what says how many relatives are not listed.
pub const MORE: [&str; 1] = ["count"];

/// Placeholders of a prompt: the texts of the rows of cft_retrieve, one per line, and what is said of what does not
/// fit.
pub const PROMPT: [&str; 5] = ["question", "documents", "hierarchy", "chunks", "left_out"];

/// Placeholders of what is said of what does not fit: how many documents and sentences do not, and the tokens.
pub const LEFT_OUT: [&str; 3] = ["documents", "sentences", "budget"];

/// Placeholders of a document in a prompt: its place in the list, its id, the entity that it is about, its text, the
/// path to that entity, and the columns that are to be shown.
pub const DOCUMENT: [&str; 6] = ["number", "id", "entity", "text", "path", "columns"];

/// Bytes of the longest format.
const LONGEST: usize = 64 * 1024;

enum Piece<'a> {
    Text(&'a [u8]),
    /// The number of a placeholder.
    Value(usize),
}

pub struct Format<'a>(Vec<Piece<'a>>);

impl<'a> Format<'a> {
    /// Parses a format with these placeholders.
    pub fn parse(source: &'a [u8], names: &[&str]) -> Fallible<Self> {
        pieces(source, names).map(Self).map_err(|why| error::bad_template(&why))
    }

    /// Appends the text with each placeholder replaced by its value.
    pub fn write(&self, values: &[&[u8]], out: &mut Bytes) -> Fallible<()> {
        for piece in &self.0 {
            let bytes = match *piece {
                Piece::Text(text) => text,
                Piece::Value(n) => values[n],
            };
            out.room(bytes.len())?;
            for some in bytes.chunks(work_memory::LARGE) {
                check_for_interrupts!();
                out.0.extend_from_slice(some);
            }
        }
        Ok(())
    }
}

/// Splits a format into pieces, or says what is wrong with it.
fn pieces<'a>(source: &'a [u8], names: &[&str]) -> Result<Vec<Piece<'a>>, String> {
    if source.len() > LONGEST {
        return Err(format!("It has {} bytes; at most {LONGEST} are allowed", source.len()));
    }
    let known = || names.iter().map(|name| format!("{{{name}}}")).collect::<Vec<_>>().join(", "); // bounded: the placeholders
    let (mut pieces, mut rest) = (Vec::new(), source);
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'{' | b'}')) {
        let (before, from) = rest.split_at(at);
        if from.get(1) == Some(&from[0]) {
            pieces.push(Piece::Text(&rest[..=at]));
            rest = &from[2..];
            continue;
        }
        pieces.push(Piece::Text(before));
        let end = from.iter().position(|byte| *byte == b'}').filter(|_| from[0] == b'{');
        let end = end.ok_or_else(|| {
            format!("A brace stands alone: write {{{{ or }}}} for one; the placeholders are {}", known())
        })?;
        let name = String::from_utf8_lossy(&from[1..end]);
        let number = names.iter().position(|known| *known == name);
        pieces.push(Piece::Value(
            number.ok_or_else(|| format!("{{{name}}} is not a placeholder; the placeholders are {}", known()))?,
        ));
        rest = &from[end + 1..];
    }
    pieces.push(Piece::Text(rest));
    Ok(pieces)
}

pub fn define() {
    let [sentence, prompt, document, left_out] =
        [check_sentence as CheckHook, check_prompt, check_document, check_left_out].map(Some);
    let settings = [
        (
            c"cftrag.template",
            c"Sets the format of a sentence of cft_context_text.",
            c"An empty value means the built-in words. Placeholders: {entity} {tree} {relation} {relatives} {count}; \
                {{ and }} are braces.",
            &TEMPLATE,
            sentence,
        ),
        (
            c"cftrag.prompt_template",
            c"Sets the format of cft_prompt.",
            c"An empty value means the built-in words. Placeholders: {question} {documents} {hierarchy} {chunks} \
                {left_out}; {{ and }} are braces.",
            &PROMPT_TEMPLATE,
            prompt,
        ),
        (
            c"cftrag.document_template",
            c"Sets the format of a document in cft_prompt.",
            c"An empty value means its number, path, columns and text. Placeholders: {number} {id} {entity} {path} \
                {columns} {text}; {{ and }} are braces.",
            &DOCUMENT_TEMPLATE,
            document,
        ),
        (
            c"cftrag.left_out_template",
            c"Sets what cft_prompt says of documents and sentences that do not fit.",
            c"An empty value means the built-in words. Placeholders: {documents} {sentences} {budget}; {{ and }} are \
                braces.",
            &LEFT_OUT_TEMPLATE,
            left_out,
        ),
    ];
    for (name, short, long, setting, hook) in settings {
        // SAFETY: the hook is a guarded function that reads the value it is given.
        unsafe {
            GucRegistry::define_string_guc_with_hooks(
                name,
                short,
                long,
                setting,
                GucContext::Userset,
                GucFlags::default(),
                hook,
                None,
                None,
            );
        }
    }
}

type CheckHook = unsafe extern "C-unwind" fn(*mut *mut c_char, *mut *mut c_void, pg_sys::GucSource::Type) -> bool;

macro_rules! hooks {
    ($($name:ident: $placeholders:expr;)*) => {$(
        #[pg_guard]
        unsafe extern "C-unwind" fn $name(
            value: *mut *mut c_char,
            _extra: *mut *mut c_void,
            _source: pg_sys::GucSource::Type,
        ) -> bool {
            // SAFETY: the new value of a setting.
            unsafe { check(value, &$placeholders) }
        }
    )*};
}

hooks! {
    check_sentence: SENTENCE;
    check_prompt: PROMPT;
    check_document: DOCUMENT;
    check_left_out: LEFT_OUT;
}

/// Rejects a value that is not a format.
///
/// # Safety
/// `value` points to the new value, a C string or null.
unsafe fn check(value: *mut *mut c_char, names: &[&str]) -> bool {
    // SAFETY: the caller's promise.
    let text = unsafe { if (*value).is_null() { c"" } else { CStr::from_ptr(*value) } };
    let Err(why) = pieces(text.to_bytes(), names) else { return true };
    let Ok(detail) = CString::new(format!("{why}.")) else { return false };
    // SAFETY: the detail is a copy in the check's memory context; PostgreSQL's settings code reads it.
    unsafe { pg_sys::GUC_check_errdetail_string = pg_sys::pstrdup(detail.as_ptr()) };
    false
}
