//! Searches of a table of documents and of embeddings of entities, for k rows if there are that many. pgvector's index
//! scans continue where they would otherwise end (iterative scans, 0.8 and later); if rows are still missing, all
//! distances are compared.

use crate::call::array::Texts;
use crate::call::fmgr::beginning;
use crate::call::text::Text;
use crate::call::work_memory::{Room, copy};
use crate::catalog::documents::{Documents, Embeddings};
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::filter::{Condition, OF_SEARCHES};
use crate::catalog::privileges;
use crate::error::Fallible;
use crate::pg::{backend, settings};
use crate::retrieve::embedding::check_embedding;
use crate::retrieve::found::{Found, Row};
use crate::retrieve::search;
use crate::retrieve::search::{By, How, Search};
use crate::serve::plans::{Planning, Value, with_settings};
use pgrx::pg_sys;
use std::ffi::CStr;

/// Settings of pgvector that a search changes from off to relaxed_order. Rows then come nearly in the order of their
/// distances and are sorted at the end, which finds more of the nearest than strict_order in the same time.
const GOES_ON: [&CStr; 2] = [c"hnsw.iterative_scan", c"ivfflat.iterative_scan"];

/// What a search is asked for: values of a function's arguments.
#[derive(Clone, Copy)]
pub struct Wanted<'c> {
    /// The type of embeddings, and one.
    pub vector: pg_sys::Oid,
    pub embedding: Option<Text<'c>>,
    pub edges: Option<pg_sys::Oid>,
    pub trees: Option<Texts<'c>>,
    pub within: Option<Texts<'c>>,
    /// A value of type jsonb.
    pub filter: Option<Text<'c>>,
    /// Tokens of all texts.
    pub budget: Option<i32>,
    /// Whether a search returns the columns that a prompt shows beside the text.
    pub shows: bool,
}

/// The columns of a search's result, which may show more.
pub const COLUMNS: [pg_sys::Oid; 5] =
    [pg_sys::TEXTOID, pg_sys::TEXTOID, pg_sys::TEXTOID, pg_sys::INT4OID, pg_sys::FLOAT8OID];
pub const WITH_SHOWN: [pg_sys::Oid; 6] = [COLUMNS[0], COLUMNS[1], COLUMNS[2], COLUMNS[3], COLUMNS[4], pg_sys::TEXTOID];

