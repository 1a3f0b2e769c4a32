//! Who holds a lock on a table, and who waits for this transaction: what pg_locks shows, read from the lock manager.
//!
//! We do not use GetLockConflicts: it finds conflicts with one mode, and every mode that conflicts with writing also
//! conflicts with ShareUpdateExclusiveLock, whose holders (VACUUM, CREATE INDEX CONCURRENTLY) write no rows and may
//! wait for our snapshot. Nor LockHasWaiters, which reads a null pointer for a lock taken by the fast path.

#![expect(unsafe_code, reason = "reads the lock manager's tables")]

use crate::pg::backend;
use crate::pg::compat;
use crate::pg::compat::numbers;
use pgrx::pg_sys;

type Transaction = pg_sys::VirtualTransactionId;

const fn bit(mode: u32) -> i32 {
    1 << mode
}

/// A transaction that inserts, updates or deletes holds one of these until it ends.
const WRITES: i32 = bit(pg_sys::RowExclusiveLock)
    | bit(pg_sys::ShareRowExclusiveLock)
    | bit(pg_sys::ExclusiveLock)
    | bit(pg_sys::AccessExclusiveLock);

/// The mode that keeps a worker, which takes AccessShareLock, from the table.
const KEEPS_A_WORKER_OUT: i32 = bit(pg_sys::AccessExclusiveLock);

/// All locks of the server at this moment. A lock held from before the call until after it is among them.
struct Locks(pub *mut pg_sys::LockData);

impl Locks {
    fn now() -> Self {
        // SAFETY: a palloc'd copy.
        Self(unsafe { pg_sys::GetLockStatusData() })
    }

    fn all(&self) -> &[pg_sys::LockInstanceData] {
        // SAFETY: `nelements` entries; ours until drop.
        unsafe {
            match (*self.0).nelements {
                0 => &[],
                n => std::slice::from_raw_parts((*self.0).locks, n as usize),
            }
        }
    }
}

impl Drop for Locks {
    fn drop(&mut self) {
        // SAFETY: both palloc'd by GetLockStatusData; these calls are made in loops.
        unsafe {
            pg_sys::pfree((*self.0).locks.cast());
            pg_sys::pfree(self.0.cast());
        }
    }
}

fn on(lock: &pg_sys::LockInstanceData, table: pg_sys::Oid) -> bool {
    let database = backend::database();
    let tag = &lock.locktag;
    u32::from(tag.locktag_type) == pg_sys::LockTagType::LOCKTAG_RELATION
        && tag.locktag_field1 == database
        && tag.locktag_field2 == u32::from(table)
}

fn holders(table: pg_sys::Oid, modes: i32) -> Vec<Transaction> {
    let (locks, me) = (Locks::now(), compat::my_transaction());
    let held = locks.all().iter().filter(|lock| lock.holdMask & modes != 0 && on(lock, table));
    // A transaction that has ended but not yet released its locks has no number any more: its changes are visible.
    held.map(compat::owner_of).filter(|t| t.localTransactionId != 0 && !compat::same_transaction(t, &me)).collect()
}

/// Other transactions that may have written to the table, prepared ones included.
pub fn writers(table: pg_sys::Oid) -> Vec<Transaction> {
    holders(table, WRITES)
}

/// Waits for the end of each transaction that may have written. Waits as CREATE INDEX CONCURRENTLY does, so that
/// pg_locks shows it, lock_timeout ends it (55P03) and the deadlock detector sees it.
pub fn join_writers(table: pg_sys::Oid) {
    join(writers(table));
}

/// Waits for the end of transactions that keep a worker from its scan's lock.
pub fn join_lockers(table: pg_sys::Oid) {
    join(lockers(table));
}

/// Transactions that keep a worker from its scan's lock, prepared ones included.
pub fn lockers(table: pg_sys::Oid) -> Vec<Transaction> {
    holders(table, KEEPS_A_WORKER_OUT)
}

fn join(transactions: Vec<Transaction>) {
    for transaction in transactions {
        numbers::VirtualXactLock(transaction, true);
    }
}

/// Whether a session copies, renames or drops this database: CREATE DATABASE ... TEMPLATE, ALTER DATABASE and DROP
/// DATABASE lock it, end autovacuum's workers, and wait five seconds for all others to leave.
pub fn database_is_wanted() -> bool {
    let mode = pg_sys::RowExclusiveLock as pg_sys::LOCKMODE;
    let database = backend::database();
    // SET_LOCKTAG_OBJECT of a shared object, a macro.
    let tag = pg_sys::LOCKTAG {
        locktag_field1: 0,
        locktag_field2: u32::from(pg_sys::DatabaseRelationId),
        locktag_field3: database,
        locktag_field4: 0,
        locktag_type: pg_sys::LockTagType::LOCKTAG_OBJECT as u8,
        locktag_lockmethodid: pg_sys::DEFAULT_LOCKMETHOD as u8,
    };
    // SAFETY: the lock that a session takes while it connects; we do not wait for it, and release it at once.
    unsafe {
        if pg_sys::LockAcquire(&tag, mode, false, true) == pg_sys::LockAcquireResult::LOCKACQUIRE_NOT_AVAIL {
            return true;
        }
        pg_sys::LockRelease(&tag, mode, false);
    }
    false
}

/// Whether a session waits for a lock that conflicts with a worker's on the table.
pub fn is_wanted(table: pg_sys::Oid) -> bool {
    let wants = |lock: &pg_sys::LockInstanceData| {
        let mode = lock.waitLockMode;
        mode != 0 && KEEPS_A_WORKER_OUT & 1 << mode != 0 && on(lock, table)
    };
    Locks::now().all().iter().any(wants)
}
