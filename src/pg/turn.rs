//! Turns of background workers that do the same work for a table: one runs, one waits. Heavyweight locks of a session, which pg_locks shows as locks of an
//! object, and which end with the process.

#![expect(unsafe_code, reason = "the lock manager")]

use pgrx::pg_sys;

/// What a worker may hold for a table.
#[derive(Clone, Copy)]
pub enum Turn {
    /// It will begin: what changes meanwhile it will see.
    Next = 1,
    Running = 2,
}

const MODE: pg_sys::LOCKMODE = pg_sys::ExclusiveLock as pg_sys::LOCKMODE;

impl Turn {
    /// SET_LOCKTAG_OBJECT, a macro: of a table, as no command locks it.
    fn tag(self, table: pg_sys::Oid) -> pg_sys::LOCKTAG {
        pg_sys::LOCKTAG {
            // SAFETY: a backend variable.
            locktag_field1: u32::from(unsafe { pg_sys::MyDatabaseId }),
            locktag_field2: u32::from(pg_sys::RelationRelationId),
            locktag_field3: u32::from(table),
            locktag_field4: self as u16,
            locktag_type: pg_sys::LockTagType::LOCKTAG_OBJECT as u8,
            // As of an advisory lock: it ends with the session.
            locktag_lockmethodid: pg_sys::USER_LOCKMETHOD as u8,
        }
    }

    /// Takes it for this session; if `wait` is false, only if it is free. Returns whether it was taken.
    pub fn take(self, table: pg_sys::Oid, wait: bool) -> bool {
        // SAFETY: a lock of the session's.
        let got = unsafe { pg_sys::LockAcquire(&self.tag(table), MODE, true, !wait) };
        got != pg_sys::LockAcquireResult::LOCKACQUIRE_NOT_AVAIL
    }

    pub fn release(self, table: pg_sys::Oid) {
        // SAFETY: taken by this session.
        unsafe { pg_sys::LockRelease(&self.tag(table), MODE, true) };
    }

    /// Whether a worker has it now.
    pub fn is_taken(self, table: pg_sys::Oid) -> bool {
        let is_free = self.take(table, false);
        if is_free {
            self.release(table);
        }
        !is_free
    }
}
