//! Arguments and result rows of functions that call the executor directly.
//!
//! Set-returning functions write their tuplestore themselves: 0.14 microseconds a row, half the cost of an iterator.

#![expect(unsafe_code, reason = "SPI, called directly")]

use crate::error;
use crate::error::Fallible;
use crate::pg::encoding;
use crate::pg::interrupt::check_interrupts;
use cftrag_core::Interruptible;
use pgrx::{PgLogLevel, check_for_interrupts, pg_sys};
use std::collections::HashSet;
use std::ffi::{CStr, CString};

/// An argument of type name.
pub fn name(call: &Call, n: usize) -> Option<String> {
    // SAFETY: SQL declares the argument name: a NUL-terminated array.
    call.arg(n).map(|d| unsafe { encoding::decode(CStr::from_ptr(d.cast_mut_ptr()).to_bytes()) })
}

/// A value of type name.
pub fn name_datum(name: &str) -> pg_sys::Datum {
    let Ok(name) = CString::new(encoding::encode(name)) else { unreachable!("identifiers have no NUL") };
    // SAFETY: converts a C string to a name; copies it.
    unsafe { pg_sys::OidInputFunctionCall(pg_sys::F_NAMEIN.into(), name.as_ptr().cast_mut(), pg_sys::InvalidOid, -1) }
}

/// A text[] with the call's first argument.
pub fn array_of_one(call: &Call) -> pg_sys::Datum {
    array_of(call.arg(0).unwrap_or(pg_sys::Datum::from(0usize)))
}

/// A text[] with that text.
pub fn array_of(mut element: pg_sys::Datum) -> pg_sys::Datum {
    // SAFETY: one text element, which is copied.
    unsafe {
        pg_sys::Datum::from(pg_sys::construct_array(
            &mut element,
            1,
            pg_sys::TEXTOID,
            -1,
            false,
            pg_sys::TYPALIGN_INT as std::ffi::c_char,
        ))
    }
}

/// The longest text: MaxAllocSize less a varlena's header.
pub const LONGEST: usize = 0x3fff_ffff - 4;

/// The size from which on we check that the allocation leaves memory for others; also the bytes copied between two
/// checks for interrupts.
pub const LARGE: usize = 1 << 20;

/// A text value of the sentences; None if there are none. Error: that of [`text_value`].
pub fn text_of(sentences: &[u8]) -> Fallible<Option<pg_sys::Datum>> {
    if sentences.is_empty() { Ok(None) } else { text_value(sentences).map(Some) }
}

/// A text value, palloc'd. 54000 if it would be longer than a text can be.
pub fn text_value(bytes: &[u8]) -> Fallible<pg_sys::Datum> {
    if bytes.len() > LONGEST {
        return Err(error::too_long(bytes.len()));
    }
    Ok(if bytes.len() < LARGE { text_datum(bytes) } else { large_text(bytes) })
}

/// Does the work of [`text_datum`] for many bytes, and can be cancelled: allocating pages and copying takes a
/// millisecond a MB.
fn large_text(bytes: &[u8]) -> pg_sys::Datum {
    // SAFETY: a varlena of that many bytes, at most LONGEST, all of which are written here.
    unsafe {
        let text = pg_sys::palloc(pg_sys::VARHDRSZ + bytes.len());
        pgrx::set_varsize_4b(text.cast(), (pg_sys::VARHDRSZ + bytes.len()) as i32);
        let mut to = text.cast::<u8>().add(pg_sys::VARHDRSZ);
        for some in bytes.chunks(LARGE) {
            check_for_interrupts!();
            std::ptr::copy_nonoverlapping(some.as_ptr(), to, some.len());
            to = to.add(some.len());
        }
        pg_sys::Datum::from(text)
    }
}

/// A function call: what PG_GETARG and its kin give in C.
#[derive(Clone, Copy)]
pub struct Call(pub pg_sys::FunctionCallInfo);

impl Call {
    /// # Safety
    /// `fcinfo` is the function's own, and `Call` does not outlive the call.
    pub unsafe fn new(fcinfo: pg_sys::FunctionCallInfo) -> Self {
        Self(fcinfo)
    }

