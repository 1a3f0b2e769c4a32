//! One connection: its prepared checks, its history, and which errors the workload provokes itself.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Arc, Mutex};

use postgres::{Client, Config, Error, NoTls, SimpleQueryMessage};

use crate::check::{self, Check, Form, Mode};
use crate::dml::Part;
use crate::documents;
use crate::schema::{TABLES, Table};

/// Long enough to get a free lock, and short, since waiting for another is useless: no other session moves meanwhile.
const LOCK_TIMEOUT: &str = "20ms";
/// How long a session waits for a lock that a Contend step will release.
const CONTEND_TIMEOUT: &str = "20s";
/// No statement here takes that long: one that does hangs, and its error (57014) ends the run.
const HANG: &str = "30s";

/// Warnings of all sessions since they were last taken.
pub type Warnings = Arc<Mutex<Vec<String>>>;

pub fn collecting(config: &Config, into: &Warnings) -> Config {
    let (mut config, into) = (config.clone(), into.clone());
    config.notice_callback(move |notice| {
        let text = format!("{}: {} {}", notice.severity(), notice.message(), notice.detail().unwrap_or(""));
        into.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(text);
    });
    config
}

pub struct Session {
    config: Config,
    setting: String,
    client: Client,
    pub pid: i32,
    statements: HashMap<(usize, Form), postgres::Statement>,
    /// The setting that forces a parallel worker (renamed in PostgreSQL 16).
    force_parallel: &'static str,
    /// A COPY failed. The client library then loses count of the server's messages, and the connection is useless.
    pub broken: bool,
    /// What it has run since its transaction began.
    pub history: Vec<String>,
}

/// A check's result.
pub enum Compared {
    Same,
    /// Both results, to be printed.
    Different(String),
    /// The check did not run (an INSERT ... RETURNING that inserted nothing).
    NotAsked,
}

pub enum Trouble {
    /// The workload provokes these.
    Provoked(String),
    /// A difference found by a trigger.
    Different(String),
    /// Errors that no user should see.
    Unexpected(String),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Trouble {
        let Some(db) = error.as_db_error() else { return Trouble::Unexpected(format!("{error:?}")) };
        let text = format!("{}: {} {}", db.code().code(), db.message(), db.detail().unwrap_or(""));
        let own_cause = match db.code().code() {
            // Serialization, deadlock, lock timeout; unique and foreign keys; read-only; two rows hit twice; changed by the
            // row's own trigger; TRUNCATE below an open cursor.
            "40001" | "40P01" | "55P03" | "23505" | "23503" | "25006" | "21000" | "27000" | "55006" => true,
            // COPY FREEZE, if the table is not new, or the transaction has another snapshot (one that it exported, for example).
            "55000" | "25000" => db.message().contains("COPY FREEZE"),
            _ => false,
        };
        match db.code().code() {
            check::DIFFERENT => Trouble::Different(format!("{text} {}", db.where_().unwrap_or(""))),
            _ if own_cause => Trouble::Provoked(text),
            _ => Trouble::Unexpected(format!("{text} {}", db.where_().unwrap_or(""))),
        }
    }
}

impl Session {
    pub fn open(config: &Config) -> Result<Session, Error> {
        let mut client = config.connect(NoTls)?;
        client.batch_execute(&format!(
            "SET lock_timeout = '{LOCK_TIMEOUT}'; SET statement_timeout = '{HANG}'; SET client_min_messages = warning"
        ))?;
        let row = client.query_one("SELECT pg_backend_pid(), current_setting('server_version_num')::int", &[])?;
        let (pid, version): (i32, i32) = (row.get(0), row.get(1));
        let force_parallel = if version >= 160_000 { "debug_parallel_query" } else { "force_parallel_mode" };
        Ok(Session {
            config: config.clone(),
            setting: String::new(),
            client,
            pid,
            statements: HashMap::new(),
            force_parallel,
            broken: false,
            history: Vec::new(),
        })
    }

    /// A setting of this session that outlives its connection.
    pub fn always(&mut self, set: &str) -> Result<(), Error> {
        self.setting = set.to_string();
        self.client.batch_execute(set)
    }

