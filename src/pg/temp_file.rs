//! A temporary file of PostgreSQL's (temp_tablespaces, temp_file_limit and log_temp_files apply), which can be mapped.

#![expect(unsafe_code, reason = "files and a mapping")]

use pgrx::pg_sys;
use std::io::Error;
use std::ptr::NonNull;

pub struct TempFile(pg_sys::File);

impl TempFile {
    pub fn new() -> Self {
        // SAFETY: in a transaction; the file belongs to its resource owner, which removes it after an error.
        unsafe {
            pg_sys::PrepareTempTablespaces();
            Self(pg_sys::OpenTemporaryFile(false))
        }
    }

    /// Writes these bytes there. Raises 53400 past temp_file_limit.
    pub fn write(&self, at: usize, bytes: &[u8]) -> Result<(), Error> {
        let wait = pg_sys::WaitEventIO::WAIT_EVENT_BUFFILE_WRITE;
        // SAFETY: an open file; the bytes are only read.
        let written =
            unsafe { pg_sys::FileWrite(self.0, bytes.as_ptr().cast_mut().cast(), bytes.len() as _, at as _, wait) };
        match usize::try_from(written) {
            Ok(written) if written == bytes.len() => Ok(()),
            Ok(_) => Err(Error::from_raw_os_error(libc::ENOSPC)),
            Err(_) => Err(Error::last_os_error()),
        }
    }

    /// Maps so many bytes, zeros where none were written. What is written to the map stays in this process.
    pub fn map(&self, bytes: usize) -> Result<Map, Error> {
        let wait = pg_sys::WaitEventIO::WAIT_EVENT_BUFFILE_WRITE;
        // SAFETY: an open file, as large as the map, so that no page of it is missing; a new mapping.
        unsafe {
            if pg_sys::FileTruncate(self.0, bytes as _, wait) != 0 {
                return Err(Error::last_os_error());
            }
            let (file, both) = (pg_sys::FileGetRawDesc(self.0), libc::PROT_READ | libc::PROT_WRITE);
            let start = libc::mmap(std::ptr::null_mut(), bytes, both, libc::MAP_PRIVATE | libc::MAP_NORESERVE, file, 0);
            if start == libc::MAP_FAILED {
                return Err(Error::last_os_error());
            }
            Ok(Map { start: NonNull::new_unchecked(start.cast()), bytes })
        }
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        // SAFETY: opened by `new`, closed only here; it also closes the file after an error, before the abort would.
        unsafe { pg_sys::FileClose(self.0) };
    }
}

/// Where a file is mapped.
pub struct Map {
    pub start: NonNull<u8>,
    bytes: usize,
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: mapped by `map`, unmapped only here.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}
