//! Where entities are in the hierarchy, in words: "Handbook > Leave > Parental leave".

use crate::call::work_memory::Room;
use crate::error::Fallible;
use crate::methods::prefix::first_paths;
use crate::methods::walker::Walker;
use std::collections::HashMap;

/// Levels that are read above an entity. One with more is named alone.
const LEVELS: i32 = 64;
/// Names of what is short enough to be said whole.
pub const SHORT: usize = 8;
const BETWEEN: &[u8] = b" > ";
/// Bytes of a path or of a name of it in a table, besides its texts.
const EACH: usize = 128;

/// The path to an entity in its first tree.
pub struct Path {
    pub tree: Option<Vec<u8>>,
    /// The entities from the top down to this one, and what each is called.
    pub names: Vec<(Vec<u8>, Vec<u8>)>,
}

/// The paths to entities.
pub type Paths = HashMap<Vec<u8>, Path>;

impl Path {
    /// At most so many bytes has its text.
    pub fn bytes(&self) -> usize {
        self.names.iter().map(|(_, called)| called.len() + BETWEEN.len()).sum()
    }

    /// In words: of a long path the first name and the last ones.
    pub fn text(&self) -> Vec<u8> {
        let called = |(_, called): &'_ (Vec<u8>, Vec<u8>)| in_one_line(called);
        let mut all: Vec<Vec<u8>> = self.names.iter().map(called).collect(); // bounded: LEVELS
        if all.len() > SHORT {
            let last = all.split_off(all.len() + 2 - SHORT);
            all.truncate(1);
            all.push(b"...".to_vec()); // bounded: three dots
            all.extend(last);
        }
        all.join(BETWEEN)
    }
}

/// A text without line breaks and other control characters.
pub fn in_one_line(text: &[u8]) -> Vec<u8> {
    text.iter().map(|byte| if byte.is_ascii_control() { b' ' } else { *byte }).collect() // bounded: the text
}

/// The paths to those of some entities that are in a tree. Errors: those of cft_path_prefix.
pub fn paths(walker: &Walker, entities: &[&[u8]]) -> Fallible<Paths> {
    let (mut all, mut room) = (HashMap::new(), Room::new()); // bounded: `room` has it
    first_paths(walker, entities, LEVELS, |entity, tree, names| {
        let bytes = |(name, called): &(&[u8], &[u8])| EACH + name.len() + called.len();
        room.take(EACH + entity.len() + tree.map_or(0, <[u8]>::len) + names.iter().map(bytes).sum::<usize>())?;
        let names = names.iter().map(|(name, called)| (name.to_vec(), called.to_vec())).collect(); // bounded: `room` has them
        all.insert(entity.to_vec(), Path { tree: tree.map(<[u8]>::to_vec), names }); // bounded: `room` has it
        Ok(())
    })?;
    Ok(all)
}
