//! The user's tables as the catalogs describe them: names, columns, registrations, whom to trust.
//!
//! Caches here are dropped when the catalogs change (pg/invalidation.rs). Nothing here reads a user's rows.
//! Above pg, call and error; below the image, which knows a table by its OID only.

pub mod attach_line;
pub mod attached_table;
pub mod column_rules;
pub mod column_sql;
pub mod column_value;
pub mod columns;
pub mod documents;
pub mod edges_table;
pub mod filter;
pub mod grants_table;
pub mod links_table;
pub mod name;
pub mod pg_trigger;
pub mod privileges;
pub mod register;
pub mod registered;
pub mod registration;
pub mod registration_cache;
pub mod row_edges;
pub mod side_table;
pub mod statement;
pub mod trigger_ddl;
pub mod trust;
pub mod word_tables;
