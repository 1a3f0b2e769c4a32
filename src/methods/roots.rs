//! cft_roots: the entities of each tree that have no parent there but themselves (sql/roots.sql is the definition); the
//! descents of Tree-KG and RAPTOR begin there.
//!
//! The image is read entity by entity (crates/core/src/walk/roots.rs), under the conditions of serve/conditions.rs,
//! holding the lock no longer than a walk does; otherwise the definition answers, with the same rows in the same order.

use crate::call::array::Texts;
use crate::call::fmgr::{Call, Rows};
use crate::call::tuple;
use crate::call::tuple::Row;
use crate::call::work_memory::Room;
use crate::catalog::attached_table::AttachedTable;
use crate::error::Fallible;
use crate::image::counters;
use crate::image::reason::Reason;
use crate::pg::interrupt::{ROWS_BETWEEN_CHECKS, check_interrupts};
use crate::pg::snapshot::SnapshotView;
use crate::serve::conditions::Ticket;
use crate::serve::labels::Labels;
use crate::serve::sink::Sibling;
use crate::serve::walk::SLOTS;
use crate::serve::{asked, reference, route, siblings, walk};
use cftrag_core::{Counters, Image, Interruptible, NameId, Names, Roots, Step, some_is_left};
use pgrx::check_for_interrupts;
use pgrx::prelude::*;

/// `cft_roots(edges regclass, trees text[]) -> table(tree, root, label)`
///
/// Returns the roots of these trees; NULL means all trees, a NULL among them the rows without a tree. Ordered by tree
/// (NULL first), by position if the table has one, then by bytes. Errors: those of cft_context.
#[pg_extern(sql = false)]
fn cft_roots(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let of = AttachedTable::open(&call, 0)?;
    let trees = call.array(1);
    match of_image(&of, trees)? {
        Some(found) => found.write(&of, rows),
        None => reference::roots(&of, of.open_label_table()?.as_ref(), trees, rows),
    }
}

/// Finds the roots in the image. None if the image cannot serve, which is counted, or if there are more roots than the
/// session may hold: the definition's sort can use a disk.
pub fn of_image(of: &AttachedTable, trees: Option<Texts<'_>>) -> Fallible<Option<RootList>> {
    let mut scan = trees.map(asked::trees).transpose()?.map_or_else(Roots::new, Roots::only_in);
    let mut found = RootList::default();
    let first = |image: Image<'_>, seen: &SnapshotView| found.step(&mut scan, image, seen);
    let served = route::route_and(of, first)
        .and_then(|(mut ticket, step)| Ok((finish(&mut scan, &mut found, &mut ticket, step)?, ticket)));
    Ok(match served {
        Ok((whole, ticket)) => {
            ticket.control.slot(ticket.index).count_call(Counters::default());
            walk::settle_now_and_then(of, &ticket, 0);
            whole.then_some(found)
        }
        Err(reason) => {
            counters::count(of.oid(), reason);
            None
        }
    })
}

/// Continues after the first step, in slices; learns the xids that it meets. Returns false if the roots need more
/// memory than allowed.
pub fn finish(scan: &mut Roots, found: &mut RootList, ticket: &mut Ticket, first: Step) -> Result<bool, Reason> {
    let (mut step, mut room) = (first, Room::new());
    loop {
        match step {
            Step::Done => return Ok(!found.short),
            Step::More => {
                check_for_interrupts!();
            }
            Step::Ask => ticket.learn(scan.asked())?,
        }
        if room.grow_to(found.bytes()).is_err() || found.short || !found.make_room() || !scan.make_room() {
            return Ok(false);
        }
        step = ticket.read(|image, seen| found.step(scan, image, seen))?;
    }
}

/// The roots found, unordered.
#[derive(Default)]
pub struct RootList {
    trees: Names,
    /// The roots' names, one after the other.
    names: Vec<u8>,
    roots: Vec<Root>,
    /// Memory ran out, so a root is missing.
    short: bool,
}

struct Root {
    tree: Option<NameId>,
    /// Its range in `names`.
    name: std::ops::Range<usize>,
    /// Its place by position, if the table has a column of positions.
    place: i64,
}

impl RootList {
    fn step(&mut self, scan: &mut Roots, image: Image<'_>, seen: &SnapshotView) -> Step {
        let RootList { trees, names, roots, short } = self;
        image.roots(scan, SLOTS, seen, |tree, name| {
            let start = names.len();
            let tree = tree.map(|tree| trees.try_id(tree));
            if tree == Some(None) || names.try_reserve(name.len()).is_err() || roots.try_reserve(1).is_err() {
                *short = true;
                return;
            }
            names.extend_from_slice(name);
            roots.push(Root { tree: tree.flatten(), name: start..names.len(), place: 0 });
        })
    }

    fn bytes(&self) -> usize {
        self.names.capacity() + self.roots.capacity() * size_of::<Root>()
    }

    /// Reserves room for what a step finds, except for long names; outside the lock, because growing copies. Returns
    /// false without memory.
    fn make_room(&mut self) -> bool {
        self.roots.try_reserve(SLOTS).is_ok() && self.names.try_reserve(SLOTS * 16).is_ok() && some_is_left()
    }

    fn write(mut self, of: &AttachedTable, rows: Rows) -> Fallible<()> {
        let RootList { trees, names, roots, .. } = &mut self;
        let name = |root: &Root| &names[root.name.clone()];
        if of.registration.names.position.is_some() {
            Room::new().take(roots.len() * (size_of::<Sibling<'_>>() + size_of::<i64>()))?;
            let tree = |root: &Root| root.tree.map(|tree| trees.get(tree));
            let sibling = |root: &Root| Sibling { name: name(root), tree: tree(root), parent: None };
            let all: Vec<Sibling<'_>> = roots.iter().map(sibling).collect();
            let places = siblings::places(of, &all)?.unwrap_or_default();
            roots.iter_mut().zip(places).for_each(|(root, place)| root.place = place);
        }
        let key = |root: &Root| (root.tree.map(|tree| trees.get(tree)), name(root));
        Interruptible::new(&mut { check_interrupts }).sort_with(roots, |one, other, work| {
            let (a, b) = (key(one), key(other));
            let trees = work.compare_some(a.0, b.0);
            trees.then(one.place.cmp(&other.place)).then_with(|| work.compare(a.1, b.1))
        });
        for some in roots.chunks(ROWS_BETWEEN_CHECKS) {
            check_for_interrupts!();
            let roots: Vec<&[u8]> = some.iter().map(|root| key(root).1).collect();
            let labels = Labels::of(of, &roots)?;
            let some: Vec<(usize, &Root)> = some.iter().enumerate().collect();
            tuple::add_all(rows, &some, |&(n, root), to: &mut Row<3>| {
                let (tree, name) = key(root);
                match tree {
                    Some(tree) => to.text(tree),
                    None => to.null(),
                }
                to.text(name);
                to.any(labels.get(n));
            });
        }
        Ok(())
    }
}
