//! The answer as text for a prompt: a sentence for each question, tree and relation.
//!
//! ```text
//!   The upward hierarchical relationships of X are: A, B, C.
//!   In the tree T, the downward hierarchical relationship of X is: D.
//! ```
//!
//! The words are ASCII, which is valid in every encoding that a server can have.

use crate::Interruptible;
use crate::memory::flat::bits;
use crate::walk::relation::Relation;

/// Bytes added at a time, with a check for interrupts in between.
const AT_ONCE: usize = 1 << 20;

/// A text being written. Its memory is reused.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// The sentences, each with a newline; after `len`, leftovers of another text.
    bytes: Vec<u8>,
    len: usize,
}

impl Text {
    /// Forgets the text; keeps the memory.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Makes room for `more` bytes; `false` if there is no memory.
    #[must_use]
    pub fn try_reserve(&mut self, more: usize, work: &mut Interruptible<'_>) -> bool {
        let wanted = self.len + more;
        let more = wanted.saturating_sub(self.bytes.len());
        if self.bytes.try_reserve_exact(more).is_err() {
            return false;
        }
        while self.bytes.len() < wanted {
            let len = wanted.min(self.bytes.len() + AT_ONCE);
            work.steps((len - self.bytes.len()) / 16);
            self.bytes.resize(len, 0);
        }
        true
    }

    /// Frees its memory.
    pub(crate) fn free(self, work: &mut Interruptible<'_>) {
        work.free(self.bytes);
    }

    /// The text written so far.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len.saturating_sub(1)]
    }

    /// The bytes from `at` on, at least `wanted` of them.
    #[inline(always)]
    fn room(&mut self, at: usize, wanted: usize) -> &mut [u8] {
        if self.bytes.len() - at < wanted {
            self.grow(at + wanted);
        }
        &mut self.bytes[at..]
    }

    #[cold]
    fn grow(&mut self, wanted: usize) {
        self.bytes.resize(wanted.max(2 * self.bytes.len()), 0);
    }

    /// Adds a name of any length to the last `left` bytes; returns the room after it.
    #[cold]
    fn add(&mut self, left: usize, name: &[u8], between: Between) -> &mut [u8] {
        let at = self.bytes.len() - left;
        let room = self.room(at, name.len() + PADDED + between.len());
        let (to, rest) = room.split_at_mut(name.len());
        to.copy_from_slice(name);
        let (to, rest) = rest.split_at_mut(between.len());
        to.copy_from_slice(&between);
        rest
    }
}

/// Bytes of a name that are copied whatever its length, so that no branch depends on it. The excess is overwritten or
/// ignored.
pub(crate) const PADDED: usize = 32;

/// The separator of two names.
type Between = [u8; 2];
const COMMA: Between = *b", ";
const SEMICOLON: Between = *b"; ";
/// Replaces the last separator.
const END: Between = *b".\n";

/// Bytes to be written, for example a name.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// The piece's bytes, and any bytes that follow them.
    pub(crate) bytes: &'a [u8],
    pub(crate) len: usize,
}

impl<'a> Piece<'a> {
    pub(crate) fn bytes(self) -> &'a [u8] {
        &self.bytes[..self.len]
    }

    /// The piece and the bytes after it, as many as [`PADDED`], if the piece is not longer than that.
    #[inline(always)]
    fn padded(self) -> Option<&'a [u8; PADDED]> {
        self.bytes.first_chunk().filter(|_| self.len <= PADDED)
    }
}

impl<'a> From<&'a [u8]> for Piece<'a> {
    fn from(bytes: &'a [u8]) -> Piece<'a> {
        Piece { bytes, len: bytes.len() }
    }
}

/// All bits of a byte, or none.
fn mask(all: bool) -> u8 {
    u8::from(all).wrapping_neg()
}

/// Not 0 if a comma is among the first `len` bytes. Compares all bytes, without a branch.
#[inline(always)]
fn commas(padded: &[u8; PADDED], len: usize) -> u64 {
    bits(padded.map(|byte| mask(byte == b','))) << (63 - len) << 1
}

/// Words of a sentence, padded.
struct Phrase<const N: usize> {
    padded: [u8; N],
    len: usize,
}

const fn phrase<const N: usize>(words: &str) -> Phrase<N> {
    let (mut padded, len) = ([0; N], words.len());
    padded.split_at_mut(len).0.copy_from_slice(words.as_bytes());
    Phrase { padded, len }
}

static IN_THE_TREE: Phrase<16> = phrase("In the tree ");
static IN_NO_TREE: Phrase<32> = phrase("In the tree without a name");
/// Indexed by whether a tree is named before, the relation, and whether there are several relatives.
static THE_RELATIVES_OF: [[[Phrase<48>; 2]; 2]; 2] = [
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
static ARE: [Phrase<8>; 2] = [phrase(" is: "), phrase(" are: ")];
/// More bytes than all phrases of a sentence and the excess of its last piece.
const PHRASES: usize = 128;

/// The subject of a sentence: the relatives of one entity in one relation and one tree.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The entity whose relatives are listed.
    pub entity: Piece<'a>,
    /// The tree's name, if the answer about the entity has several trees.
    pub tree: Option<Option<Piece<'a>>>,
    /// Whether the relatives are ancestors or descendants.
    pub relation: Relation,
}

impl Subject<'_> {
    /// An upper bound of a sentence's bytes without the relatives' names.
    #[must_use]
    pub fn most_bytes(&self) -> usize {
        let tree = self.tree.flatten().map_or(0, |tree| tree.len);
        self.entity.len + tree + 2 * PHRASES
    }

    /// The bytes that a relative's name adds to that bound.
    #[must_use]
    pub fn most_bytes_of(name: Piece<'_>) -> usize {
        name.len + COMMA.len()
    }
}

