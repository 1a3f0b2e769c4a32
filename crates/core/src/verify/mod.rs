//! The check of all numbered invariants of an image.

pub(crate) mod sorter;
pub(crate) mod verifier;
pub(crate) mod verify_folded;
pub(crate) mod verify_lists;
pub(crate) mod verify_vocabulary;
pub(crate) mod whole;
