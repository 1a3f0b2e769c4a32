//! Compares the filter with the rules taken literally, on matrices.

use super::*;
use cftrag_core::{index, word};

/// A seeded generator, which gives the same graphs everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % n
    }

    fn graph(&mut self, nodes: usize, edges: usize) -> Vec<(u32, u32)> {
        (0..edges).map(|_| (word(self.below(nodes)), word(self.below(nodes)))).collect()
    }
}

/// For each node, which nodes it leads to, by one edge or more.
fn closure(nodes: usize, edges: &[(u32, u32)]) -> Vec<Vec<bool>> {
    let mut leads = vec![vec![false; nodes]; nodes];
    edges.iter().for_each(|&(from, to)| leads[index(from)][index(to)] = true);
    for via in 0..nodes {
        for from in 0..nodes {
            for to in 0..nodes {
                leads[from][to] |= leads[from][via] && leads[via][to];
            }
        }
    }
    leads
}

fn naive(nodes: usize, edges: &[(u32, u32)]) -> Vec<Verdict> {
    let mut unique: Vec<(u32, u32)> =
        edges.iter().copied().filter(|edge| edge.0 != edge.1).collect();
    unique.sort_unstable();
    unique.dedup();
    let leads = closure(nodes, &unique);
    let knot = |a: u32, b: u32| a == b || leads[index(a)][index(b)] && leads[index(b)][index(a)];
    // A root is a node to which only nodes lead that it leads to, and which is the first of these.
    let outside = |node: u32| {
        (0..word(nodes)).any(|from| leads[index(from)][index(node)] && !knot(from, node))
    };
    let first = |node: u32| (0..node).all(|other| !knot(other, node));
    let mut levels: Vec<Option<usize>> =
        (0..word(nodes)).map(|n| (!outside(n) && first(n)).then_some(0)).collect();
    for level in 0..nodes {
        for &(from, to) in &unique {
            if levels[index(from)] == Some(level) && levels[index(to)].is_none() {
                levels[index(to)] = Some(level + 1);
            }
        }
    }
    let order = |node: u32| (levels[index(node)].expect("each is reached from a root"), node);
    let (mut kept, mut back): (Vec<_>, Vec<_>) =
        unique.iter().copied().partition(|&(from, to)| !knot(from, to) || order(from) < order(to));
    back.sort_unstable_by_key(|&(from, to)| (order(from), order(to)));
    for edge in back {
        let in_knot =
            unique.iter().filter(|other| knot(other.0, edge.0) && knot(other.1, edge.0)).count();
        if in_knot <= KNOT && !closure(nodes, &kept)[index(edge.1)][index(edge.0)] {
            kept.push(edge);
        }
    }
    let leads = closure(nodes, &kept);
    let longer = |from: u32, to: u32| {
        kept.iter().any(|e| e.0 == from && e.1 != to && leads[index(e.1)][index(to)])
    };
    let verdict = |n: usize| match edges[n] {
        (from, to) if from == to => Verdict::SelfEdge,
        edge if edges[..n].contains(&edge) => Verdict::Duplicate,
        edge if !kept.contains(&edge) => Verdict::Cycle,
        (from, to) if longer(from, to) => Verdict::Transitive,
        _ => Verdict::Kept,
    };
    (0..edges.len()).map(verdict).collect()
}

#[test]
fn the_rules_are_those_of_their_words() {
    let mut random = Random(7);
    let mut counts = [0; 5];
    for case in 0..3000 {
        let nodes = 1 + random.below(12);
        let edges = random.below(3 * nodes);
        let edges = random.graph(nodes, edges);
        let verdicts = filter(nodes, &edges, &mut Interruptible::new(&mut || ()));
        assert_eq!(verdicts, naive(nodes, &edges), "case {case}: {edges:?}");
        for verdict in verdicts {
            counts[match verdict {
                Verdict::Kept => 0,
                Verdict::SelfEdge => 1,
                Verdict::Duplicate => 2,
                Verdict::Cycle => 3,
                Verdict::Transitive => 4,
            }] += 1;
        }
    }
    assert!(counts.iter().all(|&count| count > 500), "each rule has its cases: {counts:?}");
}

