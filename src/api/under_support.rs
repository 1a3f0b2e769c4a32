//! What cft_under tells the planner (SUPPORT in sql/install/under.sql): how many rows it selects, what it costs, and
//! which condition finds them by an index on the entity's column: `cft_under(d.entity, 'x')` is true where `d.entity =
//! ANY (cft_descendants('x'))` is.

#![expect(unsafe_code, reason = "the planner's interface")]

use crate::api::support::{Value, nothing, relatives, value};
use crate::call::array;
use crate::call::entity_value::{EntityType, Name};
use crate::catalog::registration::internal_function;
use crate::error::MAX_LEVELS;
use crate::pg::error_context;
use pgrx::prelude::*;
use pgrx::{Internal, PgList};

/// Edge slots read for an estimate: a quarter of a millisecond.
const SLOTS: usize = 5_000;

/// For more entities we give no index condition: to estimate its cost, the planner would find them all, however few
/// rows the query reads.
const MOST: f64 = 4_000.0;

/// For a query with ORDER BY and LIMIT, an index in that order may give the first rows sooner than reading and sorting
/// all rows below the ancestors. It does if these rows are a large share of a large table: if the share's square, times
/// the table's rows, is more than this. (The smaller the share, the more rows pgvector's HNSW index reads, at about 70
/// microseconds each; reading and sorting takes 0.6 each.)
const MUCH: f64 = 600.0;

/// The share of the rows if no image may be asked: what PostgreSQL's `contsel` assumes of a point `<@` a box.
const UNKNOWN: f64 = 0.001;

/// Costs of a lookup, and of finding one entity below the ancestors, in units of cpu_operator_cost.
pub const PER_TUPLE: f64 = 2.0;

const BELOW: f64 = 4.0;

/// Ancestors of a constant array that are looked up for an estimate.
const NAMES: usize = 100;

/// Support function of cft_under.
#[pg_extern(sql = false)]
fn cft_under_support(fcinfo: pg_sys::FunctionCallInfo) -> Internal {
    // SAFETY: SQL declares internal arguments, so only the planner calls.
    unsafe { answer(fcinfo, Some, |_| false) }
}

/// Answers a planner's request about a condition that is true of some entities and all below them. `under` gives the
/// arguments of cft_under which say the same, and `is_lossy` whether the condition is true of some of these only.
///
/// # Safety
/// A planner's call of a support function.
pub unsafe fn answer(
    fcinfo: pg_sys::FunctionCallInfo,
    under: impl Fn(*mut pg_sys::List) -> Option<*mut pg_sys::List>,
    is_lossy: impl Fn(*mut pg_sys::List) -> bool,
) -> Internal {
    // SAFETY: the caller's promise; a request begins with a node's tag, and has the call's arguments.
    unsafe {
        let request = (*fcinfo).args.as_ptr().read().value;
        match (*request.cast_mut_ptr::<pg_sys::Node>()).type_ {
            pg_sys::NodeTag::T_SupportRequestSelectivity => {
                let request = &mut *request.cast_mut_ptr::<pg_sys::SupportRequestSelectivity>();
                let under = under(request.args).and_then(|args| Under::of(request.root, request.funcid, args));
                let share = under.map(|under| under.selectivity(request.root, request.varRelid));
                request.selectivity = share.unwrap_or(UNKNOWN);
            }
            pg_sys::NodeTag::T_SupportRequestCost => {
                let request = &mut *request.cast_mut_ptr::<pg_sys::SupportRequestCost>();
                let args = arguments(request.node).and_then(under);
                let Some(under) = args.and_then(|args| Under::of(request.root, request.funcid, args)) else {
                    return nothing();
                };
                request.startup = pg_sys::cpu_operator_cost * BELOW * under.below;
                request.per_tuple = pg_sys::cpu_operator_cost * PER_TUPLE;
            }
            pg_sys::NodeTag::T_SupportRequestIndexCondition => {
                let request = &mut *request.cast_mut_ptr::<pg_sys::SupportRequestIndexCondition>();
                let Some(args) = arguments(request.node) else { return nothing() };
                let Some(condition) = under(args).and_then(|args| index_condition(request, args)) else {
                    return nothing();
                };
                request.lossy |= is_lossy(args);
                return Internal::from(Some(pg_sys::Datum::from(condition)));
            }
            _ => return nothing(),
        }
        Internal::from(Some(request))
    }
}

/// The arguments of a call; None if the node is not a plain function call.
///
/// # Safety
/// A node of an expression.
pub unsafe fn arguments(node: *mut pg_sys::Node) -> Option<*mut pg_sys::List> {
    // SAFETY: the caller's promise; a node begins with its tag.
    unsafe {
        (!node.is_null() && (*node).type_ == pg_sys::NodeTag::T_FuncExpr)
            .then(|| (*node.cast::<pg_sys::FuncExpr>()).args)
    }
}

/// A call of cft_under, as the planner knows it.
struct Under {
    entity: *mut pg_sys::Node,
    /// Estimates of how many entities it is true for, and of how many there are.
    below: f64,
    entities: f64,
}

