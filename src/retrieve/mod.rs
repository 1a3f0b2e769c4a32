//! From a question to what belongs to it: searches of a table of documents, and rows gathered for a prompt.
//!
//! A search is a value ([`search::Search`]) whose statement is written in one file and runs under the caller's
//! snapshot, rights and search_path: it names everything with its schema. Above methods and serve; below api, which
//! converts.

pub mod about;
pub mod attach;
pub mod baselines;
pub mod descent;
pub mod documents;
pub mod embedding;
pub mod entities;
pub mod expand;
pub mod found;
pub mod gather;
pub mod grants;
pub mod hierarchy;
pub mod line;
pub mod link_worker;
pub mod links;
pub mod meaning;
pub mod mentioned;
pub mod named;
pub mod phrases;
pub mod place;
pub mod question;
pub mod ranked;
pub mod resolve;
pub mod search;
pub mod tree_search;
pub mod words;
