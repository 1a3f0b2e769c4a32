//! Templates of users, by minijinja, run inside the server: so they are a small part of Jinja, and bounded.
//!
//! A template has `{{ values }}`, `{% for %}`, `{% if %}`, comments, and the filters join, length, first, last, upper, lower. It has no
//! assignment, macro, call or arithmetic. So nothing that it makes can be kept, and what it makes at once is bounded:
//!
//!   T1  a template is at most 64 kB, of at most 200 tags with at most 200 tokens each: what parses and runs it recurses no deeper
//!   T2  all that one run writes or joins is at most 64 MB
//!   T3  a run takes a bounded number of instructions, and looks at a bounded number of bytes and elements (operands.rs has what is
//!       compared, subscripted and looped over counted, too); it looks for interrupts whenever it counts
//!   T4  what a run holds, the world included, is at most cftrag.work_memory, and was asked for before (room.rs)
//!
//! Of a large value minijinja and we make
//!
//! ```text
//!   {{ }}, join, upper, lower    a text: T2, three times its bytes are held
//!   a[i:j]  of a text            a copy, of 8 MB at most, four times as much for a while: held
//!           of a list            nothing; backwards, its elements each time it is taken apart (List::enumerate asks for room)
//!   a[i], a.b, first, last       nothing: a text of 8 MB at most is read
//!   for, of a list               nothing; of a slice, or a text of 1 MB at most: a list of ours, held as long as it lives
//!   for x, y in                  all elements of what is taken apart, which List::enumerate asks for
//!   ==, <, in                    what is compared (numbers of jsonb as floats, slices as lists, held); texts of 32 MB at most are read
//!   x in a text                  x as it would be written, unless it is a text: 1 MB at most
//!   [a, b], (a, b)               200 tokens
//!   length, and, or, not, if     nothing
//! ```
//!
//! No test (`is`), no function and no method is there, nor any operator of arithmetic, `~`, `{}`, nor any other filter.
pub mod budget;
pub mod json;
pub mod operands;
pub mod setting;
pub mod values;

use crate::error;
use crate::error::Fallible;
use crate::template::budget::{LAST, MADE, SEEN, count, look, refuse};
use crate::template::values::{collected, compared, is_ours, sought, writable};
use minijinja::machinery::{Span, Token, tokenize};
use minijinja::value::{Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};
use std::io;
use std::io::Write;

const MAX_SOURCE: usize = 64 * 1024;

const MAX_TAGS: usize = 200;

const MAX_TOKENS: usize = 200;

/// Some 50 ns each: a template may take this many instructions, and `FUEL_EACH` more for each element of its lists.
const FUEL: u64 = 1_000_000;

const FUEL_EACH: u64 = 100;

const MOST_FUEL: u64 = 50_000_000;

/// To take a text apart by letters costs so much for each byte.
const LETTERS: u64 = 16;

/// A longer text is not subscripted, for that copies it letter by letter in one instruction; nor looped over, past `MAX_LETTERS`.
const MAX_CUT: usize = 8 << 20;

const MAX_LETTERS: usize = 1 << 20;

/// Bytes that are changed to other letters between two looks for an interrupt.
const PIECE: usize = 256 << 10;

const TAGS: [&str; 6] = ["for", "endfor", "if", "elif", "else", "endif"];

/// Filters that only operands.rs writes.
const OURS: [&str; 4] = ["compared", "sought", "sized", "each"];

const NAME: &str = "template";

/// Whether it is a template; what is wrong with it if not.
fn check(source: &str) -> Result<(), String> {
    compile(source).map(|_| ())
}

/// Runs the template in a world of so many bytes; `elements` is about how many elements its lists have.
///
/// Errors: 22023; 53400 and 53200 where there is no room for it.
pub fn render(source: &str, world: Value, elements: usize, bytes: usize) -> Fallible<String> {
    budget::start(bytes);
    let done = run(source, world, elements);
    budget::end()?;
    done.map_err(|why| error::bad_template(&why))
}

