//! The entities nearest to an embedding: by a table of their embeddings, else those of the nearest documents.

use crate::call::work_memory::Room;
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::documents::{Documents, Embeddings};
use crate::catalog::registration::Functions;
use crate::error;
use crate::error::Fallible;
use crate::retrieve::documents::{COLUMNS, Wanted};
use crate::retrieve::found::Found;
use crate::serve::labels::Labels;
use pgrx::pg_sys;
use std::collections::BTreeMap;

/// Entities with their distances, the nearest first.
pub struct Near {
    pub all: Vec<(Vec<u8>, f64)>,
    pub is_cosine: bool,
}

/// Bytes of an entity in a list, besides its name.
const EACH: usize = 96;

impl Wanted<'_> {
    /// The `k` nearest entities, or those of the `k` nearest documents. Errors: those of [`Wanted::nearest`]; 55000 if
    /// embeddings of entities are to have metadata.
    pub fn nearest_entities(&self, function: pg_sys::Oid, k: i32, documents: Option<pg_sys::Oid>) -> Fallible<Near> {
        let functions = Functions::beside(function);
        let edges = AttachedTable::of(function, self.edges)?.oid();
        let wanted = Wanted { edges: Some(edges), ..*self };
        let mut room = Room::new();
        if let Some(of) = Embeddings::of(functions, edges)? {
            if self.filter.is_some() {
                return Err(error::no_metadata(&of.shown));
            }
            let mut found = Found::of(&[pg_sys::TEXTOID, pg_sys::FLOAT8OID]);
            wanted.nearest_embeddings(&of, k, &mut found)?;
            let mut all = Vec::new();
            found.each(|row| {
                let (Some(entity), Some(distance)) = (row.text(0), row.float(1)) else { return Ok(()) };
                room.take(EACH + entity.len())?;
                all.push((entity.to_vec(), distance)); // bounded: `room` has it
                Ok(())
            })?;
            return Ok(Near { all, is_cosine: of.distance.is_cosine });
        }
        let Some(of) = Documents::of(functions, documents, true)? else {
            return Ok(Near { all: Vec::new(), is_cosine: false });
        };
        let wanted = Wanted { shows: false, ..wanted };
        let mut found = Found::of(&COLUMNS);
        wanted.nearest(&of, k, &mut found)?;
        let mut nearest: BTreeMap<Vec<u8>, f64> = BTreeMap::new(); // bounded: `room` has it
        found.each(|row| {
            let (Some(entity), Some(distance)) = (row.text(1), row.float(4)) else { return Ok(()) };
            room.take(EACH + entity.len())?;
            let entity = entity.to_vec(); // bounded: `room` has it
            nearest.entry(entity).and_modify(|known| *known = known.min(distance)).or_insert(distance);
            Ok(())
        })?;
        let mut all: Vec<_> = nearest.into_iter().collect(); // bounded: `room` has it
        all.sort_by(|a, b| a.1.total_cmp(&b.1));
        Ok(Near { all, is_cosine: of.distance.is_cosine })
    }
}

impl Near {
    /// How near an entity is: the more the nearer.
    pub fn score(&self, distance: f64) -> f64 {
        if self.is_cosine { 1.0 - distance } else { -distance }
    }

    /// What the entities are called.
    pub fn labels(&self, function: pg_sys::Oid, edges: Option<pg_sys::Oid>) -> Fallible<Labels> {
        let names: Vec<&[u8]> = self.all.iter().map(|(entity, _)| entity.as_slice()).collect(); // bounded: those that were found
        Labels::of(&AttachedTable::of(function, edges)?, &names)
    }
}
