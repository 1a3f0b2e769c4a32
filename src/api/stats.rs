//! cft_stat (behind the view pg_stat_cftrag), cft_progress, cft_verified, cft_stats_reset, cft_hot_entities, and what
//! cft_health asks of the library and the system.

use crate::call::fmgr::{Call, text_datum};
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::columns::Column;
use crate::catalog::registration::Functions;
use crate::catalog::{privileges, registration};
use crate::error::Fallible;
use crate::image::chunks::Unusable;
use crate::image::control::Control;
use crate::image::reason::{REASONS, Reason};
use crate::image::slot::{Header, PHASES, Slot};
use crate::image::{chunks, control, counters};
use crate::pg::backend;
use crate::pg::encoding;
use crate::pg::interrupt::{ROWS_BETWEEN_CHECKS, check_interrupts};
use crate::pg::lookup;
use crate::pg::shm;
use crate::serve::conditions::Ticket;
use crate::serve::walk::SLOTS;
use crate::serve::{conditions, route};
use crate::{error, guc};
use cftrag_core::{Hot, Image, Interruptible, Stats, Step};
use pgrx::check_for_interrupts;
use pgrx::prelude::*;
use std::sync::atomic::Ordering::SeqCst;

/// Columns before the reasons.
const FIXED: usize = 21;

/// The last column is why the last build failed.
const COLUMNS: usize = FIXED + REASONS.len() + 1;

/// `cft_stat()`: a row for each attached table that is [`shown`]. See sql/install/views.sql.
#[pg_extern(sql = false)]
fn cft_stat(call: Call) {
    let rows = call.rows();
    let control = crate::image::control::attach();
    let functions = Functions::beside(call.function());
    for table in registration::attached_tables(functions) {
        if shown(table, functions)
            && let Some((mut values, mut nulls)) = row(control, table, functions)
        {
            rows.add(&mut values, &mut nulls);
        }
    }
}

/// Whether the caller may see the table's row: it may read all statistics, or it may read the columns that hold names,
/// and no policy hides rows from it.
fn shown(table: pg_sys::Oid, functions: Functions) -> bool {
    if reads_all_statistics() {
        return true;
    }
    if privileges::has_policies(table) || !privileges::is_readable(table) {
        return false;
    }
    let Some(registration) = registration::now(table, functions) else {
        return privileges::may_select(table, [None]);
    };
    let names = registration.names;
    let number = |name: &str| {
        let number = lookup::column_number(table, name);
        (number != 0).then_some(i32::from(number))
    };
    privileges::may_select(
        table,
        names.all().into_iter().map(|(_, name)| name).chain(names.preferred.as_deref()).map(number),
    )
}

/// Whether the caller is a member of pg_read_all_stats, as pg_monitor is.
fn reads_all_statistics() -> bool {
    lookup::has_privs_of_role(backend::user(), pg_sys::Oid::from(pg_sys::ROLE_PG_READ_ALL_STATS))
}

/// `cft_progress()`: a row for each running build and check. See sql/install/views.sql.
#[pg_extern(sql = false)]
fn cft_progress(call: Call) {
    let rows = call.rows();
    let Some(control) = control::attach() else { return };
    let functions = Functions::beside(call.function());
    for table in registration::attached_tables(functions).into_iter().filter(|t| shown(*t, functions)) {
        let Some((_, slot)) = control.find(table) else { continue };
        for (p, process) in slot.under_way() {
            let phase = p.phase.load(SeqCst) as usize;
            if phase == 0 || phase >= PHASES.len() {
                continue;
            }
            let (waits_for, waits_for_xid) = (p.waits_for.load(SeqCst), p.waits_for_xid.load(SeqCst));
            let mut values = [
                pg_sys::Datum::from(table),
                text_datum(PHASES[phase].as_bytes()),
                p.done.load(SeqCst).into(),
                p.total.load(SeqCst).into(),
                pg_sys::Datum::from(p.started.load(SeqCst)),
                pg_sys::Datum::from(process.load(SeqCst) as i32),
                pg_sys::Datum::from(waits_for as i32),
                pg_sys::Datum::from(waits_for_xid),
            ];
            rows.add(&mut values, &mut [false, false, false, false, false, false, waits_for == 0, waits_for_xid == 0]);
        }
    }
}

