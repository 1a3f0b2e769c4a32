//! Links: which entities documents mention, by the rules of cft_entities, kept in a table beside the documents.
//!
//!   SELECT d.id, e.entity, count(*), min(e.start) FROM documents d, cft_entities(d.body, match => 'inflected', narrow => true) e GROUP BY 1, 2
//!
//! and, if the documents have a column of entities, a row for each value of it, with 0 mentions and start 0 unless the
//! text has it too: whoever asks what documents are about asks this table alone. Triggers after each statement keep it
//! true of the documents; a background worker, of the names (link_worker.rs). The table is an ordinary one of the
//! documents' owner, by whose rights it is written, as a foreign key's checks are; others read rows of it by a policy:
//! those of documents that they can read, about entities that they can see.
//!
//! Statements run under search_path pg_catalog, pg_temp.

use crate::call::fmgr;
use crate::call::fmgr::text_datum;
use crate::call::trigger::Trigger as Fired;
use crate::catalog::documents::{DocumentColumn, Documents, Linked};
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::name::{literal, qualified_name, quote};
use crate::catalog::register::ForRole;
use crate::catalog::registered::{Kind, Which};
use crate::catalog::registration::Functions;
use crate::catalog::statement::Statement;
use crate::catalog::trigger_ddl::Trigger;
use crate::catalog::{links_table, privileges, register, registered, registration, trigger_ddl, trust};
use crate::error;
use crate::error::Fallible;
use crate::guc::Match;
use crate::image::control;
use crate::pg::{backend, latch, snapshot};
use crate::serve::asked::Question;
use crate::serve::mentions::{give_back, workspace};
use crate::serve::plans::{Planning, Value, change, command, with_settings};
use crate::serve::tables::Tables;
use pgrx::{check_for_interrupts, pg_sys};
use std::ffi::CStr;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

/// How documents are to be linked.
#[derive(Clone)]
pub struct NewLinks {
    pub edges: pg_sys::Oid,
    pub matching: Match,
    /// The column of the tree in which names are looked for.
    pub tree: Option<String>,
}

/// Documents that are read at once.
const AT_ONCE: i64 = 1000;

/// The triggers after each statement that changes documents: their names and events, and whether they see new and old
/// rows.
const TRIGGERS: [(&CStr, u32, bool, bool); 4] = [
    (c"cftrag_links_insert", pg_sys::TRIGGER_TYPE_INSERT, true, false),
    (c"cftrag_links_update", pg_sys::TRIGGER_TYPE_UPDATE, true, true),
    (c"cftrag_links_delete", pg_sys::TRIGGER_TYPE_DELETE, false, true),
    (c"cftrag_links_truncate", pg_sys::TRIGGER_TYPE_TRUNCATE, false, false),
];

impl NewLinks {
    /// The roles of the documents' columns.
    pub fn columns(&self, body: &str) -> Vec<ForRole> {
        let body = (body.to_string(), self.matching.name().to_string());
        std::iter::once(body).chain(self.tree.iter().map(|tree| (tree.clone(), "tree".into()))).collect() // bounded: two
    }

    /// Makes the table of links of documents that are attached, fills it, and keeps it. Errors: 42809 (no plain table),
    /// 42830 (no unique index on the id), 42804 (the id's type); those of [`register::set`] and of CREATE TABLE.
    pub fn make(&self, of: &Documents, functions: Functions) -> Fallible<()> {
        let table = EdgesTable::open(of.oid)?;
        if let Some(why) = table.unsuitable().or_else(|| table.inherits()) {
            return Err(error::links_of(&of.shown, why));
        }
        if !trust::is_builtin(of.id.type_oid) || !links_table::has_unique_index(&table, of.id.number) {
            return Err(error::links_need_unique_id(&of.id.name, &of.shown));
        }
        register::set(
            of.oid,
            Some(self.edges),
            Kind::Links.function(functions),
            &self.columns(&of.body.name),
            functions,
        )?;
        let function = functions.of_name(c"cft_link");
        for (name, events, has_new, has_old) in TRIGGERS {
            trigger_ddl::create(&Trigger {
                name,
                function,
                events,
                new_table: has_new.then_some(c"cft_new"),
                old_table: has_old.then_some(c"cft_old"),
                replace: true,
                ..Trigger::on(of.oid)
            })?;
        }
        let name = links_table::free_name(&table);
        let links = qualified_name(table.schema(), &name);
        as_owner(&table, || self.create(of, &links, table.is_forced()));
        let oid = links_table::beside(&table, &name);
        let columns =
            ["document", "entity", "mentions", "start"].map(|column| (column.to_string(), column.to_string()));
        register::set(oid, Some(of.oid), Kind::Mapping.function(functions), &columns, functions)?;
        let Some(of) = Documents::of(functions, Some(of.oid), true)? else { return Ok(()) };
        let fill = || Links::of(&of, functions).map_or(Ok(0), |links| links.each_part(Links::fill));
        as_owner(&table, fill)?;
        let finish = || {
            command(&format!("ALTER TABLE {links} ADD PRIMARY KEY (document, entity)"));
            command(&format!("CREATE INDEX ON {links} (entity)"));
            command(&format!("ANALYZE {links}"));
        };
        as_owner(&table, finish);
        Ok(())
    }

