//! The part of the check for folded names, other forms, and prefixes: I12 and I13 of `verify/whole.rs`.

use std::collections::{HashMap, HashSet};

use crate::filter::bucket::{Entry, MOST_COUNTED, NOT_IN_WORDS};
use crate::filter::table::Filter;
use crate::folded::folded_name::FoldedName;
use crate::folded::forms::{FormKind, Forms, has_form, write_form};
use crate::folded::listed::{Block, Listed};
use crate::memory::casts::{wide, word};
use crate::memory::hash::Hash;
use crate::memory::id::RecordId;
use crate::memory::root::Counter;
use crate::memory::tables::Table;
use crate::records::record::Record;
use crate::verify::verifier::Met;
use crate::verify::verifier::{Owner, Verifier};

/// The part of a prefix's hash that its entry keeps.
pub(crate) fn known_of(hash: Hash) -> u64 {
    Entry::prefix(hash, 0).hash_in(0).0
}

/// The forms of a record's name that a table has, and their prefixes.
#[derive(Default)]
struct Expected {
    forms: Vec<(FormKind, Hash, Option<Vec<u8>>)>,
    prefixes: Vec<(Hash, u32)>,
}

impl<'m> Verifier<'m, '_> {
    /// Notes an entry of a table of forms, and checks its bucket.
    pub(crate) fn other_entry(
        &mut self,
        table: Filter<'_>,
        met: &mut Met,
        bucket: u32,
        entry: Entry,
    ) {
        let hash = entry.hash_in(bucket);
        let (first, second) = table.geometry().buckets_of(hash);
        let home = if entry == entry.placed(false) { first } else { second };
        let placed =
            if entry.has_line() { bucket == home } else { [first, second].contains(&bucket) };
        self.check(2, placed, || {
            format!("{entry:?} in bucket {bucket}, its own: {first}, {second}")
        });
        if entry.is_folded() {
            met.forms.push((bucket, entry));
        } else if let Some(word) = entry.vocabulary() {
            met.words.push((Hash(hash.0 & !NOT_IN_WORDS), word));
        } else if entry.has_line() {
            met.places += 1;
        } else {
            let (count, lengths) = (entry.count(), entry.lengths());
            let again = met.prefixes.insert(hash.0, (count, lengths));
            self.check(13, again.is_none(), || format!("prefix {:x} is there twice", hash.0));
        }
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

    /// Checks the entries of a table of forms, after all records were read.
    pub(crate) fn check_forms(&mut self, table: Filter<'_>, met: Met) {
        let entries = met.forms.len() + met.places + met.prefixes.len() + met.words.len();
        self.counter(table.counter(), wide(entries));
        let (mut chained, mut listed) = (HashSet::new(), 0);
        for (bucket, entry) in met.forms {
            listed += self.chain(table, bucket, entry, &mut chained);
        }
        self.check(12, listed == met.places, || {
            format!("{:?}: {} places of {listed} listed", table.table(), met.places)
        });
        let mut counts: HashMap<u64, (u32, u32)> = HashMap::new();
        let (mut found, mut parts) = (0, 0);
        for id in self.records.clone() {
            let expected = self.expected(table.table(), Record::new(self.mem, id));
            for (kind, hash, _) in expected.forms {
                found += 1;
                parts += u64::from(kind == FormKind::Part);
                let is_found = chained.contains(&(id, known_of(hash)));
                self.check(12, is_found, || format!("{id:?}: its {kind:?} form finds it not"));
            }
            for (hash, lengths) in expected.prefixes {
                let (count, known) = counts.entry(known_of(hash)).or_default();
                (*count, *known) = (*count + 1, *known | lengths);
            }
        }
        let more = chained.len();
        self.check(12, found == more, || format!("{found} forms of records, {more} found"));
        for (hash, &(count, lengths)) in &met.prefixes {
            let (names, needed) = counts.remove(hash).unwrap_or_default();
            let right = count == names || count == MOST_COUNTED;
            self.check(13, right && lengths & needed == needed, || {
                format!(
                    "prefix {hash:x}: {count} names, lengths {lengths:b}; of {names}, {needed:b}"
                )
            });
        }
        let missing = counts.len();
        self.check(13, missing == 0, || format!("{missing} prefixes are missing"));
        if table.table() == Table::Forms {
            self.counter(Counter::Parts, parts);
            self.check_words(&met.words);
        }
    }

    /// Checks the records of a form; returns how many are listed in blocks.
    fn chain(
        &mut self,
        table: Filter<'_>,
        bucket: u32,
        entry: Entry,
        chained: &mut HashSet<(RecordId, u64)>,
    ) -> usize {
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
            let again = !chained.insert((*id, known_of(hash)));
            self.check(12, !again, || format!("{entry:?} leads to {id:?} again"));
            if let Some(line) = block {
                let place = table.place_in(hash, *id).map(|block| block.line());
                self.check(12, place == Some(*line), || {
                    format!("{id:?} is in block {line}, its place leads to {place:?}")
                });
            }
            if kind == FormKind::Folded
                && let Some(folded) = FoldedName::of_record(self.root.seed(), record)
            {
                self.lets_pass(&folded, bucket, entry);
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
