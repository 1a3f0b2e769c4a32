//! Rows of pg_trigger, read by index under the caller's snapshot, with their raw xmin. The relation cache will not do,
//! because a transaction is visible before its invalidations arrive.

#![expect(unsafe_code, reason = "reads system catalogs")]

use crate::call::text::text_bytes;
use crate::catalog::columns;
use crate::catalog::columns::{ColumnNames, IDS};
use crate::pg::encoding;
use crate::pg::relation::{Tuple, each_row};
use crate::pg::snapshot::Snapshot;
use cftrag_core::Language;
use pgrx::pg_sys;
use std::ops::Deref;

/// A row of pg_trigger and its TID.
#[derive(Clone, Copy)]
pub struct Place {
    pub key: TriggerKey,
    pub tid: pg_sys::ItemPointerData,
}

/// Identifies one version of a pg_trigger row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct TriggerKey {
    pub oid: u32,
    pub xmin: u32,
}

/// pg_depend, its index on the referenced object, its columns (catalog/pg_depend.h): these never change, and pgrx does
/// not bind them.
const DEPEND: u32 = 2608;

const DEPEND_REFERENCE_INDEX: u32 = 2674;

const DEPEND_CLASSID: i32 = 1;

const DEPEND_OBJID: i32 = 2;

const DEPEND_REFCLASSID: u32 = 4;

const DEPEND_REFOBJID: u32 = 5;

/// pg_trigger_oid_index (catalog/pg_trigger.h).
const OID_INDEX: u32 = 2702;

/// Whether the trigger's current row is still the version that the key identifies.
pub fn is_still(key: TriggerKey) -> bool {
    let mut still = false;
    that_is(pg_sys::Oid::from(key.oid), None, |row| still = row.place().key == key);
    still
}

/// The triggers that depend on an object, as the snapshot (None: now) sees it.
pub fn that_depend_on(class: pg_sys::Oid, object: pg_sys::Oid, snapshot: Option<Snapshot<'_>>) -> Vec<pg_sys::Oid> {
    let mut triggers = Vec::new();
    let keys = [(DEPEND_REFCLASSID, class), (DEPEND_REFOBJID, object)];
    each_row([DEPEND, DEPEND_REFERENCE_INDEX], keys, snapshot, |row| {
        let oid = |column| row.value(column).map(|value| pg_sys::Oid::from(value.value() as u32));
        if oid(DEPEND_CLASSID) == Some(pg_sys::TriggerRelationId) {
            triggers.extend(oid(DEPEND_OBJID));
        }
    });
    triggers
}

/// A row of pg_trigger, while it is the current one of a scan.
pub struct Row<'s>(Tuple<'s>);

/// Calls `each` for the triggers of a table, as the snapshot (None: now) sees them.
pub fn of_table(table: pg_sys::Oid, snapshot: Option<Snapshot<'_>>, each: impl FnMut(&Row<'_>)) {
    scan(pg_sys::TriggerRelidNameIndexId, pg_sys::Anum_pg_trigger_tgrelid, table, snapshot, each);
}

/// Calls `each` for a trigger, if it is there, as the snapshot (None: now) sees it.
pub fn that_is(trigger: pg_sys::Oid, snapshot: Option<Snapshot<'_>>, each: impl FnMut(&Row<'_>)) {
    scan(OID_INDEX, pg_sys::Anum_pg_trigger_oid, trigger, snapshot, each);
}

/// Calls `each` for the rows that have this OID in a column of the index, as the snapshot (None: now) sees them.
fn scan(index: u32, column: u32, key: pg_sys::Oid, snapshot: Option<Snapshot<'_>>, mut each: impl FnMut(&Row<'_>)) {
    let catalog = u32::from(pg_sys::TriggerRelationId);
    each_row([catalog, index], [(column, key)], snapshot, |row| each(&Row(row)));
}

/// The most bytes of arguments, more than ten column names need. We do not read longer ones: any user can create a
/// trigger with a gigabyte of them.
pub const ARGUMENTS: usize = 1024;

/// Arguments before those of other names.
const FIXED: i16 = *columns::ARGUMENTS.end() - columns::MOST_NAMES as i16;

impl Deref for Row<'_> {
    type Target = pg_sys::FormData_pg_trigger;

    fn deref(&self) -> &pg_sys::FormData_pg_trigger {
        // SAFETY: a pg_trigger tuple.
        unsafe { &*pg_sys::GETSTRUCT(self.0.raw()).cast() }
    }
}

impl Row<'_> {
    pub fn place(&self) -> Place {
        Place { key: TriggerKey { oid: u32::from(self.oid), xmin: self.0.xmin() }, tid: self.0.tid() }
    }

    fn value(&self, column: u32) -> Option<pg_sys::Datum> {
        self.0.value(column as i32)
    }

    /// The numbers of the columns after UPDATE OF.
    pub fn columns(&self) -> &[i16] {
        // SAFETY: tgattr has dim1 numbers.
        unsafe { self.tgattr.values.as_slice(usize::try_from(self.tgattr.dim1).unwrap_or_default()) }
    }

    /// Whether the trigger has no WHEN and no column list, and is neither a constraint trigger nor internal.
    pub fn is_plain(&self) -> bool {
        let has_when = self.value(pg_sys::Anum_pg_trigger_tgqual).is_some();
        !has_when && self.tgattr.dim1 == 0 && self.tgconstraint == pg_sys::InvalidOid && !self.tgisinternal
    }

    /// The trigger's arguments, each with a NUL after it. None if they are longer than [`ARGUMENTS`].
    pub fn argument_bytes(&self) -> Option<Vec<u8>> {
        let arguments = self.value(pg_sys::Anum_pg_trigger_tgargs)?;
        // SAFETY: tgargs is a bytea.
        unsafe {
            let is_short = pg_sys::toast_raw_datum_size(arguments) <= ARGUMENTS + pg_sys::VARHDRSZ;
            is_short.then(|| text_bytes(arguments).to_vec()) // bounded: ARGUMENTS
        }
    }

    /// The columns that the trigger's arguments name. None if there are too few, too many or too long ones, or a
    /// language that this version does not know: it cannot tell which names it would find.
    pub fn arguments(&self) -> Option<ColumnNames> {
        let count = self.tgnargs;
        if !columns::ARGUMENTS.contains(&count) {
            return None;
        }
        let bytes = self.argument_bytes()?;
        let mut parts = bytes.split(|b| *b == 0).map(encoding::decode);
        let (parent, child) = (parts.next()?, parts.next()?);
        let mut other =
            |at: i16| if count > at { parts.next().map(|name| (!name.is_empty()).then_some(name)) } else { Some(None) };
        let (tree, label) = (other(2)?, other(3)?);
        let ids = other(4)?.is_some_and(|word| word == IDS);
        let position = other(5)?;
        let language = other(6)?.map_or(Some(Language::default()), |name| Language::of(&name))?;
        let preferred = other(7)?;
        let names = parts.take(usize::try_from(count - FIXED).unwrap_or_default()).collect(); // bounded: ARGUMENTS
        Some(ColumnNames { parent, child, tree, label, names, preferred, ids, position, language })
    }
}
