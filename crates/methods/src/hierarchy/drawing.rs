//! Writes a picture (picture.rs) as text, Mermaid, DOT or JSON.
//!
//! A label that several entities of the picture have stands with the id behind it, except in JSON, which has the ids
//! anyway.

use super::escape::{Escape, of_dot, of_dot_key, of_json, of_mermaid, of_mermaid_key, of_text};
use super::picture::{Line, Node, Picture, What};
use cftrag_core::Interruptible;
use std::collections::{HashMap, HashSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Mermaid,
    Dot,
    Json,
}

impl Format {
    /// The format of that name.
    #[must_use]
    pub fn of(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"text" => Self::Text,
            b"mermaid" => Self::Mermaid,
            b"dot" => Self::Dot,
            b"json" => Self::Json,
            _ => return None,
        })
    }

    /// The names of the formats.
    pub const NAMES: [&str; 4] = ["text", "mermaid", "dot", "json"];
}

/// What draws a text: a line above goes on, ends, has another below it, has none.
const STROKES: [&str; 4] = ["│   ", "    ", "├── ", "└── "];

/// For encodings that have no such characters.
const ASCII_STROKES: [&str; 4] = ["|   ", "    ", "|-- ", "`-- "];

/// Receives the bytes of a drawing; its error ends the work.
pub type Out<'o, E> = &'o mut dyn FnMut(&[u8]) -> Result<(), E>;

struct Drawing<'p, 'o, E> {
    picture: &'p Picture<'p>,
    lines: Vec<Line>,
    /// Whether each node has the label of another entity.
    is_alike: Vec<bool>,
    is_utf8: bool,
    out: Out<'o, E>,
}

impl Picture<'_> {
    /// Writes the picture. `is_utf8`: whether names are UTF-8. Errors: those of `out`.
    pub fn write<E>(
        &self,
        format: Format,
        is_utf8: bool,
        work: &mut Interruptible<'_>,
        out: Out<'_, E>,
    ) -> Result<(), E> {
        let is_alike = if format == Format::Json { Vec::new() } else { self.alike(work) };
        let mut drawing =
            Drawing { picture: self, lines: self.lines(work), is_alike, is_utf8, out };
        match format {
            Format::Text => drawing.text(),
            Format::Mermaid => drawing.mermaid(),
            Format::Dot => drawing.dot(),
            Format::Json => drawing.json(),
        }
    }

    /// For each node whether its name alone may mean another entity.
    fn alike(&self, work: &mut Interruptible<'_>) -> Vec<bool> {
        // A table that grows is copied, which cannot be interrupted.
        let mut whose: HashMap<&[u8], Option<&[u8]>> = HashMap::with_capacity(self.nodes.len());
        for node in &self.nodes {
            work.step();
            let known = whose.entry(node.called()).or_insert(Some(node.id));
            *known = known.filter(|id| *id == node.id);
        }
        let is_shared = |node: &Node<'_>| {
            work.step();
            whose[node.called()].is_none()
        };
        let mut alike: Vec<bool> = self.nodes.iter().map(is_shared).collect();
        let of_alike = self.nodes.iter().zip(&alike).filter(|(_, is_alike)| **is_alike);
        // A label may read as that of another with its id.
        let with_ids: HashSet<Vec<u8>> = of_alike.map(|(node, _)| with_id(node)).collect();
        for (node, is_alike) in self.nodes.iter().zip(&mut alike) {
            work.step();
            *is_alike |= with_ids.contains(node.called());
        }
        alike
    }
}

fn with_id(node: &Node<'_>) -> Vec<u8> {
    [node.called(), b" (", node.id, b")"].concat()
}

impl<E> Drawing<'_, '_, E> {
    fn put(&mut self, text: &str) -> Result<(), E> {
        (self.out)(text.as_bytes())
    }

    /// Writes a name, escaped.
    fn name(&mut self, name: &[u8], escape: Escape) -> Result<(), E> {
        let (mut written, mut at) = (0, 0);
        while at < name.len() {
            let Some((bytes, shown)) = escape(&name[at..], &name[..at], self.is_utf8) else {
                at += 1;
                continue;
            };
            (self.out)(&name[written..at])?;
            self.put(&shown)?;
            at += bytes;
            written = at;
        }
        (self.out)(&name[written..])
    }

    /// Writes what a node is called.
    fn called(&mut self, n: usize, escape: Escape) -> Result<(), E> {
        let node = &self.picture.nodes[n];
        let name: &[u8] = if self.is_alike[n] { &with_id(node) } else { node.called() };
        self.name(name, escape)
    }

