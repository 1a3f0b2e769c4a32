//! The tables that a search for names reads, opened.

use crate::catalog::attached_table::{AttachedTable, OpenNames};
use crate::catalog::word_tables;
use crate::catalog::word_tables::WordTable;
use crate::error::Fallible;
use crate::guc::Match;
use cftrag_core::Seek;
use pgrx::pg_sys;

/// The tables that a call reads: edges, names of their entities, and classes of words.
pub struct Tables {
    pub edges: AttachedTable,
    pub aliases: Vec<AttachedTable>,
    pub labels: Option<AttachedTable>,
    pub words: Vec<WordTable>,
}

impl Tables {
    /// Opens the tables. The first arguments and the errors are those of [`AttachedTable::of`]; 42501 also for the other tables.
    pub fn open(function: pg_sys::Oid, edges: Option<pg_sys::Oid>, matching: Match) -> Fallible<Self> {
        let edges = AttachedTable::of(function, edges)?;
        let OpenNames { aliases, labels } = edges.open_names()?;
        let words = match matching {
            Match::Exact => Vec::new(),
            _ => word_tables::open(edges.oid(), edges.functions)?,
        };
        Ok(Self { edges, aliases, labels, words })
    }

    /// Whether texts name entities by their own names: with labels, several names may belong to one entity, as with aliases.
    pub fn are_found_by_name(&self) -> bool {
        self.edges.columns.are_found_by_name(&self.edges.registration.names) && self.labels.is_none()
    }

    /// The tables that have names, and what is looked for in each. Seek::Labelled finds nothing in an image without labels.
    pub fn sources(&self) -> Vec<(&AttachedTable, Seek)> {
        let seek = if self.are_found_by_name() { Seek::Entities } else { Seek::Labelled };
        let aliases = self.aliases.iter().map(|of| (of, Seek::Aliased));
        let labels = self.labels.iter().map(|of| (of, Seek::Labelled));
        std::iter::once((&self.edges, seek)).chain(aliases).chain(labels).collect() // bounded: attached tables
    }
}
