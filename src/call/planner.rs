//! What the planner asks a support function, and the expressions that it asks about and that an answer is made of.
//!
//! The planner's structures, and what is made here in its memory, live longer than the call.

#![expect(unsafe_code, reason = "the planner's interface")]

use crate::call::array::Texts;
use crate::call::entity_value::Entities;
use crate::call::fmgr::Call;
use crate::call::text::Text;
use crate::pg::{compat, error_context, lookup};
use pgrx::{Internal, PgList, pg_sys};
use std::marker::PhantomData;
use std::ptr::{NonNull, null_mut};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    Rows,
    Cost,
    Selectivity,
    IndexCondition,
    Other,
}

/// A request to a support function, about a call of another function.
#[derive(Clone, Copy)]
pub struct Request<'p> {
    pub asked: Asked,
    pub function: pg_sys::Oid,
    request: *mut pg_sys::Node,
    root: *mut pg_sys::PlannerInfo,
    /// Null if the function is not called as such.
    arguments: *mut pg_sys::List,
    lives: PhantomData<&'p Call>,
}

/// Costs are in units of cpu_operator_cost, which is about 50 nanoseconds for us.
pub enum Answer<'p> {
    Rows(f64),
    Cost {
        startup: f64,
        per_tuple: f64,
    },
    Selectivity(f64),
    /// A condition for the index, and whether it is true of more rows than the call is.
    Condition(Node<'p>, bool),
}

/// An argument, as far as the planner knows it.
pub enum Value<'p> {
    Null,
    Known(Constant<'p>),
    Unknown(Node<'p>),
}

impl<'p> Request<'p> {
    /// The request that a support function is called with.
    pub fn of(call: &'p Call) -> Self {
        assert!(call.argument_types() == [pg_sys::INTERNALOID], "a support function");
        let request = call.arg(0).map_or(null_mut(), |request| request.cast_mut_ptr::<pg_sys::Node>());
        // SAFETY: only the planner calls a function that takes an internal value; a request begins with its node's tag.
        unsafe {
            macro_rules! of {
                ($kind:ident, $node:ident, $what:expr, $arguments:expr) => {{
                    let $node = &*request.cast::<pg_sys::$kind>();
                    ($what, $node.root, $node.funcid, $arguments)
                }};
            }
            use pg_sys::NodeTag as Tag;
            let (asked, root, function, arguments) = match request.as_ref().map(|request| request.type_) {
                Some(Tag::T_SupportRequestRows) => of!(SupportRequestRows, it, Asked::Rows, arguments(it.node)),
                Some(Tag::T_SupportRequestCost) => of!(SupportRequestCost, it, Asked::Cost, arguments(it.node)),
                Some(Tag::T_SupportRequestSelectivity) => {
                    of!(SupportRequestSelectivity, it, Asked::Selectivity, it.args)
                }
                Some(Tag::T_SupportRequestIndexCondition) => {
                    of!(SupportRequestIndexCondition, it, Asked::IndexCondition, arguments(it.node))
                }
                _ => (Asked::Other, null_mut(), pg_sys::InvalidOid, null_mut()),
            };
            Self { asked, function, request, root, arguments, lives: PhantomData }
        }
    }

    /// Answers what is asked. No answer is a null pointer, not SQL's NULL.
    pub fn answer(self, answer: Option<Answer<'p>>) -> Internal {
        let mut result = pg_sys::Datum::from(self.request);
        // SAFETY: of()'s: a request of that kind.
        unsafe {
            match (self.asked, answer) {
                (Asked::Rows, Some(Answer::Rows(rows))) => {
                    (*self.request.cast::<pg_sys::SupportRequestRows>()).rows = rows;
                }
                (Asked::Cost, Some(Answer::Cost { startup, per_tuple })) => {
                    let request = &mut *self.request.cast::<pg_sys::SupportRequestCost>();
                    request.startup = pg_sys::cpu_operator_cost * startup;
                    request.per_tuple = pg_sys::cpu_operator_cost * per_tuple;
                }
                (Asked::Selectivity, Some(Answer::Selectivity(share))) => {
                    (*self.request.cast::<pg_sys::SupportRequestSelectivity>()).selectivity = share;
                }
                (Asked::IndexCondition, Some(Answer::Condition(condition, is_lossy))) => {
                    (*self.request.cast::<pg_sys::SupportRequestIndexCondition>()).lossy = is_lossy;
                    result = pg_sys::Datum::from(list(&[condition]));
                }
                _ => result = pg_sys::Datum::from(0usize),
            }
        }
        Internal::from(Some(result))
    }

    /// The arguments of the call, complete and in order.
    pub fn arguments(self) -> Vec<Node<'p>> {
        // SAFETY: null, or a list of expressions.
        let all = unsafe { PgList::<pg_sys::Node>::from_pg(self.arguments) };
        all.iter_ptr().filter_map(Node::of).collect() // bounded: arguments
    }

    /// What the planner knows of a value of that type; None if there is none, or if it is not of that type: a superuser
    /// can give our support functions to any function.
    pub fn value(self, node: Option<&Node<'p>>, of: pg_sys::Oid) -> Option<Value<'p>> {
        let node = self.estimated(*node.filter(|node| node.type_of() == of)?);
        Some(match node.constant() {
            Some(value) if value.0.constisnull => Value::Null,
            Some(value) => Value::Known(value),
            None => Value::Unknown(node),
        })
    }

    /// The expression with what the planner knows in place of parameters and calls.
    pub fn estimated(self, node: Node<'p>) -> Node<'p> {
        let estimate = || {
            // SAFETY: an expression that is being planned.
            unsafe { pg_sys::estimate_expression_value(self.root, node.raw()) }
        };
        Node::of(error_context::with_error_context(None, estimate)).unwrap_or(node)
    }

    /// The length of an array.
    pub fn length(self, array: Node<'p>) -> f64 {
        // SAFETY: an expression that is being planned.
        unsafe { compat::estimate_array_length(self.root, array.raw()) }
    }

    /// How many distinct values an expression has, if that is known. Not for requests of costs, which may stand alone.
    pub fn distinct(self, node: Node<'p>) -> Option<f64> {
        assert!(!self.root.is_null(), "a query is being planned");
        // SAFETY: an expression of it; a statistics tuple is released by its own function.
        unsafe {
            let relation = match self.asked {
                Asked::Selectivity => (*self.request.cast::<pg_sys::SupportRequestSelectivity>()).varRelid,
                _ => 0,
            };
            let (mut data, mut is_default) = (pg_sys::VariableStatData::default(), false);
            pg_sys::examine_variable(self.root, node.raw(), relation, &mut data);
            let distinct = pg_sys::get_variable_numdistinct(&mut data, &mut is_default);
            if let (false, Some(free)) = (data.statsTuple.is_null(), data.freefunc) {
                free(data.statsTuple);
            }
            (!is_default).then_some(distinct)
        }
    }

    /// The index that a condition is asked for.
    pub fn index(self) -> Option<Index<'p>> {
        if self.asked != Asked::IndexCondition {
            return None;
        }
        // SAFETY: a request of that kind, which is complete; an index has a table.
        unsafe {
            let request = &*self.request.cast::<pg_sys::SupportRequestIndexCondition>();
            let (index, query) = (&*request.index, &*(*request.root).parse);
            Some(Index {
                request,
                finds_first: request.indexarg == 0 && index.amsearcharray && index.relam == pg_sys::BTREE_AM_OID,
                rows: (*index.rel).tuples,
                is_for_first_rows: !query.sortClause.is_null() && !query.limitCount.is_null(),
            })
        }
    }
}

/// The index that the planner wants a condition for.
pub struct Index<'p> {
    request: &'p pg_sys::SupportRequestIndexCondition,
    /// Whether it is a btree, which finds the rows of an array of keys, and the call's first argument is its column.
    pub finds_first: bool,
    /// About how many rows the table has.
    pub rows: f64,
    /// Whether the query has ORDER BY and LIMIT.
    pub is_for_first_rows: bool,
}

