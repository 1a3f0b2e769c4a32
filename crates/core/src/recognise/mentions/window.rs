//! Finds the entities of one window of words: those with its folded name whose name the text spells and that the
//! snapshot sees.

use std::cmp::Reverse;
use std::ops::Range;

use super::{MOST_RESTARTS, Mention, Recogniser, Searched, Seek, Unfinished};
use crate::folded::forms::{FormKind, NormalWords};
use crate::folded::listed::Listed;
use crate::folded::words;
use crate::memory::casts::index;
use crate::memory::id::{EntityId, RecordId};
use crate::recognise::candidates::Head;
use crate::recognise::forms::{FormNames, Forms, LAST, SeenName};
use crate::recognise::method::Method;
use crate::recognise::spelling::{NEAR, is_spelled_otherwise, spelling};
use crate::recognise::text::Word;
use crate::records::label::label_of;
use crate::records::list::Cursor;
use crate::records::record::{Direction, Record};
use crate::records::slot::Slot;
use crate::records::visibility::sees;
use crate::walk::arena::Name;
use crate::{Image, Visibility};

/// Bytes of a name and of the text that are compared at the cost of a slot.
const PER_CELL: usize = 64;

/// The position in a label's list that was read in part. What was found for the current word so far is kept.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Listing {
    /// The numbers of mentions and names before the current word.
    pub(super) found: usize,
    pub(super) names: u32,
    /// The current head of the word, what was found in the heads before it, and the number of mentions then.
    pub(super) head: usize,
    pub(super) words_found: usize,
    pub(super) before: usize,
    /// Which label of the folded name it is, the position in its list, and the label's own name if that is wanted.
    turn: usize,
    cursor: Cursor,
    alias: Option<Name>,
    /// The last entities found in its list.
    last: Last,
}

/// The last distinct entities of a label's list: an entity in many trees is in it once for each.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    entities: [Option<EntityId>; LAST],
    next: usize,
}

impl Last {
    fn has(&self, entity: EntityId) -> bool {
        self.entities.contains(&Some(entity))
    }

    fn add(&mut self, entity: EntityId) {
        self.entities[self.next % LAST] = Some(entity);
        self.next += 1;
    }
}

/// Where a name is in the text, and how well the text spells it.
#[derive(Clone, Copy, Debug)]
struct Occurrence {
    first: Word,
    last: Word,
    method: Method,
    spelling: u32,
}

impl Occurrence {
    fn mention(
        self,
        entity: Name,
        (label, alias): (Option<RecordId>, Option<Name>),
        listed: Option<(u32, u32)>,
    ) -> Mention {
        let Occurrence { first, last, method, spelling } = self;
        let (start, length) = (first.start, last.end - first.start);
        let (from, to) = (first.from, last.to);
        Mention { entity, alias, method, start, length, spelling, from, to, label, listed }
    }
}

