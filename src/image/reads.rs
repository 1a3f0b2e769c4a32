//! Counters of the calls that an image answers, beside its lock.

use cftrag_core::Counters;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Counters of the readers that use one part of an image's lock (lock.rs).
#[derive(Default)]
#[repr(C, align(64))]
pub struct Reads {
    pub image_calls: AtomicU64,
    pub lookups: AtomicU64,
    pub hits: AtomicU64,
    pub fingerprint_checks: AtomicU64,
    pub false_positives: AtomicU64,
}

impl Reads {
    /// Adds those of a call.
    pub fn add(&self, counters: Counters) {
        self.image_calls.fetch_add(1, Relaxed);
        self.lookups.fetch_add(counters.lookups, Relaxed);
        // Each atomic addition locks the cache line: skip the zeros.
        let rest = [
            (&self.hits, counters.hits),
            (&self.fingerprint_checks, counters.fingerprint_checks),
            (&self.false_positives, counters.false_positives),
        ];
        rest.into_iter().filter(|(_, n)| *n > 0).for_each(|(count, n)| {
            count.fetch_add(n, Relaxed);
        });
    }

    pub fn reset(&self) {
        let all = [&self.image_calls, &self.lookups, &self.hits, &self.fingerprint_checks, &self.false_positives];
        all.into_iter().for_each(|count| count.store(0, Relaxed));
    }
}
