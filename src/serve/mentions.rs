//! The names found in a text, in images of the edges table and of its tables of names (search.rs), or by the reference
//! query.
//!
//! A caller sees a name if it sees a row that has it. Workspaces are kept between calls.

use crate::call::fmgr::Rows;
use crate::call::tuple::{Row, varlena_header};
use crate::call::work_memory::{Room, list};
use crate::error::Fallible;
use crate::guc;
use crate::image::counters;
use crate::image::reason::Reason;
use crate::serve::asked::Question;
use crate::serve::labels::Labels;
use crate::serve::search::{Images, Workspace, search};
use crate::serve::tables::Tables;
use crate::serve::tiers::Each;
use crate::serve::walk::End;
use crate::serve::{reference, tiers};
use cftrag_core::{Mention, Method};
use std::cell::RefCell;

/// Workspaces kept.
const KEEP_FOUND: usize = 4;

/// Boxed, so that moving one copies a pointer.
pub type Workspaces = Vec<Box<Mentions>>;

thread_local! {
    static FOUND: RefCell<Workspaces> = const { RefCell::new(Vec::new()) };
}

/// The names found in a text, in order, and the workspace they were found in.
#[derive(Default)]
pub struct Mentions {
    workspace: Workspace,
    /// The labels of the mentions' entities, in the same order.
    pub labels: Labels,
    /// The mentions' texts and labels as PostgreSQL values, one after the other; `spelled` and `labelled` have where
    /// each begins.
    values: Vec<u32>,
    spelled: Vec<usize>,
    labelled: Vec<Option<usize>>,
}

/// Takes a workspace out of the kept ones. An ERROR frees it.
pub fn workspace() -> Box<Mentions> {
    FOUND.with_borrow_mut(Vec::pop).unwrap_or_default()
}

/// Keeps a workspace for the next call, unless it grew large or enough are kept.
pub fn give_back(mut found: Box<Mentions>) {
    found.labels = Labels::default();
    found.workspace.free_large();
    if found.workspace.is_small() {
        FOUND.with_borrow_mut(|all| {
            if all.len() < KEEP_FOUND {
                all.push(found);
            }
        });
    }
}

impl Tables {
    /// Finds the names in the text. Returns false if the definition is to do it. Errors: 53400, 53200 (memory).
    pub fn find(&self, question: &Question, found: &mut Mentions) -> Fallible<bool> {
        let Some(reason) = self.search(question, &Images::Shared, found)? else { return Ok(true) };
        counters::count(self.edges.oid(), reason);
        // Images are off, or the caller may not read all columns, or characters are not Unicode's.
        if !guc::ENABLE.get() || [Reason::Privilege, Reason::Encoding].contains(&reason) {
            return Ok(false);
        }
        Ok(self.search(question, &Images::Private(RefCell::default()), found)?.is_none())
    }

    /// Finds the names in the text by the images in shared memory; false if they cannot serve.
    pub fn find_shared(&self, question: &Question, found: &mut Mentions) -> Fallible<bool> {
        Ok(self.search(question, &Images::Shared, found)?.is_none())
    }

    /// Finds the names in the text by these images; the reason why they cannot serve.
    fn search(&self, question: &Question, images: &Images, found: &mut Mentions) -> Fallible<Option<Reason>> {
        match search(self, question, images, &mut found.workspace) {
            Ok(()) => {}
            Err(End::Unusable(reason)) => return Ok(Some(reason)),
            Err(End::Error(error)) => return Err(error),
        }
        if self.edges.columns.has_labels() || self.labels.is_some() {
            let Workspace { recognisers, mentions, .. } = &found.workspace;
            let entity = |(n, mention): &Each| recognisers[*n].name(mention.entity);
            let mut entities = list(mentions.len(), &mut Room::new())?;
            entities.extend(mentions.iter().map(entity));
            found.labels = Labels::of(&self.edges, &entities)?;
        }
        Ok(None)
    }

