//! What fits a budget of tokens: the sources take turns, the hierarchy first, each with its next row if that fits. A sentence of the hierarchy that does
//! not fit is cut to its nearest relatives, in half of what is left: an entity with many relatives does not crowd out the documents.

/// Where a row comes from, in the order of turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    Hierarchy,
    Document,
    Chunk,
}

/// A row: its source, its rank among the rows of that (from 1), and its tokens.
pub type Item = (Source, u32, usize);

/// Which rows are taken. `cut` shortens the sentence of that number to at most so many tokens, and returns how many it has now; None if it cannot.
pub fn taken(
    items: &[Item],
    budget: usize,
    mut cut: impl FnMut(usize, usize) -> Option<usize>,
) -> Vec<bool> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&n| (items[n].1, items[n].0));
    let (mut left, mut taken) = (budget, vec![false; items.len()]);
    for n in order {
        let (source, _, tokens) = items[n];
        let is_hierarchy = source == Source::Hierarchy;
        let fits = if tokens <= left {
            Some(tokens)
        } else if is_hierarchy {
            cut(n, left / 2)
        } else {
            None
        };
        if let Some(tokens) = fits {
            taken[n] = true;
            left = left.saturating_sub(tokens);
        }
    }
    taken
}

/// How many names of a list fit, if so many characters precede it and `ends` says where each name ends: with " and 98 more." in place of the others, it
/// has at most `room` tokens. None if not even one fits.
#[must_use]
pub fn names_that_fit(head: usize, ends: &[(u32, u32)], room: usize) -> Option<usize> {
    let fits = |count: usize| {
        let more = format!(" and {} more.", ends.len() - count).len();
        (head + ends[count - 1].1 as usize + more).div_ceil(4) <= room
    };
    // Each further name makes the sentence longer.
    let (mut most, mut too_many) = (0, ends.len());
    while most + 1 < too_many {
        let middle = usize::midpoint(most, too_many);
        if fits(middle) { most = middle } else { too_many = middle }
    }
    (most > 0).then_some(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sources_take_turns_and_the_hierarchy_is_first() {
        use Source::{Chunk, Document, Hierarchy};
        let items = [
            (Document, 1, 10),
            (Document, 2, 10),
            (Hierarchy, 1, 10),
            (Hierarchy, 2, 10),
            (Chunk, 1, 10),
        ];
        assert_eq!(taken(&items, 30, |_, _| None), [true, false, true, false, true]);
        assert_eq!(taken(&items, 10, |_, _| None), [false, false, true, false, false]);
        // A long sentence is cut to half of what is left.
        let items = [(Document, 1, 10), (Hierarchy, 1, 100)];
        assert_eq!(taken(&items, 30, |n, room| (n == 1 && room == 15).then_some(14)), [true, true]);
    }

    #[test]
    fn as_many_names_fit_as_the_room_says() {
        // "aa, aa, aa, aa": names of two characters, two between them.
        let ends: Vec<_> = (0..50).map(|n| (4 * n + 2, 4 * n + 2)).collect();
        assert_eq!(names_that_fit(20, &ends, 10), Some(2));
        assert_eq!(names_that_fit(20, &ends, 8), None);
        assert_eq!(names_that_fit(20, &ends[..1], 100), None);
    }

    proptest! {
        #[test]
        fn a_budget_is_kept(sizes in prop::collection::vec(0_usize..50, 0..30), budget in 0_usize..200) {
            let items: Vec<_> = sizes.iter().zip(1..).map(|(size, rank)| (Source::Document, rank, *size)).collect();
            let taken = taken(&items, budget, |_, _| None);
            let sum: usize = taken.iter().zip(&sizes).filter(|(taken, _)| **taken).map(|(_, size)| size).sum();
            prop_assert!(sum <= budget);
            // What is left out would not have fitted beside those before it.
            for (n, _) in taken.iter().enumerate().filter(|(_, taken)| !**taken) {
                let before: usize = (0..n).filter(|&i| taken[i]).map(|i| sizes[i]).sum();
                prop_assert!(before + sizes[n] > budget);
            }
        }
    }
}
