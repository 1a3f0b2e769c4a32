//! Where the answer of a walk goes: to the executor as rows, to a text, or to a function that makes something else of it.
//!
//! An answer is handed over in parts, each of whole questions, as soon as it passes work_mem: so what an answer takes of the session is what
//! its largest question takes, and rows are on disk beyond work_mem. Nothing here allocates by the user's data without asking first.

#![expect(unsafe_code, reason = "reads a setting of the server")]

use crate::error::{self, Fallible};
use crate::fmgr::{Rows, text_datum};
use crate::guc;
use crate::methods::breathe;
use crate::row::{self, Row};
use cftrag_core::{Breath, NoRoom, Relation, Walk};
use pgrx::check_for_interrupts;
use pgrx::pg_sys;

/// Rows between two looks for an interrupt.
const BATCH: usize = 8192;
/// MaxAllocSize less a varlena's header: the longest text.
pub const LONGEST: usize = 0x3fff_ffff - 4;

/// That of a new workspace, and of a few hundred rows.
const LEAST_WORK: usize = 256 << 10;
/// Bytes that leave some for others without asking, and that are copied between two looks for an interrupt.
const LARGE: usize = 1 << 20;

/// One row of an answer, as bytes.
#[derive(Clone, Copy)]
pub struct Relative<'a> {
    pub entity: &'a [u8],
    pub tree: Option<&'a [u8]>,
    pub ancestor: bool,
    pub depth: i32,
    pub name: &'a [u8],
    pub via: &'a [u8],
}

/// Takes parts of an answer: all rows of some of its entities, in its order.
pub type Take<'a> = &'a mut dyn FnMut(&[Relative<'_>]) -> Fallible<()>;

pub enum Sink<'a> {
    Rows(Rows),
    /// The sentences of cft_context_text, as a text value; none if there are none.
    Text(&'a mut Option<pg_sys::Datum>),
    Parts(Take<'a>),
}

impl Sink<'_> {
    /// Takes what a walk has answered so far and has not given to it yet. `last`: there is no more.
    pub fn take(&mut self, walk: &mut Walk, last: bool) -> Fallible<()> {
        match self {
            Sink::Rows(rows) => emit(walk, *rows),
            Sink::Text(text) => {
                walk.try_text(&mut Breath::new(&mut { breathe })).map_err(error::no_room)?;
                if last {
                    **text = text_of(walk.written())?;
                }
                Ok(())
            }
            Sink::Parts(take) => parts(walk, take),
        }
    }
}

/// `work_mem` in bytes: past it an answer's rows are on disk.
pub fn work_mem() -> usize {
    // SAFETY: a setting, at least 64.
    unsafe { pg_sys::work_mem as usize * 1024 }
}

/// What the answer of a call may take of the session's memory: a workspace has some from the start, whatever `cftrag.work_memory` is.
pub fn limit() -> usize {
    guc::work_bytes().max(LEAST_WORK)
}

/// The walk's rows, in order, in its memory.
pub fn finish(walk: &mut Walk) -> Fallible<()> {
    walk.try_finish(&mut Breath::new(&mut { breathe })).map_err(error::no_room)
}

/// Writes the walk's rows to a tuplestore.
pub fn emit(walk: &mut Walk, rows: Rows) -> Fallible<()> {
    if walk.so_far().1 <= BATCH {
        finish(walk)?;
        add_all(walk, walk.rows(), rows);
        return Ok(());
    }
    let mut batch = Vec::with_capacity(BATCH);
    let mut breathe = breathe;
    walk.for_each_row(&mut Breath::new(&mut breathe), |walk, row| {
        batch.push(*row);
        if batch.len() == BATCH {
            check_for_interrupts!();
            add_all(walk, &batch, rows);
            batch.clear();
        }
    })
    .map_err(error::no_room)?;
    add_all(walk, &batch, rows);
    Ok(())
}

fn add_all(walk: &Walk, batch: &[cftrag_core::Row], rows: Rows) {
    row::add_all(rows, 6, batch, |of, row: &mut Row| {
        row.text(walk.name(walk.entity(of.group)));
        match of.tree {
            Some(tree) => row.text(walk.name(tree)),
            None => row.null(),
        }
        row.text(match of.relation {
            Relation::Ancestor => b"ancestor",
            Relation::Descendant => b"descendant",
        });
        row.int(of.depth as i32);
        row.text(walk.name(of.relative));
        row.text(walk.name(of.via));
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
    let mut breathe = breathe;
    let mut breath = Breath::new(&mut breathe);
    for row in walk.rows() {
        breath.step();
        all.push(Relative {
            entity: walk.name(walk.entity(row.group)),
            tree: row.tree.map(|tree| walk.name(tree)),
            ancestor: row.relation == Relation::Ancestor,
            depth: row.depth as i32,
            name: walk.name(row.relative),
            via: walk.name(row.via),
        });
    }
    take(&all)
}

/// A text value of sentences; none if there are none. Error: that of [`text_value`].
pub fn text_of(sentences: &[u8]) -> Fallible<Option<pg_sys::Datum>> {
    if sentences.is_empty() { Ok(None) } else { text_value(sentences).map(Some) }
}

/// A text value, palloc'd. 54000 if it would be longer than a text can be.
pub fn text_value(bytes: &[u8]) -> Fallible<pg_sys::Datum> {
    if bytes.len() > LONGEST {
        return Err(error::too_long(bytes.len()));
    }
    Ok(if bytes.len() < LARGE { text_datum(bytes) } else { large_text(bytes) })
}

/// [`text_datum`] of many bytes: to copy them, and to have pages for them, takes a millisecond a MB.
fn large_text(bytes: &[u8]) -> pg_sys::Datum {
    // SAFETY: a varlena of so many bytes, no more than LONGEST, all of which are written here.
    unsafe {
        let text = pg_sys::palloc(pg_sys::VARHDRSZ + bytes.len());
        pgrx::set_varsize_4b(text.cast(), (pg_sys::VARHDRSZ + bytes.len()) as i32);
        let mut to = text.cast::<u8>().add(pg_sys::VARHDRSZ);
        for some in bytes.chunks(LARGE) {
            check_for_interrupts!();
            std::ptr::copy_nonoverlapping(some.as_ptr(), to, some.len());
            to = to.add(some.len());
        }
        pg_sys::Datum::from(text)
    }
}

/// Bytes of an answer that grow by what users have, within `cftrag.work_memory`.
#[derive(Default)]
pub struct Bytes(pub Vec<u8>);

impl Bytes {
    /// Room for so many more. 53400, 53200.
    pub fn room(&mut self, more: usize) -> Fallible<()> {
        self.room_beside(more, 0)
    }

    /// The same where so many others count, too.
    pub fn room_beside(&mut self, more: usize, others: usize) -> Fallible<()> {
        let limit = limit();
        let wanted = self.0.len() + more;
        if wanted + others > limit {
            return Err(error::no_room(NoRoom::Limit(wanted + others)));
        }
        if wanted <= self.0.capacity() {
            return Ok(());
        }
        let more = wanted.max((self.0.len() * 3 / 2).min(limit)) - self.0.len();
        match self.0.try_reserve_exact(more).is_ok() && (wanted < LARGE || cftrag_core::some_is_left()) {
            true => Ok(()),
            false => Err(error::no_room(NoRoom::Memory(wanted + others))),
        }
    }
}