    fn text(&mut self) -> Result<(), E> {
        let strokes = if self.is_utf8 { STROKES } else { ASCII_STROKES };
        let (mut is_last, mut tree) = (Vec::new(), None);
        for at in 0..self.lines.len() {
            let line = self.lines[at];
            if at > 0 {
                self.put("\n")?;
            }
            let node = &self.picture.nodes[line.node];
            if self.picture.trees.len() > 1 && tree != Some(node.tree) {
                tree = Some(node.tree);
                match self.picture.trees[node.tree] {
                    None => self.put("In the tree without a name:\n")?,
                    Some(name) => {
                        self.put("In the tree ")?;
                        self.name(name, of_text)?;
                        self.put(":\n")?;
                    }
                }
            }
            is_last.truncate(line.depth);
            for ends in is_last.iter().skip(1) {
                self.put(strokes[usize::from(*ends)])?;
            }
            if line.depth > 0 {
                self.put(strokes[2 + usize::from(line.is_last)])?;
            }
            is_last.push(line.is_last);
            if line.what == What::More {
                self.put(&format!("... and {} more", node.more))?;
                continue;
            }
            self.called(line.node, of_text)?;
            self.put(&marks(node, line.what))?;
        }
        match self.picture.more_trees {
            0 => Ok(()),
            more => self.put(&format!("\n{}", trees_left_out(more))),
        }
    }

    fn mermaid(&mut self) -> Result<(), E> {
        self.put("flowchart TD")?;
        self.graph("\n    ", |of, n, more| {
            of.key(n)?;
            of.put("[\"")?;
            if of.picture.nodes[n].called().is_empty() {
                // No text is a syntax error.
                of.put(" ")?;
            }
            of.called(n, of_mermaid)?;
            of.left_out(more, "<br/>")?;
            of.put(if of.picture.nodes[n].is_here() { "\"]:::here" } else { "\"]" })
        })?;
        self.edges(|of, from, to, tree| {
            of.put("\n    ")?;
            of.key(from)?;
            of.put(" -->")?;
            if let Some(tree) = tree.filter(|tree| !tree.is_empty()) {
                of.put("|\"")?;
                of.name(tree, of_mermaid)?;
                of.put("\"|")?;
            }
            of.put(" ")?;
            of.key(to)
        })?;
        if self.picture.more_trees > 0 {
            self.put(&format!("\n    more[\"{}\"]", trees_left_out(self.picture.more_trees)))?;
        }
        self.put("\n    classDef here stroke-width:4px")
    }

    /// The id of a node in Mermaid. It begins with `n`, since words such as `end` are none.
    fn key(&mut self, n: usize) -> Result<(), E> {
        self.put("n")?;
        self.name(self.picture.nodes[n].id, of_mermaid_key)
    }

    fn dot(&mut self) -> Result<(), E> {
        self.put("digraph {\n    node [shape=box];")?;
        self.graph("\n    ", |of, n, more| {
            of.quoted(of.picture.nodes[n].id, of_dot_key)?;
            of.put(" [label=\"")?;
            of.called(n, of_dot)?;
            of.left_out(more, "\\n")?;
            of.put(if of.picture.nodes[n].is_here() { "\", style=bold];" } else { "\"];" })
        })?;
        self.edges(|of, from, to, tree| {
            of.put("\n    ")?;
            of.quoted(of.picture.nodes[from].id, of_dot_key)?;
            of.put(" -> ")?;
            of.quoted(of.picture.nodes[to].id, of_dot_key)?;
            if let Some(tree) = tree {
                of.put(" [label=")?;
                of.quoted(tree, of_dot)?;
                of.put("]")?;
            }
            of.put(";")
        })?;
        if self.picture.more_trees > 0 {
            self.put(&format!("\n    label=\"{}\";", trees_left_out(self.picture.more_trees)))?;
        }
        self.put("\n}")
    }

    fn quoted(&mut self, name: &[u8], escape: Escape) -> Result<(), E> {
        self.put("\"")?;
        self.name(name, escape)?;
        self.put("\"")
    }

