//! Rewrites a text without the forms in which a sentence writes a name: possessives, elisions, underscores, a full stop
//! or a colon without a blank after it, suffixes behind an apostrophe or a colon, Korean particles, Hebrew and Arabic
//! prefixes, and what HTML writes for a sign.
//!
//! ```text
//!   the clinic's hours   l'usine, dell'arte   _heart failure_ of cancer.Anything   서울에서는   Sivas'ta WHO:n   Home &amp; Pets
//!   the clinic   hours     usine,      arte    heart failure  of cancer Anything   서울         Sivas    WHO     Home &     Pets
//! ```
//!
//! A word with both an elision and a possessive loses the possessive only: of "L'Oréal's", "L'Oréal" is left. Of a word
//! with prefixes at least two letters are left.
//!
//! Each removed character is replaced by a blank of as many bytes, so a place is the same in both texts.

use crate::memory::interruptible::Interruptible;

/// The words before the apostrophe of an elision, in French, Italian and Catalan.
const ELIDED: [&str; 29] = [
    "c", "d", "j", "l", "m", "n", "s", "t", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu", "quelqu",
    "presqu", "entr", "un", "all", "coll", "dall", "dell", "nell", "sull", "quell", "quest",
    "sant", "bell", "anch", "com",
];
/// Letters of the longest elision.
const LONGEST: usize = 6;
/// Bytes of a word behind an elision in which its possessive is looked for.
const LONGEST_WORD: usize = 256;
/// What follows a noun in Korean within one word: particles, two of them, the copula; sorted by bytes. Two groups are
/// left out: single syllables that often end a noun (나, 라, 야, 인), and pairs whose first syllable often does (사과는 is not
/// 사 and 과는), such as the plural (아들은).
#[rustfmt::skip]
const PARTICLES: [&str; 103] = [
    "가", "같이", "과", "까지", "까지는", "까지도", "까지만", "까지의", "께", "께서", "께서는",
    "께서도", "는", "는커녕", "도", "라고", "라는", "랑", "로", "로부터", "로부터는", "로서",
    "로서는", "로써", "를", "마다", "마저", "마저도", "만", "만큼", "만큼도", "만큼은", "만큼의",
    "밖에", "보다", "보다는", "보다도", "부터", "부터는", "부터의", "뿐", "뿐만", "에", "에게",
    "에게까지", "에게는", "에게도", "에게만", "에게서", "에까지", "에는", "에도", "에만", "에서",
    "에서까지", "에서는", "에서도", "에서만", "에서보다", "에서부터", "에서의", "와", "와는",
    "와도", "와의", "으로", "으로는", "으로도", "으로만", "으로부터", "으로서", "으로서는",
    "으로써", "으로의", "은", "은커녕", "을", "의", "이", "이나", "이나마", "이다", "이든",
    "이든지", "이라고", "이라는", "이라도", "이란", "이랑", "이며", "이야말로", "인가요", "입니까",
    "입니다", "조차", "조차도", "처럼", "커녕", "하고", "한테", "한테는", "한테도", "한테서",
];
/// Syllables of the longest particle.
const MOST_SYLLABLES: usize = 4;
/// Bytes of a curly apostrophe and of a Korean syllable.
const WIDE: usize = 3;
/// The blanks of two and of three bytes.
const BLANKS: [&[u8]; 2] = ["\u{A0}".as_bytes(), "\u{2003}".as_bytes()];
/// What stands behind an apostrophe in English that is no suffix of a name.
const CONTRACTED: [&str; 7] = ["t", "m", "ll", "re", "ve", "d", "s"];
/// Letters of the longest suffix behind an apostrophe or a colon.
const LONGEST_SUFFIX: usize = 8;
/// What HTML writes for a sign, behind the &.
const ENTITIES: [&str; 14] = [
    "amp;", "nbsp;", "quot;", "apos;", "lt;", "gt;", "#39;", "#160;", "#38;", "#34;", "#x26;",
    "#x27;", "#x22;", "#xa0;",
];
/// Letters that are left of a word without its prefixes, at least.
const LEAST_LEFT: usize = 2;
/// Letters of the longest word that may have prefixes, and one more.
const MOST_PREFIXED: usize = 32;
/// Bytes read between two steps.
const EACH: usize = 64;

/// A range to rewrite: the characters from byte `from` up to `to`, of up to three bytes each.
struct Rewriting {
    from: usize,
    to: usize,
}

