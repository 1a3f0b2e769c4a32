//! cft_build, cft_verify: make the image now, compare it with the table.

#![expect(unsafe_code, reason = "locks and snapshots")]

use crate::api::attach::owner_only;
use crate::api::context;
use crate::build::{self, Refused};
use crate::contain::Quiet;
use crate::edges::Edges;
use crate::error::{self, Fallible};
use crate::fmgr::{Call, Rows, text_datum};
use crate::methods;
use crate::methods::room::Room;
use crate::methods::scan::BATCH;
use crate::methods::search::named;
use crate::methods::table::Table;
use crate::online::Outcome;
use crate::patience::until_cancelled;
use crate::registration::Functions;
use crate::route::{self, Reason, Ticket};
use crate::shmem::{self, Control};
use crate::visibility::Seen;
use crate::worker::{self, Waited};
use cftrag_core::{Breath, Image, NameId, Names, Scan, Step};
use pgrx::check_for_interrupts;
use pgrx::prelude::*;
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
        Some(Err(Refused::Busy)) => {
            after_another(control, table)?;
            beside_writers(control, Edges::open_for_now(oid)?, functions)
        }
        None => beside_writers(control, table, functions),
    }
}

/// Waits until the build that is under way has ended. The caller builds again: it may have begun before what this session knows was
/// committed.
fn after_another(control: &'static Control, table: Edges) -> Fallible<()> {
    let (oid, name) = (table.oid(), table.name());
    if let_go(table).is_some() {
        // The builder may wait for us.
        return Err(error::building(&name));
    }
    match worker::wait_until(control, oid, || !is_being_built(control, oid)) {
        Waited::Ended => Ok(()),
        Waited::TimedOut => Err(error::build_lock_timeout(&name)),
        Waited::GaveWay => Err(error::load_yielded(&name)),
    }
}

