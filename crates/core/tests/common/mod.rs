//! A world for random tests: transactions, a heap of rows, and an image that must agree.
//!
//! An [`Op`] changes the heap as PostgreSQL would, and tells the image what a trigger would tell it. After each op
//! every invariant is checked. Walks take their snapshot when they begin and are stepped between the ops that follow,
//! so that the image changes during them.

pub mod oracle;
mod readers;
mod snapshot;

use std::cell::RefCell;
use std::collections::BTreeSet;

use cftrag_core::{
    Degrees, Deleter, Deletion, Edge, Error, Fate, HeapMemory, Image, Prefix, Recent, Recogniser,
    RowVersion, Stamp, Walk,
};
use oracle::{Answer, Bytes, Found, Triple};
use readers::{Active, Rooting, Seeking};
use snapshot::{Snapshot, Tuple, Xact};

/// The first xid; it is above 2^32, so that a half of an xid is not taken for the whole.
const FIRST_XID: u64 = (3 << 32) + 100;

/// An operation. Numbers are taken modulo the number of things they choose from.
#[derive(Clone, Debug)]
pub enum Op {
    Begin,
    Commit(u8),
    Abort(u8),
    /// The transaction's next command begins and sees the effects of the earlier ones.
    Command(u8),
    /// If `by` is None, the row is settled, as in a bulk build.
    Insert {
        edge: [u8; 3],
        by: Option<u8>,
    },
    Delete {
        row: u8,
        by: u8,
        frozen: bool,
        forgetful: bool,
    },
    Settle {
        max: u8,
        forgetful: bool,
    },
    Cool(u8),
    Context {
        entity: u8,
        up: u8,
        down: u8,
        own: Option<u8>,
        slots: u8,
        forgetful: bool,
    },
    Edges {
        own: Option<u8>,
        forgetful: bool,
    },
    Hot(u8),
    Roots {
        own: Option<u8>,
        budget: u8,
        forgetful: bool,
    },
    Recognise {
        text: [u8; 12],
        overlapping: bool,
        own: Option<u8>,
        slots: u8,
        forgetful: bool,
    },
}

pub struct World {
    heap: HeapMemory,
    /// Counts only the settled rows inserted so far, so records have all sizes, often the smallest.
    degrees: Degrees,
    tuples: Vec<Tuple>,
    xacts: Vec<Xact>,
    walk: Walk,
    active: Option<Active>,
    recogniser: Recogniser,
    seeking: Option<Seeking>,
    rooting: Option<Rooting>,
    names: Vec<Bytes>,
}

/// Short and long names, up to the limits of what fits into a line, a record, a piece.
pub fn names() -> Vec<Bytes> {
    let mut names: Vec<Vec<u8>> = vec![b"".into(), b"\xff\x00\xff".into()];
    names.extend((0..9).map(|i| format!("entity {i}").into_bytes()));
    names.extend([71, 2016, 2017].map(|len| vec![b'x'; len]));
    names.extend([b'y', b'z'].map(|last| [vec![b'x'; 9000], vec![last]].concat()));
    // Names with the same folded name, names that begin others, names without a folded name, and the limits of
    // prefixes.
    let some =
        ["Entity 3", "ENTITY, 3!", "entity", "3 of", "+++", "糖尿病", "Straße", "R&D", "R-D", "IT"];
    names.extend(some.map(|name| name.as_bytes().to_vec()));
    names.extend([12, 13, 24, 64, 65].map(|words| "of ".repeat(words).into_bytes()));
    names.into_iter().map(Bytes).collect()
}

impl World {
    pub fn new(seed: u64) -> World {
        let mut heap = HeapMemory::new(1 << 26);
        assert!(heap.grow());
        let degrees = Degrees::new(Image::format(&heap, seed).unwrap(), 1 << 10).unwrap();
        World {
            heap,
            degrees,
            tuples: Vec::new(),
            xacts: Vec::new(),
            walk: Walk::new(Prefix::LENGTH),
            active: None,
            recogniser: Recogniser::new(Prefix::LENGTH),
            seeking: None,
            rooting: None,
            names: names(),
        }
    }

