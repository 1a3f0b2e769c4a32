//! A filter of documents as a condition: over columns named at attach, by their own types and indexes, and over the
//! keys of the metadata.
//!
//! No text of a filter becomes SQL: keys and values are elements of one parameter, a text[]. As everywhere in SQL, a
//! comparison with NULL, or with a key that is not there, holds for nothing.

use crate::call::fmgr::{json_text, text_array};
use crate::call::text::Text;
use crate::catalog::documents::{DocumentColumn, Documents};
use crate::error;
use crate::error::Fallible;
use crate::pg::encoding;
use cftrag_methods::retrieve::filter;
use cftrag_methods::retrieve::filter::{Fault, Filter, Kind, Operator, Value};
use pgrx::pg_sys;

/// Bytes of the longest filter.
const LONGEST: usize = 1 << 20;

/// A condition on a document (d), as SQL, and the elements of its parameter.
pub struct Condition {
    pub sql: String,
    /// The parameter's number.
    number: usize,
    values: Vec<String>,
}

/// The parameter of the searches of documents.
pub const OF_SEARCHES: usize = 4;

impl Condition {
    /// The condition of a jsonb value, whose parameter has that number. Errors: 22023 (not understood), 55000 (no
    /// metadata attached), 42804 (metadata that is no jsonb: any role could have made a cast of its own type to jsonb).
    pub fn of(value: Text<'_>, of: &Documents, number: usize) -> Fallible<Self> {
        let text = json_text(value);
        if text.len() > LONGEST {
            return Err(error::long_filter(LONGEST));
        }
        let is_column = |name: &str| column(of, name).is_some();
        let parsed = filter::parse(&encoding::decode(text), &is_column).map_err(|fault| match fault {
            Fault::NoObject => error::filter_is_no_object(),
            Fault::NoOperator(name) => error::no_filter_operator(&name, &filter::operators()),
            Fault::Takes(name, what) => error::filter_operator_takes(&name, what),
            Fault::TooMany(most) => error::many_conditions(most),
        })?;
        let mut condition = Self { sql: String::new(), number, values: Vec::new() };
        condition.sql = condition.written(&parsed, of)?;
        Ok(condition)
    }

    /// The parameter, a text[] value.
    pub fn parameter(&self) -> pg_sys::Datum {
        let values: Vec<_> = self.values.iter().map(|value| encoding::encode(value)).collect(); // bounded: LONGEST
        text_array(&values.iter().map(AsRef::as_ref).collect::<Vec<&[u8]>>()) // bounded: LONGEST
    }

    /// A value, as SQL.
    fn value(&mut self, value: String) -> String {
        self.values.push(value);
        format!("(${})[{}]", self.number, self.values.len())
    }

    /// Values as an array of that type, as SQL.
    fn array(&mut self, values: impl Iterator<Item = String>, of: &str) -> String {
        let from = self.values.len() + 1;
        self.values.extend(values);
        format!("(${})[{from}:{}]::{of}[]", self.number, self.values.len())
    }

    fn written(&mut self, filter: &Filter, of: &Documents) -> Fallible<String> {
        let joined = |all: Vec<String>, by: &str, none: &str| match all.is_empty() {
            true => none.to_string(),
            false => format!("({})", all.join(by)),
        };
        Ok(match filter {
            Filter::All(all) => {
                let all = all.iter().map(|one| self.written(one, of)).collect::<Fallible<_>>()?; // bounded: conditions
                joined(all, " AND ", "true")
            }
            Filter::Any(all) => {
                let all = all.iter().map(|one| self.written(one, of)).collect::<Fallible<_>>()?; // bounded: conditions
                joined(all, " OR ", "false")
            }
            Filter::Not(one) => format!("(NOT {})", self.written(one, of)?),
            Filter::Contains(object) => {
                let value = self.value(object.clone());
                format!("{} OPERATOR(pg_catalog.@>) {value}::pg_catalog.jsonb", metadata(of)?)
            }
            Filter::Compare(field, operator, values) => match column(of, field) {
                Some(column) => {
                    let is_other = values.iter().any(|value| value.kind() == Kind::Other);
                    if is_other && column.base != pg_sys::JSONBOID {
                        return Err(error::filter_of_object(field));
                    }
                    self.of_column(column, *operator, values)
                }
                None => self.of_key(&metadata(of)?, field, *operator, values),
            },
        })
    }

