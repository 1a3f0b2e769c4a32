//! cft_verify: compares the image with what the caller's snapshot sees in the table, and checks the image's own
//! invariants.
//!
//! A read under AccessShareLock, in memory that does not grow with the table, but for 3 bytes per 64 of the image. The
//! image is checked in a copy in a temporary file (serve/copied.rs). The rows of table and image are compared by sums
//! of their hashes, in buckets; only those of buckets that differ are read again, and sorted, on disk past
//! maintenance_work_mem.

use crate::builds::{builder, load};
use crate::call::fmgr::{Call, Rows, text_datum};
use crate::catalog::attached_table::AttachedTable;
use crate::error;
use crate::error::Fallible;
use crate::image::reason;
use crate::image::reason::Reason;
use crate::image::slot::{VERIFYING_IMAGE, VERIFYING_ROWS_OF_IMAGE, VERIFYING_ROWS_OF_TABLE};
use crate::pg::interrupt::{ROWS_BETWEEN_CHECKS, check_interrupts};
use crate::pg::snapshot::with_active;
use crate::pg::sort::{Bytes, Pairs, Sort};
use crate::serve::conditions::Ticket;
use crate::serve::{copied, route};
use cftrag_core::{Image, Interruptible, LABELS, MORE_LABELS, OTHER_NAMES, Scan, Sorter, Step, label_of};
use pgrx::check_for_interrupts;
use pgrx::prelude::*;
use std::hash::{BuildHasher, RandomState};

pub type Edge<'n> = (Option<&'n [u8]>, &'n [u8], &'n [u8]);

/// The rows of buckets that differ, each as bytes: the lengths of its tree (plus 1; 0 is none) and its parent, its
/// names, and its source. So rows of one edge are together, those of the table first.
pub struct Differences {
    sort: Sort<Bytes>,
    row: Vec<u8>,
}

const OF_TABLE: u8 = 0;

const OF_IMAGE: u8 = 1;

/// Bytes of a row before its names.
const LENGTHS: usize = 8;

/// PostgreSQL's longest value is a little longer.
const ROW_MAX: usize = (1 << 30) - 64;

impl Differences {
    fn new() -> Self {
        Self { sort: Sort::new(1), row: Vec::new() }
    }

    /// 53400, 53200.
    fn add(&mut self, (tree, parent, child): Edge<'_>, source: u8) -> Fallible<()> {
        let of_tree = tree.unwrap_or_default();
        let bytes = LENGTHS + of_tree.len() + parent.len() + child.len() + 1;
        if bytes > ROW_MAX {
            return Err(error::too_large_to_work(ROW_MAX));
        }
        self.row.clear();
        self.row.try_reserve(bytes).map_err(|_| error::no_memory_to_work(bytes))?;
        let lengths = [tree.map_or(0, |tree| tree.len() as u32 + 1), parent.len() as u32];
        lengths.iter().for_each(|length| self.row.extend(length.to_be_bytes()));
        [of_tree, parent, child, &[source]].iter().for_each(|name| self.row.extend_from_slice(name));
        self.sort.add(&self.row);
        Ok(())
    }

    /// Passes each edge that has another number of rows in the table than in the image, with both numbers.
    pub fn each(mut self, mut each: impl FnMut(Edge<'_>, (i64, i64))) {
        self.sort.sort();
        let (last, mut counts) = (&mut self.row, (0, 0));
        last.clear();
        let mut tell = |last: &[u8], counts: (i64, i64)| {
            if counts.0 != counts.1 {
                each(edge_of(last), counts);
            }
        };
        let mut rows = 0;
        while let Some(row) = self.sort.next() {
            let [edge @ .., source] = row else { unreachable!("a row has its source") };
            if edge != last.as_slice() {
                tell(last, std::mem::take(&mut counts));
                last.clear();
                last.extend_from_slice(edge); // bounded: one row
            }
            match *source {
                OF_TABLE => counts.0 += 1,
                _ => counts.1 += 1,
            }
            rows += 1;
            if rows % ROWS_BETWEEN_CHECKS == 0 {
                check_for_interrupts!();
            }
        }
        tell(last, counts);
        self.sort.end();
    }
}

/// The edge of a row without its source.
fn edge_of(row: &[u8]) -> Edge<'_> {
    let (lengths, names) = row.split_at(LENGTHS);
    let length = |i: usize| u32::from_be_bytes([lengths[i], lengths[i + 1], lengths[i + 2], lengths[i + 3]]) as usize;
    let (tree, rest) = names.split_at(length(0).saturating_sub(1));
    let (parent, child) = rest.split_at(length(4));
    ((length(0) > 0).then_some(tree), parent, child)
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
    fn new() -> Sums {
        Sums { hasher: RandomState::new(), buckets: vec![(0, 0); BUCKETS] } // bounded: 1 MB
    }

