//! Entities as values of the types that columns of them have: a text, an integer, a uuid.

#![expect(unsafe_code, reason = "values of declared types")]

use crate::call::array;
use crate::call::array::Elements;
use crate::call::fmgr::{Call, array_of_values, text_array_of, text_datum};
use crate::call::text::Text;
use crate::call::work_memory::Room;
use crate::error::Fallible;
use cftrag_core::Names;
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
    /// A value of that type.
    unsafe fn name<'v>(self, value: Text<'v>) -> Name<'v> {
        let datum = value.datum();
        match self {
            Self::Text => Name::Text(value.bytes()),
            Self::Int4 => Name::of_number(i64::from(datum.value() as i32)),
            Self::Int8 => Name::of_number(datum.value() as i64),
            // SAFETY: the caller's promise: a uuid is 16 bytes.
            Self::Uuid => Name::Short(uuid_text(unsafe { &*datum.cast_mut_ptr() }), 36),
        }
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

/// A value of an entity type, or an array of such.
#[derive(Clone, Copy)]
pub struct Entities<'v> {
    of: EntityType,
    many: bool,
    value: Text<'v>,
}

impl<'v> Entities<'v> {
    /// None if the type is no entity type, nor an array type of one.
    ///
    /// # Safety
    /// A value of the type.
    pub unsafe fn of(oid: pg_sys::Oid, value: Text<'v>) -> Option<Self> {
        EntityType::of(oid).map(|(of, many)| Self { of, many, value })
    }

    /// The name of the entity; of an array, its bytes.
    pub fn name(self) -> Name<'v> {
        // SAFETY: of()'s promise.
        if self.many { Name::Text(self.value.bytes()) } else { unsafe { self.of.name(self.value) } }
    }

    /// The names of an array's elements, without NULLs; None if it is no array. 53200.
    fn names(self) -> Fallible<Option<impl Iterator<Item = Name<'v>> + Clone>> {
        if !self.many {
            return Ok(None);
        }
        // SAFETY: of()'s promise; an element lives as long as the array.
        let name = move |element| unsafe { self.of.name(self.value.part(element)) };
        // SAFETY: of()'s promise.
        let elements = unsafe { Elements::of(self.value, self.of.length()) }?;
        Ok(Some(elements.filter_map(move |element| element.map(name))))
    }

    /// The distinct names, copied. 53400, 53200.
    pub fn copied(self, room: &mut Room) -> Fallible<Names> {
        match self.names()? {
            Some(names) => array::copied(names, room),
            None => array::copied(std::iter::once(self.name()), room),
        }
    }

    /// For an estimate: the distinct ones of the first `most` names, and about how many distinct ones there are. 53200.
    pub fn sample(self, most: usize) -> Fallible<(Vec<Name<'v>>, usize)> {
        Ok(self.names()?.map_or_else(|| (vec![self.name()], 1), |names| array::sample(names, most)))
    }
}

/// The types of the arguments of a place's calls.
pub struct Types {
    place: *const pg_sys::FmgrInfo,
    function: pg_sys::Oid,
    /// What the function declares; of polymorphic arguments, what the calls have.
    all: Vec<pg_sys::Oid>,
    pub declared: Vec<pg_sys::Oid>,
}

impl Types {
    pub fn of(call: &Call) -> Self {
        let declared = call.argument_types().to_vec(); // bounded: arguments
        let given = |(n, of): (usize, &_)| if *of == pg_sys::ANYELEMENTOID { call.type_given(n) } else { *of };
        let all = declared.iter().enumerate().map(given).collect(); // bounded: arguments
        Self { place: call.place(), function: call.function(), all, declared }
    }

    /// The entity type of an argument, and whether it is an array of such.
    pub fn get(&self, n: usize) -> Option<(EntityType, bool)> {
        EntityType::of(*self.all.get(n)?)
    }

    /// An argument of an entity type, or an array of such, of a call of that place.
    pub fn value<'c>(&self, call: &'c Call, n: usize) -> Option<Entities<'c>> {
        assert!(call.place().cast_const() == self.place && call.function() == self.function, "types of this call");
        // SAFETY: of that type: a place's calls are of one function, in one expression.
        self.all.get(n).zip(call.stored(n)).and_then(|(of, value)| unsafe { Entities::of(*of, value) })
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
