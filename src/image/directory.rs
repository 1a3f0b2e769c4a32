//! From a table's OID to its slot, taking a free one, or one whose table or image is gone.
//!
//! A question only looks (`Control::find`); this is for those that need a slot: a build, and counting an answer.

use crate::image::control::Control;
use crate::image::slot::Slot;
use crate::image::{quota, slot};
use pgrx::pg_sys;

/// The table's slot; takes a free one if need be, after a sweep if none is. None if every slot holds an image, or its owner's tables have their
/// share of them.
pub fn find_or_take(control: &Control, table: pg_sys::Oid) -> Option<(usize, &Slot)> {
    if let Some(found) = control.find(table) {
        return Some(found);
    }
    if !quota::has_place(control, slot::owner_of(table)) {
        return None;
    }
    control.take(table);
    control.find(table).or_else(|| {
        crate::image::sweep::make_room(control);
        control.take(table);
        control.find(table)
    })
}