/// Rewrites the text in a copy, which `copy` makes if there is something to rewrite.
pub fn plain<E>(
    text: &[u8],
    work: &mut Interruptible<'_>,
    copy: impl FnOnce(&[u8]) -> Result<Vec<u8>, E>,
) -> Result<Option<Vec<u8>>, E> {
    let Some(first) = first_from(text, 0, work) else { return Ok(None) };
    let mut plain = copy(text)?;
    let mut next = Some(first);
    while let Some((at, Rewriting { from, to })) = next {
        blank(&mut plain[from..to]);
        next = first_from(&plain, at + 1, work);
    }
    Ok(Some(plain))
}

/// Replaces each character by a blank of as many bytes.
fn blank(text: &mut [u8]) {
    let mut at = 0;
    while at < text.len() {
        let behind = text[at + 1..].iter().take_while(|byte| **byte & 0xC0 == 0x80).count();
        match behind.checked_sub(1).and_then(|n| BLANKS.get(n)) {
            Some(blank) => text[at..=at + behind].copy_from_slice(blank),
            None => text[at] = b' ',
        }
        at += 1 + behind;
    }
}

/// The first range to rewrite from that place on.
fn first_from(text: &[u8], at: usize, work: &mut Interruptible<'_>) -> Option<(usize, Rewriting)> {
    for from in (at..text.len()).step_by(EACH) {
        work.step();
        let to = text.len().min(from + EACH);
        // Most ranges have no such byte.
        if let (Some(some), Some(next)) =
            (text[from..].first_chunk::<EACH>(), text[from + 1..].first_chunk::<EACH>())
            && !some.iter().zip(next).fold(false, |any, (byte, next)| any | is_mark(*byte, *next))
        {
            continue;
        }
        for at in from..to {
            if is_mark(text[at], text.get(at + 1).copied().unwrap_or(b' '))
                && let Some(found) = rewriting(text, at)
            {
                return Some((at, found));
            }
        }
    }
    None
}

/// Whether a range to rewrite may begin with that byte. A stop before a blank never does.
#[inline]
fn is_mark(byte: u8, next: u8) -> bool {
    let is_stop = ((byte == b'.') | (byte == b':')) & (next > b' ');
    let is_one = (byte == b'\'') | (byte == b'_') | (byte == b'&') | (byte == 0xE2) | is_stop;
    is_one | (byte.wrapping_sub(0xEA) < 4) | (byte.wrapping_sub(0xD7) < 3)
}

/// The range to rewrite at that place: an apostrophe, an underscore or a stop with what belongs to it, or a particle.
fn rewriting(text: &[u8], at: usize) -> Option<Rewriting> {
    let one = Rewriting { from: at, to: at + 1 };
    match text[at] {
        b'_' => Some(one),
        b'.' => is_between_sentences(text, at).then_some(one),
        b':' if is_between_sentences(text, at) => Some(one),
        b':' => behind_colon(text, at),
        b'&' => entity(text, at),
        b'\'' => with_apostrophe(text, at, at + 1),
        0xE2 if matches!(text.get(at..at + WIDE), Some([_, 0x80, 0x98 | 0x99])) => {
            with_apostrophe(text, at, at + WIDE)
        }
        0xEA..=0xED => particle(text, at),
        0xD7..=0xD9 => prefixes(text, at),
        _ => None,
    }
}

/// What HTML writes for a sign, if that begins with the & at that place; of an & it is what stands behind it.
fn entity(text: &[u8], at: usize) -> Option<Rewriting> {
    let behind = |entity: &&&str| text.get(at + 1..at + 1 + entity.len());
    let is_there = |entity: &&&str| {
        behind(entity).is_some_and(|some| some.eq_ignore_ascii_case(entity.as_bytes()))
    };
    let entity = ENTITIES.iter().find(is_there)?;
    let is_and = ["amp;", "#38;", "#x26;"].contains(entity);
    Some(Rewriting { from: at + usize::from(is_and), to: at + 1 + entity.len() })
}

/// The suffix of lower-case letters from `from` to the end of a word, none if it is too long.
fn suffix(text: &[u8], from: usize) -> Option<&str> {
    let (mut at, mut letters) = (from, 0);
    while let Some(c) = after(text, at).filter(|c| c.is_alphanumeric()) {
        letters += 1;
        if !c.is_lowercase() || c.len_utf8() > WIDE || letters > LONGEST_SUFFIX {
            return None;
        }
        at += c.len_utf8();
    }
    (letters > 0 && apostrophe(text, at).is_none())
        .then(|| std::str::from_utf8(&text[from..at]).ok())?
}

