//! English words in one number: mostly the singular, and the plural where that is the shorter one (fungi, mice,
//! bacteria).
//!
//! A word of less than five letters is a plural only if it is in a list, because many such words in -s are none: "thes"
//! is not "the". A verb's -s goes as well, which takes nothing apart.

use super::{Table, Word, ends};

/// Shortest word that loses an -s by rule.
const SHORTEST: usize = 5;

/// Changes a word to its usual number. Says whether it was another one.
pub(super) fn remove(word: &mut Word<'_>) -> bool {
    let of = word.get();
    let Some(last) = of.last() else { return false };
    match last {
        b's' => of_s(word),
        b'a' | b'e' | b'h' | b'i' | b'm' | b'n' | b't' => of_others(word),
        _ => false,
    }
}

/// Replaces the end of a word.
fn end(word: &mut Word<'_>, len: usize, with: &[u8]) -> bool {
    word.replace_end(len, with);
    true
}

fn of_s(word: &mut Word<'_>) -> bool {
    let of = word.get();
    if let Some(with) = IN_S.get(of) {
        return word.replace_all(with);
    }
    if of.len() < SHORTEST {
        let is_short = of.first_chunk().is_some_and(|of| SHORT.binary_search(of).is_ok());
        return is_short && end(word, 1, b"");
    }
    match of {
        // Cocci are shorter than a coccus.
        [.., b'c', b'o', b'c', b'c', b'u', b's'] => end(word, 2, b"i"),
        [.., b's' | b'u' | b'i' | b'o', b's'] | [.., b'0'..=b'9', b's'] => false,
        [.., b'i', b'e', b's'] if ends(of, &["series", "species"]) => false,
        // "Ties" and "lies" are no "ty" and "ly".
        [.., b'i', b'e', b's'] => of.len() > SHORTEST && end(word, 3, b"y"),
        [.., b's', b'e', b's'] => of_ses(word),
        [.., b'x' | b'z', b'e', b's'] if of.ends_with(b"xes") || ends(of, &["zzes", "tzes"]) => {
            end(word, 2, b"")
        }
        [.., b'c' | b's', b'h', b'e', b's'] => {
            let len = if ends(of, &IN_CHE) || of == b"aches" { 1 } else { 2 };
            end(word, len, b"")
        }
        [.., b'o', b'e', b's'] => {
            let has_e = ["shoes", "canoes", "oboes", "aloes", "floes", "sloes", "throes"];
            let len = if ends(of, &has_e) { 1 } else { 2 };
            end(word, len, b"")
        }
        [.., b'v', b'e', b's'] => of_ves(word),
        [.., b'c', b'e', b'p', b's'] => false,
        _ if of.ends_with(b"itides") => end(word, 3, b"s"),
        _ => end(word, 1, b""),
    }
}

/// Diseases, classes, viruses, and the analyses of an analysis.
fn of_ses(word: &mut Word<'_>) -> bool {
    let of = word.get();
    match of {
        [.., b's', b's', b'e', b's'] => end(word, 2, b""),
        [.., b'y', b's', b'e', b's'] => end(word, 2, b"is"),
        [.., b'e', b'e', b's', b'e', b's'] => end(word, 1, b""),
        [.., b'e', b's', b'e', b's'] => end(word, 2, b"is"),
        // Thromboses and diagnoses, but roses and purposes.
        [.., b'o', b's', b'e', b's'] => {
            let is_ose = ends(of, &["poses", "closes", "chooses", "nooses", "gooses", "looses"]);
            if is_ose { end(word, 1, b"") } else { end(word, 2, b"is") }
        }
        [.., b't', b'a', b's', b'e', b's'] if of.ends_with(b"stases") => end(word, 2, b"is"),
        // Causes and houses, but viruses.
        [.., b'a' | b'o' | b'e', b'u', b's', b'e', b's'] => end(word, 1, b""),
        [.., b'u', b's', b'e', b's'] => {
            let len = if of.ends_with(b"fuses") { 1 } else { 2 };
            end(word, len, b"")
        }
        _ => end(word, 1, b""),
    }
}

