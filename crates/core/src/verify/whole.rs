//! The invariants of an image, numbered, and a check of each.
//!
//! ```text
//!  I1   the root is sane: chunks are mapped, the bump is in them, the buckets have pages
//!  I2   an entry of the filter stands in a bucket of its record, under its fingerprint
//!  I3   a record has the shape and the hash of its name, and the filter finds it by its name
//!  I4   no orphan: each entity has an edge row, each tree counts its edge rows, one at least
//!  I5   in a list, inline bits are slots, the head block has 1 to 5 slots, no block is shared
//!  I6   a settled slot's mirror is a used slot of the neighbour's other list, and links back
//!  I7   a slot's version names that slot, that tree and both entities
//!  I8   the queue holds every version once, linked both ways, and its slots link to it
//!  I9   the counters are right: entities, trees, edge rows (as often up as down), versions
//!  I10  each line up to the bump has one owner: root, page, record, piece, block (of either kind), version,
//!       word, list of xids, or a free list, whose pieces are marked and counted
//!  I11  no writer is at work
//!  I12  an entity whose name has a folded name, or another form, is found from the one entry of that form, others from
//!       none; of two and more, each is in the block that its place leads to, blocks of one form are a ring
//!  I13  a prefix counts its names, 1023 at most, and knows their lengths
//!  I14  a word of a vocabulary counts the names that have it, is found from one entry, and is in the chain of each of
//!       its parts; chains are linked both ways and have no other words; the
//!       free halves of lines are in their list
//! ```
//!
//! Nothing here trusts the data that it checks: a wild handle is reported, not followed. The check takes three bytes a
//! line, sorts the rest, and reads the whole image; it serves `cft_verify`, tests and fuzzing. Reader.

use crate::verify::sorter::{InMemory, Sorter};
use crate::verify::verifier::Known;
use crate::verify::verifier::Owner;
use crate::verify::verifier::Verifier;

use crate::Interruptible;
use crate::filter::bucket::Geometry;
use crate::filter::table::Filter;
use crate::forest::running;
use crate::memory::alloc::FREE_MARK;
use crate::memory::casts::{index, wide, word};
use crate::memory::chunk::{first_line, is_gap, lines_of};
use crate::memory::hash::{Hash, Kind};
use crate::memory::id::RecordId;
use crate::memory::root::{Counter, FIRST_LINE, Field, MAX_LINES};

use crate::memory::tables::FIRST_LEVEL;
use crate::records::record::{Record, pieces};
use crate::records::version::Version;
use crate::{Image, Problem};

impl Image<'_> {
    /// Reader: reports every broken invariant; no report means that the image is valid.
    pub fn verify(&self, report: &mut dyn FnMut(Problem)) {
        let sorters = [&mut InMemory::default() as &mut dyn Sorter, &mut InMemory::default()];
        self.verify_by(report, &mut Interruptible::new(&mut || ()), sorters);
    }

    /// [`Image::verify`], interruptible, and in memory of three bytes a line besides the sorters'.
    pub fn verify_by(
        &self,
        report: &mut dyn FnMut(Problem),
        work: &mut Interruptible<'_>,
        [first, second]: [&mut dyn Sorter; 2],
    ) {
        // Read the image itself, not what this process cached of it.
        self.mem().forget_pages();
        let mut verifier = Verifier {
            mem: self.mem(),
            root: self.root(),
            names: self.names(),
            folded_names: self.folded_names(),
            forms: self.forms(),
            lines: Vec::new(),
            tree_run: None,
            sorters: [first, second],
            rows: (0, 0),
            problems: 0,
            report,
            check_interrupts: &mut || work.now(),
            checks: 0,
        };
        let tables = [self.names(), self.folded_names(), self.forms()];
        let pages = verifier.root() && tables.into_iter().all(|table| verifier.pages(table));
        if pages {
            verifier.entries();
            verifier.queue();
            verifier.running();
            verifier.lists();
            verifier.links();
            verifier.counters();
            verifier.free_lists();
        }
    }
}

