//! Where an entity is, whether one is there at all, and the entities that are asked for most.

use std::cmp::Reverse;
use std::ops::Range;

use crate::Interruptible;
use crate::filter::bucket::{Candidates, Entry, HOTTEST};
use crate::filter::counters::Counters;
use crate::filter::table::{Spot, TOGETHER};
use crate::memory::hash::{Hash, Kind};
use crate::memory::id::RecordId;
use crate::memory::limit::NoRoom;
use crate::records::list::Cursor;
use crate::records::record::{Direction, Record};
use crate::records::slot::Slot;
use crate::records::visibility::sees;
use crate::{Image, Visibility};

/// The hottest entities, within a limit of memory.
pub struct Hot {
    limit: usize,
    /// Their names, one after the other.
    names: Vec<u8>,
    found: Vec<Found>,
    /// Those of one class of temperatures.
    warm: Vec<(Reverse<u32>, RecordId)>,
}

struct Found {
    temperature: Reverse<u32>,
    /// In `names`.
    name: Range<usize>,
}

impl Hot {
    /// That may take so many bytes.
    #[must_use]
    pub fn new(limit: usize) -> Hot {
        Hot { limit, names: Vec::new(), found: Vec::new(), warm: Vec::new() }
    }

    /// Names and temperatures: hottest first, then by name.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u32)> {
        self.found.iter().map(|found| (&self.names[found.name.clone()], found.temperature.0))
    }

    /// Room for another name, of so many bytes, or for another warm entity.
    fn make_room(&mut self, name: usize) -> Result<(), NoRoom> {
        let fits = self.names.try_reserve(name).is_ok()
            && self.found.try_reserve(1).is_ok()
            && self.warm.try_reserve(1).is_ok();
        let bytes = self.names.capacity()
            + self.found.capacity() * size_of::<Found>()
            + self.warm.capacity() * size_of::<(Reverse<u32>, RecordId)>();
        match fits {
            _ if bytes > self.limit => Err(NoRoom::Limit(bytes)),
            true => Ok(()),
            false => Err(NoRoom::Memory(2 * bytes)),
        }
    }

    fn sort(&mut self, work: &mut Interruptible<'_>) {
        let names = &self.names;
        work.sort_with(&mut self.found, |a, b, work| {
            let name = |found: &Found| &names[found.name.clone()];
            a.temperature.cmp(&b.temperature).then_with(|| work.compare(name(a), name(b)))
        });
    }
}

impl Image<'_> {
    /// Reader: the `n` hottest entities that were looked up at all and have an edge that the
    /// snapshot sees, instead of what `hot` had. An entity whose
    /// edges hang on unknown xids counts as without; these xids go to `ask`.
    /// Reads the table of names, 4.4 bytes an entity, and the records of the hottest classes.
    ///
    /// # Errors
    /// [`NoRoom`]: they take more than the limit, or there is no memory.
    pub fn hot(
        &self,
        hot: &mut Hot,
        n: usize,
        seen: &impl Visibility,
        ask: &mut Vec<u64>,
        work: &mut Interruptible<'_>,
    ) -> Result<(), NoRoom> {
        hot.names.clear();
        hot.found.clear();
        for class in (1..=HOTTEST).rev() {
            if hot.found.len() >= n {
                break;
            }
            hot.warm.clear();
            for id in self.of_class(class, work) {
                hot.make_room(0)?;
                hot.warm.push((Reverse(Record::new(self.mem(), id).temperature().count()), id));
            }
            work.sort_by(&mut hot.warm, |a, b| a.0.cmp(&b.0));
            for at in 0..hot.warm.len() {
                work.step();
                let (temperature, id) = hot.warm[at];
                // Names decide between the last and those as hot as it is.
                let last = hot.found.last().map(|last| last.temperature);
                if hot.found.len() >= n && last != Some(temperature) {
                    break;
                }
                let record = Record::new(self.mem(), id);
                if !record.is_tree() && self.has_visible_edge(record, seen, ask) {
                    hot.make_room(record.name_len())?;
                    let start = hot.names.len();
                    hot.names.resize(start + record.name_len(), 0);
                    record.copy_name(&mut hot.names[start..]);
                    hot.found.push(Found { temperature, name: start..hot.names.len() });
                }
            }
        }
        hot.sort(work);
        hot.found.truncate(n);
        Ok(())
    }

    /// The names that were looked up so often.
    fn of_class(self, class: u32, work: &mut Interruptible<'_>) -> impl Iterator<Item = RecordId> {
        let names = self.names();
        let entries = (0..names.geometry().buckets()).flat_map(move |bucket| {
            work.step();
            names.read(bucket)
        });
        entries.filter(move |entry| entry.heat() == class).filter_map(Entry::record)
    }

    /// Reader: the entity of that name, by the number of its record's line, which no other
    /// entity has while it is there.
    #[must_use]
    #[inline(always)]
    pub fn find(&self, name: &[u8]) -> Option<u32> {
        let hash = Hash::of(self.root().seed(), Kind::Entity, name);
        let found = self.names().find(Kind::Entity, hash, name, &mut Counters::default());
        found.map(|spot| spot.record().id().line())
    }

    /// Reader: as [`Image::find`], for many names: memory is waited for once for all that are
    /// looked for together.
    pub fn find_all<'n>(
        &self,
        names: impl IntoIterator<Item = &'n [u8]>,
        mut found: impl FnMut(Option<u32>),
    ) {
        let mut names = names.into_iter().peekable();
        while names.peek().is_some() {
            let spot = |spot: Option<Spot<'_>>| found(spot.map(|spot| spot.record().id().line()));
            self.names().find_together(
                Kind::Entity,
                names.by_ref().take(TOGETHER),
                &mut Counters::default(),
                spot,
            );
        }
    }

    /// Reader: what the filter alone says: no, or perhaps; for absent names it says perhaps once in
    /// 8192 times if every slot is full, less often otherwise.
    #[must_use]
    #[inline]
    pub fn may_have(&self, name: &[u8]) -> bool {
        let hash = Hash::of(self.root().seed(), Kind::Entity, name);
        Candidates::of(hash, self.names().buckets_of(hash)).next().is_some()
    }

    /// Reader: whether there is an entity of that name with an edge that the snapshot sees.
    /// Xids it does not know go to `ask`, and the answer is void.
    #[must_use]
    pub fn sees(&self, name: &[u8], seen: &impl Visibility, ask: &mut Vec<u64>) -> bool {
        let entity = self.key(Kind::Entity, name).record;
        entity.is_some_and(|id| self.has_visible_edge(Record::new(self.mem(), id), seen, ask))
    }

    fn has_visible_edge(
        self,
        record: Record<'_>,
        seen: &impl Visibility,
        ask: &mut Vec<u64>,
    ) -> bool {
        [Direction::Up, Direction::Down].into_iter().any(|direction| {
            let mut cursor = Cursor::start(record, direction);
            std::iter::from_fn(|| cursor.next(self.mem()))
                .any(|at| sees(self.mem(), Slot::read(self.mem(), at).link, seen, ask))
        })
    }
}
