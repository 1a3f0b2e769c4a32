//! The names that a text joins, with what they have in common said once, as a text that says each of them whole:
//! "breast and ovarian cancer" is read as "ovarian cancer" and "breast cancer".
//!
//! If the last two items and what they have in common are names, or more of the last ones, the window of all these
//! means each of them.

use crate::call::work_memory::Room;
use crate::error;
use crate::error::Fallible;
use crate::serve::tiers::{Each, characters_of, reserve, window};
use cftrag_core::{Coordinations, Interruptible, Language, Method};
use std::cmp::Reverse;
use std::ops::Range;

/// Between two names, so that none of them goes on in the next.
const BETWEEN: &str = "\n\n";

/// Bytes of all names: no text is longer.
const MOST_TEXT: usize = 1 << 30;

/// The names, and where they come from.
#[derive(Default)]
pub struct Coordinated {
    pub text: String,
    names: Vec<Name>,
}

/// A name in [`Coordinated::text`], and the window of the question that is meant by it and those before it in its list.
struct Name {
    at: Range<usize>,
    list: usize,
    from: usize,
    to: usize,
    start: usize,
    length: usize,
}

impl Coordinated {
    /// Reads a text. 53400, 53200 (memory).
    pub fn of(text: &str, language: Language, work: &mut Interruptible<'_>) -> Fallible<Self> {
        let mut all = Self::default();
        let mut room = Room::new();
        // Characters before the last conjunction.
        let (mut at, mut characters, mut list) = (0, 0, 0);
        let mut coordinations = Coordinations::of(text, language);
        while let Some(found) = coordinations.next_coordination(work) {
            characters += characters_of(&text[at..found.conjunction.start], work);
            at = found.conjunction.start;
            list += 1;
            let to = found.head.end;
            for item in found.items() {
                work.step();
                let (word, head) = (&text[item.clone()], &text[found.head.clone()]);
                let bytes = word.len() + 1 + head.len() + BETWEEN.len();
                room.take(2 * (bytes + size_of::<Name>()))?;
                if all.text.len() + bytes > MOST_TEXT {
                    return Err(error::too_long(all.text.len() + bytes));
                }
                all.text.try_reserve(bytes).map_err(|_| error::no_memory_to_work(bytes))?;
                all.names.try_reserve(1).map_err(|_| error::no_memory_to_work(size_of::<Name>()))?;
                let begin = all.text.len();
                [word, " ", head].into_iter().for_each(|part| all.text.push_str(part));
                let name = begin..all.text.len();
                all.text.push_str(BETWEEN);
                // The last item is behind the conjunction.
                let from = item.start.min(at);
                let start = characters - characters_of(&text[from..at], work);
                let length = characters_of(&text[from..to], work);
                all.names.push(Name { at: name, list, from, to, start, length });
            }
        }
        Ok(all)
    }

    /// Of mentions in [`Coordinated::text`], in the order of their windows, makes those in the text that it comes from,
    /// in the same order. 53400, 53200 (memory).
    pub fn back(&self, found: &[Each], work: &mut Interruptible<'_>) -> Fallible<Vec<Each>> {
        let mut all = Vec::new();
        for list in self.names.chunk_by(|a, b| a.list == b.list) {
            work.step();
            let of = |name: &Name| {
                let place = (name.at.start, Reverse(name.at.end));
                let from = found.partition_point(|mention| window(mention) < place);
                let count = found[from..].iter().take_while(|mention| window(mention) == place).count();
                from..from + count
            };
            let names = list.iter().take_while(|name| !of(name).is_empty()).count();
            let Some(first) = list[..names].last().filter(|_| names > 1) else { continue };
            for name in &list[..names] {
                let those = of(name);
                reserve(&mut all, those.len(), &mut Room::new())?;
                for (n, mention) in &found[those] {
                    work.step();
                    let mut mention = *mention;
                    (mention.method, mention.start, mention.length) = (Method::Coordination, first.start, first.length);
                    (mention.from, mention.to) = (first.from, first.to);
                    all.push((*n, mention));
                }
            }
        }
        work.sort_by(&mut all, |a: &Each, b| window(a).cmp(&window(b)));
        Ok(all)
    }
}
