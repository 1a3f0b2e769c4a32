//! Compares trees with the literal definition, and with known structures of graphs.

use super::tree::Tree;
use super::{Encoding, MAX_HEIGHT, Network, build, compress, merge, refine};
use petgraph::graph::{NodeIndex, UnGraph};
use petgraph::unionfind::UnionFind;
use proptest::prelude::*;
use std::collections::HashSet;

type Edges = Vec<(u32, u32, f64)>;

/// Few nodes, so that there are parallel edges, self-edges and nodes without edges; weights of all sizes, some of them
/// 0.
fn graphs() -> impl Strategy<Value = (usize, Edges)> {
    (1_usize..30).prop_flat_map(|nodes| {
        let node = 0..u32::try_from(nodes).unwrap();
        let weight = prop_oneof![4 => Just(1.0), 2 => 0.0..10.0, 1 => Just(0.0), 1 => Just(1e-300), 1 => Just(1e300)];
        (Just(nodes), prop::collection::vec((node.clone(), node, weight), 0..60))
    })
}

/// The leaves under a tree node, found by walking up from each leaf.
fn under(encoding: &Encoding, nodes: u32, node: u32) -> HashSet<u32> {
    (0..nodes).filter(|&leaf| way_up(encoding, leaf).any(|above| above == node)).collect()
}

fn way_up(encoding: &Encoding, node: u32) -> impl Iterator<Item = u32> + '_ {
    std::iter::successors(Some(node), |&node| {
        (node != encoding.root()).then(|| encoding.parent(node))
    })
}

/// The entropy by the literal definition: cuts and volumes from the original edges.
fn literal(encoding: &Encoding, nodes: u32, edges: &Edges) -> f64 {
    let joins = || edges.iter().filter(|&&(a, b, _)| a != b);
    let total: f64 = joins().map(|&(_, _, weight)| 2.0 * weight).sum();
    let volume = |set: &HashSet<u32>| -> f64 {
        joins()
            .map(|&(a, b, w)| {
                w * f64::from(u8::from(set.contains(&a)) + u8::from(set.contains(&b)))
            })
            .sum()
    };
    let cut = |set: &HashSet<u32>| -> f64 {
        joins().filter(|&&(a, b, _)| set.contains(&a) != set.contains(&b)).map(|&(_, _, w)| w).sum()
    };
    let all = (0..nodes).chain(encoding.tree_nodes()).filter(|&node| node != encoding.root());
    all.map(|node| {
        let (set, above) =
            (under(encoding, nodes, node), under(encoding, nodes, encoding.parent(node)));
        let cut = cut(&set);
        if cut > 0.0 { cut / total * (volume(&above).log2() - volume(&set).log2()) } else { 0.0 }
    })
    .sum()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs())
}

fn parents(encoding: &Encoding) -> Vec<u32> {
    (0..encoding.tree_nodes().end).map(|node| encoding.parent(node)).collect()
}

