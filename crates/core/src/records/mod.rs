//! What the memory contains: records of names with their edge slots, block lists, versions of rows, and who sees them.

pub(crate) mod edge;
pub(crate) mod label;
pub(crate) mod list;
pub(crate) mod record;
pub(crate) mod slot;
pub(crate) mod trees;
pub(crate) mod unknown_xids;
pub(crate) mod version;
pub(crate) mod visibility;
