//! Statements that we run through SPI, their plans cached by statement text and tables (catalog/statement.rs), and by
//! how they were planned.
//!
//! They run under the caller's active snapshot and rights, with read_only = true. (pgrx's Spi client switches to
//! read-write once the transaction has an xid, and then takes a new snapshot.) A plan in use, here or further up the
//! stack (a policy may call us again), is not freed.

use crate::call::fmgr::Rows;
pub use crate::call::spi::Value;
use crate::call::spi::{Connection, Plan, Row, Table, connected};
use crate::call::trigger::Trigger;
use crate::catalog::statement::Statement;
use crate::error;
use crate::error::Fallible;
use crate::pg::error_context::with_error_context;
pub use crate::pg::settings::{with_safe_path, with_settings};
use pgrx::{PgLogLevel, pg_sys};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// With more cached plans than this, those not in use are freed.
const PLANS: usize = 64;

/// A statement calls itself by a policy, or by a function of a user's; so often only if it does without end.
const NESTED: usize = 16;

/// What a plan is kept by, with the types of its parameters.
type Key = (Statement, Planning, Vec<pg_sys::Oid>);

thread_local! {
    /// The plans; each is shared by the calls of this session that are using it.
    static KEPT: RefCell<HashMap<Key, Rc<Plan>>> = RefCell::new(HashMap::new());
}

/// Which values a plan is made for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Planning {
    /// PostgreSQL decides.
    Auto,
    /// Any values: they do not change which plan is best. The plan serves tables of this size only
    /// (EdgesTable::size_class): a plan for an empty table would otherwise stay until ANALYZE.
    Generic(u32),
    /// Each call's own values: they change which plan is best.
    Custom,
}

/// Runs a statement under the active snapshot; its select list matches the row type. Returns the number of rows.
pub fn run_into(statement: &Statement, planning: Planning, values: &[Value], rows: Rows) -> u64 {
    with_error_context(Some(statement.sql()), || {
        connected(None, |spi| spi.select_into(&plan(spi, statement, planning, values), values, rows))
    })
}

/// Runs a statement under the active snapshot and passes its result to `take`.
pub fn execute<R>(statement: &Statement, values: &[Value], take: impl FnOnce(&Table<'_>) -> R) -> R {
    with_error_context(Some(statement.sql()), || {
        connected(None, |spi| spi.select(&plan(spi, statement, Planning::Auto, values), values, take))
    })
}

/// Passes each row of a statement to `take`, under the active snapshot, until `take` fails. The statement is planned for
/// this once.
pub fn scan(statement: &Statement, take: impl FnMut(&Row<'_>) -> Fallible<()>) -> Fallible<()> {
    let sql = statement.sql();
    with_error_context(Some(sql), || connected(None, |spi| spi.scan(sql, take)))
}

/// Runs a statement that may write, as a session's own does: it sees what was committed before it, and the rows of the
/// trigger, as that names them. Passes the rows that it returns to `take`.
pub fn change<R>(
    beside: Option<&Trigger<'_>>,
    statement: &Statement,
    planning: Planning,
    values: &[Value],
    take: impl FnOnce(&Table<'_>) -> R,
) -> R {
    with_error_context(Some(statement.sql()), || {
        connected(beside, |spi| spi.change(|| plan(spi, statement, planning, values), values, take))
    })
}

/// Runs a command that is no query, and sees what was committed before it.
pub fn command(sql: &str) {
    let statement = Statement::over(sql, &[]);
    connected(None, |spi| spi.once(statement.sql(), &[], |_| ()));
}

/// The plan of a statement, cached or made now. A PostgreSQL ERROR unwinds through its users as a panic, so what they
/// share is always dropped.
fn plan(spi: &Connection, statement: &Statement, planning: Planning, values: &[Value]) -> Rc<Plan> {
    let key = (statement.clone(), planning, values.iter().map(|(of, _)| *of).collect());
    if let Some(plan) = known(&key) {
        return plan;
    }
    let options = match planning {
        Planning::Auto => 0,
        Planning::Generic(_) => pg_sys::CURSOR_OPT_GENERIC_PLAN,
        Planning::Custom => pg_sys::CURSOR_OPT_CUSTOM_PLAN,
    };
    let plan = Plan::new(spi, statement.sql(), key.2.clone(), options);
    // Code called meanwhile may have prepared the same statement.
    if let Some(known) = known(&key) {
        plan.free();
        return known;
    }
    let plan = Rc::new(plan);
    KEPT.with_borrow_mut(|kept| kept.insert(key, plan.clone()));
    while let Some(idle) = one_too_many().and_then(Rc::into_inner) {
        idle.free();
    }
    plan
}

/// Removes a plan that is not in use from the cache, if the cache has too many.
fn one_too_many() -> Option<Rc<Plan>> {
    KEPT.with_borrow_mut(|kept| {
        if kept.len() <= PLANS {
            return None;
        }
        let (key, _) = kept.iter().find(|(_, plan)| Rc::strong_count(plan) == 1)?;
        let key = key.clone();
        kept.remove(&key)
    })
}

/// The cached plan of that statement, if any, with one more user. 42P17 if it is used within itself again and again.
fn known(key: &Key) -> Option<Rc<Plan>> {
    let plan = KEPT.with_borrow(|kept| kept.get(key).cloned())?;
    // The cache has one, and this call.
    if Rc::strong_count(&plan) - 2 > NESTED {
        error::endless().report(PgLogLevel::ERROR);
    }
    Some(plan)
}
