//! The searches of a table of documents, as statements.
//!
//! Every table, type, function and operator is named with its schema: the statements run under the caller's
//! search_path. Names come from the catalogs; no text of the caller becomes SQL. Parameters: $1 an embedding, $2 the
//! entities to search within, $3 the edges table, $4 what a filter compares with, $5 trees. Of words: $6 any of the
//! rare ones, as a query of text search, $7 text[] each as a query, $8 float8[] their weights, $9 any of them.

use crate::catalog::documents::{Distance, DocumentColumn, Documents, Embeddings, Linked, Mapping};
use crate::catalog::trust;
use crate::error;
use crate::error::Fallible;
use pgrx::pg_sys;

/// What a search is by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum By<'s> {
    /// The distance of embeddings.
    Nearest,
    /// The words that documents have: what text search compares of a document, as SQL.
    Words(&'s str),
}

/// A search for `k` documents.
#[derive(Clone, Copy)]
pub struct Search<'s> {
    pub by: By<'s>,
    pub k: i32,
    /// Only documents about some entities.
    pub within: bool,
    /// Only documents for which this holds.
    pub filter: Option<&'s str>,
    pub how: How,
    /// Whether the columns are returned that a prompt shows beside the text.
    pub shows: bool,
    /// Whether each document is asked for its rows of the mapping, rather than these found first: many are within.
    pub one_by_one: bool,
}

/// How a search of the nearest goes about it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// By an index, if there is one, for k + 1 rows: one more says that there may be ties.
    First,
    /// With all rows that are as near as the last one.
    Ties,
    /// By comparing all distances, for k + 1 rows; then with ties.
    Exactly,
    ExactlyTies,
}

impl How {
    pub fn with_ties(self) -> Self {
        match self {
            Self::First | Self::Ties => Self::Ties,
            Self::Exactly | Self::ExactlyTies => Self::ExactlyTies,
        }
    }

    fn has_ties(self) -> bool {
        self == self.with_ties()
    }
}

const C: &str = "COLLATE pg_catalog.\"C\"";

/// How near the words are to each other in a document, and how many, by what text search compares of it, as SQL; by the
/// logarithm of its length, which has more of everything.
fn among(value: &str) -> String {
    format!("pg_catalog.ts_rank({value}, (SELECT $9::pg_catalog.tsquery), 1)")
}

/// Words as queries, with their weights: these are read once, not for each document.
const WORDS: &str = "w AS MATERIALIZED (SELECT u.query, u.weight FROM ROWS FROM (\
     pg_catalog.unnest($7::pg_catalog.tsquery[]), pg_catalog.unnest($8::pg_catalog.float8[])) AS u(query, weight))";

