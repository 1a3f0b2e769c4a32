//! The driver: one thread, several sessions, one schedule. Executes steps, compares, keeps the model in step with the server.

use std::time::{Duration, Instant};

use postgres::{Client, Config, Error, NoTls};

use crate::apply::Outcome;
use crate::builder::Builder;
use crate::check::Check;
use crate::dml::Part;
use crate::links;
use crate::long::Long;
use crate::model::{Cursor, LEAVES_TO_WORKERS, Model};
use crate::recent::{Recent, begin, finish_prepared};
use crate::schema::{self, TABLES};
use crate::session::{self, Compared, Session, Trouble, Warnings};
use crate::step::{Action, Generator, Step};
use crate::tally::{Stats, Tally};

/// Steps between two counts of the tables' rows.
const COUNT_EVERY: u64 = 100;

pub struct Driver {
    pub(crate) config: Config,
    pub(crate) monitor: Client,
    pub(crate) sessions: Vec<Session>,
    /// For cft_build beside writers.
    pub(crate) builder: Builder,
    pub(crate) model: Model,
    generator: Generator,
    pub(crate) stats: Option<Stats>,
    pub tally: Tally,
    recent: Recent,
    pub seed: u64,
    warnings: Warnings,
    pub(crate) look: Look,
    /// Every step so far, for shrink.rs.
    pub done: Vec<Step>,
}

/// Options of a run: what to print, when to stop, what to leave out, what a long run adds.
#[derive(Clone, Debug, Default)]
pub struct Look {
    pub verbose: bool,
    pub stop_at_warning: bool,
    /// Kinds of steps that are left out.
    pub without: Vec<String>,
    pub long: Long,
    /// Commands after which every connection is gone and another server may answer.
    pub disasters: Vec<String>,
}

/// A step that must end the run, with everything a person needs to see.
pub struct Failure {
    pub text: String,
    /// cft_context or the image is wrong (not: an unexpected error).
    pub different: bool,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure { text: format!("the driver's own statement failed: {error:?}"), different: false }
    }
}

impl Driver {
    /// Makes a fresh schema, and sessions for it.
    pub fn new(config: &Config, seed: u64, sessions: usize, look: &Look) -> Result<Driver, Failure> {
        schema::set_up(&mut config.connect(NoTls)?)?;
        let mut driver = Driver::open(config, seed, sessions, look, "")?;
        driver.stats = Stats::new(&mut driver.monitor).ok();
        Ok(driver)
    }

    /// Makes sessions for the existing schema; `tag` keeps the names of several drivers apart. What served is not counted.
    pub fn open(config: &Config, seed: u64, sessions: usize, look: &Look, tag: &str) -> Result<Driver, Failure> {
        let warnings = Warnings::default();
        let config = session::collecting(config, &warnings);
        let mut monitor = config.connect(NoTls)?;
        monitor.batch_execute("SET client_min_messages = warning; SET lock_timeout = '2s'")?;
        let prepared = monitor.query_one("SELECT current_setting('max_prepared_transactions')::int", &[])?;
        let two_phase = prepared.get::<_, i32>(0) >= 4;
        if !two_phase {
            println!("max_prepared_transactions is below 4: no PREPARE TRANSACTION in this run");
        }
        let mut sessions: Vec<Session> = (0..sessions).map(|_| Session::open(&config)).collect::<Result<_, _>>()?;
        if let [_, _, ..] = sessions[..] {
            sessions[LEAVES_TO_WORKERS].always("SET cftrag.build_in_place_limit = '1kB'")?;
        }
        let builder = Builder::new(Session::open(&config)?);
        Ok(Driver {
            monitor,
            model: Model::new(sessions.len()),
            sessions,
            builder,
            generator: Generator::new(seed, two_phase, tag, &look.without).long(&look.long),
            config: config.clone(),
            stats: None,
            tally: Tally::default(),
            recent: Recent::new(look.verbose),
            seed,
            warnings,
            look: look.clone(),
            done: Vec::new(),
        })
    }

    /// The next step of the schedule.
    pub fn step(&mut self) -> Result<(), Failure> {
        let step = self.generator.next(&self.model);
        self.perform(step)
    }

    /// This step, if it makes sense now.
    pub fn replay(&mut self, step: &Step) -> Result<(), Failure> {
        if self.model.allows(step) { self.perform(step.clone()) } else { Ok(()) }
    }

