//! What a text names though it writes it otherwise: the rules behind `match`, one after the other.
//!
//! Each rule gives windows of the text that it takes for names. A window counts if each mention found so far is inside
//! it or apart from it; of those that count the leftmost are chosen, and of these the longest; what is inside a chosen
//! one goes. So "wool socks" is one name in "woll socks", and no rule moves a border that an earlier one has found.

use crate::call::tuple::Constant;
use crate::call::work_memory::{Room, list};
use crate::error;
use crate::error::Fallible;
use crate::guc::Match;
use cftrag_core::{Definitions, FormKind, Interruptible, Mention, Method, Words};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// A mention, and the number of the recogniser that has its names.
pub type Each = (usize, Mention);

/// Words of the longest abbreviation, as words are counted here: "TTF-1" has two.
const MOST_WORDS: usize = 5;
/// Bytes of a definition and its places in the tables of [`add_abbreviations`].
const PER_DEFINITION: usize = 160;

/// A rule for names that are not there as they are, and the form that it compares; none if it compares none.
pub type Rule = (Method, Option<FormKind>);

/// The rules, in order. `has_words`: there are words of the same class.
pub fn rules(matching: Match, has_words: bool) -> Vec<Rule> {
    use FormKind::{Joined, Misspelled, Part, Unordered};
    let all: &[Rule] = match matching {
        Match::Exact => &[],
        Match::Inflected => &[(Method::Inflected, Some(Joined)), (Method::Synonym, Some(Joined))],
        Match::Fuzzy => &[
            (Method::Inflected, Some(Joined)),
            (Method::Reordered, Some(Unordered)),
            (Method::Synonym, Some(Joined)),
            (Method::Synonym, Some(Unordered)),
            (Method::Abbreviation, None),
            (Method::Typo, Some(Misspelled)),
            (Method::Coordination, Some(Joined)),
            (Method::Part, Some(Part)),
        ],
    };
    all.iter().copied().filter(|rule| has_words || rule.0 != Method::Synonym).collect() // bounded: the rules
}

/// The rule's name by which cft_form and the like know a form.
pub fn name_of(form: FormKind) -> &'static str {
    name(match form {
        FormKind::Folded => Method::Exact,
        FormKind::Joined => Method::Inflected,
        FormKind::Unordered => Method::Reordered,
        FormKind::Misspelled => Method::Typo,
        FormKind::Part => Method::Part,
    })
}

/// The form of that name.
pub fn form_named(wanted: &[u8]) -> Option<FormKind> {
    let all = [FormKind::Folded, FormKind::Joined, FormKind::Unordered, FormKind::Misspelled, FormKind::Part];
    all.into_iter().find(|form| name_of(*form).as_bytes() == wanted)
}

/// A rule's name.
pub fn name(method: Method) -> &'static str {
    std::str::from_utf8(&method_with_prefix(method)[4..]).unwrap_or_default()
}

static EXACT: Constant<9> = Constant::of(b"....exact");
static INFLECTED: Constant<13> = Constant::of(b"....inflected");
static REORDERED: Constant<13> = Constant::of(b"....reordered");
static SYNONYM: Constant<11> = Constant::of(b"....synonym");
static ABBREVIATION: Constant<16> = Constant::of(b"....abbreviation");
static TYPO: Constant<8> = Constant::of(b"....typo");
static COORDINATION: Constant<16> = Constant::of(b"....coordination");
static PART: Constant<8> = Constant::of(b"....part");

/// A rule's name, as a text with its header.
pub fn method_with_prefix(method: Method) -> &'static [u8] {
    match method {
        Method::Exact => &EXACT.0,
        Method::Inflected => &INFLECTED.0,
        Method::Reordered => &REORDERED.0,
        Method::Synonym => &SYNONYM.0,
        Method::Abbreviation => &ABBREVIATION.0,
        Method::Typo => &TYPO.0,
        Method::Coordination => &COORDINATION.0,
        Method::Part => &PART.0,
    }
}

