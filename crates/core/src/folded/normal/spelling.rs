//! English words in one spelling, of the British and the American one: mostly the shorter.
//!
//! ```text
//!   haemorrhage   oesophagus   colour   centre   catalogue   traveller   organize   analyze
//!   hemorrhage    esophagus    color    center   catalog     traveler    organise   analyse
//! ```
//!
//! A rule says what is around its letters, so that "Israel", "Michael", "shoe", "poem", "four" and "contour" stay. Of
//! "organize", the z changes: an s would need a list of exceptions (surprise, exercise).

use super::{LETTERS, Table, Word, bit, ends};

/// Letters that are replaced where others are before and after them.
pub(super) struct Rule {
    pub(super) from: &'static str,
    pub(super) to: &'static str,
    /// What is before and after: nothing is anything.
    around: &'static [(&'static str, &'static str)],
}

#[rustfmt::skip]
pub(super) const RULES: [Rule; 13] = [
    Rule { from: "ae", to: "e", around: &[
        ("", "mi"), ("h", "m"), ("k", "mo"), ("", "sth"), ("an", "s"), ("c", "cu"), ("c", "co"), ("c", "ca"), ("f", "c"), ("p", "d"),
        ("n", "co"), ("ch", "o"), ("l", "o"), ("di", "va"), ("l", "vo"), ("c", "sare"), ("c", "sari"), ("c", "siu"), ("n", "v"),
        ("t", "nia"), ("y", "na"), ("im", "r"), ("pr", "v"), ("", "tiol"), ("", "tiop"),
    ] },
    Rule { from: "oe", to: "e", around: &[
        ("", "dem"), ("", "soph"), ("", "stro"), ("", "stra"), ("", "stru"), ("f", "t"), ("c", "li"), ("c", "lom"), ("m", "ba"), ("m", "bi"), ("rrh", ""),
        ("pn", ""), ("om", "o"), ("p", "ia"), ("n", "uv"), ("", "nolog"), ("", "cumen"),
    ] },
    Rule { from: "our", to: "or", around: &[
        ("col", ""), ("tum", ""), ("behavi", ""), ("flav", ""), ("harb", ""), ("neighb", ""), ("od", ""), ("vap", ""),
        ("arm", ""), ("fav", ""), ("lab", ""), ("hum", ""), ("rum", ""), ("hon", ""), ("ard", ""), ("cand", ""), ("clam", ""),
        ("demean", ""), ("endeav", ""), ("enam", ""), ("ferv", ""), ("glam", ""), ("parl", ""), ("ranc", ""), ("rig", ""),
        ("savi", ""), ("sav", ""), ("splend", ""), ("succ", ""), ("val", ""), ("vig", ""), ("arb", ""),
    ] },
    Rule { from: "ou", to: "o", around: &[("m", "ld"), ("m", "lt")] },
    Rule { from: "ough", to: "ow", around: &[("pl", "")] },
    Rule { from: "augh", to: "af", around: &[("dr", "t")] },
    Rule { from: "lph", to: "lf", around: &[("su", "")] },
    Rule { from: "uk", to: "uc", around: &[("le", "em"), ("le", "o")] },
    Rule { from: "efence", to: "efense", around: &[("d", "")] },
    Rule { from: "ffence", to: "ffense", around: &[("o", "")] },
    Rule { from: "urism", to: "urysm", around: &[("ane", "")] },
    Rule { from: "nquill", to: "nquil", around: &[("tra", "")] },
    Rule { from: "ogu", to: "og", around: &[("catal", "ed"), ("catal", "in"), ("catal", "er")] },
];

/// Stems that double their l in British English before an ending.
#[rustfmt::skip]
const DOUBLED: [&str; 55] = [
    "travel", "model", "cancel", "label", "level", "fuel", "signal", "channel", "panel", "tunnel", "counsel", "jewel",
    "marvel", "dial", "equal", "total", "rival", "duel", "shovel", "shrivel", "snivel", "swivel", "towel", "quarrel",
    "pedal", "medal", "funnel", "kennel", "libel", "chisel", "bevel", "apparel", "barrel", "gravel", "grovel",
    "yodel", "wool", "tinsel", "pencil", "stencil", "carol", "spiral", "ravel", "devil", "revel", "dishevel",
    "parcel", "enamel", "trowel", "cruel", "hovel", "initial", "trial", "victual", "bushel",
];
/// The endings, which may have others behind them.
const ENDINGS: [&str; 9] = ["ed", "ing", "er", "or", "ous", "en", "est", "ist", "ery"];
/// Words in -re, and those in -ogue.
const IN_RE: [&str; 16] = [
    "centre",
    "metre",
    "litre",
    "fibre",
    "theatre",
    "calibre",
    "sabre",
    "sombre",
    "spectre",
    "lustre",
    "meagre",
    "goitre",
    "titre",
    "sepulchre",
    "mitre",
    "saltpetre",
];
const IN_OGUE: [&str; 5] = ["catalogue", "dialogue", "analogue", "monologue", "homologue"];

/// For each first letter, the second letters of the pairs with which a rule begins. Few words have such a pair.
static PAIRS: [u32; LETTERS] = pairs();

const fn pairs() -> [u32; LETTERS] {
    let mut pairs = [0; LETTERS];
    let (mut letter, mut number) = (b'a', 0);
    while number < LETTERS {
        let mut i = 0;
        while i < RULES.len() {
            let [first, second, ..] = RULES[i].from.as_bytes() else { panic!("a rule is short") };
            if *first == letter {
                pairs[number] |= bit(*second);
            }
            i += 1;
        }
        pairs[number] |= match letter {
            b'i' | b'y' => bit(b'z'),
            b'l' => bit(b'l'),
            _ => 0,
        };
        letter += 1;
        number += 1;
    }
    pairs
}

