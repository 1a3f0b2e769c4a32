//! The order of siblings, for tables with a column of positions.

use crate::call::work_memory::Room;
use crate::catalog::attached_table::AttachedTable;
use crate::error::Fallible;
use crate::pg::interrupt::check_interrupts;
use crate::serve::reference;
use crate::serve::sink::Relative;
use cftrag_core::Interruptible;
use std::collections::HashMap;

/// The place of each name among its siblings, in the order of `names`; None if the table has no column of positions.
pub fn places(of: &AttachedTable, names: &[&[u8]]) -> Fallible<Option<Vec<i64>>> {
    let position = of.registration.names.position.as_deref();
    position.map(|position| reference::positions(of, position, names)).transpose()
}

/// Bytes that a row takes while it is put in order.
const PER_ROW: usize = size_of::<Relative<'_>>() + 64;

/// Passes rows on with siblings in their order: in each tree and relation by depth, position, and name.
pub fn in_order(
    of: &AttachedTable,
    rows: &[Relative<'_>],
    mut take: impl FnMut(&[Relative<'_>]) -> Fallible<()>,
) -> Fallible<()> {
    if of.registration.names.position.is_none() {
        return take(rows);
    }
    Room::new().take(rows.len() * PER_ROW)?;
    let mut names: Vec<&[u8]> = rows.iter().map(|row| row.name).collect();
    names.sort_unstable();
    names.dedup();
    let Some(places) = places(of, &names)? else { return take(rows) };
    let place: HashMap<&[u8], i64> = names.into_iter().zip(places).collect();
    let mut rows = rows.to_vec();
    for some in rows.chunk_by_mut(|a, b| a.entity == b.entity && a.tree == b.tree && a.ancestor == b.ancestor) {
        Interruptible::new(&mut { check_interrupts }).sort_with(some, |a, b, work| {
            a.depth.cmp(&b.depth).then(place[a.name].cmp(&place[b.name])).then_with(|| work.compare(a.name, b.name))
        });
    }
    take(&rows)
}
