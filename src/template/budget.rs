//! Memory of one run of a template: what it holds counts, and is asked for before minijinja or we allocate it, because Rust's allocator
//! aborts the server where it gets none. The world counts first, as its reader has counted it.
//!
//! minijinja cannot pass on an error of ours, so it is kept here until the run ends.

use crate::error::Fallible;
use crate::{error, guc};
use cftrag_core::NoRoom;
use minijinja::{Environment, Error, ErrorKind};
use std::cell::{Cell, RefCell};
use std::io;

/// No prompt is 64 MB long; 1 GB is the most a text can be.
const MAX_MADE: usize = 64 * 1024 * 1024;

/// What a run may look at: some seconds, at a gigabyte a second. To take an element of a list costs as much as `ELEMENT` bytes.
const MAX_SEEN: u64 = 2 << 30;

pub const ELEMENT: u64 = 128;

thread_local! {
    /// Bytes that the run under way has written and joined.
    pub static MADE: Cell<usize> = const { Cell::new(0) };
    /// Bytes that it has looked at.
    pub static SEEN: Cell<u64> = const { Cell::new(0) };
    /// The last template, compiled.
    pub static LAST: RefCell<Option<(String, Environment<'static>)>> = const { RefCell::new(None) };
}

/// Pays for what is looked at.
pub fn look(bytes: u64) -> Result<(), Error> {
    pgrx::check_for_interrupts!();
    SEEN.set(SEEN.get().saturating_add(bytes));
    if SEEN.get() > MAX_SEEN { Err(Error::from(ErrorKind::OutOfFuel)) } else { Ok(()) }
}

pub fn count(bytes: usize) -> io::Result<()> {
    pgrx::check_for_interrupts!();
    MADE.set(MADE.get().saturating_add(bytes));
    if MADE.get() > MAX_MADE {
        return Err(io::Error::other(format!("it makes more than {} MB of text", MAX_MADE >> 20)));
    }
    // While it grows, and as the value that is made of it.
    hold(3 * bytes).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))
}

pub fn refuse(why: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, why.into())
}

/// Smaller amounts are not checked with the allocator: so much is left to raise an error with.
const LEAST: usize = 16 << 20;

enum Refused {
    Room(NoRoom),
    Words(String),
}

thread_local! {
    /// Bytes that the run under way holds.
    static HELD: Cell<usize> = const { Cell::new(0) };
    /// Memory of this size was there.
    static THERE: Cell<usize> = const { Cell::new(0) };
    static REFUSED: RefCell<Option<Refused>> = const { RefCell::new(None) };
}

/// A run begins, in a world of so many bytes.
pub fn start(world: usize) {
    HELD.set(world);
    THERE.set(0);
    REFUSED.take();
}

/// What was refused in the run, whatever minijinja has made of it.
pub fn end() -> Fallible<()> {
    match REFUSED.take() {
        None => Ok(()),
        Some(Refused::Room(why)) => Err(error::no_room(why)),
        Some(Refused::Words(why)) => Err(error::bad_template(&why)),
    }
}

/// So many bytes more, until the run ends.
pub fn hold(bytes: usize) -> Result<(), Error> {
    let held = HELD.get().saturating_add(bytes);
    fits(held)?;
    if held > THERE.get() {
        // As much again, for lists and texts that grow to twice their size.
        let wanted = held.saturating_mul(2).max(LEAST);
        is_there(wanted)?;
        THERE.set(wanted);
    }
    HELD.set(held);
    Ok(())
}

/// So many bytes more, for a while.
pub fn spare(bytes: usize) -> Result<(), Error> {
    fits(HELD.get().saturating_add(bytes))?;
    if bytes > LEAST / 2 { is_there(bytes.saturating_add(LEAST)) } else { Ok(()) }
}

/// Refuses in words where no error can be returned.
pub fn refused(why: String) {
    REFUSED.with_borrow_mut(|refused| _ = refused.get_or_insert(Refused::Words(why)));
}

fn fits(bytes: usize) -> Result<(), Error> {
    if bytes > guc::work_bytes() { Err(no_room(NoRoom::Limit(bytes))) } else { Ok(()) }
}

fn is_there(bytes: usize) -> Result<(), Error> {
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| no_room(NoRoom::Memory(bytes)))
}

fn no_room(why: NoRoom) -> Error {
    REFUSED.set(Some(Refused::Room(why)));
    refuse("it has no room")
}

/// Bytes that are held as long as this lives.
#[derive(Debug, Default)]
pub struct Held(pub usize);

impl Held {
    pub fn more(&mut self, bytes: usize) -> Result<(), Error> {
        hold(bytes)?;
        self.0 += bytes;
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD.set(HELD.get().saturating_sub(self.0));
    }
}
