//! One answer: from the image where all conditions hold, else by the reference query. The same rows, either way.
//!
//! conditions.rs asks and changes nothing; route.rs is the only one that does something for an answer: it flushes this transaction's own
//! changes before, and has a missing image built after. walk.rs, mentions.rs and sentences.rs make answers; sink.rs hands out rows.

pub mod conditions;
pub mod mentions;
pub mod reference;
pub mod route;
pub mod sentences;
pub mod sink;
pub mod walk;
