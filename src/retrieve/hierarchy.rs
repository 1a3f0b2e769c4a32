//! The sentences about the entities of a question: what is above and below each, as rows that a budget can shorten.

use crate::call::work_memory::{Room, list};
use crate::catalog::attached_table::AttachedTable;
use crate::error::Fallible;
use crate::methods::breadth_first::named;
use crate::methods::told::told;
use crate::pg::encoding;
use crate::pg::interrupt::{ROWS_BETWEEN_CHECKS, check_interrupts};
use crate::retrieve::baselines;
use crate::retrieve::phrases::{About, Phrases};
use crate::retrieve::place::{Paths, SHORT, in_one_line};
use crate::serve::answer;
use crate::serve::asked::Reach;
use crate::serve::labels::Labels;
use crate::serve::plans::with_settings;
use crate::serve::sentences::each_sentence;
use crate::serve::sink::{Relative, Sink};
use cftrag_core::{Interruptible, NameId, Names, Relation, Subject};
use cftrag_methods::retrieve::budget;
use pgrx::{check_for_interrupts, pg_sys};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

/// The most relatives that a sentence names; of more it says the number.
const MOST: usize = 100;
/// Levels in which one named entity is looked for above another.
const LEVELS: i32 = 64;
/// The relatives of which those are chosen, in the order of the answer.
const KEPT: usize = 1000;
/// Bytes of a sentence, a way or a relative in a table, besides its names.
const EACH: usize = 256;

/// A tree, by its number among the names; None: rows without a tree.
pub type Tree = Option<NameId>;

/// A relative: its name, and what it is called.
#[derive(Clone, Copy)]
struct Named {
    name: NameId,
    called: NameId,
    /// Whether another way up begins with it: from the entity, or from itself, if it is on a way already.
    begins: bool,
}

/// A sentence about the relatives of an entity, in one tree and direction.
pub struct Sentence {
    /// The number of its entity.
    pub of: usize,
    tree: Tree,
    /// Whether the sentence names the tree.
    names_tree: bool,
    relation: Relation,
    /// What it calls its entity, and with what stands behind its name.
    called: [NameId; 2],
    /// Whether it is the first one about its entity, which says what stands behind its name.
    is_first: bool,
    /// None: some are left out in between.
    names: Vec<Option<Named>>,
    /// Relatives that it does not name.
    more: usize,
    pub text: Vec<u8>,
}

/// Sentences, and the names in them.
#[derive(Default)]
pub struct Hierarchy {
    pub sentences: Vec<Sentence>,
    names: Names,
    room: Room,
    phrases: Phrases,
}

/// The names above an entity in a tree, from the nearest to another entity that is spoken of.
struct Way {
    of: usize,
    tree: Tree,
    above: usize,
    /// Which of the names of all ways are its own.
    names: Range<usize>,
}

/// Which relatives matter more than others: entities of the documents that were found, and words of the question, in
/// lower case.
#[derive(Default)]
pub struct Matters<'m> {
    pub entities: HashSet<&'m [u8]>,
    pub words: HashSet<String>,
}

impl Matters<'_> {
    /// How much a relative matters.
    fn of(&self, name: &[u8], called: &[u8]) -> usize {
        let called = encoding::decode(called).to_lowercase();
        let words = called.split(|one: char| !one.is_alphanumeric()).filter(|word| self.words.contains(*word)).count();
        words + usize::from(self.entities.contains(name))
    }
}

/// Where the hierarchy of entities is read.
#[derive(Clone, Copy)]
pub struct Scope<'c> {
    pub function: pg_sys::Oid,
    pub edges: Option<pg_sys::Oid>,
    pub reach: Reach<'c>,
}

impl Hierarchy {
    /// The sentences of cft_context_parts about these distinct entities, without their texts. `behind`: what stands
    /// behind the name of each. Errors: those of cft_context_parts.
    pub fn of(asked: Scope, names: &[&[u8]], behind: &[Vec<u8>]) -> Fallible<Self> {
        let (mut all, mut at) = (Self::default(), 0);
        answer::check_levels(asked.reach)?;
        told(AttachedTable::of(asked.function, asked.edges)?, names, asked.reach, |rows| {
            each_sentence(rows, |of, subject| {
                check_for_interrupts!();
                while names[at] != of[0].entity {
                    at += 1;
                }
                all.add(at, of, subject, &behind[at])
            })
        })?;
        Ok(all)
    }

