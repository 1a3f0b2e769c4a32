//! Whose turn it is: one background worker for a role in a database. A heavyweight lock of the session, which pg_locks
//! shows as the lock of an object, and which ends with the process.

#![expect(unsafe_code, reason = "the lock manager")]

use crate::pg::backend;
use crate::pg::latch;
use pgrx::pg_sys;

const MODE: pg_sys::LOCKMODE = pg_sys::ExclusiveLock as pg_sys::LOCKMODE;
/// Who only looks has the lock for some microseconds.
const TRIES: u32 = 4;

/// SET_LOCKTAG_OBJECT, a macro: of a role in this database, as no command locks it.
fn tag(role: pg_sys::Oid) -> pg_sys::LOCKTAG {
    pg_sys::LOCKTAG {
        locktag_field1: backend::database(),
        locktag_field2: u32::from(pg_sys::AuthIdRelationId),
        locktag_field3: u32::from(role),
        locktag_field4: 1,
        locktag_type: pg_sys::LockTagType::LOCKTAG_OBJECT as u8,
        // As of an advisory lock: it ends with the session.
        locktag_lockmethodid: pg_sys::USER_LOCKMETHOD as u8,
    }
}

fn take_now(role: pg_sys::Oid) -> bool {
    // SAFETY: a lock of the session's.
    let got = unsafe { pg_sys::LockAcquire(&tag(role), MODE, true, true) };
    got != pg_sys::LockAcquireResult::LOCKACQUIRE_NOT_AVAIL
}

/// Takes it for this session, unless another has it. Returns whether it was taken.
pub fn take(role: pg_sys::Oid) -> bool {
    (0..TRIES).any(|n| {
        if n > 0 {
            latch::pause();
        }
        take_now(role)
    })
}

pub fn release(role: pg_sys::Oid) {
    // SAFETY: taken by this session.
    unsafe { pg_sys::LockRelease(&tag(role), MODE, true) };
}

/// Whether a worker has it now.
pub fn is_taken(role: pg_sys::Oid) -> bool {
    let is_free = take_now(role);
    if is_free {
        release(role);
    }
    !is_free
}
