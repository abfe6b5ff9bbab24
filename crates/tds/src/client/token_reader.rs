//! Tokens in.
//!
//! Invariants: a token is handed out whole or not at all; what has come of the next one waits, at most
//! `token_limit` bytes; nothing is allocated for bytes that have not come.

use crate::ProtocolError;
use crate::charset::Collation;
use crate::decode;
use crate::reader::{Reader, Result};
use crate::token::{Done, DoneKind, DoneStatus, byte};
use crate::type_info::TypeInfo;
use types::{SqlType, Value};

/// A column of a result set.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnInfo {
    pub name: String,
    pub ty: SqlType,
    pub nullable: bool,
    pub identity: bool,
    /// All flags of COLMETADATA (2.2.7.4).
    pub flags: u16,
}

/// ERROR or INFO.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerMessage {
    pub number: i32,
    pub state: u8,
    pub class: u8,
    pub text: String,
    pub server: String,
    pub procedure: String,
    pub line: u32,
}

/// ENVCHANGE: the new value, or of a transaction that ended, its descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Database(String),
    Language(String),
    CharacterSet(String),
    PacketSize(u16),
    Collation(Collation),
    BeginTransaction(u64),
    CommitTransaction(u64),
    RollbackTransaction(u64),
    ResetConnection,
    /// One of the others, by its number.
    Other(u8),
}

/// LOGINACK.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginAck {
    pub tds_version: u32,
    pub program: String,
    pub version: (u8, u8, u16),
}

/// RETURNVALUE.
#[derive(Clone, Debug, PartialEq)]
pub struct ReturnedValue {
    pub ordinal: u16,
    pub name: String,
    pub function_result: bool,
    pub ty: SqlType,
    pub value: Value,
}

/// A token of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// A result set begins; empty where the server says NoMetaData.
    Columns(Vec<ColumnInfo>),
    /// A row: [`TokenReader::row`].
    Row,
    Order(Vec<u16>),
    Message(ServerMessage),
    Change(Change),
    LoginAck(LoginAck),
    FeatureExtAck(Vec<(u8, Vec<u8>)>),
    ReturnStatus(i32),
    ReturnValue(ReturnedValue),
    Done(Done),
    /// What the client is to give back when it opens another connection for the session.
    SessionState {
        sequence: u32,
        recoverable: bool,
        states: crate::recovery::States,
    },
    /// A token of no use here (browse mode, SSPI), by its byte.
    Skipped(u8),
}

/// Waiting bytes up to which an unfinished token is tried again with every packet; above, when they have doubled.
const TRY_ALWAYS: usize = 64 << 10;

/// Reads the tokens of a server's answers.
pub struct TokenReader {
    buffer: Vec<u8>,
    at: usize,
    try_at: usize,
    last: bool,
    token_limit: usize,
    infos: Vec<TypeInfo>,
    row: Vec<Value>,
}

impl TokenReader {
    /// A reader of tokens of at most `token_limit` bytes.
    pub fn new(token_limit: usize) -> TokenReader {
        TokenReader {
            buffer: Vec::new(),
            at: 0,
            try_at: 0,
            last: false,
            token_limit,
            infos: Vec::new(),
            row: Vec::new(),
        }
    }

    /// Adds the data of a packet; `last` when the message ends with it.
    pub fn push(&mut self, data: &[u8], last: bool) {
        if self.at > 0 {
            self.buffer.drain(..self.at);
            self.at = 0;
        }
        self.buffer.extend_from_slice(data);
        self.last = last;
    }

    /// Whether the message has ended and all its tokens are read.
    pub fn is_at_end(&self) -> bool {
        self.last && self.at == self.buffer.len()
    }

    /// The values of the last [`Token::Row`].
    pub fn row(&self) -> &[Value] {
        &self.row
    }

