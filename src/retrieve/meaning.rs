//! What the methods over embeddings share: where the embeddings of a forest's entities are, how near these are, and
//! what they say.
//!
//! The statements run with search_path pinned: their operators are the server's. Embeddings are in the table of
//! cft_attach_embeddings, else in the documents about the entities.

use crate::call::fmgr::text_array;
use crate::call::text::Text;
use crate::call::work_memory::{Room, list};
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::documents::{DocumentColumn, Documents, Embeddings};
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::filter::Condition;
use crate::catalog::name::display_name;
use crate::catalog::registered;
use crate::catalog::registered::{Kind, Which};
use crate::error;
use crate::error::Fallible;
use crate::methods::breadth_first::{named, push};
use crate::pg::interrupt::check_interrupts;
use crate::pg::snapshot::with_active;
use crate::retrieve::documents::Wanted;
use crate::retrieve::embedding::check_embedding;
use crate::retrieve::found::Found;
use crate::retrieve::search;
use crate::retrieve::search::Source;
use crate::serve::labels::Labels;
use crate::serve::plans::Planning;
use crate::serve::within;
use crate::serve::within::Within;
use cftrag_core::{Interruptible, NameId, Names};
use pgrx::pg_sys;
use std::cmp::Ordering;
use std::rc::Rc;

/// Where the embeddings of a forest's entities are.
pub enum Meaning {
    Embeddings(Rc<Embeddings>),
    Documents(Rc<Documents>),
}

/// Entities with how near they are, the nearest first.
#[derive(Default)]
pub struct Near {
    names: Names,
    all: Vec<(f64, NameId)>,
}

impl Near {
    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn names(&self) -> impl Iterator<Item = &[u8]> + Clone {
        self.all.iter().map(|(_, name)| self.names.get(*name))
    }

    pub fn scores(&self) -> impl Iterator<Item = f64> + Clone {
        self.all.iter().map(|(score, _)| *score)
    }

    /// Forgets those with a lower score.
    pub fn keep_from(&mut self, least: f64) {
        self.all.retain(|(score, _)| *score >= least);
    }

    /// Adds an entity that is not there.
    fn add(&mut self, name: &[u8], distance: f64, room: &mut Room) -> Fallible<()> {
        room.take(EACH)?;
        let name = named(&mut self.names, name, room)?;
        push(&mut self.all, (distance, name))
    }

    /// Sorts by `order` of the numbers, then by name, and keeps the first.
    fn keep_best(&mut self, most: usize, order: impl Fn(f64, f64) -> Ordering) {
        let Self { names, all } = self;
        let mut check_interrupts = check_interrupts;
        Interruptible::new(&mut check_interrupts)
            .sort_with(all, |a, b, work| order(a.0, b.0).then_with(|| work.compare(names.get(a.1), names.get(b.1))));
        all.truncate(most);
    }
}

/// Bytes of an entity in a list, besides its name.
const EACH: usize = 48;

/// The most rows of a search that has no limit.
const ALL: i64 = i32::MAX as i64;

impl Meaning {
    /// 55000 if there are none that the caller may read. `documents`: the table meant, if there is one.
    pub fn of(edges: &AttachedTable, documents: Option<pg_sys::Oid>) -> Fallible<Self> {
        if let Some(of) = Embeddings::of(edges.functions, edges.oid())? {
            return Ok(Self::Embeddings(of));
        }
        let none = || error::no_embeddings(&display_name(edges.oid()));
        let Some(documents) = documents else { return Err(none()) };
        let of = Documents::of(edges.functions, Some(documents), true)?;
        of.filter(|of| of.has_entities()).map(Self::Documents).ok_or_else(none)
    }

