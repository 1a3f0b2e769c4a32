//! Generated forests of any size, reproducible from a seed: an entity occurs in two trees on average, general entities near the roots.
//!
//! Every tree has `tree_size` nodes; the parent of node i is node i / fan (each tree has its own fan, 2 to 12). The entities are divided into
//! `tree_size` equal runs, and node i of every tree is drawn from run i: an entity occurs at most once in a tree, and low numbers are near
//! the roots in all trees. So hot entities (Zipf by number) have many relatives, as general concepts do.

use std::io::Write;
use std::path::Path;

use postgres::{Client, Error};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    Tree,
    /// Nodes with several parents in one tree: an entity can be reached in several ways, at several depths.
    Dag,
    /// A DAG with cycles added.
    Cyclic,
}

/// A loaded table `edges_<name>(tree, parent, child)`.
pub struct Forest {
    pub name: &'static str,
    pub edges: u64,
    pub shape: Shape,
    source: Source,
}

enum Source {
    Made(Size),
    /// All names, those with the most children first.
    Read(Vec<String>),
}

impl Forest {
    pub fn entities(&self) -> u64 {
        match &self.source {
            Source::Made(size) => size.entities,
            Source::Read(names) => names.len() as u64,
        }
    }

    /// The name of entity i; low numbers are the general ones.
    pub fn entity(&self, i: u64) -> String {
        match &self.source {
            Source::Made(_) => entity(i),
            Source::Read(names) => names[i as usize].clone(),
        }
    }

    /// Whether `load` generated it, so that texts can be made of its words.
    pub fn is_made(&self) -> bool {
        matches!(self.source, Source::Made(_))
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub name: &'static str,
    pub trees: u64,
    pub entities: u64,
    pub tree_size: u64,
}

pub const SMALL: Size = Size { name: "small", trees: 600, entities: 3_000, tree_size: 10 };
/// Used for recognition only.
pub const TEN_THOUSAND: Size = Size { name: "10k", trees: 200, entities: 10_000, tree_size: 100 };
pub const MEDIUM: Size = Size { name: "medium", trees: 200, entities: 100_000, tree_size: 1_000 };
pub const LARGE: Size = Size { name: "large", trees: 1_000, entities: 1_000_000, tree_size: 2_000 };
pub const HUGE: Size = Size { name: "huge", trees: 2_000, entities: 10_000_000, tree_size: 10_000 };

const FANS: [u64; 6] = [2, 3, 4, 6, 8, 12];

/// SplitMix64 (Steele, Lea, Flood 2014), used as a hash.
pub fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(1);
        mix(self.0) % n
    }

    fn unit(&mut self) -> f64 {
        self.below(1 << 53) as f64 / (1u64 << 53) as f64
    }

    /// A random number below n, low ones more often: Zipf's law with exponent 1, by inverting its continuous form.
    pub fn zipf(&mut self, n: u64) -> u64 {
        ((((n + 1) as f64).ln() * self.unit()).exp() - 1.0) as u64
    }
}

/// Appends the word for n: a few syllables, different for every n.
pub fn word(mut n: u64, out: &mut String) {
    const ONSETS: [&str; 16] = ["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "tr", "st"];
    const VOWELS: [&str; 8] = ["a", "e", "i", "o", "u", "ai", "ou", "ei"];
    loop {
        *out += ONSETS[(n % 16) as usize];
        *out += VOWELS[(n / 16 % 8) as usize];
        n /= 128;
        if n == 0 {
            return;
        }
        n -= 1;
    }
}

/// The name of entity i: two or three words, the last of which no other entity has as its last.
pub fn entity(i: u64) -> String {
    let mut name = String::new();
    for k in 0..1 + mix(i) % 2 {
        word(mix(i * 2 + k) % 20_000, &mut name);
        name.push(' ');
    }
    word(i, &mut name);
    name
}

fn empty_table(client: &mut Client, name: &str) -> Result<String, Error> {
    let table = format!("edges_{name}");
    client.batch_execute(&format!(
        "DROP TABLE IF EXISTS {table} CASCADE; CREATE TABLE {table} (tree text, parent text, child text)"
    ))?;
    Ok(table)
}

/// Creates `edges_<size>(tree, parent, child)` and fills it.
pub fn load(client: &mut Client, size: Size, seed: u64) -> Result<Forest, Error> {
    let table = empty_table(client, size.name)?;
    let mut to = client.copy_in(&format!("COPY {table} FROM STDIN"))?;
    let run = size.entities / size.tree_size;
    let mut edges = 0;
    for tree in 0..size.trees {
        let node = |i: u64| entity(i * run + mix(seed ^ mix(tree << 32 | i)) % run);
        let fan = FANS[(mix(seed ^ tree) % 6) as usize];
        for i in 1..size.tree_size {
            // If a write fails, so does `finish`, which reports it.
            let _ = writeln!(to, "tree {tree}\t{}\t{}", node(i / fan), node(i));
            edges += 1;
        }
    }
    to.finish()?;
    Ok(Forest { name: size.name, edges, shape: Shape::Tree, source: Source::Made(size) })
}

/// Loads a real hierarchy: a tab-separated file with a header line, parent and child in `columns`. None if the file cannot be read.
pub fn read(
    client: &mut Client,
    file: &Path,
    name: &'static str,
    columns: (usize, usize),
    shape: Shape,
) -> Result<Option<Forest>, Error> {
    let Ok(told) = std::fs::read_to_string(file) else { return Ok(None) };
    let table = empty_table(client, name)?;
    let mut to = client.copy_in(&format!("COPY {table} FROM STDIN"))?;
    let mut seen = std::collections::HashSet::new();
    for line in told.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let (parent, child) = (fields.get(columns.0), fields.get(columns.1));
        if let (Some(parent), Some(child)) = (parent, child)
            && parent != child
            && seen.insert((*parent, *child))
        {
            let _ = writeln!(to, "{name}\t{}\t{}", parent.replace('\\', "\\\\"), child.replace('\\', "\\\\"));
        }
    }
    to.finish()?;
    let names = client.query(
        &format!(
            "SELECT name FROM (SELECT parent AS name FROM {table} UNION ALL SELECT parent FROM {table} UNION ALL SELECT child FROM {table}) AS n
              GROUP BY name ORDER BY count(*) DESC, name COLLATE \"C\""
        ),
        &[],
    )?;
    let names = names.iter().map(|row| row.get(0)).collect();
    Ok(Some(Forest { name, edges: seen.len() as u64, shape, source: Source::Read(names) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_stay_the_same() {
        let names: std::collections::HashSet<_> = (0..200_000).map(entity).collect();
        assert_eq!(names.len(), 200_000);
        assert_eq!(entity(7), entity(7));
    }

    #[test]
    fn zipf_prefers_the_low_and_stays_below() {
        let mut random = Random(1);
        let drawn: Vec<u64> = (0..10_000).map(|_| random.zipf(1_000_000)).collect();
        assert!(drawn.iter().all(|n| *n < 1_000_000));
        let low = drawn.iter().filter(|n| **n < 1_000).count();
        assert!((4_500..5_500).contains(&low), "{low} of 10,000 are below 1,000: Zipf predicts half");
    }
}
