//! Relation filtering (CFT-RAG 2.3): which rows of a table of raw relations make clean trees. The rules are in
//! crates/methods/src/relations.

use crate::call::fmgr;
use crate::call::fmgr::{Call, Rows, text_datum};
use crate::call::spi::Row;
use crate::call::work_memory::Room;
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::privileges::require_readable;
use crate::catalog::statement::Statement;
use crate::catalog::{column_rules, column_sql};
use crate::error;
use crate::error::Fallible;
use crate::methods::big_map::Table;
use crate::methods::breadth_first::named;
use crate::pg::interrupt::check_interrupts;
use crate::serve::plans::scan;
use cftrag_core::{Interruptible, NameId, Names};
use cftrag_methods::Verdict;
use pgrx::prelude::*;

/// The most bytes that a row takes, measured with chains and random graphs of a million rows.
const PER_ROW: usize = 100;

/// A row of the table. If its parent or child is NULL, it is no relation.
struct Raw {
    tree: Option<NameId>,
    parent: Option<NameId>,
    child: Option<NameId>,
}

/// `cft_filter_relations(raw regclass, parent name, child name, tree name) -> table(tree, parent, child, kept boolean,
/// reason text)`
///
/// Returns one row for each row of `raw`, ordered by the bytes of tree, parent and child. `reason` is NULL if the row
/// is kept, else null, self-edge, duplicate, cycle or transitive. Reads with the caller's rights, under the caller's
/// snapshot. Errors: 22004 (NULL argument), 42P01, 42703, 42701 (a column twice), 53400 (cftrag.work_memory), and the
/// relation's own.
#[pg_extern(sql = false)]
fn cft_filter_relations(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let oid = call.oid(0).ok_or_else(|| error::null_argument("raw"))?;
    require_readable(oid);
    let relation = EdgesTable::open(oid)?;
    let [parent, child, tree] = [1, 2, 3].map(|n| fmgr::name(&call, n));
    let parent = parent.ok_or_else(|| error::null_argument("parent"))?;
    let child = child.ok_or_else(|| error::null_argument("child"))?;
    let text = |name: &str| match relation.column(name) {
        Some(_) => Ok(column_sql::text_of(&relation, name)),
        None => Err(error::no_raw_column(&relation.name(), name)),
    };
    let texts = [text(&parent)?, text(&child)?];
    let tree_text = tree.as_deref().map_or_else(|| Ok("NULL::pg_catalog.text".into()), text)?;
    if let Some(column) = column_rules::repeated(&parent, &child, tree.as_deref()) {
        return Err(error::same_column(column));
    }
    let sql = format!("SELECT {tree_text}, {} FROM {} AS r", texts.join(", "), relation.qualified());
    let mut reading = Reading { names: Names::default(), raw: Vec::new(), room: Room::new() };
    scan(&Statement::over(&sql, &[&relation]), |row| reading.add(row))?;
    report(&reading.names, &reading.raw, rows)
}

/// What has been read from the table.
struct Reading {
    names: Names,
    raw: Vec<Raw>,
    room: Room,
}

impl Reading {
    /// Adds a row of three texts.
    fn add(&mut self, row: &Row<'_>) -> Fallible<()> {
        let mut id = |column| {
            let Some(name) = row.text(column) else { return Ok(None) };
            named(&mut self.names, name, &mut self.room).map(Some)
        };
        let (tree, parent, child) = (id(1)?, id(2)?, id(3)?);
        self.raw.push(Raw { tree, parent, child });
        self.room.take(PER_ROW)
    }
}

fn report(names: &Names, raw: &[Raw], rows: Rows) -> Fallible<()> {
    let mut check_interrupts = check_interrupts;
    let work = &mut Interruptible::new(&mut check_interrupts);
    let ranks = names.ranks(work);
    // Nodes are ordered by their trees' and their own names, because the rules go by bytes.
    let mut nodes: Vec<(u32, u32)> = Vec::with_capacity(raw.len());
    for row in raw {
        work.step();
        if let (Some(_), Some(_)) = (row.parent, row.child) {
            nodes.extend([row.parent, row.child].map(|name| (ranks.of(row.tree), ranks.of(name))));
        }
    }
    work.sort_by(&mut nodes, Ord::cmp);
    nodes.dedup();
    let mut numbers = Table::default();
    for (node, number) in nodes.iter().zip(0_u32..) {
        work.step();
        numbers.entry(*node, || number)?;
    }
    let mut edges = Vec::with_capacity(raw.len());
    for row in raw {
        work.step();
        if let (Some(_), Some(_)) = (row.parent, row.child) {
            let node = |name| *numbers.get(&(ranks.of(row.tree), ranks.of(name))).expect("each node has a number");
            edges.push((node(row.parent), node(row.child)));
        }
    }
    let mut verdicts = cftrag_methods::filter_relations(nodes.len(), &edges, work).into_iter();
    let mut out: Vec<(usize, Option<Verdict>)> = Vec::with_capacity(raw.len());
    for (i, row) in raw.iter().enumerate() {
        work.step();
        let is_relation = row.parent.is_some() && row.child.is_some();
        out.push((i, if is_relation { verdicts.next() } else { None }));
    }
    let key = |&(i, verdict): &(usize, Option<Verdict>)| {
        (ranks.of(raw[i].tree), ranks.of(raw[i].parent), ranks.of(raw[i].child), verdict, i)
    };
    work.sort_by(&mut out, |a, b| key(a).cmp(&key(b)));
    for (i, verdict) in out {
        work.step();
        add(names, &raw[i], verdict, rows);
    }
    Ok(())
}

fn add(names: &Names, row: &Raw, verdict: Option<Verdict>, rows: Rows) {
    let kept = verdict == Some(Verdict::Kept);
    let reason = match verdict {
        None => "null",
        Some(Verdict::Kept) => "",
        Some(Verdict::SelfEdge) => "self-edge",
        Some(Verdict::Duplicate) => "duplicate",
        Some(Verdict::Cycle) => "cycle",
        Some(Verdict::Transitive) => "transitive",
    };
    let text = |name: Option<NameId>| text_datum(name.map_or(&[], |name| names.get(name)));
    let texts = [text(row.tree), text(row.parent), text(row.child), text_datum(reason.as_bytes())];
    let mut values = [texts[0], texts[1], texts[2], pg_sys::Datum::from(kept), texts[3]];
    rows.add(&mut values, &mut [row.tree.is_none(), row.parent.is_none(), row.child.is_none(), false, kept]);
    fmgr::free(texts);
}
