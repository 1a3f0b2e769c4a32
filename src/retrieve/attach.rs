//! What cft_attach_documents, cft_attach_embeddings, cft_attach_words, cft_attach_phrases and cft_attach_grants do:
//! check what they are told, register it (catalog/register.rs), and check what is registered. An error undoes the
//! registration, as it undoes the statement.
//!
//! A table that is attached already in this way is left alone, and no lock is waited for. The caller sets search_path
//! to pg_catalog, pg_temp: names in messages have their schema, and operators are the server's.

use crate::catalog::column_rules;
use crate::catalog::column_rules::type_name;
use crate::catalog::column_sql::text_of;
use crate::catalog::documents::{DocumentColumn, Documents, require_embedding};
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::name::display_name;
use crate::catalog::register::ForRole;
use crate::catalog::registered::{Kind, Which};
use crate::catalog::registration::Functions;
use crate::catalog::{privileges, register, registered, registration, trust, word_tables};
use crate::error;
use crate::error::Fallible;
use crate::pg::encoding;
use crate::pg::lookup;
use crate::retrieve::found::Found;
use crate::retrieve::links::NewLinks;
use crate::retrieve::{links, phrases, words};
use crate::serve::plans::Planning;
use pgrx::pg_sys;
use std::collections::BTreeMap;

/// A table of documents as it is to be attached.
pub struct NewDocuments {
    pub table: pg_sys::Oid,
    pub id: String,
    pub body: String,
    pub embedding: String,
    pub entity: Option<String>,
    pub tokens: Option<String>,
    pub metadata: Option<String>,
    pub search: Option<String>,
    pub sort: Option<String>,
    /// Columns that filters may name.
    pub filtered: Vec<String>,
    /// Columns that a prompt shows beside the text.
    pub show: Vec<String>,
    pub mapping: Option<NewMapping>,
    pub links: Option<NewLinks>,
}

/// A table that says which entities the documents are about, and its columns.
pub struct NewMapping {
    pub table: pg_sys::Oid,
    pub entity: String,
    pub document: String,
}

/// Columns that are shown, at most: a trigger has room for their names, a reader for no more.
const SHOWN: usize = 32;
/// Documents of which comparing all takes some ten milliseconds.
const MANY: i64 = 10_000;

impl NewDocuments {
    /// Attaches the table, in place of what it was attached as. A NOTICE says if no index serves searches of many
    /// documents.
    ///
    /// Errors: 22023 (an entity and a mapping), 54011 (many columns to show), 42701 (a column twice), 42804 (a column's
    /// type), 42883 (the ids of documents and of the mapping cannot be compared); those of [`register::set`].
    pub fn attach(&self, functions: Functions) -> Fallible<()> {
        if self.entity.is_some() && self.mapping.is_some() {
            return Err(error::entity_and_mapping());
        }
        if self.links.is_some() && self.mapping.is_some() {
            return Err(error::mapping_and_links());
        }
        if self.show.len() > SHOWN {
            return Err(error::too_many_shown(SHOWN));
        }
        if let Some(column) = self.repeated() {
            return Err(error::document_column_twice(column));
        }
        if self.is_attached(functions) {
            return Ok(());
        }
        self.check_entity()?;
        if let Some(links) = &self.links {
            links::wait_for_images(links.edges, links.matching, functions)?;
        }
        detach(self.table, functions)?;
        let function = Kind::Documents.function(functions);
        register::set(self.table, None, function, &self.columns(), functions)?;
        require_embedding(self.table, &self.embedding)?;
        let Some(of) = Documents::of(functions, Some(self.table), true)? else { return Ok(()) };
        self.check_types(&of)?;
        if of.search.is_some() {
            words::require(&of)?;
        }
        if let Some(mapping) = &self.mapping {
            let function = Kind::Mapping.function(functions);
            register::set(mapping.table, Some(self.table), function, &mapping.columns(), functions)?;
            mapping.compare(&of)?;
        }
        if let Some(links) = &self.links {
            links.make(&of, functions)?;
        }
        note_index(&of)
    }

