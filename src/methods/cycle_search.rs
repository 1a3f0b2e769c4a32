//! Finds out by the table's own indexes whether an edge closes a cycle. cft_reject_cycles needs this for each row, so
//! it runs no statement.
//! ```text
//!   ... --> parent's parents --> parent --(the edge)--> child --> child's children --> ...
//!           <-- a row at a time                              a row at a time -->
//! ```
//!
//! An edge closes a cycle if its parent is below its child. The searches up and down take turns; if they meet, it may
//! close one; if one of them ends, it closes none. So a row costs about as much as the smaller side: two index lookups
//! for a new leaf, and for a new root. With an index on one of the columns only that search runs.
//!
//! If it closes one, we look for the shortest way up to the child, and whether the edge is (still) there, with the
//! index on the child column. With only the index on the parent column, as without any, the definition (sql/cycle.sql)
//! decides.
//!
//! The searches see all rows that the snapshot sees, even those hidden from the caller, so not every caller is told
//! what they found.

#![expect(unsafe_code, reason = "index scans")]

use crate::call::work_memory::Room;
use crate::catalog::column_value;
use crate::catalog::columns::{Column, Columns};
use crate::catalog::edges_table::EdgesTable;
use crate::error::Fallible;
use crate::pg::invalidation;
use crate::pg::invalidation::Cached;
use pgrx::{check_for_interrupts, pg_sys};
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::ffi::CString;

/// Rows between two checks for interrupts.
const STEPS_BETWEEN_CHECKS: u32 = 1000;

/// Bytes that a met entity takes besides its name, which is stored twice: in a hash table at most half full, and in a
/// list.
const MET: usize = 150;

/// Bytes that the search for the shortest way takes to note which entity led to a met one.
const LED: usize = 200;

/// An index whose first column is the one to search by.
#[derive(Clone, Copy)]
pub struct Index {
    oid: pg_sys::Oid,
    collation: pg_sys::Oid,
    /// The function of its "=" operator.
    equal: pg_sys::Oid,
}

/// The indexes on a table's child and parent columns.
type Indexes = [Option<Index>; 2];

thread_local! {
    /// The indexes of the table used last.
    static KEPT: Cached<(pg_sys::Oid, Columns), Indexes> = const { Cached::new(1, invalidation::relations) };
}

/// Whether an edge closes a cycle.
pub enum Verdict {
    No,
    /// The edge closes a cycle. Holds the entity below each entity above the parent that was met on the way to the
    /// child.
    Yes(Below),
    /// The indexes cannot decide it.
    Unknown,
}

/// Maps each entity to the one below it. If several lead to it at the same distance from the parent, the smallest by
/// bytes counts, as in cft_context's via.
pub type Below = HashMap<Vec<u8>, Vec<u8>>;

/// Returns whether the edge closes a cycle. 53400 if the searches need more than cftrag.work_memory.
///
/// # Safety
/// The columns are the table's and hold names; a snapshot is active.
pub unsafe fn closes(
    table: &EdgesTable,
    columns: &Columns,
    tree: Option<&[u8]>,
    parent: &[u8],
    child: &[u8],
) -> Fallible<Verdict> {
    let textual = |column: Column| [pg_sys::TEXTOID, pg_sys::VARCHAROID].map(u32::from).contains(&column.type_oid);
    let alike = columns.parent.type_oid == columns.child.type_oid || textual(columns.parent) && textual(columns.child);
    // SAFETY: the caller's promise.
    let [above, below] = unsafe { indexes(table, columns) };
    if !alike || (above.is_none() && below.is_none()) {
        return Ok(Verdict::Unknown);
    }
    let up = |start: &[u8]| above.map(|index| Search::new(index, columns.child, columns.parent, start));
    let down = below.map(|index| Search::new(index, columns.parent, columns.child, child));
    // SAFETY: as above.
    unsafe {
        if parent != child && !meet(up(parent), down, table, columns, tree, parent, child)? {
            return Ok(Verdict::No);
        }
        let (Some(way), Some(rows)) = (up(parent), up(child)) else { return Ok(Verdict::Unknown) };
        match way.shortest(table, columns.tree, tree, child)? {
            Some(below) if rows.has(table, columns.tree, tree, parent) => Ok(Verdict::Yes(below)),
            _ => Ok(Verdict::No),
        }
    }
}

/// Whether the searches up from the parent and down from the child meet.
///
/// # Safety
/// As for [`closes`].
unsafe fn meet(
    mut up: Option<Search>,
    mut down: Option<Search>,
    table: &EdgesTable,
    columns: &Columns,
    tree: Option<&[u8]>,
    parent: &[u8],
    child: &[u8],
) -> Fallible<bool> {
    let (mut pace, mut room) = (Pace::default(), Room::new());
    let meet = loop {
        // SAFETY: the caller's promise.
        let turned = unsafe {
            match turn(&mut up, &down, child, table, columns, tree, &mut room) {
                Ok(None) => turn(&mut down, &up, parent, table, columns, tree, &mut room),
                met => met,
            }
        };
        match turned {
            Ok(None) => pace.step(),
            Ok(Some(meet)) => break Ok(meet),
            Err(error) => break Err(error),
        }
    };
    [up, down].into_iter().flatten().for_each(Search::end);
    meet
}

