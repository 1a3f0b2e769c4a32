//! EXPLAIN's output for the node, like a function scan's: function and alias, and with VERBOSE the call.

#![expect(unsafe_code, reason = "EXPLAIN's interface")]

use crate::pg::lookup;
use pgrx::prelude::*;
use pgrx::{PgList, pg_guard};
use std::ffi::CStr;

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
        let function = lookup::function_name((*call).funcid).unwrap_or_default();
        let index = pg_sys::bms_next_member((*plan).custom_relids, -1);
        let alias = pg_sys::list_nth((*es).rtable_names, index - 1).cast();
        let alias = lookup::name(alias).unwrap_or_default();
        if (*es).format == pg_sys::ExplainFormat::EXPLAIN_FORMAT_TEXT {
            let both = [&function, &alias].map(|name| lookup::quoted(name));
            property(c"Function", &both[..if alias == function { 1 } else { 2 }].join(" "), es);
        } else {
            property(c"Function Name", &function, es);
            if (*es).verbose {
                let schema = lookup::schema_name(lookup::get_func_namespace((*call).funcid));
                property(c"Schema", &schema.unwrap_or_default(), es);
            }
            property(c"Alias", &alias, es);
        }
        if (*es).verbose {
            let context = pg_sys::set_deparse_context_plan((*es).deparse_cxt, (*node).ss.ps.plan, ancestors);
            let text = pg_sys::deparse_expression(call.cast(), context, true, false);
            pg_sys::ExplainPropertyText(c"Function Call".as_ptr(), text, es);
        }
    }
}

/// # Safety
/// EXPLAIN's state.
unsafe fn property(label: &CStr, value: &str, es: *mut pg_sys::ExplainState) {
    // SAFETY: the caller's promise; ExplainPropertyText copies both.
    unsafe { pg_sys::ExplainPropertyText(label.as_ptr(), lookup::c_string(value).as_ptr(), es) };
}
