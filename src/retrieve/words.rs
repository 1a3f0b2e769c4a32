//! The search of documents by words: what text search compares of them, and a question as queries, its rare words
//! before its frequent ones.
//!
//! How many documents have a word is what PostgreSQL's own statistics say (pg_stats, most_common_elems of a column of
//! type tsvector; of an index's expression its owner sees them): ANALYZE keeps them. Words that are not among the most
//! common ones are counted, in one pass; all of them where there are no statistics that the caller may read. Documents
//! are looked up by the rare words and ranked by the weights of all, ln(1 / frequency): the inverse document frequency
//! (Sparck Jones: A statistical interpretation of term specificity and its application in retrieval, 1972).

use crate::call::fmgr::{array_of_values, name_datum, text_array, text_datum};
use crate::call::text::Text;
use crate::catalog::documents::{DocumentColumn, Documents};
use crate::error;
use crate::error::Fallible;
use crate::pg::backend;
use crate::pg::invalidation;
use crate::pg::invalidation::Cached;
use crate::pg::lookup;
use crate::retrieve::documents::{WITH_SHOWN, Wanted};
use crate::retrieve::found::Found;
use crate::retrieve::search::{By, How, Search};
use crate::serve::plans::{Planning, with_safe_path, with_settings};
use pgrx::pg_sys;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// What is compared, as SQL; the OID of its configuration; and how frequent words are.
pub struct Compared {
    pub value: String,
    config: Option<pg_sys::Oid>,
    frequencies: HashMap<Vec<u8>, f64>,
    /// What is assumed of a word that is not among these, if it is not counted: half of the least share; 1 if nothing
    /// is known.
    others: f64,
}

/// The words of a question, as a search takes them: values of type text, text[], float8[] and text.
#[derive(Clone, Copy)]
struct Words {
    /// Any of the rare ones, as a query.
    rare: pg_sys::Datum,
    /// Each, as a query, and its weight.
    each: pg_sys::Datum,
    weights: pg_sys::Datum,
    /// Any, as a query.
    any: pg_sys::Datum,
}

/// A word of a question.
struct Word {
    lexeme: Vec<u8>,
    /// The share of the documents that have it.
    frequency: f64,
    weight: f64,
    /// Whether the question has it, and the mentions that do: as they are written, or by what their entities are
    /// called.
    is_asked: bool,
    of: Vec<usize>,
}

/// A mention of an entity.
#[derive(Clone, Copy, Default)]
struct Weight {
    /// That of its words together, and of those that are written; no document may have one of these, and then they are
    /// rarer than any.
    weight: f64,
    written: f64,
    /// That of the words that are written and not in its entity's name.
    others: f64,
}

/// The words of a question and of its mentions that documents have, the rarest first: how they are weighed and looked
/// up.
pub struct Weighed {
    compared: Rc<Compared>,
    words: Vec<Word>,
    documents: f64,
    /// Documents that are wanted.
    k: i32,
    /// Of fewer that have rare words, those with frequent ones are looked up, too.
    least: i32,
    mentions: Vec<Weight>,
    /// The weight of the mention that has most.
    pub heaviest: f64,
}

/// The columns of a search by words: those of [`WITH_SHOWN`], and the weight of the words that a document has.
pub const WITH_WEIGHTS: [pg_sys::Oid; 7] = {
    let [id, entity, body, tokens, distance, shown] = WITH_SHOWN;
    [id, entity, body, tokens, distance, shown, pg_sys::FLOAT8OID]
};

/// Documents are looked up by a question's rarest words, as long as these are in at most so many documents; and by
/// pairs of the words that follow, as long as these are.
const LOOKED_UP: f64 = 200.0;
/// Words of which pairs are looked up.
const PAIRED: usize = 8;
/// The rarest words of a question that count.
const MOST: usize = 64;

/// Documents of which it says something how many have a word.
const MANY: f64 = 100.0;

/// How much more the words of a document must weigh than those of any mention to be first: a word that a twentieth of
/// the documents have.
pub const BESIDE: f64 = 2.995_732_273_553_991;

type Key = (pg_sys::Oid, String, pg_sys::Oid, bool);

thread_local! {
    static COMPARED: Cached<Key, Rc<Compared>> = const { Cached::new(16, invalidation::catalogs) };
}

