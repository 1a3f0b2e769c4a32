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

    /// The prompt, in pieces.
    pub fn pieces<'p>(&'p self, question: &'p [u8]) -> Vec<&'p [u8]> {
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
        all.extend([&b"\n\nQuestion: "[..], question]);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(rows: &[(Source, &str)]) -> String {
        let mut parts = Parts::default();
        rows.iter().for_each(|(source, text)| parts.add(*source, text.as_bytes()));
        let all = parts.pieces(b"Why?").concat();
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
