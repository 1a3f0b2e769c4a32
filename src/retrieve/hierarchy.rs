//! The sentences about the entities of a question, as rows that a budget can shorten.

use crate::call::fmgr::characters;
use crate::call::work_memory::{Room, list};
use crate::catalog::attached_table::AttachedTable;
use crate::error::Fallible;
use crate::methods::told::told;
use crate::retrieve::baselines;
use crate::serve::answer;
use crate::serve::asked::Reach;
use crate::serve::plans::with_settings;
use crate::serve::sentences::{each_sentence, sentence};
use crate::serve::sink::{Relative, Sink};
use cftrag_core::{Names, Text};
use cftrag_methods::retrieve::budget;
use pgrx::{check_for_interrupts, pg_sys};
use std::collections::{HashMap, HashSet};

/// The most descendants that a sentence names where there is no budget; of more it says the number.
const MOST: usize = 100;
/// Characters between two names of a sentence: a comma or a semicolon, and a blank.
const BETWEEN: u32 = 2;
/// Bytes of a sentence in a list, besides its text.
const EACH: usize = 96;

/// A tree, by its number among those that are named; None: rows without a tree.
pub type Tree = Option<usize>;

/// A sentence about the relatives of an entity, in one tree and direction.
pub struct Sentence {
    /// The number of its entity.
    pub of: usize,
    pub tree: Tree,
    pub text: Vec<u8>,
    pub characters: usize,
    /// Bytes and characters before its first name, and where each name ends, counted from there.
    head: (usize, usize),
    ends: Vec<(u32, u32)>,
}

impl Sentence {
    pub fn tokens(&self) -> usize {
        self.characters.div_ceil(4)
    }

    /// Shortens it to the names that fit: "A, B and 98 more." Returns its tokens; None if not even one name fits.
    pub fn cut(&mut self, room: usize) -> Option<usize> {
        let count = budget::names_that_fit(self.head.1, &self.ends, room)?;
        let more = format!(" and {} more.", self.ends.len() - count);
        let (bytes, characters) = self.ends[count - 1];
        self.text.truncate(self.head.0 + bytes as usize);
        self.text.extend_from_slice(more.as_bytes());
        self.characters = self.head.1 + characters as usize + more.len();
        self.ends.clear();
        Some(self.tokens())
    }
}

/// Sentences, and the trees that they are about.
#[derive(Default)]
pub struct Hierarchy {
    pub sentences: Vec<Sentence>,
    trees: Names,
}

/// Where the hierarchy of entities is read.
#[derive(Clone, Copy)]
pub struct Asked {
    pub function: pg_sys::Oid,
    pub edges: Option<pg_sys::Oid>,
    pub reach: Reach,
}

impl Hierarchy {
    fn tree(&mut self, name: Option<&[u8]>) -> Fallible<Tree> {
        name.map(|name| {
            let no_room = || crate::error::no_memory_to_work(2 * name.len());
            self.trees.try_id(name).map(|id| id.number()).ok_or_else(no_room)
        })
        .transpose()
    }

    /// The sentences of cft_context_parts about these distinct entities. `can_cut`: whether a budget may shorten them. Errors: those of
    /// cft_context_parts.
    pub fn of(asked: Asked, names: &[&[u8]], can_cut: bool) -> Fallible<Self> {
        let (mut all, mut room, mut at, mut text) = (Self::default(), Room::new(), 0, Text::default());
        answer::check_levels(asked.reach)?;
        told(AttachedTable::of(asked.function, asked.edges)?, names, asked.reach, |rows| {
            each_sentence(rows, |of, subject| {
                check_for_interrupts!();
                while names[at] != of[0].entity {
                    at += 1;
                }
                text.clear();
                sentence(&mut text, of, subject)?;
                all.add(at, of, text.as_bytes(), can_cut, &mut room)
            })
        })?;
        Ok(all)
    }

