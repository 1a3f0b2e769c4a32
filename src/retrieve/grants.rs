//! Who may see an entity, by grants on it and on what is above it (cft_allowed).
//!
//! An entity with rows in the table of grants has an *entry*, which allows if some of its rows are about one of the
//! roles and none of these refuses. The law says what follows from the entries of the entity and of all above it, in
//! any tree:
//!
//! ```text
//!  union          one of them allows
//!  intersection   none of them refuses (also if there are none)
//!  nearest        there are some, and all those at the least depth allow
//! ```
//!
//! For the first entities we walk up, and read the entries of what is there; if there are more, all entries. By the law
//! of union an entity is allowed at and below those whose entries allow, and by that of the nearest there only: if
//! there are more entities, the roles' own entries are read, and all below them is found. By the law of intersection it
//! is refused at and below those whose entries refuse: once all entries are read, all below these is found. All is read
//! with the caller's rights, under the snapshot of the query.

use crate::call::array;
use crate::call::array::Texts;
use crate::call::work_memory::Room;
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::grants_table::GrantsTable;
use crate::error::Fallible;
use crate::methods::below::Below;
use crate::methods::breadth_first::named;
use crate::methods::walker::{ALL, Walker};
use crate::retrieve::found::Found;
use crate::serve::plans::{Planning, Value};
use cftrag_core::Names;
use pgrx::pg_sys;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Entities that we walk up from, before we find all that is below the roles' own entries.
const WALKS: u32 = 8;

/// With more roles than this each statement is planned for them: then they are hashed.
const FEW_ROLES: usize = 8;

/// Grants that are read for an estimate, at two microseconds each.
const ESTIMATED: i64 = 1000;

thread_local! {
    /// While the planner asks: whether there are more grants than were read.
    static ESTIMATING: Cell<Option<bool>> = const { Cell::new(None) };
}

/// Statements that read some entries before one reads all: one for so many rows of the table, within limits. Each takes
/// as long as reading these.
const ROWS: f32 = 200.0;
const LEAST: f32 = 2.0;
const MOST: f32 = 64.0;

/// Bytes of a name in a table of ours, besides its letters.
const EACH: usize = 96;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Law {
    Union,
    Intersection,
    Nearest,
}

impl Law {
    pub fn of(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"union" => Self::Union,
            b"intersection" => Self::Intersection,
            b"nearest" => Self::Nearest,
            _ => return None,
        })
    }
}

/// What is asked: by which grants, in which trees, and whose roles.
pub struct Claim<'a> {
    pub grants: &'a GrantsTable,
    pub edges: &'a dyn Fn() -> Fallible<AttachedTable>,
    pub trees: Option<Texts<'a>>,
    pub roles: &'a [&'a [u8]],
}

/// What a query has found out.
pub struct Rights {
    law: Law,
    /// Whether more entities are asked for, by the same query.
    keeps: bool,
    walks: u32,
    /// At and below where entries allow; by the law of intersection, where they refuse. None: not found yet.
    decided: Option<Below>,
    entries: Entries,
    /// Whether entities are allowed.
    known: Said<bool>,
}

impl Rights {
    pub fn new(law: Law, keeps: bool) -> Self {
        Self { law, keeps, walks: 0, decided: None, entries: Entries::default(), known: Said::default() }
    }

    /// Whether an entity is allowed, if that was found out before.
    pub fn known(&self, name: &[u8]) -> Option<bool> {
        let known = self.known.of(name);
        let is_below = || self.decided.as_ref().and_then(|decided| decided.known(name));
        known.or_else(|| match self.law {
            Law::Union => is_below(),
            Law::Intersection => is_below().map(|refused| !refused),
            Law::Nearest => None,
        })
    }

