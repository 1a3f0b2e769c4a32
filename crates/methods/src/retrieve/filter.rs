//! Filters of documents, as LangChain writes them: `{"lang": "en", "price": {"$lt": 20}, "$or": [{"tag": "new"},
//! {"stock": {"$gt": 0}}]}`.
//!
//! An object is what all its keys say. A key is the name of a field, with a value that it has, or with operators and
//! what they compare it with; or it is `$and` or `$or` with an array of filters, or `$not` with one.

use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// A condition on a document.
#[derive(Debug)]
pub enum Filter {
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    /// The metadata contain this JSON object.
    Contains(String),
    /// A field compared with values.
    Compare(String, Operator, Vec<Value>),
}

/// What a field is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Eq,
    Ne,
    Lt,
    Lte,
    Gt,
    Gte,
    In,
    NotIn,
    Between,
    Exists,
    Like,
    ILike,
}

/// All operators of a field.
const OPERATORS: [(&str, Operator); 12] = [
    ("$eq", Operator::Eq),
    ("$ne", Operator::Ne),
    ("$lt", Operator::Lt),
    ("$lte", Operator::Lte),
    ("$gt", Operator::Gt),
    ("$gte", Operator::Gte),
    ("$in", Operator::In),
    ("$nin", Operator::NotIn),
    ("$between", Operator::Between),
    ("$exists", Operator::Exists),
    ("$like", Operator::Like),
    ("$ilike", Operator::ILike),
];

/// The names of all operators.
pub fn operators() -> String {
    let of_fields = OPERATORS.iter().map(|(name, _)| *name);
    of_fields.chain(["$and", "$or", "$not"]).collect::<Vec<_>>().join(", ")
}

/// A value, as JSON.
#[derive(Clone, Debug)]
pub struct Value(String);

/// What kind of value it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Null,
    Boolean,
    Number,
    Text,
    Other,
}

impl Value {
    pub fn json(&self) -> &str {
        &self.0
    }

    pub fn kind(&self) -> Kind {
        match self.0.as_bytes().first() {
            Some(b'n') => Kind::Null,
            Some(b't' | b'f') => Kind::Boolean,
            Some(b'"') => Kind::Text,
            Some(b'{' | b'[') => Kind::Other,
            _ => Kind::Number,
        }
    }

    /// The value as text: that of a string without its quotes.
    pub fn text(&self) -> String {
        match self.kind() {
            Kind::Text => serde_json::from_str(&self.0).unwrap_or_default(),
            _ => self.0.clone(),
        }
    }
}

/// Why a filter is not understood.
#[derive(Debug, PartialEq, Eq)]
pub enum Fault {
    NoObject,
    NoOperator(String),
    /// An operator, and what it takes.
    Takes(String, &'static str),
    /// More conditions than this.
    TooMany(usize),
}

/// Conditions that a filter may have.
const MOST: usize = 256;

/// Reads a filter, a JSON text. `is_column`: whether a field is a column, rather than a key of the metadata.
pub fn parse(text: &str, is_column: &dyn Fn(&str) -> bool) -> Result<Filter, Fault> {
    let mut left = MOST;
    object(text, is_column, &mut left)
}

type Fields<'j> = BTreeMap<String, &'j RawValue>;

fn object(text: &str, is_column: &dyn Fn(&str) -> bool, left: &mut usize) -> Result<Filter, Fault> {
    let fields: Fields<'_> = serde_json::from_str(text).map_err(|_| Fault::NoObject)?;
    let (mut all, mut contained) = (Vec::new(), Fields::new());
    for (key, value) in fields {
        *left = left.checked_sub(1).ok_or(Fault::TooMany(MOST))?;
        match key.as_str() {
            "$and" | "$or" => {
                let takes = || Fault::Takes(key.clone(), "an array of filters");
                let several: Vec<&RawValue> =
                    serde_json::from_str(value.get()).map_err(|_| takes())?;
                let each = several.into_iter().map(|one| object(one.get(), is_column, left));
                let each = each.collect::<Result<Vec<_>, _>>()?;
                all.push(if key == "$and" { Filter::All(each) } else { Filter::Any(each) });
            }
            "$not" => all.push(Filter::Not(Box::new(object(value.get(), is_column, left)?))),
            name if name.starts_with('$') => return Err(Fault::NoOperator(key)),
            _ => match operators_of(value) {
                Some(operators) => {
                    for (name, value) in operators {
                        *left = left.checked_sub(1).ok_or(Fault::TooMany(MOST))?;
                        all.push(compare(&key, &name, value)?);
                    }
                }
                None if is_column(&key) => {
                    all.push(Filter::Compare(key, Operator::Eq, vec![Value(value.get().into())]));
                }
                None => _ = contained.insert(key, value),
            },
        }
    }
    if !contained.is_empty() || all.is_empty() {
        all.push(Filter::Contains(serde_json::to_string(&contained).map_err(|_| Fault::NoObject)?));
    }
    Ok(if all.len() == 1 { all.remove(0) } else { Filter::All(all) })
}

/// The operators of a field's value, if it is an object of them.
fn operators_of(value: &RawValue) -> Option<Fields<'_>> {
    let fields: Fields<'_> = serde_json::from_str(value.get()).ok()?;
    fields.keys().any(|key| key.starts_with('$')).then_some(fields)
}

