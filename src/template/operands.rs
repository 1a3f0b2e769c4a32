//! Filters that a template's author does not write: they stand behind what is compared, subscripted or looped over, where minijinja
//! itself would look at a whole value for one instruction's fuel.
//!
//! ```text
//!   {% if a == b[0] %}      {% if a|compared == (b|sized)[0]|compared %}
//!   {% for x in c or d %}   {% for x in (c or d)|each %}
//! ```
//!
//! Nothing inserted has a line break, so errors name the author's lines.

use minijinja::machinery::{Span, Token};

type Tokens<'a> = [(Token<'a>, Span)];

/// The template with the filters in it.
pub fn filtered(source: &str, tokens: &Tokens) -> String {
    let mut inserts = Vec::new();
    let opens = |token: &(Token, Span)| matches!(token.0, Token::VariableStart | Token::BlockStart);
    let closes = |token: &(Token, Span)| matches!(token.0, Token::VariableEnd | Token::BlockEnd);
    let mut rest = tokens;
    while let Some(start) = rest.iter().position(opens) {
        let tag = &rest[start + 1..];
        let end = tag.iter().position(closes).unwrap_or(tag.len());
        Tag { tokens: &tag[..end], inserts: &mut inserts }.insert();
        rest = &tag[end..];
    }
    // Stable: what was found first at a place stands there first.
    inserts.sort_by_key(|insert| insert.0);
    let (mut text, mut done) = (String::with_capacity(source.len() + 10 * inserts.len()), 0);
    for (at, filter) in inserts {
        text.push_str(&source[done..at]);
        text.push_str(filter);
        done = at;
    }
    text + &source[done..]
}

struct Tag<'a, 't> {
    tokens: &'a Tokens<'t>,
    inserts: &'a mut Vec<(usize, &'static str)>,
}

impl Tag<'_, '_> {
    fn insert(&mut self) {
        let head = self.word(0, "for").then(|| (1..self.tokens.len()).find(|i| self.word(*i, "in"))).flatten();
        for i in 1..self.tokens.len() {
            let compares = match self.tokens[i].0 {
                Token::Eq | Token::Ne | Token::Lt | Token::Lte | Token::Gt | Token::Gte => true,
                _ => self.word(i, "in") && Some(i) != head,
            };
            let subscripts = match self.tokens[i].0 {
                Token::BracketOpen => self.ends_operand(i - 1),
                Token::Dot => matches!(self.tokens.get(i + 1), Some((Token::Int(_) | Token::Int128(_), _))),
                _ => false,
            };
            if compares {
                let left = if self.word(i - 1, "not") { i.saturating_sub(2) } else { i - 1 };
                self.after(left, if self.word(i, "in") { "|sought" } else { "|compared" });
                self.after(self.operand_from(i + 1), "|compared");
            } else if subscripts && let Some(start) = self.operand_to(i - 1) {
                self.before(start, "(");
                self.after(i - 1, "|sized)");
            }
        }
        if let Some(head) = head
            && head + 1 < self.tokens.len()
        {
            let mut end = head + 1;
            let mut depth = 0_i32;
            while end < self.tokens.len() && !(depth == 0 && self.word(end, "if")) {
                depth += self.turn(end);
                end += 1;
            }
            self.before(head + 1, "(");
            self.after(end - 1, ")|each");
        }
    }

    fn before(&mut self, i: usize, filter: &'static str) {
        self.inserts.push((self.tokens[i].1.start_offset as usize, filter));
    }

    fn after(&mut self, i: usize, filter: &'static str) {
        if let Some((_, span)) = self.tokens.get(i) {
            self.inserts.push((span.end_offset as usize, filter));
        }
    }

    /// Whether a token is this word of the language: not a part's name, nor a filter's.
    fn word(&self, i: usize, word: &str) -> bool {
        let named = i > 0 && matches!(self.tokens[i - 1].0, Token::Dot | Token::Pipe);
        !named && matches!(self.tokens.get(i), Some((Token::Ident(name), _)) if *name == word)
    }

    fn turn(&self, i: usize) -> i32 {
        match self.tokens[i].0 {
            Token::ParenOpen | Token::BracketOpen => 1,
            Token::ParenClose | Token::BracketClose => -1,
            _ => 0,
        }
    }

    /// The last token of the operand that begins here.
    fn operand_from(&self, start: usize) -> usize {
        let (mut i, mut depth) = (start, 0);
        while i < self.tokens.len() {
            let ends = match self.tokens[i].0 {
                Token::Eq | Token::Ne | Token::Lt | Token::Lte | Token::Gt | Token::Gte => true,
                Token::Comma | Token::Colon | Token::Assign => true,
                _ => ["and", "or", "in", "not", "if", "else", "is"].iter().any(|word| self.word(i, word)),
            };
            depth += self.turn(i);
            if depth < 0 || (depth == 0 && ends) {
                break;
            }
            i += 1;
        }
        i.max(start + 1) - 1
    }

    fn ends_operand(&self, i: usize) -> bool {
        let words = ["and", "or", "in", "not", "if", "elif", "else", "is"];
        match self.tokens[i].0 {
            Token::Ident(_) => !words.iter().any(|word| self.word(i, word)),
            Token::Str(_) | Token::String(_) | Token::ParenClose | Token::BracketClose => true,
            Token::Int(_) | Token::Int128(_) => i > 0 && matches!(self.tokens[i - 1].0, Token::Dot),
            _ => false,
        }
    }

    /// The first token of the operand that ends here: `a.b[0]`. None behind a filter, where nothing is subscripted.
    fn operand_to(&self, end: usize) -> Option<usize> {
        let mut i = end;
        loop {
            let before = |i: usize| i.checked_sub(1).map(|before| &self.tokens[before].0);
            if self.turn(i) < 0 {
                let bracket = matches!(self.tokens[i].0, Token::BracketClose);
                let mut depth = -1;
                while depth < 0 {
                    i = i.checked_sub(1)?;
                    depth += self.turn(i);
                }
                match i.checked_sub(1) {
                    Some(before) if self.ends_operand(before) && bracket => i = before,
                    Some(before) if self.ends_operand(before) => return None,
                    _ => return Some(i),
                }
            } else {
                match before(i) {
                    Some(Token::Dot) => i = i.checked_sub(2)?,
                    Some(Token::Pipe) => return None,
                    _ => return Some(i),
                }
            }
        }
    }
}
