//! What a long run does to the server: a backend is killed, a command restarts it or puts another in its place, memory gets short.
//!
//! After each, what was committed or prepared is there and nothing else; checks go on and find the same answers.

use std::process::Command;
use std::time::{Duration, Instant};

use postgres::NoTls;

use crate::run::Driver;
use crate::schema::TABLES;
use crate::session::Trouble;
use crate::tally::Stats;

/// How long a restart with crash recovery, or a promotion, may take.
const PATIENCE: Duration = Duration::from_secs(120);
const SETTINGS: &str = "SET client_min_messages = warning; SET lock_timeout = '2s'";

impl Driver {
    /// 0 kills this session's backend, so the server restarts; n runs the n-th command of --disaster.
    pub fn disaster(&mut self, me: usize, number: usize) -> Result<(), Trouble> {
        let pid = self.sessions[me].pid.to_string();
        let mut command = match number.checked_sub(1).and_then(|i| self.look.disasters.get(i)) {
            None => Command::new("kill"),
            Some(_) => Command::new("sh"),
        };
        match number.checked_sub(1).and_then(|i| self.look.disasters.get(i)) {
            None => command.args(["-9", &pid]),
            Some(text) => command.args(["-c", text]),
        };
        let status = command.status().map_err(|error| Trouble::Unexpected(error.to_string()))?;
        if !status.success() {
            return Err(Trouble::Unexpected(format!("{command:?}: {status}")));
        }
        self.reconnect()?;
        let sql = "SELECT coalesce(string_agg(gid, ' ' ORDER BY gid COLLATE \"C\"), '') FROM pg_prepared_xacts";
        let left: String = self.monitor.query_one(sql, &[])?.get(0);
        let mut wanted: Vec<&str> = self.model.prepared.iter().map(|prepared| prepared.gid.as_str()).collect();
        wanted.sort_unstable();
        match left == wanted.join(" ") {
            true => Ok(()),
            false => Err(Trouble::Different(format!("prepared transactions: {left:?}, not {wanted:?}"))),
        }
    }

    /// Waits until the old connections are dead, then until there are new ones.
    fn reconnect(&mut self) -> Result<(), Trouble> {
        let until = Instant::now() + PATIENCE;
        let late = || Trouble::Unexpected("the server did not come back".into());
        while self.monitor.simple_query("").is_ok() {
            std::thread::sleep(Duration::from_millis(10));
            (Instant::now() < until).then_some(()).ok_or_else(late)?;
        }
        self.monitor = loop {
            match self.config.connect(NoTls) {
                Ok(monitor) => break monitor,
                Err(_) if Instant::now() < until => std::thread::sleep(Duration::from_millis(20)),
                Err(error) => return Err(error.into()),
            }
        };
        self.monitor.batch_execute(SETTINGS)?;
        for session in &mut self.sessions {
            session.reopen()?;
        }
        self.builder.reopen()?;
        if self.stats.is_some() {
            self.stats = Some(Stats::new(&mut self.monitor)?);
        }
        Ok(())
    }

    /// Sets cftrag.memory_limit for all and waits until it is in force here.
    pub fn limit(&mut self, kb: Option<u32>) -> Result<(), Trouble> {
        let change = match kb {
            Some(kb) => format!("ALTER SYSTEM SET cftrag.memory_limit = '{kb}kB'"),
            None => "ALTER SYSTEM RESET cftrag.memory_limit".to_string(),
        };
        self.monitor.batch_execute(&change)?;
        let until = Instant::now() + PATIENCE;
        self.monitor.batch_execute("SELECT pg_reload_conf()")?;
        let sql = "SELECT setting::bigint FROM pg_settings WHERE name = 'cftrag.memory_limit'";
        while kb.map_or_else(|| 1 << 20, i64::from) != self.monitor.query_one(sql, &[])?.get::<_, i64>(0) {
            if Instant::now() > until {
                return Err(Trouble::Unexpected(format!("{change} has no effect")));
            }
        }
        Ok(())
    }

    /// A build may run out of memory while the limit is low. Nothing else may, least of all a write.
    pub fn starving(&self, built: Result<(), Trouble>) -> Result<(), Trouble> {
        match built {
            Err(Trouble::Unexpected(text))
                if self.model.starved != [false; TABLES.len()] && text.starts_with("53200") =>
            {
                Err(Trouble::Provoked(text))
            }
            built => built,
        }
    }
}
