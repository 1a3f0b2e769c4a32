//! What fits a budget of tokens: the sources take turns, each with its next row. What does not fit whole is shortened
//! rather than left out.

/// Where a row comes from, in the order of turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    Document,
    Hierarchy,
    Chunk,
}

/// A row.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    pub source: Source,
    /// When it is its turn, among the rows of its source; rows of one turn are in the order of sources.
    pub turn: u32,
    pub tokens: usize,
    /// Those of them that cannot be shortened.
    pub head: usize,
}

/// Tokens that a shortened document has behind its head, at least.
const LEAST: usize = 16;

/// The tokens of a text, about: one for four bytes, of which a letter of English has one and a character of Chinese
/// three. docs/quality.md has what tokenizers say.
#[must_use]
pub fn tokens(text: &[u8]) -> usize {
    text.len().div_ceil(4)
}

/// How many tokens each row may have; None: it is left out. A row of the hierarchy that does not fit is shortened to
/// half of what is left: `cut` does so, to at most so many tokens, and returns how many it has now, or None if it
/// cannot. So is the first document. Other documents that do not fit whole share what the others leave, if that is not
/// too little to read.
pub fn taken(
    items: &[Item],
    budget: usize,
    mut cut: impl FnMut(usize, usize) -> Option<usize>,
) -> Vec<Option<usize>> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&n| (items[n].turn, items[n].source));
    // Whatever comes first: a document, if one fits.
    let is_document = |n: &usize| items[*n].source != Source::Hierarchy;
    let fits = |n: &usize| items[*n].tokens.min(items[*n].head + LEAST) <= budget;
    if let Some(first) = order.iter().position(|n| is_document(n) && fits(n)) {
        order[..=first].rotate_right(1);
    }
    let (mut left, mut taken, mut has_document) = (budget, vec![None; items.len()], false);
    for &n in &order {
        let Item { source, tokens, head, .. } = items[n];
        let least = head + LEAST;
        taken[n] = match source {
            _ if tokens <= left => Some(tokens),
            Source::Hierarchy => cut(n, left / 2),
            _ if has_document => None,
            _ => Some(left.min((left / 2).max(least))).filter(|room| *room >= least),
        };
        left -= taken[n].unwrap_or_default();
        has_document |= taken[n].is_some() && source != Source::Hierarchy;
    }
    // What is left: half of it for each that has nothing, then all for those that have not all.
    for share in [2, 1] {
        for &n in order.iter().filter(|n| is_document(n)) {
            let has = taken[n].unwrap_or_default();
            let room = items[n].tokens.min(has + left / share);
            let is_wanted = if share == 2 { has == 0 } else { room > has };
            if is_wanted && room >= items[n].head + LEAST {
                taken[n] = Some(room);
                left -= room - has;
            }
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn items(all: &[(Source, u32, usize)]) -> Vec<Item> {
        all.iter().map(|&(source, turn, tokens)| Item { source, turn, tokens, head: 0 }).collect()
    }

    #[test]
    fn sources_take_turns_and_documents_are_first() {
        use Source::{Chunk, Document, Hierarchy};
        let all = items(&[
            (Document, 1, 20),
            (Document, 2, 20),
            (Hierarchy, 1, 20),
            (Hierarchy, 2, 20),
            (Chunk, 1, 20),
        ]);
        let some = |taken: [usize; 5]| {
            taken.map(|tokens| Some(tokens).filter(|tokens| *tokens > 0)).to_vec()
        };
        assert_eq!(taken(&all, 60, |_, _| None), some([20, 0, 20, 0, 20]));
        assert_eq!(taken(&all, 20, |_, _| None), some([20, 0, 0, 0, 0]));
        assert_eq!(taken(&all, 19, |_, _| None), some([19, 0, 0, 0, 0]));
        assert_eq!(taken(&all, 15, |_, _| None), some([0; 5]));
        // What the others leave is for the next document.
        assert_eq!(taken(&all, 76, |_, _| None), some([20, 16, 20, 0, 20]));
        // One document is there, if one fits.
        assert_eq!(
            taken(
                &items(&[(Document, 1, 90), (Hierarchy, 1, 11), (Document, 2, 5)]),
                12,
                |_, _| None
            ),
            [None, None, Some(5)]
        );
        // A long sentence is cut to half of what is left, and so is the first document, which gets what the others
        // leave.
        let all = items(&[(Document, 1, 200), (Hierarchy, 1, 100)]);
        let cut = |n, room| (n == 1 && room == 25).then_some(24);
        assert_eq!(taken(&all, 100, cut), [Some(76), Some(24)]);
        let all = [Item { source: Document, turn: 1, tokens: 200, head: 40 }];
        assert_eq!([55, 56].map(|budget| taken(&all, budget, |_, _| None)[0]), [None, Some(56)]);
    }

    proptest! {
        #[test]
        fn a_budget_is_kept(sizes in prop::collection::vec((0_u32..3, 0_usize..50), 0..30), budget in 0_usize..200) {
            let source = |n| [Source::Document, Source::Hierarchy, Source::Chunk][n as usize];
            let all: Vec<_> = sizes.iter().zip(1..).map(|(&(n, tokens), turn)| Item { source: source(n), turn, tokens, head: 0 }).collect();
            let taken = taken(&all, budget, |_, room| Some(room / 2).filter(|room| *room > 5));
            prop_assert!(taken.iter().flatten().sum::<usize>() <= budget);
            prop_assert!(taken.iter().zip(&all).all(|(taken, item)| taken.is_none_or(|taken| taken <= item.tokens)));
            // Of documents one is there, if one can be.
            let is_document = |(item, _): &(&Item, &Option<usize>)| item.source != Source::Hierarchy;
            let mut documents = all.iter().zip(&taken).filter(is_document);
            if documents.clone().any(|(item, _)| item.tokens.min(LEAST) <= budget) {
                prop_assert!(documents.any(|(_, taken)| taken.is_some()));
            }
        }
    }
}