/// `cft_verified()`: a row for each attached table that is [`shown`] whose image a background worker has verified
/// (`cftrag.verify_interval`). See sql/install/health.sql.
#[pg_extern(sql = false)]
fn cft_verified(call: Call) {
    let rows = call.rows();
    let Some(control) = control::attach() else { return };
    let functions = Functions::beside(call.function());
    for table in registration::attached_tables(functions).into_iter().filter(|t| shown(*t, functions)) {
        let Some((_, slot)) = control.find(table) else { continue };
        let (verified, at) = (&slot.verified, slot.verified.at.load(SeqCst));
        // What was found in an image before this one says nothing of it.
        if at == 0 || at < slot.read(|header| header.built_at) {
            continue;
        }
        let (problems, invariant) = (verified.problems.load(SeqCst), verified.invariant.load(SeqCst));
        let first = match invariant {
            0 => {
                let (table, image) = (verified.in_table.load(SeqCst), verified.in_image.load(SeqCst));
                format!("rows differ, {table} in the table, {image} in the image")
            }
            invariant => format!("broken invariant I{invariant}"),
        };
        let mut values =
            [pg_sys::Datum::from(table), pg_sys::Datum::from(at), problems.into(), text_datum(first.as_bytes())];
        rows.add(&mut values, &mut [false, false, false, problems == 0]);
    }
}

/// None if the image has columns that the caller may not read (they were renamed since the build).
fn row(
    control: Option<&'static Control>,
    table: pg_sys::Oid,
    functions: Functions,
) -> Option<([pg_sys::Datum; COLUMNS], [bool; COLUMNS])> {
    let reasons = counters::reasons(table);
    let found = control.and_then(|control| control.find(table).map(|(index, slot)| (control, index, slot)));
    let image = found.map(|(control, index, _)| {
        // Another table may have taken the slot.
        let stats = |header: &Header, image: Image<'_>| {
            let times = (image.stats(), header.built_at, header.build_microseconds);
            control.entry(index).is_of(table).then_some((times, header.key.columns))
        };
        chunks::read(control, index, stats).and_then(|stats| stats.ok_or(Unusable::Empty))
    });
    if let Some(Ok((_, columns))) = &image {
        let number = |column: Column| if column.number == 0 { columns.child.number } else { column.number };
        if !reads_all_statistics() && !privileges::may_select(table, columns.all().map(|column| Some(number(column)))) {
            return None;
        }
    }
    let slot = found.map(|(_, _, slot)| slot);
    let state = match (control, slot, &image) {
        (None, _, _) => "no shared memory",
        (_, _, Some(Ok(_))) => "ready",
        (_, _, Some(Err(Unusable::Incomplete))) => "incomplete",
        (_, Some(slot), _) if slot.builder.load(SeqCst) != 0 => "building",
        _ => "none",
    };
    let (stats, built_at, microseconds) = match image {
        Some(Ok((read, _))) => read,
        _ => (Stats::default(), 0, 0),
    };
    let built = state == "ready";
    let serves = conditions::would_serve(table, functions);
    let reason = match serves {
        Some(Ok(())) => None,
        Some(Err(reason)) => Some(REASONS[reason as usize]),
        None => Some("locked"),
    };
    let sum = |of: fn(&crate::image::reads::Reads) -> &std::sync::atomic::AtomicU64| {
        slot.map_or(0, |slot: &Slot| slot.sum(of))
    };
    let mut values = [pg_sys::Datum::from(0usize); COLUMNS];
    let fixed = [
        pg_sys::Datum::from(table),
        text_datum(state.as_bytes()),
        matches!(serves, Some(Ok(()))).into(),
        text_datum(reason.unwrap_or_default().as_bytes()),
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
    add_reasons(&mut values, reasons);
    let error = slot.and_then(Slot::error);
    values[COLUMNS - 1] = text_datum(&encoding::encode(error.as_deref().unwrap_or_default()));
    let mut nulls = [false; COLUMNS];
    nulls[COLUMNS - 1] = error.is_none();
    (nulls[2], nulls[3]) = (serves.is_none(), reason.is_none());
    (nulls[17], nulls[18]) = (!built, !built);
    Some((values, nulls))
}