/// Where a mention is in the text; windows are in order leftmost first, then longest.
pub fn window((_, mention): &Each) -> (usize, Reverse<usize>) {
    (mention.from, Reverse(mention.to))
}

/// Of mentions in the order of their windows, keeps those of the leftmost windows, of these the longest, and so on
/// behind them.
pub fn keep_leftmost(all: &mut Vec<Each>, work: &mut Interruptible<'_>) {
    let mut last = (0, Reverse(0));
    all.retain(|mention| {
        work.step();
        let chosen = window(mention) == last || mention.1.from >= last.1.0;
        if chosen {
            last = window(mention);
        }
        chosen
    });
}

/// Of what a rule found, `new`, keeps what counts beside the mentions found before, `all`; both are in the order of
/// their windows.
fn choose(all: &[Each], new: &mut Vec<Each>, overlapping: bool, work: &mut Interruptible<'_>) {
    // Many mentions may be of one window.
    let (mut next, mut last) = (0, None);
    new.retain(|mention| {
        work.step();
        let (_, Mention { from, to, .. }) = *mention;
        if let Some((known, counts)) = last
            && known == (from, to)
        {
            return counts;
        }
        let counts = if overlapping {
            while next < all.len() && window(&all[next]) < window(mention) {
                work.step();
                next += 1;
            }
            all.get(next).is_none_or(|known| window(known) != window(mention))
        } else {
            // Windows of `all` do not overlap, so they end in the order in which they begin.
            while next < all.len() && all[next].1.to <= from {
                work.step();
                next += 1;
            }
            let mut near = all[next..].iter().take_while(|(_, known)| known.from < to);
            near.all(|(_, known)| {
                work.step();
                from <= known.from && known.to <= to && (from, to) != (known.from, known.to)
            })
        };
        last = Some(((from, to), counts));
        counts
    });
    if !overlapping {
        keep_leftmost(new, work);
    }
}

/// Adds chosen mentions to those found before, of which those inside one go. 53400, 53200 (memory).
fn join(all: &mut Vec<Each>, new: &mut Vec<Each>, overlapping: bool, work: &mut Interruptible<'_>) -> Fallible<()> {
    if new.is_empty() {
        return Ok(());
    }
    if !overlapping {
        let mut next = 0;
        all.retain(|(_, known)| {
            work.step();
            while next < new.len() && new[next].1.to <= known.from {
                work.step();
                next += 1;
            }
            new.get(next).is_none_or(|(_, new)| known.to <= new.from)
        });
    }
    reserve(all, new.len(), &mut Room::new())?;
    all.append(new);
    work.sort_by(all, |a, b| window(a).cmp(&window(b)));
    Ok(())
}

pub fn reserve(all: &mut Vec<Each>, more: usize, room: &mut Room) -> Fallible<()> {
    if all.capacity() - all.len() >= more {
        return Ok(());
    }
    room.take(2 * (all.len() + more) * size_of::<Each>())?;
    all.try_reserve(more).map_err(|_| error::no_memory_to_work(more * size_of::<Each>()))
}

/// Adds what a rule found, `new`, to the mentions found before, `all`; both are in the order of their windows. 53400,
/// 53200 (memory).
pub fn add(all: &mut Vec<Each>, new: &mut Vec<Each>, overlapping: bool, work: &mut Interruptible<'_>) -> Fallible<()> {
    choose(all, new, overlapping, work);
    join(all, new, overlapping, work)
}

