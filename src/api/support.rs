//! What our functions tell the planner (SUPPORT in sql/install): how many rows a call returns, and what it costs.
//!
//! For a constant entity we count its relatives in the image, up to a bound, as the snapshot sees them. For other
//! entities, and for constants with fewer relatives than average, we take the image's average. So the estimate for an
//! unknown entity is never above that for a known one: a generic plan does not cost more than a custom one, and a
//! prepared join is not planned again and again. The estimate is given only to callers who may read the rows from the
//! image: without rights on the columns that the image was built from, or under row-level security, the planner gets
//! the declared numbers. For cft_under (under_support.rs) the relatives are those below its ancestors.
//!
//! Promises: builds nothing, waits for no table lock, locks no table that the caller may not read, raises nothing of
//! its own, does not change statistics.

use crate::call::array;
use crate::call::fmgr::Call;
use crate::call::planner::{Answer, Asked, Request, Value};
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::registration::Functions;
use crate::catalog::{attached_table, privileges, registration_cache};
use crate::error::MAX_LEVELS;
use crate::guc;
use crate::image::chunks;
use crate::image::slot::Key;
use crate::pg::interrupt::check_interrupts;
use crate::pg::snapshot;
use crate::pg::snapshot::SnapshotView;
use crate::serve::conditions;
use crate::serve::walk::LONG;
use cftrag_core::{Interruptible, Prefix, Stats, Step, Walk};
use pgrx::Internal;
use pgrx::prelude::*;
use std::cell::RefCell;

/// Edge slots read for an estimate: some 50 microseconds.
const SLOTS: usize = 2000;

/// Names of a constant array that we look up for an estimate; we take the others to be like them.
const NAMES: usize = 100;

/// Costs of a call, a name in it, and a row.
const CALL: f64 = 20.0;

const NAME: f64 = 4.0;

const ROW: f64 = 2.0;

/// How many times we look up the fates of transactions.
const ASKED: usize = 4;

/// Steps of a walk for an estimate, each with room for at most twice the rows of the one before.
const STEPS: usize = 5;

thread_local! {
    static WALK: RefCell<Option<Walk>> = const { RefCell::new(None) };
}

/// Support function of cft_context, cft_context_text and cft_context_json, for a text or a text[].
#[pg_extern(sql = false)]
fn cft_context_support(call: Call) -> Internal {
    let request = Request::of(&call);
    let answer = |estimate: Estimate| match request.asked {
        Asked::Rows => Answer::Rows(estimate.rows),
        _ => Answer::Cost { startup: 0.0, per_tuple: CALL + NAME * estimate.names + ROW * estimate.rows },
    };
    let is_asked = matches!(request.asked, Asked::Rows | Asked::Cost);
    request.answer(if is_asked { estimate(request).map(answer) } else { None })
}

#[derive(Clone, Copy)]
struct Estimate {
    names: f64,
    rows: f64,
}

fn estimate(request: Request<'_>) -> Option<Estimate> {
    let arguments = request.arguments();
    let value = |n: usize, of| request.value(arguments.get(n), of);
    let (one, several) = (value(0, pg_sys::TEXTOID), value(0, pg_sys::TEXTARRAYOID));
    let many = several.is_some();
    let (known, count) = match (one.or(several)?, many) {
        (Value::Null, _) => return Some(Estimate { names: 0.0, rows: 0.0 }),
        (Value::Known(name), false) => (vec![name.text()?], 1.0),
        (Value::Unknown(_), false) => (Vec::new(), 1.0),
        (Value::Known(names), true) => {
            #[expect(clippy::filter_map_identity, reason = "flatten does not know the most that there are")]
            let texts = names.texts()?.elements().ok()?.filter_map(|name| name);
            let (names, count) = array::sample(texts, NAMES);
            (names, count as f64)
        }
        (Value::Unknown(names), true) if names.is_parameter() => (Vec::new(), 1.0),
        (Value::Unknown(names), true) => (Vec::new(), request.length(names)),
    };
    // A NULL level gives no rows at all.
    let level = |value| match value {
        Value::Null => None,
        Value::Known(level) => level.int().map(|level| level.clamp(0, MAX_LEVELS) as u32),
        Value::Unknown(_) => Some(1),
    };
    let (Some(up), Some(down)) = (level(value(1, pg_sys::INT4OID)?), level(value(2, pg_sys::INT4OID)?)) else {
        return Some(Estimate { names: 0.0, rows: 0.0 });
    };
    let table = table(value(3, pg_sys::REGCLASSOID)?)?;
    let found = relatives(table, request.function, &known, up, down, SLOTS)?;
    Some(Estimate { names: count, rows: found.rows * count })
}

/// The edges that are asked for; Some(None) for the default ones. None if that is not known.
pub fn table(value: Value<'_>) -> Option<Option<pg_sys::Oid>> {
    match value {
        Value::Null => Some(None),
        Value::Known(table) => Some(table.table()),
        Value::Unknown(_) => None,
    }
}

/// What an image says about some names.
#[derive(Clone, Copy)]
pub struct RelativeCount {
    /// The average number of relatives of the names, or of all entities if no name is known.
    pub rows: f64,
    /// Not all were counted.
    pub is_part: bool,
    /// The number of all entities.
    pub entities: f64,
}

