//! Finds which entities occur in a text: those with a window of words that folds to their folded name.
//!
//! ```text
//!   text --read--> folded words, outside the lock --step--> mentions, under it
//!        each word:    is it a name, or does a name begin with it? (the tags of two buckets)
//!        if so:        its prefix --> the lengths of names --> which windows of these lengths are names?
//!        each such window, longest first: its folded name in the filter
//!        if it agrees: compare folded bytes --> the entities of that folded name --> those the snapshot sees
//! ```
//!
//! Finds the leftmost, longest window and continues after it; or, overlapping, every window. Only entities with an edge
//! row that the snapshot sees count, so an unseen entity does not hide a shorter one.
//!
//! Promises: where no name begins, two buckets' tags are read. With a limit a step allocates nothing
//! (but to fold a name that is not ASCII): it ends, and `make_room` grows the workspace or says why not. A step ends
//! after about as many slots as asked, even in the middle of an entity's list (unless the image changed eight times at
//! one word), and continues after the lock was released and taken again. Of a long text a thousand words are held at a
//! time.

mod counting;
mod misspelled;
mod room;
mod window;

use std::cmp::Reverse;
use std::ops::Range;
use std::rc::Rc;

use crate::filter::counters::Counters;
use crate::folded::forms::{FormKind, NormalWords};
use crate::folded::normal::Language;
use crate::folded::words::{MOST_BYTES, MOST_WORD};
use crate::memory::casts::{index, wide};
use crate::memory::id::RecordId;
use crate::memory::interruptible::Interruptible;
use crate::memory::limit::NoRoom;
use crate::memory::root::Counter;
use crate::memory::step::Step;
use crate::recognise::candidates::{BLOCK, Block, Head};
use crate::recognise::forms::Forms;
use crate::recognise::mentions::counting::Counting;
use crate::recognise::mentions::room::Short;
use crate::recognise::mentions::window::Listing;
use crate::recognise::method::Method;
use crate::recognise::spelling::Case;
use crate::recognise::text::{Held, Reader};
use crate::records::list::Cursor;
use crate::records::record::Direction;
use crate::records::unknown_xids::UnknownXids;
use crate::vocabulary::near::Near;
use crate::walk::arena::{Arena, Name, Prefix};
use crate::{Image, Visibility};

/// What a word that names may begin with costs, in slots: two buckets.
const WORD_SLOTS: usize = 2;
/// How often a word is begun again because the image changed, before it is done in one step.
const MOST_RESTARTS: u32 = 8;

/// An entity in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mention {
    /// Its name as it is stored; read it with [`Recogniser::name`].
    pub entity: Name,
    /// The alias that occurs in the text, if aliases were sought.
    pub alias: Option<Name>,
    /// The rule that found it.
    pub method: Method,
    /// Where the mention begins, in characters from 0.
    pub start: usize,
    /// The length of the mention, in characters.
    pub length: usize,
    /// How well the text spells the name: see [`spelling`].
    pub spelling: u32,
    /// Where the mention begins, in bytes from 0.
    pub from: usize,
    /// Where the mention ends, in bytes from 0: the byte after its last.
    pub to: usize,
    /// The label that occurs in the text.
    label: Option<RecordId>,
    /// If this mention stands for all entities of its label: the mentions of them that came before, by their places
    /// in [`Recogniser::mentions`].
    listed: Option<(u32, u32)>,
}

impl Mention {
    /// The places of the mentions that this one stands for: see [`Recogniser::once`].
    #[must_use]
    pub fn listed(&self) -> Option<Range<usize>> {
        self.listed.map(|(from, to)| index(from)..index(to))
    }
}

/// What a recogniser looks for in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seek {
    /// Entities with an edge row that the snapshot sees.
    Entities,
    /// Entities of which the text has a label. Labels themselves are not reported as entities, and entities are not
    /// found by their own names.
    Labelled,
    /// Labels that are aliases: each mention also has its alias.
    Aliased,
}

