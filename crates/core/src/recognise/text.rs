//! The words of a text that are held at a time: their places, their folded text, and their hashes.
//!
//! Part of `recognise/mentions.rs`; this file does not know an image.

use std::ops::Range;

use crate::folded::forms::{self, FormKind, SPAN};
use crate::folded::pieces::{WINDOW, Words};
use crate::folded::words::{self, MOST_WORD, MOST_WORDS};
use crate::memory::casts::index;
use crate::memory::casts::word as place;
use crate::memory::flat::as_text;
use crate::memory::hash::Hash;
use crate::memory::interruptible::Interruptible;
use crate::memory::interruptible::PER_STEP;
use crate::memory::limit::{NoRoom, some_is_left};
use crate::recognise::known::KnownWords;
use crate::recognise::normal_text::{NormalText, NormalWord};

/// Words held at a time: folding them takes some 20 microseconds, and they are more than the longest window has.
const HELD: usize = 1024;

/// A text has fewer bytes than this, so that the folded text held has fewer than 2^32.
const MOST_TEXT: usize = 1 << 31;

const _: () = assert!(HELD > 2 * MOST_WORDS);

/// If more bytes of folded text are held, only as many words are held as two of the longest windows have.
const MOST_FOLDED: usize = 1 << 17;
/// Larger amounts are taken only if the system has some memory left for other uses.
const LARGE: usize = 1 << 16;

/// A text on its way to a [`Recogniser`](crate::Recogniser).
#[derive(Debug)]
pub struct Reader<'t> {
    text: &'t str,
    words: Words<'t>,
    /// Before byte `counted` the text has `excess` more bytes than characters.
    counted: usize,
    excess: usize,
    /// The text as it was written, of which `text` may be a rewritten form.
    written: &'t str,
    /// The normal words, and how many of them are read, for other forms of names than folded names.
    normal: Option<(&'t NormalText, usize)>,
    /// The words that are not misspelled, if misspelled ones are looked for.
    known: Option<&'t KnownWords>,
}

impl<'t> Reader<'t> {
    /// Starts at the beginning of a text.
    ///
    /// # Panics
    /// If it has 2 GiB or more; a value of PostgreSQL has at most 1 GiB.
    #[must_use]
    pub fn new(text: &'t str) -> Reader<'t> {
        Reader::with(text, Words::of(text))
    }

    /// [`Reader::new`] for bytes; none if they are not UTF-8.
    ///
    /// # Panics
    /// See [`Reader::new`].
    #[must_use]
    pub fn of(bytes: &'t [u8], work: &mut Interruptible<'_>) -> Option<Reader<'t>> {
        let (text, is_ascii) = as_text(bytes, work)?;
        Some(Reader::with(text, if is_ascii { Words::of_ascii(text) } else { Words::of(text) }))
    }

    /// A reader of a rewritten form of the text (see [`plain`](crate::plain)). The form has as many bytes, and names
    /// are compared with the text as it was written. None if the bytes are not UTF-8.
    ///
    /// # Panics
    /// If it has another length.
    #[must_use]
    pub fn instead(&self, plain: &'t [u8], work: &mut Interruptible<'_>) -> Option<Reader<'t>> {
        assert_eq!(plain.len(), self.text.len(), "a place in one text is that in the other");
        Some(Reader { written: self.written, ..Reader::of(plain, work)? })
    }

    /// A reader of a text's normal words, for forms of names that are made of these.
    #[must_use]
    pub fn normal(written: &'t str, normal: &'t NormalText) -> Reader<'t> {
        Reader { normal: Some((normal, 0)), ..Reader::with(written, Words::of("")) }
    }

    /// [`Reader::normal`] for names that the text misspells, in words that are not known.
    #[must_use]
    pub fn misspelled(
        written: &'t str,
        normal: &'t NormalText,
        known: &'t KnownWords,
    ) -> Reader<'t> {
        Reader { known: Some(known), ..Reader::normal(written, normal) }
    }

    /// The number of the first word that is held, if so many are.
    pub(crate) fn first_held(&self, held: usize) -> usize {
        self.normal.map_or(0, |(_, read)| read - held)
    }

    /// How many normal words the text has.
    pub(crate) fn normal_words(&self) -> usize {
        self.normal.map_or(0, |(text, _)| text.words().len())
    }

    /// Whether a normal word may be misspelled.
    pub(crate) fn is_unknown(&self, word: usize) -> bool {
        let is_rare = self.normal.is_some_and(|(text, _)| text.words()[word].traits.is_rare);
        is_rare && !self.known.is_none_or(|known| known.has(word))
    }

    /// Whether some name may have the word before a normal word or the one after it, of those that count.
    pub(crate) fn are_beside(&self, word: usize) -> bool {
        let (Some((text, _)), Some(known)) = (self.normal, self.known) else { return true };
        let near = |i: &usize| text.words()[*i].traits.is_content;
        let before = (word.saturating_sub(SPAN)..word).rev().find(near);
        let after = (word + 1..text.words().len()).take(SPAN).find(near);
        [before, after].into_iter().flatten().any(|i| known.may_be_in_names(i))
    }

    /// The whole text as it was written.
    pub(crate) fn written(&self) -> &'t str {
        self.written
    }

    fn with(text: &'t str, words: Words<'t>) -> Reader<'t> {
        assert!(text.len() < MOST_TEXT, "a text of 2 GiB");
        Reader { text, words, counted: 0, excess: 0, written: text, normal: None, known: None }
    }
}

