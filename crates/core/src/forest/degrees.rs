//! Estimates how many edge rows each entity of a table has, never too few. It reads the rows in a pass before the one
//! that builds the image, so that each new record gets the inline slots it needs.
//!
//! ```text
//!   hash of a name --> two counters of 4 bits; the lesser is the estimate
//! ```
//!
//! A name that shares both counters with others is overestimated. That only costs memory in its record: with ten
//! counters per name, one name in a hundred is overestimated. The method is Cormode and Muthukrishnan's, "An improved
//! data stream summary: the count-min sketch and its applications" (2005), with conservative update (Estan and
//! Varghese, 2002): of two counters that differ, only the lesser is raised.

use crate::memory::casts::{halves, wide};
use crate::memory::hash::{Hash, Kind};
use crate::{Edge, Image};

/// The largest value of a counter: it stands for this many rows or more.
const MOST: u8 = 15;

/// The counters.
#[derive(Debug)]
pub struct Degrees {
    /// Two counters in each byte.
    counters: Vec<u8>,
    seed: u64,
}

/// The place of a counter: its byte, and its bits in that byte.
type CounterAt = (usize, u32);

impl Degrees {
    /// Counters for the rows of an image to be built, in `bytes` bytes, ideally five or more for each entity; none if
    /// there is no memory.
    #[must_use]
    pub fn new(image: Image<'_>, bytes: usize) -> Option<Degrees> {
        let bytes = bytes.clamp(1, 1 << 31);
        let mut counters = Vec::new();
        counters.try_reserve_exact(bytes).ok()?;
        counters.resize(bytes, 0);
        Some(Degrees { counters, seed: image.root().seed() })
    }

    /// Counts a row: for its parent and for its child.
    pub fn count(&mut self, edge: &Edge<'_>) {
        for name in [edge.parent, edge.child] {
            let places = self.places(Hash::of(self.seed, Kind::Entity, name));
            let least = self.least(places);
            if least < MOST {
                for (byte, shift) in places {
                    let counter = &mut self.counters[byte];
                    *counter += u8::from(*counter >> shift & MOST == least) << shift;
                }
            }
        }
    }

    /// How many rows the entity with that hash has, or more; [`u32::MAX`] if it has many.
    pub(crate) fn of(&self, hash: Hash) -> u32 {
        match self.least(self.places(hash)) {
            MOST => u32::MAX,
            rows => rows.into(),
        }
    }

    fn least(&self, places: [CounterAt; 2]) -> u8 {
        let [a, b] = places.map(|(byte, shift)| self.counters[byte] >> shift & MOST);
        a.min(b)
    }

    /// Selects two counters: each half of the hash is taken as a fraction of all counters.
    fn places(&self, hash: Hash) -> [CounterAt; 2] {
        let (a, b) = halves(hash.0);
        [a, b].map(|half| {
            let number = (u64::from(half) * 2 * wide(self.counters.len())) >> 32;
            ((number / 2) as usize, (number % 2) as u32 * 4)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HeapMemory;

    #[test]
    fn nothing_is_said_too_low_and_little_too_high() {
        let mut heap = HeapMemory::new(1 << 16);
        assert!(heap.grow());
        let image = Image::format(&heap, 5).unwrap();
        let entities = if cfg!(miri) { 200 } else { 20_000_u32 };
        let mut degrees = Degrees::new(image, 5 * entities as usize).unwrap();
        let name = |i: u32| i.to_be_bytes();
        let rows = |i: u32| i % 18;
        // Entity i is its own child i % 18 / 2 times, and once the child of entity 0 if i % 18 is odd.
        for i in 0..entities {
            for row in 0..rows(i).div_ceil(2) {
                let own = 2 * row + 1 < rows(i);
                let (parent, child) = (name(if own { i } else { 0 }), name(i));
                degrees.count(&Edge { tree: None, parent: &parent, child: &child });
            }
        }
        let mut high = 0;
        for i in 1..entities {
            let says = degrees.of(Hash::of(image.root().seed(), Kind::Entity, &name(i)));
            let has = if rows(i) < 15 { rows(i) } else { u32::MAX };
            assert!(says >= has, "{i}: {says}, it has {has}");
            high += u32::from(says > has);
        }
        assert_eq!(degrees.of(Hash::of(5, Kind::Entity, &name(0))), u32::MAX);
        assert!(high < entities / 50, "{high} of {entities}");
    }
}
