//! The entities that are asked for most; and whether one is there at all.

use std::cmp::Reverse;

use crate::hash::Kind;
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
    /// Reads the whole filter: 8.5 bytes an entity.
    #[must_use]
    pub fn hot(&self, n: usize, seen: &impl Visibility, ask: &mut Vec<u64>) -> Vec<(Vec<u8>, u32)> {
        let mut warm: Vec<(Reverse<u32>, RecordId)> = (0..self.filter().geometry().buckets())
            .flat_map(|bucket| self.filter().read(bucket))
            .filter_map(|entry| Some((Reverse(entry.temperature()), entry.record()?)))
            .filter(|(temperature, _)| temperature.0 > 0)
            .collect();
        warm.sort_unstable_by_key(|&(temperature, _)| temperature);
        let mut hot: Vec<(Reverse<u32>, Vec<u8>)> = Vec::new();
        for (temperature, id) in warm {
            // Names decide between the last and those as hot as it is.
            if hot.len() >= n && hot.last().is_none_or(|last| last.0 != temperature) {
                break;
            }
            let record = Record::new(self.mem(), id);
            if record.shape().kind == Kind::Entity && self.has_visible_edge(record, seen, ask) {
                hot.push((temperature, record.name()));
            }
        }
        hot.sort_unstable();
        hot.truncate(n);
        hot.into_iter().map(|(temperature, name)| (name, temperature.0)).collect()
    }

    /// Reader: whether there is an entity of that name with an edge that the snapshot sees.
    /// Xids it does not know go to `ask`, and the answer is void.
    #[must_use]
    pub fn sees(&self, name: &[u8], seen: &impl Visibility, ask: &mut Vec<u64>) -> bool {
        let entity = self.key(Kind::Entity, name).record;
        entity.is_some_and(|entity| self.has_visible_edge(entity, seen, ask))
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
