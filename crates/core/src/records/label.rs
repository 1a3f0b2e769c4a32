//! Labels: readable names for entities, for example if an entity's name is a number.
//!
//! A label is an edge of a separate tree, [`LABELS`], from the label (parent) to the entity (child). So it appears and
//! disappears with its row, under the same snapshots, and needs no other memory, log or check than an edge does. Labels
//! that are not preferred, and names that only texts use, are edges of other such trees, [`MORE_LABELS`] and
//! [`OTHER_NAMES`]: an entity is called by one of them if it has none of the former. The names of these trees are NUL
//! bytes, and the name of a label ends with one: no value of a column contains it, so no name in a user's table is
//! taken for a label. Walks and roots leave these trees out.

use crate::Image;
use crate::memory::hash::Kind;
use crate::memory::id::{RecordId, TreeId};
use crate::memory::root::Counter;
use crate::records::record::Record;

/// The name of the tree of labels.
pub const LABELS: &[u8] = &[END];

/// The name of the tree of labels that are not preferred.
pub const MORE_LABELS: &[u8] = &[END; 2];

/// The name of the tree of other names.
pub const OTHER_NAMES: &[u8] = &[END; 3];

/// The last byte of a label's name, added to the value of the column.
pub const END: u8 = 0;

/// The tree of a name of an entity: of its label, which is preferred or not (`n` is 0), or of the n-th other name.
#[must_use]
pub fn tree_of_name(n: usize, is_preferred: bool) -> &'static [u8] {
    match n {
        0 if is_preferred => LABELS,
        0 => MORE_LABELS,
        _ => OTHER_NAMES,
    }
}

/// The value of the column of labels, if this is the name of a label.
#[must_use]
pub fn label_of(name: &[u8]) -> Option<&[u8]> {
    name.strip_suffix(LABELS)
}

/// The trees of an image that hold labels and other names, as far as it has them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LabelTrees([Option<TreeId>; 3]);

impl LabelTrees {
    #[inline]
    pub(crate) fn has(self, tree: Option<TreeId>) -> bool {
        tree.is_some() && self.0.contains(&tree)
    }

    /// The trees, those whose names are preferred first, each with its rank.
    pub(crate) fn ranked(self) -> impl Iterator<Item = (usize, TreeId)> {
        self.0.into_iter().enumerate().filter_map(|(rank, tree)| Some((rank, tree?)))
    }

    pub(crate) fn count(self) -> usize {
        self.ranked().count()
    }

    pub(crate) fn is_empty(self) -> bool {
        self.count() == 0
    }
}

impl Image<'_> {
    pub(crate) fn labels(self) -> LabelTrees {
        if self.root().count(Counter::Trees) == 0 {
            return LabelTrees::default();
        }
        LabelTrees(
            [LABELS, MORE_LABELS, OTHER_NAMES]
                .map(|tree| self.key(Kind::Tree, tree).record.map(RecordId::tree)),
        )
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