impl Search<'_> {
    /// The statement: id, entity, body, tokens, distance and what is shown of each document, of words their weight,
    /// too; the best first, ties broken by id and body. Errors: 55000 (no entities).
    pub fn statement(&self, of: &Documents) -> Fallible<String> {
        let Documents { name: table, id, body, embedding, distance, .. } = of;
        let (conditions, of_mapping) = self.conditions(of)?;
        let away = by_distance(embedding, distance);
        // Of documents found by words, only the distances of those that are returned are computed.
        let (kept, distance) = match self.by {
            By::Words(_) => (embedding.of_row("d"), self::by_distance_of("n.distance", distance)),
            By::Nearest => (away.clone(), "n.distance".into()),
        };
        // (ORDER BY distance, id would not use an index.)
        let order = match (self.by, self.how) {
            (By::Words(_), _) => "score DESC, among DESC".into(),
            // "+ 0" keeps the planner from using an index.
            (By::Nearest, How::Exactly | How::ExactlyTies) => format!("({away}) OPERATOR(pg_catalog.+) 0"),
            (By::Nearest, _) => away.clone(),
        };
        let (words, score, weight, first) = match self.by {
            // How near the words are to each other, and how many, decides between documents that have the same ones.
            By::Words(value) => (
                format!("{WORDS}, "),
                format!(
                    ", (SELECT pg_catalog.sum(w.weight) FROM w WHERE {value} OPERATOR(pg_catalog.@@) w.query) AS score, \
                     {} AS among",
                    among(value)
                ),
                ", n.score",
                "n.score DESC, n.among DESC",
            ),
            By::Nearest => (String::new(), String::new(), "", "n.distance"),
        };
        let is_there = match self.by {
            By::Words(_) => "true".into(),
            By::Nearest => format!("{} IS NOT NULL", embedding.of_row("d")),
        };
        let own = of.entity.as_ref().map_or("n.entity".into(), |entity| entity.as_text("n.entity"));
        let about = match &of.mapping {
            None => own,
            Some(mapping) => {
                let entity = mapping.entity.as_text(&mapping.entity.of_row("m"));
                // Links have a document's own entity, too: it comes first, then the one that it mentions most, then
                // first.
                let first = mapping.mentions.as_ref().zip(mapping.start.as_ref()).map(|(mentions, start)| {
                    let (mentions, start) = (mentions.of_row("m"), start.of_row("m"));
                    format!("{entity} {C} OPERATOR(pg_catalog.=) {own} DESC NULLS LAST, {mentions} DESC, {start}, ")
                });
                format!(
                    "(SELECT {entity} FROM {} AS m WHERE {}{of_mapping}{} ORDER BY {}{entity} {C} LIMIT 1)",
                    mapping.name,
                    same(of, mapping, "n.id"),
                    visible(of, &entity),
                    first.unwrap_or_default(),
                )
            }
        };
        let entity = of.entity.as_ref().map_or("NULL::pg_catalog.text".into(), |entity| entity.of_row("d"));
        let (id_text, body_text) = (id.as_text("n.id"), body.as_text("n.body"));
        let (shown, shows) = match self.shows {
            true => (format!(", {} AS shown", of.shown_of("d")), ", n.shown"),
            false => (String::new(), ""),
        };
        Ok(format!(
            "WITH {words}n AS MATERIALIZED (\
             SELECT {} AS id, {entity} AS entity, {} AS body, {} AS tokens, {kept} AS distance{score}{shown} \
             FROM {table} AS d WHERE {is_there}{}{conditions} ORDER BY {order} {}) \
             SELECT {id_text}, {about}, {body_text}, {}, {distance}{shows}{weight} FROM n ORDER BY {first}, {id_text} {C}, {body_text} {C} LIMIT {}",
            id.of_row("d"),
            body.of_row("d"),
            counted(of),
            has_text(of),
            self.at_most(),
            tokens("n.tokens", &body_text),
            self.first_rows(),
        ))
    }

    /// The statement of the centroid of the documents that the search is limited to, as a text.
    pub fn centroid(&self, of: &Documents) -> Fallible<String> {
        let (conditions, _) = self.conditions(of)?;
        let Documents { name, embedding, distance, .. } = of;
        // pgvector averages vectors and halfvecs.
        let cast = if distance.type_name.ends_with("sparsevec") {
            format!("::{}.vector", distance.schema)
        } else {
            String::new()
        };
        let value = embedding.of_row("d");
        let schema = &distance.schema;
        Ok(format!(
            "SELECT {schema}.avg({value}{cast})::pg_catalog.text FROM {name} AS d WHERE {value} IS NOT NULL{conditions}"
        ))
    }

    /// Conditions on a document, each after AND; and those on a row of its mapping.
    fn conditions(&self, of: &Documents) -> Fallible<(String, String)> {
        let (mut those, mut of_mapping) = (String::new(), String::new());
        if let By::Words(value) = self.by {
            those += &format!(" AND {value} OPERATOR(pg_catalog.@@) $6::pg_catalog.tsquery");
        }
        if self.within {
            of.require_entities()?;
            match (&of.mapping, &of.entity) {
                (Some(mapping), _) => {
                    of_mapping = format!(" AND {}", is_within(&mapping.entity, "m"));
                    let same = same(of, mapping, &of.id.of_row("d"));
                    those += &format!(
                        " AND EXISTS (SELECT FROM {} AS m WHERE {same}{of_mapping}{})",
                        mapping.name,
                        if self.one_by_one { " OFFSET 0" } else { "" }
                    );
                }
                (None, Some(entity)) => those += &format!(" AND {}", is_within(entity, "d")),
                (None, None) => {}
            }
        }
        if let Some(filter) = self.filter {
            those += &format!(" AND {filter}");
        }
        Ok((those, of_mapping))
    }

    /// The end of the search. For an unknown LIMIT the planner assumes a tenth of the rows (hence also the CTE). For a
    /// known one it expects pgvector's index scan to end early, and underestimates its cost: to find 1000 documents in
    /// a million it reads 5,000, where comparing the 1000 takes a hundredth of the time.
    fn at_most(&self) -> String {
        let k = i64::from(self.k);
        let bound = |rows: i64| {
            let is_bounded = self.within || self.filter.is_some() || self.by != By::Nearest;
            if is_bounded { format!("(SELECT {rows})") } else { rows.to_string() }
        };
        match self.how.has_ties() {
            true => format!("FETCH FIRST ({}) ROWS WITH TIES", bound(k)),
            false => format!("LIMIT {}", bound(k + 1)),
        }
    }

    /// How many rows count: k; of k + 1 all, if the last two are equally near.
    fn first_rows(&self) -> String {
        let k = self.k;
        match self.how.has_ties() {
            true => k.to_string(),
            false => format!(
                "(SELECT {k} OPERATOR(pg_catalog.+) CASE WHEN pg_catalog.count(*) OPERATOR(pg_catalog.=) 2 \
                 AND pg_catalog.min(x.distance) OPERATOR(pg_catalog.=) pg_catalog.max(x.distance) THEN 1 ELSE 0 END \
                 FROM (SELECT z.distance FROM n AS z ORDER BY 1 OFFSET {} LIMIT 2) AS x)",
                (k - 1).max(0)
            ),
        }
    }

    /// The statement that searches embeddings of entities: entity and distance of each.
    pub fn of_entities(&self, of: &Embeddings) -> String {
        let Embeddings { name, entity, embedding, distance, .. } = of;
        let away = by_distance(embedding, distance);
        let order = match self.how {
            How::Exactly | How::ExactlyTies => format!("({away}) OPERATOR(pg_catalog.+) 0"),
            How::First | How::Ties => away.clone(),
        };
        let within = if self.within { format!(" AND {}", is_within(entity, "d")) } else { String::new() };
        let text = entity.as_text("n.entity");
        format!(
            "WITH n AS MATERIALIZED (SELECT {own} AS entity, {away} AS distance FROM {name} AS d \
             WHERE {} IS NOT NULL AND {own} IS NOT NULL{within} ORDER BY {order} {}) \
             SELECT {text}, n.distance FROM n ORDER BY n.distance, {text} {C} LIMIT {}",
            embedding.of_row("d"),
            self.at_most(),
            self.first_rows(),
            own = entity.of_row("d"),
        )
    }
}

