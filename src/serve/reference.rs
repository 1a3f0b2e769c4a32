//! The reference query: the definition of every answer (sql/reference.sql, sql/roots.sql, sql/entities.sql), run when
//! no image can serve.
//!
//! It runs under the caller's active snapshot and rights (plans.rs).

use crate::call::array::Texts;
use crate::call::entity_value::EntityType;
use crate::call::fmgr::{Rows, text_array, text_array_of, text_datum};
use crate::call::spi::Table;
use crate::call::store::Store;
use crate::call::work_memory;
use crate::call::work_memory::Room;
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::column_rules::check_position;
use crate::catalog::column_sql::text_of;
use crate::catalog::columns::{ColumnNames, Columns};
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::privileges::require_schema_usage;
use crate::catalog::statement::Statement;
use crate::catalog::{columns, name, trust};
use crate::error;
use crate::error::Fallible;
use crate::pg::invalidation;
use crate::pg::invalidation::Cached;
use crate::pg::lookup;
use crate::serve::asked::{Question, Reach};
use crate::serve::plans::{Planning, Value, execute, run_into};
use crate::serve::sink::{Relative, Sibling, Sink, Take};
use crate::serve::synonyms;
use crate::serve::tables::Tables;
use crate::serve::tiers;
use crate::serve::tiers::Rule;
use cftrag_core::{Method, NoRoom};
use pgrx::pg_sys;
use std::convert::Infallible;

const TEMPLATE: &str = include_str!("../../sql/reference.sql");

const ENTITIES: &str = include_str!("../../sql/entities.sql");

const ROOTS: &str = include_str!("../../sql/roots.sql");

const LABELS: &str = include_str!("../../sql/labels.sql");
const POSITIONS: &str = include_str!("../../sql/positions.sql");
const BELOW: &str = include_str!("../../sql/below.sql");
const CYCLE: &str = include_str!("../../sql/cycle.sql");
const CYCLE_PATH: &str = include_str!("../../sql/cycle_path.sql");

/// An open table and its columns.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub table: &'a EdgesTable,
    pub names: &'a ColumnNames,
    pub columns: &'a Columns,
}

impl<'a> Source<'a> {
    pub fn of(of: &'a AttachedTable) -> Self {
        Self { table: &of.table, names: &of.registration.names, columns: &of.columns }
    }

    /// The value of each placeholder; `labels` is the table that has the labels, if any.
    fn values(self, labels: Option<Self>) -> Vec<(&'static str, String)> {
        let Self { table, names, columns } = self;
        let no_tree = || "NULL::pg_catalog.text".to_string();
        let mut values = vec![
            ("{edges}", table.qualified()),
            ("{tree}", names.tree.as_deref().map_or_else(no_tree, |name| text_of(table, name))),
            ("{parent}", text_of(table, &names.parent)),
            ("{child}", text_of(table, &names.child)),
            ("{parent_collation}", columns::collation_sql(&columns.parent)),
            ("{child_collation}", columns::collation_sql(&columns.child)),
        ];
        if let Some(labels) = labels {
            values.extend([
                ("{labels}", labels.table.qualified()),
                ("{is_labelled}", labels.is_child("u.name")),
                ("{shown}", labels.shown()),
            ]);
        }
        values
    }
}