    fn hash(&self, edge: Edge<'_>) -> (usize, u64) {
        let hash = self.hasher.hash_one(edge);
        (hash as usize % BUCKETS, hash)
    }

    fn add_of_table(&mut self, edge: Edge<'_>) {
        let (bucket, hash) = self.hash(edge);
        self.buckets[bucket].0 = self.buckets[bucket].0.wrapping_add(hash);
    }

    fn add_of_image(&mut self, edge: Edge<'_>) {
        let (bucket, hash) = self.hash(edge);
        self.buckets[bucket].1 = self.buckets[bucket].1.wrapping_add(hash);
    }

    fn forget_image(&mut self) {
        self.buckets.iter_mut().for_each(|sums| sums.1 = 0);
    }

    fn are_same(&self) -> bool {
        self.buckets.iter().all(|(table, image)| table == image)
    }

    fn differ_for(&self, edge: Edge<'_>) -> bool {
        let (table, image) = self.buckets[self.hash(edge).0];
        table != image
    }
}

/// `cft_verify(edges regclass)`: broken invariants of the image, and edges with different numbers of rows in table and
/// image under the caller's snapshot. No row means sound. If the image would not serve this caller, a NOTICE says why,
/// and there are no rows. Checks a copy, for which no commit waits. Errors: as cft_context; 53400 (temp_file_limit);
/// 55006 (writers left no time for a copy).
#[pg_extern(sql = false)]
fn cft_verify(call: Call) -> Fallible<()> {
    let rows = call.rows();
    call.oid(0).ok_or_else(|| error::null_argument("edges"))?;
    let of = AttachedTable::of_any(call.function(), call.oid(0))?;
    let (broken, differences) = loop {
        let mut ticket = match route::route(&of) {
            Ok(ticket) => ticket,
            Err(Reason::Privilege) => return Err(error::no_privilege(&of.table.name())),
            Err(reason) => {
                error::notice_not_verified(&of.table.name(), reason::REASONS[reason as usize]);
                return Ok(());
            }
        };
        // Another image has replaced the ticket's: try that one, or learn that it is too new for this snapshot.
        if let Ok(found) = compare(&of, &mut ticket, None) {
            break found?;
        }
        check_for_interrupts!();
    };
    for (invariant, text) in broken {
        add(rows, &format!("broken invariant I{invariant}: {text}"), None, None);
    }
    if let Some(differences) = differences {
        differences.each(|edge, counts| add(rows, "rows differ", Some(edge), Some(counts)));
    }
    Ok(())
}

/// The image's broken invariants, and the rows of buckets that differ, if any does.
pub type Outcome = (Vec<(u32, String)>, Option<Differences>);

