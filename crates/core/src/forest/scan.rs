//! Reads every visible edge row, bucket by bucket: `cft_verify` compares them with the table.

use crate::memory::hash::Kind;
use crate::memory::id::{RecordId, TreeId};
use crate::records::list::Cursor;
use crate::records::record::{Direction, Record};
use crate::records::slot::Slot;
use crate::records::unknown_xids::UnknownXids;
use crate::records::visibility::sees;
use crate::{Image, Step, Visibility};

/// The position of [`Image::edges`], and its scratch memory.
#[derive(Debug, Default)]
pub struct Scan {
    bucket: u32,
    asked: UnknownXids,
    tree_name: Vec<u8>,
    parent_name: Vec<u8>,
    child_name: Vec<u8>,
}

impl Scan {
    /// Starts at the first bucket.
    #[must_use]
    pub fn new() -> Scan {
        Scan::default()
    }

    /// The xids that the snapshot did not know, each once, after [`Step::Ask`].
    #[must_use]
    pub fn asked(&self) -> &[u64] {
        self.asked.xids()
    }

    /// Goes back to the first bucket; the rows passed so far are void.
    pub fn restart(&mut self) {
        self.bucket = 0;
        self.asked.make_room(usize::MAX);
        self.asked.clear();
    }

    fn read_name<'a>(to: &'a mut Vec<u8>, record: Record<'_>) -> &'a [u8] {
        to.resize(record.name_len(), 0);
        record.copy_name(to);
        to
    }
}

impl Image<'_> {
    /// Reader: calls `f(tree, parent, child)` for every visible edge row, including each duplicate. Reads about
    /// `budget` slots a call: a bucket is finished once begun. After [`Step::More`] the next call continues. An entry
    /// may move to another bucket when the image changes, so restart the scan if [`Image::epoch`] changed. After
    /// [`Step::Ask`] the scan is complete, except for rows of the xids in [`Scan::asked`].
    pub fn edges(
        &self,
        scan: &mut Scan,
        budget: usize,
        seen: &impl Visibility,
        mut f: impl FnMut(Option<&[u8]>, &[u8], &[u8]),
    ) -> Step {
        let names = self.names();
        let buckets = names.geometry().buckets();
        let mut visited = 0;
        while scan.bucket < buckets {
            if visited >= budget.max(1) {
                return Step::More;
            }
            for entry in names.read(scan.bucket) {
                visited += 1;
                if let Some(id) = entry.record() {
                    visited += self.edges_down(id, scan, seen, &mut f);
                }
            }
            scan.bucket += 1;
        }
        if scan.asked.is_empty() { Step::Done } else { Step::Ask }
    }

    /// The edges whose parent is this entity. Returns the number of slots read.
    fn edges_down(
        self,
        id: RecordId,
        scan: &mut Scan,
        seen: &impl Visibility,
        f: &mut impl FnMut(Option<&[u8]>, &[u8], &[u8]),
    ) -> usize {
        let mem = self.mem();
        let parent = Record::new(mem, id);
        if parent.kind() == Kind::Tree {
            return 0;
        }
        Scan::read_name(&mut scan.parent_name, parent);
        let mut last_tree: Option<TreeId> = None;
        let mut cursor = Cursor::start(parent, Direction::Down);
        let mut visited = 0;
        while let Some(at) = cursor.next(mem) {
            visited += 1;
            let slot = Slot::read(mem, at);
            if !sees(mem, slot.link, seen, &mut scan.asked) {
                continue;
            }
            if let Some(tree) = slot.tree
                && last_tree != Some(tree)
            {
                Scan::read_name(&mut scan.tree_name, Record::new(mem, tree));
                last_tree = Some(tree);
            }
            let child = Scan::read_name(&mut scan.child_name, Record::new(mem, slot.neighbour));
            f(slot.tree.map(|_| &*scan.tree_name), &scan.parent_name, child);
        }
        visited
    }
}