/// The workspace of a reader that looks for entities in a text. Its memory is reused.
#[derive(Debug)]
pub struct Recogniser {
    arena: Arena,
    seek: Seek,
    overlapping: bool,
    case: Case,
    /// The words held; those before `current` are done.
    held: Held,
    /// The form that windows are looked up by, and the language of its words.
    kind: FormKind,
    language: Language,
    current: usize,
    /// The seed of the hashes of the words held.
    seed: u64,
    block: Block,
    found: Vec<Mention>,
    /// Whether the caller judges entities, and what is known of them.
    judges: bool,
    counting: Counting,
    asked: UnknownXids,
    /// How well the text spells each entity judged so far for the current word, in order; None if it does not spell it,
    /// or the snapshot sees no row of it.
    judged: Vec<Option<u32>>,
    /// The position in the list of the next entity, and in that of a label, if it was read in part.
    half: Option<(Direction, Cursor)>,
    listing: Option<Listing>,
    /// What the current word has cost, in slots, and the forms that cost much.
    spent: usize,
    forms: Forms,
    /// The cost of windows of the current word whose form is kept. It is taken from the budget once the word is done,
    /// since these windows are compared again if the word is begun again.
    owed: usize,
    restarts: u32,
    epoch: u64,
    /// The words near a misspelled one, the number of that word in the text, and whether all were found; and its place
    /// among the words of the window that is looked at.
    near: Near,
    near_word: Option<usize>,
    has_near: bool,
    /// How many parts of these words were looked up for the current word.
    near_done: usize,
    misspelled: usize,
    /// How many normal words the text has.
    all: usize,
    /// See [`Recogniser::avoid`].
    taken: Rc<Vec<(usize, usize)>>,
    apart: bool,
    /// Scratch: a window's folded name, a stored name, and its folded name.
    window: Vec<u8>,
    name: Vec<u8>,
    folded: Vec<u8>,
    /// The normal words of a name, and which record's it is, as long as a window is looked at.
    normal: NormalWords,
    normal_of: Option<RecordId>,
    counters: Counters,
    /// The most bytes that it may take, why it could not continue, and what it was short of.
    limit: usize,
    failed: Option<NoRoom>,
    short: Short,
}

/// An image, and the text in which its names are looked for.
type Searched<'a> = (Image<'a>, &'a str);

/// The budget ended in the middle of a word.
struct Unfinished;

impl Recogniser {
    /// Makes a workspace. Every copied name follows a prefix, which is 4-byte aligned.
    #[must_use]
    pub fn new(prefix: Prefix) -> Recogniser {
        Recogniser {
            arena: Arena::new(prefix),
            seek: Seek::Entities,
            overlapping: false,
            case: Case::default(),
            held: Held::new(),
            kind: FormKind::Folded,
            language: Language::default(),
            current: 0,
            seed: 0,
            block: Block::default(),
            found: Vec::new(),
            judges: false,
            counting: Counting::default(),
            asked: UnknownXids::new(),
            judged: Vec::new(),
            half: None,
            listing: None,
            spent: 0,
            forms: Forms::default(),
            owed: 0,
            restarts: 0,
            epoch: 0,
            near: Near::new(),
            near_word: None,
            has_near: false,
            near_done: 0,
            misspelled: 0,
            all: 0,
            taken: Rc::default(),
            apart: false,
            window: Vec::new(),
            // A name with a folded name, and its last byte if it is a label; no name folds to more than a word does.
            name: Vec::with_capacity(MOST_BYTES + 1),
            folded: Vec::with_capacity(MOST_WORD),
            normal: NormalWords::with_room(),
            normal_of: None,
            counters: Counters::default(),
            limit: usize::MAX,
            failed: None,
            short: Short::default(),
        }
    }

    /// Sets which names are found only in their own case.
    pub fn match_case(&mut self, case: impl Into<Case>) {
        self.case = case.into();
    }

    /// Sets whether a label that occurs again may have one mention, which stands for all its entities.
    pub fn once(&mut self, once: bool) {
        self.counting.once = once;
    }

    /// Sets the form by which names are looked for, from the next text on; the image's forms are in that language.
    pub fn form(&mut self, kind: FormKind, language: Language) {
        (self.kind, self.language) = (kind, language);
        if kind != FormKind::Folded {
            self.normal.speak(language);
        }
    }

