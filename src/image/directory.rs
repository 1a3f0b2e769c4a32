//! From a table's OID to its slot, taking a free one, or one whose table or image is gone.
//!
//! A question only looks (`Control::find`); this is for those that need a slot: a build, and counting an answer.

use crate::image::control::Control;
use crate::image::slot::Slot;
use pgrx::pg_sys;

/// The table's slot; takes a free one if need be, after a sweep if none is, and in the end that of a role that has more of
/// them. None if every slot holds an image and nobody has.
pub fn find_or_take(control: &Control, table: pg_sys::Oid) -> Option<(usize, &Slot)> {
    if let Some(found) = control.find(table) {
        return Some(found);
    }
    control.take(table);
    control.find(table).or_else(|| {
        crate::image::sweep::make_room(control);
        control.take(table);
        control.find(table).or_else(|| {
            crate::image::quota::make_slot(control, crate::image::slot::owner_of(table));
            control.take(table);
            control.find(table)
        })
    })
}
