//! cft_build beside writers: in a session and a thread of its own, while the schedule goes on.

use std::thread::JoinHandle;

use postgres::Client;

use crate::schema::TABLES;
use crate::session::{Session, Trouble};

pub enum Builder {
    Idle(Box<Session>),
    Building(JoinHandle<(Box<Session>, Result<(), Trouble>)>),
    /// The session is about to call it; this lasts a moment.
    Between,
}

impl Builder {
    pub fn new(session: Session) -> Builder {
        Builder::Idle(Box::new(session))
    }

    /// Starts a build; returns when the build waits for another session, or is done.
    pub fn start(&mut self, table: usize, monitor: &mut Client) -> Result<(), Trouble> {
        let mut session = match std::mem::replace(self, Builder::Between) {
            Builder::Idle(session) => session,
            other => {
                *self = other;
                return Err(Trouble::Unexpected("a build is under way already".into()));
            }
        };
        let pid = session.pid;
        let sql = format!("SELECT cft_build('{}')", TABLES[table].qualified());
        let thread = std::thread::spawn(move || {
            let result = session.run_waiting(&sql);
            (session, result)
        });
        let waits =
            "SELECT count(*) > 0 FROM pg_stat_activity WHERE pid = $1 AND wait_event_type IN ('Lock', 'Extension')";
        while !thread.is_finished() {
            if monitor.query_one(waits, &[&pid])?.get(0) {
                break;
            }
        }
        *self = Builder::Building(thread);
        Ok(())
    }

    /// The connection was lost, and with it the build's result.
    pub fn reopen(&mut self) -> Result<(), Trouble> {
        let _ = self.end();
        match self {
            Builder::Idle(session) => Ok(session.reopen().map(|_| ())?),
            _ => Err(Trouble::Unexpected("the builder's session is lost".into())),
        }
    }

    /// Waits for the build, if there is one.
    pub fn end(&mut self) -> Result<(), Trouble> {
        match std::mem::replace(self, Builder::Between) {
            Builder::Building(thread) => {
                let (session, result) =
                    thread.join().map_err(|_| Trouble::Unexpected("the builder's thread panicked".into()))?;
                *self = Builder::Idle(session);
                result
            }
            other => {
                *self = other;
                Ok(())
            }
        }
    }
}
