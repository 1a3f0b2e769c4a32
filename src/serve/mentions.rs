//! Finds names in a text: in the images of the edges table and of its tables of names, or by the reference query.
//!
//! Each source is searched under its own lock and snapshot; the results are merged by leftmost-longest. A caller sees a name if it sees
//! a row that has it. Workspaces are kept between calls, within `KEEP_BYTES`.

#![expect(unsafe_code, reason = "reads a variable of the server")]

use crate::call::fmgr::Rows;
use crate::call::tuple::{HEADERS, Row, varlena_header};
use crate::call::work_memory;
use crate::call::work_memory::{Room, list};
use crate::catalog::attached_table::{AttachedTable, OpenNames};
use crate::error;
use crate::error::Fallible;
use crate::guc;
use crate::image::counters;
use crate::image::reason::Reason;
use crate::pg::interrupt::check_interrupts;
use crate::pg::snapshot::SnapshotView;
use crate::serve::asked;
use crate::serve::asked::Question;
use crate::serve::conditions::Ticket;
use crate::serve::coordinated::Coordinated;
use crate::serve::labels::Labels;
use crate::serve::tiers::{Each, window};
use crate::serve::walk::End;
use crate::serve::within::Within;
use crate::serve::{reference, route, tiers, walk, within};
use cftrag_core::{
    Asked, FormKind, Image, Interruptible, KnownWords, Language, Mention, Method, NoRoom, NormalText, Reader,
    Recogniser, Seek, Step, Trees,
};
use pgrx::check_for_interrupts;
use pgrx::prelude::*;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

/// Edge slots visited before the lock is released; a word counts as two. See walk.rs.
const CELLS: usize = 20_000;

/// Entities of aliases looked up before the lock is released.
const NAMES: usize = 64;

/// A workspace with more mentions than this is freed after the call.
const KEEP_MENTIONS: usize = 100_000;

/// A workspace that holds more bytes of a text than this is freed, too: the text has very long words.
const KEEP_BYTES: usize = 256 << 10;

/// Workspaces kept.
const KEEP_FOUND: usize = 4;

/// Boxed, so that moving one copies a pointer.
pub type Workspaces = Vec<Box<Found>>;

thread_local! {
    static FOUND: RefCell<Workspaces> = const { RefCell::new(Vec::new()) };
}

/// The names found in a text, in order, and the workspace they were found in.
#[derive(Default)]
pub struct Found {
    /// One for the edges' image, then one for each table of names; then the same for the text without possessives and the like, and for each form by
    /// which names are looked for that the text writes otherwise.
    pub recognisers: Vec<Recogniser>,
    /// The normal words of the text and of the names that it joins, and which words of the text are words of names.
    normal: NormalText,
    joined: NormalText,
    known: KnownWords,
    /// Each mention with the index of its recogniser.
    pub mentions: Vec<Each>,
    /// The labels of the mentions' entities, in the same order.
    pub labels: Labels,
    /// The mentions' texts and labels as PostgreSQL values, one after the other; `spelled` and `labelled` have where each begins.
    values: Vec<u32>,
    spelled: Vec<usize>,
    labelled: Vec<Option<usize>>,
}

/// Takes a workspace out of the kept ones. An ERROR frees it.
pub fn workspace() -> Box<Found> {
    FOUND.with_borrow_mut(Vec::pop).unwrap_or_default()
}

/// Keeps a workspace for the next call, unless it grew large or enough are kept.
pub fn give_back(mut found: Box<Found>) {
    found.labels = Labels::default();
    for normal in [&mut found.normal, &mut found.joined] {
        if normal.bytes() > KEEP_BYTES {
            *normal = NormalText::default();
        }
    }
    let is_small = |of: &Recogniser| of.mentions().len() <= KEEP_MENTIONS && of.held() <= KEEP_BYTES;
    if found.recognisers.iter().all(is_small) {
        FOUND.with_borrow_mut(|all| {
            if all.len() < KEEP_FOUND {
                all.push(found);
            }
        });
    }
}

/// The tables that a call reads: edges, and names of their entities.
pub struct Tables {
    edges: AttachedTable,
    aliases: Vec<AttachedTable>,
    labels: Option<AttachedTable>,
}

