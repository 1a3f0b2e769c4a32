//! A template's world out of jsonb's text: numbers keep their digits, what is read is counted, and reading can be cancelled.
//!
//! serde_json makes floats of numbers, and cannot be interrupted. jsonb's output is well-formed, so only its kinds are told apart here.

use crate::call::work_memory::Room;
use crate::error;
use crate::error::Fallible;
use crate::template::values::{Number, list, object};
use minijinja::Value;
use minijinja::value::{Object, ObjectRepr};
use pgrx::check_for_interrupts;
use std::fmt;
use std::sync::Arc;

/// Deeper values would recurse too deep when they are written and freed.
const MAX_DEPTH: usize = 127;

/// What a value takes beside its text: in its list, which may have grown to twice its size beside the one before, and as an object.
const EACH: usize = 80;

/// What a list or an object takes beside what is in it.
const CONTAINER: usize = 192;

/// Bytes of a string between two looks for an interrupt.
const PIECE: usize = 64 << 10;

impl Object for Number {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn is_true(self: &Arc<Self>) -> bool {
        self.0.bytes().any(|digit| matches!(digit, b'1'..=b'9'))
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What jsonb_out wrote, as a template's value, and the bytes that it takes. 53400 past cftrag.work_memory.
pub fn read(json: &str) -> Fallible<(Value, usize)> {
    let mut reader = Reader { json, at: 0, room: Room::new() };
    // Its text is there, too.
    reader.room.take(json.len())?;
    let value = reader.value(0)?;
    reader.blank();
    if reader.at < json.len() { Err(reader.unexpected()) } else { Ok((value, reader.room.taken())) }
}

struct Reader<'a> {
    json: &'a str,
    at: usize,
    room: Room,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Fallible<Value> {
        if depth > MAX_DEPTH {
            return Err(error::bad_template(&format!("its values are nested more than {MAX_DEPTH} deep")));
        }
        self.blank();
        match self.peek() {
            b'{' => {
                self.room.take(CONTAINER)?;
                let mut parts = Vec::new();
                self.each(b'}', |reader| {
                    reader.blank();
                    let name = reader.string()?;
                    reader.expect(b':')?;
                    parts.push((name, reader.value(depth + 1)?));
                    Ok(())
                })?;
                Ok(object(parts))
            }
            b'[' => {
                self.room.take(CONTAINER)?;
                let mut values = Vec::new();
                self.each(b']', |reader| {
                    values.push(reader.value(depth + 1)?);
                    Ok(())
                })?;
                Ok(list(values))
            }
            b'"' => self.string().map(Value::from),
            _ => self.word(),
        }
    }

    /// What stands between brackets.
    fn each(&mut self, close: u8, mut take: impl FnMut(&mut Self) -> Fallible<()>) -> Fallible<()> {
        self.at += 1;
        self.blank();
        if self.peek() == close {
            self.at += 1;
            return Ok(());
        }
        loop {
            take(self)?;
            self.blank();
            match self.peek() {
                b',' => self.at += 1,
                end if end == close => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(self.unexpected()),
            }
        }
    }

    fn string(&mut self) -> Fallible<String> {
        self.expect(b'"')?;
        self.room.take(EACH)?;
        let mut text = String::new();
        loop {
            check_for_interrupts!();
            let rest = &self.json.as_bytes()[self.at..];
            let window = &rest[..rest.len().min(PIECE)];
            let special = window.iter().position(|byte| matches!(byte, b'"' | b'\\'));
            let mut end = self.at + special.unwrap_or(window.len());
            while !self.json.is_char_boundary(end) {
                end -= 1;
            }
            // What grows may take twice as much.
            self.room.take(2 * (end - self.at) + 1)?;
            text.push_str(&self.json[self.at..end]);
            self.at = end;
            match self.peek() {
                b'"' => {
                    self.at += 1;
                    return Ok(text);
                }
                b'\\' => text.push(self.escaped()?),
                _ if special.is_none() && !window.is_empty() => {}
                _ => return Err(self.unexpected()),
            }
        }
    }

    /// jsonb_out escapes what is no character of its own as \u and four digits, and nothing beyond ASCII.
    fn escaped(&mut self) -> Fallible<char> {
        let rest = self.json.as_bytes();
        let hex = self.json.get(self.at + 2..self.at + 6).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        let (letter, length) = match rest.get(self.at + 1) {
            Some(b'b') => ('\u{8}', 2),
            Some(b'f') => ('\u{c}', 2),
            Some(b'n') => ('\n', 2),
            Some(b'r') => ('\r', 2),
            Some(b't') => ('\t', 2),
            Some(same @ (b'"' | b'\\' | b'/')) => (char::from(*same), 2),
            Some(b'u') => match hex.and_then(char::from_u32) {
                Some(letter) => (letter, 6),
                None => return Err(self.unexpected()),
            },
            _ => return Err(self.unexpected()),
        };
        self.at += length;
        Ok(letter)
    }

    /// A number, true, false or null.
    fn word(&mut self) -> Fallible<Value> {
        let rest = &self.json[self.at..];
        let end = rest.find([',', ']', '}', ' ', '\n']).unwrap_or(rest.len());
        let word = &rest[..end];
        self.room.take(EACH + word.len())?;
        self.at += end;
        Ok(match word {
            "null" => Value::from(()),
            "true" => Value::from(true),
            "false" => Value::from(false),
            "" => return Err(self.unexpected()),
            number => self::number(number),
        })
    }

    fn blank(&mut self) {
        while matches!(self.peek(), b' ' | b'\n') {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Fallible<()> {
        self.blank();
        if self.peek() != byte {
            return Err(self.unexpected());
        }
        self.at += 1;
        Ok(())
    }

    /// 0 at the end.
    fn peek(&self) -> u8 {
        self.json.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn unexpected(&self) -> pgrx::pg_sys::panic::ErrorReport {
        error::bad_template(&format!("its values are no JSON at byte {}", self.at))
    }
}

/// An integer or a float where these are written in the same digits.
fn number(digits: &str) -> Value {
    let integer = || digits.parse::<i64>().map(Value::from).or_else(|_| digits.parse::<i128>().map(Value::from)).ok();
    let float = || digits.parse::<f64>().map(Value::from).ok();
    // In a list floats are written in another way.
    let same = |value: &Value| digits.len() < 40 && value.to_string() == digits && format!("{value:?}") == digits;
    integer()
        .filter(same)
        .or_else(|| float().filter(same))
        .unwrap_or_else(|| Value::from_object(Number(digits.to_string())))
}
