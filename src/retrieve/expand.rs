//! Documents that were found, with what stands beside them: small pieces are found, larger ones are read (small to big,
//! auto-merging).
//!
//! The documents about one entity are a text in pieces, in the order of the column `sort`, else of their ids. Those
//! that stand side by side become one row.

use crate::call::fmgr::{beginning, text_array};
use crate::call::work_memory::Room;
use crate::catalog::documents::Documents;
use crate::catalog::filter::Condition;
use crate::error;
use crate::error::Fallible;
use crate::retrieve::documents::Wanted;
use crate::retrieve::found::Found;
use crate::retrieve::line::{Line, listed};
use crate::retrieve::search;
use crate::serve::plans::Planning;
use pgrx::{check_for_interrupts, pg_sys};
use std::collections::{BTreeSet, HashSet};

/// What is read beside a document.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Expand {
    /// The ones before and behind it; all, where more than half were found.
    Siblings,
    /// All that are about the same entity.
    Parent,
}

/// Pieces that are read, at most.
const MOST: i64 = 10_000;
/// Bytes of a piece in a list, besides its texts.
const EACH: usize = 128;
/// Stands where pieces are left out in between.
const LEFT_OUT: &[u8] = b"\n...\n";

/// The id and the text of a document.
type Key<'p> = (&'p Option<Vec<u8>>, &'p Option<Vec<u8>>);

/// A document about an entity.
struct Piece {
    /// The number of the entity.
    of: i32,
    id: Option<Vec<u8>>,
    body: Option<Vec<u8>>,
    tokens: i32,
}

impl Expand {
    /// What is called so. 22023 if there is none.
    pub fn of(name: &[u8]) -> Fallible<Self> {
        match name {
            b"siblings" => Ok(Self::Siblings),
            b"parent" => Ok(Self::Parent),
            _ => Err(error::no_such_expansion(name)),
        }
    }

    /// Adds to documents what stands beside them, the first ones first, as far as `rest` tokens go. Errors: 55000 (no
    /// entities); 53400, 53200 (memory).
    pub fn lines(self, wanted: &Wanted, of: &Documents, lines: &mut Vec<Line>, mut rest: Option<i32>) -> Fallible<()> {
        let mut names: Vec<Vec<u8>> = Vec::new(); // bounded: the lines
        for name in lines.iter().filter_map(|line| line.entity.as_ref()) {
            if !names.contains(name) {
                names.push(name.clone()); // bounded: the lines
            }
        }
        let pieces = pieces(wanted, of, &names)?;
        let mut gone = BTreeSet::new(); // bounded: the lines
        let mut used = HashSet::new(); // bounded: the pieces
        for all in pieces.chunk_by(|a, b| a.of == b.of) {
            check_for_interrupts!();
            let entity = &names[all[0].of as usize - 1];
            let line_of = |piece: &Piece| {
                let is_it = |line: &Line| {
                    line.document == piece.id && line.text == piece.body && line.entity.as_ref() == Some(entity)
                };
                lines.iter().position(is_it)
            };
            let hits: Vec<Option<usize>> = all.iter().map(line_of).collect(); // bounded: the pieces
            for group in self.groups(all, &hits, &used, &mut rest) {
                join(lines, all, &hits, &group, &mut gone, wanted.budget)?;
                used.extend(group.into_iter().map(|n| (&all[n].id, &all[n].body))); // bounded: the pieces
            }
        }
        let mut number = 0..;
        lines.retain(|_| number.next().is_some_and(|n| !gone.contains(&n)));
        Ok(())
    }

