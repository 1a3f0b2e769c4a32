//! Applies a delta's entries to its image, for flush.rs: in slices, so that no reader waits more than a few
//! milliseconds.
//!
//! Rows to delete that are in two long lists are found for all entries at once (cftrag_core::Partners): that reads
//! under the shared lock, in steps. Between slices and steps we check for a cancel and return; `todo` then has only
//! what is not applied yet.

use crate::capture::delta::{Change, TableDelta, takes};
use crate::catalog::pg_trigger::TriggerKey;
use crate::error::Damage;
use crate::image::chunks::Unusable;
use crate::image::control::Control;
use crate::image::settle::settle;
use crate::image::{chunks, grow};
use crate::pg::contain;
use crate::pg::interrupt::interrupted;
use crate::pg::snapshot::XidFates;
use cftrag_core::{Deletion, Edge, Error, Image, ListsRead, Partners, Recent, RowVersion};

/// Changes applied under one holding of the lock: about half a millisecond.
const SLICE: usize = 512;

/// Slots read under one holding of the shared lock: 0.1 ms.
const STEPS: usize = 8192;

/// Versions to settle when memory runs out.
const SETTLED: usize = 1 << 16;

/// How often other writers may move rows while we read lists; then we search for one row alone, under the exclusive
/// lock.
const TRIES: usize = 8;

/// Why a flush ends before it has applied its entries.
pub enum FlushEnd {
    /// The image must be given up.
    Broken(Damage),
    /// The image is gone or replaced: the new one misses nothing of ours.
    Gone,
}

/// State that a flush carries from slice to slice.
#[derive(Default)]
pub struct FlushState {
    known: XidFates,
    ask: Vec<u64>,
    /// Deletes whose insert has not come yet. There is room for those of a slice before the lock is taken.
    waiting: Vec<usize>,
    partners: Partners,
    /// Search for the next delete's row alone.
    alone: bool,
}

/// The result of a slice.
pub struct Applied {
    /// Entries of the slice that are done.
    done: usize,
    /// Bytes that the next entry needs and did not find.
    short: usize,
    /// The next entry's row is in a long list.
    far: bool,
}

/// Applies the entries of most transactions: a few changes, all chunks mapped, memory available. It takes the lock
/// once, and nothing under the lock can raise, so we contain only a panic of ours. What it does not apply stays in
/// `todo`: [`pass`] applies it, or finds out why not.
pub fn now(
    control: &Control,
    index: usize,
    table: &TableDelta,
    todo: &mut Vec<usize>,
    work: &mut FlushState,
    row: &mut TriggerKey,
) -> Result<(), FlushEnd> {
    let bytes = bound(table, todo);
    if work.waiting.try_reserve(todo.len()).is_err() {
        return Ok(());
    }
    let written = contain::panic(|| {
        chunks::write_if_mapped(control, index, |header, image| {
            *row = header.key.row;
            let fits = takes(&header.key, table) && image.free_bytes() >= bytes;
            fits.then(|| apply(image, table, todo, work))
        })
    });
    let Some(applied) = written.ok_or(FlushEnd::Broken(Damage::Memory))?.flatten() else { return Ok(()) };
    let done = applied.map_err(FlushEnd::Broken)?.done;
    work.leave(todo, done);
    Ok(())
}

/// Applies the entries with these numbers, and returns how many it tried: fewer than all if an interrupt is pending.
/// Those that wait for their insert are then in `work.waiting`.
pub fn pass(
    control: &Control,
    index: usize,
    table: &TableDelta,
    load: u64,
    todo: &[usize],
    work: &mut FlushState,
) -> Result<usize, FlushEnd> {
    let (mut next, mut short) = (0, 0);
    while next < todo.len() && (next == 0 || !interrupted()) {
        if next > 0 {
            control.slot(index).let_readers_go();
        }
        let slice = &todo[next..(next + SLICE).min(todo.len())];
        // Another writer may use up what ensure() found before we have the lock: then ask for what was short in
        // addition.
        let bytes = bound(table, slice) + std::mem::take(&mut short);
        let room = grow::ensure(control, index, bytes);
        if !room {
            // Settling frees rolled back and deleted versions, which may be enough.
            settle(control, index, table.oid, SETTLED).map_or(Ok(()), |why| Err(FlushEnd::Broken(why)))?;
        }
        if work.waiting.try_reserve(slice.len()).is_err() {
            return Err(FlushEnd::Broken(Damage::Memory));
        }
        let applied = chunks::write(control, index, |header, image| {
            let same = header.load == load && takes(&header.key, table);
            same.then(|| apply(image, table, slice, work))
        });
        let far = match applied {
            Err(Unusable::Empty | Unusable::Incomplete) | Ok(None) => return Err(FlushEnd::Gone),
            Err(Unusable::Unmapped) => return Err(FlushEnd::Broken(Damage::Memory)),
            Ok(Some(Err(why))) => return Err(FlushEnd::Broken(why)),
            Ok(Some(Ok(applied))) if !room && applied.done == 0 && applied.short > 0 => {
                return Err(FlushEnd::Broken(Damage::Memory));
            }
            Ok(Some(Ok(applied))) => {
                next += applied.done;
                short = applied.short;
                applied.far
            }
        };
        work.learn()?;
        if far && !read_lists(control, index, table, &todo[next..], work)? {
            break;
        }
    }
    Ok(next)
}

