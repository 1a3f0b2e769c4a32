//! A search for names in a text: as it is written, then by each rule for names that it writes otherwise.
//!
//! Each source is searched under its own lock and snapshot; the results are merged by leftmost-longest (merged.rs,
//! tiers.rs).
//!
//! Where the images in shared memory cannot serve, the same search runs in images that the call makes for itself
//! (private_image.rs).

use crate::call::tuple::HEADERS;
use crate::call::work_memory;
use crate::call::work_memory::{Room, list};
use crate::catalog::attached_table::AttachedTable;
use crate::error;
use crate::error::Fallible;
use crate::guc;
use crate::guc::Match;
use crate::image::reason::Reason;
use crate::pg::backend;
use crate::pg::interrupt::check_interrupts;
use crate::pg::snapshot::SnapshotView;
use crate::serve::asked;
use crate::serve::asked::Question;
use crate::serve::conditions::Ticket;
use crate::serve::coordinated::Coordinated;
use crate::serve::merged::{keep_first, merge, order, room_for, windows_of};
use crate::serve::narrowed::{Narrowed, narrow};
use crate::serve::private_image::PrivateImage;
use crate::serve::tables::Tables;
use crate::serve::tiers::{Each, Rule};
use crate::serve::walk::End;
use crate::serve::within::Within;
use crate::serve::{route, synonyms, tiers, walk};
use cftrag_core::{
    Case, FormKind, Image, Interruptible, KnownWords, Language, Method, NormalText, Reader, Recogniser, Seek, Step,
    Trees, UnknownXids,
};
use pgrx::check_for_interrupts;
use pgrx::pg_sys;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Edge slots visited before the lock is released; a word counts as two. See walk.rs.
const SLOTS: usize = 20_000;

/// Entities of aliases looked up before the lock is released.
const NAMES: usize = 64;

/// A workspace with more mentions than this is freed after the call.
const KEEP_MENTIONS: usize = 100_000;

/// A workspace that holds more bytes of a text than this is freed, too: the text has very long words.
const KEEP_BYTES: usize = 256 << 10;

/// What a search works in, and what it found.
#[derive(Default)]
pub struct Workspace {
    /// One for the edges' image, then one for each table of names; then the same for the text without possessives and
    /// the like, and for each rule by which names are looked for that the text writes otherwise.
    pub recognisers: Vec<Recogniser>,
    /// Each mention with the index of its recogniser.
    pub mentions: Vec<Each>,
    normal: Normal,
    known: KnownWords,
}

/// The normal words of the text, of the names that it joins, and of the text with other words of the same class.
#[derive(Default)]
struct Normal {
    text: NormalText,
    joined: NormalText,
    replaced: NormalText,
}

impl Workspace {
    /// Frees what a large text took.
    pub fn free_large(&mut self) {
        let Normal { text, joined, replaced } = &mut self.normal;
        for normal in [text, joined, replaced] {
            if normal.bytes() > KEEP_BYTES {
                *normal = NormalText::default();
            }
        }
    }

    /// Whether it is small enough to be kept.
    pub fn is_small(&self) -> bool {
        let is_small = |of: &Recogniser| of.mentions().len() <= KEEP_MENTIONS && of.held() <= KEEP_BYTES;
        self.recognisers.iter().all(is_small)
    }
}

/// The images of the tables.
pub enum Images {
    /// Those in shared memory.
    Shared,
    /// Those of this call, by table.
    Private(RefCell<HashMap<pg_sys::Oid, Rc<PrivateImage>>>),
}

