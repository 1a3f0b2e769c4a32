//! The part of the check that is about the sieve: its lines, and I14 of `verify.rs`.

use crate::bucket::Entry;
use crate::forms::Form;
use crate::root::{SieveState, Table};
use crate::sieve::{self, MOST_LEVEL, Sieve};
use crate::verify::{Owner, Verifier};

impl Verifier<'_, '_> {
    /// The lines of both sieves, and how many bits are set in them. False: they cannot be read.
    pub(crate) fn sieves(&mut self) -> bool {
        let (now, next) = (self.root.sieve(Table::Now), self.root.sieve(Table::Next));
        let buckets = self.forms.geometry().buckets();
        let sane = now.level <= MOST_LEVEL
            && next.level <= MOST_LEVEL
            && next.segments <= sieve::shape(next.level).1
            && next.swept <= buckets
            && (next.segments > 0 || next == SieveState::default());
        if !self.check(14, sane, || format!("the sieves: {now:?}, {next:?}")) {
            return false;
        }
        let (_, all) = sieve::shape(now.level);
        self.sieve_lines(Table::Now, now, all) && self.sieve_lines(Table::Next, next, next.segments)
    }

    fn sieve_lines(&mut self, table: Table, state: SieveState, segments: u32) -> bool {
        let (lines, _) = sieve::shape(state.level);
        let mut bits = 0;
        for i in 0..segments {
            let first = self.root.segment(table, i);
            if !self.claim(first, lines, Owner::Page) {
                return false;
            }
            let words =
                (first..first + lines).flat_map(|line| (0..8).map(move |at| (line, at * 8)));
            bits += words.map(|(line, at)| self.mem.line(line).u64(at).count_ones()).sum::<u32>();
        }
        self.check(14, bits == state.bits, || format!("{table:?}: {state:?}, {bits} bits are set"))
    }

    /// What the sieves must let pass of a name whose form's entry stands in that bucket.
    pub(crate) fn lets_pass(&mut self, form: &Form, bucket: u32, entry: Entry) {
        let passes = |table| {
            let sieve = Sieve::new(self.mem, table);
            form.items().iter().all(|item| sieve.cell_of(table, *item).passes())
        };
        let now = passes(Table::Now);
        let next = self.forms.swept().is_none_or(|swept| bucket >= swept) || passes(Table::Next);
        self.check(14, now && next, || {
            format!("{entry:?} in bucket {bucket}: the sieve says {now}, the next one {next}")
        });
    }
}