impl Source<'_> {
    /// SQL for what the rows of one entity call it: the smallest of its labels, of those that are preferred if the
    /// table says which and there are any; else the smallest of its other names.
    fn shown(self) -> String {
        let Self { table, names, .. } = self;
        let least = |column: &str, more: &str| {
            let value = text_of(table, column);
            format!(
                "pg_catalog.min({value} COLLATE pg_catalog.\"C\") FILTER (WHERE {value} OPERATOR(pg_catalog.<>) \
                    ''{more})"
            )
        };
        let label = names.label.as_deref().unwrap_or_default();
        let is_preferred = names.preferred.as_deref().map(|column| format!(" AND r.{}", name::quote(column)));
        let mut ranked: Vec<_> = is_preferred.map(|first| least(label, &first)).into_iter().collect(); // bounded: columns
        ranked.push(least(label, ""));
        let others: Vec<_> = names.names.iter().map(|column| least(column, "")).collect(); // bounded: columns
        if !others.is_empty() {
            ranked.push(format!("LEAST({})", others.join(", ")));
        }
        match &ranked[..] {
            [only] => only.clone(),
            ranked => format!("COALESCE({})", ranked.join(", ")),
        }
    }

    /// The type in which the recursion compares entities: the columns' own where values are equal if and only if their
    /// texts are, and a cast of it to text is PostgreSQL's.
    fn key(self) -> EntityType {
        let types = [self.columns.parent, self.columns.child].map(|column| pg_sys::Oid::from(column.type_oid));
        let all = |of: &[pg_sys::Oid]| types.iter().all(|one| of.contains(one) && !lookup::has_cast_to_text(*one));
        if all(&[pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID]) {
            EntityType::Int8
        } else if all(&[pg_sys::UUIDOID]) {
            EntityType::Uuid
        } else {
            EntityType::Text
        }
    }

    /// SQL for whether a row's child is that name, in a form that can use a plain index on the column. It compares
    /// texts; for integers and uuid, also the value that the name stands for.
    fn is_child(self, name: &str) -> String {
        let Self { table, names, columns } = self;
        let (child, text) = (name::quote(&names.child), text_of(table, &names.child));
        let same = format!("{text} OPERATOR(pg_catalog.=) {name} COLLATE {}", columns::collation_sql(&columns.child));
        let is_match = |pattern: &str| format!("{name} OPERATOR(pg_catalog.~) '{pattern}'");
        let (cast, is_value) = match pg_sys::Oid::from(columns.child.type_oid) {
            pg_sys::INT2OID | pg_sys::INT4OID | pg_sys::INT8OID => {
                let bound = |operator: &str, value: i64| {
                    format!("{name}::pg_catalog.numeric OPERATOR(pg_catalog.{operator}) '{value}'::pg_catalog.numeric")
                };
                let fits = [bound(">=", i64::MIN), bound("<=", i64::MAX)].join(" AND ");
                ("int8", format!("CASE WHEN {} THEN {fits} END", is_match("^-?[0-9]{1,19}$")))
            }
            pg_sys::UUIDOID => ("uuid", is_match("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")),
            _ => return same,
        };
        format!("r.{child} OPERATOR(pg_catalog.=) CASE WHEN {is_value} THEN {name}::pg_catalog.{cast} END AND {same}")
    }
}

/// The table whose column holds the labels of these edges: itself, or its table of labels.
fn labelled<'a>(of: &'a AttachedTable, labels: Option<&'a AttachedTable>) -> Option<Source<'a>> {
    if of.columns.has_labels() { Some(Source::of(of)) } else { labels.map(Source::of) }
}

/// The lines of a template that are part of the statement: those for labels or for no labels, and those for trees if
/// trees are given.
fn lines(template: &str, has_labels: bool, in_trees: bool) -> String {
    let template = template.replace(if has_labels { "--label" } else { "--no label" }, "");
    without_comments(&if in_trees { template.replace("--trees", "") } else { template })
}

/// What a call asks for, as far as the statement of cft_context depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Shape {
    /// $1 is an array.
    many: bool,
    trees: bool,
    labels: bool,
    /// Labels of the entities, too.
    entity_labels: bool,
    own_rows: bool,
    no_force: bool,
}

/// Statements kept.
const MOST: usize = 64;

/// An older snapshot may have another registration, so its columns are part of what a statement is kept by.
type Kept = (pg_sys::Oid, Shape, ColumnNames, Columns);

thread_local! {
    /// Each is made once, and again when a catalog has changed.
    static STATEMENTS: Cached<Kept, Statement> = const { Cached::new(MOST, invalidation::catalogs) };
}

/// The statement of cft_context for one table, with what the sink takes: labels of its own column, an entity's own
/// rows.
fn statement(of: Source<'_>, many: bool, trees: Option<Texts<'_>>, sink: &Sink) -> Statement {
    let shape = Shape {
        many,
        trees: trees.is_some(),
        labels: of.names.label.is_some() && sink.takes_labels(),
        entity_labels: !matches!(sink, Sink::Rows(_)),
        own_rows: sink.takes_own_rows(),
        no_force: trust::is_past_forced_policies(),
    };
    require_schema_usage(of.table.schema());
    let make = || Ok::<_, Infallible>(Statement::over(&text(of, shape), &[of.table]));
    let Ok(statement) = STATEMENTS.with(|all| all.get((of.table.oid(), shape, of.names.clone(), *of.columns), make));
    statement
}

