//! Arguments and result rows of functions that call the executor directly.
//!
//! Set-returning functions write their tuplestore themselves: 0.14 microseconds a row, half the cost of an iterator.

#![expect(unsafe_code, reason = "SPI, called directly")]

use crate::call::text::Text;
use crate::call::work_memory::LARGE;
use crate::error;
use crate::error::Fallible;
use crate::pg::encoding;
use crate::pg::interrupt::check_interrupts;
use crate::pg::relation::Desc;
use cftrag_core::Interruptible;
use pgrx::callconv::{Arg, ArgAbi};
use pgrx::pgrx_sql_entity_graph::metadata::{
    ArgumentError, ReturnsError, ReturnsRef, SqlMappingRef, SqlTranslatable, TypeOrigin,
};
use pgrx::{PgLogLevel, check_for_interrupts, pg_sys};
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

/// The longest text: MaxAllocSize less a varlena's header.
pub const LONGEST: usize = 0x3fff_ffff - 4;

/// A text value of the sentences; None if there are none. Error: that of [`text_value`].
pub fn text_of(sentences: &[u8]) -> Fallible<Option<pg_sys::Datum>> {
    if sentences.is_empty() { Ok(None) } else { text_value(sentences).map(Some) }
}

/// A text of these bytes, in the current memory context. Error: that of [`text_value`].
pub fn text<'v>(bytes: &[u8]) -> Fallible<Text<'v>> {
    // SAFETY: palloc'd; nobody frees it before its context.
    text_value(bytes).map(|value| unsafe { Text::here(value) })
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
pub struct Call {
    info: pg_sys::FunctionCallInfo,
    /// Memory that lives as long as the call.
    memory: pg_sys::MemoryContext,
}

// SAFETY: takes no argument of SQL; pgrx passes the function's own fcinfo.
unsafe impl<'fcx> ArgAbi<'fcx> for Call {
    unsafe fn unbox_arg_unchecked(arg: Arg<'_, 'fcx>) -> Self {
        // SAFETY: as above; the context that is current when the function begins.
        unsafe {
            Self { info: pg_sys::FunctionCallInfo::unbox_arg_unchecked(arg), memory: pg_sys::CurrentMemoryContext }
        }
    }

    fn is_virtual_arg() -> bool {
        true
    }
}

// SAFETY: not part of a signature.
unsafe impl SqlTranslatable for Call {
    const TYPE_IDENT: &'static str = pgrx::pgrx_resolved_type!(Call);
    const TYPE_ORIGIN: TypeOrigin = TypeOrigin::External;
    const ARGUMENT_SQL: Result<SqlMappingRef, ArgumentError> = Ok(SqlMappingRef::Skip);
    const RETURN_SQL: Result<ReturnsRef, ReturnsError> = Ok(ReturnsRef::One(SqlMappingRef::Skip));
}

impl Call {
    /// The OID of the called function.
    pub fn function(&self) -> pg_sys::Oid {
        // SAFETY: the function's own call, while it runs; so in every block here.
        unsafe { (*(*self.info).flinfo).fn_oid }
    }

    /// What the place of the call has, which lives longer than the call.
    pub fn place(&self) -> *mut pg_sys::FmgrInfo {
        // SAFETY: see function().
        unsafe { (*self.info).flinfo }
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
            if n >= (*self.info).nargs as usize {
                return None;
            }
            let arg = (*self.info).args.as_ptr().add(n).read();
            (!arg.isnull).then_some(arg.value)
        }
    }

    pub fn int(&self, n: usize) -> Option<i32> {
        self.arg(n).map(|d| d.value() as i32)
    }

    /// Whether a boolean argument is true; false for NULL.
    pub fn is_true(&self, n: usize) -> bool {
        self.arg(n).is_some_and(|value| value.value() != 0)
    }

    pub fn oid(&self, n: usize) -> Option<pg_sys::Oid> {
        self.arg(n).map(|d| pg_sys::Oid::from(d.value() as u32))
    }

    /// An argument of type text, or of another type that is stored as a text is. It lives as long as the call.
    pub fn stored(&self, n: usize) -> Option<Text<'_>> {
        // SAFETY: SQL declares the argument so.
        self.arg(n).map(|value| unsafe { Text::of(value, self.memory) })
    }

    /// A text argument's bytes, which live as long as the call.
    pub fn text(&self, n: usize) -> Option<&[u8]> {
        self.stored(n).map(Text::bytes)
    }

    /// The type of an argument in the call's expression; InvalidOid if it has none.
    pub fn type_given(&self, n: usize) -> pg_sys::Oid {
        // SAFETY: reads the call's own expression, if it has one.
        unsafe { pg_sys::get_fn_expr_argtype(self.place(), n as i32) }
    }

    /// Whether an argument is a text that stands in the call: a constant or a parameter, rather than a value of a row.
    pub fn is_given_text(&self, n: usize) -> bool {
        // SAFETY: as above.
        unsafe { pg_sys::get_fn_expr_arg_stable(self.place(), n as i32) && self.type_given(n) == pg_sys::TEXTOID }
    }

    /// Prepares a materialised result and returns its tuplestore and row type.
    pub fn rows(&self) -> Rows {
        // SAFETY: the function is declared to return a set; the executor or this call's error handles every other case.
        unsafe {
            // The executor already knows the row type; without the flag it would be read from pg_proc at each call.
            pg_sys::InitMaterializedSRF(self.info, pg_sys::MAT_SRF_USE_EXPECTED_DESC);
            let info = (*self.info).resultinfo.cast::<pg_sys::ReturnSetInfo>();
            Rows { store: (*info).setResult, desc: (*info).setDesc }
        }
    }

    /// The trigger data, if a trigger made the call; they live as long as the call.
    pub fn trigger(&self) -> Option<&pg_sys::TriggerData> {
        // SAFETY: a context node begins with its tag.
        unsafe {
            let context = (*self.info).context;
            (!context.is_null() && (*context).type_ == pg_sys::NodeTag::T_TriggerData)
                .then(|| &*context.cast::<pg_sys::TriggerData>())
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
    ///
    /// # Safety
    /// A tuplestore and the descriptor of its rows, which outlive the result.
    pub unsafe fn of(store: *mut pg_sys::Tuplestorestate, desc: pg_sys::TupleDesc) -> Self {
        Self { store, desc }
    }

    pub fn store(&self) -> *mut pg_sys::Tuplestorestate {
        self.store
    }

    pub fn desc(&self) -> &Desc {
        // SAFETY: from rows() or of(): it outlives the result.
        unsafe { Desc::of(self.desc) }
    }

    /// Reads from the start.
    pub fn rewind(&self) {
        // SAFETY: see desc().
        unsafe { pg_sys::tuplestore_rescan(self.store) };
    }

    /// Adds a row. The values have the declared types; the row is copied.
    pub fn add<const N: usize>(&self, values: &mut [pg_sys::Datum; N], nulls: &mut [bool; N]) {
        // SAFETY: from rows(); SQL declares N columns.
        unsafe { pg_sys::tuplestore_putvalues(self.store, self.desc, values.as_mut_ptr(), nulls.as_mut_ptr()) };
    }
}

/// Frees texts and arrays that were made here, and copied into a row; none are 0.
pub fn free(values: impl IntoIterator<Item = pg_sys::Datum>) {
    for value in values.into_iter().filter(|value| !value.is_null()) {
        // SAFETY: palloc'd by the functions below, and not used again.
        unsafe { pg_sys::pfree(value.cast_mut_ptr()) };
    }
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

/// The text of a jsonb value, palloc'd: it lives as long as the call.
pub fn json_text<'c>(value: Text<'c>) -> &'c [u8] {
    // SAFETY: SQL declares the value jsonb; its output function gives a C string.
    unsafe {
        let text = pg_sys::OidOutputFunctionCall(pg_sys::Oid::from(pg_sys::F_JSONB_OUT), value.datum());
        CStr::from_ptr(text).to_bytes()
    }
}