/// Compares the ticket's image with the table. If `lock` is given, fails when another session waits for it. NoImage if
/// another image has replaced it.
pub fn compare(
    of: &AttachedTable,
    ticket: &mut Ticket,
    lock: Option<pg_sys::LOCKMODE>,
) -> Result<Fallible<Outcome>, Reason> {
    let progress = ticket.control.slot(ticket.index).verify();
    progress.begin(VERIFYING_IMAGE, 0);
    let copy = match copied::copy(ticket)? {
        Ok(Some(copy)) => copy,
        Ok(None) => return Ok(Err(error::written_all_the_time(&of.table.name()))),
        Err(why) => return Ok(Err(why)),
    };
    let image = match Image::open(copy.memory()) {
        Ok(image) => image,
        Err(why) => return Ok(Err(error::core(&why))),
    };
    let mut broken = Vec::new();
    let mut check = || {
        check_interrupts();
        if let Some(Err(why)) = lock.map(|lock| builder::give_way(&of.table, lock)) {
            why.report(PgLogLevel::ERROR);
        }
    };
    let (mut first, mut second) = (Sorted::new(), Sorted::new());
    let work = &mut Interruptible::new(&mut check);
    image.verify_by(&mut |p| broken.push((p.invariant, p.text)), work, [&mut first, &mut second]);
    let mut sums = Sums::new();
    let rows = image.stats().edge_rows;
    progress.begin(VERIFYING_ROWS_OF_IMAGE, rows);
    let summed = each_of_image(image, ticket, &mut sums, Sums::forget_image, |sums, edge| {
        progress.row();
        sums.add_of_image(edge);
        Ok(())
    })?;
    let summed = summed.and_then(|()| {
        progress.begin(VERIFYING_ROWS_OF_TABLE, rows);
        each_of_table(of, lock, |edge| {
            progress.row();
            sums.add_of_table(edge);
            Ok(())
        })
    });
    if let Err(why) = summed {
        return Ok(Err(why));
    }
    if sums.are_same() {
        return Ok(Ok((broken, None)));
    }
    let mut rows = Differences::new();
    let forget = |rows: &mut Differences| *rows = Differences::new();
    let added = each_of_image(image, ticket, &mut rows, forget, |rows, edge| {
        if sums.differ_for(edge) { rows.add(edge, OF_IMAGE) } else { Ok(()) }
    })?;
    let added = added.and_then(|()| {
        each_of_table(of, lock, |edge| if sums.differ_for(edge) { rows.add(edge, OF_TABLE) } else { Ok(()) })
    });
    Ok(added.map(|()| (broken, Some(rows))))
}

/// A sorter of the core's check, of which two have half of maintenance_work_mem each.
struct Sorted {
    sort: Option<Sort<Pairs>>,
    is_sorted: bool,
}

impl Sorted {
    fn new() -> Self {
        Self { sort: None, is_sorted: false }
    }
}

impl Sorter for Sorted {
    fn add(&mut self, pair: (u64, u64)) {
        self.sort.get_or_insert_with(|| Sort::new(2)).add(pair);
    }

    fn next(&mut self) -> Option<(u64, u64)> {
        let sort = self.sort.as_mut()?;
        if !std::mem::replace(&mut self.is_sorted, true) {
            sort.sort();
        }
        let next = sort.next();
        if next.is_none() {
            self.is_sorted = false;
            self.sort.take().into_iter().for_each(Sort::end);
        }
        next
    }
}

/// Passes each edge of the table that the caller's snapshot sees to `each`.
fn each_of_table(
    of: &AttachedTable,
    lock: Option<pg_sys::LOCKMODE>,
    mut each: impl FnMut(Edge<'_>) -> Fallible<()>,
) -> Fallible<()> {
    let each = |edge: &cftrag_core::Edge<'_>| each((edge.tree, edge.parent, edge.child));
    with_active(|snapshot| load::scan(&of.table, &of.columns, snapshot, lock, each))
}

/// Passes each edge of a copied image that the caller's snapshot sees to `each`. Begins anew, after `forget`, once at
/// most: when it has learned the xids that the snapshot does not know.
fn each_of_image<T>(
    image: Image<'_>,
    ticket: &mut Ticket,
    into: &mut T,
    forget: impl Fn(&mut T),
    mut each: impl FnMut(&mut T, Edge<'_>) -> Fallible<()>,
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
fn add(rows: Rows, problem: &str, edge: Option<Edge<'_>>, counts: Option<(i64, i64)>) {
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
