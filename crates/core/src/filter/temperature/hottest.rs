//! Finds the entities that are looked up most.

use std::cmp::Reverse;
use std::ops::Range;

use crate::Interruptible;
use crate::filter::temperature::count::Temperature;
use crate::memory::chunk::LINE_BYTES;
use crate::memory::id::RecordId;
use crate::memory::limit::NoRoom;
use crate::memory::marks::Marks;
use crate::memory::root::{Counter, Field};
use crate::records::record::Record;
use crate::records::unknown_xids::UnknownXids;
use crate::records::visibility::has_visible_edge;
use crate::{Image, Step, Visibility};

/// The most passes: the last one ends the search, even if entries were kicked meanwhile.
const PASSES: u32 = 8;
/// Entities kept beyond the wanted ones before the coolest are dropped.
const SPARE: usize = 4096;
/// Bytes reserved for a name.
const USUAL_NAME: usize = 32;
/// Cost of reading a record, in slots.
const RECORD: usize = 8;

/// The hottest entities, within a limit of memory, and the position of [`Image::hot`].
#[derive(Debug)]
pub struct Hot {
    wanted: usize,
    limit: usize,
    bucket: u32,
    passes: u32,
    /// The count of kicks when the pass began.
    kicks: u64,
    judged: Marks,
    asked: UnknownXids,
    /// The names of `found`, one after the other.
    names: Vec<u8>,
    found: Vec<HotEntity>,
    /// Enough entities are at least this hot: the class in the filter, the temperature.
    least: (u32, u32),
}

#[derive(Debug)]
struct HotEntity {
    temperature: Reverse<u32>,
    class: u32,
    /// Its place in `names`.
    name: Range<usize>,
}

impl Hot {
    /// Looks for `wanted` entities, using at most `limit` bytes.
    #[must_use]
    pub fn new(wanted: usize, limit: usize) -> Hot {
        Hot {
            wanted,
            limit,
            bucket: 0,
            passes: 0,
            kicks: 0,
            judged: Marks::new(),
            asked: UnknownXids::new(),
            names: Vec::new(),
            found: Vec::new(),
            least: (1, 0),
        }
    }

    /// The xids the snapshot did not know, each once, after [`Step::Ask`].
    #[must_use]
    pub fn asked(&self) -> &[u64] {
        self.asked.xids()
    }

    /// Makes room for what a step finds. Called after [`Step::More`] and [`Step::Ask`], without the lock, because
    /// growing copies. Drops entities cooler than the wanted ones now and then.
    ///
    /// # Errors
    /// [`NoRoom`]: there is no memory.
    pub fn make_room(&mut self, work: &mut Interruptible<'_>) -> Result<(), NoRoom> {
        self.asked.make_room(self.limit);
        let marks = self.judged.make_room();
        if self.found.len() / 2 >= self.wanted.saturating_add(SPARE) {
            self.keep_hottest(work)?;
        }
        let more = self.found.len().min(SPARE);
        let fits = marks
            && self.found.try_reserve(more).is_ok()
            && self.names.try_reserve(more * USUAL_NAME).is_ok();
        if fits { Ok(()) } else { Err(NoRoom::Memory(2 * self.bytes())) }
    }

    /// After [`Step::Done`]: names and temperatures, sorted by temperature, hottest first, then by name.
    ///
    /// # Errors
    /// [`NoRoom`]: there is no memory.
    pub fn finish(
        &mut self,
        work: &mut Interruptible<'_>,
    ) -> Result<impl Iterator<Item = (&[u8], u32)>, NoRoom> {
        self.keep_hottest(work)?;
        Ok(self.found.iter().map(|found| (&self.names[found.name.clone()], found.temperature.0)))
    }

    fn bytes(&self) -> usize {
        self.names.capacity() + self.found.capacity() * size_of::<HotEntity>()
    }

    /// Makes room for one more name, of `name` bytes.
    fn room_for(&mut self, name: usize) -> Result<(), NoRoom> {
        let fits = self.names.try_reserve(name).is_ok() && self.found.try_reserve(1).is_ok();
        match fits {
            _ if self.bytes() > self.limit => Err(NoRoom::Limit(self.bytes())),
            true => Ok(()),
            false => Err(NoRoom::Memory(2 * self.bytes())),
        }
    }