    /// The OID of the called function.
    pub fn function(&self) -> pg_sys::Oid {
        // SAFETY: new()'s promise; so in every block here.
        unsafe { (*(*self.0).flinfo).fn_oid }
    }

    /// The types of the arguments, as the function declares them.
    pub fn argument_types(&self) -> &[pg_sys::Oid] {
        let (mut types, mut count) = (std::ptr::null_mut(), 0);
        // SAFETY: a copy of a function's types, of which there are `count`.
        unsafe {
            pg_sys::get_func_signature(self.function(), &mut types, &mut count);
            std::slice::from_raw_parts(types, count as usize)
        }
    }

    /// An argument; None for NULL, and for an argument that the function does not have: before ALTER EXTENSION UPDATE
    /// the function may be that of an older script.
    pub fn arg(&self, n: usize) -> Option<pg_sys::Datum> {
        // SAFETY: an argument that is there.
        unsafe {
            if n >= (*self.0).nargs as usize {
                return None;
            }
            let arg = (*self.0).args.as_ptr().add(n).read();
            (!arg.isnull).then_some(arg.value)
        }
    }

    pub fn int(&self, n: usize) -> Option<i32> {
        self.arg(n).map(|d| d.value() as i32)
    }

    pub fn oid(&self, n: usize) -> Option<pg_sys::Oid> {
        self.arg(n).map(|d| pg_sys::Oid::from(d.value() as u32))
    }

    /// A text argument's bytes, which live as long as the call.
    pub fn text(&self, n: usize) -> Option<&[u8]> {
        // SAFETY: SQL declares the argument text.
        self.arg(n).map(|d| unsafe { text_bytes(d) })
    }

    /// Whether an argument is a text that stands in the call: a constant or a parameter, rather than a value of a row.
    pub fn is_given_text(&self, n: usize) -> bool {
        let n = n as i32;
        // SAFETY: reads the call's own expression, if it has one.
        unsafe {
            let info = (*self.0).flinfo;
            pg_sys::get_fn_expr_arg_stable(info, n) && pg_sys::get_fn_expr_argtype(info, n) == pg_sys::TEXTOID
        }
    }

    /// The names of a text[] argument without NULLs, first occurrences only, in order; and the array itself.
    pub fn names(&self, n: usize) -> Option<(Vec<&[u8]>, pg_sys::Datum)> {
        let datum = self.arg(n)?;
        // SAFETY: SQL declares the argument text[].
        Some((unsafe { distinct_names(datum) }, datum))
    }

    /// Prepares a materialised result and returns its tuplestore and row type.
    pub fn rows(&self) -> Rows {
        // SAFETY: the function is declared to return a set; the executor or this call's error handles every other case.
        unsafe {
            // The executor already knows the row type; without the flag it would be read from pg_proc at each call.
            pg_sys::InitMaterializedSRF(self.0, pg_sys::MAT_SRF_USE_EXPECTED_DESC);
            let info = (*self.0).resultinfo.cast::<pg_sys::ReturnSetInfo>();
            Rows { store: (*info).setResult, desc: (*info).setDesc }
        }
    }

    /// The trigger data, if a trigger made the call.
    pub fn trigger(&self) -> Option<*mut pg_sys::TriggerData> {
        // SAFETY: a context node begins with its tag.
        unsafe {
            let context = (*self.0).context;
            (!context.is_null() && (*context).type_ == pg_sys::NodeTag::T_TriggerData).then_some(context.cast())
        }
    }
}

/// The result set that is being written.
#[derive(Clone, Copy)]
pub struct Rows {
    store: *mut pg_sys::Tuplestorestate,
    desc: pg_sys::TupleDesc,
}

impl Rows {
    /// Rows for a tuplestore that the caller owns.
    pub fn of(store: *mut pg_sys::Tuplestorestate, desc: pg_sys::TupleDesc) -> Self {
        Self { store, desc }
    }

    pub fn store(&self) -> *mut pg_sys::Tuplestorestate {
        self.store
    }

    /// Adds a row. The values have the declared types; the row is copied.
    pub fn add<const N: usize>(&self, values: &mut [pg_sys::Datum; N], nulls: &mut [bool; N]) {
        // SAFETY: from rows(); SQL declares N columns.
        unsafe { pg_sys::tuplestore_putvalues(self.store, self.desc, values.as_mut_ptr(), nulls.as_mut_ptr()) };
    }
}

