//! What the system has for dynamic shared memory: the file system at /dev/shm, with dynamic_shared_memory_type = posix
//! on Linux, the default there.

#![expect(unsafe_code, reason = "asks the system")]

use pgrx::pg_sys;

/// Bytes of the file system.
pub struct Shm {
    pub all: u64,
    pub free: u64,
}

/// None if dynamic shared memory is of another kind, or the system says nothing.
pub fn of_system() -> Option<Shm> {
    // SAFETY: a setting; a struct of integers, which the call fills.
    unsafe {
        if pg_sys::dynamic_shared_memory_type != pg_sys::DSM_IMPL_POSIX as i32 || !cfg!(target_os = "linux") {
            return None;
        }
        let mut found: libc::statvfs = std::mem::zeroed();
        if libc::statvfs(c"/dev/shm".as_ptr(), &raw mut found) != 0 {
            return None;
        }
        let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
        Some(Shm { all: bytes(found.f_blocks), free: bytes(found.f_bavail) })
    }
}

/// The size of the file system, in kB, if it is smaller than `cftrag.memory_limit`.
pub fn too_small() -> Option<u64> {
    let kb = of_system()?.all / 1024;
    (kb < crate::guc::MEMORY_LIMIT.get() as u64).then_some(kb)
}
