//! The hierarchy as text for a prompt: cft_context_text, cft_context_parts.
//!
//! One pass over the answer, whose rows and order are those of cft_context (tree, NULL first; ancestors before
//! descendants; depth; relative; all by bytes). So the same data give the same bytes, from the image and by the
//! reference query, whatever the order in which they were written. No tuple is formed on the way. The words are ASCII,
//! so they are right in every server encoding.

use crate::call::fmgr;
use crate::call::fmgr::{Call, Rows};
use crate::call::format;
use crate::call::format::Format;
use crate::call::work_memory::{Bytes, add};
use crate::error::Fallible;
use crate::guc;
use crate::methods::told::told;
use crate::serve::answer;
use crate::serve::sentences::{Sentences, each_sentence, list, sentence};
use crate::serve::sink::{Relative, Sink, TextAnswer};
use cftrag_core::Text;
use pgrx::prelude::*;
use pgrx::{Internal, check_for_interrupts};
use std::ffi::CStr;

/// `cft_context_text(entity text, up int, down int, edges regclass, trees text[], template text) -> text`
///
/// NULL for an entity without relatives. Errors: those of cft_context, and 22023 for a template. (To pgrx the text is
/// an Internal: a value that is returned unchanged.)
#[pg_extern(sql = false)]
fn cft_context_text_one(call: Call) -> Fallible<Internal> {
    let Some(name) = call.text(0) else { return Ok(Internal::from(None)) };
    text(&call, &[name]).map(Internal::from)
}

/// `cft_context_text(entities text[], ...)`: the text for many entities; each one's sentences start on a new line.
#[pg_extern(sql = false)]
fn cft_context_text_many(call: Call) -> Fallible<Internal> {
    let Some(names) = call.names(0)? else { return Ok(Internal::from(None)) };
    text(&call, &names).map(Internal::from)
}

fn text(call: &Call, names: &[&[u8]]) -> Fallible<Option<pg_sys::Datum>> {
    let setting = guc::template();
    let template = call.text(5).or(setting.as_deref().map(CStr::to_bytes));
    let Some((of, reach)) = answer::open(call, names)? else { return Ok(None) };
    let Some(template) = template else {
        if of.registration.names.position.is_none() {
            let mut answer = TextAnswer::default();
            answer::answer_of(&of, names, reach, &mut Sink::Text(&mut answer))?;
            if !answer.is_unclear {
                return Ok(answer.text);
            }
        }
        let mut out = Sentences::default();
        told(of, names, reach, |rows| out.add(rows))?;
        return fmgr::text_of(out.as_bytes());
    };
    let format = Format::parse(template, &format::SENTENCE)?;
    let (mut texts, mut relatives) = (Bytes::default(), Bytes::default());
    told(of, names, reach, |rows| {
        each_sentence(rows, |of, _| {
            list(of.iter().map(|row| (row.called(), false)), b"", &mut relatives)?;
            let (count, first) = (of.len().to_string(), &of[0]);
            let tree = first.tree.unwrap_or_default();
            let values = [first.entity_called(), tree, relation(first).as_bytes(), &relatives.0, count.as_bytes()];
            format.write(&values, &mut texts)?;
            add("\n", &mut texts)
        })
    })?;
    texts.0.pop().map_or(Ok(None), |_| fmgr::text_value(&texts.0).map(Some))
}

fn relation(row: &Relative<'_>) -> &'static str {
    if row.ancestor { "ancestor" } else { "descendant" }
}

/// `cft_context_parts(entities text[], up int, down int, edges regclass, trees text[]) -> table(entity, tree, relation,
/// text)`: the sentences of cft_context_text, one per row.
#[pg_extern(sql = false)]
fn cft_context_parts(call: Call) -> Fallible<()> {
    let rows: Rows = call.rows();
    let Some(names) = call.names(0)? else { return Ok(()) };
    let mut text = Text::default();
    parts(&call, &names, |answer| {
        each_sentence(answer, |of, subject| {
            check_for_interrupts!();
            text.clear();
            sentence(&mut text, of, subject)?;
            let first = &of[0];
            let tree = first.tree.unwrap_or_default();
            let texts = [first.entity, tree, relation(first).as_bytes(), text.as_bytes()];
            let mut values = [pg_sys::Datum::from(0usize); 4];
            for (value, text) in values.iter_mut().zip(texts) {
                *value = fmgr::text_value(text)?;
            }
            rows.add(&mut values, &mut [false, first.tree.is_none(), false, false]);
            fmgr::free(values);
            Ok(())
        })
    })
}

/// Passes the answer of a call (entity or entities, up, down, edges, trees) to `take`, as [`told`] does.
fn parts(call: &Call, names: &[&[u8]], take: impl FnMut(&[Relative<'_>]) -> Fallible<()>) -> Fallible<()> {
    match answer::open(call, names)? {
        Some((of, reach)) => told(of, names, reach, take),
        None => Ok(()),
    }
}
