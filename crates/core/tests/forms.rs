//! Names that a text writes otherwise: the joined and the unordered forms find what their definition says.

use std::collections::BTreeSet;
use std::ops::Range;

use cftrag_core::{
    AllSeen, Edge, Fate, FormKind, HeapMemory, Hint, Image, Interruptible, KnownWords, Language,
    MOST_WORDS, NormalText, Parts, Prefix, Reader, Recogniser, Seek, Stamp, Step, View, Visibility,
    Vocabulary, Words, fold, is_misspelled, is_spelled_otherwise, may_be_misspelled, normal_words,
    normalise, write_form, write_window,
};
use proptest::prelude::*;

type Found = BTreeSet<(usize, usize, Vec<u8>)>;

/// Every window of words compared with every name.
fn defined(names: &BTreeSet<String>, text: &str, kind: FormKind) -> Found {
    let mut words = Vec::new();
    for (at, word) in Words::of(text) {
        let (mut folded, mut normal) = (Vec::new(), Vec::new());
        fold(word, &mut folded);
        normalise(Language::English, &folded, &mut normal);
        if !normal.is_empty() {
            words.push((at, at + word.len(), normal));
        }
    }
    let mut known: BTreeSet<Vec<u8>> = BTreeSet::new();
    for name in names {
        let own = normal_words(Language::English, name.as_bytes()).unwrap_or_default();
        known.extend(own.split(|byte| *byte == b' ').map(<[u8]>::to_vec));
    }
    let mut found = Found::new();
    for first in 0..words.len() {
        for last in first..words.len().min(first + MOST_WORDS) {
            let window: Vec<&[u8]> = words[first..=last].iter().map(|word| &word.2[..]).collect();
            let (mut form, mut other) = (Vec::new(), Vec::new());
            if kind == FormKind::Misspelled {
                let unknown: Vec<usize> = (0..window.len())
                    .filter(|i| {
                        may_be_misspelled(Language::English, window[*i])
                            && !known.contains(window[*i])
                    })
                    .collect();
                let ([at], true) = (&unknown[..], window.len() <= 16) else { continue };
                let place = words[first].0..words[last].1;
                for name in names {
                    let typed = window.iter().copied();
                    if is_misspelled(
                        Language::English,
                        typed,
                        name.as_bytes(),
                        *at,
                        window.len() == words.len(),
                    ) && is_spelled_otherwise(kind, name.as_bytes(), text, place.clone(), true)
                    {
                        found.insert((place.start, place.end, name.clone().into_bytes()));
                    }
                }
                continue;
            }
            if !write_window(kind, Language::English, &window, &mut form) {
                continue;
            }
            let place = words[first].0..words[last].1;
            if kind == FormKind::Part {
                for name in names.iter().filter(|name| has_part(name, &window, text, &place)) {
                    found.insert((place.start, place.end, name.clone().into_bytes()));
                }
                continue;
            }
            for name in names {
                let count = Words::of(name).count();
                let cut = kind == FormKind::Joined && count != window.len() && form.len() < 6;
                if write_form(kind, Language::English, name.as_bytes(), &mut other)
                    && other == form
                    && !cut
                    && is_spelled_otherwise(kind, name.as_bytes(), text, place.clone(), true)
                {
                    found.insert((place.start, place.end, name.clone().into_bytes()));
                }
            }
        }
    }
    found
}

/// Whether these words are a part of a name that lists several things.
fn has_part(name: &str, window: &[&[u8]], text: &str, place: &Range<usize>) -> bool {
    Parts::of(Language::English, name.as_bytes()).all().iter().any(|part| {
        let own = normal_words(Language::English, part).unwrap_or_default();
        let own: Vec<&[u8]> = own.split(|byte| *byte == b' ').collect();
        let letters = own.concat();
        let counts = own.iter().any(|word| !FUNCTION.contains(&std::str::from_utf8(word).unwrap()));
        letters == window.concat()
            && letters.len() >= 3
            && counts
            && (own.len() == window.len() || letters.len() >= 6)
            && is_spelled_otherwise(FormKind::Part, part, text, place.clone(), true)
    })
}