    fn source(&self) -> Source<'_> {
        match self {
            Self::Embeddings(of) => Source::Embeddings(of),
            Self::Documents(of) => Source::Documents(of),
        }
    }

    fn is_cosine(&self) -> bool {
        match self {
            Self::Embeddings(of) => of.distance.is_cosine,
            Self::Documents(of) => of.distance.is_cosine,
        }
    }

    /// 22000 if an embedding has other dimensions than those that are searched, 22023 if it has no direction.
    fn check(&self, embedding: Text<'_>) -> Fallible<()> {
        match self {
            Self::Embeddings(of) => check_embedding(embedding, &of.embedding, &of.distance, &display_name(of.oid)),
            Self::Documents(of) => check_embedding(embedding, &of.embedding, &of.distance, &display_name(of.oid)),
        }
    }

    /// A filter of the documents, which compares with that parameter. 55000 if there are embeddings of entities, which
    /// have no metadata.
    fn condition(&self, filter: Option<Text<'_>>, parameter: usize) -> Fallible<Option<Condition>> {
        let Some(filter) = filter else { return Ok(None) };
        match self {
            Self::Embeddings(of) => Err(error::no_metadata(&display_name(of.oid))),
            Self::Documents(of) => Condition::of(filter, of, parameter).map(Some),
        }
    }

    /// The statement for the scores of entities $1 against $2, and the parameter $3 of its filter.
    pub fn scoring(&self, embedding: Text<'_>, filter: Option<Text<'_>>) -> Fallible<(String, Option<pg_sys::Datum>)> {
        let condition = self.condition(filter, 3)?;
        self.check(embedding)?;
        let sql = condition.as_ref().map(|condition| condition.sql.as_str());
        Ok((self.source().scores(sql), condition.as_ref().map(Condition::parameter)))
    }

    /// The `k` of distinct entities that are the nearest to an embedding, by the nearest of each one's. Entities
    /// without a score are left out.
    pub fn nearest_of(
        &self,
        (vector, embedding): (pg_sys::Oid, Text<'_>),
        names: &[&[u8]],
        k: usize,
    ) -> Fallible<Near> {
        let (sql, _) = self.scoring(embedding, None)?;
        let sql = format!("SELECT s.name, pg_catalog.max(s.score) FROM ({sql}) AS s GROUP BY s.name");
        let values = [
            (pg_sys::TEXTARRAYOID, Some(text_array(names))),
            (vector, Some(embedding.datum())),
            (pg_sys::TEXTARRAYOID, None),
        ];
        let mut found = Found::of(&[pg_sys::TEXTOID, pg_sys::FLOAT8OID]);
        found.run(&sql, Planning::Custom, &values);
        let (mut near, mut room) = (Near::default(), Room::new());
        found.each(|row| match (row.text(0), row.float(1)) {
            (Some(name), Some(score)) => near.add(name, score, &mut room),
            _ => Ok(()),
        })?;
        near.keep_best(k, |a, b| b.total_cmp(&a));
        Ok(near)
    }

    /// The `k` entities of a forest that are nearest to an embedding, with their scores; with `inner_only` of those
    /// that have children. Searches by the index, with a growing limit until there are enough. (An index scan of
    /// pgvector may end early: if it returns fewer rows than the limit, and too few, the whole table is compared.)
    pub fn nearest(&self, wanted: &Wanted, edges: &AttachedTable, k: Option<i32>, inner_only: bool) -> Fallible<Near> {
        let Some(embedding) = wanted.embedding else { return Ok(Near::default()) };
        let filter = self.condition(wanted.filter, 4)?;
        self.check(embedding)?;
        let enough = k.map_or(usize::MAX, |k| usize::try_from(k).unwrap_or_default());
        let (mut by_index, mut limit) = (k.is_some(), k.map_or(ALL, |k| (4 * i64::from(k)).max(64)));
        let condition = filter.as_ref().map(|filter| filter.sql.as_str());
        let wanted = Wanted { edges: Some(edges.oid()), ..*wanted };
        loop {
            let sql = self.source().nearest_entities(wanted.within.is_some(), condition, by_index)?;
            let values = wanted.values(filter.as_ref());
            let values = [&values[..], &[(pg_sys::INT8OID, Some(pg_sys::Datum::from(limit)))]].concat();
            let mut found = Found::of(&[pg_sys::TEXTOID, pg_sys::FLOAT8OID, pg_sys::FLOAT8OID, pg_sys::FLOAT8OID]);
            found.run(&sql, Planning::Custom, &values);
            let (mut near, mut room) = (Near::default(), Room::new());
            let (mut had, mut farthest) = (0.0, f64::INFINITY);
            found.each(|row| {
                had = row.float(2).unwrap_or_default();
                farthest = row.float(3).filter(|farthest| !farthest.is_nan()).unwrap_or(f64::INFINITY);
                match (row.text(0), row.float(1)) {
                    (Some(name), Some(distance)) => near.add(name, distance, &mut room),
                    _ => Ok(()),
                }
            })?;
            drop(found);
            // Keeps entities of the forest, even without relatives; a document may also be about others that are not
            // within the bounds.
            near.all = those(edges, &near, &wanted, inner_only, &mut room)?;
            let is_all = (had as i64) < limit;
            // The limit may have cut off some of the rows that are as far away as the last one.
            if is_all && !by_index || near.scores().filter(|distance| *distance < farthest).count() >= enough {
                near.keep_best(enough, |a, b| a.total_cmp(&b));
                let score = |distance: f64| if self.is_cosine() { 1.0 - distance } else { -distance };
                near.all.iter_mut().for_each(|(distance, _)| *distance = score(*distance));
                return Ok(near);
            }
            by_index = by_index && !is_all;
            limit *= if is_all { 1 } else { 4 };
        }
    }
}