/// Writes a sentence that lists these relatives, at least one, in this order, on a separate line.
///
/// If a name contains a comma, semicolons separate the names. `several`: whether there are several relatives, listed or
/// not.
pub fn write_sentence<'a>(
    out: &mut Text,
    subject: Subject<'_>,
    names: impl Iterator<Item = Piece<'a>> + Clone,
    several: bool,
) {
    let several = usize::from(several);
    let relation = usize::from(subject.relation == Relation::Descendant);
    let of = &THE_RELATIVES_OF[usize::from(subject.tree.is_some())][relation][several];
    let tree_len = subject.tree.flatten().map_or(0, |tree| tree.len);
    let mut room = out.room(out.len, subject.entity.len + tree_len + PHRASES);
    match subject.tree {
        None => {}
        Some(None) => room = put_phrase(room, &IN_NO_TREE),
        Some(Some(tree)) => room = put(put_phrase(room, &IN_THE_TREE), tree),
    }
    room = put_phrase(put(put_phrase(room, of), subject.entity), &ARE[several]);
    let left = room.len();
    let from = out.bytes.len() - left;
    if write_names(out, from, names.clone(), COMMA) && several == 1 {
        write_names(out, from, names, SEMICOLON);
    }
}

#[inline(always)]
fn put_phrase<'t, const N: usize>(room: &'t mut [u8], phrase: &Phrase<N>) -> &'t mut [u8] {
    *room.first_chunk_mut().expect("there is room for it") = phrase.padded;
    &mut room[phrase.len..]
}

#[inline(always)]
fn put<'t>(room: &'t mut [u8], piece: Piece<'_>) -> &'t mut [u8] {
    match piece.padded() {
        Some(padded) => *room.first_chunk_mut().expect("there is room for it") = *padded,
        None => room[..piece.len].copy_from_slice(piece.bytes()),
    }
    &mut room[piece.len..]
}

/// Writes names from byte `from` on, each followed by `between`, then the end of the sentence; returns whether a name
/// contains a comma.
#[inline(always)]
fn write_names<'a>(
    out: &mut Text,
    from: usize,
    names: impl Iterator<Item = Piece<'a>>,
    between: Between,
) -> bool {
    let mut room = &mut out.bytes[from..];
    let mut found = 0;
    for name in names {
        let len = name.len;
        if let (Some(padded), Some(to)) =
            (name.padded(), room.first_chunk_mut::<{ PADDED + COMMA.len() }>())
        {
            found |= commas(padded, len);
            *to.first_chunk_mut().expect("it is longer") = *padded;
            [to[len], to[len + 1]] = between;
            room = &mut room[len + between.len()..];
        } else {
            let (name, left) = (name.bytes(), room.len());
            found |= u64::from(name.contains(&b','));
            room = out.add(left, name, between);
        }
    }
    let left = room.len();
    out.len = out.bytes.len() - left;
    out.bytes[out.len - END.len()..out.len].copy_from_slice(&END);
    found != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(text: &str) -> Piece<'_> {
        text.as_bytes().into()
    }

    fn sentence(subject: Subject<'_>, names: &[&str]) -> String {
        let before = Subject { entity: piece("B"), tree: None, relation: Relation::Ancestor };
        let mut out = Text::default();
        // Names followed by nothing or by commas, over leftovers of another text.
        let texts = [0, 40].map(|more| {
            let longer: Vec<_> =
                names.iter().map(|name| name.to_string() + &",".repeat(more)).collect();
            let pieces = names.iter().zip(&longer);
            let pieces = pieces.map(|(name, all)| Piece { bytes: all.as_bytes(), len: name.len() });
            out.clear();
            assert_eq!(out.as_bytes(), b"");
            write_sentence(&mut out, before, [piece("b")].into_iter(), false);
            write_sentence(&mut out, subject, pieces.clone(), pieces.len() > 1);
            String::from_utf8(out.as_bytes().to_vec()).unwrap()
        });
        assert_eq!(texts[0], texts[1]);
        let first = "The upward hierarchical relationship of B is: b.\n";
        texts[0].strip_prefix(first).unwrap().to_owned()
    }

    #[test]
    fn one_and_several_relatives_and_trees() {
        let up = Subject { entity: piece("X, y"), tree: None, relation: Relation::Ancestor };
        assert_eq!(
            sentence(up, &["a, b"]),
            "The upward hierarchical relationship of X, y is: a, b."
        );
        assert_eq!(
            sentence(Subject { tree: Some(None), ..up }, &["a", ""]),
            "In the tree without a name, the upward hierarchical relationships of X, y are: a, ."
        );
        let down = Subject { tree: Some(Some(piece("t,"))), relation: Relation::Descendant, ..up };
        assert_eq!(
            sentence(down, &["a"]),
            "In the tree t,, the downward hierarchical relationship of X, y is: a."
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
                "The downward hierarchical relationships of X are: {}.",
                names.join(between)
            );
            assert_eq!(sentence(down, &names), expected);
        }
    }

    #[test]
    fn a_comma_is_found_at_each_place_of_a_name_of_each_length() {
        let down = Subject { entity: piece("X"), tree: None, relation: Relation::Descendant };
        for len in 0..40 {
            let name = "n".repeat(len);
            for at in 0..=len {
                let (mut with, between) = (name.clone(), if at < len { "; " } else { ", " });
                with.replace_range(at..len.min(at + 1), if at < len { "," } else { "" });
                assert_eq!(
                    sentence(down, &[&name, &with]),
                    format!(
                        "The downward hierarchical relationships of X are: {name}{between}{with}."
                    )
                );
            }
        }
    }
}