/// The bytes as a text, if they are UTF-8. Interruptible.
#[must_use]
pub fn as_utf8<'t>(bytes: &'t [u8], work: &mut Interruptible<'_>) -> Option<&'t str> {
    as_text(bytes, work).map(|(text, _)| text)
}

/// How many bytes are not the first of a character.
fn excess(bytes: &[u8], work: &mut Interruptible<'_>) -> usize {
    let of = |some: &[u8]| {
        work.steps(some.len() / PER_STEP);
        some.iter().filter(|byte| **byte & 0xC0 == 0x80).count()
    };
    bytes.chunks(WINDOW).map(of).sum()
}

/// Where a word is in its text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    /// Its begin and end in bytes.
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Its begin and end in characters.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Where a word begins and ends in the folded text that is held.
type Folded = [u32; 2];

#[inline(always)]
fn range([at, end]: Folded) -> Range<usize> {
    index(at)..index(end)
}

/// Where a word is in the text, from where it is in the folded text.
#[derive(Clone, Copy, Debug)]
struct Offset {
    /// How many bytes later it is in the text than in the folded text; wraps if it is earlier.
    after: usize,
    /// How many more bytes than characters the text has before it.
    before: usize,
    /// How many more bytes its word has in the text than in the folded text; wraps if it has fewer.
    longer: usize,
    /// How many more bytes than characters its word has.
    excess: usize,
}

/// The words held of a text: folded, or in their normal forms.
#[derive(Debug)]
pub(crate) struct Held {
    /// The form that windows are looked up by. But for folded names, the words are normal ones without gaps between
    /// them.
    kind: FormKind,
    /// The places of the words; the first `len` are held.
    words: Box<[Folded; HELD]>,
    len: usize,
    offsets: Vec<Offset>,
    /// The folded text of the words, each with a blank behind it; normal words have none.
    folded: Vec<u8>,
    /// Whether each normal word counts in unordered forms.
    content: Vec<bool>,
    /// The hashes of the first words, as far as they are computed.
    hashes: Vec<Hash>,
    /// Whether the text ends after these words.
    ended: bool,
}

impl Held {
    /// An empty one, which holds no words.
    pub(crate) fn new() -> Held {
        Held {
            kind: FormKind::Folded,
            words: Box::new([Folded::default(); HELD]),
            len: 0,
            offsets: Vec::new(),
            folded: Vec::new(),
            content: Vec::new(),
            hashes: Vec::new(),
            ended: false,
        }
    }

    /// Forgets everything; the words of the next text are for forms of that kind.
    pub(crate) fn begin(&mut self, kind: FormKind) {
        self.kind = kind;
        self.len = 0;
        self.content.clear();
        self.offsets.clear();
        self.folded.clear();
        self.hashes.clear();
        self.ended = false;
    }

