//! Every error a user can cause: its SQLSTATE, its words, its hint. Nothing else in src/ writes an error message.
//!
//! ERROR: lower case, no full stop, the value in quotes. DETAIL and HINT: sentences. Our own bugs panic (XX000).

use crate::pg::shm::Shm;
use cftrag_core::Language;
use cftrag_methods::PictureFormat;
pub use pgrx::pg_sys::panic::ErrorReport as Report;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::PgSqlErrorCode as Code;

pub type Fallible<T> = Result<T, ErrorReport>;

/// The most levels that a call may ask for. The reference query's cost is linear in it on cyclic data; no hierarchy we
/// know is deeper than 40.
pub const MAX_LEVELS: i32 = 1000;

fn report(code: Code, message: String) -> ErrorReport {
    ErrorReport::new(code, crate::pg::encoding::shown(&message), "cftrag")
}

/// `what` is "aliases" or "labels".
pub fn names_of_itself(table: &str, what: &str) -> ErrorReport {
    let hint = match what {
        "labels" => "Name the column of labels in cft_attach, as \"label\".",
        _ => "Keep aliases in a table of their own, with a column for the alias and one for the entity.",
    };
    report(
        Code::ERRCODE_INVALID_PARAMETER_VALUE,
        format!("table \"{table}\" cannot be the table of {what} of its own entities"),
    )
    .set_hint(hint)
}

/// `what` is what the column holds: names or entities.
pub fn no_such_name_column(table: &str, column: &str, what: &str, listed: &str) -> ErrorReport {
    report(Code::ERRCODE_UNDEFINED_COLUMN, format!("column \"{column}\" of table \"{table}\" does not exist"))
        .set_hint(format!("Pass the table's column of {what} when you attach it; the table {listed}"))
}

/// The table is attached already, as something else.
pub fn attached_otherwise(table: &str, what: &str) -> ErrorReport {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("table \"{table}\" is attached to cftrag already, as {what}"),
    )
    .set_hint("Detach it with cft_detach first, or keep these names in a table of their own.")
}

pub fn filter_is_no_object() -> ErrorReport {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, "\"filter\" must be a JSON object".into()).set_hint(
        "Pass an object, for example {\"language\": \"en\"}: it selects the documents whose metadata contain it.",
    )
}

pub fn no_filter_operator(name: &str, known: &str) -> ErrorReport {
    let name = quoted(crate::pg::encoding::encode(name).as_ref()).to_string();
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, format!("\"filter\" has no operator \"{name}\""))
        .set_hint(format!("The operators are {known}."))
}

/// A filter that compares a column with an object or an array.
pub fn filter_of_object(column: &str) -> ErrorReport {
    report(
        Code::ERRCODE_INVALID_PARAMETER_VALUE,
        format!("\"filter\" compares column \"{column}\" with no single value"),
    )
    .set_hint(
        "Operators begin with $, for example {\"price\": {\"$lt\": 60}}; one of several values is {\"$in\": [1, 2]}.",
    )
}

pub fn filter_operator_takes(name: &str, what: &str) -> ErrorReport {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, format!("\"{name}\" in \"filter\" must be {what}"))
}

pub fn long_filter(most: usize) -> ErrorReport {
    report(Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED, format!("\"filter\" is longer than {most} bytes"))
}

pub fn many_conditions(most: usize) -> ErrorReport {
    report(Code::ERRCODE_STATEMENT_TOO_COMPLEX, format!("\"filter\" has more than {most} conditions"))
}

pub fn no_entity_type() -> ErrorReport {
    report(Code::ERRCODE_DATATYPE_MISMATCH, "entities must be of type text, integer, bigint or uuid".into())
}

/// The embedding to search by does not have the column's dimensions.
pub fn dimensions_differ(given: i16, wanted: i32, column: &str) -> ErrorReport {
    report(Code::ERRCODE_DATA_EXCEPTION, format!("the embedding has {given} dimensions, not {wanted}"))
        .set_hint(format!("Compute it with the model that computed those of {column}."))
}

/// The edges table has labels already: in a column or, if `labels` is given, in that table.
pub fn labelled_otherwise(table: &str, labels: Option<&str>) -> ErrorReport {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("the entities of table \"{table}\" have labels already"),
    )
    .set_detail(match labels {
        Some(labels) => format!("They are in table \"{labels}\"."),
        None => "They are in a column of it.".into(),
    })
    .set_hint(match labels {
        Some(_) => "Detach that one with cft_detach.",
        None => "Attach it again with cft_attach, without that column.",
    })
}

pub fn not_utf8() -> ErrorReport {
    report(Code::ERRCODE_CHARACTER_NOT_IN_REPERTOIRE, "the text is not UTF-8".into())
        .set_detail("In a SQL_ASCII database, cftrag reads texts as UTF-8.")
}

pub fn two_characters_for_one() -> ErrorReport {
    report(
        Code::ERRCODE_FEATURE_NOT_SUPPORTED,
        "cft_entities does not support the database encoding EUC_JIS_2004".into(),
    )
    .set_detail("Some of its characters convert to two Unicode characters, so positions would be wrong.")
    .set_hint("Use a database of encoding UTF8.")
}

pub fn not_attached(table: &str, hint: String) -> ErrorReport {
    report(Code::ERRCODE_UNDEFINED_TABLE, format!("table \"{table}\" is not attached to cftrag"))
        .set_hint(crate::pg::encoding::shown(&hint))
}

/// `tables` are all attached tables that the caller may read, qualified.
pub fn unclear_edges(tables: &[String]) -> ErrorReport {
    let Some(first) = tables.first() else {
        return report(Code::ERRCODE_UNDEFINED_TABLE, "no table that you may read is attached to cftrag".into())
            .set_hint(
                "Attach one with cft_attach, which takes the table and its columns of parents and children, or \
                ask for SELECT on one that is attached.",
            );
    };
    report(
        Code::ERRCODE_AMBIGUOUS_FUNCTION,
        "\"edges\" was left out, and search_path does not show exactly one table that is attached to cftrag".into(),
    )
    .set_detail(format!("Attached tables that you may read: {}.", tables.join(", ")))
    .set_hint(format!("Say which one: edges => '{0}'.", first.replace('\'', "''")))
}