/// The colon at that place with the suffix behind it, if capitals stand before it: "WHO:n", "EU:s".
fn behind_colon(text: &[u8], at: usize) -> Option<Rewriting> {
    let last = before(text, at)?;
    let first = before(text, at - last.len_utf8())?;
    let suffix = suffix(text, at + 1)?;
    let is_name = last.is_uppercase() && first.is_alphanumeric();
    is_name.then_some(Rewriting { from: at, to: at + 1 + suffix.len() })
}

/// The suffix of a word that begins with a capital, behind the apostrophe from `at` up to `end`: "Sivas'ta".
fn behind_name(text: &[u8], at: usize, end: usize) -> Option<Rewriting> {
    let suffix = suffix(text, end).filter(|suffix| !CONTRACTED.contains(suffix))?;
    let (mut from, mut first) = (at, None);
    while let Some(c) = before(text, from).filter(|c| c.is_alphanumeric()) {
        from -= c.len_utf8();
        first = Some(c);
        if at - from > LONGEST_WORD {
            return None;
        }
    }
    let has_letters = first.is_some_and(|c| c.is_uppercase() && at - from > c.len_utf8());
    has_letters.then_some(Rewriting { from: at, to: end + suffix.len() })
}

/// The prefixes of a Hebrew or Arabic word that begins at that place: a conjunction, then a preposition or an article.
fn prefixes(text: &[u8], at: usize) -> Option<Rewriting> {
    // A blank of two bytes may stand for prefixes before.
    if before(text, at).is_some_and(|c| c.is_alphanumeric() || c == '\u{A0}') {
        return None;
    }
    let (mut word, mut letters, mut end) = (['\0'; MOST_PREFIXED], 0, at);
    while let Some(c) = after(text, end).filter(|c| c.is_alphanumeric()) {
        *word.get_mut(letters)? = c;
        letters += 1;
        end += c.len_utf8();
    }
    let is = |n: usize, of: &[char]| of.contains(&word[n.min(MOST_PREFIXED - 1)]);
    let article = |n: usize| is(n, &['ا']) && is(n + 1, &['ل']);
    let first = usize::from(is(0, &['ו', 'ש', 'و', 'ف']));
    let more = if is(first, &['ב', 'ל', 'מ', 'ה', 'כ', 'ب', 'ك', 'ل']) {
        1
    } else if first == 0 && article(0) {
        2
    } else {
        0
    };
    let most = letters.saturating_sub(LEAST_LEFT);
    let count = if first + more <= most { first + more } else { first.min(most) };
    let to = word[..count].iter().fold(at, |to, c| to + c.len_utf8());
    (count > 0).then_some(Rewriting { from: at, to })
}

/// Whether the stop at that place ends one word and another one begins behind it: "cancer.Anything", "US.Osaka",
/// "서울.부산", but not "Node.js", "U.S.A." or "3.5".
fn is_between_sentences(text: &[u8], at: usize) -> bool {
    let (Some(last), Some(first)) = (before(text, at), after(text, at + 1)) else { return false };
    let has_no_case = |c: char| c.is_alphabetic() && !c.is_lowercase() && !c.is_uppercase();
    let second = || after(text, at + 1 + first.len_utf8());
    if last.is_uppercase() {
        has_no_case(first) || first.is_uppercase() && second().is_some_and(char::is_lowercase)
    } else {
        (last.is_lowercase() || has_no_case(last)) && (first.is_uppercase() || has_no_case(first))
    }
}

/// The length of the apostrophe at that place, if there is one.
fn apostrophe(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at..)? {
        [b'\'', ..] => Some(1),
        [0xE2, 0x80, 0x98 | 0x99, ..] => Some(WIDE),
        _ => None,
    }
}

/// Whether an apostrophe that ends there has an s behind it that ends the word. A closing quotation mark may follow.
fn is_possessive(text: &[u8], end: usize) -> bool {
    let behind = match apostrophe(text, end + 1) {
        Some(length) => after(text, end + 1 + length),
        None => after(text, end + 1),
    };
    matches!(text.get(end), Some(b's' | b'S')) && !behind.is_some_and(char::is_alphanumeric)
}

