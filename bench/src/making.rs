//! Setup costs: what each peer takes to build, in seconds and bytes.

use postgres::Error;

use crate::data::Forest;
use crate::measure::Session;
use crate::peers::{ALL, CFTRAG, COVERING, PLAIN_INDEXES, fill};
use crate::report::Table;

const USED: &str = "SELECT pg_database_size(current_database())::bigint";
const INDEXES: &str = "SELECT pg_indexes_size($1::text::regclass)";
const IMAGE: &str = "SELECT memory_bytes::bigint FROM pg_stat_cftrag WHERE edges = $1::text::regclass";

/// Prewarms the tables of one forest, their TOAST tables, and the indexes of both.
const WARM: &str = "WITH named AS (SELECT oid, reltoastrelid FROM pg_class WHERE relkind = 'r' AND right(relname, length($1)) = $1),
    held AS (SELECT oid FROM named UNION SELECT reltoastrelid FROM named WHERE reltoastrelid <> 0)
SELECT sum(pg_prewarm(oid)) FROM (SELECT oid FROM held UNION ALL SELECT indexrelid FROM pg_index WHERE indrelid IN (TABLE held)) AS all_of_it";

/// Reads all tables and indexes of a forest into shared buffers: a new index is only on disk.
pub fn warm(session: &mut Session, forest: &Forest) -> Result<(), Error> {
    session.client.query_one(WARM, &[&format!("_{}", forest.name)])?;
    Ok(())
}

/// Sets up every peer, and reports what that cost.
pub fn set_up(session: &mut Session, forest: &Forest) -> Result<Table, Error> {
    let of = |session: &mut Session, sql: &str, table: &str| -> Result<i64, Error> {
        Ok(session.client.query_one(sql, &[&format!("{table}_{}", forest.name)])?.get(0))
    };
    let used = |session: &mut Session| -> Result<i64, Error> { Ok(session.client.query_one(USED, &[])?.get(0)) };
    let line = |name: &str, seconds: f64, bytes: i64| {
        let bytes = bytes as f64;
        let (edges, entities) = (forest.edges as f64, forest.entities() as f64);
        (name.to_string(), vec![seconds, bytes / 1e6, bytes / edges, bytes / entities])
    };
    let mut lines = Vec::new();
    session.batch(&format!("VACUUM ANALYZE edges_{}", forest.name))?;
    let mut before = used(session)?;
    let seconds = session.each(&fill(PLAIN_INDEXES, forest, 0, 0))?;
    lines.push(line("two btrees", seconds, used(session)? - before));
    for peer in ALL.into_iter().filter(|p| p.takes(forest) && !p.setup.is_empty()) {
        before = used(session)?;
        let seconds = session.each(&fill(peer.setup, forest, 0, 0))?;
        let bytes = if peer.name == CFTRAG.name { of(session, IMAGE, "edges")? } else { used(session)? - before };
        lines.push(line(peer.name, seconds, bytes));
        if peer.name == COVERING.name {
            lines.push(line("its two indexes alone", f64::NAN, of(session, INDEXES, "covering")?));
        }
    }
    lines.sort_by_key(|(name, _)| name != CFTRAG.name);
    warm(session, forest)?;
    Ok(Table {
        title: format!("Setup, {} ({} edges, {} entities)", forest.name, forest.edges, forest.entities()),
        file: format!("build-{}", forest.name),
        unit: "seconds",
        columns: vec!["seconds", "MB", "bytes an edge", "bytes an entity"],
        lines,
        note: "MB: for cftrag, the shared memory of the whole image; for the others, the growth of the database (tables and indexes).".into(),
    })
}