/// `tables` are all tables of documents that the caller may read, qualified.
pub fn documents_left_out(tables: &[String]) -> ErrorReport {
    let Some(first) = tables.first() else {
        return report(
            Code::ERRCODE_UNDEFINED_TABLE,
            "no table of documents that you may read is attached to cftrag".into(),
        )
        .set_hint("Attach one with cft_attach_documents, which takes the table and its columns: id, body, embedding.");
    };
    report(
        Code::ERRCODE_AMBIGUOUS_FUNCTION,
        "\"documents\" was left out, and search_path does not show exactly one table of documents that is attached to \
            cftrag"
            .into(),
    )
    .set_detail(format!("Attached tables that you may read: {}.", tables.join(", ")))
    .set_hint(format!("Say which one: documents => '{}'.", first.replace('\'', "''")))
}

/// `listed`: what the table has, and whether it has columns of the usual names.
pub fn no_documents(table: &str, listed: Option<(String, bool)>) -> ErrorReport {
    let error = report(Code::ERRCODE_UNDEFINED_TABLE, format!("table {table} has no documents attached to cftrag"));
    match listed {
        Some((_, true)) => {
            error.set_hint(format!("Attach it with: SELECT cft_attach_documents('{}');", table.replace('\'', "''")))
        }
        Some((listed, false)) => error.set_hint(crate::pg::encoding::shown(&format!(
            "Attach it with cft_attach_documents, which takes its columns of ids, texts and embeddings; it {listed}"
        ))),
        None => error,
    }
}

pub fn documents_without_entities(table: &str) -> ErrorReport {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("the documents of {table} are not attached to entities"),
    )
    .set_hint(format!(
        "Attach {table} again with cft_attach_documents and the columns it has now, and entity => its column of the \
            entity that a document is about, or mapping => a table of entities and documents."
    ))
}

pub fn documents_without_words(table: &str) -> ErrorReport {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("{table} is attached without a column to search by words"),
    )
    .set_hint(format!(
        "Attach {table} again with cft_attach_documents and the columns it has now, and search => its column of type \
            tsvector, or of texts with an index on to_tsvector."
    ))
}

pub fn no_metadata(table: &str) -> ErrorReport {
    report(Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, format!("{table} is attached without metadata")).set_hint(
        "Attach documents with cft_attach_documents, metadata => their column of type jsonb; embeddings of entities \
            have none.",
    )
}

pub fn metadata_is_no_jsonb(column: &str, table: &str) -> ErrorReport {
    report(Code::ERRCODE_DATATYPE_MISMATCH, format!("column \"{column}\" of table {table} is no jsonb"))
}

pub fn no_embedding(column: &str, table: &str) -> ErrorReport {
    report(Code::ERRCODE_DATATYPE_MISMATCH, format!("column \"{column}\" of table {table} is no embedding"))
        .set_hint("Embeddings are of a type of pgvector: vector, halfvec or sparsevec.")
}

/// Neither a table of embeddings nor documents about entities are attached.
pub fn no_embeddings(edges: &str) -> ErrorReport {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("no embeddings of the entities of {edges} that you may read are attached to cftrag"),
    )
    .set_hint(format!("Attach a table of them with cft_attach_embeddings, edges => '{}'.", edges.replace('\'', "''")))
}

/// `text`: the column in quotes, if it is one of texts.
pub fn no_words(column: &str, table: &str, text: Option<&str>) -> ErrorReport {
    let index = |text| format!(", for example: CREATE INDEX ON {table} USING gin (to_tsvector('english', {text}))");
    let example = text.map(index).unwrap_or_default();
    report(Code::ERRCODE_DATATYPE_MISMATCH, format!("column \"{column}\" of table {table} cannot be searched by words"))
        .set_hint(format!("Name a column of type tsvector, or of texts with an index for it{example}."))
}

pub fn entity_and_mapping() -> ErrorReport {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, "\"entity\" and \"mapping\" exclude each other".into())
        .set_detail("A document is about the entity in its own column, or about those that the mapping table gives it.")
}

pub fn mapping_and_links() -> ErrorReport {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, "\"mapping\" and \"link\" exclude each other".into())
        .set_detail("What documents are about is in the mapping table, or in one that cftrag makes and fills.")
}

/// `why`: what the table is.
pub fn links_of(table: &str, why: &str) -> ErrorReport {
    report(Code::ERRCODE_WRONG_OBJECT_TYPE, format!("cannot link the documents of {table}: it is {why}"))
        .set_detail("Links are kept by triggers after each statement, which see all changes of a plain table only.")
}

pub fn links_need_unique_id(column: &str, table: &str) -> ErrorReport {
    report(
        Code::ERRCODE_INVALID_FOREIGN_KEY,
        format!(
            "cannot link the documents of {table}: no unique index on \"{column}\" alone says which document is meant"
        ),
    )
    .set_hint("Name the primary key as the id (of chunks, theirs), of one of the server's own types.")
}

/// No background worker could be started to look for changed names in documents.
pub fn warn_not_linked(table: &str) {
    report(
        Code::ERRCODE_INSUFFICIENT_RESOURCES,
        format!("the documents of \"{table}\" are not searched for the names that have changed"),
    )
    .set_detail("No background worker is free.")
    .set_hint("Call cft_relink, or increase max_worker_processes.")
    .report(pgrx::PgLogLevel::WARNING);
}

/// The linker failed, and will try again.
pub fn log_linker(message: &str) {
    report(Code::ERRCODE_WARNING, format!("cftrag linker: {message}"))
        .set_detail("It tries again in a minute.")
        .report(pgrx::PgLogLevel::LOG);
}

/// Which tables are asked most could not be written to a file.
pub fn log_not_kept(error: &std::io::Error) {
    report(Code::ERRCODE_WARNING, format!("cftrag launcher: which tables are asked most is not kept: {error}"))
        .set_detail("At the next start, images are built in another order.")
        .report(pgrx::PgLogLevel::LOG);
}

/// The verifier could not check a table, and will try again.
pub fn log_verifier(message: &str) {
    report(Code::ERRCODE_WARNING, format!("cftrag verifier: {message}"))
        .set_detail("It tries again later.")
        .report(pgrx::PgLogLevel::LOG);
}

