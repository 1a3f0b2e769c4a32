//! Which entities occur in a text: those with a window of words that folds to their name.
//!
//! ```text
//!   text --read--> folded words, outside the lock --step--> mentions, under it
//!        at each word:  its beginning --> which lengths there are --> the forms of these, longest first
//!        a form agrees: compare folded bytes --> the entities of that form --> those the snapshot sees
//! ```
//!
//! Leftmost, then longest, then on after it; or, overlapping, every window. Only entities with
//! an edge row that the snapshot sees count, so one that is not seen hides no shorter one.
//!
//! Promises: at a word that no name begins with, one look at two buckets. Nothing is allocated
//! for a window; in the steady state nothing at all, as long as words are ASCII. A step ends
//! after about as many cells as asked, and goes on when the lock was released and taken again:
//! in the middle of an entity's list too, unless the image changed eight times at one word.
//! Of a long text a thousand words are held at a time.

use std::cmp::Reverse;

use crate::answer::{Counters, Step};
use crate::arena::{Arena, Name};
use crate::filter::Filter;
use crate::forms::{FormSpot, LONGER, STEP};
use crate::hash::Hash;
use crate::id::{RecordId, index, wide};
use crate::list::Cursor;
use crate::record::{Direction, Record};
use crate::slot::Slot;
use crate::visibility::sees;
use crate::words::{self, MOST_WORDS, Words};
use crate::{Image, Visibility};

/// Words held at a time: some 10 microseconds to fold, and more than the longest window.
const HELD: usize = 1024;
/// What is read was asked of memory some words before. A word's buckets are fetched so many
/// words ahead; then its windows are known, and theirs fetched; then their records.
const AHEAD: [usize; 3] = [12, 8, 4];
/// Words whose windows or candidates are known at a time.
const PREPARED: usize = 16;
/// What a word costs, in slots: two buckets.
const WORD_CELLS: usize = 2;
/// Times a word is looked at again because the image changed, before it is done in one go.
const MOST_RESTARTS: u32 = 8;
/// Past so many collected xids those that are there twice are dropped.
const MANY_ASKED: usize = 1000;

const _: () = assert!(AHEAD[1] < PREPARED && AHEAD[0] > AHEAD[1] && AHEAD[1] > AHEAD[2]);
const _: () = assert!(HELD > 2 * MOST_WORDS && MOST_WORDS <= 64, "lengths are bits of a u64");

/// An entity in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mention {
    /// As it is stored; read it with [`Recogniser::name`].
    pub entity: Name,
    /// The alias that the text has, if one was sought.
    pub alias: Option<Name>,
    /// Where the mention begins, in characters from 0, and how many it has.
    pub start: usize,
    /// See `start`.
    pub length: usize,
    /// The same in bytes.
    pub from: usize,
    /// The byte after the last.
    pub to: usize,
}

/// What is looked for in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seek {
    /// Entities with an edge row that the snapshot sees.
    Entities,
    /// Entities of which the text has an alias: the image's edges lead from entity (parent) to
    /// alias (child). Each entity of a visible row is a mention of its own. The list of an
    /// alias is read in one go.
    Aliased,
}

/// A text on its way to a [`Recogniser`].
#[derive(Debug)]
pub struct Reader<'t> {
    text: &'t str,
    words: Words<'t>,
    /// Whether bytes are characters.
    ascii: bool,
    /// So many bytes are so many characters.
    bytes: usize,
    characters: usize,
}