/// How documents about entities are to be ordered.
#[derive(Clone, Copy)]
pub enum Order<'s> {
    /// By depth and distance, all of them.
    All,
    /// The entities of one depth take turns, each with the document that is nearest or has most of the words, if what
    /// text search compares of a document is given, as SQL.
    Turns(Option<&'s str>),
}

/// Documents of which the words are compared.
const COMPARED: i64 = 1000;

/// The statement for the documents about entities ($2 text[], in the order of preference, with $3 int[] depths and $5
/// int[] places): the number of the entity, id, body, tokens, distance and what is shown of each document, once, with
/// the first of its entities. $1 is an embedding, $4 what the filter compares with, $6 the most rows, $7 text[] words,
/// each as a query of text search, $8 float8[] their weights, $9 text any of them. `by_distance`: whether documents of
/// one depth come in the order of their distances. Errors: 55000, 42804.
pub fn about(
    of: &Documents,
    how: Belongs,
    by_distance: bool,
    filter: Option<&str>,
    order: Order<'_>,
) -> Fallible<String> {
    of.require_entities()?;
    let Documents { id, body, .. } = of;
    let sort = of.sort.as_ref().map_or("NULL::pg_catalog.int4".into(), |sort| sort.of_row("d"));
    let (id_text, body_text) = (id.as_text(&id.of_row("d")), body.as_text(&body.of_row("d")));
    let away =
        if by_distance { self::by_distance(&of.embedding, &of.distance) } else { "NULL::pg_catalog.float8".into() };
    let filter = filter.map(|filter| format!(" AND {filter}")).unwrap_or_default();
    let those = format!(" WHERE true{}{filter}", has_text(of));
    let (join, shown) = (join(of, how), of.shown_of("d"));
    let searched = match (order, &of.search) {
        (Order::Turns(Some(_)), Some(search)) => format!(", {} AS searched", search.of_row("d")),
        _ => String::new(),
    };
    // Rows with one id but different texts are different chunks of it.
    let all = format!(
        "SELECT DISTINCT ON ({id_text} {C}, {body_text} {C}) n.n::pg_catalog.int4 AS n, n.depth, n.place, {id_text} AS id, {body_text} AS body, {} AS tokens, \
         {away} AS distance, {sort} AS sort, {shown} AS shown{searched} \
         FROM ROWS FROM (pg_catalog.unnest($2), pg_catalog.unnest($3), pg_catalog.unnest($5)) WITH ORDINALITY AS n(name, depth, place, n){join}{those} \
         ORDER BY {id_text} {C}, {body_text} {C}, n.n",
        tokens(&counted(of), &body_text)
    );
    let columns = "f.n, f.id, f.body, f.tokens, f.distance, f.shown";
    let last = format!("f.place, f.n, f.sort, f.id {C}, f.body {C} LIMIT $6");
    let Order::Turns(words) = order else {
        return Ok(format!("SELECT {columns} FROM ({all}) AS f ORDER BY f.depth, f.distance, {last}"));
    };
    let texts = format!("f.distance, f.sort, f.id {C}, f.body {C}");
    let (with, all, fit) = match (words, &of.search) {
        (Some(value), Some(search)) => {
            let value = value.replacen(&search.of_row("d"), "f.searched", 1);
            let score = format!(
                "SELECT f.*, CASE WHEN f.is_few THEN (SELECT pg_catalog.sum(w.weight) FROM w WHERE {value} OPERATOR(pg_catalog.@@) w.query) END AS score, \
                 CASE WHEN f.is_few THEN {} END AS among \
                 FROM (SELECT f.*, pg_catalog.count(*) OVER () OPERATOR(pg_catalog.<=) {COMPARED} AS is_few FROM ({all}) AS f) AS f",
                among(&value)
            );
            let by = |order: &str| {
                format!(
                    "1::pg_catalog.float8 OPERATOR(pg_catalog./) (60 OPERATOR(pg_catalog.+) pg_catalog.rank() OVER \
                        (PARTITION BY f.depth ORDER BY {order}))"
                )
            };
            let fit =
                format!("{} OPERATOR(pg_catalog.+) {}", by("f.distance"), by("f.score DESC NULLS LAST, f.among DESC"));
            (format!("WITH {WORDS} "), format!("SELECT f.*, {fit} AS fit FROM ({score}) AS f"), "f.fit DESC, ")
        }
        _ => (String::new(), all, ""),
    };
    Ok(format!(
        "{with}SELECT {columns} FROM (\
         SELECT f.*, pg_catalog.row_number() OVER (PARTITION BY f.depth, f.n ORDER BY {fit}{texts}) AS turn FROM ({all}) AS f) AS f \
         ORDER BY f.depth, f.turn, {fit}f.distance, {last}"
    ))
}