/// A background worker has found that an image is not its table's.
pub fn warn_verified(table: &str, problems: u64, first: &str) {
    report(
        Code::ERRCODE_DATA_CORRUPTED,
        format!("the image of table \"{table}\" has problems, as cft_verify finds them: {problems}"),
    )
    .set_detail(format!("The first: {first}."))
    .set_hint(crate::pg::encoding::shown(&format!("SELECT cft_build('{table}');")))
    .report(pgrx::PgLogLevel::WARNING);
}

/// The table of links does not count any more.
pub fn warn_no_links(table: &str) {
    report(Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, format!("the links of {table} are not kept"))
        .set_detail(
            "Their table is gone, or belongs to another role than the documents, these have become a \
            partition or a child, or the names cannot be read.",
        )
        .set_hint(
            "Give both tables to one role, attach the edges again if their columns have other names, and call \
            cft_relink; or attach the documents again with cft_attach_documents.",
        )
        .report(pgrx::PgLogLevel::WARNING);
}

pub fn not_linked(table: &str) -> ErrorReport {
    report(Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, format!("the documents of {table} are not linked"))
        .set_hint(format!("Attach {table} again with cft_attach_documents, and link => true."))
}

pub fn document_column_twice(column: &str) -> ErrorReport {
    report(Code::ERRCODE_DUPLICATE_COLUMN, format!("column \"{column}\" is named twice"))
        .set_hint("The embedding must be a column of its own, and so must the entity and the document of a mapping.")
}

/// Documents whose column of entities holds several. `id` and `unnested`: the documents' id and those entities, as SQL;
/// then the columns to attach.
pub fn documents_of_several(
    column: &str,
    table: &str,
    id: &str,
    unnested: &str,
    [id_column, body, embedding]: [&str; 3],
) -> ErrorReport {
    let literal = |text: &str| format!("'{}'", text.replace('\'', "''"));
    several_entities(column, table).set_hint(crate::pg::encoding::shown(&format!(
        "Say which entities a document is about in a table of pairs: CREATE TABLE document_entities AS SELECT {id} AS document_id, {unnested} AS entity FROM {table}; \
         SELECT cft_attach_documents({}, id => {}, body => {}, embedding => {}, mapping => 'document_entities');",
        literal(table),
        literal(id_column),
        literal(body),
        literal(embedding)
    )))
}

pub fn no_order_of_its_own(column: &str, table: &str) -> ErrorReport {
    report(
        Code::ERRCODE_DATATYPE_MISMATCH,
        format!("column \"{column}\" of table {table} has no order of the server's own"),
    )
    .set_hint(
        "Filters and the order of documents take columns of the server's own types that have an order: numbers, \
        texts, booleans, dates, uuid.",
    )
}

pub fn tokens_are_no_integer(column: &str, table: &str) -> ErrorReport {
    report(Code::ERRCODE_DATATYPE_MISMATCH, format!("column \"{column}\" of table {table} is no integer"))
}

pub fn must_differ(one: &str, other: &str) -> ErrorReport {
    report(Code::ERRCODE_DUPLICATE_COLUMN, format!("{one} and {other} must be different columns"))
}

/// `what`: embeddings, or phrases; `others`: the tables of them that the edges table has.
pub fn other_attached(what: &str, edges: &str, others: &str) -> ErrorReport {
    report(Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, format!("another table of {what} is attached to {edges}"))
        .set_detail(format!("It is {}.", crate::pg::encoding::shown(others)))
        .set_hint("Detach it with cft_detach.")
}

/// A table of grants belongs to one edges table.
pub fn grants_of_another(grants: &str, edges: &str) -> ErrorReport {
    report(Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, format!("{grants} has the grants of {edges}"))
        .set_hint("Detach it with cft_detach: what asks it then asks the other table.")
}

/// The NOTICE that texts have none of some words of a table: `count` of them, and the first.
pub fn notice_words_in_no_text(table: &str, count: i32, first: &str) {
    report(Code::ERRCODE_SUCCESSFUL_COMPLETION, format!("of the words of table {table}, {count} are found in no text"))
        .set_detail(crate::pg::encoding::shown(&format!("One is \"{first}\": it has capitals, or is not one word.")))
        .set_hint(
            "Write single words, in lower case: texts are compared without case. Expressions of several words are \
        aliases (cft_attach_aliases).",
        )
        .report(pgrx::PgLogLevel::NOTICE);
}

pub fn zero_embedding() -> ErrorReport {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, "the embedding is zero".into())
        .set_detail("It has no direction, so no cosine distance to anything.")
}

/// The NOTICE that an entity is asked for by something else than its integer id.
pub fn notice_no_id(name: &[u8], table: &str) {
    let name = quoted(name);
    report(
        Code::ERRCODE_SUCCESSFUL_COMPLETION,
        format!("\"{name}\" is no id: entities of table \"{table}\" are integers, and called by labels"),
    )
    .set_hint(format!(
        "cft_resolve('{}', edges => '{}') says which id it may be; cft_entities finds labels in a text.",
        name.replace('\'', "''"),
        table.replace('\'', "''")
    ))
    .report(pgrx::PgLogLevel::NOTICE);
}

/// `column`: as SQL. `dimensions`: as the column declares them; -1 if it does not.
pub fn notice_no_index(table: &str, column: &str, type_name: &str, dimensions: i32, rows: i64) {
    let kind = type_name.rsplit('.').next().unwrap_or_default().trim_matches('"');
    // pgvector's indexes hold vectors of up to 2000 dimensions, halfvecs of 4000.
    let line = match kind {
        "vector" if dimensions > 2000 => format!("(({column}::halfvec({dimensions})) halfvec_cosine_ops)"),
        kind => format!("({column} {kind}_cosine_ops)"),
    };
    let line = if dimensions < 0 { String::new() } else { format!(": CREATE INDEX ON {table} USING hnsw {line}") };
    report(
        Code::ERRCODE_SUCCESSFUL_COMPLETION,
        format!("no index serves searches of the nearest of the {rows} documents of table {table}"),
    )
    .set_detail("All distances are compared at each call.")
    .set_hint(format!("Create one by pgvector's hnsw or ivfflat, of all rows{line}."))
    .report(pgrx::PgLogLevel::NOTICE);
}

pub fn null_arguments(arguments: &str) -> ErrorReport {
    report(Code::ERRCODE_NULL_VALUE_NOT_ALLOWED, format!("{arguments} must not be null"))
}

pub fn no_such_search(by: &[u8]) -> ErrorReport {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, format!("there is no search by \"{}\"", quoted(by)))
}

