//! Arrays that a call gets: read in place, since a copy of an argument would be as large as a user makes it. What is
//! collected of one is reserved first, and counts for `cftrag.work_memory`.

#![expect(unsafe_code, reason = "the layout of arrays")]

use crate::call::fmgr::{Call, text_array_of};
use crate::call::text::{Text, text_bytes};
use crate::call::work_memory;
use crate::call::work_memory::{FEW, LARGE, Room};
use crate::error;
use crate::error::Fallible;
use cftrag_core::Names;
use pgrx::{check_for_interrupts, pg_sys};
use std::collections::HashSet;
use std::ffi::CStr;
use std::marker::PhantomData;
use std::ops::Deref;

/// The most bytes that a name takes in a list and a set while these grow.
const PER_NAME: usize = 6 * size_of::<&[u8]>();

/// The first names of a list are not counted.
const FIRST: usize = 1024;

/// Elements between two checks for interrupts.
const ELEMENTS: usize = 1 << 16;

/// The elements of an array, one after the other, with None for NULL. Checks for interrupts.
#[derive(Clone)]
pub struct Elements<'a> {
    /// Where the next element is that is not NULL.
    at: *const u8,
    /// A bit for each element, 0 for NULL; a null pointer if none is NULL.
    bits: *const u8,
    next: usize,
    count: usize,
    /// The length of each element, or -1 for varlenas.
    length: i32,
    array: PhantomData<&'a [u8]>,
}

impl<'a> Elements<'a> {
    /// 53200 if the array is large and the system has no memory beside it.
    ///
    /// # Safety
    /// `array` is an array of elements of that length (4 or 8 bytes, passed by value, or 16 or NAMEDATALEN, aligned as
    /// char; or -1: varlenas, aligned as int).
    pub unsafe fn of(array: Text<'a>, length: i32) -> Fallible<Self> {
        // SAFETY: the caller's promise. An array is its head, the lengths and lower bounds of its dimensions, the bits
        // if any element may be NULL, and the elements, which begin at `dataoffset` if there are bits.
        unsafe {
            let stored = array.datum().cast_mut_ptr();
            let array = array.in_its_memory(|| pg_sys::pg_detoast_datum(stored)).cast::<pg_sys::ArrayType>();
            if pgrx::varsize_any(array.cast()) > LARGE && !cftrag_core::some_is_left() {
                return Err(error::no_memory_to_work(LARGE));
            }
            let dimensions = array.add(1).cast::<i32>();
            let bits = dimensions.add(2 * (*array).ndim as usize).cast::<u8>();
            let has_nulls = (*array).dataoffset != 0;
            let head = (bits.addr() - array.addr()).next_multiple_of(8);
            let first = if has_nulls { (*array).dataoffset as usize } else { head };
            Ok(Self {
                at: array.cast::<u8>().add(first),
                bits: if has_nulls { bits } else { std::ptr::null() },
                next: 0,
                count: pg_sys::ArrayGetNItems((*array).ndim, dimensions) as usize,
                length,
                array: PhantomData,
            })
        }
    }
}

impl Iterator for Elements<'_> {
    type Item = Option<pg_sys::Datum>;

    fn next(&mut self) -> Option<Self::Item> {
        let n = self.next;
        if n == self.count {
            return None;
        }
        self.next += 1;
        if self.next.is_multiple_of(ELEMENTS) {
            check_for_interrupts!();
        }
        // SAFETY: of()'s promise: there are `count` bits, and an element at `at` for each that is 1.
        unsafe {
            if !self.bits.is_null() && *self.bits.add(n / 8) & 1 << (n % 8) == 0 {
                return Some(None);
            }
            let (value, length) = match self.length {
                4 => (pg_sys::Datum::from(self.at.cast::<i32>().read()), 4),
                8 => (pg_sys::Datum::from(self.at.cast::<i64>().read()), 8),
                -1 => (pg_sys::Datum::from(self.at), pgrx::varsize_any(self.at.cast()).next_multiple_of(4)),
                length => (pg_sys::Datum::from(self.at), length as usize),
            };
            self.at = self.at.add(length);
            Some(Some(value))
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count - self.next, Some(self.count - self.next))
    }
}

/// A value of type text[].
#[derive(Clone, Copy)]
pub struct Texts<'v>(Text<'v>);

impl<'v> Texts<'v> {
    /// # Safety
    /// A text[] or bytea[].
    pub unsafe fn of(array: Text<'v>) -> Self {
        Self(array)
    }

