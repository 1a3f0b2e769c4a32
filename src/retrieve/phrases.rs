//! The words of the hierarchy in a prompt: those of the user's table (cft_attach_phrases), tree by tree, else the
//! built-in ones (cftrag.wording).
//!
//! A table is read once a call, with the caller's rights, and only the rows of trees that the sentences are about.

use crate::call::fmgr::text_array_of;
use crate::call::format::{Format, MORE, PHRASE};
use crate::call::work_memory::{Bytes, Room};
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::column_sql::text_of;
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::name::display_name;
use crate::catalog::registered::Registered;
use crate::catalog::word_tables;
use crate::error;
use crate::error::Fallible;
use crate::guc::{WORDING, Wording};
use crate::retrieve::found::{Found, Row};
use crate::retrieve::place::in_one_line;
use crate::serve::plans::Planning;
use crate::serve::sentences::{list, write};
use cftrag_core::{Relation, Subject, Text};
use pgrx::pg_sys;
use std::collections::{BTreeSet, HashMap};

/// What the columns of a table of phrases are for, besides the tree: what is above and below one relative or any, above
/// and below several, and what says how many are not listed.
const ROLES: [&str; 5] = ["up", "down", "up_several", "down_several", "more"];
const SEVERAL: usize = 2;
const MORE_OF: usize = 4;

/// The built-in words: without a tree, in one, in the one without a name; above and below.
const SHORT: [[&str; 2]; 3] = [
    ["Above {entity}: {names}.", "Below {entity}: {names}."],
    ["In the tree {tree}, above {entity}: {names}.", "In the tree {tree}, below {entity}: {names}."],
    ["In the tree without a name, above {entity}: {names}.", "In the tree without a name, below {entity}: {names}."],
];
const AND_MORE: &str = "and {count} more";

/// The types of the rows of [`rows`].
const TYPES: [pg_sys::Oid; 1 + ROLES.len()] = [pg_sys::TEXTOID; 1 + ROLES.len()];
/// Bytes of a row in a table, besides its texts.
const EACH: usize = 256;

/// The formats of a row, by role; empty: the built-in words.
type Formats = [Vec<u8>; ROLES.len()];

/// The words of sentences about the entities of an edges table.
#[derive(Default)]
pub struct Phrases {
    /// The table that they are of, as a message shows it.
    table: String,
    trees: HashMap<Vec<u8>, Formats>,
    /// Of trees that have no row, and of edges without a tree.
    others: Formats,
}

/// What a sentence is about.
pub struct About<'a> {
    pub entity: &'a [u8],
    pub tree: Option<&'a [u8]>,
    /// Whether the built-in words name the tree.
    pub names_tree: bool,
    pub relation: Relation,
}