pub fn no_such_mode(mode: &[u8]) -> ErrorReport {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, format!("there is no mode \"{}\"", quoted(mode)))
        .set_hint("The modes are cft, hybrid, text, naive, ann_tree and ann_graph.")
}

pub fn no_such_expansion(name: &[u8]) -> ErrorReport {
    report(
        Code::ERRCODE_INVALID_PARAMETER_VALUE,
        format!("\"expand\" must be \"siblings\" or \"parent\", not \"{}\"", quoted(name)),
    )
}

pub fn no_such_descent(mode: &[u8]) -> ErrorReport {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, format!("there is no mode \"{}\"", quoted(mode)))
        .set_hint("The modes are prune, beam and collapsed.")
}

pub fn not_between(argument: &str, range: &str, value: &str) -> ErrorReport {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, format!("\"{argument}\" must be between {range}, but is {value}"))
}

pub fn less_than_one(argument: &str, value: i32) -> ErrorReport {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, format!("\"{argument}\" must be at least 1, but is {value}"))
}

pub fn nan(arguments: &str) -> ErrorReport {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, format!("{arguments} must not be NaN"))
}

pub fn bad_shares() -> ErrorReport {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, "shares must not be negative, nor more than 1 together".into())
}

pub fn no_such_function(oid: u32) -> ErrorReport {
    report(Code::ERRCODE_UNDEFINED_FUNCTION, format!("function with OID {oid} does not exist"))
}

pub fn no_such_table(oid: u32) -> ErrorReport {
    report(Code::ERRCODE_UNDEFINED_TABLE, format!("table with OID {oid} does not exist"))
}

/// The table of a registration may belong to another only if its owner may say so (catalog/trust.rs).
pub fn not_owner_of_other(table: &str, other: &str) -> ErrorReport {
    report(
        Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
        format!("the owner of table {table} must own {other}, or be able to SET ROLE to its owner"),
    )
}

pub fn temporary_beside(table: &str, other: &str) -> ErrorReport {
    report(Code::ERRCODE_INVALID_TABLE_DEFINITION, format!("table {table} is temporary, and {other} is not"))
}

pub fn not_a_table(table: &str) -> ErrorReport {
    report(Code::ERRCODE_WRONG_OBJECT_TYPE, format!("\"{table}\" cannot be attached to cftrag: it is not a table"))
}

/// `listed`: columns of the table.
pub fn column_not_there(column: &str, table: &str, listed: &str) -> ErrorReport {
    report(Code::ERRCODE_UNDEFINED_COLUMN, format!("column \"{column}\" of table \"{table}\" does not exist"))
        .set_hint(crate::pg::encoding::shown(&format!("The table has the columns {listed}.")))
}

pub fn several_entities(column: &str, table: &str) -> ErrorReport {
    report(Code::ERRCODE_DATATYPE_MISMATCH, format!("column \"{column}\" of table {table} holds several entities"))
        .set_hint("Keep a row for each entity.")
}

/// A table may belong to another only if its owner may say so (catalog/trust.rs).
pub fn not_owner_beside(table: &str, beside: &str) -> ErrorReport {
    report(
        Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
        format!("the owner of table \"{table}\" must own \"{beside}\", or be able to SET ROLE to its owner"),
    )
}

pub fn wrong_kind(table: &str, why: &str) -> ErrorReport {
    report(Code::ERRCODE_WRONG_OBJECT_TYPE, format!("\"{table}\" cannot be attached to cftrag: it is {why}"))
        .set_detail(match why {
            "a temporary table" => "Only its own session sees a temporary table, so there is nothing to share.",
            _ => {
                "cftrag follows a table by row triggers; they see every change of a plain heap table without \
                children, and of nothing else."
            }
        })
        .set_hint("Attach a plain table, for example one that a query or a trigger fills from this one.")
}

pub fn no_such_column(table: &str, column: &str, argument: &str, listed: &str) -> ErrorReport {
    report(Code::ERRCODE_UNDEFINED_COLUMN, format!("column \"{column}\" of table \"{table}\" does not exist")).set_hint(
        crate::pg::encoding::shown(&format!("Pass its name to cft_attach as \"{argument}\"; the table {listed}")),
    )
}

pub fn no_raw_column(table: &str, column: &str) -> ErrorReport {
    report(Code::ERRCODE_UNDEFINED_COLUMN, format!("column \"{column}\" of relation \"{table}\" does not exist"))
}

pub fn same_column(column: &str) -> ErrorReport {
    report(Code::ERRCODE_DUPLICATE_COLUMN, format!("column \"{column}\" is named twice"))
        .set_hint("Parent, child, tree, label and other names must be different columns.")
}

pub fn not_boolean(column: &str, type_name: &str) -> ErrorReport {
    report(Code::ERRCODE_DATATYPE_MISMATCH, format!("column \"{column}\" has type {type_name}, not boolean")).set_hint(
        "\"preferred\" is a column of type boolean which says that a label is preferred to others of its entity.",
    )
}

/// A policy asks about the table that it is of.
pub fn endless() -> ErrorReport {
    report(
        Code::ERRCODE_INVALID_OBJECT_DEFINITION,
        "infinite recursion detected in a question about a hierarchy".into(),
    )
    .set_detail("A policy of a table that is read for the answer asks the same question.")
    .set_hint("In the policy ask in a function with SECURITY DEFINER, whose owner no policy binds.")
}

/// A table has no grants attached.
pub fn no_grants(table: &str) -> ErrorReport {
    report(Code::ERRCODE_UNDEFINED_TABLE, format!("table {table} has no grants attached to cftrag"))
        .set_hint("Attach it with cft_attach_grants, which takes its columns of entities and roles.")
}

/// Policies hide what may refuse.
pub fn hidden_grants(table: &str) -> ErrorReport {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("row-level security of table {table} hides what cft_allowed needs"),
    )
    .set_detail("What is hidden cannot refuse, so that hiding it would give rights.")
    .set_hint("Ask in a function with SECURITY DEFINER, whose owner no policy binds.")
}

/// The grants' column that says whether they allow has another type.
pub fn allow_not_boolean(column: &str, type_name: &str) -> ErrorReport {
    report(Code::ERRCODE_DATATYPE_MISMATCH, format!("column \"{column}\" has type {type_name}, not boolean"))
        .set_hint("\"allow\" is a column of type boolean: true for a grant, false for a refusal.")
}

