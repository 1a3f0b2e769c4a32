//! cft_extract_relations: extracts relations from English sentences by rules (CFT-RAG 2.2, Hearst 1992;
//! crates/methods/src/extract).

use crate::call::fmgr;
use crate::call::fmgr::{Call, text_datum};
use crate::call::utf8::{as_utf8, from_utf8};
use crate::error::Fallible;
use crate::pg::interrupt::check_interrupts;
use cftrag_core::Interruptible;
use pgrx::prelude::*;

/// `cft_extract_relations(text text, modifiers boolean) -> table(parent, child, relation, sentence)`
///
/// Returns the relations in the order of the text, each once per sentence. Errors: 22021 (not UTF-8, in a database of
/// SQL_ASCII).
#[pg_extern(sql = false)]
fn cft_extract_relations(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let (Some(text), Some(modifiers)) = (call.text(0), call.arg(1)) else { return Ok(()) };
    let text = as_utf8(text)?;
    let mut check_interrupts = check_interrupts;
    cftrag_methods::extract(text, modifiers.value() != 0, &mut Interruptible::new(&mut check_interrupts), |found| {
        let [parent, child, sentence] = [&found.parent, &found.child, &found.sentence].map(|text| from_utf8(text));
        let mut values =
            [text_datum(&parent?), text_datum(&child?), text_datum(found.relation.as_bytes()), text_datum(&sentence?)];
        rows.add(&mut values, &mut [false; 4]);
        fmgr::free(values);
        Ok(())
    })
}
