//! The answer as text for a prompt: a sentence for each question, tree and relation.
//!
//! ```text
//!   The upward hierarchical relationships of X are: A, B, C.
//!   In the tree T, the downward hierarchical relationship of X is: D.
//! ```
//!
//! The words are ASCII, so they are right in every encoding that a server can have.

use crate::answer::Relation;
use crate::ascii::mask;
use crate::memory::bits;

/// A text that is being written. Its room is used again.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// The text, and what is left of others.
    bytes: Vec<u8>,
    len: usize,
}

impl Text {
    /// Forgets all; keeps the room.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// What was written.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Adds a piece; what comes after it: room for a phrase.
    #[inline(always)]
    fn add(&mut self, piece: Piece<'_>) -> &mut [u8; PHRASE] {
        let len = piece.bytes.len();
        self.len += len;
        let room = self.room(self.len - len, len);
        match piece.padded {
            // A copy of known length has no branches. The rest of it is overwritten, or forgotten.
            Some(padded) if len <= PADDED => {
                *room.first_chunk_mut().expect("there is room for it") = *padded;
            }
            _ => room[..len].copy_from_slice(piece.bytes),
        }
        room[len..].first_chunk_mut().expect("there is room for it")
    }

    #[inline(always)]
    fn add_phrase(&mut self, phrase: &Phrase) {
        *self.room(self.len, 0).first_chunk_mut().expect("there is room for it") = phrase.padded;
        self.len += phrase.len;
    }

    /// What is from byte `at` on: room for `len` bytes, and for any phrase or padded piece.
    #[inline(always)]
    fn room(&mut self, at: usize, len: usize) -> &mut [u8] {
        let wanted = at + len + PHRASE;
        if wanted > self.bytes.len() {
            self.grow(wanted);
        }
        &mut self.bytes[at..]
    }

    #[cold]
    fn grow(&mut self, wanted: usize) {
        self.bytes.resize(wanted.max(2 * self.bytes.len()), 0);
    }
}

/// Bytes of a padded piece, and of a phrase.
pub(crate) const PADDED: usize = 32;
const PHRASE: usize = 48;

/// Bytes that are to be written.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    pub(crate) bytes: &'a [u8],
    /// They, if they are no more, and any bytes that come after them.
    pub(crate) padded: Option<&'a [u8; PADDED]>,
}

impl Piece<'_> {
    /// Not 0 if it has a comma. To look at all there may be, of known length, takes no branch.
    #[inline(always)]
    fn commas(self) -> u64 {
        match self.padded {
            Some(padded) if self.bytes.len() <= PADDED => {
                bits(padded.map(|byte| mask(byte == b','))) & !(u64::MAX << self.bytes.len())
            }
            _ => u64::from(self.bytes.contains(&b',')),
        }
    }
}

impl<'a> From<&'a [u8]> for Piece<'a> {
    fn from(bytes: &'a [u8]) -> Piece<'a> {
        Piece { bytes, padded: None }
    }
}

/// Words of a sentence, padded.
struct Phrase {
    padded: [u8; PHRASE],
    len: usize,
}

const fn phrase(words: &str) -> Phrase {
    let (mut padded, len) = ([0; PHRASE], words.len());
    padded.split_at_mut(len).0.copy_from_slice(words.as_bytes());
    Phrase { padded, len }
}

static NEWLINE: Phrase = phrase("\n");
static IN_THE_TREE: Phrase = phrase("In the tree ");
static IN_NO_TREE: Phrase = phrase("In the tree without a name");
/// By relation, and whether there are several relatives; first if no tree is named before.
static THE_RELATIVES_OF: [[[Phrase; 2]; 2]; 2] = [
    [
        [
            phrase("The upward hierarchical relationship of "),
            phrase("The upward hierarchical relationships of "),
        ],
        [
            phrase("The downward hierarchical relationship of "),
            phrase("The downward hierarchical relationships of "),
        ],
    ],
    [
        [
            phrase(", the upward hierarchical relationship of "),
            phrase(", the upward hierarchical relationships of "),
        ],
        [
            phrase(", the downward hierarchical relationship of "),
            phrase(", the downward hierarchical relationships of "),
        ],
    ],
];
static ARE: [Phrase; 2] = [phrase(" is: "), phrase(" are: ")];
static COMMA: Phrase = phrase(", ");
static SEMICOLON: Phrase = phrase("; ");