/// The function words among the words of the tests.
const FUNCTION: [&str; 7] = ["a", "with", "from", "for", "the", "of", "in"];

/// Sees the rows of the transactions of which a bit is set.
struct Some64(u64);

impl Visibility for Some64 {
    fn view(&self, xid: u64, _hint: Hint) -> View {
        if self.0 >> (xid - 10) & 1 == 1 { View::Seen } else { View::Unseen }
    }
    fn learned(&self, _xid: u64) -> Hint {
        Hint::None
    }
    fn curcid(&self) -> u32 {
        0
    }
}

/// What a recogniser finds, in steps of so many slots.
fn found(
    image: Image<'_>,
    seen: &impl Visibility,
    text: &str,
    kind: FormKind,
    slots: usize,
) -> Found {
    let mut recogniser = Recogniser::new(Prefix::LENGTH);
    recogniser.match_case(true);
    recogniser.form(kind, Language::English);
    recogniser.begin(Seek::Entities, true);
    let (mut check_interrupts, mut steps) = (|| (), 0);
    let mut work = Interruptible::new(&mut check_interrupts);
    let mut normal = NormalText::default();
    normal.read(Language::English, text, usize::MAX, &mut work).unwrap();
    let mut known = KnownWords::default();
    let mut reader = Reader::normal(text, &normal);
    if kind == FormKind::Misspelled {
        known.begin(&normal, usize::MAX).unwrap();
        while known.step(image, Vocabulary::Names, seen, slots, &normal) != Step::Done {
            known.prepare(&normal, &mut work);
        }
        reader = Reader::misspelled(text, &normal, &known);
    }
    loop {
        recogniser.read(&mut reader, &mut work).unwrap();
        if recogniser.step(image, seen, slots, &reader) == Step::Done {
            break;
        }
        recogniser.make_room(slots).unwrap();
        steps += 1;
        assert!(steps < 100_000, "no progress");
    }
    recogniser.finish();
    let mentions = recogniser.mentions().iter();
    mentions.map(|m| (m.from, m.to, recogniser.name(m.entity).to_vec())).collect()
}

fn image_of(names: &BTreeSet<String>) -> HeapMemory {
    let mut heap = HeapMemory::new(1 << 24);
    while heap.grow() {}
    let image = Image::format(&heap, 7).unwrap();
    image.publish_chunks(heap.mapped());
    for (i, name) in names.iter().enumerate() {
        let stamp = Some(Stamp { xmin: 10 + i as u64, cmin: 0 });
        image.insert(&Edge { tree: None, parent: b"+", child: name.as_bytes() }, stamp).unwrap();
    }
    image.verify(&mut |problem| panic!("{problem:?}"));
    heap
}

const KINDS: [FormKind; 4] =
    [FormKind::Joined, FormKind::Unordered, FormKind::Misspelled, FormKind::Part];

const SOME: [&str; 32] = [
    "rain",
    "with",
    "from",
    "boot",
    "boots",
    "rainboots",
    "for",
    "the",
    "of",
    "children",
    "carcinoma",
    "carcinomas",
    "pelvis",
    "renal",
    "Horner's",
    "Horner",
    "syndrome",
    "hats",
    "hat",
    "a",
    "in",
    "be",
    "Cafés",
    "cafe",
    "Королёв",
    "королев",
    "糖尿",
    "3",
    "kinase",
    "kinase2",
    "IT",
    "C++",
];

/// The words, some of them misspelled.
fn text(most: usize) -> impl Strategy<Value = String> {
    let harm = proptest::collection::vec((any::<prop::sample::Index>(), 0..4_u8), 0..6);
    (words(most), harm).prop_map(|(text, harms)| {
        let mut letters: Vec<char> = text.chars().collect();
        for (at, kind) in harms {
            let at = at.index(letters.len());
            match kind {
                0 => letters[at] = 'x',
                1 => letters.insert(at, 'a'),
                2 if letters.len() > 1 => _ = letters.remove(at),
                _ if at > 0 => letters.swap(at - 1, at),
                _ => {}
            }
        }
        letters.into_iter().collect()
    })
}

