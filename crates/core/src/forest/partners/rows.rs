//! The rows kept for deletes: their classes, and their places.

use std::collections::{HashMap, TryReserveError};
use std::hash::{BuildHasherDefault, Hash, Hasher};

use crate::RowVersion;
use crate::memory::casts::{fold_product, halves, index, word};
use crate::memory::id::{EntityId, SlotRef, to_word};
use crate::records::edge::Ends;
use crate::records::record::Direction;

/// Bits of the filter before the map, which drops most slots of a long list: no delete wants them. A flush deletes some
/// 20,000 rows.
const FILTER_BITS: u32 = 1 << 19;
pub(super) const FILTER_WORDS: usize = index(FILTER_BITS) / 64;

/// A class of rows that fit a delete equally well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class {
    parent: u32,
    child: u32,
    tree: u32,
    /// The low half of the inserter's xid; 0 for settled rows.
    xmin: u32,
    /// The inserting command, for a row that the deleter inserted itself.
    cmin: Option<u32>,
}

impl Class {
    pub(super) fn settled(ends: Ends) -> Class {
        let (parent, child) = (ends.parent.line(), ends.child.line());
        Class { parent, child, tree: to_word(ends.tree), xmin: 0, cmin: None }
    }

    /// The class of the settled rows of the same edge.
    fn of_settled(self) -> Class {
        Class { xmin: 0, cmin: None, ..self }
    }

    pub(super) fn inserted(ends: Ends, xmin: u64, cmin: Option<u32>) -> Class {
        Class { xmin: halves(xmin).0, cmin, ..Class::settled(ends) }
    }

    /// The class of the row that is deleted, from its inserter.
    pub(super) fn of(ends: Ends, row: RowVersion) -> Class {
        let xmin = if row.xmin == 0 { row.raw_xmin } else { halves(row.xmin).0 };
        Class { xmin, cmin: row.cmin, ..Class::settled(ends) }
    }

    fn hash_of_ends(self) -> u64 {
        let pair = u64::from(self.parent) << 32 | u64::from(self.child);
        let tree = u64::from(self.tree) << 1;
        fold_product(pair ^ 0x9E37_79B9_7F4A_7C15, tree ^ 0xD6E8_FEB8_6659_FD93)
    }

    /// The word and the bit of the filter for the class's parent, child and tree.
    pub(super) fn bit(self) -> (usize, u64) {
        let bit = halves(self.hash_of_ends()).0 % FILTER_BITS;
        (index(bit / 64), 1 << (bit % 64))
    }
}

impl Hash for Class {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let cmin = self.cmin.map_or(0, |cmin| u64::from(cmin) + 1);
        let inserter = u64::from(self.xmin) ^ cmin.rotate_left(32);
        state.write_u64(fold_product(self.hash_of_ends(), inserter ^ 0xA076_1D64_78BD_642F));
    }
}

/// A list, by its entity and direction, packed into one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListOf(u32);

impl ListOf {
    pub(super) fn new(of: EntityId, side: Direction) -> ListOf {
        ListOf(of.line() << 1 | u32::from(side == Direction::Up))
    }
}

impl Hash for ListOf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(fold_product(u64::from(self.0), 0x9E37_79B9_7F4A_7C15));
    }
}

/// Returns a hash computed before. Users cannot choose lines and xids, so a multiplication is enough.
#[derive(Default)]
pub(super) struct Made(u64);

impl Hasher for Made {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("a class is hashed as a number");
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// A slot and the list it is in, packed into one word.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListedSlot(u32);

impl ListedSlot {
    const UP: u32 = 1 << 31;

    pub(super) fn new(slot: SlotRef, side: Direction) -> ListedSlot {
        match side {
            Direction::Up => ListedSlot(slot.to_word() | ListedSlot::UP),
            Direction::Down => ListedSlot(slot.to_word()),
        }
    }

    pub(super) fn slot(self) -> SlotRef {
        SlotRef::from_word(self.0 & !ListedSlot::UP)
    }

