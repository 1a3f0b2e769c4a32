//! What SQL calls. Each function: convert, one call, convert. Their SQL declarations are in sql/install/.

pub mod admin;
pub mod attach;
pub mod attached;
pub mod context;
pub mod entities;
pub mod kept;
pub mod planner;
pub mod rights;
pub mod sink;
pub mod stats;
pub mod text;
pub mod words;
