//! Decides which function scans our node replaces, and makes its plan.
//!
//! The plan keeps the call as an expression: PostgreSQL then replaces its parameters, and invalidates the plan when the
//! function changes. The node's rows have only the columns that the query uses.

#![expect(unsafe_code, reason = "the planner's interface")]

use crate::pg::invalidation::Cached;
use crate::pg::lookup::Row;
use crate::pg::relation::Desc;
use crate::pg::{compat, invalidation, lookup};
use crate::scan::function::Function;
use crate::scan::{Methods, function, node};
use pgrx::prelude::*;
use pgrx::{PgBox, PgList};
use std::cell::Cell;
use std::convert::Infallible;

/// ClanguageId (catalog/pg_language.h), which pgrx does not bind.
const LANGUAGE_C: pg_sys::Oid = pg_sys::Oid::from_u32(13);

/// Functions for which we cache whether they are ours.
const ROOM: usize = 32;

thread_local! {
    static NEXT: Cell<pg_sys::set_rel_pathlist_hook_type> = const { Cell::new(None) };
    static KNOWN: Cached<pg_sys::Oid, Option<Function>> = const { Cached::new(ROOM, invalidation::catalogs) };
}

pub fn register() {
    // SAFETY: called once, when the library is loaded.
    unsafe {
        function::ALL.iter().for_each(|function| pg_sys::RegisterCustomScanMethods(&PLANS[*function as usize].0));
        NEXT.set(pg_sys::set_rel_pathlist_hook);
        pg_sys::set_rel_pathlist_hook = Some(choose);
    }
}

/// The planner's hook. It sees every table of every statement, so there is no guard around the first check.
unsafe extern "C-unwind" fn choose(
    root: *mut pg_sys::PlannerInfo,
    rel: *mut pg_sys::RelOptInfo,
    index: pg_sys::Index,
    entry: *mut pg_sys::RangeTblEntry,
) {
    // SAFETY: the planner's arguments; an ERROR jumps out of frames that own nothing.
    unsafe {
        if let Some(next) = NEXT.get() {
            next(root, rel, index, entry);
        }
        if (*entry).rtekind == pg_sys::RTEKind::RTE_FUNCTION {
            replace(root, rel, index, entry);
        }
    }
}

/// Replaces the function scan's path by ours, with the same cost.
#[pg_guard]
unsafe extern "C-unwind" fn replace(
    root: *mut pg_sys::PlannerInfo,
    rel: *mut pg_sys::RelOptInfo,
    index: pg_sys::Index,
    entry: *mut pg_sys::RangeTblEntry,
) {
    // SAFETY: the planner's arguments; lists hold nodes of the kinds the planner puts there.
    unsafe {
        let Some(function) = call_of(entry).and_then(|call| ours(call)).filter(|_| !is_marked(root, index)) else {
            return;
        };
        let mut paths = PgList::<pg_sys::Path>::from_pg((*rel).pathlist);
        for n in 0..paths.len() {
            let Some(path) = paths.get_ptr(n) else { continue };
            if (*path).pathtype != pg_sys::NodeTag::T_FunctionScan {
                continue;
            }
            let mut ours = PgBox::<pg_sys::CustomPath>::alloc_node(pg_sys::NodeTag::T_CustomPath);
            ours.path = *path;
            ours.path.type_ = pg_sys::NodeTag::T_CustomPath;
            ours.path.pathtype = pg_sys::NodeTag::T_CustomScan;
            ours.flags = pg_sys::CUSTOMPATH_SUPPORT_BACKWARD_SCAN | pg_sys::CUSTOMPATH_SUPPORT_PROJECTION;
            ours.methods = &PATHS[function as usize].0;
            paths.replace_ptr(n, ours.into_pg().cast());
        }
    }
}

/// The call that is a whole FROM item: one function, without ordinality or a column definition list.
///
/// # Safety
/// A range table entry of a function.
unsafe fn call_of(entry: *mut pg_sys::RangeTblEntry) -> Option<*mut pg_sys::FuncExpr> {
    // SAFETY: the caller's promise.
    unsafe {
        let functions = PgList::<pg_sys::RangeTblFunction>::from_pg((*entry).functions);
        if (*entry).funcordinality || functions.len() != 1 {
            return None;
        }
        let function = functions.get_ptr(0)?;
        let call = (*function).funcexpr.cast::<pg_sys::FuncExpr>();
        ((*call).xpr.type_ == pg_sys::NodeTag::T_FuncExpr && (*function).funccolnames.is_null()).then_some(call)
    }
}

/// The function that is called, if our node can run the call.
///
/// # Safety
/// A call that is being planned.
unsafe fn ours(call: *mut pg_sys::FuncExpr) -> Option<Function> {
    // SAFETY: the caller's promise; a row type's descriptor is released again.
    unsafe {
        let function = as_made((*call).funcid)?;
        // We run no call with a subquery in an argument: the planner passes what the subquery depends on to function
        // scans only.
        if PgList::<pg_sys::Node>::from_pg((*call).args).len() != function.arguments()
            || pg_sys::contain_subplans((*call).args.cast())
        {
            return None;
        }
        // The type may have been altered.
        let desc = pg_sys::lookup_rowtype_tupdesc_noerror((*call).funcresulttype, -1, true);
        if desc.is_null() {
            return None;
        }
        let types = function.columns();
        let columns = Desc::of(desc).columns().filter(|column| !column.attisdropped).map(|column| column.atttypid);
        let same = (*desc).natts as usize == types.len() && columns.eq(types.iter().copied());
        compat::release_desc(desc);
        same.then_some(function)
    }
}