impl Under {
    /// None if no image may be asked.
    ///
    /// # Safety
    /// A planner's request, and the arguments of cft_under.
    unsafe fn of(root: *mut pg_sys::PlannerInfo, function: pg_sys::Oid, args: *mut pg_sys::List) -> Option<Self> {
        // SAFETY: the caller's promise; a call's arguments are complete and in order when the planner asks.
        unsafe {
            let args = PgList::<pg_sys::Node>::from_pg(args);
            let known = |n: usize| {
                let argument = args.get_ptr(n)?;
                let value =
                    error_context::with_error_context(None, || pg_sys::estimate_expression_value(root, argument));
                ((*value).type_ == pg_sys::NodeTag::T_Const).then(|| &*value.cast::<pg_sys::Const>())
            };
            let entity = args.get_ptr(0)?;
            let table = match value(root, args.as_ptr(), 2, pg_sys::REGCLASSOID)? {
                Value::Null => None,
                Value::Known(table) => Some(pg_sys::Oid::from(table.value() as u32)),
                Value::Unknown(_) => return None,
            };
            let (mut names, mut asked): (Vec<Name>, _) = (Vec::new(), 1.0);
            if let Some(ancestors) = known(1) {
                if ancestors.constisnull {
                    return Some(Self { entity, below: 0.0, entities: 1.0 });
                }
                let (of, many) = EntityType::of(ancestors.consttype)?;
                if many {
                    let (some, count) = array::sample(of.names(ancestors.constvalue).ok()?, NAMES);
                    (names, asked) = (some, count as f64);
                } else {
                    names.push(of.name(ancestors.constvalue));
                }
                if names.is_empty() {
                    return Some(Self { entity, below: 0.0, entities: 1.0 });
                }
            }
            let names: Vec<&[u8]> = names.iter().map(|name| &**name).collect(); // bounded: NAMES
            let found = relatives(table, function, &names, 0, MAX_LEVELS as u32, SLOTS)?;
            let entities = found.entities.max(1.0);
            let below = (asked * (1.0 + found.rows)).min(entities);
            // If not all were counted, there may be up to `entities`: take the geometric mean.
            Some(Self { entity, below: if found.is_part { (below * entities).sqrt() } else { below }, entities })
        }
    }

    /// The share of the rows, as if each entity had the same number of rows. We divide by all entities, or by those in
    /// the column if these are more.
    ///
    /// # Safety
    /// Of a planner's request.
    unsafe fn selectivity(&self, root: *mut pg_sys::PlannerInfo, relation: std::ffi::c_int) -> f64 {
        // SAFETY: the caller's promise; a statistics tuple is released by its own function.
        unsafe {
            let (mut data, mut is_default) = (pg_sys::VariableStatData::default(), false);
            pg_sys::examine_variable(root, self.entity, relation, &mut data);
            let distinct = pg_sys::get_variable_numdistinct(&mut data, &mut is_default);
            if let (false, Some(free)) = (data.statsTuple.is_null(), data.freefunc) {
                free(data.statsTuple);
            }
            (self.below / if is_default { self.entities } else { self.entities.max(distinct) }).clamp(0.0, 1.0)
        }
    }
}

/// `entity = ANY (cft_descendants(ancestors, edges))` for a btree index on the entity. A List, or None.
///
/// # Safety
/// A planner's request, and the arguments of cft_under.
unsafe fn index_condition(
    request: &mut pg_sys::SupportRequestIndexCondition,
    args: *mut pg_sys::List,
) -> Option<*mut pg_sys::List> {
    // SAFETY: the caller's promise: the planner's structures are complete, and what is made here lives as long as they
    // do.
    unsafe {
        let args = PgList::<pg_sys::Node>::from_pg(args);
        let (entity, ancestors, edges, trees) =
            (args.get_ptr(0)?, args.get_ptr(1)?, args.get_ptr(2)?, args.get_ptr(3)?);
        let is_fixed = |node| pg_sys::is_pseudo_constant_for_index(request.root, node, request.index);
        let index = &*request.index;
        // A superuser can give this support function to any function.
        let fits = [edges, trees].map(|node| pg_sys::exprType(node)) == [pg_sys::REGCLASSOID, pg_sys::TEXTARRAYOID];
        if request.indexarg != 0
            || !fits
            || !index.amsearcharray
            || index.relam != pg_sys::BTREE_AM_OID
            || !is_fixed(ancestors)
            || !is_fixed(edges)
            || !is_fixed(trees)
        {
            return None;
        }
        let query = (*request.root).parse;
        let is_first_rows = !(*query).sortClause.is_null() && !(*query).limitCount.is_null();
        let rows = (*index.rel).tuples;
        let is_much = |under: Under| {
            under.below > MOST || is_first_rows && under.selectivity(request.root, 0).powi(2) * rows > MUCH
        };
        if Under::of(request.root, request.funcid, args.as_ptr()).is_some_and(is_much) {
            return None;
        }
        let (column, _) = EntityType::of(pg_sys::exprType(entity))?;
        let element = if column == EntityType::Int4 { EntityType::Int8 } else { column };
        let strategy = pg_sys::BTEqualStrategyNumber as i16;
        let operator = pg_sys::get_opfamily_member(request.opfamily, column.oid(), element.oid(), strategy);
        let set = descendants(request.funcid, [widened(ancestors), edges, trees], element)?;
        if operator == pg_sys::InvalidOid {
            return None;
        }
        let mut both = PgList::<pg_sys::Node>::new();
        both.push(entity);
        both.push(set);
        let condition = pg_sys::palloc0(size_of::<pg_sys::ScalarArrayOpExpr>()).cast::<pg_sys::ScalarArrayOpExpr>();
        (*condition).xpr.type_ = pg_sys::NodeTag::T_ScalarArrayOpExpr;
        (*condition).opno = operator;
        (*condition).opfuncid = pg_sys::get_opcode(operator);
        (*condition).useOr = true;
        (*condition).inputcollid = request.indexcollation;
        (*condition).args = both.into_pg();
        (*condition).location = -1;
        // Names are compared as bytes: under a collation that calls different ones equal, the index finds more.
        request.lossy = request.indexcollation != pg_sys::InvalidOid
            && !pg_sys::get_collation_isdeterministic(request.indexcollation);
        let mut list = PgList::<pg_sys::Node>::new();
        list.push(condition.cast());
        Some(list.into_pg())
    }
}

