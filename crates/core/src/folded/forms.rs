//! The forms of a name by which a text finds it though it writes it otherwise. They are made of the normal forms of its
//! words (normal.rs):
//!
//! ```text
//!   Scarves & Hand-Bags       joined     scarfhandbag             the letters, without blanks
//!                             parts      scarf, handbag           the letters of each part: parts.rs
//!   Carcinoma of the Pelvis   unordered  carcinoma pelvis         words in alphabetical order, without function words
//! ```
//!
//! Each form has an entry in the table of forms, under a hash of its own kind; names that share it are listed in blocks
//! (listed.rs). A *beginning* tells which windows of a text may be such names, so that few are looked up: for the
//! joined form it is of its first letters and has the lengths of the names that begin so; for the unordered form it is
//! of the word with the smallest hash and has the numbers of words.
//!
//! A name of more than [`MOST_LETTERS`] bytes of letters, or without any letter, has neither form. That bounds the
//! windows of a text, and spares columns of numbers the memory.

use crate::Image;
use crate::folded::normal::{self, Language};
use crate::folded::normaliser::{LEAST_MISSPELLED, MOST_FOLDED, Normaliser, has_characters};
use crate::folded::parts::{self, Parts};
use crate::folded::words::{self, MOST_WORDS};
use crate::memory::casts::word;
use crate::memory::hash::Hash;
use crate::memory::root::{Counter, Field, Root};
use crate::memory::tables::Table;
use crate::records::record::Record;
use crate::vocabulary::letters::{is_word, most_entries};
use crate::vocabulary::near::distance_of;

/// The most entries that a new record takes to be listed: its own, and that of one that was alone. With these it takes
/// at most one line.
pub(crate) const LISTED: u32 = 2;
/// Bytes of the longest joined form, and of all words of an unordered one.
pub(crate) const MOST_LETTERS: usize = 255;
/// Characters of the shortest misspelled word that is taken for a name of one word.
const LEAST_ALONE: usize = 6;
/// Bytes of the shortest joined form.
pub(crate) const LEAST_LETTERS: usize = 3;
/// Bytes of the shortest joined form that texts may cut into other words than the name does.
const LEAST_CUT: usize = 6;
/// Bytes of a joined form that its beginning has; a shorter form has none and is always looked up.
pub(crate) const BEGIN: usize = 8;
/// Words of an unordered form.
pub(crate) const LEAST_UNORDERED: usize = 2;
pub(crate) const MOST_UNORDERED: usize = 8;
/// Words of the longest window of an unordered form, function words included.
pub(crate) const SPAN: usize = 2 * MOST_UNORDERED;
/// The lengths from which a bit of a beginning stands for joined forms, in bytes.
const LENGTHS: [usize; 12] = [0, 10, 12, 14, 16, 19, 22, 26, 31, 38, 50, 81];

/// Make the hashes of forms and beginnings differ from each other.
const JOINED: u64 = 0x2545_F491_4F6C_DD1D;
const OF_LETTERS: u64 = 0x5851_F42D_4C95_7F2D;
const UNORDERED: Hash = Hash(0x1405_7B7E_F767_814F);
const OF_WORD: Hash = Hash(0x9FB2_1C65_1E98_DF25);
const PART: u64 = 0x6C62_272E_07BB_0142;

/// A kind of form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormKind {
    /// The folded name itself: see words.rs.
    Folded,
    /// The letters of all words.
    Joined,
    /// The words that are no function words, in alphabetical order.
    Unordered,
    /// The letters of all words, of which the text misspells one. No entries are of this kind: they are those of joined
    /// forms.
    Misspelled,
    /// The letters of a part of a name that lists several things: see parts.rs. A name may have some of these.
    Part,
}

/// A form of a name: its kind, its hash, and its letters if it is that of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FormOf<'f> {
    pub(crate) kind: FormKind,
    pub(crate) hash: Hash,
    pub(crate) part: Option<&'f [u8]>,
}

/// The most forms of a name: one of each kind but of the last, and the parts.
pub(crate) const MOST_FORMS: usize = 3 + parts::MOST;

impl FormKind {
    /// The kinds of which a name has one in the table of forms.
    const OTHERS: [FormKind; 2] = [FormKind::Joined, FormKind::Unordered];

    /// The table of its entries.
    pub(crate) fn table(self) -> Table {
        match self {
            FormKind::Folded => Table::FoldedNames,
            _ => Table::Forms,
        }
    }

