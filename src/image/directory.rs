//! Finds a table's slot by OID, or takes one that is free, or whose table or image is gone.
//!
//! A query only looks (`Control::find`); a build needs a slot, and so does counting a call's reason.

use crate::image::control::Control;
use crate::image::slot::Slot;
use crate::image::{quota, slot, sweep};
use pgrx::pg_sys;

/// The table's slot. Takes a free one if needed, after a sweep if there is none. None if every slot holds an image of a
/// table that exists, or the owner's tables have used up the owner's share. `now`: sweeps even if another process has
/// just done so.
pub fn find_or_take(control: &Control, table: pg_sys::Oid, now: bool) -> Option<(usize, &Slot)> {
    let taken = || {
        let owner = slot::owner_of(table);
        control.find(table).or_else(|| {
            quota::has_place(control, owner).then(|| control.take(table))?;
            control.find(table)
        })
    };
    // Slots without an image help only where no slot is free; an owner's share counts images.
    let unused = || quota::has_place(control, slot::owner_of(table));
    taken().or_else(|| sweep::make_room(control, now, unused()).then(taken)?)
}
