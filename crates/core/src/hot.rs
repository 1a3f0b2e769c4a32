//! Where an entity is, whether one is there at all, and the entities that are asked for most.

use std::cmp::Reverse;

use crate::Breath;
use crate::answer::Counters;
use crate::bucket::{Candidates, Entry, HOTTEST};
use crate::filter::{Spot, TOGETHER};
use crate::hash::{Hash, Kind};
use crate::id::RecordId;
use crate::list::Cursor;
use crate::record::{Direction, Record};
use crate::slot::Slot;
use crate::visibility::sees;
use crate::{Image, Visibility};

impl Image<'_> {
    /// Reader: the `n` hottest entities that were looked up at all and have an edge that the
    /// snapshot sees, with their temperatures: hottest first, then by name. An entity whose
    /// edges hang on unknown xids counts as without; these xids go to `ask`.
    /// Reads the table of names, 4.4 bytes an entity, and the records of the hottest classes.
    #[must_use]
    pub fn hot(
        &self,
        n: usize,
        seen: &impl Visibility,
        ask: &mut Vec<u64>,
        breath: &mut Breath<'_>,
    ) -> Vec<(Vec<u8>, u32)> {
        let mut hot: Vec<(Reverse<u32>, Vec<u8>)> = Vec::new();
        for class in (1..=HOTTEST).rev() {
            if hot.len() >= n {
                break;
            }
            let mut warm: Vec<(Reverse<u32>, RecordId)> = self
                .of_class(class, breath)
                .map(|id| (Reverse(Record::new(self.mem(), id).temperature().count()), id))
                .collect();
            breath.sort_by(&mut warm, |a, b| a.0.cmp(&b.0));
            for (temperature, id) in warm {
                breath.step();
                // Names decide between the last and those as hot as it is.
                if hot.len() >= n && hot.last().is_none_or(|last| last.0 != temperature) {
                    break;
                }
                let record = Record::new(self.mem(), id);
                if !record.is_tree() && self.has_visible_edge(record, seen, ask) {
                    hot.push((temperature, record.name()));
                }
            }
        }
        breath.sort_by(&mut hot, Ord::cmp);
        hot.truncate(n);
        hot.into_iter().map(|(temperature, name)| (name, temperature.0)).collect()
    }

    /// The names that were looked up so often.
    fn of_class(self, class: u32, breath: &mut Breath<'_>) -> impl Iterator<Item = RecordId> {
        let names = self.names();
        let entries = (0..names.geometry().buckets()).flat_map(move |bucket| {
            breath.step();
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