/// How documents belong to entities.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Belongs {
    /// By their column of entities, else by their mapping.
    Own,
    /// By their mapping.
    Mapped,
}

/// The ways in which documents belong to entities, the better ones first: what a document is about, then what it
/// mentions besides.
pub fn ways(of: &Documents) -> &'static [Belongs] {
    if of.entity.is_some() && of.mapping.is_some() { &[Belongs::Own, Belongs::Mapped] } else { &[Belongs::Own] }
}

/// The joins from entities (n.name) to the documents about them (d), as SQL. A document may be about several.
fn join(of: &Documents, how: Belongs) -> String {
    let Documents { name, id, .. } = of;
    match (&of.entity, &of.mapping) {
        (Some(entity), mapping) if how == Belongs::Own || mapping.is_none() => {
            format!(" JOIN {name} AS d ON {}", is_named(entity, "d"))
        }
        (_, Some(mapping)) => format!(
            " JOIN {} AS m ON {} JOIN {name} AS d ON {}",
            mapping.name,
            is_named(&mapping.entity, "m"),
            same(of, mapping, &id.of_row("d"))
        ),
        _ => String::new(),
    }
}

/// Whether the caller can see an entity that a link names, as SQL, after AND. (The links' owner has no policy.)
fn visible(of: &Documents, entity: &str) -> String {
    let linked = of.linked.as_ref().filter(|_| of.is_linked());
    let visible = |edges| format!(" AND cftrag_internal.cft_is_visible({entity}, '{edges}'::pg_catalog.regclass)");
    linked.map(|linked| visible(u32::from(linked.edges))).unwrap_or_default()
}

