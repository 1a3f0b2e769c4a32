//! Statements that we run through SPI, their plans cached by statement text and tables (catalog/statement.rs), and by how they were planned.
//!
//! They run under the caller's active snapshot and rights, with read_only = true. (pgrx's Spi client switches to read-write once the transaction
//! has an xid, and then takes a new snapshot.) A plan in use, here or further up the stack (a policy may call us again), is not freed.

#![expect(unsafe_code, reason = "SPI, called directly")]

use crate::call::fmgr::with_room_for_errors;
use crate::catalog::statement::Statement;
use crate::error;
use crate::pg::background_worker::SAFE_PATH;
use crate::pg::{compat, error_context};
use pgrx::{PgLogLevel, pg_sys};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::CStr;

/// With more cached plans than this, those not in use are freed.
const PLANS: usize = 64;

/// A statement calls itself by a policy, or by a function of a user's; so often only if it does without end.
const NESTED: usize = 16;

/// A saved SPI plan, and how many calls of this session are using it.
struct CachedPlan {
    plan: pg_sys::SPIPlanPtr,
    users: usize,
}

type Key = (Statement, Planning);

thread_local! {
    static KEPT: RefCell<HashMap<Key, CachedPlan>> = RefCell::new(HashMap::new());
}

/// A parameter: its type, and a value or NULL.
pub type Value = (pg_sys::Oid, Option<pg_sys::Datum>);

/// Which values a plan is made for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Planning {
    /// PostgreSQL decides.
    Auto,
    /// Any values: they do not change which plan is best. The plan serves tables of this size only (EdgesTable::size_class): a plan for an empty table would
    /// otherwise stay until ANALYZE.
    Generic(u32),
    /// Each call's own values: they change which plan is best.
    Custom,
}

/// Runs a statement under the active snapshot; its select list matches the row type of the store. Returns the number of rows.
pub fn run_into(
    statement: &Statement,
    planning: Planning,
    values: &[Value],
    store: *mut pg_sys::Tuplestorestate,
) -> u64 {
    error_context::with_error_context(Some(statement.sql()), || {
        // SAFETY: SPI is connected and finished around its use; the list has as many parameters as the plan, of its types. The receiver is
        // freed with SPI's memory; the store is outside it.
        unsafe {
            let memory = pg_sys::CurrentMemoryContext;
            pg_sys::SPI_connect();
            let mut types: Vec<pg_sys::Oid> = values.iter().map(|(of, _)| *of).collect();
            let used = plan(statement, planning, &mut types);
            let params = pg_sys::makeParamList(values.len() as i32);
            for (i, (of, value)) in values.iter().enumerate() {
                *(*params).params.as_mut_ptr().add(i) = pg_sys::ParamExternData {
                    value: value.unwrap_or(pg_sys::Datum::null()),
                    isnull: value.is_none(),
                    pflags: pg_sys::PARAM_FLAG_CONST as u16,
                    ptype: *of,
                };
            }
            let dest = pg_sys::CreateDestReceiver(pg_sys::CommandDest::DestTuplestore);
            let none = std::ptr::null_mut();
            compat::unbound::SetTuplestoreDestReceiverParams(dest, store, memory, false, none, std::ptr::null());
            let options = pg_sys::SPIExecuteOptions { params, read_only: true, dest, ..Default::default() };
            let run = || with_room_for_errors(|| compat::plain::SPI_execute_plan_extended(used.plan, &options));
            let code = without_jit(run);
            assert_eq!(code, pg_sys::SPI_OK_SELECT as i32, "a statement of ours is a SELECT");
            let rows = pg_sys::SPI_processed;
            pg_sys::SPI_finish();
            rows
        }
    })
}

