//! cft_words, cft_form, cft_spelling and the like: the words, forms and spellings that define cft_entities
//! (sql/entities.sql).

use crate::call::fmgr;
use crate::call::fmgr::{Call, text_array, text_datum};
use crate::call::utf8::from_utf8;
use crate::error;
use crate::error::Fallible;
use crate::guc;
use crate::pg::interrupt::check_interrupts;
use crate::pg::{backend, encoding};
use crate::serve::search::as_plain;
use crate::serve::synonyms::lower;
use crate::serve::tiers;
use cftrag_core::{Case, FormKind, Interruptible, Language, MOST_BYTES, MOST_WORDS};
use pgrx::Internal;
use pgrx::prelude::*;
use std::ops::Range;

/// Characters counted between two checks for interrupts, and the steps that this counts as.
const COUNTED: usize = 1 << 20;

const PER_COUNTED: usize = 1 << 14;

/// Steps of a word: folding it, and adding a row.
const PER_WORD: usize = 16;

/// The most bytes of a character in any server encoding.
const WIDEST: usize = 4;

/// `cft_words(text, plain boolean, language)`: place (from 1), form (folded, as UTF-8), start and length in characters,
/// the normal form, and the word in lower case. See crates/core/src/folded/words.rs. plain: the words of the text
/// without its possessives, elisions and the like (crates/core/src/folded/possessives.rs); no rows if the text has none of
/// these.
#[pg_extern(sql = false)]
fn cft_words(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let Some(text) = call.text(0) else { return Ok(()) };
    let language = call.text(2).map_or(Language::default(), language_of);
    let mut check_interrupts = check_interrupts;
    let mut work = Interruptible::new(&mut check_interrupts);
    let mut text = as_utf8(text, &mut work)?.ok_or_else(error::not_utf8)?;
    let plain;
    if call.is_true(1) {
        plain = as_plain(text.as_bytes(), &mut work)?;
        let Some(plain) = plain.as_deref().map(std::str::from_utf8) else { return Ok(()) };
        text = plain.map_err(|_| error::not_utf8())?;
    }
    let (mut place, mut at, mut start) = (0_i32, 0, 1_i32);
    let (mut form, mut normal) = (Vec::new(), Vec::new());
    let mut words = cftrag_core::Words::of(text);
    while let Some((offset, word)) = words.next_word(&mut work) {
        work.steps(PER_WORD);
        start += characters(&text[at..offset], &mut work);
        at = offset;
        form.clear();
        cftrag_core::fold(word, &mut form);
        if form.is_empty() {
            continue;
        }
        place += 1;
        normal.clear();
        cftrag_core::normalise(language, &form, &mut normal);
        let mut values = [
            pg_sys::Datum::from(place),
            text_datum(&form),
            pg_sys::Datum::from(start),
            pg_sys::Datum::from(characters(word, &mut work)),
            text_datum(&normal),
            text_datum(lower(word).as_bytes()),
        ];
        rows.add(&mut values, &mut [false; 6]);
        fmgr::free([values[1], values[4], values[5]]);
    }
    Ok(())
}

/// `cft_form(name, method, language)`: its folded words joined by one blank, or another form by which that rule
/// compares it, as UTF-8; NULL if the name can never be found in a text.
#[pg_extern(sql = false)]
fn cft_form(name: &[u8], method: &[u8], language: &[u8]) -> Fallible<Option<Vec<u8>>> {
    let Some(kind) = kind_of(method) else { return Ok(None) };
    let mut form = Vec::new();
    // A name longer than this has no form, in any encoding: skip it.
    let name = if name.len() > WIDEST * MOST_BYTES { &[] } else { name };
    let name = as_utf8(name, &mut Interruptible::new(&mut { check_interrupts }))?;
    let has = |name: &str| cftrag_core::write_form(kind, language_of(language), name.as_bytes(), &mut form);
    Ok(name.is_some_and(has).then_some(form))
}

/// The language of that name.
fn language_of(name: &[u8]) -> Language {
    std::str::from_utf8(name).ok().and_then(Language::of).unwrap_or_default()
}

/// The form that the rule of that name compares, if it compares one.
fn kind_of(method: &[u8]) -> Option<FormKind> {
    tiers::form_named(method)
}

/// `cft_window_form(words bytea[], method, language)`: the form of normal words of a text that the rule compares with
/// that of a name; NULL if it compares none with them.
#[pg_extern(sql = false)]
fn cft_window_form(call: Call) -> Fallible<Internal> {
    let (Some(words), Some(kind), Some(language)) = (call.texts(0)?, call.text(1).and_then(kind_of), call.text(2))
    else {
        return Ok(Internal::from(None));
    };
    let words: Vec<&[u8]> = words.flatten().take(MOST_WORDS).collect(); // bounded: the words of a name
    let mut form = Vec::new();
    let has = cftrag_core::write_window(kind, language_of(language), &words, &mut form);
    Ok(Internal::from(has.then(|| text_datum(&form))))
}

