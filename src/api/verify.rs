//! cft_verify: compares the image with what the caller's snapshot sees in the table, and checks the image's own invariants.
//!
//! A read under AccessShareLock. Copying the image's bytes holds its lock shared, and releases it when a writer comes.
//! The rows of table and image are compared by sums of their hashes, in buckets; only those of buckets that differ are
//! then counted one by one. So what counts towards cftrag.work_memory is the copy, and what differs.

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
use crate::pg::interrupt::{ROWS_BETWEEN_CHECKS, check_interrupts};
use crate::serve::conditions::Ticket;
use crate::serve::route;
use cftrag_core::{
    HeapMemory, Image, Interruptible, LABELS, MORE_LABELS, NameId, Names, NoRoom, OTHER_NAMES, Scan, Step, chunk_bytes,
    label_of,
};
use pgrx::check_for_interrupts;
use pgrx::prelude::*;
use std::hash::{BuildHasher, RandomState};

/// The number of rows of each edge, in the table and in the image.
struct Differences {
    names: Names,
    rows: Table<Edge<NameId>, (i64, i64)>,
    room: Room,
}

type Edge<N> = (Option<N>, N, N);

/// The most bytes that an edge takes besides its names, while the hash table grows.
const PER_EDGE: usize = 120;

impl Differences {
    fn new() -> Differences {
        Differences { names: Names::default(), rows: Table::default(), room: Room::new() }
    }

    /// Zeroes the counts of the image, and keeps the names.
    fn forget(&mut self) {
        self.rows.0.iter_mut().flatten().for_each(|(_, counts)| counts.1 = 0);
    }

