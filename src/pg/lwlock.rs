//! A PostgreSQL LWLock in shared memory of ours, with a closure for its critical section.
//!
//! The section must not raise, allocate or wait (STYLE: closure in, plain data out). An ERROR elsewhere releases it at
//! abort, as any LWLock.

#![expect(unsafe_code, reason = "shared memory")]

use crate::pg::compat::unguarded;
use pgrx::pg_sys;

/// A lightweight lock.
#[repr(C)]
pub struct Lock(pub std::cell::UnsafeCell<pg_sys::LWLock>);

/// On cache lines of its own.
#[repr(C, align(128))]
pub struct Apart<T>(T);

impl<T> std::ops::Deref for Apart<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl Lock {
    /// # Safety
    /// In shared memory, and the lock is not in use yet.
    pub unsafe fn init(&self, tranche: i32) {
        // SAFETY: the caller's promise.
        unsafe { pg_sys::LWLockInitialize(self.0.get(), tranche) };
    }

    pub fn acquire(&self, mode: pg_sys::LWLockMode::Type) {
        // SAFETY: initialised when the control block was made. LWLocks hold off interrupts; an ERROR's abort releases
        // them.
        unsafe { unguarded::LWLockAcquire(self.0.get(), mode) };
    }

    /// Takes the lock if that needs no wait.
    pub fn try_acquire(&self, mode: pg_sys::LWLockMode::Type) -> bool {
        // SAFETY: as acquire().
        unsafe { unguarded::LWLockConditionalAcquire(self.0.get(), mode) }
    }

    pub fn release(&self) {
        // SAFETY: acquired by this process; callers pair the calls.
        unsafe { unguarded::LWLockRelease(self.0.get()) };
    }

    /// Runs `f` under the lock.
    pub fn with<R>(&self, mode: pg_sys::LWLockMode::Type, f: impl FnOnce() -> R) -> R {
        self.acquire(mode);
        let result = f();
        self.release();
        result
    }
}

pub const SHARED: pg_sys::LWLockMode::Type = pg_sys::LWLockMode::LW_SHARED;

pub const EXCLUSIVE: pg_sys::LWLockMode::Type = pg_sys::LWLockMode::LW_EXCLUSIVE;
