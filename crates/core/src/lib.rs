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

mod alike;
mod alloc;
mod answer;
mod arena;
mod ascii;
mod breath;
mod bucket;
mod candidates;
mod chunk;
mod counters;
mod cpu;
mod degrees;
mod delete;
mod directory;
mod edge;
mod error;
mod extract;
mod filter;
mod fit;
mod forest;
mod form;
mod format;
mod forms;
mod hash;
mod hierarchy;
mod hot;
mod id;
mod image;
mod limit;
mod list;
mod memory;
mod names;
mod order;
mod partners;
mod pieces;
mod recent;
mod recognise;
mod record;
mod relation;
mod relations;
mod root;
mod roots;
mod scan;
mod search;
mod seen;
mod segments;
mod sentences;
mod settle;
mod sieve;
mod slot;
mod starts;
mod stats;
mod step;
mod strands;
mod tables;
mod temperature;
mod text;
mod verifier;
mod verify;
mod verify_forms;
mod verify_lists;
mod verify_sieve;
mod version;
mod visibility;
mod walk;
mod words;

pub use answer::Row;
pub use arena::{Name, Prefix};
pub use breath::Breath;
pub use chunk::{LINE_BYTES, MAX_CHUNKS, chunk_bytes};
pub use counters::Counters;
pub use degrees::Degrees;
pub use edge::{Deleter, Deletion, Edge, Fate, Fates, RowVersion, Settled, Stamp};
pub use error::{Error, Problem};
pub use extract::{Relation as Extracted, extract};
pub use hierarchy::{Encoding, MAX_HEIGHT, Network, build as build_hierarchy};
pub use hot::Hot;
pub use image::Image;
pub use limit::{NoRoom, some_is_left};
pub use memory::{HeapMemory, Memory};
pub use names::{NameId, Names, Ranks};
pub use partners::{Looked, Partners};
pub use pieces::Words;
pub use recent::Recent;
pub use recognise::{Mention, Recogniser, Seek};
pub use relation::Relation;
pub use relations::{Graph, KNOT, Verdict, filter as filter_relations};
pub use root::{LAYOUT, OWNER_WORDS};
pub use roots::Roots;
pub use scan::Scan;
pub use sentences::{Piece, Subject, Text, write_sentence};
pub use stats::Stats;
pub use step::Step;
pub use text::{Reader, as_utf8};
pub use version::Hint;
pub use visibility::{AllSeen, View, Visibility};
pub use walk::Walk;
pub use words::{MOST_BYTES, MOST_WORDS, fold, form};