/// The entropy of the tree from what the steps counted.
fn believed(tree: &Tree, network: &Network) -> f64 {
    if network.volume() == 0.0 {
        return 0.0;
    }
    let nodes = (tree.leaves..=tree.root()).filter(|&i| tree.stays[i]);
    let saved: f64 = nodes.map(|i| tree.saved(tree.between[i], tree.volume[i])).sum();
    network.entropy() - saved / network.volume()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if std::env::var_os("CFTRAG_QUICK").is_some() { 30 } else { 1000 }))]

    #[test]
    fn each_node_is_a_leaf_once_and_none_is_too_deep((nodes, edges) in graphs(), height in 1..=MAX_HEIGHT) {
        let network = Network::new(nodes, edges, &mut || {});
        let encoding = build(&network, height, &mut || {});
        let mut leaves: Vec<u32> = Vec::new();
        for node in encoding.tree_nodes() {
            leaves.extend(encoding.members(node));
            let below = encoding.tree_nodes().filter(|&n| n != node && encoding.parent(n) == node).count();
            prop_assert!(nodes == 1 || below + encoding.members(node).len() > 1, "{node} has one child");
        }
        leaves.sort_unstable();
        prop_assert_eq!(leaves, (0..network.nodes()).collect::<Vec<_>>());
        for leaf in 0..network.nodes() {
            prop_assert!(way_up(&encoding, leaf).count() <= height + 1);
        }
    }

    #[test]
    fn the_entropy_is_that_of_the_definition((nodes, edges) in graphs(), height in 1..6_usize) {
        let network = Network::new(nodes, edges.clone(), &mut || {});
        let encoding = build(&network, height, &mut || {});
        let literal = literal(&encoding, network.nodes(), &edges);
        prop_assert!(near(encoding.entropy(), literal), "{} is {literal}", encoding.entropy());
        prop_assert!(encoding.entropy() <= network.entropy() + 1e-9);
        if height == 1 {
            prop_assert!(near(encoding.entropy(), network.entropy()));
        }
    }

    #[test]
    fn each_step_knows_what_it_saved((nodes, edges) in graphs(), height in 1..6_usize) {
        let network = Network::new(nodes, edges, &mut || {});
        let mut tree = merge::merge(&network, &mut || {});
        let is = |tree: &Tree| Encoding::new(&network, &tree.parent).unwrap().entropy();
        prop_assert!(near(believed(&tree, &network), is(&tree)));
        compress::compress(&mut tree, height, &mut || {});
        let compressed = is(&tree);
        prop_assert!(near(believed(&tree, &network), compressed));
        refine::refine(&mut tree, &network, &mut || {});
        prop_assert!(near(believed(&tree, &network), is(&tree)));
        prop_assert!(is(&tree) <= compressed + 1e-9, "{compressed} became {}", is(&tree));
    }

    #[test]
    fn rows_in_any_order_and_direction_give_the_same_tree((nodes, mut edges) in graphs(), height in 1..6_usize, turn in any::<u64>()) {
        let tree = parents(&build(&Network::new(nodes, edges.clone(), &mut || {}), height, &mut || {}));
        edges.reverse();
        for (i, edge) in edges.iter_mut().enumerate() {
            if turn >> (i % 64) & 1 == 1 {
                *edge = (edge.1, edge.0, edge.2);
            }
        }
        prop_assert_eq!(parents(&build(&Network::new(nodes, edges, &mut || {}), height, &mut || {})), tree);
    }

    #[test]
    fn a_tree_node_below_the_root_is_within_one_component((nodes, edges) in graphs(), height in 1..6_usize) {
        let network = Network::new(nodes, edges, &mut || {});
        let mut component = UnionFind::<u32>::new(nodes);
        network.edges().iter().for_each(|&(a, b, _)| _ = component.union(a, b));
        let encoding = build(&network, height, &mut || {});
        for node in encoding.tree_nodes().filter(|&node| node != encoding.root()) {
            let under = under(&encoding, network.nodes(), node);
            let components: HashSet<u32> = under.iter().map(|&leaf| component.find(leaf)).collect();
            prop_assert_eq!(components.len(), 1);
        }
    }

    #[test]
    fn of_a_low_dendrogram_the_best_tree_nodes_stay((nodes, edges) in graphs(), height in 2..4_usize) {
        let network = Network::new(nodes.min(10), edges.into_iter().filter(|e| e.0 < 10 && e.1 < 10).collect(), &mut || {});
        let dendrogram = merge::merge(&network, &mut || {});
        let inner: Vec<usize> = (dendrogram.leaves..dendrogram.root()).collect();
        let mut best = f64::INFINITY;
        for choice in 0..1_u32 << inner.len() {
            let mut tree = copy(&dendrogram);
            let mut stays = tree.stays.clone();
            inner.iter().enumerate().for_each(|(i, &node)| stays[node] = choice >> i & 1 == 1);
            tree.keep(&stays);
            if tree.depths()[..tree.leaves].iter().all(|&depth| depth <= height) {
                best = best.min(believed(&tree, &network));
            }
        }
        let mut tree = copy(&dendrogram);
        compress::compress(&mut tree, height, &mut || {});
        prop_assert!(near(believed(&tree, &network), best), "{} is not {best}", believed(&tree, &network));
    }
}

fn copy(tree: &Tree) -> Tree {
    Tree {
        leaves: tree.leaves,
        parent: tree.parent.clone(),
        stays: tree.stays.clone(),
        volume: tree.volume.clone(),
        between: tree.between.clone(),
    }
}

/// Cliques of `size` nodes, joined in a ring.
fn ring(cliques: u32, size: u32) -> Network {
    let n = cliques * size;
    let mut edges = Vec::new();
    for from in (0..n).step_by(usize::try_from(size).unwrap()) {
        let clique = from..from + size;
        edges.extend(clique.clone().flat_map(|a| (a + 1..from + size).map(move |b| (a, b, 1.0))));
        edges.push((from + size - 1, (from + size) % n, 1.0));
    }
    Network::new(usize::try_from(n).unwrap(), edges, &mut || {})
}

