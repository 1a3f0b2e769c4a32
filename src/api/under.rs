//! cft_under: whether an entity is another one or below it; cft_descendants: all such entities.
//!
//! A query calls cft_under for row after row with the same ancestors. For the first rows, it walks up from the row's entity. When that has cost
//! as much as finding all descendants of the ancestors might, it finds these once, and then looks each row up among them. They are kept as long as
//! the query's expression lives, and only if the entity is a column's value: such an expression belongs to one query with one snapshot (others,
//! PL/pgSQL's for example, live longer).

#![expect(unsafe_code, reason = "PostgreSQL's function call interface")]

use crate::call::array;
use crate::call::entity_value::{EntityType, Name};
use crate::call::fmgr::{Call, text_bytes};
use crate::call::work_memory;
use crate::call::work_memory::Room;
use crate::catalog::attached_table::AttachedTable;
use crate::error;
use crate::error::Fallible;
use crate::methods::descendants::descendants;
use crate::methods::walker::Walker;
use crate::pg::compat::plain;
use crate::serve::answer::{reads_as_array, refuse_array};
use crate::serve::within::Within;
use cftrag_core::Names;
use pgrx::prelude::*;
use pgrx::{Internal, PgList};

/// The work of walking up from rows' entities before all descendants are found: about a quarter of a millisecond.
const LOOKING: usize = 5_000;

/// The work of one walk up besides its rows, in rows of an answer.
const LOOK: usize = 20;

/// What a call site keeps.
struct Site {
    types: Types,
    /// The entity is a column's value.
    keeps: bool,
    asked: Option<Asked>,
    /// The ancestors' names.
    tops: Names,
    left: usize,
    below: Option<Names>,
    callback: pg_sys::MemoryContextCallback,
}

/// Copies of the arguments of the last call, besides the entity.
struct Asked {
    ancestors: Vec<u8>,
    edges: Option<pg_sys::Oid>,
    trees: Option<Vec<u8>>,
}

