//! Rows that a statement returned, kept in a tuplestore (call/store.rs).

use crate::call::fmgr::Rows;
pub use crate::call::store::Row;
use crate::call::store::Store;
use crate::call::work_memory::Room;
use crate::catalog::statement::Statement;
use crate::error::Fallible;
use crate::serve::plans::{Planning, Value, run_into};
use pgrx::pg_sys;
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

/// A tuplestore of rows of some types.
pub struct Found(Store);

impl Found {
    /// Without rows yet, of columns of these types.
    pub fn of(types: &[pg_sys::Oid]) -> Self {
        Self(Store::of(types))
    }

    /// The result of a call, which returns what is found.
    pub fn into(rows: Rows) -> Self {
        Self(Store::into(rows))
    }

    /// Adds the rows of a statement, whose select list has the types; returns how many they are.
    pub fn run(&mut self, sql: &str, planning: Planning, values: &[Value]) -> u64 {
        run_into(&Statement::over(sql, &[]), planning, values, self.rows())
    }

    /// The rows of two columns of type text, by the first. 53400, 53200.
    pub fn texts(&self) -> Fallible<BTreeMap<Vec<u8>, Vec<u8>>> {
        /// Bytes of a row, besides its texts.
        const EACH: usize = 96;
        let (mut all, mut room) = (BTreeMap::new(), Room::new());
        self.each(|row| {
            room.take(EACH)?;
            if let (Some(one), Some(other)) = (row.copy(0, &mut room)?, row.copy(1, &mut room)?) {
                all.insert(one, other);
            }
            Ok(())
        })?;
        Ok(all)
    }
}

impl Deref for Found {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.0
    }
}

impl DerefMut for Found {
    fn deref_mut(&mut self) -> &mut Store {
        &mut self.0
    }
}
