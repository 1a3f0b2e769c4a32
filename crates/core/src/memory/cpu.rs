//! Loops that are compiled twice: for every processor, and for those with AVX2, BMI1, BMI2 and
//! POPCNT, as nearly every server since 2015 has them. Which is run is asked of the processor.

#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls what is compiled for newer processors")
)]

/// What is worth it. `run` and all that it calls must be inlined: `#[inline(always)]`.
pub(crate) trait Task {
    type Result;

    fn run(self) -> Self::Result;
}

/// Runs it as well as the processor can.
#[inline]
pub(crate) fn run<T: Task>(task: T) -> T::Result {
    #[cfg(target_arch = "x86_64")]
    if is_wide() {
        // SAFETY: the processor has what the function is compiled for.
        return unsafe { run_wide(task) };
    }
    task.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn run_wide<T: Task>(task: T) -> T::Result {
    task.run()
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn is_wide() -> bool {
    #[cfg(test)]
    if tests::PLAIN.get() {
        return false;
    }
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    thread_local! {
        pub(super) static PLAIN: Cell<bool> = const { Cell::new(false) };
    }

    /// The results of `f` by what is compiled for every processor, then as [`super::run`] does it.
    pub(crate) fn both<R>(mut f: impl FnMut() -> R) -> [R; 2] {
        [true, false].map(|plain| {
            PLAIN.set(plain);
            f()
        })
    }
}