/// Reads the lists of the first entry, which is a delete. Returns false if an interrupt is pending.
fn read_lists(
    control: &Control,
    index: usize,
    table: &TableDelta,
    todo: &[usize],
    work: &mut FlushState,
) -> Result<bool, FlushEnd> {
    let deletes = || todo.iter().filter_map(|i| deletion(table, *i));
    for _ in 0..TRIES {
        let mut looked = read(control, index, |image| image.look_for(&mut work.partners, deletes()))?;
        while looked == Some(ListsRead::More) {
            if interrupted() {
                return Ok(false);
            }
            let FlushState { known, ask, partners, .. } = work;
            looked = read(control, index, |image| image.read_lists(partners, &*known, ask, STEPS))?;
            work.learn()?;
        }
        match looked {
            Some(ListsRead::Done) => return Ok(true),
            Some(_) => {}
            None => break,
        }
    }
    work.alone = true;
    Ok(true)
}

/// Runs `f` with the image; None if `f` has no memory for what it finds.
fn read<E>(
    control: &Control,
    index: usize,
    f: impl FnOnce(Image<'_>) -> Result<ListsRead, E>,
) -> Result<Option<ListsRead>, FlushEnd> {
    match chunks::read(control, index, |_, image| f(image)) {
        Ok(looked) => Ok(looked.ok()),
        Err(Unusable::Unmapped) => Err(FlushEnd::Broken(Damage::Memory)),
        Err(_) => Err(FlushEnd::Gone),
    }
}

fn deletion(table: &TableDelta, entry: usize) -> Option<(Edge<'_>, RowVersion)> {
    let entry = &table.entries[entry];
    match entry.change {
        Change::Delete(row, _) => Some((table.edge(entry), row)),
        _ => None,
    }
}

impl FlushState {
    /// Removes from `todo` those of the first `done` entries that are done; those that wait stay, in order.
    pub fn leave(&mut self, todo: &mut Vec<usize>, done: usize) {
        let (mut waiting, mut tried) = (self.waiting.iter().copied().peekable(), 0);
        todo.retain(|entry| {
            tried += 1;
            tried > done || waiting.next_if_eq(entry).is_some()
        });
        self.waiting.clear();
    }

    fn learn(&mut self) -> Result<(), FlushEnd> {
        if self.ask.is_empty() {
            return Ok(());
        }
        self.known.learn(&std::mem::take(&mut self.ask)).ok_or(FlushEnd::Broken(Damage::XidTooOld))
    }
}

/// The most memory that inserting these entries can take.
pub fn bound(table: &TableDelta, entries: &[usize]) -> usize {
    entries.iter().map(|i| Image::insert_bound(&table.edge(&table.entries[*i]))).sum()
}

/// Applies a slice of entries, or returns why the image is broken.
pub fn apply(image: Image<'_>, table: &TableDelta, slice: &[usize], work: &mut FlushState) -> Result<Applied, Damage> {
    let mut recent = Recent::default();
    let FlushState { known, ask, waiting, partners, alone } = work;
    for (done, i) in slice.iter().enumerate() {
        let entry = &table.entries[*i];
        let edge = table.edge(entry);
        let stopped = |short, far| Ok(Applied { done, short, far });
        let applied = match entry.change {
            Change::Insert(stamp) => image.insert_next(&edge, Some(stamp), &mut recent).map(|()| {
                partners.inserted(stamp, &recent);
                Deletion::Done
            }),
            Change::Frozen(_) => image.insert_next(&edge, None, &mut recent).map(|()| Deletion::Done),
            Change::Delete(row, by) if *alone => image.delete(&edge, row, by, &*known, ask),
            Change::Delete(row, by) => image.delete_next(&edge, row, by, &*known, ask, partners),
        };
        match (applied, entry.change) {
            (Ok(Deletion::Ask), _) => return stopped(0, false),
            (Ok(Deletion::Far), _) => return stopped(0, true),
            (Ok(Deletion::Done), _) => {}
            (Ok(Deletion::NoPartner), Change::Delete(row, _)) if row.cmin.is_some() => waiting.push(*i),
            (Ok(Deletion::NoPartner), _) => return Err(Damage::Unmatched),
            // Nothing was written.
            (Err(Error::Full { needed, .. }), _) => return stopped(needed, false),
            (Err(_), _) => return Err(Damage::Torn),
        }
        *alone = false;
    }
    Ok(Applied { done: slice.len(), short: 0, far: false })
}
