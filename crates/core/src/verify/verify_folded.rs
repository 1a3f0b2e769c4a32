//! The part of the check for folded names and prefixes: I12 and I13 of `verify/whole.rs`.

use crate::verify::verifier::Met;
use std::collections::{HashMap, HashSet};

use crate::filter::bucket::{Entry, MOST_COUNTED};
use crate::folded::alike::Block;
use crate::folded::folded_name::FoldedName;
use crate::folded::words;
use crate::memory::casts::{wide, word};
use crate::memory::hash::Hash;
use crate::memory::id::RecordId;
use crate::memory::root::Counter;
use crate::records::record::Record;
use crate::verify::verifier::{Owner, Verifier};

/// The part of a prefix's hash that its entry keeps.
fn known_of(hash: Hash) -> u64 {
    Entry::prefix(hash, 0).hash_in(0).0
}

impl Verifier<'_, '_> {
    /// Notes the entry of a folded name or prefix, and checks its bucket.
    pub(crate) fn other_entry(&mut self, met: &mut Met, bucket: u32, entry: Entry) {
        let hash = entry.hash_in(bucket);
        let (first, second) = self.folded_names.geometry().buckets_of(hash);
        let home = if entry == entry.placed(false) { first } else { second };
        let placed =
            if entry.is_folded() { bucket == home } else { [first, second].contains(&bucket) };
        self.check(2, placed, || {
            format!("{entry:?} in bucket {bucket}, its own: {first}, {second}")
        });
        if entry.is_folded() {
            met.folded_names.push((bucket, entry));
            return;
        }
        let (count, lengths) = (entry.count(), entry.lengths());
        let again = met.prefixes.insert(hash.0, (count, lengths));
        self.check(13, again.is_none(), || format!("prefix {:x} is there twice", hash.0));
    }

    /// Checks the entries that were noted, after all records were read.
    pub(crate) fn check_folded(&mut self, met: Met) {
        self.counter(Counter::FoldedNames, wide(met.folded_names.len() + met.prefixes.len()));
        let mut chained = HashSet::new();
        for (bucket, entry) in met.folded_names {
            self.chain(bucket, entry, &mut chained);
        }
        let mut counts: HashMap<u64, (u32, u32)> = HashMap::new();
        for id in self.records.clone() {
            let record = Record::new(self.mem, id);
            let folded = if record.is_tree() {
                None
            } else {
                FoldedName::of_record(self.root.seed(), record)
            };
            self.check(12, folded.is_some() == chained.contains(&id), || {
                format!(
                    "{id:?}: has a folded name: {}, is chained: {}",
                    folded.is_some(),
                    folded.is_none()
                )
            });
            for (hash, lengths) in folded.iter().flat_map(FoldedName::prefixes) {
                let (count, known) = counts.entry(known_of(hash)).or_default();
                (*count, *known) = (*count + 1, *known | lengths);
            }
        }
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
    }

    /// Checks the entities of a folded name.
    fn chain(&mut self, bucket: u32, entry: Entry, chained: &mut HashSet<RecordId>) {
        let Some(head) = entry.head() else { return };
        let sound = self.owner(head.line()) == Owner::Entity;
        if !self.check(12, sound, || format!("{entry:?} leads to {head:?}: no entity")) {
            return;
        }
        let ring = match Record::new(self.mem, head).alike() {
            0 => vec![head],
            first => self.ring(first),
        };
        let has_head = ring.contains(&head);
        self.check(12, has_head, || format!("{entry:?} leads to {head:?}, which is in no block"));
        let mut wanted = None;
        for id in ring {
            if !self.check(12, chained.insert(id), || format!("{entry:?} leads to {id:?} again")) {
                return;
            }
            let record = Record::new(self.mem, id);
            let mut bytes = Vec::new();
            let has = words::fold_name(&record.name(), &mut bytes);
            let folded = FoldedName::of_record(self.root.seed(), record);
            if let Some(folded) = &folded {
                self.lets_pass(folded, bucket, entry);
            }
            let agrees = folded.is_some_and(|FoldedName { hash, .. }| {
                let bits = Entry::folded(hash, id).placed(entry != entry.placed(false));
                bits.hash_in(bucket) == entry.hash_in(bucket)
            });
            let wanted = wanted.get_or_insert_with(|| bytes.clone());
            self.check(12, has && agrees && *wanted == bytes, || {
                format!("{id:?}: {bytes:?} is with {wanted:?}")
            });
        }
        // If a folded name had two chains, it would give two answers.
        if let (Some(head), Some(wanted)) = (entry.head(), wanted) {
            let hash = FoldedName::of_record(self.root.seed(), Record::new(self.mem, head));
            let hash = hash.map_or(Hash::default(), |folded| folded.hash);
            let same = |head: &RecordId| {
                let mut other = Vec::new();
                self.owner(head.line()) == Owner::Entity
                    && words::fold_name(&Record::new(self.mem, *head).name(), &mut other)
                    && other == wanted
            };
            let entries = self.folded_names.folded_entries(hash).map(|(_, head)| head);
            let count = entries.filter(same).count();
            self.check(12, count == 1, || format!("{} entries of one folded name", word(count)));
        }
    }

    /// The entities in a ring of blocks, as far as it is valid.
    fn ring(&mut self, first: u32) -> Vec<RecordId> {
        let (mut line, mut prev, mut found) = (first, None, Vec::new());
        loop {
            if !self.claim(line, 1, Owner::Rest) {
                return found;
            }
            let block = Block::new(self.mem, line);
            let linked = prev.is_none_or(|prev| block.prev() == prev);
            self.check(12, linked, || format!("block {line} follows {prev:?}"));
            let Some(records) = block.try_records() else {
                self.check(12, false, || format!("block {line} has none or too many"));
                return found;
            };
            for id in records {
                let named = id.filter(|id| self.owner(id.line()) == Owner::Entity);
                let sound = named.filter(|&id| Record::new(self.mem, id).alike() == line);
                if self.check(12, sound.is_some(), || format!("block {line} lists {id:?}")) {
                    found.extend(sound);
                }
            }
            (prev, line) = (Some(line), block.next());
            if line == first {
                break;
            }
        }
        let back = Block::new(self.mem, first).prev();
        self.check(12, Some(back) == prev, || format!("block {first} follows {prev:?}"));
        self.check(12, found.len() > 1, || format!("block {first} lists one entity"));
        found
    }
}
