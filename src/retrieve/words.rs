//! The search of documents by words: what text search compares of them, and a question as a query.

use crate::catalog::documents::Documents;
use crate::error;
use crate::error::Fallible;
use crate::pg::invalidation;
use crate::pg::invalidation::Cached;
use crate::retrieve::documents::Wanted;
use crate::retrieve::found::Found;
use crate::serve::plans::Planning;
use pgrx::pg_sys;
use std::rc::Rc;

/// What is compared, as SQL, and the OID of its configuration.
pub type Compared = Rc<(String, Option<pg_sys::Oid>)>;

thread_local! {
    static COMPARED: Cached<(pg_sys::Oid, String), Compared> = const { Cached::new(16, invalidation::catalogs) };
}

impl Wanted {
    /// Finds the `k` documents that have the most words of a question, a text value. Errors: 55000 (no column to search by words), 42804.
    pub fn with_words(&self, of: &Documents, k: i32, question: pg_sys::Datum, found: &mut Found) -> Fallible<()> {
        let compared = compared(of)?;
        let (value, config) = &*compared;
        let mut query = Found::of(&[pg_sys::TSQUERYOID]);
        let sql = "SELECT cftrag_internal.cft_any_word(COALESCE($1, pg_catalog.get_current_ts_config()), $2)";
        let values = [(pg_sys::REGCONFIGOID, config.map(pg_sys::Datum::from)), (pg_sys::TEXTOID, Some(question))];
        query.run(sql, Planning::Auto, &values);
        let mut words = None;
        query.each(|row| {
            words = row.copied(0);
            Ok(())
        })?;
        self.by_words(of, k, (value, words), found)
    }
}

/// 55000 if the documents cannot be searched by words; 42804.
pub fn require(of: &Documents) -> Fallible<()> {
    compared(of).map(|_| ())
}

/// What text search compares of these documents.
pub fn compared(of: &Documents) -> Fallible<Compared> {
    let Some(search) = &of.search else { return Err(error::documents_without_words(&of.shown)) };
    COMPARED.with(|all| {
        all.get((of.oid, search.name.clone()), || {
            let mut found = Found::of(&[pg_sys::TEXTOID, pg_sys::INT4OID]);
            let sql = "SELECT s.value, s.config::pg_catalog.oid::pg_catalog.int8::pg_catalog.int4 FROM cftrag_internal.cft_search_by($1, $2) AS s";
            let name = crate::call::fmgr::name_datum(&search.name);
            let values =
                [(pg_sys::REGCLASSOID, Some(pg_sys::Datum::from(of.oid))), (pg_sys::NAMEOID, Some(name))];
            found.run(sql, Planning::Auto, &values);
            let mut compared = (String::new(), None);
            found.each(|row| {
                let value = row.text(0).unwrap_or_default();
                compared = (crate::pg::encoding::decode(value), row.int(1).map(|oid| pg_sys::Oid::from(oid as u32)));
                Ok(())
            })?;
            Ok(Rc::new(compared))
        })
    })
}
