//! Step 1: merges clusters two by two, always a pair that is (nearly) the closest, until no edge joins two of them.
//! Then puts a root above them all.
//!
//! The closeness of clusters a and b is `w(a, b) V / (vol(a) vol(b))`: how much more often an edge joins them than
//! chance would (the inverse of the distance of Bonald, Charpentier, Galland and Hollocou 2018). While w stays the
//! same, closeness only falls, so a closeness in the queue is an upper bound. That of the top pair is computed again,
//! and the pair goes back into the queue unless [`ENOUGH`] of it is left. Without that factor, each pair of a hub with
//! 100,000 neighbours would be computed again as many times.

use super::Network;
use super::queue::Queue;
use super::tree::Tree;
use cftrag_core::{halves, index, word};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A pair merges if it is at least this close, relative to the closest pair that there might be.
const ENOUGH: f64 = 31.0 / 32.0;
/// Bits of a number's mantissa that distinguish layers of the queue, chosen so that [`ENOUGH`] is one layer.
const LAYER_BITS: u32 = 5;
/// Pairs taken from the queue between two checks for interrupts; each takes some microseconds.
const BREATH: usize = 1 << 12;
/// Pairs that the queue may hold in addition to twice the initial number.
const SPARE: usize = 1 << 14;

/// Clusters by their neighbours. A merged cluster keeps the number of one of the two.
struct Clusters {
    neighbours: Vec<HashMap<u32, f64, BuildHasherDefault<Spread>>>,
    volume: Vec<f64>,
    total: f64,
}

