//! The lock of one image: many readers at a time, or one writer.
//!
//! Made of lightweight locks. A reader takes one part, chosen by its process, so that readers do not bounce one cache
//! line between cores; a writer takes the gate, then all parts. A plain set of locks would fail in two ways:
//!
//! - A reader that loses its CPU holds its part until it is back, milliseconds on a busy machine. A writer that queued
//!   for that part while it holds others would block every reader. So a writer takes the parts only if it gets all of
//!   them at once, tries again and again, and insists only after ATTEMPTS_BEFORE_INSISTING naps.
//! - Lightweight locks are not fair: a writer that returns at once, as a large flush does, takes them again before a
//!   reader that it woke is on a CPU. So we count readers that had to sleep, and a writer lets them go first. (It does
//!   not let other writers go first: single commits would nap for one another.)
//!
//! A reader that does housekeeping does not wait for the lock (`write_if_free`): beside a large flush it would wait for
//! slice after slice.

#![expect(unsafe_code, reason = "what the lock guards")]

use crate::pg::compat;
use crate::pg::lwlock::{Apart, EXCLUSIVE, Lock, SHARED};
use cftrag_core::Counters;
use pgrx::pg_sys;
use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicU32, AtomicU64};

const PARTS: usize = 8;

/// Tries before a writer sleeps between them: a reader on a CPU holds its part for a few microseconds.
const SPINS: u32 = 32;

/// Microseconds of a nap between tries.
const SLEEP_MICROSECONDS: i64 = 50;

/// Naps before a writer insists: about as long as the kernel keeps a process off its CPU.
const ATTEMPTS_BEFORE_INSISTING: u32 = 40;

/// Naps that a writer takes for waiting readers.
const COURTESY: u32 = 20;

/// Counters of the readers that use one part, on cache lines of their own beside its lock.
#[derive(Default)]
#[repr(C, align(64))]
pub struct Reads {
    pub image_calls: AtomicU64,
    pub lookups: AtomicU64,
    pub hits: AtomicU64,
    pub fingerprint_checks: AtomicU64,
    pub false_positives: AtomicU64,
}

#[repr(C, align(128))]
struct Part {
    lock: Lock,
    reads: Reads,
}

#[repr(C)]
pub struct ImageLock<T> {
    /// Held by the writer whose turn it is; readers pass it to let an insisting writer go first.
    gate: Apart<Lock>,
    parts: [Part; PARTS],
    /// A writer insists: new readers queue at the gate.
    insists: AtomicU32,
    /// Writers that wait or work. If a process ends there and leaves the count too high, long reads are cut short for
    /// nothing.
    writers: AtomicU32,
    /// Readers that sleep, or are about to. If a process ends there and leaves the count too high, writers take a few
    /// naps more.
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

impl<T> ImageLock<T> {
    pub fn locks(&self) -> impl Iterator<Item = &Lock> {
        std::iter::once(&*self.gate).chain(self.parts.iter().map(|p| &p.lock))
    }

    /// Runs `f` with the guarded value, which cannot change while `f` runs. Other readers may run at the same time.
    pub fn read<R>(&self, f: impl FnOnce(&T) -> R) -> R {
        let lock = &self.parts[my_part()].lock;
        if self.insists.load(Relaxed) != 0 || !lock.try_acquire(SHARED) {
            let asleep = Raised::by_one(&self.asleep);
            if self.insists.load(Relaxed) != 0 {
                self.gate.acquire(SHARED);
                self.gate.release();
            }
            lock.acquire(SHARED);
            drop(asleep);
        }
        // SAFETY: it changes only while all parts are held exclusively; we hold one shared.
        let result = f(unsafe { &*self.guarded.get() });
        lock.release();
        result
    }

    /// Runs `f` alone.
    pub fn write<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        let _waits = Raised::by_one(&self.writers);
        let mut naps = 0;
        while self.asleep.load(Relaxed) != 0 && naps < COURTESY {
            nap();
            naps += 1;
        }
        self.gate.acquire(EXCLUSIVE);
        debug_assert_eq!(self.insists.load(SeqCst), 0, "who insists holds the gate");
        let free = self.try_parts(SPINS + ATTEMPTS_BEFORE_INSISTING);
        // Raised until `f` has run, even if it panics: an abort releases the locks, but not this count.
        let insists = (!free || crate::pg::inject::armed()).then(|| Raised::by_one(&self.insists));
        if !free {
            self.parts.iter().for_each(|part| part.lock.acquire(EXCLUSIVE));
        }
        self.alone(insists, f)
    }

    /// Whether a writer waits for readers.
    pub fn is_wanted(&self) -> bool {
        self.writers.load(Relaxed) != 0
    }

    /// Waits until the waiting writers have written. The caller holds no lock.
    pub fn let_writers_go(&self) {
        if self.is_wanted() {
            self.gate.acquire(SHARED);
            self.gate.release();
        }
    }

    /// Does what [`ImageLock::write`] does; None if the lock is held for longer than a few microseconds.
    pub fn write_if_free<R>(&self, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        if !self.gate.try_acquire(EXCLUSIVE) {
            return None;
        }
        if !self.try_parts(SPINS) {
            self.gate.release();
            return None;
        }
        Some(self.alone(None, f))
    }

    /// Runs `f` with the gate and all parts held exclusively, then releases them.
    fn alone<R>(&self, insists: Option<Raised<'_>>, f: impl FnOnce(&mut T) -> R) -> R {
        crate::pg::inject::panics();
        // SAFETY: all parts are held exclusively, and no reference to it outlives its closure.
        let result = f(unsafe { &mut *self.guarded.get() });
        for part in self.parts.iter().rev() {
            part.lock.release();
        }
        drop(insists);
        self.gate.release();
        result
    }

    /// Tries to take all parts exclusively, at most `tries` times. The caller holds the gate.
    fn try_parts(&self, tries: u32) -> bool {
        for attempt in 0..tries {
            let Some(taken) = self.parts.iter().position(|part| !part.lock.try_acquire(EXCLUSIVE)) else { return true };
            self.parts[..taken].iter().rev().for_each(|part| part.lock.release());
            if attempt < SPINS {
                (0..100).for_each(|_| std::hint::spin_loop());
            } else {
                nap();
            }
        }
        false
    }

    pub fn reset_counters(&self) {
        for reads in self.parts.iter().map(|part| &part.reads) {
            let all =
                [&reads.image_calls, &reads.lookups, &reads.hits, &reads.fingerprint_checks, &reads.false_positives];
            all.into_iter().for_each(|count| count.store(0, Relaxed));
        }
    }

    /// Counts a call that the image answered.
    pub fn count_call(&self, counters: Counters) {
        let reads = &self.parts[my_part()].reads;
        reads.image_calls.fetch_add(1, Relaxed);
        reads.lookups.fetch_add(counters.lookups, Relaxed);
        // Each atomic addition locks the cache line: skip the zeros.
        let rest = [
            (&reads.hits, counters.hits),
            (&reads.fingerprint_checks, counters.fingerprint_checks),
            (&reads.false_positives, counters.false_positives),
        ];
        rest.into_iter().filter(|(_, n)| *n > 0).for_each(|(count, n)| {
            count.fetch_add(n, Relaxed);
        });
    }

    /// A sum over the readers' counters.
    pub fn sum(&self, of: impl Fn(&Reads) -> &AtomicU64) -> u64 {
        self.parts.iter().map(|part| of(&part.reads).load(Relaxed)).sum()
    }
}