    /// Sets windows that are taken, in bytes, in the order of their beginnings, the longest first: no window counts
    /// that is one of them, nor, if they are `apart`, one that crosses one or is inside it.
    pub fn avoid(&mut self, taken: &Rc<Vec<(usize, usize)>>, apart: bool) {
        (self.taken, self.apart) = (Rc::clone(taken), apart);
    }

    /// Begins a text, or begins it again once the asked xids are known.
    pub fn begin(&mut self, seek: Seek, overlapping: bool) {
        self.arena.truncate(0);
        self.seek = seek;
        self.overlapping = overlapping;
        self.held.begin(self.kind);
        self.current = 0;
        self.found.clear();
        self.counting.begin(self.judges);
        self.asked.make_room(self.limit / 8);
        self.asked.clear();
        self.failed = None;
        self.short.forget();
        self.next_word();
        self.forms.clear();
        (self.near_word, self.near_done) = (None, 0);
        self.counters = Counters::default();
    }

    /// Reads more of the text, if the words held do not suffice for a step. Needs no lock; call it before each step
    /// with the same reader.
    ///
    /// # Errors
    /// If the words held would take more memory than the limit, or than is available.
    pub fn read(
        &mut self,
        text: &mut Reader<'_>,
        work: &mut Interruptible<'_>,
    ) -> Result<(), NoRoom> {
        let others = self.bytes();
        self.held.read(text, &mut self.current, (self.limit, others), work)?;
        let window = self.held.most_bytes();
        self.window.clear();
        let fits = self.window.try_reserve(window).is_ok() && self.make_room_for_a_word();
        if fits { Ok(()) } else { Err(NoRoom::Memory(window)) }
    }

    /// Reader: continues with the text that was last read, for about `slots` edge slots.
    pub fn step(
        &mut self,
        image: Image<'_>,
        seen: &impl Visibility,
        slots: usize,
        reader: &Reader<'_>,
    ) -> Step {
        let text = reader.written();
        self.notice_changes(image);
        self.held.hash(self.seed);
        let whole = self.held.whole();
        let mut budget = slots.max(1);
        if self.kind == FormKind::Misspelled {
            self.step_misspelled((image, text), reader, seen, &mut budget);
        }
        if self.kind == FormKind::Part && image.root().count(Counter::Parts) == 0 {
            self.go_to(whole);
        }
        while self.current < whole && budget > 0 && self.kind != FormKind::Misspelled {
            let end = whole.min(self.current + BLOCK);
            let (from, words) = (self.current, end - self.current);
            let end = from
                + match self.kind {
                    FormKind::Folded => {
                        self.block.prepare(image, &self.held.hashes()[from..], words)
                    }
                    kind => self.block.prepare_form(image, kind, &self.held, from, words),
                };
            self.counters.lookups += wide(self.block.lookups());
            if self.search_block((image, text), seen, &mut budget).is_err() {
                break;
            }
            if budget > 0 {
                self.go_to(end);
            }
        }
        if self.current < self.held.len() || !self.held.ended() {
            return if self.asked.is_full() { Step::Ask } else { Step::More };
        }
        match self.failed {
            Some(_) => Step::More,
            None if self.asked.is_empty() => Step::Done,
            None => Step::Ask,
        }
    }

    /// The xids that the snapshot did not know, each once, after [`Step::Ask`].
    #[must_use]
    pub fn asked(&self) -> &[u64] {
        self.asked.xids()
    }

    /// After [`Step::Done`]: of the mentions with the same words keeps those that are spelled best, and sorts the rest
    /// by where they begin, longest first, then by the entity's bytes.
    pub fn finish(&mut self) {
        let arena = &self.arena;
        let key = |mention: &Mention| (mention.start, Reverse(mention.length));
        for same in self.found.chunk_by_mut(|a, b| key(a) == key(b)) {
            same.sort_unstable_by(|a, b| {
                let by_spelling = b.spelling.cmp(&a.spelling);
                by_spelling.then_with(|| arena.get(a.entity).cmp(arena.get(b.entity)))
            });
        }
        let mut best = None;
        self.found.retain(|mention| {
            let (place, spelling) = best.unwrap_or((key(mention), mention.spelling));
            let counts = place != key(mention) || spelling == mention.spelling;
            if place != key(mention) || best.is_none() {
                best = Some((key(mention), mention.spelling));
            }
            counts
        });
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

    /// The 4 bytes of a name's prefix and its bytes; the address is a multiple of 4.
    #[must_use]
    pub fn name_with_prefix(&self, name: Name) -> &[u8] {
        self.arena.with_prefix(name)
    }

    /// The cost of the text: windows that were looked up, and those that had a folded name.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    fn next_word(&mut self) {
        self.judged.clear();
        self.half = None;
        self.listing = None;
        self.forms.next_word();
        (self.spent, self.restarts) = (0, 0);
    }

