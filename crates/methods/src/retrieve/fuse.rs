//! Reciprocal rank fusion (Cormack, Clarke, Buettcher: Reciprocal Rank Fusion outperforms Condorcet and individual rank
//! learning methods, SIGIR 2009).
//!
//! A row's score is the sum of 1 / (60 + its place) over the lists that have it. Sums are of whole numbers, so the same
//! places have the same score whatever the order of the lists.

/// What is added to a place.
const BESIDE: u64 = 60;
/// The score of 1.
const ONE: u64 = 1 << 56;

/// A row's score, by its places (from 1) in the lists that have it.
#[must_use]
pub fn score(places: impl IntoIterator<Item = u32>) -> u64 {
    places.into_iter().map(|place| ONE / (BESIDE + u64::from(place))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn more_lists_and_better_places_score_more(places in prop::collection::vec(1_u32..10_000, 1..4), better in 1_u32..10_000) {
            let before = score(places.clone());
            prop_assert!(score(places.iter().copied().chain([better])) > before);
            let mut best = places.clone();
            best[0] = best[0].min(better);
            prop_assert!(score(best) >= before);
            let mut turned = places;
            turned.reverse();
            prop_assert_eq!(score(turned), before);
        }
    }

    #[test]
    fn two_middle_places_beat_one_first() {
        assert!(score([20, 20]) > score([1]));
        assert_eq!(score([]), 0);
    }
}