fn words(most: usize) -> impl Strategy<Value = String> {
    let word = proptest::sample::select(&SOME[..]);
    let gap = proptest::sample::select(&[" ", " ", " ", "-", ", ", " & ", "/"][..]);
    proptest::collection::vec((word, gap), 1..most).prop_map(|parts| {
        let all: String = parts.iter().flat_map(|(word, gap)| [*word, *gap]).collect();
        all.trim_end_matches([' ', '-', ',', '&', '/']).to_string()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn each_form_finds_what_its_definition_says(
        names in proptest::collection::btree_set(words(6), 1..25),
        text in text(40),
        slots in prop_oneof![Just(1_usize), Just(7), Just(100_000)],
        seen in any::<u64>(),
    ) {
        let heap = image_of(&names);
        let image = Image::open(&heap).unwrap();
        for kind in KINDS {
            prop_assert_eq!(found(image, &AllSeen, &text, kind, slots), defined(&names, &text, kind), "{:?}", kind);
        }
        // A snapshot that does not see all names finds others misspelled.
        let visible = names.iter().enumerate().filter(|(i, _)| seen >> i & 1 == 1);
        let visible = visible.map(|(_, name)| name.clone()).collect();
        for kind in KINDS {
            let found = found(image, &Some64(seen), &text, kind, slots);
            prop_assert_eq!(found, defined(&visible, &text, kind), "{:?}", kind);
        }
        // Names go again, in another order.
        let gone = names.len() / 2;
        image.settle(usize::MAX, 10 + gone as u64, &|_| Fate::Aborted, &mut Vec::new());
        image.verify(&mut |problem| panic!("{problem:?}"));
        let left = names.iter().skip(gone).cloned().collect();
        for kind in KINDS {
            prop_assert_eq!(found(image, &AllSeen, &text, kind, slots), defined(&left, &text, kind), "{:?}", kind);
        }
    }
}

#[test]
fn many_names_of_one_form_come_and_go() {
    // A text that cuts the same letters in many ways.
    let names: BTreeSet<String> = (0..4096_u32)
        .map(|i| {
            let cut = |bit: u32| if i >> bit & 1 == 1 { "-" } else { "" };
            "abcdefghijklm".chars().zip(0..).map(|(c, bit)| format!("{c}{}", cut(bit))).collect()
        })
        .map(|name: String| name.trim_end_matches('-').to_string())
        .collect();
    let heap = image_of(&names);
    let image = Image::open(&heap).unwrap();
    // The name of thirteen single letters needs its hyphens.
    let all = found(image, &AllSeen, "ABC defg hijklm", FormKind::Joined, 1000);
    assert_eq!(all.len(), names.len() - 1);
    image.settle(usize::MAX, u64::MAX, &|_| Fate::Aborted, &mut Vec::new());
    image.verify(&mut |problem| panic!("{problem:?}"));
    assert_eq!(image.stats().entities, 0);
    // The entries of beginnings that many names had stay.
    assert!(image.stats().slots_used <= 4);
}

#[test]
fn a_word_that_is_near_thousands_is_looked_up_in_parts() {
    let letter = |n: usize| char::from(b"abcdefghijklmnopqrstuvwxyz"[n % 26]);
    let names: BTreeSet<String> = (0..8000)
        .map(|n| format!("neurotransmi{}{}{}r", letter(n), letter(n / 26), letter(n / 676)))
        .collect();
    let mut heap = HeapMemory::new(1 << 24);
    while heap.grow() {}
    let image = Image::format(&heap, 7).unwrap();
    image.publish_chunks(heap.mapped());
    for name in &names {
        image.insert(&Edge { tree: None, parent: b"+", child: name.as_bytes() }, None).unwrap();
    }
    for text in ["neurotransmiabxr", "neurotransmiabxr is", "is neurotransmiabxr x"] {
        let all = found(image, &AllSeen, text, FormKind::Misspelled, 1000);
        assert_eq!(all, defined(&names, text, FormKind::Misspelled), "{text}");
        assert!(!all.is_empty());
    }
}
