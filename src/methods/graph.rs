//! A part of a forest in the session's memory, for methods that go over it more than once. Each entity is asked for
//! once upwards and once downwards, however many others lead to it.

use crate::call::work_memory::Room;
use crate::error::Fallible;
use crate::methods::big_map::Table;
use crate::methods::breadth_first::{DOWN, Node, Texts, Tree, UP, named, push};
use crate::methods::walker::Walker;
use crate::pg::interrupt::check_interrupts;
use crate::serve::sink::Relative;
use cftrag_core::{Interruptible, NameId, Names};

/// The most bytes that an entity in a tree takes besides its name, with what the methods note about it.
const PER_NODE: usize = 200;

const PER_EDGE: usize = 3 * size_of::<Edge>();

/// The number of no edge and no node.
pub const NONE: u32 = u32::MAX;

pub struct Graph<'w> {
    pub walker: &'w Walker<'w>,
    pub names: Names,
    pub room: Room,
    nodes: Vec<Vertex>,
    ids: Table<Node, u32>,
    edges: Vec<Edge>,
    /// The directions in which each name was asked for.
    asked: Table<NameId, u8>,
    /// The trees of the first entities.
    trees: Table<Tree, ()>,
}

/// An entity in a tree.
struct Vertex {
    node: Node,
    /// Its last edges to parents and to children.
    last: [u32; 2],
}

struct Edge {
    to: u32,
    before: u32,
}

impl<'w> Graph<'w> {
    /// These entities, in each tree where they are, with their neighbours. Errors: those of cft_context; 53400, 53200.
    pub fn around(walker: &'w Walker<'w>, entities: &[&[u8]]) -> Fallible<Self> {
        let mut graph = Self::of(walker, entities, UP | DOWN)?;
        walker.relatives_and_own(entities, 1, 1, |rows| graph.take(rows, true))?;
        Ok(graph)
    }

    /// These entities, in each tree where they have parents, with these. Errors: those of [`Graph::around`].
    pub fn with_parents(walker: &'w Walker<'w>, entities: &[&[u8]]) -> Fallible<Self> {
        let mut graph = Self::of(walker, entities, UP)?;
        walker.relatives(entities, 1, 0, |rows| graph.take(rows, true))?;
        Ok(graph)
    }

    fn of(walker: &'w Walker<'w>, entities: &[&[u8]], asked: u8) -> Fallible<Self> {
        let mut graph = Self {
            walker,
            names: Names::default(),
            room: Room::new(),
            nodes: Vec::new(),
            ids: Table::default(),
            edges: Vec::new(),
            asked: Table::default(),
            trees: Table::default(),
        };
        for entity in entities {
            let name = named(&mut graph.names, entity, &mut graph.room)?;
            graph.asked.entry(name, || asked)?;
        }
        Ok(graph)
    }

    /// Learns the parents or the children of these nodes.
    pub fn ask(&mut self, nodes: impl Iterator<Item = u32>, way: u8) -> Fallible<()> {
        let mut names = Vec::new();
        for id in nodes {
            let name = self.node(id).1;
            let (ways, _) = self.asked.entry(name, || 0)?;
            if *ways & way == 0 {
                *ways |= way;
                push(&mut names, name)?;
            }
        }
        let texts = Texts::of(&names, &self.names, &self.room)?;
        let levels = |of: u8| i32::from(way == of);
        self.walker.relatives(&texts.all(), levels(UP), levels(DOWN), |rows| self.take(rows, false))
    }