    /// What makes the hashes of letters differ from those of another kind.
    pub(crate) fn seed(self, seed: u64) -> u64 {
        if self == FormKind::Part { seed ^ PART } else { seed }
    }
}

/// Where a form is in the table, and its beginning: a hash, and the bit for this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) hash: Hash,
    pub(crate) begin: Option<(Hash, u32)>,
}

/// The hash of a joined form.
pub(crate) fn hash_of_letters(seed: u64, letters: &[u8]) -> Hash {
    Hash::of_word(seed ^ JOINED, letters)
}

/// The hash of the beginning of joined forms that begin with these letters; none if they are too few.
pub(crate) fn hash_of_beginning(seed: u64, letters: &[u8]) -> Option<Hash> {
    Some(Hash::of_word(seed ^ OF_LETTERS, letters.first_chunk::<BEGIN>()?))
}

/// The bit of a beginning for joined forms of that many bytes.
#[inline]
pub(crate) fn bit_of_length(letters: usize) -> u32 {
    BITS[letters.min(MOST_LETTERS)]
}

/// The bits by length.
static BITS: [u32; MOST_LETTERS + 1] = {
    let (mut bits, mut len) = ([1; MOST_LETTERS + 1], 0);
    while len <= MOST_LETTERS {
        let mut above = 1;
        while above < LENGTHS.len() && len >= LENGTHS[above] {
            bits[len] = 1 << above;
            above += 1;
        }
        len += 1;
    }
    bits
};

/// The sum of some words' hashes, in any order, and the smallest of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    all: u64,
    least: Option<u64>,
    pub(crate) words: usize,
}

impl Sum {
    pub(crate) fn with(self, word: Hash) -> Sum {
        let all = self.all.wrapping_add(word.and(UNORDERED).0);
        let least = Some(self.least.map_or(word.0, |least| least.min(word.0)));
        Sum { all, least, words: self.words + 1 }
    }

    /// The hash of the unordered form of these words.
    pub(crate) fn hash(self) -> Hash {
        Hash(self.all).and(UNORDERED)
    }

    /// The hash of the beginning of unordered forms of which that word is the smallest.
    pub(crate) fn hash_of_least(word: Hash) -> Hash {
        word.and(OF_WORD)
    }

    /// The smallest word's hash.
    pub(crate) fn least(self) -> Option<Hash> {
        self.least.map(Hash)
    }

    /// The bit of a beginning for so many words.
    pub(crate) fn bit(self) -> u32 {
        1 << self.words
    }
}

/// The normal words of a name, in its order: their letters, and where each ends.
#[derive(Debug, Default)]
pub(crate) struct NormalWords {
    normaliser: Normaliser,
    letters: Vec<u8>,
    ends: Vec<usize>,
}

impl NormalWords {
    /// One that keeps no words.
    fn of(language: Language) -> NormalWords {
        NormalWords { normaliser: Normaliser::of(language), ..NormalWords::default() }
    }

    /// One that takes no more memory.
    pub(crate) fn with_room() -> NormalWords {
        let letters = Vec::with_capacity(MOST_LETTERS + MOST_FOLDED);
        NormalWords {
            normaliser: Normaliser::default(),
            letters,
            ends: Vec::with_capacity(MOST_WORDS),
        }
    }

    /// Sets the language, and makes room for words to keep.
    pub(crate) fn speak(&mut self, language: Language) {
        self.normaliser.speak(language);
    }

    /// Whether it has no room yet.
    pub(crate) fn is_unused(&self) -> bool {
        self.letters.capacity() == 0
    }

    /// [`NormalWords::read`] in the language that was set.
    pub(crate) fn read_own(&mut self, name: &[u8]) -> bool {
        self.read(self.normaliser.language(), name)
    }

    /// Reads a name; `false` if it has no forms.
    pub(crate) fn read(&mut self, language: Language, name: &[u8]) -> bool {
        self.letters.clear();
        self.ends.clear();
        debug_assert_eq!(self.normaliser.language(), language);
        let (mut has_letters, mut is_short) = (false, true);
        let count = words::each_folded(name, |bytes, word| {
            let from = self.letters.len();
            if from > MOST_LETTERS {
                return;
            }
            is_short &= word.len() <= MOST_FOLDED;
            self.normaliser.normalise(&bytes[word], &mut self.letters);
            has_letters |= self.letters[from..].iter().any(|byte| !byte.is_ascii_digit());
            if self.letters.len() > from {
                self.ends.push(self.letters.len());
            }
        });
        count.is_some() && has_letters && is_short && self.letters.len() <= MOST_LETTERS
    }