    fn add(&mut self, of: usize, rows: &[Relative<'_>], text: &[u8], can_cut: bool, room: &mut Room) -> Fallible<()> {
        let tree = self.tree(rows[0].tree)?;
        let is_number = !can_cut && !rows[0].ancestor && rows.len() > MOST;
        let mut ends = Vec::new();
        let mut head = (0, 0);
        if can_cut || is_number {
            ends = list(rows.len(), room)?;
            let (mut bytes, mut count) = (0, 0);
            for row in rows {
                let name = row.called();
                (bytes, count) = (bytes + name.len() as u32, count + characters(name) as u32);
                ends.push((bytes, count));
                (bytes, count) = (bytes + BETWEEN, count + BETWEEN);
            }
            // Behind the last name is a full stop.
            let (bytes, count) = ends[ends.len() - 1];
            head = (text.len() - 1 - bytes as usize, characters(text) - 1 - count as usize);
        }
        let text = match is_number {
            true => [&text[..head.0], format!("{} entities.", rows.len()).as_bytes()].concat(),
            false => text.to_vec(), // bounded: `room` has it
        };
        room.take(EACH + text.len())?;
        let characters = characters(&text);
        self.sentences.push(Sentence { of, tree, text, characters, head, ends });
        Ok(())
    }

    /// The sentences as T-RAG finds them: entities are searched for from the roots of all trees, their relatives by the reference query.
    pub fn by_search(asked: Asked, names: &[&[u8]], can_cut: bool) -> Fallible<Self> {
        let are_there = baselines::found_by_search(&AttachedTable::of(asked.function, asked.edges)?, names)?;
        let some: Vec<&[u8]> = names.iter().copied().filter(|name| are_there.contains(*name)).collect(); // bounded: the names
        if some.is_empty() {
            return Ok(Self::default());
        }
        let mut all = with_settings(&[(c"cftrag.enable", c"off")], || Self::of(asked, &some, can_cut))?;
        let mut at = 0;
        for sentence in &mut all.sentences {
            while names[at] != some[sentence.of] {
                at += 1;
            }
            sentence.of = at;
        }
        Ok(all)
    }

    /// A sentence for each entity about its neighbours, whatever the tree and the direction.
    pub fn of_neighbors(asked: Asked, names: &[&[u8]], hops: i32) -> Fallible<Self> {
        let of = AttachedTable::of(asked.function, asked.edges)?;
        let (mut all, mut room) = (Self::default(), Room::new());
        for (n, name) in names.iter().enumerate() {
            let Some(text) = baselines::neighbors(&of, name, hops, asked.reach.trees)? else { continue };
            room.take(EACH + text.len())?;
            let characters = characters(&text);
            all.sentences.push(Sentence { of: n, tree: None, text, characters, head: (0, 0), ends: Vec::new() });
        }
        Ok(all)
    }

    /// Leaves out sentences about what the sentence of another entity names as its ancestor in a tree, unless each is above the other. Returns which
    /// entities have sentences still, or had none.
    pub fn leave_out_ancestors(&mut self, asked: Asked, names: &[&[u8]]) -> Fallible<Vec<bool>> {
        let numbers: HashMap<&[u8], usize> = names.iter().enumerate().map(|(n, name)| (*name, n)).collect(); // bounded: the names
        let mut above: HashSet<(usize, Tree, usize)> = HashSet::new(); // bounded: `room` has it
        let (mut room, mut at) = (Room::new(), 0);
        let of = AttachedTable::of(asked.function, asked.edges)?;
        let reach = Reach { down: 0, counts: false, ..asked.reach };
        let mut take = |rows: &[Relative<'_>]| {
            for row in rows {
                while names[at] != row.entity {
                    at += 1;
                }
                if let Some(&relative) = numbers.get(row.name) {
                    room.take(EACH)?;
                    above.insert((at, self.tree(row.tree)?, relative));
                }
            }
            Ok(())
        };
        answer::answer_of(&of, names, reach, &mut Sink::Nodes { take: &mut take, own: false })?;
        drop(of);
        let is_above = |(entity, tree, relative): &&(usize, Tree, usize)| !above.contains(&(*relative, *tree, *entity));
        let left_out: HashSet<(usize, Tree)> =
            above.iter().filter(is_above).map(|(_, tree, relative)| (*relative, *tree)).collect(); // bounded: `room` has them
        let mut had = vec![false; names.len()];
        self.sentences.iter().for_each(|sentence| had[sentence.of] = true);
        self.sentences.retain(|sentence| !left_out.contains(&(sentence.of, sentence.tree)));
        let mut told: Vec<bool> = had.iter().map(|had| !had).collect(); // bounded: the names
        self.sentences.iter().for_each(|sentence| told[sentence.of] = true);
        Ok(told)
    }
}
