//! Where a walk's answer goes: to the executor as rows, to a text, or to a function that processes it.
//!
//! An answer is passed on in parts, each of whole entities, as soon as it exceeds work_mem: so an answer takes only as
//! much memory as its largest entity, and rows beyond work_mem are on disk. Nothing here allocates in proportion to the
//! user's data without a check.

use crate::call::fmgr::{Rows, text_of};
use crate::call::tuple;
use crate::call::tuple::{Constant, Row};
use crate::call::work_memory::limit;
use crate::error;
use crate::error::Fallible;
use crate::pg::interrupt::check_interrupts;
use cftrag_core::{Interruptible, NoRoom, Relation, Walk};
use pgrx::{check_for_interrupts, pg_sys};

/// Rows between two checks for interrupts.
const ROWS_PER_TURN: usize = 8192;

/// One row of an answer, as bytes.
#[derive(Clone, Copy)]
pub struct Relative<'a> {
    pub entity: &'a [u8],
    pub tree: Option<&'a [u8]>,
    pub ancestor: bool,
    pub depth: i32,
    pub name: &'a [u8],
    pub via: &'a [u8],
    /// The labels of the relative and of the entity.
    pub label: Option<&'a [u8]>,
    pub entity_label: Option<&'a [u8]>,
}

impl<'a> Relative<'a> {
    /// The label of the relative, or its name.
    pub fn called(&self) -> &'a [u8] {
        self.label.unwrap_or(self.name)
    }

    /// The label of the entity, or its name.
    pub fn entity_called(&self) -> &'a [u8] {
        self.entity_label.unwrap_or(self.entity)
    }
}

/// An entity in a tree, below this parent; None: all its rows in the tree count. See sql/positions.sql.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sibling<'a> {
    pub name: &'a [u8],
    pub tree: Option<&'a [u8]>,
    pub parent: Option<&'a [u8]>,
}

impl<'a> Sibling<'a> {
    pub fn of(row: &Relative<'a>) -> Self {
        // Of an ancestor, `via` is what the way goes down to, and the row does not say what is above it.
        Self { name: row.name, tree: row.tree, parent: if row.ancestor { None } else { Some(row.via) } }
    }
}

/// The rows of a part of an answer, each made when it is asked for: a copy of a million takes 100 MB.
pub trait Relatives {
    /// How many there are.
    fn count(&self) -> usize;

    /// The row of that number, below [`Relatives::count`].
    fn row(&self, n: usize) -> Relative<'_>;
}

impl Relatives for &[Relative<'_>] {
    fn count(&self) -> usize {
        self.len()
    }

    fn row(&self, n: usize) -> Relative<'_> {
        self[n]
    }
}

impl Relatives for Walk {
    fn count(&self) -> usize {
        self.rows().len()
    }

    fn row(&self, n: usize) -> Relative<'_> {
        let row = &self.rows()[n];
        Relative {
            entity: self.name(self.entity(row.group)),
            tree: row.tree.map(|tree| self.name(tree)),
            ancestor: row.relation == Relation::Ancestor,
            depth: row.depth as i32,
            name: self.name(row.relative),
            via: self.name(row.via),
            label: row.label.map(|label| self.name(label)),
            entity_label: self.label(row.group).map(|label| self.name(label)),
        }
    }
}