/// `function`: one of ours; `slots`: edge slots to read at most.
pub fn relatives(
    table: Option<pg_sys::Oid>,
    function: pg_sys::Oid,
    names: &[&[u8]],
    up: u32,
    down: u32,
    slots: usize,
) -> Option<RelativeCount> {
    if !guc::ENABLE.get() || !snapshot::is_active() {
        return None;
    }
    let functions = Functions::beside(function);
    let table = match table {
        Some(table) => table,
        None => attached_table::default_edges_table(functions).ok()?,
    };
    // Checked before we lock it: a caller who may not read the table must not keep others from it.
    if !privileges::is_readable(table) {
        return None;
    }
    let table = EdgesTable::try_open(table)?;
    let registration = registration_cache::read_once(table.oid(), functions)?;
    let columns = registration_cache::columns(&table, &registration).ok()?;
    conditions::readable(&table, &columns).ok()?;
    let seen = SnapshotView::active()?;
    let image = Measured { key: conditions::key(&table, &registration, &columns), table, seen };
    let kept = WALK.take();
    let is_new = kept.is_none();
    let mut walk = kept.unwrap_or_else(|| Walk::new(Prefix::LENGTH).unnoticed());
    if is_new {
        // It grows between steps only; without memory there is no estimate.
        walk.limit(usize::MAX, usize::MAX);
        walk.make_room(SLOTS, &mut Interruptible::new(&mut { check_interrupts })).ok()?;
    }
    let rows = image.relatives(&mut walk, names, up, down, slots);
    // The walk has read a few thousand slots at most, so it stays small.
    WALK.set(Some(walk));
    rows
}

/// The image that would answer, and the snapshot that it would answer under.
struct Measured {
    table: EdgesTable,
    pub key: Key,
    seen: SnapshotView,
}

/// What the image says.
enum Told {
    Relatives(RelativeCount),
    /// The walk has not ended.
    More,
    /// The fates of some transactions must be looked up first.
    Ask,
}

impl Measured {
    fn relatives(
        mut self,
        walk: &mut Walk,
        names: &[&[u8]],
        up: u32,
        down: u32,
        slots: usize,
    ) -> Option<RelativeCount> {
        let control = crate::image::control::attach()?;
        let (index, _) = control.find(self.table.oid())?;
        let (mut check, bytes) = (check_interrupts, names.iter().map(|name| name.len()).sum());
        let work = &mut Interruptible::new(&mut check);
        walk.clear();
        if names.len() > 1 || bytes > LONG {
            walk.make_room_for(names.len(), bytes, work).ok()?;
        }
        for name in names {
            walk.begin(name, up, down);
        }
        let (mut asked, mut steps) = (0, 0);
        while asked < ASKED {
            steps += 1;
            let told = chunks::read(control, index, |header, image| {
                if !control.entry(index).is_of(self.table.oid())
                    || conditions::matches(header, image, &self.key, &self.seen).is_err()
                {
                    return None;
                }
                let stats = image.stats();
                let (average, entities) = (average(&stats, up, down), stats.entities as f64);
                if names.is_empty() {
                    return Some(Told::Relatives(RelativeCount { rows: average, is_part: false, entities }));
                }
                let step = walk.step(image, &self.seen, slots / STEPS);
                if step == Step::Ask {
                    return Some(Told::Ask);
                }
                if step == Step::More && steps < STEPS {
                    return Some(Told::More);
                }
                let (begun, rows) = walk.so_far();
                let asked = if step == Step::Done { names.len() } else { begun };
                let rows = (rows as f64 / asked as f64).max(average);
                // A walk ends at MAX_LEVELS: there may be more beyond.
                let is_part = step != Step::Done || walk.depth_so_far() >= MAX_LEVELS as u32;
                Some(Told::Relatives(RelativeCount { rows, is_part, entities }))
            });
            match told.ok()?? {
                Told::Relatives(found) => return Some(found),
                Told::More => walk.make_room(slots, work).ok()?,
                Told::Ask => {
                    self.seen.learn(walk.asked())?;
                    walk.restart();
                    (asked, steps) = (asked + 1, 0);
                }
            }
        }
        None
    }
}

/// Parents of an entity, on average. More rows than this are duplicates, or not a hierarchy.
const MOST_PARENTS: f64 = 2.0;

/// The average number of relatives. In a forest, an ancestor and its descendant are one row each in the other's answer.
/// There are at most as many pairs at each distance as there are edges, and hardly more levels than log2(entities).
/// Rows of running transactions count, as in a table's size.
fn average(stats: &Stats, up: u32, down: u32) -> f64 {
    let depth = (stats.entities as f64).log2().ceil().max(1.0);
    let levels = f64::from(up).min(depth) + f64::from(down).min(depth);
    (stats.edge_rows as f64 / (stats.entities as f64).max(1.0)).min(MOST_PARENTS) * levels
}

/// Words of an unknown text; also the least we assume for a known one.
const WORDS: f64 = 20.0;

/// Support function of cft_entities: about one word in twenty is a name, and reading the text costs.
#[pg_extern(sql = false)]
fn cft_entities_support(call: Call) -> Internal {
    let request = Request::of(&call);
    let words = || match request.value(request.arguments().first(), pg_sys::TEXTOID)? {
        Value::Known(text) => text.text().map(|text| (text.len() as f64 / 6.0).max(WORDS)),
        _ => Some(WORDS),
    };
    request.answer(match request.asked {
        Asked::Rows => words().map(|words| Answer::Rows((words / WORDS).ceil())),
        Asked::Cost => words().map(|words| Answer::Cost { startup: 0.0, per_tuple: CALL + 6.0 * words }),
        _ => None,
    })
}
