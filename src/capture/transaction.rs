//! This transaction's delta: changes of attached tables that are not in an image yet, in local memory.
//!
//! Triggers append (trigger.rs); flush.rs moves entries into the image; ROLLBACK and ROLLBACK TO drop their part, so there is nothing
//! to undo. Appending never raises: memory that cannot be had marks the table's entries as lost, and the image becomes incomplete at
//! commit. Entries carry the xids and command ids of their tuples, so the image can answer this transaction itself.

#![expect(unsafe_code, reason = "transaction callbacks")]

use crate::compat::{Locator, unguarded};
use crate::edges::Columns;
use crate::flush::Flushed;
use crate::slot::Spoil;
use crate::{contain, flush, locks, registration, shmem, visibility};
use cftrag_core::{Deleter, Edge, RowVersion, Stamp};
use pgrx::check_for_interrupts;
use pgrx::prelude::*;
use std::cell::{Cell, RefCell};

/// Past this size a table's entries are flushed from within the trigger, so that a bulk load does not hold them all, and finds those it
/// holds in the processor's caches (with 8 MiB its INSERT took 1 to 2 % longer).
pub const CAP_BYTES: usize = 1 << 20;

#[derive(Clone, Copy, Debug)]
pub enum Change {
    Insert(Stamp),
    /// A frozen row (COPY FREEZE), and the transaction that wrote it: visible to all who see the table as that one stored it.
    Frozen(u64),
    Delete(RowVersion, Deleter),
}

/// One change; its names are in `Table::names` from `at`: tree, parent, child.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub change: Change,
    /// The load (slot.rs) in whose log the entry is, 0 if in none.
    pub logged: u64,
    subtransaction: pg_sys::SubTransactionId,
    at: usize,
    /// NO_TREE: NULL.
    tree: u32,
    parent: u32,
    child: u32,
}

/// What a row's columns gave: the lengths of its names, written one after the other.
#[derive(Clone, Copy, Debug)]
pub enum Names {
    /// `tree`: NO_TREE is NULL.
    Of { tree: u32, parent: u32, child: u32 },
    /// Parent or child is NULL: the row is no edge.
    None,
    /// No memory.
    Lost,
}

pub const NO_TREE: u32 = u32::MAX;

/// How a table was stored, and which columns were read, when entries were made. Both can change within one transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Source {
    pub trigger: pg_sys::Oid,
    pub locator: Locator,
    pub columns: Columns,
}

/// The entries of one table from one source: a rewrite, or a column renamed, begins another.
#[derive(Debug)]
pub struct Table {
    pub oid: pg_sys::Oid,
    pub source: Source,
    pub entries: Vec<Entry>,
    names: Vec<u8>,
    /// Past this size they are flushed.
    cap: usize,
    /// It is being flushed.
    torn: bool,
    /// Something could not be noted: whatever image exists at commit is incomplete.
    pub lost: bool,
}

thread_local! {
    /// The transaction that flushes at its end, 0 if none does.
    static FLUSHED: Cell<u64> = const { Cell::new(0) };
    static DELTA: RefCell<Vec<Table>> = const { RefCell::new(Vec::new()) };
    /// The room that the last transaction's entries and names had: most have a few of one table.
    static SPARE: Cell<(Vec<Entry>, Vec<u8>)> = const { Cell::new((Vec::new(), Vec::new())) };
}

/// A room of more is given back.
const SPARE_BYTES: usize = 16 << 10;

impl Change {
    /// The transaction that made it.
    pub fn by(self) -> u64 {
        match self {
            Self::Insert(stamp) => stamp.xmin,
            Self::Frozen(xid) => xid,
            Self::Delete(_, by) => by.xmax,
        }
    }
}

impl Entry {
    /// Bytes of its names.
    fn len(&self) -> usize {
        let tree = if self.tree == NO_TREE { 0 } else { self.tree as usize };
        tree + self.parent as usize + self.child as usize
    }
}

