//! The cuckoo filter, which finds a name's record.

pub(crate) mod bucket;
pub(crate) mod counters;
mod fingerprint;
pub(crate) mod search;
pub(crate) mod table;
pub(crate) mod temperature;
