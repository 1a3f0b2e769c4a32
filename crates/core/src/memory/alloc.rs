//! The allocator: whole lines, 1 to 64 at a time, all of one allocation in one chunk.
//!
//! A request is served from the free list of exactly its size, else from the untouched end of the published chunks (the
//! bump), else from the smallest larger free piece, whose rest goes back to the lists. Sizes repeat (blocks, versions
//! and short records are 1 or 2 lines), so free pieces are not joined.
//!
//! ```text
//!   a free piece:  next u32 | 0xF4EEF4EE u32 | lines u32 | ...
//! ```
//!
//! Promises: [`Plan`] answers, without writing, exactly whether a list of requests
//! will succeed in that order. Writers of the crate call it; they hold the lock.

use std::num::NonZeroU32;

use crate::memory::casts::index;
use crate::memory::chunk::{
    LINE_BYTES, first_line, lines_before, lines_before_chunk, lines_of, locate,
};
use crate::memory::flat::Memory;
use crate::memory::id::LINE_LIMIT;
use crate::memory::root::{Counter, Field, MAX_LINES, Root};

/// Marks free pieces, so that verify() notices a list that leads into live memory.
pub(crate) const FREE_MARK: u32 = 0xF4EE_F4EE;

/// The chunk of the bump, and the lines from the bump to its end, perhaps 0; none if the bump is at the end of all
/// chunks.
fn room(bump: u32, chunks: usize) -> Option<(usize, u32)> {
    if bump >= LINE_LIMIT {
        return None;
    }
    let (chunk, offset) = locate(bump);
    (chunk < chunks).then(|| (chunk, lines_of(chunk).saturating_sub(offset)))
}

/// Lines from the bump to the end of all chunks.
fn untouched(bump: u32, chunks: usize) -> usize {
    index(lines_before_chunk(chunks) - lines_before(bump))
}

/// Lines that are certainly available from the bump, whatever the requests: at each border between two chunks a request
/// of 64 lines may leave 63 unused.
pub(crate) fn certain_lines(root: Root<'_>) -> usize {
    let chunks = index(root.get(Field::Chunks));
    let bump = root.get(Field::Bump);
    let Some((chunk, left)) = room(bump, chunks) else {
        return 0;
    };
    let (left, borders) = (index(left), chunks - chunk - 1);
    if borders == 0 {
        return left;
    }
    let later = lines_before_chunk(chunks) - lines_before_chunk(chunk + 1);
    (left + index(later)).saturating_sub(index(MAX_LINES - 1) * borders)
}

/// Lines in the free lists and after the bump, whether or not they fit a request.
pub(crate) fn loose_lines(root: Root<'_>) -> usize {
    let chunks = index(root.get(Field::Chunks));
    let free = usize::try_from(root.count(Counter::FreeLines)).unwrap_or(usize::MAX);
    free + untouched(root.get(Field::Bump), chunks)
}

/// Takes `lines` lines, without clearing them.
pub(crate) fn take(mem: &Memory, lines: u32) -> Option<NonZeroU32> {
    debug_assert!((1..=MAX_LINES).contains(&lines));
    let root = Root::new(mem);
    if let Some(line) = pop(mem, root, lines) {
        return Some(line);
    }
    let chunks = index(root.get(Field::Chunks));
    let mut bump = root.get(Field::Bump);
    while let Some((chunk, left)) = room(bump, chunks) {
        if lines <= left {
            root.set(Field::Bump, bump + lines);
            return NonZeroU32::new(bump);
        }
        if chunk + 1 == chunks {
            break;
        }
        // The tail of a chunk is shorter than the request, so it fits a free list.
        if left > 0 {
            give(mem, bump, left);
        }
        bump = first_line(chunk + 1);
        root.set(Field::Bump, bump);
    }
    let larger = (lines + 1..=MAX_LINES).find(|&size| root.free_list(size).1 > 0)?;
    let line = pop(mem, root, larger)?;
    give(mem, line.get() + lines, larger - lines);
    Some(line)
}

/// Frees lines that [`take`] handed out, or a part of them.
pub(crate) fn give(mem: &Memory, line: u32, lines: u32) {
    debug_assert!((1..=MAX_LINES).contains(&lines));
    let root = Root::new(mem);
    let (first, length) = root.free_list(lines);
    // Bytes, not words: the lines may hold words of another width, and miri fails where atomics
    // of two widths overlap. The callers of `take` clear the lines first.
    for (at, word) in [(0, first), (4, FREE_MARK), (8, lines)] {
        mem.span(line).copy_in(at, &word.to_ne_bytes());
    }
    root.set_free_list(lines, line, length + 1);
    root.add(Counter::FreeLines, index(lines));
}

fn pop(mem: &Memory, root: Root<'_>, lines: u32) -> Option<NonZeroU32> {
    let (first, length) = root.free_list(lines);
    let line = NonZeroU32::new(first)?;
    root.set_free_list(lines, mem.line(first).u32(0), length - 1);
    root.subtract(Counter::FreeLines, index(lines));
    Some(line)
}

/// The most requests of one plan: an insert has 4 pages with their nodes, 3 records of up to 3 parts, and single lines.
const REQUESTS: usize = 4 * 2 + 3 * 3 + 1;

/// A dry run of [`take`]: it makes the same decisions, on a copy of the counts.
#[derive(Debug)]
pub(crate) struct Plan<'m> {
    root: Root<'m>,
    certain: usize,
    asked: usize,
    /// The lengths of the lists and the bump, from the moment when the certain lines are used up.
    exact: Option<Exact>,
    /// The requests made while lines were certain, to be replayed when they no longer are.
    script: [(u32, usize); REQUESTS],
    scripted: usize,
    failed: bool,
}