    /// Each column, and what it is for.
    fn columns(&self) -> Vec<ForRole> {
        let all = [
            ("id", Some(&self.id)),
            ("body", Some(&self.body)),
            ("embedding", Some(&self.embedding)),
            ("entity", self.entity.as_ref()),
            ("tokens", self.tokens.as_ref()),
            ("metadata", self.metadata.as_ref()),
            ("search", self.search.as_ref()),
            ("sort", self.sort.as_ref()),
        ];
        let all = all.into_iter().filter_map(|(role, column)| Some((column?.clone(), role.to_string())));
        let numbered = |role, all: &[String]| {
            (1..).zip(all.to_vec()).map(move |(n, column): (usize, _)| (column, format!("{role}{n}"))) // bounded: columns of a table
        };
        let others = numbered("column", &self.filtered).chain(numbered("show", &self.show));
        all.chain(others).collect() // bounded: columns of a table
    }

    /// The column that is named twice: one column may be id, body and entity at once, but not the embedding.
    fn repeated(&self) -> Option<&str> {
        let others = [&self.entity, &self.tokens, &self.metadata, &self.search].into_iter().flatten();
        let is_twice = [&self.id, &self.body].into_iter().chain(others).any(|column| *column == self.embedding);
        let of_mapping = self.mapping.as_ref().filter(|mapping| mapping.entity == mapping.document);
        if is_twice { Some(&self.embedding) } else { of_mapping.map(|mapping| mapping.entity.as_str()) }
    }

    fn is_attached(&self, functions: Functions) -> bool {
        let own_table = Which { table: Some(self.table), ..Which::default() };
        let own = registered::readable(Kind::Documents.function(functions), own_table, None);
        let beside = Which { other: Some(self.table), ..Which::default() };
        let beside = registered::readable(Kind::Mapping.function(functions), beside, None);
        let mappings: BTreeMap<_, _> = beside.iter().map(|said| (u32::from(said.table), said.roles())).collect(); // bounded: triggers that name one table
        let has_mapping = match &self.mapping {
            Some(mapping) => {
                let columns = mapping.columns();
                mappings == BTreeMap::from([(u32::from(mapping.table), roles(&columns))])
            }
            None => mappings.is_empty() == self.links.is_none(),
        };
        let linked = registered::read(Kind::Links.function(functions), own_table, None);
        let is_linked = match (&self.links, &linked[..]) {
            (None, []) => true,
            (Some(links), [only]) => only.other == links.edges && only.roles() == roles(&links.columns(&self.body)),
            _ => false,
        };
        has_mapping && is_linked && matches!(&own[..], [only] if only.roles() == roles(&self.columns()))
    }

    /// 42804 if the column of entities holds several, with how to attach the documents.
    fn check_entity(&self) -> Fallible<()> {
        let Some(entity) = &self.entity else { return Ok(()) };
        let Some(of) = register::type_of(self.table, entity).filter(|of| register::holds_several(*of)) else {
            return Ok(());
        };
        let unnest = match of {
            pg_sys::JSONOID => "json_array_elements_text",
            pg_sys::JSONBOID => "jsonb_array_elements_text",
            _ => "unnest",
        };
        let (table, id) = (display_name(self.table), lookup::quoted(&self.id));
        let unnested = format!("{unnest}({})", lookup::quoted(entity));
        Err(error::documents_of_several(entity, &table, &id, &unnested, [&self.id, &self.body, &self.embedding]))
    }

    fn check_types(&self, of: &Documents) -> Fallible<()> {
        let table = || display_name(self.table);
        let mut ordered = of.columns.iter().chain(&of.sort);
        if let Some(column) = ordered.find(|column| !column.has_order()) {
            return Err(error::no_order_of_its_own(&column.name, &table()));
        }
        let integers = [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID];
        if let Some(tokens) = of.tokens.as_ref().filter(|tokens| !integers.contains(&tokens.type_oid)) {
            return Err(error::tokens_are_no_integer(&tokens.name, &table()));
        }
        match of.metadata.as_ref().filter(|metadata| metadata.type_oid != pg_sys::JSONBOID) {
            Some(metadata) => Err(error::metadata_is_no_jsonb(&metadata.name, &table())),
            None => Ok(()),
        }
    }
}

impl NewMapping {
    fn columns(&self) -> [ForRole; 2] {
        [(self.entity.clone(), "entity".into()), (self.document.clone(), "document".into())]
    }

