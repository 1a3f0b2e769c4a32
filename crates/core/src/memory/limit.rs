//! Why a session gets no more memory.

/// Why a walk cannot continue, with the bytes that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRoom {
    /// The bytes exceed the walk's limit.
    Limit(usize),
    /// The system does not have the bytes.
    Memory(usize),
}

/// Bytes that the system must have left.
const LEFT: usize = 16 << 20;

/// Whether the system has memory left for other uses: raising an error needs some, and the server ends if there is
/// none.
#[must_use]
pub fn some_is_left() -> bool {
    Vec::<u8>::new().try_reserve_exact(LEFT).is_ok()
}
