//! The image of an edges table: a cuckoo filter that finds an entity by its name,
//! and a forest that holds its relatives, in flat memory that any number of
//! processes may map at different addresses.
//!
//! Everything here is bytes; nothing here knows PostgreSQL. The server glue
//! brings memory ([`Memory`]), transaction facts ([`Visibility`], [`Fates`]) and
//! the lock: a method that writes wants it exclusive, one that reads shared.
//!
//! ```text
//!   name --hash--> filter bucket --fingerprint--> record --+-- inline edge slots
//!                                                          +-- block list "up"
//!                                                          +-- block list "down"
//!   edge slot = neighbour, tree, link;  link = the mirror slot, or a version
//! ```

mod edge;
mod error;
mod image;
mod memory;
mod stats;
mod visibility;
mod walk;

pub use edge::{Deleter, Deletion, Edge, Fate, Fates, RowVersion, Settled, Stamp};
pub use error::{Error, Problem};
pub use image::{Image, LAYOUT, OWNER_WORDS, Scan};
pub use memory::{HeapMemory, LINE_BYTES, MAX_CHUNKS, Memory, chunk_bytes};
pub use stats::Stats;
pub use visibility::{AllSeen, Hint, View, Visibility};
pub use walk::{Counters, Name, Relation, Row, Step, Walk};
