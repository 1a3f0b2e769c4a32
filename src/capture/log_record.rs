//! The log of a load: changes that transactions flush while an image is built beside them.
//!
//! The builder announces the load (Slot.loading), waits for the transactions that were writing to the table, scans it
//! under a snapshot, then applies the log. A flush writes its entries into a segment of its own, outside any lock, and
//! links it in front of the others under the image's lock, where it also checks that the load is still running. So the
//! log costs a flush one allocation, no process maps another's segment, and a writer never waits for the builder. The
//! builder frees the segments; if the log has lost a change, the first process that notices does.
//!
//!   segment:  next u64 | bytes u64 | source | record ...       source: trigger, locator, columns as u32
//!   record:   kind u32, tree, parent, child lengths u32 | xmin, xmax u64 | raw_xmin, cmin, own, cmax u32 | names

#![expect(unsafe_code, reason = "shared memory")]

use crate::capture::delta::{CapturedAs, Change, TableDelta};
use crate::catalog::columns::{Column, Columns};
use crate::image::control::Control;
use crate::image::log::{discard, free, run_short, unlink};
use crate::image::{chunks, grow};
use crate::pg::compat::Locator;
use crate::pg::contain::Unbroken;
use cftrag_core::{Deleter, Edge, RowVersion, Stamp};
use pgrx::pg_sys;
use std::sync::atomic::Ordering::SeqCst;

const HEAD: usize = 16;

/// A trigger, a locator, and four words for each column.
const SOURCE_WORDS: usize = 4 + 4 * Columns::ALL;

/// Writes the table's entries to the log, if a load is running. On failure marks the log as lost; never raises.
pub fn capture(control: &Control, index: usize, table: &mut TableDelta) {
    let (entry, slot) = (control.entry(index), control.slot(index));
    let load = slot.loading.load(SeqCst);
    if load == 0 {
        return;
    }
    if table.lost.is_some() {
        entry.lose_log();
    }
    if entry.log_lost.load(SeqCst) != 0 {
        return discard(control, index, load);
    }
    let Some(bytes) = encode(table, load) else { return };
    let Some((token, base)) = bytes.as_ref().and_then(|bytes| grow::allocate(control, index, bytes.len())) else {
        return run_short(control, index, load);
    };
    let bytes = bytes.unwrap_or_default();
    // SAFETY: a fresh allocation of that many bytes, 8-byte aligned, that no other process knows yet.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), base.as_ptr(), bytes.len()) };
    let linked = slot.write(|_| {
        let open = slot.loading.load(SeqCst) == load && entry.log_lost.load(SeqCst) == 0;
        if open {
            slot.log_bytes.fetch_add(bytes.len() as u64, SeqCst);
            // SAFETY: the segment begins with its next pointer.
            unsafe { base.cast::<u64>().write(slot.log.load(SeqCst)) };
            slot.log.store(token, SeqCst);
        }
        open
    });
    if linked {
        table.entries.iter_mut().for_each(|entry| entry.logged = load);
    } else {
        chunks::release(control, token, bytes.len());
    }
}

/// Encodes the entries that are not in that log yet as a segment. None if there are none; Some(None) if memory runs
/// out.
pub fn encode(table: &TableDelta, load: u64) -> Option<Option<Vec<u8>>> {
    let new = || table.entries.iter().filter(|entry| entry.logged != load);
    let names = |e: &Edge| e.tree.map_or(0, <[u8]>::len) + e.parent.len() + e.child.len();
    let room = new().map(|entry| 48 + names(&table.edge(entry))).sum::<usize>();
    if room == 0 {
        return None;
    }
    let mut out = Vec::new();
    if out.try_reserve(HEAD + 4 * SOURCE_WORDS + room).is_err() {
        return Some(None);
    }
    out.extend_from_slice(&[0; HEAD]);
    words(&mut out, &source_words(&table.source));
    for entry in new() {
        let edge = table.edge(entry);
        let nobody = Deleter { xmax: 0, cmax: 0 };
        let (kind, row, by) = match entry.change {
            Change::Frozen(xmin) => (0, RowVersion { xmin, raw_xmin: 0, cmin: None }, nobody),
            Change::Insert(stamp) => (1, RowVersion { xmin: stamp.xmin, raw_xmin: 0, cmin: Some(stamp.cmin) }, nobody),
            Change::Delete(row, by) => (2, row, by),
        };
        let tree = edge.tree.map_or(u32::MAX, |tree| tree.len() as u32);
        words(&mut out, &[kind, tree, edge.parent.len() as u32, edge.child.len() as u32]);
        out.extend_from_slice(&row.xmin.to_ne_bytes());
        out.extend_from_slice(&by.xmax.to_ne_bytes());
        words(&mut out, &[row.raw_xmin, row.cmin.unwrap_or(0), u32::from(row.cmin.is_some()), by.cmax]);
        for name in [edge.tree.unwrap_or_default(), edge.parent, edge.child] {
            out.extend_from_slice(name);
        }
    }
    let len = out.len() as u64;
    out[8..HEAD].copy_from_slice(&len.to_ne_bytes());
    Some(Some(out))
}

