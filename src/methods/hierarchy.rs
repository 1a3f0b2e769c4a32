//! cft_build_hierarchy: turns a table of edges a - b into an encoding tree of low structural entropy (Li and Pan 2016;
//! SEP 2022; T-Retriever 2026; crates/methods/src/hierarchy).
//!
//! The graph is read with the caller's rights under the caller's snapshot, as a query of the caller's would be. The
//! result depends only on the content of the rows: not on their order, nor on which end is a.

use crate::call::fmgr;
use crate::call::fmgr::{Call, Rows, text_datum};
use crate::call::spi::Row;
use crate::call::work_memory::Room;
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::privileges::require_readable;
use crate::catalog::statement::Statement;
use crate::catalog::{column_rules, column_sql, column_value, name};
use crate::error;
use crate::error::Fallible;
use crate::pg::encoding;
use crate::pg::interrupt::{ROWS_BETWEEN_CHECKS, check_interrupts};
use crate::serve::plans::scan;
use cftrag_core::{Interruptible, NameId, Names};
use cftrag_methods::{Encoding, MAX_HEIGHT, Network};
use pgrx::check_for_interrupts;
use pgrx::prelude::*;

/// Bytes that a row takes while a tree is made (examples/hierarchy.rs measures this and the next).
const PER_ROW: usize = 200;

const PER_ENTITY: usize = 500;

/// Bytes of an entity's name shown in a community's name.
const HUB: usize = 60;

/// `cft_build_hierarchy(graph regclass, a name, b name, weight name, height int)
///     -> table(tree, parent, child, entropy_before, entropy_after)`
///
/// Returns one row for each community and entity except the root: a community, then its entities by bytes, then the
/// communities in it. The sums of the last two columns are the graph's one-dimensional entropy and the tree's. Errors:
/// 22004 (NULL argument or weight), 22023 (height, weight), 22003 (weights too large to add up), 42703, 42701, 42804
/// (columns), 53400 (cftrag.work_memory), the table's own.
#[pg_extern(sql = false)]
fn cft_build_hierarchy(call: Call) -> Fallible<()> {
    let rows = call.rows();
    let height = call.int(4).ok_or_else(|| error::null_argument("height"))?;
    let height = usize::try_from(height).ok().filter(|height| (1..=MAX_HEIGHT).contains(height));
    let Some(height) = height else { return Err(error::bad_height(call.int(4).unwrap_or(0), MAX_HEIGHT)) };
    let graph = read(&call)?;
    if !graph.names.is_empty() {
        let mut check_interrupts = check_interrupts;
        let encoding = cftrag_methods::build_hierarchy(&graph.network, height, &mut check_interrupts);
        Writer { word: free_word(&graph.names), graph, encoding }.write(rows);
    }
    Ok(())
}

struct Graph {
    /// The table's name.
    tree: Vec<u8>,
    names: Names,
    /// The entities, which are the network's nodes, in the order of their names, by bytes.
    entities: Vec<NameId>,
    network: Network,
}

impl Graph {
    fn name(&self, entity: u32) -> &[u8] {
        self.names.get(self.entities[entity as usize])
    }
}

fn read(call: &Call) -> Fallible<Graph> {
    let oid = call.oid(0).ok_or_else(|| error::null_argument("graph"))?;
    require_readable(oid);
    let graph = EdgesTable::open(oid)?;
    let end = |n: usize, argument: &str| -> Fallible<String> {
        let name = fmgr::name(call, n).ok_or_else(|| error::null_argument(argument))?;
        let column = graph.column(&name).ok_or_else(|| error::no_raw_column(&graph.name(), &name))?;
        if !column_value::holds_names(pg_sys::Oid::from(column.type_oid)) {
            return Err(error::wrong_type(&name, &column_rules::type_name(column.type_oid.into())));
        }
        Ok(name)
    };
    let (a, b, weight) = (end(1, "a")?, end(2, "b")?, fmgr::name(call, 3));
    if let Some(column) = column_rules::repeated(&a, &b, weight.as_deref()) {
        return Err(error::same_end(column));
    }
    let weight = match weight {
        None => "1::pg_catalog.float8".to_string(),
        Some(name) => weight_of(&graph, &name)?,
    };
    let sql = format!(
        "SELECT {}, {}, {weight} FROM {} AS r",
        column_sql::text_of(&graph, &a),
        column_sql::text_of(&graph, &b),
        graph.qualified()
    );
    let mut reading = Reading::new();
    scan(&Statement::over(&sql, &[&graph]), |row| reading.add(row))?;
    reading.finish(graph.name_bytes())
}

/// The weight as SQL. 42804 unless the column holds numbers: a cast from another type could be any user's function.
fn weight_of(graph: &EdgesTable, name: &str) -> Fallible<String> {
    let column = graph.column(name).ok_or_else(|| error::no_raw_column(&graph.name(), name))?;
    let type_oid = pg_sys::Oid::from(column.type_oid);
    let numbers =
        [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID, pg_sys::FLOAT4OID, pg_sys::FLOAT8OID, pg_sys::NUMERICOID];
    if numbers.contains(&type_oid) {
        Ok(format!("r.{}::pg_catalog.float8", name::quote(name)))
    } else {
        Err(error::wrong_weight_type(name, &column_rules::type_name(column.type_oid.into())))
    }
}

