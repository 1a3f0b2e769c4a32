//! What cft_allowed tells the planner (SUPPORT in sql/install/grants.sql). By the law of union it is true at and below
//! the entities with a grant, by that of the nearest at some of these, so estimates and an index are those of
//! `cft_under(entity, cft_granted(grants, roles), cft_edges_of(grants), trees)`.

use crate::api::under_support;
use crate::api::under_support::Arguments;
use crate::call::fmgr::Call;
use crate::call::planner::{Answer, Asked, Node, Request};
use crate::catalog::registration::internal_function;
use crate::retrieve::grants::{Law, estimating};
use pgrx::Internal;
use pgrx::prelude::*;

use std::ffi::CStr;

/// Support function of cft_allowed.
#[pg_extern(sql = false)]
fn cft_allowed_support(call: Call) -> Internal {
    let request = Request::of(&call);
    let arguments = request.arguments();
    let law = law(&arguments);
    // What it costs is said before anything is found: also where a call stands alone.
    if request.asked == Asked::Cost {
        let is_known = law.is_some_and(|law| law != Law::Intersection);
        return request.answer(is_known.then_some(Answer::Cost { startup: 0.0, per_tuple: under_support::PER_TUPLE }));
    }
    let (answer, is_part) = estimating(|| {
        let under = law.filter(|law| *law != Law::Intersection).and_then(|_| under(&arguments));
        under_support::answer(request, under, law != Some(Law::Union))
    });
    request.answer(match answer {
        // The index condition of so many would be found while planning.
        Some(Answer::Condition(..)) if is_part => None,
        // Between what some grants allow and all.
        Some(Answer::Selectivity(share)) if is_part => Some(Answer::Selectivity(share.sqrt())),
        _ => answer,
    })
}

/// The law of a call, if it is a constant. (A superuser can give this support function to any function.)
fn law(arguments: &[Node<'_>]) -> Option<Law> {
    Law::of(arguments.get(2)?.constant()?.text()?)
}

/// The arguments of cft_under in place of those of cft_allowed.
fn under<'p>(arguments: &[Node<'p>]) -> Option<Arguments<'p>> {
    let [entity, grants, _, roles, trees] = *arguments.first_chunk()?;
    if [grants, roles].map(Node::type_of) != [pg_sys::REGCLASSOID, pg_sys::TEXTARRAYOID] {
        return None;
    }
    let granted = made(c"cft_granted", &[grants, roles], pg_sys::TEXTARRAYOID)?;
    Some([entity, granted, made(c"cft_edges_of", &[grants], pg_sys::REGCLASSOID)?, trees])
}

/// A call of an internal function of ours.
fn made<'p>(name: &CStr, arguments: &[Node<'p>], result: pg_sys::Oid) -> Option<Node<'p>> {
    let types: Vec<_> = arguments.iter().map(|node| node.type_of()).collect(); // bounded: arguments
    let copies: Vec<_> = arguments.iter().map(|node| node.copy()).collect(); // bounded: arguments
    Node::call(internal_function(name, &types), result, &copies)
}
