//! What the methods over embeddings share: where the embeddings of a forest's entities are, how near these are, and what they say.
//!
//! The statements run with search_path pinned: their operators are the server's. Embeddings are in the table of cft_attach_embeddings, else in the documents
//! about the entities.

use crate::call::fmgr::text_array;
use crate::call::work_memory::Room;
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::documents::{DocumentColumn, Documents, Embeddings};
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::filter::Condition;
use crate::catalog::name::{display_identifier, display_name};
use crate::catalog::registered;
use crate::catalog::registered::{Kind, Which};
use crate::error;
use crate::error::Fallible;
use crate::pg::compat::plain;
use crate::retrieve::documents::{Wanted, check_against};
use crate::retrieve::found::Found;
use crate::retrieve::search;
use crate::retrieve::search::Source;
use crate::serve::labels::Labels;
use crate::serve::plans::Planning;
use crate::serve::within;
use crate::serve::within::Within;
use pgrx::pg_sys;
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

/// Where the embeddings of a forest's entities are.
pub enum Meaning {
    Embeddings(Rc<Embeddings>),
    Documents(Rc<Documents>),
}

/// Bytes of an entity in a list, besides its name.
const EACH: usize = 96;

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

    /// 22000 if an embedding has other dimensions than those that are searched.
    fn check(&self, embedding: pg_sys::Datum) -> Fallible<()> {
        let (column, table) = match self {
            Self::Embeddings(of) => (&of.embedding, &of.oid),
            Self::Documents(of) => (&of.embedding, &of.oid),
        };
        check_against(
            embedding,
            column.modifier,
            &format!("{}.{}", display_name(*table), display_identifier(&column.name)),
        )
    }

    /// A filter of the documents, which compares with that parameter. 55000 if there are embeddings of entities, which have no metadata.
    fn condition(&self, filter: Option<pg_sys::Datum>, parameter: usize) -> Fallible<Option<Condition>> {
        let Some(filter) = filter else { return Ok(None) };
        match self {
            Self::Embeddings(of) => Err(error::no_metadata(&display_name(of.oid))),
            Self::Documents(of) => Condition::of(filter, of, parameter).map(Some),
        }
    }

    /// The statement for the scores of entities $1 against $2, and the parameter $3 of its filter.
    pub fn scoring(
        &self,
        embedding: pg_sys::Datum,
        filter: Option<pg_sys::Datum>,
    ) -> Fallible<(String, Option<pg_sys::Datum>)> {
        let condition = self.condition(filter, 3)?;
        self.check(embedding)?;
        let sql = condition.as_ref().map(|condition| condition.sql.as_str());
        Ok((self.source().scores(sql), condition.as_ref().map(Condition::parameter)))
    }

    /// How near distinct entities are to an embedding, by the nearest of each one's: name and score. Entities without a score are left out.
    pub fn scores(
        &self,
        (vector, embedding): (pg_sys::Oid, pg_sys::Datum),
        names: &[&[u8]],
    ) -> Fallible<Vec<(Vec<u8>, f64)>> {
        let (sql, _) = self.scoring(embedding, None)?;
        let sql = format!("SELECT s.name, pg_catalog.max(s.score) FROM ({sql}) AS s GROUP BY s.name");
        let values =
            [(pg_sys::TEXTARRAYOID, Some(text_array(names))), (vector, Some(embedding)), (pg_sys::TEXTARRAYOID, None)];
        let mut found = Found::of(&[pg_sys::TEXTOID, pg_sys::FLOAT8OID]);
        found.run(&sql, Planning::Custom, &values);
        let (mut all, mut room) = (Vec::new(), Room::new());
        found.each(|row| {
            let (Some(name), Some(score)) = (row.text(0), row.float(1)) else { return Ok(()) };
            room.take(EACH + name.len())?;
            all.push((name.to_vec(), score)); // bounded: `room` has it
            Ok(())
        })?;
        Ok(all)
    }

    /// The `k` entities of a forest that are nearest to an embedding, with their scores; with `inner_only` of those that have children. Searches by the index,
    /// with a growing limit until there are enough. (An index scan of pgvector may end early: if it returns fewer rows than the limit, and too few, the whole
    /// table is compared.)
    pub fn nearest(
        &self,
        wanted: &Wanted,
        edges: &AttachedTable,
        k: Option<i32>,
        inner_only: bool,
    ) -> Fallible<Vec<(Vec<u8>, f64)>> {
        let Some(embedding) = wanted.embedding else { return Ok(Vec::new()) };
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
            let (mut near, mut room) = (BTreeMap::new(), Room::new());
            let (mut had, mut farthest) = (0.0, f64::INFINITY);
            found.each(|row| {
                had = row.float(2).unwrap_or_default();
                farthest = row.float(3).filter(|farthest| !farthest.is_nan()).unwrap_or(f64::INFINITY);
                if let (Some(name), Some(distance)) = (row.text(0), row.float(1)) {
                    room.take(2 * EACH + name.len())?;
                    near.insert(name.to_vec(), distance); // bounded: `room` has it
                }
                Ok(())
            })?;
            // Keeps entities of the forest, even without relatives; a document may also be about others that are not within the bounds.
            let good = those(edges, near.keys().map(Vec::as_slice).collect(), &wanted, inner_only)?; // bounded: as above
            near.retain(|name, _| good.contains(name));
            let is_all = (had as i64) < limit;
            // The limit may have cut off some of the rows that are as far away as the last one.
            if is_all && !by_index || near.values().filter(|distance| **distance < farthest).count() >= enough {
                let mut all: Vec<_> = near.into_iter().collect(); // bounded: `room` has it
                all.sort_by(|a, b| a.1.total_cmp(&b.1));
                all.truncate(enough);
                let is_cosine = self.is_cosine();
                all.iter_mut()
                    .for_each(|(_, distance)| *distance = if is_cosine { 1.0 - *distance } else { -*distance });
                return Ok(all);
            }
            by_index = by_index && !is_all;
            limit *= if is_all { 1 } else { 4 };
        }
    }
}