impl<'t> Reader<'t> {
    /// At the start of a text.
    #[must_use]
    pub fn new(text: &'t str) -> Reader<'t> {
        Reader { text, words: Words::of(text), ascii: text.is_ascii(), bytes: 0, characters: 0 }
    }

    fn characters(&self, from: usize, to: usize) -> usize {
        if self.ascii { to - from } else { self.text[from..to].chars().count() }
    }
}

/// A word that was read.
#[derive(Clone, Copy, Debug)]
struct Word {
    /// In the text: bytes and characters.
    from: usize,
    to: usize,
    start: usize,
    end: usize,
    /// In the folded text since its start.
    folded: usize,
    folded_end: usize,
}

/// What may be found from a word on: longest windows first.
#[derive(Clone, Debug, Default)]
struct Prepared {
    /// Where the word alone would be.
    word: FormSpot,
    /// Of so many words, two at least, and where they would be.
    windows: Vec<(usize, FormSpot)>,
    /// Of so many words, and the first entity of a form that agrees in most bits.
    heads: Vec<(usize, RecordId)>,
}

/// The workspace of a reader that looks for entities in a text. Its room is used again.
#[derive(Debug)]
pub struct Recogniser {
    arena: Arena,
    seek: Seek,
    overlapping: bool,
    /// The words held, of which those before `current` are done.
    words: Vec<Word>,
    current: usize,
    ended: bool,
    /// Their folded text, which begins at `folded_from` of all of it.
    folded: Vec<u8>,
    folded_from: usize,
    /// The hashes of the first words held, under `seed`.
    hashes: Vec<u64>,
    seed: u64,
    /// What is prepared, at the word's number modulo their number, under one holding of the lock.
    prepared: [Prepared; PREPARED],
    /// The words up to which that is so, by stage.
    stages: [usize; 3],
    found: Vec<Mention>,
    asked: Vec<u64>,
    /// Of the entities looked at for the current word, in order: does the snapshot see them?
    judged: Vec<bool>,
    /// How far the list of the next one is read.
    half: Option<(Direction, Cursor)>,
    restarts: u32,
    epoch: u64,
    /// Scratch: a stored name, and its form.
    name: Vec<u8>,
    form: Vec<u8>,
    counters: Counters,
}

/// The budget ended in the middle of a word.
struct Unfinished;

impl Recogniser {
    /// A workspace. Every name copied out is preceded by `prefix(length)` and 4-byte aligned.
    #[must_use]
    pub fn new(prefix: fn(usize) -> [u8; 4]) -> Recogniser {
        Recogniser {
            arena: Arena::new(prefix),
            seek: Seek::Entities,
            overlapping: false,
            words: Vec::new(),
            current: 0,
            ended: false,
            folded: Vec::new(),
            folded_from: 0,
            hashes: Vec::new(),
            seed: 0,
            prepared: Default::default(),
            stages: [0; 3],
            found: Vec::new(),
            asked: Vec::new(),
            judged: Vec::new(),
            half: None,
            restarts: 0,
            epoch: 0,
            name: Vec::new(),
            form: Vec::new(),
            counters: Counters::default(),
        }
    }

    /// Begins a text, or begins it again after the asked xids were learned.
    pub fn begin(&mut self, seek: Seek, overlapping: bool) {
        self.arena.truncate(0);
        self.seek = seek;
        self.overlapping = overlapping;
        self.words.clear();
        self.current = 0;
        self.ended = false;
        self.folded.clear();
        self.folded_from = 0;
        self.hashes.clear();
        self.found.clear();
        self.asked.clear();
        self.next_word();
        self.counters = Counters::default();
    }

    /// Reads on in the text, if the words held do not suffice for a step. Needs no lock; call
    /// it before each step with the same reader.
    pub fn read(&mut self, text: &mut Reader<'_>) {
        if self.ended || self.words.len() - self.current >= MOST_WORDS {
            return;
        }
        self.drop_words();
        while self.words.len() < HELD {
            let Some((from, word)) = text.words.next() else {
                self.ended = true;
                return;
            };
            let folded = self.folded_from + self.folded.len();
            let length = self.folded.len();
            words::fold(word, &mut self.folded);
            if self.folded.len() == length {
                continue;
            }
            let folded_end = self.folded_from + self.folded.len();
            self.folded.push(b' ');
            let start = text.characters + text.characters(text.bytes, from);
            let to = from + word.len();
            let end = start + text.characters(from, to);
            (text.bytes, text.characters) = (to, end);
            self.words.push(Word { from, to, start, end, folded, folded_end });
        }
    }

    /// Forgets the words that are done.
    fn drop_words(&mut self) {
        let folded_to = match self.words.get(self.current) {
            Some(word) => word.folded,
            None => self.folded_from + self.folded.len(),
        };
        self.folded.drain(..folded_to - self.folded_from);
        self.folded_from = folded_to;
        self.hashes.drain(..self.current.min(self.hashes.len()));
        self.words.drain(..self.current);
        self.current = 0;
    }

    /// Room for what a step of so many cells may find. Called between steps, without the lock.
    pub fn make_room(&mut self, cells: usize) {
        self.found.reserve(cells);
        self.judged.reserve(cells);
        self.arena.reserve(cells);
    }

    /// Reader: goes on in the text, for about `cells` edge slots.
    pub fn step(&mut self, image: Image<'_>, seen: &impl Visibility, cells: usize) -> Step {
        self.notice_changes(image);
        for word in &self.words[self.hashes.len()..] {
            let bytes =
                &self.folded[word.folded - self.folded_from..][..word.folded_end - word.folded];
            self.hashes.push(Hash::of_word(self.seed, bytes));
        }
        self.stages = [self.current; 3];
        let mut budget = cells.max(1);
        while self.current < self.words.len() && budget > 0 {
            if !self.ended && self.words.len() - self.current < MOST_WORDS {
                break;
            }
            let (found, names) = (self.found.len(), self.arena.mark());
            match self.look(image, seen, &mut budget) {
                Ok(words) => {
                    self.current += words;
                    self.next_word();
                    budget = budget.saturating_sub(WORD_CELLS);
                }
                Err(Unfinished) => {
                    self.found.truncate(found);
                    self.arena.truncate(names);
                    break;
                }
            }
        }
        if self.current < self.words.len() || !self.ended {
            if self.asked.len() > MANY_ASKED {
                self.tidy_asked();
            }
            return Step::More;
        }
        self.tidy_asked();
        if self.asked.is_empty() { Step::Done } else { Step::Ask }
    }