/// The elements of a text[], with None for NULL. Raises 53200 if memory runs out.
///
/// # Safety
/// `datum` is a text[] value.
pub unsafe fn elements<'a>(datum: pg_sys::Datum) -> Vec<Option<&'a [u8]>> {
    let layout = (-1, false, pg_sys::TYPALIGN_INT as std::ffi::c_char);
    // SAFETY: the caller's promise.
    unsafe {
        let elements = array_elements(datum, pg_sys::TEXTOID, layout);
        elements.into_iter().map(|element| element.map(|element| text_bytes(element))).collect()
    }
}

/// The elements of an array, with None for NULL. Raises 53200 if memory runs out.
///
/// # Safety
/// `datum` is an array of that type, of this length, by value or not, and alignment.
pub unsafe fn array_elements(
    datum: pg_sys::Datum,
    of: pg_sys::Oid,
    (length, by_value, align): (i32, bool, std::ffi::c_char),
) -> Vec<Option<pg_sys::Datum>> {
    let (mut elements, mut nulls, mut count) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
    // SAFETY: the caller's promise; deconstruct_array's arrays have `count` elements.
    unsafe {
        let array = pg_sys::pg_detoast_datum(datum.cast_mut_ptr()).cast::<pg_sys::ArrayType>();
        pg_sys::deconstruct_array(array, of, length, by_value, align, &mut elements, &mut nulls, &mut count);
        let mut values = Vec::new();
        if values.try_reserve_exact(count as usize).is_err() {
            error::no_memory_to_work(count as usize * size_of::<Option<pg_sys::Datum>>()).report(PgLogLevel::ERROR);
        }
        values.extend((0..count as usize).map(|i| (!*nulls.add(i)).then(|| *elements.add(i))));
        values
    }
}

/// The names of a text[] without NULLs, first occurrences only, in order.
///
/// # Safety
/// `datum` is a text[] value.
pub unsafe fn distinct_names<'a>(datum: pg_sys::Datum) -> Vec<&'a [u8]> {
    // SAFETY: the caller's promise. (Dropping the NULLs does not move the vector.)
    let mut names: Vec<&[u8]> = unsafe { elements(datum) }.into_iter().flatten().collect();
    // The standard library's hash takes as long as finding the name.
    let mut seen = HashSet::with_hasher(foldhash::fast::RandomState::default());
    if seen.try_reserve(names.len()).is_err() {
        error::no_memory_to_work(2 * names.len() * size_of::<&[u8]>()).report(PgLogLevel::ERROR);
    }
    let mut looked_at = 0_u32;
    names.retain(|name| {
        looked_at += 1;
        if looked_at.is_multiple_of(1 << 16) {
            check_for_interrupts!();
        }
        seen.insert(*name)
    });
    names
}

/// # Safety
/// `datum` is a text (or varchar, bytea) value.
pub unsafe fn text_bytes<'a>(datum: pg_sys::Datum) -> &'a [u8] {
    // SAFETY: the caller's promise; a detoasted copy lives in the caller's memory context.
    unsafe {
        let text = detoasted(datum.cast_mut_ptr());
        std::slice::from_raw_parts(pgrx::vardata_any(text).cast::<u8>(), pgrx::varsize_any_exhdr(text))
    }
}

/// Detoasts as pg_detoast_datum_packed does: returns the value itself if it is stored plainly, usually without a call,
/// else a palloc'd copy.
///
/// # Safety
/// A varlena.
pub unsafe fn detoasted(stored: *mut pg_sys::varlena) -> *mut pg_sys::varlena {
    // SAFETY: the caller's promise.
    unsafe { if is_plain(stored) { stored } else { pg_sys::pg_detoast_datum_packed(stored) } }
}

/// Whether a varlena is stored plainly: neither compressed nor out of line.
///
/// # Safety
/// A varlena.
pub unsafe fn is_plain(stored: *mut pg_sys::varlena) -> bool {
    // SAFETY: the caller's promise.
    unsafe { pgrx::varatt_is_4b_u(stored) || pgrx::varatt_is_1b(stored) && !pgrx::varatt_is_1b_e(stored) }
}