fn text(of: Source<'_>, shape: Shape) -> String {
    let mut template = TEMPLATE.to_string();
    if let (false, Some(rest)) = (shape.many, TEMPLATE.find("e(tree, parent, child)")) {
        template = format!(
            "WITH RECURSIVE question(entity, place) AS NOT MATERIALIZED (SELECT $1, 1::pg_catalog.int8),\n{}",
            &TEMPLATE[rest..]
        );
    }
    if of.key() != EntityType::Text {
        template = template.replace("COLLATE {parent_collation}", "").replace("COLLATE {child_collation}", "");
    }
    if shape.entity_labels {
        template = template.replace(if shape.labels { "--entity label" } else { "--no entity label" }, "");
    }
    if shape.own_rows {
        template = template.replace("--own", "");
    }
    let mut values = of.values(shape.labels.then_some(of));
    if of.key() != EntityType::Text {
        let column = |name: &str| format!("r.{}", name::quote(name));
        let (parent, child) = (column(&of.names.parent), column(&of.names.child));
        let is_labelled = format!("{child} OPERATOR(pg_catalog.=) u.name");
        values.splice(0..0, [("{parent}", parent), ("{child}", child), ("{is_labelled}", is_labelled)]);
    }
    fill(&lines(&template, shape.labels, shape.trees), &values)
}

fn without_comments(template: &str) -> String {
    template.lines().filter(|line| !line.trim_start().starts_with("--")).map(|line| format!("{line}\n")).collect()
}