    /// Writes each entity once: its first node, and how many children and parents are left out in all trees.
    fn graph(
        &mut self,
        before: &str,
        mut write: impl FnMut(&mut Self, usize, (usize, usize)) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut left_out: HashMap<&[u8], (usize, usize)> =
            HashMap::with_capacity(self.picture.nodes.len());
        for node in &self.picture.nodes {
            // Looks for interrupts.
            (self.out)(b"")?;
            let (more, more_above) = left_out.entry(node.id).or_default();
            (*more, *more_above) = (*more + node.more, *more_above + node.more_above);
        }
        for at in 0..self.lines.len() {
            let Line { what, node, .. } = self.lines[at];
            if what == What::Node
                && let Some(more) = left_out.remove(self.picture.nodes[node].id)
            {
                self.put(before)?;
                write(self, node, more)?;
            }
        }
        Ok(())
    }

    fn left_out(&mut self, (more, more_above): (usize, usize), before: &str) -> Result<(), E> {
        if more > 0 {
            self.put(&format!("{before}... and {more} more"))?;
        }
        if more_above > 0 {
            self.put(&format!("{before}... and {more_above} more above"))?;
        }
        Ok(())
    }

    /// Passes on each edge, with its tree if the picture has several: each line but a top is one.
    fn edges(
        &mut self,
        mut write: impl FnMut(&mut Self, usize, usize, Option<&[u8]>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut above, several) = (Vec::new(), self.picture.trees.len() > 1);
        for at in 0..self.lines.len() {
            let Line { what, node, depth, .. } = self.lines[at];
            above.truncate(depth);
            if let (Some(&parent), What::Node | What::Again) = (above.last(), what) {
                let tree = self.picture.trees[self.picture.nodes[node].tree];
                write(self, parent, node, tree.filter(|_| several))?;
            }
            above.push(node);
        }
        Ok(())
    }

    fn json(&mut self) -> Result<(), E> {
        let here = &self.picture.nodes[0];
        self.put("{\"entity\": ")?;
        self.quoted(here.id, of_json)?;
        if let Some(label) = here.label {
            self.put(", \"label\": ")?;
            self.quoted(label, of_json)?;
        }
        self.put(", \"trees\": [")?;
        // How many lists of children are open, and whether the last thing in them is an entity.
        let (mut open, mut is_behind, mut tree) = (0, false, None);
        for at in 0..self.lines.len() {
            let line = self.lines[at];
            let node = &self.picture.nodes[line.node];
            if line.what == What::More {
                continue;
            }
            while open > line.depth {
                self.put("]}")?;
                (open, is_behind) = (open - 1, true);
            }
            if tree != Some(node.tree) {
                self.put(if tree.is_none() { "{\"tree\": " } else { "]}, {\"tree\": " })?;
                match self.picture.trees[node.tree] {
                    Some(name) => self.quoted(name, of_json)?,
                    None => self.put("null")?,
                }
                self.put(", \"tops\": [")?;
                tree = Some(node.tree);
            } else if is_behind {
                self.put(", ")?;
            }
            is_behind = !self.object(node, line.what)?;
            open += usize::from(!is_behind);
        }
        for _ in 0..=open {
            self.put("]}")?;
        }
        match self.picture.more_trees {
            0 => self.put("]}"),
            more => self.put(&format!("], \"more\": {more}}}")),
        }
    }

    /// Writes an entity; whether its children are to follow.
    fn object(&mut self, node: &Node<'_>, what: What) -> Result<bool, E> {
        self.put("{\"entity\": ")?;
        self.quoted(node.id, of_json)?;
        if let Some(label) = node.label {
            self.put(", \"label\": ")?;
            self.quoted(label, of_json)?;
        }
        if node.is_here() {
            self.put(", \"here\": true")?;
        }
        if what == What::Again {
            self.put(", \"above\": true}")?;
            return Ok(false);
        }
        if node.more > 0 {
            self.put(&format!(", \"more\": {}", node.more))?;
        }
        if node.more_above > 0 {
            self.put(&format!(", \"more_above\": {}", node.more_above))?;
        }
        self.put(", \"children\": [")?;
        Ok(true)
    }
}

fn trees_left_out(more: usize) -> String {
    format!("... and {more} more tree{}", if more == 1 { "" } else { "s" })
}

/// What stands behind a node's name in a text.
fn marks(node: &Node<'_>, what: What) -> String {
    let mut marks = String::new();
    if node.is_here() {
        marks.push_str(" (here)");
    }
    if what == What::Again {
        marks.push_str(" (above)");
        return marks;
    }
    if node.more > 0 && node.children.is_empty() {
        marks.push_str(&format!(" ({} more)", node.more));
    }
    if node.more_above > 0 {
        marks.push_str(&format!(" ({} more above)", node.more_above));
    }
    marks
}