fn run(source: &str, world: Value, elements: usize) -> Result<String, String> {
    let known = LAST.take().filter(|(of, _)| of == source);
    let mut environment = match known {
        Some((_, environment)) => environment,
        None => compile(source)?,
    };
    environment.set_fuel(Some((FUEL + FUEL_EACH * elements as u64).min(MOST_FUEL)));
    MADE.set(0);
    SEEN.set(0);
    let mut out = Bounded(Vec::new());
    let done = environment
        .get_template(NAME)
        .and_then(|template| template.render_captured_to(world, &mut out).map(|_| ()))
        .map_err(|error| words(&error));
    LAST.set(Some((source.to_string(), environment)));
    done?;
    String::from_utf8(out.0).map_err(|error| error.to_string())
}

fn compile(source: &str) -> Result<Environment<'static>, String> {
    let tokens = small_part_of_jinja(source)?;
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // NULL is written as nothing.
    environment.set_formatter(|out, state, value| match value.is_none() {
        true => Ok(()),
        false => writable(value).and_then(|()| minijinja::escape_formatter(out, state, value)),
    });
    environment.add_filter("join", join);
    environment.add_filter("length", |value: &Value| {
        look(value.as_str().map_or(0, str::len) as u64)?;
        value.len().ok_or_else(|| refuse("it has no length"))
    });
    environment.add_filter("first", |value: &Value| ends(value, 0));
    environment.add_filter("last", |value: &Value| ends(value, -1));
    environment.add_filter("upper", |value: &str| recased(value, str::to_uppercase));
    environment.add_filter("lower", |value: &str| recased(value, str::to_lowercase));
    // Errors are those of what was written.
    environment.add_template_owned(NAME, source.to_string()).map_err(|error| words(&error))?;
    environment.add_filter("compared", compared);
    environment.add_filter("sought", sought);
    environment.add_filter("sized", sized);
    environment.add_filter("each", each);
    let filtered = operands::filtered(source, &tokens);
    environment.add_template_owned(NAME, filtered).map_err(|error| words(&error))?;
    Ok(environment)
}

/// Looks at the tokens before anything is parsed: parsing folds constants, and recurses.
fn small_part_of_jinja(source: &str) -> Result<Vec<(Token<'_>, Span)>, String> {
    if source.len() > MAX_SOURCE {
        return Err(format!("it has {} bytes, {MAX_SOURCE} are allowed", source.len()));
    }
    let (mut tags, mut tokens, mut all) = (0, 0, Vec::new());
    // The kinds of the two tokens before: a parenthesis after a name calls, unless the name is a filter's.
    let (mut before, mut last) = (Kind::Other, Kind::Other);
    for token in tokenize(source, false, Default::default()) {
        let (token, span) = token.map_err(|error| words(&error))?;
        let line = span.start_line;
        let kind = Kind::of(&token);
        tokens += 1;
        match &token {
            Token::TemplateData(_) | Token::VariableEnd | Token::BlockEnd => {}
            Token::VariableStart | Token::BlockStart => {
                tags += 1;
                tokens = 0;
            }
            Token::Ident(name) if last == Kind::Block && !TAGS.contains(name) => {
                return Err(format!("line {line}: a template has no tag \"{name}\"; it has for and if"));
            }
            Token::Ident(name) if last == Kind::Pipe && OURS.contains(name) => {
                return Err(format!("line {line}: a template has no filter \"{name}\""));
            }
            Token::Ident("recursive") => return Err(format!("line {line}: a template's loops are not recursive")),
            Token::ParenOpen if last == Kind::Close || (last == Kind::Name && before != Kind::Pipe) => {
                return Err(format!("line {line}: a template calls nothing"));
            }
            Token::Plus
            | Token::Minus
            | Token::Mul
            | Token::Div
            | Token::FloorDiv
            | Token::Pow
            | Token::Mod
            | Token::Tilde
            | Token::BraceOpen => return Err(format!("line {line}: a template has no operator {token}")),
            _ => {}
        }
        all.push((token, span));
        if tags > MAX_TAGS || tokens > MAX_TOKENS {
            return Err(format!("line {line}: at most {MAX_TAGS} tags of {MAX_TOKENS} tokens are allowed"));
        }
        (before, last) = (last, kind);
    }
    Ok(all)
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Name,
    Close,
    Pipe,
    Block,
    Other,
}