    fn take(&mut self, rows: &[Relative<'_>], all_trees: bool) -> Fallible<()> {
        let mut check_interrupts = check_interrupts;
        let mut work = Interruptible::new(&mut check_interrupts);
        for rows in rows.chunk_by(|a, b| a.entity == b.entity && a.tree == b.tree) {
            work.steps(rows.len());
            let tree = match rows[0].tree {
                Some(tree) if all_trees || self.names.contains(tree) => {
                    Some(named(&mut self.names, tree, &mut self.room)?)
                }
                Some(_) => continue,
                None => None,
            };
            if all_trees {
                self.trees.entry(tree, || ())?;
            } else if self.trees.get(&tree).is_none() {
                continue;
            }
            let from = self.id(tree, rows[0].entity)?;
            for row in rows.iter().filter(|row| row.depth > 0) {
                let to = self.id(tree, row.name)?;
                self.room.take(PER_EDGE)?;
                let last = &mut self.nodes[from as usize].last[usize::from(!row.ancestor)];
                push(&mut self.edges, Edge { to, before: *last })?;
                *last = self.edges.len() as u32 - 1;
            }
        }
        Ok(())
    }

    fn id(&mut self, tree: Tree, name: &[u8]) -> Fallible<u32> {
        let node = (tree, named(&mut self.names, name, &mut self.room)?);
        let next = self.nodes.len() as u32;
        let (id, is_new) = self.ids.entry(node, || next)?;
        let id = *id;
        if is_new {
            self.room.take(PER_NODE)?;
            push(&mut self.nodes, Vertex { node, last: [NONE; 2] })?;
        }
        Ok(id)
    }

    /// The nodes of the first `names` names: those of the entities that the graph began with. 53200.
    pub fn first_nodes(&self, names: usize, work: &mut Interruptible<'_>) -> Fallible<Vec<u32>> {
        let mut nodes = Vec::new();
        for (id, vertex) in (0..).zip(&self.nodes) {
            work.step();
            if vertex.node.1.number() < names {
                push(&mut nodes, id)?;
            }
        }
        Ok(nodes)
    }

    pub fn node(&self, id: u32) -> Node {
        self.nodes[id as usize].node
    }

    /// A node's name.
    pub fn name(&self, id: u32) -> &[u8] {
        self.names.get(self.node(id).1)
    }

    /// The parents or the children of a node, as far as they were asked for, in any order.
    pub fn next(&self, id: u32, way: u8) -> impl Iterator<Item = u32> + '_ {
        let edge = |at: u32| self.edges.get(at as usize);
        let last = self.nodes[id as usize].last[usize::from(way == DOWN)];
        std::iter::successors(edge(last), move |of| edge(of.before)).map(|edge| edge.to)
    }
}

/// A number for each node of a graph; [`NONE`] where none was set.
#[derive(Default)]
pub struct Marks(Vec<u32>);

impl Marks {
    pub fn get(&self, id: u32) -> u32 {
        self.0.get(id as usize).copied().unwrap_or(NONE)
    }

    /// Sets a node's number. 53200.
    pub fn set(&mut self, id: u32, number: u32) -> Fallible<()> {
        while self.0.len() <= id as usize {
            push(&mut self.0, NONE)?;
        }
        self.0[id as usize] = number;
        Ok(())
    }
}

/// What is above one node, the nearest first.
#[derive(Default)]
pub struct Above {
    pub list: Vec<Ancestor>,
    /// The place of each node in the list. Places of earlier searches stay, so `place` checks them.
    places: Marks,
}

/// A node above another, and the next one on the shortest way down; ties go to the smallest name by bytes.
#[derive(Clone, Copy)]
pub struct Ancestor {
    pub id: u32,
    pub depth: u32,
    pub via: u32,
}

impl Above {
    /// Finds what is above a node within `levels` levels, as far as parents were asked for. The node itself is at depth
    /// 0.
    pub fn search(&mut self, graph: &Graph<'_>, start: u32, levels: u32, work: &mut Interruptible<'_>) -> Fallible<()> {
        self.list.clear();
        self.note(Ancestor { id: start, depth: 0, via: start })?;
        let mut at = 0;
        while let Some(&Ancestor { id, depth, .. }) = self.list.get(at) {
            at += 1;
            if depth == levels {
                break;
            }
            for parent in graph.next(id, UP) {
                work.step();
                let found = Ancestor { id: parent, depth: depth + 1, via: id };
                match self.place(parent) {
                    None => self.note(found)?,
                    Some(place) => {
                        let known = &mut self.list[place];
                        if known.depth == found.depth && graph.name(id) < graph.name(known.via) {
                            *known = found;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn note(&mut self, found: Ancestor) -> Fallible<()> {
        self.places.set(found.id, self.list.len() as u32)?;
        push(&mut self.list, found)
    }

    fn place(&self, id: u32) -> Option<usize> {
        let place = self.places.get(id) as usize;
        self.list.get(place).filter(|known| known.id == id).map(|_| place)
    }

    /// The way from a node above down to the start, without that node.
    pub fn way_from(&self, id: u32) -> impl Iterator<Item = u32> + '_ {
        let next = |id: u32| self.place(id).map(|place| self.list[place]).filter(|of| of.depth > 0).map(|of| of.via);
        std::iter::successors(next(id), move |id| next(*id))
    }
}
