//! Test builds only (cargo feature `inject`): how long work goes on without CHECK_FOR_INTERRUPTS, that is, how late a
//! cancel may take effect.
//!
//! ```text
//!   a timer, each millisecond:   InterruptPending = true  -->  the next CHECK_FOR_INTERRUPTS makes it false, and does nothing else
//!   still true at a later tick:  the code has not checked since, or could not (a lock is held)
//! ```
//!
//! Time is this process's CPU time, in hundredths of what a fixed piece of work takes this build on this machine: so
//! neither the machine's speed nor its load counts. PostgreSQL's code counts as ours does.

#![expect(unsafe_code, reason = "a signal handler, and a timer")]

use cftrag_core::{Interruptible, Names};
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, pg_guard, pg_sys};
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::atomic::AtomicI64;
use std::sync::atomic::Ordering::Relaxed;

/// `cftrag.watch`: 1 starts watching, 0 stops.
static WATCH: GucSetting<i32> = GucSetting::<i32>::new(0);

/// Never read: `show_longest` computes the value shown.
static LONGEST_GAP: GucSetting<i32> = GucSetting::<i32>::new(0);

/// CPU time in microseconds at the tick that set InterruptPending; -1: none has.
static ASKED: AtomicI64 = AtomicI64::new(-1);

/// The longest time until InterruptPending was cleared.
static LONGEST: AtomicI64 = AtomicI64::new(0);

/// The time that the fixed work took.
static UNIT: AtomicI64 = AtomicI64::new(0);

thread_local! {
    static SHOWN: RefCell<CString> = RefCell::default();
}

pub fn define() {
    // SAFETY: the hooks begin and end a timer, and keep their text.
    unsafe {
        GucRegistry::define_int_guc_with_hooks(
            c"cftrag.watch",
            c"Sets whether the longest time without a look for interrupts is taken.",
            c"Test builds only.",
            &WATCH,
            0,
            1,
            GucContext::Userset,
            GucFlags::default(),
            None,
            Some(begin_or_end),
            None,
        );
        GucRegistry::define_int_guc_with_hooks(
            c"cftrag.longest_gap",
            c"Shows that time since cftrag.watch was set, in hundredths of what 100,000 names take to be numbered and \
                sorted.",
            c"Test builds only.",
            &LONGEST_GAP,
            0,
            0,
            GucContext::Internal,
            GucFlags::default(),
            None,
            None,
            Some(show_longest),
        );
    }
}

fn microseconds() -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes a timespec. A signal handler may call it.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut now) };
    now.tv_sec * 1_000_000 + now.tv_nsec / 1000
}

/// The fixed work: hashing, copying, allocating and comparing, like most of our work.
fn measure() -> i64 {
    let once = |_| {
        let (began, mut names) = (microseconds(), Names::default());
        (0..100_000_u32).for_each(|i| _ = names.id(i.wrapping_mul(0x9E37_79B9).to_string().as_bytes()));
        std::hint::black_box(names.ranks(&mut Interruptible::new(&mut || ())));
        microseconds() - began
    };
    (0..3).map(once).min().unwrap_or(1)
}

extern "C" fn tick(_signal: c_int) {
    let now = microseconds();
    // SAFETY: an integer that signal handlers set.
    unsafe {
        if pg_sys::InterruptPending != 0 && ASKED.load(Relaxed) >= 0 {
            LONGEST.fetch_max(now - ASKED.load(Relaxed), Relaxed);
        } else {
            ASKED.store(now, Relaxed);
            pg_sys::InterruptPending = 1;
        }
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn begin_or_end(on: c_int, _extra: *mut c_void) {
    thread_local! {
        static TIMER: RefCell<Option<libc::timer_t>> = const { RefCell::new(None) };
    }
    let tick = tick as extern "C" fn(c_int);
    // SAFETY: no other code here uses SIGPROF. The handler is a function of this library, which is never unloaded.
    unsafe {
        if on != 0 && UNIT.load(Relaxed) == 0 {
            UNIT.store(measure(), Relaxed);
            let mut action: libc::sigaction = std::mem::zeroed();
            (action.sa_sigaction, action.sa_flags) = (tick as usize, libc::SA_RESTART);
            libc::sigaction(libc::SIGPROF, &action, std::ptr::null_mut());
            let mut event: libc::sigevent = std::mem::zeroed();
            (event.sigev_notify, event.sigev_signo) = (libc::SIGEV_SIGNAL, libc::SIGPROF);
            let mut timer = std::ptr::null_mut();
            libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer);
            TIMER.set(Some(timer));
        }
        let each = libc::timespec { tv_sec: 0, tv_nsec: if on != 0 { 1_000_000 } else { 0 } };
        if let Some(timer) = TIMER.with_borrow(|timer| *timer) {
            let often = libc::itimerspec { it_interval: each, it_value: each };
            libc::timer_settime(timer, 0, &often, std::ptr::null_mut());
        }
    }
    if on != 0 {
        ASKED.store(-1, Relaxed);
        LONGEST.store(0, Relaxed);
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn show_longest() -> *const c_char {
    let longest = LONGEST.load(Relaxed) * 100 / UNIT.load(Relaxed).max(1);
    SHOWN.with_borrow_mut(|shown| {
        *shown = CString::new(longest.to_string()).unwrap_or_default();
        shown.as_ptr()
    })
}
