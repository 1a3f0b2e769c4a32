//! Tests of vocabularies against their definitions.

use proptest::prelude::*;

use super::distance::{MOST_CHARS, distance};
use super::letters::{Chars, Letters, Vocabulary};
use super::near::{Near, most};
use super::word::{MOST_COUNTED, Word};
use crate::filter::bucket::Entry;
use crate::memory::hash::Kind;
use crate::memory::root::{Counter, Field};
use crate::{Edge, Fate, HeapMemory, Image, Stamp, Step};

fn heap(bytes: usize) -> HeapMemory {
    let mut heap = HeapMemory::new(bytes);
    while heap.grow() {}
    Image::format(&heap, 7).unwrap().publish_chunks(heap.mapped());
    heap
}

fn insert(image: Image<'_>, name: &str, xmin: u64) {
    let edge = Edge { tree: None, parent: b"+", child: name.as_bytes() };
    image.insert(&edge, Some(Stamp { xmin, cmin: 0 })).unwrap();
}

fn verify(image: Image<'_>) {
    image.verify(&mut |problem| panic!("{problem:?}"));
}

/// Optimal string alignment by its definition.
fn naive_distance(a: &[char], b: &[char]) -> usize {
    let mut d = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            d[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let changed = d[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let best = changed.min(d[i - 1][j] + 1).min(d[i][j - 1] + 1);
                let exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                if exchanged { best.min(d[i - 2][j - 2] + 1) } else { best }
            };
        }
    }
    d[a.len()][b.len()]
}

/// The words near one, with their distances and counts, best first.
fn naive_near(words: &[(String, u32)], typed: &str) -> Vec<(usize, u32, String)> {
    let chars = |word: &str| word.chars().collect::<Vec<_>>();
    let typed = chars(typed);
    let mut near = Vec::new();
    for (word, count) in words {
        let word = chars(word);
        let distance = naive_distance(&typed, &word);
        if (1..=most(typed.len(), word.len())).contains(&distance) {
            near.push((distance, *count, word.iter().collect::<String>()));
        }
    }
    if typed.len() < 4 {
        near.clear();
    }
    near.sort_by(|a, b| (a.0, b.1, &a.2).cmp(&(b.0, a.1, &b.2)));
    near
}

fn near(image: Image<'_>, of: Vocabulary, typed: &str, budget: usize) -> Vec<(usize, u32, String)> {
    let mut near = Near::new();
    near.begin(of, typed.as_bytes());
    while near.step(image, budget) == Step::More {
        near.make_room(usize::MAX).unwrap();
    }
    let word = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let all = near.words().iter();
    let mut all: Vec<_> =
        all.map(|one| (one.distance as usize, one.count, word(one.word()))).collect();
    all.sort_by(|a, b| (a.0, b.1, &a.2).cmp(&(b.0, a.1, &b.2)));
    all.dedup();
    all
}

/// A word of a small alphabet.
fn word(letters: &'static str, chars: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let letters: Vec<char> = letters.chars().collect();
    proptest::collection::vec(proptest::sample::select(letters), chars)
        .prop_map(|chars| chars.into_iter().collect())
}

/// Makes up to three errors in a word.
fn misspell(word: &str, errors: &[(u8, usize, char)]) -> String {
    let mut chars: Vec<char> = word.chars().collect();
    for &(error, at, letter) in errors {
        let at = at % chars.len().max(1);
        match error {
            _ if chars.len() < 2 => {}
            0 => chars[at] = letter,
            1 => chars.insert(at, letter),
            2 => drop(chars.remove(at)),
            _ if at > 0 => chars.swap(at - 1, at),
            _ => chars.push(letter),
        }
    }
    chars.into_iter().collect()
}

