//! Extracts relations from English sentences by rules, without a model (CFT-RAG 2.2; the patterns with "such as" are
//! Hearst's, 1992).
//!
//! Precision matters more than recall: doubtful relations are left out. A sentence is cut into words; the phrase of a
//! rule ("consists of", "and other") is searched for; the noun phrases beside it are delimited by words they may not
//! contain: pronouns, verbs, negation, most prepositions. There is no tagger and no parser, so some relations are not
//! found: those behind a pronoun, in a question, under "if" or "may", after "not", or expressed by "is a" or "has"
//! alone. tests/extract has sentences labelled by hand; tests/extract.rs measures how many relations are found.

mod phrases;
mod rules;
mod words;

use cftrag_core::Interruptible;
use phrases::Phrase;
use rules::{Match, Side};
use words::{Sentence, Sentences};

/// A relation, in the words of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relation {
    pub parent: String,
    pub child: String,
    /// The phrase that states it: "contains", "is part of", "such as", ..., each in one form; "modifier" for "renal
    /// artery" under "artery".
    pub relation: &'static str,
    pub sentence: String,
}

/// Bytes of the longest sentence that is read: longer ones are tables or code.
const MOST_BYTES: usize = 2000;

/// Passes the relations of a text to `take`, in the order of the text, each once per sentence. With `modifiers` also
/// passes each entity found that has several words, under its last word.
///
/// # Errors
/// The first error of `take`, which ends the extraction.
pub fn extract<E>(
    text: &str,
    modifiers: bool,
    work: &mut Interruptible<'_>,
    mut take: impl FnMut(Relation) -> Result<(), E>,
) -> Result<(), E> {
    let mut sentences = Sentences(text);
    while let Some(sentence) = sentences.next(work) {
        work.now();
        if sentence.len() <= MOST_BYTES {
            let relations = relations_of(&Sentence::of(sentence));
            let more = if modifiers { modifiers_of(&relations) } else { Vec::new() };
            relations.into_iter().chain(more).try_for_each(&mut take)?;
        }
    }
    Ok(())
}

fn relations_of(sentence: &Sentence<'_>) -> Vec<Relation> {
    let mut found = Vec::new();
    let matches = if sentence.is_question() { Vec::new() } else { rules::matches(sentence) };
    for (n, m) in matches.iter().enumerate() {
        let from = if n == 0 { 0 } else { matches[n - 1].end };
        let next = matches.get(n + 1);
        let to = next.map_or(sentence.len(), |next| next_begins(sentence, m, next));
        let Some((parents, children)) = sides(sentence, m, (from, to)) else { continue };
        for parent in &parents {
            for child in &children {
                let (parent, child) = (sentence.text(parent), sentence.text(child));
                if parent.to_lowercase() != child.to_lowercase() {
                    add(&mut found, relation(parent, child, m.relation, sentence.whole));
                }
            }
        }
    }
    found
}

fn relation(parent: String, child: String, relation: &'static str, sentence: &str) -> Relation {
    Relation { parent, child, relation, sentence: sentence.to_string() }
}

/// Where the part of the next match begins: at its subject, if it has one.
fn next_begins(sentence: &Sentence<'_>, m: &Match, next: &Match) -> usize {
    let has_subject = matches!(next.side, Side::SubjectIsParent | Side::SubjectIsChild);
    let subjects = if has_subject { phrases::subjects(sentence, m.end, next.start) } else { None };
    subjects.map_or(next.start, |subjects| subjects[0].start)
}

/// The noun phrases on both sides of a match, parents first.
fn sides(
    sentence: &Sentence<'_>,
    m: &Match,
    (from, to): (usize, usize),
) -> Option<(Vec<Phrase>, Vec<Phrase>)> {
    Some(match m.side {
        Side::SubjectIsParent | Side::SubjectIsChild => {
            let subjects = phrases::subjects(sentence, from, m.start)?;
            let objects = phrases::list_after(sentence, m.end, to, true);
            if m.side == Side::SubjectIsParent { (subjects, objects) } else { (objects, subjects) }
        }
        Side::ClassThenList => (
            vec![phrases::nearest_before(sentence, from, m.start)?],
            phrases::list_after(sentence, m.end, to, false),
        ),
        Side::SuchClassAs => {
            // "such X as A and B": the match is "such", and "as" follows the class.
            let at = (m.end..to).find(|&i| sentence.is(i, "as"))?;
            (
                vec![phrases::whole(sentence, m.end, at)?],
                phrases::list_after(sentence, at + 1, to, false),
            )
        }
        Side::ListThenClass => (
            vec![phrases::class_after(sentence, m.end, to)?],
            phrases::list_before(sentence, from, m.start)?,
        ),
    })
}

fn add(found: &mut Vec<Relation>, relation: Relation) {
    if !found.contains(&relation) {
        found.push(relation);
    }
}

/// Places each entity of several words under its last word; leaves out names (capitals inside) and entities with "of".
fn modifiers_of(relations: &[Relation]) -> Vec<Relation> {
    let mut found = Vec::new();
    for of in relations {
        for entity in [&of.parent, &of.child] {
            let words: Vec<&str> = entity.split_whitespace().collect();
            let is_small = |word: &&str| word.chars().all(|c| c.is_lowercase() || c == '-');
            if let [_, .., head] = words[..]
                && words.iter().skip(1).all(is_small)
                && !words.contains(&"of")
            {
                let under = relation(head.to_string(), entity.clone(), "modifier", &of.sentence);
                add(&mut found, under);
            }
        }
    }
    found
}
