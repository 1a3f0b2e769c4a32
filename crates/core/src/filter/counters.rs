//! What lookups and walks cost: numbers that only grow.

/// What a walk cost since `clear`, or a text since its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Names looked up in the filter.
    pub lookups: u64,
    /// Names found.
    pub hits: u64,
    /// Fingerprints that matched, so that a record was read.
    pub fingerprint_checks: u64,
    /// How many of these were other names.
    pub false_positives: u64,
    /// Edge slots read.
    pub slots_visited: u64,
}
