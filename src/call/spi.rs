//! Statements that run through SPI.
//!
//! What a statement returns lives until its connection ends. So it is passed to a closure, which runs within the
//! connection.

#![expect(unsafe_code, reason = "SPI, called directly")]

use crate::call::array::Texts;
use crate::call::fmgr::{Rows, with_room_for_errors};
use crate::call::text::Text;
use crate::call::trigger::Trigger;
use crate::call::tuple::{is_varlena, varlena};
use crate::error::Fallible;
use crate::pg::compat;
use crate::pg::error_context::with_error_context;
use crate::pg::interrupt::ROWS_BETWEEN_CHECKS;
use crate::pg::relation::{Desc, Tuple};
use crate::pg::settings::without_jit;
use pgrx::pg_sys::{Datum, Oid};
use pgrx::{check_for_interrupts, pg_sys};
use std::ffi::{CStr, c_char, c_long};
use std::ptr::{from_ref, null, null_mut};
use std::slice::from_raw_parts;

/// A parameter: its type, and a value or NULL.
pub type Value = (Oid, Option<Datum>);

/// Shows that SPI is connected: only [`connected`] makes one, and lends it.
pub struct Connection {
    /// The memory context in which SPI was connected.
    outside: pg_sys::MemoryContext,
}

/// Runs `work` with SPI connected, and the transition tables of the trigger known to its statements.
pub fn connected<R>(beside: Option<&Trigger<'_>>, work: impl FnOnce(&Connection) -> R) -> R {
    // SAFETY: connections nest; after an ERROR the abort ends this one. The trigger's tables outlive it.
    unsafe {
        let spi = Connection { outside: pg_sys::CurrentMemoryContext };
        pg_sys::SPI_connect();
        if let Some(trigger) = beside {
            pg_sys::SPI_register_trigger_data(from_ref(trigger.data()).cast_mut());
        }
        let done = work(&spi);
        pg_sys::SPI_finish();
        done
    }
}

/// A plan that outlives its connection. Dropping it does not free it.
pub struct Plan {
    plan: pg_sys::SPIPlanPtr,
    types: Vec<Oid>,
}

impl Plan {
    /// Plans a statement with parameters of these types. `options`: CURSOR_OPT_GENERIC_PLAN and the like.
    pub fn new(_: &Connection, sql: &CStr, types: Vec<Oid>, options: u32) -> Self {
        // SAFETY: SPI is connected; it raises on a bad statement, and copies the types.
        unsafe {
            let (count, first) = (types.len() as i32, types.as_ptr().cast_mut());
            let plan = pg_sys::SPI_prepare_cursor(sql.as_ptr(), count, first, options as i32);
            assert!(!plan.is_null(), "SPI_prepare_cursor raises or plans");
            pg_sys::SPI_keepplan(plan);
            Self { plan, types }
        }
    }

    pub fn free(self) {
        // SAFETY: a kept plan, which nobody else has.
        unsafe { pg_sys::SPI_freeplan(self.plan) };
    }

    fn takes(&self, values: &[Value]) {
        assert!(values.iter().map(|(of, _)| of).eq(&self.types), "values of the types that the plan is for");
    }
}

/// Values and NULLs as SPI wants them.
fn parts(values: &[Value]) -> (Vec<Datum>, Vec<c_char>) {
    let mark = |value: Option<Datum>| if value.is_some() { b' ' } else { b'n' } as c_char;
    values.iter().map(|(_, value)| (value.unwrap_or(Datum::null()), mark(*value))).unzip()
}

impl Connection {
    /// Runs a SELECT under the active snapshot; its select list matches the row type of `rows`. Returns the number of
    /// rows.
    pub fn select_into(&self, plan: &Plan, values: &[Value], rows: Rows) -> u64 {
        self.execute(plan, values, Some(rows))
    }