    /// Drops the connection, whatever it was doing, and opens another; returns the old backend's pid.
    pub fn reopen(&mut self) -> Result<i32, Error> {
        let (pid, setting) = (self.pid, std::mem::take(&mut self.setting));
        *self = Session::open(&self.config.clone())?;
        self.always(&setting)?;
        Ok(pid)
    }

    pub fn run(&mut self, sql: &str) -> Result<(), Trouble> {
        self.note(sql);
        Ok(self.client.batch_execute(sql)?)
    }

    /// The text that a statement returns.
    pub fn value(&mut self, sql: &str) -> Result<String, Trouble> {
        self.note(sql);
        Ok(self.client.query_one(sql, &[])?.get(0))
    }

    /// The check statement itself is long, and always the same.
    fn note(&mut self, sql: &str) {
        let end = sql.find("WITH image AS").map_or(sql.len(), |at| at);
        let call = sql.find("cft_context(").map_or("", |at| sql[at..].lines().next().unwrap_or(""));
        let short = if end < sql.len() { format!("{}(the check of {call}", &sql[..end]) } else { sql.to_string() };
        self.history.push(short);
    }

    pub fn parts(&mut self, parts: &[Part]) -> Result<(), Trouble> {
        parts.iter().try_for_each(|part| match part {
            Part::Sql(sql) => self.run(sql),
            Part::Copy { sql, rows } => {
                self.history.push(format!("{sql};\n{rows}\\."));
                self.broken = true;
                let mut writer = self.client.copy_in(sql.as_str())?;
                writer.write_all(rows.as_bytes()).map_err(|e| Trouble::Unexpected(e.to_string()))?;
                writer.finish()?;
                self.broken = false;
                Ok(())
            }
        })
    }

    /// Runs a statement that may have to wait for another session's lock.
    pub fn run_waiting(&mut self, sql: &str) -> Result<(), Trouble> {
        self.run(&format!("SET lock_timeout = '{CONTEND_TIMEOUT}'"))?;
        let result = self.run(sql);
        // After an error inside a transaction the rollback brings the old value back.
        let _ = self.client.batch_execute(&format!("SET lock_timeout = '{LOCK_TIMEOUT}'"));
        result
    }

    pub fn compare(&mut self, check: &Check) -> Result<Compared, Trouble> {
        let table = &TABLES[check.table];
        match check.mode {
            Mode::Plain | Mode::Each => self.plain(check),
            Mode::Mentions | Mode::MentionsOtherwise | Mode::MentionsInTrees | Mode::MentionsWithin => {
                self.plain(check)
            }
            Mode::Roots | Mode::InTrees | Mode::RootsInTrees => self.plain(check),
            Mode::Under | Mode::UnderInTrees => self.plain(check),
            Mode::Search => self.around(documents::ALONG[0], documents::ALONG[1], |s| s.plain(check)),
            Mode::SearchExactly => self.around(documents::WITHOUT[0], documents::WITHOUT[1], |s| s.plain(check)),
            Mode::Disabled => self.around("SET cftrag.enable = off", "RESET cftrag.enable", |s| s.plain(check)),
            Mode::Volatile => self.rows(&format!("SELECT {}", check.call(table, "volatile"))),
            Mode::Stable => self.rows(&format!("SELECT {}", check.call(table, "stable"))),
            Mode::Immutable => self.rows(&format!("SELECT {}", check.call(table, "immutable"))),
            Mode::Worker => {
                let sql = format!("SELECT {}", check.call(table, "stable"));
                let forced = self.force_parallel;
                self.around(&format!("SET {forced} = on"), &format!("RESET {forced}"), |s| s.rows(&sql))
            }
            Mode::Reader => {
                let sql = check.written_out(table);
                self.around("SET ROLE exact_reader", "RESET ROLE", |s| s.rows(&sql))
            }
            Mode::Returning => {
                let sql = insert_one(table);
                self.rows(&format!("{sql} RETURNING {}", check.call(table, "volatile")))
            }
            Mode::BesideCte => {
                let sql = insert_one(table);
                self.rows(&format!(
                    "WITH w AS ({sql} RETURNING 1) SELECT {}, (SELECT count(*) FROM w)",
                    check.call(table, "stable")
                ))
            }
        }
    }