    fn perform(&mut self, step: Step) -> Result<(), Failure> {
        self.done.push(step.clone());
        self.recent.step(self.tally.steps, &step);
        self.tally.steps += 1;
        *self.tally.kinds.entry(step.action.kind()).or_default() += 1;
        let outcome = match self.execute(&step) {
            Ok(()) => Outcome::Done,
            Err(Trouble::Provoked(text)) => {
                self.tally.provoked(&text);
                self.recent.line(format!("        {text}"));
                Outcome::Failed
            }
            Err(Trouble::Different(text)) => {
                self.tally.differences += 1;
                return Err(self.failure(&step, "DIFFERENCE", &text));
            }
            Err(Trouble::Unexpected(text)) => return Err(self.failure(&step, "UNEXPECTED ERROR", &text)),
        };
        self.warned(&step)?;
        self.model.apply(&step, &outcome);
        if self.sessions[step.session].broken {
            let old = self.sessions[step.session].reopen()?;
            self.wait_gone(old)?;
            self.model.end(step.session, false);
        }
        if self.model.sessions[step.session].txn.is_none() {
            self.sessions[step.session].history.clear();
        }
        if self.tally.steps.is_multiple_of(COUNT_EVERY) {
            self.count_rows()?;
        }
        Ok(())
    }