    /// Runs a SELECT under the active snapshot, and passes its rows to `take`.
    pub fn select<R>(&self, plan: &Plan, values: &[Value], take: impl FnOnce(&Table<'_>) -> R) -> R {
        self.execute(plan, values, None);
        take(&Table::last(self))
    }

    fn execute(&self, plan: &Plan, values: &[Value], into: Option<Rows>) -> u64 {
        plan.takes(values);
        // SAFETY: SPI is connected; the plan takes these values. The receiver is freed with SPI's memory; the
        // tuplestore is outside it.
        unsafe {
            let params = pg_sys::makeParamList(values.len() as i32);
            for (i, (of, value)) in values.iter().enumerate() {
                *(*params).params.as_mut_ptr().add(i) = pg_sys::ParamExternData {
                    value: value.unwrap_or(Datum::null()),
                    isnull: value.is_none(),
                    pflags: pg_sys::PARAM_FLAG_CONST as u16,
                    ptype: *of,
                };
            }
            let mut options = pg_sys::SPIExecuteOptions { params, read_only: true, ..Default::default() };
            if let Some(rows) = into {
                let (dest, store) = (pg_sys::CreateDestReceiver(pg_sys::CommandDest::DestTuplestore), rows.store());
                compat::unbound::SetTuplestoreDestReceiverParams(dest, store, self.outside, false, null_mut(), null());
                options.dest = dest;
            }
            let run = || with_room_for_errors(|| compat::plain::SPI_execute_plan_extended(plan.plan, &options));
            assert_eq!(without_jit(run), pg_sys::SPI_OK_SELECT as i32, "a statement of ours is a SELECT");
            pg_sys::SPI_processed
        }
    }

    /// Runs a statement that may write, under a snapshot of before it was planned, and passes the rows that it returns
    /// to `take`.
    pub fn change<P: AsRef<Plan>, R>(
        &self,
        plan: impl FnOnce() -> P,
        values: &[Value],
        take: impl FnOnce(&Table<'_>) -> R,
    ) -> R {
        // SAFETY: SPI is connected, and copies the snapshot; the plan takes these values.
        let code = unsafe {
            let (latest, plan) = (pg_sys::GetLatestSnapshot(), plan());
            plan.as_ref().takes(values);
            let (mut values, nulls) = parts(values);
            let (plan, values, nulls) = (plan.as_ref().plan, values.as_mut_ptr(), nulls.as_ptr());
            without_jit(|| pg_sys::SPI_execute_snapshot(plan, values, nulls, latest, null_mut(), false, true, 0))
        };
        assert!(code > 0, "a statement of ours runs");
        take(&Table::last(self))
    }

    /// Runs a statement or a command that is planned for this once, and sees what this statement has changed. Passes
    /// the rows that it returns to `take`.
    pub fn once<R>(&self, sql: &CStr, values: &[Value], take: impl FnOnce(&Table<'_>) -> R) -> R {
        let mut types: Vec<Oid> = values.iter().map(|(of, _)| *of).collect(); // bounded: parameters
        let (mut values, nulls) = parts(values);
        let code = with_error_context(Some(sql), || {
            let (count, types, values) = (types.len() as i32, types.as_mut_ptr(), values.as_mut_ptr());
            // SAFETY: SPI is connected; as many values and NULLs as types.
            unsafe { pg_sys::SPI_execute_with_args(sql.as_ptr(), count, types, values, nulls.as_ptr(), false, 0) }
        });
        assert!(code > 0, "a statement of ours runs");
        take(&Table::last(self))
    }

    /// Passes each row of a SELECT to `take`, under the active snapshot, until `take` fails. What `take` allocates in
    /// PostgreSQL's memory, copies of compressed values for example, lives until it returns.
    pub fn scan(&self, sql: &CStr, mut take: impl FnMut(&Row<'_>) -> Fallible<()>) -> Fallible<()> {
        // SAFETY: SPI is connected, and frees the memory of a row with its own; a batch lives until it is freed.
        unsafe {
            let sizes = [pg_sys::ALLOCSET_DEFAULT_MINSIZE, pg_sys::ALLOCSET_DEFAULT_INITSIZE];
            let [least, first] = sizes.map(|size| size as usize);
            let most = pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize;
            let outside = pg_sys::CurrentMemoryContext;
            let memory = pg_sys::AllocSetContextCreateInternal(outside, c"cftrag row".as_ptr(), least, first, most);
            let mut take_row = |row: Row<'_>| {
                check_for_interrupts!();
                let taken = take(&row);
                if !(*memory).isReset {
                    pg_sys::MemoryContextReset(memory);
                }
                taken
            };
            let plan = pg_sys::SPI_prepare(sql.as_ptr(), 0, null_mut());
            assert!(!plan.is_null(), "SPI_prepare raises or plans");
            let portal = without_jit(|| pg_sys::SPI_cursor_open(null(), plan, null_mut(), null(), true));
            let done = loop {
                without_jit(|| pg_sys::SPI_cursor_fetch(portal, true, ROWS_BETWEEN_CHECKS as c_long));
                let batch = Table::last(self);
                pg_sys::MemoryContextSwitchTo(memory);
                let (count, done) = (batch.len(), batch.rows().try_for_each(&mut take_row));
                pg_sys::MemoryContextSwitchTo(outside);
                pg_sys::SPI_freetuptable(batch.table);
                if count == 0 || done.is_err() {
                    break done;
                }
            };
            pg_sys::SPI_cursor_close(portal);
            done
        }
    }
}

/// The rows of a result.
pub struct Table<'s> {
    table: *mut pg_sys::SPITupleTable,
    rows: &'s [pg_sys::HeapTuple],
    /// None if the statement returns no rows.
    desc: Option<&'s Desc>,
}

/// A row of a result.
#[derive(Clone, Copy)]
pub struct Row<'t>(Tuple<'t>);

impl<'s> Table<'s> {
    /// What the last statement of a connection returned.
    fn last(_: &'s Connection) -> Self {
        // SAFETY: null if it returns no rows, or `numvals` rows, which live as long as the closures that see this.
        unsafe {
            let table = pg_sys::SPI_tuptable;
            let (rows, desc) = match table.as_ref() {
                Some(of) if of.numvals > 0 => {
                    (from_raw_parts(of.vals, of.numvals as usize), Some(Desc::of(of.tupdesc)))
                }
                _ => (&[][..], None),
            };
            Self { table, rows, desc }
        }
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        // SAFETY: rows of that descriptor.
        let row = |tuple: &_| self.desc.map(|desc| Row(unsafe { Tuple::of(*tuple, desc) }));
        self.rows.iter().filter_map(row)
    }
}

impl<'t> Row<'t> {
    /// A column, counted from 1; None for NULL and for a column that does not exist. What it points to lives as long as
    /// the row.
    pub fn value(&self, n: i32) -> Option<Datum> {
        self.0.value(n)
    }

