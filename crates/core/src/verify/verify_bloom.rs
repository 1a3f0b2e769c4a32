//! The part of the check for the Bloom filters: their lines, and I14 of `verify/whole.rs`.

use crate::filter::bucket::Entry;
use crate::folded::bloom::{self, BloomFilter};
use crate::folded::folded_name::FoldedName;
use crate::memory::root::{BloomItems, BloomState, Segments, Table};
use crate::verify::verifier::{Owner, Verifier};

impl Verifier<'_, '_> {
    /// Checks the lines of all Bloom filters and their counts of bits. `false` if they cannot be read.
    pub(crate) fn blooms(&mut self) -> bool {
        [BloomItems::Words, BloomItems::Windows].into_iter().all(|of| {
            let state = |table| self.root.bloom(of, table);
            let (now, next) = (state(Table::Now), state(Table::Next));
            let buckets = self.folded_names.geometry().buckets();
            let sane = now.level <= of.most_level()
                && next.level <= of.most_level()
                && next.segments <= bloom::shape(next.level).1
                && next.swept <= buckets
                && (next.segments > 0 || next == BloomState::default());
            self.check(14, sane, || format!("the Bloom filters of {of:?}: {now:?}, {next:?}"))
                && self.bloom_lines(of, Table::Now, now, bloom::shape(now.level).1)
                && self.bloom_lines(of, Table::Next, next, next.segments)
        })
    }

    fn bloom_lines(
        &mut self,
        of: BloomItems,
        table: Table,
        state: BloomState,
        segments: u32,
    ) -> bool {
        let (lines, all) = bloom::shape(state.level);
        let Segments { first: near, list } = self.root.segments(of, table);
        let listed = if segments > 0 { bloom::list_lines(all) } else { 0 };
        if listed > 0 && !self.claim(list, listed, Owner::Page) {
            return false;
        }
        if !self.check(14, (listed > 0) == (list > 0), || format!("{of:?}, {table:?}: list {list}"))
        {
            return false;
        }
        let mut bits = 0;
        for i in 0..segments {
            let (place, at) = bloom::in_list(list, i);
            let first = if listed > 0 { self.mem.line(place).u32(at) } else { near };
            if !self.check(14, i > 0 || first == near, || {
                format!("{of:?}, {table:?}: the first segment is at {first} and at {near}")
            }) {
                return false;
            }
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

    /// Checks that the Bloom filters let a folded name pass; its entry is in `bucket`.
    pub(crate) fn lets_pass(&mut self, folded: &FoldedName, bucket: u32, entry: Entry) {
        for of in [BloomItems::Words, BloomItems::Windows] {
            let swept = self.folded_names.swept(of);
            let (items, count) = folded.items(of);
            for &item in &items[..count] {
                let passes = |table| BloomFilter::new(self.mem, of, table).passes(item);
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
