//! What a row of an attached table says, as edges: its own, and one for each of its names, in a tree of such names.
//! Builds and private images ask it; a trigger notes the like of a changed row (capture/trigger.rs).

use crate::error;
use crate::error::Fallible;
use cftrag_core::{Edge, LABELS, tree_of_name};

/// A row's columns as texts; None for NULL, and for what the table does not have.
#[derive(Clone, Copy)]
pub struct RowTexts<'r> {
    pub tree: Option<&'r [u8]>,
    pub parent: Option<&'r [u8]>,
    pub child: &'r [u8],
    pub is_preferred: bool,
}

impl<'r> RowTexts<'r> {
    /// Calls `each` for the row's edges. `has_parent`: a table of names has no parents, and no edges of its own.
    /// `called`: the label, then other names. `label` is memory to work with. 53200.
    pub fn each_edge(
        self,
        has_parent: bool,
        called: impl Iterator<Item = Option<&'r [u8]>>,
        label: &mut Vec<u8>,
        mut each: impl FnMut(&Edge<'_>) -> Fallible<()>,
    ) -> Fallible<()> {
        let Self { tree, parent, child, is_preferred } = self;
        if has_parent {
            // A row without a parent only says that its child exists, as a row whose parent is the child itself does.
            each(&Edge { tree, parent: parent.unwrap_or(child), child })?;
        }
        for (n, name) in called.enumerate() {
            // An empty name is none.
            let Some(name) = name.filter(|name| !name.is_empty()) else { continue };
            label.clear();
            label.try_reserve(name.len() + LABELS.len()).map_err(|_| error::no_memory_to_work(name.len()))?;
            label.extend_from_slice(name);
            label.extend_from_slice(LABELS);
            each(&Edge { tree: Some(tree_of_name(n, is_preferred)), parent: label, child })?;
        }
        Ok(())
    }
}
