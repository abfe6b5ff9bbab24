//! A connection: signing in, then a request and its answer at a time.
//!
//! Invariant: between two calls nothing of an answer is left unread.

use crate::{Address, ClientError, Encrypt, Wire, trust};
use executor::{ColumnMeta, Command, Done, EnvironmentChange, ResultSink, SqlMessage};
use rustls::ClientConnection;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use tds::client::{Change, RequestWriter, Token, TokenReader};
use tds::login7::{Login7, Password};
use tds::prelogin::{Encryption, Prelogin};
use tds::rpc::{Rpc, RpcName, RpcParameter, RpcValue};
use tds::{DoneKind, DoneStatus, Frame, Framer, Phase};
use types::{Len, SqlType, Value};

/// The longest token that is taken in: a row of a large value.
const TOKEN_LIMIT: usize = 1 << 30;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// A signed-in connection.
pub struct Connection<W> {
    wire: W,
    tls: Option<Box<ClientConnection>>,
    framer: Framer,
    requests: RequestWriter,
    tokens: TokenReader,
    received: Vec<u8>,
    database: String,
    /// Of the procedure whose answer is being read.
    status: i32,
}

/// A statement that the server keeps ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prepared(i32);

impl Connection<TcpStream> {
    /// Connects and signs in; the calling thread blocks. `application` is what the server shows.
    pub fn open(
        address: &Address,
        application: &str,
    ) -> Result<Connection<TcpStream>, ClientError> {
        let mut last = ClientError::Address(format!("{} has no address", address.host));
        for place in address.resolve()? {
            match TcpStream::connect_timeout(&place, CONNECT_TIMEOUT) {
                Ok(wire) => {
                    wire.set_nodelay(true)?;
                    return Connection::begin(wire, address, application);
                }
                Err(error) => last = ClientError::Io(error),
            }
        }
        Err(last)
    }
}

impl<W: Wire> Connection<W> {
    /// Signs in on a stream just connected. Waits.
    pub fn begin(
        wire: W,
        address: &Address,
        application: &str,
    ) -> Result<Connection<W>, ClientError> {
        let mut framer = Framer::new();
        framer.set_phase(Phase::Client, TOKEN_LIMIT);
        let mut connection = Connection {
            wire,
            tls: None,
            framer,
            requests: RequestWriter::new(),
            tokens: TokenReader::new(TOKEN_LIMIT),
            received: vec![0; 16 << 10],
            database: String::new(),
            status: 0,
        };
        if address.encrypt == Encrypt::Strict {
            connection.tls = Some(Box::new(trust::tls(address)?));
            connection.shake_hands(false)?;
        }
        connection.prelogin(address)?;
        connection.login(address, application)?;
        Ok(connection)
    }

    /// The current database, as the server last said.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// Runs a batch. Errors of T-SQL go to the sink.
    pub fn execute(&mut self, batch: &str, sink: &mut dyn ResultSink) -> Result<(), ClientError> {
        self.requests.batch(batch);
        self.send()?;
        self.answer(sink)
    }

    /// Calls a procedure. Errors of T-SQL go to the sink.
    pub fn call(&mut self, call: &Rpc, sink: &mut dyn ResultSink) -> Result<(), ClientError> {
        let calls = std::slice::from_ref(call);
        self.requests.calls(calls).map_err(|error| ClientError::Protocol(error.to_string()))?;
        self.send()?;
        self.answer(sink)
    }

    /// Has a statement prepared (sp_prepare): its text, and the declarations of its parameters as T-SQL writes them.
    pub fn prepare(
        &mut self,
        text: &str,
        declarations: &str,
        sink: &mut dyn ResultSink,
    ) -> Result<Option<Prepared>, ClientError> {
        let text_type = SqlType::NVarChar(Len::Max);
        let mut handle = parameter(SqlType::Int, Value::Null);
        handle.output = true;
        handle.name = Some("@handle".into());
        let call = Rpc {
            procedure: RpcName::Id(RpcName::SP_PREPARE),
            parameters: vec![
                handle,
                parameter(text_type, Value::str(declarations)),
                parameter(text_type, Value::str(text)),
                parameter(SqlType::Int, Value::Int(1)),
            ],
            recompile: false,
            no_metadata: false,
            no_execute: false,
        };
        let mut kept = KeepsHandle { sink, handle: None };
        self.call(&call, &mut kept)?;
        Ok(kept.handle.map(Prepared))
    }

