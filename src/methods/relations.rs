//! Relation filtering (CFT-RAG 2.3): which rows of a table of raw relations make clean trees. The rules are in
//! crates/core/src/relations.

#![expect(unsafe_code, reason = "SPI, called directly")]

use crate::api::attach;
use crate::edges::{self, Edges};
use crate::encoding;
use crate::error::{self, Fallible};
use crate::fmgr::{Call, Rows, text_bytes, text_datum};
use cftrag_core::{NameId, Names, Verdict};
use pgrx::check_for_interrupts;
use pgrx::prelude::*;
use std::collections::HashMap;
use std::ffi::CString;

/// Rows fetched at once.
const BATCH: std::ffi::c_long = 10_000;

/// A row of the table. NULL parent or child: no relation.
struct Raw {
    tree: Option<NameId>,
    parent: Option<NameId>,
    child: Option<NameId>,
}

/// `cft_filter_relations(raw regclass, parent name, child name, tree name) -> table(tree, parent, child, kept boolean, reason text)`
///
/// One row for each row of `raw`, in the order of tree, parent, child, by bytes. `reason` is NULL where the row is kept, else null,
/// self-edge, duplicate, cycle or transitive. Reads with the caller's rights, under the caller's snapshot. Takes memory of some 150 bytes
/// for a row and its share of the names. Errors: 22004 (NULL argument), 42P01, 42703, and the relation's own.
#[pg_extern(sql = false)]
fn cft_filter_relations(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<()> {
    // SAFETY: our own fcinfo.
    let call = unsafe { Call::new(fcinfo) };
    let rows = call.rows();
    let oid = call.oid(0).ok_or_else(|| error::null_argument("raw"))?;
    let relation = Edges::open(oid)?;
    let column = |n: usize, argument: &str| -> Fallible<String> {
        let name = attach::name(&call, n).ok_or_else(|| error::null_argument(argument))?;
        match relation.column(&name) {
            Some(_) => Ok(format!("r.{}::pg_catalog.text", edges::quote(&name))),
            None => Err(error::no_raw_column(&relation.name(), &name)),
        }
    };
    let (parent, child) = (column(1, "parent")?, column(2, "child")?);
    let tree = if call.arg(3).is_some() { column(3, "tree")? } else { "NULL::pg_catalog.text".into() };
    let sql = format!("SELECT {tree}, {parent}, {child} FROM {} AS r", relation.qualified());
    let (mut names, mut raw) = (Names::default(), Vec::new());
    read(&sql, |values| {
        let [tree, parent, child] = values.map(|value| value.map(|name| names.id(name)));
        raw.push(Raw { tree, parent, child });
    });
    report(&names, &raw, rows);
    Ok(())
}

/// Gives each row of a statement with three columns of text to `take`, under the caller's snapshot.
fn read(sql: &str, mut take: impl FnMut([Option<&[u8]>; 3])) {
    let Ok(sql) = CString::new(encoding::encode(sql)) else {
        unreachable!("identifiers come from the catalog and have no NUL");
    };
    // SAFETY: SPI is connected and finished around its use; the rows have three columns of type text.
    unsafe {
        pg_sys::SPI_connect();
        let plan = pg_sys::SPI_prepare(sql.as_ptr(), 0, std::ptr::null_mut());
        assert!(!plan.is_null(), "SPI_prepare raises or plans");
        let null = std::ptr::null_mut();
        let portal = pg_sys::SPI_cursor_open(std::ptr::null(), plan, null, std::ptr::null(), true);
        loop {
            pg_sys::SPI_cursor_fetch(portal, true, BATCH);
            let table = pg_sys::SPI_tuptable;
            let count = pg_sys::SPI_processed as usize;
            for i in 0..count {
                let (tuple, desc) = (*(*table).vals.add(i), (*table).tupdesc);
                take([1, 2, 3].map(|column| {
                    let mut null = false;
                    let datum = pg_sys::SPI_getbinval(tuple, desc, column, &mut null);
                    (!null).then(|| text_bytes(datum))
                }));
            }
            pg_sys::SPI_freetuptable(table);
            if count == 0 {
                break;
            }
        }
        pg_sys::SPI_cursor_close(portal);
        pg_sys::SPI_finish();
    }
}

fn report(names: &Names, raw: &[Raw], rows: Rows) {
    let ranks = names.ranks();
    check_for_interrupts!();
    // Nodes in the order of their trees' and their own names: the rules' order is by bytes.
    let mut nodes: Vec<(u32, u32)> = Vec::with_capacity(raw.len());
    for row in raw {
        if let (Some(_), Some(_)) = (row.parent, row.child) {
            nodes.extend([row.parent, row.child].map(|name| (ranks.of(row.tree), ranks.of(name))));
        }
    }
    nodes.sort_unstable();
    nodes.dedup();
    check_for_interrupts!();
    let numbers: HashMap<(u32, u32), u32> = nodes.iter().copied().zip(0..).collect();
    let mut edges = Vec::with_capacity(raw.len());
    for row in raw {
        if let (Some(_), Some(_)) = (row.parent, row.child) {
            let node = |name| numbers[&(ranks.of(row.tree), ranks.of(name))];
            edges.push((node(row.parent), node(row.child)));
        }
    }
    let mut verdicts = cftrag_core::filter_relations(nodes.len(), &edges, &mut breathe).into_iter();
    let mut out: Vec<(usize, Option<Verdict>)> = Vec::with_capacity(raw.len());
    for (i, row) in raw.iter().enumerate() {
        let is_relation = row.parent.is_some() && row.child.is_some();
        out.push((i, if is_relation { verdicts.next() } else { None }));
    }
    out.sort_unstable_by_key(|&(i, verdict)| {
        (ranks.of(raw[i].tree), ranks.of(raw[i].parent), ranks.of(raw[i].child), verdict, i)
    });
    for (n, (i, verdict)) in out.into_iter().enumerate() {
        if n % BATCH as usize == 0 {
            check_for_interrupts!();
        }
        add(names, &raw[i], verdict, rows);
    }
}

fn breathe() {
    check_for_interrupts!();
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
    for text in texts {
        // SAFETY: made above, copied into the row.
        unsafe { pg_sys::pfree(text.cast_mut_ptr()) };
    }
}
