//! A check: cft_context and sql/reference.sql in ONE statement, so under one snapshot, compared row by row in order. The reference query is run by a function.
//!
//! The statement returns no rows when both agree, and all rows of both sides (side, number, row) when they differ. The same
//! statement runs plainly, in functions of each volatility, in cursors, in parallel workers, inside RETURNING and in triggers.
//! In the same way cft_entities is compared with sql/entities.sql, on a text made of the entities asked for, and cft_roots with sql/roots.sql; and each
//! of them in some trees only; cft_descendants and cft_under with a recursive query (within.rs), and cft_nearest_documents with
//! all distances (documents.rs).

use crate::documents;
use crate::schema::{TREES, Table, WORDS};
use crate::within;

const REFERENCE: &str = include_str!("../../../sql/reference.sql");
const ENTITIES: &str = include_str!("../../../sql/entities.sql");
const ROOTS: &str = include_str!("../../../sql/roots.sql");

/// Where the check statement runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A prepared statement.
    Plain,
    /// A prepared statement with one call for each entity: many checks for the price of one statement (--checks).
    Each,
    /// cft_entities instead of cft_context, in a prepared statement; also with names that the text writes otherwise.
    Mentions,
    MentionsOtherwise,
    /// cft_roots, in a prepared statement.
    Roots,
    /// cft_context of many, cft_entities and cft_roots in some trees, in a prepared statement.
    InTrees,
    MentionsInTrees,
    /// cft_entities within two of the entities, in a prepared statement.
    MentionsWithin,
    RootsInTrees,
    /// cft_descendants and cft_under, in a prepared statement; in all trees, and in some.
    Under,
    UnderInTrees,
    /// cft_nearest_documents, in a prepared statement; along the hnsw index, and without it.
    Search,
    SearchExactly,
    /// In a plpgsql function of that volatility; an immutable one with constants runs while the statement is planned.
    Volatile,
    Stable,
    Immutable,
    /// The stable function in a parallel worker (forced).
    Worker,
    /// As a role that a policy applies to.
    Reader,
    /// The statement while cftrag.enable is off.
    Disabled,
    /// In the RETURNING list of an INSERT: the row's trigger has not run yet.
    Returning,
    /// Beside a data-modifying CTE.
    BesideCte,
}

/// How cft_context is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    One,
    Many,
    /// One by one in one statement; the entities are distinct.
    Each,
    /// In a text; also written otherwise.
    Mentions,
    MentionsOtherwise,
    /// Without an entity (cft_roots).
    Roots,
    /// In some trees only.
    ManyInTrees,
    MentionsInTrees,
    /// Within the first two only.
    MentionsWithin,
    RootsInTrees,
    /// What is below the first two, and which names are.
    Under,
    UnderInTrees,
    /// Documents within the first two.
    Search,
    SearchExactly,
}

impl Form {
    fn is_in_trees(self) -> bool {
        matches!(self, Form::ManyInTrees | Form::MentionsInTrees | Form::RootsInTrees)
    }

    /// Whether namesakes are told apart by the text.
    fn is_narrow(self) -> bool {
        matches!(self, Form::MentionsOtherwise | Form::MentionsInTrees)
    }
}

#[derive(Clone, Debug)]
pub struct Check {
    pub table: usize,
    pub mode: Mode,
    /// With more than one the array form is called; None is a NULL in the array.
    pub entities: Vec<Option<String>>,
    pub many: bool,
    pub up: i32,
    pub down: i32,
}

/// What rows of the table with the labels call an entity: the smallest of its preferred labels, else of its labels, else of its other names.
fn shown(table: &Table) -> String {
    let Some(label) = table.label else { return String::new() };
    let least = |column: &str, condition: &str| format!("min(NULLIF(r.{column}::text, '') COLLATE \"C\"){condition}");
    let first = table.preferred.map(|first| least(label, &format!(" FILTER (WHERE r.{first})")));
    let others = table.other_name.map(|other| least(other, ""));
    let ranked: Vec<String> = first.into_iter().chain([least(label, "")]).chain(others).collect();
    format!("COALESCE({})", ranked.join(", "))
}