impl Table {
    pub fn edge(&self, entry: &Entry) -> Edge<'_> {
        let tree_len = if entry.tree == NO_TREE { 0 } else { entry.tree as usize };
        let (tree, rest) = self.names[entry.at..].split_at(tree_len);
        let (parent, rest) = rest.split_at(entry.parent as usize);
        Edge { tree: (entry.tree != NO_TREE).then_some(tree), parent, child: &rest[..entry.child as usize] }
    }

    fn append(
        &mut self,
        change: Change,
        subtransaction: pg_sys::SubTransactionId,
        write: impl FnOnce(&mut Vec<u8>) -> Names,
    ) {
        let at = self.names.len();
        match write(&mut self.names) {
            Names::Of { tree, parent, child } if self.entries.try_reserve(1).is_ok() => {
                self.entries.push(Entry { change, logged: 0, subtransaction, at, tree, parent, child });
            }
            Names::None => self.names.truncate(at),
            Names::Of { .. } | Names::Lost => {
                self.names.truncate(at);
                self.lost = true;
            }
        }
    }

    fn bytes(&self) -> usize {
        self.names.len() + self.entries.len() * size_of::<Entry>()
    }

    /// Keeps the entries whose index is in `kept` (ascending), forgets the others.
    pub fn keep(&mut self, kept: &[usize]) {
        if kept.is_empty() {
            self.entries.clear();
            self.names.clear();
            return;
        }
        let mut at = kept.iter().copied().peekable();
        let (mut i, mut end) = (0, 0);
        let names = &mut self.names;
        self.entries.retain_mut(|entry| {
            let keep = at.next_if_eq(&i).is_some();
            i += 1;
            if keep {
                let from = std::mem::replace(&mut entry.at, end);
                names.copy_within(from..from + entry.len(), end);
                end += entry.len();
            }
            keep
        });
        names.truncate(end);
    }

    fn abort(&mut self, subtransaction: pg_sys::SubTransactionId) {
        let keep = self.entries.iter().rposition(|e| e.subtransaction < subtransaction).map_or(0, |i| i + 1);
        if let Some(first) = self.entries.get(keep) {
            let at = first.at;
            self.entries.truncate(keep);
            self.names.truncate(at);
        }
    }

    fn commit(&mut self, subtransaction: pg_sys::SubTransactionId, parent: pg_sys::SubTransactionId) {
        for entry in self.entries.iter_mut().rev().take_while(|e| e.subtransaction >= subtransaction) {
            entry.subtransaction = parent;
        }
    }
}

/// Notes a change of the row whose tree, parent and child `write` appends. Called by the triggers only.
pub fn note(oid: pg_sys::Oid, source: &Source, change: Change, write: impl FnOnce(&mut Vec<u8>) -> Names) {
    // SAFETY: reads a backend variable.
    let subtransaction = unsafe { unguarded::GetCurrentSubTransactionId() };
    locks::keep_for_changes(oid);
    let full = with_table(oid, source, |table| {
        table.append(change, subtransaction, write);
        table.bytes() > table.cap
    });
    // From PRE_COMMIT to the end changes are flushed as they come.
    if full || contain::committing() {
        flush(oid, contain::committing());
    }
}

/// A change that could not be read (a column does not resolve): the image cannot follow the table.
pub fn note_lost(oid: pg_sys::Oid, trigger: pg_sys::Oid, locator: Locator) {
    locks::keep_for_changes(oid);
    let source = Source { trigger, locator, columns: Columns::default() };
    with_table(oid, &source, |table| table.lost = true);
}

/// TRUNCATE: what was noted for the table as it is stored now is void.
pub fn truncate(oid: pg_sys::Oid, locator: Locator) {
    DELTA.with_borrow_mut(|tables| {
        tables.iter_mut().filter(|t| t.oid == oid && t.source.locator == locator).for_each(|t| t.keep(&[]));
    });
}

fn with_table<R>(oid: pg_sys::Oid, source: &Source, f: impl FnOnce(&mut Table) -> R) -> R {
    DELTA.with_borrow_mut(|tables| {
        let known = tables.iter().rposition(|t| t.oid == oid && t.source == *source);
        let i = known.unwrap_or_else(|| {
            let (entries, names) = SPARE.take();
            tables.push(Table { oid, source: *source, entries, names, cap: CAP_BYTES, torn: false, lost: false });
            tables.len() - 1
        });
        f(&mut tables[i])
    })
}

/// Whether changes of the table wait for a flush.
pub fn pending(oid: pg_sys::Oid) -> bool {
    DELTA.with_borrow(|tables| tables.iter().any(|t| t.oid == oid && (t.lost || !t.entries.is_empty())))
}

/// Moves the table's entries into its image. `last`: no more can come, what finds no partner now never will. Raises nothing but an
/// interrupt that is pending (a cancel, say): what is flushed by then is out of the delta, the rest still in it.
pub fn flush(oid: pg_sys::Oid, last: bool) {
    loop {
        let mut taken = Taken(DELTA.with_borrow_mut(|tables| {
            let (mine, others) = std::mem::take(tables).into_iter().partition(|t: &Table| t.oid == oid);
            *tables = others;
            mine
        }));
        let all = taken.0.iter_mut().all(|table| {
            table.torn = true;
            let flushed = flush::flush(table, last);
            table.torn = false;
            flushed == Flushed::All
        });
        drop(taken);
        if all {
            return;
        }
        check_for_interrupts!();
    }
}

