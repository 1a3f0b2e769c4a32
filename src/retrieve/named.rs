//! The entities that a question is about, and how much is said of each.

use crate::call::fmgr::beginning;
use crate::call::text::Text;
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::documents::{Documents, Embeddings};
use crate::catalog::registration::Functions;
use crate::error::Fallible;
use crate::guc::Match;
use crate::pg::encoding;
use crate::retrieve::documents::Wanted;
use crate::retrieve::hierarchy::Hierarchy;
use crate::retrieve::mentioned::{Mentioned, first_mentions};
use crate::retrieve::words::Weighed;
use crate::serve::asked::Question;
use crate::serve::labels::Labels;
use pgrx::pg_sys;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// Different mentions whose words are weighed.
const MENTIONS: usize = 1000;

/// Namesakes of which all is said: of more only what is above them.
const NAMESAKES: usize = 3;

/// An entity of the question, and why it is one.
pub struct Named {
    pub entity: Vec<u8>,
    pub why: Vec<u8>,
    /// How the question writes it, and where; empty if it does not.
    pub mention: Vec<u8>,
    pub start: i32,
    /// The alias that it is written as.
    alias: Option<Vec<u8>>,
    is_typo: bool,
    /// Whether it is written as one of its names.
    is_exact: bool,
    pub called: Vec<u8>,
}

impl Named {
    fn new(entity: Vec<u8>, why: Vec<u8>) -> Self {
        Self {
            entity,
            why,
            mention: Vec::new(),
            start: 0,
            alias: None,
            is_typo: false,
            is_exact: false,
            called: Vec::new(),
        }
    }

    /// Whether its name has other letters and digits than the question writes.
    fn is_called_otherwise(&self) -> bool {
        let letters = |text: &[u8]| -> Vec<char> {
            let text = encoding::decode(text).to_lowercase();
            text.chars().filter(|one| one.is_alphanumeric()).collect() // bounded: a name
        };
        letters(&self.mention) != letters(&self.called)
    }

    /// What stands behind its name, if the question writes that otherwise: " (HF)".
    pub fn behind(&self) -> Vec<u8> {
        match self {
            Self { is_typo: true, .. } => [b" (in the question \"", &self.mention[..], b"\")"].concat(),
            Self { alias, is_exact, .. } if alias.is_some() || *is_exact && self.is_called_otherwise() => {
                [b" (", &self.mention[..], b")"].concat()
            }
            _ => Vec::new(),
        }
    }
}

/// How much is said of an entity.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// What is above it and below it.
    Whole,
    /// What is above it.
    Place,
    Nothing,
}

/// How much is said of each entity. Of what is above another all is said, since the question speaks of it and what is
/// below it. Of namesakes by the dozen, and of what does not have the question's rarest word, no more than their place;
/// of what has common words alone, and nothing below it, nothing: "error" is a page, too.
pub fn ways(named: &[Named], hierarchy: &Hierarchy, is_above: &HashSet<usize>, words: Option<&Words>) -> Vec<Way> {
    let below = hierarchy.sentences.iter().filter(|sentence| !sentence.is_upward());
    let has_below: HashSet<usize> = below.map(|sentence| sentence.of).collect(); // bounded: the names
    let mut sharing: HashMap<i32, usize> = HashMap::new(); // bounded: those that were found
    named.iter().filter(|one| !one.mention.is_empty()).for_each(|one| *sharing.entry(one.start).or_default() += 1);
    let is = |n, so: fn(&Weighed, usize) -> bool| words.is_some_and(|words| words.is(n, so));
    let way = |(n, one): (usize, &Named)| match n {
        n if is_above.contains(&n) => Way::Whole,
        n if is(n, Weighed::is_ignored) || is(n, Weighed::is_common) && !has_below.contains(&n) => Way::Nothing,
        n if is(n, Weighed::is_common) || is(n, Weighed::lacks_the_rarest) => Way::Place,
        _ if sharing.get(&one.start).is_some_and(|count| *count > NAMESAKES) => Way::Place,
        _ => Way::Whole,
    };
    named.iter().enumerate().map(way).collect() // bounded: those that were found
}

/// Words of a question, in lower case.
pub fn words_of(question: Text<'_>) -> HashSet<String> {
    /// Bytes of a question that are read.
    const MOST: usize = 10_000;
    let text = question.bytes();
    let text = encoding::decode(beginning(text, MOST, text.len().max(MOST))).to_lowercase();
    text.split(|one: char| !one.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_string).collect() // bounded: MOST
}

/// The words of a question, and which of its mentions each entity is.
pub struct Words {
    pub weighed: Weighed,
    mentions: Vec<Option<usize>>,
}

impl Words {
    /// Errors: those of [`Wanted::weigh`].
    pub fn of(wanted: &Wanted, documents: &Documents, k: i32, question: Text<'_>, named: &[Named]) -> Fallible<Self> {
        // Namesakes are called alike: thousands of them are one text.
        let text = |one: &Named| {
            let alias = one.alias.as_deref().unwrap_or_default();
            [one.mention.clone(), [&one.called[..], b" ", alias].concat()]
        };
        let mut texts: Vec<[Vec<u8>; 2]> = named.iter().map(text).collect(); // bounded: those that were found
        texts.sort_unstable();
        texts.dedup();
        texts.truncate(MENTIONS);
        let mentions = named.iter().map(|one| texts.binary_search(&text(one)).ok()).collect(); // bounded: those that were found
        let texts: Vec<[&[u8]; 2]> = texts.iter().map(|[mention, called]| [&mention[..], called]).collect(); // bounded: MENTIONS
        Ok(Self { weighed: wanted.weigh(documents, k, question, &texts)?, mentions })
    }

