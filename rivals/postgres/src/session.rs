//! One session: a connection of its own, blocking.

use crate::server::failed;
use crate::sql;
use postgres::{Client, Config, NoTls, Statement};
use rival_harness::{Job, RivalError, Session, read_seed, session_key};

pub(crate) struct Connected {
    client: Client,
    index: usize,
    /// For round trips.
    statement: Option<Statement>,
    reads: u64,
}

impl Connected {
    pub fn open(config: &Config, job: &Job, index: usize) -> Result<Connected, RivalError> {
        let mut config = config.clone();
        config.application_name("millrace lab session");
        let mut client = config.connect(NoTls).map_err(failed)?;
        let durability = if job.delayed { "off" } else { "on" };
        client.batch_execute(&format!("SET synchronous_commit = {durability}")).map_err(failed)?;
        let text = job.work.statement(sql::INSERT, sql::READ);
        let statement = text.map(|text| client.prepare(text)).transpose().map_err(failed)?;
        Ok(Connected { client, index, statement, reads: 0 })
    }

    fn statement(&self) -> Statement {
        self.statement.clone().expect("the job is of round trips, so a statement was prepared")
    }
}

impl Session for Connected {
    fn procedure(
        &mut self,
        done: u64,
        rows: u64,
        _commit_ns: &mut dyn FnMut(u64),
    ) -> Result<(), RivalError> {
        let base = session_key(self.index, done);
        self.client.batch_execute(&format!("CALL insert_rows({base}, {rows})")).map_err(failed)
    }

    fn procedure_read(&mut self, rows: u64) -> Result<(), RivalError> {
        self.reads += 1;
        let seed = read_seed(self.index, self.reads);
        self.client.batch_execute(&format!("CALL read_rows({seed}, {rows})")).map_err(failed)
    }

    fn insert(&mut self, key: i64) -> Result<(), RivalError> {
        let statement = self.statement();
        self.client.execute(&statement, &[&key]).map(drop).map_err(failed)
    }

    fn read(&mut self, key: i64) -> Result<(), RivalError> {
        let statement = self.statement();
        let row = self.client.query_one(&statement, &[&key]).map_err(failed)?;
        match row.try_get::<_, i64>(0).map_err(failed)? {
            42 => Ok(()),
            other => Err(RivalError::plain(format!("row {key} holds {other} and not 42"))),
        }
    }
}