/// Casts an ancestor of type integer to bigint, which cft_descendants takes.
///
/// # Safety
/// A node of an expression.
unsafe fn widened(ancestor: *mut pg_sys::Node) -> *mut pg_sys::Node {
    // SAFETY: the caller's promise.
    unsafe {
        if pg_sys::exprType(ancestor) != pg_sys::INT4OID {
            return ancestor;
        }
        let mut args = PgList::<pg_sys::Node>::new();
        args.push(ancestor);
        let (cast, none) = (pg_sys::Oid::from(pg_sys::F_INT8_INT4), pg_sys::InvalidOid);
        let form = pg_sys::CoercionForm::COERCE_IMPLICIT_CAST;
        pg_sys::makeFuncExpr(cast, pg_sys::INT8OID, args.into_pg(), none, none, form).cast()
    }
}

/// A call of the cft_descendants in the schema of this cft_under, or of the internal one, of the form that returns an
/// array of that type.
///
/// # Safety
/// Nodes of a call of cft_under.
unsafe fn descendants(
    under: pg_sys::Oid,
    arguments: [*mut pg_sys::Node; 3],
    element: EntityType,
) -> Option<*mut pg_sys::Node> {
    // SAFETY: the caller's promise; a lookup by name.
    unsafe {
        let mut types = vec![pg_sys::exprType(arguments[0]), pg_sys::REGCLASSOID, pg_sys::TEXTARRAYOID];
        let mut args = PgList::<pg_sys::Node>::new();
        arguments.into_iter().for_each(|argument| args.push(argument));
        // The array has the type of the ancestors; of others the internal form gives one.
        let is_of_ancestors = EntityType::of(types[0]).is_some_and(|(ancestors, _)| ancestors == element);
        let mut function = if is_of_ancestors { beside(under, &types) } else { pg_sys::InvalidOid };
        if function == pg_sys::InvalidOid {
            types.push(pg_sys::ANYELEMENTOID);
            args.push(pg_sys::makeNullConst(element.oid(), -1, pg_sys::InvalidOid).cast());
            function = internal_function(c"cft_descendants", &types);
        }
        // Only the extension's own function, not another of the same name.
        let extension = |function| pg_sys::getExtensionOfObject(pg_sys::ProcedureRelationId, function);
        if function == pg_sys::InvalidOid || extension(function) != extension(under) {
            return None;
        }
        let none = pg_sys::InvalidOid;
        let collation = if element == EntityType::Text { pg_sys::DEFAULT_COLLATION_OID } else { none };
        let form = pg_sys::CoercionForm::COERCE_EXPLICIT_CALL;
        let array = pg_sys::get_array_type(element.oid());
        Some(pg_sys::makeFuncExpr(function, array, args.into_pg(), collation, none, form).cast())
    }
}

/// The cft_descendants of these argument types in the schema of another function; InvalidOid if there is none.
fn beside(other: pg_sys::Oid, types: &[pg_sys::Oid]) -> pg_sys::Oid {
    // SAFETY: a lookup by name; the key's types are those of the PROCNAMEARGSNSP cache.
    unsafe {
        let types = pg_sys::buildoidvector(types.as_ptr(), types.len() as i32);
        pg_sys::GetSysCacheOid(
            pg_sys::SysCacheIdentifier::PROCNAMEARGSNSP as i32,
            pg_sys::Anum_pg_proc_oid as pg_sys::AttrNumber,
            pg_sys::Datum::from(c"cft_descendants".as_ptr()),
            pg_sys::Datum::from(types),
            pg_sys::Datum::from(pg_sys::get_func_namespace(other)),
            pg_sys::Datum::from(0usize),
        )
    }
}