    fn warned(&mut self, step: &Step) -> Result<(), Failure> {
        let warnings = std::mem::take(&mut *self.warnings.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
        for text in warnings {
            *self.tally.warnings.entry(text.clone()).or_default() += 1;
            self.recent.line(format!("        {text}"));
            if self.look.stop_at_warning {
                return Err(self.failure(step, "WARNING", &text));
            }
        }
        Ok(())
    }

    /// Ends every transaction and verifies every table.
    pub fn finish(&mut self) -> Result<(), Failure> {
        let step = Step { session: 0, action: Action::Quiesce { commit: true } };
        self.recent.step(self.tally.steps, &step);
        match self.end_all(true).and_then(|()| self.verify()) {
            Ok(()) => self.model.apply(&step, &Outcome::Done),
            Err(Trouble::Provoked(t) | Trouble::Different(t) | Trouble::Unexpected(t)) => {
                return Err(self.failure(&step, "AT THE END", &t));
            }
        }
        let left: i64 = self.monitor.query_one("SELECT count(*) FROM pg_prepared_xacts", &[])?.get(0);
        if left > 0 {
            return Err(self.failure(&step, "AT THE END", &format!("{left} prepared transactions are left")));
        }
        Ok(())
    }

    /// Ends this driver's transactions, nothing else.
    pub fn close(&mut self) -> Result<(), Failure> {
        let step = Step { session: 0, action: Action::Quiesce { commit: true } };
        self.end_all(true).map_err(|trouble| match trouble {
            Trouble::Provoked(t) | Trouble::Different(t) | Trouble::Unexpected(t) => {
                self.failure(&step, "AT THE END", &t)
            }
        })
    }

    fn execute(&mut self, step: &Step) -> Result<(), Trouble> {
        let me = step.session;
        let session = &mut self.sessions[me];
        let savepoint =
            |index: usize| self.model.sessions[me].txn.as_ref().map_or(String::new(), |t| t.savepoints[index].clone());
        match &step.action {
            Action::Begin { level, read_only } => session.run(&begin(*level, *read_only)),
            Action::Commit => self.commit(me),
            Action::Rollback => session.run("ROLLBACK"),
            Action::Savepoint(name) => session.run(&format!("SAVEPOINT {name}")),
            Action::Release(index) => session.run(&format!("RELEASE {}", savepoint(*index))),
            Action::RollbackTo(index) => session.run(&format!("ROLLBACK TO {}", savepoint(*index))),
            Action::Prepare(gid) => session.run(&format!("PREPARE TRANSACTION '{gid}'")),
            Action::FinishPrepared { gid, commit } => session.run(&finish_prepared(gid, *commit)),
            Action::Change { change, .. } => session.parts(&change.parts),
            Action::Maintain { sql, .. } => {
                let result = session.parts(sql);
                if result.is_err() && matches!(&sql[0], Part::Sql(text) if text == "BEGIN") {
                    let _ = session.run("ROLLBACK");
                }
                result
            }
            Action::Build { table } => {
                let built = session.run(&format!("SELECT cft_build('{}')", TABLES[*table].qualified()));
                self.starving(built)
            }
            Action::BuildBeside { table, .. } => self.builder.start(*table, &mut self.monitor),
            Action::BuildEnd { .. } => {
                let built = self.builder.end();
                self.starving(built)
            }
            Action::Import { from } => self.import(me, *from),
            Action::Verify { table } => match session.rows(&schema::problems(&TABLES[*table]))? {
                Compared::Different(rows) => Err(Trouble::Different(rows)),
                _ => Ok(()),
            },
            Action::Check(check) => self.check(me, check),
            Action::OpenCursor { check, hold } => {
                let with = if *hold { "WITH HOLD " } else { "" };
                session.run(&format!("DECLARE held CURSOR {with}FOR {}", check.written_out(&TABLES[check.table])))
            }
            Action::FetchCursor => self.fetch(me),
            Action::Contend { table: _, other, first, second, commit } => {
                self.contend(me, *other, first, second, *commit)
            }
            Action::Reconnect => {
                let old = session.reopen()?;
                Ok(self.wait_gone(old)?)
            }
            Action::Clear { table, commit } => {
                let (sessions, prepared) = self.model.users(*table);
                self.end(&sessions, &prepared, *commit)
            }
            Action::Quiesce { commit } => {
                self.end_all(*commit)?;
                self.verify()
            }
            Action::Disaster { number } => self.disaster(me, *number),
            Action::MemoryLimit { kb } => self.limit(*kb),
        }
    }

    /// One compared cft_context call.
    fn check(&mut self, me: usize, check: &Check) -> Result<(), Trouble> {
        let condition = self.model.condition(me, check, None);
        self.tally.beside(self.model.overflow(me), check.calls());
        self.forget_calls()?;
        match self.sessions[me].compare(check)? {
            Compared::NotAsked => return Ok(()),
            Compared::Different(rows) => return Err(self.different(me, check, &rows)),
            Compared::Same => {}
        }
        *self.tally.modes.entry(format!("{:?}", check.mode)).or_default() += 1;
        self.count(condition, check.calls())
    }

    /// Also counts how many exported snapshots overflowed, which their files say.
    fn import(&mut self, me: usize, from: usize) -> Result<(), Trouble> {
        let id = self.sessions[from].value("SELECT pg_export_snapshot()")?;
        let file: String = self.monitor.query_one("SELECT pg_read_file('pg_snapshots/' || $1)", &[&id])?.get(0);
        self.tally.imported += 1;
        self.tally.imported_overflowed += u64::from(file.contains("sof:1"));
        let sql = format!("BEGIN ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT '{id}'");
        self.sessions[me].run(&sql)
    }

    fn fetch(&mut self, me: usize) -> Result<(), Trouble> {
        let Some(cursor) = self.model.sessions[me].cursor.clone() else { return Ok(()) };
        let condition = self.model.condition(me, &cursor.check, Some(&cursor));
        self.forget_calls()?;
        let compared = self.sessions[me].rows("FETCH ALL FROM held")?;
        self.sessions[me].run("CLOSE held")?;
        match compared {
            Compared::Different(rows) => Err(self.different(me, &cursor.check, &rows)),
            _ => self.count(condition, cursor.check.calls()),
        }
    }

    /// A held cursor is filled by the commit and read after it.
    fn commit(&mut self, me: usize) -> Result<(), Trouble> {
        let held: Option<Cursor> = self.model.sessions[me].cursor.clone().filter(|c| c.hold);
        let condition = held.as_ref().map(|c| self.model.condition(me, &c.check, Some(c)));
        let failed = self.model.sessions[me].txn.as_ref().is_some_and(|t| t.failed);
        self.forget_calls()?;
        self.sessions[me].run("COMMIT")?;
        let (Some(cursor), Some(condition), false) = (held, condition, failed) else { return Ok(()) };
        let compared = self.sessions[me].rows("FETCH ALL FROM held")?;
        self.sessions[me].run("CLOSE held")?;
        match compared {
            Compared::Different(rows) => Err(self.different(me, &cursor.check, &rows)),
            _ => self.count(condition, cursor.check.calls()),
        }
    }

    fn count(&mut self, condition: Option<&'static str>, calls: u64) -> Result<(), Trouble> {
        let served = match &mut self.stats {
            Some(stats) => stats.since(&mut self.monitor)?,
            None => Default::default(),
        };
        if condition.is_none() && served.reference > 0 {
            self.recent.line(format!("        free, but by reference: {:?}", served.reasons));
        }
        self.tally.check(condition, &served, calls);
        Ok(())
    }

    /// Leaves out the calls of the workload itself (triggers that watch), which belong to no check.
    fn forget_calls(&mut self) -> Result<(), Trouble> {
        if let Some(stats) = &mut self.stats {
            stats.since(&mut self.monitor)?;
        }
        Ok(())
    }

    fn different(&self, me: usize, check: &Check, rows: &str) -> Trouble {
        let condition = self.model.condition(me, check, None).unwrap_or("none");
        Trouble::Different(format!(
            "{:?}, condition: {condition}\n{rows}\nthe check: SELECT {};",
            check.mode,
            check.call(&TABLES[check.table], "volatile")
        ))
    }

    /// Both sessions change the same rows; the second waits until the first ends, then goes on (or fails).
    fn contend(&mut self, me: usize, other: usize, first: &str, second: &str, commit: bool) -> Result<(), Trouble> {
        self.sessions[me].run("BEGIN")?;
        if let Err(trouble) = self.sessions[me].run(first) {
            self.sessions[me].run("ROLLBACK")?;
            // The other session has done nothing: its transaction must not be taken for failed.
            return match trouble {
                Trouble::Provoked(text) => {
                    self.tally.provoked(&text);
                    Ok(())
                }
                trouble => Err(trouble),
            };
        }
        let [one, two] = self.sessions.get_disjoint_mut([me, other]).map_err(|e| Trouble::Unexpected(e.to_string()))?;
        session::contend(one, two, &mut self.monitor, second, commit)
    }

    fn end_all(&mut self, commit: bool) -> Result<(), Trouble> {
        let sessions: Vec<usize> = (0..self.sessions.len()).filter(|i| self.model.sessions[*i].txn.is_some()).collect();
        let prepared: Vec<String> = self.model.prepared.iter().map(|p| p.gid.clone()).collect();
        self.end(&sessions, &prepared, commit)?;
        let built = self.builder.end();
        match self.starving(built) {
            Err(Trouble::Provoked(text)) => self.tally.provoked(&text),
            result => result?,
        }
        Ok(())
    }

    fn end(&mut self, sessions: &[usize], prepared: &[String], commit: bool) -> Result<(), Trouble> {
        for session in sessions {
            let session = &mut self.sessions[*session];
            match session.run(if commit { "COMMIT" } else { "ROLLBACK" }) {
                Err(Trouble::Provoked(text)) => self.tally.provoked(&text),
                result => result?,
            }
            session.run("CLOSE ALL")?;
            session.history.clear();
        }
        for gid in prepared {
            self.monitor.batch_execute(&finish_prepared(gid, commit))?;
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<(), Trouble> {
        for table in &TABLES {
            if let Some(problems) = schema::verify(&mut self.monitor, table)? {
                return Err(Trouble::Different(problems));
            }
            self.tally.verified += 1;
        }
        match links::verify(&mut self.monitor)? {
            Some(wrong) => Err(Trouble::Different(wrong)),
            None => Ok(()),
        }
    }

    /// Counts the tables' rows, unless a TRUNCATE has locked them.
    fn count_rows(&mut self) -> Result<(), Failure> {
        for (number, table) in TABLES.iter().enumerate() {
            if !self.model.blocks(None, number, crate::model::Need::Read) {
                let sql = format!("SELECT count(*) FROM {}", table.qualified());
                // Another driver may hold the lock.
                if let Ok(row) = self.monitor.query_one(sql.as_str(), &[]) {
                    self.model.rows[number] = row.get(0);
                }
            }
        }
        Ok(())
    }

    fn wait_gone(&mut self, pid: i32) -> Result<(), Error> {
        let until = Instant::now() + Duration::from_secs(10);
        while Instant::now() < until {
            if self.monitor.query("SELECT 1 FROM pg_stat_activity WHERE pid = $1", &[&pid])?.is_empty() {
                break;
            }
        }
        Ok(())
    }

    fn failure(&self, step: &Step, what: &str, text: &str) -> Failure {
        let session = match &step.action {
            Action::Contend { other, .. } => *other,
            _ => step.session,
        };
        let text = format!(
            "{what}: seed {}, step {}, session {session}\n{text}\n\n-- the session's transaction so far\n{};\n\n-- the last steps of all\n{}\n",
            self.seed,
            self.tally.steps - 1,
            self.sessions[session].history.join(";\n"),
            self.recent.text(),
        );
        Failure { text, different: what != "UNEXPECTED ERROR" }
    }
}