impl Tables {
    /// Opens the tables. The arguments and errors are those of [`AttachedTable::of`].
    pub fn open(function: pg_sys::Oid, edges: Option<pg_sys::Oid>) -> Fallible<Self> {
        let edges = AttachedTable::of(function, edges)?;
        let OpenNames { aliases, labels } = edges.open_names()?;
        Ok(Self { edges, aliases, labels })
    }

    /// Finds the names in the text. Returns false, and counts why, if the images cannot serve. Errors: 53400, 53200 (memory).
    pub fn find(&self, question: &Question, found: &mut Found) -> Fallible<bool> {
        match self.search(question, found) {
            Ok(()) => {
                if self.edges.columns.has_labels() || self.labels.is_some() {
                    let entity = |(n, mention): &Each| found.recognisers[*n].name(mention.entity);
                    let mut entities = list(found.mentions.len(), &mut Room::new())?;
                    entities.extend(found.mentions.iter().map(entity));
                    found.labels = Labels::of(&self.edges, &entities)?;
                }
                Ok(true)
            }
            Err(End::Unusable(reason)) => {
                counters::count(self.edges.oid(), reason);
                Ok(false)
            }
            Err(End::Error(error)) => Err(error),
        }
    }

    /// Answers by the reference query.
    pub fn by_reference(&self, question: &Question, rows: Rows) {
        reference::entities(&self.edges, &self.aliases, self.labels.as_ref(), question, rows);
    }

    /// Reads the names that a text joins, and their normal words.
    fn joined(&self, text: &[u8], joined: &mut NormalText, work: &mut Interruptible<'_>) -> Result<Coordinated, End> {
        let language = self.edges.registration.language();
        let text = cftrag_core::as_utf8(text, work).ok_or(Reason::Encoding)?;
        let names = Coordinated::of(text, language, work).map_err(End::Error)?;
        let plain = as_plain(names.text.as_bytes(), work).map_err(End::Error)?;
        read_normal(joined, language, names.text.as_bytes(), plain.as_deref())?;
        Ok(names)
    }

