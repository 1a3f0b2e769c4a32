//! Long work that can be stopped: it checks for interrupts every [`STEPS`] steps.

use std::cmp::Ordering;

/// Steps between two checks for interrupts. In large data a step takes some 100 nanoseconds.
const STEPS: u32 = 1 << 16;
/// Bytes that are freed at once: the system takes 0.3 ms per MB to reclaim them.
const FREED: usize = 16 << 20;

/// Bytes that are scanned in the time of a step of an [`Interruptible`], at most.
pub(crate) const PER_STEP: usize = 32;
/// Bytes that are compared in less time than a step.
const LINE: usize = 64;

/// Calls a function every [`STEPS`] steps. The function may stop the work by a panic.
pub struct Interruptible<'a> {
    check_interrupts: &'a mut dyn FnMut(),
    left: u32,
}

impl<'a> Interruptible<'a> {
    pub fn new(check_interrupts: &'a mut dyn FnMut()) -> Interruptible<'a> {
        Interruptible { check_interrupts, left: STEPS }
    }

    #[inline]
    pub fn step(&mut self) {
        self.left -= 1;
        if self.left == 0 {
            self.now();
        }
    }

    /// Counts several steps.
    pub fn steps(&mut self, steps: usize) {
        match u32::try_from(steps).ok().and_then(|steps| self.left.checked_sub(steps)) {
            Some(left @ 1..) => self.left = left,
            _ => self.now(),
        }
    }

    pub fn now(&mut self) {
        self.left = STEPS;
        (self.check_interrupts)();
    }

    /// Frees a list; frees a large one piece by piece.
    pub fn free<T: Copy>(&mut self, mut items: Vec<T>) {
        let some = FREED / size_of::<T>();
        items.clear();
        while items.capacity() > some {
            items.shrink_to(items.capacity() - some);
            self.now();
        }
    }

    /// Sorts; each comparison is a step. Equal items come in any order.
    pub fn sort_by<T>(&mut self, items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
        self.sort_with(items, |a, b, _| compare(a, b));
    }

    /// Sorts items that may be long: `compare` gets the work, to call [`Interruptible::compare`].
    pub fn sort_with<T>(
        &mut self,
        items: &mut [T],
        compare: impl Fn(&T, &T, &mut Interruptible<'a>) -> Ordering,
    ) {
        items.sort_unstable_by(|a, b| {
            self.step();
            compare(a, b, self)
        });
    }

    /// Compares two names. They may be long and begin with the same bytes, so each cache line counts as a step.
    #[inline]
    pub fn compare(&mut self, a: &[u8], b: &[u8]) -> Ordering {
        self.steps(a.len().min(b.len()) / LINE);
        a.cmp(b)
    }

    /// Compares two names that may be missing: a missing one comes before all others.
    pub fn compare_some(&mut self, a: Option<&[u8]>, b: Option<&[u8]>) -> Ordering {
        match (a, b) {
            (Some(a), Some(b)) => self.compare(a, b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        }
    }
}

#[test]
fn it_checks_while_it_sorts() {
    let mut checks = 0;
    let mut items: Vec<u32> = (0..100_000_u32).map(|i| i.wrapping_mul(0x9E37_79B9)).collect();
    Interruptible::new(&mut || checks += 1).sort_by(&mut items, u32::cmp);
    assert!(items.is_sorted() && (10..100).contains(&checks), "{checks} checks");
}

#[test]
fn it_checks_while_it_frees() {
    let mut checks = 0;
    let items = vec![0_u64; 5 * FREED / size_of::<u64>()];
    Interruptible::new(&mut || checks += 1).free(items);
    assert_eq!(checks, 4);
}

#[test]
fn it_checks_by_the_bytes_that_are_compared() {
    let mut checks = 0;
    let mut names: Vec<Vec<u8>> =
        (0..200_u8).rev().map(|i| [vec![b'a'; 40_000], vec![i]].concat()).collect();
    names.swap(3, 100);
    Interruptible::new(&mut || checks += 1).sort_with(&mut names, |a, b, work| work.compare(a, b));
    // Each name is compared at least once.
    let least = names.len() * 40_000 / LINE / STEPS as usize;
    assert!(names.is_sorted() && checks >= least && least > 0, "{checks} checks");
}
