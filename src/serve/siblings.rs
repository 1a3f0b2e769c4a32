//! The order of siblings, for tables with a column of positions.

use crate::call::work_memory::Room;
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

/// Bytes that a row takes while it is put in order.
const PER_ROW: usize = size_of::<Relative<'_>>() + 2 * size_of::<Sibling<'_>>() + 64;

/// Passes rows on with siblings in their order: in each tree and relation by depth, position below the parent, and name.
pub fn in_order(
    of: &AttachedTable,
    rows: &[Relative<'_>],
    mut take: impl FnMut(&[Relative<'_>]) -> Fallible<()>,
) -> Fallible<()> {
    if of.registration.names.position.is_none() {
        return take(rows);
    }
    Room::new().take(rows.len() * PER_ROW)?;
    let mut siblings: Vec<Sibling<'_>> = rows.iter().map(Sibling::of).collect();
    siblings.sort_unstable();
    siblings.dedup();
    let Some(places) = places(of, &siblings)? else { return take(rows) };
    let places: HashMap<Sibling<'_>, i64> = siblings.into_iter().zip(places).collect();
    let place = |row: &Relative<'_>| places[&Sibling::of(row)];
    let mut rows = rows.to_vec();
    for some in rows.chunk_by_mut(|a, b| a.entity == b.entity && a.tree == b.tree && a.ancestor == b.ancestor) {
        Interruptible::new(&mut { check_interrupts }).sort_with(some, |a, b, work| {
            a.depth.cmp(&b.depth).then_with(|| place(a).cmp(&place(b))).then_with(|| work.compare(a.name, b.name))
        });
    }
    take(&rows)
}