/// The statement for the entities of the document $1: entity, label, mentions. Errors: 55000 (no entities).
pub fn entities_of(of: &Documents) -> Fallible<String> {
    of.require_entities()?;
    let label = |linked: &Linked| {
        format!("cftrag_internal.cft_label(e.entity, '{}'::pg_catalog.regclass)", u32::from(linked.edges))
    };
    let label = of.linked.as_ref().map_or("NULL::pg_catalog.text".into(), label);
    let start = of.mapping.as_ref().and_then(|mapping| mapping.start.as_ref());
    let start = start.map_or("NULL::pg_catalog.int4".into(), |start| start.of_row("m"));
    let (from, entity, mentions) = match (&of.mapping, &of.entity) {
        (Some(mapping), _) => (
            format!(" JOIN {} AS m ON {}", mapping.name, same(of, mapping, &of.id.of_row("d"))),
            mapping.entity.as_text(&mapping.entity.of_row("m")),
            mentions(mapping),
        ),
        (None, entity) => {
            let entity = entity.as_ref().map_or("NULL".into(), |entity| entity.as_text(&entity.of_row("d")));
            (String::new(), entity, "NULL::pg_catalog.int4".into())
        }
    };
    Ok(format!(
        "SELECT e.entity, {label}, e.mentions FROM (\
         SELECT {entity} AS entity, pg_catalog.max({mentions}) AS mentions, pg_catalog.min({start}) AS start FROM (SELECT $1 {C} AS name) AS n JOIN {} AS d ON {}{from} \
         WHERE {entity} IS NOT NULL{} GROUP BY 1) AS e ORDER BY e.mentions DESC NULLS LAST, e.start, e.entity {C}",
        of.name,
        is_named(&of.id, "d"),
        visible(of, &entity),
    ))
}

/// The statement for the documents about the entity $1: id, mentions. Errors: 55000 (no entities).
pub fn documents_of(of: &Documents) -> Fallible<String> {
    of.require_entities()?;
    let id = of.id.as_text(&of.id.of_row("d"));
    let mentions = of.mapping.as_ref().map_or("NULL::pg_catalog.int4".into(), mentions);
    Ok(format!(
        "SELECT e.id, e.mentions FROM (SELECT {id} AS id, pg_catalog.max({mentions}) AS mentions FROM (SELECT $1 {C} AS name) AS n{} \
         WHERE {id} IS NOT NULL{} GROUP BY 1) AS e ORDER BY e.mentions DESC NULLS LAST, e.id {C}",
        join(of, Belongs::Mapped),
        visible(of, "n.name"),
    ))
}

/// How often a row of a mapping (m) says that the document mentions the entity, as SQL; NULL: that is not counted.
fn mentions(mapping: &Mapping) -> String {
    mapping.mentions.as_ref().map_or("NULL::pg_catalog.int4".into(), |mentions| mentions.of_row("m"))
}

/// The statement for the documents about entities ($1 text[]), at most $2, for which the filter holds, which compares
/// with $4: the number of the entity, id, body and tokens, in the order of their column, else of their ids. Errors:
/// 55000 (they belong to no entities, but by their texts).
pub fn in_order(of: &Documents, filter: Option<&str>) -> Fallible<String> {
    let Documents { id, body, name, .. } = of;
    let join = match (&of.entity, &of.mapping) {
        (Some(entity), _) => format!(" JOIN {name} AS d ON {}", is_named(entity, "d")),
        (None, Some(mapping)) if mapping.mentions.is_none() => join(of, Belongs::Own),
        _ => return Err(error::documents_without_entities(&of.shown)),
    };
    let id_text = id.as_text(&id.of_row("d"));
    let ids = if id.has_order() { id.of_row("d") } else { format!("{id_text} {C}") };
    let order = of.sort.as_ref().map(|sort| format!("{}, ", sort.of_row("d"))).unwrap_or_default();
    let body_text = body.as_text(&body.of_row("d"));
    Ok(format!(
        "SELECT n.n::pg_catalog.int4, {id_text}, {body_text}, {} FROM pg_catalog.unnest($1) WITH ORDINALITY AS n(name, n){join} \
         WHERE true{}{} ORDER BY n.n, {order}{ids}, {body_text} {C} LIMIT $2",
        tokens(&counted(of), &body_text),
        has_text(of),
        filter.map(|filter| format!(" AND {filter}")).unwrap_or_default(),
    ))
}