/// A definition with the columns of this table, in all trees or in some.
pub fn filled(definition: &str, table: &Table, in_trees: bool) -> String {
    let text = |column: &str| format!("r.{column}::pg_catalog.text");
    let definition = definition.replace(if table.label.is_some() { "--label" } else { "--no label" }, "");
    let definition = if in_trees { definition.replace("--trees", "") } else { definition };
    let body: Vec<&str> = definition.lines().filter(|line| !line.starts_with("--")).collect();
    body.join("\n")
        .replace("{edges}", &table.qualified())
        .replace("{tree}", &table.tree.map_or("NULL::pg_catalog.text".to_string(), text))
        .replace("{parent}", &text(table.parent))
        .replace("{child}", &text(table.child))
        .replace("{child_collation}", "pg_catalog.\"C\"")
        .replace("{labels}", table.label_table.unwrap_or(&table.qualified()))
        .replace("{is_labelled}", &format!("{} = u.name", text(table.labelled())))
        .replace("{shown}", &shown(table))
}

/// The trees asked for: none, one, or several with NULL (rows without a tree) among them. The random levels choose.
pub fn trees(up: &str) -> String {
    let [all, one] = [&TREES[..], &TREES[1..2]]
        .map(|trees| array_literal(&trees.iter().map(|tree| tree.map(str::to_string)).collect::<Vec<_>>()));
    format!(
        "CASE {up} % 4 WHEN 0 THEN {all} WHEN 1 THEN {one} WHEN 2 THEN ARRAY[NULL, 'oak', 'no tree', 'oak']::text[] ELSE '{{}}'::text[] END"
    )
}

/// The reference query for this table with its parameters named as given.
fn reference(table: &Table, form: Form, entities: &str, up: &str, down: &str) -> String {
    filled(REFERENCE, table, form.is_in_trees())
        .replace("{parent_collation}", "pg_catalog.\"C\"")
        .replace("{child_collation}", "pg_catalog.\"C\"")
        .replace("$1", entities)
        .replace("$2", up)
        .replace("$3", down)
        .replace("($4)", &format!("({})", trees(up)))
}

/// The definition of cft_entities for this table.
fn definition(table: &Table, form: Form, question: &str, overlapping: &str, up: &str, within: &str) -> String {
    let named = match table.label {
        None => "SELECT n.entity, n.entity FROM name AS n".to_string(),
        Some(label) => {
            let each = |label: &str| {
                let table_of = table.label_table.map_or_else(|| table.qualified(), str::to_string);
                format!(
                    "SELECT {0}::text, {label}::text FROM {table_of} WHERE {0} IS NOT NULL AND {label} IS NOT NULL",
                    table.labelled()
                )
            };
            [Some(label), table.other_name].into_iter().flatten().map(each).collect::<Vec<_>>().join(" UNION ALL ")
        }
    };
    let by_name = "SELECT {parent} FROM {edges} AS r WHERE {parent} IS NOT NULL AND {child} IS NOT NULL \
                   UNION ALL SELECT {child} FROM {edges} AS r WHERE {child} IS NOT NULL";
    let called = match table.label {
        None => filled(by_name, table, false),
        Some(_) => format!("SELECT d.called FROM ({named}) AS d(entity, called)"),
    };
    let template = match form {
        Form::MentionsWithin => ENTITIES.replace("--within", ""),
        Form::MentionsOtherwise => with_rules(ENTITIES),
        _ => ENTITIES.to_string(),
    };
    let template = if form.is_narrow() { template.replace("--narrow", "").replace("--forms", "") } else { template };
    filled(&template, table, form.is_in_trees())
        .replace("{aliases}", "SELECT NULL::text, NULL::text WHERE false")
        .replace("{named}", &named)
        .replace("{called}", &called)
        .replace("{mates}", &format!("SELECT a.word, b.word FROM {WORDS} AS a JOIN {WORDS} AS b ON b.class = a.class"))
        .replace("{language}", "english")
        .replace("$1", question)
        .replace("$2", overlapping)
        .replace("($3)", &format!("({})", trees(up)))
        .replace("($4)", &format!("({within})"))
}

