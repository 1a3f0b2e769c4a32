//! Names as they are recognised in texts: words, folding and the index of folded names.

pub(crate) mod ascii;
pub(crate) mod folded_name;
pub(crate) mod forms;
pub(crate) mod index;
pub(crate) mod listed;
pub(crate) mod normal;
pub(crate) mod normaliser;
pub(crate) mod parts;
pub(crate) mod pieces;
pub(crate) mod possessives;
pub(crate) mod segments;
pub(crate) mod words;
