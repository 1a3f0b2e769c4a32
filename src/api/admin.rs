//! cft_build, cft_verify: make the image now, compare it with the table.

#![expect(unsafe_code, reason = "locks and snapshots")]

use crate::api::attach::owner_only;
use crate::api::context;
use crate::area;
use crate::build::{self, Refused};
use crate::edges::Edges;
use crate::error::{self, Fallible};
use crate::fmgr::{Call, Rows, text_datum};
use crate::online::Outcome;
use crate::registration::Functions;
use crate::route::{self, Reason};
use crate::shmem::{self, Control};
use crate::worker::{self, Waited};
use cftrag_core::{Image, Scan, Step};
use pgrx::prelude::*;
use std::collections::HashMap;
use std::sync::atomic::Ordering::SeqCst;

/// `cft_build(edges regclass) -> void`: builds the image now and waits for it: for another session's build first, and for transactions
/// that write to the table. Nobody waits for it, unless no background worker is to be had, or this transaction has a lock on the table
/// already: then writers do. Errors: 42P01, 42501 (not the owner), 25001 (this transaction has written), 55000 (no shared memory, triggers
/// not sound, not finished), 55006 (another session builds, and may wait for this one), 55P03 (lock_timeout, or it gave way to a session
/// that waits for a lock), 53200 (memory), 42809, 42703.
#[pg_extern(sql = false)]
fn cft_build(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let oid = call.oid(0).ok_or_else(|| error::null_argument("edges"))?;
    // SAFETY: raises 25000 in a parallel worker, where a function that calls us was said to be parallel safe.
    unsafe { pg_sys::PreventCommandIfParallelMode(c"cft_build()".as_ptr()) };
    let table = Edges::open_for_now(oid)?;
    owner_only(&table)?;
    let functions = Functions::beside(call.function());
    if crate::registration::read(oid, std::ptr::null_mut(), functions).is_none() {
        return Err(error::not_attached(&crate::edges::display_name(oid)));
    }
    // SAFETY: reads backend state.
    if unsafe { pg_sys::GetTopTransactionIdIfAny() } != pg_sys::InvalidTransactionId {
        return Err(error::build_after_write());
    }
    // SAFETY: reads backend state.
    if unsafe { pg_sys::RecoveryInProgress() } {
        return Err(error::build_refused(&table.name(), "the server is in recovery"));
    }
    let control = shmem::attach().ok_or_else(error::no_shared_memory)?;
    match in_place(control, &table, functions) {
        Some(Ok(())) => Ok(()),
        Some(Err(Refused::Failed(report))) => Err(*report),
        Some(Err(Refused::Busy)) => after_another(control, table, functions),
        None => beside_writers(control, table, functions),
    }
}

/// Builds when the build that is under way has ended: it may have begun before what this session knows was committed.
fn after_another(control: &'static Control, table: Edges, functions: Functions) -> Fallible<()> {
    let (oid, name) = (table.oid(), table.name());
    if let_go(table).is_some() {
        // The builder may wait for us.
        return Err(error::building(&name));
    }
    let ended = || control.find(oid).is_none_or(|(_, slot)| slot.builder.load(SeqCst) == 0);
    match worker::wait_until(control, oid, ended) {
        Waited::Ended => beside_writers(control, Edges::open_for_now(oid)?, functions),
        Waited::TimedOut => Err(error::build_lock_timeout(&name)),
        Waited::GaveWay => Err(error::load_yielded(&name)),
    }
}

/// Gives up the lock that Edges::open_for_now took: while we wait for a worker, whoever queues between our lock and the worker's for
/// a stronger one would wait for us for ever. Some: this transaction had another lock on the table before, and must not wait for a worker.
fn let_go(table: Edges) -> Option<Edges> {
    let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
    // SAFETY: taken by Edges::open_for_now; an open relation.
    let held = unsafe {
        pg_sys::UnlockRelation(table.rel(), lock);
        pg_sys::CheckRelationLockedByMe(table.rel(), lock, true)
    };
    held.then_some(table)
}

/// Builds a small table here and now, if nobody writes to it. None: it is large, or somebody does.
fn in_place(control: &Control, table: &Edges, functions: Functions) -> Option<Result<(), Refused>> {
    let lock = pg_sys::ShareLock as pg_sys::LOCKMODE;
    // SAFETY: an open relation; released below, or by the transaction's abort.
    let here =
        table.bytes() <= crate::guc::in_place_bytes() && unsafe { pg_sys::ConditionalLockRelation(table.rel(), lock) };
    here.then(|| {
        let built = build::build(control, table, functions);
        // SAFETY: taken above; the image is published.
        unsafe { pg_sys::UnlockRelation(table.rel(), lock) };
        built
    })
}

/// Builds while writers wait, and waits for them, in this process.
fn under_lock(control: &'static Control, table: Edges, functions: Functions) -> Fallible<()> {
    let lock = pg_sys::ShareLock as pg_sys::LOCKMODE;
    // SAFETY: an open relation; released below, or by the transaction's abort.
    unsafe { pg_sys::LockRelation(table.rel(), lock) };
    let built = build::build(control, &table, functions);
    // SAFETY: taken above; the image is published.
    unsafe { pg_sys::UnlockRelation(table.rel(), lock) };
    match built {
        Ok(()) => Ok(()),
        Err(Refused::Failed(report)) => Err(*report),
        Err(Refused::Busy) => after_another(control, table, functions),
    }
}

