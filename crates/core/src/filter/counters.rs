//! Counters of the cost of lookups and walks.

/// The cost of a walk since `clear`, or of a text since its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Names looked up in the filter.
    pub lookups: u64,
    /// Names found.
    pub hits: u64,
    /// Fingerprints that matched, so that a record was read.
    pub fingerprint_checks: u64,
    /// How many of these records had other names.
    pub false_positives: u64,
    /// Edge slots read.
    pub slots_visited: u64,
}