/// There is no such law.
pub fn no_law(name: &str) -> ErrorReport {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, format!("there is no law \"{name}\""))
        .set_hint("The laws are: union, intersection, nearest.")
}

pub fn too_many_names(most: usize) -> ErrorReport {
    report(Code::ERRCODE_TOO_MANY_COLUMNS, format!("\"names\" may have at most {most} columns"))
        .set_hint("Attach a table of aliases, with a row for each name, with cft_attach_aliases.")
}

pub fn too_many_shown(most: usize) -> ErrorReport {
    report(Code::ERRCODE_TOO_MANY_COLUMNS, format!("\"show\" may have at most {most} columns"))
        .set_hint("Show a column that is generated from the others.")
}

pub fn names_without_label() -> ErrorReport {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, "\"names\" needs a column of labels".into()).set_hint(
        "Say with \"label\" what the child is called first, or attach a table of aliases with cft_attach_aliases.",
    )
}

pub fn wrong_type(column: &str, type_name: &str) -> ErrorReport {
    report(
        Code::ERRCODE_DATATYPE_MISMATCH,
        format!("column \"{column}\" has type {type_name}, which cannot hold names"),
    )
    .set_detail(match type_name.rsplit('.').next() {
        Some("citext") => "Names are compared as they are written; citext takes names for equal that differ in case.",
        _ => {
            "The trigger must write a value byte for byte as the type's output function does, and for this type it \
            cannot know that."
        }
    })
    .set_hint(
        "Use a column of type text, varchar, char, name, smallint, integer, bigint, uuid or numeric(n), or of a \
        domain over one.",
    )
}

pub fn numeric_with_scale(column: &str) -> ErrorReport {
    report(
        Code::ERRCODE_DATATYPE_MISMATCH,
        format!("column \"{column}\" is of type numeric with a scale, or without a precision"),
    )
    .set_detail("Equal numbers may be written differently there, as 1 and 1.0; names are compared as they are written.")
    .set_hint("Use numeric(n), which has no scale, or bigint.")
}

pub fn not_a_cycle_trigger() -> ErrorReport {
    report(
        Code::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
        "function \"cft_reject_cycles\" was not called by a trigger AFTER INSERT OR UPDATE FOR EACH ROW without \
            arguments"
            .into(),
    )
    .set_hint(
        "CREATE CONSTRAINT TRIGGER no_cycles AFTER INSERT OR UPDATE ON my_edges FOR EACH ROW \
         EXECUTE FUNCTION cft_reject_cycles();",
    )
}

pub fn no_cycles_to_check(table: &str, why: &str) -> ErrorReport {
    report(Code::ERRCODE_WRONG_OBJECT_TYPE, format!("cft_reject_cycles cannot check \"{table}\": it is {why}"))
        .set_detail("A cycle may lead through rows that are in other tables, where no trigger sees them.")
        .set_hint("Put the trigger on a plain table.")
}

pub fn closes_cycle(table: &str, trigger: &str, path: Option<&str>) -> ErrorReport {
    let trigger = crate::pg::encoding::shown(trigger);
    report(
        Code::ERRCODE_CHECK_VIOLATION,
        format!("new row for relation \"{table}\" violates constraint trigger \"{trigger}\""),
    )
    .set_detail(match path {
        Some(path) => format!("It closes a cycle: {}.", crate::pg::encoding::shown(path)),
        None => "It closes a cycle.".into(),
    })
}

pub fn nondeterministic_collation(column: &str) -> ErrorReport {
    report(
        Code::ERRCODE_FEATURE_NOT_SUPPORTED,
        format!("column \"{column}\" has a nondeterministic collation, which cftrag does not support"),
    )
    .set_detail("cftrag compares names byte by byte; under this collation different bytes can be equal.")
    .set_hint("Give the column a deterministic collation, for example COLLATE \"C\".")
}

pub fn virtual_column(column: &str) -> ErrorReport {
    report(
        Code::ERRCODE_FEATURE_NOT_SUPPORTED,
        format!("column \"{column}\" is a virtual generated column, which cftrag does not support"),
    )
    .set_detail("Its values are not stored, so a trigger cannot see them.")
    .set_hint("Make it a stored generated column.")
}

pub fn bad_levels(argument: &str, value: i32) -> ErrorReport {
    report(
        Code::ERRCODE_INVALID_PARAMETER_VALUE,
        format!("\"{argument}\" must be between 0 and {MAX_LEVELS}, not {value}"),
    )
}

/// Bytes of a value that an error quotes: a message of unlimited length would need memory that was not reserved.
const QUOTED: usize = 64;

/// The beginning of a value that an error quotes.
fn quoted(value: &[u8]) -> String {
    let more = if value.len() > QUOTED { "..." } else { "" };
    String::from_utf8_lossy(&value[..value.len().min(QUOTED)]).into_owned() + more
}

/// A constant or parameter that reads as an array is given where one name is expected. `many` is the argument of the
/// function's form for many names, if it has one.
pub fn array_as_name(name: &[u8], table: &str, many: Option<&str>) -> ErrorReport {
    let hint = match many {
        Some(many) => format!("For several names give an array of type text[]: $1::text[], or {many} => $1."),
        None => "This function takes one name: call it for each of unnest($1::text[]).".into(),
    };
    report(
        Code::ERRCODE_INVALID_PARAMETER_VALUE,
        format!("\"{}\" has no relatives in table \"{table}\", and reads as an array", quoted(name)),
    )
    .set_hint(hint)
}

pub fn bad_direction(value: &[u8]) -> ErrorReport {
    report(
        Code::ERRCODE_INVALID_PARAMETER_VALUE,
        format!("\"direction\" must be \"up\", \"down\" or \"both\", not \"{}\"", quoted(value)),
    )
}

pub fn bad_match(value: &[u8]) -> ErrorReport {
    report(
        Code::ERRCODE_INVALID_PARAMETER_VALUE,
        format!("\"match\" must be \"exact\", \"inflected\" or \"fuzzy\", not \"{}\"", quoted(value)),
    )
}

pub fn bad_picture_format(value: &[u8]) -> ErrorReport {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, format!("there is no format \"{}\"", quoted(value)))
        .set_hint(format!("Pass one of: {}.", PictureFormat::NAMES.join(", ")))
}

