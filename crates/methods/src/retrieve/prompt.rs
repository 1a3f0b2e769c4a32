//! The text of a prompt.

use crate::retrieve::budget::Source;

const INSTRUCTION: &[u8] =
    b"Answer the question from the context below. If the context does not hold the answer, say so.";

/// The parts of a prompt, each with its rows, one on a line.
#[derive(Default)]
pub struct Parts {
    pub documents: Vec<u8>,
    pub chunks: Vec<u8>,
    pub hierarchy: Vec<u8>,
}

impl Parts {
    /// Adds a row.
    pub fn add(&mut self, source: Source, text: &[u8]) {
        let part = match source {
            Source::Hierarchy => &mut self.hierarchy,
            Source::Document => &mut self.documents,
            Source::Chunk => &mut self.chunks,
        };
        if !part.is_empty() {
            part.push(b'\n');
        }
        part.extend_from_slice(text);
    }

    /// The prompt, in pieces. `left_out`: what is said of what does not fit; may be empty.
    pub fn pieces<'p>(&'p self, left_out: &'p [u8], question: &'p [u8]) -> Vec<&'p [u8]> {
        let mut all = vec![INSTRUCTION];
        let has_documents = !self.documents.is_empty() || !self.chunks.is_empty();
        if has_documents {
            all.push(b"\n\nDocuments:\n");
            all.push(&self.documents);
            if !self.documents.is_empty() && !self.chunks.is_empty() {
                all.push(b"\n");
            }
            all.push(&self.chunks);
        }
        if !self.hierarchy.is_empty() {
            all.extend([&b"\n\nHierarchy:\n"[..], &self.hierarchy]);
        }
        if !left_out.is_empty() {
            all.extend([&b"\n\n"[..], left_out]);
        }
        all.extend([&b"\n\nQuestion: "[..], question]);
        all
    }
}

/// A name, or nothing if the text begins with it, whatever the case of ASCII letters.
#[must_use]
pub fn unless_first<'p>(name: &'p [u8], text: &[u8]) -> &'p [u8] {
    let is_first = text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    if is_first { b"" } else { name }
}

/// What is said of so many documents and sentences that do not fit, one at least.
#[must_use]
pub fn left_out([documents, sentences]: [usize; 2], budget: i32) -> String {
    let count = |count: usize, one: &str| {
        (count > 0).then(|| format!("{count} more {one}{}", if count == 1 { "" } else { "s" }))
    };
    let all: Vec<String> = [count(documents, "document"), count(sentences, "sentence")]
        .into_iter()
        .flatten()
        .collect();
    let are = if documents + sentences == 1 { "does" } else { "do" };
    format!("({} {are} not fit {budget} tokens.)", all.join(" and "))
}

/// A document as a prompt shows it, in pieces: "[1] Handbook > Leave (updated: 2026-01-31): the text". `path` and
/// `columns` may be empty.
#[must_use]
pub fn document<'p>(
    number: &'p [u8],
    path: &'p [u8],
    columns: &'p [u8],
    text: &'p [u8],
) -> Vec<&'p [u8]> {
    let mut all = vec![&b"["[..], number, b"] ", path];
    if !columns.is_empty() {
        all.extend([if path.is_empty() { &b"("[..] } else { b" (" }, columns, b")"]);
    }
    if !path.is_empty() || !columns.is_empty() {
        all.push(b": ");
    }
    all.push(text);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(rows: &[(Source, &str)]) -> String {
        let mut parts = Parts::default();
        rows.iter().for_each(|(source, text)| parts.add(*source, text.as_bytes()));
        let all = parts.pieces(b"", b"Why?").concat();
        String::from_utf8(all).unwrap().split_once("say so.").unwrap().1.into()
    }

    #[test]
    fn documents_and_chunks_are_one_list() {
        let rows =
            [(Source::Document, "One."), (Source::Hierarchy, "A is B."), (Source::Chunk, "Two.")];
        let expected = "\n\nDocuments:\nOne.\nTwo.\n\nHierarchy:\nA is B.\n\nQuestion: Why?";
        assert_eq!(prompt(&rows), expected);
        assert_eq!(prompt(&[]), "\n\nQuestion: Why?");
        assert_eq!(prompt(&rows[2..]), "\n\nDocuments:\nTwo.\n\nQuestion: Why?");
    }
}
