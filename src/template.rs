//! Templates of users, by minijinja, run inside the server: so they are a small part of Jinja, and bounded.
//!
//! A template has `{{ values }}`, `{% for %}`, `{% if %}`, comments, and the filters join, length, first, last, upper, lower. It has no
//! assignment, macro, call or arithmetic. So nothing that it makes can be kept, and what it makes at once is bounded:
//!
//!   T1  a template is at most 64 kB, of at most 200 tags with at most 200 tokens each: what parses and runs it recurses no deeper
//!   T2  all that one run writes or joins is at most 64 MB
//!   T3  a run takes a bounded number of instructions, and looks for interrupts whenever it takes an element of a list or writes
//!
//! Everything here is plain data in and out; errors are words, which src/error.rs makes an ErrorReport of.

use minijinja::machinery::{Token, tokenize};
use minijinja::value::{Enumerator, Object, ObjectRepr, Value};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

const MAX_SOURCE: usize = 64 * 1024;
const MAX_TAGS: usize = 200;
const MAX_TOKENS: usize = 200;
/// A prompt of 64 MB is none; 1 GB is the most a text can be.
const MAX_MADE: usize = 64 * 1024 * 1024;
/// Some 50 ns each: a template may take this many instructions, and `FUEL_EACH` more for each element of its lists.
const FUEL: u64 = 1_000_000;
const FUEL_EACH: u64 = 100;
const TAGS: [&str; 6] = ["for", "endfor", "if", "elif", "else", "endif"];
const NAME: &str = "template";

thread_local! {
    /// Bytes that the run under way has written and joined.
    static MADE: Cell<usize> = const { Cell::new(0) };
    /// The last template, compiled.
    static LAST: RefCell<Option<(String, Environment<'static>)>> = const { RefCell::new(None) };
}

/// A list of a template's world. Whoever takes an element can be interrupted.
#[derive(Debug)]
pub struct List(pub Vec<Value>);

impl Object for List {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        pgrx::check_for_interrupts!();
        self.0.get(key.as_usize()?).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.0.len())
    }
}

/// A thing with named parts. Written as it is, it is its first part: `{{ relative }}` is `{{ relative.entity }}`.
#[derive(Debug)]
pub struct Thing(pub Vec<(String, Value)>);

impl Object for Thing {
    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        self.0.iter().find(|part| part.0 == key).map(|part| part.1.clone())
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.first().map_or(Ok(()), |part| write!(f, "{}", part.1))
    }
}

pub fn list(values: Vec<Value>) -> Value {
    Value::from_object(List(values))
}

pub fn thing<const N: usize>(parts: [(&str, Value); N]) -> Value {
    Value::from_object(Thing(parts.map(|(name, value)| (name.to_string(), value)).into()))
}

/// What a template can do with a JSON value.
pub fn from_json(json: serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::from(()),
        serde_json::Value::Bool(b) => Value::from(b),
        serde_json::Value::Number(n) => n.as_i64().map_or_else(|| Value::from(n.as_f64()), Value::from),
        serde_json::Value::String(s) => Value::from(s),
        serde_json::Value::Array(a) => list(a.into_iter().map(from_json).collect()),
        serde_json::Value::Object(o) => {
            Value::from_object(Thing(o.into_iter().map(|(k, v)| (k, from_json(v))).collect()))
        }
    }
}

/// Whether it is a template; what is wrong with it if not.
pub fn check(source: &str) -> Result<(), String> {
    compile(source).map(|_| ())
}

/// Runs the template in a world; `elements` is about how many elements its lists have.
pub fn render(source: &str, world: Value, elements: usize) -> Result<String, String> {
    let known = LAST.take().filter(|(of, _)| of == source);
    let mut environment = match known {
        Some((_, environment)) => environment,
        None => compile(source)?,
    };
    environment.set_fuel(Some(FUEL + FUEL_EACH * elements as u64));
    MADE.set(0);
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
    small_part_of_jinja(source)?;
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // NULL is written as nothing.
    environment.set_formatter(|out, state, value| match value.is_none() {
        true => Ok(()),
        false => minijinja::escape_formatter(out, state, value),
    });
    environment.add_filter("join", join);
    environment.add_filter("length", |value: &Value| value.len().ok_or_else(|| refuse("it has no length")));
    environment.add_filter("first", |value: &Value| ends(value, 0));
    environment.add_filter("last", |value: &Value| ends(value, -1));
    environment.add_filter("upper", |value: &str| made(value.to_uppercase()));
    environment.add_filter("lower", |value: &str| made(value.to_lowercase()));
    environment.add_template_owned(NAME, source.to_string()).map_err(|error| words(&error))?;
    Ok(environment)
}

/// Looks at the tokens before anything is parsed: parsing folds constants, and recurses.
fn small_part_of_jinja(source: &str) -> Result<(), String> {
    if source.len() > MAX_SOURCE {
        return Err(format!("it has {} bytes, {MAX_SOURCE} are allowed", source.len()));
    }
    let (mut tags, mut tokens) = (0, 0);
    // The kinds of the two tokens before: a parenthesis after a name calls, unless the name is a filter's.
    let (mut before, mut last) = (Kind::Other, Kind::Other);
    for token in tokenize(source, false, Default::default()) {
        let (token, span) = token.map_err(|error| words(&error))?;
        let line = span.start_line;
        let kind = Kind::of(&token);
        tokens += 1;
        match token {
            Token::TemplateData(_) | Token::VariableEnd | Token::BlockEnd => {}
            Token::VariableStart | Token::BlockStart => {
                tags += 1;
                tokens = 0;
            }
            Token::Ident(name) if last == Kind::Block && !TAGS.contains(&name) => {
                return Err(format!("line {line}: a template has no tag \"{name}\"; it has for and if"));
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
        if tags > MAX_TAGS || tokens > MAX_TOKENS {
            return Err(format!("line {line}: at most {MAX_TAGS} tags of {MAX_TOKENS} tokens are allowed"));
        }
        (before, last) = (last, kind);
    }
    Ok(())
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
        write!(joined, "{between}{value}").map_err(|error| refuse(error.to_string()))?;
    }
    String::from_utf8(joined.0).map_err(|error| refuse(error.to_string()))
}

fn ends(value: &Value, at: i64) -> Result<Value, Error> {
    let Some(len) = value.len().filter(|_| value.as_str().is_none()) else { return Err(refuse("it is no list")) };
    let at = if at < 0 { len as i64 + at } else { at };
    if len == 0 { Ok(Value::UNDEFINED) } else { value.get_item(&Value::from(at)) }
}

fn made(text: String) -> Result<String, Error> {
    count(text.len()).map_err(|error| refuse(error.to_string()))?;
    Ok(text)
}

fn count(bytes: usize) -> io::Result<()> {
    pgrx::check_for_interrupts!();
    MADE.set(MADE.get().saturating_add(bytes));
    if MADE.get() > MAX_MADE {
        return Err(io::Error::other(format!("it makes more than {} MB of text", MAX_MADE >> 20)));
    }
    Ok(())
}

/// What is written, until it is too much.
struct Bounded(Vec<u8>);

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

fn refuse(why: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, why.into())
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
