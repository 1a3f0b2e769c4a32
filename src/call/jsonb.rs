//! A serde serializer that writes a jsonb as PostgreSQL stores it (utils/jsonb.h): for each container a header and an
//! entry for each key and value, then their data. We do not call jsonb_in, because it cannot be cancelled on a large
//! value and takes twenty times the memory.
//!
//! What it takes: structs whose fields are in jsonb's order (by length, then by bytes), lists that know their length,
//! numbers of type i32, strings as bytes in the database's encoding, options.

#![expect(unsafe_code, reason = "makes a numeric; writes into a varlena")]

use crate::call::work_memory::{LARGE, limit};
use crate::error;
use crate::error::Fallible;
use crate::pg::interrupt::look_up;
use cftrag_core::NoRoom;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use serde::ser::{Error, Impossible, SerializeSeq, SerializeStruct};
use serde::{Serialize, Serializer};
use std::cell::Cell;
use std::fmt;

/// JB_FOBJECT and JB_FARRAY; the kinds of an entry, JENTRY_HAS_OFF, and the most that an entry can say
/// (JENTRY_OFFLENMASK).
const OBJECT: u32 = 0x2000_0000;
const ARRAY: u32 = 0x4000_0000;
const STRING: u32 = 0;
const NUMERIC: u32 = 0x1000_0000;
const NULL: u32 = 0x4000_0000;
const CONTAINER: u32 = 0x5000_0000;
const HAS_OFFSET: u32 = 0x8000_0000;
const MOST: usize = 0x0fff_ffff;
/// One entry in this many says where its data end, the others how long they are (JB_OFFSET_STRIDE).
const STRIDE: usize = 32;

/// The longest value in bytes, with its header (MaxAllocSize).
const LONGEST: usize = 0x3fff_ffff;

/// A value under construction, palloc'd: it is not copied when it is complete.
struct Varlena {
    /// The memory context in which the value was begun; later writes may come in another one.
    context: pg_sys::MemoryContext,
    at: *mut u8,
    /// Bytes with the header: written, allocated.
    len: usize,
    capacity: usize,
}

impl Default for Varlena {
    fn default() -> Self {
        // SAFETY: reads a backend variable.
        let context = unsafe { pg_sys::CurrentMemoryContext };
        Self { context, at: std::ptr::null_mut(), len: pg_sys::VARHDRSZ, capacity: 0 }
    }
}

impl Varlena {
    /// The bytes behind the header.
    fn bytes(&mut self) -> &mut [u8] {
        if self.at.is_null() {
            return &mut [];
        }
        // SAFETY: `append` has written this many bytes there.
        unsafe { std::slice::from_raw_parts_mut(self.at.add(pg_sys::VARHDRSZ), self.len - pg_sys::VARHDRSZ) }
    }

    /// Appends bytes. Errors: 53400, 53200, 54000; or PostgreSQL's own ERROR 53200.
    fn append(&mut self, bytes: &[u8]) -> Fallible<()> {
        let end = self.len + bytes.len();
        if end > self.capacity {
            self.grow(end)?;
        }
        // SAFETY: `grow` has allocated this many bytes, which nothing else uses.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.at.add(self.len), bytes.len()) };
        self.len = end;
        Ok(())
    }

    #[cold]
    fn grow(&mut self, wanted: usize) -> Fallible<()> {
        if wanted > limit() {
            return Err(error::no_room(NoRoom::Limit(wanted)));
        }
        if wanted > LONGEST {
            return Err(error::too_long_for_jsonb(wanted));
        }
        let capacity = (wanted + wanted / 2).min(limit()).clamp(1024, LONGEST);
        // SAFETY: ours, at least as long as before; after an ERROR its context frees it.
        self.at = unsafe {
            match self.at.is_null() {
                true => pg_sys::MemoryContextAlloc(self.context, capacity),
                false => pg_sys::repalloc(self.at.cast(), capacity),
            }
        }
        .cast();
        self.capacity = capacity;
        // Raising an error needs some memory, too.
        if wanted >= LARGE && !cftrag_core::some_is_left() {
            return Err(error::no_room(NoRoom::Memory(wanted)));
        }
        Ok(())
    }

    fn datum(self) -> pg_sys::Datum {
        // SAFETY: of that length, all of which is written.
        unsafe { pgrx::set_varsize_4b(self.at.cast(), self.len as i32) };
        pg_sys::Datum::from(self.at)
    }
}

/// A jsonb under construction.
#[derive(Default)]
pub struct Jsonb {
    value: Varlena,
    looked: Cell<usize>,
    /// Why nothing more could be written.
    full: Option<ErrorReport>,
    /// The last number, as a numeric.
    number: (i32, Vec<u8>),
}

/// A container: where its entries and data begin, and how many entries are written.
struct Container {
    entries: usize,
    data: usize,
    next: usize,
}

/// A list under construction, with room for a given number of elements; each is written when it is known.
pub struct Elements(Container);

/// Nothing more can be written; [`Jsonb`] knows why.
#[derive(Debug)]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a jsonb cannot hold this")
    }
}

