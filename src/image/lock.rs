//! The lock of one image: many readers at a time, or one writer. Its place in the order of all locks is in slot.rs.
//!
//! A reader counts itself in one of several parts, chosen by its process, so that readers do not bounce one cache line
//! between cores, and looks whether a writer is there. A writer takes the gate, a lightweight lock, says that it is
//! there, and waits until the readers before it have gone: microseconds, as long reads are made in steps. Readers that
//! meet a writer wait at the gate.
//!
//! Nobody sleeps at once: most writers are through in a few microseconds, less than it takes to be woken.
//!
//! Lightweight locks are not fair: who writes again and again, as a large flush does, takes the gate before a reader
//! that it woke is on a CPU. So it calls [`ImageLock::let_readers_go`] in between.
//!
//! A reader that does housekeeping does not wait for the lock (`write_if_free`): beside a large flush it would wait for
//! slice after slice.
//!
//! No ERROR can start under the lock, only a panic of ours, which takes back what a process has raised (`Raised`).

#![expect(unsafe_code, reason = "what the lock guards")]

use crate::image::reads::Reads;
use crate::pg::compat;
use crate::pg::lwlock::{Apart, EXCLUSIVE, Lock, SHARED};
use cftrag_core::Counters;
use pgrx::pg_sys;
use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::{Duration, Instant};

const PARTS: usize = 8;

/// How long a process looks before it sleeps: about as long as a writer of one row takes.
const SPIN: Duration = Duration::from_micros(10);

/// Microseconds of a nap between later looks.
const SLEEP_MICROSECONDS: i64 = 50;

/// The most naps that a writer takes for waiting readers.
const COURTESY: u32 = 20;

#[repr(C, align(128))]
struct Part {
    readers: AtomicU32,
    reads: Reads,
}

#[repr(C)]
pub struct ImageLock<T> {
    /// Held by the writer whose turn it is.
    gate: Apart<Lock>,
    parts: [Part; PARTS],
    /// 1 while a writer works, or waits for the readers before it. It holds the gate.
    writing: Apart<AtomicU32>,
    /// Readers that sleep, or are about to.
    asleep: AtomicU32,
    guarded: UnsafeCell<T>,
}

/// Raises a count for as long as it lives; a panic lowers the count again, too.
struct Raised<'c>(pub &'c AtomicU32);

impl<'c> Raised<'c> {
    fn by_one(count: &'c AtomicU32) -> Self {
        count.fetch_add(1, SeqCst);
        Self(count)
    }
}

impl Drop for Raised<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

thread_local! {
    static MY_PART: Cell<usize> = const { Cell::new(usize::MAX) };
}

fn my_part() -> usize {
    let part = MY_PART.get();
    if part != usize::MAX {
        return part;
    }
    let part = compat::process_number() % PARTS;
    MY_PART.set(part);
    part
}

fn nap() {
    // SAFETY: sleeps; a signal may end it early.
    unsafe { pg_sys::pg_usleep(SLEEP_MICROSECONDS as _) };
}

/// Looks again and again for some microseconds; returns whether `done`.
fn spin(done: impl Fn() -> bool) -> bool {
    if done() {
        return true;
    }
    let begun = Instant::now();
    while begun.elapsed() < SPIN {
        (0..16).for_each(|_| std::hint::spin_loop());
        if done() {
            return true;
        }
    }
    false
}

impl<T> ImageLock<T> {
    pub fn locks(&self) -> impl Iterator<Item = &Lock> {
        std::iter::once(&*self.gate)
    }

    /// Runs `f` with the guarded value, which cannot change while `f` runs. Other readers may run at the same time.
    pub fn read<R>(&self, f: impl FnOnce(&T) -> R) -> R {
        let _reads = self.count_me();
        // SAFETY: a writer waits until no reader is counted, and we are.
        f(unsafe { &*self.guarded.get() })
    }

    fn count_me(&self) -> Raised<'_> {
        let readers = &self.parts[my_part()].readers;
        let is_free = || self.writing.load(SeqCst) == 0;
        while spin(is_free) && !crate::pg::inject::armed() {
            let counted = Raised::by_one(readers);
            if is_free() {
                return counted;
            }
        }
        let _asleep = Raised::by_one(&self.asleep);
        // Who holds the gate shared sees no writer.
        self.gate.with(SHARED, || Raised::by_one(readers))
    }

    /// Runs `f` alone.
    pub fn write<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        if !spin(|| self.gate.try_acquire(EXCLUSIVE)) {
            self.gate.acquire(EXCLUSIVE);
        }
        let writing = Raised::by_one(&self.writing);
        while !spin(|| self.are_gone()) {
            nap();
        }
        self.alone(writing, f)
    }

    /// Whether a writer waits for readers, or writes.
    pub fn is_wanted(&self) -> bool {
        self.writing.load(Relaxed) != 0
    }

    /// Waits until the writer there has written. The caller holds no lock.
    pub fn let_writers_go(&self) {
        if self.is_wanted() {
            self.gate.with(SHARED, || ());
        }
    }

    /// Waits a while for readers that sleep. The caller holds no lock.
    pub fn let_readers_go(&self) {
        (0..COURTESY).take_while(|_| self.asleep.load(Relaxed) != 0).for_each(|_| nap());
    }

    /// Does what [`ImageLock::write`] does; None if the lock is held for longer than a few microseconds.
    pub fn write_if_free<R>(&self, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        if !self.gate.try_acquire(EXCLUSIVE) {
            return None;
        }
        let writing = Raised::by_one(&self.writing);
        if !spin(|| self.are_gone()) {
            drop(writing);
            self.gate.release();
            return None;
        }
        Some(self.alone(writing, f))
    }

    fn are_gone(&self) -> bool {
        self.parts.iter().all(|part| part.readers.load(SeqCst) == 0)
    }

    /// Runs `f`, then releases the lock. No reader is left, and the gate is held.
    fn alone<R>(&self, writing: Raised<'_>, f: impl FnOnce(&mut T) -> R) -> R {
        crate::pg::inject::panics();
        // SAFETY: no other process reads or writes it, and no reference to it outlives its closure.
        let result = f(unsafe { &mut *self.guarded.get() });
        drop(writing);
        self.gate.release();
        result
    }

    pub fn reset_counters(&self) {
        self.parts.iter().for_each(|part| part.reads.reset());
    }

    /// Counts a call that the image answered.
    pub fn count_call(&self, counters: Counters) {
        self.parts[my_part()].reads.add(counters);
    }

    /// A sum over the readers' counters.
    pub fn sum(&self, of: impl Fn(&Reads) -> &AtomicU64) -> u64 {
        self.parts.iter().map(|part| of(&part.reads).load(Relaxed)).sum()
    }
}