fn compare(field: &str, name: &str, value: &RawValue) -> Result<Filter, Fault> {
    let known = OPERATORS.iter().find(|(known, _)| *known == name);
    let (_, operator) = known.ok_or_else(|| Fault::NoOperator(name.into()))?;
    let takes = |what| Err(Fault::Takes(name.into(), what));
    let one = Value(value.get().into());
    let several = || {
        let all: Option<Vec<&RawValue>> = serde_json::from_str(value.get()).ok();
        all.map(|all| all.into_iter().map(|one| Value(one.get().into())).collect::<Vec<_>>())
    };
    let values = match operator {
        Operator::In | Operator::NotIn => match several() {
            Some(all) if !all.iter().any(|one| one.kind() == Kind::Null) => all,
            _ => return takes("an array of values"),
        },
        Operator::Between => match several() {
            Some(all) if all.len() == 2 && is_ordered(&all[0]) && is_ordered(&all[1]) => all,
            _ => return takes("an array of two numbers or texts"),
        },
        Operator::Exists if one.kind() != Kind::Boolean => return takes("true or false"),
        Operator::Like | Operator::ILike if one.kind() != Kind::Text => return takes("a text"),
        Operator::Lt | Operator::Lte | Operator::Gt | Operator::Gte if !is_ordered(&one) => {
            return takes("a number or a text");
        }
        _ => vec![one],
    };
    Ok(Filter::Compare(field.into(), *operator, values))
}

fn is_ordered(value: &Value) -> bool {
    matches!(value.kind(), Kind::Number | Kind::Text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Result<Filter, Fault> {
        parse(text, &|name| name == "price")
    }

    #[test]
    fn plain_keys_are_contained_and_columns_are_compared() {
        let Ok(Filter::All(all)) =
            parsed(r#"{"lang": "en", "tags": ["a"], "price": 5, "$or": [{"x": {"$lt": 1}}, {}]}"#)
        else {
            panic!("no conditions")
        };
        let [Filter::Any(any), Filter::Compare(price, Operator::Eq, five), Filter::Contains(rest)] =
            &all[..]
        else {
            panic!("{all:?}")
        };
        assert_eq!((price.as_str(), five[0].json()), ("price", "5"));
        assert_eq!(rest, r#"{"lang":"en","tags":["a"]}"#);
        assert!(matches!(&any[..], [Filter::Compare(..), Filter::Contains(none)] if none == "{}"));
    }

    #[test]
    fn numbers_keep_their_digits_and_texts_lose_their_quotes() {
        let Ok(Filter::Compare(_, _, values)) =
            parsed(r#"{"a": {"$in": [1.10, 12345678901234567890123, "x\"y", true]}}"#)
        else {
            panic!("no comparison")
        };
        let texts: Vec<_> = values.iter().map(Value::text).collect();
        assert_eq!(texts, ["1.10", "12345678901234567890123", "x\"y", "true"]);
    }

    #[test]
    fn what_is_not_understood_is_a_fault() {
        for (text, fault) in [
            ("[1]", Fault::NoObject),
            ("1", Fault::NoObject),
            (r#"{"$foo": 1}"#, Fault::NoOperator("$foo".into())),
            (r#"{"a": {"$foo": 1}}"#, Fault::NoOperator("$foo".into())),
            (r#"{"a": {"$lt": 1, "b": 2}}"#, Fault::NoOperator("b".into())),
            (r#"{"$and": {}}"#, Fault::Takes("$and".into(), "an array of filters")),
            (r#"{"a": {"$in": 1}}"#, Fault::Takes("$in".into(), "an array of values")),
            (r#"{"a": {"$in": [null]}}"#, Fault::Takes("$in".into(), "an array of values")),
            (r#"{"a": {"$lt": true}}"#, Fault::Takes("$lt".into(), "a number or a text")),
            (
                r#"{"a": {"$between": [1]}}"#,
                Fault::Takes("$between".into(), "an array of two numbers or texts"),
            ),
            (r#"{"a": {"$exists": 1}}"#, Fault::Takes("$exists".into(), "true or false")),
            (r#"{"a": {"$like": 1}}"#, Fault::Takes("$like".into(), "a text")),
        ] {
            assert_eq!(parsed(text).unwrap_err(), fault, "{text}");
        }
        let many: Vec<_> = (0..MOST).map(|n| format!(r#"{{"a": {n}}}"#)).collect();
        assert_eq!(
            parsed(&format!(r#"{{"$or": [{}]}}"#, many.join(","))).unwrap_err(),
            Fault::TooMany(MOST)
        );
        let deep = format!("{}{{}}{}", r#"{"$not": "#.repeat(MOST + 1), "}".repeat(MOST + 1));
        assert_eq!(parsed(&deep).unwrap_err(), Fault::TooMany(MOST));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in r#"[{}\[\]":,$a-z0-9 ]{0,60}"#) {
            let _ = parsed(&text);
        }
    }
}