#[derive(Debug)]
struct Exact {
    pieces: [u32; MAX_LINES as usize + 1],
    bump: u32,
    chunks: usize,
}

impl<'m> Plan<'m> {
    pub(crate) fn new(root: Root<'m>) -> Plan<'m> {
        Plan {
            root,
            certain: certain_lines(root),
            asked: 0,
            exact: None,
            script: [(0, 0); REQUESTS],
            scripted: 0,
            failed: false,
        }
    }

    /// Requests `lines` lines, `times` times in a row.
    pub(crate) fn take(&mut self, lines: u32, times: usize) {
        self.asked += index(lines) * times;
        if self.asked <= self.certain {
            self.script[self.scripted] = (lines, times);
            self.scripted += 1;
            return;
        }
        let root = self.root;
        let script = &self.script[..self.scripted];
        let exact = self.exact.get_or_insert_with(|| {
            let mut exact = Exact::new(root);
            // The certain lines cannot fail; taking them shows what is left.
            for &(lines, times) in script {
                (0..times).for_each(|_| assert!(exact.take(lines), "certain lines are there"));
            }
            exact
        });
        self.failed |= (0..times).any(|_| !exact.take(lines));
    }

    /// The bytes of all requests, if one of them failed.
    pub(crate) fn shortage(&self) -> Option<usize> {
        self.failed.then_some(self.asked * LINE_BYTES)
    }
}

impl Exact {
    fn new(root: Root<'_>) -> Exact {
        let mut pieces = [0; MAX_LINES as usize + 1];
        for lines in 1..=MAX_LINES {
            pieces[index(lines)] = root.free_list(lines).1;
        }
        Exact { pieces, bump: root.get(Field::Bump), chunks: index(root.get(Field::Chunks)) }
    }

    fn take(&mut self, lines: u32) -> bool {
        if self.pieces[index(lines)] > 0 {
            self.pieces[index(lines)] -= 1;
            return true;
        }
        while let Some((chunk, left)) = room(self.bump, self.chunks) {
            if lines <= left {
                self.bump += lines;
                return true;
            }
            if chunk + 1 == self.chunks {
                break;
            }
            // A tail of no lines is counted, too, but not looked for.
            self.pieces[index(left)] += 1;
            self.bump = first_line(chunk + 1);
        }
        let Some(larger) = (lines + 1..=MAX_LINES).find(|&size| self.pieces[index(size)] > 0)
        else {
            return false;
        };
        self.pieces[index(larger)] -= 1;
        self.pieces[index(larger - lines)] += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HeapMemory;
    use crate::memory::chunk::is_gap;

    fn memory(chunks: u32) -> HeapMemory {
        let mut heap = HeapMemory::new(1 << 24);
        for _ in 0..chunks {
            assert!(heap.grow());
        }
        Root::format(&heap, 1).set(Field::Chunks, chunks);
        heap
    }

    #[test]
    fn what_is_given_back_is_taken_again() {
        let heap = memory(1);
        let line = take(&heap, 3).unwrap().get();
        assert_ne!(take(&heap, 3).unwrap().get(), line);
        give(&heap, line, 3);
        assert_eq!(take(&heap, 3).unwrap().get(), line);
        assert_eq!(Root::new(&heap).count(Counter::FreeLines), 0);
    }

    #[test]
    fn no_allocation_crosses_a_border_and_every_line_is_used() {
        let heap = memory(8);
        let mut taken = Vec::new();
        for size in (1..=MAX_LINES).rev().cycle() {
            let Some(line) = take(&heap, size) else { break };
            let (chunk, offset) = locate(line.get());
            assert!(offset + size <= lines_of(chunk));
            taken.push((line.get(), size));
        }
        while let Some(line) = take(&heap, 1) {
            taken.push((line.get(), 1));
        }
        taken.sort_unstable();
        let mut next = crate::memory::root::FIRST_LINE;
        for (line, size) in taken {
            next = if is_gap(next) { first_line(locate(next).0 + 1) } else { next };
            assert_eq!(line, next);
            next = line + size;
        }
        assert_eq!(next, first_line(8));
        assert_eq!(loose_lines(Root::new(&heap)), 0);
    }

    #[test]
    fn a_plan_foresees_every_outcome() {
        for seed in 0..200_u64 {
            let heap = memory(1 + (seed % 8) as u32);
            let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
            let mut size = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                1 + (state % 64) as u32
            };
            let mut live = Vec::new();
            loop {
                let requests = [size(), size(), size()];
                let root = Root::new(&heap);
                let mut plan = Plan::new(root);
                requests.iter().for_each(|&lines| plan.take(lines, 1));
                let before = heap.dump();
                let foreseen = plan.shortage().is_none();
                assert_eq!(heap.dump(), before, "a plan writes nothing");
                let got: Vec<_> = requests.iter().map(|&n| (take(&heap, n), n)).collect();
                assert_eq!(got.iter().all(|(line, _)| line.is_some()), foreseen, "seed {seed}");
                if !foreseen {
                    break;
                }
                live.extend(got.into_iter().map(|(line, n)| (line.unwrap().get(), n)));
                if size() % 2 == 0 {
                    let at = index(size()) % live.len();
                    let (line, n) = live.swap_remove(at);
                    give(&heap, line, n);
                }
            }
        }
    }
}