/// The definition with all rules for names that a text writes otherwise: its lines that begin with --by and --each once for each rule.
fn with_rules(definition: &str) -> String {
    // The method, its score, the form that it compares, its lines.
    const RULES: [(&str, &str, &str, &str); 8] = [
        ("inflected", "0.95", "inflected", "--by form"),
        ("reordered", "0.85", "reordered", "--by form"),
        ("synonym", "0.85", "inflected", "--by synonym"),
        ("synonym", "0.85", "reordered", "--by synonym"),
        ("abbreviation", "0.9", "", "--by abbreviation"),
        ("typo", "0.8", "typo", "--by typo"),
        ("coordination", "0.75", "inflected", "--by coordination"),
        ("part", "0.7", "part", "--by part"),
    ];
    let has_rules = |line: &&str| line.starts_with("--by ") || line.starts_with("--each ");
    let mut rules = String::new();
    for (n, (method, score, form, kind)) in RULES.iter().enumerate() {
        for line in definition.lines().filter(has_rules) {
            let Some(line) = line.strip_prefix(kind).or_else(|| line.strip_prefix("--each")) else { continue };
            let line = line.replace("{n}", &(n + 1).to_string()).replace("{before}", &n.to_string());
            rules += &(line.replace("{method}", method).replace("{score}", score).replace("{form}", form) + "\n");
        }
    }
    let first = definition.lines().position(|line| has_rules(&line)).expect("the definition has rules");
    let lines: Vec<&str> = definition.lines().collect();
    let rest: Vec<&str> = lines[first..].iter().copied().filter(|line| !has_rules(line)).collect();
    let all = lines[..first].join("\n") + "\n" + &rules + &rest.join("\n");
    all.replace("--forms", "").replace("kept0 /* by the last rule */", &format!("kept{}", RULES.len()))
}

/// The two sides of a check: rows of one type, in order, from cftrag and by definition.
fn sides(table: &Table, form: Form, entities: &str, up: &str, down: &str) -> (String, String) {
    if matches!(form, Form::Under | Form::UnderInTrees) {
        return within::sides(table, form, entities, up, down);
    }
    let table_name = table.qualified();
    let in_trees = if form.is_in_trees() { format!(", trees => {}", trees(up)) } else { String::new() };
    if matches!(form, Form::Mentions | Form::MentionsOtherwise | Form::MentionsInTrees | Form::MentionsWithin) {
        // The rows have the columns of cft_context's. The random levels choose: an odd one asks for overlapping mentions, or puts words between them.
        let question = format!("array_to_string({entities}, CASE {down} % 2 WHEN 0 THEN ' ' ELSE '? The ' END)");
        let (question, matching) = match form {
            Form::MentionsOtherwise => (
                format!(
                    "replace(replace({question} || ' and the bare oaks (BO), BO', 'oaks', 'oak'), 'bare', 'baree') || '; bare or old oaks, elm; naked oak of old trees'"
                ),
                "fuzzy",
            ),
            _ => (question, "exact"),
        };
        let overlapping = format!("({up} % 2 = 1)");
        let within = format!("({entities})[1:2]");
        let narrow = form.is_narrow();
        let in_some = if form == Form::MentionsWithin { format!(", within => {within}") } else { String::new() };
        let columns =
            "row_number() OVER () AS n, m.entity, m.via_alias, m.mention, m.start, m.length::text, m.method, m.label";
        let ours = format!(
            "SELECT {columns} FROM cft_entities({question}, '{table_name}'::regclass, overlapping => {overlapping}{in_trees}{in_some}, match => '{matching}', narrow => {narrow}) AS m"
        );
        let by_definition = definition(table, form, &question, &overlapping, up, &within);
        return (
            ours,
            format!(
                "SELECT {columns} FROM ({by_definition}) AS m(entity, mention, start, length, via_alias, label, method, score)"
            ),
        );
    }
    if matches!(form, Form::Roots | Form::RootsInTrees) {
        // The rows have these columns too. Each prepared statement has the same parameters.
        let columns =
            "row_number() OVER () AS n, m.root, m.tree, m.label, NULL::int, NULL::text, NULL::text, NULL::text";
        let used = format!("({entities}, {up}, {down}) IS DISTINCT FROM NULL");
        let ours = format!("SELECT {columns} FROM cft_roots('{table_name}'::regclass{in_trees}) AS m WHERE {used}");
        let definition = filled(ROOTS, table, form.is_in_trees()).replace("($1)", &format!("({})", trees(up)));
        return (ours, format!("SELECT {columns} FROM ({definition}) AS m(tree, root, label)"));
    }
    let call = |asked: &str| format!("cft_context({asked}, {up}, {down}, '{table_name}'::regclass{in_trees}) AS c");
    let calls = match form {
        Form::One => call(&format!("({entities})[1]")),
        Form::Each => format!("unnest({entities}) AS q(name), LATERAL {}", call("q.name")),
        _ => call(entities),
    };
    (
        format!("SELECT row_number() OVER () AS n, entity, tree, relation, depth, relative, via, label FROM {calls}"),
        format!("SELECT row_number() OVER () AS n, r.* FROM ({}) AS r", reference(table, form, entities, up, down)),
    )
}