/// Where the embeddings of entities are.
#[derive(Clone, Copy)]
pub enum Source<'s> {
    Embeddings(&'s Embeddings),
    /// In the documents about them.
    Documents(&'s Documents),
}

impl Source<'_> {
    fn embedding(&self) -> (&DocumentColumn, &Distance) {
        match self {
            Self::Embeddings(of) => (&of.embedding, &of.distance),
            Self::Documents(of) => (&of.embedding, &of.distance),
        }
    }

    /// The statement for the scores of entities $1, which are distinct, against $2: name, place and score of each of
    /// their embeddings; of documents for which `filter` holds, which compares with $3. An embedding without direction,
    /// whose cosine distance is NaN, has the score NULL.
    pub fn scores(&self, filter: Option<&str>) -> String {
        let (embedding, distance) = self.embedding();
        let join = match self {
            Self::Embeddings(of) => format!(" JOIN {} AS d ON {}", of.name, is_named(&of.entity, "d")),
            Self::Documents(of) => join(of, Belongs::Own),
        };
        let value = embedding.of_row("d");
        let away = format!("{value}{} {} $2::{}", distance.cast, distance.operator, distance.type_name);
        let one =
            if distance.is_cosine { "1.0::pg_catalog.float8 OPERATOR(pg_catalog.-)" } else { "OPERATOR(pg_catalog.-)" };
        let filter = filter.map(|filter| format!(" AND {filter}")).unwrap_or_default();
        format!(
            "SELECT n.name, n.place, {one} NULLIF({away}, 'NaN') AS score \
             FROM pg_catalog.unnest($1) WITH ORDINALITY AS n(name, place){join} WHERE {value} IS NOT NULL{filter}"
        )
    }

    /// The statement for the entities whose embeddings are the $6 nearest: name and distance of each, in every row how
    /// many embeddings were found and the distance of the last; one row without a name where there are none.
    /// `by_index`: whether an index may be used, which may end early.
    pub fn nearest_entities(&self, within: bool, filter: Option<&str>, by_index: bool) -> Fallible<String> {
        let (embedding, distance) = self.embedding();
        let away = by_distance(embedding, distance);
        // "+ 0" keeps the planner from using an index.
        let order = if by_index { away.clone() } else { format!("({away}) OPERATOR(pg_catalog.+) 0") };
        let of_column = |name: &str, column: &DocumentColumn| {
            (name.to_string(), column.of_row("d"), column.as_text("n.key"), String::new())
        };
        let (name, key, entity, mapped) = match self {
            Self::Embeddings(of) => of_column(&of.name, &of.entity),
            Self::Documents(of) => match (&of.mapping, &of.entity) {
                (_, Some(entity)) => of_column(&of.name, entity),
                (Some(mapping), _) => (
                    of.name.clone(),
                    of.id.of_row("d"),
                    mapping.entity.as_text(&mapping.entity.of_row("m")),
                    format!(" JOIN {} AS m ON {}", mapping.name, same(of, mapping, "n.key")),
                ),
                (None, None) => return Err(error::documents_without_entities(&of.shown)),
            },
        };
        let mut those = match (self, within) {
            (_, false) => String::new(),
            (Self::Embeddings(of), true) => format!(" AND {}", is_within(&of.entity, "d")),
            (Self::Documents(of), true) => {
                Search { by: By::Nearest, k: 0, within, filter: None, how: How::First, shows: false, one_by_one: false }
                    .conditions(of)?
                    .0
            }
        };
        if let Some(filter) = filter {
            those += &format!(" AND {filter}");
        }
        Ok(format!(
            "WITH n AS MATERIALIZED (SELECT {key} AS key, {away} AS distance FROM {name} AS d WHERE {} IS NOT NULL AND {key} IS NOT NULL{those} ORDER BY {order} LIMIT $6), \
             z AS (SELECT {entity} {C} AS name, pg_catalog.min(NULLIF(n.distance, 'NaN')) AS distance FROM n{mapped} GROUP BY 1) \
             SELECT z.name, z.distance, h.had, h.farthest FROM (SELECT pg_catalog.count(*)::pg_catalog.float8 AS had, pg_catalog.max(n.distance) AS farthest FROM n) AS h \
             LEFT JOIN z ON z.name IS NOT NULL AND z.distance IS NOT NULL",
            embedding.of_row("d"),
        ))
    }
}

