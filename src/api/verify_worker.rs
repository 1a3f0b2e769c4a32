//! The background worker that verifies the images of a database, one after the other (`cftrag.verify_interval`; the
//! launcher starts it). It has no image built, and does not count as somebody who asks for one. It leaves when the
//! database is wanted, and gives way to a session that waits for a lock on the table.

#![expect(unsafe_code, reason = "a background worker's name, a snapshot")]

use crate::api::verify;
use crate::api::verify::{Edge, Outcome};
use crate::builds::launcher;
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::name;
use crate::catalog::registration::Functions;
use crate::error::Fallible;
use crate::image::control;
use crate::image::control::Control;
use crate::image::slot::Verified;
use crate::pg::backend;
use crate::pg::background_worker::transaction;
use crate::pg::snapshot;
use crate::pg::{background_worker, lock_holders};
use crate::serve::conditions;
use crate::{error, guc};
use pgrx::prelude::*;
use std::sync::atomic::Ordering::SeqCst;

/// After a check that could not end, the next is so many microseconds later, at most.
const AGAIN: i64 = 600_000_000;

const LOCK: pg_sys::LOCKMODE = pg_sys::AccessShareLock as pg_sys::LOCKMODE;

/// The worker's main function. `bgw_extra`: database.
#[pg_guard]
#[unsafe(no_mangle)]
extern "C-unwind" fn cftrag_verify_worker(_arg: pg_sys::Datum) {
    background_worker::connect();
    let (Some(control), Some(interval)) = (transaction(control::attach), guc::verify_interval()) else { return };
    // The entries of tables that are gone are not looked at again at once, either.
    let here = control.slots().filter(|(_, entry, slot)| entry.is_here() && slot.verified.is_due(interval));
    here.for_each(|(_, _, slot)| put_off(&slot.verified, interval));
    let Some((functions, tables)) = transaction(launcher::attached) else { return };
    for table in tables {
        let Some((_, slot)) = control.find(table) else { continue };
        if transaction(lock_holders::database_is_wanted) {
            return;
        }
        let is_old = slot.verified.at.load(SeqCst) + interval <= backend::now();
        if !is_old || !slot.holds_image() {
            continue;
        }
        let once = || transaction(|| check(control, table, functions));
        background_worker::attempt(once, |error| error::log_verifier(error.message()));
    }
}

fn put_off(verified: &Verified, interval: i64) {
    verified.not_before.store(backend::now() + interval.min(AGAIN), SeqCst);
}

/// Checks a table, and notes the outcome. Does nothing if its image would serve nobody now, or if the table is locked.
fn check(control: &Control, table: pg_sys::Oid, functions: Functions) {
    snapshot::under_transactions(|| {
        let Some(open) = EdgesTable::try_open(table) else { return };
        match compare(open, functions) {
            Some(Ok(found)) => note(control, table, found),
            Some(Err(why)) => error::log_verifier(why.message()),
            None => {}
        }
    });
}

fn compare(open: EdgesTable, functions: Functions) -> Option<Fallible<Outcome>> {
    let of = match AttachedTable::of_table(open, functions) {
        Ok(of) => of,
        Err(why) => return Some(Err(why)),
    };
    let mut ticket = conditions::before(&of).ok()?.of_image(&mut |_, _| ()).ok()?.0;
    // An error: another image has replaced it, which is younger than the interval.
    verify::compare(&of, &mut ticket, Some(LOCK)).ok()
}

fn note(control: &Control, table: pg_sys::Oid, (broken, differences): Outcome) {
    let mut problems = broken.len() as u64;
    let mut first = broken.into_iter().next().map(|(invariant, text)| (invariant, (0, 0), text));
    if let Some(differences) = differences {
        differences.each(|edge, counts| {
            problems += 1;
            first.get_or_insert_with(|| (0, counts, in_words(edge, counts)));
        });
    }
    let Some((_, slot)) = control.find(table) else { return };
    let (invariant, (in_table, in_image), words) = first.unwrap_or_default();
    let verified = &slot.verified;
    verified.problems.store(problems, SeqCst);
    verified.invariant.store(invariant, SeqCst);
    verified.in_table.store(in_table, SeqCst);
    verified.in_image.store(in_image, SeqCst);
    verified.at.store(backend::now(), SeqCst);
    if problems > 0 {
        error::warn_verified(&name::full_name(table), problems, &words);
    }
}

fn in_words((_, parent, child): Edge<'_>, (in_table, in_image): (i64, i64)) -> String {
    let [parent, child] = [parent, child].map(|name| String::from_utf8_lossy(name).into_owned()); // bounded: one row
    format!("{in_table} rows in the table and {in_image} in the image of parent \"{parent}\", child \"{child}\"")
}
