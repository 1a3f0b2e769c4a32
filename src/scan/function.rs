//! The functions that the node scans: how each is known, what its rows are, and its callbacks, which have its name.

use super::{Methods, plan, run};
use crate::api::{context, entities};
use pgrx::prelude::*;
use std::ffi::CStr;

/// A function of ours that may be all of a FROM item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Both cft_context.
    Context,
    Entities,
}

/// By `Function as usize`.
pub const ALL: [Function; 2] = [Function::Context, Function::Entities];

/// Of any of them.
pub const MOST_ARGUMENTS: usize = 4;
/// See [`MOST_ARGUMENTS`].
pub const MOST_COLUMNS: usize = 6;

const _: () = {
    let mut i = 0;
    while i < ALL.len() {
        assert!(ALL[i] as usize == i && ALL[i].arguments() <= MOST_ARGUMENTS && ALL[i].columns().len() <= MOST_COLUMNS);
        i += 1;
    }
};

impl Function {
    /// Its name, and the node's in EXPLAIN and in a parallel worker's plan.
    pub const fn name(self) -> &'static CStr {
        match self {
            Self::Context => c"cft_context",
            Self::Entities => c"cft_entities",
        }
    }

    pub const fn arguments(self) -> usize {
        match self {
            Self::Context => 4,
            Self::Entities => 3,
        }
    }

    /// The columns' types.
    pub const fn columns(self) -> &'static [pg_sys::Oid] {
        use pg_sys::{INT4OID as INT, TEXTOID as TEXT};
        match self {
            // entity, tree, relation, depth, relative, via
            Self::Context => &[TEXT, TEXT, TEXT, INT, TEXT, TEXT],
            // entity, mention, start, length, via_alias
            Self::Entities => &[TEXT, TEXT, INT, INT, TEXT],
        }
    }

    /// Whose C code that is.
    pub fn at(address: *const ()) -> Option<Self> {
        if address == context::cft_context_one_wrapper as *const ()
            || address == context::cft_context_many_wrapper as *const ()
        {
            Some(Self::Context)
        } else {
            (address == entities::cft_entities_wrapper as *const ()).then_some(Self::Entities)
        }
    }

    pub fn path(self) -> &'static pg_sys::CustomPathMethods {
        &PATHS[self as usize].0
    }

    /// Whose path it is: made with [`Function::path`].
    pub fn of_path(methods: *const pg_sys::CustomPathMethods) -> Self {
        ALL.into_iter().find(|f| PATHS[*f as usize].is(methods)).unwrap_or_else(|| unreachable!("a path of ours"))
    }

    pub fn plan(self) -> &'static pg_sys::CustomScanMethods {
        &PLANS[self as usize].0
    }

    /// Whose plan it is: made with [`Function::plan`].
    pub fn of_plan(methods: *const pg_sys::CustomScanMethods) -> Self {
        ALL.into_iter().find(|f| PLANS[*f as usize].is(methods)).unwrap_or_else(|| unreachable!("a plan of ours"))
    }

    pub fn node(self) -> &'static pg_sys::CustomExecMethods {
        &NODES[self as usize].0
    }
}

static PATHS: [Methods<pg_sys::CustomPathMethods>; 2] = [path_of(ALL[0]), path_of(ALL[1])];
static PLANS: [Methods<pg_sys::CustomScanMethods>; 2] = [plan_of(ALL[0]), plan_of(ALL[1])];
static NODES: [Methods<pg_sys::CustomExecMethods>; 2] = [run::node_of(ALL[0]), run::node_of(ALL[1])];

const fn path_of(function: Function) -> Methods<pg_sys::CustomPathMethods> {
    Methods(pg_sys::CustomPathMethods {
        CustomName: function.name().as_ptr(),
        PlanCustomPath: Some(plan::plan),
        ReparameterizeCustomPathByChild: None,
    })
}

const fn plan_of(function: Function) -> Methods<pg_sys::CustomScanMethods> {
    Methods(pg_sys::CustomScanMethods {
        CustomName: function.name().as_ptr(),
        CreateCustomScanState: Some(run::create),
    })
}