/// The function, if it is as our extension created it. PostgreSQL runs functions altered to have SET, SECURITY DEFINER
/// or STRICT.
fn as_made(function: pg_sys::Oid) -> Option<Function> {
    let ask = || Ok::<_, Infallible>(recognise(function));
    let Ok(ours) = KNOWN.with(|known| known.get(function, ask));
    ours
}

fn recognise(function: pg_sys::Oid) -> Option<Function> {
    if Row::<pg_sys::FormData_pg_proc>::of(function)?.prolang != LANGUAGE_C {
        return None;
    }
    let extension = lookup::getExtensionOfObject(pg_sys::ProcedureRelationId, function);
    if lookup::extension_name(extension)? != "cftrag" {
        return None;
    }
    let mut info = pg_sys::FmgrInfo::default();
    // SAFETY: fills in all of the call's data.
    unsafe { pg_sys::fmgr_info(function, &mut info) };
    // With SET or SECURITY DEFINER this is another function's address.
    let ours = Function::at(info.fn_addr? as *const ())?;
    (info.fn_retset && !info.fn_strict).then_some(ours)
}

/// Whether this item has a row mark (FOR UPDATE, UPDATE ... FROM): its rows are kept for EvalPlanQual, in case a row
/// joined to them was updated concurrently. PostgreSQL can put them back only into a function scan.
///
/// # Safety
/// The planner's arguments.
unsafe fn is_marked(root: *mut pg_sys::PlannerInfo, index: pg_sys::Index) -> bool {
    // SAFETY: the caller's promise.
    unsafe { PgList::<pg_sys::PlanRowMark>::from_pg((*root).rowMarks).iter_ptr().any(|mark| (*mark).rti == index) }
}

/// Makes the plan for our path.
#[pg_guard]
unsafe extern "C-unwind" fn plan(
    root: *mut pg_sys::PlannerInfo,
    rel: *mut pg_sys::RelOptInfo,
    path: *mut pg_sys::CustomPath,
    targets: *mut pg_sys::List,
    clauses: *mut pg_sys::List,
    _plans: *mut pg_sys::List,
) -> *mut pg_sys::Plan {
    // SAFETY: the planner's arguments; `replace` made the path, for a call.
    unsafe {
        let entry = *(*root).simple_rte_array.add((*rel).relid as usize);
        let Some(call) = call_of(entry) else { unreachable!("the path is one of a call") };
        let conditions = pg_sys::extract_actual_clauses(clauses, false);
        let mut plan = PgBox::<pg_sys::CustomScan>::alloc_node(pg_sys::NodeTag::T_CustomScan);
        // A parent that does not use our target list replaces it with one of its own, made from the relation's.
        plan.custom_scan_tlist = columns((*rel).relid, [targets, (*(*rel).reltarget).exprs, conditions]);
        plan.scan.plan.targetlist = targets;
        plan.scan.plan.qual = conditions;
        plan.flags = (*path).flags;
        let mut calls = PgList::<pg_sys::FuncExpr>::new();
        calls.push(call);
        plan.custom_exprs = calls.into_pg();
        plan.methods = &PLANS[of_path((*path).methods) as usize].0;
        plan.into_pg().cast()
    }
}

/// The columns that those expressions use, in their order, so that the first list needs no projection.
///
/// # Safety
/// The planner's arguments.
unsafe fn columns(index: pg_sys::Index, wanted: [*mut pg_sys::List; 3]) -> *mut pg_sys::List {
    // SAFETY: the caller's promise; pull_var_clause gives a list of Vars.
    unsafe {
        let all = pg_sys::PVC_RECURSE_AGGREGATES | pg_sys::PVC_RECURSE_WINDOWFUNCS | pg_sys::PVC_RECURSE_PLACEHOLDERS;
        let mut entries = PgList::<pg_sys::TargetEntry>::new();
        let mut seen = Vec::new();
        for expressions in wanted {
            let vars = pg_sys::pull_var_clause(expressions.cast(), all as i32);
            for var in PgList::<pg_sys::Var>::from_pg(vars).iter_ptr() {
                if (*var).varno as u32 == index && !seen.contains(&(*var).varattno) {
                    seen.push((*var).varattno);
                    let number = seen.len() as pg_sys::AttrNumber;
                    let copy = pg_sys::copyObjectImpl(var.cast()).cast();
                    entries.push(pg_sys::makeTargetEntry(copy, number, std::ptr::null_mut(), false));
                }
            }
        }
        entries.into_pg()
    }
}

static PATHS: [Methods<pg_sys::CustomPathMethods>; 2] = [path_of(function::ALL[0]), path_of(function::ALL[1])];

pub static PLANS: [Methods<pg_sys::CustomScanMethods>; 2] = [plan_of(function::ALL[0]), plan_of(function::ALL[1])];

/// The function of the path.
fn of_path(methods: *const pg_sys::CustomPathMethods) -> Function {
    function::ALL.into_iter().find(|f| PATHS[*f as usize].is(methods)).unwrap_or_else(|| unreachable!("a path of ours"))
}

const fn path_of(function: Function) -> Methods<pg_sys::CustomPathMethods> {
    Methods(pg_sys::CustomPathMethods {
        CustomName: function.name().as_ptr(),
        PlanCustomPath: Some(plan),
        ReparameterizeCustomPathByChild: None,
    })
}

const fn plan_of(function: Function) -> Methods<pg_sys::CustomScanMethods> {
    Methods(pg_sys::CustomScanMethods {
        CustomName: function.name().as_ptr(),
        CreateCustomScanState: Some(node::create),
    })
}
