//! The entities whose summaries this transaction has marked as due itself, by other rules than 2
//! (sql/install/methods/summaries.sql): it leaves a mark on each for those after it (rule 6).
//!
//! They are in local memory until the transaction ends; ROLLBACK TO forgets its part. An entity is kept as a hash: one
//! taken for another only gets a mark more.

use pgrx::pg_sys::{Oid, SubTransactionId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// Of a transaction that marks more, every entity counts as marked.
const MOST: usize = 1000;

thread_local! {
    static MARKED: RefCell<Option<Marked>> = const { RefCell::new(None) };
}

#[derive(Default)]
struct Marked {
    hasher: RandomState,
    /// The subtransaction that marked an entity first.
    entities: HashMap<u64, SubTransactionId>,
    /// The subtransaction in which they became too many.
    all: Option<SubTransactionId>,
}

/// Notes that this subtransaction has marked these entities in that table.
pub fn note<'e>(summaries: Oid, entities: impl Iterator<Item = &'e [u8]>, subtransaction: SubTransactionId) {
    MARKED.with_borrow_mut(|marked| {
        let marked = marked.get_or_insert_default();
        for entity in entities {
            let hash = marked.hasher.hash_one((u32::from(summaries), entity));
            if marked.all.is_some() || marked.entities.contains_key(&hash) {
                continue;
            }
            if marked.entities.len() == MOST {
                marked.all = Some(subtransaction);
            } else {
                marked.entities.insert(hash, subtransaction);
            }
        }
    });
}

/// Whether this transaction has marked the entity.
pub fn has(summaries: Oid, entity: &[u8]) -> bool {
    MARKED.with_borrow(|marked| {
        marked.as_ref().is_some_and(|marked| {
            let hash = marked.hasher.hash_one((u32::from(summaries), entity));
            marked.all.is_some() || marked.entities.contains_key(&hash)
        })
    })
}

/// The subtransaction's marks are gone. Allocates nothing, as the next.
pub fn abort(mine: SubTransactionId) {
    MARKED.with_borrow_mut(|marked| {
        if let Some(marked) = marked {
            marked.entities.retain(|_, subtransaction| *subtransaction != mine);
            marked.all = marked.all.filter(|subtransaction| *subtransaction != mine);
        }
    });
}

/// The subtransaction's marks are its parent's now.
pub fn commit(mine: SubTransactionId, parent: SubTransactionId) {
    MARKED.with_borrow_mut(|marked| {
        if let Some(marked) = marked {
            let all = marked.entities.values_mut().chain(&mut marked.all);
            all.filter(|subtransaction| **subtransaction == mine).for_each(|subtransaction| *subtransaction = parent);
        }
    });
}

/// The transaction has ended.
pub fn forget() {
    MARKED.set(None);
}
