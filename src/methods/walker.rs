//! Several walks over one attached table in one call.

use crate::call::array::Texts;
use crate::call::fmgr::Call;
use crate::catalog::attached_table::AttachedTable;
use crate::error::{Fallible, MAX_LEVELS};
use crate::serve::answer;
use crate::serve::answer::{reads_as_array, refuse_array};
use crate::serve::asked::Reach;
use crate::serve::sink::{Relative, Sink};
use pgrx::check_for_interrupts;

/// The levels of a walk of all levels. Deeper hierarchies are searched level by level (breadth_first.rs).
pub const ALL: i32 = MAX_LEVELS;

pub struct Walker<'c> {
    pub of: AttachedTable,
    /// The trees that are asked for, as [`Reach`] has them.
    pub trees: Option<Texts<'c>>,
}

impl Walker<'_> {
    /// Opens the table in argument `n`, or the default one. Errors: those of cft_context.
    pub fn of(call: &Call, n: usize) -> Fallible<Self> {
        AttachedTable::open(call, n).map(|of| Walker { of, trees: None })
    }

    /// 22023 if one of these names, arguments of the call, is a constant or parameter that reads as an array.
    pub fn refuse_arrays(&self, call: &Call, arguments: &[usize]) -> Fallible<()> {
        for &n in arguments {
            match call.text(n) {
                Some(name) if reads_as_array(name) && call.is_given_text(n) => refuse_array(&self.of, name, None)?,
                _ => (),
            }
        }
        Ok(())
    }

    /// Passes what cft_context returns to `take`, in parts: all rows of some of the names at a time. The names must be
    /// distinct.
    pub fn relatives(
        &self,
        names: &[&[u8]],
        up: i32,
        down: i32,
        mut take: impl FnMut(&[Relative<'_>]) -> Fallible<()>,
    ) -> Fallible<()> {
        self.answer(names, up, down, &mut Sink::Nodes { take: &mut take, own: false })
    }

    /// Passes what [`Walker::relatives`] does, and a row of an entity itself, as an ancestor at depth 0, in each tree
    /// where it has a row without a parent or is its own parent. So an entity without relatives is found, too. `up` is
    /// at least 1.
    pub fn relatives_and_own(
        &self,
        names: &[&[u8]],
        up: i32,
        down: i32,
        mut take: impl FnMut(&[Relative<'_>]) -> Fallible<()>,
    ) -> Fallible<()> {
        self.answer(names, up, down, &mut Sink::Nodes { take: &mut take, own: true })
    }

    fn answer(&self, names: &[&[u8]], up: i32, down: i32, sink: &mut Sink) -> Fallible<()> {
        check_for_interrupts!();
        if names.is_empty() {
            return Ok(());
        }
        let reach = Reach { trees: self.trees, ..Reach::levels(up, down) };
        answer::answer_of(&self.of, names, reach, sink)
    }
}
