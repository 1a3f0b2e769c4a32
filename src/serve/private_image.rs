//! Images that one call makes for itself, for names in a text, where those in shared memory cannot serve: of the rows
//! that the caller sees, under its snapshot, rights and policies. They are made by one scan of each table, and then
//! searched as all images are; the definition (sql/entities.sql) compares the text with all names, by each rule.

use crate::call::spi::Row;
use crate::call::work_memory::{Room, limit};
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::column_sql::text_of;
use crate::catalog::name;
use crate::catalog::row_edges::RowTexts;
use crate::catalog::statement::Statement;
use crate::error;
use crate::error::Fallible;
use crate::image::reason::Reason;
use crate::pg::compat::random_seed;
use crate::serve::conditions;
use crate::serve::plans::scan;
use crate::serve::walk::End;
use cftrag_core::{Edge, Error, HeapMemory, Image, Recent, chunk_bytes};
use pgrx::check_for_interrupts;

/// An image on the heap; it has no versions of rows.
pub struct PrivateImage(HeapMemory);

/// Columns of the statement: tree, parent, child, whether the label is preferred, the label; then other names.
const TREE: i32 = 1;
const PARENT: i32 = 2;
const CHILD: i32 = 3;
const PREFERRED: i32 = 4;
const LABEL: i32 = 5;

impl PrivateImage {
    /// Makes the image of an edges table or a table of names. Privilege: some column may not be read. NoMemory: it takes
    /// more than cftrag.work_memory, or than there is. Errors: those of a SELECT of the columns.
    pub fn of(of: &AttachedTable) -> Result<Self, End> {
        match conditions::readable(&of.table, &of.columns) {
            Ok(()) | Err(Reason::RowSecurity) => {}
            Err(reason) => return Err(reason.into()),
        }
        let mut making = Making::new();
        if making.begin(of).is_some() {
            let statement = Statement::over(&sql(of), &[&of.table]);
            let added = scan(&statement, |row| making.add(of, row));
            added.or_else(|why| if making.is_short { Ok(()) } else { Err(End::Error(why)) })?;
        }
        if making.is_short { Err(Reason::NoMemory.into()) } else { Ok(Self(making.heap)) }
    }

    pub fn read<R>(&self, look: impl FnOnce(Image<'_>) -> R) -> Result<R, Reason> {
        Image::open(&self.0).map(look).map_err(|_| Reason::NoMemory)
    }
}

/// A query for all rows that the caller sees, as texts. NULL where the table has no such column.
fn sql(of: &AttachedTable) -> String {
    let names = &of.registration.names;
    let text = |column: &str| text_of(&of.table, column);
    let or_null = |column: Option<&String>| column.map_or("NULL::pg_catalog.text".to_string(), |column| text(column));
    let preferred = names.preferred.as_ref().map(|column| format!("r.{} IS TRUE", name::quote(column)));
    let parent = names.has_parent().then_some(&names.parent);
    let own = [or_null(names.tree.as_ref()), or_null(parent), text(&names.child)];
    let called = [preferred.unwrap_or("true".to_string()), or_null(names.label.as_ref())];
    let columns = own.into_iter().chain(called).chain(names.names.iter().map(|column| text(column)));
    let columns = columns.collect::<Vec<_>>().join(", "); // bounded: columns
    format!("SELECT {columns} FROM {} AS r WHERE {} IS NOT NULL", of.table.qualified(), text(&names.child))
}

/// An image that is being made.
struct Making {
    heap: HeapMemory,
    room: Room,
    recent: Recent,
    label: Vec<u8>,
    /// Memory has run out.
    is_short: bool,
}

impl Making {
    fn new() -> Self {
        let heap = HeapMemory::new(limit());
        Self { heap, room: Room::new(), recent: Recent::default(), label: Vec::new(), is_short: false }
    }

    /// Makes an empty image; None without memory.
    fn begin(&mut self, of: &AttachedTable) -> Option<()> {
        self.grow()?;
        let image = Image::format(&self.heap, random_seed()).ok()?;
        image.set_language(of.registration.language());
        Some(())
    }

    /// Adds a chunk; None without memory.
    fn grow(&mut self) -> Option<()> {
        let number = self.heap.mapped();
        let has_grown = self.room.take(chunk_bytes(number)).is_ok() && self.heap.grow();
        self.is_short = !has_grown;
        if number > 0 && has_grown {
            Image::open(&self.heap).ok()?.publish_chunks(number + 1);
        }
        has_grown.then_some(())
    }

    /// Adds what a row says. Fails if memory runs out, too.
    fn add(&mut self, of: &AttachedTable, row: &Row<'_>) -> Fallible<()> {
        let Some(child) = row.text(CHILD) else { return Ok(()) };
        let names = &of.registration.names;
        let is_preferred = row.value(PREFERRED).is_some_and(|value| value.value() != 0);
        let texts = RowTexts { tree: row.text(TREE), parent: row.text(PARENT), child, is_preferred };
        let called = (0..=names.names.len() as i32).map(|n| row.text(LABEL + n));
        let mut label = std::mem::take(&mut self.label);
        let added = texts.each_edge(names.has_parent(), called, &mut label, |edge| self.insert(edge));
        self.label = label;
        added
    }

    fn insert(&mut self, edge: &Edge<'_>) -> Fallible<()> {
        loop {
            let image = Image::open(&self.heap).map_err(|why| error::core(&why))?;
            match image.insert_next(edge, None, &mut self.recent) {
                Ok(()) => return Ok(()),
                Err(why @ Error::Full { needed, .. }) => {
                    // All at once: each try reads a long name again.
                    let mut free = image.free_bytes();
                    loop {
                        check_for_interrupts!();
                        free += chunk_bytes(self.heap.mapped());
                        self.grow().ok_or_else(|| error::core(&why))?;
                        if free >= needed {
                            break;
                        }
                    }
                }
                Err(why) => return Err(error::core(&why)),
            }
        }
    }
}
