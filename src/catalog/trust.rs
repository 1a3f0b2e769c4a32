//! Whose code may run with whose rights.
//!
//! Reading a table runs what its owner has put on it: policies, a view's rule, index predicates, casts of its columns' types. PostgreSQL
//! leaves that to whoever names the table. Where cftrag chooses a table for the caller (none is named, or one belongs to the one that is
//! named), the caller must trust its owner, who could otherwise have it chosen. And where cftrag reads a table for all (a build), it does
//! as VACUUM and CREATE INDEX do: with the owner's rights, in a security-restricted operation.
//!
//! Trusted are: the caller; superusers, and whoever owns the extension. An ordinary caller trusts the database's owner, too, and groups whose
//! rights the caller inherits, if whoever granted the membership could have acted as the caller anyway (who administers a role can grant it to anybody,
//! unasked: nobody becomes trusted by that), if nobody can log in as the group, and if no other member is an ordinary role (each of them can
//! make tables in its name: membership gives a member the group's rights, not the others' theirs). Ordinary is whose rights end at this
//! database's ([`is_ordinary`]): code that the database's owner or a group has put there could use them all.

#![expect(unsafe_code, reason = "reads system catalogs, switches the current user")]

use crate::catalog::edges_table::EdgesTable;
use crate::catalog::roles;
use crate::pg::background_worker::SAFE_PATH;
use crate::pg::compat::plain;
use crate::pg::invalidation::Cached;
use crate::pg::{compat, invalidation};
use pgrx::pg_sys;
use std::convert::Infallible;

/// Runs `work`, which reads the table's rows, with its owner's rights, in a security-restricted operation and with a safe search_path.
/// An ERROR's abort puts back what was before.
pub fn as_owner<R>(table: &EdgesTable, work: impl FnOnce() -> R) -> R {
    let (mut user, mut context) = (pg_sys::InvalidOid, 0);
    // SAFETY: an open relation; as index builds do it. The nest level is left before the user is put back.
    let level = unsafe {
        let owner = (*(*table.rel()).rd_rel).relowner;
        pg_sys::GetUserIdAndSecContext(&mut user, &mut context);
        pg_sys::SetUserIdAndSecContext(owner, context | pg_sys::SECURITY_RESTRICTED_OPERATION as i32);
        let level = pg_sys::NewGUCNestLevel();
        pg_sys::set_config_option(
            c"search_path".as_ptr(),
            SAFE_PATH.as_ptr(),
            pg_sys::GucContext::PGC_USERSET,
            pg_sys::GucSource::PGC_S_SESSION,
            pg_sys::GucAction::GUC_ACTION_SAVE,
            true,
            0,
            false,
        );
        level
    };
    let result = work();
    // SAFETY: the level and the user of above.
    unsafe {
        pg_sys::AtEOXact_GUC(false, level);
        pg_sys::SetUserIdAndSecContext(user, context);
    }
    result
}

/// Who owns the extension in this database. Catalogs read by index: nothing is resolved by a search_path.
fn extension_owner() -> Option<pg_sys::Oid> {
    let mut found = None;
    // SAFETY: a catalog scan by its index on OIDs; everything opened is closed.
    unsafe {
        let oid = pg_sys::get_extension_oid(c"cftrag".as_ptr(), true);
        if oid == pg_sys::InvalidOid {
            return None;
        }
        let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
        let rel = pg_sys::table_open(pg_sys::ExtensionRelationId, lock);
        let mut key: [pg_sys::ScanKeyData; 1] = std::mem::zeroed();
        pg_sys::ScanKeyInit(
            &mut key[0],
            pg_sys::Anum_pg_extension_oid as pg_sys::AttrNumber,
            pg_sys::BTEqualStrategyNumber as pg_sys::StrategyNumber,
            pg_sys::Oid::from(pg_sys::F_OIDEQ),
            pg_sys::Datum::from(oid),
        );
        let index = pg_sys::Oid::from(pg_sys::ExtensionOidIndexId);
        let scan = pg_sys::systable_beginscan(rel, index, true, std::ptr::null_mut(), 1, key.as_mut_ptr());
        let tuple = pg_sys::systable_getnext(scan);
        if !tuple.is_null() {
            found = Some((*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_extension>()).extowner);
        }
        pg_sys::systable_endscan(scan);
        pg_sys::table_close(rel, lock);
    }
    found
}

/// Whether the caller trusts the role.
pub fn trusts_role(role: pg_sys::Oid) -> bool {
    // SAFETY: reads a backend variable; system cache lookups.
    let (caller, by_superuser) = unsafe { (plain::GetUserId(), pg_sys::superuser_arg(role)) };
    if role == caller || by_superuser {
        return true;
    }
    let database = || role == pg_sys::Oid::from(pg_sys::ROLE_PG_DATABASE_OWNER) || role == roles::database_owner();
    extension_owner() == Some(role)
        || (is_ordinary() && (database() || (inherits(caller, role) && has_no_peer(role, caller))))
}

thread_local! {
    /// What [`is_ordinary`] found of these roles.
    static ORDINARY: Cached<[pg_sys::Oid; 3], bool> = const { Cached::new(1, invalidation::catalogs) };
}

