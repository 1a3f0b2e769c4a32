//! Names as they are recognised in texts: words, folding, the index of folded names, and the Bloom filters before it.

pub(crate) mod ascii;
pub(crate) mod bloom;
pub(crate) mod folded_name;
pub(crate) mod forms;
pub(crate) mod index;
pub(crate) mod item;
pub(crate) mod listed;
pub(crate) mod normal;
pub(crate) mod normaliser;
pub(crate) mod parts;
pub(crate) mod pieces;
pub(crate) mod plain;
pub(crate) mod segments;
pub(crate) mod words;