pub fn bad_lines(value: i32) -> ErrorReport {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, format!("\"lines\" must be at least 1, not {value}"))
        .set_hint("Pass NULL for all lines.")
}

pub fn bad_language(value: &[u8]) -> ErrorReport {
    let names: Vec<&str> = Language::names().collect(); // bounded: the languages there are
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, format!("cftrag has no rules of language \"{}\"", quoted(value)))
        .set_hint(format!("Pass one of: {}.", names.join(", ")))
}

pub fn negative(argument: &str, value: i32) -> ErrorReport {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, format!("\"{argument}\" must not be negative, but is {value}"))
}

pub fn too_many_paths(paths: u64, most: u64) -> ErrorReport {
    let count = if paths == u64::MAX { "too many".into() } else { paths.to_string() };
    report(Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED, format!("there are {count} shortest paths"))
        .set_detail(format!("All of them together may have at most {most} entities."))
        .set_hint("cft_explain_path takes the first of each tree.")
}

pub fn bad_height(value: i32, most: usize) -> ErrorReport {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, format!("\"height\" must be between 1 and {most}, not {value}"))
}

pub fn same_end(column: &str) -> ErrorReport {
    report(Code::ERRCODE_DUPLICATE_COLUMN, format!("column \"{column}\" is named twice"))
        .set_hint("The ends of an edge and its weight must be different columns.")
}

pub fn wrong_weight_type(column: &str, type_name: &str) -> ErrorReport {
    report(
        Code::ERRCODE_DATATYPE_MISMATCH,
        format!("column \"{column}\" has type {type_name}, which cannot hold weights"),
    )
    .set_hint("Use a column of type smallint, integer, bigint, real, double precision or numeric.")
}

pub fn bad_weight(weight: f64, a: &str, b: &str) -> ErrorReport {
    report(
        Code::ERRCODE_INVALID_PARAMETER_VALUE,
        format!("a weight must be finite and not negative, but it is {weight}"),
    )
    .set_detail(format!("The row joins \"{a}\" and \"{b}\"."))
}

pub fn null_weight(a: &str, b: &str) -> ErrorReport {
    report(Code::ERRCODE_NULL_VALUE_NOT_ALLOWED, "a weight must not be null".into())
        .set_detail(format!("The row joins \"{a}\" and \"{b}\"."))
        .set_hint("Use a view that gives such rows a weight, or leaves them out.")
}

pub fn weights_too_large() -> ErrorReport {
    report(Code::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, "the weights are too large to add up".into())
        .set_hint("Divide them all by the same number: the hierarchy does not change.")
}

pub fn too_large_to_work(bytes: usize) -> ErrorReport {
    report(
        Code::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
        "the call needs more memory than cftrag.work_memory allows".into(),
    )
    .set_detail(format!("cftrag.work_memory is {} kB.", bytes / 1024))
    .set_hint("If the server has the memory, raise it for this session, for example: SET cftrag.work_memory = '4GB';")
}

/// An answer needs more memory than it can have. The hint raises the setting to what was needed, plus half.
pub fn no_room(why: cftrag_core::NoRoom) -> ErrorReport {
    match why {
        cftrag_core::NoRoom::Limit(bytes) => {
            report(Code::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED, "the answer is too large for cftrag.work_memory".into())
                .set_detail(format!(
                    "It needs {} kB or more, and cftrag.work_memory is {} kB.",
                    bytes.div_ceil(1024),
                    crate::guc::WORK_MEMORY.get()
                ))
                .set_hint(format!(
                    "Ask for fewer entities or levels at once, or, if the server has the memory: SET \
                        cftrag.work_memory = '{}MB';",
                    (bytes + bytes / 2).div_ceil(1 << 20)
                ))
        }
        cftrag_core::NoRoom::Memory(bytes) => report(Code::ERRCODE_OUT_OF_MEMORY, "out of memory".into())
            .set_detail(format!(
                "The answer needs {} kB or more, which the system does not have.",
                bytes.div_ceil(1024)
            ))
            .set_hint("Ask for fewer entities or levels at once."),
    }
}

pub fn too_long(bytes: usize) -> ErrorReport {
    report(Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED, "the answer is longer than a text can be".into())
        .set_detail(format!("It has {bytes} bytes."))
        .set_hint("Ask for fewer entities or levels at once.")
}

pub fn no_memory_to_work(bytes: usize) -> ErrorReport {
    report(Code::ERRCODE_OUT_OF_MEMORY, "out of memory".into())
        .set_detail(format!("The call needs about {} kB, which the system does not have.", bytes / 1024))
}

/// A temporary file could not be written or mapped.
pub fn temporary_file(why: &std::io::Error) -> ErrorReport {
    let code = match why.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT) => Code::ERRCODE_DISK_FULL,
        Some(libc::ENOMEM) => Code::ERRCODE_OUT_OF_MEMORY,
        _ => Code::ERRCODE_IO_ERROR,
    };
    report(code, format!("could not use a temporary file: {why}"))
}

pub fn bad_template(why: &str) -> ErrorReport {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, "invalid template".into())
        .set_detail(format!("{}.", why.trim_end_matches('.')))
}

/// The error of a format in a table of phrases.
pub fn in_phrases(error: ErrorReport, table: &str) -> ErrorReport {
    error.set_hint(format!("Correct the row of table {table}."))
}

pub fn negative_count(value: i32) -> ErrorReport {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, format!("\"k\" must not be negative, but is {value}"))
}

pub fn null_argument(argument: &str) -> ErrorReport {
    report(Code::ERRCODE_NULL_VALUE_NOT_ALLOWED, format!("\"{argument}\" must not be null"))
}

pub fn not_owner(table: &str) -> ErrorReport {
    report(Code::ERRCODE_INSUFFICIENT_PRIVILEGE, format!("must be owner of table {table}"))
}

pub fn no_privilege(table: &str) -> ErrorReport {
    report(Code::ERRCODE_INSUFFICIENT_PRIVILEGE, format!("permission denied for table {table}"))
}

pub fn build_after_write() -> ErrorReport {
    report(Code::ERRCODE_ACTIVE_SQL_TRANSACTION, "cft_build cannot run in a transaction that has written".into())
        .set_detail("The image must not hold rows that could still be rolled back.")
        .set_hint("COMMIT first, then call cft_build.")
}

