//! Moves hotter entities to the front of their bucket: `cftrag.temperature = sort`.

use std::cmp::Reverse;

use crate::Image;
use crate::filter::bucket::BucketSlot;
use crate::filter::table::Filter;
use crate::memory::casts::index;
use crate::memory::root::Field;

impl Filter<'_> {
    /// Puts the slots of a bucket of names in descending order of temperature class, empty ones last.
    pub(crate) fn order(self, bucket: u32) {
        let before = self.read(bucket);
        let mut after = before;
        after.sort_by_key(|entry| (entry.is_empty(), Reverse(entry.temperature_class())));
        if after != before {
            for (slot, entry) in after.into_iter().enumerate() {
                self.set(BucketSlot { bucket, slot }, entry);
            }
        }
    }
}

impl Image<'_> {
    /// Writer: orders the slots of the next `max_buckets` buckets hot-first, round robin, so that a lookup meets a hot
    /// entity before its neighbours.
    pub fn cool(&self, max_buckets: usize) {
        let names = self.names();
        let buckets = names.geometry().buckets();
        let mut bucket = self.root().get(Field::Cool);
        self.mutate(|| {
            for _ in 0..max_buckets.min(index(buckets)) {
                bucket = if bucket < buckets { bucket } else { 0 };
                names.order(bucket);
                bucket += 1;
            }
            self.root().set(Field::Cool, bucket);
        });
    }
}