/// Knives and wolves, but gloves and olives.
fn of_ves(word: &mut Word<'_>) -> bool {
    let of = word.get();
    if ends(of, &["knives", "wives", "midlives"]) {
        end(word, 3, b"fe")
    } else if ends(
        of,
        &[
            "shelves", "wolves", "loaves", "thieves", "sheaves", "hooves", "scarves", "dwarves",
            "wharves",
        ],
    ) {
        end(word, 3, b"f")
    } else {
        end(word, 1, b"")
    }
}

/// Plurals that do not end in -s.
fn of_others(word: &mut Word<'_>) -> bool {
    let of = word.get();
    if let Some(with) = IN_OTHERS.get(of) {
        return word.replace_all(with);
    }
    match of {
        [.., b'm', b'a', b't', b'a'] if ends(of, &["omata", "edemata", "stigmata", "schemata"]) => {
            end(word, 2, b"")
        }
        [.., b'i', b'u', b'm'] if of.ends_with(b"bacterium") => end(word, 2, b"a"),
        [.., b's', b'm', b'e', b'n'] if of.len() > SHORTEST => end(word, 2, b"an"),
        _ => false,
    }
}

/// Plurals of words in -che.
#[rustfmt::skip]
static IN_CHE: [&str; 18] = [
    "apaches", "avalanches", "backaches", "bellyaches", "brioches", "caches", "creches", "douches", "earaches",
    "headaches", "heartaches", "niches", "pastiches", "psyches", "quiches", "staches", "stomachaches", "toothaches",
];
/// Common nouns of three letters in the plural, sorted, where the singular is no common word besides.
#[rustfmt::skip]
pub(super) static SHORT: [[u8; 4]; 122] = [
    *b"ants", *b"apes", *b"apps", *b"arms", *b"arts", *b"axes", *b"bags", *b"bars", *b"bats", *b"bays", *b"beds",
    *b"bees", *b"bibs", *b"bins", *b"boys", *b"bras", *b"bugs", *b"buns", *b"cabs", *b"cams", *b"caps", *b"cars",
    *b"cats", *b"cogs", *b"cots", *b"cows", *b"cubs", *b"cups", *b"days", *b"dogs", *b"dots", *b"dyes", *b"ears",
    *b"eels", *b"eggs", *b"eyes", *b"fans", *b"figs", *b"fins", *b"gaps", *b"gems", *b"guns", *b"guys", *b"gyms",
    *b"hams", *b"hats", *b"hens", *b"hips", *b"hoes", *b"hubs", *b"huts", *b"inks", *b"inns", *b"ions", *b"jams",
    *b"jars", *b"jaws", *b"jets", *b"jobs", *b"jugs", *b"keys", *b"kids", *b"kits", *b"labs", *b"laws", *b"legs",
    *b"lids", *b"lips", *b"logs", *b"maps", *b"mats", *b"mops", *b"mugs", *b"nets", *b"nuts", *b"oaks", *b"oars",
    *b"oils", *b"owls", *b"pads", *b"pans", *b"paws", *b"peas", *b"pegs", *b"pens", *b"pets", *b"pies", *b"pigs",
    *b"pins", *b"pits", *b"pods", *b"pots", *b"pubs", *b"rats", *b"rays", *b"ribs", *b"rims", *b"rods", *b"rows",
    *b"rugs", *b"seas", *b"skis", *b"sons", *b"spas", *b"tabs", *b"tags", *b"taps", *b"teas", *b"ties", *b"tins",
    *b"toes", *b"toys", *b"tubs", *b"urns", *b"vans", *b"vets", *b"vows", *b"wars", *b"webs", *b"wigs", *b"zips",
    *b"zoos",
];
/// Words in -s: those that are no plurals, or whose singular means something else (""), and plurals that no rule knows.
#[rustfmt::skip]
pub(super) static IN_S: Table = Table::of(&[
    ("abuses", "abuse"), ("accuses", "accuse"), ("adidas", ""), ("alias", ""), ("aliases", "alias"),
    ("alumnus", "alumni"), ("always", ""), ("amuses", "amuse"), ("apices", "apex"), ("appendices", "appendix"),
    ("arkansas", ""), ("ascites", ""), ("athens", ""), ("atlas", ""), ("atlases", "atlas"),
    ("avocados", "avocado"), ("bacillus", "bacilli"), ("bamboos", "bamboo"), ("beanies", "beanie"),
    ("besides", ""), ("bias", ""), ("biases", "bias"), ("bikinis", "bikini"), ("birdies", "birdie"), ("blues", ""),
    ("bookies", "bookie"), ("brasseries", "brasserie"), ("briefs", ""), ("bronchus", "bronchi"),
    ("brownies", "brownie"), ("burritos", "burrito"), ("cactus", "cacti"), ("calculus", "calculi"),
    ("calories", "calorie"), ("calves", "calf"), ("cannes", ""), ("canvas", ""), ("canvases", "canvas"),
    ("caries", ""), ("casinos", "casino"), ("cellos", "cello"), ("cervices", "cervix"), ("childrens", "child"),
    ("christmas", ""), ("clothes", ""), ("codices", "codex"), ("collies", "collie"), ("cookies", "cookie"),
    ("cortices", "cortex"), ("crises", "crisis"), ("customs", ""), ("cuties", "cutie"), ("dallas", ""),
    ("davies", ""), ("demos", "demo"), ("diabetes", ""), ("discos", "disco"), ("disuses", "disuse"),
    ("doses", "dose"), ("douglas", ""), ("elves", "elf"), ("embolus", "emboli"), ("embryos", "embryo"),
    ("emphases", "emphasis"), ("euros", "euro"), ("excuses", "excuse"), ("facies", ""), ("faeces", ""),
    ("feces", ""), ("flies", "fly"), ("focus", "foci"), ("freebies", "freebie"), ("fungus", "fungi"),
    ("gases", "gas"), ("genies", "genie"), ("goods", ""), ("graves", ""), ("gurus", "guru"), ("gyrus", "gyri"),
    ("halves", "half"), ("headquarters", ""), ("helices", "helix"), ("herpes", ""), ("hippies", "hippie"),
    ("hippopotamus", "hippopotami"), ("hives", ""), ("hoodies", "hoodie"), ("hoses", "hose"),
    ("humerus", "humeri"), ("indices", "index"), ("irises", "iris"), ("james", ""), ("jeans", ""), ("judas", ""),
    ("junkies", "junkie"), ("kangaroos", "kangaroo"), ("kansas", ""), ("kilos", "kilo"), ("kiwis", "kiwi"),
    ("lactobacillus", "lactobacilli"), ("larynges", "larynx"), ("leaves", "leaf"), ("lenses", "lens"),
    ("lives", "life"), ("locus", "loci"), ("logos", "logo"), ("loses", "lose"), ("lucas", ""),
    ("magpies", "magpie"), ("mangos", "mango"), ("mathematics", ""), ("matrices", "matrix"), ("means", ""),
    ("measles", ""), ("memos", "memo"), ("menageries", "menagerie"), ("meninges", ""), ("mens", "man"),
    ("menses", ""), ("menus", "menu"), ("mercedes", ""), ("metropolises", "metropolis"), ("misuses", "misuse"),
    ("modulus", "moduli"), ("molasses", ""), ("moses", ""), ("mosquitos", "mosquito"), ("movies", "movie"),
    ("mumps", ""), ("muses", "muse"), ("naples", ""), ("neckties", "necktie"), ("nevus", "nevi"), ("nicholas", ""),
    ("noses", "nose"), ("nowadays", ""), ("nucleus", "nuclei"), ("oases", "oasis"), ("octopus", "octopi"),
    ("others", ""), ("ourselves", ""), ("overdoses", "overdose"), ("overseas", ""), ("pancreas", ""),
    ("pancreases", "pancreas"), ("pants", ""), ("paris", ""), ("patisseries", "patisserie"), ("pelves", "pelvis"),
    ("pelvises", "pelvis"), ("penises", "penis"), ("perhaps", ""), ("peruses", "peruse"), ("phalanges", "phalanx"),
    ("pharynges", "pharynx"), ("photos", "photo"), ("pianos", "piano"), ("pixies", "pixie"),
    ("portfolios", "portfolio"), ("prairies", "prairie"), ("primroses", "primrose"), ("promos", "promo"),
    ("psoas", ""), ("quizzes", "quiz"), ("rabbis", "rabbi"), ("rabies", ""), ("radios", "radio"),
    ("radius", "radii"), ("ramus", "rami"), ("ratios", "ratio"), ("recluses", "recluse"), ("rhodes", ""),
    ("rookies", "rookie"), ("roses", "rose"), ("rotisseries", "rotisserie"), ("ruses", "ruse"),
    ("safaris", "safari"), ("scabies", ""), ("selfies", "selfie"), ("selves", "self"), ("series", ""),
    ("shampoos", "shampoo"), ("shingles", ""), ("shorts", ""), ("skies", "sky"), ("smoothies", "smoothie"),
    ("sometimes", ""), ("sorties", "sortie"), ("species", ""), ("spies", "spy"), ("stereos", "stereo"),
    ("stimulus", "stimuli"), ("studios", "studio"), ("sulcus", "sulci"), ("sweeties", "sweetie"),
    ("syllabus", "syllabi"), ("synopses", "synopsis"), ("tacos", "taco"), ("tattoos", "tattoo"), ("taxis", "taxi"),
    ("testes", "testis"), ("texas", ""), ("thanks", ""), ("theirs", ""), ("themselves", ""), ("thomas", ""),
    ("thrombus", "thrombi"), ("tights", ""), ("tofus", "tofu"), ("torsos", "torso"), ("towards", ""),
    ("trellises", "trellis"), ("tuxedos", "tuxedo"), ("ulysses", ""), ("unless", ""), ("uterus", "uteri"),
    ("varices", "varix"), ("vegas", ""), ("veggies", "veggie"), ("vertices", "vertex"), ("videos", "video"),
    ("villus", "villi"), ("volcanos", "volcano"), ("vortices", "vortex"), ("wales", ""), ("whereas", ""),
    ("womens", "woman"), ("yours", ""), ("yourselves", ""), ("zeros", "zero"), ("zombies", "zombie"),
]);