    fn id(&mut self, name: &[u8]) -> Fallible<NameId> {
        named(&mut self.names, name, &mut self.room)
    }

    fn add(&mut self, of: usize, rows: &[Relative<'_>], subject: Subject<'_>, behind: &[u8]) -> Fallible<()> {
        let tree = rows[0].tree.map(|tree| self.id(tree)).transpose()?;
        let called = rows[0].entity_called();
        let called = [self.id(called)?, self.id(&[called, behind].concat())?];
        let mut names = list(rows.len().min(KEPT), &mut self.room)?;
        for (row, begins) in in_ways(&rows[..rows.len().min(KEPT)], &mut self.room)? {
            names.push(Some(Named { name: self.id(row.name)?, called: self.id(row.called())?, begins }));
        }
        self.room.take(EACH)?;
        self.sentences.push(Sentence {
            of,
            tree,
            names_tree: subject.tree.is_some(),
            relation: subject.relation,
            called,
            is_first: true,
            names,
            more: rows.len() - rows.len().min(KEPT),
            text: Vec::new(),
        });
        Ok(())
    }

    /// The sentences as T-RAG finds them: entities are searched for from the roots of all trees, their relatives by the
    /// reference query.
    pub fn by_search(asked: Scope, names: &[&[u8]], behind: &[Vec<u8>]) -> Fallible<Self> {
        let are_there = baselines::found_by_search(&AttachedTable::of(asked.function, asked.edges)?, names)?;
        let places: Vec<usize> = (0..names.len()).filter(|&n| are_there.contains(names[n])).collect(); // bounded: the names
        if places.is_empty() {
            return Ok(Self::default());
        }
        let some: Vec<&[u8]> = places.iter().map(|&n| names[n]).collect(); // bounded: the names
        let behind: Vec<Vec<u8>> = places.iter().map(|&n| behind[n].clone()).collect(); // bounded: the names
        let mut all = with_settings(&[(c"cftrag.enable", c"off")], || Self::of(asked, &some, &behind))?;
        all.sentences.iter_mut().for_each(|sentence| sentence.of = places[sentence.of]);
        Ok(all)
    }

    /// A sentence for each entity about its neighbours, whatever the tree and the direction.
    pub fn of_neighbors(asked: Scope, names: &[&[u8]], hops: i32) -> Fallible<Self> {
        let of = AttachedTable::of(asked.function, asked.edges)?;
        let mut all = Self::default();
        for (n, name) in names.iter().enumerate() {
            let Some(text) = baselines::neighbors(&of, name, hops, asked.reach.trees)? else { continue };
            let text = in_one_line(&text);
            all.room.take(EACH + text.len())?;
            let called = all.id(name)?;
            all.sentences.push(Sentence {
                of: n,
                tree: None,
                names_tree: false,
                relation: Relation::Descendant,
                called: [called; 2],
                is_first: true,
                names: Vec::new(),
                more: 0,
                text,
            });
        }
        Ok(all)
    }

    /// Says how the named entities stand to each other, at any distance: the sentence about what is above one of them
    /// goes on to another that is above it, whose own place it thereby says; unless each is above the other. Returns
    /// those that are above others. Errors: those of cft_context.
    pub fn relate(&mut self, asked: Scope, names: &[&[u8]]) -> Fallible<HashSet<usize>> {
        let numbers: HashMap<&[u8], usize> = names.iter().enumerate().map(|(n, name)| (*name, n)).collect(); // bounded: the names
        // The names above an entity in a tree, from the nearest to a named one.
        let (mut ways, mut names_of_ways): (Vec<Way>, Vec<NameId>) = (Vec::new(), Vec::new()); // bounded: `room` has them
        let (mut room, mut at) = (Room::new(), 0);
        let of = AttachedTable::of(asked.function, asked.edges)?;
        let reach = Reach { up: LEVELS, down: 0, counts: false, ..asked.reach };
        let mut take = |rows: &[Relative<'_>]| {
            for rows in rows.chunk_by(|a, b| a.entity == b.entity && a.tree == b.tree) {
                check_for_interrupts!();
                while names[at] != rows[0].entity {
                    at += 1;
                }
                if !rows.iter().any(|row| numbers.contains_key(row.name)) {
                    continue;
                }
                room.spare(rows.len() * EACH)?;
                let via: HashMap<&[u8], &[u8]> = rows.iter().map(|row| (row.name, row.via)).collect(); // bounded: spared
                let tree = rows[0].tree.map(|tree| self.id(tree)).transpose()?;
                for row in rows {
                    let Some(&above) = numbers.get(row.name).filter(|above| **above != at) else { continue };
                    let way = std::iter::successors(Some(row.name), |name| via.get(name).copied());
                    let way = way.take_while(|name| *name != row.entity).take(LEVELS as usize);
                    let way: Vec<&[u8]> = way.collect(); // bounded: LEVELS
                    room.take(EACH + way.len() * size_of::<NameId>())?;
                    let first = names_of_ways.len();
                    for name in way.iter().rev() {
                        names_of_ways.push(self.id(name)?); // bounded: `room` has it
                    }
                    ways.push(Way { of: at, tree, above, names: first..names_of_ways.len() });
                }
            }
            Ok(())
        };
        answer::answer_of(&of, names, reach, &mut Sink::Nodes { take: &mut take, own: false })?;
        let mut check = check_interrupts;
        let mut work = Interruptible::new(&mut check);
        let mut above = HashSet::with_capacity(ways.len()); // bounded: `room` has them
        for way in &ways {
            work.step();
            above.insert((way.of, way.tree, way.above)); // bounded: as above
        }
        ways.retain(|way| {
            work.step();
            !above.contains(&(way.above, way.tree, way.of))
        });
        if ways.is_empty() {
            return Ok(HashSet::new()); // bounded: empty
        }
        let mut said = HashSet::new(); // bounded: as above
        for way in &ways {
            work.step();
            said.insert((way.above, way.tree)); // bounded: as above
        }
        self.sentences.retain(|sentence| {
            work.step();
            sentence.relation == Relation::Descendant || !said.contains(&(sentence.of, sentence.tree))
        });
        let called = self.called(&of, ways.iter().flat_map(|way| &names_of_ways[way.names.clone()]))?;
        let upward = self.sentences.iter().enumerate().filter(|(_, sentence)| sentence.is_upward());
        let upward: HashMap<(usize, Tree), usize> =
            upward.map(|(n, sentence)| ((sentence.of, sentence.tree), n)).collect(); // bounded: the sentences
        for way in &ways {
            work.step();
            let Some(&n) = upward.get(&(way.of, way.tree)) else { continue };
            let way = names_of_ways[way.names.clone()].iter();
            let way: Vec<Named> = way.map(|&name| Named { name, called: called[&name], begins: false }).collect(); // bounded: LEVELS
            self.sentences[n].go_on(&way);
        }
        Ok(ways.iter().map(|way| way.above).collect()) // bounded: the names
    }

    /// What entities are called, by their names.
    fn called<'n>(
        &mut self,
        of: &AttachedTable,
        names: impl Iterator<Item = &'n NameId>,
    ) -> Fallible<HashMap<NameId, NameId>> {
        let mut is_known = vec![false; self.names.len()]; // bounded: the names
        let mut ids = Vec::new();
        for (n, &id) in names.enumerate() {
            if n.is_multiple_of(ROWS_BETWEEN_CHECKS) {
                check_for_interrupts!();
            }
            if !std::mem::replace(&mut is_known[id.number()], true) {
                ids.push(id); // bounded: the names
            }
        }
        let names: Vec<&[u8]> = ids.iter().map(|id| self.names.get(*id)).collect(); // bounded: the ways
        let labels = Labels::of(of, &names)?;
        let labelled = |(n, id)| Ok((id, labels.get(n).map_or(Ok(id), |label| self.id(label))?));
        ids.into_iter().enumerate().map(labelled).collect() // bounded: the ways
    }

