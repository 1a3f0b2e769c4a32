//! The hierarchy: inserting, deleting, settling and reading the edge rows of an image.

pub(crate) mod degrees;
pub(crate) mod delete;
pub(crate) mod find;
pub(crate) mod fit;
pub(crate) mod format;
pub(crate) mod insert;
pub(crate) mod partners;
pub(crate) mod recent;
pub(crate) mod running;
pub(crate) mod scan;
pub(crate) mod settle;
pub(crate) mod stats;
