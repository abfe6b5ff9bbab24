//! From what a session says to the tokens of an answer, and on to the socket.
//!
//! Full packets go out when enough of them are there; while the socket has no room the session's task waits
//! (ASYNC_NETWORK_IO), and so does whatever produces rows. Once the request is cancelled, or the client gone, nothing is
//! written and nothing waits any more.
//!
//! A DONE is held back until the next token: what changed about the transaction is told before the last one.

use crate::connection::Connection;
use crate::recovery::News;
use executor::{ColumnMeta, Done, EnvironmentChange, ResultSink, SqlMessage};
use tds::{
    Column, ColumnInfo, DoneKind, DoneStatus, EnvChange, Message, ReturnValue, TokenWriter,
    Updatable,
};
use types::{SqlType, StoredCells, Value};

/// Bytes in full packets that are worth a system call.
const SEND_BYTES: usize = 16 << 10;
/// Errors from here on end the connection.
const SEVERITY_FATAL: u8 = 20;
/// CurCmd of an EXECUTE.
const EXECUTE: u16 = 0xe0;

/// The answer to one message.
pub(crate) struct Answer<'a> {
    connection: &'a Connection,
    writer: &'a mut TokenWriter,
    held: Option<tds::Done>,
    /// Nobody will read the rest.
    silent: bool,
    /// An error has been told that no DONE has owned up to: the next one has the error bit. Some clients (python-tds,
    /// go-mssqldb) look at that alone.
    failed: bool,
    /// An error has been told that ends the connection: the DONEs say so (go-mssqldb looks at that alone).
    fatal: bool,
    /// Goes before the last DONE.
    state: Option<News>,
}

impl<'a> Answer<'a> {
    /// What the client speaks.
    pub fn version(&self) -> tds::Version {
        self.writer.version()
    }

    pub fn new(connection: &'a Connection, writer: &'a mut TokenWriter) -> Answer<'a> {
        Answer {
            connection,
            writer,
            held: None,
            silent: false,
            failed: false,
            fatal: false,
            state: None,
        }
    }

    /// Ends the message and sends it. What the socket has no room for goes later.
    ///
    /// Each message of a client has an answer of its own, an attention too: a cancelled request ends with DONE(ERROR)
    /// and the end of its message, then comes DONE_ATTN in another (tedious and mssql-jdbc wait for both).
    pub fn finish(mut self) {
        if self.failed {
            self.fail();
        }
        // A message does not end with DONEINPROC: the batch that called the procedure has a DONE of its own.
        if let Some(tds::Done { kind: DoneKind::InProc, status, .. }) = self.held {
            self.release();
            let status = match status.has(DoneStatus::ERROR) {
                true => self.error(),
                false => DoneStatus::FINAL,
            };
            self.held = Some(tds::Done { kind: DoneKind::Proc, status, command: EXECUTE, rows: 0 });
        }
        if self.connection.take_attention() {
            self.release();
            self.put_state();
            self.writer.done(tds::Done {
                kind: DoneKind::Done,
                status: DoneStatus::ERROR,
                command: 0,
                rows: 0,
            });
            self.writer.finish();
            self.writer.attention();
        } else {
            self.put_state();
            self.release();
            self.writer.finish();
        }
        self.connection.transmit(self.writer);
    }

    /// What the client is to know of the session after this answer.
    pub fn tell_state(&mut self, state: Option<News>) {
        self.state = state;
    }

    fn put_state(&mut self) {
        if let Some(News { sequence, recoverable, states }) = self.state.take() {
            self.writer.session_state(sequence, recoverable, &states);
        }
    }

    fn release(&mut self) {
        if let Some(done) = self.held.take() {
            self.writer.done(done);
        }
    }

    /// The error bit of the DONE at hand.
    fn take_failure(&mut self, failed: bool) -> DoneStatus {
        match std::mem::take(&mut self.failed) || failed {
            true => self.error(),
            false => DoneStatus::FINAL,
        }
    }

    /// The bits that say that an error has been told.
    fn error(&self) -> DoneStatus {
        match self.fatal {
            true => DoneStatus::ERROR | DoneStatus::SERVER_ERROR,
            false => DoneStatus::ERROR,
        }
    }

    /// Whether anything is still to be written.
    fn speaks(&mut self) -> bool {
        self.silent = self.silent || self.connection.is_stopped();
        !self.silent
    }

    fn maybe_send(&mut self) {
        if self.writer.ready().len() >= SEND_BYTES {
            self.connection.transmit(self.writer);
            self.connection.wait_for_room();
        }
    }

    /// An error or information of the server's own.
    pub fn say(&mut self, number: i32, state: u8, class: u8, text: &str) {
        self.release();
        self.writer.message(&Message {
            number,
            state,
            class,
            text,
            server: self.connection.server_name(),
            procedure: "",
            line: 1,
        });
    }

    /// Base tables and columns, in browse mode.
    fn browse_info(&mut self, columns: &[ColumnMeta]) {
        let mut tables: Vec<&[String]> = Vec::new();
        let infos: Vec<ColumnInfo<'_>> = columns
            .iter()
            .map(|column| {
                let base = column.base.as_deref().filter(|base| !base.table.is_empty());
                let Some(base) = base else {
                    return ColumnInfo { table: 0, key: false, hidden: false, base_name: None };
                };
                let known = tables.iter().position(|table| **table == *base.table);
                let at = known.unwrap_or_else(|| {
                    tables.push(&base.table);
                    tables.len() - 1
                });
                let renamed = base.column != column.name;
                ColumnInfo {
                    table: (at + 1) as u8,
                    key: base.key,
                    hidden: base.hidden,
                    base_name: renamed.then_some(&*base.column),
                }
            })
            .collect();
        if tables.len() < usize::from(u8::MAX) {
            self.writer.browse_info(&tables, &infos);
        }
    }

    /// A DONE with the error bit.
    pub fn fail(&mut self) {
        self.failed = false;
        self.release();
        self.held =
            Some(tds::Done { kind: DoneKind::Done, status: self.error(), command: 0, rows: 0 });
    }
}

