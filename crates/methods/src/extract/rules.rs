//! The phrases that express a relation.

use super::words::{Sentence, is_among};

/// The sides of the phrase on which the parent and the children are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The nephron *consists of* A and B.
    SubjectIsParent,
    /// A and B *belong to* the nephron.
    SubjectIsChild,
    /// Diseases *such as* A and B.
    ClassThenList,
    /// *Such* diseases as A and B.
    SuchClassAs,
    /// A, B *and other* diseases.
    ListThenClass,
}

/// A phrase that was found: tokens `start` to `end`.
pub struct Match {
    pub start: usize,
    pub end: usize,
    pub side: Side,
    pub relation: &'static str,
}

/// A rule: alternatives for each word, separated by |. `~` is any number of adverbs; a word after `?` may be missing.
struct Rule(&'static str, Side, &'static str);

const RULES: [Rule; 19] = [
    Rule("contains|contain|contained", Side::SubjectIsParent, "contains"),
    Rule("consists|consist|consisted ~ of", Side::SubjectIsParent, "consists of"),
    Rule("includes|include|included", Side::SubjectIsParent, "includes"),
    Rule("comprises|comprise|comprised", Side::SubjectIsParent, "comprises"),
    Rule("is|are|was|were ~ composed|comprised ~ of", Side::SubjectIsParent, "is composed of"),
    Rule("is|are|was|were ~ made ~ up ~ of", Side::SubjectIsParent, "is composed of"),
    Rule("is|are|was|were ~ divided|subdivided ~ into", Side::SubjectIsParent, "is divided into"),
    Rule("belongs|belong|belonged ~ to", Side::SubjectIsChild, "belongs to"),
    Rule(
        "is|are|was|were ~ ?a|an|one ?integral|essential|important part|parts|component|components of",
        Side::SubjectIsChild,
        "is part of",
    ),
    Rule(
        "is|are|was|were ~ ?a|an member|members|division|divisions|subdivision|subdivisions|branch|branches|segment|segments of",
        Side::SubjectIsChild,
        "is part of",
    ),
    Rule("is|are|was|were ~ contained|included in", Side::SubjectIsChild, "is contained in"),
    Rule("is|are|was|were ~ located|situated in", Side::SubjectIsChild, "is located in"),
    Rule("is|are|was|were ~ dependent ~ on|upon", Side::SubjectIsChild, "is dependent on"),
    Rule("depends|depend|depended ~ on|upon", Side::SubjectIsChild, "is dependent on"),
    Rule(
        "is|are|was|were ~ ?a|an|one kind|kinds|type|types|form|forms|sort|sorts|subtype|subtypes|subclass|subclasses of",
        Side::SubjectIsChild,
        "is a kind of",
    ),
    Rule("such as", Side::ClassThenList, "such as"),
    Rule(", including|especially|particularly|notably", Side::ClassThenList, "such as"),
    Rule("such", Side::SuchClassAs, "such as"),
    Rule("and|or other", Side::ListThenClass, "and other"),
];

/// The phrases of the rules that occur in a sentence, from left to right; at each place the first rule that matches.
pub fn matches(sentence: &Sentence<'_>) -> Vec<Match> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < sentence.len() {
        let here = RULES.iter().find_map(|Rule(phrase, side, relation)| {
            let end = phrase.split(' ').try_fold(at, |at, part| step(sentence, at, part))?;
            Some(Match { start: at, end, side: *side, relation })
        });
        match here {
            Some(m) => {
                at = m.end;
                found.push(m);
            }
            None => at += 1,
        }
    }
    found
}

fn step(sentence: &Sentence<'_>, mut at: usize, part: &str) -> Option<usize> {
    if part == "~" {
        while is_adverb(sentence.small(at)) {
            at += 1;
        }
        return Some(at);
    }
    let (optional, words) = part.strip_prefix('?').map_or((false, part), |words| (true, words));
    if words.split('|').any(|word| sentence.is(at, word)) {
        return Some(at + 1);
    }
    optional.then_some(at)
}

/// Words that may be beside a verb without changing the sense (unlike "hardly" and "partly").
pub fn is_adverb(word: &str) -> bool {
    const ADVERBS: &str = "also mainly mostly usually often typically generally primarily chiefly largely \
        commonly normally essentially then now still always currently today directly strongly \
        heavily entirely wholly solely itself themselves therefore thus further both basically \
        traditionally officially";
    is_among(ADVERBS, word)
}
