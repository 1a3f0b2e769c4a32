//! The distance of two words: optimal string alignment. An error is a character that is another one, is missing or too
//! many, or two neighbours that are exchanged; no character is changed twice.

use crate::vocabulary::letters::MOST_BYTES;

/// The greatest distance that is told.
pub(crate) const MOST: usize = 2;
/// Characters of the longest word.
pub(crate) const MOST_CHARS: usize = MOST_BYTES + MOST;
/// More than any distance that is told.
const FAR: u8 = MOST as u8 + 1;
/// The cells of a row of the matrix that are near its diagonal, and one on either side that is far.
const CELLS: usize = 2 * MOST + 3;
/// The cell of the diagonal.
const MIDDLE: usize = MOST + 1;

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
    // One error reaches two characters.
    if most == 1 && a.len().max(b.len()) > 2 {
        return None;
    }
    between(a, b).filter(|distance| *distance <= most)
}

/// The distance by the cells near the diagonal: the cell of row `i` and column `j` is at `MIDDLE + j - i`.
fn between<T: Copy + PartialEq>(a: &[T], b: &[T]) -> Option<usize> {
    let mut before = [FAR; CELLS];
    // Row 0: as many errors as columns.
    let mut above = [FAR; CELLS];
    (0..=MOST).zip(0..).for_each(|(j, errors)| above[MIDDLE + j] = errors);
    for i in 1..=a.len() {
        let mut row = [FAR; CELLS];
        for cell in 1..CELLS - 1 {
            let Some(j) = (i + cell).checked_sub(MIDDLE).filter(|j| *j <= b.len()) else {
                continue;
            };
            let mut best = above[cell + 1].min(row[cell - 1]) + 1;
            if j > 0 {
                let same = a[i - 1] == b[j - 1];
                best = best.min(above[cell] + u8::from(!same));
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(before[cell] + 1);
                }
            }
            row[cell] = best.min(FAR);
        }
        if row == [FAR; CELLS] && above == row {
            return None;
        }
        (before, above) = (above, row);
    }
    let last = (MIDDLE + b.len()).checked_sub(a.len()).filter(|cell| *cell < CELLS)?;
    Some(usize::from(above[last]))
}