/// The check statement, with `entities`, `up` and `down` in the parameters' places.
pub fn statement(table: &Table, form: Form, entities: &str, up: &str, down: &str) -> String {
    if matches!(form, Form::Search | Form::SearchExactly) {
        return documents::statement(form, entities, up, down);
    }
    // The definition runs in a function, so that no table is open while cftrag answers: beside own writes it would ask the reference query.
    let (ours, _) = sides(table, form, entities, up, down);
    let (_, by_definition) = sides(table, form, "<entities>", "<up>", "<down>");
    let by_definition = by_definition.replace("<entities>", "$1").replace("<up>", "$2").replace("<down>", "$3");
    let row = "(n, entity, tree, relation, depth, relative, via, label)";
    let columns = r#"n, entity COLLATE "C" AS entity, tree COLLATE "C" AS tree, relation COLLATE "C" AS relation, depth,
        relative COLLATE "C" AS relative, via COLLATE "C" AS via, label COLLATE "C" AS label"#;
    format!(
        "WITH image AS MATERIALIZED (
            SELECT {columns} FROM ({ours}) AS z{row}),
        reference AS MATERIALIZED (
            SELECT {columns} FROM exact.definition($def${by_definition}$def$, {entities}, {up}, {down}) AS z),
        different AS (
            (TABLE image EXCEPT ALL TABLE reference) UNION ALL (TABLE reference EXCEPT ALL TABLE image))
        SELECT side, n, entity, tree, relation, depth, relative, via, label
          FROM (SELECT 'cftrag' AS side, * FROM image UNION ALL SELECT 'definition', * FROM reference) AS z
         WHERE EXISTS (TABLE different)
         ORDER BY side, n"
    )
}

/// exact.<table>_<volatility>(entities, many, up, down): the check as text, NULL when there is no difference.
pub fn functions(table: &Table) -> String {
    let mut sql = String::new();
    for volatility in ["volatile", "stable", "immutable"] {
        let one = statement(table, Form::One, "_asked", "_up", "_down");
        let many = statement(table, Form::Many, "_asked", "_up", "_down");
        sql += &format!(
            "CREATE FUNCTION exact.{name}_{volatility}(_asked text[], many bool, _up int, _down int) RETURNS text
             LANGUAGE plpgsql {volatility} PARALLEL SAFE AS $check$
             BEGIN
                 IF many THEN RETURN (SELECT string_agg(x::text, E'\\n') FROM ({many}) AS x);
                 ELSE RETURN (SELECT string_agg(x::text, E'\\n') FROM ({one}) AS x); END IF;
             END $check$;\n",
            name = table.name
        );
    }
    sql
}

/// The SQLSTATE by which a trigger reports a difference.
pub const DIFFERENT: &str = "CF001";

/// Triggers that ask for context (exact.watch = on) before, after and around cftrag's own, and that change the row again
/// (exact.touch = delete | update): the inner statement's triggers run before the outer's.
pub fn triggers(table: &Table) -> String {
    let Table { name, parent, child, .. } = table;
    let qualified = table.qualified();
    format!(
        r#"
CREATE FUNCTION exact.{name}_watch() RETURNS trigger LANGUAGE plpgsql AS $watch$
DECLARE found text;
        row record;
BEGIN
    IF current_setting('exact.watch', true) = 'on' THEN
        IF TG_LEVEL = 'ROW' THEN
            IF TG_OP = 'DELETE' THEN row := OLD; ELSE row := NEW; END IF;
            found := exact.{name}_volatile(ARRAY[row.{parent}::text, row.{child}::text], true, 2, 2);
        ELSE
            found := exact.{name}_volatile(ARRAY['n15', '15'], true, 3, 3);
        END IF;
        IF found IS NOT NULL THEN
            RAISE EXCEPTION 'in trigger % % % %', TG_NAME, TG_WHEN, TG_OP, TG_LEVEL USING ERRCODE = '{DIFFERENT}', DETAIL = found;
        END IF;
    END IF;
    IF TG_LEVEL = 'ROW' THEN IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW; END IF;
    RETURN NULL;
END $watch$;
CREATE TRIGGER a_watch BEFORE INSERT OR UPDATE OR DELETE ON {qualified} FOR EACH ROW EXECUTE FUNCTION exact.{name}_watch();
CREATE TRIGGER b_watch AFTER INSERT OR UPDATE OR DELETE ON {qualified} FOR EACH ROW EXECUTE FUNCTION exact.{name}_watch();
CREATE TRIGGER z_watch AFTER INSERT OR UPDATE OR DELETE ON {qualified} FOR EACH ROW EXECUTE FUNCTION exact.{name}_watch();
CREATE TRIGGER s_watch AFTER INSERT OR UPDATE OR DELETE ON {qualified} EXECUTE FUNCTION exact.{name}_watch();
CREATE TRIGGER b_truncate BEFORE TRUNCATE ON {qualified} EXECUTE FUNCTION exact.{name}_watch();
CREATE TRIGGER z_truncate AFTER TRUNCATE ON {qualified} EXECUTE FUNCTION exact.{name}_watch();
ALTER TABLE {qualified} ENABLE ALWAYS TRIGGER a_watch;
ALTER TABLE {qualified} ENABLE ALWAYS TRIGGER z_watch;

CREATE FUNCTION exact.{name}_touch() RETURNS trigger LANGUAGE plpgsql AS $touch$
BEGIN
    IF pg_trigger_depth() > 1 THEN RETURN NULL; END IF;
    IF current_setting('exact.touch', true) = 'delete' THEN
        DELETE FROM {qualified} WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM {qualified} WHERE {parent} = NEW.{parent} AND {child} = NEW.{child} LIMIT 1 FOR UPDATE SKIP LOCKED));
    ELSIF current_setting('exact.touch', true) = 'update' THEN
        UPDATE {qualified} SET note = note + 1 WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM {qualified} WHERE {parent} = NEW.{parent} AND {child} = NEW.{child} LIMIT 1 FOR UPDATE SKIP LOCKED));
    END IF;
    RETURN NULL;