impl<'p> Index<'p> {
    /// Whether an expression has one value in a scan of the index.
    pub fn is_fixed(&self, node: Node<'p>) -> bool {
        // SAFETY: an expression of the query that is planned.
        unsafe { pg_sys::is_pseudo_constant_for_index(self.request.root, node.raw(), self.request.index) }
    }

    /// Whether its collation may call different texts equal.
    pub fn is_lossy(&self) -> bool {
        let collation = self.request.indexcollation;
        collation != pg_sys::InvalidOid && !lookup::get_collation_isdeterministic(collation)
    }

    /// `column = ANY (set)`, where the types have an operator for that.
    pub fn equals_any(&self, column: Node<'p>, set: Node<'p>, types: [pg_sys::Oid; 2]) -> Option<Node<'p>> {
        let equal = pg_sys::BTEqualStrategyNumber as i16;
        // SAFETY: system cache lookups; a node of that kind, zeroed and then filled in.
        unsafe {
            let operator = pg_sys::get_opfamily_member(self.request.opfamily, types[0], types[1], equal);
            if operator == pg_sys::InvalidOid {
                return None;
            }
            let condition = pg_sys::palloc0(size_of::<pg_sys::ScalarArrayOpExpr>()).cast::<pg_sys::ScalarArrayOpExpr>();
            (*condition).xpr.type_ = pg_sys::NodeTag::T_ScalarArrayOpExpr;
            (*condition).opno = operator;
            (*condition).opfuncid = pg_sys::get_opcode(operator);
            (*condition).useOr = true;
            (*condition).inputcollid = self.request.indexcollation;
            (*condition).args = list(&[column, set]);
            (*condition).location = -1;
            Node::of(condition.cast())
        }
    }
}

/// An expression of the query that is planned, or a part of an answer.
#[derive(Clone, Copy)]
pub struct Node<'p>(NonNull<pg_sys::Node>, PhantomData<&'p Call>);

impl<'p> Node<'p> {
    fn of(node: *mut pg_sys::Node) -> Option<Self> {
        NonNull::new(node).map(|node| Self(node, PhantomData))
    }

    fn raw(self) -> *mut pg_sys::Node {
        self.0.as_ptr()
    }

