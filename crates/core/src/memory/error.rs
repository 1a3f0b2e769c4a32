//! What can go wrong, as data: the glue writes the messages for users.

use std::fmt;

/// Why an operation did not happen. Every byte is as it was before the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The memory published so far does not hold what the operation needs.
    Full {
        /// Bytes the operation would have taken.
        needed: usize,
        /// Bytes that are free, in all: too few, or in pieces too small.
        free: usize,
    },
    /// The memory does not begin with an image.
    NotAnImage,
    /// An image of another layout: written by another version of the library.
    Layout {
        /// The layout number in the memory.
        found: u32,
    },
    /// Fewer chunks are mapped here than the image uses.
    Unmapped {
        /// Chunks the image uses.
        used: usize,
        /// Chunks mapped in this process.
        mapped: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Full { needed, free } => {
                write!(f, "image is full: {needed} bytes needed, {free} free")
            }
            Error::NotAnImage => write!(f, "memory holds no image"),
            Error::Layout { found } => write!(f, "image has layout {found}"),
            Error::Unmapped { used, mapped } => {
                write!(f, "image uses {used} chunks, {mapped} are mapped")
            }
        }
    }
}

impl std::error::Error for Error {}

/// A broken invariant found by [`Image::verify`](crate::Image::verify).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The number of the invariant in the documentation of `verify/whole.rs`.
    pub invariant: u32,
    /// What was found, with the handles involved.
    pub text: String,
}
