//! The numbers an image keeps about itself, as plain data.

/// A consistent reading of the image's counters, taken under the lock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// Distinct names that occur as parent or child.
    pub entities: u64,
    /// Distinct tree names, NULL not counted.
    pub trees: u64,
    /// Edge rows, duplicates and rows that some snapshot does not see included.
    pub edge_rows: u64,
    /// Edge rows that carry a version.
    pub versions: u64,
    /// Buckets of the filter, 4 slots each.
    pub buckets: u64,
    /// Filter slots in use: entities + trees.
    pub slots_used: u64,
    /// `slots_used` / all slots.
    pub load_factor: f64,
    /// Entries moved to their other bucket to make room.
    pub kicks: u64,
    /// Doublings completed.
    pub growths: u64,
    /// Buckets split.
    pub splits: u64,
    /// Bytes in use, the root and the tail of a chunk too small to use included.
    pub bytes_used: u64,
    /// Bytes of the chunks published.
    pub bytes_published: u64,
    /// Mutating operations so far.
    pub epoch: u64,
}
