//! Which image goes where memory is short: the one that was asked for least recently, whole. It is built again when it
//! is asked for.
//!
//! One rule protects roles from each other: an image makes room among the images of its own database first, then among
//! those of databases that have more than their share, which is `cftrag.memory_limit` divided by the databases that
//! have images. An image that is kept (catalog/kept.rs) stays, and so does one that was built a moment ago: images that
//! do not fit together would be built in turns, and nothing else.

#![expect(unsafe_code, reason = "reads the clock")]

use crate::guc;
use crate::image::chunks;
use crate::image::control::Control;
use crate::image::slot::{BuilderMark, SWEEPER, Slot};
use pgrx::pg_sys;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// An image stays for this many times the duration of its build, so that builds in turns take at most a twentieth of
/// the time.
const BUILDS: i64 = 20;

struct Candidate {
    index: usize,
    database: u32,
    bytes: u64,
    used_at: i64,
}

/// Drops images until that many bytes are free, if there are images that may go; never that of `mine`.
pub fn make_room(control: &Control, mine: usize, bytes: u64) {
    let mut freed = 0;
    for index in victims(control, mine, bytes) {
        if freed >= bytes {
            break;
        }
        freed += drop_whole(control, index);
    }
}

/// The images to go, first to last: of this many bytes, or somewhat more, if there are as many.
fn victims(control: &Control, mine: usize, bytes: u64) -> Vec<usize> {
    let own = control.entry(mine).database.load(Relaxed);
    let mut held = BTreeMap::from([(own, 0)]);
    let mut all = Vec::new();
    for (index, entry, slot) in control.slots() {
        let (database, bytes) = (entry.database.load(Relaxed), slot.held());
        if bytes > 0 {
            *held.entry(database).or_insert(0) += bytes;
        }
        if index != mine && slot.may_go() {
            all.push(Candidate { index, database, bytes, used_at: slot.used_at() }); // bounded: entries of the directory
        }
    }
    let share = guc::memory_bytes() / held.len() as u64;
    all.sort_unstable_by_key(|candidate| (candidate.database != own, candidate.used_at));
    let mut found = 0;
    let mut goes = |candidate: &Candidate| {
        let of_database = held.entry(candidate.database).or_insert(0);
        let goes = found < bytes && (candidate.database == own || *of_database > share);
        if goes {
            *of_database -= candidate.bytes.min(*of_database);
            found += candidate.bytes;
        }
        goes
    };
    all.iter().filter(|candidate| goes(candidate)).map(|candidate| candidate.index).collect()
}

impl Slot {
    /// Whether the image may make room for others.
    fn may_go(&self) -> bool {
        if self.image_bytes.load(SeqCst) == 0 || self.builder.load(SeqCst) != 0 || self.kept.load(Relaxed) {
            return false;
        }
        let (built_at, took) = self.read(|header| (header.built_at, header.build_microseconds as i64));
        // SAFETY: reads the clock.
        let now = unsafe { pg_sys::GetCurrentTimestamp() };
        now - built_at >= took.saturating_mul(BUILDS)
    }
}

/// Drops an image, unless another process builds one in its place. Returns the bytes that it had.
pub fn drop_whole(control: &Control, index: usize) -> u64 {
    let slot = control.slot(index);
    if slot.builder.compare_exchange(0, SWEEPER, SeqCst, SeqCst).is_err() {
        return 0;
    }
    let _mark = BuilderMark(&slot.builder);
    let bytes = slot.image_bytes.load(SeqCst);
    chunks::drop_image(control, index);
    bytes
}
