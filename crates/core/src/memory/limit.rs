//! Memory of a session that cannot be had.

/// Why a walk cannot go on, with the bytes that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRoom {
    /// They are more than its limit.
    Limit(usize),
    /// The system does not have them.
    Memory(usize),
}

/// What is to be left.
const LEFT: usize = 16 << 20;

/// Whether the system has memory for others after us: what raises an error needs some, and where it finds none
/// the server ends.
#[must_use]
pub fn some_is_left() -> bool {
    Vec::<u8>::new().try_reserve_exact(LEFT).is_ok()
}
