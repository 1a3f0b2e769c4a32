//! The parts of a name that lists several things, "Hats, Caps & Scarves", or says in brackets which one it is:
//! "Mercury (planet)" has the part "Mercury".
//!
//! Between the last two parts stands "&", "/" or a conjunction, between others one of these or a comma. Without "&" and
//! "/" each part is one word: "Hats and Scarves", but "Breast and ovarian cancer" is no list. A part with fewer words
//! than the last one may only qualify that, and does not count: of "Cooking & Baking Ingredients" only "Baking
//! Ingredients".

use crate::folded::normal::Language::{
    self, Dutch, English, French, German, Italian, Portuguese, Simple, Spanish, Swedish,
};
use crate::records::label::label_of;

/// The most parts.
pub(crate) const MOST: usize = 8;

/// The parts of a name, in the order in which they stand.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts<'n> {
    parts: [&'n [u8]; MOST],
    len: usize,
}

impl<'n> Parts<'n> {
    /// Those of a name or of a label, if it lists something.
    #[must_use]
    pub fn of(language: Language, name: &'n [u8]) -> Parts<'n> {
        let name = label_of(name).unwrap_or(name);
        let mut parts = Parts::default();
        if let Some(part) = without_brackets(name) {
            parts.parts[0] = part;
            parts.len = 1;
            return parts;
        }
        if !parts.read(language, name) {
            return Parts::default();
        }
        let least = parts.all().last().map_or(0, |last| words(last).count());
        let mut counted = Parts::default();
        for part in parts.all().iter().filter(|part| words(part).count() >= least) {
            counted.parts[counted.len] = part;
            counted.len += 1;
        }
        counted
    }

    #[must_use]
    pub fn all(&self) -> &[&'n [u8]] {
        &self.parts[..self.len]
    }

    /// Reads a name; `false` if it lists nothing.
    fn read(&mut self, language: Language, name: &'n [u8]) -> bool {
        // The part that is being read; what stands before it, and whether it is the only word of it.
        let mut part = None;
        let (mut is_after_comma, mut is_last) = (false, false);
        let (mut has_sign, mut are_single) = (false, true);
        for (from, word) in words(name) {
            let is_sign = word == b"&" || word == b"/";
            let is_one = |other: &&str| word.eq_ignore_ascii_case(other.as_bytes());
            if is_sign || conjunctions(language).iter().any(is_one) {
                if !self.add(name, part.take()) && !is_after_comma {
                    return false;
                }
                (has_sign, is_last, is_after_comma) = (has_sign | is_sign, true, false);
                continue;
            }
            let to = from + word.strip_suffix(b",").unwrap_or(word).len();
            let (begin, _) = part.unwrap_or((from, to));
            are_single &= begin == from;
            is_last &= !is_after_comma;
            (part, is_after_comma) = (Some((begin, to)), to < from + word.len());
            if is_after_comma && !self.add(name, part.take()) {
                return false;
            }
        }
        self.add(name, part) && is_last && (has_sign || are_single)
    }

    /// Adds a part; `false` if there is none, or no room for it.
    fn add(&mut self, name: &'n [u8], part: Option<(usize, usize)>) -> bool {
        let Some((from, to)) = part.filter(|(from, to)| from < to && self.len < MOST) else {
            return false;
        };
        self.parts[self.len] = &name[from..to];
        self.len += 1;
        true
    }
}

/// What stands before the brackets at the end of a name, if it has some there.
fn without_brackets(name: &[u8]) -> Option<&[u8]> {
    let inner = name.trim_ascii_end().strip_suffix(b")")?;
    let at = inner.iter().rposition(|byte| *byte == b'(')?;
    let part = inner[..at].strip_suffix(b" ")?.trim_ascii();
    (!part.is_empty() && !inner[at..].contains(&b')')).then_some(part)
}

/// The pieces between blanks, and where they begin.
fn words(name: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let pieces = name.split(u8::is_ascii_whitespace);
    let placed = pieces.scan(0, |next, piece| {
        let from = *next;
        *next += piece.len() + 1;
        Some((from, piece))
    });
    placed.filter(|(_, piece)| !piece.is_empty())
}

/// What joins the parts of a list; "or" joins what are other names of one thing.
fn conjunctions(language: Language) -> &'static [&'static str] {
    match language {
        English => &["and"],
        German => &["und"],
        French => &["et"],
        Spanish => &["y", "e"],
        Italian => &["e", "ed"],
        Portuguese => &["e"],
        Dutch => &["en"],
        Swedish => &["och"],
        Simple => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_parts() {
        for (name, parts) in [
            ("Hats & Scarves", &["Hats", "Scarves"][..]),
            ("Hats,  Caps and Scarves", &["Hats", "Caps", "Scarves"]),
            ("Hats, Caps, & Scarves\0", &["Hats", "Caps", "Scarves"]),
            ("Pet Carriers & Crates", &["Pet Carriers", "Crates"]),
            ("Knives / Forks / Spoons", &["Knives", "Forks", "Spoons"]),
            ("Hats AND Scarves", &["Hats", "Scarves"]),
            ("Breast and ovarian cancer", &[]),
            ("Cooking & Baking Ingredients", &["Baking Ingredients"]),
            ("Salt or Pepper", &[]),
            ("Carcinoma, renal", &[]),
            ("Hats & Scarves, red", &[]),
            ("Hats & & Scarves", &[]),
            ("& Scarves", &[]),
            ("Hats &", &[]),
            ("Mercury (planet)", &["Mercury"]),
            ("Asthma (disorder)\0", &["Asthma"]),
            ("Hats & Scarves (red)", &["Hats & Scarves"]),
            ("f(x)", &[]),
            ("(red)", &[]),
            ("Hats (red", &[]),
            ("R&D", &[]),
            ("Hats", &[]),
            ("", &[]),
            ("a & b & c & d & e & f & g & h & i", &[]),
        ] {
            let parts: Vec<_> = parts.iter().map(|part| part.as_bytes()).collect();
            assert_eq!(Parts::of(English, name.as_bytes()).all(), parts, "{name}");
        }
        let german = "Hüte und Schals".as_bytes();
        assert_eq!(Parts::of(German, german).all(), ["Hüte".as_bytes(), b"Schals"]);
        assert!(Parts::of(English, german).all().is_empty());
    }
}
