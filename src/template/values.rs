//! Lists and things of a template's world: whoever takes an element pays for it, and can be interrupted.

use crate::template::budget;
use crate::template::budget::{ELEMENT, Held, look, refuse};
use minijinja::value::{DynObject, Enumerator, Object, ObjectRepr, Tuple, ValueKind};
use minijinja::{Error, Value};
use std::cmp::Ordering;
use std::fmt;
use std::fmt::Write;
use std::sync::Arc;

/// A number whose digits no float or integer keeps (1.10, or one of 50 digits).
#[derive(Debug)]
pub struct Number(pub String);

impl Number {
    /// What it is compared as.
    fn value(&self) -> Value {
        Value::from(self.0.parse::<f64>().unwrap_or(f64::NAN))
    }
}

/// An object of more parts is searched by bisection.
const FEW_PARTS: usize = 16;

/// A longer text is not compared, nor searched: some 50 ms without a look for an interrupt.
const MAX_COMPARED: usize = 32 << 20;

/// A longer text is not written within a list, for that reads it letter by letter.
const MAX_QUOTED: usize = 8 << 20;

/// What is no text is looked for in a text as it is written, and so long it may be.
const MAX_SOUGHT: usize = 1 << 20;

#[derive(Debug)]
struct List {
    values: Arc<Vec<Value>>,
    /// Its elements are given as what they are compared as.
    compared: bool,
    _held: Held,
}

impl Object for List {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let value = self.values.get(key.as_usize()?)?;
        let taken = look(ELEMENT).and_then(|()| if self.compared { compared(value) } else { Ok(value.clone()) });
        Some(taken.unwrap_or_else(Value::from))
    }

    /// minijinja collects elements where it unpacks and where it reverses: then there is room for all of them.
    fn enumerate(self: &Arc<Self>) -> Enumerator {
        match budget::spare(3 * self.values.len() * size_of::<Value>()) {
            Ok(()) => Enumerator::Seq(self.values.len()),
            // The run ends with what was refused.
            Err(_) => Enumerator::Empty,
        }
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.values.len())
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('[')?;
        for i in 0..self.values.len() {
            let value = self.get_value(&Value::from(i)).unwrap_or_default();
            if value.as_str().is_some_and(|text| text.len() > MAX_QUOTED) {
                budget::refused(too_long("written in a list"));
                return Err(fmt::Error);
            }
            f.write_str(if i > 0 { ", " } else { "" })?;
            write!(f, "{value:?}")?;
        }
        f.write_char(']')
    }
}

/// A thing with named parts. Written as it is, it is its first part: `{{ relative }}` is `{{ relative.entity }}`.
#[derive(Debug)]
struct Thing {
    parts: Vec<(String, Value)>,
    /// The parts in the order of their names, if they are many.
    sorted: Vec<u32>,
}

impl Object for Thing {
    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        let part = if self.sorted.is_empty() {
            self.parts.iter().find(|part| part.0 == key)?
        } else {
            let at = self.sorted.binary_search_by(|i| by_length(&self.parts[*i as usize].0, key)).ok()?;
            &self.parts[self.sorted[at] as usize]
        };
        Some(part.1.clone())
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    /// Two things are equal if their parts are; they have no order.
    fn custom_cmp(self: &Arc<Self>, other: &DynObject) -> Option<Ordering> {
        let other = other.downcast::<Thing>()?;
        let same = |(name, value): &(String, Value)| {
            let others = look(ELEMENT + name.len() as u64).ok().and_then(|()| other.get_value_by_str(name))?;
            Some(compared(value).ok()? == compared(&others).ok()?)
        };
        let equal = self.parts.len() == other.parts.len() && self.parts.iter().all(|part| same(part) == Some(true));
        Some(if equal { Ordering::Equal } else { Ordering::Less })
    }

    fn is_true(self: &Arc<Self>) -> bool {
        !self.parts.is_empty()
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.first().map_or(Ok(()), |part| write!(f, "{}", part.1))
    }
}