/// What a sentence is about: the relatives of one entity in one relation and one tree.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Whose relatives they are.
    pub entity: Piece<'a>,
    /// The tree's name, if the answer about the entity has several trees.
    pub tree: Option<Option<Piece<'a>>>,
    /// On which side they stand.
    pub relation: Relation,
}

/// Writes a sentence about the relatives of those names, at least one, in that order; on a line
/// of its own.
///
/// A name may have a comma in it: then semicolons stand between them.
pub fn write_sentence<'a>(
    out: &mut Text,
    subject: Subject<'_>,
    names: impl ExactSizeIterator<Item = Piece<'a>> + Clone,
) {
    if out.len > 0 {
        out.add_phrase(&NEWLINE);
    }
    match subject.tree {
        None => {}
        Some(None) => out.add_phrase(&IN_NO_TREE),
        Some(Some(tree)) => {
            out.add_phrase(&IN_THE_TREE);
            out.add(tree);
        }
    }
    let several = usize::from(names.len() > 1);
    let relation = usize::from(subject.relation == Relation::Descendant);
    let of = &THE_RELATIVES_OF[usize::from(subject.tree.is_some())][relation];
    out.add_phrase(&of[several]);
    out.add(subject.entity);
    out.add_phrase(&ARE[several]);
    let from = out.len;
    if write_names(out, names.clone(), &COMMA) && several == 1 {
        out.len = from;
        write_names(out, names, &SEMICOLON);
    }
    out.len -= 1;
    out.bytes[out.len - 1] = b'.';
}

/// Each followed by `between`; whether a name has a comma in it.
#[inline]
fn write_names<'a>(
    out: &mut Text,
    names: impl Iterator<Item = Piece<'a>>,
    between: &Phrase,
) -> bool {
    let [first, second, ..] = between.padded;
    let mut commas = 0;
    for name in names {
        commas |= name.commas();
        let room = out.add(name);
        (room[0], room[1]) = (first, second);
        out.len += 2;
    }
    commas != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(text: &str) -> Piece<'_> {
        text.as_bytes().into()
    }

    fn sentence(subject: Subject<'_>, names: &[&str]) -> String {
        let mut out = Text::default();
        // What is left of another text, and of a longer one.
        for _ in 0..2 {
            out.clear();
            out.add(piece("Before."));
            write_sentence(&mut out, subject, names.iter().copied().map(piece));
        }
        String::from_utf8(out.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn one_and_several_relatives_and_trees() {
        let up = Subject { entity: piece("X, y"), tree: None, relation: Relation::Ancestor };
        assert_eq!(
            sentence(up, &["a, b"]),
            "Before.\nThe upward hierarchical relationship of X, y is: a, b."
        );
        assert_eq!(
            sentence(Subject { tree: Some(None), ..up }, &["a", ""]),
            "Before.\nIn the tree without a name, the upward hierarchical relationships of X, y are: a, ."
        );
        let down = Subject { tree: Some(Some(piece("t,"))), relation: Relation::Descendant, ..up };
        assert_eq!(
            sentence(down, &["a"]),
            "Before.\nIn the tree t,, the downward hierarchical relationship of X, y is: a."
        );
    }

    #[test]
    fn semicolons_stand_between_names_if_one_has_a_comma() {
        let down = Subject { entity: piece("X"), tree: None, relation: Relation::Descendant };
        let plain: Vec<String> = (0..700).map(|i| format!("name {i}")).collect();
        for comma in (0..=700).step_by(7).chain([699]) {
            let mut names: Vec<&str> = plain.iter().map(String::as_str).collect();
            if comma < 700 {
                names[comma] = "na,me";
            }
            let between = if comma < 700 { "; " } else { ", " };
            let expected = format!(
                "Before.\nThe downward hierarchical relationships of X are: {}.",
                names.join(between)
            );
            assert_eq!(sentence(down, &names), expected);
        }
    }
}