    /// An array of these texts, in the current memory context. Errors: those of [`text_array_of`].
    pub fn new<'t>(texts: impl Iterator<Item = Option<&'t [u8]>> + Clone) -> Self {
        // SAFETY: palloc'd; nobody frees it before its context.
        unsafe { Self(Text::here(text_array_of(texts))) }
    }

    pub fn datum(self) -> pg_sys::Datum {
        self.0.datum()
    }

    /// The elements, with None for NULL. 53200.
    pub fn elements(self) -> Fallible<impl Iterator<Item = Option<&'v [u8]>> + Clone> {
        // SAFETY: of()'s promise; elements of arrays are stored plainly, so nothing is copied.
        let text = |element: Option<_>| element.map(|element| unsafe { text_bytes(element) });
        // SAFETY: as above.
        Ok(unsafe { Elements::of(self.0, -1) }?.map(text))
    }

    /// The names without NULLs, first occurrences only, in order. 53400, 53200.
    pub fn names(self) -> Fallible<Vec<&'v [u8]>> {
        let all = self.elements()?;
        let (first, mut names, mut room) = (all.size_hint().0.min(FIRST), Vec::new(), Room::new());
        // The standard library's hash takes as long as finding the name.
        let mut seen = HashSet::with_hasher(foldhash::fast::RandomState::default()); // bounded: reserved below
        for name in all.flatten() {
            if names.len() == names.capacity() {
                if !names.is_empty() {
                    room.grow_to(2 * names.len() * PER_NAME)?;
                }
                let more = names.len().max(first);
                names.try_reserve_exact(more).map_err(|_| error::no_memory_to_work(2 * more * PER_NAME))?;
                seen.try_reserve(more).map_err(|_| error::no_memory_to_work(2 * more * PER_NAME))?;
            }
            if seen.insert(name) {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// The distinct names, without NULLs, copied. 53400, 53200.
    pub fn copied(self, room: &mut Room) -> Fallible<Names> {
        copied(self.elements()?.flatten(), room)
    }
}

/// For an estimate: the distinct ones of the first `most` names, and about how many distinct ones there are.
pub fn sample<N: Deref<Target = [u8]>>(all: impl Iterator<Item = N>, most: usize) -> (Vec<N>, usize) {
    let (count, mut some) = (all.size_hint().1.unwrap_or(most), Vec::new());
    for name in all.take(most) {
        if !some.iter().any(|known: &N| **known == *name) {
            some.push(name);
        }
    }
    let distinct = some.len() * count.max(most) / most;
    (some, distinct)
}

/// The distinct names, in the order of their first occurrence, copied. 53400, 53200.
pub fn copied<N: Deref<Target = [u8]>>(all: impl Iterator<Item = N>, room: &mut Room) -> Fallible<Names> {
    let (before, mut names) = (room.taken(), Names::default());
    for name in all {
        names.try_id(&name).ok_or_else(|| error::no_memory_to_work(2 * names.bytes()))?;
        // What grows has its old and its new memory for a while.
        if names.bytes() > FEW {
            room.grow_to(before + 2 * names.bytes())?;
        }
    }
    Ok(names)
}

/// All the names, in their order. 53400, 53200.
pub fn all<'n>(names: &'n Names, room: &mut Room) -> Fallible<Vec<&'n [u8]>> {
    let mut all = work_memory::list(names.len(), room)?;
    all.extend(names.ids().map(|id| names.get(id)));
    Ok(all)
}

impl Call {
    /// A text[] argument, or a bytea[] one.
    pub fn array(&self, n: usize) -> Option<Texts<'_>> {
        self.stored(n).map(Texts)
    }

    /// The names of a text[] argument without NULLs, first occurrences only, in order. 53400, 53200.
    pub fn names(&self, n: usize) -> Fallible<Option<Vec<&[u8]>>> {
        self.array(n).map(Texts::names).transpose()
    }

    /// The elements of a text[] argument, with None for NULL. 53200.
    pub fn texts(&self, n: usize) -> Fallible<Option<impl Iterator<Item = Option<&[u8]>> + Clone>> {
        self.array(n).map(Texts::elements).transpose()
    }

    /// The elements of a name[] argument, with None for NULL. 53200.
    pub fn column_names(&self, n: usize) -> Fallible<Option<impl Iterator<Item = Option<&[u8]>> + Clone>> {
        // SAFETY: a name has a NUL.
        let name = |name: pg_sys::Datum| unsafe { CStr::from_ptr(name.cast_mut_ptr()) }.to_bytes();
        // SAFETY: SQL declares the argument name[].
        let elements = |array| unsafe { Elements::of(array, pg_sys::NAMEDATALEN as i32) };
        let elements = self.stored(n).map(elements).transpose()?;
        Ok(elements.map(|elements| elements.map(move |element| element.map(name))))
    }
}