    /// The call that runs it; values may be changed and the call used again.
    pub fn run_of(prepared: Prepared, values: Vec<(SqlType, Value)>) -> Rpc {
        let handle = parameter(SqlType::Int, Value::Int(prepared.0));
        let values = values.into_iter().map(|(ty, value)| parameter(ty, value));
        Rpc {
            procedure: RpcName::Id(RpcName::SP_EXECUTE),
            parameters: std::iter::once(handle).chain(values).collect(),
            recompile: false,
            no_metadata: false,
            no_execute: false,
        }
    }

    fn prelogin(&mut self, address: &Address) -> Result<(), ClientError> {
        self.requests.prelogin(&Prelogin {
            version: [0; 6],
            encryption: match address.encrypt {
                Encrypt::No => Encryption::NotSupported,
                Encrypt::Yes | Encrypt::Strict => Encryption::On,
            },
            instance: String::new(),
            thread_id: None,
            mars: false,
            trace_id: None,
            fed_auth_required: None,
            nonce: None,
        });
        self.send()?;
        let reply = Prelogin::decode(&self.message()?)?;
        match (address.encrypt, reply.encryption) {
            (Encrypt::Strict, _) | (Encrypt::No, Encryption::NotSupported | Encryption::Off) => {
                Ok(())
            }
            (Encrypt::No, _) => Err(ClientError::Tls(
                "the server demands it; say encrypt=yes in the address".to_owned(),
            )),
            (Encrypt::Yes, Encryption::NotSupported | Encryption::Off) => {
                Err(ClientError::Tls("the server does not have it".to_owned()))
            }
            (Encrypt::Yes, _) => {
                self.tls = Some(Box::new(trust::tls(address)?));
                self.shake_hands(true)
            }
        }
    }

    /// The handshake; `inside`: in PRELOGIN packets, as TDS 7.x has it.
    fn shake_hands(&mut self, inside: bool) -> Result<(), ClientError> {
        let Some(mut tls) = self.tls.take() else { return Ok(()) };
        while tls.is_handshaking() {
            let mut out = Vec::new();
            while tls.wants_write() {
                tls.write_tls(&mut out)?;
            }
            if !out.is_empty() {
                if inside {
                    self.requests.tls_handshake(&out);
                    out = self.requests.take();
                }
                self.wire.write_all(&out)?;
            }
            if !tls.is_handshaking() {
                break;
            }
            let data = if inside { self.message()? } else { self.some_bytes()? };
            let mut rest = &data[..];
            while !rest.is_empty() {
                tls.read_tls(&mut rest)?;
                tls.process_new_packets()?;
            }
        }
        self.tls = Some(tls);
        Ok(())
    }

    fn login(&mut self, address: &Address, application: &str) -> Result<(), ClientError> {
        self.requests.login(&Login7 {
            tds_version: match address.encrypt {
                Encrypt::Strict => tds::Version::V8_0.number(),
                _ => tds::Version::V7_4.number(),
            },
            client_process_id: std::process::id(),
            user: address.user.clone(),
            password: address.password.clone().unwrap_or_else(|| Password::new("")),
            application: application.to_owned(),
            library: "millrace".to_owned(),
            server: address.host.clone(),
            database: address.database.clone().unwrap_or_default(),
            ..Login7::default()
        });
        self.send()?;
        let mut refusal = Refusal::default();
        let accepted = self.read_answer(&mut refusal)?;
        if accepted {
            return Ok(());
        }
        Err(ClientError::Refused(match refusal.0.is_empty() {
            true => "the server closed the login without a word".to_owned(),
            false => refusal.0.join("\n"),
        }))
    }