pub fn build_refused(table: &str, why: &str) -> ErrorReport {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("cannot build the image of table \"{table}\": {why}"),
    )
}

pub fn no_shared_memory() -> ErrorReport {
    report(Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, "cftrag has no shared memory in this server".into())
        .set_detail("cft_context works nevertheless: the reference query answers.")
        .set_hint("Before PostgreSQL 17, set shared_preload_libraries = 'cftrag' and restart the server.")
}

/// Shared memory was made by another version of the library.
pub fn warn_other_layout() {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        "another version of cftrag's library made the images of this server".into(),
    )
    .set_detail("Until the server is restarted the reference query answers every call.")
    .set_hint("Restart the server, then ALTER EXTENSION cftrag UPDATE in each database.")
    .report(pgrx::PgLogLevel::WARNING);
}

pub fn out_of_memory(limit_kb: i32) -> ErrorReport {
    report(Code::ERRCODE_OUT_OF_MEMORY, "not enough shared memory for the image".into())
        .set_detail(format!(
            "cftrag.memory_limit is {limit_kb} kB for all images of the server together; too few of \
            them may make room: images of databases within their share, those that are kept, and those just built."
        ))
        .set_hint("Raise cftrag.memory_limit, SELECT pg_reload_conf(), then call cft_build again.")
}

/// The system's dynamic shared memory ran out before `cftrag.memory_limit` was reached.
pub fn system_memory(shm: Option<Shm>, limit_kb: i32) -> ErrorReport {
    let kb = |bytes: u64| bytes / 1024;
    let detail = match shm {
        Some(shm) => format!(
            "/dev/shm has {} kB, of which {} kB are free; cftrag.memory_limit is {limit_kb} kB.",
            kb(shm.all),
            kb(shm.free)
        ),
        None => format!("cftrag.memory_limit is {limit_kb} kB."),
    };
    report(Code::ERRCODE_OUT_OF_MEMORY, "the system has not enough shared memory for the image".into())
        .set_detail(detail)
        .set_hint(
            "Make /dev/shm larger (Docker: --shm-size; else: mount -o remount,size=... /dev/shm), then call \
            cft_build again.",
        )
}

/// At attach and at the server's start.
pub fn warning_shm(shm_kb: u64, limit_kb: i32) {
    report(Code::ERRCODE_WARNING, format!("/dev/shm has {shm_kb} kB, less than cftrag.memory_limit, {limit_kb} kB"))
        .set_hint(
            "Images that do not fit make parallel queries fail, too. Make /dev/shm larger (Docker: --shm-size), \
            or lower cftrag.memory_limit.",
        )
        .report(pgrx::PgLogLevel::WARNING);
}

pub fn triggers_missing(table: &str, attach: &str) -> ErrorReport {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("a cftrag trigger of table \"{table}\" is missing or not ENABLE ALWAYS"),
    )
    .set_hint(crate::pg::encoding::shown(&format!("Repair them with: {attach}")))
}

pub fn no_slot(table: &str) -> ErrorReport {
    report(Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED, format!("there is no place for the image of table \"{table}\""))
        .set_detail(
            "The tables of all databases together have 65535 places; or the system has no shared memory for more.",
        )
        .set_hint("Detach tables that need no image with cft_detach, or make /dev/shm larger.")
}

pub fn core(error: &cftrag_core::Error) -> ErrorReport {
    report(Code::ERRCODE_INTERNAL_ERROR, format!("image: {error}"))
}

pub fn building(table: &str) -> ErrorReport {
    report(Code::ERRCODE_OBJECT_IN_USE, format!("the image of table \"{table}\" is being built by another session"))
        .set_detail("It may have to wait for this transaction, which has a lock on the table.")
        .set_hint("COMMIT first, then call cft_build.")
}

/// Raised at COMMIT only if this process cannot map the control block: then it cannot mark the image as incomplete, and
/// if the image missed a committed change, every later answer would be wrong.
pub fn control_unreachable() -> ErrorReport {
    report(Code::ERRCODE_OUT_OF_MEMORY, "cannot reach cftrag's shared memory".into())
        .set_detail("This process could not map it, and the change must be recorded there before it commits.")
}

/// The WARNING of a flush that had to give up the image.
pub fn warn_incomplete(name: &str, why: Damage) {
    let detail = match why {
        Damage::Memory => "Shared memory ran out.",
        Damage::Lost => "A change could not be recorded.",
        Damage::Unmatched => "A row was deleted that the image does not have.",
        Damage::Torn => "A process died while it changed the image.",
        Damage::XidTooOld => "The image holds a version older than the commit log.",
    };
    let hint = format!("Build it again with: SELECT cft_build('{}');", name.replace('\'', "''"));
    report(
        Code::ERRCODE_WARNING,
        format!("the cftrag image of table \"{name}\" is incomplete; the reference query answers"),
    )
    .set_detail(detail)
    .set_hint(hint)
    .report(pgrx::PgLogLevel::WARNING);
}

/// Siblings cannot be ordered by this column.
pub fn no_order(column: &str, type_name: &str) -> ErrorReport {
    report(
        Code::ERRCODE_DATATYPE_MISMATCH,
        format!("cftrag cannot order siblings by column \"{column}\" of type {type_name}"),
    )
    .set_hint("Use a column of one of the server's own types that has an order, an integer for example.")
}

/// The NOTICE that texts will not find integer ids. `line` is a call of cft_attach; if `has_label`, it names a column
/// of labels that the table has.
pub fn notice_not_in_texts(table: &str, line: &str, has_label: bool) {
    let hint = match has_label {
        true => format!("Name the column of what people call them: {line}"),
        false => "Pass the column of what people call them as \"label\", or attach a table of labels with \
            cft_attach_labels; if texts name them by these numbers, say ids => true."
            .into(),
    };
    report(
        Code::ERRCODE_SUCCESSFUL_COMPLETION,
        format!("the integer ids of table \"{table}\" will not be found in texts"),
    )
    .set_hint(crate::pg::encoding::shown(&hint))
    .report(pgrx::PgLogLevel::NOTICE);
}

/// The NOTICE that a table of names keeps its language, now that its edges table has another. `line` attaches it again.
pub fn notice_other_language(names: &str, language: &str, line: &str) {
    report(
        Code::ERRCODE_SUCCESSFUL_COMPLETION,
        format!("the names of table \"{names}\" are still recognised by the rules of {language}"),
    )
    .set_hint(crate::pg::encoding::shown(&format!("Attach it again to have those of the edges table: {line}")))
    .report(pgrx::PgLogLevel::NOTICE);
}