    /// Plans a join of the documents to their mapping: an error says that the two columns cannot be compared.
    fn compare(&self, of: &Documents) -> Fallible<()> {
        let table = EdgesTable::open(self.table)?;
        let Some(document) = DocumentColumn::of(&table, &self.document) else { return Ok(()) };
        let (id, other) = (of.id.of_row("d"), document.of_row("m"));
        let same = match trust::is_builtin(of.id.type_oid) && trust::is_builtin(document.type_oid) {
            true => format!("{id} = {other}"),
            false => format!("{} COLLATE \"C\" = {}", of.id.as_text(&id), document.as_text(&other)),
        };
        let sql = format!("SELECT 1 FROM {} AS d JOIN {} AS m ON {same} LIMIT 0", of.name, table.qualified());
        Found::of(&[pg_sys::INT4OID]).run(&sql, Planning::Auto, &[]);
        Ok(())
    }
}

/// Detaches a table of documents and its mappings; mappings of other owners are left alone. Errors: 42P01 (not
/// attached), 42501 (not the owner).
pub fn detach_documents(table: pg_sys::Oid, functions: Functions) -> Fallible<()> {
    match detach(table, functions)? {
        true => Ok(()),
        false => Err(error::no_documents(&display_name(table), None)),
    }
}

/// Returns whether anything was there: a column that was dropped with CASCADE has taken some of it along.
fn detach(table: pg_sys::Oid, functions: Functions) -> Fallible<bool> {
    let of = [Kind::Documents.function(functions), functions.of_name(c"cft_link")];
    if registration::triggers_of(table, |form| of.contains(&form.tgfoid)).is_empty() {
        return Ok(false);
    }
    register::unset(table, None, Kind::Documents.function(functions))?;
    links::remove(table, functions)?;
    let function = Kind::Mapping.function(functions);
    let all = registered::tables_beside(table, &[function]);
    for mapping in all.into_iter().filter(|mapping| privileges::is_owner(*mapping)) {
        register::unset(mapping, Some(table), function)?;
    }
    Ok(true)
}

/// Attaches a table of embeddings of the entities of `edges`, in place of what it was attached as for them. Errors:
/// 42701, 55000 (another table is attached), 42804 (no embedding); those of [`register::set`].
pub fn embeddings(
    table: pg_sys::Oid,
    entity: String,
    embedding: String,
    edges: pg_sys::Oid,
    functions: Functions,
) -> Fallible<()> {
    if entity == embedding {
        return Err(error::must_differ("entity", "embedding"));
    }
    let function = Kind::Embeddings.function(functions);
    require_no_other("embeddings", table, edges, function)?;
    let columns = [(entity, "entity".into()), (embedding.clone(), "embedding".into())];
    register::set(table, Some(edges), function, &columns, functions)?;
    require_embedding(table, &embedding)
}

/// Attaches a table of word classes for the names of `edges`, in place of what it was attached as for them. A NOTICE
/// says if texts have none of some words. Errors: 42701; those of [`register::set`].
pub fn word_classes(
    table: pg_sys::Oid,
    word: String,
    class: String,
    edges: pg_sys::Oid,
    functions: Functions,
) -> Fallible<()> {
    if word == class {
        return Err(error::must_differ("word", "class"));
    }
    let function = Kind::Words.function(functions);
    let columns = [(word.clone(), "word".to_string()), (class, "class".to_string())];
    if is_attached(table, edges, function, &columns) {
        return Ok(());
    }
    register::set(table, Some(edges), function, &columns, functions)?;
    let words = EdgesTable::open(table)?;
    // A table of many words would take seconds.
    let sql = format!(
        "SELECT count(*)::int4, min(z.word COLLATE \"C\") FROM (SELECT {} AS word FROM {} AS r LIMIT 10000) AS z \
          WHERE z.word IS NOT NULL AND (SELECT count(*) <> 1 OR bool_or(w.lower <> convert_to(z.word, 'UTF8')) FROM cftrag_internal.cft_words(z.word) AS w)",
        text_of(&words, &word),
        words.qualified()
    );
    drop(words);
    let mut missed = Found::of(&[pg_sys::INT4OID, pg_sys::TEXTOID]);
    missed.run(&sql, Planning::Auto, &[]);
    missed.each(|row| {
        if let (Some(count @ 1..), Some(first)) = (row.int(0), row.text(1)) {
            error::notice_words_in_no_text(&display_name(table), count, &encoding::decode(first));
        }
        Ok(())
    })
}

