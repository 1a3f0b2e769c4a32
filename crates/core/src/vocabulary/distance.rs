//! The distance of two words: optimal string alignment. An error is a character that is another one, is missing or too
//! many, or two neighbours that are exchanged; no character is changed twice.

use crate::vocabulary::letters::MOST_BYTES;

/// The greatest distance that is told.
pub(crate) const MOST: usize = 2;
/// Characters of the longest word.
pub(crate) const MOST_CHARS: usize = MOST_BYTES + MOST;
/// More than any distance that is told.
const FAR: u8 = MOST as u8 + 1;

/// The distance of two words of up to [`MOST_CHARS`] characters, if it is at most `most`, which is 1 or 2.
pub(crate) fn distance(mut a: &[char], mut b: &[char], most: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    // Equal ends cost nothing.
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    (a, b) = (&a[same..], &b[same..]);
    let same = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    (a, b) = (&a[..a.len() - same], &b[..b.len() - same]);
    // One error reaches two characters.
    if most == 1 && a.len().max(b.len()) > 2 {
        return None;
    }
    between(a, b).filter(|distance| *distance <= most)
}

/// The distance by rows of the matrix, of which only the cells near the diagonal are filled.
fn between(a: &[char], b: &[char]) -> Option<usize> {
    let first = std::array::from_fn(|j| u8::try_from(j).unwrap_or(FAR).min(FAR));
    let (mut before, mut above): ([u8; MOST_CHARS + 1], _) = ([FAR; MOST_CHARS + 1], first);
    for (i, &letter) in a.iter().enumerate() {
        let (from, to) = (i.saturating_sub(MOST), (i + MOST + 1).min(b.len()));
        let mut row = [FAR; MOST_CHARS + 1];
        row[0] = first[i + 1];
        let mut least = row[0];
        for j in from..to {
            let changed = above[j] + u8::from(letter != b[j]);
            let mut best = changed.min(above[j + 1] + 1).min(row[j] + 1).min(FAR);
            if i > 0 && j > 0 && letter == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before[j - 1] + 1);
            }
            row[j + 1] = best;
            least = least.min(best);
        }
        if least == FAR && above.iter().all(|cell| *cell == FAR) {
            return None;
        }
        (before, above) = (above, row);
    }
    Some(usize::from(above[b.len()]))
}
