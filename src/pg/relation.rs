//! Open relations, their triggers, and rows with their descriptors, as the relation cache has them.
//!
//! What a reference leads to is read at once: it may change when an invalidation is processed.

#![expect(unsafe_code, reason = "reads the relation cache")]

use crate::pg::compat;
use crate::pg::compat::{Locator, unguarded};
use crate::pg::lookup;
use crate::pg::snapshot::{Snapshot, full_xid};
use pgrx::{PgList, pg_sys};
use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char};
use std::ops::Deref;
use std::slice::from_raw_parts;

/// A relation that is open.
#[repr(transparent)]
pub struct Relation(UnsafeCell<pg_sys::RelationData>);

/// A relation that is closed when this is dropped. Its lock stays until the transaction ends.
pub struct Opened(pg_sys::Relation);

impl Opened {
    /// Takes that lock, then opens the relation; None if there is none.
    pub fn open(relation: pg_sys::Oid, lock: u32) -> Option<Self> {
        // SAFETY: any OID may be asked for.
        Self::of(unsafe { pg_sys::try_relation_open(relation, lock as pg_sys::LOCKMODE) })
    }

    /// Opens a relation that is locked.
    pub fn locked(relation: pg_sys::Oid) -> Option<Self> {
        // SAFETY: any OID may be asked for.
        Self::of(unsafe { pg_sys::RelationIdGetRelation(relation) })
    }

    fn of(relation: pg_sys::Relation) -> Option<Self> {
        (!relation.is_null()).then(|| Self(relation))
    }
}

impl Deref for Opened {
    type Target = Relation;

    fn deref(&self) -> &Relation {
        // SAFETY: open while self lives.
        unsafe { Relation::of(self.0) }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // While an ERROR unwinds, we leave closing to the transaction's abort.
        if !std::thread::panicking() {
            // SAFETY: opened here, closed once.
            unsafe { unguarded::relation_close(self.0, pg_sys::NoLock as pg_sys::LOCKMODE) };
        }
    }
}

impl Relation {
    /// # Safety
    /// A relation that stays open so long.
    pub unsafe fn of<'r>(relation: pg_sys::Relation) -> &'r Self {
        // SAFETY: the caller's promise; it is laid out as the server's.
        unsafe { &*relation.cast() }
    }

    pub fn raw(&self) -> pg_sys::Relation {
        self.0.get()
    }

    fn data(&self) -> &pg_sys::RelationData {
        // SAFETY: open; what is read of it is copied at once.
        unsafe { &*self.raw() }
    }

    pub fn oid(&self) -> pg_sys::Oid {
        self.data().rd_id
    }

    /// The relation's row of pg_class.
    pub fn class(&self) -> &pg_sys::FormData_pg_class {
        // SAFETY: an open relation keeps its place.
        unsafe { &*self.data().rd_rel }
    }

    /// What its rows have.
    pub fn desc(&self) -> &Desc {
        // SAFETY: an open relation has one; an old one stays until the transaction ends.
        unsafe { Desc::of(self.data().rd_att) }
    }

    /// The name without its schema, in the database's encoding.
    pub fn name_bytes(&self) -> Vec<u8> {
        lookup::bytes_of(&self.class().relname).to_vec() // bounded: a name
    }

    /// The file: tablespace, database, number.
    pub fn locator(&self) -> Locator {
        // SAFETY: open.
        unsafe { compat::locator(self.raw()) }
    }

    /// Whether this transaction created it or gave it a new relfilenode.
    pub fn is_rewritten_here(&self) -> bool {
        // SAFETY: open.
        unsafe { compat::rewritten_here(self.raw()) }
    }

    /// Whether something else in this session has it open.
    pub fn is_open_elsewhere(&self) -> bool {
        self.data().rd_refcnt > 1
    }

    /// Pages of its main fork; for a relation that has storage.
    pub fn blocks(&self) -> u32 {
        // SAFETY: open.
        unsafe { pg_sys::RelationGetNumberOfBlocksInFork(self.raw(), pg_sys::ForkNumber::MAIN_FORKNUM) }
    }

    pub fn indexes(&self) -> Vec<pg_sys::Oid> {
        // SAFETY: open; a list of our own.
        let indexes = unsafe { PgList::<pg_sys::Oid>::from_pg(pg_sys::RelationGetIndexList(self.raw())) };
        indexes.iter_oid().collect() // bounded: indexes
    }