/// `cft_under(entity, ancestor, edges regclass, trees text[]) -> boolean`, `cft_under(entity, ancestors[], ...)`: whether the entity is one of
/// the ancestors, known or not, or below one of them at any depth, in any tree or in one of `trees`. Entities are text, integer, bigint or uuid.
///
/// NULL entity or ancestors: NULL. Errors: those of cft_context; 22023 for a constant or parameter that reads as an array, as one ancestor; 53400 (cftrag.work_memory).
#[pg_extern(sql = false)]
fn cft_under(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<Option<bool>> {
    // SAFETY: our own fcinfo; its site is this function's own.
    unsafe {
        let call = Call::new(fcinfo);
        let (Some(entity), Some(ancestors)) = (call.arg(0), call.arg(1)) else { return Ok(None) };
        let site = &mut *Site::of(&call)?;
        let name = site.types.entity.name(entity);
        site.ask(&call, ancestors)?;
        if let Some(below) = &site.below {
            return Ok(Some(below.contains(&name)));
        }
        site.judge(&call, &name).map(Some)
    }
}

impl Site {
    /// # Safety
    /// A call of cft_under.
    unsafe fn of(call: &Call) -> Fallible<*mut Self> {
        // SAFETY: the caller's promise: fn_extra is null or what is stored here, and lives as long as fn_mcxt.
        unsafe {
            let info = (*call.0).flinfo;
            if (*info).fn_extra.is_null() {
                let site = Box::into_raw(Box::new(Site {
                    types: Types::of(call)?,
                    keeps: entity_is_a_columns(info),
                    asked: None,
                    tops: Names::default(),
                    left: LOOKING,
                    below: None,
                    callback: pg_sys::MemoryContextCallback::default(),
                }));
                (*site).callback.func = Some(forget);
                (*site).callback.arg = site.cast();
                plain::MemoryContextRegisterResetCallback((*info).fn_mcxt, &raw mut (*site).callback);
                (*info).fn_extra = site.cast();
            }
            Ok((*info).fn_extra.cast())
        }
    }

    /// Takes the ancestors of a call, unless they are those of the call before.
    ///
    /// # Safety
    /// The call's second argument.
    unsafe fn ask(&mut self, call: &Call, ancestors: pg_sys::Datum) -> Fallible<()> {
        // SAFETY: the caller's promise; an array is a varlena, as a text is.
        let one = unsafe {
            if self.types.many { Name::Text(text_bytes(ancestors)) } else { self.types.ancestors.name(ancestors) }
        };
        let (edges, trees, mut room, mut asks) = (call.oid(2), call.text(3), Room::new(), None);
        if self.keeps {
            let is_asked =
                |asked: &Asked| asked.ancestors == *one && asked.edges == edges && asked.trees.as_deref() == trees;
            if self.asked.as_ref().is_some_and(is_asked) {
                return Ok(());
            }
            let trees = trees.map(|trees| work_memory::copy(trees, &mut room)).transpose()?;
            asks = Some(Asked { ancestors: work_memory::copy(&one, &mut room)?, edges, trees });
        }
        if !self.types.many && reads_as_array(&one) && call.is_given_text(1) {
            refuse_array(&AttachedTable::of(call.function(), edges)?, &one, Some("ancestors"))?;
        }
        // SAFETY: the caller's promise.
        self.tops = unsafe { self.types.tops(ancestors, &mut room) }?;
        (self.asked, self.below, self.left) = (asks, None, LOOKING);
        Ok(())
    }

    fn judge(&mut self, call: &Call, name: &[u8]) -> Fallible<bool> {
        let (of, trees) = (AttachedTable::open(call, 2)?, call.arg(3));
        if !self.keeps || self.left > 0 {
            let within = Within::of(&of, &self.tops, trees);
            if let Some((is_under, rows)) = within.has(name)? {
                self.left = self.left.saturating_sub(LOOK + rows);
                return Ok(is_under);
            }
            // Without the image, one walk up costs as much as finding all descendants. It may still be the only one: ancestors can change with the
            // row.
            if !self.keeps || self.left == LOOKING {
                self.left = 0;
                return Ok(within.those_of(&[name])?[0]);
            }
        }
        let below = descendants(&Walker { of, trees }, &self.tops, &mut Room::new())?;
        Ok(self.below.insert(below).contains(name))
    }
}

/// The types of a call's arguments.
#[derive(Clone, Copy)]
struct Types {
    /// The type of an entity: the first argument, or an element of what cft_descendants returns.
    entity: EntityType,
    ancestors: EntityType,
    /// Whether the ancestors are an array.
    many: bool,
}

impl Types {
    /// # Safety
    /// A call of cft_under or cft_descendants.
    unsafe fn of(call: &Call) -> Fallible<Self> {
        let declared = call.argument_types();
        let typed = |n: usize| match declared.get(n).copied() {
            // SAFETY: a polymorphic function is called by an expression.
            Some(pg_sys::ANYELEMENTOID) => unsafe {
                EntityType::of(pg_sys::get_fn_expr_argtype((*call.0).flinfo, n as i32))
            },
            Some(oid) => EntityType::of(oid),
            None => None,
        };
        // cft_under: entity, ancestors, edges, trees. cft_descendants: ancestors, edges, trees[, a value of the result type].
        let result = if declared.get(3) == Some(&pg_sys::ANYELEMENTOID) { typed(3) } else { None };
        Ok(match (typed(0), typed(1), result) {
            (Some((entity, false)), Some((ancestors, many)), _) => Self { entity, ancestors, many },
            (Some((ancestors, many)), None, Some((entity, false))) => Self { entity, ancestors, many },
            (Some((ancestors, many)), None, None)
                if declared.get(3).is_none_or(|oid| *oid != pg_sys::ANYELEMENTOID) =>
            {
                Self { entity: ancestors, ancestors, many }
            }
            // A polymorphic function can be called with any type.
            _ => return Err(error::no_entity_type()),
        })
    }

    /// The names of the ancestors. 53400, 53200.
    ///
    /// # Safety
    /// A value of their type.
    unsafe fn tops(self, ancestors: pg_sys::Datum, room: &mut Room) -> Fallible<Names> {
        // SAFETY: the caller's promise.
        unsafe {
            match self.many {
                true => array::copied(self.ancestors.names(ancestors)?, room),
                false => array::copied(std::iter::once(self.ancestors.name(ancestors)), room),
            }
        }
    }
}

/// Whether the call's first argument comes from a row of the plan: from a column, or from the outer row of a subquery.
///
/// # Safety
/// `info` belongs to a call of one of our functions.
unsafe fn entity_is_a_columns(info: *mut pg_sys::FmgrInfo) -> bool {
    // SAFETY: the caller's promise; a call's expression, if there is one, is complete.
    unsafe {
        let node = (*info).fn_expr;
        if node.is_null() || (*node).type_ != pg_sys::NodeTag::T_FuncExpr {
            return false;
        }
        let Some(entity) = PgList::<pg_sys::Node>::from_pg((*node.cast::<pg_sys::FuncExpr>()).args).get_ptr(0) else {
            return false;
        };
        let is_outer = (*entity).type_ == pg_sys::NodeTag::T_Param
            && (*entity.cast::<pg_sys::Param>()).paramkind == pg_sys::ParamKind::PARAM_EXEC;
        is_outer || pg_sys::contain_var_clause(entity)
    }
}

/// # Safety
/// PostgreSQL calls it once, with what [`Site::of`] made.
unsafe extern "C-unwind" fn forget(site: *mut std::ffi::c_void) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(site.cast::<Site>()) });
}

/// `cft_descendants(ancestor, edges regclass, trees text[])`, `cft_descendants(ancestors[], ...)` -> an array: these entities, known or not, and all
/// below them, in these trees if they are not NULL; each once. The array is of text, bigint or uuid, without the names that are no value of its type.
///
/// NULL ancestors: NULL. Errors: those of cft_under.
#[pg_extern(sql = false)]
fn cft_descendants(fcinfo: pg_sys::FunctionCallInfo) -> Fallible<Internal> {
    // SAFETY: our own fcinfo, and its arguments.
    let call = unsafe { Call::new(fcinfo) };
    let Some(ancestors) = call.arg(0) else { return Ok(Internal::from(None)) };
    // SAFETY: as above.
    let types = unsafe { Types::of(&call) }?;
    let (walker, mut room) = (Walker { of: AttachedTable::open(&call, 1)?, trees: call.arg(2) }, Room::new());
    // SAFETY: as above.
    let tops = unsafe { types.tops(ancestors, &mut room) }?;
    if call.is_given_text(0)
        && let Some(top) = call.text(0)
        && reads_as_array(top)
    {
        refuse_array(&walker.of, top, Some("ancestors"))?;
    }
    let below = descendants(&walker, &tops, &mut room)?;
    Ok(Internal::from(Some(types.entity.array(below.ids().map(|id| below.get(id))))))
}
