//! The vocabulary of an image: the distinct words of its names, each with the number of names that have it, and the
//! search for those near a misspelled word.
//!
//! Its words are the normal words of names (folded/normal.rs) that [`letters::is_word`] accepts. Labels have a
//! vocabulary of their own, since they are looked for apart from names.

pub(crate) mod counted;
pub(crate) mod distance;
pub(crate) mod letters;
pub(crate) mod near;
pub(crate) mod room;
pub(crate) mod word;

#[cfg(test)]
mod tests;
