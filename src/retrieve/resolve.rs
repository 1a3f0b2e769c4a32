//! Which entity a mention may mean: by its exact name, as texts name entities (folded, by a label or an alias, written
//! otherwise), as a path, or the nearest by embedding. The first way that finds some decides.

use crate::call::array::Texts;
use crate::call::fmgr;
use crate::call::text::Text;
use crate::call::utf8::{as_utf8, from_utf8};
use crate::call::work_memory::Room;
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::documents::{Documents, Embeddings};
use crate::catalog::registration::Functions;
use crate::error::Fallible;
use crate::guc::Match;
use crate::retrieve::documents::Wanted;
use crate::retrieve::found::Found;
use crate::retrieve::mentioned::mentions;
use crate::serve::asked::Question;
use crate::serve::plans::{Planning, with_settings};
use crate::serve::within;
use crate::serve::within::Within;
use cftrag_methods::retrieve::path;
use pgrx::pg_sys;
use std::collections::{BTreeMap, HashSet};

/// What cft_resolve is asked for. `wanted` has the edges, trees, entities to be within and the embedding.
#[derive(Clone, Copy)]
pub struct ResolveRequest<'c> {
    pub function: pg_sys::Oid,
    pub wanted: Wanted<'c>,
    pub k: usize,
    pub documents: Option<pg_sys::Oid>,
    pub matching: Match,
}

/// An entity that a mention may mean.
pub struct Meant {
    pub entity: Vec<u8>,
    pub score: f64,
    /// exact, folded, label, alias, path, nearest, or a method of cft_entities.
    pub method: Vec<u8>,
    pub label: Option<Vec<u8>>,
}

/// Entities by their names, with the alias by which each was found.
type ByName = BTreeMap<Vec<u8>, (Option<Vec<u8>>, Meant)>;

/// Entities that a part of a path may mean.
const OF_PART: usize = 1000;

/// Bytes of an entity in a list, besides its texts.
const EACH: usize = 160;

/// At most `k` entities that a text value may mean, the best first. Errors: those of cft_entities and
/// cft_nearest_entities; 42501 (the edges).
pub fn resolve(asked: &ResolveRequest, mention: Text<'_>) -> Fallible<Vec<Meant>> {
    let edges = AttachedTable::of_reader(asked.function, asked.wanted.edges)?;
    let asked = &ResolveRequest { wanted: Wanted { edges: Some(edges.oid()), ..asked.wanted }, ..*asked };
    let by_name = with_settings(&[(c"cftrag.match_case", c"off")], || asked.by_name(&edges, mention))?;
    if !by_name.is_empty() { Ok(by_name) } else { asked.nearest(&edges) }
}

