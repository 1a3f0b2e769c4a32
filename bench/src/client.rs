//! The hierarchy in a Python client's dictionaries: no server, no snapshot, and nothing keeps them up to date.

use std::error::Error;
use std::io::Read as _;
use std::process::Command;

use crate::data::Forest;
use crate::lookup::{DOWN, UP};
use crate::measure::Session;
use crate::report::Table;

/// Measures seconds to load, resident MB, p50 and mean of one entity, p50 of a hundred; None without Python.
pub fn dictionaries(session: &mut Session, forest: &Forest, names: &[String]) -> Result<Option<Table>, Box<dyn Error>> {
    let names: std::collections::BTreeSet<&String> = names.iter().collect();
    let names: Vec<&String> = names.into_iter().collect();
    let dir = std::env::temp_dir().join(format!("cftrag-bench-{}", std::process::id()));
    std::fs::create_dir_all(&dir)?;
    let (edges, asked, program) = (dir.join("edges"), dir.join("names"), dir.join("client.py"));
    let mut text = String::new();
    session.client.copy_out(&format!("COPY edges_{} TO STDOUT", forest.name))?.read_to_string(&mut text)?;
    std::fs::write(&edges, text)?;
    std::fs::write(&asked, names.iter().map(|n| n.as_str()).collect::<Vec<_>>().join("\n"))?;
    std::fs::write(&program, include_str!("client.py"))?;
    let told = Command::new("python3").args([&program, &edges, &asked]).output();
    std::fs::remove_dir_all(&dir)?;
    let Ok(told) = told else { return Ok(None) };
    let figures: Vec<f64> =
        String::from_utf8_lossy(&told.stdout).split_whitespace().filter_map(|f| f.parse().ok()).collect();
    let [loaded, resident, p50, mean, hundred, rows] = figures[..] else {
        return Err(format!("client.py: {}", String::from_utf8_lossy(&told.stderr)).into());
    };
    let sql = format!("SELECT count(*) FROM cft_context($1::text[], {UP}, {DOWN}, 'edges_{}')", forest.name);
    let ours: i64 = session.client.query_one(&sql, &[&names])?.get(0);
    if ours as f64 != rows {
        return Err(format!("client.py finds {rows} rows, cftrag {ours}").into());
    }
    Ok(Some(Table {
        title: format!("Dictionaries in a Python client, {}", forest.name),
        file: format!("client-{}", forest.name),
        unit: "microseconds, p50 of one",
        columns: vec!["one, p50", "one, mean", "a hundred, p50", "seconds to load", "MB"],
        lines: vec![("dict in Python".into(), vec![p50, mean, hundred, loaded, resident])],
        note: "No round trip is counted; each process loads its own copy, and nothing tells it of a change.".into(),
    }))
}