    /// Reads a part of a name; `false` if it has no form: it is a function word, or short.
    fn read_part(&mut self, language: Language, part: &[u8]) -> bool {
        self.read(language, part)
            && self.letters.len() >= LEAST_LETTERS
            && self.words().any(|word| !normal::is_function_word(language, word))
    }

    /// Whether one of the parts of a name that have these letters is one that `counts`; it is read then.
    pub(crate) fn has_part(
        &mut self,
        language: Language,
        name: &[u8],
        letters: &[u8],
        counts: impl Fn(&Self, &[u8]) -> bool,
    ) -> bool {
        Parts::of(language, name).all().iter().any(|part| {
            self.read_part(language, part) && self.letters == letters && counts(self, part)
        })
    }

    /// How many words it has.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether its letters may be cut into so many words, if these are not as many as it has: not those of a short
    /// name.
    pub(crate) fn may_be_of(&self, words: usize) -> bool {
        words == self.len() || self.letters.len() >= LEAST_CUT
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = &[u8]> + Clone {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(from, to)| &self.letters[from..*to])
    }

    /// Those of its words that a vocabulary has, each once.
    pub(crate) fn vocabulary(&self) -> impl Iterator<Item = &[u8]> + Clone {
        self.words().enumerate().filter_map(|(n, word)| {
            let again = self.words().take(n).any(|other| other == word);
            (!again && is_word(word)).then_some(word)
        })
    }

    /// The most entries that its vocabulary takes in the table.
    fn entries(&self) -> u32 {
        self.words().map(|word| most_entries(word.len())).sum()
    }

    /// See [`is_misspelled`].
    pub(crate) fn is_misspelled<'w>(
        &self,
        typed: impl ExactSizeIterator<Item = &'w [u8]>,
        place: usize,
        is_all: bool,
    ) -> bool {
        if typed.len() != self.len() || self.len() > SPAN {
            return false;
        }
        let language = self.normaliser.language();
        let counts = |word: &&[u8]| !normal::is_function_word(language, word);
        let is_alone = self.words().filter(counts).count() <= 1;
        typed.zip(self.words()).enumerate().all(|(n, (typed, word))| {
            if n != place {
                return typed == word;
            }
            let near = distance_of(typed, word).filter(|_| is_word(word));
            let fits = near.is_some_and(|near| near == 1 || near == 2 && !is_alone);
            fits && (!is_alone
                || is_all && has_characters(word, LEAST_MISSPELLED)
                || may_be_alone(typed))
        })
    }

    /// Writes a form to `to`; `false` if the name has none of that kind, which is not [`FormKind::Folded`].
    pub(crate) fn write(&self, kind: FormKind, language: Language, to: &mut Vec<u8>) -> bool {
        to.clear();
        match kind {
            FormKind::Folded | FormKind::Misspelled => false,
            FormKind::Joined | FormKind::Part => {
                to.extend_from_slice(&self.letters);
                to.len() >= LEAST_LETTERS
            }
            FormKind::Unordered => {
                let counts = |word: &&[u8]| !normal::is_function_word(language, word);
                let mut words = [&[][..]; MOST_UNORDERED];
                let mut count = 0;
                for word in self.words().filter(counts) {
                    let Some(place) = words.get_mut(count) else { return false };
                    (*place, count) = (word, count + 1);
                }
                write_sorted(&mut words[..count], to);
                count >= LEAST_UNORDERED
            }
        }
    }

    fn form(&self, kind: FormKind, language: Language, seed: u64) -> Option<Form> {
        match kind {
            FormKind::Folded | FormKind::Misspelled => None,
            FormKind::Joined | FormKind::Part => {
                let seed = kind.seed(seed);
                (self.letters.len() >= LEAST_LETTERS).then(|| Form {
                    hash: hash_of_letters(seed, &self.letters),
                    begin: hash_of_beginning(seed, &self.letters)
                        .map(|hash| (hash, bit_of_length(self.letters.len()))),
                })
            }
            FormKind::Unordered => {
                let counts = |word: &&[u8]| !normal::is_function_word(language, word);
                let sum = self
                    .words()
                    .filter(counts)
                    .fold(Sum::default(), |sum, word| sum.with(Hash::of_word(seed, word)));
                let fits = (LEAST_UNORDERED..=MOST_UNORDERED).contains(&sum.words);
                let least = sum.least().filter(|_| fits)?;
                Some(Form { hash: sum.hash(), begin: Some((Sum::hash_of_least(least), sum.bit())) })
            }
        }
    }
}

