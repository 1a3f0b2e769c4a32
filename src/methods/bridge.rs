//! cft_bridge: how entities hang together (HiRAG's bridge between local and global knowledge).
//!
//! In each tree, the apex is the entity with the most given entities at or below it, within `max_hops` levels. Ties go
//! to the entity with the fewest steps to all of these, then to the smallest name by bytes. From the apex, the shortest
//! way leads to each of them; of several shortest ways, we take the one whose names are the smallest by bytes, from the
//! apex down. So these ways form a tree. We repeat this with the given entities that are not connected yet, as long as
//! two of them meet. Where each entity has one parent, the result is the Steiner tree: the smallest one that connects
//! them. With several parents a smaller one can exist.
//!
//! The given entities at or below each entity are counted once. Connecting a given entity lowers the counts above it,
//! and no count ever rises. So apexes come from a heap, and an entity whose count has fallen meanwhile goes back into
//! it. Each pair of a given entity and one above it is visited a few times, however many apexes there are.

use crate::call::fmgr;
use crate::call::fmgr::{Call, Rows, text_array, text_datum};
use crate::call::work_memory::Room;
use crate::error;
use crate::error::{Fallible, MAX_LEVELS};
use crate::methods::breadth_first::{Tree, push};
use crate::methods::graph::{Above, Graph, Marks, NONE};
use crate::methods::walker::Walker;
use crate::methods::ways::all_above;
use crate::pg::interrupt::{ROWS_BETWEEN_CHECKS, check_interrupts};
use crate::serve::labels::Labels;
use cftrag_core::{Interruptible, NameId};
use pgrx::check_for_interrupts;
use pgrx::prelude::*;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::Range;

/// The most bytes that an array's element takes while the array is made, besides three times its text.
const PER_ELEMENT: usize = 64;

/// `cft_bridge(entities text[], max_hops int, edges regclass) -> table(tree, apex, depth, parent, child, leads_to
/// text[], parent_label, child_label)`
///
/// Returns the edges of the ways from each apex: by tree (NULL first), in the order in which the apexes were found,
/// then by depth, parent and child. Names are ordered by bytes. NULL arguments give no rows. Errors: 22023 (max_hops);
/// those of cft_context; 53400 (cftrag.work_memory).
#[pg_extern(sql = false)]
fn cft_bridge(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let (Some(entities), Some(max_hops)) = (call.names(0)?, call.int(1)) else { return Ok(()) };
    if !(0..=MAX_LEVELS).contains(&max_hops) {
        return Err(error::bad_levels("max_hops", max_hops));
    }
    let walker = Walker::of(&call, 2)?;
    let mut check_interrupts = check_interrupts;
    let work = &mut Interruptible::new(&mut check_interrupts);
    let mut graph = Graph::with_parents(&walker, &entities)?;
    let given = nodes_of(&graph, entities.len(), work)?;
    all_above(&mut graph, given.into_iter().map(|(_, node)| node), max_hops as u32, work)?;
    // Now a given entity without parents has a node, too, if it is above another one.
    let given = in_order(nodes_of(&graph, entities.len(), work)?, &graph, work)?;
    let mut bridge = Bridge::new(graph);
    for given in given.chunk_by(|a, b| a.0 == b.0) {
        if given.len() > 1 {
            bridge.climb(given, max_hops as u32, work)?;
            bridge.connect(work)?;
        }
        if bridge.edges.len() >= ROWS_BETWEEN_CHECKS {
            bridge.write(rows, work)?;
        }
    }
    bridge.write(rows, work)
}

/// The nodes of the first `names` names, and their trees.
fn nodes_of(graph: &Graph<'_>, names: usize, work: &mut Interruptible<'_>) -> Fallible<Vec<(Tree, u32)>> {
    let mut nodes = Vec::new();
    for id in graph.first_nodes(names, work)? {
        push(&mut nodes, (graph.node(id).0, id))?;
    }
    Ok(nodes)
}