fn add_reasons<const N: usize>(values: &mut [pg_sys::Datum; COLUMNS], reasons: [u64; N]) {
    values[FIXED..].iter_mut().zip(reasons).for_each(|(value, count)| *value = count.into());
}

/// `cft_library() -> text`: the version of the library that this process has loaded.
#[pg_extern(sql = false)]
fn cft_library() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// `cft_shm_too_small() -> bigint`: the bytes that the system has for shared memory, if they are fewer than
/// cftrag.memory_limit.
#[pg_extern(sql = false)]
fn cft_shm_too_small() -> Option<i64> {
    shm::too_small().map(|kb| kb as i64 * 1024)
}

/// `cft_stats_reset() -> void`: sets the counters of this database's tables to zero.
#[pg_extern(sql = false)]
fn cft_stats_reset() {
    control::attach();
    counters::reset();
}

/// `cft_hot_entities(k int, edges regclass) -> table(entity text, temperature bigint)`: the entities looked up most,
/// hottest first, among those with an edge that the caller sees. No rows if the image would not serve the caller.
/// Errors: 22023 (k), 53400 (cftrag.work_memory), and those of cft_context.
#[pg_extern(sql = false)]
fn cft_hot_entities(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let Some(k) = call.int(0) else { return Ok(()) };
    let wanted = usize::try_from(k).map_err(|_| error::negative_count(k))?;
    let of = AttachedTable::of_any(call.function(), call.oid(1))?;
    loop {
        let mut ticket = match route::route(&of) {
            Ok(ticket) => ticket,
            Err(Reason::Privilege) => return Err(error::no_privilege(&of.table.name())),
            Err(_) => return Ok(()),
        };
        // If another image has replaced the ticket's, try again with that one.
        if let Ok(hot) = hottest(&mut ticket, wanted) {
            let (mut hot, mut check) = (hot?, check_interrupts);
            let work = &mut Interruptible::new(&mut check);
            let hottest = hot.finish(work).map_err(error::no_room)?;
            for (i, (name, temperature)) in hottest.enumerate() {
                if i % ROWS_BETWEEN_CHECKS == 0 {
                    check_for_interrupts!();
                }
                rows.add(&mut [text_datum(name), i64::from(temperature).into()], &mut [false, false]);
            }
            return Ok(());
        }
        check_for_interrupts!();
    }
}

/// The hottest entities, within `cftrag.work_memory`; releases the lock between steps.
fn hottest(ticket: &mut Ticket, wanted: usize) -> Result<Fallible<Hot>, Reason> {
    let mut hot = Hot::new(wanted, guc::work_bytes());
    let (mut check, no_room) = (check_interrupts, |why| Ok(Err(error::no_room(why))));
    loop {
        match ticket.read(|image, seen| image.hot(&mut hot, SLOTS, seen))? {
            Err(why) => return no_room(why),
            Ok(Step::Done) => return Ok(Ok(hot)),
            Ok(Step::More) => ticket.pause(),
            Ok(Step::Ask) => ticket.learn(hot.asked())?,
        }
        if let Err(why) = hot.make_room(&mut Interruptible::new(&mut check)) {
            return no_room(why);
        }
    }
}
