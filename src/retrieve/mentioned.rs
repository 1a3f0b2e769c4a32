//! The entities that a question mentions, each once, in the order of their first mentions.

use crate::call::work_memory::Room;
use crate::error::Fallible;
use crate::retrieve::found::Found;
use crate::serve::asked::Question;
use crate::serve::mentions::{give_back, workspace};
use crate::serve::tables::Tables;
use pgrx::pg_sys;

/// An entity that is mentioned: where, as what, and by which alias.
pub struct Mentioned {
    start: i32,
    pub entity: Vec<u8>,
    pub mention: Vec<u8>,
    pub alias: Option<Vec<u8>>,
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

/// The entities that the question mentions. Errors: those of cft_entities.
pub fn first_mentions(
    function: pg_sys::Oid,
    edges: Option<pg_sys::Oid>,
    question: &Question,
) -> Fallible<Vec<Mentioned>> {
    let (mut all, mut room) = (Vec::new(), Room::new());
    let mut add = |start: i32, entity: &[u8], mention: &[u8], alias: Option<&[u8]>| {
        room.take(EACH + entity.len() + mention.len() + alias.map_or(0, <[u8]>::len))?;
        let (entity, mention, alias) = (entity.to_vec(), mention.to_vec(), alias.map(<[u8]>::to_vec)); // bounded: `room` has them
        all.push(Mentioned { start, entity, mention, alias });
        Ok(())
    };
    let tables = Tables::open(function, edges, question.matching)?;
    let mut found = workspace();
    if tables.find(question, &mut found)? {
        let text = question.text();
        for n in 0..found.len() {
            let (mention, entity, alias) = found.texts(n);
            add(mention.start as i32 + 1, entity, &text[mention.from..mention.to], alias)?;
        }
        give_back(found);
    } else {
        let mut found = Found::of(&COLUMNS);
        tables.by_reference(question, found.rows());
        found.each(|row| {
            let (start, entity, mention) = (row.int(2), row.text(0), row.text(1));
            add(start.unwrap_or_default(), entity.unwrap_or_default(), mention.unwrap_or_default(), row.text(4))
        })?;
    }
    all.sort_by(|a, b| (a.start, &a.entity).cmp(&(b.start, &b.entity)));
    Ok(all)
}