impl Images {
    /// Opens the image of a table, and calls `first` with it.
    fn open<R>(
        &self,
        of: &AttachedTable,
        mut first: impl FnMut(Image<'_>, &SnapshotView) -> R,
    ) -> Result<(Opened, R), End> {
        match self {
            Self::Shared => {
                let (ticket, result) = route::route_whole(of, first)?;
                Ok((Opened::Shared(ticket), result))
            }
            Self::Private(known) => {
                let seen = SnapshotView::of_active().ok_or(Reason::OldSnapshot)?;
                let made = known.borrow().get(&of.oid()).cloned();
                let image = match made {
                    Some(image) => image,
                    None => {
                        let image = Rc::new(PrivateImage::of(of)?);
                        known.borrow_mut().insert(of.oid(), Rc::clone(&image));
                        image
                    }
                };
                let result = image.read(|image| first(image, &seen))?;
                Ok((Opened::Private(image, seen), result))
            }
        }
    }
}

/// An image that may be read under the caller's snapshot.
enum Opened {
    Shared(Ticket),
    Private(Rc<PrivateImage>, SnapshotView),
}

impl Opened {
    fn read<R>(&self, look: impl FnOnce(Image<'_>, &SnapshotView) -> R) -> Result<R, Reason> {
        match self {
            Self::Shared(ticket) => ticket.read(look),
            Self::Private(image, seen) => image.read(|image| look(image, seen)),
        }
    }

    fn learn(&mut self, xids: &[u64]) -> Result<(), Reason> {
        match self {
            Self::Shared(ticket) => ticket.learn(xids),
            Self::Private(..) => Ok(()),
        }
    }
}

/// Finds the names of a text in the images.
pub fn search(tables: &Tables, question: &Question, images: &Images, found: &mut Workspace) -> Result<(), End> {
    let text = question.text.bytes();
    let plain = match backend::is_utf8() {
        true => as_plain(text, &mut Interruptible::new(&mut { check_interrupts })).map_err(End::Error)?,
        false => None,
    };
    let tops = question.within.map(|tops| tops.copied(&mut Room::new())).transpose().map_err(End::Error)?;
    let within = tops.as_ref().map(|tops| Within::of(&tables.edges, tops, question.trees));
    let only = question.trees.map(asked::trees).transpose().map_err(End::Error)?;
    let alone = tables.aliases.is_empty()
        && !tables.has_labels()
        && tables.are_found_by_name()
        && only.is_none()
        && plain.is_none()
        && within.is_none();
    // The trees are checked once all names are found.
    let filter = Filter { images, edges: &tables.edges, only, within, once: question.once };
    let texts = 1 + usize::from(plain.is_some());
    let rules = tiers::rules(question.matching, !tables.words.is_empty());
    let sources = tables.sources();
    let Workspace { recognisers, mentions, normal, known } = found;
    while recognisers.len() < sources.len() * (texts + rules.len()) {
        recognisers.push(Recogniser::new(HEADERS));
    }
    let (first, others) = recognisers.split_at_mut(sources.len() * texts);
    let mut search = Search { tables, question, plain: plain.as_deref(), sources, filter };
    let mut ticket = search.written(first, alone, mentions)?;
    if !rules.is_empty() {
        search.read_normal(&mut normal.text)?;
        let is_replaced = rules.iter().any(|rule| rule.0 == Method::Synonym);
        if is_replaced {
            search.replace_words(normal)?;
        }
        for (n, rule) in rules.iter().enumerate() {
            search.by_rule(*rule, n, others, mentions, (normal, known), &mut ticket)?;
        }
    }
    let mut narrowed = Narrowed::default();
    if question.narrow {
        let read = |text: &mut NormalText| match rules.is_empty() {
            true => search.read_normal(text),
            false => Ok(()),
        };
        narrowed = narrow(&tables.edges, question.trees, recognisers, mentions, &mut normal.text, read)?;
    }
    if question.once {
        keep_first(recognisers, mentions, &narrowed).map_err(End::Error)?;
    }
    if !alone || question.matching != Match::Exact {
        order(recognisers, mentions);
    }
    if let Opened::Shared(ticket) = ticket {
        walk::served(&tables.edges, &ticket, recognisers[0].counters());
    }
    Ok(())
}

/// A search that is under way.
struct Search<'a> {
    tables: &'a Tables,
    question: &'a Question<'a>,
    /// The text without possessives and the like, if it has some.
    plain: Option<&'a [u8]>,
    sources: Vec<(&'a AttachedTable, Seek)>,
    filter: Filter<'a>,
}

impl Search<'_> {
    /// Finds the names that stand in the text as they are: only in the edges table, if it is `alone`.
    fn written(
        &mut self,
        recognisers: &mut [Recogniser],
        alone: bool,
        mentions: &mut Vec<Each>,
    ) -> Result<Opened, End> {
        let (text, overlapping) = (self.question.text.bytes(), self.question.overlapping);
        let texts = [Some(Read::Written(text)), self.plain.map(|plain| Read::Plain(text, plain))];
        let none = Rc::default();
        let mut ticket = None;
        let each = texts.iter().flatten().flat_map(|text| self.sources.iter().map(move |of| (*of, *text)));
        for (n, (((of, seek), text), recogniser)) in each.zip(&mut *recognisers).enumerate() {
            let all = overlapping || !alone || n > 0;
            let how = How { seek, all, form: FormKind::Folded, taken: (&none, false) };
            let own = recognise(of, recogniser, text, how, ticket.as_mut(), &mut self.filter)?;
            ticket.get_or_insert(own);
        }
        mentions.clear();
        room_for(mentions, alone, recognisers)?;
        if alone {
            recognisers[0].finish();
            mentions.extend(recognisers[0].mentions().iter().map(|mention| (0, *mention)));
        } else {
            merge(recognisers, 0, self.sources.len(), mentions);
            if !overlapping {
                tiers::keep_leftmost(mentions, &mut Interruptible::new(&mut { check_interrupts }));
            }
        }
        let Some(ticket) = ticket else { unreachable!("the edges table is a source") };
        Ok(ticket)
    }