    /// Leaves out entities of names for which the question has another word, with which documents are: MASA is not a
    /// misspelled mast.
    pub fn leave_out_spelled(&mut self, named: &mut Vec<Named>) {
        let wrong = |n: usize| self.mentions[n].filter(|_| named[n].is_typo && self.is(n, Weighed::is_spelled));
        let wrong: HashSet<usize> = (0..named.len()).filter_map(wrong).collect(); // bounded: the names
        if wrong.is_empty() {
            return;
        }
        self.weighed.forget(&wrong);
        let is_meant = |mention: Option<usize>| mention.is_none_or(|mention| !wrong.contains(&mention));
        let mut mentions = self.mentions.iter();
        named.retain(|_| is_meant(mentions.next().copied().flatten()));
        self.mentions.retain(|mention| is_meant(*mention));
    }

    /// Whether that is so of the mention of an entity.
    pub fn is(&self, n: usize, so: impl Fn(&Weighed, usize) -> bool) -> bool {
        self.mentions.get(n).copied().flatten().is_some_and(|mention| so(&self.weighed, mention))
    }
}

/// The entities that a question mentions. Errors: those of cft_entities.
pub fn mentioned(
    function: pg_sys::Oid,
    wanted: &Wanted,
    text: Text<'_>,
    matching: Match,
    narrow: bool,
) -> Fallible<Vec<Named>> {
    let (trees, within, overlapping) = (wanted.trees, wanted.within, false);
    let question = Question { text, trees, within, overlapping, once: true, matching, narrow };
    let mut all = Vec::new(); // bounded: those that were found
    for one in first_mentions(function, wanted.edges, &question)? {
        let mut why = [b"mentioned as \"", &one.mention[..], b"\""].concat();
        if let Some(alias) = &one.alias {
            why.extend_from_slice(&[b", by the alias \"", &alias[..], b"\""].concat());
        }
        let Mentioned { entity, mention, start, alias, method } = one;
        let (is_typo, is_exact) = (method == b"typo", method == b"exact");
        all.push(Named { mention, start, alias, is_typo, is_exact, ..Named::new(entity, why) });
    }
    Ok(all)
}

/// The entities nearest to an embedding, if there is one. Errors: those of [`Wanted::nearest_entities`].
pub fn nearest(function: pg_sys::Oid, wanted: &Wanted, k: i32, documents: Option<pg_sys::Oid>) -> Fallible<Vec<Named>> {
    if wanted.embedding.is_none() {
        return Ok(Vec::new());
    }
    // Embeddings of entities have no metadata.
    let edges = AttachedTable::of(function, wanted.edges)?.oid();
    let by_entities = Embeddings::of(Functions::beside(function), edges)?.is_some();
    let wanted = Wanted { filter: wanted.filter.filter(|_| !by_entities), ..*wanted };
    let (mut all, mut seen) = (Vec::new(), HashSet::new()); // bounded: those that were found
    for (entity, distance) in wanted.nearest_entities(function, k, documents)?.all {
        // An entity may have several embeddings.
        if seen.insert(entity.clone()) {
            let why = format!("one of the nearest entities, distance {distance:.4}");
            all.push(Named::new(entity, why.into_bytes()));
        }
    }
    Ok(all)
}

/// What the documents are about: the entities of which there are most, at least two.
pub fn most_of<'d>(entities: impl Iterator<Item = Option<&'d [u8]>> + Clone) -> Vec<Named> {
    /// Entities that are named, at most.
    const MOST: usize = 3;
    let mut counts: Vec<(&[u8], usize)> = Vec::new(); // bounded: the documents
    for entity in entities.clone().flatten() {
        match counts.iter_mut().find(|(known, _)| *known == entity) {
            Some((_, count)) => *count += 1,
            None => counts.push((entity, 1)),
        }
    }
    counts.sort_by_key(|(_, count)| Reverse(*count));
    let documents = entities.count();
    let several = counts.iter().take_while(|(_, count)| *count > 1).count().min(MOST);
    let one = |(entity, count): &(&[u8], usize)| {
        let why = format!("{count} of the {} first documents are about it", documents).into_bytes();
        Named::new(entity.to_vec(), why) // bounded: a name
    };
    counts.iter().take(several).map(one).collect() // bounded: MOST
}

/// Looks up what the entities are called.
pub fn call(function: pg_sys::Oid, edges: Option<pg_sys::Oid>, named: &mut [Named]) -> Fallible<()> {
    if named.is_empty() {
        return Ok(());
    }
    let names: Vec<&[u8]> = named.iter().map(|named| named.entity.as_slice()).collect(); // bounded: those that were found
    let labels = Labels::of(&AttachedTable::of(function, edges)?, &names)?;
    let called: Vec<Vec<u8>> =
        names.iter().enumerate().map(|(n, name)| labels.get(n).unwrap_or(name).to_vec()).collect(); // bounded: labels
    named.iter_mut().zip(called).for_each(|(named, called)| named.called = called);
    Ok(())
}