    /// Sorts the entities, and keeps the wanted ones.
    fn keep_hottest(&mut self, work: &mut Interruptible<'_>) -> Result<(), NoRoom> {
        let names = &self.names;
        work.sort_with(&mut self.found, |a, b, work| {
            let name = |found: &HotEntity| &names[found.name.clone()];
            a.temperature.cmp(&b.temperature).then_with(|| work.compare(name(a), name(b)))
        });
        if self.found.len() <= self.wanted {
            return Ok(());
        }
        self.found.truncate(self.wanted);
        if let Some(last) = self.found.last() {
            self.least = (last.class, last.temperature.0);
        }
        let mut kept = Vec::new();
        let bytes = self.found.iter().map(|found| found.name.len()).sum();
        if kept.try_reserve_exact(bytes).is_err() {
            return Err(NoRoom::Memory(self.bytes() + bytes));
        }
        for found in &mut self.found {
            work.steps(1 + found.name.len() / LINE_BYTES);
            let start = kept.len();
            kept.extend_from_slice(&self.names[found.name.clone()]);
            found.name = start..kept.len();
        }
        self.names = kept;
        Ok(())
    }
}

impl Image<'_> {
    /// Reader: looks for the hottest entities that were looked up at all and have an edge that the snapshot sees; reads
    /// about `budget` slots and buckets a call. After [`Step::More`] and [`Hot::make_room`] the next call continues;
    /// after [`Step::Ask`] it continues once the xids in [`Hot::asked`] are known. All calls are under one snapshot.
    /// The image may change between them: passes and marks are those of walk/roots.rs, but all steps are equally long,
    /// and an entity that kicks move out of the way of every pass is missing. A temperature is as of the moment it was
    /// read.
    ///
    /// # Errors
    /// [`NoRoom`]: the entities take more than the limit, or there is no memory.
    pub fn hot(
        &self,
        hot: &mut Hot,
        budget: usize,
        seen: &impl Visibility,
    ) -> Result<Step, NoRoom> {
        if hot.wanted == 0 {
            return Ok(Step::Done);
        }
        if !hot.judged.fit(self.root().get(Field::Bump)) {
            return Ok(Step::More);
        }
        let kicks = self.root().count(Counter::Kicks);
        if hot.bucket == 0 {
            hot.kicks = kicks;
            hot.asked.clear();
        }
        let mut left = budget.max(1);
        while hot.bucket < self.names().geometry().buckets() {
            if left == 0 {
                return Ok(Step::More);
            }
            left -= 1;
            for entry in self.names().read(hot.bucket) {
                let warm = entry.temperature_class() >= hot.least.0;
                if let Some(id) = entry.record().filter(|&id| warm && !hot.judged.has(id)) {
                    left =
                        left.saturating_sub(self.feel(id, entry.temperature_class(), hot, seen)?);
                }
            }
            hot.bucket += 1;
        }
        hot.bucket = 0;
        if !hot.asked.is_empty() {
            return Ok(Step::Ask);
        }
        hot.passes += 1;
        match hot.kicks != kicks && hot.passes < PASSES {
            true => Ok(Step::More),
            false => Ok(Step::Done),
        }
    }

    /// Judges an entity. Returns how many slots were read.
    fn feel(
        self,
        id: RecordId,
        class: u32,
        hot: &mut Hot,
        seen: &impl Visibility,
    ) -> Result<usize, NoRoom> {
        let record = Record::new(self.mem(), id);
        let temperature = Temperature::of(record).count();
        if record.is_tree() || temperature < hot.least.1 {
            hot.judged.add(id);
            return Ok(RECORD);
        }
        hot.asked.begin();
        let mut visited = RECORD + record.name_len() / LINE_BYTES;
        if has_visible_edge(self.mem(), record, None, seen, &mut hot.asked, &mut visited) {
            hot.room_for(record.name_len())?;
            let start = hot.names.len();
            hot.names.resize(start + record.name_len(), 0);
            record.copy_name(&mut hot.names[start..]);
            let name = start..hot.names.len();
            hot.found.push(HotEntity { temperature: Reverse(temperature), class, name });
        } else if hot.asked.is_unsure() {
            return Ok(visited);
        }
        hot.judged.add(id);
        Ok(visited)
    }
}