/// A jsonb object of names and values, in turn.
pub fn jsonb_object(pairs: &[&[u8]]) -> pg_sys::Datum {
    assert!(pairs.len().is_multiple_of(2), "a value for each name");
    let function = pg_sys::Oid::from(pg_sys::F_JSONB_OBJECT__TEXT);
    // SAFETY: the function takes a text[] of an even number of elements, of which none is NULL.
    unsafe { pg_sys::OidFunctionCall1Coll(function, pg_sys::InvalidOid, text_array(pairs)) }
}

/// The first `part` of `whole` equal parts of a text, up to the end of a word if there is one near.
pub fn beginning(text: &[u8], part: usize, whole: usize) -> &[u8] {
    /// Bytes from a word's end.
    const NEAR: usize = 64;
    let most = (text.len() as u128 * part as u128 / whole.max(1) as u128) as usize;
    if most >= text.len() {
        return text;
    }
    let end = encoding::clipped(text, most);
    let near = end.saturating_sub(NEAR)..=end;
    let word = text[near.clone()].iter().rposition(u8::is_ascii_whitespace).map_or(end, |at| near.start() + at);
    text[..word].trim_ascii_end()
}

/// A text value of those bytes, palloc'd.
pub fn text_datum(bytes: &[u8]) -> pg_sys::Datum {
    // SAFETY: the length fits a varlena because the bytes came from one or are short; copies.
    unsafe { pg_sys::Datum::from(pg_sys::cstring_to_text_with_len(bytes.as_ptr().cast(), bytes.len() as i32)) }
}

