//! The names of the trees a walk has met, each copied once: in one walk the same
//! [`Name`] is the same tree, so that rows of one tree are told by comparing numbers.

use crate::arena::{Arena, Name};
use crate::id::TreeId;
use crate::memory::Memory;
use crate::record::Record;
use crate::seen::Seen;

/// Trees, and where in the arena their names are.
#[derive(Debug)]
pub(crate) struct Trees {
    known: Seen,
    names: Vec<Name>,
    /// Most walks meet one tree only.
    last: Option<(TreeId, Name)>,
}

impl Trees {
    pub(crate) fn new() -> Trees {
        Trees { known: Seen::new(), names: Vec::new(), last: None }
    }

    /// Forgets all; the arena is about to.
    pub(crate) fn clear(&mut self) {
        self.known.start();
        self.names.clear();
        self.last = None;
    }

    /// The name of a tree, from the arena or copied there.
    #[inline]
    pub(crate) fn name(&mut self, mem: &Memory, arena: &mut Arena, tree: TreeId) -> Name {
        match self.last {
            Some((last, name)) if last == tree => name,
            _ => self.look_up(mem, arena, tree),
        }
    }

    fn look_up(&mut self, mem: &Memory, arena: &mut Arena, tree: TreeId) -> Name {
        let name = match self.known.get_or_insert(Some(tree), None, self.names.len()) {
            Some(known) => self.names[known],
            None => {
                let record = Record::new(mem, tree);
                let name = arena.add(record.name_len(), |to| record.copy_name(to));
                self.names.push(name);
                name
            }
        };
        self.last = Some((tree, name));
        name
    }
}