    fn send(&mut self) -> Result<(), ClientError> {
        let bytes = self.requests.take();
        self.throw(&bytes)
    }

    /// What carries it.
    pub fn wire_mut(&mut self) -> &mut W {
        &mut self.wire
    }

    /// Sends bytes as they are, in TLS where the connection has it; who tests the other end throws what is no request.
    pub fn throw(&mut self, bytes: &[u8]) -> Result<(), ClientError> {
        match &mut self.tls {
            None => self.wire.write_all(bytes)?,
            Some(tls) => {
                let mut rest = bytes;
                while !rest.is_empty() {
                    let n = tls.writer().write(rest)?;
                    rest = &rest[n..];
                    let mut out = Vec::new();
                    while tls.wants_write() {
                        tls.write_tls(&mut out)?;
                    }
                    self.wire.write_all(&out)?;
                }
            }
        }
        Ok(())
    }

    fn some_bytes(&mut self) -> Result<Vec<u8>, ClientError> {
        match self.wire.read(&mut self.received)? {
            0 => Err(ended()),
            n => Ok(self.received[..n].to_vec()),
        }
    }

    /// Reads once from the wire into the framer.
    fn receive(&mut self) -> Result<(), ClientError> {
        let Some(tls) = &mut self.tls else {
            let n = self.wire.read(self.framer.space())?;
            self.framer.received(n);
            return if n == 0 { Err(ended()) } else { Ok(()) };
        };
        let n = self.wire.read(&mut self.received)?;
        if n == 0 {
            return Err(ended());
        }
        let mut rest = &self.received[..n];
        while !rest.is_empty() {
            tls.read_tls(&mut rest)?;
            let mut left = tls.process_new_packets()?.plaintext_bytes_to_read();
            while left > 0 {
                let n = tls.reader().read(self.framer.space())?;
                self.framer.received(n);
                left -= n;
            }
        }
        Ok(())
    }

    /// A whole message of the server's, outside the token stream.
    fn message(&mut self) -> Result<Vec<u8>, ClientError> {
        let mut whole = Vec::new();
        loop {
            match self.framer.next()? {
                Some(Frame::Reply { data, last }) => {
                    whole.extend_from_slice(data);
                    if last {
                        return Ok(whole);
                    }
                }
                Some(Frame::Message { data, .. }) => return Ok(data.to_vec()),
                Some(_) => return Err(ClientError::Protocol("not an answer".to_owned())),
                None => {
                    let n = self.wire.read(self.framer.space())?;
                    self.framer.received(n);
                    if n == 0 {
                        return Err(ended());
                    }
                }
            }
        }
    }

    fn answer(&mut self, sink: &mut dyn ResultSink) -> Result<(), ClientError> {
        self.read_answer(sink).map(drop)
    }

    /// Reads an answer to its end; whether a LOGINACK was in it.
    fn read_answer(&mut self, sink: &mut dyn ResultSink) -> Result<bool, ClientError> {
        let mut accepted = false;
        loop {
            while let Some(token) = self.tokens.next()? {
                accepted |= matches!(token, Token::LoginAck(_));
                self.tell(token, sink);
            }
            if self.tokens.is_at_end() {
                self.tokens.push(&[], false);
                return Ok(accepted);
            }
            match self.framer.next()? {
                Some(Frame::Reply { data, last }) => self.tokens.push(data, last),
                Some(_) => return Err(ClientError::Protocol("not an answer".to_owned())),
                None => self.receive()?,
            }
        }
    }