/// Those of distinct names that are entities of the forest within the bounds, and have children if `inner_only`.
fn those(edges: &AttachedTable, names: Vec<&[u8]>, wanted: &Wanted, inner_only: bool) -> Fallible<HashSet<Vec<u8>>> {
    let mut those = within::there(edges, &names, None)?;
    if let Some(tops) = wanted.within {
        let mut are_within = Within::of(edges, &within::tops(tops)?, None).those_of(&those)?.into_iter();
        those.retain(|_| are_within.next() == Some(true));
    }
    if !inner_only {
        return Ok(those.into_iter().map(<[u8]>::to_vec).collect()); // bounded: the names
    }
    let sql = "SELECT DISTINCT c.entity FROM cftrag_internal.cft_context($1, 0, 1, $2) AS c";
    let values = [
        (pg_sys::TEXTARRAYOID, Some(text_array(&those))),
        (pg_sys::REGCLASSOID, Some(pg_sys::Datum::from(edges.oid()))),
    ];
    let mut found = Found::of(&[pg_sys::TEXTOID]);
    found.run(sql, Planning::Auto, &values);
    let mut inner = HashSet::new(); // bounded: the names
    found.each(|row| {
        inner.extend(row.text(0).map(<[u8]>::to_vec)); // bounded: the names
        Ok(())
    })?;
    Ok(inner)
}

/// Adds what distinct entities say, in any order: entity, text, tokens, and whether it is only what it is called. `documents`: the table meant, if there is
/// one.
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
        #[expect(unsafe_code, reason = "a snapshot is active in every SQL function")]
        // SAFETY: as said.
        let snapshot = unsafe { plain::GetActiveSnapshot() };
        let all = registered::readable(Kind::Summaries.function(edges.functions), which, snapshot);
        let Some(said) = all.into_iter().next() else { return Ok(None) };
        let table = EdgesTable::open(said.table)?;
        let column = |role: &str| said.column(role).and_then(|name| DocumentColumn::of(&table, name));
        let (Some(entity), Some(summary)) = (column("entity"), column("summary")) else { return Ok(None) };
        Ok(Some(Self { name: table.qualified(), entity, summary }))
    }
}
