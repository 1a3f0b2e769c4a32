//! Chunks on the heap.

use std::ptr::NonNull;

use super::Memory;
use crate::memory::chunk::{LINE_BYTES, MAX_CHUNKS, chunk_bytes, first_line};

/// A memory on the heap: of an image that only this process has.
///
/// New chunks are filled with a pattern, because the core must not rely on zeros.
#[derive(Debug)]
pub struct HeapMemory {
    pub(super) memory: Memory,
    pub(super) chunks: Vec<NonNull<[Bytes]>>,
    limit: usize,
    bytes: usize,
}

#[repr(align(64))]
#[derive(Clone, Copy)]
pub(super) struct Bytes([u8; LINE_BYTES]);

const _: () = assert!(size_of::<Bytes>() == LINE_BYTES);

// SAFETY: the chunks are owned, plain bytes; see Memory.
unsafe impl Send for HeapMemory {}

impl HeapMemory {
    /// An empty memory that may grow to `limit` bytes of chunks.
    #[must_use]
    pub fn new(limit: usize) -> HeapMemory {
        HeapMemory { memory: Memory::new(), chunks: Vec::new(), limit, bytes: 0 }
    }

    /// Maps one more chunk. Returns `false`, and changes nothing, at the limit or without memory.
    #[must_use]
    pub fn grow(&mut self) -> bool {
        let more = chunk_bytes(self.chunks.len());
        if self.chunks.len() == MAX_CHUNKS || more > self.limit - self.bytes {
            return false;
        }
        let (mut chunk, lines) = (Vec::new(), more / LINE_BYTES);
        if chunk.try_reserve_exact(lines).is_err() {
            return false;
        }
        chunk.resize(lines, Bytes([0xA5; LINE_BYTES]));
        self.adopt(chunk.into_boxed_slice())
    }

    fn adopt(&mut self, chunk: Box<[Bytes]>) -> bool {
        if self.chunks.try_reserve(1).is_err() || !self.memory.make_room_for_chunk() {
            return false;
        }
        self.bytes += size_of_val(&*chunk);
        let chunk = NonNull::from(Box::leak(chunk));
        self.chunks.push(chunk);
        // SAFETY: Bytes is 64-byte aligned; `grow` and `copy` make chunks of the size of
        // their number; they live until `self` is dropped, and `memory` with it.
        unsafe { self.memory.map(chunk.cast()) }
    }

    /// A copy of the bytes, at other addresses.
    #[must_use]
    pub fn copy(&self) -> HeapMemory {
        let mut copy = HeapMemory::load(&self.dump());
        copy.limit = self.limit;
        copy
    }

    /// A memory of these bytes, in the form that [`HeapMemory::dump`] returns. Missing bytes are 0.
    #[must_use]
    pub fn load(chunks: &[Vec<u8>]) -> HeapMemory {
        let mut heap = HeapMemory::new(usize::MAX);
        for (i, bytes) in chunks.iter().enumerate() {
            let mut chunk = vec![Bytes([0; LINE_BYTES]); chunk_bytes(i) / LINE_BYTES];
            for (line, from) in chunk.iter_mut().zip(bytes.chunks(LINE_BYTES)) {
                line.0[..from.len()].copy_from_slice(from);
            }
            assert!(heap.adopt(chunk.into_boxed_slice()), "there is memory for a chunk");
        }
        heap
    }

    /// The bytes of each chunk.
    #[must_use]
    pub fn dump(&self) -> Vec<Vec<u8>> {
        let mut chunks = Vec::new();
        for i in 0..self.chunks.len() {
            let mut bytes = vec![0; chunk_bytes(i)];
            self.memory.span(first_line(i)).copy_out(0, &mut bytes);
            chunks.push(bytes);
        }
        chunks
    }
}

impl std::ops::Deref for HeapMemory {
    type Target = Memory;
    fn deref(&self) -> &Memory {
        &self.memory
    }
}

impl Drop for HeapMemory {
    fn drop(&mut self) {
        self.memory.clear();
        for chunk in self.chunks.drain(..) {
            // SAFETY: each pointer came from Box::leak in `adopt`, is freed only here, and
            // the one Memory that refers to it has just forgotten it.
            drop(unsafe { Box::from_raw(chunk.as_ptr()) });
        }
    }
}