/// Runs a statement under the active snapshot and passes its result to `take`. `nulls`: an 'n' where a value is NULL.
pub fn execute<const N: usize>(
    statement: &Statement,
    mut types: [pg_sys::Oid; N],
    mut values: [pg_sys::Datum; N],
    nulls: Option<&mut [u8; N]>,
    take: impl FnOnce(&pg_sys::SPITupleTable),
) {
    let nulls = nulls.map_or(std::ptr::null(), |nulls| nulls.as_ptr().cast());
    error_context::with_error_context(Some(statement.sql()), || {
        // SAFETY: SPI is connected and finished around its use; argument types are those the plan was made for.
        unsafe {
            pg_sys::SPI_connect();
            let used = plan(statement, Planning::Auto, &mut types);
            let run = || pg_sys::SPI_execute_plan(used.plan, values.as_mut_ptr(), nulls, true, 0);
            let code = without_jit(run);
            assert_eq!(code, pg_sys::SPI_OK_SELECT as i32, "a statement of ours is a SELECT");
            take(&*pg_sys::SPI_tuptable);
            pg_sys::SPI_finish();
        }
    });
}

/// A statement that may write, as a session's own does: each sees what was committed before it.
pub struct Change(Option<*mut pg_sys::TriggerData>);

/// The first row of a result.
pub struct FirstRow(*mut pg_sys::SPITupleTable);

impl Change {
    pub fn new() -> Self {
        Self(None)
    }

    /// One that sees the rows of a trigger, as it names them.
    pub fn beside(trigger: *mut pg_sys::TriggerData) -> Self {
        Self(Some(trigger))
    }

    /// Runs a statement, and passes the first row of its result to `take`.
    pub fn run<R>(
        &self,
        statement: &Statement,
        planning: Planning,
        values: &[Value],
        take: impl FnOnce(&FirstRow) -> R,
    ) -> R {
        error_context::with_error_context(Some(statement.sql()), || {
            // SAFETY: SPI is connected and finished around its use; the plan has parameters of these types.
            unsafe {
                pg_sys::SPI_connect();
                let latest = pg_sys::GetLatestSnapshot();
                if let Some(trigger) = self.0 {
                    pg_sys::SPI_register_trigger_data(trigger);
                }
                let mut types: Vec<pg_sys::Oid> = values.iter().map(|(of, _)| *of).collect(); // bounded: parameters
                let used = plan(statement, planning, &mut types);
                let nulls: Vec<u8> =
                    values.iter().map(|(_, value)| if value.is_some() { b' ' } else { b'n' }).collect(); // bounded: parameters
                let mut values: Vec<_> =
                    values.iter().map(|(_, value)| value.unwrap_or(pg_sys::Datum::null())).collect(); // bounded: parameters
                let none = std::ptr::null_mut();
                let (to, nulls) = (values.as_mut_ptr(), nulls.as_ptr().cast());
                let code =
                    without_jit(|| pg_sys::SPI_execute_snapshot(used.plan, to, nulls, latest, none, false, true, 0));
                assert!(code > 0, "a statement of ours runs");
                let taken = take(&FirstRow(pg_sys::SPI_tuptable));
                pg_sys::SPI_finish();
                taken
            }
        })
    }

    /// Runs a command that is no query.
    pub fn command(&self, sql: &str) {
        let statement = Statement::over(sql, &[]);
        error_context::with_error_context(Some(statement.sql()), || {
            // SAFETY: SPI is connected and finished around its use.
            unsafe {
                pg_sys::SPI_connect();
                let code = pg_sys::SPI_execute(statement.sql().as_ptr(), false, 0);
                assert!(code > 0, "a command of ours runs");
                pg_sys::SPI_finish();
            }
        });
    }
}

impl FirstRow {
    /// A column, counted from 1; valid while the row is.
    pub fn value(&self, n: i32) -> Option<pg_sys::Datum> {
        let mut is_null = false;
        // SAFETY: a result of one row at least, which has that column.
        let value = unsafe { pg_sys::SPI_getbinval(*(*self.0).vals, (*self.0).tupdesc, n, &mut is_null) };
        (!is_null).then_some(value)
    }

    /// A copy of a column whose type has values of any length, for the caller.
    pub fn copy(&self, n: i32) -> Option<pg_sys::Datum> {
        // SAFETY: a varlena.
        self.value(n).map(|value| unsafe { pg_sys::SPI_datumTransfer(value, false, -1) })
    }
}