    fn search(&self, question: &Question, found: &mut Found) -> Result<(), End> {
        let Self { edges, aliases, labels } = self;
        let (text, overlapping) = (question.text(), question.is_overlapping());
        let only = question.trees.map(asked::trees).transpose().map_err(End::Error)?;
        let Found { recognisers, mentions, normal, joined, known, .. } = found;
        let sources = 1 + aliases.len() + labels.iter().len();
        // With labels, several names may belong to one entity, as with aliases. The trees are checked once all names are found.
        let by_name = edges.columns.are_found_by_name(&edges.registration.names) && labels.is_none();
        let plain = match has_utf8() {
            true => as_plain(text, &mut Interruptible::new(&mut { check_interrupts })).map_err(End::Error)?,
            false => None,
        };
        let texts = [Some(Read::Written(text)), plain.as_deref().map(|plain| Read::Plain(text, plain))];
        let alone = sources == 1 && by_name && only.is_none() && plain.is_none() && question.within.is_none();
        // Seek::Labelled finds nothing in an image without labels.
        let seek = if by_name { Seek::Entities } else { Seek::Labelled };
        let searches = sources * texts.iter().flatten().count();
        let rules = tiers::rules(question.matching);
        while recognisers.len() < searches + sources * rules.len() {
            recognisers.push(Recogniser::new(HEADERS));
        }
        let tops = question.within.map(within::tops).transpose().map_err(End::Error)?;
        let within = tops.as_ref().map(|tops| Within::of(edges, tops, question.trees));
        let mut filter = Filter { edges, only, within, once: question.once };
        let all = overlapping || !alone;
        let none = Rc::default();
        let taken = (&none, false);
        let how = How { seek, all, form: FormKind::Folded, taken };
        let mut ticket = look(edges, &mut recognisers[0], Read::Written(text), how, None, &mut filter)?;
        let own = std::iter::once((edges, seek));
        let names = aliases.iter().map(|of| (of, Seek::Aliased)).chain(labels.iter().map(|of| (of, Seek::Labelled)));
        let tables: Vec<_> = own.chain(names).collect(); // bounded: attached tables
        let rest = texts.iter().flatten().flat_map(|text| tables.iter().map(move |of| (*of, *text))).skip(1);
        for (((of, seek), text), recogniser) in rest.zip(&mut recognisers[1..]) {
            let how = How { seek, all: true, form: FormKind::Folded, taken };
            look(of, recogniser, text, how, Some(&mut ticket), &mut filter)?;
        }
        mentions.clear();
        room_for(mentions, alone, &recognisers[..searches])?;
        if alone {
            recognisers[0].finish();
            mentions.extend(recognisers[0].mentions().iter().map(|mention| (0, *mention)));
        } else {
            merge(recognisers, 0..searches, sources, mentions);
            if !overlapping {
                tiers::keep_leftmost(mentions, &mut Interruptible::new(&mut { check_interrupts }));
            }
        }
        let mut check_interrupts_too = check_interrupts;
        let work = &mut Interruptible::new(&mut check_interrupts_too);
        if !rules.is_empty() {
            // All are compared by the rules of one language.
            if tables.iter().any(|(of, _)| of.registration.language() != edges.registration.language()) {
                return Err(Reason::Columns.into());
            }
            read_normal(normal, edges.registration.language(), text, plain.as_deref())?;
        }
        for (n, rule) in rules.iter().enumerate() {
            let those = searches + n * sources..searches + (n + 1) * sources;
            let Some(form) = tiers::form_of(*rule) else {
                let text = cftrag_core::as_utf8(text, work).ok_or(Reason::Encoding)?;
                tiers::add_abbreviations(text, mentions, overlapping, question.once, work).map_err(End::Error)?;
                continue;
            };
            let coordinated = match rule {
                Method::Coordination => Some(self.joined(text, joined, work)?),
                _ => None,
            };
            let mut read = match &coordinated {
                Some(names) if names.text.is_empty() => continue,
                Some(names) => Read::Normal(names.text.as_bytes(), joined),
                None => Read::Normal(text, normal),
            };
            // A name may occur in several lists.
            filter.once = question.once && coordinated.is_none();
            if form == FormKind::Misspelled {
                known_words(known, normal, &tables, &mut ticket)?;
                read = Read::Misspelled(text, normal, known);
            }
            let windows = if coordinated.is_some() { Rc::clone(&none) } else { windows_of(mentions, work)? };
            let taken = (&windows, !overlapping);
            for ((of, seek), recogniser) in tables.iter().zip(&mut recognisers[those.clone()]) {
                let how = How { seek: *seek, all: true, form, taken };
                look(of, recogniser, read, how, Some(&mut ticket), &mut filter)?;
            }
            let mut new = Vec::new();
            room_for(&mut new, false, &recognisers[those.clone()])?;
            merge(recognisers, those, sources, &mut new);
            if let Some(names) = coordinated {
                new = names.back(&new, work).map_err(End::Error)?;
            }
            tiers::add(mentions, &mut new, overlapping, work).map_err(End::Error)?;
        }
        if question.once {
            keep_first(recognisers, mentions).map_err(End::Error)?;
        }
        if !alone || !rules.is_empty() {
            order(recognisers, mentions);
        }
        ticket.control.slots[ticket.index].count_call(recognisers[0].counters());
        walk::settle_now_and_then(edges, &ticket, recognisers[0].counters().slots_visited);
        Ok(())
    }
}

impl Found {
    /// How many mentions there are.
    pub fn len(&self) -> usize {
        self.mentions.len()
    }

    /// Makes PostgreSQL values of the labels, and of the mentions' texts if `wanted`.
    pub fn spell(&mut self, text: &[u8], wanted: bool) -> Fallible<()> {
        let Self { mentions, labels, values, spelled, labelled, .. } = self;
        values.clear();
        spelled.clear();
        labelled.clear();
        let label = |n: usize| labels.get(n).map_or(0, |label| label.len() + 8);
        let spelling = |mention: &Mention| if wanted { mention.to - mention.from + 8 } else { 0 };
        let each = |(n, (_, mention)): (usize, &Each)| label(n) + spelling(mention) + 2 * size_of::<usize>();
        let bytes: usize = if wanted || !labels.is_empty() { mentions.iter().enumerate().map(each).sum() } else { 0 };
        Room::new().take(2 * bytes)?;
        if wanted {
            spelled.extend(mentions.iter().map(|(_, mention)| add_value(values, &text[mention.from..mention.to])));
        }
        if !labels.is_empty() {
            labelled.extend((0..mentions.len()).map(|n| labels.get(n).map(|label| add_value(values, label))));
        }
        Ok(())
    }

