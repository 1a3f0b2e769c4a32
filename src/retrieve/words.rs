//! The search of documents by words: what text search compares of them, and a question as queries, its rare words before its frequent ones.
//!
//! How many documents have a word is what PostgreSQL's own statistics say (pg_stats, most_common_elems of a column of type tsvector; of an index's
//! expression its owner sees them): ANALYZE keeps them, and who may not read them, or has policies on the table, finds all words equally rare. Documents
//! are looked up by the rare words and ranked by the weights of all, ln(1 / frequency): the inverse document frequency (Sparck Jones: A statistical
//! interpretation of term specificity and its application in retrieval, 1972).

use crate::call::fmgr::{array_of_values, name_datum, text_array};
use crate::catalog::documents::Documents;
use crate::error;
use crate::error::Fallible;
use crate::pg::compat::plain;
use crate::pg::invalidation::Cached;
use crate::pg::{encoding, invalidation};
use crate::retrieve::documents::Wanted;
use crate::retrieve::found::Found;
use crate::retrieve::search::{By, How, Search};
use crate::serve::plans::Planning;
use pgrx::pg_sys;
use std::collections::HashMap;
use std::rc::Rc;

/// What is compared, as SQL; the OID of its configuration; and how frequent words are.
pub struct Compared {
    pub value: String,
    config: Option<pg_sys::Oid>,
    frequencies: HashMap<Vec<u8>, f64>,
    /// A word that is not among these is in fewer documents than this share of them; 1 if nothing is known.
    others: f64,
}

/// The words of a question, as a search takes them: values of type text, text[], float8[] and text.
#[derive(Clone, Copy)]
pub struct Words {
    /// Any of the rare ones, as a query.
    pub rare: pg_sys::Datum,
    /// Each, as a query, and its weight.
    pub each: pg_sys::Datum,
    pub weights: pg_sys::Datum,
    /// Any, as a query.
    pub any: pg_sys::Datum,
}

/// Words that are in more documents than this share of them, in all, only rank, unless there are no others.
const RARE: f64 = 0.1;
/// The rarest words of a question that count.
const MOST: usize = 64;

type Key = (pg_sys::Oid, String, pg_sys::Oid, bool);

thread_local! {
    static COMPARED: Cached<Key, Rc<Compared>> = const { Cached::new(16, invalidation::catalogs) };
}

impl Wanted {
    /// Finds the `k` documents whose words are the most of a question's, a text value, by rarity. Errors: 55000 (no column to search by words), 42804.
    pub fn with_words(&self, of: &Documents, k: i32, question: pg_sys::Datum, found: &mut Found) -> Fallible<()> {
        let compared = compared(of)?;
        let mut lexemes = Found::of(&[pg_sys::TEXTOID]);
        // The size of a tsvector is limited.
        let sql = "SELECT w.lexeme FROM pg_catalog.unnest(pg_catalog.to_tsvector(COALESCE($1, pg_catalog.get_current_ts_config()), pg_catalog.\"left\"($2, 100000))) AS w";
        let values =
            [(pg_sys::REGCONFIGOID, compared.config.map(pg_sys::Datum::from)), (pg_sys::TEXTOID, Some(question))];
        lexemes.run(sql, Planning::Auto, &values);
        let mut words: Vec<(f64, Vec<u8>)> = Vec::new(); // bounded: a tsvector
        lexemes.each(|row| {
            let lexeme = row.text(0).unwrap_or_default();
            words.push((compared.frequency(lexeme), lexeme.to_vec())); // bounded: a tsvector
            Ok(())
        })?;
        words.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
        if compared.others < 1.0 {
            words.truncate(MOST);
        }
        if words.is_empty() {
            return Ok(());
        }
        self.by_words(of, k, &compared.value, queries(&words), found)
    }

    /// Finds the `k` documents that have the rarest of some words. `value`: what text search compares.
    fn by_words(&self, of: &Documents, k: i32, value: &str, words: Words, found: &mut Found) -> Fallible<()> {
        let filter = self.condition(of)?;
        let search = Search { how: How::Ties, ..self.search(By::Words(value), k, filter.as_ref()) };
        let sql = search.statement(of)?;
        // A question whose rare words no document has is looked up by any.
        for looked_up in [words.rare, words.any] {
            let values = [
                (pg_sys::TEXTOID, Some(looked_up)),
                (pg_sys::TEXTARRAYOID, Some(words.each)),
                (pg_sys::FLOAT8ARRAYOID, Some(words.weights)),
                (pg_sys::TEXTOID, Some(words.any)),
            ];
            let values = [&self.values(filter.as_ref())[..], &values[..]].concat();
            if found.run(&sql, Planning::Custom, &values) > 0 {
                break;
            }
        }
        Ok(())
    }
}

