//! What a call asks for, besides the table: how far, in which trees, in which text.

#![expect(unsafe_code, reason = "values of a call's arguments")]

use crate::call::array;
use crate::call::fmgr::{Call, text_bytes};
use crate::call::work_memory::{LARGE, limit};
use crate::error;
use crate::error::Fallible;
use crate::guc;
use crate::guc::Match;
use cftrag_core::{NoRoom, Trees};
use pgrx::pg_sys;

/// Bytes that a requested tree takes, besides its name.
const PER_TREE: usize = 32;

/// How far relatives are asked for, and in which trees.
#[derive(Clone, Copy)]
pub struct Reach {
    pub up: i32,
    pub down: i32,
    /// A text[] value; a NULL in it stands for rows without a tree. None: every tree.
    pub trees: Option<pg_sys::Datum>,
    /// Whether temperatures count the lookups.
    pub counts: bool,
}

impl Reach {
    /// That many levels, in every tree.
    pub fn levels(up: i32, down: i32) -> Self {
        Self { up, down, trees: None, counts: true }
    }

    /// The arguments up, down and trees of a call (entity or entities, up, down, edges, trees); None if it gives NULL
    /// for a level.
    pub fn of(call: &Call) -> Option<Self> {
        Some(Self { trees: call.arg(4), ..Self::levels(call.int(1)?, call.int(2)?) })
    }
}

/// The text in which names are looked for, and which names count.
#[derive(Clone, Copy)]
pub struct Question {
    /// A text.
    pub text: pg_sys::Datum,
    /// A text[] value: only entities with a row in one of these trees count; a NULL in it is for rows without a tree.
    /// None: all.
    pub trees: Option<pg_sys::Datum>,
    /// A text[] value: only these entities and those below them, in these trees, count. None: all.
    pub within: Option<pg_sys::Datum>,
    /// A boolean: find every name, not only the leftmost and longest.
    pub overlapping: pg_sys::Datum,
    /// Whether only each entity's first mention is wanted.
    pub once: bool,
    /// How far the text may write a name otherwise.
    pub matching: Match,
    /// Whether of several entities of one name those count that the text means.
    pub narrow: bool,
}

impl Question {
    pub fn text(&self) -> &[u8] {
        // SAFETY: made of a function's arguments, which SQL declares, and not kept beyond the call.
        unsafe { text_bytes(self.text) }
    }

    pub fn is_overlapping(&self) -> bool {
        self.overlapping.value() != 0
    }
}

/// The argument match; NULL: the setting. 22023 if it is something else.
pub fn matching(name: Option<&[u8]>) -> Fallible<Match> {
    let Some(name) = name else { return Ok(guc::MATCH.get()) };
    Match::of(name).ok_or_else(|| error::bad_match(name))
}

/// The trees of a text[] value, for a reader of the image. 53400, 53200 (memory).
pub fn trees(array: pg_sys::Datum) -> Fallible<Trees> {
    // SAFETY: SQL declares the argument text[].
    let names = unsafe { array::texts(array) }?;
    let bytes = names.clone().map(|name| name.map_or(0, <[u8]>::len) + PER_TREE).sum();
    if bytes > limit() {
        return Err(error::no_room(NoRoom::Limit(bytes)));
    }
    let trees = Trees::of(names).filter(|_| bytes < LARGE || cftrag_core::some_is_left());
    trees.ok_or_else(|| error::no_room(NoRoom::Memory(bytes)))
}