/// Fills in all values in one pass: a name may contain anything, even braces.
fn fill(template: &str, values: &[(&str, String)]) -> String {
    let mut out = String::with_capacity(template.len() * 2);
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match values.iter().find(|(key, _)| rest.starts_with(key)) {
            Some((key, value)) => {
                out.push_str(value);
                rest = &rest[key.len()..];
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// A call about more entities than this is worth a plan of its own.
const MANY: usize = 1000;

/// Answers by the reference query. Raises what the table itself would raise (42501, ...).
pub fn answer(of: Source<'_>, names: &[&[u8]], reach: Reach, sink: &mut Sink) -> Fallible<()> {
    let (key, Reach { up, down, trees, .. }) = (of.key(), reach);
    let entities = match names {
        [name] => (key.oid(), key.value(name)),
        names => (key.array_oid(), Some(key.array(names.iter().copied()))),
    };
    let statement = statement(of, names.len() != 1, trees, sink);
    let planning = if names.len() > MANY { Planning::Custom } else { Planning::Generic(of.table.size_class()) };
    let levels = [up, down].map(|levels| (pg_sys::INT4OID, Some(pg_sys::Datum::from(levels))));
    let values = [entities, levels[0], levels[1], (pg_sys::TEXTARRAYOID, trees.map(Texts::datum))];
    run(&statement, planning, &values, sink)
}

/// Passes the labels of the entities, a text[] value, to `add` in that order, by the definition (sql/labels.sql). The
/// table has a column of labels.
pub fn labels(
    of: &AttachedTable,
    entities: pg_sys::Datum,
    mut add: impl FnMut(Option<&[u8]>) -> Fallible<()>,
) -> Fallible<()> {
    let source = Source::of(of);
    let statement = Statement::over(&fill(&without_comments(LABELS), &source.values(Some(source))), &[&of.table]);
    execute(&statement, &[(pg_sys::TEXTARRAYOID, Some(entities))], |rows| {
        rows.rows().try_for_each(|row| add(row.text(1)))
    })
}

/// The place of each of these among its siblings, by the table's column of positions (sql/positions.sql). Those of
/// equal position share a place. 42703 or 42804 if the column no longer exists, or its type no longer orders.
pub fn positions(of: &AttachedTable, position: &str, siblings: &[Sibling<'_>]) -> Fallible<Vec<i64>> {
    check_position(&of.table, position)?;
    let source = Source::of(of);
    let mut values = source.values(None);
    values.extend([("{position}", format!("r.{}", name::quote(position))), ("{is_child}", source.is_child("u.name"))]);
    let statement = Statement::over(&fill(&without_comments(POSITIONS), &values), &[&of.table]);
    let mut places = Vec::new();
    Room::new().take(siblings.len() * size_of::<i64>())?;
    places.reserve_exact(siblings.len());
    let names = text_array_of(siblings.iter().map(|of| Some(of.name)));
    let trees = text_array_of(siblings.iter().map(|of| of.tree));
    let parents = text_array_of(siblings.iter().map(|of| of.parent));
    let values = [names, trees, parents].map(|names| (pg_sys::TEXTARRAYOID, Some(names)));
    execute(&statement, &values, |rows| places.extend(rows.rows().filter_map(|row| row.long(1))));
    Ok(places)
}

/// The indexes of the names that have one of `tops` above them in one of the trees (sql/below.sql). All three are
/// text[] values.
pub fn below(of: &AttachedTable, names: Texts<'_>, tops: Texts<'_>, trees: Option<Texts<'_>>) -> Fallible<Vec<usize>> {
    let source = Source::of(of);
    let mut values = source.values(None);
    values.extend([("{is_child}", source.is_child("u.name")), ("{is_next}", source.is_child("a.entity"))]);
    let statement = Statement::over(&fill(&lines(BELOW, false, trees.is_some()), &values), &[&of.table]);
    let values = [names, tops, trees.unwrap_or(tops)].map(|names| (pg_sys::TEXTARRAYOID, Some(names.datum())));
    execute(&statement, &values, |rows| {
        Room::new().take(rows.len() * size_of::<usize>())?;
        let mut numbers = Vec::with_capacity(rows.len());
        // Each is 1 at least.
        numbers.extend(rows.rows().filter_map(|row| row.long(1)).map(|number| number as usize - 1));
        Ok(numbers)
    })
}

/// Answers cft_roots by its definition (sql/roots.sql). `labels`: the table of labels, if there is one. 42703, 42804:
/// as for [`positions`].
pub fn roots(of: &AttachedTable, labels: Option<&AttachedTable>, trees: Option<Texts<'_>>, rows: Rows) -> Fallible<()> {
    let from = labelled(of, labels);
    let mut values = Source::of(of).values(from);
    let mut template = ROOTS.to_string();
    if let Some(position) = &of.registration.names.position {
        check_position(&of.table, position)?;
        template = template.replace("--position", "");
        values.push(("{position}", format!("r.{}", name::quote(position))));
        values.push(("{is_child}", Source::of(of).is_child("z.root")));
    }
    let sql = fill(&lines(&template, from.is_some(), trees.is_some()), &values);
    let statement = Statement::over(&sql, &tables(of, labels));
    match trees {
        Some(trees) => run_into(&statement, for_trees(of), &[(pg_sys::TEXTARRAYOID, Some(trees.datum()))], rows),
        None => run_into(&statement, Planning::Auto, &[], rows),
    };
    Ok(())
}

/// Answers cft_entities by its definition (sql/entities.sql).
pub fn entities(tables: &Tables, question: &Question, rows: Rows) {
    let (of, labels) = (&tables.edges, tables.labels.as_ref());
    let none = || "SELECT NULL::pg_catalog.text, NULL::pg_catalog.text WHERE false".to_string();
    let also: Vec<_> = tables.aliases.iter().map(|of| pairs(Source::of(of), Pair::NameFirst)).collect(); // bounded: attached tables
    let from = labelled(of, labels);
    let labelled = from.map(|labels| pairs(labels, Pair::EntityFirst));
    let by_name = tables.are_found_by_name();
    let own = by_name.then(|| "SELECT n.entity, n.entity FROM name AS n".to_string());
    let named: Vec<_> = labelled.clone().into_iter().chain(own).collect(); // bounded: two
    let named = if named.is_empty() { none() } else { named.join(" UNION ALL ") };
    let mut values = Source::of(of).values(from);
    let also = if also.is_empty() { none() } else { also.join(" UNION ALL ") };
    // What anything is called, in whatever tree.
    let all = "SELECT {parent} AS entity, {parent} AS called FROM {edges} AS r WHERE {parent} IS NOT NULL AND {child} IS NOT NULL \
                   UNION ALL SELECT {child}, {child} FROM {edges} AS r WHERE {child} IS NOT NULL";
    let own = by_name.then(|| fill(all, &values));
    let called: Vec<_> =
        labelled.into_iter().chain(own).map(|of| format!("SELECT d.called FROM ({of}) AS d(entity, called)")).collect(); // bounded: two
    let called =
        [called, vec![format!("SELECT a.alias FROM ({also}) AS a(alias, entity)")]].concat().join(" UNION ALL ");
    values.extend([("{aliases}", also), ("{named}", named), ("{called}", called)]);
    values.push(("{language}", of.registration.language().name().to_string()));
    let template = if question.within.is_some() { ENTITIES.replace("--within", "") } else { ENTITIES.to_string() };
    let template = if question.once { template.replace("--once", "") } else { template };
    let template = if question.narrow { template.replace("--narrow", "").replace("--forms", "") } else { template };
    // A word that does not become UTF-8 is in no text.
    let is_wanted = "CASE WHEN cftrag_internal.cft_form({word}) IS NOT NULL THEN pg_catalog.convert_to({word}, 'UTF8') END \
                     OPERATOR(pg_catalog.=) ANY (SELECT w.lower FROM normal AS w UNION ALL SELECT w.normal FROM normal AS w)";
    values.push(("{mates}", synonyms::pairs(&tables.words, is_wanted)));
    let template = with_rules(&template, &tiers::rules(question.matching, !tables.words.is_empty()));
    let sql = fill(&lines(&template, from.is_some(), question.trees.is_some()), &values);
    let mut all = self::tables(of, labels);
    all.extend(tables.aliases.iter().map(|of| &of.table));
    all.extend(tables.words.iter().map(|of| &of.table));
    let Question { text, trees, within, overlapping, .. } = *question;
    let types = [pg_sys::TEXTOID, pg_sys::BOOLOID, pg_sys::TEXTARRAYOID, pg_sys::TEXTARRAYOID];
    let [trees, within] = [trees, within].map(|names| names.map_or_else(|| text_array(&[]), Texts::datum));
    let values: Vec<Value> =
        types.into_iter().zip([text.datum(), overlapping.into(), trees, within].map(Some)).collect();
    let planning = if question.trees.is_some() { for_trees(of) } else { Planning::Auto };
    run_into(&Statement::over(&sql, &all), planning, &values, rows);
}

/// The definition with the rules for names that a text writes otherwise: the lines that begin with --by and --each once
/// for each of them.
fn with_rules(template: &str, rules: &[Rule]) -> String {
    let template = if rules.is_empty() { template.to_string() } else { template.replace("--forms", "") };
    let template = template.replace("kept0 /* by the last rule */", &format!("kept{}", rules.len()));
    let has_rules = |line: &&str| line.starts_with("--by ") || line.starts_with("--each ");
    let each = |(n, (method, form)): (usize, &Rule)| {
        let kind = match method {
            Method::Synonym => "--by synonym",
            Method::Abbreviation => "--by abbreviation",
            Method::Typo => "--by typo",
            Method::Coordination => "--by coordination",
            Method::Part => "--by part",
            _ => "--by form",
        };
        let lines = template.lines().filter(has_rules);
        let own = lines.filter_map(|line| line.strip_prefix(kind).or_else(|| line.strip_prefix("--each")));
        let text = own.fold(String::new(), |all, line| all + line + "\n");
        let text = text.replace("{n}", &(n + 1).to_string()).replace("{before}", &n.to_string());
        let text = text.replace("{method}", tiers::name(*method)).replace("{score}", &method.score().to_string());
        text.replace("{form}", form.map_or("", tiers::name_of))
    };
    let all: String = rules.iter().enumerate().map(each).collect(); // bounded: the rules
    let first = template.lines().position(|line| has_rules(&line));
    let place = |(n, line): (usize, &str)| match Some(n) == first {
        true => all.clone(),
        false if has_rules(&line) => String::new(),
        false => format!("{line}\n"),
    };
    template.lines().enumerate().map(place).collect() // bounded: the template
}

/// Trees are looked up in a hash of them; for the planner, a constant of a million would take a kilobyte each.
fn for_trees(of: &AttachedTable) -> Planning {
    Planning::Generic(of.table.size_class())
}

/// An edge of a table: its parent, child and tree.
#[derive(Clone, Copy)]
pub struct Edge<'a> {
    pub parent: &'a [u8],
    pub child: &'a [u8],
    pub tree: Option<&'a [u8]>,
}

/// Whether an existing edge of the table closes a cycle (sql/cycle.sql), under the active snapshot.
pub fn closes_cycle(of: Source<'_>, edge: Edge<'_>) -> bool {
    search_cycle(of, CYCLE, edge, |rows| rows.len()) > 0
}

/// The entities above the edge's parent and the one below each, nearest first, until its child is met
/// (sql/cycle_path.sql). 53400, 53200 (memory).
pub fn cycle_path(of: Source<'_>, edge: Edge<'_>) -> Fallible<Vec<[Option<Vec<u8>>; 2]>> {
    let (mut above, mut room) = (Vec::new(), Room::new());
    search_cycle(of, CYCLE_PATH, edge, |rows| {
        rows.rows().try_for_each(|row| {
            let mut name = |column| row.text(column).map(|name| work_memory::copy(name, &mut room)).transpose();
            let row = [name(1)?, name(2)?];
            room.take(2 * size_of_val(&row))?;
            above.push(row); // bounded: `room` has it
            Ok(())
        })
    })?;
    Ok(above)
}

fn search_cycle<R>(of: Source<'_>, template: &str, edge: Edge<'_>, take: impl FnOnce(&Table<'_>) -> R) -> R {
    let same_tree = of.names.tree.as_deref().map_or("true".to_string(), |name| {
        let column = text_of(of.table, name);
        format!(
            "({column} OPERATOR(pg_catalog.=) $3 COLLATE pg_catalog.\"C\" OR ({column} IS NULL AND \
                $3::pg_catalog.text IS NULL))"
        )
    });
    let mut filled = of.values(None);
    let [is_child, is_next] = ["$2", "a.entity"].map(|name| of.is_child(name));
    filled.extend([("{same_tree}", same_tree), ("{is_child}", is_child), ("{is_next}", is_next)]);
    let sql = fill(&without_comments(template), &filled);
    let values = [Some(edge.parent), Some(edge.child), edge.tree].map(|name| (pg_sys::TEXTOID, name.map(text_datum)));
    let statement = Statement::over(&sql, &[of.table]);
    execute(&statement, &values, take)
}

/// Which column of a table of labels comes first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pair {
    NameFirst,
    EntityFirst,
}

/// A query for the labels, the other names and the entities of a table, of the rows that have both.
fn pairs(of: Source<'_>, order: Pair) -> String {
    let Source { table, names, .. } = of;
    let entity = text_of(table, &names.child);
    let each = |column: &str| {
        let name = text_of(table, column);
        let (one, other) = if order == Pair::NameFirst { (&name, &entity) } else { (&entity, &name) };
        let (c, table) = ("COLLATE pg_catalog.\"C\"", table.qualified());
        format!("SELECT {one} {c}, {other} {c} FROM {table} AS r WHERE {one} IS NOT NULL AND {other} IS NOT NULL")
    };
    let called = names.label.iter().chain(&names.names).map(|column| each(column));
    called.collect::<Vec<_>>().join(" UNION ALL ") // bounded: columns
}

/// The tables that a statement reads.
fn tables<'a>(of: &'a AttachedTable, labels: Option<&'a AttachedTable>) -> Vec<&'a EdgesTable> {
    std::iter::once(&of.table).chain(labels.map(|labels| &labels.table)).collect()
}

/// Runs the statement of cft_context. Its rows go to a tuplestore, on disk beyond work_mem, and from there, entity by
/// entity, to the function that takes the parts.
fn run(statement: &Statement, planning: Planning, values: &[Value], sink: &mut Sink) -> Fallible<()> {
    let mut copied;
    let take: Take<'_> = match sink {
        Sink::Rows(rows) => {
            run_into(statement, planning, values, *rows);
            return Ok(());
        }
        Sink::Parts(take) | Sink::Nodes { take, .. } => take,
        Sink::View(view) => {
            copied = |rows: &[Relative<'_>]| view(&rows);
            &mut copied
        }
        Sink::Text(_) => unreachable!("a text is made of parts"),
    };
    let mut store = Store::of(&ROW);
    run_into(statement, planning, values, store.rows());
    each_entity(&store, take)
}

/// Passes the rows of the store to `take`: all rows of an entity at once, which must fit into `cftrag.work_memory`.
fn each_entity(store: &Store, take: Take<'_>) -> Fallible<()> {
    let mut kept = RowBuffer::default();
    store.each_kept(|row| {
        let entity = row.text(0).unwrap_or_default();
        if kept.is_of_other_than(entity) {
            kept.give(take)?;
        }
        let texts = [Some(entity), row.text(1), row.text(4), row.text(5), row.text(6), row.text(7)];
        kept.add(texts, row.text(2) == Some(b"ancestor"), row.int(3).unwrap_or(0))
    })?;
    kept.give(take)
}

/// entity, tree, relation, depth, relative, via, label, the entity's label
const ROW: [pg_sys::Oid; 8] = {
    use pg_sys::{INT4OID as INT, TEXTOID as TEXT};
    [TEXT, TEXT, TEXT, INT, TEXT, TEXT, TEXT, TEXT]
};

/// Ranges of the texts, whether it is an ancestor, its depth.
type KeptRow = ([Option<(usize, usize)>; 6], bool, i32);

/// Copies of one entity's rows.
#[derive(Default)]
struct RowBuffer {
    pub bytes: work_memory::Bytes,
    /// The range of each text of a row: entity, tree, relative, via, label, the entity's label. None means NULL.
    rows: Vec<KeptRow>,
}

impl RowBuffer {
    fn is_of_other_than(&self, entity: &[u8]) -> bool {
        self.rows.first().is_some_and(|row| self.text(row.0[0]) != Some(entity))
    }

    fn text(&self, at: Option<(usize, usize)>) -> Option<&[u8]> {
        at.map(|(from, to)| &self.bytes.0[from..to])
    }

    fn add(&mut self, texts: [Option<&[u8]>; 6], ancestor: bool, depth: i32) -> Fallible<()> {
        let more: usize = texts.iter().flatten().map(|text| text.len()).sum();
        let each = size_of_val(&self.rows[..]) + self.rows.len() * size_of::<Relative<'_>>();
        self.bytes.room_beside(more, each)?;
        if self.rows.len() == self.rows.capacity() {
            let (rows, bytes) = (self.rows.len().max(64), each + self.bytes.0.len());
            self.rows.try_reserve(rows).map_err(|_| error::no_room(NoRoom::Memory(2 * bytes)))?;
        }
        let at = texts.map(|text| {
            let from = self.bytes.0.len();
            self.bytes.0.extend_from_slice(text.unwrap_or_default());
            text.map(|_| (from, self.bytes.0.len()))
        });
        self.rows.push((at, ancestor, depth));
        Ok(())
    }

    /// Passes the rows to `take`, and clears the buffer.
    fn give(&mut self, take: &mut dyn FnMut(&[Relative<'_>]) -> Fallible<()>) -> Fallible<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut all: Vec<Relative<'_>> = Vec::new();
        let bytes = self.rows.len() * size_of::<Relative<'_>>();
        all.try_reserve_exact(self.rows.len()).map_err(|_| error::no_room(NoRoom::Memory(bytes)))?;
        all.extend(self.rows.iter().map(|&([entity, tree, name, via, label, entity_label], ancestor, depth)| {
            Relative {
                entity: self.text(entity).unwrap_or_default(),
                tree: self.text(tree),
                ancestor,
                depth,
                name: self.text(name).unwrap_or_default(),
                via: self.text(via).unwrap_or_default(),
                label: self.text(label),
                entity_label: self.text(entity_label),
            }
        }));
        take(&all)?;
        self.rows.clear();
        self.bytes.0.clear();
        Ok(())
    }
}
