//! What becomes of the rows that were found for a question: one list of several, what fits a budget, the text of a
//! prompt.

pub mod budget;
pub mod filter;
pub mod fuse;
pub mod path;
pub mod prompt;