/// `cft_normal_words(name, language)`: the normal words of a name, as UTF-8; NULL if texts find it as it is written
/// only.
#[pg_extern(sql = false)]
fn cft_normal_words(name: &[u8], language: &[u8]) -> Fallible<Option<Vec<Vec<u8>>>> {
    let name = if name.len() > WIDEST * MOST_BYTES { &[] } else { name };
    let name = as_utf8(name, &mut Interruptible::new(&mut { check_interrupts }))?;
    let words = name.and_then(|name| cftrag_core::normal_words(language_of(language), name.as_bytes()));
    let split = |words: Vec<u8>| words.split(|byte| *byte == b' ').map(<[u8]>::to_vec).collect(); // bounded: the words of a name
    Ok(words.map(split))
}

/// `cft_parts(name, language)`: the parts of a name that lists several things, as far as texts can name them. See
/// crates/core/src/folded/parts.rs.
#[pg_extern(sql = false)]
fn cft_parts(name: &[u8], language: &[u8]) -> Fallible<Internal> {
    let name = if name.len() > WIDEST * MOST_BYTES { &[] } else { name };
    let Some(name) = as_utf8(name, &mut Interruptible::new(&mut { check_interrupts }))? else {
        return Ok(Internal::from(None));
    };
    let mut parts = Vec::new(); // bounded: the parts of a name
    for part in cftrag_core::name_parts(language_of(language), name.as_bytes()) {
        parts.push(from_utf8(str::from_utf8(part).map_err(|_| error::not_utf8())?)?);
    }
    let parts: Vec<_> = parts.iter().map(Vec::as_slice).collect(); // bounded: the parts of a name
    Ok(Internal::from((!parts.is_empty()).then(|| text_array(&parts))))
}

/// `cft_may_be_misspelled(word bytea, language)`: whether a normal word may be misspelled: it has four characters or
/// more and no digit, and is no common word of the language.
#[pg_extern(sql = false)]
fn cft_may_be_misspelled(word: &[u8], language: &[u8]) -> bool {
    cftrag_core::may_be_misspelled(language_of(language), word)
}

/// `cft_misspelled(words bytea[], name, place, all, language)`: whether normal words of a text, which has `all`, are
/// those of a name but for the one at that place, from 0, which is near the name's. See
/// crates/core/src/folded/forms.rs.
#[pg_extern(sql = false)]
fn cft_misspelled(call: Call) -> Fallible<bool> {
    let (Some(words), Some(name)) = (call.texts(0)?, call.text(1)) else { return Ok(false) };
    let (Some(place), Some(all), Some(language)) = (call.int(2), call.int(3), call.text(4)) else {
        return Ok(false);
    };
    let place = usize::try_from(place).unwrap_or(usize::MAX);
    let name = if name.len() > WIDEST * MOST_BYTES { &[] } else { name };
    let Some(name) = as_utf8(name, &mut Interruptible::new(&mut { check_interrupts }))? else { return Ok(false) };
    let words: Vec<&[u8]> = words.flatten().take(MOST_WORDS).collect(); // bounded: the words of a name
    Ok(cftrag_core::is_misspelled(
        language_of(language),
        words.iter().copied(),
        name.as_bytes(),
        place,
        usize::try_from(all) == Ok(words.len()),
    ))
}

/// `cft_spelled_otherwise(name, text, start, length, method, words, language)`: whether so many words there, of the
/// same form as the name, may be taken for it. See crates/core/src/recognise/spelling.rs.
#[pg_extern(sql = false)]
fn cft_spelled_otherwise(
    name: &[u8],
    text: &[u8],
    start: i32,
    length: i32,
    method: &[u8],
    words: i32,
    language: &[u8],
) -> Fallible<Option<bool>> {
    let Some(kind) = kind_of(method) else { return Ok(None) };
    let mut check_interrupts = check_interrupts;
    let mut work = Interruptible::new(&mut check_interrupts);
    let name = if name.len() > WIDEST * MOST_BYTES { &[] } else { name };
    let (Some(name), Some(text)) = (as_utf8(name, &mut work)?, as_utf8(text, &mut work)?) else { return Ok(None) };
    let (window, words) = (window_of(text, start, length), usize::try_from(words).unwrap_or(0));
    let may_be = cftrag_core::may_be_of(kind, language_of(language), name.as_bytes(), words);
    Ok(Some(may_be && cftrag_core::is_spelled_otherwise(kind, name.as_bytes(), text, window, case(language))))
}

/// `cft_definitions(text)`: the abbreviations that a text defines: where the long form begins and the character after
/// it, from 1, and the short form. See crates/core/src/recognise/abbreviation.rs.
#[pg_extern(sql = false)]
fn cft_definitions(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let Some(text) = call.text(0) else { return Ok(()) };
    let mut check_interrupts = check_interrupts;
    let mut work = Interruptible::new(&mut check_interrupts);
    let text = as_utf8(text, &mut work)?.ok_or_else(error::not_utf8)?;
    let mut definitions = cftrag_core::Definitions::of(text);
    let (mut at, mut count) = (0, 1);
    while let Some(found) = definitions.next_definition(&mut work) {
        // Long forms begin in order, but for one that its short form precedes.
        if found.long.start < at {
            (at, count) = (0, 1);
        }
        count += characters(&text[at..found.long.start], &mut work);
        at = found.long.start;
        let stop = count + characters(&text[found.long.clone()], &mut work);
        let short = text_datum(&from_utf8(&text[found.short])?);
        rows.add(&mut [pg_sys::Datum::from(count), pg_sys::Datum::from(stop), short], &mut [false; 3]);
    }
    Ok(())
}