    /// The xids the snapshot did not know, sorted and unique after [`Step::Ask`].
    #[must_use]
    pub fn asked(&self) -> &[u64] {
        &self.asked
    }

    /// After [`Step::Done`]: puts mentions in order: where they begin, longest first, entity by
    /// bytes.
    pub fn finish(&mut self) {
        let arena = &self.arena;
        let key = |mention: &Mention| (mention.start, Reverse(mention.length));
        for same in self.found.chunk_by_mut(|a, b| key(a) == key(b)) {
            same.sort_unstable_by(|a, b| arena.get(a.entity).cmp(arena.get(b.entity)));
        }
    }

    /// The mentions, in order after [`Recogniser::finish`].
    #[must_use]
    pub fn mentions(&self) -> &[Mention] {
        &self.found
    }

    /// The bytes of an entity's name.
    #[must_use]
    pub fn name(&self, name: Name) -> &[u8] {
        self.arena.get(name)
    }

    /// The 4 bytes of `prefix` and the bytes of the name; the address is a multiple of 4.
    #[must_use]
    pub fn name_with_prefix(&self, name: Name) -> &[u8] {
        self.arena.with_prefix(name)
    }

    /// What the text cost: windows that were looked up, and those with a form.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    fn tidy_asked(&mut self) {
        self.asked.sort_unstable();
        self.asked.dedup();
    }

    fn next_word(&mut self) {
        self.judged.clear();
        self.half = None;
        self.restarts = 0;
    }

    /// The image changed since the last step: what is known of the current word's entities
    /// means nothing any more.
    fn notice_changes(&mut self, image: Image<'_>) {
        let seed = image.root().seed();
        if seed != self.seed {
            self.seed = seed;
            self.hashes.clear();
        }
        let epoch = image.epoch();
        if epoch != self.epoch {
            self.epoch = epoch;
            self.restarts += u32::from(self.half.take().is_some());
            self.judged.clear();
        }
    }

    /// Looks for entities from the current word on. How many words are done with.
    fn look(
        &mut self,
        image: Image<'_>,
        seen: &impl Visibility,
        budget: &mut usize,
    ) -> Result<usize, Unfinished> {
        self.prepare(image.filter());
        let mut turn = 0;
        let place = self.current % PREPARED;
        let mut words_found = 0;
        for i in 0..self.prepared[place].heads.len() {
            let (words, head) = self.prepared[place].heads[i];
            if words_found > words && !self.overlapping {
                break;
            }
            let before = self.found.len();
            self.window(image, words, head, seen, &mut turn, budget)?;
            if self.found.len() > before {
                words_found = words;
            }
        }
        Ok(if self.overlapping { 1 } else { words_found.max(1) })
    }

    /// Brings each stage so many words ahead of the current one.
    fn prepare(&mut self, filter: Filter<'_>) {
        let held = self.words.len();
        // The last words held have not all their windows yet, if the text goes on.
        let whole = if self.ended { held } else { (held + 1).saturating_sub(MOST_WORDS) };
        let to = |ahead: usize, most: usize| (self.current + 1 + ahead).min(most);
        let ends = [to(AHEAD[0], held), to(AHEAD[1], whole), to(AHEAD[2], whole)];
        // Words inside a mention are skipped.
        let starts = self.stages.map(|stage| stage.max(self.current));
        for word in starts[0]..ends[0] {
            self.prepared[word % PREPARED].word = filter.spot(Hash::NOTHING.and(self.hashes[word]));
        }
        for word in starts[1]..ends[1] {
            let prepared = &mut self.prepared[word % PREPARED];
            find_windows(filter, &self.hashes[word..], prepared);
        }
        for word in starts[2]..ends[2] {
            let Prepared { word, windows, heads } = &mut self.prepared[word % PREPARED];
            heads.clear();
            for (words, spot) in windows.iter().rev() {
                filter.heads(spot, |head| heads.push((*words, head)));
            }
            filter.heads(word, |head| heads.push((1, head)));
            self.counters.lookups += 1 + wide(windows.len());
        }
        self.stages = ends;
    }

