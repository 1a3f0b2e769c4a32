//! The answer as text for a prompt: a sentence for each question, tree and relation.
//!
//! ```text
//!   The upward hierarchical relationships of X are: A, B, C.
//!   In the tree T, the downward hierarchical relationship of X is: D.
//! ```
//!
//! The words are ASCII, so they are right in every encoding that a server can have.

use crate::answer::Relation;

/// What a sentence is about: the relatives of one entity in one relation and one tree.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Whose relatives they are.
    pub entity: &'a [u8],
    /// The tree's name, if the answer about the entity has several trees.
    pub tree: Option<Option<&'a [u8]>>,
    /// On which side they stand.
    pub relation: Relation,
}

/// Writes a sentence about the relatives of those names, at least one, in that order.
///
/// A name may have a comma in it: then semicolons stand between them.
pub fn write_sentence<'a>(
    out: &mut Vec<u8>,
    subject: Subject<'_>,
    names: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
) {
    match subject.tree {
        None => out.extend_from_slice(b"The "),
        Some(None) => out.extend_from_slice(b"In the tree without a name, the "),
        Some(Some(tree)) => {
            out.extend_from_slice(b"In the tree ");
            out.extend_from_slice(tree);
            out.extend_from_slice(b", the ");
        }
    }
    let count = names.len();
    out.extend_from_slice(match (subject.relation, count) {
        (Relation::Ancestor, 1) => &b"upward hierarchical relationship of "[..],
        (Relation::Ancestor, _) => b"upward hierarchical relationships of ",
        (Relation::Descendant, 1) => b"downward hierarchical relationship of ",
        (Relation::Descendant, _) => b"downward hierarchical relationships of ",
    });
    out.extend_from_slice(subject.entity);
    out.extend_from_slice(if count == 1 { b" is: " } else { b" are: " });
    let from = out.len();
    write_names(out, names.clone(), *b", ");
    // All at once: most names have none, and to look at each would cost more.
    if count > 1 && commas(&out[from..]) > count {
        out.truncate(from);
        write_names(out, names, *b"; ");
    }
    out.pop();
    if let Some(last) = out.last_mut() {
        *last = b'.';
    }
}

/// Each followed by `between`.
fn write_names<'a>(out: &mut Vec<u8>, names: impl Iterator<Item = &'a [u8]>, between: [u8; 2]) {
    for name in names {
        out.extend_from_slice(name);
        out.extend_from_slice(&between);
    }
}

fn commas(bytes: &[u8]) -> usize {
    // Sums of bytes, which the compiler adds up sixteen at a time.
    let few = |bytes: &[u8]| bytes.iter().map(|&byte| u8::from(byte == b',')).sum::<u8>();
    bytes.chunks(255).map(|bytes| usize::from(few(bytes))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(subject: Subject<'_>, names: &[&str]) -> String {
        let mut out = b"Before. ".to_vec();
        write_sentence(&mut out, subject, names.iter().map(|name| name.as_bytes()));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn one_and_several_relatives_and_trees() {
        let up = Subject { entity: b"X, y", tree: None, relation: Relation::Ancestor };
        assert_eq!(
            sentence(up, &["a, b"]),
            "Before. The upward hierarchical relationship of X, y is: a, b."
        );
        assert_eq!(
            sentence(Subject { tree: Some(None), ..up }, &["a", ""]),
            "Before. In the tree without a name, the upward hierarchical relationships of X, y are: a, ."
        );
        let down = Subject { tree: Some(Some(b"t,")), relation: Relation::Descendant, ..up };
        assert_eq!(
            sentence(down, &["a"]),
            "Before. In the tree t,, the downward hierarchical relationship of X, y is: a."
        );
    }

    #[test]
    fn semicolons_stand_between_names_if_one_has_a_comma() {
        let down = Subject { entity: b"X", tree: None, relation: Relation::Descendant };
        let plain: Vec<String> = (0..700).map(|i| format!("name {i}")).collect();
        for comma in (0..=700).step_by(7).chain([699]) {
            let mut names: Vec<&str> = plain.iter().map(String::as_str).collect();
            if comma < 700 {
                names[comma] = "na,me";
            }
            let between = if comma < 700 { "; " } else { ", " };
            let expected = format!(
                "Before. The downward hierarchical relationships of X are: {}.",
                names.join(between)
            );
            assert_eq!(sentence(down, &names), expected);
        }
    }
}
