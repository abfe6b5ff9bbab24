//! One session: a connection of its own, blocking.

use crate::server::failed;
use crate::sql;
use mysql::prelude::Queryable;
use mysql::{Conn, Opts, Statement};
use rival_harness::{Job, RivalError, Session, read_seed, session_key};

pub(crate) struct Connected {
    connection: Conn,
    index: usize,
    /// For round trips.
    statement: Option<Statement>,
    reads: u64,
}

impl Connected {
    pub fn open(opts: Opts, job: &Job, index: usize) -> Result<Connected, RivalError> {
        let mut connection = Conn::new(opts).map_err(failed)?;
        let text = job.work.statement(sql::INSERT, sql::READ);
        let statement = text.map(|text| connection.prep(text)).transpose().map_err(failed)?;
        Ok(Connected { connection, index, statement, reads: 0 })
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
        self.connection.query_drop(format!("CALL insert_rows({base}, {rows})")).map_err(failed)
    }

    fn procedure_read(&mut self, rows: u64) -> Result<(), RivalError> {
        self.reads += 1;
        let seed = read_seed(self.index, self.reads);
        self.connection.query_drop(format!("CALL read_rows({seed}, {rows})")).map_err(failed)
    }

    fn insert(&mut self, key: i64) -> Result<(), RivalError> {
        let statement = self.statement();
        self.connection.exec_drop(&statement, (key,)).map_err(failed)
    }

    fn read(&mut self, key: i64) -> Result<(), RivalError> {
        let statement = self.statement();
        match self.connection.exec_first::<i64, _, _>(&statement, (key,)).map_err(failed)? {
            Some(42) => Ok(()),
            Some(other) => Err(RivalError::plain(format!("row {key} holds {other} and not 42"))),
            None => Err(RivalError::plain(format!("row {key} is not there"))),
        }
    }
}