    /// The visible entities of a form, if it is that of so many words from the current one on.
    fn window(
        &mut self,
        image: Image<'_>,
        words: usize,
        head: RecordId,
        seen: &impl Visibility,
        turn: &mut usize,
        budget: &mut usize,
    ) -> Result<(), Unfinished> {
        self.counters.fingerprint_checks += 1;
        let (first, last) = (self.words[self.current], self.words[self.current + words - 1]);
        let folded = first.folded - self.folded_from..last.folded_end - self.folded_from;
        let head = Record::new(image.mem(), head);
        if !has_form(head, &self.folded[folded], &mut self.name, &mut self.form) {
            self.counters.false_positives += 1;
            return Ok(());
        }
        self.counters.hits += 1;
        let mut next = Some(head);
        while let Some(record) = next {
            if self.seek == Seek::Aliased {
                self.find_aliased(image, record, seen, first, last, budget);
            } else if self.judge(image, record, seen, turn, budget)? {
                self.find(record, None, first, last);
            }
            next = record.alike().map(|id| Record::new(image.mem(), id));
        }
        Ok(())
    }

    fn find(&mut self, record: Record<'_>, alias: Option<Name>, first: Word, last: Word) {
        let entity = self.arena.add(record.name_len(), |to| record.copy_name(to));
        let (start, length) = (first.start, last.end - first.start);
        let (from, to) = (first.from, last.to);
        self.found.push(Mention { entity, alias, start, length, from, to });
    }

    /// The entities of which this record is an alias. Of rows that are there twice, both count.
    fn find_aliased(
        &mut self,
        image: Image<'_>,
        record: Record<'_>,
        seen: &impl Visibility,
        first: Word,
        last: Word,
        budget: &mut usize,
    ) {
        let mut alias = None;
        let mut cursor = Cursor::start(record, Direction::Up);
        while let Some(at) = cursor.next(image.mem()) {
            *budget = budget.saturating_sub(1);
            self.counters.slots_visited += 1;
            let slot = Slot::read(image.mem(), at);
            if sees(image.mem(), slot.link, seen, &mut self.asked) {
                let add = || self.arena.add(record.name_len(), |to| record.copy_name(to));
                let alias = *alias.get_or_insert_with(add);
                self.find(Record::new(image.mem(), slot.neighbour), Some(alias), first, last);
            }
        }
    }

    /// Whether the snapshot sees an edge row of this entity, the `turn`th of the current word.
    fn judge(
        &mut self,
        image: Image<'_>,
        record: Record<'_>,
        seen: &impl Visibility,
        turn: &mut usize,
        budget: &mut usize,
    ) -> Result<bool, Unfinished> {
        *turn += 1;
        if let Some(&known) = self.judged.get(*turn - 1) {
            return Ok(known);
        }
        let start = |direction| (direction, Cursor::start(record, direction));
        let (mut direction, mut cursor) = self.half.take().unwrap_or_else(|| start(Direction::Up));
        let visible = loop {
            if *budget == 0 && self.restarts < MOST_RESTARTS {
                self.half = Some((direction, cursor));
                return Err(Unfinished);
            }
            *budget = budget.saturating_sub(1);
            match cursor.next(image.mem()) {
                Some(at) => {
                    self.counters.slots_visited += 1;
                    let link = Slot::read(image.mem(), at).link;
                    if sees(image.mem(), link, seen, &mut self.asked) {
                        break true;
                    }
                }
                None if direction == Direction::Up => (direction, cursor) = start(Direction::Down),
                None => break false,
            }
        };
        self.judged.push(visible);
        Ok(visible)
    }
}

/// The windows from the first of these words on that names may have, shortest first.
fn find_windows(filter: Filter<'_>, words: &[u64], prepared: &mut Prepared) {
    prepared.windows.clear();
    let most = words.len().min(MOST_WORDS);
    let (mut begin, mut spot) = (1, prepared.word);
    while begin < most {
        let known = filter.lengths(&spot);
        let longest = begin + index(u32::BITS - known.leading_zeros());
        let mut hash = spot.hash();
        for count in begin + 1..=longest.min(begin + STEP).min(most) {
            hash = hash.and(words[count - 1]);
            if known >> (count - begin - 1) & 1 == 1 {
                prepared.windows.push((count, filter.spot(hash)));
            }
        }
        if known & LONGER == 0 {
            break;
        }
        begin += STEP;
        spot = filter.spot(hash);
    }
}

/// Whether a record's name has this form. The two scratch vectors are used again and again.
fn has_form(record: Record<'_>, wanted: &[u8], name: &mut Vec<u8>, form: &mut Vec<u8>) -> bool {
    name.resize(record.name_len(), 0);
    record.copy_name(name);
    words::is_plainly(name, wanted) || words::form(name, form) && form == wanted
}