/// Tables that are taken out of the delta while they are flushed; they go back whatever happens. Where an ERROR could not be contained
/// nobody knows what of a table is in the image.
struct Taken(Vec<Table>);

impl Drop for Taken {
    fn drop(&mut self) {
        for table in &mut self.0 {
            // What waits for a partner is looked at again when there is twice as much, not at each change.
            table.cap = CAP_BYTES.max(2 * table.bytes());
            table.lost |= std::mem::take(&mut table.torn);
        }
        let kept = std::mem::take(&mut self.0).into_iter().filter(|t| t.lost || !t.entries.is_empty());
        DELTA.with_borrow_mut(|tables| tables.extend(kept));
    }
}

/// At PRE_COMMIT and PRE_PREPARE. An ERROR is as well there as from a deferred trigger, which ran just before: a cancel aborts the
/// transaction, to whose xids all that was flushed belongs. There is not much to flush: no more than the cap, and what waits.
fn flush_all() {
    contain::set_committing(true);
    let mut tables = DELTA.take();
    if !tables.is_empty() {
        // SAFETY: reads a backend variable.
        FLUSHED.set(unsafe { pg_sys::GetTopFullTransactionIdIfAny() }.value);
    }
    for table in &mut tables {
        while flush::flush(table, true) == Flushed::Interrupted {
            check_for_interrupts!();
        }
    }
    spare(tables);
}

/// Keeps the room of what was flushed.
fn spare(mut tables: Vec<Table>) {
    if let Some(Table { mut entries, mut names, .. }) = tables.pop() {
        entries.clear();
        names.clear();
        if entries.capacity() * size_of::<Entry>() + names.capacity() <= SPARE_BYTES {
            SPARE.set((entries, names));
        }
    }
    tables.clear();
    DELTA.with_borrow_mut(|now| {
        if now.capacity() == 0 {
            *now = tables;
        }
    });
}

/// At COMMIT nothing may be left. What is (a late trigger whose flush failed) makes its image incomplete.
fn finish() {
    DELTA.with_borrow_mut(|tables| {
        if let Some(control) = shmem::control() {
            for table in tables.iter().filter(|t| t.lost || !t.entries.is_empty()) {
                if let Some((_, slot)) = control.find(table.oid) {
                    slot.lose_log();
                    slot.spoil(Spoil::Lost);
                }
            }
        }
        tables.clear();
    });
    reset();
}

fn reset() {
    FLUSHED.set(0);
    contain::set_committing(false);
    visibility::end_of_transaction();
    registration::forget();
    DELTA.with_borrow_mut(Vec::clear);
}

/// Called once, from _PG_init.
pub fn register() {
    // SAFETY: two functions that live as long as the library, which is never unloaded.
    unsafe {
        pg_sys::RegisterXactCallback(Some(at_end), std::ptr::null_mut());
        pg_sys::RegisterSubXactCallback(Some(at_subtransaction_end), std::ptr::null_mut());
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn at_end(event: pg_sys::XactEvent::Type, _arg: *mut std::ffi::c_void) {
    use pg_sys::XactEvent::*;
    match event {
        XACT_EVENT_PRE_COMMIT | XACT_EVENT_PRE_PREPARE => flush_all(),
        XACT_EVENT_COMMIT => {
            if FLUSHED.get() != 0 {
                visibility::committed(FLUSHED.get());
            }
            finish();
        }
        XACT_EVENT_PREPARE => finish(),
        XACT_EVENT_ABORT | XACT_EVENT_PARALLEL_ABORT | XACT_EVENT_PARALLEL_COMMIT => reset(),
        _ => {}
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn at_subtransaction_end(
    event: pg_sys::SubXactEvent::Type,
    mine: pg_sys::SubTransactionId,
    parent: pg_sys::SubTransactionId,
    _arg: *mut std::ffi::c_void,
) {
    if contain::inside() {
        return;
    }
    registration::forget();
    DELTA.with_borrow_mut(|tables| match event {
        pg_sys::SubXactEvent::SUBXACT_EVENT_ABORT_SUB => tables.iter_mut().for_each(|t| t.abort(mine)),
        pg_sys::SubXactEvent::SUBXACT_EVENT_COMMIT_SUB => tables.iter_mut().for_each(|t| t.commit(mine, parent)),
        _ => {}
    });
}