/// The head of an array of one dimension: its own, the dimension's length and lower bound.
const ARRAY_HEAD: usize = size_of::<pg_sys::ArrayType>() + 2 * size_of::<i32>();

/// An array of one dimension, palloc'd. `write` gets the memory of the elements, which is at most `bytes`, and returns
/// where they end and how many they are. `bits`: one for each element, 0 for NULL; empty if none is NULL. Raises 54000
/// if it would be longer than an array can be, 53200 if the system has no memory beside it.
fn array_with(
    of: pg_sys::Oid,
    (bits, bytes): (usize, usize),
    write: impl FnOnce(*mut u8, *mut u8) -> (usize, usize),
) -> pg_sys::Datum {
    let head = (ARRAY_HEAD + bits).next_multiple_of(8);
    let size = head.saturating_add(bytes);
    if size > LONGEST {
        error::too_long(size).report(PgLogLevel::ERROR);
    }
    // SAFETY: `size` bytes, all of which are written: the head, which is aligned as palloc'd memory is, the bits, and
    // as many bytes of elements as count.
    unsafe {
        let array = pg_sys::palloc(size).cast::<pg_sys::ArrayType>();
        if size > LARGE && !cftrag_core::some_is_left() {
            error::no_memory_to_work(size).report(PgLogLevel::ERROR);
        }
        array.cast::<u8>().write_bytes(0, head);
        let (bytes, count) = write(array.cast::<u8>().add(ARRAY_HEAD), array.cast::<u8>().add(head));
        if count == 0 {
            return pg_sys::Datum::from(pg_sys::construct_empty_array(of));
        }
        pgrx::set_varsize_4b(array.cast(), (head + bytes) as i32);
        (*array).ndim = 1;
        (*array).dataoffset = if bits > 0 { head as i32 } else { 0 };
        (*array).elemtype = of;
        array.add(1).cast::<[i32; 2]>().write([count as i32, 1]);
        pg_sys::Datum::from(array)
    }
}

/// Makes a text[], with NULL for None. Making a large one can be cancelled. Errors: those of [`array_with`].
pub fn text_array_of<'t>(texts: impl Iterator<Item = Option<&'t [u8]>> + Clone) -> pg_sys::Datum {
    let mut check_interrupts = check_interrupts;
    let mut work = Interruptible::new(&mut check_interrupts);
    let (mut bytes, mut count, mut nulls) = (0_usize, 0, 0);
    for text in texts.clone() {
        work.step();
        count += 1;
        match text {
            Some(text) => bytes = bytes.saturating_add((pg_sys::VARHDRSZ + text.len()).next_multiple_of(4)),
            None => nulls += 1,
        }
    }
    let bits = if nulls > 0 { usize::div_ceil(count, 8) } else { 0 };
    array_with(pg_sys::TEXTOID, (bits, bytes), |null_bits, first| {
        let mut at = 0;
        for (n, text) in texts.enumerate() {
            let Some(text) = text else { continue };
            work.steps(1 + text.len() / 64);
            let size = pg_sys::VARHDRSZ + text.len();
            // SAFETY: inside the memory counted above, `at` is a multiple of 4; bits are only written if they were
            // counted.
            unsafe {
                let to = first.add(at);
                to.add(size).write_bytes(0, size.next_multiple_of(4) - size);
                pgrx::set_varsize_4b(to.cast(), size as i32);
                std::ptr::copy_nonoverlapping(text.as_ptr(), to.add(pg_sys::VARHDRSZ), text.len());
                if bits > 0 {
                    *null_bits.add(n / 8) |= 1 << (n % 8);
                }
            }
            at += size.next_multiple_of(4);
        }
        (at, count)
    })
}

/// Makes an array of values of `N` bytes each. Errors: those of [`array_with`].
pub fn array_of_values<const N: usize>(
    of: pg_sys::Oid,
    values: impl Iterator<Item = [u8; N]> + Clone,
) -> pg_sys::Datum {
    let bytes = values.clone().count().saturating_mul(N);
    array_with(of, (0, bytes), |_, first| {
        let mut count = 0;
        for value in values {
            // SAFETY: inside the memory counted above.
            unsafe { first.cast::<[u8; N]>().add(count).write(value) };
            count += 1;
        }
        (count * N, count)
    })
}

/// Makes a text[]. Errors: those of [`text_array_of`].
pub fn text_array(texts: &[&[u8]]) -> pg_sys::Datum {
    text_array_of(texts.iter().map(|text| Some(*text)))
}