/// Nodes by tree, then by name.
fn in_order(
    mut nodes: Vec<(Tree, u32)>,
    graph: &Graph<'_>,
    work: &mut Interruptible<'_>,
) -> Fallible<Vec<(Tree, u32)>> {
    let (mut trees, mut names) = (Order::default(), Order::default());
    for &(tree, id) in &nodes {
        work.step();
        tree.map_or(Ok(()), |tree| trees.add(tree))?;
        names.add(graph.node(id).1)?;
    }
    trees.sort(graph, work)?;
    names.sort(graph, work)?;
    let key = |(tree, id): (Tree, u32)| (tree.map(|tree| trees.place(tree)), names.place(graph.node(id).1));
    work.sort_by(&mut nodes, |a, b| key(*a).cmp(&key(*b)));
    Ok(nodes)
}

/// Names and their places in the order of their bytes. Bytes are compared in one sort only: there may be a million
/// trees.
#[derive(Default)]
struct Order {
    names: Vec<NameId>,
    places: Marks,
}

impl Order {
    fn add(&mut self, name: NameId) -> Fallible<()> {
        if self.place(name) != NONE {
            return Ok(());
        }
        self.places.set(name.number() as u32, 0)?;
        push(&mut self.names, name)
    }

    fn sort(&mut self, graph: &Graph<'_>, work: &mut Interruptible<'_>) -> Fallible<()> {
        work.sort_with(&mut self.names, |a, b, work| work.compare(graph.names.get(*a), graph.names.get(*b)));
        for (place, name) in self.names.iter().enumerate() {
            work.step();
            self.places.set(name.number() as u32, place as u32)?;
        }
        Ok(())
    }

    fn place(&self, name: NameId) -> u32 {
        self.places.get(name.number() as u32)
    }
}

/// The state of the search, which handles one tree after the other. Edges of several trees stay until they are written.
struct Bridge<'w> {
    graph: Graph<'w>,
    above: Above,
    given: Vec<Given>,
    /// What is above each given entity, one entity after the other: first the entity itself, then the nearest.
    pairs: Vec<Pair>,
    meetings: Vec<Meeting>,
    /// The number of a node in `meetings`. Nodes of earlier trees keep theirs.
    numbers: Marks,
    candidates: BinaryHeap<Candidate>,
    edges: Vec<Edge>,
    /// The place in `edges` of the edge to a node, for this apex and for earlier ones.
    edge_to: Marks,
    leads: Vec<Lead>,
}

struct Given {
    node: u32,
    pairs: Range<usize>,
    is_connected: bool,
}

/// A given entity and a node above it, or itself.
struct Pair {
    given: u32,
    /// The number of the node above in `meetings`.
    meeting: u32,
    depth: u32,
    /// The next node on the way down.
    via: u32,
    /// The previous pair with this node above.
    before: u32,
}

/// A node at or above given entities: how many of these are not connected, and how many steps they are from it in all.
struct Meeting {
    node: u32,
    count: u32,
    steps: u64,
    last_pair: u32,
}

/// The largest is the next apex: a count, steps, the node's place by name, its number in `meetings`.
type Candidate = (u32, Reverse<u64>, Reverse<u32>, u32);

/// An edge on the ways from an apex.
struct Edge {
    apex: u32,
    depth: u32,
    parent: u32,
    child: u32,
    last_lead: u32,
}

/// A given entity to which an edge leads.
struct Lead {
    node: u32,
    before: u32,
}

impl<'w> Bridge<'w> {
    fn new(graph: Graph<'w>) -> Self {
        Self {
            graph,
            above: Above::default(),
            given: Vec::new(),
            pairs: Vec::new(),
            meetings: Vec::new(),
            numbers: Marks::default(),
            candidates: BinaryHeap::new(),
            edges: Vec::new(),
            edge_to: Marks::default(),
            leads: Vec::new(),
        }
    }