    /// If the image changed since the last step, drops what is known of the current word's entities.
    fn notice_changes(&mut self, image: Image<'_>) {
        let seed = image.root().seed();
        if seed != self.seed {
            self.seed = seed;
            self.held.forget_hashes();
        }
        let epoch = image.epoch();
        if epoch != self.epoch {
            self.epoch = epoch;
            (self.near_word, self.near_done) = (None, 0);
            self.restarts += u32::from(self.half.take().is_some() | self.forms.begin_anew());
            self.judged.clear();
            if let Some(Listing { found, names, .. }) = self.listing.take() {
                self.forget(found, names);
                self.restarts += 1;
            }
        }
    }

    /// Drops the mentions and names of the current word: all but so many.
    fn forget(&mut self, mentions: usize, names: u32) {
        self.found.truncate(mentions);
        self.counting.entities.truncate(mentions - self.counting.judged);
        self.arena.truncate(names);
    }

    fn go_to(&mut self, word: usize) {
        if word > self.current {
            self.current = word;
            self.next_word();
        }
    }

    /// Looks for the mentions that begin in the block, whose first word is the current one, until the budget is spent.
    fn search_block(
        &mut self,
        of: Searched<'_>,
        seen: &impl Visibility,
        budget: &mut usize,
    ) -> Result<(), Unfinished> {
        let block = self.current;
        let mut next = 0;
        while let Some(&Head { first, .. }) = self.block.heads.get(next) {
            let rest = &self.block.heads[next..];
            let heads = next..next + rest.iter().take_while(|head| head.first == first).count();
            next = heads.end;
            let word = block + first;
            // Skip words inside a mention.
            if word >= self.current {
                self.go_to(word);
                if *budget == 0 {
                    return Ok(());
                }
                let before = (self.found.len(), self.arena.mark());
                let (found, names) = self.listing.map_or(before, |half| (half.found, half.names));
                match self.look_at(of, heads, seen, budget) {
                    Ok(words) => self.go_to(word + words),
                    Err(unfinished) => {
                        match &mut self.listing {
                            Some(half) => (half.found, half.names) = (found, names),
                            None => {
                                self.forget(found, names);
                            }
                        }
                        return Err(unfinished);
                    }
                }
                *budget = budget.saturating_sub(WORD_SLOTS + self.owed);
                if self.has_many() {
                    *budget = 0;
                }
            }
        }
        Ok(())
    }

    /// Looks for entities from the current word on; returns how many words are done.
    fn look_at(
        &mut self,
        of: Searched<'_>,
        heads: Range<usize>,
        seen: &impl Visibility,
        budget: &mut usize,
    ) -> Result<usize, Unfinished> {
        let mut turn = 0;
        self.owed = 0;
        let half = self.listing.take();
        let (first, mut words_found) = half.map_or((0, 0), |half| (half.head, half.words_found));
        for (at, i) in heads.enumerate().skip(first) {
            let head = self.block.heads[i];
            let words = head.words;
            if words_found > words && !self.overlapping {
                break;
            }
            let half = half.filter(|half| half.head == at);
            let before = half.map_or(self.found.len(), |half| half.before);
            if let Err(unfinished) = self.window(of, head, half, seen, &mut turn, budget) {
                if let Some(half) = &mut self.listing {
                    (half.head, half.words_found, half.before) = (at, words_found, before);
                }
                return Err(unfinished);
            }
            if self.found.len() > before {
                words_found = words;
            }
        }
        // There may be more near words for a misspelled one.
        if self.kind == FormKind::Misspelled {
            return Ok(0);
        }
        Ok(if self.overlapping { 1 } else { words_found.max(1) })
    }
}
