//! The baselines of the papers, to compare with: what T-RAG finds, and neighbours without trees and directions.
//! docs/quality.md has the measurements.
//!
//! For 400 questions over the Disease Ontology, each with 5 documents, cft finds all the names asked for, in 168 words.
//! The others:
//!   naive      T-RAG: entities are searched for from the roots of all trees. The answer is that of cft; it costs 8 to 92 times as much, by the number of trees.
//!   ann_tree   hierarchy of the entities nearest to the question's embedding: 0.99 of the names, 263 words; needs no name in the question.
//!   ann_graph  their neighbours: 0.88 of the names, 230 words.
//!   text       documents alone: 0.69 of the names, 138 words; 0.86 with 20 documents, 590 words.

use crate::call::array::Texts;
use crate::call::fmgr::text_array;
use crate::call::work_memory::Room;
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::column_sql::text_of;
use crate::error::Fallible;
use crate::retrieve::found::Found;
use crate::serve::answer;
use crate::serve::asked::Reach;
use crate::serve::labels::Labels;
use crate::serve::plans::{Planning, with_safe_path};
use crate::serve::sink::{Relative, Sink};
use pgrx::{check_for_interrupts, pg_sys};
use std::collections::{BTreeSet, HashSet};

/// Bytes of a name in a set and in a list, besides its text.
const EACH: usize = 128;

/// Those of the names that T-RAG finds, by bytes: each is looked for from the roots of all trees, breadth first.
pub fn found_by_search(of: &AttachedTable, names: &[&[u8]]) -> Fallible<BTreeSet<Vec<u8>>> {
    let registered = &of.registration.names;
    let [parent, child] = [&registered.parent, &registered.child].map(|column| text_of(&of.table, column));
    let tree = registered.tree.as_ref().map_or("NULL::text".into(), |tree| text_of(&of.table, tree));
    // Materialized: with an index on the parent, each step would read the rows of all trees.
    let sql = format!(
        "WITH RECURSIVE e AS MATERIALIZED (\
             SELECT coalesce({tree}, '') COLLATE \"C\" AS tree, {parent} COLLATE \"C\" AS parent, {child} COLLATE \"C\" AS child FROM {} AS r \
              WHERE {parent} IS NOT NULL AND {child} IS NOT NULL), \
         search(tree, node) AS (\
             SELECT e.tree, e.parent FROM e \
              WHERE NOT EXISTS (SELECT FROM e AS above WHERE above.child = e.parent AND above.tree = e.tree) \
             UNION \
             SELECT e.tree, e.child FROM search AS s JOIN e ON e.parent = s.node AND e.tree = s.tree) \
         SELECT q.name FROM unnest($1) AS q(name) WHERE q.name COLLATE \"C\" IN (SELECT s.node FROM search AS s)",
        of.table.qualified()
    );
    let mut found = Found::of(&[pg_sys::TEXTOID]);
    with_safe_path(|| found.run(&sql, Planning::Custom, &[(pg_sys::TEXTARRAYOID, Some(text_array(names)))]));
    let mut there = BTreeSet::new(); // bounded: the names
    found.each(|row| {
        there.extend(row.text(0).map(<[u8]>::to_vec)); // bounded: the names
        Ok(())
    })?;
    Ok(there)
}

/// A sentence about the entities within so many steps of an entity, whatever the tree and the direction, the nearest
/// first; None if there are none.
pub fn neighbors(of: &AttachedTable, entity: &[u8], hops: i32, trees: Option<Texts<'_>>) -> Fallible<Option<Vec<u8>>> {
    let (mut edge, mut last): (BTreeSet<Vec<u8>>, HashSet<Vec<u8>>) =
        (BTreeSet::from([entity.to_vec()]), HashSet::new()); // bounded: a name
    let (mut reached, mut room): (Vec<Vec<u8>>, _) = (Vec::new(), Room::new()); // bounded: `room` has them
    for _ in 0..hops {
        check_for_interrupts!();
        let names: Vec<&[u8]> = edge.iter().map(Vec::as_slice).collect(); // bounded: `room` has them
        let mut next = BTreeSet::new(); // bounded: `room` has it
        let mut take = |rows: &[Relative<'_>]| {
            for row in rows {
                // The neighbours of an entity n steps away are n - 1, n or n + 1 steps away.
                if !last.contains(row.name) && !edge.contains(row.name) && !next.contains(row.name) {
                    room.take(2 * (EACH + row.name.len()))?;
                    next.insert(row.name.to_vec()); // bounded: `room` has it
                }
            }
            Ok(())
        };
        let reach = Reach { trees, ..Reach::levels(1, 1) };
        answer::answer_of(of, &names, reach, &mut Sink::Nodes { take: &mut take, own: false })?;
        if next.is_empty() {
            break;
        }
        reached.extend(next.iter().cloned());
        last = edge.into_iter().collect(); // bounded: `room` has them
        edge = next;
    }
    if reached.is_empty() {
        return Ok(None);
    }
    let names: Vec<&[u8]> = std::iter::once(entity).chain(reached.iter().map(Vec::as_slice)).collect(); // bounded: `room` has them
    let labels = Labels::of(of, &names)?;
    let called: Vec<&[u8]> = names.iter().enumerate().map(|(n, name)| labels.get(n).unwrap_or(name)).collect(); // bounded: as above
    let (first, others) = (called[0], &called[1..]);
    let between: &[u8] = if others.iter().any(|name| name.contains(&b',')) { b"; " } else { b", " };
    let steps = format!(" within {hops} {} are: ", if hops == 1 { "step" } else { "steps" });
    room.take(2 * others.iter().map(|name| name.len() + between.len()).sum::<usize>())?;
    Ok(Some([b"The neighbours of ", first, steps.as_bytes(), &others.join(between), b"."].concat()))
}
