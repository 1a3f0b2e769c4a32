//! Long scans of an image run in steps, so that its lock can be released between them.

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Step {
    /// Every question is answered.
    Done,
    /// The budget is spent; the lock may be released before the next step.
    More,
    /// Complete, except for xids that the snapshot did not know: see [`Walk::asked`](crate::Walk::asked).
    Ask,
}
