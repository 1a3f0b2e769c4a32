//! By which rule a text was found to name an entity.

use crate::folded::forms::FormKind;

/// A rule; those that come first are tried first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// The name stands there, but for case, blanks and punctuation.
    #[default]
    Exact,
    /// The letters of the name in another form: plural, accents, joined or split words, British or American spelling.
    Inflected,
    /// The words of the name in another order.
    Reordered,
    /// A word of the name has another one of its class in its place, by a table of words.
    Synonym,
    /// An abbreviation that the text defines behind the name.
    Abbreviation,
    /// The name with an error of typing in one of its words.
    Typo,
    /// One of several names that the text joins: "breast and ovarian cancer".
    Coordination,
    /// A part of the name, which lists several things, "Hats & Scarves", or has brackets at its end.
    Part,
}

impl Method {
    /// The rule by which forms of that kind find names.
    pub(crate) fn of(kind: FormKind) -> Method {
        match kind {
            FormKind::Folded => Method::Exact,
            FormKind::Joined => Method::Inflected,
            FormKind::Unordered => Method::Reordered,
            FormKind::Misspelled => Method::Typo,
            FormKind::Part => Method::Part,
        }
    }

    /// How sure the rule is of the name, from 0 to 1.
    #[must_use]
    pub fn score(self) -> f32 {
        match self {
            Method::Exact => 1.0,
            Method::Inflected => 0.95,
            Method::Abbreviation => 0.9,
            Method::Reordered | Method::Synonym => 0.85,
            Method::Typo => 0.8,
            Method::Coordination => 0.75,
            Method::Part => 0.7,
        }
    }
}