/// In a knot that is not too large, an edge is removed only if it closes a cycle with the edges that stay; and no cycle
/// is left.
#[test]
fn no_cycle_is_left_and_no_edge_goes_for_nothing() {
    let mut random = Random(11);
    for _ in 0..300 {
        let nodes = 2 + random.below(30);
        let edges = random.graph(nodes, nodes + nodes / 2);
        let verdicts = filter(nodes, &edges, &mut Interruptible::new(&mut || ()));
        let of = |wanted: &[Verdict]| -> Vec<(u32, u32)> {
            edges
                .iter()
                .zip(&verdicts)
                .filter(|(_, v)| wanted.contains(v))
                .map(|(e, _)| *e)
                .collect()
        };
        let leads = closure(nodes, &of(&[Verdict::Kept, Verdict::Transitive]));
        assert!((0..nodes).all(|node| !leads[node][node]));
        assert!(of(&[Verdict::Cycle]).iter().all(|&(from, to)| leads[index(to)][index(from)]));
        assert_eq!(
            closure(nodes, &of(&[Verdict::Kept])),
            leads,
            "nothing is lost with a transitive edge"
        );
    }
}

#[test]
fn of_a_knot_that_is_too_large_all_edges_that_lead_back_go() {
    let ring = 2 * word(KNOT);
    // A ring, and an edge between two nodes of the same level that lead to the ring; this edge closes no cycle.
    let mut edges: Vec<(u32, u32)> = (0..ring).map(|node| (node, (node + 1) % ring)).collect();
    edges.extend([(0, ring), (ring, 3), (0, ring + 1), (ring + 1, ring)]);
    let verdicts = filter(index(ring) + 2, &edges, &mut Interruptible::new(&mut || ()));
    assert_eq!(verdicts[index(ring) - 1], Verdict::Cycle);
    assert_eq!(verdicts[index(ring) + 3], Verdict::Cycle);
    assert_eq!(verdicts.iter().filter(|verdict| **verdict == Verdict::Cycle).count(), 2);
}

/// Search and sweep agree when the children need several rounds of the sweep.
#[test]
fn the_sweep_says_what_the_search_says() {
    let mut random = Random(3);
    for (nodes, edges) in [(50, 200), (700, 1500), (3000, 20_000)] {
        let mut edges: Vec<(u32, u32)> =
            random.graph(nodes, edges).into_iter().filter(|edge| edge.0 < edge.1).collect();
        edges.sort_unstable();
        edges.dedup();
        let reduced =
            |steps| reduce::redundant(nodes, &edges, steps, &mut Interruptible::new(&mut || ()));
        let searched = reduced(usize::MAX);
        assert_eq!(searched, reduced(0));
        assert_eq!(searched, reduced(1000));
        assert!(searched.contains(&true) && searched.contains(&false));
    }
}

#[test]
fn a_long_chain_takes_no_recursion_and_no_square() {
    let n = 300_000;
    let mut edges: Vec<(u32, u32)> = (0..n).map(|node| (node, node + 1)).collect();
    edges.extend((0..n - 1).map(|node| (node, node + 2)));
    edges.push((n, 0));
    let mut checks = 0;
    let verdicts = filter(index(n) + 1, &edges, &mut Interruptible::new(&mut || checks += 1));
    let of = |wanted| verdicts.iter().filter(|verdict| **verdict == wanted).count();
    assert_eq!((of(Verdict::Cycle), of(Verdict::Transitive)), (1, index(n) - 1));
    assert!(checks > 20, "it can be stopped in each of its phases: {checks} checks");
}

/// A "no" of the labels is right, and the labels say no often enough to be useful.
#[test]
fn labels_deny_no_path_that_is_there() {
    let mut random = Random(13);
    let (mut denied, mut none) = (0, 0);
    for _ in 0..200 {
        let nodes = 2 + random.below(40);
        let mut edges = random.graph(nodes, nodes);
        edges.retain(|edge| edge.0 < edge.1);
        edges.sort_unstable();
        edges.dedup();
        let (leads, down) = (closure(nodes, &edges), Graph::new(nodes, &edges));
        let mut nothing = || ();
        let work = &mut Interruptible::new(&mut nothing);
        let labels = labels::Labels::new(&down, &down.turned(work), work);
        for above in 0..word(nodes) {
            for below in 0..word(nodes) {
                let (may, is) =
                    (labels.may_be_above(above, below), leads[index(above)][index(below)]);
                assert!(may || !is);
                (denied, none) = (denied + usize::from(!may), none + usize::from(!is));
            }
        }
    }
    assert!(denied * 10 > none * 9, "{denied} of {none} denied");
}
