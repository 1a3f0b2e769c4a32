//! Hints with the statement that attaches a table: it works when pasted, with the table's own columns.

use crate::catalog::column_rules::check_columns;
use crate::catalog::columns::ColumnNames;
use crate::catalog::edges_table::EdgesTable;
use crate::catalog::name::display_name;
use crate::catalog::registration;
use crate::catalog::registration::Functions;
use crate::pg::lookup;
use cftrag_core::Language;
use pgrx::pg_sys;

/// The hint "Attach it with: SELECT cft_attach('tags', parent => 'up', child => 'id');" if the columns can be told:
/// from the table's only foreign key to itself, else from the names `parent` and `child`, or `parent_id` and `id`.
/// Otherwise lists the table's columns, or says why it cannot be attached.
pub fn attach_hint(table: &EdgesTable) -> String {
    if let Some(why) = table.unsuitable().or_else(|| table.inherits()) {
        return format!("It cannot be attached: it is {why}.");
    }
    let takes = |names: &ColumnNames| check_columns(table, names).is_ok();
    let usual = [ColumnNames::pair("parent", "child"), ColumnNames::pair("parent_id", "id")];
    let own = own_keys(table);
    let known = if own.len() > 1 { None } else { own.into_iter().chain(usual).find(takes) };
    match known {
        Some(names) => {
            format!("Attach it with: {}", attach_line(table.oid(), &with_label(table, with_tree(table, names))))
        }
        None => {
            format!("Attach it with cft_attach, which takes its columns of parents and children; it {}", table.listed())
        }
    }
}

/// These columns, and a column of trees if the table has one that is called so.
fn with_tree(table: &EdgesTable, names: ColumnNames) -> ColumnNames {
    let in_trees = ColumnNames { tree: Some("tree".into()), ..names.clone() };
    if check_columns(table, &in_trees).is_ok() { in_trees } else { names }
}

/// Columns that usually say what people call an id.
const LABELS: [&str; 3] = ["name", "title", "label"];

/// These columns, and a column of labels if children are ids and the table has one that is called so.
pub fn with_label(table: &EdgesTable, names: ColumnNames) -> ColumnNames {
    let textual = [pg_sys::TEXTOID, pg_sys::VARCHAROID, pg_sys::BPCHAROID, pg_sys::NAMEOID].map(u32::from);
    let is_text = |name: &str| table.column(name).is_some_and(|column| textual.contains(&column.type_oid));
    if is_text(&names.child) {
        return names;
    }
    let takes = |label: &str| {
        let names = ColumnNames { label: Some(label.into()), ..names.clone() };
        is_text(label) && check_columns(table, &names).is_ok()
    };
    let label = LABELS.into_iter().find(|label| takes(label)).map(str::to_string);
    ColumnNames { label, ..names }
}

/// The statement that attaches a table with these columns: cft_attach or, for a table of names, cft_attach_aliases or
/// cft_attach_labels. It leaves out arguments that equal their defaults.
pub fn attach_line(table: pg_sys::Oid, names: &ColumnNames) -> String {
    let quote = |text: &str| text.replace('\'', "''");
    if let (false, Some(name)) = (names.has_parent(), &names.label) {
        let functions = Functions::of_extension();
        let markers = registration::name_markers(table, functions);
        let is_labels = markers.iter().any(|(function, _)| *function == functions.names_of()[1]);
        let [what, argument] = if is_labels { ["labels", "label"] } else { ["aliases", "alias"] };
        let (table, name, entity) = (quote(&display_name(table)), quote(name), quote(&names.child));
        let edges = markers.first().map(|(_, edges)| format!(", edges => '{}'", quote(&display_name(*edges))));
        let of = markers.first().and_then(|(_, edges)| registration::now(*edges, functions));
        let (edges, of) = (edges.unwrap_or_default(), of.map(|of| of.language()).unwrap_or_default());
        let language = language_argument(names.language, of);
        let others = names_argument(names);
        let preferred = names.preferred.as_ref().map(|name| format!(", preferred => '{}'", quote(name)));
        let preferred = preferred.unwrap_or_default();
        return format!(
            "SELECT cft_attach_{what}('{table}', {argument} => '{name}', entity => \
                '{entity}'{edges}{language}{others}{preferred});"
        );
    }
    let mut line = format!("SELECT cft_attach('{}'", quote(&display_name(table)));
    for (argument, column) in names.all().into_iter().filter(|(argument, _)| *argument != "names") {
        let is_default = column == argument && ["parent", "child"].contains(&argument);
        if !is_default {
            line += &format!(", {argument} => '{}'", quote(column));
        }
    }
    if names.ids {
        line += ", ids => true";
    }
    if let Some(position) = &names.position {
        line += &format!(", sort => '{}'", quote(position));
    }
    let is_kept = !registration::keeps(table, Functions::of_extension()).is_empty();
    let keep = if is_kept { ", keep => true" } else { "" };
    line + &language_argument(names.language, Language::default()) + &names_argument(names) + keep + ");"
}

/// The argument `names` of a call, if there are other names.
fn names_argument(names: &ColumnNames) -> String {
    if names.names.is_empty() {
        return String::new();
    }
    let all: Vec<_> = names.names.iter().map(|name| format!("'{}'", name.replace('\'', "''"))).collect(); // bounded: MOST_NAMES
    format!(", names => ARRAY[{}]", all.join(", "))
}

/// The argument `language` of a call, unless it is what the call would take without it.
fn language_argument(language: Language, default: Language) -> String {
    if language == default { String::new() } else { format!(", language => '{}'", language.name()) }
}

/// The columns of the table's single-column foreign keys to itself.
fn own_keys(table: &EdgesTable) -> Vec<ColumnNames> {
    let name = |number| table.desc().column(i32::from(number)).map(|column| lookup::name_of(&column.attname));
    let pair = |(from, to)| Some(ColumnNames::pair(name(from)?, name(to)?));
    table.keys_to_itself().into_iter().filter_map(pair).collect() // bounded: constraints
}