    /// Goes on from what is said to be above entities to the top of their first tree.
    pub fn go_to_the_top(&mut self, names: &[&[u8]], paths: &Paths) -> Fallible<()> {
        for n in 0..self.sentences.len() {
            let sentence = &self.sentences[n];
            let Some(path) = paths.get(names[sentence.of]).filter(|_| sentence.relation == Relation::Ancestor) else {
                continue;
            };
            let tree = path.tree.as_deref().map(|tree| self.id(tree)).transpose()?;
            if tree != self.sentences[n].tree {
                continue;
            }
            let mut way = Vec::new();
            for (name, called) in path.names.iter().rev().skip(1) {
                way.push(Named { name: self.id(name)?, called: self.id(called)?, begins: false });
            }
            self.sentences[n].go_on(&way);
        }
        Ok(())
    }

    /// Writes the sentences, each with at most [`MOST`] relatives: those that matter before others.
    pub fn write(&mut self, asked: Scope, matters: &Matters<'_>) -> Fallible<()> {
        let written = || self.sentences.iter().filter(|sentence| !sentence.names.is_empty());
        if written().next().is_none() {
            return Ok(());
        }
        let trees: BTreeSet<&[u8]> = written().filter_map(|one| one.tree.map(|tree| self.names.get(tree))).collect(); // bounded: the sentences
        self.phrases = Phrases::of(&AttachedTable::of(asked.function, asked.edges)?, &trees)?;
        for n in 0..self.sentences.len() {
            check_for_interrupts!();
            self.sentences[n].is_first = n == 0 || self.sentences[n - 1].of != self.sentences[n].of;
            let sentence = &self.sentences[n];
            if sentence.names.is_empty() {
                continue;
            }
            // Which relatives matter is asked only where there are too many.
            let (names, more) = match sentence.names.len() {
                0..=MOST => (sentence.names.clone(), sentence.more), // bounded: MOST
                _ => self.some(sentence, &self.order(sentence, matters), MOST),
            };
            let text = self.text(sentence, &names, more)?;
            self.room.take(text.len())?;
            let sentence = &mut self.sentences[n];
            (sentence.names, sentence.more, sentence.text) = (names, more, text);
        }
        Ok(())
    }

