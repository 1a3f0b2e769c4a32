//! Which image goes where memory is short: the one that was asked for least recently, whole. It is built again when it
//! is asked for.
//!
//! One rule protects roles from each other: an image makes room among the images of its own database first, then among
//! those of databases that have more than their share, which is `cftrag.memory_limit` divided by the databases that
//! have images. An image that is kept (catalog/kept.rs) stays, and so does one that was built a moment ago: images that
//! do not fit together would be built in turns, and nothing else.

use crate::guc;
use crate::image::chunks;
use crate::image::control::Control;
use crate::image::slot::{BuilderMark, SWEEPER, Slot};
use crate::pg::backend;
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

/// Drops images until that many bytes are free, never that of `mine`; none if those that may go are too few.
pub fn make_room(control: &Control, mine: usize, bytes: u64) {
    if let Some(victims) = enough(control, mine, bytes) {
        victims.into_iter().for_each(|index| drop_whole(control, index));
    }
}

/// Drops images until `cftrag.memory_limit` holds, as far as images may go.
pub fn shrink(control: &Control) {
    let over = control.memory_used.load(SeqCst).saturating_sub(guc::memory_bytes());
    if over > 0 {
        victims(control, None, over).0.into_iter().for_each(|index| drop_whole(control, index));
    }
}

/// Whether so many bytes could be had, as images make room: a build that cannot end drops none.
pub fn has_room(control: &Control, mine: usize, bytes: u64) -> bool {
    let short = (control.memory_used.load(SeqCst) + bytes).saturating_sub(guc::memory_bytes());
    short == 0 || enough(control, mine, short).is_some()
}

/// The images to go; None if they have fewer bytes.
fn enough(control: &Control, mine: usize, bytes: u64) -> Option<Vec<usize>> {
    let (victims, found) = victims(control, Some(mine), bytes);
    (found >= bytes).then_some(victims)
}

/// The images to go, first to last: of this many bytes, or somewhat more, or fewer if there are not as many. And what
/// they have.
fn victims(control: &Control, mine: Option<usize>, bytes: u64) -> (Vec<usize>, u64) {
    let own = mine.map_or(0, |mine| control.entry(mine).database.load(Relaxed));
    let mut held: BTreeMap<u32, u64> = mine.map(|_| (own, 0)).into_iter().collect(); // bounded: databases
    let mut all = Vec::new();
    for (index, entry, slot) in control.slots() {
        let (database, bytes) = (entry.database.load(Relaxed), slot.held());
        if bytes > 0 {
            *held.entry(database).or_insert(0) += bytes;
        }
        if Some(index) != mine && slot.may_go() {
            all.push(Candidate { index, database, bytes, used_at: slot.used_at() }); // bounded: entries of the directory
        }
    }
    let share = guc::memory_bytes() / held.len().max(1) as u64;
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
    let victims = all.iter().filter(|candidate| goes(candidate)).map(|candidate| candidate.index).collect(); // bounded: entries of the directory
    (victims, found)
}

impl Slot {
    /// Whether the image may make room for others.
    fn may_go(&self) -> bool {
        if self.image_bytes.load(SeqCst) == 0 || self.builder.load(SeqCst) != 0 || self.kept.load(Relaxed) {
            return false;
        }
        // Without the time that the build waited for others.
        let (built_at, took) = (self.read(|header| header.built_at), self.took.load(Relaxed));
        let now = backend::now();
        now - built_at >= took.saturating_mul(BUILDS)
    }
}

/// Drops an image, unless another process builds one in its place.
fn drop_whole(control: &Control, index: usize) {
    let slot = control.slot(index);
    if slot.builder.compare_exchange(0, SWEEPER, SeqCst, SeqCst).is_ok() {
        let _mark = BuilderMark(&slot.builder);
        chunks::drop_image(control, index);
    }
}
