//! Long work that can be stopped: it breathes every so many steps.

use std::cmp::Ordering;

/// Steps of some 100 nanoseconds between two breaths.
const STEPS: u32 = 1 << 18;

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

    pub fn now(&mut self) {
        self.left = STEPS;
        (self.breathe)();
    }

    /// Sorts, a comparison being a step. Equal items come in any order.
    pub fn sort_by<T>(&mut self, items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
        items.sort_unstable_by(|a, b| {
            self.step();
            compare(a, b)
        });
    }
}

#[test]
fn it_breathes_while_it_sorts() {
    let mut breaths = 0;
    let mut items: Vec<u32> = (0..100_000_u32).map(|i| i.wrapping_mul(0x9E37_79B9)).collect();
    Breath::new(&mut || breaths += 1).sort_by(&mut items, u32::cmp);
    assert!(items.is_sorted() && (2..50).contains(&breaths), "{breaths} breaths");
}