    /// Whether an entity is allowed. 53400, 53200; the errors of a SELECT of the grants and of the edges.
    pub fn judge(&mut self, asked: Claim<'_>, name: &[u8]) -> Fallible<bool> {
        if self.law != Law::Union {
            asked.grants.require_all_rows()?;
        }
        self.walks += 1;
        let is_time = if self.law == Law::Intersection { self.entries.has_all } else { self.walks > WALKS };
        if is_time && self.decided.is_none() {
            let tops = match self.law {
                Law::Intersection => Rc::new(self.entries.that_say(false)?),
                _ => granted(asked.grants, asked.roles, None)?,
            };
            self.decided = Some(Below::of(tops, self.keeps));
        }
        if let Some(decided) = &mut self.decided {
            let is_below = decided.has((asked.edges)()?, asked.trees, name)?;
            match self.law {
                Law::Union => return Ok(is_below),
                Law::Intersection => return Ok(!is_below),
                Law::Nearest if !is_below => return Ok(false),
                Law::Nearest => {}
            }
        }
        let above = above(&Walker { of: (asked.edges)()?, trees: asked.trees }, name)?;
        self.entries.read(asked.grants, asked.roles, &above.names)?;
        let mut entries = above.all().filter_map(|(name, depth)| Some((depth, self.entries.of(name)?)));
        let allows = match self.law {
            Law::Union => entries.any(|(_, allows)| allows),
            Law::Intersection => entries.all(|(_, allows)| allows),
            // Of those at the least depth one that refuses comes first.
            Law::Nearest => entries.min().is_some_and(|(_, allows)| allows),
        };
        self.known.say(name, allows)?;
        Ok(allows)
    }
}

/// What is said of names. Of a million names it is freed at once, as a table of their copies is not.
#[derive(Default)]
struct Said<T> {
    names: Names,
    values: Vec<T>,
    room: Room,
}

impl<T: Copy> Said<T> {
    fn of(&self, name: &[u8]) -> Option<T> {
        self.names.known(name).map(|id| self.values[id.number()])
    }

    /// 53400, 53200.
    fn say(&mut self, name: &[u8], value: T) -> Fallible<()> {
        let id = named(&mut self.names, name, &mut self.room)?;
        match self.values.get_mut(id.number()) {
            Some(said) => *said = value,
            None => self.values.push(value),
        }
        Ok(())
    }

    fn all(&self) -> impl Iterator<Item = (&[u8], T)> {
        self.names.ids().map(|id| (self.names.get(id), self.values[id.number()]))
    }
}

/// Whether entities' entries allow.
#[derive(Default)]
struct Entries {
    /// None: it has no entry.
    known: Said<Option<bool>>,
    statements: u16,
    has_all: bool,
}

impl Entries {
    fn of(&self, name: &[u8]) -> Option<bool> {
        self.known.of(name).flatten()
    }

    /// The entities whose entries say so.
    fn that_say(&self, allows: bool) -> Fallible<Names> {
        let those = self.known.all().filter(|(_, entry)| *entry == Some(allows));
        array::copied(those.map(|(name, _)| name), &mut Room::new())
    }

    /// Reads the entries of these names, as far as they are not known.
    fn read(&mut self, grants: &GrantsTable, roles: &[&[u8]], names: &Names) -> Fallible<()> {
        if self.has_all {
            return Ok(());
        }
        let names = names.ids().map(|id| names.get(id));
        let missing: Vec<&[u8]> = names.filter(|name| !self.known.names.contains(name)).collect(); // bounded: what was counted
        if missing.is_empty() {
            return Ok(());
        }
        if f32::from(self.statements) >= (grants.rows() / ROWS).clamp(LEAST, MOST) {
            self.has_all = true;
            return self.read_where(grants, roles, "true", &[], Planning::Auto).map(|_| ());
        }
        self.statements += 1;
        for name in &missing {
            self.known.say(name, None)?;
        }
        let entity = grants.entity();
        let missing = (entity.of.array_oid(), Some(entity.of.array(missing.iter().copied())));
        let size = grants.table.size_class();
        let planning = if roles.len() > FEW_ROLES { Planning::Custom } else { Planning::Generic(size) };
        self.read_where(grants, roles, &entity.is_one_of(2), &[missing], planning).map(|_| ())
    }

