//! Which words of a text are words of names that a snapshot sees: others may be misspelled.
//!
//! The vocabulary counts the names that have a word, whoever sees them. Of a word that more names have than there are
//! rows that not everybody sees, one is surely seen. For other words the queue of versions is read: a name that the
//! snapshot does not see has versions only, and counts one less for each of its words.

use crate::folded::forms::NormalWords;
use crate::folded::normal::Language;
use crate::folded::normaliser::Traits;
use crate::folded::words::MOST_BYTES;
use crate::memory::casts::{halves, index, wide};
use crate::memory::id::{Link, VersionId};
use crate::memory::interruptible::Interruptible;
use crate::memory::limit::NoRoom;
use crate::memory::root::{Counter, Field};
use crate::memory::step::Step;
use crate::recognise::normal_text::NormalText;
use crate::records::list::Cursor;
use crate::records::record::{Direction, Record};
use crate::records::slot::Slot;
use crate::records::unknown_xids::UnknownXids;
use crate::records::version::Version;
use crate::records::visibility::sees;
use crate::vocabulary::letters::{self, Vocabulary};
use crate::{Image, Visibility};

/// What a word costs, in slots: two buckets and an item.
const WORD_SLOTS: usize = 3;
/// How often a source is begun again because the image changed, before it is done in one step.
const MOST_RESTARTS: u32 = 8;
/// The words of a text that names have, over all sources that were read.
#[derive(Debug, Default)]
pub struct KnownWords {
    /// A bit for each word of the text: names have it.
    bits: Vec<u64>,
    /// Likewise: names may have it, whether they are seen or not.
    in_names: Vec<u64>,
    current: usize,
    /// Words of the text that few names have: their numbers, and how many names have them. In the order of their
    /// letters once all words were looked up.
    doubtful: Vec<(u32, u32)>,
    /// Whether all words were looked up, and the next version to read.
    looked_up: bool,
    sorted: bool,
    version: Option<VersionId>,
    /// Which name of that version is read, and the position in its list if it was read in part.
    turn: usize,
    half: Option<(Direction, Cursor)>,
    epoch: Option<u64>,
    restarts: u32,
    asked: UnknownXids,
    name: Vec<u8>,
    normal: NormalWords,
}

impl KnownWords {
    /// Begins a text, of which no word is known yet; takes at most `limit` bytes.
    ///
    /// # Errors
    /// If it would take more, or more than is available.
    pub fn begin(&mut self, text: &NormalText, limit: usize) -> Result<(), NoRoom> {
        let words = text.words().len();
        let bytes = words.div_ceil(4) + words * size_of::<(u32, u32)>();
        if bytes > limit {
            return Err(NoRoom::Limit(bytes));
        }
        self.bits.clear();
        self.in_names.clear();
        self.doubtful.clear();
        let fits = self.bits.try_reserve(words.div_ceil(64)).is_ok()
            && self.in_names.try_reserve(words.div_ceil(64)).is_ok()
            && self.doubtful.try_reserve(words).is_ok()
            && self.name.try_reserve(MOST_BYTES + 1).is_ok();
        if !fits {
            return Err(NoRoom::Memory(bytes));
        }
        self.bits.resize(words.div_ceil(64), 0);
        self.in_names.resize(words.div_ceil(64), 0);
        self.asked.make_room(limit / 8);
        self.next_source(text.language());
        Ok(())
    }

    /// Begins another image, or the same again once the asked xids are known.
    pub fn next_source(&mut self, language: Language) {
        if self.normal.is_unused() {
            self.normal = NormalWords::with_room();
        }
        self.normal.speak(language);
        self.restarts = 0;
        self.begin_anew();
    }

    fn begin_anew(&mut self) {
        self.current = 0;
        self.doubtful.clear();
        (self.looked_up, self.sorted, self.version, self.epoch) = (false, false, None, None);
        (self.turn, self.half) = (0, None);
        self.asked.clear();
    }

    /// Whether a word is known.
    #[inline]
    pub(crate) fn has(&self, word: usize) -> bool {
        self.bits.get(word / 64).is_some_and(|bits| bits >> (word % 64) & 1 == 1)
    }

    /// Whether some name may have a word; words that no vocabulary has are among them.
    #[inline]
    pub(crate) fn may_be_in_names(&self, word: usize) -> bool {
        self.in_names.get(word / 64).is_some_and(|bits| bits >> (word % 64) & 1 == 1)
    }

    fn set(bits: &mut [u64], word: usize) {
        bits[word / 64] |= 1 << (word % 64);
    }

    /// Between steps: sorts the doubtful words. Needs no lock.
    pub fn prepare(&mut self, text: &NormalText, work: &mut Interruptible<'_>) {
        if self.looked_up && !self.sorted {
            let letters = |i: u32| text.word(index(i));
            work.sort_by(&mut self.doubtful, |a, b| letters(a.0).cmp(letters(b.0)));
            self.sorted = true;
        }
    }

    /// The xids that the snapshot did not know, each once, after [`Step::Ask`].
    #[must_use]
    pub fn asked(&self) -> &[u64] {
        self.asked.xids()
    }