impl Wanted<'_> {
    /// Weighs the words of a question, a text value, and of its mentions: of each how it is written and what its entity
    /// is called. `k`: documents that are wanted. Errors: 55000 (no column to search by words), 42804.
    pub fn weigh(&self, of: &Documents, k: i32, question: Text<'_>, mentions: &[[&[u8]; 2]]) -> Fallible<Weighed> {
        let compared = compared(of)?;
        let mut words = compared.words(question, mentions.as_flattened())?;
        let documents = compared.count(of, of.rows()? as f64, &mut words)?;
        let mut mentions = vec![Weight::default(); mentions.len()];
        for word in &words {
            for n in word.of.iter().filter(|n| **n % 2 == 0) {
                let of = &mut mentions[n / 2];
                of.written += -word.frequency.ln();
                of.others += if word.of.contains(&(n + 1)) { 0.0 } else { -word.frequency.ln() };
            }
        }
        // A mention's word that no document has is rarer than those that one has.
        let unknown = (2.0 * documents.max(1.0)).ln();
        for word in words.iter().filter(|word| word.frequency == 0.0) {
            let of: BTreeSet<usize> = word.of.iter().map(|n| n / 2).collect(); // bounded: the mentions
            of.into_iter().for_each(|n| mentions[n].weight += unknown);
        }
        words.retain(|word| word.frequency > 0.0);
        words.sort_by(|a, b| a.frequency.total_cmp(&b.frequency).then_with(|| a.lexeme.cmp(&b.lexeme)));
        words.truncate(MOST);
        // Without an embedding nothing else finds documents.
        let least = if self.embedding.is_some() { 0 } else { k };
        let mut weighed = Weighed { compared, words, documents, k, least, mentions, heaviest: 0.0 };
        weighed.weigh();
        Ok(weighed)
    }

    /// Finds the `most` documents whose words are the most, by rarity. Errors: those of [`Wanted::condition`].
    pub fn with_words(&self, of: &Documents, most: i32, weighed: &Weighed, found: &mut Found) -> Fallible<()> {
        if weighed.words.is_empty() {
            return Ok(());
        }
        let filter = self.condition(of)?;
        let by = By::Words(&weighed.compared.value);
        let search = Search { how: How::Ties, ..self.search(by, most, filter.as_ref()) };
        let (sql, words) = (search.statement(of)?, weighed.queries());
        // A plan for these words takes longer to make than to run.
        let is_bounded = self.within.is_some() || filter.is_some();
        let planning = if is_bounded { Planning::Custom } else { Planning::Generic(of.size_class()?) };
        // Where too few of the documents that may be found have the rare words, they are looked up by any.
        let enough = weighed.least.max(1) as u64;
        for looked_up in [words.rare, words.any] {
            let values = [
                (pg_sys::TEXTOID, Some(looked_up)),
                (pg_sys::TEXTARRAYOID, Some(words.each)),
                (pg_sys::FLOAT8ARRAYOID, Some(words.weights)),
                (pg_sys::TEXTOID, Some(words.any)),
            ];
            let values = [&self.values(filter.as_ref())[..], &values[..]].concat();
            found.clear();
            if found.run(&sql, planning, &values) >= enough {
                break;
            }
        }
        Ok(())
    }
}

impl Weighed {
    /// Whether a mention does not have the rarest word of the question, nor one as rare.
    pub fn lacks_the_rarest(&self, mention: usize) -> bool {
        let asked = || self.words.iter().filter(|word| word.is_asked);
        let is_of = |word: &Word| word.of.iter().any(|n| n / 2 == mention);
        let rarest = asked().map(|word| word.weight).fold(0.0, f64::max);
        self.documents >= MANY && rarest > 0.0 && !asked().filter(|word| word.weight == rarest).any(is_of)
    }

    /// Whether a mention says little beside others: documents have its words everywhere, and those of another one
    /// hardly.
    pub fn is_common(&self, mention: usize) -> bool {
        let most = self.mentions.iter().map(|one| one.written).fold(0.0, f64::max);
        self.documents >= MANY && self.mentions[mention].written < BESIDE && most >= BESIDE
    }

    /// Whether a mention has only words that text search ignores, and the question has others.
    pub fn is_ignored(&self, mention: usize) -> bool {
        self.mentions[mention].written == 0.0 && self.words.iter().any(|word| word.is_asked)
    }

    /// Whether some documents, and few, have the words of a mention that its entity's name does not have: who wrote
    /// them meant them.
    pub fn is_spelled(&self, mention: usize) -> bool {
        (BESIDE..f64::INFINITY).contains(&self.mentions[mention].others)
    }

