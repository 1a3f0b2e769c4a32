//! The image: a root, a filter and a forest over a [`Memory`], and who may do what.
//!
//! The caller holds the lock of the image. A method marked *writer* wants it exclusive,
//! one marked *reader* shared; the core never waits, allocates shared memory from
//! elsewhere, or calls back except for the traits it is given.
//!
//! The writers are in `forest.rs`, `delete.rs` and `settle.rs`; the readers in `walk.rs`,
//! `scan.rs`, `hot.rs` and `verify.rs`. This file has what is common to them.

use crate::alloc;
use crate::chunk::{LINE_BYTES, MAX_CHUNKS, chunk_bytes, first_line};
use crate::filter::{FIRST_LEVEL, Filter, Table};
use crate::id::{index, wide, word};
use crate::memory::Memory;
use crate::root::{Counter, Field, LAYOUT, MAX_LINES, Root};
use crate::{Edge, Error, Stats};

/// An image over a memory.
#[derive(Clone, Copy, Debug)]
pub struct Image<'m>(Root<'m>);

impl<'m> Image<'m> {
    /// Writer: writes an empty image into chunk 0, which must be mapped. The seed should be
    /// random: it is what keeps anybody from aiming collisions.
    ///
    /// # Errors
    /// [`Error::Unmapped`] without chunk 0.
    pub fn format(mem: &'m Memory, seed: u64) -> Result<Image<'m>, Error> {
        if mem.mapped() == 0 {
            return Err(Error::Unmapped { used: 1, mapped: 0 });
        }
        let root = Root::format(mem, seed);
        Filter::new(root, Table::Names).format();
        Filter::new(root, Table::Forms).format();
        crate::sieve::format(mem);
        root.sign();
        Ok(Image(root))
    }

    /// Reader: the image in a memory. Only chunk 0 need be mapped; before anything but
    /// [`Image::chunks`] and the owner's words is asked, map as many as `chunks` says.
    ///
    /// # Errors
    /// [`Error::Unmapped`] without chunk 0, [`Error::NotAnImage`], [`Error::Layout`].
    pub fn open(mem: &'m Memory) -> Result<Image<'m>, Error> {
        if mem.mapped() == 0 {
            return Err(Error::Unmapped { used: 1, mapped: 0 });
        }
        let root = Root::new(mem);
        if !root.is_signed() {
            return Err(Error::NotAnImage);
        }
        if root.layout() != LAYOUT {
            return Err(Error::Layout { found: root.layout() });
        }
        Ok(Image(root))
    }

    #[inline]
    pub(crate) fn mem(self) -> &'m Memory {
        self.0.mem()
    }

    #[inline]
    pub(crate) fn root(self) -> Root<'m> {
        self.0
    }

    #[inline]
    pub(crate) fn names(self) -> Filter<'m> {
        Filter::new(self.0, Table::Names)
    }

    /// The table of forms and beginnings.
    #[inline]
    pub(crate) fn forms(self) -> Filter<'m> {
        Filter::new(self.0, Table::Forms)
    }

    /// Reader: how many chunks the image uses.
    #[must_use]
    pub fn chunks(&self) -> usize {
        index(self.root().get(Field::Chunks))
    }

    /// Writer: the first `n` chunks are mapped here and may be allocated from. Fewer than
    /// before changes nothing.
    ///
    /// # Panics
    /// If they are not mapped.
    pub fn publish_chunks(&self, n: usize) {
        assert!(n <= self.mem().mapped() && n <= MAX_CHUNKS, "published chunks are mapped");
        if n > self.chunks() {
            self.root().set(Field::Chunks, word(n));
        }
    }

    /// Reader: bytes certainly available without another chunk, whatever the sizes of the
    /// requests. Memory given back is not counted, though it is used first.
    #[must_use]
    pub fn free_bytes(&self) -> usize {
        alloc::certain_lines(self.root()) * LINE_BYTES
    }

    /// An upper bound of the bytes one insert of `edge` can take: names and their pieces, the
    /// filter's growth, a block for each list, a version. If [`Image::free_bytes`] is at
    /// least this, the insert succeeds.
    #[must_use]
    pub fn insert_bound(edge: &Edge<'_>) -> usize {
        crate::forest::insert_bound_lines(edge) * LINE_BYTES
    }

    /// Reader: word `i` of the owner's area.
    ///
    /// # Panics
    /// If `i` is not below [`OWNER_WORDS`](crate::OWNER_WORDS).
    #[must_use]
    pub fn owner_get(&self, i: usize) -> u64 {
        self.root().owner(i)
    }

    /// Writer: sets word `i` of the owner's area.
    ///
    /// # Panics
    /// If `i` is not below [`OWNER_WORDS`](crate::OWNER_WORDS).
    pub fn owner_set(&self, i: usize, v: u64) {
        self.root().set_owner(i, v);
    }

    /// Whether a writer has begun and not ended. Whoever takes the lock and finds it set
    /// knows that a writer died at work, and drops the image.
    #[must_use]
    pub fn mutating(&self) -> bool {
        self.root().mutating()
    }

    /// Changes with every operation that moves or removes anything.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.root().epoch()
    }

    /// Runs a writer's stores between the two marks of [`Image::mutating`].
    pub(crate) fn mutate<T>(self, work: impl FnOnce() -> T) -> T {
        self.root().set_mutating(true);
        let result = work();
        self.root().set_mutating(false);
        result
    }

    /// What an operation that needs so many bytes says when they are not there.
    pub(crate) fn full(self, needed: usize) -> Error {
        Error::Full { needed, free: alloc::loose_lines(self.root()) * LINE_BYTES }
    }

    /// Reader: the image's counters.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let root = self.root();
        let tables = [self.names(), self.forms()];
        let buckets: u64 = tables.iter().map(|table| u64::from(table.geometry().buckets())).sum();
        let used: u64 = tables.iter().map(|table| table.used()).sum();
        let (entities, trees) = (root.count(Counter::Entities), root.count(Counter::Trees));
        let lines = u64::from(root.get(Field::Bump)) - root.count(Counter::FreeLines);
        let bytes: usize = (0..self.chunks()).map(chunk_bytes).sum();
        Stats {
            entities,
            trees,
            edge_rows: root.count(Counter::EdgeRows),
            versions: root.count(Counter::Versions),
            buckets,
            slots_used: used,
            load_factor: ratio(used, buckets * wide(crate::bucket::SLOTS)),
            kicks: root.count(Counter::Kicks),
            growths: (self.names().geometry().level - FIRST_LEVEL).into(),
            splits: root.count(Counter::Splits),
            bytes_used: lines * wide(LINE_BYTES),
            bytes_published: wide(bytes),
            epoch: root.epoch(),
        }
    }

    /// Writer: orders the slots of the next `max_buckets` buckets hot-first, round robin, so
    /// that a hot entity is met before its neighbours are compared.
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

/// Two counts as a fraction. A double is exact to 2^53, more than memory has slots.
#[expect(clippy::cast_precision_loss, reason = "a load factor needs no more than 53 bits")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

const _: () = assert!(first_line(1) > crate::root::FIRST_LINE + 4 * MAX_LINES + 1);