    /// The columns, from and to, of its foreign keys of one column to itself.
    pub fn keys_to_itself(&self) -> Vec<(i16, i16)> {
        // SAFETY: open; the list holds nodes of that type.
        let keys = unsafe { PgList::<pg_sys::ForeignKeyCacheInfo>::from_pg(pg_sys::RelationGetFKeyList(self.raw())) };
        // SAFETY: as above.
        let keys = keys.iter_ptr().map(|key| unsafe { &*key });
        let own = keys.filter(|key| key.confrelid == self.oid() && key.nkeys == 1);
        own.map(|key| (key.conkey[0], key.confkey[0])).collect() // bounded: constraints
    }

    /// Its triggers.
    pub fn triggers(&self) -> impl Iterator<Item = Definition<'_>> {
        // SAFETY: null, or as many triggers as it says.
        let all = unsafe {
            match self.data().trigdesc.as_ref() {
                Some(all) if all.numtriggers > 0 => from_raw_parts(all.triggers, all.numtriggers as usize),
                _ => &[],
            }
        };
        all.iter().map(Definition)
    }

    /// Every snapshot in use sees versions below this xid alike, unless this transaction created the relation.
    pub fn horizon(&self) -> u64 {
        // SAFETY: open.
        full_xid(u32::from(unsafe { pg_sys::GetOldestNonRemovableTransactionId(self.raw()) }))
    }
}

macro_rules! locks {
    ($($(#[$doc:meta])* fn $name:ident($($more:expr)?) -> $of:ty = $function:ident;)*) => {
        impl Relation {$(
            $(#[$doc])*
            pub fn $name(&self, mode: pg_sys::LOCKMODE) -> $of {
                // SAFETY: open.
                unsafe { pg_sys::$function(self.raw(), mode $(, $more)?) }
            }
        )*}
    };
}

locks! {
    /// Locks it, and waits for that.
    fn lock() -> () = LockRelation;
    /// Whether this session holds that lock, or a stronger one.
    fn is_locked(true) -> bool = CheckRelationLockedByMe;
    /// Locks it if that takes no waiting.
    fn try_lock() -> bool = ConditionalLockRelation;
    /// Releases a lock; a WARNING if it is not held. The relation stays open without it, but may change.
    fn unlock() -> () = UnlockRelation;
    /// Whether another session waits for a lock that this one holds.
    fn is_wanted() -> bool = LockHasWaitersRelation;
}

/// A trigger, as the relation cache or the trigger manager has it.
#[derive(Clone, Copy)]
pub struct Definition<'r>(&'r pg_sys::Trigger);

impl Deref for Definition<'_> {
    type Target = pg_sys::Trigger;

    fn deref(&self) -> &pg_sys::Trigger {
        self.0
    }
}

impl<'r> Definition<'r> {
    /// # Safety
    /// A trigger of PostgreSQL's, complete.
    pub unsafe fn of(trigger: &'r pg_sys::Trigger) -> Self {
        Self(trigger)
    }

    /// An argument; None if it does not have so many.
    pub fn argument(self, n: i16) -> Option<&'r CStr> {
        // SAFETY: tgargs has tgnargs C strings.
        (0..self.0.tgnargs).contains(&n).then(|| unsafe { CStr::from_ptr(*self.0.tgargs.add(n as usize)) })
    }

    pub fn arguments(self) -> impl Iterator<Item = &'r CStr> + Clone {
        (0..).map_while(move |n| self.argument(n))
    }

    /// The numbers of the columns after UPDATE OF.
    pub fn columns(self) -> &'r [i16] {
        // SAFETY: tgattr has tgnattr numbers, if it has any.
        if self.0.tgnattr > 0 { unsafe { from_raw_parts(self.0.tgattr, self.0.tgnattr as usize) } } else { &[] }
    }

    /// A text of it; None for a null pointer.
    pub fn text(self, field: impl FnOnce(&pg_sys::Trigger) -> *mut c_char) -> Option<&'r CStr> {
        let text = field(self.0);
        // SAFETY: null, or NUL-terminated, as all texts of a trigger are.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
    }

    pub fn name(self) -> &'r CStr {
        self.text(|trigger| trigger.tgname).unwrap_or_default()
    }
}