    /// Forgets the words that only these mentions have.
    pub fn forget(&mut self, mentions: &HashSet<usize>) {
        self.words.retain(|word| word.is_asked || word.of.iter().any(|n| !mentions.contains(&(n / 2))));
    }

    /// Gives each word its weight. What looks like a number or a code, is in no mention, and in no more documents than
    /// are wanted, weighs more than any mention.
    fn weigh(&mut self) {
        for word in &mut self.words {
            word.weight = -word.frequency.ln();
            let mut last = None;
            for n in word.of.iter().map(|n| n / 2).filter(|n| last.replace(*n) != Some(*n)) {
                self.mentions[n].weight += word.weight;
            }
        }
        let heaviest = self.mentions.iter().map(|one| one.weight).fold(0.0, f64::max);
        let (documents, k) = (self.documents, f64::from(self.k));
        let is_code = |word: &&mut Word| word.of.is_empty() && is_code(&word.lexeme);
        for word in self.words.iter_mut().filter(is_code).filter(|word| word.frequency * documents <= k) {
            word.weight += heaviest + BESIDE;
        }
        self.heaviest = heaviest;
    }

    /// The queries. The words are sorted, the rarest first.
    fn queries(&self) -> Words {
        let words = &self.words[..];
        let quoted: Vec<Vec<u8>> = words.iter().map(|word| as_query(&word.lexeme)).collect(); // bounded: MOST words
        let [most, least] =
            [LOOKED_UP.max(f64::from(self.k)), f64::from(self.least)].map(|count| count / self.documents);
        let mut sum = 0.0;
        let is_rare = |(n, word): &(usize, &Word)| {
            let is_taken = *n == 0 || sum + word.frequency <= most || sum < least;
            sum += word.frequency;
            is_taken
        };
        let rare = words.iter().enumerate().take_while(is_rare).count();
        let mut looked_up = quoted[..rare].to_vec(); // bounded: MOST words
        let (last, mut sum) = (words.len().min(rare + PAIRED), 0.0);
        for (a, b) in (rare..last).flat_map(|b| (rare..b).map(move |a| (a, b))) {
            let both = words[a].frequency * words[b].frequency;
            if sum + both <= most {
                sum += both;
                looked_up.push([&b"("[..], &quoted[a], b" & ", &quoted[b], b")"].concat());
            }
        }
        let [each, weights] = self.each();
        Words { rare: text_datum(&looked_up.join(&b" | "[..])), each, weights, any: self.any() }
    }

    /// Any of the words, as a query, a value of type text.
    pub fn any(&self) -> pg_sys::Datum {
        let quoted: Vec<Vec<u8>> = self.words.iter().map(|word| as_query(&word.lexeme)).collect(); // bounded: MOST words
        text_datum(&quoted.join(&b" | "[..]))
    }

    /// The words as queries, a value of type text[], and their weights, one of type float8[].
    pub fn each(&self) -> [pg_sys::Datum; 2] {
        let quoted: Vec<Vec<u8>> = self.words.iter().map(|word| as_query(&word.lexeme)).collect(); // bounded: MOST words
        let each: Vec<&[u8]> = quoted.iter().map(Vec::as_slice).collect(); // bounded: MOST words
        let weights = self.words.iter().map(|word| word.weight.to_ne_bytes());
        [text_array(&each), array_of_values(pg_sys::FLOAT8OID, weights)]
    }

