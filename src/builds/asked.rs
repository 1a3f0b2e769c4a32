//! Which tables are asked most, kept in a file: the launcher writes it when the server stops, and the next start builds
//! their images first.
//!
//! A line is a database's OID and a table's, those that were asked most first; then come those of the file before. The
//! file is a hint: if it is missing or wrong, images are built in another order.

use crate::image::control::Control;
use std::collections::HashMap;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// In the data directory, where all processes work.
const FILE: &str = "pg_stat/cftrag.asked";

const UNFINISHED: &str = "pg_stat/cftrag.asked.tmp";

/// As many as the directory has entries.
const MOST: usize = 1 << 16;

/// Bytes of so many lines, at most.
const LONGEST: u64 = 22 * MOST as u64;

/// A database and a table.
type Table = (u32, u32);

/// The rank of each table: 0 was asked most.
pub fn ranks() -> HashMap<Table, usize> {
    read().into_iter().zip(0..).collect() // bounded: MOST
}

fn read() -> Vec<Table> {
    // What is no file of ours, a pipe say, is not opened.
    let is_ours = std::fs::symlink_metadata(FILE).is_ok_and(|found| found.is_file() && found.len() <= LONGEST);
    let text = if is_ours { std::fs::read_to_string(FILE).unwrap_or_default() } else { String::new() };
    let table = |line: &str| {
        let (database, table) = line.split_once(' ')?;
        Some((database.parse().ok()?, table.parse().ok()?))
    };
    text.lines().map_while(table).take(MOST).collect() // bounded: MOST
}

/// Writes the file.
pub fn write(control: &Control) -> std::io::Result<()> {
    let mut asked: Vec<(u64, Table)> = Vec::new();
    for (_, entry, slot) in control.slots() {
        let by_query: u64 = slot.reasons.iter().map(|count| count.load(Relaxed)).sum();
        let calls = slot.sum(|reads| &reads.image_calls) + by_query;
        if calls > 0 {
            asked.push((calls, (entry.database.load(SeqCst), entry.table.load(SeqCst)))); // bounded: entries of the directory
        }
    }
    asked.sort_unstable_by_key(|(calls, _)| std::cmp::Reverse(*calls));
    let mut tables: Vec<Table> = asked.into_iter().map(|(_, table)| table).collect(); // bounded: entries of the directory
    let now: std::collections::HashSet<Table> = tables.iter().copied().collect(); // bounded: entries of the directory
    tables.extend(read().into_iter().filter(|table| !now.contains(table)).take(MOST - now.len()));
    let lines: String = tables.iter().map(|(database, table)| format!("{database} {table}\n")).collect(); // bounded: MOST
    std::fs::write(UNFINISHED, lines)?;
    std::fs::rename(UNFINISHED, FILE)
}