    /// The next token, or `None`: then [`TokenReader::is_at_end`], or more packets must come. A token cut off by the
    /// end of the message is 4002.
    #[allow(clippy::should_implement_trait)] // It fails.
    pub fn next(&mut self) -> Result<Option<Token>> {
        let waiting = &self.buffer[self.at..];
        if waiting.is_empty() || (waiting.len() < self.try_at && !self.last) {
            return Ok(None);
        }
        let mut r = Reader::new(waiting);
        match read(&mut r, &mut self.infos, &mut self.row) {
            Ok(token) => {
                self.at += r.position();
                self.try_at = 0;
                Ok(Some(token))
            }
            Err(ProtocolError::Truncated { .. }) if !self.last => {
                let length = waiting.len();
                if length > self.token_limit {
                    return Err(ProtocolError::PacketLength { length, limit: self.token_limit });
                }
                self.try_at = if length > TRY_ALWAYS { length * 2 } else { 0 };
                self.try_at = self.try_at.min(self.token_limit);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

const WHAT: &str = "token";

fn read(r: &mut Reader<'_>, infos: &mut Vec<TypeInfo>, row: &mut Vec<Value>) -> Result<Token> {
    let token = r.u8(WHAT)?;
    Ok(match token {
        byte::COL_METADATA => {
            let (columns, new) = columns(r)?;
            if !columns.is_empty() {
                *infos = new;
            }
            Token::Columns(columns)
        }
        byte::ROW | byte::NBC_ROW => {
            let bitmap = match token {
                byte::NBC_ROW => Some(r.bytes(infos.len().div_ceil(8), WHAT)?),
                _ => None,
            };
            row.clear();
            for (i, info) in infos.iter().enumerate() {
                let null = bitmap.is_some_and(|bits| bits[i / 8] & 1 << (i % 8) != 0);
                row.push(if null { Value::Null } else { decode::column(r, info, true)? });
            }
            Token::Row
        }
        byte::DONE | byte::DONE_PROC | byte::DONE_IN_PROC => Token::Done(Done {
            kind: match token {
                byte::DONE => DoneKind::Done,
                byte::DONE_PROC => DoneKind::Proc,
                _ => DoneKind::InProc,
            },
            status: DoneStatus(r.u16(WHAT)?),
            command: r.u16(WHAT)?,
            rows: r.u64(WHAT)?,
        }),
        byte::RETURN_STATUS => Token::ReturnStatus(r.u32(WHAT)? as i32),
        byte::RETURN_VALUE => {
            let (ordinal, name) = (r.u16(WHAT)?, r.b_varchar(WHAT)?);
            let function_result = r.u8(WHAT)? == 2;
            r.bytes(6, WHAT)?;
            let info = TypeInfo::decode_column(r)?;
            let (ty, value) = decode::parameter(r, &info)?;
            Token::ReturnValue(ReturnedValue { ordinal, name, function_result, ty, value })
        }
        byte::FEATURE_EXT_ACK => {
            let mut features = Vec::new();
            loop {
                let id = r.u8(WHAT)?;
                if id == 0xFF {
                    break;
                }
                let length = r.u32(WHAT)? as usize;
                features.push((id, r.bytes(length, WHAT)?.to_vec()));
            }
            Token::FeatureExtAck(features)
        }
        byte::SESSION_STATE => {
            let length = r.u32(WHAT)? as usize;
            let mut r = Reader::new(r.bytes(length, WHAT)?);
            let (sequence, recoverable) = (r.u32(WHAT)?, r.u8(WHAT)? != 0);
            let states = crate::recovery::states(&mut r)?;
            Token::SessionState { sequence, recoverable, states }
        }
        byte::FED_AUTH_INFO => {
            let length = r.u32(WHAT)? as usize;
            r.bytes(length, WHAT)?;
            Token::Skipped(token)
        }
        byte::ERROR
        | byte::INFO
        | byte::ENV_CHANGE
        | byte::LOGIN_ACK
        | byte::ORDER
        | byte::TAB_NAME
        | byte::COL_INFO
        | byte::SSPI => {
            let length = r.u16(WHAT)? as usize;
            let data = r.bytes(length, WHAT)?;
            // What lacks inside a token of known length will not come.
            sized(token, &mut Reader::new(data)).map_err(|error| match error {
                ProtocolError::Truncated { what } => ProtocolError::Malformed { what },
                error => error,
            })?
        }
        _ => return Err(ProtocolError::Malformed { what: WHAT }),
    })
}

fn sized(token: u8, r: &mut Reader<'_>) -> Result<Token> {
    Ok(match token {
        byte::ERROR | byte::INFO => Token::Message(ServerMessage {
            number: r.u32(WHAT)? as i32,
            state: r.u8(WHAT)?,
            class: r.u8(WHAT)?,
            text: r.us_varchar(WHAT)?,
            server: r.b_varchar(WHAT)?,
            procedure: r.b_varchar(WHAT)?,
            line: r.u32(WHAT)?,
        }),
        byte::ENV_CHANGE => Token::Change(change(r)?),
        byte::LOGIN_ACK => {
            r.u8(WHAT)?;
            let tds_version = r.u32(WHAT)?.swap_bytes();
            let program = r.b_varchar(WHAT)?;
            let version = (r.u8(WHAT)?, r.u8(WHAT)?, r.u16(WHAT)?.swap_bytes());
            Token::LoginAck(LoginAck { tds_version, program, version })
        }
        byte::ORDER => {
            let mut columns = Vec::new();
            while !r.is_empty() {
                columns.push(r.u16(WHAT)?);
            }
            Token::Order(columns)
        }
        _ => Token::Skipped(token),
    })
}

fn change(r: &mut Reader<'_>) -> Result<Change> {
    fn descriptor(r: &mut Reader<'_>) -> Result<u64> {
        let length = r.u8(WHAT)? as usize;
        let bytes = r.bytes(length, WHAT)?;
        let bytes = bytes.try_into().map_err(|_| ProtocolError::Malformed { what: "ENVCHANGE" })?;
        Ok(u64::from_le_bytes(bytes))
    }
    Ok(match r.u8(WHAT)? {
        1 => Change::Database(r.b_varchar(WHAT)?),
        2 => Change::Language(r.b_varchar(WHAT)?),
        3 => Change::CharacterSet(r.b_varchar(WHAT)?),
        4 => {
            let size = r.b_varchar(WHAT)?.parse().ok();
            let size = size.filter(|size| (512..=32_767).contains(size));
            Change::PacketSize(size.ok_or(ProtocolError::Malformed { what: "packet size" })?)
        }
        7 => {
            let length = r.u8(WHAT)? as usize;
            let bytes = r.bytes(length, WHAT)?;
            let bytes =
                bytes.try_into().map_err(|_| ProtocolError::Malformed { what: "collation" })?;
            Change::Collation(Collation(bytes))
        }
        8 => Change::BeginTransaction(descriptor(r)?),
        kind @ (9 | 10) => {
            let new = r.u8(WHAT)? as usize;
            r.bytes(new, WHAT)?;
            match kind {
                9 => Change::CommitTransaction(descriptor(r)?),
                _ => Change::RollbackTransaction(descriptor(r)?),
            }
        }
        18 => Change::ResetConnection,
        other => Change::Other(other),
    })
}

fn columns(r: &mut Reader<'_>) -> Result<(Vec<ColumnInfo>, Vec<TypeInfo>)> {
    let count = r.u16(WHAT)?;
    let (mut columns, mut infos) = (Vec::new(), Vec::new());
    if count == 0xFFFF {
        return Ok((columns, infos));
    }
    for _ in 0..count {
        r.u32(WHAT)?;
        let flags = r.u16(WHAT)?;
        let info = TypeInfo::decode_column(r)?;
        if info.has_table_name() {
            for _ in 0..r.u8(WHAT)? {
                r.us_varchar(WHAT)?;
            }
        }
        let (nullable, identity) = (flags & 1 != 0, flags & 0x10 != 0);
        columns.push(ColumnInfo {
            name: r.b_varchar(WHAT)?,
            ty: info.ty,
            nullable,
            identity,
            flags,
        });
        infos.push(info);
    }
    Ok((columns, infos))
}
