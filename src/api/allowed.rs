//! cft_allowed: whether some roles may see an entity, by grants on it and on what is above it; cft_granted: the
//! entities with grants for them.

use crate::call::array;
use crate::call::array::Texts;
use crate::call::entity_value::Types;
use crate::call::fmgr::{Call, text_array_of};
use crate::call::site;
use crate::call::work_memory::{Room, copy};
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::grants_table::GrantsTable;
use crate::catalog::registration::Functions;
use crate::error;
use crate::error::Fallible;
use crate::pg::encoding;
use crate::retrieve::grants::{Claim, Law, Rights, granted_or_some};
use crate::serve::plans::with_safe_path;
use cftrag_core::Names;
use pgrx::Internal;
use pgrx::prelude::*;

/// What a call's place keeps: the arguments of the last call, besides the entity, and what was found out for them.
struct Site {
    types: Types,
    keeps: bool,
    grants: pg_sys::Oid,
    law: Law,
    roles: Names,
    /// The arrays of roles and of trees.
    arrays: [Option<Vec<u8>>; 2],
    rights: Rights,
}

/// `cft_allowed(entity, grants regclass, law text, roles text[], trees text[]) -> boolean`: whether these roles may see
/// an entity, by the rows of a table of grants (cft_attach_grants) about it and about what is above it in any tree, or
/// in one of `trees`. Entities are text, integer, bigint or uuid. Law: 'union', 'intersection' or 'nearest'
/// (retrieve/grants.rs).
///
/// NULL entity: NULL; NULL roles: none. Errors: 22004 (grants, law), 22023 (law), 42P01 (no grants attached); those of
/// cft_context; of a SELECT of the grants; 53400.
#[pg_extern(sql = false)]
fn cft_allowed(call: Call) -> Fallible<Option<bool>> {
    if call.arg(0).is_none() {
        return Ok(None);
    }
    let mut site = site::kept(&call, || Site::of(&call))?;
    let site = &mut *site;
    let Some(entity) = site.types.value(&call, 0) else { return Err(error::no_entity_type()) };
    let name = entity.name();
    site.ask(&call)?;
    if let Some(allowed) = site.rights.known(&name) {
        return Ok(Some(allowed));
    }
    let (roles, rights) = (array::all(&site.roles, &mut Room::new())?, &mut site.rights);
    let grants = GrantsTable::open(site.grants, Functions::beside(call.function()))?;
    let edges = || AttachedTable::of(call.function(), Some(grants.edges));
    let asked = Claim { grants: &grants, edges: &edges, trees: call.array(4), roles: &roles };
    with_safe_path(|| rights.judge(asked, &name).map(Some))
}

/// `cft_granted(grants regclass, roles text[]) -> text[]`: the entities whose entries allow these roles. NULL roles:
/// none. Errors: those of cft_allowed.
#[pg_extern(sql = false)]
fn cft_granted(call: Call) -> Fallible<Internal> {
    let table = call.oid(0).ok_or_else(|| error::null_arguments("grants"))?;
    let grants = GrantsTable::open(table, Functions::beside(call.function()))?;
    let roles = roles(call.array(1), &mut Room::new())?;
    let names = with_safe_path(|| granted_or_some(&grants, &array::all(&roles, &mut Room::new())?))?;
    Ok(Internal::from(Some(text_array_of(names.ids().map(|id| Some(names.get(id)))))))
}

/// `cft_edges_of(grants regclass) -> oid`: the edges table of a table of grants. Errors: those of cft_allowed.
#[pg_extern(sql = false)]
fn cft_edges_of(call: Call) -> Fallible<pg_sys::Oid> {
    let table = call.oid(0).ok_or_else(|| error::null_arguments("grants"))?;
    GrantsTable::open(table, Functions::beside(call.function())).map(|grants| grants.edges)
}

fn roles(array: Option<Texts<'_>>, room: &mut Room) -> Fallible<Names> {
    array.map_or(Ok(Names::default()), |array| array.copied(room))
}

impl Site {
    fn of(call: &Call) -> Fallible<Self> {
        let ((grants, law), mut room) = (Self::named(call)?, Room::new());
        let types = Types::of(call);
        let Some((_, false)) = types.get(0) else { return Err(error::no_entity_type()) };
        let (keeps, roles) = (site::is_of_rows(call), roles(call.array(3), &mut room)?);
        let [roles_array, trees] =
            Self::arrays(call).map(|array| array.map(|array| copy(array, &mut room)).transpose());
        Ok(Self { types, keeps, grants, law, roles, arrays: [roles_array?, trees?], rights: Rights::new(law, keeps) })
    }

    /// The grants and the law of a call.
    fn named(call: &Call) -> Fallible<(pg_sys::Oid, Law)> {
        let (Some(grants), Some(law)) = (call.oid(1), call.text(2)) else {
            return Err(error::null_arguments("grants and law"));
        };
        let law = Law::of(law).ok_or_else(|| error::no_law(&encoding::decode(law)))?;
        Ok((grants, law))
    }

    /// The bytes of the arrays of a call: an array is a varlena, as a text is.
    fn arrays(call: &Call) -> [Option<&[u8]>; 2] {
        [call.text(3), call.text(4)]
    }

    /// Forgets what was found out, unless it was for the same query and arguments.
    fn ask(&mut self, call: &Call) -> Fallible<()> {
        let is_same = self.keeps
            && Self::named(call)? == (self.grants, self.law)
            && self.arrays.each_ref().map(Option::as_deref) == Self::arrays(call);
        if !is_same {
            *self = Self::of(call)?;
        }
        Ok(())
    }
}