fn errors(letters: &'static str) -> impl Strategy<Value = Vec<(u8, usize, char)>> {
    let letters: Vec<char> = letters.chars().collect();
    let error = (0..4_u8, 0..64_usize, proptest::sample::select(letters));
    proptest::collection::vec(error, 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_distance_is_that_of_the_definition(
        (a, b) in (word("ab", 0..20), word("ab", 0..20)),
        (long, errors) in (word("abč", 0..34), errors("abč")),
    ) {
        for (a, b) in [(a, b), (long.clone(), misspell(&long, &errors))] {
            let chars = |word: &str| Chars::<MOST_CHARS>::of(word.as_bytes()).unwrap();
            let (a, b) = (chars(&a), chars(&b));
            let naive = naive_distance(a.get(), b.get());
            for most in 1..=2 {
                prop_assert_eq!(distance(a.get(), b.get(), most), (naive <= most).then_some(naive));
            }
        }
    }

    #[test]
    fn every_near_word_is_found_and_no_other(
        words in proptest::collection::vec(word("abе語", 1..13), 1..40),
        more in proptest::collection::vec(word("ab", 8..13), 1..40),
        errors in proptest::collection::vec(errors("abе語"), 40),
        budget in 1..20_usize,
    ) {
        let heap = heap(1 << 18);
        let image = Image::open(&heap).unwrap();
        let mut known: Vec<(String, u32)> = Vec::new();
        for word in words.iter().chain(&more) {
            // Words of a small alphabet that normalising would change, or that are no single word, are not in the test.
            if word.contains('語') || !(3..=36).contains(&word.len()) {
                continue;
            }
            if known.iter().all(|(known, _)| known != word) {
                insert(image, word, 1);
                known.push((word.clone(), 1));
            }
        }
        for (i, (word, count)) in known.iter_mut().enumerate().step_by(3) {
            insert(image, &format!("{word} x"), 1);
            *count += 1;
            if i.is_multiple_of(2) {
                insert(image, &format!("{word} y {word}"), 1);
                *count += 1;
            }
        }
        verify(image);
        for ((word, count), errors) in known.iter().zip(&errors) {
            prop_assert_eq!(image.count_of(Vocabulary::Names, word.as_bytes()), *count);
            prop_assert_eq!(image.count_of(Vocabulary::Labels, word.as_bytes()), 0);
            let typed = misspell(word, errors);
            let found = near(image, Vocabulary::Names, &typed, budget);
            prop_assert_eq!(found, naive_near(&known, &typed), "{}", typed);
            prop_assert_eq!(near(image, Vocabulary::Labels, &typed, budget), []);
        }
    }
}

/// Every pair of words of a small alphabet, where the parts of long words begin anew.
#[test]
fn all_words_within_two_errors_of_one_are_found() {
    let long = "aabbcacbbab";
    for chars in [4, 5, 8, 9, 10, 11] {
        let word = &long[..chars];
        let mut typed = std::collections::BTreeSet::from([word.to_string()]);
        for _ in 0..2 {
            for one in typed.clone() {
                for error in 0..4 {
                    for at in 0..one.len() {
                        for letter in ['a', 'x'] {
                            typed.insert(misspell(&one, &[(error, at, letter)]));
                        }
                    }
                }
            }
        }
        let heap = heap(1 << 17);
        let image = Image::open(&heap).unwrap();
        insert(image, word, 1);
        for typed in typed {
            let found = near(image, Vocabulary::Names, &typed, usize::MAX);
            assert_eq!(found, naive_near(&[(word.into(), 1)], &typed), "{typed} {word}");
        }
    }
}

#[test]
fn words_go_with_the_last_name_that_has_them() {
    let heap = heap(1 << 18);
    let image = Image::open(&heap).unwrap();
    let empty = image.stats().bytes_used;
    let names = ["lung carcinoma", "carcinoma of lung", "Carcinoma (lung) carcinoma", "lunge"];
    for round in 0..3 {
        for (i, name) in names.iter().enumerate() {
            insert(image, name, 10 + i as u64);
        }
        let count = |word: &str| image.count_of(Vocabulary::Names, word.as_bytes());
        assert_eq!(["lung", "carcinoma", "lunge", "of"].map(count), [3, 3, 1, 0], "{round}");
        for gone in 1..=names.len() {
            image.settle(1, 10 + gone as u64, &|_| Fate::Aborted, &mut Vec::new());
            verify(image);
            let left = names.len() - gone;
            let lung = 3_usize.saturating_sub(gone);
            assert_eq!(["lung", "lunge"].map(count), [lung as u32, u32::from(left > 0)]);
        }
        assert_eq!(near(image, Vocabulary::Names, "lang", 9), []);
        assert_eq!(image.stats().slots_used, 0);
        assert_eq!(image.stats().bytes_used, empty);
    }
}

#[test]
fn words_of_labels_are_apart_and_words_with_digits_are_none() {
    let heap = heap(1 << 18);
    let image = Image::open(&heap).unwrap();
    let label =
        Edge { tree: Some(crate::LABELS), parent: b"Heart attack\0", child: b"C0 h3art heary" };
    image.insert(&label, None).unwrap();
    let of = |of, typed| near(image, of, typed, 100).into_iter().map(|(.., word)| word).collect();
    let [names, labels]: [Vec<String>; 2] =
        [Vocabulary::Names, Vocabulary::Labels].map(|kind| of(kind, "hearr"));
    assert_eq!((names, labels), (vec!["heary".into()], vec!["heart".into()]));
    assert_eq!(image.count_of(Vocabulary::Names, b"h3art"), 0);
    verify(image);
}

#[test]
fn a_chain_of_thousands_is_read_in_slices_and_left_at_once() {
    let heap = heap(1 << 22);
    let image = Image::open(&heap).unwrap();
    let letter = |n: usize| char::from(b"abcdefghijklmnopqrtuvwxyz"[n % 25]);
    let name = |n: usize| format!("samea{}{}{}", letter(n / 625), letter(n / 25), letter(n));
    for n in 0..5000 {
        insert(image, &name(n), 10 + n as u64);
    }
    let mut search = Near::new();
    search.begin(Vocabulary::Names, b"sameaabb");
    let mut steps = 1;
    while search.step(image, 100) == Step::More {
        search.make_room(usize::MAX).unwrap();
        steps += 1;
    }
    assert!((50..60).contains(&steps), "{steps}");
    assert!(search.words().len() > 20);
    assert!(search.words().iter().all(|word| word.distance == 1));
    // If the image changes at every step, the search is soon done in one.
    search.begin(Vocabulary::Names, b"sameaabb");
    let mut steps = 1;
    while search.step(image, 100) == Step::More {
        insert(image, &format!("sameaab{}k", letter(steps)), 90_000);
        steps += 1;
        assert!(steps < 20);
    }
    let before: Vec<_> = search.words().to_vec();
    search.begin(Vocabulary::Names, b"sameaabb");
    assert_eq!(search.step(image, usize::MAX), Step::Done);
    assert_eq!(search.words(), before);
    image.settle(5000, 80_000, &|_| Fate::Aborted, &mut Vec::new());
    verify(image);
}

#[test]
fn a_word_of_very_many_names_stays() {
    let heap = heap(1 << 18);
    let image = Image::open(&heap).unwrap();
    insert(image, "carcinoma one", 10);
    let word = image.word(Vocabulary::Names, b"carcinoma").unwrap().1;
    word.set_count(MOST_COUNTED - 1);
    insert(image, "carcinoma two", 11);
    insert(image, "carcinoma three", 12);
    image.settle(9, 20, &|_| Fate::Aborted, &mut Vec::new());
    assert_eq!(Word::new(&heap, word.id()).count(), MOST_COUNTED);
    assert_eq!(image.count_of(Vocabulary::Names, b"carcinoma"), MOST_COUNTED);
    assert_eq!(image.count_of(Vocabulary::Names, b"three"), 0);
    verify(image);
}

#[test]
fn a_name_whose_words_find_no_room_leaves_none() {
    let heap = heap(1 << 18);
    let image = Image::open(&heap).unwrap();
    insert(image, "lungs", 10);
    let record = image.key(Kind::Entity, b"lungs").record.unwrap();
    let seed = image.root().seed();
    let letters = Letters::of(b"carcinoma").unwrap();
    let own = Vocabulary::Names.hash(seed, b"carcinoma");
    for hash in letters.parts(Vocabulary::Names, seed).map(|(_, hash)| hash).chain([own]) {
        // Eight entries with one hash: no split separates them.
        for _ in 0..8 {
            assert!(image.forms().enter(hash, Entry::folded(hash, record), 0));
        }
        let (before, bytes) = (image.root().count(Counter::Forms), image.stats().bytes_used);
        let edge = Edge { tree: None, parent: b"+", child: b"heart lung carcinoma" };
        assert!(image.insert(&edge, None).is_err());
        assert_eq!(image.root().count(Counter::Forms), before);
        assert!(image.stats().bytes_used.abs_diff(bytes) % (64 * 64) == 0, "pages of splits only");
        assert_eq!(image.count_of(Vocabulary::Names, b"lung"), 1);
        assert_eq!(image.count_of(Vocabulary::Names, b"heart"), 0);
        let places: Vec<_> = image.forms().folded_entries(hash).collect();
        places.iter().for_each(|(place, _)| image.forms().set(*place, Entry::NONE));
        verify(image);
    }
}

#[test]
fn each_part_of_the_invariant_is_checked() {
    let broken = |harm: &dyn Fn(Image<'_>, Word<'_>)| {
        let heap = heap(1 << 18);
        let image = Image::open(&heap).unwrap();
        for name in ["carcinoma", "carcinomas", "carcinomb", "one"] {
            insert(image, name, 10);
        }
        harm(image, image.word(Vocabulary::Names, b"carcinoma").unwrap().1);
        let mut broken = Vec::new();
        image.verify(&mut |problem| broken.push(problem.invariant));
        broken.dedup();
        broken
    };
    assert_eq!(broken(&|_, _| {}), []);
    assert_eq!(broken(&|_, word| word.set_count(1)), [14]);
    assert_eq!(broken(&|image, word| word.unlink(image.mem(), 0)), [14]);
    assert_eq!(broken(&|image, word| word.link(image.mem(), 2, word.id())), [14]);
    assert_eq!(broken(&|image, _| image.root().set(Field::FreeHalf, 0)), [14]);
    let forget = |image: Image<'_>, _: Word<'_>| {
        let (place, _) = image.word(Vocabulary::Names, b"carcinomb").unwrap();
        image.forms().set(place, Entry::NONE);
    };
    assert!(broken(&forget).contains(&14));
}
