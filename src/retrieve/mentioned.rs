//! The entities that a text mentions: the rows of cft_entities, without going through SQL.

use crate::call::work_memory::Room;
use crate::error::Fallible;
use crate::retrieve::found::Found;
use crate::serve::asked::Question;
use crate::serve::mentions::{give_back, workspace};
use crate::serve::tables::Tables;
use crate::serve::tiers;
use pgrx::{check_for_interrupts, pg_sys};

/// A row of cft_entities. start and length count characters, from 1.
pub struct Mention<'m> {
    pub entity: &'m [u8],
    pub mention: &'m [u8],
    pub start: i32,
    pub length: i32,
    pub alias: Option<&'m [u8]>,
    pub label: Option<&'m [u8]>,
    pub method: &'m [u8],
    pub score: f32,
}

/// An entity that is mentioned: where, as what, by which alias, and by which rule (the method of cft_entities).
pub struct Mentioned {
    pub start: i32,
    pub entity: Vec<u8>,
    pub mention: Vec<u8>,
    pub alias: Option<Vec<u8>>,
    pub method: Vec<u8>,
}

/// The columns of cft_entities.
const COLUMNS: [pg_sys::Oid; 8] = [
    pg_sys::TEXTOID,
    pg_sys::TEXTOID,
    pg_sys::INT4OID,
    pg_sys::INT4OID,
    pg_sys::TEXTOID,
    pg_sys::TEXTOID,
    pg_sys::TEXTOID,
    pg_sys::FLOAT4OID,
];

/// Bytes of an entity in the list, besides its texts.
const EACH: usize = 96;

/// Passes the mentions of a text on, in order. Errors: those of cft_entities.
pub fn mentions(
    function: pg_sys::Oid,
    edges: Option<pg_sys::Oid>,
    question: &Question,
    mut take: impl FnMut(&Mention) -> Fallible<()>,
) -> Fallible<()> {
    let tables = Tables::open(function, edges, question.matching)?;
    let mut found = workspace();
    if tables.find(question, &mut found)? {
        let text = question.text.bytes();
        for n in 0..found.len() {
            check_for_interrupts!();
            let (mention, entity, alias) = found.texts(n);
            take(&Mention {
                entity,
                mention: &text[mention.from..mention.to],
                start: mention.start as i32 + 1,
                length: mention.length as i32,
                alias,
                label: found.labels.get(n),
                method: tiers::name(mention.method).as_bytes(),
                score: mention.method.score(),
            })?;
        }
        give_back(found);
        return Ok(());
    }
    let mut found = Found::of(&COLUMNS);
    tables.by_reference(question, found.rows());
    found.each(|row| {
        let text = |n| row.text(n).unwrap_or_default();
        take(&Mention {
            entity: text(0),
            mention: text(1),
            start: row.int(2).unwrap_or_default(),
            length: row.int(3).unwrap_or_default(),
            alias: row.text(4),
            label: row.text(5),
            method: text(6),
            score: row.real(7).unwrap_or_default(),
        })
    })
}

/// The entities that the question mentions, each once (the question says so), in the order of their first mentions.
/// Errors: those of cft_entities.
pub fn first_mentions(
    function: pg_sys::Oid,
    edges: Option<pg_sys::Oid>,
    question: &Question,
) -> Fallible<Vec<Mentioned>> {
    let (mut all, mut room) = (Vec::new(), Room::new());
    mentions(function, edges, question, |one| {
        room.take(EACH + one.entity.len() + one.mention.len() + one.alias.map_or(0, <[u8]>::len))?;
        let (entity, mention, alias) = (one.entity.to_vec(), one.mention.to_vec(), one.alias.map(<[u8]>::to_vec)); // bounded: `room` has them
        all.push(Mentioned { start: one.start, entity, mention, alias, method: one.method.to_vec() }); // bounded: a word
        Ok(())
    })?;
    all.sort_by(|a, b| (a.start, &a.entity).cmp(&(b.start, &b.entity)));
    Ok(all)
}