    fn create(&self, of: &Documents, links: &str, is_forced: bool) {
        let (id, edges) = (quote(&of.id.name), u32::from(self.edges));
        // Who sees a link may read what it is made of.
        let columns = [Some(&of.body), of.entity.as_ref()].into_iter().flatten();
        let columns: Vec<String> = columns.map(|column| column.of_row("d")).collect(); // bounded: two
        let forced = if is_forced { ", FORCE ROW LEVEL SECURITY" } else { "" };
        let comment = literal(&format!("entities that the documents of {} mention; cftrag fills it", of.shown));
        for sql in [
            format!(
                "CREATE TABLE {links} AS SELECT d.{id} AS document, NULL::text COLLATE \"C\" AS entity, NULL::integer \
                    AS mentions, NULL::integer AS start FROM {} AS d WITH NO DATA",
                of.name
            ),
            format!(
                "ALTER TABLE {links} ALTER entity SET NOT NULL, ALTER mentions SET NOT NULL, ALTER start SET NOT \
                    NULL, ENABLE ROW LEVEL SECURITY{forced}"
            ),
            format!(
                "CREATE POLICY cftrag_links ON {links} FOR SELECT USING (EXISTS (SELECT {} FROM {} AS d WHERE d.{id} = document) \
                 AND cftrag_internal.cft_is_visible(entity, '{edges}'::regclass))",
                columns.join(", "),
                of.name
            ),
            format!("GRANT SELECT ON {links} TO PUBLIC"),
            format!("COMMENT ON TABLE {links} IS {comment}"),
        ] {
            command(&sql);
        }
    }
}

/// Works on links: with the rights of the documents' owner, past forced policies, and whatever settings the session
/// has.
pub fn as_owner<R>(documents: &EdgesTable, work: impl FnOnce() -> R) -> R {
    let pinned = &[(c"cftrag.match_case", c"on"), (c"cftrag.enable", c"on")];
    trust::as_owner(documents, trust::NOFORCE_RLS, || with_settings(pinned, work))
}

/// Waits until images of the names can serve, if they are built or can be: without them a document takes a hundred
/// times as long. Called before anything is written, since then a small image can be built at once. Errors: those of
/// cft_entities.
pub fn wait_for_images(edges: pg_sys::Oid, matching: Match, functions: Functions) -> Fallible<()> {
    /// Until a worker has started; and until it has ended.
    const START: Duration = Duration::from_millis(500);
    const END: Duration = Duration::from_secs(60);
    let Some(control) = control::attach() else { return Ok(()) };
    let text = fmgr::text(b"x")?;
    let question =
        Question { text, trees: None, within: None, overlapping: false, once: true, matching, narrow: false };
    let begun = Instant::now();
    loop {
        // An image serves no snapshot that is older. (The linker has none of its own.)
        let (is_there, are_built) = snapshot::under_latest(|| -> Fallible<_> {
            let tables = Tables::open(functions.capture, Some(edges), matching)?;
            let mut found = workspace();
            let is_there = tables.find_shared(&question, &mut found)?;
            give_back(found);
            let is_built = |table| control.find(table).is_some_and(|(_, slot)| slot.builder.load(SeqCst) != 0);
            Ok((is_there, tables.sources().iter().any(|(of, _)| is_built(of.oid()))))
        })?;
        if is_there || begun.elapsed() > if are_built { END } else { START } {
            return Ok(());
        }
        latch::pause();
    }
}

