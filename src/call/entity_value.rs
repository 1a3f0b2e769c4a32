//! Entities as values of the types that columns of them have: a text, an integer, a uuid.

#![expect(unsafe_code, reason = "values of declared types")]

use crate::call::array::Elements;
use crate::call::fmgr::{array_of_values, text_array_of, text_bytes, text_datum};
use crate::error::Fallible;
use pgrx::pg_sys;
use std::io::Write;
use std::ops::Deref;
use std::str::FromStr;

/// The type of an entity's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntityType {
    Text,
    Int4,
    Int8,
    Uuid,
}

impl EntityType {
    /// The entity type of a type, with `false`, or of an array type's elements, with `true`. None for other types.
    pub fn of(oid: pg_sys::Oid) -> Option<(Self, bool)> {
        Some(match oid {
            pg_sys::TEXTOID => (Self::Text, false),
            pg_sys::INT4OID => (Self::Int4, false),
            pg_sys::INT8OID => (Self::Int8, false),
            pg_sys::UUIDOID => (Self::Uuid, false),
            pg_sys::TEXTARRAYOID => (Self::Text, true),
            pg_sys::INT8ARRAYOID => (Self::Int8, true),
            pg_sys::UUIDARRAYOID => (Self::Uuid, true),
            _ => return None,
        })
    }

    pub fn oid(self) -> pg_sys::Oid {
        match self {
            Self::Text => pg_sys::TEXTOID,
            Self::Int4 => pg_sys::INT4OID,
            Self::Int8 => pg_sys::INT8OID,
            Self::Uuid => pg_sys::UUIDOID,
        }
    }

    /// The type of arrays of it.
    pub fn array_oid(self) -> pg_sys::Oid {
        match self {
            Self::Text => pg_sys::TEXTARRAYOID,
            Self::Int4 => pg_sys::INT4ARRAYOID,
            Self::Int8 => pg_sys::INT8ARRAYOID,
            Self::Uuid => pg_sys::UUIDARRAYOID,
        }
    }

    /// The type's length; -1 for varlenas.
    fn length(self) -> i32 {
        match self {
            Self::Text => -1,
            Self::Int4 => 4,
            Self::Int8 => 8,
            Self::Uuid => 16,
        }
    }

    /// The entity's name: the text that the type's output function gives.
    ///
    /// # Safety
    /// A value of that type, which outlives the name.
    pub unsafe fn name<'v>(self, value: pg_sys::Datum) -> Name<'v> {
        match self {
            // SAFETY: the caller's promise.
            Self::Text => Name::Text(unsafe { text_bytes(value) }),
            Self::Int4 => Name::of_number(i64::from(value.value() as i32)),
            Self::Int8 => Name::of_number(value.value() as i64),
            // SAFETY: the caller's promise: a uuid is 16 bytes.
            Self::Uuid => Name::Short(uuid_text(unsafe { &*value.cast_mut_ptr() }), 36),
        }
    }

    /// The names of the elements of an array, without its NULLs. 53200.
    ///
    /// # Safety
    /// An array of that type, which outlives the names.
    pub unsafe fn names<'v>(self, array: pg_sys::Datum) -> Fallible<impl Iterator<Item = Name<'v>> + Clone> {
        // SAFETY: the caller's promise.
        let elements = unsafe { Elements::of(array, self.length()) }?;
        // SAFETY: as above.
        Ok(elements.filter_map(move |element| element.map(|element| unsafe { self.name(element) })))
    }

    /// The value whose text is this name, if there is one.
    pub fn value(self, name: &[u8]) -> Option<pg_sys::Datum> {
        match self {
            Self::Text => Some(text_datum(name)),
            Self::Int4 => number::<i32>(name).map(pg_sys::Datum::from),
            Self::Int8 => number::<i64>(name).map(pg_sys::Datum::from),
            Self::Uuid => uuid_of(name).map(|uuid| {
                // SAFETY: 16 bytes of memory, which are written here.
                unsafe {
                    let value = pg_sys::palloc(uuid.len()).cast::<[u8; 16]>();
                    value.write(uuid);
                    pg_sys::Datum::from(value)
                }
            }),
        }
    }

    /// An array of the entities of these names, without the names that no value of the type has. Raises 54000, 53200.
    pub fn array<'n>(self, names: impl Iterator<Item = &'n [u8]> + Clone) -> pg_sys::Datum {
        match self {
            Self::Text => text_array_of(names.map(Some)),
            Self::Int4 => array_of_values(self.oid(), names.filter_map(number).map(i32::to_ne_bytes)),
            Self::Int8 => array_of_values(self.oid(), names.filter_map(number).map(i64::to_ne_bytes)),
            Self::Uuid => array_of_values(self.oid(), names.filter_map(uuid_of)),
        }
    }
}

/// An entity's name: a text value in place, or the text of a short one.
#[derive(Clone, Copy)]
pub enum Name<'v> {
    Text(&'v [u8]),
    /// With its length.
    Short([u8; 36], usize),
}

impl Name<'_> {
    fn of_number(number: i64) -> Self {
        let mut text = [0; 36];
        let mut rest = &mut text[..];
        // 20 bytes at most.
        _ = write!(rest, "{number}");
        let left = rest.len();
        Self::Short(text, 36 - left)
    }
}

impl Deref for Name<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Text(text) => text,
            Self::Short(text, length) => &text[..*length],
        }
    }
}

/// The number that has this text; None if its output function would write another one.
fn number<N: FromStr + Copy + Into<i64>>(text: &[u8]) -> Option<N> {
    let number: N = std::str::from_utf8(text).ok()?.parse().ok()?;
    (*Name::of_number(number.into()) == *text).then_some(number)
}

/// The text of a uuid, as uuid_out writes it.
fn uuid_text(uuid: &[u8; 16]) -> [u8; 36] {
    let mut text = [b'-'; 36];
    let digits = uuid.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let places = (0..36).filter(|place| !matches!(place, 8 | 13 | 18 | 23));
    for (place, digit) in places.zip(digits) {
        text[place] = b"0123456789abcdef"[usize::from(digit)];
    }
    text
}

/// The uuid that has this text; None if uuid_out would write another one.
fn uuid_of(text: &[u8]) -> Option<[u8; 16]> {
    let text: &[u8; 36] = text.try_into().ok()?;
    let digits = text.iter().filter_map(|byte| char::from(*byte).to_digit(16));
    let uuid = digits.fold(0, |uuid: u128, digit| uuid << 4 | u128::from(digit)).to_be_bytes();
    (uuid_text(&uuid) == *text).then_some(uuid)
}

#[cfg(test)]
mod tests {
    use super::{number, uuid_of, uuid_text};

    #[test]
    fn a_uuid_and_its_text() {
        let text = b"0123abcd-4567-89ef-0000-00ff00000001";
        let uuid = uuid_of(text).expect("a uuid");
        assert_eq!(uuid_text(&uuid), *text);
        for other in ["", "0123ABCD-4567-89ef-0000-00ff00000001", "0123abcd4567-89ef-0000-00ff00000001", "{}"] {
            assert_eq!(uuid_of(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn a_number_and_its_text() {
        assert_eq!(number::<i64>(b"-9223372036854775808"), Some(i64::MIN));
        assert_eq!(number::<i32>(b"7"), Some(7));
        for other in ["", "+7", "07", "-0", "7 ", "2147483648"] {
            assert_eq!(number::<i32>(other.as_bytes()), None, "{other}");
        }
    }
}
