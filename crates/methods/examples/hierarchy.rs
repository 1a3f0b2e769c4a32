//! Builds hierarchies of generated graphs, and compares their entropy with that of a spanning tree and of the planted
//! tree.
//!
//!     cargo run --release -p cftrag-methods --example hierarchy [part of a graph's name]
//!
//! If the name of only one graph contains that part, also prints the peak memory (on Linux, of the whole process).
//!
//! The baseline is a maximum spanning tree (petgraph's Kruskal, all weights equal), rooted at the node with the highest
//! degree. In it a node is the community of itself and all nodes under it; below the allowed height everything belongs
//! to the last community.

use cftrag_methods::{Encoding, Network, build_hierarchy};
use petgraph::algo::min_spanning_tree;
use petgraph::data::FromElements;
use petgraph::graph::{NodeIndex, UnGraph};
use std::time::Instant;

type Edges = Vec<(u32, u32, f64)>;

/// Splitmix64, which gives the same graphs everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u32) -> u32 {
        (self.next() % u64::from(n)) as u32
    }
}

/// Groups of `size` nodes, in supergroups of `groups` groups: each node has `degrees` edges to its group, to its
/// supergroup, and to any node.
fn planted(supergroups: u32, groups: u32, size: u32, degrees: [u32; 3]) -> (u32, Edges, Vec<u32>) {
    let n = supergroups * groups * size;
    let (mut random, mut edges) = (Random(1), Vec::new());
    for a in 0..n {
        for (within, degree) in [size, groups * size, n].into_iter().zip(degrees) {
            edges.extend((0..degree).map(|_| (a, a / within * within + random.below(within), 1.0)));
        }
    }
    // The root comes last, after the nodes of supergroups and groups.
    let (first, above) = (n + supergroups, groups * supergroups);
    let mut parent: Vec<u32> = (0..n).map(|a| first + a / size).collect();
    parent.extend((0..supergroups).map(|_| first + above));
    parent.extend((0..above).map(|group| n + group / groups));
    parent.push(0);
    (n, edges, parent)
}

/// Cliques of `size` nodes in a ring, with one edge between neighbours.
fn ring(cliques: u32, size: u32) -> (u32, Edges, Vec<u32>) {
    let n = cliques * size;
    let mut edges = Vec::new();
    for clique in 0..cliques {
        let (from, to) = (clique * size, (clique + 1) * size);
        edges.extend((from..to).flat_map(|a| (a + 1..to).map(move |b| (a, b, 1.0))));
        edges.push((to - 1, to % n, 1.0));
    }
    let mut parent: Vec<u32> = (0..n).map(|a| n + a / size).collect();
    parent.extend((0..=cliques).map(|_| n + cliques));
    (n, edges, parent)
}

/// Joins each new node to `m` ends of earlier edges.
fn preferential(n: u32, m: u32) -> (u32, Edges, Vec<u32>) {
    let (mut random, mut ends, mut edges) = (Random(2), vec![0], Vec::new());
    for a in 1..n {
        for _ in 0..m {
            let b = ends[random.below(ends.len() as u32) as usize];
            edges.push((a, b, 1.0));
            ends.extend([a, b]);
        }
    }
    (n, edges, Vec::new())
}

/// A hub and its neighbours, for which each merge changes what all other merges save.
fn star(n: u32) -> (u32, Edges, Vec<u32>) {
    (n, (1..n).map(|a| (0, a, 1.0)).collect(), Vec::new())
}

fn spanning_tree(network: &Network, height: usize) -> Encoding {
    let n = network.nodes();
    let graph = UnGraph::<(), f64>::from_edges(
        network.edges().iter().map(|&(a, b, weight)| (a, b, -weight)),
    );
    let tree = UnGraph::<(), f64>::from_elements(min_spanning_tree(&graph));
    let hub = (0..n)
        .max_by(|&a, &b| network.degree(a).total_cmp(&network.degree(b)).then(b.cmp(&a)))
        .unwrap();
    // The community of node a is n + a; nodes at the last level have no community, and belong to that of their parent.
    let root = 2 * n;
    let mut parent = vec![root; 2 * n as usize + 1];
    let mut seen = vec![false; n as usize];
    for start in std::iter::once(hub).chain(0..n) {
        if std::mem::replace(&mut seen[start as usize], true) {
            continue;
        }
        let mut left = vec![(start, root, 1)];
        while let Some((a, above, depth)) = left.pop() {
            let inner = depth < height;
            parent[(n + a) as usize] = above;
            parent[a as usize] = if inner { n + a } else { above };
            if (a as usize) >= tree.node_count() {
                continue;
            }
            for b in tree.neighbors(NodeIndex::new(a as usize)) {
                if !std::mem::replace(&mut seen[b.index()], true) {
                    left.push((b.index() as u32, if inner { n + a } else { above }, depth + 1));
                }
            }
        }
    }
    Encoding::new(network, &parent).unwrap()
}

/// A line of Linux's /proc/self/status, in kilobytes.
fn memory(what: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(what));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

type Make = fn() -> (u32, Edges, Vec<u32>);

const GRAPHS: [(&str, Make); 8] = [
    ("planted 4 x 4 x 50, degrees 8 3 1", || planted(4, 4, 50, [8, 3, 1])),
    ("planted 10 x 10 x 100, degrees 6 2 2", || planted(10, 10, 100, [6, 2, 2])),
    ("planted 30 x 30 x 100, degrees 6 2 2", || planted(30, 30, 100, [6, 2, 2])),
    ("ring of 50 cliques of 10", || ring(50, 10)),
    ("ring of 50,000 cliques of 3", || ring(50_000, 3)),
    ("preferential attachment, 10,000 x 10", || preferential(10_000, 10)),
    ("preferential attachment, 50,000 x 2", || preferential(50_000, 2)),
    ("star of 100,000", || star(100_000)),
];

fn main() {
    let part = std::env::args().nth(1).unwrap_or_default();
    let graphs: Vec<_> = GRAPHS.iter().filter(|graph| graph.0.contains(&part)).collect();
    println!(
        "{:38} {:>8} {:>8}  height  one-dim  spanning   planted      ours   seconds  tree nodes",
        "graph", "nodes", "edges"
    );
    for (name, make) in &graphs {
        let (nodes, edges, planted) = make();
        let network = Network::new(nodes as usize, edges, &mut || ());
        let built = [2, 3, 4].map(|height| {
            let start = Instant::now();
            (height, build_hierarchy(&network, height, &mut || {}), start.elapsed().as_secs_f64())
        });
        if let [_] = graphs[..] {
            println!("memory at most: {} kB", memory("VmHWM:"));
        }
        for (height, ours, seconds) in built {
            let planted = if planted.is_empty() {
                f64::NAN
            } else {
                Encoding::new(&network, &planted).unwrap().entropy()
            };
            println!(
                "{name:38} {nodes:8} {:8} {height:7} {:8.3} {:9.3} {planted:9.3} {:9.3} {seconds:9.3} {:11}",
                network.edges().len(),
                network.entropy(),
                spanning_tree(&network, height).entropy(),
                ours.entropy(),
                ours.tree_nodes().len(),
            );
        }
    }
}