/// Runs `f`, a call of PostgreSQL's without pgrx's guard (pg/compat.rs `plain`) that may use up all memory. An ERROR's
/// message is copied to where pgrx was called, and a copy that finds no memory raises again and again, until the server
/// dies. So we set some memory aside before.
pub fn with_room_for_errors<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: a context with one block, freed at the end, or with its parent after an ERROR. The guard's closure owns
    // nothing.
    unsafe {
        let before = pg_sys::CurrentMemoryContext;
        let size = 32 * 1024;
        let room = pg_sys::AllocSetContextCreateInternal(before, c"cftrag errors".as_ptr(), size, size, size);
        pg_sys::MemoryContextSwitchTo(room);
        let result = crate::ffi::pg_guard_ffi_boundary(|| {
            pg_sys::MemoryContextSwitchTo(before);
            f()
        });
        pg_sys::MemoryContextDelete(room);
        result
    }
}

/// A text value of those bytes, palloc'd.
pub fn text_datum(bytes: &[u8]) -> pg_sys::Datum {
    // SAFETY: the length fits a varlena because the bytes came from one or are short; copies.
    unsafe { pg_sys::Datum::from(pg_sys::cstring_to_text_with_len(bytes.as_ptr().cast(), bytes.len() as i32)) }
}

/// Makes a text[] like [`text_array`], with NULL for None.
pub fn text_array_of<'t>(texts: impl Iterator<Item = Option<&'t [u8]>>) -> pg_sys::Datum {
    let texts: Vec<_> = texts.collect();
    let mut nulls: Vec<bool> = texts.iter().map(Option::is_none).collect();
    let element = |text: &Option<&[u8]>| {
        check_for_interrupts!();
        text.map_or(pg_sys::Datum::null(), text_datum)
    };
    let mut elements: Vec<_> = texts.iter().map(element).collect();
    let (mut length, mut lower) = (texts.len() as i32, 1);
    // SAFETY: an array of one dimension; its elements are copied and then ours to free.
    unsafe {
        let align = pg_sys::TYPALIGN_INT as std::ffi::c_char;
        let (values, flags) = (elements.as_mut_ptr(), nulls.as_mut_ptr());
        let array =
            pg_sys::construct_md_array(values, flags, 1, &mut length, &mut lower, pg_sys::TEXTOID, -1, false, align);
        let made = elements.iter().zip(&nulls).filter(|(_, null)| !**null);
        made.for_each(|(element, _)| pg_sys::pfree(element.cast_mut_ptr()));
        pg_sys::Datum::from(array)
    }
}

/// A bigint[] value, palloc'd.
pub fn bigint_array(numbers: &[i64]) -> pg_sys::Datum {
    let mut elements: Vec<_> = numbers.iter().map(|number| pg_sys::Datum::from(*number)).collect();
    let align = pg_sys::TYPALIGN_DOUBLE as std::ffi::c_char;
    // SAFETY: elements that are passed by value, which are copied.
    unsafe {
        pg_sys::Datum::from(pg_sys::construct_array(
            elements.as_mut_ptr(),
            elements.len() as i32,
            pg_sys::INT8OID,
            8,
            true,
            align,
        ))
    }
}

/// A text[] value, palloc'd. Making one of a million elements can be cancelled.
pub fn text_array(texts: &[&[u8]]) -> pg_sys::Datum {
    let mut check_interrupts = check_interrupts;
    let mut work = Interruptible::new(&mut check_interrupts);
    let text = |text: &&[u8]| {
        work.steps(1 + text.len() / 64);
        text_datum(text)
    };
    let mut elements: Vec<_> = texts.iter().map(text).collect();
    // SAFETY: text elements, which are copied and then ours to free.
    unsafe {
        let array = pg_sys::construct_array(
            elements.as_mut_ptr(),
            elements.len() as i32,
            pg_sys::TEXTOID,
            -1,
            false,
            pg_sys::TYPALIGN_INT as std::ffi::c_char,
        );
        elements.iter().for_each(|element| pg_sys::pfree(element.cast_mut_ptr()));
        pg_sys::Datum::from(array)
    }
}
