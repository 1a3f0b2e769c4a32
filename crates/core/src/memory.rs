//! Placeholder for the first commit: signatures only.
use std::ptr::NonNull;

/// Bytes of a line, the unit of address.
pub const LINE_BYTES: usize = 64;
/// Chunks an image can have.
pub const MAX_CHUNKS: usize = 2054;

/// Bytes of chunk `index`: 64 KiB doubling to 8 MiB, then 8 MiB each.
#[must_use]
pub const fn chunk_bytes(index: usize) -> usize {
    let doublings = if index < 7 { index } else { 7 };
    (64 << 10) << doublings
}

/// Where this process has mapped the chunks of an image.
#[derive(Debug, Default)]
pub struct Memory {
    bases: Vec<usize>,
}

impl Memory {
    /// No chunk mapped.
    #[must_use]
    pub fn new() -> Memory {
        Memory { bases: Vec::new() }
    }
    /// Maps the next chunk.
    ///
    /// # Safety
    /// 64-byte aligned, `chunk_bytes(self.mapped())` long, lives as long as `self` (or until `clear`).
    #[expect(unsafe_code, reason = "the chunk's address is the caller's word")]
    pub unsafe fn map(&mut self, base: NonNull<u8>) {
        self.bases.push(base.as_ptr() as usize);
    }
    /// Chunks mapped.
    #[must_use]
    pub fn mapped(&self) -> usize {
        self.bases.len()
    }
    /// Forgets all chunks.
    pub fn clear(&mut self) {
        self.bases.clear();
    }
}

/// A memory on the heap, for tests and tools.
#[derive(Debug, Default)]
pub struct HeapMemory {
    memory: Memory,
}

impl HeapMemory {
    /// May take up to `limit_bytes` of chunks.
    #[must_use]
    pub fn new(_limit_bytes: usize) -> HeapMemory {
        unimplemented!()
    }
    /// Maps one more chunk; `false` at the limit.
    pub fn grow(&mut self) -> bool {
        unimplemented!()
    }
}

impl std::ops::Deref for HeapMemory {
    type Target = Memory;
    fn deref(&self) -> &Memory {
        &self.memory
    }
}