/// Whether the caller may do nothing beyond this database, and cannot come to: neither the current role nor one that the session can go
/// back to has an attribute (superuser, CREATEROLE, ...) or is a member, directly or not, of a role that has, or of one of the server's own.
/// Code that runs for the caller can SET ROLE as the session can.
pub fn is_ordinary() -> bool {
    // SAFETY: reads backend variables.
    let roles = unsafe { [plain::GetUserId(), pg_sys::GetSessionUserId(), pg_sys::GetAuthenticatedUserId()] };
    let Ok(found) = ORDINARY.with(|last| last.get(roles, || Ok::<_, Infallible>(none_is_privileged(&roles))));
    found
}

fn none_is_privileged(roles: &[pg_sys::Oid]) -> bool {
    let mut all = roles.to_vec();
    let mut at = 0;
    while let Some(&role) = all.get(at) {
        at += 1;
        if crate::catalog::roles::is_privileged(role) {
            return false;
        }
        let more = crate::catalog::roles::memberships(role).into_iter().map(|(of, _)| of);
        let more: Vec<_> = more.filter(|of| !all.contains(of)).collect();
        all.extend(more);
    }
    true
}

/// Whether nobody can log in as the role, and each member of it, directly or not, is the caller, could act as the caller, or is a group
/// that only such are members of.
fn has_no_peer(role: pg_sys::Oid, caller: pg_sys::Oid) -> bool {
    if roles::can_log_in(role) {
        return false;
    }
    let mut groups = vec![role];
    let mut at = 0;
    while let Some(&group) = groups.get(at) {
        at += 1;
        for member in roles::members(group) {
            // SAFETY: system cache lookups.
            let (is_self, on_the_way) = unsafe {
                let is_self = member == caller || pg_sys::is_member_of_role(member, caller);
                (is_self, !roles::can_log_in(member) && pg_sys::is_member_of_role(caller, member))
            };
            if !is_self && !on_the_way {
                return false;
            }
            if on_the_way && !groups.contains(&member) {
                groups.push(member);
            }
        }
    }
    true
}

/// Whether the caller inherits the role's rights by grants of roles that could have acted as the caller.
fn inherits(caller: pg_sys::Oid, role: pg_sys::Oid) -> bool {
    // SAFETY: system cache lookups.
    if !unsafe { pg_sys::has_privs_of_role(caller, role) } {
        return false;
    }
    let mut members = vec![caller];
    let mut at = 0;
    while let Some(&member) = members.get(at) {
        at += 1;
        for (of, grantor) in roles::memberships(member) {
            // SAFETY: system cache lookups. (A role is not asked whether it administers itself.)
            let granted = grantor == caller || unsafe { pg_sys::is_admin_of_role(grantor, caller) };
            if granted && !members.contains(&of) {
                members.push(of);
            }
        }
    }
    members.contains(&role)
}

/// Whether the caller may create triggers on the table; `exclusive`: whether the caller may drop them.
pub fn may_have_triggers(table: pg_sys::Oid, exclusive: bool) -> bool {
    // SAFETY: reads a backend variable; a system cache lookup.
    unsafe {
        let caller = plain::GetUserId();
        let trigger = pg_sys::ACL_TRIGGER as pg_sys::AclMode;
        compat::owns_table(table, caller)
            || !exclusive && pg_sys::pg_class_aclcheck(table, caller, trigger) == pg_sys::AclResult::ACLCHECK_OK
    }
}

/// Whether the table may be chosen for the caller where none is named: it and all that inherit from it are owned by roles that the caller trusts.
pub fn trusts(table: pg_sys::Oid) -> bool {
    every_owner(table, trusts_role)
}

/// Whether a table that belongs to `beside`, which is named or chosen, may be used for the caller: its owner is trusted, is that of
/// `beside`, or has its rights. (Who may only create triggers on `beside` can make any own table belong to it.)
pub fn trusts_beside(table: pg_sys::Oid, beside: pg_sys::Oid) -> bool {
    let Some((named, _)) = roles::owner_and_children(beside) else { return false };
    // SAFETY: system cache lookups.
    every_owner(table, |owner| unsafe { pg_sys::has_privs_of_role(owner, named) } || trusts_role(owner))
}

/// Whether reading values of the type, turning them into texts and comparing them runs no function of an ordinary role. Input and output
/// of a type are a superuser's always, whoever may create types; functions of casts are not.
pub fn is_plain_type(type_oid: pg_sys::Oid) -> bool {
    // SAFETY: system cache lookups.
    let base = unsafe { pg_sys::getBaseType(type_oid) };
    u32::from(base) < roles::FIRST_OF_USERS
        // SAFETY: as above.
        || roles::cast_owners(base).into_iter().all(|owner| unsafe { pg_sys::superuser_arg(owner) })
}

fn every_owner(table: pg_sys::Oid, trusted: impl Fn(pg_sys::Oid) -> bool) -> bool {
    match roles::owner_and_children(table) {
        None => false,
        Some((owner, false)) => trusted(owner),
        Some((_, true)) => roles::inheritors(table)
            .into_iter()
            .all(|child| roles::owner_and_children(child).is_some_and(|(owner, _)| trusted(owner))),
    }
}
