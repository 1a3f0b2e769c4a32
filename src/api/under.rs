//! cft_under: whether an entity is another one or below it; cft_descendants: all such entities; cft_ancestors: all
//! above.
//!
//! A query calls cft_under for row after row with the same ancestors: what was found out (methods/below.rs) is kept at
//! the call's place (call/site.rs), if the entity comes from a row.

#![expect(unsafe_code, reason = "PostgreSQL's function call interface")]

use crate::call::array;
use crate::call::entity_value::{EntityType, Name};
use crate::call::fmgr::{Call, text_bytes};
use crate::call::work_memory::Room;
use crate::call::{site, work_memory};
use crate::catalog::attached_table::AttachedTable;
use crate::error;
use crate::error::Fallible;
use crate::methods::below::Below;
use crate::methods::descendants::{ancestors, descendants};
use crate::methods::walker::Walker;
use crate::serve::answer::{reads_as_array, refuse_array};
use cftrag_core::Names;
use pgrx::Internal;
use pgrx::prelude::*;

/// What a call site keeps.
struct Site {
    types: Types,
    /// The entity comes from a row.
    keeps: bool,
    asked: Option<LastCall>,
    below: Below,
}

/// Copies of the arguments of the last call, besides the entity.
struct LastCall {
    ancestors: Vec<u8>,
    edges: Option<pg_sys::Oid>,
    trees: Option<Vec<u8>>,
}

/// `cft_under(entity, ancestor, edges regclass, trees text[]) -> boolean`, `cft_under(entity, ancestors[], ...)`:
/// whether the entity is one of the ancestors, known or not, or below one of them at any depth, in any tree or in one
/// of `trees`. Entities are text, integer, bigint or uuid.
///
/// NULL entity or ancestors: NULL. Errors: those of cft_context; 22023 for a constant or parameter that reads as an
/// array, as one ancestor; 53400 (cftrag.work_memory).
#[pg_extern(sql = false)]
fn cft_under(call: Call) -> Fallible<Option<bool>> {
    // SAFETY: the site is this function's own.
    unsafe {
        let (Some(entity), Some(ancestors)) = (call.arg(0), call.arg(1)) else { return Ok(None) };
        let site = site::kept(&call, || Site::of(&call))?;
        let name = site.types.entity.name(entity);
        site.ask(&call, ancestors)?;
        if let Some(known) = site.below.known(&name) {
            return Ok(Some(known));
        }
        site.below.has(AttachedTable::open(&call, 2)?, call.arg(3), &name).map(Some)
    }
}

impl Site {
    /// # Safety
    /// A call of cft_under.
    unsafe fn of(call: &Call) -> Fallible<Self> {
        // SAFETY: the caller's promise.
        let (types, keeps) = unsafe { (Types::of(call)?, site::is_of_rows(call)) };
        Ok(Self { types, keeps, asked: None, below: Below::of(Names::default(), keeps) })
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
                |asked: &LastCall| asked.ancestors == *one && asked.edges == edges && asked.trees.as_deref() == trees;
            if self.asked.as_ref().is_some_and(is_asked) {
                return Ok(());
            }
            let trees = trees.map(|trees| work_memory::copy(trees, &mut room)).transpose()?;
            asks = Some(LastCall { ancestors: work_memory::copy(&one, &mut room)?, edges, trees });
        }
        if !self.types.many && reads_as_array(&one) && call.is_given_text(1) {
            refuse_array(&AttachedTable::of(call.function(), edges)?, &one, Some("ancestors"))?;
        }
        // SAFETY: the caller's promise.
        self.below = Below::of(unsafe { self.types.tops(ancestors, &mut room) }?, self.keeps);
        self.asked = asks;
        Ok(())
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
        // cft_under: entity, ancestors, edges, trees. cft_descendants: ancestors, edges, trees[, a value of the result
        // type].
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

/// `cft_ancestors(entity, edges regclass, trees text[])`, `cft_ancestors(entities[], ...)` -> an array: these entities,
/// known or not, and all above them, as cft_descendants gives those below.
///
/// NULL entities: NULL. Errors: those of cft_under.
#[pg_extern(sql = false)]
fn cft_ancestors(call: Call) -> Fallible<Internal> {
    set_of(call, "entities", ancestors)
}

/// `cft_descendants(ancestor, edges regclass, trees text[])`, `cft_descendants(ancestors[], ...)` -> an array: these
/// entities, known or not, and all below them, in these trees if they are not NULL; each once. The array is of text,
/// bigint or uuid, without the names that are no value of its type.
///
/// NULL ancestors: NULL. Errors: those of cft_under.
#[pg_extern(sql = false)]
fn cft_descendants(call: Call) -> Fallible<Internal> {
    set_of(call, "ancestors", descendants)
}

/// The array of what `find` finds from the entities of a call, which are called `what` if they are several.
fn set_of(
    call: Call,
    what: &str,
    find: impl FnOnce(&Walker, &Names, &mut Room) -> Fallible<Names>,
) -> Fallible<Internal> {
    let Some(from) = call.arg(0) else { return Ok(Internal::from(None)) };
    // SAFETY: as above.
    let types = unsafe { Types::of(&call) }?;
    let (walker, mut room) = (Walker { of: AttachedTable::open(&call, 1)?, trees: call.arg(2) }, Room::new());
    // SAFETY: as above.
    let names = unsafe { types.tops(from, &mut room) }?;
    if call.is_given_text(0)
        && let Some(name) = call.text(0)
        && reads_as_array(name)
    {
        refuse_array(&walker.of, name, Some(what))?;
    }
    let found = find(&walker, &names, &mut room)?;
    Ok(Internal::from(Some(types.entity.array(found.ids().map(|id| found.get(id))))))
}