    /// Shortens a sentence to the relatives that matter most and fit: "A, B and 98 more." Returns its tokens; None if
    /// not even one fits.
    pub fn cut(&mut self, n: usize, room: usize, matters: &Matters<'_>) -> Fallible<Option<usize>> {
        let sentence = &self.sentences[n];
        let order = self.order(sentence, matters);
        // With each further name it is longer.
        let (mut most, mut too_many, mut best) = (0, order.len(), None);
        while most + 1 < too_many {
            let count = usize::midpoint(most, too_many);
            let (names, more) = self.some(sentence, &order, count);
            let text = self.text(sentence, &names, more)?;
            let tokens = budget::tokens(&text);
            if tokens <= room {
                (most, best) = (count, Some((names, more, text, tokens)));
            } else {
                too_many = count;
            }
        }
        let Some((names, more, text, tokens)) = best else { return Ok(None) };
        let sentence = &mut self.sentences[n];
        (sentence.names, sentence.more, sentence.text) = (names, more, text);
        Ok(Some(tokens))
    }

    /// The places of a sentence's relatives in the order in which they matter: of ancestors the nearest first.
    fn order(&self, sentence: &Sentence, matters: &Matters<'_>) -> Vec<usize> {
        let mut order: Vec<usize> = (0..sentence.names.len()).collect(); // bounded: KEPT
        if sentence.relation == Relation::Descendant {
            let matter = |one: &Option<Named>| {
                one.map_or(0, |one| matters.of(self.names.get(one.name), self.names.get(one.called)))
            };
            order.sort_by_cached_key(|&n| Reverse(matter(&sentence.names[n])));
        }
        order
    }

    /// The first `count` relatives of an order, as the sentence has them, and how many it does not name then.
    fn some(&self, sentence: &Sentence, order: &[usize], count: usize) -> (Vec<Option<Named>>, usize) {
        let mut places = order[..count.min(order.len())].to_vec(); // bounded: KEPT
        places.sort_unstable();
        let mut names: Vec<Option<Named>> = places.into_iter().map(|n| sentence.names[n]).collect(); // bounded: KEPT
        names.truncate(names.iter().rposition(Option::is_some).map_or(0, |last| last + 1));
        let named = |all: &[Option<Named>]| all.iter().flatten().map(|one| one.name).collect::<HashSet<_>>().len(); // bounded: KEPT
        let more = sentence.more + named(&sentence.names) - named(&names);
        (names, more)
    }

