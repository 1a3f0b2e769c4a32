//! Which entities occur in a text: those with a window of words that folds to their name.
//!
//! ```text
//!   text --read--> folded words, outside the lock --step--> mentions, under it
//!        all words:  is a name this one, or begins with it and the next? (sieve.rs)
//!        where so:   its beginning --> which lengths there are --> which windows of these are names?
//!        where so:   their forms, longest first
//!        a form agrees: compare folded bytes --> the entities of that form --> those the snapshot sees
//! ```
//!
//! Leftmost, then longest, then on after it; or, overlapping, every window. Only entities with
//! an edge row that the snapshot sees count, so one that is not seen hides no shorter one.
//!
//! Promises: where no name begins, two looks at the sieve. Nothing is allocated for a window; in
//! the steady state nothing at all, as long as words are ASCII. A step ends after about as many
//! cells as asked, and goes on when the lock was released and taken again: in the middle of an
//! entity's list too, unless the image changed eight times at one word.
//! Of a long text a thousand words are held at a time.

use std::cmp::Reverse;
use std::ops::Range;

use crate::answer::{Counters, Step};
use crate::arena::{Arena, Name};
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
/// Words that are prepared together, in stages: each asks memory for all that the next one reads
/// of all of them, so that nothing is waited for one by one.
const BLOCK: usize = 128;
/// Of these the sieve is asked about so many together.
const SIFTED: usize = 16;
/// Bytes between two words that are worth copying along with them.
const GAP: usize = 64;
/// What a word costs that names may begin with, in slots: two buckets.
const WORD_CELLS: usize = 2;
/// Times a word is looked at again because the image changed, before it is done in one go.
const MOST_RESTARTS: u32 = 8;
/// Past so many collected xids those that are there twice are dropped.
const MANY_ASKED: usize = 1000;

const _: () = assert!(HELD > 2 * MOST_WORDS && BLOCK.is_multiple_of(SIFTED));

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
    /// In what is held of the folded text, and how long it is.
    folded: usize,
    len: usize,
}

/// A word that names may begin with.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    /// Its number among those held.
    word: usize,
    /// Names may have more words than this one.
    has_more: bool,
    /// Where the word alone would be.
    spot: FormSpot,
    /// Where its part of these vectors of the block ends.
    windows: usize,
    spots: usize,
    heads: usize,
}

/// What is known of some words from the current one on, as long as the lock is held.
#[derive(Debug, Default)]
struct Block {
    candidates: Vec<Candidate>,
    /// Of so many words, and their hash; the shortest of a candidate first.
    windows: Vec<(usize, Hash)>,
    /// Where those would be that the sieve lets pass; the longest of a candidate first.
    spots: Vec<(usize, FormSpot)>,
    /// Of so many words, and the first entity of a form that agrees in most bits; longest first.
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
    /// Their folded text, and what stands between them.
    folded: Vec<u8>,
    /// The hashes of the first words held, under `seed`.
    hashes: Vec<u64>,
    seed: u64,
    block: Block,
    found: Vec<Mention>,
    asked: Vec<u64>,
    /// Of the entities looked at for the current word, in order: does the snapshot see them?
    judged: Vec<bool>,
    /// How far the list of the next one is read.
    half: Option<(Direction, Cursor)>,
    restarts: u32,
    epoch: u64,
    /// Scratch: a window's form, a stored name, and its form.
    window: Vec<u8>,
    name: Vec<u8>,
    form: Vec<u8>,
    counters: Counters,
}