/// Whether the letters from there on end with a possessive. Looks no further than a name is long.
fn ends_possessive(text: &[u8], from: usize) -> bool {
    let mut at = from;
    while let Some(c) = after(text, at)
        && at - from < LONGEST_WORD
        && c.is_alphanumeric()
    {
        at += c.len_utf8();
    }
    apostrophe(text, at).is_some_and(|length| is_possessive(text, at + length))
}

/// The possessive or elision whose apostrophe goes from `at` up to `end`.
fn with_apostrophe(text: &[u8], at: usize, end: usize) -> Option<Rewriting> {
    let is_apostrophe = |c| matches!(c, '\'' | '\u{2018}' | '\u{2019}');
    let goes_on = |c: char| c.is_alphanumeric() || is_apostrophe(c);
    if !before(text, at)?.is_alphanumeric() {
        return None;
    }
    if is_possessive(text, end) {
        return Some(Rewriting { from: at, to: end + 1 });
    }
    let letters = text[..at]
        .iter()
        .rev()
        .take(LONGEST + 1)
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let from = at - letters;
    let is_elided =
        ELIDED.iter().any(|elided| elided.as_bytes().eq_ignore_ascii_case(&text[from..at]))
            && !before(text, from).is_some_and(goes_on)
            && after(text, end)?.is_alphabetic()
            && !ends_possessive(text, end);
    if is_elided {
        return Some(Rewriting { from, to: end });
    }
    behind_name(text, at, end)
}

/// The particle from `at` to the end of a word. The first match is taken, which is the longest particle.
fn particle(text: &[u8], at: usize) -> Option<Rewriting> {
    let (all, _) = text[at..].as_chunks();
    let syllables =
        all.iter().take(MOST_SYLLABLES + 1).take_while(|bytes| is_syllable(bytes)).count();
    let end = at + syllables * WIDE;
    let particle = std::str::from_utf8(&text[at..end]).ok()?;
    let is_one =
        (1..=MOST_SYLLABLES).contains(&syllables) && PARTICLES.binary_search(&particle).is_ok();
    let is_behind_a_name = is_one
        && before(text, at)?.is_alphanumeric()
        && !after(text, end).is_some_and(char::is_alphanumeric);
    is_behind_a_name.then_some(Rewriting { from: at, to: end })
}

/// Whether that is a Korean syllable in one piece (U+AC00 to U+D7A3).
fn is_syllable(bytes: &[u8; WIDE]) -> bool {
    (*b"\xEA\xB0\x80"..=*b"\xED\x9E\xA3").contains(bytes)
}

/// The character that ends before that place.
fn before(text: &[u8], at: usize) -> Option<char> {
    let start = (1..=4)
        .filter_map(|back| at.checked_sub(back))
        .find(|&start| text[start] & 0xC0 != 0x80)?;
    std::str::from_utf8(&text[start..at]).ok()?.chars().next()
}

/// The character that begins there.
fn after(text: &[u8], at: usize) -> Option<char> {
    let some = &text[at.min(text.len())..text.len().min(at + 4)];
    let valid = match std::str::from_utf8(some) {
        Ok(valid) => valid,
        Err(cut) => std::str::from_utf8(&some[..cut.valid_up_to()]).ok()?,
    };
    valid.chars().next()
}

/// A plain apostrophe, and those that are letters to Unicode (as in Hawaiʻi).
pub(crate) fn is_apostrophe(c: char) -> bool {
    c == '\'' || ('\u{2B9}'..='\u{2BF}').contains(&c)
}