/// What rows have.
#[repr(transparent)]
pub struct Desc(UnsafeCell<pg_sys::TupleDescData>);

impl Desc {
    /// # Safety
    /// A descriptor that lives so long.
    pub unsafe fn of<'d>(desc: pg_sys::TupleDesc) -> &'d Self {
        // SAFETY: the caller's promise; it is laid out as the server's.
        unsafe { &*desc.cast() }
    }

    pub fn raw(&self) -> pg_sys::TupleDesc {
        self.0.get()
    }

    /// How many columns, those that were dropped included.
    pub fn len(&self) -> i32 {
        // SAFETY: a descriptor.
        unsafe { (*self.raw()).natts }
    }

    /// A column, by its number; None if there are not so many.
    pub fn column(&self, number: i32) -> Option<&pg_sys::FormData_pg_attribute> {
        // SAFETY: a column that is there.
        (1..=self.len()).contains(&number).then(|| unsafe { &*compat::attribute(self.raw(), number - 1) })
    }

    /// The columns, those that were dropped included.
    pub fn columns(&self) -> impl Iterator<Item = &pg_sys::FormData_pg_attribute> {
        (1..).map_while(|number| self.column(number))
    }
}

/// A row with its descriptor.
#[derive(Clone, Copy)]
pub struct Tuple<'t> {
    tuple: pg_sys::HeapTuple,
    pub desc: &'t Desc,
}

impl<'t> Tuple<'t> {
    /// # Safety
    /// A row of that descriptor, which lives so long.
    pub unsafe fn of(tuple: pg_sys::HeapTuple, desc: &'t Desc) -> Self {
        Self { tuple, desc }
    }

    pub fn raw(self) -> pg_sys::HeapTuple {
        self.tuple
    }

    /// A column, by its number; None for NULL, and if there are not so many. What it points to lives as long as the row.
    pub fn value(self, number: i32) -> Option<pg_sys::Datum> {
        let mut is_null = false;
        self.desc.column(number)?;
        // SAFETY: a row with its descriptor, which has that column.
        let value = unsafe { pg_sys::htup::heap_getattr(self.tuple, number, self.desc.raw(), &mut is_null) };
        (!is_null).then_some(value)
    }

    /// The xid that wrote it.
    pub fn xmin(self) -> u32 {
        // SAFETY: a row with its header.
        u32::from(unsafe { pg_sys::htup::HeapTupleHeaderGetRawXmin((*self.tuple).t_data) })
    }

    pub fn tid(self) -> pg_sys::ItemPointerData {
        // SAFETY: a row.
        unsafe { (*self.tuple).t_self }
    }
}

/// Calls `each` for the rows of a catalog that have these OIDs in columns of an index of it, as the snapshot (None: now)
/// sees them. Without keys, the index is InvalidOid.
pub fn each_row<const N: usize>(
    [catalog, index]: [u32; 2],
    keys: [(u32, pg_sys::Oid); N],
    snapshot: Option<Snapshot<'_>>,
    mut each: impl FnMut(Tuple<'_>),
) {
    let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
    // SAFETY: a system catalog scan by index; F_OIDEQ takes two OIDs, as the columns are; everything opened is closed.
    unsafe {
        let rel = pg_sys::table_open(pg_sys::Oid::from(catalog), lock);
        let mut keys = keys.map(|(column, value)| {
            let mut key = pg_sys::ScanKeyData::default();
            let (equal, value) = (pg_sys::BTEqualStrategyNumber as pg_sys::StrategyNumber, pg_sys::Datum::from(value));
            pg_sys::ScanKeyInit(&mut key, column as i16, equal, pg_sys::Oid::from(pg_sys::F_OIDEQ), value);
            key
        });
        let index = pg_sys::Oid::from(index);
        let scan = pg_sys::systable_beginscan(rel, index, N > 0, Snapshot::raw(snapshot), N as i32, keys.as_mut_ptr());
        loop {
            let tuple = pg_sys::systable_getnext(scan);
            if tuple.is_null() {
                break;
            }
            each(Tuple::of(tuple, Desc::of((*rel).rd_att)));
        }
        pg_sys::systable_endscan(scan);
        pg_sys::table_close(rel, lock);
    }
}