impl std::error::Error for Full {}

impl Error for Full {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

impl Jsonb {
    /// Writes the only value, a struct. 53400, 53200 (memory), 54000 (too large).
    pub fn write(&mut self, value: &impl Serialize) -> Fallible<()> {
        let keys = Keys::of(value);
        let written = value.serialize(Value { out: self, keys }).map(|_| ());
        self.fallible(written)
    }

    /// Begins a list of at most `most` elements, the only value.
    pub fn begin(&mut self, most: usize) -> Fallible<Elements> {
        let begun = self.container(ARRAY, most, most).map(Elements);
        self.fallible(begun)
    }

    /// Writes the list's next element. Errors: those of [`Jsonb::write`].
    pub fn add(&mut self, list: &mut Elements, value: &impl Serialize) -> Fallible<()> {
        let written = self.element(&mut list.0, value);
        self.fallible(written)
    }

    /// Ends the list: it has as many elements as were written.
    pub fn end(&mut self, Elements(Container { entries, data, next }): Elements) {
        let (end, gap) = (self.len(), data - (entries + 4 * next));
        let bytes = self.value.bytes();
        bytes.copy_within(data..end, data - gap);
        bytes[entries - 4..entries].copy_from_slice(&(ARRAY | next as u32).to_ne_bytes());
        self.value.len -= gap;
    }

    /// How many bytes were written.
    pub fn len(&self) -> usize {
        self.value.len - pg_sys::VARHDRSZ
    }

    /// The jsonb value, palloc'd; None if nothing was written.
    pub fn value(self) -> Option<pg_sys::Datum> {
        (self.len() > 0).then(|| self.value.datum())
    }

    fn fallible<T>(&mut self, written: Result<T, Full>) -> Fallible<T> {
        written.map_err(|Full| self.full.take().unwrap_or_else(|| error::too_long_for_jsonb(self.len())))
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), Full> {
        look_up(&self.looked, bytes.len());
        self.value.append(bytes).map_err(|error| {
            self.full = Some(error);
            Full
        })
    }

    /// Containers and numbers begin at a multiple of 4.
    fn align(&mut self) -> Result<(), Full> {
        self.append(&[0; 3][..self.len().next_multiple_of(4) - self.len()])
    }

    /// Begins a container, and leaves room for its entries.
    fn container(&mut self, kind: u32, count: usize, entries: usize) -> Result<Container, Full> {
        self.align()?;
        if entries > MOST / 4 {
            return Err(Full);
        }
        self.append(&(kind | count as u32).to_ne_bytes())?;
        let at = self.len();
        let mut left = 4 * entries;
        while left > 0 {
            let some = left.min(1024);
            self.append(&[0; 1024][..some])?;
            left -= some;
        }
        Ok(Container { entries: at, data: self.len(), next: 0 })
    }

    /// Writes the next entry of a container. The entry's data begin at `from`.
    fn entry(&mut self, of: &mut Container, kind: u32, from: usize) -> Result<(), Full> {
        let end = self.len() - of.data;
        if end > MOST {
            return Err(Full);
        }
        let is_offset = of.next.is_multiple_of(STRIDE);
        let entry = kind | if is_offset { HAS_OFFSET | end as u32 } else { (self.len() - from) as u32 };
        let at = of.entries + 4 * of.next;
        self.value.bytes()[at..at + 4].copy_from_slice(&entry.to_ne_bytes());
        of.next += 1;
        Ok(())
    }

    fn element(&mut self, of: &mut Container, value: &(impl Serialize + ?Sized)) -> Result<(), Full> {
        let from = self.len();
        let keys = Keys::of(value);
        let kind = value.serialize(Value { out: self, keys })?;
        self.entry(of, kind, from)
    }

    fn number(&mut self, number: i32) -> Result<(), Full> {
        if self.number.1.is_empty() || self.number.0 != number {
            // SAFETY: makes a numeric of an integer, a varlena that is not compressed.
            let numeric = unsafe {
                let value = pg_sys::OidFunctionCall1Coll(
                    pg_sys::F_NUMERIC_INT4.into(),
                    pg_sys::InvalidOid,
                    pg_sys::Datum::from(number),
                );
                let varlena = value.cast_mut_ptr::<pg_sys::varlena>();
                let size = pgrx::varsize_any(varlena);
                let numeric = std::slice::from_raw_parts(varlena.cast::<u8>(), size).to_vec(); // bounded: a number
                pg_sys::pfree(varlena.cast());
                numeric
            };
            self.number = (number, numeric);
        }
        let (_, numeric) = std::mem::take(&mut self.number);
        self.align()?;
        self.append(&numeric)?;
        self.number = (number, numeric);
        Ok(())
    }
}

/// The keys of a struct, which stand before its values.
#[derive(Clone, Copy, Default)]
struct Keys {
    names: [&'static str; 8],
    count: usize,
}

impl Keys {
    fn of(value: &(impl Serialize + ?Sized)) -> Self {
        let mut keys = Self::default();
        // A value that is no struct ends this with an error, and has no keys.
        let _ = value.serialize(KeysOf(&mut keys));
        keys
    }
}

/// Collects the keys of a struct, and nothing of its values.
struct KeysOf<'k>(&'k mut Keys);

impl SerializeStruct for KeysOf<'_> {
    type Ok = u32;
    type Error = Full;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, _: &T) -> Result<(), Full> {
        let Keys { names, count } = &mut *self.0;
        *names.get_mut(*count).ok_or(Full)? = key;
        *count += 1;
        Ok(())
    }

    fn end(self) -> Result<u32, Full> {
        Ok(CONTAINER)
    }
}