    /// Drops the first `done` words and reads more, unless the words after them suffice for a step.
    ///
    /// # Errors
    /// If what is held and the other bytes would take more than the limit, or than is available.
    pub(crate) fn read(
        &mut self,
        text: &mut Reader<'_>,
        done: &mut usize,
        limit: (usize, usize),
        work: &mut Interruptible<'_>,
    ) -> Result<(), NoRoom> {
        if self.ended || self.len - *done >= MOST_WORDS {
            return Ok(());
        }
        self.forget(std::mem::take(done));
        if let Some((normal, read)) = &mut text.normal {
            self.read_normal(normal, read, limit)?;
            return self.make_room_for_hashes();
        }
        while self.len < HELD && (self.folded.len() < MOST_FOLDED || self.len < 2 * MOST_WORDS) {
            let Some((from, word)) = text.words.next_word(work) else {
                self.ended = true;
                break;
            };
            // Folding a word takes memory, too.
            let bytes = words::room_to_fold(word) + 1;
            if bytes > LARGE / 2 && !some_is_left() {
                return Err(NoRoom::Memory(bytes));
            }
            text.excess += excess(&text.text.as_bytes()[text.counted..from], work);
            text.counted = from;
            self.make_room(bytes, limit)?;
            self.read_word(from, word, text.excess, work);
        }
        self.make_room_for_hashes()
    }

    fn make_room_for_hashes(&mut self) -> Result<(), NoRoom> {
        let more = self.len - self.hashes.len();
        self.hashes.try_reserve(more).map_err(|_| NoRoom::Memory(more * size_of::<Hash>()))
    }

    /// Reads as many normal words as are held.
    fn read_normal(
        &mut self,
        text: &NormalText,
        read: &mut usize,
        limit: (usize, usize),
    ) -> Result<(), NoRoom> {
        while self.len < HELD && (self.folded.len() < MOST_FOLDED || self.len < 2 * MOST_WORDS) {
            let Some(&word) = text.words().get(*read) else {
                self.ended = true;
                break;
            };
            let NormalWord { at, end, from, to, start, stop, traits } = word;
            let (here, len) = (self.folded.len(), index(end - at));
            self.make_room(len, limit)?;
            self.folded.extend_from_slice(&text.letters()[index(at)..index(end)]);
            self.offsets.push(Offset {
                after: index(from).wrapping_sub(here),
                before: index(from - start),
                longer: index(to - from).wrapping_sub(len),
                excess: index((to - from) - (stop - start)),
            });
            self.words[self.len] = [place(here), place(here + len)];
            self.content.push(traits.is_content);
            self.len += 1;
            *read += 1;
        }
        Ok(())
    }

    /// The most bytes that a window takes if it is built: see [`Held::folded`].
    pub(crate) fn most_bytes(&self) -> usize {
        (self.folded.len() + MOST_WORDS).min(2 * MOST_WORD + 2)
    }

    /// Makes room for `more` bytes of folded text.
    #[inline]
    fn make_room(&mut self, more: usize, limit: (usize, usize)) -> Result<(), NoRoom> {
        let fits = self.folded.capacity() - self.folded.len() >= more;
        if fits { Ok(()) } else { self.grow(more, limit) }
    }

    #[cold]
    fn grow(&mut self, more: usize, (limit, others): (usize, usize)) -> Result<(), NoRoom> {
        let bytes = self.folded.len() + more;
        if bytes + others > limit {
            return Err(NoRoom::Limit(bytes + others));
        }
        let fits = self.folded.try_reserve(more).is_ok() && (bytes < LARGE || some_is_left());
        if fits { Ok(()) } else { Err(NoRoom::Memory(bytes)) }
    }

    /// The bytes that grow with the words held.
    pub(crate) fn bytes(&self) -> usize {
        self.folded.capacity()
    }

    /// Reads one word, of any characters.
    fn read_word(&mut self, from: usize, word: &str, before: usize, work: &mut Interruptible<'_>) {
        let at = self.folded.len();
        words::fold(word, &mut self.folded);
        let len = self.folded.len() - at;
        if len == 0 {
            return;
        }
        let (after, longer) = (from.wrapping_sub(at), word.len().wrapping_sub(len));
        let excess = excess(word.as_bytes(), work);
        self.folded.push(b' ');
        self.offsets.push(Offset { after, before, longer, excess });
        self.words[self.len] = [place(at), place(at + len)];
        self.len += 1;
    }

    fn forget(&mut self, done: usize) {
        self.hashes.drain(..done.min(self.hashes.len()));
        self.content.drain(..done.min(self.content.len()));
        let bytes = if done < self.len { index(self.words[done][0]) } else { self.folded.len() };
        self.words.copy_within(done..self.len, 0);
        self.len -= done;
        self.folded.drain(..bytes);
        let before = place(bytes);
        for word in &mut self.words[..self.len] {
            *word = word.map(|place| place - before);
        }
        self.offsets.drain(..done.min(self.offsets.len()));
        for offset in &mut self.offsets {
            offset.after = offset.after.wrapping_add(bytes);
        }
    }