    /// What text search compares of a document (d), as SQL; None if the question has no words.
    pub fn value(&self) -> Option<&str> {
        (!self.words.is_empty()).then_some(&self.compared.value)
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
    /// The words of a question and of its mentions, as text search has them.
    fn words(&self, question: Text<'_>, mentions: &[&[u8]]) -> Fallible<Vec<Word>> {
        // The size of a tsvector is limited.
        let sql = "SELECT w.lexeme, t.n FROM (SELECT $2 AS text, 0 AS n UNION ALL SELECT m.text, m.n::pg_catalog.int4 \
             FROM pg_catalog.unnest($3) WITH ORDINALITY AS m(text, n)) AS t, \
             LATERAL pg_catalog.unnest(pg_catalog.to_tsvector(COALESCE($1, pg_catalog.get_current_ts_config()), pg_catalog.\"left\"(t.text, 100000))) AS w";
        let values = [
            (pg_sys::REGCONFIGOID, self.config.map(pg_sys::Datum::from)),
            (pg_sys::TEXTOID, Some(question.datum())),
            (pg_sys::TEXTARRAYOID, Some(text_array(mentions))),
        ];
        let mut found = Found::of(&[pg_sys::TEXTOID, pg_sys::INT4OID]);
        // A word may be too long for text search, which would tell the caller so.
        with_settings(&[(c"client_min_messages", c"warning")], || found.run(sql, Planning::Auto, &values));
        let (mut words, mut places): (Vec<Word>, HashMap<Vec<u8>, usize>) = (Vec::new(), HashMap::new()); // bounded: a tsvector
        found.each(|row| {
            let lexeme = row.text(0).unwrap_or_default();
            let place = *places.entry(lexeme.to_vec()).or_insert(words.len()); // bounded: a tsvector
            if place == words.len() {
                let frequency = self.frequencies.get(lexeme).copied().unwrap_or(self.others);
                let lexeme = lexeme.to_vec(); // bounded: a tsvector
                words.push(Word { lexeme, frequency, weight: 0.0, is_asked: false, of: Vec::new() });
            }
            match row.int(1).and_then(|n| usize::try_from(n - 1).ok()) {
                Some(mention) => words[place].of.push(mention),
                None => words[place].is_asked = true,
            }
            Ok(())
        })?;
        Ok(words)
    }

    /// Counts the documents that have the words which the statistics do not know, at most [`MOST`] of them, the
    /// longest. Returns how many documents there are.
    fn count(&self, of: &Documents, documents: f64, words: &mut [Word]) -> Fallible<f64> {
        let is_unknown = |word: &Word| !self.frequencies.contains_key(&word.lexeme);
        let mut unknown: Vec<&mut Word> = words.iter_mut().filter(|word| is_unknown(word)).collect(); // bounded: a tsvector
        unknown.sort_by_key(|word| std::cmp::Reverse(word.lexeme.len()));
        unknown.truncate(MOST);
        if unknown.is_empty() {
            return Ok(documents.max(1.0));
        }
        let queries: Vec<Vec<u8>> = unknown.iter().map(|word| as_query(&word.lexeme)).collect(); // bounded: MOST words
        let any = queries.join(&b" | "[..]);
        let queries: Vec<&[u8]> = queries.iter().map(Vec::as_slice).collect(); // bounded: MOST words
        let sql = format!(
            "SELECT w.n::pg_catalog.int4, pg_catalog.count(*)::pg_catalog.float8 \
             FROM {} AS d, pg_catalog.unnest($1::pg_catalog.tsquery[]) WITH ORDINALITY AS w(query, n) \
             WHERE {value} OPERATOR(pg_catalog.@@) $2::pg_catalog.tsquery AND {value} OPERATOR(pg_catalog.@@) w.query GROUP BY w.n",
            of.name,
            value = self.value
        );
        let values = [(pg_sys::TEXTARRAYOID, Some(text_array(&queries))), (pg_sys::TEXTOID, Some(text_datum(&any)))];
        let mut found = Found::of(&[pg_sys::INT4OID, pg_sys::FLOAT8OID]);
        found.run(&sql, Planning::Generic(of.size_class()?), &values);
        let mut counts = vec![0.0; unknown.len()];
        found.each(|row| {
            if let (Some(n), Some(count)) = (row.int(0), row.float(1)) {
                counts[n as usize - 1] = count;
            }
            Ok(())
        })?;
        // How many documents there are is not known of a view, and known as of the last ANALYZE.
        let documents = counts.iter().copied().fold(documents.max(1.0), f64::max);
        unknown.iter_mut().zip(counts).for_each(|(word, count)| word.frequency = count / documents);
        Ok(documents)
    }
}

/// 55000 if the documents cannot be searched by words; 42804.
pub fn require(of: &Documents) -> Fallible<()> {
    compared(of).map(|_| ())
}

/// What text search compares of these documents.
pub fn compared(of: &Documents) -> Fallible<Rc<Compared>> {
    let Some(search) = &of.search else { return Err(error::documents_without_words(&of.shown)) };
    let (role, row_security) = (backend::user(), backend::row_security());
    COMPARED.with(|all| {
        all.get((of.oid, search.name.clone(), role, row_security), || {
            with_safe_path(|| {
                let by = SearchedBy::of(of, search)?;
                let mut compared =
                    Compared { value: by.value, config: by.config, frequencies: HashMap::new(), others: 1.0 }; // bounded: statistics
                let mut found = Found::of(&[pg_sys::TEXTOID, pg_sys::FLOAT8OID]);
                let column = by.index.is_none().then(|| name_datum(&search.name));
                let values = [
                    (pg_sys::OIDOID, Some(pg_sys::Datum::from(by.index.unwrap_or(of.oid)))),
                    (pg_sys::NAMEOID, column),
                ];
                found.run(FREQUENCIES, Planning::Auto, &values);
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
    })
}

/// What text search compares of a document (d), as SQL; its configuration; and the index, if it is an index's
/// expression.
struct SearchedBy {
    value: String,
    config: Option<pg_sys::Oid>,
    index: Option<pg_sys::Oid>,
}

/// The configuration that the generation expression of a column of type tsvector names.
const GENERATED: &str = "SELECT (regexp_match(pg_get_expr(e.adbin, e.adrelid), 'to_tsvector[(]''([^'']+)''::regconfig'))[1]::regconfig::oid::int8, NULL::int8 \
     FROM pg_attrdef AS e JOIN pg_attribute AS a ON a.attrelid = e.adrelid AND a.attnum = e.adnum \
     WHERE a.attrelid = $1 AND a.attname = $2 AND a.attgenerated = 's'";

/// The configuration of an index on to_tsvector of a column of texts, and that index.
const INDEXED: &str = "SELECT x.parts[1]::regconfig::oid::int8, i.indexrelid::int8 \
     FROM pg_index AS i, regexp_match(pg_get_indexdef(i.indexrelid, 1, false), '^to_tsvector[(]''([^'']+)''::regconfig, (.*)[)]$') AS x(parts) \
     WHERE i.indrelid = $1 AND i.indisvalid AND i.indpred IS NULL AND x.parts[2] IN (quote_ident($2), '(' || quote_ident($2) || ')::text') \
     ORDER BY i.indexrelid LIMIT 1";

/// The share of the documents that have a word, for the most common ones, as ANALYZE has found; of a column of a table,
/// or of an index. By pg_stats: who may not read the column, or does not see all rows, gets none.
const FREQUENCIES: &str = "SELECT e.lexeme, e.frequency::float8 \
     FROM (SELECT s.most_common_elems::text::text[] AS lexemes, s.most_common_elem_freqs AS frequencies \
             FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_stats AS s ON s.schemaname = n.nspname AND s.tablename = c.relname \
            WHERE c.oid = $1 AND ($2 IS NULL OR s.attname = $2) AND s.most_common_elems IS NOT NULL ORDER BY s.inherited DESC LIMIT 1) AS z, \
          unnest(z.lexemes, z.frequencies[1:cardinality(z.lexemes)]) AS e(lexeme, frequency)";

impl SearchedBy {
    /// Either a column of type tsvector, or one of texts with an index. Nothing of an index's expression becomes SQL
    /// but its configuration. 42804.
    fn of(of: &Documents, search: &DocumentColumn) -> Fallible<Self> {
        let is_text = [pg_sys::TEXTOID, pg_sys::VARCHAROID].contains(&search.type_oid);
        let sql = match search.type_oid {
            pg_sys::TSVECTOROID => GENERATED,
            _ if is_text => INDEXED,
            _ => return Err(error::no_words(&search.name, &of.shown, None)),
        };
        let values =
            [(pg_sys::OIDOID, Some(pg_sys::Datum::from(of.oid))), (pg_sys::NAMEOID, Some(name_datum(&search.name)))];
        let mut found = Found::of(&[pg_sys::INT8OID, pg_sys::INT8OID]);
        found.run(sql, Planning::Auto, &values);
        let (mut config, mut index) = (None, None);
        found.each(|row| {
            let oid = |n| row.long(n).map(|oid| pg_sys::Oid::from(oid as u32));
            (config, index) = (oid(0), oid(1));
            Ok(())
        })?;
        let column = search.of_row("d");
        let value = match config.filter(|_| is_text) {
            None if is_text => {
                let quoted = lookup::quoted(&search.name);
                return Err(error::no_words(&search.name, &of.shown, Some(&quoted)));
            }
            None => column,
            Some(config) => format!(
                "pg_catalog.to_tsvector('{}'::pg_catalog.regconfig, {column}::pg_catalog.text)",
                u32::from(config)
            ),
        };
        Ok(Self { value, config, index })
    }
}

/// Whether a word looks like a code or a number that something is called by: it has a digit, and is no small number, as
/// prices and amounts are.
fn is_code(word: &[u8]) -> bool {
    /// Digits of a number that may be one.
    const DIGITS: usize = 4;
    let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
    digits >= DIGITS || digits > 0 && word.iter().any(u8::is_ascii_alphabetic)
}
