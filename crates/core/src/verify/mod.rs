//! The check of all numbered invariants of an image.

pub(crate) mod verifier;
pub(crate) mod verify_forms;
pub(crate) mod verify_lists;
pub(crate) mod verify_sieve;
pub(crate) mod whole;