/// Writes one value; returns its kind.
struct Value<'j> {
    out: &'j mut Jsonb,
    keys: Keys,
}

/// A container that is begun; its elements or values follow.
struct Rest<'j> {
    out: &'j mut Jsonb,
    of: Container,
}

impl SerializeSeq for Rest<'_> {
    type Ok = u32;
    type Error = Full;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Full> {
        self.out.element(&mut self.of, value)
    }

    fn end(self) -> Result<u32, Full> {
        Ok(CONTAINER)
    }
}

impl SerializeStruct for Rest<'_> {
    type Ok = u32;
    type Error = Full;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, _: &'static str, value: &T) -> Result<(), Full> {
        self.out.element(&mut self.of, value)
    }

    fn end(self) -> Result<u32, Full> {
        Ok(CONTAINER)
    }
}

/// Kinds of values that this serializer does not take.
macro_rules! no_values {
    ($($name:ident($($of:ty),*) -> $result:ty;)*) => {
        $(fn $name(self, $(_: $of),*) -> Result<$result, Full> { Err(Full) })*
    };
}

macro_rules! no_other_values {
    () => {
        type Ok = u32;
        type Error = Full;
        type SerializeTuple = Impossible<u32, Full>;
        type SerializeTupleStruct = Impossible<u32, Full>;
        type SerializeTupleVariant = Impossible<u32, Full>;
        type SerializeMap = Impossible<u32, Full>;
        type SerializeStructVariant = Impossible<u32, Full>;
        no_values! {
            serialize_bool(bool) -> u32;
            serialize_i8(i8) -> u32;
            serialize_i16(i16) -> u32;
            serialize_i64(i64) -> u32;
            serialize_u8(u8) -> u32;
            serialize_u16(u16) -> u32;
            serialize_u32(u32) -> u32;
            serialize_u64(u64) -> u32;
            serialize_f32(f32) -> u32;
            serialize_f64(f64) -> u32;
            serialize_char(char) -> u32;
            serialize_str(&str) -> u32;
            serialize_unit() -> u32;
            serialize_unit_struct(&'static str) -> u32;
            serialize_unit_variant(&'static str, u32, &'static str) -> u32;
            serialize_tuple(usize) -> Self::SerializeTuple;
            serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
            serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
            serialize_map(Option<usize>) -> Self::SerializeMap;
            serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
        }
        fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, _: &T) -> Result<u32, Full> {
            Err(Full)
        }
        fn serialize_newtype_variant<T: Serialize + ?Sized>(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: &T,
        ) -> Result<u32, Full> {
            Err(Full)
        }
        fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<u32, Full> {
            value.serialize(self)
        }
    };
}

impl<'j> Serializer for Value<'j> {
    type SerializeSeq = Rest<'j>;
    type SerializeStruct = Rest<'j>;
    no_other_values!();

    fn serialize_i32(self, number: i32) -> Result<u32, Full> {
        self.out.number(number).map(|()| NUMERIC)
    }

    fn serialize_bytes(self, string: &[u8]) -> Result<u32, Full> {
        self.out.append(string).map(|()| STRING)
    }

    fn serialize_none(self) -> Result<u32, Full> {
        Ok(NULL)
    }

    fn serialize_seq(self, count: Option<usize>) -> Result<Rest<'j>, Full> {
        let count = count.ok_or(Full)?;
        let of = self.out.container(ARRAY, count, count)?;
        Ok(Rest { out: self.out, of })
    }

    fn serialize_struct(self, _: &'static str, count: usize) -> Result<Rest<'j>, Full> {
        let keys = &self.keys.names[..self.keys.count];
        debug_assert!(keys.len() == count && keys.is_sorted_by_key(|key| (key.len(), *key)));
        let mut of = self.out.container(OBJECT, count, 2 * count)?;
        for key in keys {
            let from = self.out.len();
            self.out.append(key.as_bytes())?;
            self.out.entry(&mut of, STRING, from)?;
        }
        Ok(Rest { out: self.out, of })
    }
}

impl<'k> Serializer for KeysOf<'k> {
    type SerializeSeq = Impossible<u32, Full>;
    type SerializeStruct = KeysOf<'k>;
    no_other_values!();

    no_values! {
        serialize_i32(i32) -> u32;
        serialize_bytes(&[u8]) -> u32;
        serialize_none() -> u32;
        serialize_seq(Option<usize>) -> Self::SerializeSeq;
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<KeysOf<'k>, Full> {
        Ok(self)
    }
}
