//! What cft_retrieve is asked.

use crate::call::text::Text;
use crate::error;
use crate::error::Fallible;
use crate::guc::Match;
use crate::retrieve::documents::Wanted;
use crate::retrieve::expand::Expand;
use crate::retrieve::hierarchy;
use crate::serve::asked::Reach;
use pgrx::pg_sys;

/// By what the documents and the entities of a question are found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The nearest documents; the entities that the question mentions.
    Cft,
    /// The documents by reciprocal rank fusion of the nearest, those with its words, and those about its entities;
    /// first those that have more of the question's words than any of its mentions.
    Hybrid,
    /// Baselines of the papers (docs/methods.md).
    Text,
    Naive,
    AnnTree,
    AnnGraph,
}

impl Mode {
    /// The mode of that name. 22023 if there is none.
    pub fn of(name: &[u8]) -> Fallible<Self> {
        Ok(match name {
            b"cft" => Self::Cft,
            b"hybrid" => Self::Hybrid,
            b"text" => Self::Text,
            b"naive" => Self::Naive,
            b"ann_tree" => Self::AnnTree,
            b"ann_graph" => Self::AnnGraph,
            _ => return Err(error::no_such_mode(name)),
        })
    }

    pub fn reads_names(self) -> bool {
        matches!(self, Self::Cft | Self::Hybrid | Self::Naive)
    }
}

/// The arguments of cft_retrieve.
#[derive(Clone, Copy)]
pub struct Request<'c> {
    pub function: pg_sys::Oid,
    pub question: Option<Text<'c>>,
    pub wanted: Wanted<'c>,
    pub k: i32,
    pub chunks: Option<i32>,
    pub up: i32,
    pub down: i32,
    /// None: hybrid, where the documents are attached for search by words and can be searched, else cft.
    pub mode: Option<Mode>,
    pub documents: Option<pg_sys::Oid>,
    pub matching: Match,
    pub narrow: bool,
    /// What is read beside the documents.
    pub expand: Option<Expand>,
}

impl<'c> Request<'c> {
    /// 22023 if a number is negative.
    pub fn check(&self) -> Fallible<()> {
        let Self { k, up, down, chunks, .. } = *self;
        let all = [
            ("k", Some(k)),
            ("up", Some(up)),
            ("down", Some(down)),
            ("budget", self.wanted.budget),
            ("chunks", chunks),
        ];
        let negative = all
            .into_iter()
            .find_map(|(argument, value)| value.filter(|value| *value < 0).map(|value| (argument, value)));
        negative.map_or(Ok(()), |(argument, value)| Err(error::negative(argument, value)))
    }

    pub fn mode(&self) -> Mode {
        self.mode.unwrap_or(Mode::Cft)
    }

    pub fn reach(&self) -> Reach<'c> {
        Reach { trees: self.wanted.trees, ..Reach::levels(self.up, self.down) }
    }

    pub fn of_hierarchy(&self) -> hierarchy::Scope<'c> {
        hierarchy::Scope { function: self.function, edges: self.wanted.edges, reach: self.reach() }
    }
}
