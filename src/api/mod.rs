//! What SQL calls. Each function converts its arguments, makes one call, and converts the result. SQL declares them in
//! sql/install/.
//!
//! A function returns its error as a value; error.rs has the messages.

pub mod allowed;
pub mod allowed_support;
pub mod attach;
pub mod attach_documents;
pub mod attached;
pub mod baselines;
pub mod build;
pub mod context;
pub mod databases;
pub mod entities;
pub mod json;
pub mod links;
pub mod meant;
pub mod nearest;
pub mod registrations;
pub mod retrieve;
pub mod stats;
pub mod support;
pub mod text;
pub mod tree;
pub mod tree_search;
pub mod triggers;
pub mod under;
pub mod under_support;
pub mod verify;
mod verify_worker;
pub mod words;
