//! cft_verify: compares the image with what the caller's snapshot sees in the table, and checks the image's own invariants.
//!
//! The owner's. A read under AccessShareLock: what is compared is counted in cftrag.work_memory, `PER_EDGE` bytes an edge.

#![expect(unsafe_code, reason = "locks and snapshots")]

use crate::builds::load;
use crate::call::fmgr::{Call, Rows, text_datum};
use crate::call::work_memory;
use crate::call::work_memory::Room;
use crate::catalog::attached_table::AttachedTable;
use crate::error;
use crate::error::Fallible;
use crate::image::reason;
use crate::image::reason::Reason;
use crate::methods::big_map::Table;
use crate::methods::breadth_first::named;
use crate::pg::interrupt;
use crate::pg::interrupt::{ROWS_BETWEEN_CHECKS, until_cancelled};
use crate::pg::snapshot::SnapshotView;
use crate::serve::conditions::Ticket;
use crate::serve::route;
use cftrag_core::{Image, Interruptible, NameId, Names, Scan, Step};
use pgrx::check_for_interrupts;
use pgrx::prelude::*;

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
    let of = AttachedTable::open(&call, 0)?;
    let (broken, mut edges) = loop {
        let mut ticket = match route::route(&of) {
            Ok(ticket) => ticket,
            Err(Reason::Privilege) => return Err(error::no_privilege(&of.table.name())),
            Err(reason) => {
                error::notice_not_verified(&of.table.name(), reason::REASONS[reason as usize]);
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
    load::scan(&of.table, &of.columns, unsafe { pg_sys::GetActiveSnapshot() }, None, |edge| {
        edges.of(edge.tree, edge.parent, edge.child)?.0 += 1;
        Ok(())
    })?;
    let name = |id| edges.names.get(id);
    for (i, (&(tree, parent, child), &counts)) in edges.rows.iter().enumerate() {
        if i % ROWS_BETWEEN_CHECKS == 0 {
            check_for_interrupts!();
        }
        if counts.0 != counts.1 {
            add(rows, "rows differ", Some((tree.map(name), name(parent), name(child))), Some(counts));
        }
    }
    Ok(())
}

/// Memory of [`cftrag_core::Image::verify_by`]: so many bytes for each entity and tree, and one for so many of the image. Measured, and a third more.
const BYTES_PER_NAME: u64 = 300;

const BYTES_A_BYTE: u64 = 4;

/// The image's broken invariants, and its rows that the snapshot sees: all of one image.
type Look = (Vec<(u32, String)>, Differences);

fn look(ticket: &mut Ticket) -> Result<Fallible<Look>, Reason> {
    // What the check itself makes grows with the image: it is there, or nothing is begun.
    let stats = ticket.read(|image, _| image.stats())?;
    let bytes = (stats.entities + stats.trees) * BYTES_PER_NAME + stats.bytes_published / BYTES_A_BYTE;
    if let Err(why) = work_memory::is_there(bytes as usize) {
        return Ok(Err(why));
    }
    let broken = loop {
        let mut broken = Vec::new();
        let mut verify = |work: &mut Interruptible<'_>, image: Image<'_>| {
            image.verify_by(&mut |p| broken.push((p.invariant, p.text)), work)
        };
        match ticket.read(|image, _| until_cancelled(|work| verify(work, image)))? {
            Some(()) => break broken,
            None => interrupt::check_interrupts(),
        }
    };
    // One reading under the lock; again if it met xids that it did not know.
    loop {
        let (mut scan, mut edges, mut failed) = (Scan::new(), Differences::new(), Ok(()));
        let mut read = |work: &mut Interruptible<'_>, image: Image<'_>, seen: &SnapshotView| {
            loop {
                let step = image.edges(&mut scan, usize::MAX, seen, |tree, parent, child| {
                    work.steps(8 + (parent.len() + child.len()) / 16);
                    if failed.is_ok() {
                        failed = edges.of(tree, parent, child).map(|rows| rows.1 += 1);
                    }
                });
                if step != Step::More {
                    return step;
                }
            }
        };
        let step = ticket.read(|image, seen| until_cancelled(|work| read(work, image, seen)))?;
        if let Err(why) = failed {
            return Ok(Err(why));
        }
        match step {
            Some(Step::Done) => return Ok(Ok((broken, edges))),
            Some(_) => ticket.learn(scan.asked())?,
            None => interrupt::check_interrupts(),
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
