//! A priority queue whose greatest element is usually replaced by a smaller one, and seldom removed.
//!
//! Only the current layer is sorted; the others are not. A greater element never has a lower layer. A replaced element
//! goes to the end of its new layer, and a layer is sorted when its turn comes.
//!
//! ```text
//!   layers  [ 7: . . . ]  [ 8: . ]  [ 11: . . ]  |  current, sorted: . . .   and later elements: . .
//! ```
//!
//! In a heap, each replacement of one of n equal elements sinks to the leaves, through memory that is in no cache: this
//! took most of the time for a star, and grew faster than the star. Elements leave the queue in their order, exactly as
//! they leave a heap.

use std::collections::{BTreeMap, BinaryHeap};

pub(super) struct Queue<T> {
    /// The layer of an element; a greater element never has a lower layer.
    layer: fn(&T) -> u32,
    /// Elements in layers below the current one, unsorted; no layer is empty.
    layers: BTreeMap<u32, Vec<T>>,
    /// The current layer, and its remaining elements, the greatest last.
    turn: u32,
    sorted: Vec<T>,
    /// Elements added since the current layer began that belong to it or to a higher one.
    later: BinaryHeap<T>,
    len: usize,
}

impl<T: Ord + Copy> Queue<T> {
    pub fn new(elements: impl Iterator<Item = T>, layer: fn(&T) -> u32) -> Queue<T> {
        let mut queue = Queue {
            layer,
            layers: BTreeMap::new(),
            turn: u32::MAX,
            sorted: Vec::new(),
            later: BinaryHeap::new(),
            len: 0,
        };
        elements.for_each(|element| queue.push(element));
        queue
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The greatest element.
    pub fn peek(&mut self) -> Option<T> {
        if self.sorted.is_empty() && self.later.is_empty() {
            (self.turn, self.sorted) = self.layers.pop_last()?;
            self.sorted.sort_unstable();
        }
        self.sorted.last().max(self.later.peek()).copied()
    }

    /// Removes the greatest element.
    pub fn pop(&mut self) {
        if self.peek().is_none() {
            return;
        }
        self.len -= 1;
        if self.later.peek() > self.sorted.last() {
            self.later.pop();
        } else {
            self.sorted.pop();
        }
    }

    /// Replaces the greatest element.
    pub fn replace(&mut self, with: T) {
        self.pop();
        self.push(with);
    }

    pub fn push(&mut self, new: T) {
        self.len += 1;
        let layer = (self.layer)(&new);
        if layer < self.turn {
            self.layers.entry(layer).or_default().push(new);
        } else {
            self.later.push(new);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::cmp::Ordering;

    use super::*;

    #[test]
    fn elements_come_in_the_order_of_the_library_s_heap() {
        let mut seed = 7_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            seed >> 52
        };
        for size in [0, 1, 2, 5, 21, 1000] {
            let some: Vec<u64> = (0..size).map(|_| random()).collect();
            let layer = |&element: &u64| cftrag_core::halves(element / 64).0;
            let mut ours = Queue::new(some.iter().copied(), layer);
            let mut theirs = BinaryHeap::from(some);
            for _ in 0..5000 {
                match random() % 4 {
                    0 => {
                        let new = random();
                        ours.push(new);
                        theirs.push(new);
                    }
                    1 => {
                        ours.pop();
                        theirs.pop();
                    }
                    _ => {
                        let new = random();
                        if let Some(mut greatest) = theirs.peek_mut() {
                            *greatest = new;
                            ours.replace(new);
                        }
                    }
                }
                assert_eq!((ours.peek(), ours.len()), (theirs.peek().copied(), theirs.len()));
            }
        }
    }

    thread_local! {
        static COMPARED: Cell<u64> = const { Cell::new(0) };
    }

    /// An edge of a star: its bound and its number.
    #[derive(Clone, Copy, PartialEq, Eq)]
    struct Edge(u32, u32);

    impl Ord for Edge {
        fn cmp(&self, other: &Edge) -> Ordering {
            COMPARED.set(COMPARED.get() + 1);
            (self.0, other.1).cmp(&(other.0, self.1))
        }
    }

    impl PartialOrd for Edge {
        fn partial_cmp(&self, other: &Edge) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }

    #[test]
    fn a_star_s_edges_are_replaced_at_the_same_cost_however_many_they_are() {
        const ROUNDS: u32 = 20;
        let cost = |edges: u32| {
            COMPARED.set(0);
            let mut queue = Queue::new((0..edges).map(|i| Edge(ROUNDS, i)), |edge| edge.0);
            for round in (0..ROUNDS).rev() {
                for i in 0..edges {
                    assert_eq!(queue.peek().map(|edge| edge.1), Some(i));
                    queue.replace(Edge(round, i));
                }
            }
            COMPARED.get() / u64::from(edges * ROUNDS)
        };
        assert!(cost(100) <= 5);
        assert!(cost(100_000) <= 5, "comparisons for each");
    }
}