    /// Counts the nodes above these nodes, which are all in one tree.
    fn climb(&mut self, nodes: &[(Tree, u32)], levels: u32, work: &mut Interruptible<'_>) -> Fallible<()> {
        self.given.clear();
        self.pairs.clear();
        self.meetings.clear();
        for &(_, node) in nodes {
            self.above.search(&self.graph, node, levels, work)?;
            let (given, first, room) = (self.given.len() as u32, self.pairs.len(), &mut self.graph.room);
            for of in &self.above.list {
                work.step();
                let mut meeting = self.numbers.get(of.id);
                if meeting == NONE {
                    meeting = self.meetings.len() as u32;
                    self.numbers.set(of.id, meeting)?;
                    add(&mut self.meetings, Meeting { node: of.id, count: 0, steps: 0, last_pair: NONE }, room)?;
                }
                let known = &mut self.meetings[meeting as usize];
                known.count += 1;
                known.steps += u64::from(of.depth);
                let before = std::mem::replace(&mut known.last_pair, self.pairs.len() as u32);
                add(&mut self.pairs, Pair { given, meeting, depth: of.depth, via: of.via, before }, room)?;
            }
            let pairs = first..self.pairs.len();
            add(&mut self.given, Given { node, pairs, is_connected: false }, room)?;
        }
        Ok(())
    }

    /// Connects the given entities of the tree, from one apex after the other.
    fn connect(&mut self, work: &mut Interruptible<'_>) -> Fallible<()> {
        // Not counted, because it is freed with this tree: there may be a million trees.
        self.graph.room.spare(2 * self.meetings.len() * size_of::<u32>())?;
        let mut shared = Vec::new();
        for (number, of) in self.meetings.iter().enumerate() {
            work.step();
            if of.count > 1 {
                push(&mut shared, number as u32)?;
            }
        }
        let name = |number: u32| self.graph.name(self.meetings[number as usize].node);
        work.sort_with(&mut shared, |a, b, work| work.compare(name(*a), name(*b)));
        for (place, number) in shared.into_iter().enumerate() {
            self.offer(place as u32, number)?;
            work.step();
        }
        while let Some((count, _, Reverse(place), number)) = self.candidates.pop() {
            work.step();
            match self.meetings[number as usize].count {
                now if now == count => self.ways_from(number, work)?,
                0 | 1 => {}
                _ => self.offer(place, number)?,
            }
        }
        Ok(())
    }

    fn offer(&mut self, place: u32, number: u32) -> Fallible<()> {
        let (all, room) = (&mut self.candidates, &mut self.graph.room);
        if all.len() == all.capacity() {
            let more = all.len().max(64);
            room.take(2 * more * size_of::<Candidate>())?;
            all.try_reserve_exact(more).map_err(|_| error::no_memory_to_work(2 * more * size_of::<Candidate>()))?;
        }
        let of = &self.meetings[number as usize];
        all.push((of.count, Reverse(of.steps), Reverse(place), number));
        Ok(())
    }