    fn tell(&mut self, token: Token, sink: &mut dyn ResultSink) {
        match token {
            Token::Columns(columns) => {
                let columns: Vec<ColumnMeta> = columns
                    .into_iter()
                    .map(|c| ColumnMeta {
                        identity: c.identity,
                        ..ColumnMeta::new(c.name, c.ty, c.nullable)
                    })
                    .collect();
                sink.columns(&columns);
            }
            Token::Row => sink.row(self.tokens.row()),
            Token::Message(m) => sink.message(&SqlMessage {
                number: m.number,
                severity: m.class,
                state: m.state,
                line: m.line,
                procedure: (!m.procedure.is_empty()).then_some(m.procedure),
                text: m.text,
            }),
            Token::Change(change) => self.change(change, sink),
            Token::ReturnStatus(status) => {
                self.status = status;
                sink.return_status(status);
            }
            Token::ReturnValue(r) => sink.output(r.ordinal, &r.name, r.ty, &r.value),
            Token::Done(done) => {
                let counted = done.status.0 & DoneStatus::COUNT.0 != 0;
                let told = Done {
                    rows: counted.then_some(done.rows),
                    command: Command::Other,
                    in_procedure: done.kind == DoneKind::InProc,
                    failed: done.status.0 & DoneStatus::ERROR.0 != 0,
                };
                match done.kind {
                    DoneKind::Proc => sink.procedure_done(std::mem::take(&mut self.status)),
                    _ => sink.done(told),
                }
            }
            Token::Order(_)
            | Token::LoginAck(_)
            | Token::FeatureExtAck(_)
            | Token::SessionState { .. }
            | Token::Skipped(_) => {}
        }
    }

    fn change(&mut self, change: Change, sink: &mut dyn ResultSink) {
        match change {
            Change::PacketSize(bytes) => self.requests.set_packet_size(bytes),
            Change::BeginTransaction(transaction) => {
                self.requests.set_transaction(transaction);
                sink.environment(EnvironmentChange::Begin { transaction });
            }
            Change::CommitTransaction(transaction) => {
                self.requests.set_transaction(0);
                sink.environment(EnvironmentChange::Commit { transaction });
            }
            Change::RollbackTransaction(transaction) => {
                self.requests.set_transaction(0);
                sink.environment(EnvironmentChange::Rollback { transaction });
            }
            Change::Database(new) => {
                let old = std::mem::replace(&mut self.database, new);
                sink.environment(EnvironmentChange::Database { old: &old, new: &self.database });
            }
            Change::Language(_)
            | Change::CharacterSet(_)
            | Change::Collation(_)
            | Change::ResetConnection
            | Change::Other(_) => {}
        }
    }
}

fn ended() -> ClientError {
    ClientError::Io(std::io::Error::new(
        std::io::ErrorKind::UnexpectedEof,
        "the server closed the connection",
    ))
}

fn parameter(ty: SqlType, value: Value) -> RpcParameter {
    RpcParameter { name: None, output: false, default: false, ty, value: RpcValue::Scalar(value) }
}

/// Keeps why a login was refused.
#[derive(Default)]
struct Refusal(Vec<String>);

impl ResultSink for Refusal {
    fn columns(&mut self, _: &[ColumnMeta]) {}
    fn row(&mut self, _: &[Value]) {}
    fn done(&mut self, _: Done) {}
    fn message(&mut self, message: &SqlMessage) {
        if message.is_error() {
            self.0.push(message.to_string());
        }
    }
}

/// Passes everything on and keeps the handle.
struct KeepsHandle<'a> {
    sink: &'a mut dyn ResultSink,
    handle: Option<i32>,
}

impl ResultSink for KeepsHandle<'_> {
    fn columns(&mut self, columns: &[ColumnMeta]) {
        self.sink.columns(columns);
    }
    fn row(&mut self, row: &[Value]) {
        self.sink.row(row);
    }
    fn done(&mut self, done: Done) {
        self.sink.done(done);
    }
    fn message(&mut self, message: &SqlMessage) {
        self.sink.message(message);
    }
    fn output(&mut self, _: u16, _: &str, _: SqlType, value: &Value) {
        if let Value::Int(handle) = value {
            self.handle = Some(*handle);
        }
    }
}
