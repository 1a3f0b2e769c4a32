//! From a long schedule that fails to a short one: leave steps out as long as it still fails (delta debugging).

use postgres::Config;

use crate::run::{Driver, Failure, Look};
use crate::step::Step;

/// The failure of a schedule from which no step can be left out (or of the shortest one found).
pub fn shrink(config: &Config, steps: Vec<Step>, sessions: usize, look: &Look, failure: Failure) -> Failure {
    let mut steps = steps;
    let mut failure = failure;
    let mut piece = steps.len().div_ceil(2);
    while piece > 0 {
        let mut at = 0;
        let before = steps.len();
        while at < steps.len() {
            let shorter = without(&steps, at, piece);
            match attempt(config, &shorter, sessions, look) {
                Some(found) => {
                    steps = shorter;
                    failure = found;
                }
                None => at += piece,
            }
        }
        println!("shrinking: {} steps, pieces of {piece}", steps.len());
        if steps.len() == before || piece > 1 {
            piece /= 2;
        }
    }
    failure
}

fn without(steps: &[Step], at: usize, count: usize) -> Vec<Step> {
    let end = (at + count).min(steps.len());
    steps[..at].iter().chain(&steps[end..]).cloned().collect()
}

/// A failure of another kind does not count.
fn attempt(config: &Config, steps: &[Step], sessions: usize, look: &Look) -> Option<Failure> {
    let mut driver = Driver::new(config, 0, sessions, look).ok()?;
    let result = steps.iter().try_for_each(|step| driver.replay(step)).and_then(|()| driver.finish());
    result.err().filter(|failure| failure.different)
}
