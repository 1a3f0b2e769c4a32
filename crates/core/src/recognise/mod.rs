//! Finds the names of entities in a text.

pub(crate) mod abbreviation;
pub(crate) mod border;
pub(crate) mod candidates;
pub(crate) mod coordination;
pub(crate) mod forms;
pub(crate) mod known;
pub(crate) mod mentions;
pub(crate) mod method;
pub(crate) mod normal_text;
pub(crate) mod spelling;
pub(crate) mod text;