/// The statement for what entities $1 say, which are called $2: entity, text, tokens, and whether it is only what it is
/// called. The summary of each (`summaries`: a table, its columns of entities and of summaries), else the documents
/// about it in the order of their ids, else its name.
pub fn texts(documents: Option<&Documents>, summaries: Option<(&str, &DocumentColumn, &DocumentColumn)>) -> String {
    let about = match documents.filter(|of| of.has_entities()) {
        Some(of) => {
            let (id, body) = (of.id.as_text(&of.id.of_row("d")), of.body.as_text(&of.body.of_row("d")));
            format!(
                "SELECT n.name, pg_catalog.string_agg({body}, pg_catalog.chr(10) ORDER BY {id} {C}, {body} {C}) AS said, \
                 pg_catalog.sum({})::pg_catalog.int8 AS size FROM n{} WHERE {} IS NOT NULL GROUP BY n.name",
                tokens(&counted(of), &body),
                join(of, Belongs::Own),
                of.body.of_row("d"),
            )
        }
        None => {
            "SELECT NULL::pg_catalog.text AS name, NULL::pg_catalog.text AS said, NULL::pg_catalog.int8 AS size LIMIT 0"
                .into()
        }
    };
    let sums = match summaries {
        Some((table, entity, summary)) => {
            let (entity, said) = (entity.as_text(&entity.of_row("s")), summary.as_text(&summary.of_row("s")));
            format!(
                "SELECT {entity} {C} AS name, pg_catalog.max({said} {C}) AS said FROM {table} AS s \
                 WHERE {entity} OPERATOR(pg_catalog.=) ANY ($1) AND {} IS NOT NULL GROUP BY 1",
                summary.of_row("s")
            )
        }
        None => "SELECT NULL::pg_catalog.text AS name, NULL::pg_catalog.text AS said LIMIT 0".into(),
    };
    let size =
        |text: &str| format!("((pg_catalog.char_length({text}) OPERATOR(pg_catalog.+) 3) OPERATOR(pg_catalog./) 4)");
    format!(
        "WITH n AS MATERIALIZED (SELECT u.name {C} AS name, u.called FROM ROWS FROM (pg_catalog.unnest($1), pg_catalog.unnest($2)) AS u(name, called)), \
         z AS MATERIALIZED ({about}), s AS MATERIALIZED ({sums}) \
         SELECT n.name, COALESCE(s.said, z.said, n.called), COALESCE({}, z.size, {})::pg_catalog.int8, COALESCE(s.said, z.said) IS NULL \
         FROM n LEFT JOIN z ON z.name OPERATOR(pg_catalog.=) n.name LEFT JOIN s ON s.name OPERATOR(pg_catalog.=) n.name",
        size("s.said"),
        size("n.called"),
    )
}

/// The distance of a document (d) to $1, as SQL.
fn by_distance(embedding: &DocumentColumn, distance: &Distance) -> String {
    by_distance_of(&embedding.of_row("d"), distance)
}

/// The distance of an embedding, given as SQL, to $1, as SQL.
fn by_distance_of(embedding: &str, distance: &Distance) -> String {
    format!("{embedding}{} {} $1::{}", distance.cast, distance.operator, distance.type_name)
}