    /// Answers by the reference query.
    pub fn by_reference(&self, question: &Question, rows: Rows) {
        reference::entities(self, question, rows);
    }
}

impl Mentions {
    /// How many mentions there are.
    pub fn len(&self) -> usize {
        self.workspace.mentions.len()
    }

    /// Makes PostgreSQL values of the labels, and of the mentions' texts if `wanted`.
    pub fn spell(&mut self, text: &[u8], wanted: bool) -> Fallible<()> {
        let Self { workspace: Workspace { mentions, .. }, labels, values, spelled, labelled } = self;
        values.clear();
        spelled.clear();
        labelled.clear();
        let label = |n: usize| labels.get(n).map_or(0, |label| label.len() + 8);
        let spelling = |mention: &Mention| if wanted { mention.to - mention.from + 8 } else { 0 };
        let each = |(n, (_, mention)): (usize, &Each)| label(n) + spelling(mention) + 2 * size_of::<usize>();
        let bytes: usize = if wanted || !labels.is_empty() { mentions.iter().enumerate().map(each).sum() } else { 0 };
        Room::new().take(2 * bytes)?;
        if wanted {
            spelled.extend(mentions.iter().map(|(_, mention)| add_value(values, &text[mention.from..mention.to])));
        }
        if !labels.is_empty() {
            labelled.extend((0..mentions.len()).map(|n| labels.get(n).map(|label| add_value(values, label))));
        }
        Ok(())
    }

    /// The rule by which a mention was found.
    pub fn method(&self, n: usize) -> Method {
        self.workspace.mentions[n].1.method
    }

    /// A mention, its entity, and the alias by which it was found.
    pub fn texts(&self, n: usize) -> (&Mention, &[u8], Option<&[u8]>) {
        let (recogniser, mention) = &self.workspace.mentions[n];
        let name = |name| self.workspace.recognisers[*recogniser].name(name);
        (mention, name(mention.entity), mention.alias.map(name))
    }

    /// A mention, and pointers to its text values: entity, mention (if [`Mentions::spell`] made it), alias, label.
    pub fn get(&self, n: usize) -> (&Mention, [Option<*const u8>; 4]) {
        let (recogniser, mention) = &self.workspace.mentions[n];
        let name = |name| self.workspace.recognisers[*recogniser].name_with_prefix(name).as_ptr();
        let value = |at: usize| self.values[at..].as_ptr().cast();
        let (spelled, labelled) = (self.spelled.get(n), self.labelled.get(n).copied().flatten());
        let spelled = spelled.map(|&at| value(at));
        (mention, [Some(name(mention.entity)), spelled, mention.alias.map(name), labelled.map(value)])
    }
}

/// Adds a text as a PostgreSQL value; where it begins.
fn add_value(values: &mut Vec<u32>, bytes: &[u8]) -> usize {
    let at = values.len();
    values.push(u32::from_ne_bytes(varlena_header(bytes.len())));
    let (words, rest) = bytes.as_chunks();
    values.extend(words.iter().map(|word| u32::from_ne_bytes(*word)));
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    values.push(u32::from_ne_bytes(last));
    at
}

/// Makes the row of cft_entities for mention `n`.
pub fn form(found: &Mentions, n: usize, text: &[u8], row: &mut Row<8>) {
    let (recogniser, mention) = &found.workspace.mentions[n];
    let recogniser = &found.workspace.recognisers[*recogniser];
    row.prefixed(recogniser.name_with_prefix(mention.entity));
    row.text(&text[mention.from..mention.to]);
    row.int(mention.start as i32 + 1);
    row.int(mention.length as i32);
    match mention.alias {
        Some(alias) => row.prefixed(recogniser.name_with_prefix(alias)),
        None => row.null(),
    }
    row.any(found.labels.get(n));
    row.prefixed(tiers::method_with_prefix(mention.method));
    row.real(mention.method.score());
}