/// A graph that is being read.
struct Reading {
    names: Names,
    edges: Vec<(NameId, NameId, f64)>,
    room: Room,
}

impl Reading {
    fn new() -> Reading {
        Reading { names: Names::default(), edges: Vec::new(), room: Room::new() }
    }

    /// Adds a row of two texts and a float8.
    fn add(&mut self, row: &Row<'_>) -> Fallible<()> {
        let (Some(a), Some(b)) = (row.text(1), row.text(2)) else { return Ok(()) };
        let [a, b] = [self.entity(a)?, self.entity(b)?];
        let Some(weight) = row.value(3) else { return Err(error::null_weight(&self.shown(a), &self.shown(b))) };
        let weight = f64::from_bits(weight.value() as u64);
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(error::bad_weight(weight, &self.shown(a), &self.shown(b)));
        }
        self.edges.push((a, b, weight));
        self.room.take(PER_ROW)
    }

    fn entity(&mut self, name: &[u8]) -> Fallible<NameId> {
        let before = self.names.len();
        let entity = self.names.id(name);
        if self.names.len() > before {
            self.room.take(PER_ENTITY + name.len())?;
        }
        Ok(entity)
    }

    /// An entity's name for a message.
    fn shown(&self, entity: NameId) -> String {
        let name = self.names.get(entity);
        encoding::shown(&encoding::decode(&name[..encoding::clipped(name, HUB)]))
    }

    fn finish(self, tree: Vec<u8>) -> Fallible<Graph> {
        let Reading { names, edges, .. } = self;
        let mut check_interrupts = check_interrupts;
        let ranks = names.ranks(&mut Interruptible::new(&mut check_interrupts));
        let place = |entity| ranks.of(Some(entity)) - 1;
        let mut entities: Vec<NameId> = names.ids().collect();
        names.ids().for_each(|entity| entities[place(entity) as usize] = entity);
        let edges = edges.into_iter().map(|(a, b, weight)| (place(a), place(b), weight)).collect();
        let network = Network::new(names.len(), edges, &mut check_interrupts);
        if !network.volume().is_finite() {
            return Err(error::weights_too_large());
        }
        Ok(Graph { tree, names, entities, network })
    }
}

/// The first of "community", "community_", "community__", ... that is no entity's name, and that no entity's name
/// begins with before a blank.
fn free_word(names: &Names) -> Vec<u8> {
    let mut taken: Vec<usize> = names
        .ids()
        .filter_map(|name| names.get(name).strip_prefix(b"community"))
        .map(|rest| (rest.iter().take_while(|&&byte| byte == b'_').count(), rest))
        .filter(|&(marks, rest)| matches!(rest.get(marks), None | Some(b' ')))
        .map(|(marks, _)| marks)
        .collect();
    taken.sort_unstable();
    taken.dedup();
    let free = taken.iter().enumerate().position(|(i, &marks)| i != marks).unwrap_or(taken.len());
    [b"community".as_slice(), &vec![b'_'; free]].concat()
}

/// Writes the rows of a tree.
struct Writer {
    graph: Graph,
    word: Vec<u8>,
    encoding: Encoding,
}

impl Writer {
    fn write(&self, rows: Rows) {
        let tree = text_datum(&self.graph.tree);
        let mut written = 0;
        for node in self.encoding.tree_nodes() {
            let name = text_datum(&self.name(node));
            if node != self.encoding.root() {
                let parent = text_datum(&self.name(self.encoding.parent(node)));
                let values = [tree, parent, name, float(0.0), float(self.encoding.bits(node))];
                rows.add(&mut { values }, &mut [false; 5]);
                fmgr::free([parent]);
            }
            for &leaf in self.encoding.members(node) {
                let child = text_datum(self.graph.name(leaf));
                let (before, after) = (self.graph.network.surprise(leaf), self.encoding.bits(leaf));
                rows.add(&mut [tree, name, child, float(before), float(after)], &mut [false; 5]);
                fmgr::free([child]);
                written += 1;
                if written % ROWS_BETWEEN_CHECKS == 0 {
                    check_for_interrupts!();
                }
            }
            fmgr::free([name]);
        }
    }

    /// "community" is the root; "community 2.1 (aspirin)" is the first community in the second, and aspirin has the
    /// highest degree in it.
    fn name(&self, node: u32) -> Vec<u8> {
        let mut name = self.word.clone();
        if node == self.encoding.root() {
            return name;
        }
        let above = |&node: &u32| Some(self.encoding.parent(node)).filter(|&above| above != self.encoding.root());
        let mut way: Vec<u32> = std::iter::successors(Some(node), above).collect();
        way.reverse();
        for (i, node) in way.into_iter().enumerate() {
            let mark = if i == 0 { ' ' } else { '.' };
            name.extend_from_slice(format!("{mark}{}", self.encoding.place(node)).as_bytes());
        }
        let hub = self.graph.name(self.encoding.hub(node));
        let shown = encoding::clipped(hub, HUB);
        name.extend_from_slice(b" (");
        name.extend_from_slice(&hub[..shown]);
        name.extend_from_slice(if shown < hub.len() { b"...)" } else { b")" });
        name
    }
}

fn float(value: f64) -> pg_sys::Datum {
    pg_sys::Datum::from(value.to_bits() as usize)
}