/// The tokens of a text, as SQL: those that are counted, else one for four bytes.
fn tokens(counted: &str, text: &str) -> String {
    format!(
        "COALESCE({counted}, (pg_catalog.octet_length({text}) OPERATOR(pg_catalog.+) 3) OPERATOR(pg_catalog./) 4, \
            0)::pg_catalog.int4"
    )
}

/// The tokens that a document's column says, as SQL. NULL, or a negative value, is not a count. A count beyond the
/// range of integer becomes its maximum.
fn counted(of: &Documents) -> String {
    let integers = [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID];
    match of.tokens.as_ref().filter(|tokens| integers.contains(&tokens.type_oid)) {
        Some(tokens) => format!(
            "CASE WHEN {0} OPERATOR(pg_catalog.>=) 0 THEN LEAST({0}::pg_catalog.int8, 2147483647)::pg_catalog.int4 END",
            tokens.of_row("d")
        ),
        None => "NULL::pg_catalog.int4".into(),
    }
}

/// Whether a document, whose id is given as SQL, is that of a row of its mapping (m). The types' own comparison, or
/// that of texts where a cast of one of the types could be an ordinary role's.
fn same(of: &Documents, mapping: &Mapping, id: &str) -> String {
    let document = mapping.document.of_row("m");
    match trust::is_builtin(of.id.type_oid) && trust::is_builtin(mapping.document.type_oid) {
        true => format!("{id} OPERATOR(pg_catalog.=) {document}"),
        false => format!("{} {C} OPERATOR(pg_catalog.=) {}", of.id.as_text(id), mapping.document.as_text(&document)),
    }
}

/// The statement that counts the rows of a mapping that are within $2, up to $6.
pub fn count_within(mapping: &Mapping) -> String {
    format!(
        "SELECT pg_catalog.count(*) FROM (SELECT FROM {} AS m WHERE {} LIMIT $6) AS z",
        mapping.name,
        is_within(&mapping.entity, "m")
    )
}

/// Whether an entity is within $2 in the trees $5 of the hierarchy $3, as SQL. Keeps the type of the column, for a
/// plain index on it.
fn is_within(entity: &DocumentColumn, alias: &str) -> String {
    let value = entity.of_row(alias);
    let value = match entity.base {
        pg_sys::INT2OID | pg_sys::INT4OID => format!("{value}::pg_catalog.int4"),
        pg_sys::INT8OID => format!("{value}::pg_catalog.int8"),
        pg_sys::UUIDOID => format!("{value}::pg_catalog.uuid"),
        _ => entity.as_text(&value),
    };
    format!("cftrag_internal.cft_under({value}, $2, $3, $5)")
}

/// Whether an entity is n.name, as SQL: in a form that can use a plain index on the column. Names that are no values of
/// its type match nothing.
fn is_named(entity: &DocumentColumn, alias: &str) -> String {
    let value = entity.of_row(alias);
    let matches = |pattern: &str| format!("n.name OPERATOR(pg_catalog.~) '{pattern}'");
    match (entity.base, &entity.text_collation) {
        (_, Some(collation)) => format!("{value} OPERATOR(pg_catalog.=) n.name COLLATE {collation}"),
        (pg_sys::INT2OID | pg_sys::INT4OID | pg_sys::INT8OID, _) => format!(
            "{value} OPERATOR(pg_catalog.=) CASE WHEN {} THEN CASE WHEN n.name::pg_catalog.numeric OPERATOR(pg_catalog.>=) '-9223372036854775808'::pg_catalog.numeric \
             AND n.name::pg_catalog.numeric OPERATOR(pg_catalog.<=) '9223372036854775807'::pg_catalog.numeric THEN n.name::pg_catalog.int8 END END",
            matches("^(0|-?[1-9][0-9]{0,18})$")
        ),
        (pg_sys::UUIDOID, _) => format!(
            "{value} OPERATOR(pg_catalog.=) CASE WHEN {} THEN n.name::pg_catalog.uuid END",
            matches("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
        ),
        _ => format!("{} OPERATOR(pg_catalog.=) n.name {C}", entity.as_text(&value)),
    }
}

/// Whether a document (d) has a text, as SQL, after AND: one without it takes no place.
fn has_text(of: &Documents) -> String {
    let body = of.body.as_text(&of.body.of_row("d"));
    format!(" AND {body} {C} OPERATOR(pg_catalog.<>) ''")
}
