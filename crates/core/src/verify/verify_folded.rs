//! The part of the check for folded names, other forms, and prefixes: I12 and I13 of `verify/whole.rs`.

use crate::filter::bucket::{Entry, LENGTH_BITS, MOST_COUNTED};
use crate::filter::table::Filter;
use crate::folded::folded_name::FoldedName;
use crate::folded::forms::{FormKind, Forms, has_form, write_form};
use crate::folded::listed::{Block, Listed};
use crate::memory::casts::word;
use crate::memory::hash::Hash;
use crate::memory::id::RecordId;
use crate::memory::root::Counter;
use crate::memory::tables::Table;
use crate::records::record::Record;
use crate::verify::verifier::{Owner, Verifier};

/// The part of a prefix's hash that its entry keeps.
pub(crate) fn known_of(hash: Hash) -> u64 {
    Entry::prefix(hash, 0).hash_in(0).0
}

/// The sorter of forms: what is known of a form's hash, and its record, with its kind if the record has it, without if
/// an entry leads there.
pub(crate) const FORMS: usize = 0;
/// The sorter of prefixes: what is known of the hash, and what an entry says of it, or the length of an expected name.
pub(crate) const PREFIXES: usize = 1;
/// The mark of what is expected, not found.
pub(crate) const EXPECTED: u64 = 1 << 63;
/// Bits for the kind of a form.
const KIND_BITS: u32 = 3;
const KINDS: u64 = (1 << KIND_BITS) - 1;
const ALL_KINDS: [FormKind; 4] =
    [FormKind::Folded, FormKind::Joined, FormKind::Unordered, FormKind::Part];

fn code(kind: Option<FormKind>) -> u64 {
    kind.map_or(0, |kind| 1 + kind as u64)
}

fn of_form(record: RecordId, kind: Option<FormKind>) -> u64 {
    u64::from(record.line()) << KIND_BITS | code(kind)
}

/// The forms of a record's name that a table has, and their prefixes.
#[derive(Default)]
struct Expected {
    forms: Vec<(FormKind, Hash, Option<Vec<u8>>)>,
    prefixes: Vec<(Hash, u32)>,
}

