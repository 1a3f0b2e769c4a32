//! What a call asks for, besides the table: how far, in which trees, in which text.

use crate::call::array::Texts;
use crate::call::fmgr::Call;
use crate::call::text::Text;
use crate::call::work_memory::{LARGE, limit};
use crate::error;
use crate::error::Fallible;
use crate::guc;
use crate::guc::Match;
use cftrag_core::{NoRoom, Trees};

/// Bytes that a requested tree takes, besides its name.
const PER_TREE: usize = 32;

/// How far relatives are asked for, and in which trees.
#[derive(Clone, Copy)]
pub struct Reach<'c> {
    pub up: i32,
    pub down: i32,
    /// A NULL in it stands for rows without a tree. None: every tree.
    pub trees: Option<Texts<'c>>,
    /// Whether temperatures count the lookups.
    pub counts: bool,
}

impl<'c> Reach<'c> {
    /// That many levels, in every tree.
    pub fn levels(up: i32, down: i32) -> Self {
        Self { up, down, trees: None, counts: true }
    }

    /// The arguments up, down and trees of a call (entity or entities, up, down, edges, trees); None if it gives NULL
    /// for a level.
    pub fn of(call: &'c Call) -> Option<Self> {
        Some(Self { trees: call.array(4), ..Self::levels(call.int(1)?, call.int(2)?) })
    }
}

/// The text in which names are looked for, and which names count.
#[derive(Clone, Copy)]
pub struct Question<'c> {
    pub text: Text<'c>,
    /// Only entities with a row in one of these trees count; a NULL in it is for rows without a tree.
    /// None: all.
    pub trees: Option<Texts<'c>>,
    /// Only these entities and those below them, in these trees, count. None: all.
    pub within: Option<Texts<'c>>,
    /// Find every name, not only the leftmost and longest.
    pub overlapping: bool,
    /// Whether only each entity's first mention is wanted.
    pub once: bool,
    /// How far the text may write a name otherwise.
    pub matching: Match,
    /// Whether of several entities of one name those count that the text means.
    pub narrow: bool,
}

/// The argument match; NULL: the setting. 22023 if it is something else.
pub fn matching(name: Option<&[u8]>) -> Fallible<Match> {
    let Some(name) = name else { return Ok(guc::MATCH.get()) };
    Match::of(name).ok_or_else(|| error::bad_match(name))
}

/// The trees of an array, for a reader of the image. 53400, 53200 (memory).
pub fn trees(array: Texts<'_>) -> Fallible<Trees> {
    let names = array.elements()?;
    let bytes = names.clone().map(|name| name.map_or(0, <[u8]>::len) + PER_TREE).sum();
    if bytes > limit() {
        return Err(error::no_room(NoRoom::Limit(bytes)));
    }
    let trees = Trees::of(names).filter(|_| bytes < LARGE || cftrag_core::some_is_left());
    trees.ok_or_else(|| error::no_room(NoRoom::Memory(bytes)))
}
