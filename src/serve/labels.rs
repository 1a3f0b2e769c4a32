//! The labels of entities, for functions that collect entities from several walks. Which of several is shown: the walk
//! takes the smallest preferred one (crates/core/src/records/label.rs), by the definition in sql/labels.sql.

use std::collections::HashMap;

use crate::call::fmgr::text_array;
use crate::call::work_memory::{Bytes, Room, list};
use crate::catalog::attached_table::AttachedTable;
use crate::error;
use crate::error::Fallible;
use crate::pg::interrupt::check_interrupts;
use crate::serve::asked::Reach;
use crate::serve::reference;
use crate::serve::walk::{Served, give_back, served, walk_from, workspace};
use cftrag_core::Interruptible;

/// The most bytes that a name takes in a hash table while its label is looked for.
const PER_NAME: usize = 3 * size_of::<(&[u8], usize)>();

/// The labels of some names, in their order.
#[derive(Default)]
pub struct Labels {
    bytes: Bytes,
    /// Where each is in `bytes`; None where there is none.
    ranges: Vec<Option<(usize, usize)>>,
}

impl Labels {
    /// The labels of these names under the caller's snapshot, from the table's column of labels or its table of labels;
    /// empty if it has neither. Errors: those of cft_context.
    pub fn of(of: &AttachedTable, names: &[&[u8]]) -> Fallible<Self> {
        if names.is_empty() {
            return Ok(Self::default());
        }
        if of.columns.has_labels() {
            return Self::in_table(of, names);
        }
        of.open_label_table()?.map_or_else(|| Ok(Self::default()), |labels| Self::in_table(&labels, names))
    }

    /// The labels of these names (at least one), from a table with a column of labels.
    pub fn in_table(of: &AttachedTable, names: &[&[u8]]) -> Fallible<Self> {
        let mut labels = Self::default();
        let room = &mut Room::new();
        room.take(names.len() * PER_NAME)?;
        let (names, places) = distinct(names, room)?;
        let names = &names[..];
        labels.ranges = list(names.len(), room)?;
        let mut walk = workspace()?;
        walk.answer_labels(true);
        match walk_from(of, names, Reach { counts: false, ..Reach::levels(0, 0) }, &mut walk, |_| Ok(()))? {
            Served::All(ticket) => {
                if !of.registration.names.has_parent() {
                    served(of, &ticket, walk.counters());
                }
                for group in 0..names.len() {
                    labels.add(walk.label(group as u32).map(|label| walk.name(label)))?;
                }
            }
            Served::Only(_) => {
                let add = |label: Option<&[u8]>| labels.add(label);
                reference::labels(of, text_array(names), add)?;
            }
        }
        give_back(walk);
        if places.len() > names.len() {
            let mut ranges = list(places.len(), room)?;
            ranges.extend(places.iter().map(|&place| labels.ranges[place]));
            labels.ranges = ranges;
        }
        Ok(labels)
    }

    /// The label of the name of that number, if it has one.
    pub fn get(&self, n: usize) -> Option<&[u8]> {
        let (from, to) = (*self.ranges.get(n)?)?;
        Some(&self.bytes.0[from..to])
    }

    /// Whether the table has no labels, or there were no names.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    fn add(&mut self, label: Option<&[u8]>) -> Fallible<()> {
        let from = self.bytes.0.len();
        if let Some(label) = label {
            self.bytes.room(label.len())?;
            self.bytes.0.extend_from_slice(label);
        }
        self.ranges.push(label.map(|_| (from, self.bytes.0.len())));
        Ok(())
    }
}

/// Labels that a call has read, kept for its next rows, which name the same entities again in other trees.
#[derive(Default)]
pub struct KeptLabels(HashMap<Vec<u8>, Option<Vec<u8>>>);

impl KeptLabels {
    /// The most labels that are kept.
    const MOST: usize = 1000;
    /// Bytes of the longest name and label that are kept.
    const LONGEST: usize = 512;

    /// The labels of these names, as [`Labels::of`] gives them. The table is the same each time.
    pub fn of(&mut self, of: &AttachedTable, names: &[&[u8]]) -> Fallible<Labels> {
        Room::new().take(names.len() * (PER_NAME + Self::LONGEST))?;
        let mut unknown = list(names.len(), &mut Room::new())?;
        unknown.extend(names.iter().copied().filter(|name| !self.0.contains_key(*name)));
        let read = Labels::of(of, &unknown)?;
        if read.is_empty() && !unknown.is_empty() {
            return Ok(read);
        }
        let (mut labels, mut places) = (Labels::default(), 0..unknown.len());
        labels.ranges = list(names.len(), &mut Room::new())?;
        for name in names {
            match self.0.get(*name) {
                Some(label) => labels.add(label.as_deref())?,
                None => labels.add(places.next().and_then(|place| read.get(place)))?,
            }
        }
        if self.0.len() + unknown.len() > Self::MOST {
            self.0.clear();
        }
        for (place, name) in unknown.iter().enumerate().take(Self::MOST) {
            let label = read.get(place);
            if name.len() + label.map_or(0, <[u8]>::len) <= Self::LONGEST {
                self.0.insert(name.to_vec(), label.map(<[u8]>::to_vec)); // bounded: MOST of LONGEST bytes
            }
        }
        Ok(labels)
    }
}

/// The distinct names, in the order of their first occurrence, and the place of each name among them: an entity in many
/// trees has a label in each of its rows, and these are read once.
fn distinct<'a>(names: &[&'a [u8]], room: &mut Room) -> Fallible<(Vec<&'a [u8]>, Vec<usize>)> {
    let (mut places, mut distinct) = (list(names.len(), room)?, list(names.len(), room)?);
    let mut first = HashMap::new(); // bounded: reserved
    first.try_reserve(names.len()).map_err(|_| error::no_memory_to_work(names.len() * PER_NAME))?;
    let mut check_interrupts = check_interrupts;
    let work = &mut Interruptible::new(&mut check_interrupts);
    places.extend(names.iter().map(|name| {
        work.step();
        *first.entry(*name).or_insert_with(|| {
            distinct.push(*name);
            distinct.len() - 1
        })
    }));
    Ok((distinct, places))
}