    /// The rule by which a mention was found.
    pub fn method(&self, n: usize) -> Method {
        self.mentions[n].1.method
    }

    /// A mention, and pointers to its text values: entity, mention (if [`Found::spell`] made it), alias, label.
    pub fn get(&self, n: usize) -> (&Mention, [Option<*const u8>; 4]) {
        let (recogniser, mention) = &self.mentions[n];
        let name = |name| self.recognisers[*recogniser].name_with_prefix(name).as_ptr();
        let value = |at: usize| self.values[at..].as_ptr().cast();
        let (spelled, labelled) = (self.spelled.get(n), self.labelled.get(n).copied().flatten());
        let spelled = spelled.map(|&at| value(at));
        (mention, [Some(name(mention.entity)), spelled, mention.alias.map(name), labelled.map(value)])
    }
}

/// Adds a text as a PostgreSQL value; where it begins.
fn add_value(values: &mut Vec<u32>, bytes: &[u8]) -> usize {
    let at = values.len();
    values.push(u32::from_ne_bytes(varlena_header(bytes.len())));
    let (words, rest) = bytes.as_chunks();
    values.extend(words.iter().map(|word| u32::from_ne_bytes(*word)));
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    values.push(u32::from_ne_bytes(last));
    at
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
    if !has_utf8() {
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
    edges: &mut Ticket,
) -> Result<(), End> {
    known.begin(text, work_memory::limit()).map_err(|why| End::Error(error::no_room(why)))?;
    for (n, (of, seek)) in tables.iter().enumerate() {
        known.next_source(text.language());
        let vocabulary = seek.vocabulary();
        let first = |image: Image<'_>, seen: &SnapshotView| known.step(image, vocabulary, seen, CELLS, text);
        let mut own = None;
        let mut step = if n == 0 {
            edges.read(first)?
        } else {
            let (ticket, step) = route::route_and(of, first)?;
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
            step = ticket.read(|image, seen| known.step(image, vocabulary, seen, CELLS, text))?;
        }
    }
    Ok(())
}

/// A reader of the text, if the database's encoding is UTF8, which the recogniser requires.
fn reader<'t>(text: Read<'t>, work: &mut Interruptible<'_>) -> Option<Reader<'t>> {
    if !has_utf8() {
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

/// Whether the database's encoding is UTF8.
fn has_utf8() -> bool {
    // SAFETY: reads a backend variable.
    unsafe { pg_sys::GetDatabaseEncoding() == pg_sys::pg_enc::PG_UTF8 as i32 }
}

/// Which entities of the edges table count.
struct Filter<'a> {
    edges: &'a AttachedTable,
    only: Option<Trees>,
    within: Option<Within<'a>>,
    /// Whether each entity's first mention suffices.
    once: bool,
}

impl Filter<'_> {
    /// Of these different entities, which the caller sees and which are in the trees and within the entities asked for. `is_sure`: the caller sees
    /// them all.
    fn counts(&mut self, names: &[&[u8]], is_sure: bool, edges: &mut Ticket) -> Result<Vec<bool>, End> {
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

/// What to look for: names of what, whether all windows are wanted, the form of names, and the windows that are taken (see [`Recogniser::avoid`]).
#[derive(Clone, Copy)]
struct How<'a> {
    seek: Seek,
    all: bool,
    form: FormKind,
    taken: (&'a Rc<Vec<(usize, usize)>>, bool),
}

/// Finds the names in the text that count, in the image of the edges table or of one of its tables of names. `edges`: the ticket of the edges table; None if this call gets it.
fn look(
    of: &AttachedTable,
    recogniser: &mut Recogniser,
    text: Read<'_>,
    how: How<'_>,
    mut edges: Option<&mut Ticket>,
    filter: &mut Filter<'_>,
) -> Result<Ticket, End> {
    let (mut check_interrupts, mut check_interrupts_too) = (check_interrupts, check_interrupts);
    let mut work = Interruptible::new(&mut check_interrupts);
    let mut keeping = Interruptible::new(&mut check_interrupts_too);
    let no_room = |why| End::Error(error::no_room(why));
    let Some(mut reader) = reader(text, &mut work) else {
        route::route(of)?;
        return Err(Reason::Encoding.into());
    };
    // The edges' own image finds only entities that the caller sees.
    let is_sure = of.oid() == filter.edges.oid();
    let judges = !is_sure || filter.only.is_some() || filter.within.is_some();
    recogniser.limit(work_memory::limit());
    recogniser.match_case(guc::MATCH_CASE.get());
    recogniser.judging(judges);
    recogniser.once(filter.once);
    let How { seek, all, form, taken: (taken, apart) } = how;
    recogniser.form(form, of.registration.language());
    recogniser.avoid(taken, apart);
    recogniser.begin(seek, all);
    recogniser.read(&mut reader, &mut work).map_err(no_room)?;
    let first = |image: Image<'_>, seen: &SnapshotView| recogniser.step(image, seen, CELLS, &reader);
    let (mut ticket, step) = route::route_and(of, first)?;
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
                recogniser.make_room(CELLS).map_err(no_room)?;
            }
            Step::Ask => {
                ticket.learn(recogniser.asked())?;
                recogniser.begin(seek, all);
                reader = self::reader(text, &mut work).ok_or(Reason::Encoding)?;
            }
        }
        recogniser.read(&mut reader, &mut work).map_err(no_room)?;
        step = ticket.read(|image, seen| recogniser.step(image, seen, CELLS, &reader))?;
    }
}

