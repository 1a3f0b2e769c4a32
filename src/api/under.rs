//! cft_under: whether an entity is another one or below it; cft_descendants: all such entities; cft_ancestors: all
//! above.
//!
//! A query calls cft_under for row after row with the same ancestors: what was found out (methods/below.rs) is kept at
//! the call's place (call/site.rs), if the entity comes from a row.

use crate::call::entity_value::{Entities, Types};
use crate::call::fmgr::Call;
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
    if call.arg(0).is_none() || call.arg(1).is_none() {
        return Ok(None);
    }
    let mut site = site::kept(&call, || Site::of(&call))?;
    let (Some(entity), Some(ancestors)) = (site.types.value(&call, 0), site.types.value(&call, 1)) else {
        return Err(error::no_entity_type());
    };
    let name = entity.name();
    site.ask(&call, ancestors)?;
    if let Some(known) = site.below.known(&name) {
        return Ok(Some(known));
    }
    site.below.has(AttachedTable::open(&call, 2)?, call.array(3), &name).map(Some)
}

impl Site {
    fn of(call: &Call) -> Fallible<Self> {
        let (types, keeps) = (Types::of(call), site::is_of_rows(call));
        // A polymorphic function can be called with any type.
        match (types.get(0), types.get(1)) {
            (Some((_, false)), Some(_)) => {}
            _ => return Err(error::no_entity_type()),
        }
        Ok(Self { types, keeps, asked: None, below: Below::of(Names::default(), keeps) })
    }

    /// Takes the ancestors of a call, unless they are those of the call before.
    fn ask(&mut self, call: &Call, ancestors: Entities<'_>) -> Fallible<()> {
        let one = ancestors.name();
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
        if call.is_given_text(1) && reads_as_array(&one) {
            refuse_array(&AttachedTable::of(call.function(), edges)?, &one, Some("ancestors"))?;
        }
        self.below = Below::of(ancestors.copied(&mut room)?, self.keeps);
        self.asked = asks;
        Ok(())
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
    if call.arg(0).is_none() {
        return Ok(Internal::from(None));
    }
    // Ancestors, edges, trees[, a value of the type that is returned].
    let types = Types::of(&call);
    let result = match types.declared.get(3) {
        Some(&pg_sys::ANYELEMENTOID) => types.get(3).filter(|(_, many)| !many),
        _ => types.get(0),
    };
    let (Some(from), Some((result, _))) = (types.value(&call, 0), result) else {
        return Err(error::no_entity_type());
    };
    let (walker, mut room) = (Walker { of: AttachedTable::open(&call, 1)?, trees: call.array(2) }, Room::new());
    let names = from.copied(&mut room)?;
    if call.is_given_text(0)
        && let Some(name) = call.text(0)
        && reads_as_array(name)
    {
        refuse_array(&walker.of, name, Some(what))?;
    }
    let found = find(&walker, &names, &mut room)?;
    Ok(Internal::from(Some(result.array(found.ids().map(|id| found.get(id))))))
}