    /// A column of type text.
    pub fn text(&self, n: i32) -> Option<&'t [u8]> {
        // SAFETY: a value of this row; its copy, if one is made, lives as long as SPI is connected.
        self.value(n).map(|value| unsafe { varlena(self.0.desc, n, value) })
    }

    /// A column of type bigint.
    pub fn long(&self, n: i32) -> Option<i64> {
        self.value(n).map(|value| value.value() as i64)
    }

    /// The elements of a column of type text[]. 53200.
    pub fn texts(&self, n: i32) -> Fallible<Option<impl Iterator<Item = Option<&'t [u8]>> + Clone>> {
        let is_array = self.0.desc.column(n).is_some_and(|column| column.atttypid == pg_sys::TEXTARRAYOID);
        assert!(is_array, "a column of type text[]");
        // SAFETY: a text[] of this row; its copy, if one is made, lives as long as SPI is connected.
        let array = |value| unsafe { Texts::of(Text::here(value)) };
        self.value(n).map(|value| array(value).elements()).transpose()
    }

    /// A copy of a column of type text or of an array type, for the caller.
    pub fn copy(&self, n: i32) -> Option<Datum> {
        assert!(is_varlena(self.0.desc, n), "a column of type text or of an array type");
        // SAFETY: a varlena of this row.
        self.value(n).map(|value| unsafe { pg_sys::SPI_datumTransfer(value, false, -1) })
    }
}
