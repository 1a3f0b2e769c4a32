//! The contract of docs/design.md section 1, in the most naive form.

use std::collections::{BTreeMap, BTreeSet};

use cftrag_core::{MOST_WORDS, Relation, Words, fold, fold_name, spelling};

/// A name, printed in short form, because some names have thousands of bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub Vec<u8>);

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let n = self.0.len();
        write!(f, "{:?}", String::from_utf8_lossy(&self.0[..n.min(12)]))?;
        if n > 12 { write!(f, "...{n}") } else { Ok(()) }
    }
}

impl From<&[u8]> for Bytes {
    fn from(name: &[u8]) -> Bytes {
        Bytes(name.to_vec())
    }
}

impl std::ops::Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// A visible edge: tree, parent, child.
pub type Triple = (Option<Bytes>, Bytes, Bytes);

/// A row of the answer: tree, relation, depth, relative, via.
pub type Answer = (Option<Bytes>, Relation, u32, Bytes, Bytes);

/// `cft_context(entity, up, down)` over a set of edges, in the contract's order.
pub fn context(edges: &BTreeSet<Triple>, entity: &[u8], up: u32, down: u32) -> Vec<Answer> {
    let mut answer = Vec::new();
    for tree in edges.iter().map(|edge| &edge.0).collect::<BTreeSet<_>>() {
        for (relation, limit) in [(Relation::Ancestor, up), (Relation::Descendant, down)] {
            let mut depths = BTreeMap::from([(entity, 0)]);
            for depth in 1..=limit {
                let mut found = BTreeMap::new();
                for (_, parent, child) in edges.iter().filter(|edge| edge.0 == *tree) {
                    let (from, to) = match relation {
                        Relation::Ancestor => (child, parent),
                        Relation::Descendant => (parent, child),
                    };
                    if depths.get(&from[..]) == Some(&(depth - 1)) && !depths.contains_key(&to[..])
                    {
                        let via = found.entry(&to[..]).or_insert(&from[..]);
                        *via = (*via).min(&from[..]);
                    }
                }
                if found.is_empty() {
                    break;
                }
                for (relative, via) in found {
                    depths.insert(relative, depth);
                    answer.push((tree.clone(), relation, depth, relative.into(), via.into()));
                }
            }
        }
    }
    answer.sort();
    answer
}

/// `cft_roots()` over a set of edges.
pub fn roots(edges: &[Triple]) -> Vec<(Option<Bytes>, Bytes)> {
    // An edge from an entity to itself shows that the entity exists.
    let parents = edges.iter().map(|(tree, parent, _)| (tree.clone(), parent.clone()));
    let others = edges.iter().filter(|(_, parent, child)| parent != child);
    let children: BTreeSet<_> =
        others.map(|(tree, _, child)| (tree.clone(), child.clone())).collect();
    parents
        .filter(|parent| !children.contains(parent))
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

/// A mention: its first byte, the byte after its last, and the entity.
pub type Found = (usize, usize, Bytes);

/// `cft_entities(text)` for these entities: every window of words is compared with every name.
pub fn entities(entities: &BTreeSet<&Bytes>, text: &str, overlapping: bool) -> Vec<Found> {
    let mut words = Vec::new();
    for (at, word) in Words::of(text) {
        let mut folded = Vec::new();
        fold(word, &mut folded);
        if !folded.is_empty() {
            words.push((at, at + word.len(), folded));
        }
    }
    let named = |window: &[u8]| {
        let is = |name: &&Bytes| {
            let mut other = Vec::new();
            fold_name(name, &mut other) && other == window
        };
        entities.iter().copied().filter(is).cloned().collect::<Vec<Bytes>>()
    };
    let (mut found, mut first) = (Vec::new(), 0);
    while first < words.len() {
        let mut next = first + 1;
        for last in (first..words.len().min(first + MOST_WORDS)).rev() {
            let folded: Vec<&[u8]> = words[first..=last].iter().map(|word| &word.2[..]).collect();
            let (from, to) = (words[first].0, words[last].1);
            let names = named(&folded.join(&b' ')).into_iter();
            let spelled: Vec<_> = names
                .filter_map(|name| Some((spelling(&name, text, from..to, true)?, name)))
                .collect();
            let any = !spelled.is_empty();
            let best = spelled.iter().map(|(how, _)| *how).max();
            let best = spelled.into_iter().filter(|(how, _)| Some(*how) == best);
            found.extend(best.map(|(_, name)| (from, to, name)));
            if any && !overlapping {
                next = last + 1;
                break;
            }
        }
        first = next;
    }
    found
}

/// The answers to questions as sentences.
pub fn text(answers: &[(Bytes, Vec<Answer>)]) -> Bytes {
    let mut lines: Vec<Vec<u8>> = Vec::new();
    for (entity, rows) in answers {
        let several = rows.iter().any(|row| row.0 != rows[0].0);
        for said in rows.chunk_by(|a, b| (&a.0, a.1) == (&b.0, b.1)) {
            let the = match (&said[0].0, several) {
                (_, false) => b"The ".to_vec(),
                (None, _) => b"In the tree without a name, the ".to_vec(),
                (Some(tree), _) => [b"In the tree ", &tree.0[..], b", the "].concat(),
            };
            let side = if said[0].1 == Relation::Ancestor { "up" } else { "down" };
            let ward = format!("{side}ward hierarchical relationship");
            let (of, are) = if said.len() > 1 { ("s of ", " are: ") } else { (" of ", " is: ") };
            let names: Vec<&[u8]> = said.iter().map(|row| &row.3.0[..]).collect();
            let comma = names.iter().any(|name| name.contains(&b','));
            let names = names.join(if comma { &b"; "[..] } else { b", " });
            let parts =
                [&the[..], ward.as_bytes(), of.as_bytes(), &entity.0, are.as_bytes(), &names, b"."];
            lines.push(parts.concat());
        }
    }
    Bytes(lines.join(&b'\n'))
}
