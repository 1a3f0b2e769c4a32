//! What SQL calls. Each function: convert, one call, convert. Their SQL declarations are in sql/install/.

#[path = "verify.rs"]
pub mod admin;
pub mod attach;
pub mod attached;
#[path = "../serve/walk.rs"]
pub mod context;
#[path = "../serve/mentions.rs"]
pub mod entities;
#[path = "statement_cache.rs"]
pub mod kept;
#[path = "support.rs"]
pub mod planner;
#[path = "trust.rs"]
pub mod rights;
#[path = "../serve/sink.rs"]
pub mod sink;
pub mod stats;
pub mod text;
pub mod words;
