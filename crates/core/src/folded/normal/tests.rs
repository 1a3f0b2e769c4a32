use proptest::prelude::*;

use super::*;
use crate::folded::words::{TOO_LONG, fold};

/// The normal form of a word as people write it.
fn normal(language: Language, word: &str) -> String {
    let (mut folded, mut to) = (Vec::new(), b"before".to_vec());
    fold(word, &mut folded);
    to.reserve_exact(folded.len());
    let room = to.capacity();
    normalise(language, &folded, &mut to);
    assert_eq!(to.capacity(), room, "{word} takes memory");
    String::from_utf8(to.strip_prefix(b"before").unwrap().to_vec()).unwrap()
}

fn are_alike(language: Language, words: &[&[&str]]) {
    let mut wrong = Vec::new();
    for words in words {
        let all: Vec<String> = words.iter().map(|word| normal(language, word)).collect();
        if all.iter().any(|other| *other != all[0]) {
            wrong.push((words, all));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn differ(language: Language, pairs: &[[&str; 2]]) {
    let both = |pair: &[&str; 2]| pair.map(|word| normal(language, word));
    let is_wrong = |pair: &&[&str; 2]| both(pair)[0] == both(pair)[1];
    let wrong: Vec<_> = pairs.iter().filter(is_wrong).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn letters_are_those_that_people_type() {
    for (word, wanted) in [
        ("Horner's", "horner"),
        ("Horner’s", "horner"),
        ("patients'", "patients"),
        ("'s", "s"),
        ("O'Neil", "oneil"),
        ("Hawaiʻi", "hawaii"),
        ("U.S.A", "usa"),
        ("3.14", "3.14"),
        ("1,000", "1,000"),
        ("a1.b2", "a1b2"),
        ("snake_case", "snakecase"),
        ("Gruyère", "gruyere"),
        ("Zürich", "zurich"),
        ("Straße", "strasse"),
        ("Ångström", "angstrom"),
        ("Øresund", "oresund"),
        ("Łódź", "lodz"),
        ("Đà", "da"),
        ("Þór", "thor"),
        ("Ærø", "aero"),
        ("Œuvre", "oeuvre"),
        ("Iğdır", "igdir"),
        ("İstanbul", "istanbul"),
        ("ǿǽ", "oae"),
        ("Ελλάς", "ελλασ"),
        ("Ὀδυσσεύς", "οδυσσευσ"),
        ("Королёв", "королев"),
        ("за́мок", "замок"),
        ("Йорк", "йорк"),
        ("Їжак", "їжак"),
        ("об'єкт", "обєкт"),
        ("أحمد", "احمد"),
        ("مُحَمَّد", "محمد"),
        ("مدرسة", "مدرسه"),
        ("محـمد", "محمد"),
        ("ـ", ""),
        ("אַבְרָהָם", "אברהם"),
        ("ג'ירפה", "גירפה"),
        ("हिन्दी", "हिन्दी"),
        ("ภาษาไทย", "ภาษาไทย"),
        ("がく", "がく"),
        ("서울", "서울"),
        ("糖", "糖"),
        ("12", "12"),
        ("'", ""),
    ] {
        assert_eq!(normal(Language::Simple, word), wanted, "{word}");
    }
    let mut to = Vec::new();
    normalise(Language::English, TOO_LONG, &mut to);
    assert_eq!(to, TOO_LONG);
}

#[test]
fn english_words_of_one_meaning_are_alike() {
    are_alike(
        Language::English,
        &[
            &["rucksack", "rucksacks", "rucksack's", "rucksacks'"],
            &["knife", "knives"],
            &["hat", "hats", "HATS", "hat's"],
            &["box", "boxes"],
            &["city", "cities"],
            &["movie", "movies"],
            &["hero", "heroes"],
            &["photo", "photos"],
            &["shoe", "shoes"],
            &["size", "sizes"],
            &["nurse", "nurses"],
            &["house", "houses"],
            &["virus", "viruses"],
            &["class", "classes"],
            &["lens", "lenses"],
            &["rose", "roses"],
            &["purpose", "purposes"],
            &["dose", "doses"],
            &["acidosis", "acidoses"],
            &["automaton", "automata"],
            &["larva", "larvae"],
            &["glove", "gloves"],
            &["olive", "olives"],
            &["shelf", "shelves", "bookshelves".trim_start_matches("book")],
            &["headache", "headaches"],
            &["moustache", "mustache", "mustaches", "moustaches"],
            &["peach", "peaches"],
            &["arthritis", "arthritides"],
            &["man", "men", "men's", "mens"],
            &["woman", "women", "women's"],
            &["child", "children"],
            &["foot", "feet"],
            &["tooth", "teeth"],
            &["mouse", "mice"],
            &["goose", "geese"],
            &["analysis", "analyses"],
            &["diagnosis", "diagnoses"],
            &["thrombosis", "thromboses"],
            &["metastasis", "metastases"],
            &["hypothesis", "hypotheses"],
            &["disease", "diseases", "disease's"],
            &["carcinoma", "carcinomata", "carcinomas"],
            &["vertebra", "vertebrae", "vertebras"],
            &["fungus", "fungi", "funguses"],
            &["streptococcus", "streptococci"],
            &["bacterium", "bacteria"],
            &["criterion", "criteria"],
            &["stadium", "stadiums", "stadia"],
            &["appendix", "appendices", "appendixes"],
            &["index", "indices", "indexes"],
            &["naevus", "nevus", "naevi", "nevi"],
            &["haemorrhage", "hemorrhage", "haemorrhages"],
            &["anaemia", "anemia", "anaemias"],
            &["leukaemia", "leukemia", "leukaemias"],
            &["tumour", "tumor", "tumours", "tumors"],
            &["oedema", "edema", "oedemata", "lymphoedema".trim_start_matches("lymph")],
            &["oesophagus", "esophagus"],
            &["diarrhoea", "diarrhea"],
            &["foetus", "fetus", "foetuses"],
            &["coeliac", "celiac"],
            &["paediatrics", "pediatrics"],
            &["anaesthesia", "anesthesia"],
            &["gynaecology", "gynecology"],
            &["amoeba", "ameba", "amoebae"],
            &["faeces", "feces"],
            &["colour", "color", "colours"],
            &["behavioural", "behavioral"],
            &["neighbourhoods", "neighborhood"],
            &["grey", "gray", "greys"],
            &["jewellery", "jewelry"],
            &["woollen", "woolen", "woollens"],
            &["travelling", "traveling"],
            &["travellers", "traveler"],
            &["modelling", "modeling", "remodelling".trim_start_matches("re")],
            &["catalogue", "catalog", "catalogues", "catalogs"],
            &["centre", "center", "centres", "centers"],
            &["kilometre", "kilometer", "kilometres"],
            &["litre", "liter"],
            &["fibre", "fiber"],
            &["theatre", "theater"],
            &["mould", "mold", "moulds"],
            &["plough", "plow"],
            &["aluminium", "aluminum"],
            &["organise", "organize", "organises", "organizes"],
            &["organisation", "organization", "organisations"],
            &["analyse", "analyze"],
            &["defence", "defense"],
            &["licence", "license", "licences"],
            &["programme", "program", "programmes"],
            &["pyjamas", "pajamas"],
            &["draughts", "drafts"],
            &["sulphur", "sulfur"],
            &["manoeuvre", "maneuver"],
            &["disc", "disk", "discs"],
            &["café", "cafe", "cafés"],
        ],
    );
}

#[test]
fn english_words_of_different_meaning_differ() {
    differ(
        Language::English,
        &[
            ["does", "des"],
            ["the", "thes"],
            ["heroes", "heres"],
            ["boeing", "being"],
            ["canoed", "caned"],
            ["michael", "michel"],
            ["olives", "olife"],
            ["goods", "good"],
            ["shorts", "short"],
            ["aids", "aid"],
            ["cans", "can"],
            ["graves", "grave"],
            ["specimen", "speciman"],
            ["four", "for"],
            ["contour", "contor"],
            ["size", "sise"],
            ["marie", "mary"],
            ["1990s", "1990"],
            ["bass", "bas"],
            ["psyche", "psych"],
            ["we'll", "well"],
            ["i'm", "im"],
            ["U.S", "us"],
            ["pneumoniae", "pneumonia"],
            ["daemon", "demon"],
            ["shoestring", "shestring"],
            ["nurses", "nursis"],
        ],
    );
    for word in [
        "this",
        "bus",
        "gas",
        "lens",
        "diabetes",
        "class",
        "species",
        "series",
        "his",
        "is",
        "has",
        "was",
        "pancreas",
        "atlas",
        "news",
        "herpes",
        "virus",
        "analysis",
        "cosmos",
        "people",
        "israel",
        "aerobic",
        "phoenix",
        "poem",
        "surprise",
        "exercise",
        "noise",
        "hour",
        "shoulder",
        "boulder",
        "citizen",
        "lizard",
        "metal",
        "medallion",
        "rosaceae",
        "data",
        "media",
        "medium",
        "b12",
        "alzheimer",
        "does",
        "us",
        "its",
        "always",
        "abdomen",
    ] {
        assert_eq!(normal(Language::English, word), word);
    }
}

#[test]
fn listed_words_become_no_longer_and_stay_then() {
    for table in [&plural::IN_S, &plural::IN_OTHERS, &spelling::LISTED] {
        assert!(table.words.is_sorted());
        for (from, to) in table.words {
            assert!(to.len() <= from.len());
            let to = if to.is_empty() { from } else { to };
            let [from, to] = [from, to].map(|word| normal(Language::English, word));
            assert_eq!(from, to);
        }
    }
    assert!(plural::SHORT.is_sorted());
    for rule in &spelling::RULES {
        assert!(rule.to.len() <= rule.from.len());
    }
}

#[test]
fn other_languages_have_light_rules() {
    are_alike(
        Language::German,
        &[
            &["Schuh", "Schuhe", "Schuhen", "Schuhs"],
            &["Haus", "Häuser", "Häusern", "Hauses"],
            &["Lampe", "Lampen"],
            &["Hose", "Hosen"],
            &["Auto", "Autos"],
            &["Mann", "Männer"],
            &["Fuß", "Füße"],
            &["Lehrerin", "Lehrerinnen"],
            &["Preis", "Preise"],
        ],
    );
    are_alike(
        Language::French,
        &[
            &["chaussure", "chaussures"],
            &["cheval", "chevaux"],
            &["château", "châteaux"],
            &["bijou", "bijoux"],
            &["cheveu", "cheveux"],
            &["employé", "employée", "employés", "employées"],
            &["chien", "chiens", "chienne"],
            &["robe", "robes"],
        ],
    );
    differ(Language::French, &[["porte", "port"], ["fraise", "frais"], ["cours", "cour"]]);
    are_alike(
        Language::Spanish,
        &[
            &["zapato", "zapatos"],
            &["flor", "flores"],
            &["noche", "noches"],
            &["luz", "luces"],
            &["dulce", "dulces"],
            &["corazón", "corazones"],
            &["mes", "meses"],
            &["día", "días"],
        ],
    );
    differ(Language::Spanish, &[["puerto", "puerta"], ["casa", "caso"]]);
    are_alike(
        Language::Italian,
        &[
            &["libro", "libri"],
            &["scarpa", "scarpe"],
            &["amica", "amiche"],
            &["albergo", "alberghi"],
            &["orologio", "orologi"],
            &["museo", "musei"],
        ],
    );
    are_alike(
        Language::Portuguese,
        &[
            &["ação", "ações"],
            &["animal", "animais"],
            &["papel", "papéis"],
            &["homem", "homens"],
            &["pão", "pães"],
            &["mão", "mãos"],
            &["flor", "flores"],
            &["torre", "torres"],
            &["livro", "livros"],
            &["mês", "meses"],
        ],
    );
    are_alike(
        Language::Dutch,
        &[
            &["boek", "boeken"],
            &["kat", "katten"],
            &["huis", "huizen"],
            &["brief", "brieven"],
            &["school", "scholen"],
            &["kind", "kinderen"],
            &["tafel", "tafels"],
            &["foto", "foto's"],
        ],
    );
    differ(Language::Dutch, &[["bom", "boom"], ["man", "maan"]]);
    are_alike(
        Language::Swedish,
        &[
            &["bil", "bilar", "bilen", "bilarna"],
            &["flicka", "flickor", "flickan", "flickorna"],
            &["hus", "huset"],
            &["äpple", "äpplen", "äpplet"],
        ],
    );
}

#[test]
fn each_language_has_its_name_and_number() {
    for (number, (language, name)) in (0..).zip(LANGUAGES) {
        assert_eq!(Language::of(&name.to_uppercase()), Some(language));
        assert_eq!(language.name(), name);
        assert_eq!(language.number(), number);
        assert_eq!(Language::from_number(number), Some(language));
    }
    assert_eq!(Language::of("klingon"), None);
    assert_eq!(Language::from_number(9), None);
    assert_eq!(Language::default().number(), 0);
}

#[test]
fn function_words_are_normal() {
    for (language, _) in LANGUAGES {
        for word in function_words::of(language) {
            assert_eq!(&normal(language, word), word, "{language:?}");
            assert!(
                is_function_word(language, word.as_bytes())
                    && word.len() <= function_words::LONGEST
            );
        }
    }
    assert!(!is_function_word(Language::English, b"lung"));
    assert!(!is_function_word(Language::German, b"the"));
}

#[test]
fn common_words_are_normal_sorted_and_found() {
    for (language, _) in LANGUAGES {
        let words: Vec<&str> = common::of(language).text.split_whitespace().collect();
        assert!(words.len() >= 150, "{language:?}");
        let is_wrong = |word: &&str| normal(language, word) != *word;
        let wrong: Vec<_> = words.iter().filter(|word| is_wrong(word)).collect();
        let wanted: Vec<_> = wrong.iter().map(|word| normal(language, word)).collect();
        assert!(wrong.is_empty(), "{language:?} has {wrong:?} for {wanted:?}");
        for pair in words.windows(2) {
            assert!(pair[0] < pair[1], "{language:?}: {pair:?}");
        }
        for word in &words {
            assert!(
                word.len() >= common::SHORTEST && is_common(language, word.as_bytes()),
                "{word}"
            );
            // No part of a word, and no two of them, is one of them.
            for other in
                [&word[1..], &word[..word.len() - 1], &format!("{word} "), &format!("{word}q")]
            {
                assert_eq!(
                    is_common(language, other.as_bytes()),
                    words.contains(&other),
                    "{other}"
                );
            }
        }
        let two = words[..2].join(" ");
        assert!(!is_common(language, two.as_bytes()) && !is_common(language, b""));
    }
}

#[test]
fn common_words_near_names_are_known() {
    let are = |language, words: &str, wanted: bool| {
        for word in words.split(' ') {
            let is = is_common(language, normal(language, word).as_bytes());
            assert_eq!(is, wanted, "{language:?}: {word}");
        }
    };
    are(Language::English, "dancer strike feeder battle better choose jumper weather", true);
    are(Language::English, "Martin George Monday France walking looked Williams Neighbours", true);
    are(Language::English, "cancre strok strooke hammmer ashtma diabetis q zzzzzz aaaaaa", false);
    are(Language::Simple, "dancer strike", true);
    are(Language::German, "bezahlen", true);
    are(Language::German, "dancer", false);
    are(Language::French, "acheter", true);
    are(Language::Spanish, "comprar", true);
    are(Language::Italian, "comprare", true);
    are(Language::Portuguese, "comprar", true);
    are(Language::Dutch, "winkel", true);
    are(Language::Swedish, "viktig", true);
}

fn any_language() -> impl Strategy<Value = Language> {
    proptest::sample::select(LANGUAGES.map(|(language, _)| language).to_vec())
}

proptest! {
    #[test]
    fn a_normal_form_is_no_longer_and_its_own(
        language in any_language(),
        word in prop_oneof!["\\PC{0,12}", "[a-z']{0,12}", "[aeiou]?[a-z]{0,6}(s|es|sses|men|ae|i|us|um|ren|ize|our|aemia|xes){1,3}"],
    ) {
        let mut folded = Vec::new();
        fold(&word, &mut folded);
        let once = normal(language, &word);
        prop_assert!(once.len() <= folded.len());
        let mut twice = Vec::new();
        normalise(language, once.as_bytes(), &mut twice);
        prop_assert_eq!(twice, once.as_bytes());
    }

    #[test]
    fn bytes_that_are_not_text_are_appended(bytes in proptest::collection::vec(any::<u8>(), 0..8)) {
        let mut to = Vec::new();
        normalise(Language::English, &bytes, &mut to);
        prop_assert!(to.len() <= bytes.len());
        prop_assert!(str::from_utf8(&bytes).is_ok() || to == bytes);
    }
}
