//! Bytes of this process, not of an image: tests of many bytes at once, and words seen as bytes.

use crate::memory::interruptible::Interruptible;
use crate::memory::interruptible::PER_STEP;

/// The highest bit of each of 16, 32, 48 or 64 bytes.
#[inline(always)]
pub(crate) fn bits<const N: usize>(bytes: [u8; N]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_loadu_si128, _mm_movemask_epi8};
        let sixteens = bytes.as_chunks::<16>().0.iter().enumerate();
        sixteens.fold(0, |bits, (i, sixteen)| {
            // SAFETY: SSE2 is part of x86_64; the load is of the 16 bytes of an array.
            let mask = unsafe { _mm_movemask_epi8(_mm_loadu_si128(sixteen.as_ptr().cast())) };
            bits | u64::from(mask.cast_unsigned()) << (i * 16)
        })
    }
    #[cfg(not(target_arch = "x86_64"))]
    bits_plainly(bytes)
}

/// Computes in arithmetic, for every machine, what the SSE2 function computes.
#[cfg(any(test, not(target_arch = "x86_64")))]
pub(super) fn bits_plainly<const N: usize>(bytes: [u8; N]) -> u64 {
    bytes.as_chunks::<8>().0.iter().enumerate().fold(0, |bits, (i, eight)| {
        // The product's highest byte has one bit from each of the eight.
        let ones = u64::from_le_bytes(*eight) >> 7 & 0x0101_0101_0101_0101;
        bits | (ones.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (i * 8)
    })
}

/// Bytes that are combined before one test for ASCII.
const AT_ONCE: usize = 1024;

fn is_ascii(bytes: &[u8]) -> bool {
    bytes.chunks(AT_ONCE).all(|some| some.iter().fold(0, |all, byte| all | byte).is_ascii())
}

/// Bytes that are read between two checks for interrupts.
const SOME: usize = 1 << 18;

/// The bytes as a text, if they are UTF-8, and whether they are ASCII. Testing for ASCII takes a fifth of the time of
/// testing for UTF-8.
pub(crate) fn as_text<'t>(
    bytes: &'t [u8],
    work: &mut Interruptible<'_>,
) -> Option<(&'t str, bool)> {
    let (mut done, mut ascii) = (0, true);
    while done < bytes.len() {
        let some = &bytes[done..bytes.len().min(done + SOME)];
        ascii = ascii && is_ascii(some);
        done += match if ascii { Ok("") } else { std::str::from_utf8(some) } {
            Ok(_) => some.len(),
            // A character continues after these bytes.
            Err(why) if why.error_len().is_none() && done + some.len() < bytes.len() => {
                why.valid_up_to()
            }
            Err(_) => return None,
        };
        work.steps(some.len() / PER_STEP);
    }
    // SAFETY: each part of the bytes is UTF-8, so all of them are.
    Some((unsafe { std::str::from_utf8_unchecked(bytes) }, ascii))
}

/// Words as their bytes in memory, so that the arena of names is aligned.
#[inline]
pub(crate) fn as_bytes(words: &[u32]) -> &[u8] {
    // SAFETY: every bit pattern of a u32 is four valid bytes, the alignment of u8 is 1, and
    // the length in bytes is that of the borrowed slice.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

/// Words as their bytes in memory, to be written.
#[inline]
pub(crate) fn as_bytes_mut(words: &mut [u32]) -> &mut [u8] {
    // SAFETY: as in `as_bytes`; and any four bytes are a valid u32.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}