fn words(out: &mut Vec<u8>, words: &[u32]) {
    words.iter().for_each(|word| out.extend_from_slice(&word.to_ne_bytes()));
}

fn source_words(source: &CapturedAs) -> [u32; SOURCE_WORDS] {
    let (l, c) = (&source.locator, &source.columns);
    let mut out = [0; SOURCE_WORDS];
    out[..4].copy_from_slice(&[u32::from(source.trigger), l.tablespace, l.database, l.file]);
    for (i, column) in c.all().iter().enumerate() {
        out[4 + 4 * i..8 + 4 * i].copy_from_slice(&[
            column.number as u32,
            column.type_oid,
            column.collation,
            column.generated,
        ]);
    }
    out
}

/// A copy of a segment of the log.
pub struct Segment {
    bytes: Vec<u8>,
    pub source: CapturedAs,
}

/// Takes the log, oldest segment first, and frees its shared memory. Only the builder calls it. May raise.
pub fn take(control: &Control, index: usize) -> Vec<Segment> {
    let slot = control.slot(index);
    let _unbroken = Unbroken::enter();
    let token = slot.write(|_| unlink(slot));
    let mut segments = Vec::new();
    free(control, token, |bytes| segments.push(Segment { source: decode_source(bytes), bytes: bytes.to_vec() }));
    segments.reverse();
    segments
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_ne_bytes(word)
}

fn long(bytes: &[u8], at: usize) -> u64 {
    let mut long = [0; 8];
    long.copy_from_slice(&bytes[at..at + 8]);
    u64::from_ne_bytes(long)
}

fn decode_source(bytes: &[u8]) -> CapturedAs {
    let w = |i: usize| word(bytes, HEAD + 4 * i);
    let column = |i: usize| Column {
        number: w(4 + 4 * i) as i32,
        type_oid: w(5 + 4 * i),
        collation: w(6 + 4 * i),
        generated: w(7 + 4 * i),
    };
    CapturedAs {
        trigger: pg_sys::Oid::from(w(0)),
        locator: Locator { tablespace: w(1), database: w(2), file: w(3) },
        columns: Columns::of(std::array::from_fn(column)),
    }
}

impl Segment {
    /// The segment's changes, in order.
    pub fn changes(&self) -> impl Iterator<Item = (Edge<'_>, Change)> + Clone {
        let bytes = &self.bytes;
        let mut at = HEAD + 4 * SOURCE_WORDS;
        std::iter::from_fn(move || {
            if at >= bytes.len() {
                return None;
            }
            let w = |i: usize| word(bytes, at + i);
            let (kind, tree, parent, child) = (w(0), w(4), w(8) as usize, w(12) as usize);
            let (xmin, xmax) = (long(bytes, at + 16), long(bytes, at + 24));
            let (raw_xmin, cmin, own, cmax) = (w(32), w(36), w(40) != 0, w(44));
            let change = match kind {
                0 => Change::Frozen(xmin),
                1 => Change::Insert(Stamp { xmin, cmin }),
                _ => Change::Delete(RowVersion { xmin, raw_xmin, cmin: own.then_some(cmin) }, Deleter { xmax, cmax }),
            };
            let tree_len = if tree == u32::MAX { 0 } else { tree as usize };
            let (names, rest) = (&bytes[at + 48..], tree_len + parent);
            at += 48 + rest + child;
            let edge = Edge {
                tree: (tree != u32::MAX).then_some(&names[..tree_len]),
                parent: &names[tree_len..rest],
                child: &names[rest..rest + child],
            };
            Some((edge, change))
        })
    }
}
