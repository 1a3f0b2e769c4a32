//! The part of the check that is about the sieve: its lines, and I14 of `verify/whole.rs`.

use crate::filter::bucket::Entry;
use crate::folded::form::Form;
use crate::folded::sieve::{self, Sieve};
use crate::memory::root::{SieveState, Sifted, Table};
use crate::verify::verifier::{Owner, Verifier};

impl Verifier<'_, '_> {
    /// The lines of all sieves, and how many bits are set in them. False: they cannot be read.
    pub(crate) fn sieves(&mut self) -> bool {
        [Sifted::Words, Sifted::Windows].into_iter().all(|of| {
            let state = |table| self.root.sieve(of, table);
            let (now, next) = (state(Table::Now), state(Table::Next));
            let buckets = self.forms.geometry().buckets();
            let sane = now.level <= of.most_level()
                && next.level <= of.most_level()
                && next.segments <= sieve::shape(next.level).1
                && next.swept <= buckets
                && (next.segments > 0 || next == SieveState::default());
            self.check(14, sane, || format!("the sieves of {of:?}: {now:?}, {next:?}"))
                && self.sieve_lines(of, Table::Now, now, sieve::shape(now.level).1)
                && self.sieve_lines(of, Table::Next, next, next.segments)
        })
    }

    fn sieve_lines(&mut self, of: Sifted, table: Table, state: SieveState, segments: u32) -> bool {
        let (lines, _) = sieve::shape(state.level);
        let mut bits = 0;
        for i in 0..segments {
            let first = self.root.segment(of, table, i);
            if !self.claim(first, lines, Owner::Page) {
                return false;
            }
            (0..lines).step_by(16).for_each(|_| self.step());
            let words =
                (first..first + lines).flat_map(|line| (0..8).map(move |at| (line, at * 8)));
            bits += words.map(|(line, at)| self.mem.line(line).u64(at).count_ones()).sum::<u32>();
        }
        self.check(14, bits == state.bits, || {
            format!("{of:?}, {table:?}: {state:?}, {bits} bits are set")
        })
    }

    /// What the sieves must let pass of a name whose form's entry stands in that bucket.
    pub(crate) fn lets_pass(&mut self, form: &Form, bucket: u32, entry: Entry) {
        for of in [Sifted::Words, Sifted::Windows] {
            let swept = self.forms.swept(of);
            let (items, count) = form.items(of);
            for &item in &items[..count] {
                let passes = |table| Sieve::new(self.mem, of, table).passes(item);
                let now = passes(Table::Now);
                let next = swept.is_none_or(|swept| bucket >= swept) || passes(Table::Next);
                self.check(14, now && next, || {
                    format!(
                        "{entry:?} in bucket {bucket}: {item:?} passes {now}, the next one {next}"
                    )
                });
            }
        }
    }
}