/// A stretch of the text that is to be copied: where it begins and ends, and where it goes.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    from: usize,
    to: usize,
    folded: usize,
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
            hashes: Vec::new(),
            seed: 0,
            block: Block::default(),
            found: Vec::new(),
            asked: Vec::new(),
            judged: Vec::new(),
            half: None,
            restarts: 0,
            epoch: 0,
            window: Vec::new(),
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
        let mut stretch = Stretch { from: 0, to: 0, folded: self.folded.len() };
        while self.words.len() < HELD {
            let Some((from, to, is_ascii)) = text.words.next_place() else {
                self.ended = true;
                break;
            };
            let (folded, len) = if is_ascii {
                if stretch.to == 0 || from - stretch.to > GAP {
                    self.copy(text.text, stretch);
                    stretch = Stretch { from, to, folded: self.folded.len() };
                }
                stretch.to = to;
                (stretch.folded + from - stretch.from, to - from)
            } else {
                self.copy(text.text, stretch);
                let at = self.folded.len();
                words::fold(&text.text[from..to], &mut self.folded);
                stretch = Stretch { from: to, to, folded: self.folded.len() };
                (at, self.folded.len() - at)
            };
            if len == 0 {
                continue;
            }
            let start = text.characters + text.characters(text.bytes, from);
            let end = start + text.characters(from, to);
            (text.bytes, text.characters) = (to, end);
            self.words.push(Word { from, to, start, end, folded, len });
        }
        self.copy(text.text, stretch);
    }

    /// Copies a stretch of the text, and folds what is ASCII in it: its words are.
    fn copy(&mut self, text: &str, stretch: Stretch) {
        self.folded.extend_from_slice(&text.as_bytes()[stretch.from..stretch.to]);
        self.folded[stretch.folded..].make_ascii_lowercase();
    }

    /// Forgets the words that are done.
    fn drop_words(&mut self) {
        self.hashes.drain(..self.current.min(self.hashes.len()));
        self.words.drain(..self.current);
        self.current = 0;
        let done = self.words.first().map_or(self.folded.len(), |word| word.folded);
        self.folded.drain(..done);
        self.words.iter_mut().for_each(|word| word.folded -= done);
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
            let bytes = &self.folded[word.folded..word.folded + word.len];
            self.hashes.push(Hash::of_word(self.seed, bytes));
        }
        // The last words held have not all their windows yet, if the text goes on.
        let held = self.words.len();
        let whole = if self.ended { held } else { (held + 1).saturating_sub(MOST_WORDS) };
        let mut budget = cells.max(1);
        while self.current < whole && budget > 0 {
            let end = whole.min(self.current + BLOCK);
            self.prepare(image, end);
            if self.look(image, seen, &mut budget).is_err() {
                break;
            }
            if budget > 0 {
                self.go_to(end);
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

    fn go_to(&mut self, word: usize) {
        if word > self.current {
            self.current = word;
            self.next_word();
        }
    }

    /// Learns what there is from the current word up to another.
    fn prepare(&mut self, image: Image<'_>, end: usize) {
        let Block { candidates, windows, spots, heads } = &mut self.block;
        let (filter, sieve) = (image.filter(), image.sieve());
        candidates.clear();
        for from in (self.current..end).step_by(SIFTED) {
            let count = SIFTED.min(end - from);
            sift(image, &self.hashes[from..], count, |word, has_more, alone| {
                let (word, spot) = (from + word, filter.spot(alone));
                candidates.push(Candidate { word, has_more, spot, windows: 0, spots: 0, heads: 0 });
            });
        }
        windows.clear();
        for candidate in &mut *candidates {
            if candidate.has_more {
                find_windows(image, &self.hashes[candidate.word..], candidate.spot, windows);
            }
            candidate.windows = windows.len();
        }
        spots.clear();
        let mut first = 0;
        for candidate in &mut *candidates {
            for &(words, hash) in windows[first..candidate.windows].iter().rev() {
                if sieve.cell(hash).passes() {
                    spots.push((words, filter.spot(hash)));
                }
            }
            first = candidate.windows;
            candidate.spots = spots.len();
        }
        heads.clear();
        first = 0;
        for candidate in &mut *candidates {
            for (words, spot) in &spots[first..candidate.spots] {
                filter.heads(spot, |head| heads.push((*words, head)));
            }
            filter.heads(&candidate.spot, |head| heads.push((1, head)));
            first = candidate.spots;
            candidate.heads = heads.len();
        }
        self.counters.lookups += wide(candidates.len() + spots.len());
    }

    /// Looks for the entities that begin in the block, until the budget is spent.
    fn look(
        &mut self,
        image: Image<'_>,
        seen: &impl Visibility,
        budget: &mut usize,
    ) -> Result<(), Unfinished> {
        let mut first = 0;
        for i in 0..self.block.candidates.len() {
            let Candidate { word, heads, .. } = self.block.candidates[i];
            // Not those inside a mention.
            if word >= self.current && first < heads {
                self.go_to(word);
                if *budget == 0 {
                    return Ok(());
                }
                let (found, names) = (self.found.len(), self.arena.mark());
                match self.look_at(image, first..heads, seen, budget) {
                    Ok(words) => self.go_to(word + words),
                    Err(unfinished) => {
                        self.found.truncate(found);
                        self.arena.truncate(names);
                        return Err(unfinished);
                    }
                }
                *budget = budget.saturating_sub(WORD_CELLS);
            }
            first = heads;
        }
        Ok(())
    }

    /// Looks for entities from the current word on. How many words are done with.
    fn look_at(
        &mut self,
        image: Image<'_>,
        heads: Range<usize>,
        seen: &impl Visibility,
        budget: &mut usize,
    ) -> Result<usize, Unfinished> {
        let mut turn = 0;
        let mut words_found = 0;
        for i in heads {
            let (words, head) = self.block.heads[i];
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
        self.window.clear();
        for word in &self.words[self.current..self.current + words] {
            if !self.window.is_empty() {
                self.window.push(b' ');
            }
            self.window.extend_from_slice(&self.folded[word.folded..word.folded + word.len]);
        }
        let head = Record::new(image.mem(), head);
        if !has_form(head, &self.window, &mut self.name, &mut self.form) {
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

/// Calls `each` for those of the first `count` words that names may begin with: its place, whether
/// names of more words may, and the hash of the word alone.
#[inline]
fn sift(image: Image<'_>, words: &[u64], count: usize, mut each: impl FnMut(usize, bool, Hash)) {
    let sieve = image.sieve();
    let nothing = sieve.cell(Hash::NOTHING);
    let mut cells = [(Hash::NOTHING, nothing, nothing); SIFTED];
    for (i, place) in cells[..count].iter_mut().enumerate() {
        let alone = Hash::NOTHING.and(words[i]);
        let cell = sieve.cell(alone);
        // The last word has no next, and is asked about twice.
        let pair = words.get(i + 1).map_or(cell, |next| sieve.cell(alone.and(*next)));
        cell.prefetch();
        pair.prefetch();
        *place = (alone, cell, pair);
    }
    for (i, (alone, cell, pair)) in cells[..count].iter().enumerate() {
        let has_more = pair.passes();
        if has_more || cell.passes() {
            each(i, has_more, *alone);
        }
    }
}

/// Adds the windows of two of these words and more that names may have, shortest first.
fn find_windows(
    image: Image<'_>,
    words: &[u64],
    first: FormSpot,
    windows: &mut Vec<(usize, Hash)>,
) {
    let (filter, sieve) = (image.filter(), image.sieve());
    let most = words.len().min(MOST_WORDS);
    let (mut begin, mut spot) = (1, first);
    while begin < most {
        let known = filter.lengths(&spot);
        let longest = begin + index(u32::BITS - known.leading_zeros());
        let mut hash = spot.hash();
        for count in begin + 1..=longest.min(begin + STEP).min(most) {
            hash = hash.and(words[count - 1]);
            if known >> (count - begin - 1) & 1 == 1 {
                sieve.cell(hash).prefetch();
                windows.push((count, hash));
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
