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
    /// Opens the tables. The first arguments and the errors are those of [`AttachedTable::of`]; 42501 also for the
    /// other tables.
    pub fn open(function: pg_sys::Oid, edges: Option<pg_sys::Oid>, matching: Match) -> Fallible<Self> {
        let edges = AttachedTable::of(function, edges)?;
        let OpenNames { aliases, labels } = edges.open_names()?;
        let words = match matching {
            Match::Exact => Vec::new(),
            _ => word_tables::open(edges.oid(), edges.functions)?,
        };
        Ok(Self { edges, aliases, labels, words })
    }

    /// Whether texts name entities by their own names: with labels, only if that was said.
    pub fn are_found_by_name(&self) -> bool {
        let names = &self.edges.registration.names;
        if self.has_labels() { names.ids } else { self.edges.columns.are_found_by_name(names) }
    }

    /// Whether texts name entities by labels.
    pub fn has_labels(&self) -> bool {
        self.edges.columns.has_labels() || self.labels.is_some()
    }

    /// The tables that have names, and what is looked for in each; the first one is the edges table. Seek::Labelled
    /// finds nothing in an image without labels.
    pub fn sources(&self) -> Vec<(&AttachedTable, Seek)> {
        let by_name = self.are_found_by_name().then_some((&self.edges, Seek::Entities));
        let by_label = self.edges.columns.has_labels() || by_name.is_none();
        let own = by_label.then_some((&self.edges, Seek::Labelled)).into_iter().chain(by_name);
        let aliases = self.aliases.iter().map(|of| (of, Seek::Aliased));
        let labels = self.labels.iter().map(|of| (of, Seek::Labelled));
        own.chain(aliases).chain(labels).collect() // bounded: attached tables
    }
}
