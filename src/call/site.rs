//! What a function keeps at the place of a call, from row to row of a query.

#![expect(unsafe_code, reason = "PostgreSQL's function call interface")]

use crate::call::fmgr::Call;
use crate::error::Fallible;
use crate::pg::compat::plain;
use pgrx::{PgList, pg_sys};
use std::any::TypeId;
use std::cell::{RefCell, RefMut};

#[repr(C)]
struct Kept<T> {
    /// What it is: read before anything else.
    of: TypeId,
    callback: pg_sys::MemoryContextCallback,
    value: RefCell<T>,
}

/// What the call's place keeps, made by `make` at its first call. It goes with the expression that the call is in.
pub fn kept<T: 'static>(call: &Call, make: impl FnOnce() -> Fallible<T>) -> Fallible<RefMut<'_, T>> {
    let place = call.place();
    // SAFETY: fn_extra is the called function's own: null, or what is stored here by a function that uses this, which
    // lives as long as fn_mcxt, and that lives longer than the call.
    let kept = unsafe {
        if (*place).fn_extra.is_null() {
            let (of, callback) = (TypeId::of::<T>(), pg_sys::MemoryContextCallback::default());
            let kept = Box::into_raw(Box::new(Kept { of, callback, value: RefCell::new(make()?) }));
            (*kept).callback.func = Some(forget::<T>);
            (*kept).callback.arg = kept.cast();
            plain::MemoryContextRegisterResetCallback((*place).fn_mcxt, &raw mut (*kept).callback);
            (*place).fn_extra = kept.cast();
        }
        assert!(*(*place).fn_extra.cast::<TypeId>() == TypeId::of::<T>(), "a function keeps values of one type");
        &*(*place).fn_extra.cast::<Kept<T>>()
    };
    Ok(kept.value.borrow_mut())
}

/// # Safety
/// PostgreSQL calls it once, with what [`kept`] made.
unsafe extern "C-unwind" fn forget<T>(kept: *mut std::ffi::c_void) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(kept.cast::<Kept<T>>()) });
}

/// Whether the call's first argument comes from a row of the plan: from a column, or from the outer row of a subquery.
/// Then the expression belongs to one query with one snapshot; others, PL/pgSQL's for example, live longer.
pub fn is_of_rows(call: &Call) -> bool {
    // SAFETY: a call's expression, if there is one, is complete.
    unsafe {
        let node = (*call.place()).fn_expr;
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