/// Whether a misspelled word is long enough for a name of one word.
pub(crate) fn may_be_alone(typed: &[u8]) -> bool {
    has_characters(typed, LEAST_ALONE)
}

/// Writes words in alphabetical order, joined by one blank.
pub(crate) fn write_sorted(words: &mut [&[u8]], to: &mut Vec<u8>) {
    words.sort_unstable();
    for (n, word) in words.iter().enumerate() {
        if n > 0 {
            to.push(b' ');
        }
        to.extend_from_slice(word);
    }
}

/// Writes the form of some normal words of a text to `to`; `false` if they are no window of that kind.
#[must_use]
pub fn write_window(kind: FormKind, language: Language, words: &[&[u8]], to: &mut Vec<u8>) -> bool {
    to.clear();
    let counts = |word: &&&[u8]| !normal::is_function_word(language, word);
    match kind {
        FormKind::Folded | FormKind::Misspelled => false,
        FormKind::Joined | FormKind::Part => {
            words.iter().for_each(|word| to.extend_from_slice(word));
            to.len() >= LEAST_LETTERS
        }
        FormKind::Unordered => {
            let ends = [words.first(), words.last()];
            let mut content: Vec<&[u8]> = words.iter().filter(counts).copied().collect();
            let fits = (LEAST_UNORDERED..=MOST_UNORDERED).contains(&content.len());
            write_sorted(&mut content, to);
            fits && words.len() <= SPAN && ends.iter().all(|end| end.as_ref().is_some_and(counts))
        }
    }
}

/// Whether the words of a name are those of a text but for the one at `place`, which is one of the name's misspelled, of
/// those that a vocabulary has: by one error, or by two if both words have nine characters or more. A name of one word,
/// function words aside, needs one error and six characters, or a name of four if the words are all that the text has.
#[must_use]
pub fn is_misspelled<'w>(
    language: Language,
    typed: impl ExactSizeIterator<Item = &'w [u8]>,
    name: &[u8],
    place: usize,
    is_all: bool,
) -> bool {
    let mut words = NormalWords::of(language);
    words.read(language, name) && words.is_misspelled(typed, place, is_all)
}

/// The normal words of a name that has forms, joined by blanks; none if it has none.
#[must_use]
pub fn normal_words(language: Language, name: &[u8]) -> Option<Vec<u8>> {
    let mut words = NormalWords::of(language);
    let has_forms = words.read(language, name);
    has_forms.then(|| words.words().collect::<Vec<_>>().join(&b' '))
}

/// The parts of a name that lists several things, of those that have a form.
pub fn name_parts(language: Language, name: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut words = NormalWords::of(language);
    let parts =
        if words.read(language, name) { Parts::of(language, name) } else { Parts::default() };
    (0..parts.all().len())
        .map(move |n| parts.all()[n])
        .filter(move |part| words.read_part(language, part))
}

/// Whether so many words of a text may be a name that has the same form: see [`LEAST_CUT`].
#[must_use]
pub fn may_be_of(kind: FormKind, language: Language, name: &[u8], words: usize) -> bool {
    let mut own = NormalWords::of(language);
    !matches!(kind, FormKind::Joined | FormKind::Part)
        || own.read(language, name) && own.may_be_of(words)
}

/// Whether a name has a form with these letters.
pub(crate) fn has_form(kind: FormKind, language: Language, name: &[u8], wanted: &[u8]) -> bool {
    if kind == FormKind::Part {
        return NormalWords::of(language).has_part(language, name, wanted, |_, _| true);
    }
    let mut form = Vec::new();
    write_form(kind, language, name, &mut form) && form == wanted
}

/// Writes a form of a name, or that of a part, to `to`; `false` if it has none of that kind.
#[must_use]
pub fn write_form(kind: FormKind, language: Language, name: &[u8], to: &mut Vec<u8>) -> bool {
    if kind == FormKind::Folded {
        return words::fold_name(name, to);
    }
    let mut words = NormalWords::of(language);
    words.read(language, name) && words.write(kind, language, to)
}

