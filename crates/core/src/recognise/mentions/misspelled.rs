//! Names of which the text misspells one word: windows with one word that no name has, and a near word in its place.

use super::{Recogniser, Searched, Seek};
use crate::Visibility;
use crate::folded::forms::{self, SPAN};
use crate::memory::step::Step;
use crate::recognise::text::Reader;
use crate::vocabulary::letters::Vocabulary;

/// Near words of which the windows are looked up together: there is room for them.
const TOGETHER: usize = 64;
/// What a search for near words costs at least, in slots.
const SEARCH_SLOTS: usize = 16;

impl Seek {
    /// Where the words of the names that are sought are counted.
    #[must_use]
    pub fn vocabulary(self) -> Vocabulary {
        match self {
            Seek::Entities => Vocabulary::Names,
            Seek::Labelled | Seek::Aliased => Vocabulary::Labels,
        }
    }
}

impl Recogniser {
    /// Looks on for names with a misspelled word, until the budget is spent.
    pub(super) fn step_misspelled(
        &mut self,
        of: Searched<'_>,
        reader: &Reader<'_>,
        seen: &impl Visibility,
        budget: &mut usize,
    ) {
        let whole = self.held.whole();
        let base = reader.first_held(self.held.len());
        self.all = reader.normal_words();
        while self.current < whole && *budget > 0 {
            let first = self.current;
            let near = (first..self.held.len()).take(SPAN);
            let Some(at) = near.clone().find(|i| reader.is_unknown(base + i)) else {
                *budget = budget.saturating_sub(1);
                self.go_to(first + 1);
                continue;
            };
            if self.near_word != Some(base + at) {
                let word = self.held.normal_words(at, 1).next().unwrap_or_default();
                // A name of several words that count has the one before or the one after.
                let is_beside = reader.are_beside(base + at);
                if !is_beside && self.all > SPAN && !forms::may_be_alone(word) {
                    self.go_to(at + 1);
                    continue;
                }
                let most = if is_beside { 2 } else { 1 };
                self.near.begin_within(self.seek.vocabulary(), word, most);
                (self.near_word, self.has_near) = (Some(base + at), false);
            }
            if !self.has_near {
                self.has_near = self.near.step(of.0, *budget) == Step::Done;
                *budget = budget.saturating_sub(SEARCH_SLOTS);
                if !self.has_near {
                    *budget = 0;
                    return;
                }
            }
            if self.near.words().is_empty() {
                // No window that has this word is a name.
                self.go_to(at + 1);
                continue;
            }
            if *budget == 0 {
                return;
            }
            let end = (at + 1..self.held.len()).find(|i| reader.is_unknown(base + i));
            let end = end.unwrap_or(self.held.len());
            let window = (first, at, end);
            let some = self.near.words().chunks(TOGETHER).nth(self.near_done);
            let Some(some) = some else {
                self.near_done = 0;
                self.go_to(first + 1);
                continue;
            };
            if !self.block.prepare_misspelled(of.0, &self.held, window, some) {
                *budget = 0;
                return;
            }
            self.misspelled = at - first;
            if self.search_block(of, seen, budget).is_err() {
                return;
            }
            *budget = budget.saturating_sub(1 + self.block.lookups());
            self.near_done += 1;
            self.next_word();
        }
    }
}