/// Attaches a table of grants on the entities of `edges`, in place of what it was attached as for them. Errors: 42701;
/// 55000 (it has the grants of another edges table); 42804 (`allow` is not boolean); those of [`register::set`].
pub fn grants(table: pg_sys::Oid, columns: &[ForRole], edges: pg_sys::Oid, functions: Functions) -> Fallible<()> {
    for (n, (column, role)) in columns.iter().enumerate() {
        if let Some((_, other)) = columns[..n].iter().find(|(known, _)| known == column) {
            return Err(error::must_differ(other, role));
        }
    }
    let function = Kind::Grants.function(functions);
    privileges::require_owner(table)?;
    let said = registered::read(function, Which { table: Some(table), ..Which::default() }, None);
    let others = said.iter().map(|said| said.other);
    if let Some(other) = others.filter(|other| *other != edges).find(|other| trust::counts_beside(table, *other)) {
        return Err(error::grants_of_another(&display_name(table), &display_name(other)));
    }
    if !is_attached(table, edges, function, columns) {
        register::unset(table, None, function)?;
        register::set(table, Some(edges), function, columns, functions)?;
    }
    let of = EdgesTable::open(table)?;
    let entity = columns.iter().find(|(_, role)| role == "entity").and_then(|(name, _)| Some((name, of.column(name)?)));
    if let Some((name, column)) = entity {
        column_rules::check_names(&of, name, &column)?;
    }
    let allow = columns.iter().find(|(_, role)| role == "allow").and_then(|(name, _)| Some((name, of.column(name)?)));
    match allow {
        Some((name, column)) if column.type_oid != u32::from(pg_sys::BOOLOID) => {
            Err(error::allow_not_boolean(name, &type_name(column.type_oid.into())))
        }
        _ => Ok(()),
    }
}

/// Attaches a table of phrases for the sentences about the entities of `edges`, in place of what it was attached as for
/// them. Errors: 55000 (another table is attached), 22023 (a row has what is no format); those of [`register::set`].
pub fn phrases(table: pg_sys::Oid, columns: &[ForRole], edges: pg_sys::Oid, functions: Functions) -> Fallible<()> {
    require_no_other("phrases", table, edges, functions.phrases())?;
    if !is_attached(table, edges, functions.phrases(), columns) {
        register::set(table, Some(edges), functions.phrases(), columns, functions)?;
    }
    match word_tables::phrases(edges, functions) {
        Some((table, said)) => phrases::check(&table, &said),
        None => Ok(()),
    }
}

/// 55000 if another table that counts is attached to `edges` in that way.
fn require_no_other(what: &str, table: pg_sys::Oid, edges: pg_sys::Oid, function: pg_sys::Oid) -> Fallible<()> {
    let others = registered::read(function, Which { other: Some(edges), ..Which::default() }, None);
    let others = others.iter().map(|said| said.table).filter(|of| *of != table && trust::counts_beside(*of, edges));
    let others: Vec<_> = others.map(display_name).collect(); // bounded: triggers that name one table
    match others.is_empty() {
        true => Ok(()),
        false => Err(error::other_attached(what, &display_name(edges), &others.join(", "))),
    }
}

/// Whether a table is attached to `edges` by these columns already.
fn is_attached(table: pg_sys::Oid, edges: pg_sys::Oid, function: pg_sys::Oid, columns: &[ForRole]) -> bool {
    let mut said = registered::read(function, Which { other: Some(edges), ..Which::default() }, None);
    said.retain(|said| said.table == table);
    !said.is_empty() && said.iter().all(|said| said.roles() == roles(columns))
}

/// A NOTICE if there are many documents and no index orders them by distance.
fn note_index(of: &Documents) -> Fallible<()> {
    let (rows, column, distance) = (of.rows()?, &of.embedding, &of.distance);
    if !distance.has_index && rows >= MANY {
        let name = lookup::quoted(&column.name);
        error::notice_no_index(&of.shown, &name, &distance.type_name, column.modifier, rows);
    }
    Ok(())
}

/// The column of each role.
fn roles(columns: &[ForRole]) -> BTreeMap<&str, &str> {
    columns.iter().map(|(column, role)| (role.as_str(), column.as_str())).collect() // bounded: columns of a table
}