/// Groups whose nodes have `within` edges inside their group and one to any node.
fn planted(groups: u32, size: u32, within: u32) -> Network {
    let n = groups * size;
    let (mut state, mut edges) = (1_u64, Vec::new());
    let mut below = |n: u32| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((state >> 33) % u64::from(n)).unwrap()
    };
    for a in 0..n {
        edges.extend((0..within).map(|_| (a, a / size * size + below(size), 1.0)));
        edges.push((a, below(n), 1.0));
    }
    Network::new(usize::try_from(n).unwrap(), edges, &mut || {})
}

#[test]
fn cliques_of_a_ring_are_found() {
    let encoding = build(&ring(12, 6), 2, &mut || {});
    assert_eq!(encoding.tree_nodes().len(), 13);
    for leaf in 0..72 {
        assert_eq!(encoding.parent(leaf), encoding.parent(leaf / 6 * 6));
    }
}

#[test]
fn planted_groups_are_found_and_beat_a_spanning_tree() {
    let (groups, size) = (20, 25);
    let network = planted(groups, size, 6);
    let n = network.nodes();
    let mut planted: Vec<u32> = (0..n).map(|a| n + a / size).collect();
    planted.extend((0..=groups).map(|_| n + groups));
    let planted = Encoding::new(&network, &planted).unwrap().entropy();
    let ours = build(&network, 2, &mut || {}).entropy();
    assert!(ours <= planted + 1e-9, "{ours} is not {planted}");
    let spanning = spanning(&network).entropy();
    let ours = build(&network, 3, &mut || {}).entropy();
    assert!(ours < 0.85 * spanning, "{ours} beside {spanning}");
}

/// A maximum spanning tree from node 0, in which each node's subtree is a community, of any height.
fn spanning(network: &Network) -> Encoding {
    use petgraph::data::FromElements;
    let edges = network.edges().iter().map(|&(a, b, weight)| (a, b, -weight));
    let graph = UnGraph::<(), f64>::from_edges(edges);
    let tree = UnGraph::<(), f64>::from_elements(petgraph::algo::min_spanning_tree(&graph));
    let n = network.nodes();
    let mut parent: Vec<u32> = (n..2 * n).chain((0..=n).map(|_| 2 * n)).collect();
    let (mut seen, mut left) = (HashSet::from([0]), vec![0_u32]);
    while let Some(a) = left.pop() {
        for b in tree.neighbors(NodeIndex::new(usize::try_from(a).unwrap())) {
            let b = u32::try_from(b.index()).unwrap();
            if seen.insert(b) {
                parent[usize::try_from(n + b).unwrap()] = n + a;
                left.push(b);
            }
        }
    }
    Encoding::new(network, &parent).unwrap()
}

#[test]
fn a_hub_is_not_looked_at_as_often_as_it_has_neighbours() {
    let (mut checks, n) = (0, 30_000);
    let star = Network::new(n, (1..30_000).map(|a| (0, a, 1.0)).collect(), &mut || {});
    let encoding = build(&star, 3, &mut || checks += 1);
    assert!(encoding.entropy() < star.entropy());
    // Each pair is read some 32 times the logarithm of the factor by which its closeness falls; not 30,000 times.
    assert!(checks < 800, "{checks} checks");
}

#[test]
fn weights_add_up_to_the_same_in_any_order() {
    // If they were added one by one to the large weight, the small ones would vanish.
    let edges = [(0, 1, 1e16), (0, 1, 1.0), (1, 0, 1.0)];
    for order in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [1, 0, 2]] {
        let network = Network::new(2, order.map(|i: usize| edges[i]).to_vec(), &mut || {});
        assert_eq!(network.degree(0).to_bits(), (1e16_f64 + 2.0).to_bits(), "{order:?}");
    }
}

#[test]
fn a_cycle_is_no_tree() {
    let network = Network::new(2, vec![(0, 1, 1.0)], &mut || {});
    assert!(Encoding::new(&network, &[2, 2, 3, 2, 4]).is_none());
    assert!(Encoding::new(&network, &[2, 2, 3, 4, 4]).is_some());
}