/// Those of the nearest that are entities of the forest within the bounds, and have children if `inner_only`.
fn those(
    edges: &AttachedTable,
    near: &Near,
    wanted: &Wanted,
    inner_only: bool,
    room: &mut Room,
) -> Fallible<Vec<(f64, NameId)>> {
    let mut names: Vec<&[u8]> = list(near.len(), room)?;
    names.extend(near.names());
    let mut those = within::there(edges, &names, None)?;
    if let Some(tops) = wanted.within {
        let mut are_within = Within::of(edges, &tops.copied(&mut Room::new())?, None).those_of(&those)?.into_iter();
        those.retain(|_| are_within.next() == Some(true));
    }
    let mut inner = Found::of(&[pg_sys::TEXTOID]);
    let mut kept = list(those.len(), room)?;
    if !inner_only {
        let mut those = those.into_iter().peekable();
        kept.extend(near.all.iter().filter(|(_, name)| those.next_if_eq(&near.names.get(*name)).is_some()));
        return Ok(kept);
    }
    let sql = "SELECT DISTINCT c.entity FROM cftrag_internal.cft_context($1, 0, 1, $2) AS c";
    let values = [
        (pg_sys::TEXTARRAYOID, Some(text_array(&those))),
        (pg_sys::REGCLASSOID, Some(pg_sys::Datum::from(edges.oid()))),
    ];
    inner.run(sql, Planning::Auto, &values);
    inner.each(|row| {
        let known = row.text(0).and_then(|name| near.names.known(name));
        kept.extend(known.map(|name| near.all[name.number()]));
        Ok(())
    })?;
    Ok(kept)
}

/// Adds what distinct entities say, in any order: entity, text, tokens, and whether it is only what it is called.
/// `documents`: the table meant, if there is one.
pub fn texts(
    edges: &AttachedTable,
    documents: Option<pg_sys::Oid>,
    names: &[&[u8]],
    summaries_count: bool,
    found: &mut Found,
) -> Fallible<()> {
    let documents = documents.map(|named| Documents::of(edges.functions, Some(named), true)).transpose()?.flatten();
    let summaries = if summaries_count { Summaries::of(edges)? } else { None };
    let labels = Labels::of(edges, names)?;
    let called: Vec<&[u8]> = names.iter().enumerate().map(|(n, name)| labels.get(n).unwrap_or(name)).collect(); // bounded: the names
    let summaries = summaries.as_ref().map(|of| (of.name.as_str(), &of.entity, &of.summary));
    let sql = search::texts(documents.as_deref(), summaries);
    let values = [(pg_sys::TEXTARRAYOID, Some(text_array(names))), (pg_sys::TEXTARRAYOID, Some(text_array(&called)))];
    found.run(&sql, Planning::Custom, &values);
    Ok(())
}

/// A table of summaries of a forest's entities (cft_attach_summaries).
struct Summaries {
    name: String,
    entity: DocumentColumn,
    summary: DocumentColumn,
}

impl Summaries {
    /// The table that the caller may read, if one is attached.
    fn of(edges: &AttachedTable) -> Fallible<Option<Self>> {
        let which = Which { other: Some(edges.oid()), ..Which::default() };
        let function = Kind::Summaries.function(edges.functions);
        let all = with_active(|snapshot| registered::readable(function, which, Some(snapshot)));
        let Some(said) = all.into_iter().next() else { return Ok(None) };
        let table = EdgesTable::open(said.table)?;
        let column = |role: &str| said.column(role).and_then(|name| DocumentColumn::of(&table, name));
        let (Some(entity), Some(summary)) = (column("entity"), column("summary")) else { return Ok(None) };
        Ok(Some(Self { name: table.qualified(), entity, summary }))
    }
}