impl ResolveRequest<'_> {
    fn by_name(&self, edges: &AttachedTable, mention: Text<'_>) -> Fallible<Vec<Meant>> {
        let Self { wanted, .. } = *self;
        let question = Question {
            text: mention,
            trees: wanted.trees,
            within: wanted.within,
            overlapping: false,
            once: false,
            matching: self.matching,
            narrow: false,
        };
        let text = mention.bytes();
        let has_labels = edges.columns.has_labels() || edges.open_label_table()?.is_some();
        let names = &edges.registration.names;
        let is_name = if has_labels { names.ids } else { edges.columns.are_found_by_name(names) };
        if self.k > 0 && is_name && !self.there(edges, &[text])?.is_empty() {
            return Ok(vec![Meant { entity: text.to_vec(), score: 1.0, method: b"exact".to_vec(), label: None }]); // bounded: a name
        }
        let named = self.named(&question, has_labels)?;
        if !named.is_empty() {
            return Ok(named);
        }
        let text = as_utf8(text)?;
        path::parts(text).map_or(Ok(Vec::new()), |parts| self.of_path(edges, &parts))
    }

    /// The entities with a row that are within the bounds.
    fn there<'n>(&self, edges: &AttachedTable, names: &[&'n [u8]]) -> Fallible<Vec<&'n [u8]>> {
        let Wanted { trees, within, .. } = self.wanted;
        let mut those = within::there(edges, names, trees)?;
        if let Some(tops) = within {
            let mut are_within =
                Within::of(edges, &tops.copied(&mut Room::new())?, trees).those_of(&those)?.into_iter();
            those.retain(|_| are_within.next() == Some(true));
        }
        Ok(those)
    }

    /// The entities that all words of the text name, with or without a possessive or an elision; those by an alias
    /// last.
    fn named(&self, question: &Question, has_labels: bool) -> Fallible<Vec<Meant>> {
        let whole = extents(question.text)?;
        let (mut all, mut room) = (ByName::new(), Room::new());
        mentions(self.function, self.wanted.edges, question, |one| {
            if !whole.contains(&(one.start, one.start + one.length)) {
                return Ok(());
            }
            let method = match (one.method, one.alias) {
                (b"exact", Some(_)) => b"alias",
                (b"exact", None) if has_labels => b"label",
                (b"exact", None) => &b"folded"[..],
                (method, _) => method,
            };
            room.take(EACH + 2 * one.entity.len() + one.label.map_or(0, <[u8]>::len))?;
            let alias = one.alias.map(<[u8]>::to_vec); // bounded: `room` has it
            if all.get(one.entity).is_some_and(|(known, _)| *known <= alias) {
                return Ok(());
            }
            let entity = one.entity.to_vec(); // bounded: `room` has it
            // The number that is written: 0.95, not the nearest single precision number to it.
            let score = one.score.to_string().parse().unwrap_or_default();
            let (method, label) = (method.to_vec(), one.label.map(<[u8]>::to_vec)); // bounded: `room` has them
            all.insert(entity.clone(), (alias, Meant { entity, score, method, label }));
            Ok(())
        })?;
        let mut all: Vec<Meant> = all.into_values().map(|(_, meant)| meant).collect(); // bounded: `room` has them
        all.sort_by_key(|meant| meant.method == b"alias");
        all.truncate(self.k);
        Ok(all)
    }

    /// What the last part of a path may mean, below what the part before may mean.
    fn of_path(&self, edges: &AttachedTable, parts: &[&str]) -> Fallible<Vec<Meant>> {
        let mut within = self.wanted.within;
        let mut those = Vec::new();
        for part in parts {
            let asked = Self { wanted: Wanted { within, ..self.wanted }, k: OF_PART, ..*self };
            those = asked.by_name(edges, fmgr::text(&from_utf8(part)?)?)?;
            if those.is_empty() {
                break;
            }
            within = Some(Texts::new(those.iter().map(|meant| Some(meant.entity.as_slice()))));
        }
        those.truncate(self.k);
        those.iter_mut().for_each(|meant| meant.method = b"path".to_vec()); // bounded: a word
        Ok(those)
    }

    /// The nearest entities, where there is something to find them by.
    fn nearest(&self, edges: &AttachedTable) -> Fallible<Vec<Meant>> {
        let functions = Functions::beside(self.function);
        if self.wanted.embedding.is_none()
            || Embeddings::of(functions, edges.oid())?.is_none()
                && Documents::of(functions, self.documents, false)?.is_none()
        {
            return Ok(Vec::new());
        }
        let k = i32::try_from(self.k).unwrap_or(i32::MAX);
        let mut near = self.wanted.nearest_entities(self.function, k, self.documents)?;
        if self.wanted.trees.is_some() || self.wanted.within.is_some() {
            let mut names: Vec<&[u8]> = near.all.iter().map(|(entity, _)| entity.as_slice()).collect(); // bounded: those that were found
            names.sort_unstable();
            names.dedup();
            let those: HashSet<Vec<u8>> = self.there(edges, &names)?.into_iter().map(<[u8]>::to_vec).collect(); // bounded: as above
            near.all.retain(|(entity, _)| those.contains(entity));
        }
        near.all.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
        near.all.truncate(self.k);
        let labels = near.labels(self.function, self.wanted.edges)?;
        let all = near.all.iter().enumerate().map(|(n, (entity, distance))| Meant {
            entity: entity.clone(),
            score: near.score(*distance),
            method: b"nearest".to_vec(),              // bounded: a word
            label: labels.get(n).map(<[u8]>::to_vec), // bounded: a label
        });
        Ok(all.collect()) // bounded: those that were found
    }
}

/// Where the words of a text begin and end: as it is written, and without possessives and elisions.
fn extents(text: Text<'_>) -> Fallible<Vec<(i32, i32)>> {
    let sql = "SELECT pg_catalog.min(w.start), pg_catalog.max(w.start OPERATOR(pg_catalog.+) w.length) FROM (VALUES (false), (true)) AS p(plain), \
               LATERAL cftrag_internal.cft_words($1, p.plain) AS w GROUP BY p.plain";
    let mut found = Found::of(&[pg_sys::INT4OID, pg_sys::INT4OID]);
    found.run(sql, Planning::Auto, &[(pg_sys::TEXTOID, Some(text.datum()))]);
    let mut all = Vec::new(); // bounded: two
    found.each(|row| {
        all.extend(row.int(0).zip(row.int(1)));
        Ok(())
    })?;
    Ok(all)
}