/// The queries for words, the rarest first. Where nothing is known of them, ts_rank alone decides.
fn queries(words: &[(f64, Vec<u8>)]) -> Words {
    let quoted: Vec<Vec<u8>> = words.iter().map(|(_, word)| as_query(word)).collect(); // bounded: a tsvector
    let (mut sum, is_known) = (0.0, words.iter().any(|(frequency, _)| *frequency < 1.0));
    let is_rare = |(n, (frequency, _)): &(usize, &(f64, Vec<u8>))| {
        sum += frequency;
        *n == 0 || sum <= RARE || !is_known
    };
    let rare = words.iter().enumerate().take_while(is_rare).count();
    let any = |some: &[Vec<u8>]| crate::call::fmgr::text_datum(&some.join(&b" | "[..]));
    let weighed = words.iter().filter(|(frequency, _)| *frequency < 1.0).count();
    let weights = words[..weighed].iter().map(|(frequency, _)| (-frequency.ln()).to_ne_bytes());
    let each: Vec<&[u8]> = quoted[..weighed].iter().map(Vec::as_slice).collect(); // bounded: MOST words
    Words {
        rare: any(&quoted[..rare]),
        each: text_array(&each),
        weights: array_of_values(pg_sys::FLOAT8OID, weights),
        any: any(&quoted),
    }
}

/// A word as a query of text search.
fn as_query(word: &[u8]) -> Vec<u8> {
    let mut query = vec![b'\''];
    for byte in word {
        if matches!(byte, b'\'' | b'\\') {
            query.push(*byte);
        }
        query.push(*byte);
    }
    query.push(b'\'');
    query
}

impl Compared {
    /// The share of the documents that have a word; 1 if nothing is known.
    fn frequency(&self, lexeme: &[u8]) -> f64 {
        self.frequencies.get(lexeme).copied().unwrap_or(self.others)
    }
}

/// 55000 if the documents cannot be searched by words; 42804.
pub fn require(of: &Documents) -> Fallible<()> {
    compared(of).map(|_| ())
}

/// What text search compares of these documents.
pub fn compared(of: &Documents) -> Fallible<Rc<Compared>> {
    let Some(search) = &of.search else { return Err(error::documents_without_words(&of.shown)) };
    // SAFETY: reads backend variables.
    #[expect(unsafe_code, reason = "backend variables")]
    let (role, row_security) = unsafe { (plain::GetUserId(), pg_sys::row_security) };
    COMPARED.with(|all| {
        all.get((of.oid, search.name.clone(), role, row_security), || {
            let table = (pg_sys::REGCLASSOID, Some(pg_sys::Datum::from(of.oid)));
            let column = (pg_sys::NAMEOID, Some(name_datum(&search.name)));
            let mut found = Found::of(&[pg_sys::TEXTOID, pg_sys::INT4OID]);
            let sql = "SELECT s.value, s.config::pg_catalog.oid::pg_catalog.int8::pg_catalog.int4 FROM cftrag_internal.cft_search_by($1, $2) AS s";
            found.run(sql, Planning::Auto, &[table, column]);
            let mut compared =
                Compared { value: String::new(), config: None, frequencies: HashMap::new(), others: 1.0 }; // bounded: statistics
            found.each(|row| {
                compared.value = encoding::decode(row.text(0).unwrap_or_default());
                compared.config = row.int(1).map(|oid| pg_sys::Oid::from(oid as u32));
                Ok(())
            })?;
            let mut found = Found::of(&[pg_sys::TEXTOID, pg_sys::FLOAT8OID]);
            found.run("SELECT f.lexeme, f.frequency FROM cftrag_internal.cft_frequencies($1, $2) AS f", Planning::Auto, &[table, column]);
            found.each(|row| {
                if let (Some(lexeme), Some(frequency)) = (row.text(0), row.float(1)) {
                    compared.others = compared.others.min(frequency / 2.0);
                    compared.frequencies.insert(lexeme.to_vec(), frequency); // bounded: statistics
                }
                Ok(())
            })?;
            Ok(Rc::new(compared))
        })
    })
}
