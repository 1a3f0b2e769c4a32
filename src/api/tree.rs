//! cft_tree: the picture of a place in the hierarchy.

use crate::call::fmgr::{Call, text_value};
use crate::catalog::attached_table::AttachedTable;
use crate::error;
use crate::error::Fallible;
use crate::methods::picture::{Extent, draw};
use crate::methods::walker::Walker;
use crate::serve::answer::{check_given, check_levels, reads_as_array, refuse_array};
use crate::serve::asked::Reach;
use cftrag_methods::PictureFormat;
use pgrx::Internal;
use pgrx::prelude::*;

/// `cft_tree(entity text, up int, down int, edges regclass, trees text[], format text, lines int) -> text`
///
/// NULL for an entity that is not there, and for NULL levels; a NULL format is text, NULL lines are all. Errors: those
/// of cft_context; 22023 (format, lines), 53400, 53200 (memory), 54000 (a text that is too long).
#[pg_extern(sql = false)]
fn cft_tree(call: Call) -> Fallible<Internal> {
    let (Some(entity), Some(reach)) = (call.text(0), Reach::of(&call)) else { return Ok(Internal::from(None)) };
    check_levels(reach)?;
    let format = call.text(5).unwrap_or(b"text");
    let format = PictureFormat::of(format).ok_or_else(|| error::bad_picture_format(format))?;
    let lines = match call.int(6) {
        Some(lines) if lines < 1 => return Err(error::bad_lines(lines)),
        lines => lines.map_or(usize::MAX, |lines| lines as usize),
    };
    let walker = Walker { of: AttachedTable::open(&call, 3)?, trees: reach.trees };
    if call.is_given_text(0) {
        match reads_as_array(entity) {
            true => refuse_array(&walker.of, entity, None)?,
            false => check_given(&walker.of, entity)?,
        }
    }
    let extent = Extent { up: reach.up as u32, down: reach.down as u32, lines };
    let drawn = draw(&walker, entity, extent, format)?;
    Ok(Internal::from(drawn.map(|drawn| text_value(&drawn.0)).transpose()?))
}