    pub fn type_of(self) -> pg_sys::Oid {
        // SAFETY: an expression, complete.
        unsafe { pg_sys::exprType(self.raw()) }
    }

    pub fn constant(self) -> Option<Constant<'p>> {
        // SAFETY: a node begins with its tag.
        unsafe { ((*self.raw()).type_ == pg_sys::NodeTag::T_Const).then(|| Constant(&*self.raw().cast())) }
    }

    /// Whether it is a parameter ($n) of a statement.
    pub fn is_parameter(self) -> bool {
        // SAFETY: a node begins with its tag.
        unsafe {
            (*self.raw()).type_ == pg_sys::NodeTag::T_Param
                && (*self.raw().cast::<pg_sys::Param>()).paramkind == pg_sys::ParamKind::PARAM_EXTERN
        }
    }

    /// A copy: a node has one place.
    pub fn copy(self) -> Self {
        // SAFETY: an expression, complete; the copy is of its kind.
        Self::of(unsafe { pg_sys::copyObjectImpl(self.raw().cast()) }.cast()).unwrap_or(self)
    }

    /// NULL of a type.
    pub fn null(of: pg_sys::Oid) -> Option<Self> {
        // SAFETY: makes a node.
        Self::of(unsafe { pg_sys::makeNullConst(of, -1, pg_sys::InvalidOid) }.cast())
    }

    /// A call of a function with these arguments; None if there is no such function.
    pub fn call(function: pg_sys::Oid, result: pg_sys::Oid, arguments: &[Self]) -> Option<Self> {
        Self::call_as(function, result, arguments, pg_sys::CoercionForm::COERCE_EXPLICIT_CALL)
    }

    /// An integer as a bigint; another value as it is.
    pub fn widened(self) -> Option<Self> {
        if self.type_of() != pg_sys::INT4OID {
            return Some(self);
        }
        let (cast, form) = (pg_sys::Oid::from(pg_sys::F_INT8_INT4), pg_sys::CoercionForm::COERCE_IMPLICIT_CAST);
        Self::call_as(cast, pg_sys::INT8OID, &[self], form)
    }

    fn call_as(
        function: pg_sys::Oid,
        result: pg_sys::Oid,
        arguments: &[Self],
        form: pg_sys::CoercionForm::Type,
    ) -> Option<Self> {
        let none = pg_sys::InvalidOid;
        let is_text = [pg_sys::TEXTOID, pg_sys::TEXTARRAYOID].contains(&result);
        let collation = if is_text { pg_sys::DEFAULT_COLLATION_OID } else { none };
        // SAFETY: makes a node.
        let make = || unsafe { pg_sys::makeFuncExpr(function, result, list(arguments), collation, none, form) };
        if function == none { None } else { Self::of(make().cast()) }
    }
}

/// A constant, which is read as what its type says.
#[derive(Clone, Copy)]
pub struct Constant<'p>(&'p pg_sys::Const);

impl<'p> Constant<'p> {
    fn of(self, of: pg_sys::Oid) -> Option<pg_sys::Datum> {
        (self.0.consttype == of && !self.0.constisnull).then_some(self.0.constvalue)
    }

    pub fn text(self) -> Option<&'p [u8]> {
        // SAFETY: of that type, and the planner's, as the current memory is; so in the others.
        self.of(pg_sys::TEXTOID).map(|value| unsafe { Text::here(value) }.bytes())
    }

    pub fn texts(self) -> Option<Texts<'p>> {
        // SAFETY: see text().
        self.of(pg_sys::TEXTARRAYOID).map(|value| unsafe { Texts::of(Text::here(value)) })
    }

    pub fn int(self) -> Option<i32> {
        self.of(pg_sys::INT4OID).map(|value| value.value() as i32)
    }

    pub fn table(self) -> Option<pg_sys::Oid> {
        self.of(pg_sys::REGCLASSOID).map(|value| pg_sys::Oid::from(value.value() as u32))
    }

    pub fn is_null(self) -> bool {
        self.0.constisnull
    }

    /// Its entities, if it is not NULL and its type is an entity type, or an array type of one.
    pub fn entities(self) -> Option<Entities<'p>> {
        let (of, value) = (self.0.consttype, self.of(self.0.consttype)?);
        // SAFETY: see text().
        unsafe { Entities::of(of, Text::here(value)) }
    }
}

/// The arguments of a call; null if the node is not a plain function call.
///
/// # Safety
/// A node of an expression, or null.
unsafe fn arguments(node: *mut pg_sys::Node) -> *mut pg_sys::List {
    // SAFETY: the caller's promise; a node begins with its tag.
    unsafe {
        let is_call = !node.is_null() && (*node).type_ == pg_sys::NodeTag::T_FuncExpr;
        if is_call { (*node.cast::<pg_sys::FuncExpr>()).args } else { null_mut() }
    }
}

fn list(nodes: &[Node<'_>]) -> *mut pg_sys::List {
    let mut all = PgList::<pg_sys::Node>::new();
    nodes.iter().for_each(|node| all.push(node.raw()));
    all.into_pg()
}
