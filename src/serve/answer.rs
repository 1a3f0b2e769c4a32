//! Answers a call of cft_context or a function like it: checks the arguments, asks the table, adds the labels of a
//! table of labels.

use crate::call::array;
use crate::call::fmgr::{Call, Rows};
use crate::call::tuple;
use crate::call::tuple::Row;
use crate::call::work_memory::{Room, list};
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::name::display_name;
use crate::error;
use crate::error::{Fallible, MAX_LEVELS};
use crate::pg::interrupt::ROWS_BETWEEN_CHECKS;
use crate::serve::asked::Reach;
use crate::serve::labels::Labels;
use crate::serve::sink::{Relative, Sink, relation_with_prefix};
use crate::serve::walk;
use cftrag_core::{Names, Relation};
use pgrx::check_for_interrupts;

/// Answers from the image if every condition holds, else by the reference query; counts which.
///
/// Arguments of the call: entity or entities, up, down, edges, trees. No rows for a NULL level.
pub fn answer(call: &Call, names: &[&[u8]], sink: &mut Sink) -> Fallible<()> {
    let Some((of, reach)) = open(call, names)? else { return Ok(()) };
    answer_of(&of, names, reach, sink)
}

/// Opens the table that a call asks about, and reads the call's reach; None if a level is NULL.
pub fn open<'c>(call: &'c Call, names: &[&[u8]]) -> Fallible<Option<(AttachedTable, Reach<'c>)>> {
    let Some(reach) = Reach::of(call) else { return Ok(None) };
    check_levels(reach)?;
    let of = AttachedTable::open(call, 3)?;
    if let [name] = names
        && call.is_given_text(0)
    {
        check_given(&of, name)?;
    }
    Ok(Some((of, reach)))
}

/// Looks at a name that a call gives for an entity, as a constant or a parameter. 22023 if it reads as an array; a
/// NOTICE if it is a label, where entities are integers.
pub fn check_given(of: &AttachedTable, name: &[u8]) -> Fallible<()> {
    if reads_as_array(name) {
        return refuse_array(of, name, Some("entities"));
    }
    let is_integer = || std::str::from_utf8(name).is_ok_and(|name| name.parse::<i64>().is_ok());
    if of.columns.are_integers() && !name.is_empty() && !is_integer() && of.has_labels() {
        error::notice_no_id(name, &display_name(of.oid()));
    }
    Ok(())
}

/// Whether a name reads as an array.
pub fn reads_as_array(name: &[u8]) -> bool {
    name.starts_with(b"{") && name.ends_with(b"}")
}

/// 22023 if the table has no entity of that name. `many`: the argument that takes an array, in the other form of the
/// function.
pub fn refuse_array(of: &AttachedTable, name: &[u8], many: Option<&str>) -> Fallible<()> {
    let mut is_known = false;
    let mut take = |rows: &[Relative<'_>]| {
        is_known |= !rows.is_empty();
        Ok(())
    };
    let mut sink = Sink::Nodes { take: &mut take, own: true };
    answer_of(of, &[name], Reach::levels(1, 1), &mut sink)?;
    if is_known { Ok(()) } else { Err(error::array_as_name(name, &display_name(of.oid()), many)) }
}

/// 22023 if there are too many levels, or fewer than zero.
pub fn check_levels(reach: Reach) -> Fallible<()> {
    for (argument, value) in [("up", reach.up), ("down", reach.down)] {
        if !(0..=MAX_LEVELS).contains(&value) {
            return Err(error::bad_levels(argument, value));
        }
    }
    Ok(())
}

/// Answers from an opened table; the levels are in range. Callers may ask several times: the caller's snapshot holds
/// for all answers, from images or not. Errors: 53400, 53200 (memory), 54000 (a text that is too long).
pub fn answer_of(of: &AttachedTable, names: &[&[u8]], reach: Reach, sink: &mut Sink) -> Fallible<()> {
    let labels = if sink.takes_labels() { of.open_label_table()? } else { None };
    let Some(labels) = labels else { return walk::answer(of, names, reach, sink) };
    let ask = |take: &mut dyn FnMut(&[Relative<'_>]) -> Fallible<()>| {
        let mut take = |rows: &[Relative<'_>]| labelled(&labels, rows, take);
        walk::answer(of, names, reach, &mut Sink::Nodes { take: &mut take, own: false })
    };
    match sink {
        Sink::Rows(rows) => ask(&mut |relatives| {
            add_all(*rows, relatives);
            Ok(())
        }),
        Sink::Text(answer) => {
            answer.is_unclear = true;
            Ok(())
        }
        Sink::Parts(take) | Sink::Nodes { take, .. } => ask(take),
        Sink::View(view) => ask(&mut |rows| view(&rows)),
    }
}

/// Bytes of a name that is labelled, besides its own.
const PER_NAME: usize = 130;

/// Passes the rows on with the labels that a table of labels gives their relatives and entities.
fn labelled(
    of: &AttachedTable,
    rows: &[Relative<'_>],
    take: &mut dyn FnMut(&[Relative<'_>]) -> Fallible<()>,
) -> Fallible<()> {
    let (mut names, mut room, mut lists) = (Names::default(), Room::new(), Room::new());
    let mut number = |name: &[u8]| {
        let known = names.len();
        let id = names.try_id(name).ok_or_else(|| error::no_memory_to_work(2 * names.bytes()))?;
        if names.len() > known { room.take(2 * name.len() + PER_NAME) } else { Ok(()) }.map(|()| id)
    };
    let (mut ids, mut with_labels) = (list(rows.len(), &mut lists)?, list(rows.len(), &mut lists)?);
    for row in rows {
        ids.push([number(row.entity)?, number(row.name)?]);
    }
    let all = array::all(&names, &mut lists)?;
    let labels = if all.is_empty() { Labels::default() } else { Labels::in_table(of, &all)? };
    with_labels.extend_from_slice(rows);
    for (row, ids) in with_labels.iter_mut().zip(&ids) {
        [row.entity_label, row.label] = ids.map(|id| labels.get(id.number()));
    }
    take(&with_labels)
}

fn add_all(rows: Rows, all: &[Relative<'_>]) {
    for some in all.chunks(ROWS_BETWEEN_CHECKS) {
        check_for_interrupts!();
        tuple::add_all(rows, some, |of, row: &mut Row<7>| {
            row.text(of.entity);
            row.any(of.tree);
            row.prefixed(relation_with_prefix(if of.ancestor { Relation::Ancestor } else { Relation::Descendant }));
            row.int(of.depth);
            row.text(of.name);
            row.text(of.via);
            row.any(of.label);
        });
    }
}
