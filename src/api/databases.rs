//! pg_stat_cftrag_databases: what each database's tables take of the shared places and memory, those that are gone
//! included, which pg_stat_cftrag of no database shows.

use crate::call::fmgr::Call;
use crate::image::control::Control;
use crate::image::{control, gone};
use pgrx::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;

/// Of one database.
#[derive(Default)]
struct Sums {
    places: i32,
    images: i32,
    gone: i32,
    bytes: u64,
}

/// `cft_databases() -> table(datid oid, places int, images int, gone int, memory_bytes bigint)`. See
/// sql/install/views.sql.
#[pg_extern(sql = false)]
fn cft_databases(call: Call) {
    let rows = call.rows();
    let Some(control) = control::attach() else { return };
    for (database, of) in sums(control) {
        let mut values = [
            pg_sys::Datum::from(pg_sys::Oid::from(database)),
            of.places.into(),
            of.images.into(),
            of.gone.into(),
            of.bytes.into(),
        ];
        rows.add(&mut values, &mut [false; 5]);
    }
}

fn sums(control: &Control) -> BTreeMap<u32, Sums> {
    let mut all = BTreeMap::<u32, Sums>::new();
    for (index, entry, slot) in control.slots() {
        let of = all.entry(entry.database.load(Relaxed)).or_default();
        of.places += 1;
        of.images += i32::from(slot.holds_image());
        of.gone += i32::from(gone::is_gone(control, index));
        of.bytes += slot.held();
    }
    all
}
