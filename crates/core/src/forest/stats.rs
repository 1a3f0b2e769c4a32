//! The numbers an image keeps about itself, as plain data.

use crate::memory::casts::wide;
use crate::memory::chunk::LINE_BYTES;
use crate::memory::chunk::{chunk_bytes, lines_before};
use crate::memory::image::Image;
use crate::memory::root::Counter;
use crate::memory::root::Field;
use crate::memory::tables::FIRST_LEVEL;
/// A consistent reading of the image's counters, taken under the lock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// Distinct names that occur as parent or child.
    pub entities: u64,
    /// Distinct tree names, NULL not counted.
    pub trees: u64,
    /// Edge rows, including duplicates and rows that some snapshot does not see.
    pub edge_rows: u64,
    /// Edge rows that carry a version.
    pub versions: u64,
    /// Buckets of all tables of the filter, 4 slots each.
    pub buckets: u64,
    /// Filter slots in use: entities, trees, folded names, other forms, prefixes.
    pub slots_used: u64,
    /// `slots_used` / all slots.
    pub load_factor: f64,
    /// Entries moved to their other bucket to make room.
    pub kicks: u64,
    /// Completed doublings of the table of names.
    pub growths: u64,
    /// Buckets split.
    pub splits: u64,
    /// Bytes in use, including the root and tails of chunks that are too small to use.
    pub bytes_used: u64,
    /// Bytes of the chunks published.
    pub bytes_published: u64,
    /// Mutating operations so far.
    pub epoch: u64,
}

impl Image<'_> {
    /// Reader: the image's counters.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let root = self.root();
        let tables = [self.names(), self.folded_names(), self.forms()];
        let buckets: u64 = tables.iter().map(|table| u64::from(table.geometry().buckets())).sum();
        let used: u64 = tables.iter().map(|table| table.used()).sum();
        let (entities, trees) = (root.count(Counter::Entities), root.count(Counter::Trees));
        let lines = u64::from(lines_before(root.get(Field::Bump))) - root.count(Counter::FreeLines);
        let bytes: usize = (0..self.chunks()).map(chunk_bytes).sum();
        Stats {
            entities,
            trees,
            edge_rows: root.count(Counter::EdgeRows),
            versions: root.count(Counter::Versions),
            buckets,
            slots_used: used,
            load_factor: ratio(used, buckets * wide(crate::filter::bucket::SLOTS)),
            kicks: root.count(Counter::Kicks),
            growths: (self.names().geometry().level - FIRST_LEVEL).into(),
            splits: root.count(Counter::Splits),
            bytes_used: lines * wide(LINE_BYTES),
            bytes_published: wide(bytes),
            epoch: root.epoch(),
        }
    }
}

/// Two counts as a fraction. A double is exact to 2^53, more than memory has slots.
#[expect(clippy::cast_precision_loss, reason = "a load factor needs no more than 53 bits")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}
