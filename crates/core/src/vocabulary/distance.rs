//! The distance of two words: optimal string alignment. An error is a character that is another one, is missing or too
//! many, or two neighbours that are exchanged; no character is changed twice.

use crate::vocabulary::letters::MOST_BYTES;

/// The greatest distance that is told.
pub(crate) const MOST: usize = 2;
/// Characters of the longest word.
pub(crate) const MOST_CHARS: usize = MOST_BYTES + MOST;
/// How many characters of the one word and of the other an error reaches.
const REACH: [(usize, usize); 4] = [(1, 1), (1, 0), (0, 1), EXCHANGE];
const EXCHANGE: (usize, usize) = (2, 2);

/// The distance of two words, if it is at most `most`, which is 1 or 2.
#[inline]
pub(crate) fn distance<T: Copy + PartialEq>(a: &[T], b: &[T], most: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    // Equal ends cost nothing.
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[same..], &b[same..]);
    let same = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - same], &b[..b.len() - same]);
    // The ends differ, so there is an error at each of them, which may be the same one.
    if a.is_empty() && b.is_empty() {
        Some(0)
    } else if REACH.iter().any(|error| is_error(*error, a, b)) {
        Some(1)
    } else {
        let two = most == 2 && REACH.iter().any(|first| begins_two(*first, a, b));
        two.then_some(2)
    }
}

/// Whether two words differ by an error that reaches all their characters.
#[inline]
fn is_error<T: Copy + PartialEq>(reach: (usize, usize), a: &[T], b: &[T]) -> bool {
    reach == (a.len(), b.len()) && (reach != EXCHANGE || a[0] == b[1] && a[1] == b[0])
}

/// Whether two words differ by an error at their beginning and another one at their end.
#[inline]
fn begins_two<T: Copy + PartialEq>(reach: (usize, usize), a: &[T], b: &[T]) -> bool {
    let (Some((a, a_rest)), Some((b, b_rest))) =
        (a.split_at_checked(reach.0), b.split_at_checked(reach.1))
    else {
        return false;
    };
    let same = a_rest.iter().zip(b_rest).take_while(|(a, b)| a == b).count();
    let (a_rest, b_rest) = (&a_rest[same..], &b_rest[same..]);
    is_error(reach, a, b) && REACH.iter().any(|error| is_error(*error, a_rest, b_rest))
}
