//! Placeholder for the first commit: signatures only.
use crate::{
    Deleter, Deletion, Edge, Error, Fates, Memory, Problem, RowVersion, Settled, Stamp, Stats, Step,
    Visibility,
};

/// Layout number; another one is another format.
pub const LAYOUT: u32 = 1;
/// Words of the owner's area in chunk 0.
pub const OWNER_WORDS: usize = 4096;

/// An image over a memory. The caller holds the lock.
#[derive(Clone, Copy, Debug)]
pub struct Image<'m>(&'m Memory);

/// Where [`Image::edges`] stands, and its scratch room.
#[derive(Debug, Default)]
pub struct Scan {
    asked: Vec<u64>,
}

impl Scan {
    /// At the first bucket.
    #[must_use]
    pub fn new() -> Scan {
        Scan::default()
    }
    /// The xids the snapshot did not know, sorted and unique.
    #[must_use]
    pub fn asked(&self) -> &[u64] {
        &self.asked
    }
}

impl<'m> Image<'m> {
    /// Writes an empty image; chunk 0 must be mapped.
    pub fn format(_mem: &'m Memory, _seed: u64) -> Result<Image<'m>, Error> {
        unimplemented!()
    }
    /// Opens the image in `mem`.
    pub fn open(_mem: &'m Memory) -> Result<Image<'m>, Error> {
        unimplemented!()
    }
    /// Chunks the image uses; a reader maps that many before it walks.
    #[must_use]
    pub fn chunks(&self) -> usize {
        self.0.mapped()
    }
    /// Writer: the first `n` chunks are mapped here and may be allocated from.
    pub fn publish_chunks(&self, _n: usize) {
        unimplemented!()
    }
    /// Bytes certainly available without another chunk.
    #[must_use]
    pub fn free_bytes(&self) -> usize {
        unimplemented!()
    }
    /// Upper bound of the bytes one insert of `edge` can take.
    #[must_use]
    pub fn insert_bound(_edge: &Edge<'_>) -> usize {
        unimplemented!()
    }
    /// A word of the owner's area.
    #[must_use]
    pub fn owner_get(&self, _i: usize) -> u64 {
        unimplemented!()
    }
    /// Sets a word of the owner's area.
    pub fn owner_set(&self, _i: usize, _v: u64) {
        unimplemented!()
    }
    /// A writer is at work, or died at work.
    #[must_use]
    pub fn mutating(&self) -> bool {
        unimplemented!()
    }
    /// The image's counters.
    #[must_use]
    pub fn stats(&self) -> Stats {
        unimplemented!()
    }
    /// Changes with every mutating operation.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        unimplemented!()
    }
    /// Writer: one row more.
    pub fn insert(&self, _edge: &Edge<'_>, _stamp: Option<Stamp>) -> Result<(), Error> {
        unimplemented!()
    }
    /// Writer: one row of `edge` gets a deleter.
    pub fn delete(
        &self,
        _edge: &Edge<'_>,
        _row: RowVersion,
        _by: Deleter,
        _fates: &impl Fates,
        _ask: &mut Vec<u64>,
    ) -> Result<Deletion, Error> {
        unimplemented!()
    }
    /// Writer: examines up to `max` versions.
    pub fn settle(
        &self,
        _max: usize,
        _horizon: u64,
        _fates: &impl Fates,
        _ask: &mut Vec<u64>,
    ) -> Settled {
        unimplemented!()
    }
    /// Writer: orders the slots of the next buckets hot-first.
    pub fn cool(&self, _max_buckets: usize) {
        unimplemented!()
    }
    /// Reader: every visible edge row, about `budget` slots a call.
    pub fn edges(
        &self,
        _scan: &mut Scan,
        _budget: usize,
        _seen: &impl Visibility,
        _f: impl FnMut(Option<&[u8]>, &[u8], &[u8]),
    ) -> Step {
        unimplemented!()
    }
    /// Reader: the hottest entities that have a visible edge. Unknown xids go to `ask`.
    #[must_use]
    pub fn hot(&self, _n: usize, _seen: &impl Visibility, _ask: &mut Vec<u64>) -> Vec<(Vec<u8>, u32)> {
        unimplemented!()
    }
    /// Reader: checks every invariant.
    pub fn verify(&self, _report: &mut dyn FnMut(Problem)) {
        unimplemented!()
    }
}
