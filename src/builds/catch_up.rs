//! Applies the log of a load (capture/log_record.rs) to an image that was scanned beside writers.
//!
//! What the scan's snapshot saw is in the image already. A delete may come before the insert of its row; then the
//! delete waits. May raise. Only the builder (online.rs) calls it, with an image that is not published yet.

use crate::builds::builder;
use crate::capture::delta::Change;
use crate::capture::log_record::Segment;
use crate::catalog::edges_table::EdgesTable;
use crate::error;
use crate::error::{Fallible, LoadLost};
use crate::image::control::Control;
use crate::pg::snapshot::{SnapshotView, XidFates};
use cftrag_core::{
    Deletion, Edge, Error, Fate, Fates, Hint, Image, ListsRead, Memory, Partners, Recent, View, Visibility,
};
use pgrx::check_for_interrupts;

/// Slots of a long list read between two checks for interrupts.
const STEPS: usize = 1 << 16;

/// Owned names of an edge: tree, parent, child.
type Names = (Option<Vec<u8>>, Vec<u8>, Vec<u8>);

/// Applies the log of a load to its image, except for what the scan's snapshot has seen.
pub struct Applier<'c> {
    control: &'c Control,
    table: String,
    seen: SnapshotView,
    known: XidFates,
    partners: Partners,
    waiting: Vec<Waiting>,
}

/// A delete of a row whose insert has not come yet.
struct Waiting {
    names: Names,
    change: Change,
    /// The deleting transaction has committed: the insert is in the log by now, or never will be.
    over: bool,
}

impl Waiting {
    fn edge(&self) -> Edge<'_> {
        let (tree, parent, child) = &self.names;
        Edge { tree: tree.as_deref(), parent, child }
    }
}

impl<'c> Applier<'c> {
    pub fn new(control: &'c Control, table: &EdgesTable, seen: SnapshotView) -> Self {
        let (known, partners, waiting) = Default::default();
        Self { control, table: table.name(), seen, known, partners, waiting }
    }

    /// Whether no delete waits for its insert.
    pub fn is_done(&self) -> bool {
        self.waiting.is_empty()
    }

    pub fn apply(&mut self, memory: &mut Memory, segment: &Segment) -> Fallible<()> {
        let mut changes = segment.changes();
        loop {
            let rest = changes.clone();
            let Some((edge, change)) = changes.next() else { return Ok(()) };
            if !self.is_settled(change)? && !self.one(memory, &edge, change, &rest)? {
                let names = (edge.tree.map(<[u8]>::to_vec), edge.parent.to_vec(), edge.child.to_vec());
                self.waiting.push(Waiting { names, change, over: false });
            }
        }
    }

    /// Drops the waiting deletes of aborted transactions, and marks those of committed ones. Called before the log is
    /// read: a transaction that commits later may still add to the log.
    pub fn settle_waiting(&mut self) -> Fallible<()> {
        self.known = XidFates::default();
        let mut now = XidFates::default();
        for waiting in &mut self.waiting {
            let xid = waiting.change.by();
            now.learn(&[xid]).ok_or_else(|| error::load_lost(&self.table, LoadLost::XidTooOld))?;
            waiting.over = now.fate(xid) == Fate::Committed;
        }
        self.waiting.retain(|waiting| now.fate(waiting.change.by()) != Fate::Aborted);
        Ok(())
    }

    /// Applies the waiting deletes whose inserts have come.
    pub fn retry(&mut self, memory: &mut Memory) -> Fallible<()> {
        let all = std::mem::take(&mut self.waiting);
        let mut kept = Vec::new();
        for (i, waiting) in all.iter().enumerate() {
            let rest = all[i..].iter().map(|waiting| (waiting.edge(), waiting.change));
            let found = self.one(memory, &waiting.edge(), waiting.change, &rest)?;
            if !found && waiting.over {
                return Err(error::load_lost(&self.table, LoadLost::Unmatched));
            }
            kept.push(!found);
        }
        let mut kept = kept.into_iter();
        self.waiting = all;
        self.waiting.retain(|_| kept.next() == Some(true));
        Ok(())
    }

    /// Whether the scan's snapshot saw the change (so the image has it: an insert as a settled row, a deleted row not
    /// at all), or its transaction aborted.
    fn is_settled(&mut self, change: Change) -> Fallible<bool> {
        let xid = change.by();
        if self.seen.view(xid, Hint::None) == View::Unknown {
            self.seen.learn(&[xid]).ok_or_else(|| error::load_lost(&self.table, LoadLost::XidTooOld))?;
        }
        Ok(self.seen.view(xid, Hint::None) == View::Seen || self.seen.learned(xid) == Hint::Aborted)
    }

    /// Applies one change; returns false for a delete whose insert has not come yet. `rest` is this change and all
    /// later ones.
    fn one<'e>(
        &mut self,
        memory: &mut Memory,
        edge: &Edge,
        change: Change,
        rest: &(impl Iterator<Item = (Edge<'e>, Change)> + Clone),
    ) -> Fallible<bool> {
        loop {
            let mut ask = Vec::new();
            let done = {
                let image = Image::open(memory).map_err(|e| error::core(&e))?;
                let (known, partners, mut recent) = (&self.known, &mut self.partners, Recent::default());
                match change {
                    Change::Insert(stamp) => image.insert_next(edge, Some(stamp), &mut recent).map(|()| {
                        partners.inserted(stamp, &recent);
                        Deletion::Done
                    }),
                    Change::Frozen(_) => image.insert(edge, None).map(|()| Deletion::Done),
                    Change::Delete(row, by) => image.delete_next(edge, row, by, known, &mut ask, partners),
                }
            };
            match (done, change) {
                (Ok(Deletion::Done), _) => return Ok(true),
                (Ok(Deletion::Ask), _) => self.learn(&ask)?,
                (Ok(Deletion::Far), _) => self.find_deleted(memory, rest)?,
                (Ok(Deletion::NoPartner), Change::Delete(row, _)) if row.cmin.is_some() => return Ok(false),
                (Ok(Deletion::NoPartner), _) => return Err(error::load_lost(&self.table, LoadLost::Unmatched)),
                (Err(Error::Full { .. }), _) => _ = builder::grow(self.control, memory)?,
                (Err(other), _) => return Err(error::core(&other)),
            }
        }
    }

    fn learn(&mut self, ask: &[u64]) -> Fallible<()> {
        self.known.learn(ask).ok_or_else(|| error::load_lost(&self.table, LoadLost::XidTooOld))
    }

    /// Finds in a long list the rows that `rest` deletes. They stay in place, since only this process changes the
    /// image.
    fn find_deleted<'e>(
        &mut self,
        memory: &Memory,
        rest: &(impl Iterator<Item = (Edge<'e>, Change)> + Clone),
    ) -> Fallible<()> {
        let image = Image::open(memory).map_err(|e| error::core(&e))?;
        let deletes = rest.clone().filter_map(|(edge, change)| match change {
            Change::Delete(row, _) => Some((edge, row)),
            _ => None,
        });
        let no_memory = |_| error::out_of_memory(crate::guc::MEMORY_LIMIT.get());
        let mut looked = image.look_for(&mut self.partners, deletes).map_err(no_memory)?;
        while looked != ListsRead::Done {
            check_for_interrupts!();
            let mut ask = Vec::new();
            looked = image.read_lists(&mut self.partners, &self.known, &mut ask, STEPS).map_err(no_memory)?;
            self.learn(&ask)?;
        }
        Ok(())
    }
}
