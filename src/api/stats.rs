//! cft_stat (behind the view pg_stat_cftrag), cft_stats_reset, cft_hot_entities.

#![expect(unsafe_code, reason = "talks to the executor directly")]

use crate::api::context;
use crate::area::{self, Unusable};
use crate::counters;
use crate::error::{self, Fallible};
use crate::fmgr::{Call, text_datum};
use crate::registration::{self, Functions};
use crate::route::{self, REASONS, Reason};
use crate::shmem::{self, Control};
use crate::slot::{PHASES, Slot};
use cftrag_core::Stats;
use pgrx::prelude::*;
use std::sync::atomic::Ordering::SeqCst;

/// Columns before the reasons.
const FIXED: usize = 19;
const COLUMNS: usize = FIXED + REASONS.len();

/// `cft_stat()`: a row for each attached table that the caller may read without row-level security. See sql/install/views.sql.
#[pg_extern(sql = false)]
fn cft_stat(fcinfo: pg_sys::FunctionCallInfo) {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let rows = call.rows();
    let control = shmem::attach();
    for table in registration::attached_tables(Functions::beside(call.function())) {
        if shown(table) {
            let (mut values, mut nulls) = row(control, table);
            rows.add(&mut values, &mut nulls);
        }
    }
}

/// Whether the caller may know of the table: he reads it, and no policy hides rows of it from him.
fn shown(table: pg_sys::Oid) -> bool {
    // SAFETY: catalog lookups by OID.
    let policies = unsafe { pg_sys::check_enable_rls(table, pg_sys::InvalidOid, true) };
    context::readable(table) && policies != pg_sys::CheckEnableRlsResult::RLS_ENABLED as i32
}

/// `cft_progress()`: a row for each build under way. See sql/install/views.sql.
#[pg_extern(sql = false)]
fn cft_progress(fcinfo: pg_sys::FunctionCallInfo) {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let rows = call.rows();
    let Some(control) = shmem::attach() else { return };
    for table in registration::attached_tables(Functions::beside(call.function())).into_iter().filter(|t| shown(*t)) {
        let Some((_, slot)) = control.find(table) else { continue };
        let p = &slot.progress;
        let phase = p.phase.load(SeqCst) as usize;
        if phase == 0 || phase >= PHASES.len() {
            continue;
        }
        let waits_for = p.waits_for.load(SeqCst);
        let mut values = [
            pg_sys::Datum::from(table),
            text_datum(PHASES[phase].as_bytes()),
            p.done.load(SeqCst).into(),
            p.total.load(SeqCst).into(),
            pg_sys::Datum::from(p.started.load(SeqCst)),
            pg_sys::Datum::from(slot.builder.load(SeqCst) as i32),
            pg_sys::Datum::from(waits_for as i32),
        ];
        rows.add(&mut values, &mut [false, false, false, false, false, false, waits_for == 0]);
    }
}

fn row(control: Option<&'static Control>, table: pg_sys::Oid) -> ([pg_sys::Datum; COLUMNS], [bool; COLUMNS]) {
    let reasons = counters::reasons(table);
    let found = control.and_then(|control| control.find(table).map(|(index, slot)| (control, index, slot)));
    let image = found.map(|(control, index, _)| {
        area::read(control, index, |header, image| (image.stats(), header.built_at, header.build_microseconds))
    });
    let slot = found.map(|(_, _, slot)| slot);
    let state = match (control, slot, &image) {
        (None, _, _) => "no shared memory",
        (_, _, Some(Ok(_))) => "ready",
        (_, _, Some(Err(Unusable::Incomplete))) => "incomplete",
        (_, Some(slot), _) if slot.builder.load(SeqCst) != 0 => "building",
        _ => "none",
    };
    let (stats, built_at, microseconds) = match image {
        Some(Ok(read)) => read,
        _ => (Stats::default(), 0, 0),
    };
    let built = state == "ready";
    let sum =
        |of: fn(&crate::turns::Reads) -> &std::sync::atomic::AtomicU64| slot.map_or(0, |slot: &Slot| slot.sum(of));
    let mut values = [pg_sys::Datum::from(0usize); COLUMNS];
    let fixed = [
        pg_sys::Datum::from(table),
        text_datum(state.as_bytes()),
        stats.entities.into(),
        stats.edge_rows.into(),
        stats.buckets.into(),
        pg_sys::Datum::from(stats.load_factor.to_bits()),
        stats.kicks.into(),
        stats.growths.into(),
        sum(|r| &r.fingerprint_checks).into(),
        sum(|r| &r.false_positives).into(),
        sum(|r| &r.lookups).into(),
        sum(|r| &r.hits).into(),
        sum(|r| &r.image_calls).into(),
        reasons.iter().sum::<u64>().into(),
        stats.bytes_published.into(),
        pg_sys::Datum::from(built_at),
        pg_sys::Datum::from((microseconds as f64 / 1000.0).to_bits()),
        stats.trees.into(),
        stats.versions.into(),
    ];
    values[..FIXED].copy_from_slice(&fixed);
    values[FIXED..].iter_mut().zip(reasons).for_each(|(value, count)| *value = count.into());
    let mut nulls = [false; COLUMNS];
    (nulls[15], nulls[16]) = (!built, !built);
    (values, nulls)
}

/// `cft_stats_reset() -> void`: sets the counters of this database's tables to zero.
#[pg_extern(sql = false)]
fn cft_stats_reset() {
    shmem::attach();
    counters::reset();
}

/// `cft_hot_entities(n int, edges regclass) -> table(entity text, temperature bigint)`: the entities asked for most, hottest first, among
/// those with an edge that the caller sees. No rows where the image would not serve the caller. Errors: 22023 (n), as cft_context.
#[pg_extern(sql = false)]
fn cft_hot_entities(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let rows = call.rows();
    let Some(n) = call.int(0) else { return Ok(()) };
    let wanted = usize::try_from(n).map_err(|_| error::negative_count(n))?;
    let (table, registration, columns, functions) = context::open(&call, 1)?;
    let mut ticket = match route::route(&table, &registration, &columns, functions) {
        Ok(ticket) => ticket,
        Err(Reason::Privilege) => return Err(error::no_privilege(&table.name())),
        Err(_) => return Ok(()),
    };
    let hot = loop {
        let mut ask = Vec::new();
        let hot = area::read(ticket.control, ticket.index, |_, image| image.hot(wanted, &ticket.seen, &mut ask));
        if ask.is_empty() || ticket.seen.learn(&ask).is_none() {
            break hot.unwrap_or_default();
        }
    };
    for (name, temperature) in hot {
        rows.add(&mut [text_datum(&name), i64::from(temperature).into()], &mut [false, false]);
    }
    Ok(())
}
