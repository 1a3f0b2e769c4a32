//! The arguments of a call, evaluated without PostgreSQL's interpreter of expressions where they are constants or parameters.

#![expect(unsafe_code, reason = "the executor's interface")]

use crate::compat::unbound;
use crate::raised;
use pgrx::prelude::*;
use std::ffi::c_void;

pub enum Argument {
    Known(Option<pg_sys::Datum>),
    /// $1 of a prepared statement, from 0.
    External(usize),
    /// A parameter within the plan.
    Internal(usize),
    Expression(*mut pg_sys::ExprState),
}

impl Argument {
    /// # Safety
    /// An argument of the call of a node that begins.
    pub unsafe fn of(node: *mut pg_sys::Node, state: *mut pg_sys::CustomScanState) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            match (*node).type_ {
                pg_sys::NodeTag::T_Const => {
                    let value = &*node.cast::<pg_sys::Const>();
                    return Self::Known((!value.constisnull).then_some(value.constvalue));
                }
                pg_sys::NodeTag::T_Param => {
                    let parameter = &*node.cast::<pg_sys::Param>();
                    let id = parameter.paramid as usize;
                    if parameter.paramkind == pg_sys::ParamKind::PARAM_EXEC {
                        return Self::Internal(id);
                    }
                    let list = (*(*state).ss.ps.ps_ExprContext).ecxt_param_list_info;
                    if parameter.paramkind == pg_sys::ParamKind::PARAM_EXTERN
                        && !list.is_null()
                        && (*list).paramFetch.is_none()
                        && (*list).paramCompile.is_none()
                        && (1..=(*list).numParams as usize).contains(&id)
                        && (*(*list).params.as_ptr().add(id - 1)).ptype == parameter.paramtype
                    {
                        return Self::External(id - 1);
                    }
                }
                _ => {}
            }
            Self::Expression(pg_sys::ExecInitExpr(node.cast(), state.cast()))
        }
    }

    /// # Safety
    /// The node's own context, while it runs.
    pub unsafe fn value(&self, context: *mut pg_sys::ExprContext) -> Option<pg_sys::Datum> {
        // SAFETY: the caller's promise; an ERROR jumps out of a closure that owns nothing.
        unsafe {
            match self {
                Self::Known(value) => *value,
                Self::External(n) => {
                    let value = &*(*(*context).ecxt_param_list_info).params.as_ptr().add(*n);
                    (!value.isnull).then_some(value.value)
                }
                Self::Internal(n) => {
                    let value = (*context).ecxt_param_exec_vals.add(*n);
                    if !(*value).execPlan.is_null() {
                        raised::whole(None, || unbound::ExecSetParamPlan((*value).execPlan, context));
                    }
                    (!(*value).isnull).then_some((*value).value)
                }
                Self::Expression(expression) => {
                    let mut null = false;
                    let Some(evaluate) = (**expression).evalfunc else { unreachable!("an expression was made ready") };
                    let value = raised::whole(None, || {
                        crate::ffi::pg_guard_ffi_boundary(|| evaluate(*expression, context, &mut null))
                    });
                    (!null).then_some(value)
                }
            }
        }
    }
}

/// The nodes of a list, which may be null.
///
/// # Safety
/// A list of such nodes that nobody changes meanwhile.
pub unsafe fn nodes<'a, T>(list: *mut pg_sys::List) -> &'a [*mut T] {
    const { assert!(size_of::<pg_sys::ListCell>() == size_of::<*mut T>()) };
    if list.is_null() {
        return &[];
    }
    // SAFETY: the caller's promise: `length` cells, each with a pointer.
    unsafe { std::slice::from_raw_parts((*list).elements.cast(), (*list).length as usize) }
}

/// The PARAM_EXEC parameters of expressions without subplans.
///
/// # Safety
/// A list of expressions.
pub unsafe fn parameters(expressions: *mut pg_sys::List) -> *mut pg_sys::Bitmapset {
    let mut set: *mut pg_sys::Bitmapset = std::ptr::null_mut();
    // SAFETY: the caller's promise; an ERROR jumps out of a closure that owns nothing.
    unsafe {
        crate::ffi::pg_guard_ffi_boundary(|| find(expressions.cast(), (&raw mut set).cast()));
    }
    set
}

unsafe extern "C-unwind" fn find(node: *mut pg_sys::Node, set: *mut c_void) -> bool {
    // SAFETY: a walker of PostgreSQL's; an ERROR jumps out of frames that own nothing.
    unsafe {
        if node.is_null() {
            return false;
        }
        if (*node).type_ == pg_sys::NodeTag::T_Param {
            let parameter = &*node.cast::<pg_sys::Param>();
            if parameter.paramkind == pg_sys::ParamKind::PARAM_EXEC {
                let set = set.cast::<*mut pg_sys::Bitmapset>();
                *set = pg_sys::bms_add_member(*set, parameter.paramid);
            }
            return false;
        }
        unbound::expression_tree_walker_impl(node, Some(find), set)
    }
}