/// Has a background worker build the image and waits for it. Without one to be had, or if this transaction has a lock on the table
/// (LOCK, or just a SELECT), builds under a SHARE lock: there the deadlock detector sees everything.
fn beside_writers(control: &'static Control, table: Edges, functions: Functions) -> Fallible<()> {
    let (oid, name) = (table.oid(), table.name());
    build::key(&table, std::ptr::null_mut(), functions)?;
    if let Some(table) = let_go(table) {
        return under_lock(control, table, functions);
    }
    let outcome = || control.find(oid).map_or(0, |(_, slot)| slot.outcome.load(SeqCst));
    let before = outcome();
    let Some(worker) = worker::start(oid, functions) else {
        return under_lock(control, Edges::open_for_now(oid)?, functions);
    };
    match worker.wait(control, oid) {
        Waited::Ended => {}
        Waited::TimedOut => return Err(error::build_lock_timeout(&name)),
        Waited::GaveWay => return Err(error::load_yielded(&name)),
    }
    match Outcome::of(outcome(), worker.asker) {
        Outcome::Built => Ok(()),
        Outcome::Memory => Err(error::out_of_memory(crate::guc::MEMORY_LIMIT.get())),
        Outcome::Yielded => Err(error::load_yielded(&name)),
        // A reader asked for a build before us: ours comes after it.
        Outcome::Busy => after_another(control, Edges::open_for_now(oid)?, functions),
        // A build that a reader asked for has ended since ours did.
        Outcome::None if outcome() != before && build::is_current(control, &Edges::open_for_now(oid)?, functions) => {
            Ok(())
        }
        Outcome::Refused | Outcome::None => Err(error::build_unfinished(&name)),
    }
}

/// tree, parent, child.
type Names = (Option<Vec<u8>>, Vec<u8>, Vec<u8>);
/// Edge -> (rows in the table, rows in the image).
type Differences = HashMap<Names, (i64, i64)>;

/// `cft_verify(edges regclass)`: broken invariants of the image, and edges whose rows differ in number between table and image under
/// the caller's snapshot. No row: sound. Where the image would not serve this caller a NOTICE says why, and there are no rows.
/// Holds the image's lock in shared mode while the invariants are checked: commits that change the table wait (a second per million
/// edges). Errors: as cft_context.
#[pg_extern(sql = false)]
fn cft_verify(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let rows = call.rows();
    call.oid(0).ok_or_else(|| error::null_argument("edges"))?;
    let (table, registration, columns, functions) = context::open(&call, 0)?;
    let mut ticket = match route::route(&table, &registration, &columns, functions) {
        Ok(ticket) => ticket,
        Err(Reason::Privilege) => return Err(error::no_privilege(&table.name())),
        Err(reason) => {
            error::notice_not_verified(&table.name(), route::REASONS[reason as usize]);
            return Ok(());
        }
    };
    let mut broken = Vec::new();
    let _ =
        area::read(ticket.control, ticket.index, |_, image| image.verify(&mut |p| broken.push((p.invariant, p.text))));
    for (invariant, text) in broken {
        add(rows, &format!("broken invariant I{invariant}: {text}"), None, None);
    }
    let mut edges = Differences::new();
    count_image(&mut ticket, &mut edges);
    // SAFETY: a snapshot is active in every SQL function.
    build::scan(&table, &columns, unsafe { pg_sys::GetActiveSnapshot() }, |edge| {
        edges.entry((edge.tree.map(<[u8]>::to_vec), edge.parent.to_vec(), edge.child.to_vec())).or_default().0 += 1;
        Ok(())
    })?;
    for (edge, counts) in edges.iter().filter(|(_, (in_table, in_image))| in_table != in_image) {
        add(rows, "rows differ", Some(edge), Some(*counts));
    }
    Ok(())
}

fn count_image(ticket: &mut route::Ticket, edges: &mut Differences) {
    // One reading under the lock; again if it met xids that it did not know.
    loop {
        let mut scan = Scan::new();
        edges.clear();
        let seen = &ticket.seen;
        let done = area::read(ticket.control, ticket.index, |_, image: Image<'_>| {
            loop {
                let step = image.edges(&mut scan, usize::MAX, seen, |tree, parent, child| {
                    edges.entry((tree.map(<[u8]>::to_vec), parent.to_vec(), child.to_vec())).or_default().1 += 1;
                });
                if step != Step::More {
                    return step;
                }
            }
        });
        if done != Ok(Step::Ask) || ticket.seen.learn(scan.asked()).is_none() {
            return;
        }
    }
}

fn add(rows: Rows, problem: &str, edge: Option<&Names>, counts: Option<(i64, i64)>) {
    let none = pg_sys::Datum::from(0usize);
    let tree = edge.and_then(|e| e.0.as_deref());
    let mut values = [
        text_datum(problem.as_bytes()),
        tree.map_or(none, text_datum),
        edge.map_or(none, |e| text_datum(&e.1)),
        edge.map_or(none, |e| text_datum(&e.2)),
        counts.map_or(none, |c| pg_sys::Datum::from(c.0)),
        counts.map_or(none, |c| pg_sys::Datum::from(c.1)),
    ];
    let mut nulls = [false, tree.is_none(), edge.is_none(), edge.is_none(), counts.is_none(), counts.is_none()];
    rows.add(&mut values, &mut nulls);
}