impl Verifier<'_, '_> {
    fn root(&mut self) -> bool {
        self.check(11, !self.root.mutating(), || "a writer began and did not end".into());
        let (chunks, bump) = (index(self.root.get(Field::Chunks)), self.root.get(Field::Bump));
        let mapped = self.mem.mapped();
        if !self.check(1, 1 <= chunks && chunks <= mapped, || {
            format!("{chunks} chunks are published, {mapped} mapped")
        }) {
            return false;
        }
        let end = first_line(chunks - 1) + lines_of(chunks - 1);
        // A bump in a gap is at the end of its chunk.
        let sane = (FIRST_LINE..=end).contains(&bump) && !(is_gap(bump) && is_gap(bump - 1));
        if !self.check(1, sane, || format!("bump at line {bump}, lines end at {end}")) {
            return false;
        }
        self.lines = vec![Known { owner: Owner::Nobody, up: 0, down: 0 }; index(bump)];
        [self.names, self.folded_names, self.forms].into_iter().all(|table| self.table(table))
    }

    /// Checks a table's size.
    fn table(&mut self, filter: Filter<'_>) -> bool {
        let (Geometry { level, split }, pages) = (filter.geometry(), filter.pages());
        let sane = (FIRST_LEVEL..31).contains(&level)
            && split < 1 << level
            && pages == filter.geometry().buckets().div_ceil(1 << FIRST_LEVEL)
            && pages <= filter.table().most_pages();
        self.check(1, sane, || {
            format!("{:?}: level {level}, split {split}, {pages} pages", filter.table())
        })
    }

    /// Claims a table's pages and the nodes of its directory. `false` if its buckets cannot be read.
    fn pages(&mut self, filter: Filter<'_>) -> bool {
        (0..filter.pages()).all(|page| {
            filter.page_place(page, &mut |node| self.claim(node, 1, Owner::Page)).is_some()
                && self.claim(filter.page(page), filter.table().page_lines(), Owner::Page)
        })
    }

    fn entries(&mut self) {
        let geometry = self.names.geometry();
        let before = self.problems;
        for table in [self.folded_names, self.forms] {
            for bucket in 0..table.geometry().buckets() {
                self.step();
                let entries = table.read(bucket).into_iter();
                entries
                    .filter(|entry| !entry.is_empty())
                    .for_each(|entry| self.placed(table, bucket, entry));
            }
        }
        for bucket in 0..geometry.buckets() {
            self.step();
            for entry in self.names.read(bucket) {
                let Some(id) = entry.record() else { continue };
                if !self.record(id) {
                    continue;
                }
                let hash = Record::new(self.mem, id).hash();
                let (first, second) = geometry.buckets_of(hash);
                let placed = [first, second].contains(&bucket);
                self.check(2, placed && entry.has_tag_of(hash), || {
                    format!("{id:?} in bucket {bucket}, its buckets are {first} and {second}")
                });
            }
        }
        // A search follows every entry of a bucket, so skip it if one of them leads to a wrong place.
        if self.problems > before {
            return;
        }
        for line in 0..self.lines.len() {
            let Some(record) = self.record_at(line) else { continue };
            let (kind, name) = (record.kind(), record.name());
            let hash = Hash::of(self.root.seed(), kind, &name);
            self.check(3, hash == record.hash(), || format!("{:?}: wrong hash", record.id()));
            let found = self.names.find(kind, hash, &name, &mut Default::default());
            let found = found.map(|found| found.record().id());
            self.check(3, found == Some(record.id()), || {
                format!("{:?}: its name finds {found:?}", record.id())
            });
        }
        self.check_forms(self.folded_names);
        self.check_forms(self.forms);
    }