    fn plain(&mut self, check: &Check) -> Result<Compared, Trouble> {
        self.history.push(format!(
            "-- prepared {:?}: {}({:?}, {}, {})",
            check.form(),
            TABLES[check.table].name,
            check.entities,
            check.up,
            check.down
        ));
        let key = (check.table, check.form());
        if !self.statements.contains_key(&key) {
            let sql = check::statement(&TABLES[check.table], check.form(), "$1::text[]", "$2::int", "$3::int");
            self.statements.insert(key, self.client.prepare(&sql)?);
        }
        let rows = self.client.query(&self.statements[&key], &[&check.entities, &check.up, &check.down])?;
        if rows.is_empty() {
            return Ok(Compared::Same);
        }
        let lines: Vec<String> = rows.iter().map(line).collect();
        Ok(Compared::Different(lines.join("\n")))
    }

    /// A statement whose result is empty, or one NULL in the first column, when both sides agree.
    pub fn rows(&mut self, sql: &str) -> Result<Compared, Trouble> {
        self.note(sql);
        let mut found = Vec::new();
        let mut rows = 0;
        for message in self.client.simple_query(sql)? {
            if let SimpleQueryMessage::Row(row) = message {
                rows += 1;
                if row.get(0).is_some() {
                    found.push((0..row.len()).map(|i| row.get(i).unwrap_or("NULL")).collect::<Vec<_>>().join(" | "));
                }
            }
        }
        match found.is_empty() {
            false => Ok(Compared::Different(found.join("\n"))),
            true if rows == 0 && sql.contains("RETURNING exact.") => Ok(Compared::NotAsked),
            true => Ok(Compared::Same),
        }
    }

    /// A setting for one check. An error inside a transaction undoes the setting with it.
    fn around<T>(
        &mut self,
        set: &str,
        reset: &str,
        body: impl FnOnce(&mut Session) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        self.run(set)?;
        let result = body(self);
        let _ = self.client.batch_execute(reset);
        result
    }
}

/// `two` runs its statement and waits for a row that `one` has locked; then `one` ends. Returns what became of the statement.
pub fn contend(
    one: &mut Session,
    two: &mut Session,
    monitor: &mut Client,
    second: &str,
    commit: bool,
) -> Result<(), Trouble> {
    let pid = two.pid;
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| two.run_waiting(second));
        while !waiting.is_finished() {
            let sql = "SELECT count(*) > 0 FROM pg_locks WHERE pid = $1 AND NOT granted";
            if monitor.query_one(sql, &[&pid])?.get(0) {
                break;
            }
        }
        one.run(if commit { "COMMIT" } else { "ROLLBACK" })?;
        waiting.join().map_err(|_| Trouble::Unexpected("the waiting session's thread panicked".into()))?
    })
}

fn insert_one(table: &Table) -> String {
    let value = |i: usize| if table.numeric { table.entity(i) } else { check::literal(&table.entity(i)) };
    let tree = table.tree.map_or(String::new(), |_| "'oak', ".to_string());
    format!(
        "INSERT INTO {} ({}) VALUES ({tree}{}, {}, 0) ON CONFLICT DO NOTHING",
        table.qualified(),
        table.columns(),
        value(4),
        value(12)
    )
}

fn line(row: &postgres::Row) -> String {
    let text = |i: usize| row.get::<_, Option<&str>>(i).map_or("NULL".to_string(), |t| format!("{t:?}"));
    let number: i64 = row.get(1);
    let depth = row.get::<_, Option<i32>>(5).map_or("NULL".to_string(), |depth| depth.to_string());
    let side: &str = row.get(0);
    format!("{side:11} {number:3} | {} | {} | {} | {depth} | {} | {}", text(2), text(3), text(4), text(6), text(7))
}
