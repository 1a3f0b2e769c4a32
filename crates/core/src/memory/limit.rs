//! Why a session gets no more memory.

/// Why a walk cannot go on, with the bytes that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRoom {
    /// They are more than its limit.
    Limit(usize),
    /// The system does not have them.
    Memory(usize),
}

/// Bytes that must be left.
const LEFT: usize = 16 << 20;

/// Whether the system has memory left for others: raising an error needs some, and the server ends
/// if there is none.
#[must_use]
pub fn some_is_left() -> bool {
    Vec::<u8>::new().try_reserve_exact(LEFT).is_ok()
}