    pub(super) fn side(self) -> Direction {
        if self.0 & ListedSlot::UP == 0 { Direction::Down } else { Direction::Up }
    }
}

/// The rows of a class, in [`KeptRows`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rows {
    /// How many deletes want a row of the class.
    wanted: u32,
    /// Rows without a deleter.
    live: List,
    /// Rows whose deleter rolled back.
    undone: List,
    /// Whether more rows exist than were kept.
    more: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct List {
    /// The index of the first row plus 1; 0 if there is none.
    first: u32,
    len: u32,
}

/// Rows between two entities in a tree: the settled ones, and those of the first inserter that was wanted. A search for
/// one looks for the other too, and finds it in the same cache line.
#[derive(Clone, Copy, Debug)]
struct Alike {
    settled: Rows,
    first: Class,
    inserted: Rows,
}

/// All kept rows, in few allocations: a pair in many trees has as many classes as rows.
#[derive(Debug, Default)]
pub(super) struct KeptRows {
    /// By the class of the settled rows.
    alike: HashMap<Class, Alike, BuildHasherDefault<Made>>,
    /// Rows of inserters other than the first.
    others: HashMap<Class, Rows, BuildHasherDefault<Made>>,
    /// Each place with the next one of its list, encoded as in [`List`].
    places: Vec<(ListedSlot, u32)>,
}

impl KeptRows {
    pub(super) fn clear(&mut self) {
        self.alike.clear();
        self.others.clear();
        self.places.clear();
    }

    /// Notes that one more delete wants a row of that class, or a settled one if `or_settled`.
    pub(super) fn want(&mut self, class: Class, or_settled: bool) -> Result<(), TryReserveError> {
        self.alike.try_reserve(1)?;
        let rows = Rows::default();
        let new = Alike { settled: rows, first: class, inserted: rows };
        let alike = self.alike.entry(class.of_settled()).or_insert(new);
        alike.settled.wanted += u32::from(or_settled);
        if alike.first == class {
            alike.inserted.wanted += 1;
            return Ok(());
        }
        self.others.try_reserve(1)?;
        self.others.entry(class).or_default().wanted += 1;
        Ok(())
    }

    pub(super) fn is_wanted(&mut self, class: Class) -> bool {
        self.rows(class).is_some()
    }

    /// The rows of a class, if a delete wants some, and all places.
    fn rows(&mut self, class: Class) -> Option<(&mut Rows, &mut Vec<(ListedSlot, u32)>)> {
        let settled = class.of_settled();
        let alike = self.alike.get_mut(&settled)?;
        let rows = if class == settled {
            &mut alike.settled
        } else if class == alike.first {
            &mut alike.inserted
        } else {
            self.others.get_mut(&class)?
        };
        (rows.wanted > 0).then_some((rows, &mut self.places))
    }

    /// Keeps a row, unless as many are kept as deletes want.
    pub(super) fn keep(
        &mut self,
        class: Class,
        place: ListedSlot,
        is_undone: bool,
    ) -> Result<(), TryReserveError> {
        let Some((rows, places)) = self.rows(class) else { return Ok(()) };
        let list = if is_undone { &mut rows.undone } else { &mut rows.live };
        if list.len < rows.wanted {
            list.push(places, place)?;
        } else {
            rows.more = true;
        }
        Ok(())
    }

    /// Adds a row without a deleter, if its class is wanted. If there is no memory, the lists are read again.
    pub(super) fn add(&mut self, class: Class, place: ListedSlot) {
        if let Some((rows, places)) = self.rows(class)
            && rows.live.push(places, place).is_err()
        {
            rows.more = true;
        }
    }

    /// The rows of a class, to be taken one by one, those without a deleter first.
    pub(super) fn taken(&mut self, class: Class) -> Option<Taken<'_>> {
        let (rows, places) = self.rows(class)?;
        Some(Taken { rows, places })
    }
}

impl List {
    fn push(
        &mut self,
        places: &mut Vec<(ListedSlot, u32)>,
        place: ListedSlot,
    ) -> Result<(), TryReserveError> {
        places.try_reserve(1)?;
        places.push((place, self.first));
        self.first = word(places.len());
        self.len += 1;
        Ok(())
    }
}

/// The result of [`KeptRows::taken`].
pub(super) struct Taken<'k> {
    rows: &'k mut Rows,
    places: &'k [(ListedSlot, u32)],
}

impl Taken<'_> {
    fn list(&mut self) -> &mut List {
        let Rows { live, undone, .. } = self.rows;
        if live.len > 0 { live } else { undone }
    }

    /// The next row.
    pub(super) fn first(&mut self) -> Option<ListedSlot> {
        let first = self.list().first.checked_sub(1)?;
        Some(self.places[index(first)].0)
    }

    /// Drops the next row.
    pub(super) fn pop(&mut self) {
        let places = self.places;
        let list = self.list();
        if let Some(first) = list.first.checked_sub(1) {
            *list = List { first: places[index(first)].1, len: list.len - 1 };
        }
    }

    pub(super) fn more(&self) -> bool {
        self.rows.more
    }

    /// Notes that a row was lost.
    pub(super) fn set_more(&mut self) {
        self.rows.more = true;
    }
}
