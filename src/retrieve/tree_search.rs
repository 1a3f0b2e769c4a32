//! The methods that search a forest by embeddings, and go from what they find to what is around it: cft_tree_search,
//! cft_coarse_fine, cft_expand.
//!
//! What is found here, by an index or by a walk, is joined with texts by statements in sql/, which run with search_path
//! pinned.

use crate::call::array::Texts;
use crate::call::fmgr::{array_of_values, text_array, text_array_of, text_datum};
use crate::call::text::Text;
use crate::call::tuple::float;
use crate::catalog::attached_table::AttachedTable;
use crate::error::Fallible;
use crate::retrieve::documents::Wanted;
use crate::retrieve::found::Found;
use crate::retrieve::meaning::{Meaning, Near};
use crate::serve::plans::{Planning, Value};
use pgrx::pg_sys;

const COLLAPSED: &str = include_str!("../../sql/collapsed.sql");
const DESCENT: &str = include_str!("../../sql/descent.sql");
const EXPAND: &str = include_str!("../../sql/expand.sql");
const LEAVES: &str = include_str!("../../sql/leaves.sql");
const COARSE_FINE: &str = include_str!("../../sql/coarse_fine.sql");

/// What all of them are asked about.
pub struct Forest {
    pub edges: AttachedTable,
    /// The table of documents that is meant, if there is one.
    pub documents: Option<pg_sys::Oid>,
}

/// A descent from the top, as cft_descend takes it.
pub struct Descent<'d> {
    pub mode: &'d [u8],
    pub threshold: Option<f64>,
    pub descend_threshold: Option<f64>,
    pub prune_factor: f64,
    pub beam: i32,
    pub max_depth: i32,
    pub start: Option<Texts<'d>>,
}

/// The shares of a budget.
pub struct Shares {
    pub global: f64,
    pub bridge: f64,
    pub local: f64,
}

impl Forest {
    fn edges(&self) -> Value {
        (pg_sys::REGCLASSOID, Some(pg_sys::Datum::from(self.edges.oid())))
    }

    fn documents(&self) -> Value {
        (pg_sys::REGCLASSOID, self.documents.map(pg_sys::Datum::from))
    }

    /// The nearest entities as if the forest had no levels, with scores of `threshold` at least; within the budget.
    pub fn collapsed(
        &self,
        wanted: &Wanted,
        k: Option<i32>,
        threshold: Option<f64>,
        found: &mut Found,
    ) -> Fallible<()> {
        let mut near = Meaning::of(&self.edges, self.documents)?.nearest(wanted, &self.edges, k, false)?;
        threshold.into_iter().for_each(|least| near.keep_from(least));
        let [names, scores] = arrays(&near);
        let values = [names, scores, self.edges(), of_int(wanted.budget), self.documents()];
        found.run(COLLAPSED, Planning::Custom, &values);
        Ok(())
    }

    /// What a descent finds, within the budget.
    pub fn descend(&self, wanted: &Wanted, k: Option<i32>, asked: &Descent, found: &mut Found) {
        let values = [
            (wanted.vector, wanted.embedding.map(Text::datum)),
            (pg_sys::TEXTOID, Some(text_datum(asked.mode))),
            of_float(asked.threshold),
            of_float(asked.descend_threshold),
            of_float(Some(asked.prune_factor)),
            of_int(Some(asked.beam)),
            of_int(Some(asked.max_depth)),
            of_int(k),
            of_int(wanted.budget),
            self.edges(),
            self.documents(),
            (pg_sys::TEXTARRAYOID, asked.start.map(Texts::datum)),
            (pg_sys::TEXTARRAYOID, wanted.within.map(Texts::datum)),
            (pg_sys::JSONBOID, wanted.filter.map(Text::datum)),
        ];
        found.run(DESCENT, Planning::Custom, &values);
    }

    /// From entities, a text[] value, up to where they meet and down to the leaves.
    pub fn expand(
        &self,
        entities: Option<Texts<'_>>,
        [up, down, min_support]: [i32; 3],
        k: Option<i32>,
        found: &mut Found,
    ) {
        let values = [
            (pg_sys::TEXTARRAYOID, entities.map(Texts::datum)),
            of_int(Some(up)),
            of_int(Some(down)),
            of_int(Some(min_support)),
            of_int(k),
            self.edges(),
            self.documents(),
        ];
        found.run(EXPAND, Planning::Custom, &values);
    }

    /// The `coarse_k` nearest entities that have children; of the leaves within `down` levels below them the `fine_k`
    /// nearest; how these hang together; each within its share of the budget.
    pub fn coarse_fine(
        &self,
        wanted: &Wanted,
        [coarse_k, fine_k, down, max_hops]: [i32; 4],
        shares: &Shares,
        found: &mut Found,
    ) -> Fallible<()> {
        let Some(embedding) = wanted.embedding else { return Ok(()) };
        let meaning = Meaning::of(&self.edges, self.documents)?;
        let coarse = meaning.nearest(wanted, &self.edges, Some(coarse_k), true)?;
        let [coarse, coarse_scores] = arrays(&coarse);
        let mut leaves = Found::of(&[pg_sys::TEXTOID, pg_sys::TEXTOID]);
        leaves.run(LEAVES, Planning::Custom, &[coarse, of_int(Some(down)), self.edges()]);
        let below = leaves.texts()?;
        let names: Vec<&[u8]> = below.keys().map(Vec::as_slice).collect(); // bounded: `texts` has them
        let most = usize::try_from(fine_k).unwrap_or_default();
        let fine = meaning.nearest_of((wanted.vector, embedding), &names, most)?;
        let under: Vec<&[u8]> = fine.names().map(|name| below[name].as_slice()).collect(); // bounded: as above
        let [fine, fine_scores] = arrays(&fine);
        let values = [
            coarse,
            coarse_scores,
            fine,
            fine_scores,
            (pg_sys::TEXTARRAYOID, Some(text_array(&under))),
            of_int(Some(max_hops)),
            of_int(wanted.budget),
            of_float(Some(shares.global)),
            of_float(Some(shares.bridge)),
            of_float(Some(shares.local)),
            self.edges(),
            self.documents(),
        ];
        found.run(COARSE_FINE, Planning::Custom, &values);
        Ok(())
    }
}

fn of_int(value: Option<i32>) -> Value {
    (pg_sys::INT4OID, value.map(pg_sys::Datum::from))
}

fn of_float(value: Option<f64>) -> Value {
    (pg_sys::FLOAT8OID, value.map(float))
}

/// Entities and their scores, as arrays.
fn arrays(near: &Near) -> [Value; 2] {
    let scores = near.scores().map(f64::to_ne_bytes);
    [
        (pg_sys::TEXTARRAYOID, Some(text_array_of(near.names().map(Some)))),
        (pg_sys::FLOAT8ARRAYOID, Some(array_of_values(pg_sys::FLOAT8OID, scores))),
    ]
}