/// A single word (normal/letters.rs) without an s behind an apostrophe at its end, if something is before it.
pub(crate) fn without_possessive(word: &str) -> &str {
    let noun = word.strip_suffix('s').and_then(|word| word.strip_suffix(is_apostrophe));
    noun.filter(|noun| noun.contains(char::is_alphanumeric)).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use crate::memory::interruptible::Interruptible;
    use std::convert::Infallible;

    fn plain(text: &str) -> Option<String> {
        let copy = |bytes: &[u8]| Ok::<_, Infallible>(bytes.to_vec());
        let Ok(plain) = super::plain(text.as_bytes(), &mut Interruptible::new(&mut || ()), copy);
        let plain = String::from_utf8(plain?).unwrap();
        assert_ne!(plain, text);
        assert_eq!(plain.len(), text.len());
        assert_eq!(plain.chars().count(), text.chars().count());
        Some(plain)
    }

    #[test]
    fn each_way_of_writing_a_name_becomes_blanks() {
        for (text, wanted) in [
            (
                "the heart failure clinic's opening hours",
                "the heart failure clinic   opening hours",
            ),
            ("Osaka’s sales", "Osaka\u{2003}  sales"),
            ("the cancer'S", "the cancer  "),
            ("l'usine et l’école, Dell'arte", "  usine et  \u{2003}école,      arte"),
            ("qu'Artagnan d'Artagnan", "   Artagnan   Artagnan"),
            ("_heart failure_ name_with_underscores", " heart failure  name with underscores"),
            ("of cancer.Anything", "of cancer Anything"),
            ("été.À l'été", "été À   été"),
            ("3's company", "3   company"),
            ("L'Oréal's, d’Ivoire’s", "L'Oréal  , d’Ivoire\u{2003} "),
            ("d'O'Neil's", "  O'Neil  "),
            ("'Osaka's' ‘Osaka’s’", "'Osaka  ' ‘Osaka\u{2003} ’"),
            ("_Osaka's_ Osaka's_Neil", " Osaka    Osaka   Neil"),
            ("서울.부산 서울.Osaka", "서울 부산 서울 Osaka"),
            ("Sivas'ta ve Sivas’ın köyleri", "Sivas    ve Sivas\u{2003}\u{A0}  köyleri"),
            ("WHO:n ja EU:ssa", "WHO   ja EU    "),
            ("Home &amp; Garden&nbsp;Tools", "Home &     Garden      Tools"),
            ("בירושלים ובתל אביב", "\u{A0}ירושלים \u{A0}\u{A0}תל אביב"),
            ("הבית והבית", "\u{A0}בית \u{A0}\u{A0}בית"),
            ("بالقاهرة والكتاب", "\u{A0}القاهرة \u{A0}الكتاب"),
            ("الكتاب وبكتاب", "\u{A0}\u{A0}كتاب \u{A0}\u{A0}كتاب"),
            ("US.Osaka F.C.Osaka Note:Osaka", "US Osaka F.C Osaka Note Osaka"),
            ("서울은 서울에서는, DNA는", "서울\u{2003} 서울\u{2003}\u{2003}\u{2003}, DNA\u{2003}"),
            ("서울만큼 부산이라도", "서울\u{2003}\u{2003} 부산\u{2003}\u{2003}\u{2003}"),
            ("제주도는 제주도로", "제주도\u{2003} 제주도\u{2003}"),
            (
                "사과는 대만은 도로부터 아들에게",
                "사과\u{2003} 대만\u{2003} 도\u{2003}\u{2003}\u{2003} 아들\u{2003}\u{2003}",
            ),
        ] {
            assert_eq!(plain(text).as_deref(), Some(wanted), "{text}");
        }
    }

    #[test]
    fn other_apostrophes_and_stops_stay() {
        for text in [
            "",
            "'",
            "O'Neil",
            "rock 'n' roll",
            "the clinics' hours",
            "'s",
            "e.g. this",
            "3.5",
            "Node.js",
            "U.S.A.",
            "x 's",
            "it'sn't",
            "o'clock",
            "M.D.",
            "a.b",
            "ASP.NET",
            "x's'y",
            "Note:s",
            "I'm, Don't, We'll, They've",
            "a'b, O'Brien, it'dur",
            "R&D; &amp, & amp;",
            "של לא",
            "10:30",
            "ll'a",
            "’’’",
            "…",
            "€",
            "al'arte'",
            "x'l'y",
            "서울",
            "은 에서",
            "서울역",
            "서울은행",
            "ꀀ",
        ] {
            assert_eq!(plain(text), None, "{text}");
        }
    }

    #[test]
    fn particles_are_sorted() {
        assert!(super::PARTICLES.is_sorted());
        let syllables = super::PARTICLES.iter().map(|particle| particle.chars().count());
        assert_eq!(syllables.max(), Some(super::MOST_SYLLABLES));
    }

    #[test]
    fn a_place_anywhere_in_a_long_text_is_found() {
        for blanks in 0..200 {
            let text = format!("{}Osaka’s{}", "é ".repeat(blanks), "X".repeat(blanks));
            assert_eq!(plain(&text).is_some(), blanks == 0, "{blanks}");
            let text = format!("{}Osaka’s {}", "é ".repeat(blanks), "x".repeat(blanks));
            assert!(plain(&text).is_some(), "{blanks}");
            assert!(plain(&format!("{}_", "é ".repeat(blanks))).is_some(), "{blanks}");
            assert!(plain(&format!("{}x.", "é ".repeat(blanks))).is_none(), "{blanks}");
        }
    }
}
