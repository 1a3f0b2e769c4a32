//! Entities as values of the types that columns of them have: a text, an integer, a uuid.

#![expect(unsafe_code, reason = "values of declared types")]

use crate::call::fmgr::{array_elements, text_bytes, text_datum};
use crate::error;
use crate::error::Fallible;
use pgrx::{check_for_interrupts, pg_sys};
use std::borrow::Cow;
use std::ffi::c_char;

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

    /// The type's length, whether it is passed by value, and its alignment, as in pg_type.
    fn layout(self) -> (i32, bool, c_char) {
        match self {
            Self::Text => (-1, false, pg_sys::TYPALIGN_INT as c_char),
            Self::Int4 => (4, true, pg_sys::TYPALIGN_INT as c_char),
            Self::Int8 => (8, true, pg_sys::TYPALIGN_DOUBLE as c_char),
            Self::Uuid => (16, false, pg_sys::TYPALIGN_CHAR as c_char),
        }
    }

    /// The entity's name: the text that the type's output function gives.
    ///
    /// # Safety
    /// A value of that type, which outlives the name.
    pub unsafe fn name<'v>(self, value: pg_sys::Datum) -> Cow<'v, [u8]> {
        match self {
            // SAFETY: the caller's promise.
            Self::Text => Cow::Borrowed(unsafe { text_bytes(value) }),
            Self::Int4 => Cow::Owned((value.value() as i32).to_string().into_bytes()),
            Self::Int8 => Cow::Owned((value.value() as i64).to_string().into_bytes()),
            Self::Uuid => {
                // SAFETY: the caller's promise: a uuid is 16 bytes.
                let uuid = unsafe { *value.cast_mut_ptr::<[u8; 16]>() };
                Cow::Owned(uuid_text(&uuid).into_bytes())
            }
        }
    }

    /// The names of the elements of an array, without its NULLs.
    ///
    /// # Safety
    /// An array of that type, which outlives the names.
    pub unsafe fn names<'v>(self, array: pg_sys::Datum) -> Vec<Cow<'v, [u8]>> {
        // SAFETY: the caller's promise.
        unsafe {
            let elements = array_elements(array, self.oid(), self.layout());
            elements.into_iter().flatten().map(|element| self.name(element)).collect()
        }
    }

    /// An array of the entities of these names, without the names that no value of the type has. 53400, 53200.
    pub fn array<'n>(self, names: impl Iterator<Item = &'n [u8]>) -> Fallible<pg_sys::Datum> {
        let mut values: Vec<pg_sys::Datum> = Vec::new();
        for name in names {
            if values.len().is_multiple_of(1 << 14) {
                check_for_interrupts!();
            }
            if values.len() == values.capacity() {
                let more = values.len().max(64);
                values
                    .try_reserve_exact(more)
                    .map_err(|_| error::no_memory_to_work(2 * more * size_of::<pg_sys::Datum>()))?;
            }
            values.extend(self.value(name));
        }
        let (length, by_value, align) = self.layout();
        // SAFETY: elements of that type and layout, which are copied, and then freed where they are palloc'd.
        unsafe {
            let count = values.len() as i32;
            let array = pg_sys::construct_array(values.as_mut_ptr(), count, self.oid(), length, by_value, align);
            if !by_value {
                values.iter().for_each(|value| pg_sys::pfree(value.cast_mut_ptr()));
            }
            Ok(pg_sys::Datum::from(array))
        }
    }

    /// The value whose text is this name, if there is one.
    pub fn value(self, name: &[u8]) -> Option<pg_sys::Datum> {
        if self == Self::Text {
            return Some(text_datum(name));
        }
        let text = std::str::from_utf8(name).ok()?;
        match self {
            Self::Uuid => uuid_of(text).map(|uuid| {
                // SAFETY: 16 bytes of memory, which are written here.
                unsafe {
                    let value = pg_sys::palloc(uuid.len()).cast::<[u8; 16]>();
                    value.write(uuid);
                    pg_sys::Datum::from(value)
                }
            }),
            Self::Int4 => text.parse::<i32>().ok().filter(|n| n.to_string() == text).map(pg_sys::Datum::from),
            _ => text.parse::<i64>().ok().filter(|n| n.to_string() == text).map(pg_sys::Datum::from),
        }
    }
}

/// The text of a uuid, as uuid_out writes it.
fn uuid_text(uuid: &[u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (n, byte) in uuid.iter().enumerate() {
        if matches!(n, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.extend([byte >> 4, byte & 15].map(|digit| char::from_digit(u32::from(digit), 16).unwrap_or('0')));
    }
    text
}

/// The uuid that has this text; None if uuid_out would write another one.
fn uuid_of(text: &str) -> Option<[u8; 16]> {
    let digits: Vec<u8> = text.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
    let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
    let uuid: [u8; 16] = bytes.try_into().ok()?;
    (uuid_text(&uuid) == text).then_some(uuid)
}

#[cfg(test)]
mod tests {
    use super::{uuid_of, uuid_text};

    #[test]
    fn a_uuid_and_its_text() {
        let text = "0123abcd-4567-89ef-0000-00ff00000001";
        let uuid = uuid_of(text).expect("a uuid");
        assert_eq!(uuid_text(&uuid), text);
        for other in ["", "0123ABCD-4567-89ef-0000-00ff00000001", "0123abcd4567-89ef-0000-00ff00000001", "{}"] {
            assert_eq!(uuid_of(other), None, "{other}");
        }
    }
}