    /// Claims the lines of a record and its name. `false` if the record must not be read further.
    fn record(&mut self, id: RecordId) -> bool {
        let sound = self.is_allocation(id.line(), 1);
        if !self.check(10, sound, || format!("record at line {}", id.line())) {
            return false;
        }
        let record = Record::new(self.mem, id);
        let shape = record.shape();
        let sound = self.is_allocation(id.line(), shape.lines);
        if !self.check(10, sound, || format!("{id:?}: {shape:?}")) {
            return false;
        }
        let len = record.name_len();
        let (full, last) = pieces(len);
        let possible = full * index(MAX_LINES) <= self.lines.len();
        if !self.check(3, possible && shape.is_of(len), || {
            format!("{id:?}: {shape:?} for a name of {len} bytes")
        }) {
            return false;
        }
        let owner = match shape.kind {
            Kind::Entity => Owner::Entity,
            Kind::Tree => Owner::Tree,
        };
        let mut sound = self.claim(id.line(), shape.lines, owner);
        let mut sizes = std::iter::repeat_n(MAX_LINES, full).chain(last);
        let mut piece =
            if len > crate::records::record::INSIDE && sound { record.first_piece() } else { 0 };
        while let Some(lines) = sizes.next().filter(|_| sound) {
            sound = self.claim(piece, lines, Owner::Rest);
            if sound {
                piece = self.mem.line(piece).u32(0);
            }
        }
        if !sound {
            self.lines[index(id.line())].owner = Owner::Rest;
        }
        sound
    }

    fn queue(&mut self) {
        let (mut prev, mut next) = (None, self.root.version(Field::Oldest));
        let mut count = 0;
        while let Some(id) = next {
            if !self.claim(id.line(), 1, Owner::Version) {
                return;
            }
            let version = Version::new(self.mem, id);
            let back = version.prev();
            self.check(8, back == prev, || format!("{id:?} follows {prev:?} and says {back:?}"));
            (prev, next) = (Some(id), version.next());
            count += 1;
        }
        let newest = self.root.version(Field::Newest);
        self.check(8, newest == prev, || format!("{prev:?} is last, the root says {newest:?}"));
        self.counter(Counter::Versions, count);
    }

    fn running(&mut self) {
        let (mut line, count) = self.root.running();
        let lines = running::lines_of(index(count));
        for _ in 0..lines {
            if !self.claim(line, 1, Owner::Xids) {
                return;
            }
            line = self.mem.line(line).u32(0);
        }
        self.check(10, line == 0, || format!("{count} xids ran at the build, more lines follow"));
    }

    pub(crate) fn counter(&mut self, counter: Counter, has: u64) {
        let says = self.root.count(counter);
        self.check(9, says == has, || format!("{counter:?} says {says}, there are {has}"));
    }

    fn counters(&mut self) {
        let (mut entities, mut trees) = (0, 0);
        for line in 0..self.lines.len() {
            self.step_line(line);
            entities += u64::from(self.lines[line].owner == Owner::Entity);
            trees += u64::from(self.lines[line].owner == Owner::Tree);
        }
        self.counter(Counter::Entities, entities);
        self.counter(Counter::Trees, trees);
        let (up, down) = self.rows;
        self.counter(Counter::EdgeRows, up);
        self.counter(Counter::EdgeRows, down);
    }

    fn free_lists(&mut self) {
        let mut free = 0;
        for lines in 1..=MAX_LINES {
            let (mut line, length) = self.root.free_list(lines);
            let mut count = 0;
            while line != 0 && self.claim(line, lines, Owner::Free) {
                let piece = self.mem.line(line);
                let marked = piece.u32(4) == FREE_MARK && piece.u32(8) == lines;
                self.check(10, marked, || format!("free piece at line {line} is not marked"));
                line = piece.u32(0);
                count += 1;
            }
            free += wide(index(count)) * u64::from(lines);
            self.check(10, count == length, || {
                format!("free list of {lines} lines says {length} pieces, has {count}")
            });
        }
        self.counter(Counter::FreeLines, free);
        let (mut lost, mut first) = (0, 0);
        for line in (index(FIRST_LINE)..self.lines.len()).rev() {
            self.step_line(line);
            if self.lines[line].owner == Owner::Nobody && !is_gap(word(line)) {
                (lost, first) = (lost + 1, line);
            }
        }
        self.check(10, lost == 0, || {
            format!("{lost} lines belong to nothing, the first is {first}")
        });
    }
}
