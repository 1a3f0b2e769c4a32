//! Long work that can be stopped: it breathes every so many steps.

use std::cmp::Ordering;

/// Steps of some 100 nanoseconds, in large data, between two breaths.
const STEPS: u32 = 1 << 16;
/// Bytes that are freed at once: the system takes 0.3 ms a MB to take them back.
const FREED: usize = 16 << 20;

/// Bytes that are looked through in the time of a step of a [`Breath`], or less.
pub(crate) const PER_STEP: usize = 32;
/// Bytes that are compared in less than a step.
const LINE: usize = 64;

/// Calls a function every [`STEPS`] steps. The function may stop it all by a panic.
pub struct Breath<'a> {
    breathe: &'a mut dyn FnMut(),
    left: u32,
}

impl<'a> Breath<'a> {
    pub fn new(breathe: &'a mut dyn FnMut()) -> Breath<'a> {
        Breath { breathe, left: STEPS }
    }

    #[inline]
    pub fn step(&mut self) {
        self.left -= 1;
        if self.left == 0 {
            self.now();
        }
    }

    /// So many steps that were made at once.
    pub fn steps(&mut self, steps: usize) {
        match u32::try_from(steps).ok().and_then(|steps| self.left.checked_sub(steps)) {
            Some(left @ 1..) => self.left = left,
            _ => self.now(),
        }
    }

    pub fn now(&mut self) {
        self.left = STEPS;
        (self.breathe)();
    }

    /// Frees a list, of a large one some at a time.
    pub fn free<T: Copy>(&mut self, mut items: Vec<T>) {
        let some = FREED / size_of::<T>();
        items.clear();
        while items.capacity() > some {
            items.shrink_to(items.capacity() - some);
            self.now();
        }
    }

    /// Sorts, a comparison being a step. Equal items come in any order.
    pub fn sort_by<T>(&mut self, items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
        self.sort_with(items, |a, b, _| compare(a, b));
    }

    /// The same for what may be long: it is compared by [`Breath::compare`].
    pub fn sort_with<T>(
        &mut self,
        items: &mut [T],
        compare: impl Fn(&T, &T, &mut Breath<'a>) -> Ordering,
    ) {
        items.sort_unstable_by(|a, b| {
            self.step();
            compare(a, b, self)
        });
    }

    /// Compares two names. Those that begin alike may be long, and a line of them is a step.
    #[inline]
    pub fn compare(&mut self, a: &[u8], b: &[u8]) -> Ordering {
        self.steps(a.len().min(b.len()) / LINE);
        a.cmp(b)
    }

    /// The same, none before any.
    pub fn compare_some(&mut self, a: Option<&[u8]>, b: Option<&[u8]>) -> Ordering {
        match (a, b) {
            (Some(a), Some(b)) => self.compare(a, b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        }
    }
}

#[test]
fn it_breathes_while_it_sorts() {
    let mut breaths = 0;
    let mut items: Vec<u32> = (0..100_000_u32).map(|i| i.wrapping_mul(0x9E37_79B9)).collect();
    Breath::new(&mut || breaths += 1).sort_by(&mut items, u32::cmp);
    assert!(items.is_sorted() && (10..100).contains(&breaths), "{breaths} breaths");
}

#[test]
fn it_breathes_while_it_frees() {
    let mut breaths = 0;
    let items = vec![0_u64; 5 * FREED / size_of::<u64>()];
    Breath::new(&mut || breaths += 1).free(items);
    assert_eq!(breaths, 4);
}

#[test]
fn it_breathes_by_the_bytes_that_are_compared() {
    let mut breaths = 0;
    let mut names: Vec<Vec<u8>> =
        (0..200_u8).rev().map(|i| [vec![b'a'; 40_000], vec![i]].concat()).collect();
    names.swap(3, 100);
    Breath::new(&mut || breaths += 1).sort_with(&mut names, |a, b, breath| breath.compare(a, b));
    // At least one comparison for each.
    let least = names.len() * 40_000 / LINE / STEPS as usize;
    assert!(names.is_sorted() && breaths >= least && least > 0, "{breaths} breaths");
}
