//! What a text says with other words of the same class in place of its own, by the tables of cft_attach_words: "kidney
//! failure" for "renal failure".

use crate::call::fmgr;
use crate::call::fmgr::text_array_of;
use crate::call::work_memory;
use crate::call::work_memory::Room;
use crate::catalog::column_sql::text_of;
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::name;
use crate::catalog::statement::Statement;
use crate::catalog::word_tables::WordTable;
use crate::error;
use crate::error::Fallible;
use crate::serve::plans::execute;
use cftrag_core::{Interruptible, NormalText};
use pgrx::pg_sys;
use std::collections::{BTreeSet, HashMap};

/// Words of a class that stand for each other: the first ones by bytes.
const MOST_OF_CLASS: usize = 16;

/// Bytes of the longest word that is looked up.
const LONGEST: usize = 255;

/// Words of a text that are looked up at a time.
const TOGETHER: usize = 512;

/// Bytes of a word beside its letters, in the tables of [`replace`].
const EACH: usize = 160;

/// A query for (word, mate): the words of the tables for which `is_wanted`, a condition on {word}, is true, each with
/// the words of its classes.
pub fn pairs(tables: &[WordTable], is_wanted: &str) -> String {
    let of = |of: &WordTable| {
        let (word, class) = (text_of(&of.table, &of.word), class_of(of));
        let (from, c) = (of.table.qualified(), "COLLATE pg_catalog.\"C\"");
        let is_wanted = is_wanted.replace("{word}", &word);
        format!(
            "(WITH asked AS MATERIALIZED (SELECT DISTINCT {word} {c} AS word, {class} AS class FROM {from} AS r WHERE {is_wanted}) \
              , mates AS MATERIALIZED (SELECT k.class, l.mate FROM (SELECT DISTINCT a.class FROM asked AS a) AS k \
                 CROSS JOIN LATERAL (SELECT DISTINCT {word} {c} AS mate FROM {from} AS r \
                                      WHERE {class} OPERATOR(pg_catalog.=) k.class AND {word} IS NOT NULL ORDER BY 1 LIMIT {MOST_OF_CLASS}) AS l) \
              SELECT a.word, m.mate FROM asked AS a JOIN mates AS m ON m.class OPERATOR(pg_catalog.=) a.class)"
        )
    };
    tables.iter().map(of).collect::<Vec<_>>().join(" UNION ALL ") // bounded: attached tables
}

/// A word of a text as tables of words have it: in lower case; nothing if it is too long for one.
pub fn lower(word: &str) -> String {
    if word.len() > LONGEST { String::new() } else { word.to_lowercase() }
}

/// The column of classes in a type that has an operator =: its own, so that a plain index on it can be used, or text.
fn class_of(of: &WordTable) -> String {
    let keys = [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID, pg_sys::UUIDOID].map(u32::from);
    match of.table.column(&of.class) {
        Some(column) if keys.contains(&column.type_oid) => format!("r.{}", name::quote(&of.class)),
        _ => text_of(&of.table, &of.class),
    }
}

/// Reads into `to`, for each word of the text and each other word of its class, the words around it with that one in
/// its place. `read` is the text that the normal words are of. 53400, 53200 (memory); the errors of a SELECT of the
/// tables.
pub fn replace(
    read: &str,
    text: &NormalText,
    tables: &[WordTable],
    to: &mut NormalText,
    work: &mut Interruptible<'_>,
) -> Fallible<()> {
    to.begin_like(text);
    let opened: Vec<&EdgesTable> = tables.iter().map(|of| &of.table).collect(); // bounded: attached tables
    let statement = Statement::over(&pairs(tables, "{word} OPERATOR(pg_catalog.=) ANY ($1)"), &opened);
    let mut written: Vec<String> = Vec::new();
    let mut first = 0;
    while first < text.all().len() {
        let mut room = Room::new();
        let words = || text.all().skip(first).take(TOGETHER);
        written.clear();
        let mut keys: BTreeSet<&[u8]> = BTreeSet::new(); // bounded: by the words of a slice
        for (place, normal) in words() {
            work.step();
            room.take(place.len() * 4 + EACH)?;
            written.push(lower(&read[place]));
            keys.insert(normal);
        }
        keys.extend(written.iter().map(String::as_bytes));
        keys.retain(|key| str::from_utf8(key).is_ok());
        let keys = text_array_of(keys.iter().copied().map(Some));
        let mut mates: HashMap<Vec<u8>, BTreeSet<Vec<u8>>> = HashMap::new(); // bounded: `room` has each
        let done = execute(&statement, &[(pg_sys::TEXTARRAYOID, Some(keys))], |rows| {
            rows.rows().try_for_each(|row| {
                work.step();
                let (Some(word), Some(mate)) = (row.text(1), row.text(2)) else { return Ok(()) };
                // A class has single words.
                let normal = cftrag_core::normal_words(text.language(), mate).filter(|words| !words.contains(&b' '));
                let Some(normal) = normal else { return Ok(()) };
                room.take(word.len() + normal.len() + EACH)?;
                mates.entry(word.to_vec()).or_default().insert(normal); // bounded: `room` has it
                Ok(())
            })
        });
        fmgr::free([keys]);
        done?;
        for (n, (_, normal)) in words().enumerate() {
            let of = [written[n].as_bytes(), normal].map(|key| mates.get(key).into_iter().flatten());
            let others: BTreeSet<&[u8]> = of.into_iter().flatten().map(Vec::as_slice).collect(); // bounded: two classes' words
            for other in others.into_iter().filter(|other| *other != normal) {
                work.steps(2 * cftrag_core::BESIDE);
                to.append_with(text, first + n, other, work_memory::limit()).map_err(error::no_room)?;
            }
        }
        first += TOGETHER;
    }
    Ok(())
}
