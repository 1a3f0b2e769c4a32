//! One answer: from the image if all conditions hold, else by the reference query. The rows are the same.
//!
//! conditions.rs checks and changes nothing; only route.rs has effects: before an answer it flushes this transaction's
//! own changes, and it starts the build of a missing image. walk.rs, mentions.rs (with tables.rs, search.rs, merged.rs,
//! narrowed.rs, tiers.rs, coordinated.rs and synonyms.rs) and sentences.rs make answers; answer.rs adds the labels of a
//! table of labels; within.rs tells which entities are below others; sink.rs passes rows on; plans.rs runs statements.

pub mod answer;
pub mod asked;
pub mod conditions;
pub mod coordinated;
pub mod copied;
pub mod labels;
pub mod mentions;
pub mod merged;
pub mod narrowed;
pub mod plans;
pub mod private_image;
pub mod reference;
pub mod route;
pub mod search;
pub mod sentences;
pub mod siblings;
pub mod sink;
pub mod synonyms;
pub mod tables;
pub mod tiers;
pub mod walk;
pub mod within;