impl<'m> Verifier<'m, '_> {
    /// Checks the bucket of an entry of a table of forms.
    pub(crate) fn placed(&mut self, table: Filter<'_>, bucket: u32, entry: Entry) {
        let (first, second) = table.geometry().buckets_of(entry.hash_in(bucket));
        let home = if entry == entry.placed(false) { first } else { second };
        let placed =
            if entry.has_line() { bucket == home } else { [first, second].contains(&bucket) };
        self.check(2, placed, || {
            format!("{entry:?} in bucket {bucket}, its own: {first}, {second}")
        });
    }

    fn expected(&mut self, table: Table, record: Record<'_>) -> Expected {
        self.step_name(record);
        if record.is_tree() {
            return Expected::default();
        }
        let folded = FoldedName::of_record(self.root.seed(), record);
        let Some(folded) = folded else { return Expected::default() };
        if table == Table::FoldedNames {
            let forms = vec![(FormKind::Folded, folded.hash, None)];
            return Expected { forms, prefixes: folded.prefixes().collect() };
        }
        let forms = Forms::of(self.root, &record.name());
        Expected {
            forms: forms
                .all()
                .map(|(form, _)| (form.kind, form.hash, form.part.map(<[u8]>::to_vec)))
                .collect(),
            prefixes: forms.all().filter_map(|(_, begin)| begin).collect(),
        }
    }

    /// Checks the entries of a table of forms, after all records were read: sorts what it has and what it should have.
    pub(crate) fn check_forms(&mut self, table: Filter<'_>) {
        let (mut entries, mut places, mut listed) = (0, 0, 0);
        for bucket in 0..table.geometry().buckets() {
            self.step();
            for entry in table.read(bucket).into_iter().filter(|entry| !entry.is_empty()) {
                entries += 1;
                if entry.is_folded() {
                    listed += self.chain(table, bucket, entry);
                } else if entry.vocabulary().is_some() {
                } else if entry.has_line() {
                    places += 1;
                } else {
                    let says = entry.count() << LENGTH_BITS | entry.lengths();
                    self.sorters[PREFIXES].add((entry.hash_in(bucket).0, u64::from(says)));
                }
            }
        }
        self.counter(table.counter(), entries);
        self.check(12, listed == places, || {
            format!("{:?}: {places} places of {listed} listed", table.table())
        });
        for line in 0..self.lines.len() {
            let Some(record) = self.record_at(line) else { continue };
            let expected = self.expected(table.table(), record);
            for (kind, hash, _) in expected.forms {
                self.sorters[FORMS].add((known_of(hash), of_form(record.id(), Some(kind))));
            }
            for (hash, lengths) in expected.prefixes {
                self.sorters[PREFIXES].add((known_of(hash), EXPECTED | u64::from(lengths)));
            }
        }
        let parts = self.compare_forms();
        self.compare_prefixes();
        if table.table() == Table::Forms {
            self.counter(Counter::Parts, parts);
            self.check_words(table);
        }
    }

    /// Compares the forms that lead to records with those that should; returns how many of these are of parts.
    fn compare_forms(&mut self) -> u64 {
        let (mut found, mut more, mut parts) = (0, 0, 0);
        let (mut last, mut leads) = (None, false);
        while let Some((hash, form)) = self.sorters[FORMS].next() {
            let (record, kind) = (form >> KIND_BITS, form & KINDS);
            if last.replace((hash, record)) != Some((hash, record)) {
                leads = false;
            }
            let kind = ALL_KINDS.into_iter().find(|of| kind == code(Some(*of)));
            match kind {
                None => {
                    self.check(12, !leads, || format!("a form leads to r{record} again"));
                    more += u64::from(!leads);
                    leads = true;
                }
                Some(kind) => {
                    found += 1;
                    parts += u64::from(kind == FormKind::Part);
                    self.check(12, leads, || format!("r{record}: its {kind:?} form finds it not"));
                }
            }
        }
        self.check(12, found == more, || format!("{found} forms of records, {more} found"));
        parts
    }

    /// Compares what the prefixes of a table say with the names that have them.
    fn compare_prefixes(&mut self) {
        let mut missing = 0;
        let mut next = self.sorters[PREFIXES].next();
        while let Some((hash, _)) = next {
            let (mut says, mut names, mut needed) = (None, 0, 0);
            while let Some((_, value)) = next.filter(|(other, _)| *other == hash) {
                if value & EXPECTED != 0 {
                    (names, needed) = (names + 1, needed | value & !EXPECTED);
                } else {
                    let again = says.replace(value).is_some();
                    self.check(13, !again, || format!("prefix {hash:x} is there twice"));
                }
                next = self.sorters[PREFIXES].next();
            }
            let Some(says) = says else {
                missing += 1;
                continue;
            };
            let (count, lengths) = (says >> LENGTH_BITS, says & ((1 << LENGTH_BITS) - 1));
            let right = count == names || count == u64::from(MOST_COUNTED);
            self.check(13, right && lengths & needed == needed, || {
                format!(
                    "prefix {hash:x}: {count} names, lengths {lengths:b}; of {names}, {needed:b}"
                )
            });
        }
        self.check(13, missing == 0, || format!("{missing} prefixes are missing"));
    }

    /// Checks the records of a form; returns how many are listed in blocks.
    fn chain(&mut self, table: Filter<'_>, bucket: u32, entry: Entry) -> usize {
        let Some(head) = entry.head() else { return 0 };
        let is_record = self.owner(head.line()) == Owner::Entity;
        let blocks = if is_record { Vec::new() } else { self.ring(head.line()) };
        let ring: Vec<_> = match is_record {
            true => vec![(head, None)],
            false => blocks
                .iter()
                .flat_map(|block| block.records().map(|id| (id, Some(block.line()))))
                .filter(|(id, _)| self.owner(id.line()) == Owner::Entity)
                .collect(),
        };
        let count: usize = blocks.iter().map(|block| block.records().count()).sum();
        let sound = !ring.is_empty() && (is_record || ring.len() == count && count > 1);
        if !self.check(12, sound, || format!("{entry:?} leads to {ring:?}")) {
            return 0;
        }
        let first = self.expected(table.table(), Record::new(self.mem, ring[0].0));
        let agrees = |hash: Hash| {
            let bits = Entry::folded(hash, head).placed(entry != entry.placed(false));
            bits.hash_in(bucket) == entry.hash_in(bucket)
        };
        let of = first.forms.into_iter().find(|(_, hash, _)| agrees(*hash));
        let Some((kind, hash, part)) = of else {
            self.check(12, false, || format!("{entry:?} leads to {ring:?}, of another form"));
            return 0;
        };
        let (mem, language) = (self.mem, self.root.language());
        let wanted = part.unwrap_or_else(|| {
            let mut form = Vec::new();
            _ = write_form(kind, language, &Record::new(mem, ring[0].0).name(), &mut form);
            form
        });
        let has = |record: Record<'_>| has_form(kind, language, &record.name(), &wanted);
        for (id, block) in &ring {
            let record = Record::new(mem, *id);
            self.step_name(record);
            let agrees = has(record);
            self.check(12, agrees, || format!("{id:?} is with {wanted:?}"));
            self.sorters[FORMS].add((known_of(hash), of_form(*id, None)));
            if let Some(line) = block {
                let place = table.place_in(hash, *id).map(|block| block.line());
                self.check(12, place == Some(*line), || {
                    format!("{id:?} is in block {line}, its place leads to {place:?}")
                });
            }
        }
        // If a form had two entries, it would give two answers.
        let same = |(_, id): &(_, RecordId)| {
            let sound = self.owner(id.line()) == Owner::Entity || *id == head;
            let first = sound.then(|| Listed::at(self.mem, *id).first(self.mem)).flatten();
            first.is_some_and(has)
        };
        let count = table.folded_entries(hash).filter(same).count();
        self.check(12, count == 1, || format!("{} entries of one form", word(count)));
        if is_record { 0 } else { ring.len() }
    }

    /// The ring of blocks, as far as it is valid.
    fn ring(&mut self, first: u32) -> Vec<Block<'m>> {
        let (mut line, mut prev, mut found) = (first, None, Vec::new());
        loop {
            if !self.claim(line, 1, Owner::Rest) {
                break;
            }
            let block = Block::new(self.mem, line);
            let linked = prev.is_none_or(|prev| block.prev() == prev);
            self.check(12, linked, || format!("block {line} follows {prev:?}"));
            let has_records = block.is_valid();
            if !self.check(12, has_records, || format!("block {line} has none or too many")) {
                break;
            }
            found.push(line);
            (prev, line) = (Some(line), block.next());
            if line == first {
                let back = Block::new(self.mem, first).prev();
                self.check(12, Some(back) == prev, || format!("block {first} follows {prev:?}"));
                break;
            }
        }
        found.into_iter().map(|line| Block::new(self.mem, line)).collect()
    }
}
