//! What a function keeps at the place of a call, from row to row of a query.

#![expect(unsafe_code, reason = "PostgreSQL's function call interface")]

use crate::call::fmgr::Call;
use crate::error::Fallible;
use crate::pg::compat::plain;
use pgrx::{PgList, pg_sys};

struct Kept<T> {
    value: T,
    callback: pg_sys::MemoryContextCallback,
}

/// What the call's place keeps, made by `make` at its first call. It goes with the expression that the call is in.
///
/// # Safety
/// `fn_extra` of the function's calls is used by this alone, with one type. The result is used during the call.
pub unsafe fn kept<'c, T>(call: &Call, make: impl FnOnce() -> Fallible<T>) -> Fallible<&'c mut T> {
    // SAFETY: the caller's promise: fn_extra is null or what is stored here, and lives as long as fn_mcxt.
    unsafe {
        let info = (*call.0).flinfo;
        if (*info).fn_extra.is_null() {
            let callback = pg_sys::MemoryContextCallback::default();
            let kept = Box::into_raw(Box::new(Kept { value: make()?, callback }));
            (*kept).callback.func = Some(forget::<T>);
            (*kept).callback.arg = kept.cast();
            plain::MemoryContextRegisterResetCallback((*info).fn_mcxt, &raw mut (*kept).callback);
            (*info).fn_extra = kept.cast();
        }
        Ok(&mut (*(*info).fn_extra.cast::<Kept<T>>()).value)
    }
}

/// # Safety
/// PostgreSQL calls it once, with what [`kept`] made.
unsafe extern "C-unwind" fn forget<T>(kept: *mut std::ffi::c_void) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(kept.cast::<Kept<T>>()) });
}

/// Whether the call's first argument comes from a row of the plan: from a column, or from the outer row of a subquery.
/// Then the expression belongs to one query with one snapshot; others, PL/pgSQL's for example, live longer.
///
/// # Safety
/// A call of one of our functions.
pub unsafe fn is_of_rows(call: &Call) -> bool {
    // SAFETY: the caller's promise; a call's expression, if there is one, is complete.
    unsafe {
        let node = (*(*call.0).flinfo).fn_expr;
        if node.is_null() || (*node).type_ != pg_sys::NodeTag::T_FuncExpr {
            return false;
        }
        let Some(first) = PgList::<pg_sys::Node>::from_pg((*node.cast::<pg_sys::FuncExpr>()).args).get_ptr(0) else {
            return false;
        };
        let is_outer = (*first).type_ == pg_sys::NodeTag::T_Param
            && (*first.cast::<pg_sys::Param>()).paramkind == pg_sys::ParamKind::PARAM_EXEC;
        is_outer || pg_sys::contain_var_clause(first)
    }
}