    /// Reader: looks on for words of names, or of labels, for about `slots` slots.
    pub fn step(
        &mut self,
        image: Image<'_>,
        of: Vocabulary,
        seen: &impl Visibility,
        slots: usize,
        text: &NormalText,
    ) -> Step {
        let epoch = image.epoch();
        if self.epoch.is_some_and(|known| known != epoch) {
            self.restarts += 1;
            self.begin_anew();
        }
        self.epoch = Some(epoch);
        let mut budget = if self.restarts > MOST_RESTARTS { usize::MAX } else { slots.max(1) };
        if !self.look_up(image, of, text, &mut budget) {
            return Step::More;
        }
        if self.doubtful.is_empty() {
            return Step::Done;
        }
        if !self.sorted {
            return Step::More;
        }
        if !self.read_versions(image, of, seen, text, &mut budget) {
            return if self.asked.is_full() { Step::Ask } else { Step::More };
        }
        if !self.asked.is_empty() {
            return Step::Ask;
        }
        for i in 0..self.doubtful.len() {
            let (word, names) = self.doubtful[i];
            if names > 0 {
                Self::set(&mut self.bits, index(word));
            }
        }
        self.doubtful.clear();
        Step::Done
    }

    /// Looks words up in the vocabulary; `false` if the budget ended first.
    fn look_up(
        &mut self,
        image: Image<'_>,
        of: Vocabulary,
        text: &NormalText,
        budget: &mut usize,
    ) -> bool {
        let rows = image.root().count(Counter::Versions);
        while !self.looked_up {
            if *budget == 0 {
                return false;
            }
            let Some(&place) = text.words().get(self.current) else {
                self.looked_up = true;
                self.version = image.root().version(Field::Oldest);
                break;
            };
            let (word, letters) = (self.current, text.letters_of(place));
            self.current += 1;
            let is_counted = letters::is_word(letters);
            // Nobody asks for a function word.
            let Traits { is_content, is_rare } = place.traits;
            if self.has(word) || !is_counted || !(is_content || is_rare) {
                if !is_counted {
                    Self::set(&mut self.in_names, word);
                }
                *budget = budget.saturating_sub(1);
                continue;
            }
            *budget = budget.saturating_sub(WORD_SLOTS);
            let names = image.count_of(of, letters);
            if names > 0 {
                Self::set(&mut self.in_names, word);
            }
            // A row has two names.
            if u64::from(names) > 2 * rows {
                Self::set(&mut self.bits, word);
            } else if names > 0 && is_rare {
                self.doubtful.push((halves(wide(word)).0, names));
            }
        }
        true
    }

    /// Reads the queue of versions for names that the snapshot does not see; `false` if the budget ended first.
    fn read_versions(
        &mut self,
        image: Image<'_>,
        of: Vocabulary,
        seen: &impl Visibility,
        text: &NormalText,
        budget: &mut usize,
    ) -> bool {
        let mem = image.mem();
        while let Some(id) = self.version {
            if *budget == 0 {
                return false;
            }
            let version = Version::new(mem, id);
            let row = version.row();
            let both = [row.parent, row.child];
            let names = if row.parent == row.child { &both[..1] } else { &both };
            while let Some(entity) = names.get(self.turn) {
                let record = Record::new(mem, *entity);
                self.turn += 1;
                // Each name counts once: at the version of its first row.
                let is_first = first_link(image, record) == Some(Link::Version(id));
                *budget = budget.saturating_sub(2);
                // A longer name has no forms, so no words.
                if !is_first || record.name_len() > MOST_BYTES + 1 {
                    continue;
                }
                let is_label = record.is_label(&mut self.name);
                if is_label != (of == Vocabulary::Labels) {
                    continue;
                }
                match self.sees(image, record, is_label, seen, budget) {
                    Some(true) => {}
                    Some(false) => {
                        *budget = budget.saturating_sub(WORD_SLOTS);
                        self.discount(record, text);
                    }
                    None => {
                        self.turn -= 1;
                        return false;
                    }
                }
            }
            (self.turn, self.version) = (0, version.next());
        }
        true
    }

    /// Whether the snapshot sees a row of a name: of a label, one that says so. None if the budget ended first.
    fn sees(
        &mut self,
        image: Image<'_>,
        record: Record<'_>,
        is_label: bool,
        seen: &impl Visibility,
        budget: &mut usize,
    ) -> Option<bool> {
        let first = if is_label { Direction::Down } else { Direction::Up };
        let start = (first, Cursor::start(record, first));
        let (mut direction, mut cursor) = self.half.take().unwrap_or(start);
        loop {
            while let Some(at) = cursor.next(image.mem()) {
                *budget = budget.saturating_sub(1);
                if sees(image.mem(), Slot::read(image.mem(), at).link, seen, &mut self.asked) {
                    return Some(true);
                }
                if *budget == 0 {
                    self.half = Some((direction, cursor));
                    return None;
                }
            }
            if direction == Direction::Down {
                return Some(false);
            }
            direction = Direction::Down;
            cursor = Cursor::start(record, direction);
        }
    }

    /// Counts a name less for each of its words.
    fn discount(&mut self, record: Record<'_>, text: &NormalText) {
        self.name.resize(record.name_len(), 0);
        record.copy_name(&mut self.name);
        if !self.normal.read_own(&self.name) {
            return;
        }
        let doubtful = &mut self.doubtful;
        for word in self.normal.vocabulary() {
            let from = doubtful.partition_point(|(i, _)| text.word(index(*i)) < word);
            let those = doubtful[from..].iter_mut();
            for (_, names) in those.take_while(|(i, _)| text.word(index(*i)) == word) {
                *names = names.saturating_sub(1);
            }
        }
    }
}

/// The link of the first slot in a record's lists.
fn first_link(image: Image<'_>, record: Record<'_>) -> Option<Link> {
    [Direction::Up, Direction::Down].into_iter().find_map(|direction| {
        let at = Cursor::start(record, direction).next(image.mem())?;
        Some(Slot::read(image.mem(), at).link)
    })
}