/// Whether a rule may begin with these two letters.
#[inline]
fn may_begin(first: u8, second: u8) -> bool {
    let pairs = PAIRS.get(usize::from(first.wrapping_sub(b'a')));
    pairs.is_some_and(|pairs| pairs & bit(second) != 0)
}

/// Letters before the z of -ize.
const BEFORE_IZE: usize = 3;

/// Changes a word to its usual spelling. Says whether it was another one.
pub(super) fn unite(word: &mut Word<'_>) -> bool {
    if let Some(with) = LISTED.get(word.get()) {
        return word.replace_all(with);
    }
    let mut changed = unite_end(word);
    let mut from = 0;
    while let Some(at) = next_place(word.get(), from) {
        changed |= unite_at(word, at);
        from = at + 1;
    }
    changed
}

/// The first place from there on where a rule may begin.
fn next_place(word: &[u8], from: usize) -> Option<usize> {
    let mut pairs = word.get(from..)?.windows(2);
    pairs.position(|pair| may_begin(pair[0], pair[1])).map(|at| from + at)
}

/// The spelling of a word's end: centre, catalogue.
fn unite_end(word: &mut Word<'_>) -> bool {
    match word.get() {
        // Mostly it is a word such as "more" and "are".
        of @ [.., b'b' | b'g' | b'h' | b't', b'r', b'e'] if ends(of, &IN_RE) => {
            word.replace_end(2, b"er")
        }
        of @ [.., b'u', b'e'] if ends(of, &IN_OGUE) => word.replace_end(2, b""),
        [b'g', b'r', b'e', b'y', ..] => word.replace(2, 1, b"a"),
        _ => return false,
    }
    true
}

/// The spelling of the letters at that place.
fn unite_at(word: &mut Word<'_>, at: usize) -> bool {
    let (before, from) = word.get().split_at(at);
    match from {
        [b'i', b'z', rest @ ..] if at >= BEFORE_IZE && is_verb(rest) => {
            word.replace(at + 1, 1, b"s");
            return true;
        }
        [b'y', b'z', rest @ ..] if ends(before, &["al", "ol"]) && is_verb(rest) => {
            word.replace(at + 1, 1, b"s");
            return true;
        }
        [b'l', rest @ ..] if rest.first() == Some(&b'l') => {
            let rest = &rest[1..];
            let (stem, _) = word.get().split_at(at + 1);
            if ENDINGS.iter().any(|ending| rest.starts_with(ending.as_bytes()))
                && ends(stem, &DOUBLED)
            {
                word.replace(at, 1, b"");
                return true;
            }
        }
        _ => {}
    }
    for rule in &RULES {
        if let Some(after) = from.strip_prefix(rule.from.as_bytes())
            && rule.around.iter().any(|(one, other)| {
                before.ends_with(one.as_bytes()) && after.starts_with(other.as_bytes())
            })
        {
            word.replace(at, rule.from.len(), rule.to.as_bytes());
            return true;
        }
    }
    false
}

/// Whether these letters end a verb in -ize, or a noun of one.
fn is_verb(rest: &[u8]) -> bool {
    matches!(rest, b"e" | b"es" | b"ed" | b"er" | b"ers" | b"ing" | b"ings" | b"able")
        || rest.starts_with(b"ation")
}

/// Words that no rule unites.
#[rustfmt::skip]
pub(super) static LISTED: Table = Table::of(&[
    ("acknowledgement", "acknowledgment"), ("adaptor", "adapter"), ("advisor", "adviser"),
    ("aeroplane", "airplane"), ("ageing", "aging"), ("aluminium", "aluminum"), ("artefact", "artifact"),
    ("carburettor", "carburetor"), ("centered", "centerd"), ("centred", "centerd"), ("chequered", "checkered"),
    ("chilli", "chili"), ("cosy", "cozy"), ("dietician", "dietitian"), ("disc", "disk"), ("distill", "distil"),
    ("doughnut", "donut"), ("enquire", "inquire"), ("enquiry", "inquiry"), ("enroll", "enrol"),
    ("enrollment", "enrolment"), ("fibreglass", "fiberglass"), ("fulfill", "fulfil"),
    ("fulfillment", "fulfilment"), ("gaol", "jail"), ("gelatine", "gelatin"), ("gipsy", "gypsy"),
    ("installment", "instalment"), ("instill", "instil"), ("jewellery", "jewelry"), ("judgement", "judgment"),
    ("licence", "license"), ("licenced", "licensed"), ("liquorice", "licorice"), ("maneuvre", "maneuver"),
    ("manoeuvre", "maneuver"), ("mollusc", "mollusk"), ("moustache", "mustache"), ("neurone", "neuron"),
    ("omelette", "omelet"), ("practise", "practice"), ("practised", "practiced"), ("practising", "practicing"),
    ("pretence", "pretense"), ("programme", "program"), ("pyjama", "pajama"), ("sceptic", "skeptic"),
    ("sceptical", "skeptical"), ("scepticism", "skepticism"), ("skillful", "skilful"), ("speciality", "specialty"),
    ("tsar", "czar"), ("willful", "wilful"), ("yoghourt", "yogurt"), ("yoghurt", "yogurt"),
]);