    /// Adds what a rule finds, the n-th one.
    fn by_rule(
        &mut self,
        (method, form): Rule,
        n: usize,
        recognisers: &mut [Recogniser],
        mentions: &mut Vec<Each>,
        (normal, known): (&mut Normal, &mut KnownWords),
        ticket: &mut Opened,
    ) -> Result<(), End> {
        let mut check_interrupts = check_interrupts;
        let work = &mut Interruptible::new(&mut check_interrupts);
        let (text, overlapping, once) = (self.question.text.bytes(), self.question.overlapping, self.question.once);
        let Some(form) = form else {
            let text = cftrag_core::as_utf8(text, work).ok_or(Reason::Encoding)?;
            return tiers::add_abbreviations(text, mentions, overlapping, once, work).map_err(End::Error);
        };
        let coordinated = match method {
            Method::Coordination => Some(self.joined(&mut normal.joined, work)?),
            _ => None,
        };
        if form == FormKind::Misspelled {
            known_words(known, &normal.text, &self.sources, self.filter.images, ticket)?;
        }
        let read = match (&coordinated, method) {
            (Some(names), _) if names.text.is_empty() => return Ok(()),
            (Some(names), _) => Read::Normal(names.text.as_bytes(), &normal.joined),
            (None, Method::Synonym) => Read::Normal(text, &normal.replaced),
            (None, Method::Typo) => Read::Misspelled(text, &normal.text, known),
            (None, _) => Read::Normal(text, &normal.text),
        };
        // A window may come several times: in several lists, or with several words replaced.
        self.filter.once = once && !matches!(method, Method::Coordination | Method::Synonym);
        let windows = if coordinated.is_some() { Rc::default() } else { windows_of(mentions, work)? };
        let sources = self.sources.len();
        let own = &mut recognisers[n * sources..(n + 1) * sources];
        for ((of, seek), recogniser) in self.sources.iter().zip(&mut *own) {
            let how = How { seek: *seek, all: true, form, taken: (&windows, !overlapping) };
            recognise(of, recogniser, read, how, Some(ticket), &mut self.filter)?;
        }
        let mut new = Vec::new();
        room_for(&mut new, false, own)?;
        merge(own, self.first_of(n), sources, &mut new);
        if let Some(names) = coordinated {
            new = names.back(&new, work).map_err(End::Error)?;
        }
        new.iter_mut().for_each(|(_, mention)| mention.method = method);
        tiers::add(mentions, &mut new, overlapping, work).map_err(End::Error)
    }

    /// The number of the first recogniser of the n-th rule.
    fn first_of(&self, n: usize) -> usize {
        self.sources.len() * (1 + usize::from(self.plain.is_some()) + n)
    }

    /// Reads the normal words of the text.
    fn read_normal(&self, normal: &mut NormalText) -> Result<(), End> {
        let language = self.tables.edges.registration.language();
        // All are compared by the rules of one language.
        if self.sources.iter().any(|(of, _)| of.registration.language() != language) {
            return Err(Reason::Columns.into());
        }
        read_normal(normal, language, self.question.text.bytes(), self.plain)
    }

    /// Reads the text with other words of the same class.
    fn replace_words(&self, Normal { text, replaced, .. }: &mut Normal) -> Result<(), End> {
        let mut check_interrupts = check_interrupts;
        let work = &mut Interruptible::new(&mut check_interrupts);
        let read = self.plain.unwrap_or(self.question.text.bytes());
        let read = cftrag_core::as_utf8(read, work).ok_or(Reason::Encoding)?;
        synonyms::replace(read, text, &self.tables.words, replaced, work).map_err(End::Error)
    }

