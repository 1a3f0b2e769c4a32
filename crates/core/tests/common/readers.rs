//! The readers of the world: their steps, and the expected results.

use cftrag_core::{Hot, Image, Interruptible, NoRoom, Reader, Roots, Scan, Seek, Step, Walk};

use super::oracle::{self, Answer, Bytes, Found};
use super::snapshot::Snapshot;
use super::{World, answers, mentions};

/// A walk between two steps, and its expected result.
pub(super) struct Active {
    pub(super) snapshot: Snapshot,
    pub(super) slots: usize,
    /// The entity and the answer of each question.
    pub(super) expected: Vec<(Bytes, Vec<Answer>)>,
    /// The number of questions whose answers were taken, and of the parts in which they were.
    pub(super) taken: usize,
    pub(super) parts: usize,
    /// The walk's limit in bytes.
    pub(super) most: usize,
}

impl Active {
    /// Checks the answers to the questions from `taken` up to `to`.
    fn check(&self, walk: &Walk, to: usize) {
        let expected = &self.expected[self.taken..to];
        for (group, (_, expected)) in (self.taken..to).zip(expected) {
            assert_eq!(answers(walk, u32::try_from(group).unwrap()), *expected);
        }
        let rows: usize = expected.iter().map(|(_, answer)| answer.len()).sum();
        assert_eq!((walk.rows().len(), walk.so_far().1), (rows, rows));
    }
}

/// A scan for roots between two steps, what it has found, and its expected result.
pub(super) struct Rooting {
    pub(super) snapshot: Snapshot,
    pub(super) budget: usize,
    pub(super) roots: Roots,
    pub(super) found: Vec<(Option<Bytes>, Bytes)>,
    pub(super) expected: Vec<(Option<Bytes>, Bytes)>,
}

/// A text between two steps, and the mentions expected in it.
pub(super) struct Seeking {
    pub(super) snapshot: Snapshot,
    pub(super) slots: usize,
    pub(super) text: String,
    pub(super) overlapping: bool,
    pub(super) read: usize,
    pub(super) expected: Vec<Found>,
}

impl World {
    pub(super) fn begin_text(
        &mut self,
        text: [u8; 12],
        overlapping: bool,
        own: Option<u64>,
        slots: u8,
        forgetful: bool,
    ) {
        if self.seeking.is_some() {
            return;
        }
        let text = text.map(|i| TOKENS[usize::from(i) % TOKENS.len()]).concat();
        let snapshot = self.snapshot(own, forgetful);
        let rows = self.visible(&snapshot);
        let entities = rows.iter().flat_map(|(_, parent, child)| [parent, child]).collect();
        let expected = oracle::entities(&entities, &text, overlapping);
        self.recogniser.match_case(true);
        self.recogniser.begin(Seek::Entities, overlapping);
        let slots = slots.into();
        self.seeking = Some(Seeking { snapshot, slots, text, overlapping, read: 0, expected });
    }

    /// Makes a new reader for each step, because a reader borrows its text.
    pub(super) fn step_recogniser(&mut self) {
        let Some(seeking) = &mut self.seeking else { return };
        let mut reader = Reader::new(&seeking.text);
        if seeking.read == 0 {
            // The texts here are short enough to be held as a whole.
            self.recogniser.read(&mut reader, &mut Interruptible::new(&mut || ())).unwrap();
            seeking.read = seeking.text.len();
        }
        let image = Image::open(&self.heap).unwrap();
        match self.recogniser.step(image, &seeking.snapshot, seeking.slots, &reader) {
            Step::More => {}
            Step::Ask => {
                let asked = self.recogniser.asked();
                assert!(!asked.is_empty() && are_different(asked));
                seeking.snapshot.known.borrow_mut().as_mut().unwrap().extend(asked);
                self.recogniser.begin(Seek::Entities, seeking.overlapping);
                seeking.read = 0;
            }
            Step::Done => {
                self.recogniser.finish();
                assert_eq!(mentions(&self.recogniser, &seeking.text), seeking.expected);
                self.seeking = None;
            }
        }
    }

    pub(super) fn begin_roots(&mut self, own: Option<u64>, budget: u8, forgetful: bool) {
        if self.rooting.is_none() {
            let snapshot = self.snapshot(own, forgetful);
            let expected = oracle::roots(&self.visible(&snapshot));
            let (budget, roots, found) = (budget.into(), Roots::new(), Vec::new());
            self.rooting = Some(Rooting { snapshot, budget, roots, found, expected });
        }
    }

    pub(super) fn step_roots(&mut self) {
        let Some(rooting) = &mut self.rooting else { return };
        let Rooting { snapshot, budget, roots, found, expected } = rooting;
        let image = Image::open(&self.heap).unwrap();
        let step = image.roots(roots, *budget, snapshot, |tree, root| {
            found.push((tree.map(Into::into), root.into()));
        });
        match step {
            Step::More => assert!(roots.make_room()),
            Step::Ask => {
                let asked = roots.asked();
                assert!(!asked.is_empty() && are_different(asked));
                snapshot.known.borrow_mut().as_mut().unwrap().extend(asked);
            }
            Step::Done => {
                found.sort();
                assert_eq!(found, expected);
                self.rooting = None;
            }
        }
    }