/// A simple hash, enough for numbers that users cannot choose.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(u32::from(byte)));
    }

    fn write_u32(&mut self, number: u32) {
        let mixed = (self.0 ^ u64::from(number)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

/// A pair of clusters, and an upper bound of their closeness.
#[derive(Clone, Copy)]
struct Pair {
    close: f64,
    a: u32,
    b: u32,
}

impl Pair {
    fn order(&self) -> (u32, u32) {
        (self.a, self.b)
    }

    /// The layer in the queue: the exponent and the first bits of a number that is not negative. A pair that is no
    /// longer close enough leaves its layer, which is less than a 32nd wide. NaN (0 times infinity where weights are
    /// far apart) comes before or after all other numbers, by its sign.
    fn layer(&self) -> u32 {
        if self.close.is_sign_negative() {
            return 0;
        }
        halves(self.close.to_bits() >> (f64::MANTISSA_DIGITS - 1 - LAYER_BITS)).0
    }
}

impl Ord for Pair {
    fn cmp(&self, other: &Pair) -> Ordering {
        self.close.total_cmp(&other.close).then_with(|| other.order().cmp(&self.order()))
    }
}

impl PartialOrd for Pair {
    fn partial_cmp(&self, other: &Pair) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Pair {
    fn eq(&self, other: &Pair) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Pair {}

impl Clusters {
    fn of(network: &Network, check_interrupts: &mut dyn FnMut()) -> Clusters {
        let mut neighbours = vec![HashMap::default(); index(network.nodes())];
        for edges in network.edges().chunks(BREATH) {
            for &(a, b, weight) in edges {
                neighbours[index(a)].insert(b, weight);
                neighbours[index(b)].insert(a, weight);
            }
            check_interrupts();
        }
        let volume = (0..network.nodes()).map(|node| network.degree(node)).collect();
        Clusters { neighbours, volume, total: network.volume() }
    }

    /// The weight between two clusters that are neighbours. Reads the smaller map, because a hub's map is in no cache.
    fn between(&self, a: u32, b: u32) -> Option<f64> {
        let (of, other) = (&self.neighbours[index(a)], &self.neighbours[index(b)]);
        if of.len() <= other.len() { of.get(&b).copied() } else { other.get(&a).copied() }
    }

    fn pair(&self, a: u32, b: u32, weight: f64) -> Pair {
        let close = weight / self.volume[index(a)] * (self.total / self.volume[index(b)]);
        Pair { close, a: a.min(b), b: a.max(b) }
    }

    fn pairs(&self, check_interrupts: &mut dyn FnMut()) -> Queue<Pair> {
        let each = (0..).zip(&self.neighbours).flat_map(|(a, of)| {
            if index(a).is_multiple_of(BREATH) {
                check_interrupts();
            }
            let those_after = of.iter().filter(move |&(&b, _)| a < b);
            those_after.map(move |(&b, &weight)| self.pair(a, b, weight))
        });
        Queue::new(each, Pair::layer)
    }

    /// Merges two clusters into the one with more neighbours; returns its number and the weight between the two. Pushes
    /// the pairs whose bound rose.
    fn merge(&mut self, pair: Pair, pairs: &mut Queue<Pair>) -> (u32, f64) {
        let size = |cluster: u32| self.neighbours[index(cluster)].len();
        let (keep, gone) =
            if size(pair.a) >= size(pair.b) { (pair.a, pair.b) } else { (pair.b, pair.a) };
        let moved = std::mem::take(&mut self.neighbours[index(gone)]);
        self.volume[index(keep)] += self.volume[index(gone)];
        let mut joined = 0.0;
        for (neighbour, weight) in moved {
            if neighbour == keep {
                joined = weight;
                self.neighbours[index(keep)].remove(&gone);
                continue;
            }
            let of = &mut self.neighbours[index(neighbour)];
            of.remove(&gone);
            let sum = of.get(&keep).copied().unwrap_or(0.0) + weight;
            of.insert(keep, sum);
            self.neighbours[index(keep)].insert(neighbour, sum);
            pairs.push(self.pair(keep, neighbour, sum));
        }
        (keep, joined)
    }
}

/// Merges all clusters: binary trees under one root.
pub(super) fn merge(network: &Network, check_interrupts: &mut dyn FnMut()) -> Tree {
    let n = index(network.nodes());
    let mut clusters = Clusters::of(network, check_interrupts);
    let mut pairs = clusters.pairs(check_interrupts);
    let room = 2 * pairs.len() + SPARE;
    let mut tree = Tree {
        leaves: n,
        parent: (0..network.nodes()).collect(),
        stays: vec![true; n],
        volume: clusters.volume.clone(),
        between: vec![0.0; n],
    };
    // The tree node of each cluster.
    let mut node: Vec<u32> = (0..network.nodes()).collect();
    let mut looked = 0;
    while let Some(pair) = pairs.peek() {
        looked += 1;
        if looked % BREATH == 0 {
            check_interrupts();
        }
        let Some(weight) = clusters.between(pair.a, pair.b) else {
            pairs.pop();
            continue;
        };
        let now = clusters.pair(pair.a, pair.b, weight);
        if now.close < pair.close * ENOUGH {
            pairs.replace(now);
            continue;
        }
        pairs.pop();
        let (keep, joined) = clusters.merge(pair, &mut pairs);
        let children = [node[index(pair.a)], node[index(pair.b)]];
        node[index(keep)] = tree.add(&children, clusters.volume[index(keep)], 2.0 * joined);
        if pairs.len() > room {
            pairs = clusters.pairs(check_interrupts);
        }
    }
    let is_top = |&i: &u32| tree.parent[index(i)] == i;
    let tops: Vec<u32> = (0..word(tree.parent.len())).filter(is_top).collect();
    if tops.len() != 1 || n == 1 {
        tree.add(&tops, network.volume(), 0.0);
    }
    tree
}

#[test]
fn it_breathes_while_it_reads_the_graph() {
    let edges = (0..60_000_u32).map(|a| (a.wrapping_mul(0x9E37_79B9) >> 16, a >> 1, 1.0)).collect();
    let (mut sorting, mut clustering, mut pairing) = (0, 0, 0);
    let network = Network::new(1 << 16, edges, &mut || sorting += 1);
    let clusters = Clusters::of(&network, &mut || clustering += 1);
    let _ = clusters.pairs(&mut || pairing += 1);
    let expected = (network.edges().len().div_ceil(BREATH), (1 << 16) / BREATH);
    assert_eq!((clustering, pairing), expected);
    assert!(sorting > 0, "{sorting}");
}

#[test]
fn a_closer_pair_is_in_no_lower_layer() {
    let numbers =
        [-f64::NAN, 0.0, 1e-320, 1e-300, 1.0, 31.0 / 32.0, 2.0, 1e307, f64::INFINITY, f64::NAN];
    let mut pairs = numbers.map(|close| Pair { close, a: 0, b: 1 });
    pairs.sort();
    let layers = pairs.map(|pair| pair.layer());
    assert!(layers.is_sorted(), "{layers:?}");
}
