//! Embeddings that are given: their dimensions must be those of the column that is searched.

use crate::call::text::Text;
use crate::catalog::documents::{Distance, DocumentColumn};
use crate::error;
use crate::error::Fallible;
use crate::pg::lookup;

/// 22000 if an embedding does not have the dimensions of that column; none are wanted if they are not declared.
fn check_against(embedding: Text<'_>, wanted: i32, column: &str) -> Fallible<()> {
    let (given, _) = vector(embedding);
    let differs = wanted > 0 && wanted != i32::from(given);
    if differs { Err(error::dimensions_differ(given, wanted, column)) } else { Ok(()) }
}

/// The dimensions of a vector, and the bytes of its elements (pgvector's vector.h): behind the dimensions are two
/// bytes, then as many elements.
fn vector<'v>(embedding: Text<'v>) -> (i16, &'v [u8]) {
    let bytes = embedding.bytes();
    (i16::from_ne_bytes([bytes[0], bytes[1]]), &bytes[4..])
}

/// Whether all elements of a vector are zero, or would be in a column of that type.
fn is_zero(embedding: Text<'_>, type_name: &str) -> bool {
    /// Half of the smallest halfvec's element, which is rounded to zero.
    const HALF: f32 = 2.980_232_2e-8;
    let least = if type_name.ends_with("halfvec") { HALF } else { 0.0 };
    let (dimensions, bytes) = vector(embedding);
    let (elements, _) = bytes.as_chunks();
    elements.iter().take(dimensions.max(0) as usize).all(|element| f32::from_ne_bytes(*element).abs() <= least)
}

/// Checks an embedding against the column that is searched. Errors: 22000 (dimensions), 22023 (a zero vector, which has
/// no cosine distance).
pub fn check_embedding(embedding: Text<'_>, column: &DocumentColumn, distance: &Distance, table: &str) -> Fallible<()> {
    check_against(embedding, column.modifier, &format!("{table}.{}", lookup::quoted(&column.name)))?;
    if distance.is_cosine && is_zero(embedding, &distance.type_name) { Err(error::zero_embedding()) } else { Ok(()) }
}