    /// The pieces that become one row each: those that were found, and those beside them that fit.
    fn groups(
        self,
        all: &[Piece],
        hits: &[Option<usize>],
        used: &HashSet<Key<'_>>,
        rest: &mut Option<i32>,
    ) -> Vec<Vec<usize>> {
        let found: Vec<usize> = (0..all.len()).filter(|&n| hits[n].is_some()).collect(); // bounded: the pieces
        let is_whole = self == Self::Parent || 2 * found.len() > all.len();
        let away = |n: usize| found.iter().map(|hit| hit.abs_diff(n)).min().unwrap_or(usize::MAX);
        // A document about several entities stands in one row.
        let is_other = |n: &usize| {
            hits[*n].is_none() && (is_whole || away(*n) == 1) && !used.contains(&(&all[*n].id, &all[*n].body))
        };
        let mut others: Vec<usize> = (0..all.len()).filter(is_other).collect(); // bounded: the pieces
        others.sort_by_cached_key(|&n| away(n));
        let fits = |n: &usize| match rest {
            None => true,
            Some(rest) => {
                *rest = rest.saturating_sub(all[*n].tokens.max(1));
                *rest >= 0
            }
        };
        let mut kept: Vec<usize> = others.into_iter().take_while(fits).chain(found).collect(); // bounded: the pieces
        kept.sort_unstable();
        match is_whole {
            true => vec![kept],
            false => kept.chunk_by(|a, b| a + 1 == *b).map(<[usize]>::to_vec).collect(), // bounded: the pieces
        }
    }
}

/// Joins pieces into the first line that has one of them; the others' lines are gone.
fn join(
    lines: &mut [Line],
    all: &[Piece],
    hits: &[Option<usize>],
    group: &[usize],
    gone: &mut BTreeSet<usize>,
    budget: Option<i32>,
) -> Fallible<()> {
    let Some(first) = group.iter().filter_map(|&n| hits[n]).min().filter(|_| group.len() > 1) else { return Ok(()) };
    let (mut text, mut tokens, mut with, mut before, mut room) = (Vec::new(), 0_i32, Vec::new(), None, Room::new());
    for &n in group {
        let body = all[n].body.as_deref().unwrap_or_default();
        room.take(body.len() + EACH)?;
        match before.replace(n) {
            None => {}
            Some(before) if before + 1 == n => text.push(b'\n'),
            Some(_) => {
                text.extend_from_slice(LEFT_OUT);
                tokens += 1;
            }
        }
        text.extend_from_slice(body);
        tokens = tokens.saturating_add(budget.map_or(all[n].tokens, |budget| all[n].tokens.min(budget)));
        if hits[n] != Some(first) {
            with.extend(all[n].id.clone()); // bounded: `room` has it
            gone.extend(hits[n]);
        }
    }
    // As of a document that has more tokens than the budget, only so much is kept.
    if let Some(budget) = budget.filter(|budget| tokens > *budget) {
        text.truncate(beginning(&text, budget as usize, tokens as usize).len());
    }
    let line = &mut lines[first];
    line.why.extend_from_slice(&[b", with ", &listed(&with)[..]].concat());
    (line.text, line.tokens) = (Some(text), tokens);
    Ok(())
}

/// The documents about entities, in the order of the table.
fn pieces(wanted: &Wanted, of: &Documents, names: &[Vec<u8>]) -> Fallible<Vec<Piece>> {
    let filter = wanted.condition(of)?;
    let sql = search::in_order(of, filter.as_ref().map(|filter| filter.sql.as_str()))?;
    let names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect(); // bounded: the names
    let values = [
        (pg_sys::TEXTARRAYOID, Some(text_array(&names))),
        (pg_sys::INT8OID, Some(MOST.into())),
        (pg_sys::TEXTARRAYOID, None),
        (pg_sys::TEXTARRAYOID, filter.as_ref().map(Condition::parameter)),
    ];
    let mut found = Found::of(&[pg_sys::INT4OID, pg_sys::TEXTOID, pg_sys::TEXTOID, pg_sys::INT4OID]);
    found.run(&sql, Planning::Auto, &values);
    let (mut all, mut room) = (Vec::new(), Room::new());
    found.each(|row| {
        room.take(EACH)?;
        let id = row.copy(1, &mut room)?;
        let (body, tokens) = wanted.body(row, 2, &mut room)?;
        all.push(Piece { of: row.int(0).unwrap_or(1), id, body, tokens }); // bounded: `room` has it
        Ok(())
    })?;
    // A mapping may say the same twice.
    all.dedup_by(|a, b| a.of == b.of && a.id == b.id && a.body == b.body);
    Ok(all)
}