    /// Reads the names that the text joins, and their normal words.
    fn joined(&self, joined: &mut NormalText, work: &mut Interruptible<'_>) -> Result<Coordinated, End> {
        let language = self.tables.edges.registration.language();
        let text = cftrag_core::as_utf8(self.question.text.bytes(), work).ok_or(Reason::Encoding)?;
        let names = Coordinated::of(text, language, work).map_err(End::Error)?;
        let plain = as_plain(names.text.as_bytes(), work).map_err(End::Error)?;
        read_normal(joined, language, names.text.as_bytes(), plain.as_deref())?;
        Ok(names)
    }
}

/// The text without possessives, elisions and the like; None if it has none. 53400, 53200 (memory).
pub fn as_plain(text: &[u8], work: &mut Interruptible<'_>) -> Fallible<Option<Vec<u8>>> {
    cftrag_core::plain(text, work, |text| work_memory::copy(text, &mut Room::new()))
}

/// A text, and what is read in its place: its plain form (see [`as_plain`]), or its normal words.
#[derive(Clone, Copy)]
enum Read<'t> {
    Written(&'t [u8]),
    Plain(&'t [u8], &'t [u8]),
    Normal(&'t [u8], &'t NormalText),
    Misspelled(&'t [u8], &'t NormalText, &'t KnownWords),
}

/// Reads the normal words of a text, of its plain form if it has one. 53400, 53200 (memory).
fn read_normal(normal: &mut NormalText, language: Language, text: &[u8], plain: Option<&[u8]>) -> Result<(), End> {
    let mut check_interrupts = check_interrupts;
    let work = &mut Interruptible::new(&mut check_interrupts);
    if !backend::is_utf8() {
        return Err(Reason::Encoding.into());
    }
    let text = cftrag_core::as_utf8(plain.unwrap_or(text), work).ok_or(Reason::Encoding)?;
    let read = normal.read(language, text, work_memory::limit(), work);
    read.map_err(|why| End::Error(error::no_room(why)))
}

/// Notes which words of the text are words of names, aliases or labels that the caller sees. 53400, 53200 (memory).
fn known_words(
    known: &mut KnownWords,
    text: &NormalText,
    tables: &[(&AttachedTable, Seek)],
    images: &Images,
    edges: &mut Opened,
) -> Result<(), End> {
    known.begin(text, work_memory::limit()).map_err(|why| End::Error(error::no_room(why)))?;
    for (n, (of, seek)) in tables.iter().enumerate() {
        known.next_source(text.language());
        let vocabulary = seek.vocabulary();
        let first = |image: Image<'_>, seen: &SnapshotView| known.step(image, vocabulary, seen, SLOTS, text);
        let mut own = None;
        let mut step = if n == 0 {
            edges.read(first)?
        } else {
            let (ticket, step) = images.open(of, first)?;
            own = Some(ticket);
            step
        };
        let ticket = own.as_mut().unwrap_or(edges);
        while step != Step::Done {
            check_for_interrupts!();
            match step {
                Step::Ask => {
                    ticket.learn(known.asked())?;
                    known.next_source(text.language());
                }
                _ => known.prepare(text, &mut Interruptible::new(&mut { check_interrupts })),
            }
            step = ticket.read(|image, seen| known.step(image, vocabulary, seen, SLOTS, text))?;
        }
    }
    Ok(())
}

/// A reader of the text, if the database's encoding is UTF8, which the recogniser requires.
fn reader<'t>(text: Read<'t>, work: &mut Interruptible<'_>) -> Option<Reader<'t>> {
    if !backend::is_utf8() {
        return None;
    }
    match text {
        Read::Written(text) => Reader::of(text, work),
        Read::Plain(text, plain) => Reader::of(text, work)?.instead(plain, work),
        Read::Normal(text, normal) => Some(Reader::normal(cftrag_core::as_utf8(text, work)?, normal)),
        Read::Misspelled(text, normal, known) => {
            Some(Reader::misspelled(cftrag_core::as_utf8(text, work)?, normal, known))
        }
    }
}

/// Which entities of the edges table count.
struct Filter<'a> {
    images: &'a Images,
    edges: &'a AttachedTable,
    only: Option<Trees>,
    within: Option<Within<'a>>,
    /// Whether each entity's first mention suffices.
    once: bool,
}

impl Filter<'_> {
    /// Of these different entities, which the caller sees and which are in the trees and within the entities asked for.
    /// `is_sure`: the caller sees them all.
    fn counts(&mut self, names: &[&[u8]], is_sure: bool, edges: &mut Opened) -> Result<Vec<bool>, End> {
        let mut counts = match is_sure && self.only.is_none() {
            true => vec![true; names.len()],
            false => entities_seen(edges, self.only.as_mut(), names)?,
        };
        if let Some(within) = &self.within {
            let seen = names.iter().zip(&counts).filter_map(|(name, counts)| counts.then_some(*name));
            let mut asked = list(names.len(), &mut Room::new()).map_err(End::Error)?;
            asked.extend(seen);
            let mut those = within.those_of(&asked).map_err(End::Error)?.into_iter();
            counts.iter_mut().for_each(|counts| *counts = *counts && those.next() == Some(true));
        }
        Ok(counts)
    }
}