/// Checks for interrupts now and then.
#[derive(Default)]
struct Pace(pub u32);

impl Pace {
    fn step(&mut self) {
        self.0 += 1;
        if self.0.is_multiple_of(STEPS_BETWEEN_CHECKS) {
            check_for_interrupts!();
        }
    }
}

/// Reads a row of one search. Returns whether the searches meet, once that is known; meeting the other end of the edge
/// counts.
///
/// # Safety
/// As for [`closes`].
unsafe fn turn(
    side: &mut Option<Search>,
    other: &Option<Search>,
    end: &[u8],
    table: &EdgesTable,
    columns: &Columns,
    tree: Option<&[u8]>,
    room: &mut Room,
) -> Fallible<Option<bool>> {
    let Some(side) = side.as_mut() else { return Ok(None) };
    // SAFETY: the caller's promise.
    match unsafe { side.next(table, columns.tree, tree) } {
        Next::End => Ok(Some(false)),
        Next::Nothing => Ok(None),
        Next::Found(name) => {
            if name == end || other.as_ref().is_some_and(|other| other.met.contains(&name)) {
                return Ok(Some(true));
            }
            room.take(MET + 2 * name.len())?;
            side.met.insert(name.clone());
            side.left.push(name);
            Ok(None)
        }
    }
}

/// A search from one end of the edge.
struct Search {
    index: Index,
    /// The column to search by, and the column that leads on.
    from: Column,
    to: Column,
    met: HashSet<Vec<u8>>,
    /// Entities that were met and not searched for yet.
    left: Vec<Vec<u8>>,
    /// The entity being searched for, and its scan.
    at: Option<(Vec<u8>, pg_sys::SysScanDesc)>,
}

pub enum Next {
    Found(Vec<u8>),
    /// A row that leads nowhere new, or the beginning or end of a scan.
    Nothing,
    End,
}

impl Search {
    fn new(index: Index, from: Column, to: Column, start: &[u8]) -> Search {
        let met = HashSet::from([start.to_vec()]);
        Search { index, from, to, met, left: vec![start.to_vec()], at: None }
    }

    /// Searches level by level, each in the order of its names, up to `end`; returns what led to each entity. None if
    /// `end` is not met.
    ///
    /// # Safety
    /// As for [`closes`].
    unsafe fn shortest(
        mut self,
        table: &EdgesTable,
        tree_column: Column,
        tree: Option<&[u8]>,
        end: &[u8],
    ) -> Fallible<Option<Below>> {
        let (mut found, mut pace, mut room) = (Below::new(), Pace::default(), Room::new());
        let mut level = std::mem::take(&mut self.left);
        if level.iter().any(|start| start == end) {
            return Ok(Some(found));
        }
        while !level.is_empty() {
            level.sort_unstable();
            for name in std::mem::take(&mut level) {
                self.left.push(name.clone());
                loop {
                    // SAFETY: the caller's promise.
                    match unsafe { self.next(table, tree_column, tree) } {
                        Next::End => break,
                        Next::Nothing => {}
                        Next::Found(to) => {
                            if let Err(error) = room.take(MET + LED + 3 * to.len() + name.len()) {
                                self.end();
                                return Err(error);
                            }
                            found.insert(to.clone(), name.clone());
                            if to == end {
                                self.end();
                                return Ok(Some(found));
                            }
                            self.met.insert(to.clone());
                            level.push(to);
                        }
                    }
                    pace.step();
                }
            }
        }
        Ok(None)
    }

    /// Whether one of the start's own rows leads to `end`.
    ///
    /// # Safety
    /// As for [`closes`].
    unsafe fn has(mut self, table: &EdgesTable, tree_column: Column, tree: Option<&[u8]>, end: &[u8]) -> bool {
        let mut pace = Pace::default();
        self.met.clear();
        loop {
            // SAFETY: the caller's promise.
            match unsafe { self.next(table, tree_column, tree) } {
                Next::End => return false,
                Next::Found(to) if to == end => {
                    self.end();
                    return true;
                }
                _ => pace.step(),
            }
        }
    }

    /// Ends the scan. After an ERROR the transaction's abort does so.
    fn end(self) {
        if let Some((_, scan)) = self.at {
            // SAFETY: an open scan.
            unsafe { pg_sys::systable_endscan(scan) };
        }
    }

