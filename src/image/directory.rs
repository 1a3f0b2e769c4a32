//! Finds a table's slot by OID, or takes one that is free, or whose table or image is gone.
//!
//! A query only looks (`Control::find`); a build needs a slot, and so does counting a call's reason.

use crate::image::control::Control;
use crate::image::slot::Slot;
use crate::image::{quota, slot};
use pgrx::pg_sys;

/// The table's slot. Takes a free one if needed, after a sweep if none is free. None if every slot holds an image, or
/// the owner's tables have used up the owner's share.
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