    /// Connects the given entities below an apex that are not connected yet.
    fn ways_from(&mut self, apex: u32, work: &mut Interruptible<'_>) -> Fallible<()> {
        let (first, room) = (self.edges.len(), &mut self.graph.room);
        let Meeting { node: apex, last_pair: mut at, .. } = self.meetings[apex as usize];
        // We begin with the last given entity, so that `leads_to` finds them in their order.
        while let Some(&Pair { given, before, .. }) = self.pairs.get(at as usize) {
            work.step();
            at = before;
            let given = &mut self.given[given as usize];
            if std::mem::replace(&mut given.is_connected, true) {
                continue;
            }
            // Go down from the apex; at each level only the node that leads to the entity counts.
            let (mut wanted, mut depth) = (apex, 0);
            for pair in self.pairs[given.pairs.clone()].iter().rev() {
                work.step();
                let meeting = &mut self.meetings[pair.meeting as usize];
                meeting.count -= 1;
                meeting.steps -= u64::from(pair.depth);
                if meeting.node != wanted || pair.depth == 0 {
                    continue;
                }
                depth += 1;
                let mut edge = self.edge_to.get(pair.via) as usize;
                if edge < first || edge >= self.edges.len() {
                    edge = self.edges.len();
                    self.edge_to.set(pair.via, edge as u32)?;
                    let new = Edge { apex, depth, parent: wanted, child: pair.via, last_lead: NONE };
                    add(&mut self.edges, new, room)?;
                }
                let before = std::mem::replace(&mut self.edges[edge].last_lead, self.leads.len() as u32);
                add(&mut self.leads, Lead { node: given.node, before }, room)?;
                wanted = pair.via;
            }
        }
        let name = |id: u32| self.graph.name(id);
        work.sort_with(&mut self.edges[first..], |a, b, work| {
            let of_other = |work: &mut Interruptible<'_>| work.compare(name(a.parent), name(b.parent));
            let by_parent = if a.parent == b.parent { Ordering::Equal } else { of_other(work) };
            a.depth.cmp(&b.depth).then(by_parent).then_with(|| work.compare(name(a.child), name(b.child)))
        });
        Ok(())
    }

    /// Writes the edges of the trees that are done, and forgets them.
    fn write(&mut self, rows: Rows, work: &mut Interruptible<'_>) -> Fallible<()> {
        for some in self.edges.chunks(ROWS_BETWEEN_CHECKS / 2) {
            let names: Vec<&[u8]> =
                some.iter().flat_map(|edge| [edge.parent, edge.child]).map(|id| self.graph.name(id)).collect();
            let labels = Labels::of(&self.graph.walker.of, &names)?;
            for (n, edge) in some.iter().enumerate() {
                check_for_interrupts!();
                let leads_to = self.leads_to(edge, work)?;
                self.write_one(edge, &leads_to, [labels.get(2 * n), labels.get(2 * n + 1)], rows);
            }
        }
        self.edges.clear();
        self.leads.clear();
        Ok(())
    }

    fn write_one(&self, edge: &Edge, leads_to: &[&[u8]], [parent_label, child_label]: [Option<&[u8]>; 2], rows: Rows) {
        let tree = self.graph.node(edge.apex).0.map(|tree| self.graph.names.get(tree));
        let text = |text: Option<&[u8]>| text_datum(text.unwrap_or_default());
        let name = |id: u32| text_datum(self.graph.name(id));
        let mut values = [
            text(tree),
            name(edge.apex),
            pg_sys::Datum::from(edge.depth as i32),
            name(edge.parent),
            name(edge.child),
            text_array(leads_to),
            text(parent_label),
            text(child_label),
        ];
        let (no_tree, no_labels) = (tree.is_none(), [parent_label.is_none(), child_label.is_none()]);
        rows.add(&mut values, &mut [no_tree, false, false, false, false, false, no_labels[0], no_labels[1]]);
        fmgr::free([0, 1, 3, 4, 5, 6, 7].map(|n| values[n]));
    }

    /// The given entities to which an edge leads, ordered by bytes. Checks that there is room for an array of them.
    fn leads_to(&self, edge: &Edge, work: &mut Interruptible<'_>) -> Fallible<Vec<&[u8]>> {
        let lead = |at: u32| self.leads.get(at as usize);
        let (mut names, mut bytes) = (Vec::new(), 0);
        for of in std::iter::successors(lead(edge.last_lead), |of| lead(of.before)) {
            work.step();
            let name = self.graph.name(of.node);
            bytes += PER_ELEMENT + 3 * name.len();
            push(&mut names, name)?;
        }
        self.graph.room.spare(bytes)?;
        Ok(names)
    }
}

/// Adds an item to a list that grows with a user's data, and counts the memory when the list grows. 53400, 53200.
fn add<T>(list: &mut Vec<T>, item: T, room: &mut Room) -> Fallible<()> {
    if list.len() == list.capacity() {
        room.take(2 * list.len().max(64) * size_of::<T>())?;
    }
    push(list, item)
}