END $touch$;
CREATE TRIGGER a_touch AFTER INSERT OR UPDATE ON {qualified} FOR EACH ROW EXECUTE FUNCTION exact.{name}_touch();
"#
    )
}

/// The arguments of a check written out, for functions, cursors and RETURNING.
pub fn array_literal(entities: &[Option<String>]) -> String {
    let items: Vec<String> = entities.iter().map(|e| e.as_ref().map_or("NULL".to_string(), |e| literal(e))).collect();
    format!("ARRAY[{}]::text[]", items.join(", "))
}

pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

impl Check {
    pub fn form(&self) -> Form {
        match (self.mode, self.many) {
            (Mode::Each, _) => Form::Each,
            (Mode::Mentions, _) => Form::Mentions,
            (Mode::Roots, _) => Form::Roots,
            (Mode::InTrees, _) => Form::ManyInTrees,
            (Mode::MentionsOtherwise, _) => Form::MentionsOtherwise,
            (Mode::MentionsInTrees, _) => Form::MentionsInTrees,
            (Mode::MentionsWithin, _) => Form::MentionsWithin,
            (Mode::RootsInTrees, _) => Form::RootsInTrees,
            (Mode::Under, _) => Form::Under,
            (Mode::UnderInTrees, _) => Form::UnderInTrees,
            (Mode::Search, _) => Form::Search,
            (Mode::SearchExactly, _) => Form::SearchExactly,
            (_, true) => Form::Many,
            (_, false) => Form::One,
        }
    }

    /// Calls of cft_context that are compared.
    pub fn calls(&self) -> u64 {
        if self.mode == Mode::Each { self.entities.len() as u64 } else { 1 }
    }

    /// A call of the function of that volatility with these arguments written out.
    pub fn call(&self, table: &Table, volatility: &str) -> String {
        let Check { many, up, down, .. } = self;
        format!("exact.{}_{volatility}({}, {many}, {up}, {down})", table.name, array_literal(&self.entities))
    }

    /// The check statement with the arguments written out (what a person would paste into psql).
    pub fn written_out(&self, table: &Table) -> String {
        statement(table, self.form(), &array_literal(&self.entities), &self.up.to_string(), &self.down.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::TABLES;

    #[test]
    fn every_placeholder_of_the_reference_query_is_filled() {
        for table in &TABLES {
            for form in [Form::Many, Form::ManyInTrees] {
                let text = reference(table, form, "q", "u", "d");
                assert!(!text.replace("'{}'", "").contains(['{', '}', '$']), "{text}");
            }
            for form in [Form::Mentions, Form::MentionsOtherwise, Form::MentionsInTrees, Form::MentionsWithin] {
                let text = definition(table, form, "q", "o", "u", "w")
                    + &filled(ROOTS, table, form.is_in_trees()).replace("$1", "t");
                assert!(!text.replace("'{}'", "").contains(['{', '}', '$']), "{text}");
            }
        }
    }
}
