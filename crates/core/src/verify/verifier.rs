//! The state that all parts of the check share.

use crate::filter::table::Filter;
use crate::folded::words::MOST_BYTES;
use crate::memory::casts::{index, word};
use crate::memory::chunk::lines_of;
use crate::memory::chunk::locate;
use crate::memory::error::Problem;
use crate::memory::flat::Memory;
use crate::memory::id::LINE_LIMIT;
use crate::memory::id::RecordId;
use crate::memory::id::TreeId;
use crate::memory::root::FIRST_LINE;
use crate::memory::root::Root;
use crate::records::record::Record;
use crate::verify::sorter::Sorter;

/// Checks between two checks for interrupts; each takes a microsecond.
const CHECKS: usize = 1 << 10;
/// Bytes of a name of which the forms are made in that time.
const BYTES_PER_CHECK: usize = 8;
/// Lines of which the owner is read in that time.
const LINES_PER_CHECK: usize = 256;
/// Problems after which the check ends, because more of them say nothing new.
const MOST_PROBLEMS: usize = 1000;

/// The owner of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Nobody,
    Page,
    Entity,
    Tree,
    /// A line of a record that is not its first, or a piece of its name.
    Rest,
    Block,
    Version,
    /// A word of a vocabulary, or two.
    Words,
    /// Xids that ran at the build.
    Xids,
    Free,
}

/// The facts found about a line: its owner, and which of its slots are used, up and down. Of a line of two words: which
/// halves have one, and whether the other is in the list of free ones.
#[derive(Clone, Copy)]
pub(crate) struct Known {
    pub(crate) owner: Owner,
    pub(crate) up: u8,
    pub(crate) down: u8,
}

pub(crate) struct Verifier<'m, 'r> {
    pub(crate) mem: &'m Memory,
    pub(crate) root: Root<'m>,
    pub(crate) names: Filter<'m>,
    pub(crate) folded_names: Filter<'m>,
    pub(crate) forms: Filter<'m>,
    /// The facts found about each line up to the bump.
    pub(crate) lines: Vec<Known>,
    /// The tree of the last edge rows, and how many in a row are of it.
    pub(crate) tree_run: Option<(TreeId, u32)>,
    pub(crate) sorters: [&'r mut dyn Sorter; 2],
    /// The number of used slots, up and down.
    pub(crate) rows: (u64, u64),
    pub(crate) problems: usize,
    pub(crate) report: &'r mut dyn FnMut(Problem),
    pub(crate) check_interrupts: &'r mut dyn FnMut(),
    pub(crate) checks: usize,
}

impl<'m> Verifier<'m, '_> {
    /// The valid record that begins at a line.
    pub(crate) fn record_at(&mut self, line: usize) -> Option<Record<'m>> {
        self.step_line(line);
        let is_record = matches!(self.lines[line].owner, Owner::Entity | Owner::Tree);
        RecordId::from_word(word(line)).filter(|_| is_record).map(|id| Record::new(self.mem, id))
    }

    pub(crate) fn check(
        &mut self,
        invariant: u32,
        holds: bool,
        text: impl FnOnce() -> String,
    ) -> bool {
        self.step();
        if !holds && self.problems < MOST_PROBLEMS {
            self.problems += 1;
            (self.report)(Problem { invariant, text: text() });
        }
        holds
    }

    /// Counts a check, and checks for interrupts now and then.
    pub(crate) fn step(&mut self) {
        self.steps(1);
    }

    /// Counts as checks what the forms of a record's name take.
    pub(crate) fn step_name(&mut self, record: Record<'_>) {
        self.steps(1 + record.name_len().min(MOST_BYTES) / BYTES_PER_CHECK);
    }

    /// Counts a check for each few lines.
    pub(crate) fn step_line(&mut self, line: usize) {
        if line.is_multiple_of(LINES_PER_CHECK) {
            self.step();
        }
    }

    fn steps(&mut self, checks: usize) {
        self.checks += checks;
        if self.checks >= CHECKS {
            self.checks = 0;
            (self.check_interrupts)();
        }
    }

    /// Whether `lines` lines from `line` on could be an allocation.
    pub(crate) fn is_allocation(&self, line: u32, lines: u32) -> bool {
        if !(FIRST_LINE..LINE_LIMIT).contains(&line) || index(line) >= self.lines.len() {
            return false;
        }
        let (chunk, offset) = locate(line);
        let fits = index(line) + index(lines) <= self.lines.len();
        lines > 0 && fits && offset + lines <= lines_of(chunk)
    }

    /// Gives lines to an owner; reports lines that cannot be an allocation or already have an owner.
    pub(crate) fn claim(&mut self, line: u32, lines: u32, owner: Owner) -> bool {
        let sound = self.is_allocation(line, lines);
        if !self.check(10, sound, || format!("{owner:?} of {lines} lines at {line}")) {
            return false;
        }
        let range = index(line)..index(line + lines);
        let taken = self.lines[range.clone()].iter().position(|known| known.owner != Owner::Nobody);
        if let Some(at) = taken {
            let other = self.lines[index(line) + at].owner;
            self.check(10, false, || format!("line {line} + {at} is {owner:?} and {other:?}"));
            return false;
        }
        self.lines[range].iter_mut().for_each(|known| known.owner = Owner::Rest);
        self.lines[index(line)].owner = owner;
        true
    }

    pub(crate) fn owner(&self, line: u32) -> Owner {
        self.lines.get(index(line)).map_or(Owner::Nobody, |known| known.owner)
    }
}