impl Recogniser {
    /// Finds the visible entities of a folded name, if `words` words from the current one on have that folded name.
    pub(super) fn window(
        &mut self,
        (image, text): Searched<'_>,
        Head { words, record: head, .. }: Head,
        half: Option<Listing>,
        seen: &impl Visibility,
        turn: &mut usize,
        budget: &mut usize,
    ) -> Result<(), Unfinished> {
        self.counters.fingerprint_checks += 1;
        let (first, last) =
            (self.held.word(self.current), self.held.word(self.current + words - 1));
        if !self.is_free(first.from, last.to) {
            return Ok(());
        }
        let (len, folded) = self.held.form(self.current, words, &mut self.window);
        let head = Listed::at(image.mem(), head);
        let Some(record) = head.first(image.mem()) else { return Ok(()) };
        let agrees = match self.kind {
            FormKind::Folded => has_folded(record, folded, len, &mut self.name, &mut self.folded),
            // Each name is compared for itself, since names of one joined form may have other words.
            FormKind::Misspelled => true,
            FormKind::Part => {
                self.name.resize(record.name_len(), 0);
                record.copy_name(&mut self.name);
                self.normal.has_part(self.language, &self.name, &folded[..len], |_, _| true)
            }
            kind => {
                self.name.resize(record.name_len(), 0);
                record.copy_name(&mut self.name);
                self.normal_of = None;
                let has_forms = self.normal.read(self.language, &self.name);
                self.normal_of = has_forms.then_some(record.id());
                has_forms
                    && self.normal.write(kind, self.language, &mut self.folded)
                    && self.folded == folded[..len]
            }
        };
        if !agrees {
            self.counters.false_positives += 1;
            return Ok(());
        }
        self.counters.hits += 1;
        let (at, method) = (first.from..last.to, Method::of(self.kind));
        let is_kept = self.kind != FormKind::Misspelled;
        let kept = if is_kept { self.forms.get(&folded[..len]) } else { None };
        let is_kept = kept.is_some();
        if let Some(kept) = kept
            && self.kept_window((image, text), (head, words), kept, seen, budget)?
        {
            return Ok(());
        }
        let before = half.map_or(self.found.len(), |half| half.before);
        for (n, record) in head.all(image.mem()).enumerate().skip(half.map_or(0, |half| half.turn))
        {
            let half = half.filter(|half| half.turn == n);
            if self.seek == Seek::Entities {
                if record.is_label(&mut self.name) {
                    continue;
                }
                let known = self.judged.get(*turn).copied();
                *turn += 1;
                let spelling = match known {
                    Some(known) => known,
                    None => self.judge(image, record, seen, (text, at.clone(), words), budget)?,
                };
                if let Some(spelling) = spelling {
                    self.find(record, (None, None), Occurrence { first, last, method, spelling });
                    self.go_on()?;
                }
                continue;
            }
            if !record.is_label(&mut self.name) {
                continue;
            }
            let mut list = half.unwrap_or_else(|| Listing {
                turn: n,
                cursor: Cursor::start(record, Direction::Down),
                ..Listing::default()
            });
            // A label whose list was read in part is paid for.
            if half.is_none() && self.pay(record, &at, budget).is_err() {
                self.listing = Some(list);
                return Err(Unfinished);
            }
            if let Some(spelling) = self.spelling(record, text, at.clone(), words)
                && let place = (Occurrence { first, last, method, spelling })
                && !self.find_again(record, place)
                && !self.find_labelled(image, record, &mut list, seen, place, budget)
            {
                self.listing = Some(list);
                return Err(Unfinished);
            }
            if self.lacks() {
                self.listing = Some(list);
                return Err(Unfinished);
            }
        }
        if !is_kept
            && self.kind != FormKind::Misspelled
            && Forms::is_dear(self.spent, self.found.len() - before)
        {
            let (len, form) = self.held.form(self.current, words, &mut self.window);
            self.forms.note(&form[..len]);
        }
        Ok(())
    }

    /// Whether a window counts beside those that are taken.
    fn is_free(&self, from: usize, to: usize) -> bool {
        if !self.apart {
            let place = (from, Reverse(to));
            return self
                .taken
                .binary_search_by_key(&place, |known| (known.0, Reverse(known.1)))
                .is_err();
        }
        let next = self.taken.partition_point(|known| known.1 <= from);
        let mut near = self.taken[next..].iter().take_while(|known| known.0 < to);
        near.all(|known| from <= known.0 && known.1 <= to && (from, to) != *known)
    }

    /// Ends the step if it found no room: the word is begun again.
    fn go_on(&self) -> Result<(), Unfinished> {
        if self.lacks() { Err(Unfinished) } else { Ok(()) }
    }