pub fn notice_not_verified(table: &str, reason: &str) {
    report(
        Code::ERRCODE_SUCCESSFUL_COMPLETION,
        format!("there is nothing to verify: the image of \"{table}\" would not serve this call"),
    )
    .set_detail(format!("Reason: {reason}."))
    .report(pgrx::PgLogLevel::NOTICE);
}

pub fn written_all_the_time(table: &str) -> ErrorReport {
    report(
        Code::ERRCODE_OBJECT_IN_USE,
        format!("the image of table \"{table}\" changed whenever it was about to be copied"),
    )
    .set_hint("Try again when there are fewer writes: this function makes no commit wait.")
}

pub fn not_our_trigger(function: &str) -> ErrorReport {
    report(
        Code::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
        format!("function \"{function}\" was not called by a trigger that cft_attach made"),
    )
    .set_hint("Drop the trigger, then call cft_attach for its table.")
}

/// The WARNING of a change that cannot mark summaries as outdated.
pub fn warn_not_marked(summaries: &str, why: &str, edges: Option<&str>) {
    let report = report(Code::ERRCODE_WARNING, format!("summaries in {summaries} are not marked: {why}"));
    match edges {
        Some(edges) => report.set_hint(format!(
            "Attach {edges} and its summaries again, then say what has changed: SELECT cft_rollup_mark(ARRAY[...], \
                '{edges}');"
        )),
        None => report,
    }
    .report(pgrx::PgLogLevel::WARNING);
}

pub fn warn_not_attached(summaries: &str, table: &str) {
    warn_not_marked(summaries, &format!("table {table} is not attached to cftrag any more"), None);
}

pub fn warn_not_always(summaries: &str, trigger: &str, quoted: &str) {
    report(
        Code::ERRCODE_WARNING,
        format!("summaries in {summaries} are not marked: trigger \"{trigger}\" of it is not ENABLE ALWAYS"),
    )
    .set_hint(format!(
        "If cft_attach_summaries made it: ALTER TABLE {summaries} ENABLE ALWAYS TRIGGER {quoted}; otherwise drop it."
    ))
    .report(pgrx::PgLogLevel::WARNING);
}

pub fn truncated_in_an_old_snapshot(documents: &str, summaries: &str) -> ErrorReport {
    report(
        Code::ERRCODE_ACTIVE_SQL_TRANSACTION,
        format!("table {documents} cannot be truncated in a transaction that is not READ COMMITTED"),
    )
    .set_detail(format!("Summaries in {summaries} are made from it."))
    .set_hint("Begin it with: BEGIN ISOLATION LEVEL READ COMMITTED;")
}

pub fn not_a_marking_trigger() -> ErrorReport {
    report(
        Code::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
        "function \"cft_rollup_changed\" was not called by a trigger that cft_attach_summaries made".to_owned(),
    )
    .set_hint("Drop the trigger, then call cft_attach_summaries.")
}

/// Why the log of a load cannot be applied.
pub enum LoadLost {
    Noted,
    Columns,
    Unmatched,
    XidTooOld,
    Endless,
    Place,
    Unwanted,
}

pub fn load_lost(table: &str, why: LoadLost) -> ErrorReport {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("the image of table \"{table}\" could not be built beside its writers"),
    )
    .set_detail(match why {
        LoadLost::Noted => "A change made during the build could not be recorded.",
        LoadLost::Columns => "Its columns were renamed during the build.",
        LoadLost::Unmatched => "A row that the image does not have was deleted during the build.",
        LoadLost::XidTooOld => "A change made during the build is older than the commit log.",
        LoadLost::Endless => "Changes came faster than they could be applied.",
        LoadLost::Place => "It waited for writers, and another build needed the background worker.",
        LoadLost::Unwanted => "The session that asked for it has ended.",
    })
    .set_hint("Call cft_build again.")
}

pub fn load_yielded(table: &str) -> ErrorReport {
    gave_way(table, "waits for a lock on it")
}

pub fn load_left(table: &str) -> ErrorReport {
    gave_way(table, "copies, renames or drops this database")
}

fn gave_way(table: &str, to_who: &str) -> ErrorReport {
    report(
        Code::ERRCODE_LOCK_NOT_AVAILABLE,
        format!("work on the image of table \"{table}\" gave way to a session that {to_who}"),
    )
    .set_hint("Call cft_build again.")
}

pub fn load_waited(table: &str, seconds: u64) -> ErrorReport {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("a transaction that writes to table \"{table}\" has not ended in {seconds} seconds"),
    )
    .set_hint(
        "End it, then call cft_build; pg_stat_progress_cftrag names its process or prepared transaction while \
        it is waited for.",
    )
}

/// For the server's log. `prepared`: xids of prepared transactions that hold a lock on the table.
pub fn put_off_at_start(table: &str, prepared: &[u32]) -> ErrorReport {
    let message =
        format!("the image of table \"{table}\" is put off at server start: somebody is writing to the table");
    let report = report(Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message);
    if prepared.is_empty() {
        return report.set_hint("Its first reader has it built, or cft_build does.");
    }
    let xids = prepared.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    report.set_detail(format!("Prepared transactions that have written to it: {xids}.")).set_hint(
        "Until they have ended, no image can be built. COMMIT PREPARED or ROLLBACK PREPARED them: SELECT \
            gid, transaction FROM pg_prepared_xacts.",
    )
}

pub fn build_unfinished(table: &str) -> ErrorReport {
    report(Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, format!("the image of table \"{table}\" was not built"))
        .set_detail("The server's log has the background worker's reason.")
}

pub fn build_lock_timeout(table: &str) -> ErrorReport {
    report(
        Code::ERRCODE_LOCK_NOT_AVAILABLE,
        format!("canceling cft_build due to lock timeout: transactions that write to \"{table}\" have not ended"),
    )
}

/// Why an image is incomplete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Damage {
    /// Shared memory ran out.
    Memory = 1,
    /// A change could not be captured.
    Lost = 2,
    /// A writer died while it changed the image.
    Torn = 3,
    /// A version is older than the commit log.
    XidTooOld = 4,
    /// A deleted row was not in the image.
    Unmatched = 5,
}
