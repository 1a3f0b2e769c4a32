//! An image in a temporary file, mapped.

#![expect(unsafe_code, reason = "maps an image")]

use crate::error;
use crate::error::Fallible;
use crate::pg::temp_file::{Map, TempFile};
use cftrag_core::{Memory, chunk_bytes, chunk_start};

/// A copy of an image. Only its own pages are the process's memory: hints that reading it stores.
pub struct Copied {
    memory: Memory,
    _map: Map,
    _file: TempFile,
}

impl Copied {
    /// Maps the chunks of a file.
    pub fn map(file: TempFile, chunks: usize) -> Fallible<Self> {
        let last = chunks - 1;
        let bytes = chunk_start(last) + chunk_bytes(last);
        let map = file.map(bytes).map_err(|why| error::temporary_file(&why))?;
        let mut memory = Memory::new();
        for chunk in 0..chunks {
            // SAFETY: each chunk lies in the map, which lives longer than the memory, and is no other process's; pages
            // are aligned.
            if !unsafe { memory.map(map.start.add(chunk_start(chunk))) } {
                return Err(error::no_memory_to_work(bytes));
            }
        }
        Ok(Self { memory, _map: map, _file: file })
    }

    pub fn memory(&self) -> &Memory {
        &self.memory
    }
}