impl Kind {
    fn of(token: &Token) -> Kind {
        match token {
            // `not (a)`, `in (a)`: these words call nothing.
            Token::Ident("not" | "and" | "or" | "in" | "if" | "elif" | "else" | "is") => Kind::Other,
            Token::Ident(_) | Token::Str(_) | Token::String(_) => Kind::Name,
            Token::ParenClose | Token::BracketClose => Kind::Close,
            Token::Pipe => Kind::Pipe,
            Token::BlockStart => Kind::Block,
            _ => Kind::Other,
        }
    }
}

fn join(values: &Value, between: Option<&str>) -> Result<String, Error> {
    if values.as_str().is_some() {
        return Err(refuse("join takes a list"));
    }
    let mut joined = Bounded(Vec::new());
    for (i, value) in values.try_iter()?.enumerate() {
        let between = if i == 0 { "" } else { between.unwrap_or("") };
        let value = if value.is_none() { Value::from("") } else { value };
        writable(&value)?;
        write!(joined, "{between}{value}").map_err(|error| refuse(error.to_string()))?;
    }
    String::from_utf8(joined.0).map_err(|error| refuse(error.to_string()))
}

fn ends(value: &Value, at: i64) -> Result<Value, Error> {
    let Some(len) = value.len().filter(|_| value.as_str().is_none()) else { return Err(refuse("it is no list")) };
    let at = if at < 0 { len as i64 + at } else { at };
    if len == 0 { Ok(Value::UNDEFINED) } else { value.get_item(&Value::from(at)) }
}

/// What is subscripted: letters of a text are found by reading it.
fn sized(value: &Value) -> Result<Value, Error> {
    letters(value, MAX_CUT)?;
    if let Some(text) = value.as_str() {
        budget::spare(5 * text.len())?;
        budget::hold(text.len())?;
    }
    Ok(value.clone())
}

/// What a loop goes over, as a list of ours.
fn each(value: &Value) -> Result<Value, Error> {
    letters(value, MAX_LETTERS)?;
    match value.kind() {
        ValueKind::String | ValueKind::Seq | ValueKind::Iterable if !is_ours(value) => collected(value, false),
        _ => Ok(value.clone()),
    }
}

fn letters(value: &Value, most: usize) -> Result<(), Error> {
    let bytes = value.as_str().map_or(0, str::len);
    if bytes > most {
        return Err(refuse(format!("a text of {bytes} bytes is too long to be taken apart, {most} are allowed")));
    }
    look(LETTERS * bytes as u64)
}

/// Piece by piece. Each ends between two letters of which none is a sigma, which becomes what those beside it ask for; or anywhere, in a
/// text that has no such two for long.
fn recased(text: &str, change: fn(&str) -> String) -> Result<String, Error> {
    let (mut made, mut rest) = (String::new(), text);
    let simple = |letter: Option<char>| letter.is_some_and(|c| c != 'Σ' && (c == ' ' || c.is_alphanumeric()));
    let cuts = |text: &str, i: usize| {
        text.is_char_boundary(i) && simple(text[..i].chars().next_back()) && simple(text[i..].chars().next())
    };
    while !rest.is_empty() {
        let most = rest.len().min(2 * PIECE);
        let cut = (PIECE..most).find(|i| cuts(rest, *i));
        let end = cut.or_else(|| (most..=rest.len()).find(|i| rest.is_char_boundary(*i))).unwrap_or(rest.len());
        let piece = change(&rest[..end]);
        count(piece.len()).map_err(|error| refuse(error.to_string()))?;
        made += &piece;
        rest = &rest[end..];
    }
    Ok(made)
}

/// What is written, until it is too much.
struct Bounded(pub Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        count(bytes.len())?;
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An error of minijinja in its own words, with the line.
fn words(error: &Error) -> String {
    let what = match error.kind() {
        ErrorKind::OutOfFuel => "it takes too long".to_string(),
        kind => error.detail().map_or_else(|| kind.to_string(), str::to_string),
    };
    let cause = std::error::Error::source(error).map_or_else(String::new, |cause| format!(": {cause}"));
    match error.line() {
        Some(line) => format!("line {line}: {what}{cause}"),
        None => format!("{what}{cause}"),
    }
}
