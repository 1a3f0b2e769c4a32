//! The image of an edges table: a cuckoo filter that finds an entity by its name,
//! and a forest that holds its relatives, in flat memory that any number of
//! processes may map at different addresses.
//!
//! Everything here is bytes; nothing here knows PostgreSQL. The server glue brings memory ([`Memory`]), transaction
//! facts ([`Visibility`], [`Fates`]) and the lock: a method that writes needs it exclusive, one that reads shared.
//!
//! ```text
//!   name --hash--> filter bucket --fingerprint--> record --+-- inline edge slots
//!                                                          +-- block list "up"
//!                                                          +-- block list "down"
//!   edge slot = neighbour, tree, link;  link = the mirror slot, or a version
//! ```

mod filter;
mod folded;
mod forest;
mod memory;
mod recognise;
mod records;
mod verify;
mod vocabulary;
mod walk;

pub use filter::counters::Counters;
pub use filter::temperature::hottest::Hot;
pub use folded::forms::{
    FormKind, is_misspelled, may_be_of, name_parts, normal_words, write_form, write_window,
};
pub use folded::normal::Language;
pub use folded::normaliser::{may_be_misspelled, normalise};
pub use folded::parts::Parts;
pub use folded::pieces::Words;
pub use folded::possessives::plain;
pub use folded::words::{MOST_BYTES, MOST_WORDS, fold, fold_name};
pub use forest::degrees::Degrees;
pub use forest::partners::{ListsRead, Partners};
pub use forest::recent::Recent;
pub use forest::scan::Scan;
pub use forest::stats::Stats;
pub use memory::casts::{halves, index, word};
pub use memory::chunk::{LINE_BYTES, MAX_CHUNKS, SEGMENT_BYTES, chunk_bytes, chunk_start};
pub use memory::error::{Error, Problem};
pub use memory::flat::{HeapMemory, Memory};
pub use memory::image::Image;
pub use memory::interruptible::Interruptible;
pub use memory::limit::{NoRoom, some_is_left};
pub use memory::mixed::Mixed;
pub use memory::root::LAYOUT;
pub use memory::step::Step;
pub use recognise::abbreviation::{Definition, Definitions};
pub use recognise::coordination::{Coordination, Coordinations};
pub use recognise::known::KnownWords;
pub use recognise::mentions::{Mention, Recogniser, Seek};
pub use recognise::method::Method;
pub use recognise::normal_text::{BESIDE, NormalText};
pub use recognise::spelling::{Case, MatchCase, is_spelled_otherwise, spelling};
pub use recognise::text::{Reader, as_utf8};
pub use records::edge::{Deleter, Deletion, Edge, Fate, Fates, RowVersion, Settled, Stamp};
pub use records::label::{LABELS, MORE_LABELS, OTHER_NAMES, label_of, tree_of_name};
pub use records::trees::Trees;
pub use records::unknown_xids::UnknownXids;
pub use records::version::Hint;
pub use records::visibility::{AllSeen, View, Visibility};
pub use verify::sorter::{InMemory, Sorter};
pub use vocabulary::letters::Vocabulary;
pub use vocabulary::near::{Near, NearWord};
pub use walk::answer::Row;
pub use walk::arena::{Name, Prefix};
pub use walk::breadth_first::Walk;
pub use walk::names::{NameId, Names, Ranks};
pub use walk::relation::Relation;
pub use walk::roots::Roots;
pub use walk::sentences::{Piece, Subject, Text, write_sentence};