/// Drops what keeps the links of documents, and the table of links. The caller owns the documents. Errors: DROP
/// TABLE's.
pub fn remove(documents: pg_sys::Oid, functions: Functions) -> Fallible<()> {
    for function in [Kind::Links.function(functions), functions.of_name(c"cft_link")] {
        register::drop(documents, None, function)?;
    }
    let beside = Which { other: Some(documents), ..Which::default() };
    for said in registered::read(Kind::Mapping.function(functions), beside, None) {
        if said.column("mentions").is_some() && privileges::is_owner(said.table) {
            let links = EdgesTable::open(said.table)?;
            let sql = format!("DROP TABLE {}", links.qualified());
            let owner = trust::owner(said.table).unwrap_or(pg_sys::InvalidOid);
            drop(links);
            trust::as_role(owner, 0, || command(&sql));
        }
    }
    Ok(())
}

/// Documents whose links are kept, and their table of links.
pub struct Links<'d> {
    of: &'d Documents,
    linked: &'d Linked,
    table: &'d str,
    /// Whether there are entities to be found: the edges table may have been detached.
    is_attached: bool,
}

/// What was done with a part of the documents.
pub struct Part {
    /// The last id of the part as a text, if there may be more.
    pub last: Option<Vec<u8>>,
    pub documents: i64,
    /// Whether documents were left out because they were locked.
    pub left_out: bool,
}

impl<'d> Links<'d> {
    /// Of documents that are linked, if their table of links is of the same owner, and names can be read.
    pub fn of(of: &'d Documents, functions: Functions) -> Option<Self> {
        let mapping = of.mapping.as_ref().filter(|mapping| mapping.mentions.is_some())?;
        let linked = of.linked.as_ref()?;
        if trust::owner(mapping.oid) != trust::owner(of.oid) {
            return None;
        }
        let edges = registration::now(linked.edges, functions);
        // Columns may have been renamed.
        if let Some(edges) = &edges
            && EdgesTable::open(linked.edges).is_ok_and(|table| table.columns(&edges.names).is_err())
        {
            return None;
        }
        Some(Self { of, linked, table: &mapping.name, is_attached: edges.is_some() })
    }

    /// The edges table whose entities they are linked to, and by which rules.
    pub fn edges(&self) -> (pg_sys::Oid, Match) {
        (self.linked.edges, self.linked.matching)
    }

    /// What a trigger after a statement does: TRUNCATE, or one that has new or old rows. The documents are read as they
    /// are now: other triggers may have changed them again.
    pub fn changed(&self, trigger: &Fired<'_>) {
        let [old, new] = trigger.counts();
        // Plans differ by the number of rows.
        let size = Planning::Generic(old.max(new).unwrap_or_default().max(1).ilog2());
        let run = |sql: &str| change(Some(trigger), &Statement::over(sql, &[]), size, &[], |_| ());
        let (table, id, same) = (self.table, quote(&self.of.id.name), self.says_the_same());
        let unchanged = format!("SELECT FROM cft_old AS o, cft_new AS n WHERE o.{id} = n.{id} AND {same}");
        let those = match (old.is_some(), new.is_some()) {
            (true, true) => format!(
                "SELECT d.{id} FROM cft_old AS d WHERE NOT EXISTS ({unchanged} AND o.{id} = d.{id}) \
                 UNION SELECT d.{id} FROM cft_new AS d WHERE NOT EXISTS ({unchanged} AND n.{id} = d.{id})"
            ),
            (false, true) => format!("SELECT d.{id} FROM cft_new AS d"),
            (true, false) => format!("SELECT d.{id} FROM cft_old AS d"),
            (false, false) => return run(&format!("TRUNCATE {table}")),
        };
        if old.is_some() {
            run(&format!("DELETE FROM {table} AS l USING ({those}) AS z(id) WHERE l.document = z.id"));
        }
        run(&self.insert(&format!("({those}) AS z(id) JOIN {} AS d ON d.{id} = z.id", self.of.name), "true"));
    }

