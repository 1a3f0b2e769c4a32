//! EXPLAIN's output for the node, like a function scan's: function and alias, and with VERBOSE the call.

#![expect(unsafe_code, reason = "EXPLAIN's interface")]

use pgrx::prelude::*;
use pgrx::{PgList, pg_guard};
use std::ffi::{CStr, CString};

#[pg_guard]
pub unsafe extern "C-unwind" fn explain(
    node: *mut pg_sys::CustomScanState,
    ancestors: *mut pg_sys::List,
    es: *mut pg_sys::ExplainState,
) {
    // SAFETY: EXPLAIN's arguments; the plan is one of plan.rs.
    unsafe {
        let plan = (*node).ss.ps.plan.cast::<pg_sys::CustomScan>();
        let Some(call) = PgList::<pg_sys::FuncExpr>::from_pg((*plan).custom_exprs).get_ptr(0) else { return };
        let string = |text: *mut std::ffi::c_char| if text.is_null() { c"" } else { CStr::from_ptr(text) };
        let function = string(pg_sys::get_func_name((*call).funcid));
        let index = pg_sys::bms_next_member((*plan).custom_relids, -1);
        let alias = string(pg_sys::list_nth((*es).rtable_names, index - 1).cast());
        if (*es).format == pg_sys::ExplainFormat::EXPLAIN_FORMAT_TEXT {
            let same = alias == function;
            let both = [quoted(function), if same { Vec::new() } else { [b" ", &quoted(alias)[..]].concat() }].concat();
            property(c"Function", &both, es);
        } else {
            property(c"Function Name", function.to_bytes(), es);
            if (*es).verbose {
                let schema = pg_sys::get_namespace_name(pg_sys::get_func_namespace((*call).funcid));
                property(c"Schema", string(schema).to_bytes(), es);
            }
            property(c"Alias", alias.to_bytes(), es);
        }
        if (*es).verbose {
            let context = pg_sys::set_deparse_context_plan((*es).deparse_cxt, (*node).ss.ps.plan, ancestors);
            let text = pg_sys::deparse_expression(call.cast(), context, true, false);
            pg_sys::ExplainPropertyText(c"Function Call".as_ptr(), text, es);
        }
    }
}

fn quoted(name: &CStr) -> Vec<u8> {
    // SAFETY: a NUL-terminated name; the result is palloc'd or the name itself.
    unsafe { CStr::from_ptr(pg_sys::quote_identifier(name.as_ptr())).to_bytes().to_vec() } // bounded: a name of the catalogs
}

/// # Safety
/// EXPLAIN's state.
unsafe fn property(label: &CStr, value: &[u8], es: *mut pg_sys::ExplainState) {
    // Names have no NUL.
    let value = CString::new(value).unwrap_or_default();
    // SAFETY: the caller's promise; ExplainPropertyText copies both.
    unsafe { pg_sys::ExplainPropertyText(label.as_ptr(), value.as_ptr(), es) };
}