impl Wanted<'_> {
    /// The text of a document, of which column `n` has the text and the next one the tokens: of more tokens than the
    /// budget has, only as much as fits. Returns it with the tokens of the whole.
    pub fn body(&self, row: &Row, n: usize, room: &mut Room) -> Fallible<(Option<Vec<u8>>, i32)> {
        let tokens = row.int(n + 1).unwrap_or_default();
        let body = row.text(n).map(|text| match self.budget {
            Some(budget) if tokens > budget => beginning(text, budget as usize, tokens as usize),
            _ => text,
        });
        let bytes = body.map_or(0, <[u8]>::len);
        room.take(bytes)?;
        Ok((body.map(|body| copy(body, &mut Room::new())).transpose()?, tokens))
    }

    /// The condition of the filter, if there is one. Errors: those of [`Condition::of`].
    pub fn condition(&self, of: &Documents) -> Fallible<Option<Condition>> {
        self.filter.map(|filter| Condition::of(filter, of, OF_SEARCHES)).transpose()
    }

    pub fn values(&self, filter: Option<&Condition>) -> [Value; 5] {
        [
            (self.vector, self.embedding.map(Text::datum)),
            (pg_sys::TEXTARRAYOID, self.within.map(Texts::datum)),
            (pg_sys::REGCLASSOID, self.edges.map(pg_sys::Datum::from)),
            (pg_sys::TEXTARRAYOID, filter.map(Condition::parameter)),
            (pg_sys::TEXTARRAYOID, self.trees.map(Texts::datum)),
        ]
    }

    fn is_bounded(&self) -> bool {
        self.within.is_some() || self.filter.is_some()
    }

    pub fn search<'s>(&self, by: By<'s>, k: i32, filter: Option<&'s Condition>) -> Search<'s> {
        Search {
            by,
            k,
            within: self.within.is_some(),
            filter: filter.map(|filter| filter.sql.as_str()),
            how: How::First,
            shows: self.shows,
            one_by_one: false,
        }
    }

    /// Whether so many rows of the mapping are within that a search reads fewer documents in the order of their
    /// distances. (To read one by an index costs some seven times as much as to compare one that is found by its
    /// entity.) Where a policy is on the mapping, its rows cannot be found by entity.
    fn are_many_within(&self, of: &Documents, k: i32) -> Fallible<bool> {
        let Some(mapping) = of.mapping.as_ref().filter(|_| self.within.is_some()) else { return Ok(false) };
        if privileges::has_policies(mapping.oid) {
            return Ok(true);
        }
        let rows = EdgesTable::open(mapping.oid)?.rows();
        let most = (7.0 * f64::from(k.max(1)) * rows).sqrt().max(1.0) as i64;
        let mut found = Found::of(&[pg_sys::INT8OID]);
        let [embedding, within, edges, filter, trees] = self.values(None);
        let values = [embedding, within, edges, filter, trees, (pg_sys::INT8OID, Some(most.into()))];
        found.run(&search::count_within(mapping), Planning::Custom, &values);
        let mut are_many = false;
        found.each(|row| {
            are_many = row.long(0).is_some_and(|count| count >= most);
            Ok(())
        })?;
        Ok(are_many)
    }

    /// Finds the `k` nearest documents: id, entity, body, tokens, distance. Without an embedding there are none.
    /// Errors: those of [`Wanted::condition`]; 22000 (dimensions), 22023 (a zero vector).
    pub fn nearest(&self, of: &Documents, k: i32, found: &mut Found) -> Fallible<()> {
        let filter = self.condition(of)?;
        let Some(embedding) = self.embedding else { return Ok(()) };
        check_embedding(embedding, &of.embedding, &of.distance, &of.shown)?;
        let search = self.search(By::Nearest, k, filter.as_ref());
        let search = Search { one_by_one: self.are_many_within(of, k)?, ..search };
        self.find(search, &self.values(filter.as_ref()), found, |search| search.statement(of))
    }

    /// Finds the `k` entities whose embeddings are nearest: entity, distance.
    pub fn nearest_embeddings(&self, of: &Embeddings, k: i32, found: &mut Found) -> Fallible<()> {
        let Some(embedding) = self.embedding else { return Ok(()) };
        check_embedding(embedding, &of.embedding, &of.distance, &of.shown)?;
        let search = self.search(By::Nearest, k, None);
        self.find(search, &self.values(None), found, |search| Ok(search.of_entities(of)))
    }

    /// Runs a search of the nearest, as far as it has to go.
    fn find(
        &self,
        search: Search<'_>,
        values: &[Value],
        found: &mut Found,
        statement: impl Fn(Search<'_>) -> Fallible<String>,
    ) -> Fallible<()> {
        // `within` may select few rows or many: plan for the values.
        let planning = if self.is_bounded() { Planning::Custom } else { Planning::Generic(0) };
        let k = search.k.max(0) as u64;
        let mut run = |how: How| -> Fallible<bool> {
            found.clear();
            let mut rows = found.run(&statement(Search { how, ..search })?, planning, values);
            // One row more than k says that there are ties at the end.
            if rows > k {
                found.clear();
                rows = found.run(&statement(Search { how: how.with_ties(), ..search })?, planning, values);
            }
            Ok(rows >= k)
        };
        // An iterative scan costs a little more from its start, so an unbounded search is first tried without.
        let is_done = (!self.is_bounded() && run(How::First)?) || going_on(self.vector, || run(How::First))?;
        if !is_done {
            run(How::Exactly)?;
        }
        Ok(())
    }
}

/// Runs a search with iterative index scans, which continue until they have enough rows.
fn going_on<T>(vector: pg_sys::Oid, work: impl FnOnce() -> T) -> T {
    // An older pgvector does not have these settings.
    let is_off = |setting: &&CStr| settings::is(setting, c"off");
    backend::load_library_of(vector);
    let settings: Vec<_> = GOES_ON.into_iter().filter(is_off).map(|setting| (setting, c"relaxed_order")).collect(); // bounded: a few settings
    with_settings(&settings, work)
}