fn is_being_built(control: &Control, table: pg_sys::Oid) -> bool {
    control.find(table).is_some_and(|(_, slot)| slot.builder.load(SeqCst) != 0)
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

/// Builds a small table here and now, if nobody writes to it. None: it is large, or somebody does or waits to.
fn in_place(control: &Control, table: &Edges, functions: Functions) -> Option<Result<(), Refused>> {
    let lock = pg_sys::ShareLock as pg_sys::LOCKMODE;
    let _quiet = Quiet::enter();
    // SAFETY: an open relation; released below, or by the transaction's abort.
    let here =
        table.bytes() <= crate::guc::in_place_bytes() && unsafe { pg_sys::ConditionalLockRelation(table.rel(), lock) };
    if !here {
        return None;
    }
    let built = build::build(control, table, functions, true);
    // SAFETY: taken above; the image is published.
    unsafe { pg_sys::UnlockRelation(table.rel(), lock) };
    let gave_way = built.is_err() && build::noted_outcome() == Outcome::Yielded;
    (!gave_way).then_some(built)
}

/// Builds while writers wait, and waits for them, in this process.
fn under_lock(control: &'static Control, table: Edges, functions: Functions) -> Fallible<()> {
    let lock = pg_sys::ShareLock as pg_sys::LOCKMODE;
    let _quiet = Quiet::enter();
    // SAFETY: an open relation; released below, or by the transaction's abort.
    unsafe { pg_sys::LockRelation(table.rel(), lock) };
    let built = build::build(control, &table, functions, false);
    // SAFETY: taken above; the image is published.
    unsafe { pg_sys::UnlockRelation(table.rel(), lock) };
    match built {
        Ok(()) => Ok(()),
        Err(Refused::Failed(report)) => Err(*report),
        Err(Refused::Busy) => {
            let oid = table.oid();
            after_another(control, table)?;
            beside_writers(control, Edges::open_for_now(oid)?, functions)
        }
    }
}

/// Has a background worker build the image and waits for it. Without one to be had, or if this transaction has a lock on the table
/// (LOCK, or just a SELECT), builds under a SHARE lock: there the deadlock detector sees everything.
fn beside_writers(control: &'static Control, table: Edges, functions: Functions) -> Fallible<()> {
    let (oid, mut table) = (table.oid(), table);
    while !by_worker(control, table, functions)? {
        table = Edges::open_for_now(oid)?;
    }
    Ok(())
}

/// Tries once. False: another build was under way, or needed the worker's place.
fn by_worker(control: &'static Control, table: Edges, functions: Functions) -> Fallible<bool> {
    let (oid, name) = (table.oid(), table.name());
    build::key(&table, std::ptr::null_mut(), functions)?;
    if let Some(table) = let_go(table) {
        return under_lock(control, table, functions).map(|()| true);
    }
    if is_being_built(control, oid) {
        return after_another(control, Edges::open_for_now(oid)?).map(|()| false);
    }
    if worker::wait_for_place(control, oid) != Waited::Ended {
        return Err(error::build_lock_timeout(&name));
    }
    let outcome = || control.find(oid).map_or(0, |(_, slot)| slot.outcome.load(SeqCst));
    let before = outcome();
    let Some(worker) = worker::start(oid, functions) else {
        // Those who ask for the same image at the same time take the last workers for a moment; one of them builds it.
        crate::online::nap();
        if is_being_built(control, oid) {
            return Ok(false);
        }
        return under_lock(control, Edges::open_for_now(oid)?, functions).map(|()| true);
    };
    match worker.wait(control, oid) {
        Waited::Ended => {}
        Waited::TimedOut => return Err(error::build_lock_timeout(&name)),
        Waited::GaveWay => return Err(error::load_yielded(&name)),
    }
    match Outcome::of(outcome(), worker.asker) {
        Outcome::Built => Ok(true),
        Outcome::Memory => Err(error::out_of_memory(crate::guc::MEMORY_LIMIT.get())),
        Outcome::Yielded => Err(error::load_yielded(&name)),
        // A reader asked for a build before us: ours comes after it.
        Outcome::Busy => after_another(control, Edges::open_for_now(oid)?).map(|()| false),
        // Somebody was faster, or needed the place while it only waited.
        Outcome::NoPlace => Ok(false),
        // A build that a reader asked for has ended since ours did.
        Outcome::None if outcome() != before && build::is_current(control, &Edges::open_for_now(oid)?, functions) => {
            Ok(true)
        }
        Outcome::Refused | Outcome::Waited | Outcome::None => Err(error::build_unfinished(&name)),
    }
}

/// How many rows there are of each edge, in the table and in the image.
struct Differences {
    names: Names,
    rows: Table<Edge<NameId>, (i64, i64)>,
    room: Room,
}

type Edge<N> = (Option<N>, N, N);

/// Bytes that an edge takes at most beside its names, while its table grows.
const PER_EDGE: usize = 120;

impl Differences {
    fn new() -> Differences {
        Differences { names: Names::default(), rows: Table::default(), room: Room::new() }
    }

    /// The rows of an edge. 53400, 53200.
    fn of(&mut self, tree: Option<&[u8]>, parent: &[u8], child: &[u8]) -> Fallible<&mut (i64, i64)> {
        let Differences { names, rows, room } = self;
        let tree = tree.map(|tree| named(names, tree, room)).transpose()?;
        let edge = (tree, named(names, parent, room)?, named(names, child, room)?);
        let (counts, is_new) = rows.entry(edge, || (0, 0))?;
        if is_new {
            room.take(PER_EDGE)?;
        }
        Ok(counts)
    }
}

/// `cft_verify(edges regclass)`: broken invariants of the image, and edges whose rows differ in number between table and image under
/// the caller's snapshot. No row: sound. Where the image would not serve this caller a NOTICE says why, and there are no rows.
/// Holds the image's lock in shared mode while the invariants are checked: commits that change the table wait (a second per million
/// edges), or until it is cancelled. Errors: as cft_context; 53400 (cftrag.work_memory).
#[pg_extern(sql = false)]
fn cft_verify(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let rows = call.rows();
    call.oid(0).ok_or_else(|| error::null_argument("edges"))?;
    let (table, registration, columns, functions) = context::open(&call, 0)?;
    let (broken, mut edges) = loop {
        let mut ticket = match route::route(&table, &registration, &columns, functions) {
            Ok(ticket) => ticket,
            Err(Reason::Privilege) => return Err(error::no_privilege(&table.name())),
            Err(reason) => {
                error::notice_not_verified(&table.name(), route::REASONS[reason as usize]);
                return Ok(());
            }
        };
        // If another image has taken the place of the ticket's, it is that one's turn, or it is too new for this snapshot.
        if let Ok(found) = look(&mut ticket) {
            break found?;
        }
        check_for_interrupts!();
    };
    for (invariant, text) in broken {
        add(rows, &format!("broken invariant I{invariant}: {text}"), None, None);
    }
    // SAFETY: a snapshot is active in every SQL function.
    build::scan(&table, &columns, unsafe { pg_sys::GetActiveSnapshot() }, |edge| {
        edges.of(edge.tree, edge.parent, edge.child)?.0 += 1;
        Ok(())
    })?;
    let name = |id| edges.names.get(id);
    for (i, (&(tree, parent, child), &counts)) in edges.rows.iter().enumerate() {
        if i % BATCH == 0 {
            check_for_interrupts!();
        }
        if counts.0 != counts.1 {
            add(rows, "rows differ", Some((tree.map(name), name(parent), name(child))), Some(counts));
        }
    }
    Ok(())
}

/// The image's broken invariants, and its rows that the snapshot sees: all of one image.
type Look = (Vec<(u32, String)>, Differences);

fn look(ticket: &mut Ticket) -> Result<Fallible<Look>, Reason> {
    let broken = loop {
        let mut broken = Vec::new();
        let mut verify = |breath: &mut Breath<'_>, image: Image<'_>| {
            image.verify_by(&mut |p| broken.push((p.invariant, p.text)), breath)
        };
        match ticket.read(|image, _| until_cancelled(|breath| verify(breath, image)))? {
            Some(()) => break broken,
            None => methods::breathe(),
        }
    };
    // One reading under the lock; again if it met xids that it did not know.
    loop {
        let (mut scan, mut edges, mut failed) = (Scan::new(), Differences::new(), Ok(()));
        let mut read = |breath: &mut Breath<'_>, image: Image<'_>, seen: &Seen| {
            loop {
                let step = image.edges(&mut scan, usize::MAX, seen, |tree, parent, child| {
                    breath.steps(8 + (parent.len() + child.len()) / 16);
                    if failed.is_ok() {
                        failed = edges.of(tree, parent, child).map(|rows| rows.1 += 1);
                    }
                });
                if step != Step::More {
                    return step;
                }
            }
        };
        let step = ticket.read(|image, seen| until_cancelled(|breath| read(breath, image, seen)))?;
        if let Err(why) = failed {
            return Ok(Err(why));
        }
        match step {
            Some(Step::Done) => return Ok(Ok((broken, edges))),
            Some(_) => ticket.learn(scan.asked())?,
            None => methods::breathe(),
        }
    }
}

fn add(rows: Rows, problem: &str, edge: Option<Edge<&[u8]>>, counts: Option<(i64, i64)>) {
    let none = pg_sys::Datum::from(0usize);
    let tree = edge.and_then(|e| e.0);
    let mut values = [
        text_datum(problem.as_bytes()),
        tree.map_or(none, text_datum),
        edge.map_or(none, |e| text_datum(e.1)),
        edge.map_or(none, |e| text_datum(e.2)),
        counts.map_or(none, |c| pg_sys::Datum::from(c.0)),
        counts.map_or(none, |c| pg_sys::Datum::from(c.1)),
    ];
    let mut nulls = [false, tree.is_none(), edge.is_none(), edge.is_none(), counts.is_none(), counts.is_none()];
    rows.add(&mut values, &mut nulls);
}