/// Other plurals of Germanic, Latin or Greek origin. One that is shorter than its singular is the normal form.
#[rustfmt::skip]
pub(super) static IN_OTHERS: Table = Table::of(&[
    ("addendum", "addenda"), ("algae", "alga"), ("alumnae", "alumna"), ("amebae", "ameba"), ("amoebae", "amoeba"),
    ("antennae", "antenna"), ("antrum", "antra"), ("aphthae", "aphtha"), ("aquarium", "aquaria"),
    ("areolae", "areola"), ("atrium", "atria"), ("automata", ""), ("automaton", "automata"), ("axillae", "axilla"),
    ("bullae", "bulla"), ("bursae", "bursa"), ("chairmen", "chairman"), ("children", "child"),
    ("conchae", "concha"), ("consortium", "consortia"), ("corpora", "corpus"), ("cranium", "crania"),
    ("criterion", "criteria"), ("curriculum", "curricula"), ("diverticulum", "diverticula"),
    ("endothelium", "endothelia"), ("epithelium", "epithelia"), ("erratum", "errata"), ("feet", "foot"),
    ("fibulae", "fibula"), ("firemen", "fireman"), ("fishermen", "fisherman"), ("fistulae", "fistula"),
    ("foramina", "foramen"), ("formulae", "formula"), ("fossae", "fossa"), ("ganglion", "ganglia"),
    ("geese", "goose"), ("genera", "genus"), ("gentlemen", "gentleman"), ("gymnasium", "gymnasia"),
    ("hyphae", "hypha"), ("lacunae", "lacuna"), ("larvae", "larva"), ("louse", "lice"), ("maculae", "macula"),
    ("maximum", "maxima"), ("memorandum", "memoranda"), ("men", "man"), ("millennium", "millennia"),
    ("minimum", "minima"), ("mitochondrion", "mitochondria"), ("mouse", "mice"), ("nebulae", "nebula"),
    ("optimum", "optima"), ("ovum", "ova"), ("oxen", "ox"), ("papillae", "papilla"), ("papulae", "papula"),
    ("personae", "persona"), ("petechiae", "petechia"), ("phenomenon", "phenomena"), ("policemen", "policeman"),
    ("postmen", "postman"), ("pupae", "pupa"), ("pustulae", "pustula"), ("scapulae", "scapula"),
    ("septum", "septa"), ("snowmen", "snowman"), ("spectrum", "spectra"), ("stadium", "stadia"),
    ("stratum", "strata"), ("striae", "stria"), ("symposium", "symposia"), ("teeth", "tooth"),
    ("tracheae", "trachea"), ("vertebrae", "vertebra"), ("women", "woman"), ("workmen", "workman"),
]);