/// The forms of a name, in the order of [`FormKind::OTHERS`], those of its parts, and its normal words if it has forms.
#[derive(Debug, Default)]
pub(crate) struct Forms {
    forms: [Option<Form>; 2],
    parts: Vec<(Vec<u8>, Form)>,
    pub(crate) words: NormalWords,
}

impl Forms {
    pub(crate) fn of(root: Root<'_>, name: &[u8]) -> Forms {
        // Room for most names, so that it does not grow.
        let (letters, ends) = (Vec::with_capacity(64), Vec::with_capacity(8));
        let normaliser = Normaliser::of(root.language());
        let mut words = NormalWords { normaliser, letters, ends };
        if !words.read(root.language(), name) {
            return Forms::default();
        }
        let forms = FormKind::OTHERS.map(|kind| words.form(kind, root.language(), root.seed()));
        Forms { forms, parts: parts_of(root, name), words }
    }

    /// The forms, each with its beginning: a hash, and the bit for this name.
    pub(crate) fn all(&self) -> impl Iterator<Item = (FormOf<'_>, Option<(Hash, u32)>)> {
        let all = FormKind::OTHERS.into_iter().zip(self.forms);
        let all = all.filter_map(|(kind, form)| Some((kind, None, form?)));
        let parts =
            self.parts.iter().map(|(letters, form)| (FormKind::Part, Some(&letters[..]), *form));
        all.chain(parts)
            .map(|(kind, part, Form { hash, begin })| (FormOf { kind, hash, part }, begin))
    }

    /// The most entries that they and the words take in the table: those of a list, and one of a beginning.
    pub(crate) fn entries(&self) -> u32 {
        (LISTED + 1) * word(self.all().count()) + self.words.entries()
    }
}

/// The letters and the forms of a name's parts, each form once.
fn parts_of(root: Root<'_>, name: &[u8]) -> Vec<(Vec<u8>, Form)> {
    let (language, mut all) = (root.language(), Vec::<(Vec<u8>, Form)>::new());
    let parts = Parts::of(language, name);
    if parts.all().is_empty() {
        return all;
    }
    let mut words = NormalWords::of(language);
    for part in parts.all() {
        if words.read_part(language, part)
            && let Some(form) = words.form(FormKind::Part, language, root.seed())
            && all.iter().all(|(letters, _)| *letters != words.letters)
        {
            all.push((words.letters.clone(), form));
        }
    }
    all
}

impl Root<'_> {
    pub(crate) fn language(self) -> Language {
        Language::from_number(self.get(Field::Language)).unwrap_or_default()
    }
}

impl<'m> Image<'m> {
    /// Writer: sets the language by whose rules forms are made, before the first name is entered.
    pub fn set_language(self, language: Language) {
        self.root().set(Field::Language, language.number());
    }

    /// Enters the forms of a new record; `later` is as in [`Filter::add`](crate::filter::table::Filter::add). `false`
    /// if there is no room: then none is entered.
    #[must_use]
    pub(crate) fn enter_forms(self, record: Record<'m>, forms: &Forms, later: usize) -> bool {
        for (n, (form, begin)) in forms.all().enumerate() {
            if !self.enter_form(record, form, begin, later) {
                forms.all().take(n).for_each(|(form, begin)| self.leave_form(record, form, begin));
                return false;
            }
        }
        true
    }

    fn enter_form(
        self,
        record: Record<'m>,
        form: FormOf<'_>,
        begin: Option<(Hash, u32)>,
        later: usize,
    ) -> bool {
        let begins = begin.is_none_or(|(hash, bit)| self.forms().begin(hash, bit, later));
        if !begins {
            return false;
        }
        let listed = self.list(form, record, later);
        if !listed && let Some((hash, _)) = begin {
            self.forms().end(hash);
        }
        self.root().add(Counter::Parts, usize::from(listed && form.part.is_some()));
        listed
    }

    /// Removes the forms of a record that is still there.
    pub(crate) fn leave_forms(self, record: Record<'m>, forms: &Forms) {
        forms.all().for_each(|(form, begin)| self.leave_form(record, form, begin));
    }

    fn leave_form(self, record: Record<'m>, form: FormOf<'_>, begin: Option<(Hash, u32)>) {
        self.unlist(form, record);
        if let Some((hash, _)) = begin {
            self.forms().end(hash);
        }
        self.root().subtract(Counter::Parts, usize::from(form.part.is_some()));
    }
}
