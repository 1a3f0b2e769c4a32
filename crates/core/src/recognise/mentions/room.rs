//! The memory of a recogniser. With a limit it grows only between steps: a step that finds no room ends, and its word
//! is begun again.

use super::{Mention, Recogniser};
use crate::Interruptible;
use crate::memory::limit::{NoRoom, some_is_left};
use crate::records::record::Record;

/// Words of memory for a name: this many are always copied, and a common name takes no more.
const WORDS: usize = 24;
/// A step gets room for this many more mentions than were found so far, unless it has fewer slots.
const LEAST: usize = 256;

/// What a step had no room for: the mentions and the words of names that there were to be. Not used without a limit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Short {
    is_bounded: bool,
    mentions: usize,
    words: usize,
}

impl Short {
    pub(super) fn forget(&mut self) {
        (self.mentions, self.words) = (0, 0);
    }
}

impl Recogniser {
    /// Sets how many bytes the recogniser may take for what it finds. From now on steps allocate nothing (but to fold a
    /// name that is not ASCII); [`Recogniser::make_room`] does.
    pub fn limit(&mut self, bytes: usize) {
        self.limit = bytes;
        self.short.is_bounded = true;
    }

    /// Makes room for what a step of `slots` slots may find. Called between steps, unlocked.
    ///
    /// # Errors
    /// If that takes more memory than the limit, or than is available, or if the last step needed more.
    pub fn make_room(&mut self, slots: usize) -> Result<(), NoRoom> {
        self.asked.make_room(self.limit / 8);
        self.near.make_room(self.limit / 8)?;
        match self.failed {
            Some(why) => Err(why),
            None => self.grow(slots.min(self.found.len() + LEAST), WORDS),
        }
    }

    /// Bytes of the mentions and their names.
    pub(super) fn bytes(&self) -> usize {
        let words = self.arena.words().2;
        let mentions = self.found.capacity();
        mentions * size_of::<Mention>() + words * size_of::<u32>() + self.counting.bytes(mentions)
    }

    /// Bytes of the words held.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.bytes()
    }

    /// Makes room for `more` mentions, each with a name of `each` words. Where there is not enough, adds at least half
    /// of what is used, so that what was found is moved a few times only, not at each step.
    #[cold]
    fn grow(&mut self, more: usize, each: usize) -> Result<(), NoRoom> {
        let (end, _, words) = self.arena.words();
        let enough = |used: usize, has: usize, more: usize| {
            if has >= used + more { has } else { used + more.max(used / 2) }
        };
        let mentions =
            enough(self.found.len().max(self.short.mentions), self.found.capacity(), more);
        let wanted = enough(end.max(self.short.words), words, more * each);
        let bytes = mentions * size_of::<Mention>() + wanted * size_of::<u32>();
        let bytes = bytes + self.held.bytes() + self.counting.bytes(mentions);
        if bytes > self.limit {
            return Err(NoRoom::Limit(bytes));
        }
        let fits = self.found.try_reserve_exact(mentions - self.found.len()).is_ok()
            && self.counting.reserve(mentions)
            && self.arena.try_grow_to(wanted, &mut Interruptible::new(&mut || ()))
            && some_is_left();
        if !fits {
            return Err(NoRoom::Memory(bytes));
        }
        self.short.forget();
        Ok(())
    }

    /// Makes room for the windows of a block, and for the names of one more word; `false` if there is no memory.
    pub(super) fn make_room_for_a_word(&mut self) -> bool {
        self.forms.make_room();
        let judged = self.judged.len();
        let more = if self.has_room_to_judge() { 0 } else { judged.max(LEAST) };
        self.judged.try_reserve(more).is_ok() && self.block.make_room()
    }

    /// Whether one more entity of the current word can be judged.
    #[inline]
    pub(super) fn has_room_to_judge(&self) -> bool {
        self.judged.len() < self.judged.capacity() || !self.short.is_bounded
    }

    /// Whether a step found no room.
    pub(super) fn lacks(&self) -> bool {
        self.short.mentions > 0
    }

    /// Whether there is room for a mention of that name. If not, `make_room` makes it, or will say why.
    #[inline]
    pub(super) fn has_room(&mut self, record: Record<'_>) -> bool {
        let (end, _, words) = self.arena.words();
        let name = WORDS + record.name_len().div_ceil(4);
        let is_room = self.found.len() < self.found.capacity() && self.counting.has_room();
        if is_room && words - end >= name {
            return true;
        }
        if self.short.is_bounded {
            let Short { mentions, words, .. } = &mut self.short;
            *mentions = (*mentions).max(self.found.len() + 1);
            *words = (*words).max(end + name);
            return false;
        }
        self.failed = self.failed.or_else(|| self.grow(1, name + WORDS).err());
        self.failed.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AllSeen, Edge, HeapMemory, Image, Prefix, Reader, Seek, Step};

    #[test]
    fn what_was_found_moves_a_few_times_however_many_steps_there_are() {
        let mut heap = HeapMemory::new(usize::MAX);
        assert!(heap.grow());
        let image = Image::format(&heap, 7).unwrap();
        image.publish_chunks(1);
        image.insert(&Edge { tree: None, parent: b"Paris", child: b"Lyon" }, None).unwrap();
        let text = "Lyon and Paris. ".repeat(10_000);
        let mut check_interrupts = || ();
        let work = &mut Interruptible::new(&mut check_interrupts);
        let mut recogniser = Recogniser::new(Prefix::LENGTH);
        recogniser.begin(Seek::Entities, false);
        let mut reader = Reader::of(text.as_bytes(), work).unwrap();
        let (mut steps, mut moved) = (0, 0);
        loop {
            recogniser.read(&mut reader, work).unwrap();
            if recogniser.step(image, &AllSeen, 100, &reader) == Step::Done {
                break;
            }
            let before = recogniser.bytes();
            recogniser.make_room(100).unwrap();
            (steps, moved) =
                (steps + 1, moved + if recogniser.bytes() == before { 0 } else { before });
        }
        recogniser.finish();
        assert_eq!(recogniser.mentions().len(), 20_000);
        let bytes = recogniser.bytes();
        assert!(
            steps > 200 && moved < 20 * bytes,
            "{steps} steps moved {moved} bytes, {bytes} now"
        );
    }
}