/// What to look for: names of what, whether all windows are wanted, the form of names, and the windows that are taken
/// (see [`Recogniser::avoid`]).
#[derive(Clone, Copy)]
struct How<'a> {
    seek: Seek,
    all: bool,
    form: FormKind,
    taken: (&'a Rc<Vec<(usize, usize)>>, bool),
}

/// Finds the names in the text that count, in the image of the edges table or of one of its tables of names. `edges`:
/// the ticket of the edges table; None if this call gets it.
fn recognise(
    of: &AttachedTable,
    recogniser: &mut Recogniser,
    text: Read<'_>,
    how: How<'_>,
    mut edges: Option<&mut Opened>,
    filter: &mut Filter<'_>,
) -> Result<Opened, End> {
    let (mut check_interrupts, mut check_interrupts_too) = (check_interrupts, check_interrupts);
    let mut work = Interruptible::new(&mut check_interrupts);
    let mut keeping = Interruptible::new(&mut check_interrupts_too);
    let no_room = |why| End::Error(error::no_room(why));
    let Some(mut reader) = reader(text, &mut work) else {
        if matches!(filter.images, Images::Shared) {
            route::route(of)?;
        }
        return Err(Reason::Encoding.into());
    };
    // The edges' own image finds only entities that the caller sees.
    let is_sure = of.oid() == filter.edges.oid();
    let judges = !is_sure || filter.only.is_some() || filter.within.is_some();
    recogniser.limit(work_memory::limit());
    recogniser.match_case(Case { which: guc::MATCH_CASE.get().into(), language: filter.edges.registration.language() });
    recogniser.judging(judges);
    recogniser.once(filter.once);
    let How { seek, all, form, taken: (taken, apart) } = how;
    recogniser.form(form, of.registration.language());
    recogniser.avoid(taken, apart);
    recogniser.begin(seek, all);
    recogniser.read(&mut reader, &mut work).map_err(no_room)?;
    let first = |image: Image<'_>, seen: &SnapshotView| recogniser.step(image, seen, SLOTS, &reader);
    let (mut ticket, step) = filter.images.open(of, first)?;
    let mut step = step;
    loop {
        match step {
            Step::Ask => {}
            Step::More if !recogniser.has_many() => {}
            Step::Done if !judges => {}
            Step::More | Step::Done => {
                let edges = edges.as_deref_mut().unwrap_or(&mut ticket);
                recogniser.keep(&mut keeping, |names| filter.counts(names, is_sure, edges), no_room)?;
            }
        }
        match step {
            Step::Done => return Ok(ticket),
            Step::More => {
                check_for_interrupts!();
                recogniser.make_room(SLOTS).map_err(no_room)?;
            }
            Step::Ask => {
                ticket.learn(recogniser.asked())?;
                recogniser.begin(seek, all);
                reader = self::reader(text, &mut work).ok_or(Reason::Encoding)?;
            }
        }
        recogniser.read(&mut reader, &mut work).map_err(no_room)?;
        step = ticket.read(|image, seen| recogniser.step(image, seen, SLOTS, &reader))?;
    }
}

/// Whether each name is an entity with an edge that the caller sees, in one of the trees if trees are given.
fn entities_seen(edges: &mut Opened, mut only: Option<&mut Trees>, names: &[&[u8]]) -> Result<Vec<bool>, Reason> {
    let mut seen = vec![false; names.len()];
    for (some, seen) in names.chunks(NAMES).zip(seen.chunks_mut(NAMES)) {
        loop {
            let mut ask = UnknownXids::new();
            edges.read(|image, snapshot| {
                let each = some.iter().zip(&mut *seen);
                each.for_each(|(name, seen)| *seen = image.sees(name, only.as_deref_mut(), snapshot, &mut ask));
            })?;
            if ask.is_empty() {
                break;
            }
            edges.learn(ask.xids())?;
        }
        check_for_interrupts!();
    }
    Ok(seen)
}
