//! Flat memory in chunks: the bytes of an image, how they are allocated, and the only unsafe code of the crate.

pub(crate) mod alloc;
pub(crate) mod casts;
pub(crate) mod chunk;
pub(crate) mod error;
pub(crate) mod flat;
pub(crate) mod hash;
pub(crate) mod id;
pub(crate) mod image;
pub(crate) mod interruptible;
pub(crate) mod key_set;
pub(crate) mod limit;
pub(crate) mod marks;
pub(crate) mod mixed;
pub(crate) mod root;
pub(crate) mod step;
pub(crate) mod tables;
