//! Conversions between widths of numbers. They lose nothing: where they would, they panic.

/// A `u32` from memory as an index. Lossless on every target with 32-bit pointers or wider.
#[inline]
#[must_use]
pub const fn index(n: u32) -> usize {
    const { assert!(size_of::<usize>() >= size_of::<u32>()) };
    n as usize
}

/// A small number as a word of memory.
///
/// # Panics
/// If it does not fit, which is a bug: every caller's number is bounded by the lines of an image
/// or by a name's length.
#[inline]
#[must_use]
pub fn word(n: usize) -> u32 {
    u32::try_from(n).expect("a number for the image fits a word")
}

/// A count, as 64 bits.
#[inline]
pub(crate) const fn wide(n: usize) -> u64 {
    n as u64
}

/// The low and the high half of a 64-bit number.
#[inline]
#[must_use]
pub const fn halves(n: u64) -> (u32, u32) {
    (n as u32, (n >> 32) as u32)
}

/// The two halves of a 128-bit product, xored.
#[inline]
pub(crate) const fn fold_product(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}
