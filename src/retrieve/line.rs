//! The rows of cft_retrieve, and which of them fit a budget.

use crate::call::fmgr::beginning;
use crate::error::Fallible;
use crate::retrieve::hierarchy::{Hierarchy, Matters, Sentence};
use crate::retrieve::named::Named;
use cftrag_methods::retrieve::budget;
use cftrag_methods::retrieve::budget::{Item, Source};
use std::collections::HashMap;

/// A row of the result.
pub struct Line {
    pub source: Source,
    pub entity: Option<Vec<u8>>,
    pub document: Option<Vec<u8>>,
    pub rank: i32,
    pub distance: Option<f64>,
    pub text: Option<Vec<u8>>,
    pub tokens: i32,
    pub why: Vec<u8>,
    /// Others with the same text.
    pub same: Vec<Vec<u8>>,
    /// The columns of a document that are shown beside its text.
    pub shown: Option<Vec<u8>>,
    /// The path to the entity that a document is about; and what a prompt writes of it, which does not say twice what
    /// the hierarchy says.
    pub path: Option<Vec<u8>>,
    pub place: Option<Vec<u8>>,
}

/// What belongs to a question.
#[derive(Default)]
pub struct Gathered {
    pub lines: Vec<Line>,
    /// Documents and sentences that do not fit the budget.
    pub left_out: [usize; 2],
}

/// The sentences as lines.
pub fn sentences(hierarchy: &mut Hierarchy, named: &[Named]) -> Vec<Line> {
    let line = |(sentence, rank): (&mut Sentence, i32)| Line {
        source: Source::Hierarchy,
        entity: Some(named[sentence.of].entity.clone()),
        document: None,
        rank,
        distance: None,
        tokens: budget::tokens(&sentence.text) as i32,
        text: Some(std::mem::take(&mut sentence.text)),
        why: named[sentence.of].why.clone(),
        same: Vec::new(),
        shown: None,
        path: None,
        place: None,
    };
    hierarchy.sentences.iter_mut().zip(1..).map(line).collect() // bounded: the sentences
}

/// Keeps the lines that fit the budget, if there is one, shortened where they are too long. Those from `first` on are
/// the sentences.
pub fn fit(
    budget: Option<i32>,
    all: &mut Gathered,
    first: usize,
    hierarchy: &mut Hierarchy,
    named: &[Named],
    matters: &Matters<'_>,
) -> Fallible<()> {
    let lines = &mut all.lines;
    lines.iter_mut().for_each(Line::say_the_same);
    let Some(budget) = budget else { return Ok(()) };
    let turns = turns(hierarchy, named);
    // Chunks come after the documents that were found.
    let item = |(n, line): (usize, &Line)| Item {
        source: line.source,
        turn: match line.source {
            Source::Hierarchy => turns[n - first],
            Source::Document => line.rank as u32,
            Source::Chunk => line.rank as u32 + first as u32,
        },
        tokens: line.tokens as usize + head(line),
        head: head(line),
    };
    let items: Vec<Item> = lines.iter().enumerate().map(item).collect(); // bounded: the lines
    let mut failed = None;
    let cut = |n: usize, room: usize| {
        hierarchy.cut(n - first, room, matters).unwrap_or_else(|error| {
            failed = Some(error);
            None
        })
    };
    let taken = budget::taken(&items, usize::try_from(budget).unwrap_or_default(), cut);
    if let Some(error) = failed {
        return Err(error);
    }
    for (n, (line, taken)) in lines.iter_mut().zip(&taken).enumerate() {
        let Some(tokens) = taken.map(|taken| taken - head(line)).filter(|tokens| *tokens < line.tokens as usize) else {
            continue;
        };
        let is_shortened = match &mut line.text {
            Some(text) if line.source == Source::Hierarchy => {
                text.clone_from(&hierarchy.sentences[n - first].text);
                true
            }
            Some(text) => shorten_part(text, tokens, (line.tokens as usize).min(budget as usize)),
            None => false,
        };
        if is_shortened {
            line.why.extend_from_slice(b", shortened");
        }
        line.tokens = tokens as i32;
    }
    for (line, _) in lines.iter().zip(&taken).filter(|(_, taken)| taken.is_none()) {
        all.left_out[usize::from(line.source == Source::Hierarchy)] += 1;
    }
    let mut taken = taken.into_iter();
    lines.retain(|_| taken.next().flatten().is_some());
    Ok(())
}

/// The tokens of what stands before a document's text.
pub fn head(line: &Line) -> usize {
    let all = [&line.place, &line.shown].into_iter().flatten();
    all.map(|text| budget::tokens(text)).sum()
}

/// Shortens a text to so many tokens, if it has more; returns whether it did.
pub fn shorten(text: &mut Vec<u8>, tokens: usize) -> bool {
    let all = budget::tokens(text);
    all > tokens && shorten_part(text, tokens, all)
}

/// Shortens a text, which counts as `all` tokens, to so many; returns whether it did: what counts as long may be short.
fn shorten_part(text: &mut Vec<u8>, tokens: usize, all: usize) -> bool {
    const MARK: &[u8] = b" ...";
    let kept = beginning(text, tokens.saturating_sub(1), all).len();
    if kept + MARK.len() >= text.len() {
        return false;
    }
    text.truncate(kept);
    text.extend_from_slice(MARK);
    true
}

impl Line {
    /// Adds to the reason which documents have the same text.
    fn say_the_same(&mut self) {
        let Self { same, why, .. } = self;
        if !same.is_empty() {
            why.extend_from_slice(&[b", the same text as ", &listed(same)[..]].concat());
        }
    }
}

/// Ids of documents as a reason names them.
pub fn listed(ids: &[Vec<u8>]) -> Vec<u8> {
    /// Documents that are named.
    const MOST: usize = 5;
    let mut text = ids[..ids.len().min(MOST)].join(&b", "[..]);
    if let more @ 1.. = ids.len().saturating_sub(MOST) {
        text.extend_from_slice(format!(" and {more} other{}", if more == 1 { "" } else { "s" }).as_bytes());
    }
    text
}

/// When it is each sentence's turn: of each thing that the question names the first one, then its second ones, and so
/// on.
fn turns(hierarchy: &Hierarchy, named: &[Named]) -> Vec<u32> {
    let mut counts: HashMap<(i32, &[u8]), usize> = HashMap::new(); // bounded: those that were found
    let round = |sentence: &Sentence| {
        let one = &named[sentence.of];
        let count = counts.entry((one.start, &one.mention)).or_default();
        *count += 1;
        *count
    };
    let rounds: Vec<usize> = hierarchy.sentences.iter().map(round).collect(); // bounded: the sentences
    let mut order: Vec<usize> = (0..rounds.len()).collect(); // bounded: the sentences
    order.sort_by_key(|&n| rounds[n]);
    let mut turns = vec![0; order.len()]; // bounded: the sentences
    order.into_iter().zip(1..).for_each(|(n, turn)| turns[n] = turn);
    turns
}
