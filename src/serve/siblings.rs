//! The order of siblings, for tables with a column of positions.

use crate::call::work_memory::{Room, list};
use crate::catalog::attached_table::AttachedTable;
use crate::error::Fallible;
use crate::pg::interrupt::check_interrupts;
use crate::serve::reference;
use crate::serve::sink::{Relative, Sibling};
use cftrag_core::Interruptible;
use std::collections::HashMap;

/// The place of each among its siblings, in their order; None if the table has no column of positions.
pub fn places(of: &AttachedTable, siblings: &[Sibling<'_>]) -> Fallible<Option<Vec<i64>>> {
    let position = of.registration.names.position.as_deref();
    position.map(|position| reference::positions(of, position, siblings)).transpose()
}

/// Bytes that a sibling takes in a hash table.
const PER_SIBLING: usize = 2 * size_of::<(Sibling<'_>, i64)>() + 8;

/// Passes rows on with siblings in their order: in each tree and relation by depth, position below the parent, and
/// name.
pub fn in_order(
    of: &AttachedTable,
    rows: &[Relative<'_>],
    mut take: impl FnMut(&[Relative<'_>]) -> Fallible<()>,
) -> Fallible<()> {
    if of.registration.names.position.is_none() {
        return take(rows);
    }
    let room = &mut Room::new();
    let (mut siblings, mut ordered) = (list(rows.len(), room)?, list(rows.len(), room)?);
    siblings.extend(rows.iter().map(Sibling::of));
    siblings.sort_unstable();
    siblings.dedup();
    let Some(places) = places(of, &siblings)? else { return take(rows) };
    room.take(siblings.len() * PER_SIBLING)?;
    let places: HashMap<Sibling<'_>, i64> = siblings.into_iter().zip(places).collect(); // bounded: counted
    let place = |row: &Relative<'_>| places[&Sibling::of(row)];
    ordered.extend_from_slice(rows);
    for some in ordered.chunk_by_mut(|a, b| a.entity == b.entity && a.tree == b.tree && a.ancestor == b.ancestor) {
        Interruptible::new(&mut { check_interrupts }).sort_with(some, |a, b, work| {
            a.depth.cmp(&b.depth).then_with(|| place(a).cmp(&place(b))).then_with(|| work.compare(a.name, b.name))
        });
    }
    take(&ordered)
}