    fn text(&self, sentence: &Sentence, names: &[Option<Named>], more: usize) -> Fallible<Vec<u8>> {
        let name = |id: NameId| self.names.get(id);
        let about = About {
            entity: name(sentence.called[usize::from(sentence.is_first)]),
            tree: sentence.tree.map(name),
            names_tree: sentence.names_tree,
            relation: sentence.relation,
        };
        // Ways of one step each are a plain list.
        let has_ways = names.iter().skip(1).any(|one| one.is_none_or(|one| !one.begins));
        let called =
            |one: &Option<Named>| one.map_or((&b"..."[..], false), |one| (name(one.called), one.begins && has_ways));
        let called = names.iter().map(called);
        self.phrases.sentence(&about, called, more)
    }

    /// The entities whose place the sentences say: those that they name, and those of which they say what is above
    /// them.
    pub fn placed(&self, names: &[&[u8]]) -> HashSet<Vec<u8>> {
        let mut all = HashSet::new(); // bounded: the names of sentences
        for sentence in &self.sentences {
            all.extend(sentence.names.iter().flatten().map(|one| self.names.get(one.name).to_vec())); // bounded: as above
            all.extend(sentence.is_upward().then(|| names[sentence.of].to_vec())); // bounded: as above
        }
        all
    }
}

/// Relatives, those above an entity way by way: each behind the one that is on the way to it, and whether it begins
/// another way. Where ways part, the one that was there first goes on; another one begins with what they part from.
fn in_ways<'r, 'a>(rows: &'r [Relative<'a>], room: &mut Room) -> Fallible<Vec<(&'r Relative<'a>, bool)>> {
    let mut ways: Vec<Vec<(&Relative<'_>, bool)>> = Vec::new(); // bounded: spared
    room.spare(rows.len() * EACH)?;
    let mut at: HashMap<&[u8], (usize, &Relative<'_>)> = HashMap::new(); // bounded: spared
    for row in rows {
        let before = at.get(row.via).filter(|_| row.ancestor).copied();
        let n = match before {
            Some((n, via)) if ways[n].last().is_some_and(|(last, _)| last.name == via.name) => n,
            _ if !row.ancestor && !ways.is_empty() => 0,
            before => {
                ways.push(before.map(|(_, via)| (via, true)).into_iter().collect()); // bounded: spared
                ways.len() - 1
            }
        };
        let begins = ways[n].is_empty() && n > 0;
        ways[n].push((row, begins)); // bounded: spared
        at.insert(row.name, (n, row)); // bounded: spared
    }
    Ok(ways.into_iter().flatten().collect()) // bounded: spared
}

impl Sentence {
    /// Whether it says what is above its entity.
    pub fn is_upward(&self) -> bool {
        self.relation == Relation::Ancestor
    }

    /// Adds what is on a way up beyond the last name that is said already, all of it if that is short, else its end:
    /// behind that name, or as another way.
    fn go_on(&mut self, way: &[Named]) {
        let place = |one: &Named| self.names.iter().position(|known| known.is_some_and(|known| known.name == one.name));
        let last_known = way.iter().rposition(|one| place(one).is_some());
        let mut beyond: Vec<Option<Named>> =
            way[last_known.map_or(0, |last| last + 1)..].iter().map(|one| Some(*one)).collect(); // bounded: LEVELS
        if beyond.is_empty() {
            return;
        }
        if let [Some(_), .., Some(last)] = beyond[..]
            && self.names.len() + beyond.len() > SHORT
        {
            beyond = vec![None, Some(last)]; // bounded: two
        }
        let known = last_known.and_then(|n| place(&way[n]));
        let end = known.map_or(0, |known| known + 1);
        let is_end = self.names.get(end).is_none_or(|next| next.is_some_and(|next| next.begins));
        if is_end && (known.is_some() || self.names.is_empty()) {
            self.names.splice(end..end, beyond);
            return;
        }
        // From the entity, or from where the ways part.
        let anchor = last_known.map(|n| Some(way[n])).into_iter();
        for (n, one) in anchor.chain(beyond).enumerate() {
            self.names.push(one.map(|one| Named { begins: n == 0, ..one })); // bounded: LEVELS
        }
    }
}