/// The windows of mentions, which are in the order of these. 53400, 53200 (memory).
fn windows_of(mentions: &[Each], work: &mut Interruptible<'_>) -> Result<Rc<Vec<(usize, usize)>>, End> {
    let of = |(_, mention): &Each| (mention.from, mention.to);
    let mut windows = list(mentions.len(), &mut Room::new()).map_err(End::Error)?;
    for same in mentions.chunk_by(|a, b| of(a) == of(b)) {
        work.steps(same.len());
        windows.push(of(&same[0]));
    }
    Ok(Rc::new(windows))
}

/// Reserves room for what all recognisers found.
fn room_for(mentions: &mut Vec<Each>, alone: bool, found: &[Recogniser]) -> Result<(), End> {
    let count: usize = found.iter().map(|of| of.mentions().len()).sum();
    // Merging also needs the sorted copy.
    let each = size_of::<Each>() * if alone { 1 } else { 2 };
    Room::new().take(count * each).map_err(End::Error)?;
    let bytes = count * each;
    mentions.try_reserve_exact(count).map_err(|_| End::Error(error::no_room(NoRoom::Memory(bytes))))
}

/// Makes the row of cft_entities for mention `n`.
pub fn form(found: &Found, n: usize, text: &[u8], row: &mut Row<8>) {
    let (recogniser, mention) = &found.mentions[n];
    let recogniser = &found.recognisers[*recogniser];
    row.prefixed(recogniser.name_with_prefix(mention.entity));
    row.text(&text[mention.from..mention.to]);
    row.int(mention.start as i32 + 1);
    row.int(mention.length as i32);
    match mention.alias {
        Some(alias) => row.prefixed(recogniser.name_with_prefix(alias)),
        None => row.null(),
    }
    row.any(found.labels.get(n));
    row.prefixed(tiers::method_with_prefix(mention.method));
    row.real(mention.method.score());
}

/// Merges the mentions that these sources found, window by window, in the order of the windows. The first `sources` of them read the text as written; a
/// window in which they find a name is not given to the others.
fn merge(found: &[Recogniser], those: Range<usize>, sources: usize, all: &mut Vec<Each>) {
    let of = |n: usize| found[n].mentions().iter().map(move |mention| (n, *mention));
    let mut check_interrupts = check_interrupts;
    let work = &mut Interruptible::new(&mut check_interrupts);
    all.extend(those.flat_map(of).inspect(|_| work.step()));
    work.sort_by(all, |a, b| window(a).cmp(&window(b)));
    keep_best(all, sources, work);
}