    /// Makes the links of all documents anew, one part after the other: the number of documents whose links were wrong.
    pub fn renew(&self) -> Fallible<i64> {
        let wrong = self.each_part(|links, after| links.renew_part(after, "FOR NO KEY UPDATE"))?;
        self.drop_orphans();
        Ok(wrong)
    }

    /// Calls `part` for one part of the documents after the other; the sum of what it did. pg_stat_progress_copy shows
    /// how far it is.
    fn each_part(&self, part: impl Fn(&Self, Option<&[u8]>) -> Part) -> Fallible<i64> {
        let (mut after, mut all) = (None::<Vec<u8>>, 0);
        backend::shown_as_copy(self.of.oid, |shows| {
            for parts in 1.. {
                check_for_interrupts!();
                let done = part(self, after.as_deref());
                all += done.documents;
                shows(parts * AT_ONCE);
                after = done.last;
                if after.is_none() {
                    break;
                }
            }
        });
        Ok(all)
    }

    /// Adds the links of the documents after that id, which have none yet.
    fn fill(&self, after: Option<&[u8]>) -> Part {
        let sql = format!(
            "WITH p AS MATERIALIZED ({part}), i AS (INSERT INTO {table} (document, entity, mentions, start) {mentioned}) \
             SELECT (SELECT {id}::text FROM p AS d ORDER BY {id} OFFSET {AT_ONCE} - 1), (SELECT count(*) FROM p), NULL::text[]",
            part = self.part(after.is_some()),
            table = self.table,
            mentioned = self.mentioned("p AS d"),
            id = self.of.id.of_row("d"),
        );
        self.run(&sql, (pg_sys::TEXTOID, after.map(text_datum))).0
    }

    /// Makes the links of the documents after that id anew: locks those whose links are wrong by `lock`, and writes
    /// them again.
    pub fn renew_part(&self, after: Option<&[u8]>, lock: &str) -> Part {
        let (table, name, id) = (self.table, &self.of.name, self.of.id.of_row("d"));
        let wrong = format!(
            "WITH p AS MATERIALIZED ({part}), n AS MATERIALIZED ({mentioned}), \
             l AS MATERIALIZED (SELECT l.document, l.entity, l.mentions, l.start FROM {table} AS l WHERE l.document IN (SELECT {id} FROM p AS d)), \
             w AS (SELECT a.document FROM (TABLE n EXCEPT TABLE l) AS a UNION SELECT b.document FROM (TABLE l EXCEPT TABLE n) AS b) \
             SELECT (SELECT {id}::text FROM p AS d ORDER BY {id} OFFSET {AT_ONCE} - 1), (SELECT count(*) FROM w), (SELECT array_agg(w.document::text) FROM w)",
            part = self.part(after.is_some()),
            mentioned = self.mentioned("p AS d"),
        );
        let (mut part, wrong) = self.run(&wrong, (pg_sys::TEXTOID, after.map(text_datum)));
        if part.documents > 0 {
            let one_of = format!("{id} = ANY ($1::{}[])", self.of.id.type_name);
            let locked = format!(
                "SELECT NULL::text, count(*), array_agg(z.id::text) FROM (SELECT {id} AS id FROM {name} AS d WHERE \
                    {one_of} ORDER BY 1 {lock}) AS z"
            );
            let (those, locked) = self.run(&locked, (pg_sys::TEXTARRAYOID, wrong));
            part.left_out = those.documents < part.documents;
            let locked = (pg_sys::TEXTARRAYOID, locked);
            let of_links = format!("l.document = ANY ($1::{}[])", self.of.id.type_name);
            self.write(&format!("DELETE FROM {table} AS l WHERE {of_links}"), &[locked]);
            self.write(&self.insert(&format!("{name} AS d"), &one_of), &[locked]);
        }
        part
    }

    /// Deletes links of documents that are not there, which those leave who write without triggers.
    pub fn drop_orphans(&self) {
        let (table, name, id) = (self.table, &self.of.name, self.of.id.of_row("d"));
        self.write(
            &format!("DELETE FROM {table} AS l WHERE NOT EXISTS (SELECT FROM {name} AS d WHERE {id} = l.document)"),
            &[],
        );
    }