/// Receives parts of an answer: all rows of some of its entities, in order.
pub type Take<'a> = &'a mut dyn FnMut(&[Relative<'_>]) -> Fallible<()>;

/// An answer as one text.
#[derive(Default)]
pub struct TextAnswer {
    /// A text value; None if there are no sentences.
    pub text: Option<pg_sys::Datum>,
    /// Whether several of its entities may share a label. If so, there is no text: labels alone do not tell them apart.
    pub is_unclear: bool,
}

pub enum Sink<'a> {
    Rows(Rows),
    /// The sentences of cft_context_text.
    Text(&'a mut TextAnswer),
    Parts(Take<'a>),
    /// Parts that are read once, and not copied.
    View(&'a mut dyn FnMut(&dyn Relatives) -> Fallible<()>),
    /// Parts without labels, for methods. `own`: an entity that has a row without a parent, or is its own parent, also
    /// gets a row of itself in that tree: an ancestor at depth 0.
    Nodes {
        take: Take<'a>,
        own: bool,
    },
}

impl Sink<'_> {
    /// Takes what the walk has answered since the last call. `last`: no more will come.
    pub fn take(&mut self, walk: &mut Walk, last: bool) -> Fallible<()> {
        match self {
            Sink::Rows(rows) => emit(walk, *rows),
            Sink::Text(answer) => {
                let mut check_interrupts = check_interrupts;
                let work = &mut Interruptible::new(&mut check_interrupts);
                // A part cannot tell whether the whole answer repeats a label.
                answer.is_unclear |= walk.has_labels() && (!last || walk.has_alike_labels(work));
                if answer.is_unclear {
                    return Ok(());
                }
                walk.try_text(work).map_err(error::no_room)?;
                if last {
                    answer.text = text_of(walk.written())?;
                }
                Ok(())
            }
            Sink::Parts(take) | Sink::Nodes { take, .. } => parts(walk, take),
            Sink::View(view) => {
                finish(walk)?;
                view(&*walk)
            }
        }
    }

    pub fn takes_own_rows(&self) -> bool {
        matches!(self, Sink::Nodes { own: true, .. })
    }

    pub fn takes_labels(&self) -> bool {
        !matches!(self, Sink::Nodes { .. })
    }
}

/// Puts the walk's rows in order, in its memory.
pub fn finish(walk: &mut Walk) -> Fallible<()> {
    walk.try_finish(&mut Interruptible::new(&mut { check_interrupts })).map_err(error::no_room)
}

/// Writes the walk's rows to a tuplestore.
pub fn emit(walk: &mut Walk, rows: Rows) -> Fallible<()> {
    if walk.so_far().1 <= ROWS_PER_TURN {
        finish(walk)?;
        add_all(walk, walk.rows(), rows);
        return Ok(());
    }
    let mut batch = Vec::with_capacity(ROWS_PER_TURN); // bounded: ROWS_PER_TURN
    let mut check_interrupts = check_interrupts;
    walk.for_each_row(&mut Interruptible::new(&mut check_interrupts), |walk, row| {
        batch.push(*row);
        if batch.len() == ROWS_PER_TURN {
            check_for_interrupts!();
            add_all(walk, &batch, rows);
            batch.clear();
        }
    })
    .map_err(error::no_room)?;
    add_all(walk, &batch, rows);
    Ok(())
}

static ANCESTOR: Constant<12> = Constant::of(b"....ancestor");

static DESCENDANT: Constant<14> = Constant::of(b"....descendant");

/// The value of a row's column `relation`, as a text with its header.
pub fn relation_with_prefix(relation: Relation) -> &'static [u8] {
    match relation {
        Relation::Ancestor => &ANCESTOR.0,
        Relation::Descendant => &DESCENDANT.0,
    }
}

fn add_all(walk: &Walk, batch: &[cftrag_core::Row], rows: Rows) {
    tuple::add_all(rows, batch, |of, row: &mut Row<7>| {
        row.prefixed(walk.name_with_prefix(walk.entity(of.group)));
        match of.tree {
            Some(tree) => row.prefixed(walk.name_with_prefix(tree)),
            None => row.null(),
        }
        row.prefixed(relation_with_prefix(of.relation));
        row.int(of.depth as i32);
        row.prefixed(walk.name_with_prefix(of.relative));
        row.prefixed(walk.name_with_prefix(of.via));
        match of.label {
            Some(label) => row.prefixed(walk.name_with_prefix(label)),
            None => row.null(),
        }
    });
}

fn parts(walk: &mut Walk, take: Take<'_>) -> Fallible<()> {
    finish(walk)?;
    let mut all: Vec<Relative<'_>> = Vec::new();
    let bytes = walk.bytes() + std::mem::size_of_val(walk.rows()) + walk.rows().len() * size_of::<Relative<'_>>();
    if bytes > limit() {
        return Err(error::no_room(NoRoom::Limit(bytes)));
    }
    all.try_reserve_exact(walk.rows().len()).map_err(|_| error::no_room(NoRoom::Memory(bytes)))?;
    let mut check_interrupts = check_interrupts;
    let mut work = Interruptible::new(&mut check_interrupts);
    for n in 0..walk.count() {
        work.step();
        all.push(walk.row(n));
    }
    take(&all)
}
