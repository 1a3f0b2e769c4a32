//! Creates and drops triggers by OID, as CREATE TRIGGER and DROP TRIGGER do. We build no statement text, so nothing
//! needs quoting and a rename does no harm. What is created: by api/attach.rs (edges, names of entities),
//! api/triggers.rs and register.rs (documents, embeddings and what else SQL attaches), retrieve/links.rs (links).
//!
//! The caller needs the rights that the statements need: USAGE on the schemas, TRIGGER on the table and on the one
//! after FROM, EXECUTE on the function; ownership to drop. We check them before we wait for a lock, and again under it.
//! Event triggers do not fire.

#![expect(unsafe_code, reason = "calls PostgreSQL's commands")]

use crate::catalog::privileges;
use crate::error::Fallible;
use crate::pg::error_context::with_error_context;
use crate::pg::{backend, lookup};
use pgrx::{PgList, pg_sys};
use std::ffi::{CStr, CString, c_void};
use std::ptr::null_mut;

/// When a trigger fires: as CREATE TRIGGER makes it, or as ALTER TABLE ... ENABLE ALWAYS or REPLICA TRIGGER would have
/// it.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Fires {
    OnOrigin = pg_sys::TRIGGER_FIRES_ON_ORIGIN,
    Always = pg_sys::TRIGGER_FIRES_ALWAYS,
    OnReplica = pg_sys::TRIGGER_FIRES_ON_REPLICA,
}

/// An AFTER trigger.
pub struct Trigger<'a> {
    pub table: pg_sys::Oid,
    /// The table after FROM; makes it a constraint trigger.
    pub from: Option<pg_sys::Oid>,
    pub name: &'a CStr,
    pub function: pg_sys::Oid,
    /// The events that fire it: TRIGGER_TYPE_INSERT, ....
    pub events: u32,
    pub each_row: bool,
    /// The columns after UPDATE OF; if empty, all.
    pub columns: &'a [CString],
    pub arguments: &'a [CString],
    /// Names of the transition tables: new rows, old rows.
    pub new_table: Option<&'a CStr>,
    pub old_table: Option<&'a CStr>,
    /// WHEN (false).
    pub never: bool,
    pub fires: Fires,
    /// OR REPLACE.
    pub replace: bool,
}

impl Trigger<'_> {
    /// A trigger on that table, with nothing else set yet.
    pub fn on(table: pg_sys::Oid) -> Self {
        Self {
            table,
            from: None,
            name: c"",
            function: pg_sys::InvalidOid,
            events: 0,
            each_row: false,
            columns: &[],
            arguments: &[],
            new_table: None,
            old_table: None,
            never: false,
            fires: Fires::OnOrigin,
            replace: false,
        }
    }

    /// Checks the rights that CREATE TRIGGER and ALTER TABLE ... ENABLE TRIGGER need. 42P01, 42883, 42501.
    fn require_rights(&self) -> Fallible<()> {
        if self.fires != Fires::OnOrigin {
            privileges::require_owner(self.table)?;
        }
        privileges::require_trigger(self.table)?;
        self.from.map_or(Ok(()), privileges::require_trigger)?;
        privileges::require_execute(self.function)
    }
}

/// The first name that no trigger of the table has: `base`, then base_2, and so on.
pub fn free_name(table: pg_sys::Oid, base: &str) -> CString {
    let numbered = (2..).map(|n| format!("{base}_{n}"));
    let names = std::iter::once(base.to_string()).chain(numbered);
    // SAFETY: a catalog lookup by name.
    let is_free = |name: &CString| unsafe { pg_sys::get_trigger_oid(table, name.as_ptr(), true) } == pg_sys::InvalidOid;
    names.filter_map(|name| CString::new(name).ok()).find(is_free).unwrap_or_default()
}