    /// A comparison of a column, by its own type.
    fn of_column(&mut self, column: &DocumentColumn, operator: Operator, values: &[Value]) -> String {
        let own = column.of_row("d");
        let is_integer = [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID].contains(&column.base);
        // An integer is compared with any number, and uses its index where that is an integer, too.
        let is_whole = |value: &Value| value.text().parse::<i64>().is_ok();
        let (own, type_name) = match is_integer {
            true if values.iter().all(is_whole) => (own, "pg_catalog.int8".to_string()),
            true if values.iter().all(|value| value.kind() == Kind::Number) => {
                (format!("{own}::pg_catalog.numeric"), "pg_catalog.numeric".to_string())
            }
            _ => (own, column.type_name.clone()),
        };
        let mut compared = |sign: &str, value: &Value| {
            let value = self.value(value.text());
            format!("{own} OPERATOR(pg_catalog.{sign}) {value}::{type_name}")
        };
        let first = values.first();
        match (operator, first.map(Value::kind)) {
            (Operator::Eq, Some(Kind::Null)) => format!("{own} IS NULL"),
            (Operator::Ne, Some(Kind::Null)) => format!("{own} IS NOT NULL"),
            (Operator::Exists, _) => {
                let is = first.is_some_and(|value| value.json() == "true");
                format!("{own} IS {}NULL", if is { "NOT " } else { "" })
            }
            (Operator::In, _) => {
                let all = self.array(values.iter().map(Value::text), &type_name);
                format!("{own} OPERATOR(pg_catalog.=) ANY ({all})")
            }
            (Operator::NotIn, _) => {
                let all = self.array(values.iter().map(Value::text), &type_name);
                format!("{own} OPERATOR(pg_catalog.<>) ALL ({all})")
            }
            (Operator::Between, _) => {
                let [least, most] = [(">=", &values[0]), ("<=", &values[1])].map(|(sign, value)| compared(sign, value));
                format!("({least} AND {most})")
            }
            (Operator::Like | Operator::ILike, _) => {
                let value = self.value(values[0].text());
                format!("{} OPERATOR(pg_catalog.{}) {value}", column.as_text(&column.of_row("d")), sign(operator))
            }
            _ => compared(sign(operator), &values[0]),
        }
    }

    /// A comparison of a key of the metadata: of numbers with numbers, of texts with texts, by bytes.
    fn of_key(&mut self, metadata: &str, key: &str, operator: Operator, values: &[Value]) -> String {
        let key_sql = self.value(key.into());
        let (json, text) = (
            format!("({metadata} OPERATOR(pg_catalog.->) {key_sql})"),
            format!("({metadata} OPERATOR(pg_catalog.->>) {key_sql})"),
        );
        let mut ordered = |sign: &str, value: &Value| {
            let (kind, cast) = match value.kind() {
                Kind::Number => ("number", "::pg_catalog.numeric"),
                _ => ("string", " COLLATE pg_catalog.\"C\""),
            };
            let value = self.value(value.text());
            format!(
                "CASE WHEN pg_catalog.jsonb_typeof({json}) OPERATOR(pg_catalog.=) '{kind}' THEN {text}{cast} \
                    OPERATOR(pg_catalog.{sign}) {value}{cast} END"
            )
        };
        match operator {
            Operator::Eq => {
                // The containment can use an index.
                let contained = self.value(format!("{{{}:{}}}", quoted(key), values[0].json()));
                let value = self.value(values[0].json().into());
                format!(
                    "({metadata} OPERATOR(pg_catalog.@>) {contained}::pg_catalog.jsonb AND {json} \
                        OPERATOR(pg_catalog.=) {value}::pg_catalog.jsonb)"
                )
            }
            Operator::Ne => {
                let value = self.value(values[0].json().into());
                format!("{json} OPERATOR(pg_catalog.<>) {value}::pg_catalog.jsonb")
            }
            Operator::In | Operator::NotIn => {
                let all = self.array(values.iter().map(|value| value.json().into()), "pg_catalog.jsonb");
                let how =
                    if operator == Operator::In { "OPERATOR(pg_catalog.=) ANY" } else { "OPERATOR(pg_catalog.<>) ALL" };
                format!("{json} {how} ({all})")
            }
            Operator::Between => {
                let [least, most] = [(">=", &values[0]), ("<=", &values[1])].map(|(sign, value)| ordered(sign, value));
                format!("({least} AND {most})")
            }
            Operator::Exists => {
                let is = values[0].json() == "true";
                let there = format!("{metadata} OPERATOR(pg_catalog.?) {key_sql}");
                if is { there } else { format!("({there}) IS NOT TRUE") }
            }
            Operator::Like | Operator::ILike => {
                let value = self.value(values[0].text());
                format!("{text} OPERATOR(pg_catalog.{}) {value}", sign(operator))
            }
            Operator::Lt | Operator::Lte | Operator::Gt | Operator::Gte => ordered(sign(operator), &values[0]),
        }
    }
}

/// PostgreSQL's operator for one that compares a value.
fn sign(operator: Operator) -> &'static str {
    match operator {
        Operator::Ne => "<>",
        Operator::Lt => "<",
        Operator::Lte => "<=",
        Operator::Gt => ">",
        Operator::Gte => ">=",
        Operator::Like => "~~",
        Operator::ILike => "~~*",
        _ => "=",
    }
}

/// A text as a JSON string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c < ' ' => quoted += &format!("\\u{:04x}", c as u32),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// The column of that name which filters may name.
fn column<'d>(of: &'d Documents, name: &str) -> Option<&'d DocumentColumn> {
    of.columns.iter().find(|column| column.name == name)
}

/// The metadata of a document, as SQL. Errors: 55000, 42804.
fn metadata(of: &Documents) -> Fallible<String> {
    let Some(metadata) = &of.metadata else { return Err(error::no_metadata(&of.shown)) };
    match metadata.type_oid {
        pg_sys::JSONBOID => Ok(metadata.of_row("d")),
        _ => Err(error::metadata_is_no_jsonb(&metadata.name, &of.shown)),
    }
}
