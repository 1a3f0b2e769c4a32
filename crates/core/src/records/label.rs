//! Labels: readable names for entities, for example if an entity's name is a number.
//!
//! A label is an edge of a separate tree, [`LABELS`], from the label (parent) to the entity (child). So it appears and
//! disappears with its row, under the same snapshots, and needs no other memory, log or check than an edge does. The
//! name of that tree is one NUL byte, and the name of a label ends with one: no value of a column contains it, so no
//! name in a user's table is taken for a label. Walks and roots leave that tree out.

use crate::Image;
use crate::memory::hash::Kind;
use crate::memory::id::{RecordId, TreeId};
use crate::memory::root::Counter;
use crate::records::record::Record;

/// The name of the tree of labels.
pub const LABELS: &[u8] = &[END];

/// The last byte of a label's name, added to the value of the column.
pub const END: u8 = 0;

/// The value of the column of labels, if this is the name of a label.
#[must_use]
pub fn label_of(name: &[u8]) -> Option<&[u8]> {
    name.strip_suffix(LABELS)
}

impl Image<'_> {
    /// The tree of labels, if there is one.
    pub(crate) fn labels(self) -> Option<TreeId> {
        if self.root().count(Counter::Trees) == 0 {
            return None;
        }
        self.key(Kind::Tree, LABELS).record.map(RecordId::tree)
    }
}

impl Record<'_> {
    /// Whether this is the record of a label. `scratch` is memory for a long name.
    pub(crate) fn is_label(self, scratch: &mut Vec<u8>) -> bool {
        let len = self.name_len();
        let Some(last) = len.checked_sub(1) else { return false };
        if let Some(byte) = self.name_start().get(last) {
            return *byte == END;
        }
        scratch.resize(len, 0);
        self.copy_name(scratch);
        scratch[last] == END
    }
}