/// `cft_coordinations(text, language)`: names that a text joins, with what they have in common said once: the number of
/// their list, and that of the name in it, from the last one; where the window of it and those after it begins and the
/// character after it, from 1; and the name. See crates/core/src/recognise/coordination.rs.
#[pg_extern(sql = false)]
fn cft_coordinations(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let (Some(text), Some(language)) = (call.text(0), call.text(1)) else { return Ok(()) };
    let mut check_interrupts = check_interrupts;
    let mut work = Interruptible::new(&mut check_interrupts);
    let text = as_utf8(text, &mut work)?.ok_or_else(error::not_utf8)?;
    let mut coordinations = cftrag_core::Coordinations::of(text, language_of(language));
    let (mut at, mut count, mut list) = (0, 1, 0);
    while let Some(found) = coordinations.next_coordination(&mut work) {
        count += characters(&text[at..found.conjunction.start], &mut work);
        at = found.conjunction.start;
        list += 1;
        let stop = count + characters(&text[at..found.head.end], &mut work);
        for (n, item) in found.items().iter().enumerate() {
            let start = count - characters(&text[item.start.min(at)..at], &mut work);
            let name = [&text[item.clone()], " ", &text[found.head.clone()]].concat(); // bounded: three words
            let name = text_datum(&from_utf8(&name)?);
            let numbers = [list, n as i32, start, stop].map(pg_sys::Datum::from);
            let [list, n, start, stop] = numbers;
            rows.add(&mut [list, n, start, stop, name], &mut [false; 5]);
        }
    }
    Ok(())
}

/// `cft_spelling(name, text, start, length, language)`: how well these characters of the text spell the name that they
/// fold to; NULL if they do not fold to it. See crates/core/src/recognise/spelling.rs.
#[pg_extern(sql = false)]
fn cft_spelling(name: &[u8], text: &[u8], start: i32, length: i32, language: &[u8]) -> Fallible<Option<i32>> {
    let mut check_interrupts = check_interrupts;
    let mut work = Interruptible::new(&mut check_interrupts);
    let name = if name.len() > WIDEST * MOST_BYTES { &[] } else { name };
    let (Some(name), Some(text)) = (as_utf8(name, &mut work)?, as_utf8(text, &mut work)?) else { return Ok(None) };
    let window = window_of(text, start, length);
    let spelling = cftrag_core::spelling(name.as_bytes(), text, window, case(language));
    Ok(spelling.map(|spelling| i32::try_from(spelling).unwrap_or(i32::MAX)))
}

/// Which names are found only in their own case, as the settings say, by the rules of that language.
fn case(language: &[u8]) -> Case {
    Case { which: guc::MATCH_CASE.get().into(), language: language_of(language) }
}

/// The bytes of so many characters from that one on, which is counted from 1.
fn window_of(text: &str, start: i32, length: i32) -> Range<usize> {
    let at = |text: &str, count: i32| place_of(text, usize::try_from(count).unwrap_or(0));
    let from = at(text, start.saturating_sub(1));
    from..from + text.get(from..).map_or(0, |rest| at(rest, length))
}

/// The byte at which that character begins, as the database counts them: see [`characters`].
fn place_of(text: &str, character: usize) -> usize {
    if backend::is_sql_ascii() {
        return character.min(text.len());
    }
    text.char_indices().nth(character).map_or(text.len(), |(at, _)| at)
}

/// Characters as the database counts them: in SQL_ASCII every byte is one.
fn characters(text: &str, work: &mut Interruptible<'_>) -> i32 {
    if backend::is_sql_ascii() {
        return text.len() as i32;
    }
    let begins = |byte: &&u8| **byte & 0xC0 != 0x80;
    let counted = text.as_bytes().chunks(COUNTED).map(|some| {
        work.steps(some.len() / (COUNTED / PER_COUNTED));
        some.iter().filter(begins).count()
    });
    counted.sum::<usize>() as i32
}

/// A text as UTF-8, whatever the database's encoding. None if it is not valid UTF-8 (SQL_ASCII holds any bytes). 0A000
/// in an encoding where a character may become two of Unicode's: positions would differ.
fn as_utf8<'t>(text: &'t [u8], work: &mut Interruptible<'_>) -> Fallible<Option<&'t str>> {
    if backend::has_encoding(pg_sys::pg_enc::PG_EUC_JIS_2004) {
        return Err(error::two_characters_for_one());
    }
    let bytes = if backend::is_sql_ascii() { text } else { encoding::to_utf8(text) };
    Ok(cftrag_core::as_utf8(bytes, work))
}
