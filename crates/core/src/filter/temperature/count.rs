//! A count of an entity's lookups: the hotter the entity, the fewer writes.
//!
//! ```text
//!   bits   0 .. 127                    that many
//!          128 and more                (64 + bits % 64) * 2^(bits / 64 - 1), about that many
//! ```
//!
//! If all readers wrote a count at each lookup, its cache line would move from core to core each time. So from 128 on,
//! a step stands for 2, 4, 8, ... lookups, and a reader takes it with a chance of one in 2, 4, 8, ...: an entity looked
//! up n times is written 128 + 64 log2(n / 128) times, which is about a thousand times for a million. The error of one
//! count is then about 8 %.

use std::hash::{BuildHasher, RandomState};

use crate::filter::bucket::HOTTEST_CLASS;
use crate::filter::table::Spot;
use crate::memory::casts::halves;
use crate::records::record::Record;

/// A count of lookups, exact below 128.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Temperature(u32);

/// Steps in a doubling.
const STEPS: u32 = 64;
const EXACT: u32 = 2 * STEPS;
/// The last step whose count is below 2^32.
const HOTTEST: u32 = 26 * STEPS + STEPS - 1;

impl Temperature {
    /// The temperature in an entity's record.
    #[inline]
    pub(crate) fn of(record: Record<'_>) -> Temperature {
        Temperature::from_bits(record.temperature_bits())
    }

    #[inline]
    const fn from_bits(bits: u32) -> Temperature {
        Temperature(bits)
    }

    #[inline]
    const fn bits(self) -> u32 {
        self.0
    }

    /// About how many lookups were counted.
    pub(crate) const fn count(self) -> u32 {
        if self.0 < EXACT {
            return self.0;
        }
        let bits = if self.0 < HOTTEST { self.0 } else { HOTTEST };
        (STEPS + bits % STEPS) << (bits / STEPS - 1)
    }

    /// 0 for never, n for 2^(n-1) lookups and more.
    #[inline]
    const fn class(self) -> u32 {
        if self.0 < EXACT { 32 - self.0.leading_zeros() } else { self.0 / STEPS + STEPS.ilog2() }
    }

    /// The temperature after one more lookup, if `chance` counts it.
    #[inline]
    const fn raised(self, chance: Chance) -> Option<Temperature> {
        let doublings = (self.0 / STEPS).saturating_sub(1);
        if chance.0.leading_zeros() >= doublings && self.0 < HOTTEST {
            Some(Temperature(self.0 + 1))
        } else {
            None
        }
    }
}

/// A random number: below 2^32 / n once in n times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chance(u32);

impl Chance {
    /// Begins at random, so that sessions of only a few lookups are counted too.
    pub(crate) fn new() -> Chance {
        Chance(halves(RandomState::new().hash_one(0)).0)
    }

    /// The next number: consecutive multiples of the golden ratio are spread evenly.
    #[inline]
    pub(crate) fn next(&mut self) -> Chance {
        self.0 = self.0.wrapping_add(halves(0x9E37_79B9_7F4A_7C15).1);
        *self
    }
}

impl Spot<'_> {
    /// Counts one lookup. Two at the same time may count as one, which a temperature tolerates.
    #[inline]
    pub(crate) fn raise(self, chance: Chance) {
        if let Some(raised) = Temperature::of(self.record()).raised(chance) {
            self.record().set_temperature_bits(raised.bits());
            self.cell().set_temperature_class(raised.class().min(HOTTEST_CLASS));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_a_step_and_a_class_is_a_doubling() {
        let mut before = Temperature::default();
        assert_eq!((before.count(), before.class()), (0, 0));
        for bits in 1..=HOTTEST {
            let now = Temperature::from_bits(bits);
            let step = now.count() - before.count();
            assert_eq!(step, 1 << ((bits - 1) / STEPS).saturating_sub(1));
            assert_eq!(now.class(), now.count().ilog2() + 1);
            before = now;
        }
        assert_eq!(before.raised(Chance(0)), None);
    }

    #[test]
    fn few_lookups_are_counted_exactly_and_many_nearly_with_few_writes() {
        for many in [1, 100, 127, 1000, 50_000, 2_000_000] {
            let (mut temperature, mut chance, mut writes) = (Temperature::default(), Chance(7), 0);
            for _ in 0..many {
                if let Some(raised) = temperature.raised(chance.next()) {
                    temperature = raised;
                    writes += 1;
                }
            }
            let count = temperature.count();
            let allowed = if many < 128 { 0 } else { many / 5 };
            assert!(count.abs_diff(many) <= allowed, "{count} of {many}");
            assert!(writes <= 128 + 64 * (many / 64).max(1).ilog2(), "{writes} writes for {many}");
        }
    }
}