/// Runs without JIT compilation. The planner's estimate for a recursive query, or for the names in a text, is a thousand times too high, and
/// compiling for it took 1.6 s of a call of 1.8 s (12 thousand edges).
fn without_jit<T>(work: impl FnOnce() -> T) -> T {
    with_settings(&[(c"jit", c"off")], work)
}

/// Runs with the server's operators and types, whatever the caller's search_path shows first; names in messages have their schemas.
pub fn with_safe_path<T>(work: impl FnOnce() -> T) -> T {
    with_settings(&[(c"search_path", SAFE_PATH)], work)
}

/// Runs with settings that any user may change. After an ERROR the abort restores them.
pub fn with_settings<T>(settings: &[(&CStr, &CStr)], work: impl FnOnce() -> T) -> T {
    // SAFETY: a level of our own, closed below.
    unsafe {
        let level = pg_sys::NewGUCNestLevel();
        for (name, value) in settings {
            pg_sys::set_config_option(
                name.as_ptr(),
                value.as_ptr(),
                pg_sys::GucContext::PGC_USERSET,
                pg_sys::GucSource::PGC_S_SESSION,
                pg_sys::GucAction::GUC_ACTION_SAVE,
                true,
                0,
                false,
            );
        }
        let done = work();
        pg_sys::AtEOXact_GUC(true, level);
        done
    }
}

/// Marks a plan as in use while this value lives. A PostgreSQL ERROR unwinds through its owner as a panic, so it is always dropped.
struct Used {
    key: Key,
    plan: pg_sys::SPIPlanPtr,
}

impl Drop for Used {
    fn drop(&mut self) {
        KEPT.with_borrow_mut(|kept| {
            if let Some(kept) = kept.get_mut(&self.key) {
                kept.users -= 1;
            }
        });
    }
}

/// # Safety
/// SPI is connected.
unsafe fn plan(statement: &Statement, planning: Planning, types: &mut [pg_sys::Oid]) -> Used {
    let key = (statement.clone(), planning);
    if let Some(plan) = known(&key) {
        return Used { key, plan };
    }
    let options = match planning {
        Planning::Auto => 0,
        Planning::Generic(_) => pg_sys::CURSOR_OPT_GENERIC_PLAN,
        Planning::Custom => pg_sys::CURSOR_OPT_CUSTOM_PLAN,
    };
    // SAFETY: the caller's promise; SPI_prepare_cursor raises on a bad statement.
    let plan = unsafe {
        pg_sys::SPI_prepare_cursor(statement.sql().as_ptr(), types.len() as i32, types.as_mut_ptr(), options as i32)
    };
    assert!(!plan.is_null(), "SPI_prepare_cursor raises or plans");
    // Code called meanwhile may have prepared the same statement.
    if let Some(plan) = known(&key) {
        return Used { key, plan };
    }
    // SAFETY: prepared above; from here on we must free it.
    unsafe { pg_sys::SPI_keepplan(plan) };
    KEPT.with_borrow_mut(|kept| kept.insert(key.clone(), CachedPlan { plan, users: 1 }));
    while let Some(idle) = one_too_many() {
        // SAFETY: a saved plan that is not in use, and no longer in the cache.
        unsafe { pg_sys::SPI_freeplan(idle) };
    }
    Used { key, plan }
}

/// Removes a plan that is not in use from the cache, if the cache has too many.
fn one_too_many() -> Option<pg_sys::SPIPlanPtr> {
    KEPT.with_borrow_mut(|kept| {
        if kept.len() <= PLANS {
            return None;
        }
        let (key, _) = kept.iter().find(|(_, kept)| kept.users == 0)?;
        let key = key.clone();
        kept.remove(&key).map(|kept| kept.plan)
    })
}

/// The cached plan of that statement, if any, with one more user. 42P17 if it is used within itself again and again.
fn known(key: &Key) -> Option<pg_sys::SPIPlanPtr> {
    let users = KEPT.with_borrow(|kept| kept.get(key).map(|kept| kept.users))?;
    if users > NESTED {
        error::endless().report(PgLogLevel::ERROR);
    }
    KEPT.with_borrow_mut(|kept| {
        let kept = kept.get_mut(key)?;
        kept.users += 1;
        Some(kept.plan)
    })
}
