//! Endings of number in other languages than English, after the light rules that J. Savoy published in 2006, in words
//! of ASCII letters (an accent is gone already).
//!
//! An ending goes only if enough of the word stays. Where plurals of two kinds look alike, their singular loses as
//! much: of Spanish "noches" and "flores", "noch" and "flor" are left, and so "noch" of "noche".

use super::Language::{self, Dutch, French, German, Italian, Portuguese, Spanish, Swedish};
use super::{Word, ends};

/// Removes an ending. Says whether there was one.
pub(super) fn remove(language: Language, word: &mut Word<'_>) -> bool {
    let change = match language {
        German => german(word.get()),
        French => french(word.get()),
        Spanish => spanish(word.get()),
        Italian => italian(word.get()),
        Portuguese => portuguese(word.get()),
        Dutch => dutch(word.get()),
        Swedish => swedish(word.get()),
        Language::English | Language::Simple => None,
    };
    if let Some((len, with)) = change {
        word.replace_end(len, with.as_bytes());
    }
    change.is_some()
}

/// How many letters at the end go, and what comes instead.
type Change = Option<(usize, &'static str)>;

/// The first of these endings that the word has, if `stem` letters stay.
fn first_of(word: &[u8], stem: usize, endings: &[&str]) -> Change {
    let stays = |ending: &&&str| word.len() >= stem + ending.len();
    let ending = endings.iter().filter(stays).find(|ending| word.ends_with(ending.as_bytes()))?;
    Some((ending.len(), ""))
}

/// Häuser, Lampen, Autos, Lehrerinnen.
fn german(word: &[u8]) -> Change {
    const STEM: usize = 4;
    if word.ends_with(b"innen") && word.len() >= STEM + 3 {
        return Some((3, ""));
    }
    let ending = first_of(word, STEM, &["ern", "em", "en", "er", "es", "e"]);
    match word {
        _ if ending.is_some() => ending,
        [.., b'e' | b'l' | b'r', b'n'] => first_of(word, STEM, &["n"]),
        // Autos and Hotels, but neither Krankenhaus nor Preis.
        [.., b'e' | b'i' | b's' | b'u' | b'x' | b'z', b's'] => None,
        _ => first_of(word, STEM, &["s"]),
    }
}

/// Chevaux, chaussures, employées, chiennes.
fn french(word: &[u8]) -> Change {
    const STEM: usize = 4;
    if matches!(word, b"cours" | b"course") {
        return None;
    }
    match word {
        [.., b'e', b'a', b'u', b'x'] | [.., b'e' | b'o', b'u', b'x'] => first_of(word, 3, &["x"]),
        [.., b'a', b'u', b'x'] if word.len() > STEM => Some((2, "l")),
        [.., b's', b's'] => None,
        [.., b's'] => first_of(word, STEM, &["s"]),
        // A port is no porte, and frais are no fraise.
        [.., b's', b'e'] => None,
        [.., b'e'] => first_of(word, STEM + 1, &["e"]),
        [.., b'n', b'n'] | [.., b't', b't'] | [.., b'l', b'l'] if word.len() > STEM => {
            Some((1, ""))
        }
        _ => None,
    }
}

/// Zapatos, flores, luces. A puerto is no puerta, so the gender stays.
fn spanish(word: &[u8]) -> Change {
    const STEM: usize = 3;
    match word {
        [.., b'z'] if word.len() >= STEM => Some((1, "c")),
        [.., b's', b's'] => None,
        [.., b'e', b's'] => first_of(word, STEM, &["es"]),
        [.., b'a' | b'i' | b'o' | b'u', b's'] => first_of(word, STEM, &["s"]),
        [.., b'e'] => first_of(word, STEM, &["e"]),
        _ => None,
    }
}

/// Libri, scarpe, amiche: the last vowel goes, and an h before it.
fn italian(word: &[u8]) -> Change {
    const STEM: usize = 4;
    match word {
        [.., b'c' | b'g', b'h'] => first_of(word, STEM, &["h"]),
        _ => first_of(word, STEM, &["a", "e", "i", "o"]),
    }
}

/// Ações, animais, papéis, homens, flores.
fn portuguese(word: &[u8]) -> Change {
    const STEM: usize = 3;
    match word {
        _ if word.len() <= STEM => None,
        [.., b'o' | b'a', b'e' | b'o', b's'] if ends(word, &["oes", "aes", "aos"]) => {
            Some((3, "ao"))
        }
        // Mais and dois are no plurals.
        [.., b'a' | b'e' | b'o' | b'u', b'i', b's'] => (word.len() > STEM + 1).then_some((2, "l")),
        [.., b'n', b's'] => Some((2, "m")),
        // Flores and torres lose as much.
        [.., b'r' | b'z' | b's', b'e', b's'] => first_of(word, STEM, &["es"]),
        [.., b'r' | b'z' | b's', b'e'] => first_of(word, STEM, &["e"]),
        [.., b'a' | b'e' | b'o' | b'u', b's'] => first_of(word, STEM, &["s"]),
        _ => None,
    }
}

/// Boeken, katten, huizen, scholen, kinderen.
fn dutch(word: &[u8]) -> Change {
    const STEM: usize = 4;
    let ending = first_of(word, STEM, &["eren", "en", "e"]);
    match word {
        _ if ending.is_some() => ending,
        [
            ..,
            b'b' | b'd' | b'e' | b'f' | b'g' | b'k' | b'l' | b'm' | b'n' | b'p' | b'r' | b't',
            b's',
        ] if !word.ends_with(b"ees") => first_of(word, STEM, &["s"]),
        [.., b'v'] => Some((1, "f")),
        [.., b'z'] => Some((1, "s")),
        // Katt(en) is kat.
        [.., one, other] if one == other && !b"aeiousz".contains(one) && word.len() >= STEM => {
            Some((1, ""))
        }
        // School is schol(en).
        [.., one, other, last]
            if one == other
                && b"aeou".contains(one)
                && last.is_ascii_lowercase()
                && !b"aeiou".contains(last)
                && word.len() > STEM =>
        {
            Some((
                2,
                match last {
                    b'd' => "d",
                    b'f' => "f",
                    b'g' => "g",
                    b'k' => "k",
                    b'l' => "l",
                    b'm' => "m",
                    b'n' => "n",
                    b'p' => "p",
                    b'r' => "r",
                    b's' => "s",
                    b't' => "t",
                    _ => return None,
                },
            ))
        }
        _ => None,
    }
}

/// Bilar, flickorna, huset, äpplen.
fn swedish(word: &[u8]) -> Change {
    const STEM: usize = 3;
    match word {
        [.., b'i' | b's' | b'u' | b'x', b's'] => None,
        [.., b's'] => first_of(word, STEM + 1, &["s"]),
        _ => first_of(word, STEM, &["arna", "orna", "erna", "ar", "or", "en", "et"])
            .or_else(|| first_of(word, STEM + 1, &["er", "an", "a", "e"])),
    }
}
