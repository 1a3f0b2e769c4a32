//! The row that was inserted last: the next one often has the same names.

use crate::memory::id::{EntityId, RecordId, SlotRef};
use crate::records::edge::Ends;

/// The names of the last row, which the next one often has too. Ignored if the image changed in between.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recent {
    pub(crate) parent: Option<RecordId>,
    pub(crate) tree: Option<RecordId>,
    pub(crate) epoch: u64,
    /// The child and the slots of the last row.
    pub(crate) row: Option<(EntityId, SlotRef, SlotRef)>,
}

impl Recent {
    /// The last row: its entities and its slots, up and down.
    pub(crate) fn row(&self) -> Option<(Ends, SlotRef, SlotRef)> {
        let (child, up, down) = self.row?;
        let (parent, tree) = (self.parent?.entity(), self.tree.map(RecordId::tree));
        Some((Ends { parent, child, tree }, up, down))
    }
}
