//! The tables, and the oracle, which makes each summary from scratch from committed data.
//!
//! Two worlds: entities in several trees whose leaves have no summaries, and entities in one tree whose leaves have them.
//! A summary is the MD5 of its inputs, so a difference in one entity is a difference in all entities above it.

use std::collections::{BTreeMap, BTreeSet};

use md5::{Digest, Md5};
use postgres::{Client, IsolationLevel};

use crate::run::Failure;

/// Few enough for sessions to collide.
pub const NAMES: u32 = 12;

pub struct World {
    pub edges: &'static str,
    pub documents: &'static str,
    pub summaries: &'static str,
    pub trees: bool,
    pub leaves: bool,
}

pub const WORLDS: [World; 2] = [
    World { edges: "wood", documents: "leaflet", summaries: "gist", trees: true, leaves: false },
    World { edges: "alley", documents: "note", summaries: "brief", trees: false, leaves: true },
];

/// The summarising function: returns the MD5 of its inputs.
const TELL: &str =
    "CREATE FUNCTION tell(entity text, sources text[], inputs text[]) RETURNS text LANGUAGE sql IMMUTABLE AS
    $$ SELECT md5(entity || '|' || array_to_string(sources, ',') || '|' || array_to_string(inputs, ',')) $$";

/// Recreates the schema "summaries".
pub fn set_up(client: &mut Client) -> Result<(), Failure> {
    client.batch_execute(&format!(
        "SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS cftrag SCHEMA public CASCADE;
         DROP SCHEMA IF EXISTS summaries CASCADE; CREATE SCHEMA summaries; SET search_path = summaries, public; {TELL}"
    ))?;
    for World { edges, documents, summaries, trees, leaves } in &WORLDS {
        let tree = if *trees { ", tree => 'tree'" } else { "" };
        client.batch_execute(&format!(
            "CREATE TABLE {edges} (tree text, parent text, child text); SELECT cft_attach('{edges}'{tree});
             CREATE TABLE {documents} (id int PRIMARY KEY, body text, embedding vector(2), entity text, note int);
             SELECT cft_attach_documents('{documents}', entity => 'entity');
             CREATE TABLE {summaries} (entity text, summary text); CREATE INDEX ON {summaries} (entity);
             SELECT cft_attach_summaries('{summaries}', edges => '{edges}', documents => '{documents}', leaves => {leaves})"
        ))?;
        client.batch_execute(&format!("SELECT cft_build('{edges}')"))?;
    }
    Ok(())
}

/// The committed data, read in one snapshot.
struct Committed {
    /// The children of each parent, over all trees.
    children: BTreeMap<String, BTreeSet<String>>,
    entities: BTreeSet<String>,
    texts: BTreeMap<String, String>,
    summaries: BTreeMap<String, Vec<String>>,
    marks: BTreeMap<String, u32>,
}

impl Committed {
    fn read(client: &mut Client, world: &World) -> Result<Committed, Failure> {
        let mut transaction =
            client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true).start()?;
        let mut seen = Committed {
            children: BTreeMap::new(),
            entities: BTreeSet::new(),
            texts: BTreeMap::new(),
            summaries: BTreeMap::new(),
            marks: BTreeMap::new(),
        };
        let (edges, documents, summaries) = (world.edges, world.documents, world.summaries);
        let query = format!("SELECT parent, child FROM {edges} WHERE parent <> child");
        for row in transaction.query(&query, &[])? {
            let (parent, child): (String, String) = (row.get(0), row.get(1));
            seen.entities.extend([parent.clone(), child.clone()]);
            seen.children.entry(parent).or_default().insert(child);
        }
        let query = format!(
            "SELECT entity, string_agg(body, E'\\n' ORDER BY id::text COLLATE \"C\", body COLLATE \"C\")
               FROM {documents} WHERE entity IS NOT NULL AND body IS NOT NULL GROUP BY 1"
        );
        for row in transaction.query(&query, &[])? {
            seen.texts.insert(row.get(0), row.get(1));
        }
        for row in transaction.query(&format!("SELECT entity, summary FROM {summaries}"), &[])? {
            let (entity, summary): (String, Option<String>) = (row.get(0), row.get(1));
            match summary {
                Some(summary) => seen.summaries.entry(entity).or_default().push(summary),
                None => *seen.marks.entry(entity).or_default() += 1,
            }
        }
        transaction.rollback()?;
        Ok(seen)
    }

    fn below(&self, name: &str) -> BTreeSet<String> {
        let mut reached = BTreeSet::new();
        let mut next = vec![name.to_string()];
        while let Some(name) = next.pop() {
            for child in self.children.get(&name).into_iter().flatten() {
                if reached.insert(child.clone()) {
                    next.push(child.clone());
                }
            }
        }
        reached
    }

    fn has_summary(&self, name: &str, leaves: bool) -> bool {
        leaves || self.children.contains_key(name)
    }

    /// Computes a summary by recursion, which ends since children that are also above the entity are left out.
    fn made(&self, name: &str, leaves: bool, known: &mut BTreeMap<String, String>) -> String {
        if let Some(summary) = known.get(name) {
            return summary.clone();
        }
        let (mut sources, mut inputs) = (Vec::new(), Vec::new());
        if let Some(text) = self.texts.get(name) {
            sources.push(name.to_string());
            inputs.push(text.clone());
        }
        let mut children: Vec<&String> = self.children.get(name).into_iter().flatten().collect();
        children.retain(|child| !self.below(child).contains(name));
        children.sort_by_key(|child| child[1..].parse::<u32>().expect("a name is n and a number"));
        for child in children {
            sources.push(child.clone());
            inputs.push(if self.has_summary(child, leaves) {
                self.made(child, leaves, known)
            } else {
                self.texts.get(child).unwrap_or(child).clone()
            });
        }
        let told = format!("{name}|{}|{}", sources.join(","), inputs.join(","));
        let summary: String = Md5::digest(told.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        known.insert(name.to_string(), summary.clone());
        summary
    }
}

/// The result of a check of a world's summaries.
pub struct Looked {
    pub stale: u64,
    pub marks: usize,
}

/// Checks that every summary that differs from a recomputation is marked, or an entity below it; with `finished`, that none differs and
/// no mark remains.
pub fn check(client: &mut Client, world: &World, finished: bool) -> Result<Looked, Failure> {
    let seen = Committed::read(client, world)?;
    let mut known = BTreeMap::new();
    let mut stale = 0;
    for name in seen.entities.iter().filter(|name| seen.has_summary(name, world.leaves)) {
        let made = seen.made(name, world.leaves, &mut known);
        let there = seen.summaries.get(name).map(Vec::as_slice).unwrap_or_default();
        if there == [made] {
            continue;
        }
        stale += 1;
        let due = seen.marks.contains_key(name) || seen.below(name).iter().any(|below| seen.marks.contains_key(below));
        if finished || !due {
            let unseen = if finished { "after all work" } else { "and nothing of it is due" };
            return Err(Failure::different(format!(
                "{}: the summary of {name} is stale, {unseen}: {there:?}\nedges {:?}\nmarks {:?}",
                world.summaries, seen.children, seen.marks
            )));
        }
    }
    if finished && !seen.marks.is_empty() {
        return Err(Failure::different(format!("{}: marks after all work: {:?}", world.summaries, seen.marks)));
    }
    Ok(Looked { stale, marks: seen.marks.len() })
}
