//! What cft_under tells the planner (SUPPORT in sql/install/under.sql): how many rows it selects, what it costs, and
//! which condition finds them by an index on the entity's column: `cft_under(d.entity, 'x')` is true where `d.entity =
//! ANY (cft_descendants('x'))` is.

use crate::api::support;
use crate::api::support::relatives;
use crate::call::entity_value::{EntityType, Name};
use crate::call::fmgr::Call;
use crate::call::planner::{Answer, Asked, Index, Node, Request};
use crate::catalog::registration::internal_function;
use crate::error::MAX_LEVELS;
use crate::pg::lookup;
use pgrx::Internal;
use pgrx::prelude::*;

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
fn cft_under_support(call: Call) -> Internal {
    let request = Request::of(&call);
    request.answer(answer(request, request.arguments().first_chunk().copied(), false))
}

/// The arguments of cft_under: entity, ancestors, edges, trees.
pub type Arguments<'p> = [Node<'p>; 4];

/// Answers a planner's request about a condition that is true of some entities and all below them. `arguments` are
/// those of a cft_under that says the same; `is_lossy`: whether the condition is true of some of these only.
pub fn answer<'p>(request: Request<'p>, arguments: Option<Arguments<'p>>, is_lossy: bool) -> Option<Answer<'p>> {
    let under = |arguments| Under::of(request, arguments);
    match request.asked {
        Asked::Selectivity => {
            let share = arguments.and_then(under).map(|under| under.selectivity(request));
            Some(Answer::Selectivity(share.unwrap_or(UNKNOWN)))
        }
        Asked::Cost => {
            let under = arguments.and_then(under)?;
            Some(Answer::Cost { startup: BELOW * under.below, per_tuple: PER_TUPLE })
        }
        Asked::IndexCondition => {
            let index = request.index()?;
            let condition = index_condition(request, &index, arguments?)?;
            // Names are compared as bytes: under a collation that calls different ones equal, the index finds more.
            let lossy = is_lossy || index.is_lossy();
            Some(Answer::Condition(condition, lossy))
        }
        _ => None,
    }
}

/// A call of cft_under, as the planner knows it.
struct Under<'p> {
    entity: Node<'p>,
    /// Estimates of how many entities it is true for, and of how many there are.
    below: f64,
    entities: f64,
}

impl<'p> Under<'p> {
    /// None if no image may be asked.
    fn of(request: Request<'p>, [entity, ancestors, edges, _]: Arguments<'p>) -> Option<Self> {
        let table = support::table(request.value(Some(&edges), pg_sys::REGCLASSOID)?)?;
        let (mut names, mut asked): (Vec<Name<'p>>, _) = (Vec::new(), 1.0);
        if let Some(ancestors) = request.estimated(ancestors).constant() {
            if !ancestors.is_null() {
                let (some, count) = ancestors.entities()?.sample(NAMES).ok()?;
                (names, asked) = (some, count as f64);
            }
            if names.is_empty() {
                return Some(Self { entity, below: 0.0, entities: 1.0 });
            }
        }
        let names: Vec<&[u8]> = names.iter().map(|name| &**name).collect(); // bounded: NAMES
        let found = relatives(table, request.function, &names, 0, MAX_LEVELS as u32, SLOTS)?;
        let entities = found.entities.max(1.0);
        let below = (asked * (1.0 + found.rows)).min(entities);
        // If not all were counted, there may be up to `entities`: take the geometric mean.
        Some(Self { entity, below: if found.is_part { (below * entities).sqrt() } else { below }, entities })
    }

    /// The share of the rows, as if each entity had the same number of rows. We divide by all entities, or by those in
    /// the column if these are more.
    fn selectivity(&self, request: Request<'p>) -> f64 {
        let all = request.distinct(self.entity).map_or(self.entities, |distinct| self.entities.max(distinct));
        (self.below / all).clamp(0.0, 1.0)
    }
}

/// `entity = ANY (cft_descendants(ancestors, edges))` for a btree index on the entity.
fn index_condition<'p>(request: Request<'p>, index: &Index<'p>, arguments: Arguments<'p>) -> Option<Node<'p>> {
    let [entity, ancestors, edges, trees] = arguments;
    // A superuser can give this support function to any function.
    let fits = [edges, trees].map(Node::type_of) == [pg_sys::REGCLASSOID, pg_sys::TEXTARRAYOID];
    if !fits || !index.finds_first || ![ancestors, edges, trees].into_iter().all(|node| index.is_fixed(node)) {
        return None;
    }
    let is_much = |under: Under<'p>| {
        under.below > MOST || index.is_for_first_rows && under.selectivity(request).powi(2) * index.rows > MUCH
    };
    if Under::of(request, arguments).is_some_and(is_much) {
        return None;
    }
    let (column, _) = EntityType::of(entity.type_of())?;
    let element = if column == EntityType::Int4 { EntityType::Int8 } else { column };
    let set = descendants(request.function, [ancestors.widened()?, edges, trees], element)?;
    index.equals_any(entity, set, [column.oid(), element.oid()])
}

/// A call of the cft_descendants in the schema of this cft_under, or of the internal one, of the form that returns an
/// array of that type.
fn descendants<'p>(under: pg_sys::Oid, arguments: [Node<'p>; 3], element: EntityType) -> Option<Node<'p>> {
    let mut types = vec![arguments[0].type_of(), pg_sys::REGCLASSOID, pg_sys::TEXTARRAYOID];
    let mut arguments = arguments.to_vec(); // bounded: three
    // The array has the type of the ancestors; of others the internal form gives one.
    let is_of_ancestors = EntityType::of(types[0]).is_some_and(|(ancestors, _)| ancestors == element);
    let none = pg_sys::InvalidOid;
    let beside = |types: &[_]| lookup::function(c"cft_descendants", types, lookup::get_func_namespace(under));
    let mut function = if is_of_ancestors { beside(&types) } else { none };
    if function == none {
        types.push(pg_sys::ANYELEMENTOID);
        arguments.push(Node::null(element.oid())?);
        function = internal_function(c"cft_descendants", &types);
    }
    // Only the extension's own function, not another of the same name.
    let extension = |function| lookup::getExtensionOfObject(pg_sys::ProcedureRelationId, function);
    if function == none || extension(function) != extension(under) {
        return None;
    }
    Node::call(function, lookup::get_array_type(element.oid()), &arguments)
}
