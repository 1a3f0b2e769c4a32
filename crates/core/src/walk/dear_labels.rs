//! The labels of entities that have many rows, kept for the rest of a walk: an entity in many trees has a label in each
//! of its rows, and may be a relative in each of these trees.
//!
//! The table has one place for each hash, so another entity may take it. It gets its memory between steps, once a label
//! has been dear. Only entities with a row that the snapshot sees are kept, so that their records stay.

use super::arena::Name;
use crate::memory::casts::index;
use crate::memory::id::EntityId;

/// A label is dear if so many slots are read for it.
const DEAR: usize = 64;
/// Places in the table.
const PLACES: usize = 1 << 12;
/// Ids are dense: the golden ratio spreads them.
const GOLDEN: u32 = 0x9E37_79B9;

/// The table. Empty until a label was dear.
#[derive(Debug, Default)]
pub(crate) struct DearLabels {
    table: Vec<Option<(EntityId, Name)>>,
    is_wanted: bool,
}

impl DearLabels {
    /// Forgets all labels; keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.table.clear();
        self.is_wanted = false;
    }

    /// Gets memory for the table, if a label was dear. Without memory labels are read each time.
    pub(crate) fn make_room(&mut self) {
        if self.is_wanted && self.table.is_empty() && self.table.try_reserve_exact(PLACES).is_ok() {
            self.table.resize(PLACES, None);
        }
    }

    /// The label of an entity; none if it is not known.
    #[inline]
    pub(crate) fn get(&self, entity: EntityId) -> Option<Name> {
        let known = (*self.table.get(place(entity))?)?;
        (known.0 == entity).then_some(known.1)
    }

    /// Keeps a label for which so many slots were read, if that is dear.
    #[inline]
    pub(crate) fn note(&mut self, entity: EntityId, label: Name, slots: usize) {
        if slots >= DEAR {
            self.is_wanted = true;
            if let Some(place) = self.table.get_mut(place(entity)) {
                *place = Some((entity, label));
            }
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.table.capacity() * size_of::<Option<(EntityId, Name)>>()
    }
}

fn place(entity: EntityId) -> usize {
    index(entity.line().wrapping_mul(GOLDEN) >> (u32::BITS - PLACES.ilog2()))
}