    pub(super) fn begin_walk(
        &mut self,
        entity: u8,
        up: u8,
        down: u8,
        own: Option<u64>,
        slots: u8,
        forgetful: bool,
    ) {
        if self.active.is_some() {
            return;
        }
        let snapshot = self.snapshot(own, forgetful);
        let edges = self.visible(&snapshot).into_iter().collect();
        // Sometimes several questions, or more than the 32 walked together; not always, because the oracle is slow.
        let more = if entity.is_multiple_of(16) { up / 6 } else { 0 };
        let questions = usize::from(entity)..usize::from(entity) + 1 + usize::from(more);
        let (up, down) = (u32::from(up % 6), u32::from(down % 6));
        let mut expected = Vec::new();
        // Sometimes with hardly enough memory, and with answers taken in parts.
        let most = [usize::MAX, 1 << 18, 1 << 20][usize::from(slots) % 3];
        self.walk.limit(most, usize::from(slots) * 8);
        self.walk.clear();
        for i in questions {
            let entity = self.names[i % self.names.len()].clone();
            self.walk.begin(&entity, up, down);
            let answer = oracle::context(&edges, &entity, up, down);
            expected.push((entity, answer));
        }
        self.active =
            Some(Active { snapshot, slots: slots.into(), expected, taken: 0, parts: 0, most });
    }

    pub(super) fn step_walk(&mut self) {
        let Some(active) = &mut self.active else { return };
        let image = Image::open(&self.heap).unwrap();
        match self.walk.step(image, &active.snapshot, active.slots) {
            Step::More => {
                let mut check_interrupts = || ();
                let work = &mut Interruptible::new(&mut check_interrupts);
                if self.walk.has_part() {
                    if lacks_room(self.walk.try_finish(work), active.most)
                        || lacks_room(self.walk.try_text(work), active.most)
                    {
                        self.active = None;
                        return;
                    }
                    active.check(&self.walk, self.walk.so_far().0);
                    active.taken = self.walk.take_part();
                    active.parts += 1;
                }
                if lacks_room(self.walk.make_room(active.slots, work), active.most) {
                    self.active = None;
                }
            }
            Step::Ask => {
                let asked = self.walk.asked();
                assert!(!asked.is_empty() && are_different(asked));
                active.snapshot.known.borrow_mut().as_mut().unwrap().extend(asked);
                self.walk.restart();
            }
            Step::Done => {
                let mut check_interrupts = || ();
                let work = &mut Interruptible::new(&mut check_interrupts);
                if !lacks_room(self.walk.try_finish(work), active.most) {
                    active.check(&self.walk, active.expected.len());
                    if !lacks_room(self.walk.try_text(work), active.most) {
                        assert_eq!(
                            Bytes::from(self.walk.written()),
                            oracle::text(&active.expected)
                        );
                    }
                }
                self.active = None;
            }
        }
    }

    pub(super) fn edges(&self, own: Option<u64>, forgetful: bool) {
        let snapshot = self.snapshot(own, forgetful);
        let mut expected = self.visible(&snapshot);
        let (mut scan, mut found) = (Scan::new(), Vec::new());
        loop {
            let step = self.image().edges(&mut scan, 64, &snapshot, |tree, parent, child| {
                found.push((tree.map(Into::into), parent.into(), child.into()));
            });
            match step {
                Step::More => {}
                Step::Done => break,
                Step::Ask => {
                    snapshot.known.borrow_mut().as_mut().unwrap().extend(scan.asked());
                    scan.restart();
                    found.clear();
                }
            }
        }
        expected.sort();
        found.sort();
        assert_eq!(found, expected);
    }

    pub(super) fn hot(&mut self, n: u8) {
        let snapshot = self.snapshot(None, false);
        let mut found = Hot::new(n.into(), usize::MAX);
        let (mut nothing, image) = (|| (), self.image());
        let work = &mut Interruptible::new(&mut nothing);
        while image.hot(&mut found, 9, &snapshot) != Ok(Step::Done) {
            assert!(found.asked().is_empty());
            found.make_room(work).unwrap();
        }
        let hot: Vec<(&[u8], u32)> = found.finish(work).unwrap().collect();
        assert!(hot.len() <= n.into());
        let edges = self.visible(&snapshot);
        for (name, temperature) in &hot {
            assert!(*temperature > 0);
            assert!(edges.iter().any(|edge| *edge.1 == **name || *edge.2 == **name));
        }
        assert!(hot.is_sorted_by(|a, b| (b.1, a.0) < (a.1, b.0)));
    }
}

fn are_different(xids: &[u64]) -> bool {
    xids.iter().collect::<std::collections::BTreeSet<_>>().len() == xids.len()
}

/// Whether a walk ended because memory was lacking. Then it must have needed more than its limit.
fn lacks_room(result: Result<(), NoRoom>, most: usize) -> bool {
    match result {
        Ok(()) => false,
        Err(NoRoom::Limit(needed)) => {
            assert!(needed > most);
            true
        }
        Err(no_room) => panic!("{no_room:?}"),
    }
}

/// The parts of the texts.
const TOKENS: [&str; 19] = [
    "entity ",
    "R&D ",
    "r d ",
    "It ",
    "3 ",
    "ENTITY—",
    "3, of ",
    "of ",
    " Of.",
    "of of of of of of of of of of of ",
    "entity 5 ",
    "STRASSE ",
    "糖尿病",
    "病 ",
    "y’s ",
    "xxxxx ",
    "6",
    "entity 3",
    "+++ ",
];