    /// Reads the entries of which a condition holds; `values` are its parameters, from the second on. Returns how many
    /// rows they have.
    fn read_where(
        &mut self,
        grants: &GrantsTable,
        roles: &[&[u8]],
        which: &str,
        values: &[Value],
        planning: Planning,
    ) -> Fallible<i64> {
        grants.require_refusals()?;
        let role = grants.role();
        // A row that does not say whether it allows decides nothing for its role.
        let sql = format!(
            "SELECT z.name, coalesce(bool_and(z.allows) FILTER (WHERE z.is_ours), false)::int4, count(*) \
               FROM (SELECT {name} COLLATE pg_catalog.\"C\" AS name, {allows} AS allows, {is_ours} AS is_ours FROM {from} AS r WHERE {which}) AS z \
              GROUP BY z.name",
            name = grants.name(),
            allows = grants.allows(),
            is_ours = role.is_one_of(1),
            from = grants.table.qualified(),
        );
        let roles = (role.of.array_oid(), Some(role.of.array(roles.iter().copied())));
        let mut found = Found::of(&[pg_sys::TEXTOID, pg_sys::INT4OID, pg_sys::INT8OID]);
        found.run(&sql, planning, &[&[roles], values].concat());
        let (entries, mut rows) = (&mut self.known, 0);
        found.each(|row| {
            rows += row.long(2).unwrap_or_default();
            row.text(0).map_or(Ok(()), |name| entries.say(name, Some(row.int(1) == Some(1))))
        })?;
        Ok(rows)
    }
}

/// The entities whose entries allow these roles; of so many rows, if `most` is given. 53400, 53200; the errors of a
/// SELECT of the grants.
fn granted(grants: &GrantsTable, roles: &[&[u8]], most: Option<i64>) -> Fallible<Rc<Names>> {
    let read = || {
        let mut own = Entries::default();
        let limit = most.map_or_else(String::new, |most| format!(" LIMIT {most}"));
        let which = grants.role().is_one_of(1) + &limit;
        // Roles may have few grants or most of them.
        let rows = own.read_where(grants, roles, &which, &[], Planning::Custom)?;
        Ok((own.that_say(true)?, most.is_none_or(|most| rows < most)))
    };
    let (names, is_all) = grants.granted_to(roles, most.is_some(), read)?;
    if !is_all {
        ESTIMATING.set(Some(true));
    }
    Ok(names)
}

/// The entities whose entries allow these roles; while the planner asks ([`estimating`]), of [`ESTIMATED`] rows. Errors:
/// those of a SELECT of the grants; 53400, 53200.
pub fn granted_or_some(grants: &GrantsTable, roles: &[&[u8]]) -> Fallible<Rc<Names>> {
    granted(grants, roles, ESTIMATING.get().map(|_| ESTIMATED))
}

/// Runs `f`, in which some of the grants will do. Returns whether there are more.
pub fn estimating<R>(f: impl FnOnce() -> R) -> (R, bool) {
    struct Before(Option<bool>);
    impl Drop for Before {
        fn drop(&mut self) {
            ESTIMATING.set(self.0);
        }
    }
    let _before = Before(ESTIMATING.replace(Some(false)));
    let done = f();
    (done, ESTIMATING.get() == Some(true))
}

/// An entity and all above it, each with its least depth: by walks of all levels, and further walks from where these
/// end.
fn above(walker: &Walker, name: &[u8]) -> Fallible<Said<i64>> {
    let mut room = Room::new();
    let mut found = Said::default();
    found.say(name, 0)?;
    // In which trees the walks ended at which names.
    let mut ends: BTreeSet<(Vec<u8>, Option<Vec<u8>>)> = BTreeSet::new();
    let mut from = vec![name.to_vec()]; // bounded: an argument
    let mut base = 0;
    while !from.is_empty() {
        let (mut next, is_first) = (BTreeSet::new(), base == 0); // bounded: counted
        let names: Vec<&[u8]> = from.iter().map(Vec::as_slice).collect(); // bounded: what was counted
        walker.relatives(&names, ALL, 0, |rows| {
            for row in rows {
                let tree = row.tree.map(<[u8]>::to_vec); // bounded: a name
                let end = (row.entity.to_vec(), tree); // bounded: names
                if !is_first && !ends.contains(&end) {
                    continue;
                }
                let depth = base + i64::from(row.depth);
                if found.of(row.name).is_none_or(|known| depth < known) {
                    found.say(row.name, depth)?;
                }
                if row.depth == ALL {
                    room.take(EACH + row.name.len())?;
                    next.insert((row.name.to_vec(), end.1)); // bounded: counted
                }
            }
            Ok(())
        })?;
        next.retain(|end| !ends.contains(end));
        let mut names: Vec<Vec<u8>> = next.iter().map(|(name, _)| name.clone()).collect(); // bounded: what was counted
        names.dedup();
        from = names;
        ends.extend(next);
        base += i64::from(ALL);
    }
    Ok(found)
}