    /// Hashes the words not hashed yet.
    pub(crate) fn hash(&mut self, seed: u64) {
        let Held { words, len, folded, hashes, .. } = self;
        let done = hashes.len();
        hashes.resize(*len, Hash::default());
        for (hash, [at, end]) in hashes[done..].iter_mut().zip(&words[done..]) {
            *hash = Hash::of_word_in(seed, folded, index(*at), index(end - at));
        }
    }

    /// Forgets the hashes, because the seed changed.
    pub(crate) fn forget_hashes(&mut self) {
        self.hashes.clear();
    }

    /// The hashes of the words, see [`Held::hash`].
    #[inline]
    pub(crate) fn hashes(&self) -> &[Hash] {
        &self.hashes
    }

    /// Where a word is in the text.
    pub(crate) fn word(&self, i: usize) -> Word {
        let Range { start: at, end } = range(self.words[i]);
        let Offset { after, before, longer, excess } = self.offsets[i];
        let from = at.wrapping_add(after);
        let to = end.wrapping_add(after).wrapping_add(longer);
        let start = from - before;
        Word { from, to, start, end: start + (to - from) - excess }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether the text ends after the words held.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// How many words have all their windows held; the windows of later words may need text not yet read.
    pub(crate) fn whole(&self) -> usize {
        if self.ended { self.len } else { (self.len + 1).saturating_sub(MOST_WORDS) }
    }

    /// The letters of the text from a word on, without gaps.
    pub(crate) fn letters(&self, first: usize) -> &[u8] {
        &self.folded[index(self.words[first][0])..]
    }

    /// The letters of some words.
    pub(crate) fn normal_words(
        &self,
        first: usize,
        count: usize,
    ) -> impl ExactSizeIterator<Item = &[u8]> {
        self.words[first..first + count].iter().map(|word| &self.folded[range(*word)])
    }

    /// Bytes of the letters of some words.
    pub(crate) fn letters_of(&self, first: usize, count: usize) -> usize {
        index(self.words[first + count - 1][1] - self.words[first][0])
    }

    /// Whether a word counts in unordered forms.
    pub(crate) fn is_content(&self, i: usize) -> bool {
        self.content[i]
    }

    /// The form of `count` words: its length, and bytes that begin with it and mostly continue. It is built in `room`
    /// if the words held do not contain it.
    pub(crate) fn form<'a>(
        &'a self,
        first: usize,
        count: usize,
        room: &'a mut Vec<u8>,
    ) -> (usize, &'a [u8]) {
        match self.kind {
            FormKind::Folded | FormKind::Joined | FormKind::Misspelled | FormKind::Part => {
                (self.letters_of(first, count), self.letters(first))
            }
            FormKind::Unordered => {
                let mut words = [&[][..]; forms::MOST_UNORDERED];
                let content = (first..first + count).filter(|i| self.is_content(*i));
                let mut len = 0;
                for (place, i) in words.iter_mut().zip(content) {
                    (*place, len) = (&self.folded[range(self.words[i])], len + 1);
                }
                room.clear();
                forms::write_sorted(&mut words[..len], room);
                (room.len(), room)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The place of a word in bytes and in characters, and its folded text.
    type Place = (usize, usize, usize, usize, Vec<u8>);

    /// The places that [`read`] must find, computed word by word.
    fn expected(text: &str) -> Vec<Place> {
        let characters = |to: usize| text[..to].chars().count();
        let places = Words::of(text).map(|(from, word)| {
            let (to, mut folded) = (from + word.len(), Vec::new());
            words::fold(word, &mut folded);
            (from, to, characters(from), characters(to), folded)
        });
        places.filter(|place| !place.4.is_empty()).collect()
    }

    /// Reads a few words at a time, as after steps that ended early.
    fn read(text: &str, step: usize) -> Vec<Place> {
        let (mut held, mut done) = (Held::new(), 0);
        let mut check_interrupts = || ();
        let mut work = Interruptible::new(&mut check_interrupts);
        let mut reader = Reader::of(text.as_bytes(), &mut work).unwrap();
        let mut all = Vec::new();
        loop {
            held.read(&mut reader, &mut done, (usize::MAX, 0), &mut work).unwrap();
            held.hash(7);
            assert_eq!(held.hashes().len(), held.len());
            let until = held.len().min(done + step);
            for i in done..until {
                let word = held.word(i);
                let mut room = Vec::new();
                let (len, folded) = held.form(i, 1, &mut room);
                let folded = folded[..len].to_vec();
                assert_eq!(held.hashes()[i], Hash::of_word(7, &folded));
                all.push((word.from, word.to, word.start, word.end, folded));
            }
            done = until;
            if held.ended() && done == held.len() {
                return all;
            }
        }
    }

    #[test]
    fn a_word_that_goes_on_where_no_more_are_held_is_read_another_time() {
        let short = "abc ".repeat(3 * HELD);
        let long = "a ".repeat(HELD - 1) + &"long".repeat(64) + &short;
        for text in [short, long] {
            for shift in 0..4 {
                let text = " ".repeat(shift) + &text;
                assert_eq!(read(&text, 700), expected(&text), "{shift}");
            }
        }
    }

    #[test]
    fn what_is_held_of_a_text_is_bounded() {
        // The parts are one long word, words that are too long, and words that are not.
        let most = 4 * (MOST_FOLDED + WINDOW);
        for part in ["a", "é", "e\u{301}", "\u{AD}"] {
            for len in [1 << 20, MOST_WORD + 10, 2000] {
                let word = "a".to_string() + &part.repeat(len / part.len()) + " ";
                let text = word.repeat(2 * most / len);
                let (mut held, mut done) = (Held::new(), 0);
                let mut check_interrupts = || ();
                let mut work = Interruptible::new(&mut check_interrupts);
                let mut reader = Reader::new(&text);
                while !held.ended() || done < held.len() {
                    held.read(&mut reader, &mut done, (usize::MAX, 0), &mut work).unwrap();
                    assert!(held.bytes() <= most, "{part:?}, {len}: {}", held.bytes());
                    done = held.len();
                }
            }
        }
        let text = "é".repeat(MOST_WORD / 2) + " ";
        let (mut held, mut done) = (Held::new(), 0);
        let mut check_interrupts = || ();
        let (mut work, limit) = (Interruptible::new(&mut check_interrupts), MOST_WORD);
        let many = text.repeat(100);
        let read = held.read(&mut Reader::new(&many), &mut done, (limit, 0), &mut work);
        assert!(matches!(read, Err(NoRoom::Limit(bytes)) if bytes > limit), "{read:?}");
    }

    #[test]
    fn bytes_that_are_no_text_have_no_reader() {
        for bytes in [&b"caf\xE9"[..], b"\x80", b"a\0\xC3"] {
            assert!(Reader::of(bytes, &mut Interruptible::new(&mut || ())).is_none());
        }
        for text in ["caf\u{e9}".to_string(), "é".repeat(1 << 18), "1é".repeat(1 << 18)] {
            let mut check_interrupts = || ();
            let mut work = Interruptible::new(&mut check_interrupts);
            assert!(Reader::of(text.as_bytes(), &mut work).is_some());
            let cut = &text.as_bytes()[..text.len() - 1];
            assert!(Reader::of(cut, &mut work).is_none());
        }
    }

    fn text() -> impl Strategy<Value = String> {
        const SOME: [&str; 9] =
            ["a ", "Bc, ", "d.e", "__ ", "É ", "糖", "\u{AD} ", "x\u{301}-", "ß'"];
        let piece = prop_oneof![
            10 => proptest::sample::select(&SOME[..]).prop_map(str::to_string),
            1 => (0..200_usize).prop_map(|n| " ".repeat(n)),
            1 => (0..200_usize).prop_map(|n| "Long".repeat(n)),
            1 => (0..200_usize).prop_map(|n| "_".repeat(n)),
            1 => (0..900_usize).prop_map(|n| "B. ".repeat(n)),
            1 => (0..900_usize).prop_map(|n| "many ".repeat(n)),
            1 => (0..300_usize).prop_map(|n| "vię̂le ".repeat(n)),
        ];
        proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn a_text_may_be_read_in_steps(text in text(), step in 1..1500_usize) {
            let expected = expected(&text);
            prop_assert_eq!(read(&text, step), expected);
        }
    }
}
