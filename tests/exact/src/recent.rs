//! What is printed for a person: the last steps, and the text of the few statements that are not random.

use std::collections::VecDeque;

use crate::model::Level;
use crate::schema::TABLES;
use crate::step::Step;

/// Steps shown before a difference.
const SHOWN: usize = 40;

pub struct Recent {
    lines: VecDeque<String>,
    verbose: bool,
}

impl Recent {
    pub fn new(verbose: bool) -> Recent {
        Recent { lines: VecDeque::new(), verbose }
    }

    pub fn step(&mut self, number: u64, step: &Step) {
        self.line(format!("{number:6} session {} {:?}", step.session, step.action));
    }

    pub fn line(&mut self, line: String) {
        let line = line.replace(&TABLES[0].entity(0), "<long name>");
        if self.verbose {
            println!("{line}");
        }
        self.lines.push_back(line);
        if self.lines.len() > SHOWN {
            self.lines.pop_front();
        }
    }

    pub fn text(&self) -> String {
        self.lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

pub fn begin(level: Level, read_only: bool) -> String {
    let level = match level {
        Level::ReadCommitted => "READ COMMITTED",
        Level::RepeatableRead => "REPEATABLE READ",
        Level::Serializable => "SERIALIZABLE",
        // The snapshot is taken at once: it would wait for serializable transactions that begin later.
        Level::Deferrable => "SERIALIZABLE READ ONLY DEFERRABLE; SELECT 1",
    };
    let read_only = if read_only && !level.contains("READ ONLY") { " READ ONLY" } else { "" };
    format!("BEGIN ISOLATION LEVEL {level}{read_only}")
}

pub fn finish_prepared(gid: &str, commit: bool) -> String {
    format!("{} PREPARED '{gid}'", if commit { "COMMIT" } else { "ROLLBACK" })
}