/// jsonb's order: names of one length only are compared.
fn by_length(a: &str, b: &str) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

pub fn list(values: Vec<Value>) -> Value {
    Value::from_object(List { values: Arc::new(values), compared: false, _held: Held::default() })
}

pub fn thing<const N: usize>(parts: [(&str, Value); N]) -> Value {
    object(parts.map(|(name, value)| (name.to_string(), value)).into())
}

pub fn object(parts: Vec<(String, Value)>) -> Value {
    let mut sorted: Vec<u32> = if parts.len() > FEW_PARTS { (0..parts.len() as u32).collect() } else { Vec::new() };
    sorted.sort_unstable_by(|a, b| {
        pgrx::check_for_interrupts!();
        by_length(&parts[*a as usize].0, &parts[*b as usize].0)
    });
    Value::from_object(Thing { parts, sorted })
}

/// A list of ours of what minijinja iterates over.
pub fn collected(value: &Value, compared: bool) -> Result<Value, Error> {
    let (mut values, mut held) = (Vec::new(), Held::default());
    for value in value.try_iter()? {
        if values.len() == values.capacity() {
            let more = values.len().max(64);
            held.more(more * size_of::<Value>())?;
            budget::spare(2 * values.len() * size_of::<Value>())?;
            values.reserve_exact(more);
        }
        values.push(value);
    }
    Ok(Value::from_object(List { values: Arc::new(values), compared, _held: held }))
}

pub fn is_ours(value: &Value) -> bool {
    value.downcast_object_ref::<List>().is_some()
}

/// What an operand of a comparison is compared as. It pays for a text; a list's elements pay as they are taken.
pub fn compared(value: &Value) -> Result<Value, Error> {
    if let Some(text) = value.as_str() {
        if text.len() > MAX_COMPARED {
            return Err(refuse(too_long("compared")));
        }
        look(text.len() as u64)?;
    } else if let Some(number) = value.downcast_object_ref::<Number>() {
        return Ok(number.value());
    } else if let Some(list) = value.downcast_object_ref::<List>() {
        let values = Arc::clone(&list.values);
        return Ok(Value::from_object(List { values, compared: true, _held: Held::default() }));
    } else if value.is_tuple() {
        let values = value.try_iter()?.map(|value| compared(&value)).collect::<Result<Vec<_>, _>>()?;
        return Ok(Value::from(Tuple::from(values)));
    } else if matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
        return collected(value, true);
    } else if value.as_object().is_some() && value.downcast_object_ref::<Thing>().is_none() {
        return Err(refuse("it cannot be compared"));
    }
    Ok(value.clone())
}

/// What stands before `in`: in a text minijinja looks for it as it would be written.
pub fn sought(value: &Value) -> Result<Value, Error> {
    let value = compared(value)?;
    if value.as_object().is_some() {
        writable(&value)?;
        let mut measured = Measured(0);
        if write!(measured, "{value}").is_err() {
            return Err(refuse(too_long("looked for")));
        }
    }
    Ok(value)
}

/// Whether what is no list of ours, but made of lists that the template has written, can be written.
pub fn writable(value: &Value) -> Result<(), Error> {
    if value.as_object().is_none() || is_ours(value) || !matches!(value.kind(), ValueKind::Seq) {
        return Ok(());
    }
    for part in value.try_iter()? {
        if part.as_str().is_some_and(|text| text.len() > MAX_QUOTED) {
            return Err(refuse(too_long("written in a list")));
        }
        writable(&part)?;
    }
    Ok(())
}

fn too_long(what: &str) -> String {
    format!("it has a text that is too long to be {what}")
}

/// Counts what is written, until it is too much.
struct Measured(pub usize);

impl Write for Measured {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        if self.0 > MAX_SOUGHT { Err(fmt::Error) } else { look(text.len() as u64).map_err(|_| fmt::Error) }
    }
}