    /// Takes the cost of comparing a record's name with the text from the budget.
    fn pay(
        &mut self,
        record: Record<'_>,
        at: &Range<usize>,
        budget: &mut usize,
    ) -> Result<(), Unfinished> {
        if *budget == 0 && self.restarts < MOST_RESTARTS {
            return Err(Unfinished);
        }
        let cost = cells_of(record) + at.len().min(NEAR) / PER_CELL;
        self.spent += cost;
        *budget = budget.saturating_sub(cost);
        Ok(())
    }

    /// [`Recogniser::window`] for a form that is kept; `false` if the snapshot sees too much of it to be kept.
    #[inline(never)]
    fn kept_window(
        &mut self,
        (image, text): Searched<'_>,
        (head, words): (Listed<'_>, usize),
        kept: FormNames,
        seen: &impl Visibility,
        budget: &mut usize,
    ) -> Result<bool, Unfinished> {
        let names = match kept {
            FormNames::Names(names) => names,
            FormNames::TooMuch => return Ok(false),
            FormNames::Wanted => {
                let fits = self.read_form(image, head, seen, budget)?;
                let (len, form) = self.held.form(self.current, words, &mut self.window);
                if !fits {
                    self.half = None;
                    self.forms.give_up(&form[..len]);
                    return Ok(false);
                }
                self.forms.end(&form[..len])
            }
        };
        self.find_known(image, names, text, words);
        self.go_on()?;
        Ok(true)
    }

    /// Reads which names of a form have rows that the snapshot sees, whatever the text is, from where the last step
    /// ended; `false` if they are too many to keep.
    fn read_form(
        &mut self,
        image: Image<'_>,
        head: Listed<'_>,
        seen: &impl Visibility,
        budget: &mut usize,
    ) -> Result<bool, Unfinished> {
        let read = self.forms.read();
        for record in head.all(image.mem()).skip(read) {
            if self.seek == Seek::Entities {
                let seen_name = SeenName { name: record.id(), entity: record.id().entity() };
                if !record.is_label(&mut self.name)
                    && self.sees_edge(image, record, seen, budget)?
                    && !self.forms.add(seen_name, cells_of(record))
                {
                    return Ok(false);
                }
            } else if record.is_label(&mut self.name)
                && !self.read_label(image, record, seen, budget)?
            {
                return Ok(false);
            }
            self.forms.go_on();
        }
        Ok(true)
    }

    /// Reads of which entities a record is the label, as far as the snapshot sees; `false` if they are too many to
    /// keep.
    fn read_label(
        &mut self,
        image: Image<'_>,
        record: Record<'_>,
        seen: &impl Visibility,
        budget: &mut usize,
    ) -> Result<bool, Unfinished> {
        let start = (Direction::Down, Cursor::start(record, Direction::Down));
        let (_, mut cursor) = self.half.take().unwrap_or(start);
        loop {
            if *budget == 0 && self.restarts < MOST_RESTARTS {
                self.half = Some((Direction::Down, cursor));
                return Err(Unfinished);
            }
            *budget = budget.saturating_sub(1);
            let Some(at) = cursor.next(image.mem()) else { return Ok(true) };
            self.counters.slots_visited += 1;
            let slot = Slot::read(image.mem(), at);
            let seen_name = SeenName { name: record.id(), entity: slot.neighbour };
            if sees(image.mem(), slot.link, seen, &mut self.asked)
                && !self.forms.add(seen_name, cells_of(record))
            {
                return Ok(false);
            }
        }
    }

    /// Finds the names of a form that the text spells.
    fn find_known(&mut self, image: Image<'_>, known: Range<usize>, text: &str, words: usize) {
        let (first, last) =
            (self.held.word(self.current), self.held.word(self.current + words - 1));
        let (at, method) = (first.from..last.to, Method::of(self.kind));
        let mut before: Option<(RecordId, Option<u32>, Option<Name>)> = None;
        let mut again = None;
        self.owed += 1;
        for n in known {
            let SeenName { name, entity } = self.forms.seen(n);
            if again == Some(name) {
                continue;
            }
            self.owed += cells_of(Record::new(image.mem(), name)) + at.len().min(NEAR) / PER_CELL;
            let (_, spelling, alias) = match before.filter(|(of, ..)| *of == name) {
                Some(same) => same,
                None => {
                    let record = Record::new(image.mem(), name);
                    let spelling = self.spelling(record, text, at.clone(), words);
                    if let Some(spelling) = spelling
                        && self.find_again(record, Occurrence { first, last, method, spelling })
                    {
                        again = Some(name);
                        continue;
                    }
                    let is_alias = self.seek == Seek::Aliased && spelling.is_some();
                    let alias = if is_alias && self.has_room(record) {
                        Some(self.arena.add_label_of(record))
                    } else {
                        None
                    };
                    (name, spelling, alias)
                }
            };
            before = Some((name, spelling, alias));
            if let Some(spelling) = spelling {
                let label = (Some(name).filter(|_| self.seek != Seek::Entities), alias);
                self.find(
                    Record::new(image.mem(), entity),
                    label,
                    Occurrence { first, last, method, spelling },
                );
            }
        }
    }

    /// How well the text spells a record's name at that place: see [`spelling`].
    fn spelling(
        &mut self,
        record: Record<'_>,
        text: &str,
        at: Range<usize>,
        words: usize,
    ) -> Option<u32> {
        self.name.resize(record.name_len(), 0);
        record.copy_name(&mut self.name);
        match self.kind {
            FormKind::Folded => spelling(&self.name, text, at, self.case),
            FormKind::Misspelled => {
                let typed = self.held.normal_words(self.current, words);
                let counts = self.normal.read(self.language, &self.name)
                    && self.normal.is_misspelled(typed, self.misspelled, words == self.all)
                    && is_spelled_otherwise(self.kind, &self.name, text, at, self.case);
                counts.then_some(0)
            }
            FormKind::Part => {
                let (len, letters) = self.held.form(self.current, words, &mut self.window);
                let counts = |own: &NormalWords, part: &[u8]| {
                    own.may_be_of(words)
                        && is_spelled_otherwise(FormKind::Part, part, text, at.clone(), self.case)
                };
                let has = self.normal.has_part(self.language, &self.name, &letters[..len], counts);
                has.then_some(0)
            }
            kind => {
                let counts = is_spelled_otherwise(kind, &self.name, text, at, self.case)
                    && (kind != FormKind::Joined
                        || (self.normal_of == Some(record.id())
                            || self.normal.read(self.language, &self.name))
                            && self.normal.may_be_of(words));
                if self.normal_of != Some(record.id()) {
                    self.normal_of = None;
                }
                counts.then_some(0)
            }
        }
    }

    fn find(
        &mut self,
        record: Record<'_>,
        (label, alias): (Option<RecordId>, Option<Name>),
        place: Occurrence,
    ) {
        let known = record.id().entity();
        if self.counting.rejects(known) || !self.has_room(record) {
            return;
        }
        self.counting.note(known);
        let entity = self.arena.add_name_of(record).0;
        self.found.push(place.mention(entity, (label, alias), None));
    }

    /// Adds a mention that stands for all entities of a label, if they are listed; `false` if they are not.
    fn find_again(&mut self, label: Record<'_>, place: Occurrence) -> bool {
        let Some((entity, from, to)) = self.counting.listed(label.id()) else { return false };
        if self.has_room(label) {
            entity.into_iter().for_each(|entity| self.counting.note(entity));
            let Mention { entity, alias, .. } = self.found[index(from)];
            self.found.push(place.mention(entity, (Some(label.id()), alias), Some((from, to))));
        }
        true
    }

    /// Finds the entities of which this record is a label, from the position in its list. `false` if the budget ended
    /// first. An entity may be found twice.
    fn find_labelled(
        &mut self,
        image: Image<'_>,
        record: Record<'_>,
        list: &mut Listing,
        seen: &impl Visibility,
        place: Occurrence,
        budget: &mut usize,
    ) -> bool {
        loop {
            if *budget == 0 && self.restarts < MOST_RESTARTS {
                return false;
            }
            let before = list.cursor;
            let Some(at) = list.cursor.next(image.mem()) else { return true };
            self.spent += 1;
            *budget = budget.saturating_sub(1);
            self.counters.slots_visited += 1;
            let slot = Slot::read(image.mem(), at);
            if !sees(image.mem(), slot.link, seen, &mut self.asked) {
                continue;
            }
            if self.seek == Seek::Aliased && list.alias.is_none() && self.has_room(record) {
                list.alias = Some(self.arena.add_label_of(record));
            }
            if !list.last.has(slot.neighbour) {
                if !self.lacks() {
                    let label = (Some(record.id()), list.alias);
                    self.find(Record::new(image.mem(), slot.neighbour), label, place);
                }
                if self.lacks() {
                    list.cursor = before;
                    return false;
                }
                list.last.add(slot.neighbour);
            }
        }
    }

    /// How well the text spells the name of this entity, the next one of the current word, if the snapshot sees an edge
    /// row of it; None otherwise. Remembers the result.
    fn judge(
        &mut self,
        image: Image<'_>,
        record: Record<'_>,
        seen: &impl Visibility,
        (text, at, words): (&str, Range<usize>, usize),
        budget: &mut usize,
    ) -> Result<Option<u32>, Unfinished> {
        // An entity whose list was read in part is paid for.
        if self.half.is_none() {
            if !self.has_room_to_judge() {
                return Err(Unfinished);
            }
            self.pay(record, &at, budget)?;
        }
        let mut judged = self.spelling(record, text, at, words);
        if judged.is_some() && !self.sees_edge(image, record, seen, budget)? {
            judged = None;
        }
        self.judged.push(judged);
        Ok(judged)
    }

    /// Whether the snapshot sees an edge row of this entity.
    fn sees_edge(
        &mut self,
        image: Image<'_>,
        record: Record<'_>,
        seen: &impl Visibility,
        budget: &mut usize,
    ) -> Result<bool, Unfinished> {
        let start = |direction| (direction, Cursor::start(record, direction));
        let (mut direction, mut cursor) = self.half.take().unwrap_or_else(|| start(Direction::Up));
        loop {
            if *budget == 0 && self.restarts < MOST_RESTARTS {
                self.half = Some((direction, cursor));
                return Err(Unfinished);
            }
            self.spent += 1;
            *budget = budget.saturating_sub(1);
            match cursor.next(image.mem()) {
                Some(at) => {
                    self.counters.slots_visited += 1;
                    let link = Slot::read(image.mem(), at).link;
                    if sees(image.mem(), link, seen, &mut self.asked) {
                        return Ok(true);
                    }
                }
                None if direction == Direction::Up => (direction, cursor) = start(Direction::Down),
                None => return Ok(false),
            }
        }
    }
}

/// The cost of comparing a record's name, in slots.
fn cells_of(record: Record<'_>) -> usize {
    1 + record.name_len() / PER_CELL
}

/// Whether a record's name has the folded name in the first `len` bytes of `wanted`. The two vectors are scratch
/// memory.
fn has_folded(
    record: Record<'_>,
    wanted: &[u8],
    len: usize,
    name: &mut Vec<u8>,
    folded: &mut Vec<u8>,
) -> bool {
    if let Some(start) = wanted.first_chunk()
        && record.name_len() == len
        && words::are_plainly(&record.name_start(), start, len)
    {
        return true;
    }
    let wanted = &wanted[..len];
    name.resize(record.name_len(), 0);
    record.copy_name(name);
    words::is_plainly(label_of(name).unwrap_or(name), wanted)
        || words::fold_name(name, folded) && folded == wanted
}