impl ResultSink for Answer<'_> {
    fn columns(&mut self, columns: &[ColumnMeta]) {
        if !self.speaks() {
            return;
        }
        self.release();
        let all = columns;
        let columns = columns.iter().map(|column| Column {
            collation: column.collation,
            name: &column.name,
            ty: column.ty,
            nullable: column.nullable,
            updatable: match column.updatable {
                true => Updatable::Unknown,
                false => Updatable::ReadOnly,
            },
            identity: column.identity,
            computed: column.base.as_ref().is_some_and(|base| base.computed),
            rowversion: column.base.as_ref().is_some_and(|base| base.rowversion),
            long: column.base.as_ref().filter(|base| base.long).map(|base| &base.table[..]),
            key: column.key || column.base.as_ref().is_some_and(|base| base.browse && base.key),
            hidden: column.hidden || column.base.as_ref().is_some_and(|base| base.hidden),
        });
        self.writer.columns(columns);
        if all.iter().any(|column| column.base.as_ref().is_some_and(|base| base.browse)) {
            self.browse_info(all);
        }
    }

    #[inline]
    fn row(&mut self, row: &[Value]) {
        if self.silent {
            return;
        }
        if let Err(error) = self.writer.row(row) {
            self.say(8623, 1, 16, &format!("A value cannot be sent to the client: {error}."));
        }
        self.rest();
    }

    #[inline]
    fn stored(&mut self, row: &dyn StoredCells) {
        if self.silent {
            return;
        }
        if let Err(error) = self.writer.stored(row) {
            self.say(8623, 1, 16, &format!("A value cannot be sent to the client: {error}."));
        }
    }

    #[inline]
    fn rest(&mut self) {
        if !self.silent && self.writer.ready().len() >= SEND_BYTES {
            self.connection.transmit(self.writer);
            self.connection.wait_for_room();
            self.speaks();
        }
    }

    fn done(&mut self, done: Done) {
        if !self.speaks() {
            return;
        }
        self.release();
        let count = if done.rows.is_some() { DoneStatus::COUNT } else { DoneStatus::FINAL };
        let error = self.take_failure(done.failed);
        self.held = Some(tds::Done {
            kind: if done.in_procedure { DoneKind::InProc } else { DoneKind::Done },
            status: count | error,
            command: done.command as u16,
            rows: done.rows.unwrap_or(0),
        });
        self.maybe_send();
    }

    fn message(&mut self, message: &SqlMessage) {
        if !self.speaks() {
            return;
        }
        self.release();
        self.failed |= message.severity > 10;
        self.fatal |= message.severity >= SEVERITY_FATAL;
        self.writer.message(&Message {
            number: message.number,
            state: message.state,
            // SQL Server tells its clients of severity 10 as 0.
            class: if message.severity == 10 { 0 } else { message.severity },
            text: &message.text,
            server: self.connection.server_name(),
            procedure: message.procedure.as_deref().unwrap_or(""),
            line: message.line,
        });
        self.maybe_send();
    }

    fn return_status(&mut self, status: i32) {
        if self.speaks() {
            self.release();
            self.writer.return_status(status);
        }
    }

    fn output(&mut self, ordinal: u16, name: &str, ty: SqlType, value: &Value) {
        if !self.speaks() {
            return;
        }
        self.release();
        let value = ReturnValue { ordinal, name, function_result: false, ty, value };
        if let Err(error) = self.writer.return_value(&value) {
            self.say(8623, 1, 16, &format!("A value cannot be sent to the client: {error}."));
        }
    }

    fn procedure_done(&mut self, _status: i32) {
        if !self.speaks() {
            return;
        }
        self.release();
        self.held = Some(tds::Done {
            kind: DoneKind::Proc,
            status: self.take_failure(false),
            command: EXECUTE,
            rows: 0,
        });
    }

    fn environment(&mut self, change: EnvironmentChange<'_>) {
        // The client keeps track of these also of a request that it has cancelled.
        let change = match change {
            EnvironmentChange::Database { old, new } => EnvChange::Database { old, new },
            EnvironmentChange::Collation { old, new } => {
                let wire = |collation: types::Collation| tds::Collation(collation.to_wire());
                self.writer.set_collation(new);
                EnvChange::Collation { new: wire(new), old: Some(wire(old)) }
            }
            EnvironmentChange::Language { old, new } => EnvChange::Language { old, new },
            EnvironmentChange::Begin { transaction } => EnvChange::BeginTransaction(transaction),
            EnvironmentChange::Commit { transaction } => EnvChange::CommitTransaction(transaction),
            EnvironmentChange::Rollback { transaction } => {
                EnvChange::RollbackTransaction(transaction)
            }
            EnvironmentChange::ResetDone => EnvChange::ResetConnection,
        };
        self.writer.env_change(&change);
    }
}
