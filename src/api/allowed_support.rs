//! What cft_allowed tells the planner (SUPPORT in sql/install/grants.sql). By the law of union it is true at and below
//! the entities with a grant, by that of the nearest at some of these, so estimates and an index are those of
//! `cft_under(entity, cft_granted(grants, roles), cft_edges_of(grants), trees)`.

#![expect(unsafe_code, reason = "the planner's interface")]

use crate::api::support::nothing;
use crate::api::under_support;
use crate::call::fmgr::text_bytes;
use crate::catalog::registration::internal_function;
use crate::retrieve::grants::{Law, estimating};
use pgrx::prelude::*;
use pgrx::{Internal, PgList};
use std::ffi::CStr;

/// Support function of cft_allowed.
#[pg_extern(sql = false)]
fn cft_allowed_support(fcinfo: pg_sys::FunctionCallInfo) -> Internal {
    // SAFETY: SQL declares internal arguments, so only the planner calls; a request begins with a node's tag.
    unsafe {
        let request = (*fcinfo).args.as_ptr().read().value;
        let asked = (*request.cast_mut_ptr::<pg_sys::Node>()).type_;
        // What it costs is said before anything is found: also where a call stands alone.
        if asked == pg_sys::NodeTag::T_SupportRequestCost {
            let cost = &mut *request.cast_mut_ptr::<pg_sys::SupportRequestCost>();
            let law = under_support::arguments(cost.node).and_then(|args| law(args));
            if law.is_none_or(|law| law == Law::Intersection) {
                return nothing();
            }
            (cost.startup, cost.per_tuple) = (0.0, under_support::PER_TUPLE * pg_sys::cpu_operator_cost);
            return Internal::from(Some(request));
        }
        let (answer, is_part) =
            estimating(|| under_support::answer(fcinfo, |args| under(args), |args| law(args) != Some(Law::Union)));
        match asked {
            // The index condition of so many would be found while planning.
            pg_sys::NodeTag::T_SupportRequestIndexCondition if is_part => nothing(),
            // Between what some grants allow and all.
            pg_sys::NodeTag::T_SupportRequestSelectivity if is_part => {
                let request = &mut *request.cast_mut_ptr::<pg_sys::SupportRequestSelectivity>();
                request.selectivity = request.selectivity.sqrt();
                answer
            }
            _ => answer,
        }
    }
}

/// The law of a call, if it is a constant.
///
/// # Safety
/// A call's arguments, which the planner asks about.
unsafe fn law(args: *mut pg_sys::List) -> Option<Law> {
    // SAFETY: the caller's promise; a node begins with its tag. A superuser can give this support function to any
    // function.
    unsafe {
        let law = PgList::<pg_sys::Node>::from_pg(args).get_ptr(2)?;
        let is_known = (*law).type_ == pg_sys::NodeTag::T_Const && pg_sys::exprType(law) == pg_sys::TEXTOID;
        let law = is_known.then(|| &*law.cast::<pg_sys::Const>()).filter(|law| !law.constisnull)?;
        Law::of(text_bytes(law.constvalue))
    }
}

/// The arguments of cft_under in place of those of cft_allowed; None if none say the same or more.
///
/// # Safety
/// A call's arguments, which the planner asks about.
unsafe fn under(args: *mut pg_sys::List) -> Option<*mut pg_sys::List> {
    // SAFETY: the caller's promise.
    unsafe {
        law(args).filter(|law| *law != Law::Intersection)?;
        let args = PgList::<pg_sys::Node>::from_pg(args);
        let (entity, grants, roles, trees) = (args.get_ptr(0)?, args.get_ptr(1)?, args.get_ptr(3)?, args.get_ptr(4)?);
        if [grants, roles].map(|node| pg_sys::exprType(node)) != [pg_sys::REGCLASSOID, pg_sys::TEXTARRAYOID] {
            return None;
        }
        let mut under = PgList::<pg_sys::Node>::new();
        under.push(entity);
        under.push(made(c"cft_granted", &[grants, roles], pg_sys::TEXTARRAYOID)?);
        under.push(made(c"cft_edges_of", &[grants], pg_sys::REGCLASSOID)?);
        under.push(trees);
        Some(under.into_pg())
    }
}

/// A call of an internal function of ours.
///
/// # Safety
/// Nodes of an expression.
unsafe fn made(name: &CStr, arguments: &[*mut pg_sys::Node], result: pg_sys::Oid) -> Option<*mut pg_sys::Node> {
    // SAFETY: the caller's promise; nodes are not shared.
    unsafe {
        let types: Vec<_> = arguments.iter().map(|node| pg_sys::exprType(*node)).collect(); // bounded: arguments
        let function = internal_function(name, &types);
        if function == pg_sys::InvalidOid {
            return None;
        }
        let mut args = PgList::<pg_sys::Node>::new();
        arguments.iter().for_each(|node| args.push(pg_sys::copyObjectImpl((*node).cast()).cast()));
        let none = pg_sys::InvalidOid;
        let collation = if result == pg_sys::TEXTARRAYOID { pg_sys::DEFAULT_COLLATION_OID } else { none };
        let form = pg_sys::CoercionForm::COERCE_EXPLICIT_CALL;
        Some(pg_sys::makeFuncExpr(function, result, args.into_pg(), collation, none, form).cast())
    }
}