/// Creates the trigger, and makes it visible to the commands that follow. Errors: CREATE TRIGGER's.
pub fn create(trigger: &Trigger<'_>) -> Fallible<()> {
    backend::prevent(c"CREATE TRIGGER");
    trigger.require_rights()?;
    let locks = [(Some(trigger.table), pg_sys::ShareRowExclusiveLock), (trigger.from, pg_sys::AccessShareLock)];
    // We may wait here; in a deadlock, only the log shows the statements.
    with_error_context(None, || {
        for (table, lock) in locks {
            if let Some(table) = table {
                lookup::LockRelationOid(table, lock as pg_sys::LOCKMODE);
            }
        }
    });
    trigger.require_rights()?;
    // SAFETY: a statement as the parser makes it, in the current memory context; relations and function by OID, which
    // the command checks.
    unsafe {
        let strings = |texts: &[CString]| {
            let mut list = PgList::<c_void>::new();
            for text in texts {
                list.push(pg_sys::makeString(pg_sys::pstrdup(text.as_ptr())).cast());
            }
            list.into_pg()
        };
        let mut transitions = PgList::<c_void>::new();
        for (name, is_new) in [(trigger.new_table, true), (trigger.old_table, false)] {
            if let Some(name) = name {
                let node = pg_sys::palloc0(size_of::<pg_sys::TriggerTransition>()).cast::<pg_sys::TriggerTransition>();
                (*node).type_ = pg_sys::NodeTag::T_TriggerTransition;
                (*node).name = pg_sys::pstrdup(name.as_ptr());
                (*node).isNew = is_new;
                (*node).isTable = true;
                transitions.push(node.cast());
            }
        }
        let statement = pg_sys::palloc0(size_of::<pg_sys::CreateTrigStmt>()).cast::<pg_sys::CreateTrigStmt>();
        (*statement).type_ = pg_sys::NodeTag::T_CreateTrigStmt;
        (*statement).replace = trigger.replace;
        (*statement).isconstraint = trigger.from.is_some();
        (*statement).trigname = pg_sys::pstrdup(trigger.name.as_ptr());
        let mut function = PgList::<c_void>::new();
        function.push(pg_sys::makeString(pg_sys::get_func_name(trigger.function)).cast());
        (*statement).funcname = function.into_pg();
        (*statement).args = strings(trigger.arguments);
        (*statement).row = trigger.each_row;
        (*statement).events = trigger.events as i16;
        (*statement).columns = strings(trigger.columns);
        (*statement).transitionRels = transitions.into_pg();
        let none = pg_sys::InvalidOid;
        let when = if trigger.never { pg_sys::makeBoolConst(false, false) } else { null_mut() };
        pg_sys::CreateTriggerFiringOn(
            statement,
            null_mut(),
            trigger.table,
            trigger.from.unwrap_or(none),
            none,
            none,
            trigger.function,
            none,
            when,
            false,
            false,
            trigger.fires as u8 as std::ffi::c_char,
        );
        pg_sys::CommandCounterIncrement();
    }
    Ok(())
}

/// If `which` finds triggers, locks the table as DROP TRIGGER does and drops those that `which` finds under the lock.
/// Returns whether there were any. Errors: 42P01, 42501 (not the owner), DROP TRIGGER's.
pub fn drop(table: pg_sys::Oid, which: impl Fn() -> Vec<pg_sys::Oid>) -> Fallible<bool> {
    privileges::require_owner(table)?;
    if which().is_empty() {
        return Ok(false);
    }
    backend::prevent(c"DROP TRIGGER");
    let lock = pg_sys::AccessExclusiveLock as pg_sys::LOCKMODE;
    with_error_context(None, || lookup::LockRelationOid(table, lock));
    privileges::require_owner(table)?;
    let triggers = which();
    delete(&triggers);
    Ok(!triggers.is_empty())
}

/// Drops triggers on other tables which say that these belong to `table`, as DROP TABLE of it would: its owner may.
/// Returns whether there were any. Errors: 42P01, 42501 (not the owner).
pub fn drop_from(table: pg_sys::Oid, triggers: &[pg_sys::Oid]) -> Fallible<bool> {
    privileges::require_owner(table)?;
    if !triggers.is_empty() {
        backend::prevent(c"DROP TRIGGER");
        delete(triggers);
    }
    Ok(!triggers.is_empty())
}

fn delete(triggers: &[pg_sys::Oid]) {
    // We may wait here for the table of a trigger; in a deadlock, only the log shows the statements.
    with_error_context(None, || {
        for trigger in triggers {
            let object =
                pg_sys::ObjectAddress { classId: pg_sys::TriggerRelationId, objectId: *trigger, objectSubId: 0 };
            // SAFETY: an object, whose table it locks; it raises XX000 if that has gone.
            unsafe { pg_sys::performDeletion(&object, pg_sys::DropBehavior::DROP_RESTRICT, 0) };
        }
    });
    backend::next_command();
}

/// Takes a lock to the end of the transaction, for a command that will create triggers. Raises what creating one would
/// raise now.
pub fn lock(table: pg_sys::Oid, lock: u32) -> Fallible<()> {
    backend::prevent(c"CREATE TRIGGER");
    privileges::require_trigger(table)?;
    // We may wait here; in a deadlock, only the log shows the statements.
    with_error_context(None, || lookup::LockRelationOid(table, lock as pg_sys::LOCKMODE));
    privileges::require_trigger(table)
}
