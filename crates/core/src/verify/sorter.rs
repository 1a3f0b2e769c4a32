//! Sorting pairs of numbers, as many as an image has names, words and forms.

/// Where the check sorts what it compares: on disk, if there is much. It is filled, then emptied, then filled again.
pub trait Sorter {
    fn add(&mut self, pair: (u64, u64));

    /// The next pair in order. After `None` there is room for others.
    fn next(&mut self) -> Option<(u64, u64)>;
}

/// Sorts in memory.
#[derive(Debug, Default)]
pub struct InMemory {
    pairs: Vec<(u64, u64)>,
    is_sorted: bool,
}

impl Sorter for InMemory {
    fn add(&mut self, pair: (u64, u64)) {
        self.pairs.push(pair);
    }

    fn next(&mut self) -> Option<(u64, u64)> {
        if !self.is_sorted {
            self.pairs.sort_unstable_by(|a, b| b.cmp(a));
        }
        let next = self.pairs.pop();
        self.is_sorted = next.is_some();
        next
    }
}