/// Of the mentions, which are in the order of their windows, keeps those of each entity's first window. 53400, 53200 (memory).
fn keep_first(found: &[Recogniser], all: &mut Vec<Each>) -> Fallible<()> {
    let mut check_interrupts = check_interrupts;
    let work = &mut Interruptible::new(&mut check_interrupts);
    let mut first = First::default();
    // The labels whose mentions were listed, and those mentions where a window stands for them.
    let (mut listed, mut more) = (HashSet::new(), Vec::new()); // bounded: by `first`, which has an entity of each
    let mut kept = 0;
    for n in 0..all.len() {
        work.step();
        let (recogniser, mention) = all[n];
        let of = &found[recogniser];
        let Some(list) = mention.listed() else {
            if first.is_at(of.name(mention.entity), window(&all[n]))? {
                all[kept] = all[n];
                kept += 1;
            }
            continue;
        };
        if listed.insert((recogniser, list.start)) {
            for one in &of.mentions()[list] {
                work.step();
                if first.is_at(of.name(one.entity), window(&all[n]))? {
                    let mut mention = mention;
                    (mention.entity, mention.alias) = (one.entity, one.alias);
                    more.push((recogniser, mention));
                }
            }
        }
    }
    all.truncate(kept);
    if !more.is_empty() {
        all.append(&mut more);
        work.sort_by(all, |a, b| window(a).cmp(&window(b)));
    }
    Ok(())
}

/// The first window of each entity.
#[derive(Default)]
struct First<'n> {
    windows: HashMap<&'n [u8], (usize, Reverse<usize>)>,
    room: Room,
}

impl<'n> First<'n> {
    /// Bytes of an entity here and in `keep_first`, whose tables may have just doubled.
    const EACH: usize = 256 + size_of::<Each>() * 3;

    /// Whether an entity has its first mention in that window. 53400, 53200 (memory).
    fn is_at(&mut self, entity: &'n [u8], window: (usize, Reverse<usize>)) -> Fallible<bool> {
        if let Some(first) = self.windows.get(entity) {
            return Ok(*first == window);
        }
        self.room.take(Self::EACH)?;
        self.windows.try_reserve(1).map_err(|_| error::no_memory_to_work(Self::EACH * self.windows.len()))?;
        self.windows.insert(entity, window);
        Ok(true)
    }
}

/// Puts the mentions of each window in the order of their entities, and keeps one of each entity.
fn order(found: &[Recogniser], all: &mut Vec<Each>) {
    let entity = |(n, mention): &Each| found[*n].name(mention.entity);
    let alias = |(n, mention): &Each| mention.alias.map(|alias| found[*n].name(alias));
    let mut check_interrupts = check_interrupts;
    let work = &mut Interruptible::new(&mut check_interrupts);
    for same in all.chunk_by_mut(|a, b| window(a) == window(b)) {
        work.sort_with(same, |a, b, work| {
            work.compare(entity(a), entity(b)).then_with(|| work.compare_some(alias(a), alias(b)))
        });
    }
    // An entity's own name sorts first, then its smallest alias.
    all.dedup_by(|a, b| {
        work.step();
        window(a) == window(b) && entity(a) == entity(b)
    });
}

/// Of the mentions of each window, prefers those of the text as written to those of its plain form; of these, keeps the best spelled ones.
fn keep_best(all: &mut Vec<Each>, sources: usize, work: &mut Interruptible<'_>) {
    let how = |(n, mention): &Each| (Reverse(*n / sources), mention.spelling);
    let mut kept = 0;
    let mut from = 0;
    while from < all.len() {
        let window = |(_, mention): &Each| (mention.from, mention.to);
        let to = from + all[from..].iter().take_while(|mention| window(mention) == window(&all[from])).count();
        let best = all[from..to].iter().map(how).max();
        for i in from..to {
            work.step();
            if Some(how(&all[i])) == best {
                all[kept] = all[i];
                kept += 1;
            }
        }
        from = to;
    }
    all.truncate(kept);
}

/// Whether each name is an entity with an edge that the caller sees, in one of the trees if trees are given.
fn entities_seen(edges: &mut Ticket, mut only: Option<&mut Trees>, names: &[&[u8]]) -> Result<Vec<bool>, Reason> {
    let mut seen = vec![false; names.len()];
    for (some, seen) in names.chunks(NAMES).zip(seen.chunks_mut(NAMES)) {
        loop {
            let mut ask = Asked::new();
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
