//! What a trigger function is told about the trigger that fires, and about the rows.

#![expect(unsafe_code, reason = "trigger data")]

use crate::call::fmgr::Call;
use crate::pg::compat::Locator;
use crate::pg::relation::{Definition, Relation, Tuple};
use crate::pg::{error_context, lock_owner};
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use std::ffi::{CStr, c_void};
use std::ptr::{from_ref, null_mut};

/// TRIGGER_EVENT_OPMASK, TRIGGER_EVENT_ROW and TRIGGER_EVENT_TIMINGMASK, under which AFTER is 0 (commands/trigger.h).
const OPERATION: u32 = 3;
const ROW: u32 = 4;
const TIMING: u32 = 0x18;

/// What the statement did. [`OPERATIONS`] has them by their numbers in TRIGGER_EVENT_OPMASK.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Insert,
    Delete,
    Update,
    Truncate,
}

const OPERATIONS: [Operation; 4] = [Operation::Insert, Operation::Delete, Operation::Update, Operation::Truncate];

/// A trigger that fires; it lives as long as the call.
#[derive(Clone, Copy)]
pub struct Trigger<'c> {
    data: &'c pg_sys::TriggerData,
}

impl<'c> Trigger<'c> {
    /// The trigger that made the call; None if none did.
    pub fn of(call: &'c Call) -> Option<Self> {
        call.trigger().map(|data| Self { data })
    }

    pub fn data(&self) -> &'c pg_sys::TriggerData {
        self.data
    }

    pub fn operation(&self) -> Operation {
        OPERATIONS[(self.data.tg_event & OPERATION) as usize]
    }

    pub fn is_after(&self) -> bool {
        self.data.tg_event & TIMING == 0
    }

    pub fn is_for_each_row(&self) -> bool {
        self.data.tg_event & ROW != 0
    }

    pub fn table(&self) -> pg_sys::Oid {
        self.relation().oid()
    }

    /// The table, which is open.
    pub fn relation(&self) -> &'c Relation {
        // SAFETY: open while the trigger runs.
        unsafe { Relation::of(self.data.tg_relation) }
    }

    fn definition(&self) -> Definition<'c> {
        // SAFETY: the trigger manager's copy, which lives as long as the call.
        unsafe { Definition::of(&*self.data.tg_trigger) }
    }

    pub fn id(&self) -> pg_sys::Oid {
        self.definition().tgoid
    }

    /// How many arguments it has.
    pub fn arguments(&self) -> i16 {
        self.definition().tgnargs
    }

    /// An argument; None if it does not have so many.
    pub fn argument(&self, n: i16) -> Option<&'c CStr> {
        self.definition().argument(n)
    }

    /// The table's file.
    pub fn locator(&self) -> Locator {
        self.relation().locator()
    }

    pub fn name(&self) -> &'c CStr {
        self.definition().name()
    }

    /// Whether it names transition tables so; with None, whether it has none.
    pub fn names_tables(&self, new: Option<&CStr>, old: Option<&CStr>) -> bool {
        let definition = self.definition();
        definition.text(|trigger| trigger.tgnewtable) == new && definition.text(|trigger| trigger.tgoldtable) == old
    }

    pub fn has_tables(&self) -> bool {
        !self.data.tg_newtable.is_null() || !self.data.tg_oldtable.is_null()
    }

    /// How many rows the transition tables have: the old one and the new one, where there is one.
    pub fn counts(&self) -> [Option<i64>; 2] {
        let count = |store: *mut pg_sys::Tuplestorestate| {
            // SAFETY: null, or the trigger manager's, or made by `with_tables_of_row`.
            (!store.is_null()).then(|| unsafe { pg_sys::tuplestore_tuple_count(store) })
        };
        [self.data.tg_oldtable, self.data.tg_newtable].map(count)
    }

    /// The row before and after; neither if it fires for each statement.
    pub fn rows(&self) -> [Option<Tuple<'c>>; 2] {
        let (first, second) = (self.data.tg_trigtuple, self.data.tg_newtuple);
        let (old, new) = match self.operation() {
            Operation::Insert => (None, Some(first)),
            Operation::Delete => (Some(first), None),
            Operation::Update => (Some(first), Some(second)),
            Operation::Truncate => (None, None),
        };
        let desc = self.relation().desc();
        // SAFETY: rows of the table, which live as long as the call.
        let row = |tuple| unsafe { Tuple::of(tuple, desc) };
        [old, new].map(|tuple| tuple.filter(|tuple| !tuple.is_null()).map(row))
    }

    /// The trigger with transition tables that have its row.
    pub fn with_tables_of_row(self) -> Self {
        // SAFETY: tuplestores with copies of rows, and a copy of the data, in the current memory context, which is the
        // call's.
        unsafe {
            let table = |row: Tuple<'_>| {
                let table = pg_sys::tuplestore_begin_heap(false, false, pg_sys::work_mem);
                pg_sys::tuplestore_puttuple(table, row.raw());
                table
            };
            let [tg_oldtable, tg_newtable] = self.rows().map(|row| row.map_or(null_mut(), table));
            let data = pg_sys::palloc(size_of::<pg_sys::TriggerData>()).cast::<pg_sys::TriggerData>();
            data.write(pg_sys::TriggerData { tg_oldtable, tg_newtable, ..*self.data });
            Self { data: &*data }
        }
    }

    /// Locks the trigger against others who call this. The transaction holds the lock: a cursor's could be released
    /// while the row stays.
    pub fn lock(&self) {
        let lock = pg_sys::ExclusiveLock as pg_sys::LOCKMODE;
        let trigger = self.id();
        // SAFETY: any object may be locked.
        let take = || unsafe { pg_sys::LockDatabaseObject(pg_sys::TriggerRelationId, trigger, 0, lock) };
        lock_owner::to_the_end(|| error_context::with_error_context(None, take));
    }

    /// Raises an error that carries table and trigger in fields of their own, as errors of PostgreSQL's constraints do:
    /// while it is raised, the entries on the stack of contexts can add to it. The error's handler pops the entry.
    pub fn raise(&self, error: ErrorReport) -> ! {
        #[pg_guard]
        unsafe extern "C-unwind" fn say(data: *mut c_void) {
            // SAFETY: the data of a trigger that raises.
            unsafe {
                let data = &*data.cast::<pg_sys::TriggerData>();
                pg_sys::errtableconstraint(data.tg_relation, (*data.tg_trigger).tgname);
            }
        }
        // SAFETY: the entry lives as long as the call, and the error is raised at once; nothing else happens before.
        unsafe {
            let entry = pg_sys::palloc0(size_of::<pg_sys::ErrorContextCallback>()).cast();
            *entry = pg_sys::ErrorContextCallback {
                previous: pg_sys::error_context_stack,
                callback: Some(say),
                arg: from_ref(self.data).cast_mut().cast(),
            };
            pg_sys::error_context_stack = entry;
        }
        error.report(PgLogLevel::ERROR);
        unreachable!("an error is raised");
    }
}