    pub fn image(&self) -> Image<'_> {
        Image::open(&self.heap).unwrap()
    }

    /// Runs one op, checks every invariant, and steps the unfinished readers.
    pub fn apply(&mut self, op: &Op) {
        self.run(op);
        verify(self.image());
        self.step_walk();
        self.step_recogniser();
        self.step_roots();
    }

    /// Ends every transaction and walk, settles, and compares what remains.
    pub fn finish(&mut self) {
        while self.active.is_some() {
            self.step_walk();
        }
        while self.seeking.is_some() {
            self.step_recogniser();
        }
        while self.rooting.is_some() {
            self.step_roots();
        }
        for xact in self.xacts.iter_mut().filter(|xact| xact.fate == Fate::Running) {
            xact.fate = Fate::Aborted;
        }
        self.run(&Op::Settle { max: 255, forgetful: false });
        let versions = self.image().stats().versions;
        let xacts = &self.xacts;
        let fates = |xid: u64| xacts[(xid - FIRST_XID) as usize].fate;
        let settled = self.image().settle(1 << 20, self.next_xid(), &fates, &mut Vec::new());
        assert_eq!(settled.freed as u64, versions);
        verify(self.image());
        let snapshot = self.snapshot(None, false);
        let rows: Vec<&Tuple> = self.tuples.iter().filter(|t| snapshot.sees_tuple(t)).collect();
        let entities: BTreeSet<&Bytes> =
            rows.iter().flat_map(|tuple| [&tuple.edge.1, &tuple.edge.2]).collect();
        let trees: BTreeSet<&Bytes> = rows.iter().filter_map(|t| t.edge.0.as_ref()).collect();
        let stats = self.image().stats();
        self.edges(None, false);
        assert_eq!(stats.versions, 0);
        assert_eq!(stats.edge_rows, rows.len() as u64);
        assert_eq!(stats.entities, entities.len() as u64);
        assert_eq!(stats.trees, trees.len() as u64);
    }

    fn next_xid(&self) -> u64 {
        FIRST_XID + self.xacts.len() as u64
    }

    fn running(&self, i: u8) -> Option<u64> {
        let running: Vec<u64> = self.running_xids().collect();
        (!running.is_empty()).then(|| running[usize::from(i) % running.len()])
    }

    fn running_xids(&self) -> impl Iterator<Item = u64> {
        let xacts = (FIRST_XID..).zip(&self.xacts);
        xacts.filter(|(_, xact)| xact.fate == Fate::Running).map(|(xid, _)| xid)
    }

    fn xact(&mut self, xid: u64) -> &mut Xact {
        &mut self.xacts[(xid - FIRST_XID) as usize]
    }

    fn fate(&self, xid: u64) -> Fate {
        self.xacts[(xid - FIRST_XID) as usize].fate
    }

    fn snapshot(&self, own: Option<u64>, forgetful: bool) -> Snapshot {
        let xids = (FIRST_XID..).zip(&self.xacts);
        Snapshot {
            own,
            curcid: own.map_or(0, |xid| self.xacts[(xid - FIRST_XID) as usize].command),
            xmin: self.running_xids().next().unwrap_or(self.next_xid()),
            committed: xids.filter(|(_, x)| x.fate == Fate::Committed).map(|(x, _)| x).collect(),
            fates: self.xacts.clone(),
            known: RefCell::new(forgetful.then(BTreeSet::<u64>::new)),
        }
    }

    fn visible(&self, snapshot: &Snapshot) -> Vec<Triple> {
        let seen = self.tuples.iter().filter(|tuple| snapshot.sees_tuple(tuple));
        seen.map(|tuple| tuple.edge.clone()).collect()
    }

    fn run(&mut self, op: &Op) {
        match *op {
            Op::Begin => self.xacts.push(Xact { fate: Fate::Running, command: 0 }),
            Op::Commit(i) => self.end(i, Fate::Committed),
            Op::Abort(i) => self.end(i, Fate::Aborted),
            Op::Command(i) => {
                if let Some(xid) = self.running(i) {
                    self.xact(xid).command += 1;
                }
            }
            Op::Insert { edge, by } => self.insert(edge, by),
            Op::Delete { row, by, frozen, forgetful } => self.delete(row, by, frozen, forgetful),
            Op::Settle { max, forgetful } => self.settle(max, forgetful),
            Op::Cool(n) => self.image().cool(n.into()),
            Op::Context { entity, up, down, own, slots, forgetful } => {
                let own = own.and_then(|i| self.running(i));
                self.begin_walk(entity, up, down, own, slots, forgetful);
            }
            Op::Edges { own, forgetful } => {
                let own = own.and_then(|i| self.running(i));
                self.edges(own, forgetful);
            }
            Op::Hot(n) => self.hot(n),
            Op::Roots { own, budget, forgetful } => {
                let own = own.and_then(|i| self.running(i));
                self.begin_roots(own, budget, forgetful);
            }
            Op::Recognise { text, overlapping, own, slots, forgetful } => {
                let own = own.and_then(|i| self.running(i));
                self.begin_text(text, overlapping, own, slots, forgetful);
            }
        }
    }

    fn end(&mut self, i: u8, fate: Fate) {
        if let Some(xid) = self.running(i)
            && !self.snapshots().any(|snapshot| snapshot.own == Some(xid))
        {
            self.xact(xid).fate = fate;
        }
    }

    fn triple(&self, edge: [u8; 3]) -> Triple {
        let name = |i: u8| self.names[usize::from(i) % self.names.len()].clone();
        let tree = (!edge[0].is_multiple_of(4)).then(|| name(edge[0] % 4));
        (tree, name(edge[1]), name(edge[2]))
    }

    fn insert(&mut self, edge: [u8; 3], by: Option<u8>) {
        let edge = self.triple(edge);
        let (xmin, cmin) = match by {
            None if self.snapshots().next().is_some() => return,
            None => (0, 0),
            Some(i) => {
                let Some(xid) = self.running(i) else { return };
                (xid, self.xact(xid).command)
            }
        };
        let stamp = (xmin > 0).then_some(Stamp { xmin, cmin });
        let bound = Image::insert_bound(&as_edge(&edge));
        loop {
            let (image, recent) = (self.image(), &mut Recent::default());
            match match stamp {
                None => image.insert_counted(&as_edge(&edge), recent, &self.degrees),
                _ => image.insert(&as_edge(&edge), stamp),
            } {
                Ok(()) => break,
                Err(Error::Full { .. }) => {
                    assert!(self.image().free_bytes() < bound, "the bound is one");
                    assert!(self.heap.grow());
                    self.image().publish_chunks(self.heap.mapped());
                }
                Err(error) => panic!("{error}"),
            }
        }
        if stamp.is_none() {
            self.degrees.count(&as_edge(&edge));
        }
        self.tuples.push(Tuple { edge, xmin, cmin, xmax: None });
    }

    fn delete(&mut self, row: u8, by: u8, frozen: bool, forgetful: bool) {
        let Some(xid) = self.running(by) else { return };
        let command = self.xact(xid).command;
        let deletable: Vec<usize> = (0..self.tuples.len())
            .filter(|&i| {
                let tuple = &self.tuples[i];
                let inserted = tuple.xmin == 0
                    || self.fate(tuple.xmin) == Fate::Committed
                    || tuple.xmin == xid && tuple.cmin < command;
                inserted && tuple.xmax.is_none_or(|(xmax, _)| self.fate(xmax) == Fate::Aborted)
            })
            .collect();
        if deletable.is_empty() {
            return;
        }
        let i = deletable[usize::from(row) % deletable.len()];
        let horizon = self.horizon();
        let tuple = &self.tuples[i];
        let own = tuple.xmin == xid;
        let frozen = tuple.xmin == 0 || frozen && tuple.xmin < horizon && !own;
        let version = RowVersion {
            xmin: if frozen { 0 } else { tuple.xmin },
            raw_xmin: if tuple.xmin == 0 { 2 } else { tuple.xmin as u32 },
            cmin: own.then_some(tuple.cmin),
        };
        let known = RefCell::new(forgetful.then(BTreeSet::<u64>::new));
        let xacts = &self.xacts;
        let fates = |xid: u64| match &*known.borrow() {
            Some(known) if !known.contains(&xid) => Fate::Unknown,
            _ => xacts[(xid - FIRST_XID) as usize].fate,
        };
        let by = Deleter { xmax: xid, cmax: command };
        let mut ask = Vec::new();
        loop {
            let edge = as_edge(&tuple.edge);
            let image = Image::open(&self.heap).unwrap();
            match image.delete(&edge, version, by, &fates, &mut ask) {
                Ok(Deletion::Done) => break,
                Ok(Deletion::Ask) => {
                    assert!(!ask.is_empty());
                    known.borrow_mut().as_mut().unwrap().extend(ask.drain(..));
                }
                Err(Error::Full { .. }) => {
                    assert!(self.heap.grow());
                    Image::open(&self.heap).unwrap().publish_chunks(self.heap.mapped());
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(ask.is_empty());
        // Of several equal rows the image may mark another one, which makes no difference: equal rows (same edge,
        // inserter and command) cannot be told apart.
        self.tuples[i].xmax = Some((xid, command));
    }

    fn horizon(&self) -> u64 {
        let running = self.running_xids().next().unwrap_or(self.next_xid());
        self.snapshots().map(|snapshot| snapshot.xmin).fold(running, u64::min)
    }

    /// The snapshots of the unfinished readers.
    fn snapshots(&self) -> impl Iterator<Item = &Snapshot> {
        let walk = self.active.iter().map(|active| &active.snapshot);
        let roots = self.rooting.iter().map(|rooting| &rooting.snapshot);
        walk.chain(self.seeking.iter().map(|seeking| &seeking.snapshot)).chain(roots)
    }

    fn settle(&mut self, max: u8, forgetful: bool) {
        let known = RefCell::new(forgetful.then(BTreeSet::<u64>::new));
        let fates = |xid: u64| match &*known.borrow() {
            Some(known) if !known.contains(&xid) => Fate::Unknown,
            _ => self.fate(xid),
        };
        let mut ask = Vec::new();
        let (max, horizon) = (usize::from(max), self.horizon());
        let before = self.image().stats().versions;
        let settled = self.image().settle(max, horizon, &fates, &mut ask);
        assert_eq!(settled.examined as u64, before.min(max as u64));
        assert!(settled.freed <= settled.examined);
        assert!(ask.is_sorted_by(|a, b| a < b) && ask.iter().all(|&xid| xid < horizon));
        assert!(forgetful || ask.is_empty());
    }
}

/// The mentions found in a text, in the oracle's form.
pub fn mentions(recogniser: &Recogniser, text: &str) -> Vec<Found> {
    let found = recogniser.mentions().iter().map(|mention| {
        let name = recogniser.name(mention.entity);
        assert_eq!(recogniser.name_with_prefix(mention.entity)[4..], *name);
        let before = text[..mention.from].chars().count();
        let length = text[mention.from..mention.to].chars().count();
        assert_eq!((mention.start, mention.length), (before, length));
        (mention.from, mention.to, name.into())
    });
    found.collect()
}

/// The answer to a question, in the oracle's form.
pub fn answers(walk: &Walk, group: u32) -> Vec<Answer> {
    let rows = walk.rows().iter().filter(|row| row.group == group);
    let name = |name| {
        let (with_prefix, name) = (walk.name_with_prefix(name), walk.name(name));
        assert_eq!(with_prefix[4..], *name);
        assert_eq!(with_prefix[..4], (name.len() as u32).to_ne_bytes());
        Bytes::from(name)
    };
    rows.map(|row| {
        let tree = row.tree.map(name);
        (tree, row.relation, row.depth, name(row.relative), name(row.via))
    })
    .collect()
}

pub fn as_edge(edge: &Triple) -> Edge<'_> {
    Edge { tree: edge.0.as_deref(), parent: &edge.1, child: &edge.2 }
}

/// Panics with every broken invariant.
pub fn verify(image: Image<'_>) {
    let mut problems = Vec::new();
    image.verify(&mut |problem| problems.push(problem));
    assert!(problems.is_empty(), "{problems:#?}");
}

/// An image with at least (2^n - 1) * 64 KiB of memory.
pub fn heap(n: u32) -> HeapMemory {
    let (mut heap, mut bytes) = (HeapMemory::new(usize::MAX), 0);
    while bytes < ((1 << n) - 1) << 16 {
        bytes += cftrag_core::chunk_bytes(heap.mapped());
        assert!(heap.grow());
    }
    let image = Image::format(&heap, 0x00C0_FFEE).unwrap();
    image.publish_chunks(heap.mapped());
    heap
}

/// Whether tests should be small, as under valgrind or in a hurry.
pub fn quick() -> bool {
    std::env::var_os("CFTRAG_QUICK").is_some()
}
