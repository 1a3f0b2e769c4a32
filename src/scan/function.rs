//! The functions that the node scans: how we recognise each, and the columns of its rows.

#![expect(unsafe_code, reason = "reads a C string")]

use crate::api::{context, entities};
use pgrx::prelude::*;
use std::ffi::CStr;

/// A function of ours that can be a whole FROM item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Both forms of cft_context.
    Context,
    Entities,
}

/// Indexed by `Function as usize`.
pub const ALL: [Function; 2] = [Function::Context, Function::Entities];

/// The most arguments that any of them has.
pub const MOST_ARGUMENTS: usize = 7;

/// The most columns that any of them returns.
pub const MOST_COLUMNS: usize = 8;

const _: () = {
    let mut i = 0;
    while i < ALL.len() {
        assert!(ALL[i] as usize == i && ALL[i].arguments() <= MOST_ARGUMENTS && ALL[i].columns().len() <= MOST_COLUMNS);
        i += 1;
    }
};

impl Function {
    /// The function's name; also the node's, in EXPLAIN and in a parallel worker's plan.
    pub const fn name(self) -> &'static CStr {
        match self {
            Self::Context => c"cft_context",
            Self::Entities => c"cft_entities",
        }
    }

    pub const fn arguments(self) -> usize {
        match self {
            Self::Context => 5,
            Self::Entities => 7,
        }
    }

    /// The columns' types.
    pub const fn columns(self) -> &'static [pg_sys::Oid] {
        use pg_sys::{FLOAT4OID as REAL, INT4OID as INT, TEXTOID as TEXT};
        match self {
            // entity, tree, relation, depth, relative, via, label
            Self::Context => &[TEXT, TEXT, TEXT, INT, TEXT, TEXT, TEXT],
            // entity, mention, start, length, via_alias, label, method, score
            Self::Entities => &[TEXT, TEXT, INT, INT, TEXT, TEXT, TEXT, REAL],
        }
    }

    /// The function of the node, path or plan with that name: each carries its function's name.
    ///
    /// # Safety
    /// A C string.
    pub unsafe fn named(name: *const std::ffi::c_char) -> Self {
        // SAFETY: the caller's promise.
        let name = unsafe { CStr::from_ptr(name) };
        ALL.into_iter().find(|f| f.name() == name).unwrap_or_else(|| unreachable!("a plan of ours"))
    }

    /// The function with that C code.
    pub fn at(address: *const ()) -> Option<Self> {
        if address == context::cft_context_one_wrapper as *const ()
            || address == context::cft_context_many_wrapper as *const ()
        {
            Some(Self::Context)
        } else {
            (address == entities::cft_entities_wrapper as *const ()).then_some(Self::Entities)
        }
    }
}