/// Adds the mentions of abbreviations that the text defines behind a name that was found: "acute kidney failure (AKF)".
/// Such a short form means that name's entities wherever the text has it, also with an s behind it; with `once` its
/// first place suffices. 53400, 53200 (memory).
pub fn add_abbreviations(
    text: &str,
    all: &mut Vec<Each>,
    overlapping: bool,
    once: bool,
    work: &mut Interruptible<'_>,
) -> Fallible<()> {
    let mut room = Room::new();
    // The short forms by the end of the long ones.
    let mut ends: HashMap<usize, &str> = HashMap::new(); // bounded: reserved below
    let mut definitions = Definitions::of(text);
    while let Some(definition) = definitions.next_definition(work) {
        room.take(PER_DEFINITION)?;
        ends.try_reserve(1).map_err(|_| error::no_memory_to_work(PER_DEFINITION))?;
        ends.entry(definition.long.end).or_insert(&text[definition.short]);
    }
    if ends.is_empty() {
        return Ok(());
    }
    // The mentions that each short form means: those of one window.
    let mut meant: HashMap<&str, Range<usize>> = HashMap::new(); // bounded: reserved below
    let mut from = 0;
    for same in all.chunk_by(|a, b| window(a) == window(b)) {
        work.step();
        if let Some(short) = ends.get(&same[0].1.to) {
            room.take(PER_DEFINITION)?;
            meant.try_reserve(1).map_err(|_| error::no_memory_to_work(PER_DEFINITION))?;
            meant.entry(short).or_insert(from..from + same.len());
        }
        from += same.len();
    }
    if meant.is_empty() {
        return Ok(());
    }
    // One mention for each place; those of all its entities come once the places are chosen.
    let mut places: Vec<Each> = list(0, &mut room)?;
    let mut windows = Places::default();
    let mut words = Words::of(text);
    while let Some((from, word)) = words.next_word(work) {
        work.steps(MOST_WORDS);
        windows.next(text, from, work);
        let to = from + word.len();
        for (from, start) in windows.begins() {
            let here = &text[from..to];
            let known = meant.get(here).or_else(|| meant.get(here.strip_suffix('s')?));
            let Some(those) = known else { continue };
            reserve(&mut places, 1, &mut Room::new())?;
            let (n, mut mention) = all[those.start];
            let length = windows.characters - start + characters_of(word, work);
            (mention.method, mention.start, mention.length) = (Method::Abbreviation, start, length);
            (mention.from, mention.to) = (from, to);
            places.push((n, mention));
        }
    }
    work.sort_by(&mut places, |a, b| window(a).cmp(&window(b)));
    choose(all, &mut places, overlapping, work);
    let mut new: Vec<Each> = list(0, &mut room)?;
    let mut done: HashSet<usize> = HashSet::new(); // bounded: reserved below
    for (_, place) in places {
        let here = &text[place.from..place.to];
        let short = if meant.contains_key(here) { here } else { here.strip_suffix('s').unwrap_or(here) };
        let Some(those) = meant.get(short).cloned() else { continue };
        if once {
            done.try_reserve(1).map_err(|_| error::no_memory_to_work(PER_DEFINITION))?;
            if !done.insert(those.start) {
                continue;
            }
        }
        reserve(&mut new, those.len(), &mut Room::new())?;
        for (n, mention) in &all[those] {
            work.step();
            let mut mention = *mention;
            (mention.method, mention.start, mention.length) = (place.method, place.start, place.length);
            (mention.from, mention.to) = (place.from, place.to);
            new.push((*n, mention));
        }
    }
    join(all, &mut new, overlapping, work)
}

/// The places where the last words of a text begin.
#[derive(Default)]
struct Places {
    /// In bytes and in characters.
    last: [(usize, usize); MOST_WORDS],
    count: usize,
    at: usize,
    characters: usize,
}

impl Places {
    /// Goes on to the next word.
    fn next(&mut self, text: &str, from: usize, work: &mut Interruptible<'_>) {
        self.characters += characters_of(&text[self.at..from], work);
        self.at = from;
        self.last[self.count % MOST_WORDS] = (from, self.characters);
        self.count += 1;
    }

    /// Where the last words begin, the last first.
    fn begins(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (last, count) = (self.last, self.count);
        (0..MOST_WORDS.min(count)).map(move |back| last[(count - 1 - back) % MOST_WORDS])
    }
}

/// How many characters a text has.
pub fn characters_of(text: &str, work: &mut Interruptible<'_>) -> usize {
    work.steps(text.len() / 64);
    text.chars().count()
}