    fn write(&self, sql: &str, values: &[Value]) {
        change(None, &Statement::over(sql, &[]), Planning::Auto, values, |_| ());
    }

    /// Runs a statement about a part of the documents: the last id, a number and an array of ids.
    fn run(&self, sql: &str, value: Value) -> (Part, Option<pg_sys::Datum>) {
        change(None, &Statement::over(sql, &[]), Planning::Auto, &[value], |rows| {
            let row = rows.rows().next().expect("a SELECT of numbers has a row");
            let last = row.text(1).map(<[u8]>::to_vec); // bounded: an id
            (Part { last, documents: row.long(2).unwrap_or_default(), left_out: false }, row.copy(3))
        })
    }

    /// The statement for the next documents in the order of their ids, after $1 if `after`.
    fn part(&self, after: bool) -> String {
        let Documents { id, body, entity, name, .. } = self.of;
        let mut columns: Vec<&DocumentColumn> = [id, body].into_iter().chain(entity).chain(&self.linked.tree).collect(); // bounded: four
        columns.sort_by_key(|column| column.number);
        columns.dedup_by_key(|column| column.number);
        let columns: Vec<String> = columns.iter().map(|column| column.of_row("d")).collect(); // bounded: four
        let id = id.of_row("d");
        let after = if after {
            format!("{id} > $1::{}", self.of.id.type_name)
        } else {
            format!("{id} IS NOT NULL AND $1 IS NULL")
        };
        format!("SELECT {} FROM {name} AS d WHERE {after} ORDER BY {id} LIMIT {AT_ONCE}", columns.join(", "))
    }

    /// The statement for the links of the documents (d) of a source: document, entity, mentions, start.
    fn mentioned(&self, source: &str) -> String {
        let Documents { id, body, entity, .. } = self.of;
        let tree = self.linked.tree.as_ref();
        let trees = tree.map_or("NULL".into(), |tree| format!("ARRAY[{}]", tree.as_text(&tree.of_row("d"))));
        let own = entity.as_ref().map(|entity| entity.as_text(&entity.of_row("d")));
        let own = own.map(|own| format!(" UNION ALL SELECT {own} COLLATE \"C\", 0, 0 WHERE {own} IS NOT NULL"));
        format!(
            "SELECT {id} AS document, e.entity, e.mentions, e.start FROM {source} CROSS JOIN LATERAL (\
             SELECT x.entity, max(x.mentions) AS mentions, max(x.start) AS start FROM (\
             SELECT m.entity COLLATE \"C\" AS entity, count(*)::integer AS mentions, min(m.start) AS start \
             FROM cftrag_internal.cft_entities({body}, '{edges}'::regclass, {trees}, NULL, false, '{matching}', true) AS m{none} GROUP BY 1{own}) AS x GROUP BY 1) AS e",
            id = id.of_row("d"),
            body = body.as_text(&body.of_row("d")),
            edges = u32::from(self.linked.edges),
            matching = self.linked.matching.name(),
            none = if self.is_attached { "" } else { " WHERE false" },
            own = own.unwrap_or_default(),
        )
    }

    /// The statement that writes the links of the documents (d) of a source for which a condition holds.
    fn insert(&self, source: &str, condition: &str) -> String {
        format!(
            "INSERT INTO {} (document, entity, mentions, start) {} WHERE {} IS NOT NULL AND {condition} \
             ON CONFLICT (document, entity) DO UPDATE SET mentions = EXCLUDED.mentions, start = EXCLUDED.start",
            self.table,
            self.mentioned(source),
            self.of.id.of_row("d"),
        )
    }

    /// Whether a new row (n) of a document says the same as its old one (o), as SQL.
    fn says_the_same(&self) -> String {
        let columns = std::iter::once(&self.of.body).chain(&self.of.entity).chain(&self.linked.tree);
        let same = |column: &DocumentColumn| {
            let [new, old] = ["n", "o"].map(|row| column.as_text(&column.of_row(row)));
            format!("{new} COLLATE \"C\" IS NOT DISTINCT FROM {old}")
        };
        columns.map(same).collect::<Vec<_>>().join(" AND ") // bounded: three
    }
}