    /// # Safety
    /// As for [`closes`].
    pub unsafe fn next(&mut self, table: &EdgesTable, tree_column: Column, tree: Option<&[u8]>) -> Next {
        let Some((name, scan)) = &self.at else {
            let Some(name) = self.left.pop() else { return Next::End };
            // SAFETY: the caller's promise.
            let scan = unsafe { begin(table, self.index, self.from, &name) };
            self.at = Some((name, scan));
            return Next::Nothing;
        };
        // SAFETY: an open scan; the row is read before the scan moves on.
        unsafe {
            let row = pg_sys::systable_getnext(*scan);
            if row.is_null() {
                pg_sys::systable_endscan(*scan);
                self.at = None;
                return Next::Nothing;
            }
            let text = |column: Column| {
                let (mut null, mut text) = (true, Vec::new());
                let datum = match column.number {
                    0 => return None,
                    number => pg_sys::htup::heap_getattr(row, number, (*table.rel()).rd_att, &mut null),
                };
                (!null && column_value::write(pg_sys::Oid::from(column.type_oid), datum, &mut text)).then_some(text)
            };
            // Names that differ can be equal under the index's collation.
            match text(self.to).filter(|to| !self.met.contains(to)) {
                Some(to) if text(self.from).as_ref() == Some(name) && text(tree_column).as_deref() == tree => {
                    Next::Found(to)
                }
                _ => Next::Nothing,
            }
        }
    }
}

/// Starts a scan of the rows in which the column is `name`.
///
/// # Safety
/// As for [`closes`].
unsafe fn begin(table: &EdgesTable, index: Index, column: Column, name: &[u8]) -> pg_sys::SysScanDesc {
    let Ok(text) = CString::new(name) else { unreachable!("a name of the database has no NUL") };
    let (mut input, mut parameter) = (pg_sys::InvalidOid, pg_sys::InvalidOid);
    // SAFETY: the name came from a column of that type, or a like one, so the type's input function takes it. The scan
    // copies the key.
    unsafe {
        pg_sys::getTypeInputInfo(pg_sys::Oid::from(column.type_oid), &mut input, &mut parameter);
        let value = pg_sys::OidInputFunctionCall(input, text.as_ptr().cast_mut(), parameter, -1);
        let mut key: pg_sys::ScanKeyData = std::mem::zeroed();
        pg_sys::ScanKeyEntryInitialize(
            &mut key,
            0,
            column.number as pg_sys::AttrNumber,
            pg_sys::BTEqualStrategyNumber as pg_sys::StrategyNumber,
            pg_sys::InvalidOid,
            index.collation,
            index.equal,
            value,
        );
        pg_sys::systable_beginscan(table.rel(), index.oid, true, pg_sys::GetActiveSnapshot(), 1, &mut key)
    }
}

/// # Safety
/// As for [`closes`].
pub unsafe fn indexes(table: &EdgesTable, columns: &Columns) -> Indexes {
    // SAFETY: the caller's promise.
    let find = || Ok::<_, Infallible>(unsafe { find_indexes(table, columns) });
    let Ok(indexes) = KEPT.with(|last| last.get((table.oid(), *columns), find));
    indexes
}

/// # Safety
/// As for [`indexes`].
unsafe fn find_indexes(table: &EdgesTable, columns: &Columns) -> Indexes {
    let mut found = [None; 2];
    // SAFETY: the list is a copy; while the table is locked, its indexes exist.
    unsafe {
        let list = pgrx::PgList::<std::ffi::c_void>::from_pg(pg_sys::RelationGetIndexList(table.rel()));
        for oid in (0..list.len()).filter_map(|i| list.get_oid(i)) {
            let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
            let index = pg_sys::index_open(oid, lock);
            for (found, column) in found.iter_mut().zip([columns.child, columns.parent]) {
                *found = found.or_else(|| serves(index, column));
            }
            pg_sys::index_close(index, lock);
        }
    }
    found
}

/// Whether an index finds all rows in which the column is a name: a B-tree with the type's own operators, not partial,
/// valid for any snapshot.
///
/// # Safety
/// An open index.
unsafe fn serves(index: pg_sys::Relation, column: Column) -> Option<Index> {
    // SAFETY: the caller's promise; an index has at least one column, so these arrays have an element.
    unsafe {
        let form = &*(*index).rd_index;
        let is_ours = (*(*index).rd_rel).relam == pg_sys::BTREE_AM_OID
            && form.indisvalid
            && form.indislive
            && !form.indcheckxmin
            && i32::from(*form.indkey.values.as_ptr()) == column.number
            && pg_sys::RelationGetIndexPredicate(index).is_null();
        if !is_ours {
            return None;
        }
        let (family, of) = (*(*index).rd_opfamily, *(*index).rd_opcintype);
        let operator = pg_sys::get_opfamily_member(family, of, of, pg_sys::BTEqualStrategyNumber as i16);
        let equal = pg_sys::get_opcode(operator);
        let known = [pg_sys::F_TEXTEQ, pg_sys::F_NAMEEQ, pg_sys::F_INT4EQ, pg_sys::F_INT8EQ, pg_sys::F_UUID_EQ];
        let collation = *(*index).rd_indcollation;
        known.contains(&u32::from(equal)).then_some(Index { oid: (*index).rd_id, collation, equal })
    }
}
