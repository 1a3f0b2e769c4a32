//! The answer of cft_context as texts tell it: with siblings in their order, and entities that are called alike told
//! apart (namesakes.rs).

use crate::catalog::attached_table::AttachedTable;
use crate::error::Fallible;
use crate::methods::namesakes::NamedEntities;
use crate::methods::walker::Walker;
use crate::serve::answer;
use crate::serve::asked::Reach;
use crate::serve::siblings;
use crate::serve::sink::{Relative, Sink};

/// Passes an answer to `take`, in parts. A table that is opened twice looks as if the statement wrote it, so this takes
/// over the one that is open.
pub fn told(
    of: AttachedTable,
    names: &[&[u8]],
    reach: Reach,
    mut take: impl FnMut(&[Relative<'_>]) -> Fallible<()>,
) -> Fallible<()> {
    let mut walker = Walker { of, trees: reach.trees };
    let ask = |of: &AttachedTable, reach, take: &mut dyn FnMut(&[Relative<'_>]) -> Fallible<()>| {
        answer::answer_of(of, names, reach, &mut Sink::Parts(take))
    };
    if !walker.of.has_labels() {
        return ask(&walker.of, reach, &mut |rows| siblings::in_order(&walker.of, rows, &mut take));
    }
    let mut named = NamedEntities::default();
    ask(&walker.of, Reach { counts: false, ..reach }, &mut |rows| named.add(rows))?;
    let namesakes = named.tell_apart(&mut walker)?;
    ask(&walker.of, reach, &mut |rows| siblings::in_order(&walker.of, rows, |rows| namesakes.rename(rows, &mut take)))
}