    /// The counts of an edge. 53400, 53200.
    fn of(&mut self, (tree, parent, child): Edge<&[u8]>) -> Fallible<&mut (i64, i64)> {
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

/// Buckets of sums: what differs is looked for among a 65,536th of the rows.
const BUCKETS: usize = 1 << 16;

/// For each bucket the sums of the hashes of its rows, in the table and in the image. The hash has a random key: two
/// different sets of rows have the same sum once in 2^64.
struct Sums {
    hasher: RandomState,
    buckets: Vec<(u64, u64)>,
}

impl Sums {
    /// 53400, 53200.
    fn new(room: &mut Room) -> Fallible<Sums> {
        let mut buckets = work_memory::list(BUCKETS, room)?;
        buckets.resize(BUCKETS, (0, 0));
        Ok(Sums { hasher: RandomState::new(), buckets })
    }

    fn hash(&self, edge: Edge<&[u8]>) -> (usize, u64) {
        let hash = self.hasher.hash_one(edge);
        (hash as usize % BUCKETS, hash)
    }

    fn add_of_table(&mut self, edge: Edge<&[u8]>) {
        let (bucket, hash) = self.hash(edge);
        self.buckets[bucket].0 = self.buckets[bucket].0.wrapping_add(hash);
    }

    fn add_of_image(&mut self, edge: Edge<&[u8]>) {
        let (bucket, hash) = self.hash(edge);
        self.buckets[bucket].1 = self.buckets[bucket].1.wrapping_add(hash);
    }

    fn forget_image(&mut self) {
        self.buckets.iter_mut().for_each(|sums| sums.1 = 0);
    }

    fn are_same(&self) -> bool {
        self.buckets.iter().all(|(table, image)| table == image)
    }

    fn differ_for(&self, edge: Edge<&[u8]>) -> bool {
        let (table, image) = self.buckets[self.hash(edge).0];
        table != image
    }
}

/// `cft_verify(edges regclass)`: broken invariants of the image, and edges with different numbers of rows in table and image under
/// the caller's snapshot. No row means sound. If the image would not serve this caller, a NOTICE says why, and there are no rows.
/// Checks a copy, which starts over when a writer comes, so no commit waits for it. Errors: as cft_context; 53400
/// (cftrag.work_memory); 55006 (writers left no time for a copy).
#[pg_extern(sql = false)]
fn cft_verify(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let rows = call.rows();
    call.oid(0).ok_or_else(|| error::null_argument("edges"))?;
    let of = AttachedTable::of_any(call.function(), call.oid(0))?;
    let (broken, edges) = loop {
        let mut ticket = match route::route(&of) {
            Ok(ticket) => ticket,
            Err(Reason::Privilege) => return Err(error::no_privilege(&of.table.name())),
            Err(reason) => {
                error::notice_not_verified(&of.table.name(), reason::REASONS[reason as usize]);
                return Ok(());
            }
        };
        // Another image has replaced the ticket's: try that one, or learn that it is too new for this snapshot.
        if let Ok(found) = look(&of, &mut ticket) {
            break found?;
        }
        check_for_interrupts!();
    };
    for (invariant, text) in broken {
        add(rows, &format!("broken invariant I{invariant}: {text}"), None, None);
    }
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

/// Memory of [`cftrag_core::Image::verify_by`]: this for each entity and tree, and a byte for every `BYTES_A_BYTE` of the image. Measured, plus a
/// third.
const BYTES_PER_NAME: u64 = 300;

const BYTES_A_BYTE: u64 = 4;

/// Attempts to copy the image: copying a million edges takes some 20 ms, and a writer that comes meanwhile ends the attempt.
const COPIES: u32 = 200;

/// The result of a step under the lock.
enum Look {
    Copied,
    /// The copy needs that many chunks.
    Chunks(usize),
    /// A writer waits, or an interrupt is pending.
    Left,
}

/// Takes a consistent copy of the image, counted in `room`. 55006 if writers left no time for it.
fn copy(of: &AttachedTable, ticket: &Ticket, room: &mut Room) -> Result<Fallible<HeapMemory>, Reason> {
    let (slot, mut copy) = (ticket.control.slot(ticket.index), HeapMemory::new(usize::MAX));
    for _ in 0..COPIES {
        let mut go_on = || !slot.is_wanted() && !interrupt::is_cancelled();
        let look = ticket.read(|image, _| match image.chunks() {
            chunks if chunks > copy.mapped() => Look::Chunks(chunks),
            _ if image.copy_to(&mut copy, &mut go_on) => Look::Copied,
            _ => Look::Left,
        })?;
        match look {
            Look::Copied => return Ok(Ok(copy)),
            Look::Chunks(chunks) => {
                for chunk in copy.mapped()..chunks {
                    check_for_interrupts!();
                    let taken = room.take(chunk_bytes(chunk));
                    if let Err(why) = taken {
                        return Ok(Err(why));
                    }
                    if !copy.grow() {
                        return Ok(Err(error::no_room(NoRoom::Memory(chunk_bytes(chunk)))));
                    }
                }
            }
            Look::Left => ticket.pause(),
        }
    }
    Ok(Err(error::written_all_the_time(&of.table.name())))
}

/// The image's broken invariants, all from one copy, and the edges of buckets that differ.
type Found = (Vec<(u32, String)>, Differences);

fn look(of: &AttachedTable, ticket: &mut Ticket) -> Result<Fallible<Found>, Reason> {
    let mut edges = Differences::new();
    let memory = match copy(of, ticket, &mut edges.room)? {
        Ok(memory) => memory,
        Err(why) => return Ok(Err(why)),
    };
    let image = match Image::open(&memory) {
        Ok(image) => image,
        Err(why) => return Ok(Err(error::core(&why))),
    };
    // The memory of the check itself grows with the image: do not begin without it.
    let stats = image.stats();
    let bytes = (stats.entities + stats.trees) * BYTES_PER_NAME + stats.bytes_published / BYTES_A_BYTE;
    if let Err(why) = work_memory::is_there(bytes as usize) {
        return Ok(Err(why));
    }
    let (mut broken, mut check) = (Vec::new(), check_interrupts);
    let work = &mut Interruptible::new(&mut check);
    image.verify_by(&mut |p| broken.push((p.invariant, p.text)), work);
    let mut sums = match Sums::new(&mut edges.room) {
        Ok(sums) => sums,
        Err(why) => return Ok(Err(why)),
    };
    let summed = each_of_image(image, ticket, &mut sums, Sums::forget_image, |sums, edge| {
        sums.add_of_image(edge);
        Ok(())
    })?;
    let summed = summed.and_then(|()| {
        each_of_table(of, |edge| {
            sums.add_of_table(edge);
            Ok(())
        })
    });
    if let Err(why) = summed {
        return Ok(Err(why));
    }
    if sums.are_same() {
        return Ok(Ok((broken, edges)));
    }
    let counted = each_of_image(image, ticket, &mut edges, Differences::forget, |edges, edge| {
        if sums.differ_for(edge) { edges.of(edge).map(|rows| rows.1 += 1) } else { Ok(()) }
    })?;
    let counted = counted.and_then(|()| {
        each_of_table(of, |edge| if sums.differ_for(edge) { edges.of(edge).map(|rows| rows.0 += 1) } else { Ok(()) })
    });
    Ok(counted.map(|()| (broken, edges)))
}

/// Passes each edge of the table that the caller's snapshot sees to `each`.
fn each_of_table(of: &AttachedTable, mut each: impl FnMut(Edge<&[u8]>) -> Fallible<()>) -> Fallible<()> {
    // SAFETY: a snapshot is active in every SQL function.
    let snapshot = unsafe { pg_sys::GetActiveSnapshot() };
    load::scan(&of.table, &of.columns, snapshot, None, |edge| each((edge.tree, edge.parent, edge.child)))
}

/// Passes each edge of a copied image that the caller's snapshot sees to `each`. Begins anew, after `forget`, once at most: when it has learned the xids that the
/// snapshot does not know.
fn each_of_image<T>(
    image: Image<'_>,
    ticket: &mut Ticket,
    into: &mut T,
    forget: impl Fn(&mut T),
    mut each: impl FnMut(&mut T, Edge<&[u8]>) -> Fallible<()>,
) -> Result<Fallible<()>, Reason> {
    let mut scan = Scan::new();
    loop {
        let mut failed = Ok(());
        let step = image.edges(&mut scan, ROWS_BETWEEN_CHECKS, ticket.seen(), |tree, parent, child| {
            if failed.is_ok() {
                failed = each(into, (tree, parent, child));
            }
        });
        if failed.is_err() {
            return Ok(failed);
        }
        match step {
            Step::Done => return Ok(Ok(())),
            Step::More => {
                check_for_interrupts!();
            }
            Step::Ask => {
                ticket.learn(scan.asked())?;
                scan.restart();
                forget(into);
            }
        }
    }
}

/// A row of the result. A label is shown as the parent of its entity, without a tree.
fn add(rows: Rows, problem: &str, edge: Option<Edge<&[u8]>>, counts: Option<(i64, i64)>) {
    let (problem, edge) = match edge {
        Some((Some(LABELS | MORE_LABELS | OTHER_NAMES), label, entity)) => {
            ("labels differ", Some((None, label_of(label).unwrap_or(label), entity)))
        }
        edge => (problem, edge),
    };
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