impl Phrases {
    /// The words of sentences in these trees. The errors of a SELECT of the table; 53400, 53200.
    pub fn of(edges: &AttachedTable, trees: &BTreeSet<&[u8]>) -> Fallible<Self> {
        let Some((table, said)) = word_tables::phrases(edges.oid(), edges.functions) else {
            return Ok(Self::default());
        };
        let mut all = Self { table: display_name(table.oid()), ..Self::default() };
        // Of several rows about one tree the first one by bytes.
        let sql = format!(
            "SELECT DISTINCT ON (z.tree) z.* FROM ({}) AS z WHERE z.tree IS NULL OR z.tree OPERATOR(pg_catalog.=) ANY \
                ($1) ORDER BY 1, 2, 3, 4, 5, 6",
            rows(&table, &said)
        );
        let trees = text_array_of(trees.iter().map(|tree| Some(*tree)));
        let mut found = Found::of(&TYPES);
        found.run(&sql, Planning::Auto, &[(pg_sys::TEXTARRAYOID, Some(trees))]);
        let mut room = Room::new();
        found.each(|row| {
            room.take(EACH)?;
            let mut formats = Formats::default();
            for (n, format) in (1..).zip(&mut formats) {
                *format = row.copy(n, &mut room)?.unwrap_or_default();
            }
            match row.copy(0, &mut room)? {
                Some(tree) => drop(all.trees.insert(tree, formats)), // bounded: `room` has it
                None => all.others = formats,
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// A sentence that lists relatives, and says how many more there are. Each is called something, and may begin
    /// another way.
    pub fn sentence<'n>(
        &self,
        about: &About<'_>,
        called: impl Iterator<Item = (&'n [u8], bool)> + Clone,
        more: usize,
    ) -> Fallible<Vec<u8>> {
        let several = called.clone().count() + more > 1;
        let formats = about.tree.and_then(|tree| self.trees.get(tree)).unwrap_or(&self.others);
        let own = |role: usize| Some(&formats[role][..]).filter(|format| !format.is_empty());
        let direction = usize::from(about.relation == Relation::Descendant);
        let in_tree = match about.tree {
            _ if !about.names_tree => 0,
            Some(_) => 1,
            None => 2,
        };
        let written = own(direction + SEVERAL).filter(|_| several).or_else(|| own(direction));
        let mut text = Bytes::default();
        let mut and_more = Bytes::default();
        if more > 0 {
            and_more.0.push(b' ');
            let format = own(MORE_OF).unwrap_or(AND_MORE.as_bytes());
            self.parse(format, &MORE)?.write(&[more.to_string().as_bytes()], &mut and_more)?;
        }
        if written.is_none() && WORDING.get() == Wording::Paper {
            let tree = about.names_tree.then(|| about.tree.map(Into::into));
            let subject = Subject { entity: about.entity.into(), tree, relation: about.relation };
            let mut paper = Text::default();
            // What ways part from is said once.
            let all = called.clone();
            let is_new = |(n, (name, begins)): &(usize, (&[u8], bool))| {
                !begins || all.clone().take(*n).all(|(one, _)| one != *name)
            };
            write(&mut paper, called.enumerate().filter(is_new).map(|(_, (name, _))| name), subject, several)?;
            let (end, before) = paper.as_bytes().split_last().unwrap_or((&b'.', b""));
            return Ok(in_one_line(&[before, &and_more.0, &[*end]].concat()));
        }
        let format = self.parse(written.unwrap_or(SHORT[in_tree][direction].as_bytes()), &PHRASE)?;
        let mut names = Bytes::default();
        // Only the built-in words are known to be English.
        let another = if written.is_some() { &b"; "[..] } else { b"; and " };
        list(called, another, &mut names)?;
        names.room(and_more.0.len())?;
        names.0.extend_from_slice(&and_more.0);
        format.write(&[about.entity, &names.0, about.tree.unwrap_or_default()], &mut text)?;
        // A prompt has its own lines, whatever names have.
        Ok(in_one_line(&text.0))
    }

    fn parse<'f>(&self, format: &'f [u8], placeholders: &[&str]) -> Fallible<Format<'f>> {
        Format::parse(format, placeholders).map_err(|error| error::in_phrases(error, &self.table))
    }
}

/// 22023 if a row of a table of phrases has what is no format.
pub fn check(table: &EdgesTable, said: &Registered) -> Fallible<()> {
    let all = Phrases { table: display_name(table.oid()), ..Phrases::default() };
    let mut found = Found::of(&TYPES);
    found.run(&rows(table, said), Planning::Auto, &[]);
    found.each(|row: &Row| {
        for (n, role) in (1..).zip(ROLES) {
            let placeholders = if role == ROLES[MORE_OF] { &MORE[..] } else { &PHRASE };
            all.parse(row.text(n).unwrap_or_default(), placeholders)?;
        }
        Ok(())
    })
}

/// The rows of a table of phrases, as SQL: the tree, and the formats in the order of their roles, as text; NULL where
/// there is no column.
fn rows(table: &EdgesTable, said: &Registered) -> String {
    let text = |role: &str| {
        let text = said.column(role).map_or("NULL::pg_catalog.text".into(), |column| text_of(table, column));
        format!("{text} COLLATE pg_catalog.\"C\"")
    };
    let all: Vec<String> = ROLES.into_iter().map(text).collect(); // bounded: the roles
    format!("SELECT {} AS tree, {} FROM {} AS r", text("tree"), all.join(", "), table.qualified())
}
