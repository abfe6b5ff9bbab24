//! Calls (RPC, MS-TDS 2.2.6.6): a procedure by name or number, options, parameters; several in one message.

use crate::ProtocolError;
use crate::decode;
use crate::encode::{self, EncodeError};
use crate::headers::AllHeaders;
use crate::reader::{Reader, Result, put_b_varchar, put_us_varchar, steps};
use crate::table::Table;
use crate::type_info::{self, TypeInfo};
use crate::version::Version;
use runtime::task::Breath;
use types::{SqlType, Value};

/// SQL Server's limit on parameters of one call.
pub const PARAMETERS_MAX: usize = 2100;

/// The procedure to call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RpcName {
    /// As text, with its schema perhaps, and with brackets perhaps.
    Name(String),
    /// One of the procedures with a number of its own (2.2.6.6, ProcID), 1 to 15.
    Id(u16),
}

impl RpcName {
    pub const SP_EXECUTESQL: u16 = 10;
    pub const SP_PREPARE: u16 = 11;
    pub const SP_EXECUTE: u16 = 12;
    pub const SP_PREPEXEC: u16 = 13;
    pub const SP_PREPEXECRPC: u16 = 14;
    pub const SP_UNPREPARE: u16 = 15;
}

/// One call.
#[derive(Clone, Debug, PartialEq)]
pub struct Rpc {
    pub procedure: RpcName,
    pub parameters: Vec<RpcParameter>,
    /// WITH RECOMPILE.
    pub recompile: bool,
    /// The client says that it needs no COLMETADATA. It is told the columns all the same, as SQL Server tells them:
    /// SqlClient and the ODBC driver set this flag in every call with parameters and read COLMETADATA before rows.
    pub no_metadata: bool,
    /// Whatever it says, do not run it (NoExecFlag after it).
    pub no_execute: bool,
}

/// One parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcParameter {
    /// With its `@`; `None` when passed by position.
    pub name: Option<Box<str>>,
    /// By reference: a RETURNVALUE is expected.
    pub output: bool,
    /// Use the procedure's default; the value is not meant.
    pub default: bool,
    /// The declared type. A table's is not meant.
    pub ty: SqlType,
    pub value: RpcValue,
}

/// What a parameter carries.
#[derive(Clone, Debug, PartialEq)]
pub enum RpcValue {
    Scalar(Value),
    Table(Table),
}

const WITH_RECOMPILE: u16 = 0x01;
const NO_METADATA: u16 = 0x02;
const BY_REFERENCE: u8 = 0x01;
const DEFAULT: u8 = 0x02;
const ENCRYPTED: u8 = 0x08;
const BATCH_SEPARATOR: u8 = 0xFF;
const BATCH_SEPARATOR_OLD: u8 = 0x80;
const NO_EXECUTE: u8 = 0xFE;
/// Steps that a call counts for, or a parameter.
const CALL_STEPS: usize = 64;
const PROCEDURE_BY_ID: u16 = 0xFFFF;

/// A message of calls.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcMessage {
    pub headers: AllHeaders,
    /// At least one; run in order, all answered in one message.
    pub calls: Vec<Rpc>,
}

impl RpcMessage {
    /// Reads a message of type 0x03.
    pub fn decode(data: &[u8]) -> Result<RpcMessage> {
        RpcMessage::decode_of(data, Version::V7_4)
    }

    /// The same of a client of that version.
    pub fn decode_of(data: &[u8], version: Version) -> Result<RpcMessage> {
        let mut r = Reader::new(data);
        let headers = AllHeaders::decode_of(&mut r, version)?;
        let mut calls = Vec::with_capacity(1);
        let mut breath = Breath::new();
        loop {
            steps(&mut breath, CALL_STEPS)?;
            calls.push(call(&mut r, &mut breath)?);
            if r.is_empty() {
                return Ok(RpcMessage { headers, calls });
            }
        }
    }
}

fn call(r: &mut Reader<'_>, breath: &mut Breath) -> Result<Rpc> {
    const WHAT: &str = "procedure name";
    let procedure = match r.clone().u16(WHAT)? {
        PROCEDURE_BY_ID => {
            r.u16(WHAT)?;
            RpcName::Id(r.u16(WHAT)?)
        }
        _ => RpcName::Name(r.us_varchar(WHAT)?),
    };
    let options = r.u16("option flags")?;
    let mut rpc = Rpc {
        procedure,
        parameters: Vec::new(),
        recompile: options & WITH_RECOMPILE != 0,
        no_metadata: options & NO_METADATA != 0,
        no_execute: false,
    };
    while let Some(next) = r.peek() {
        match next {
            BATCH_SEPARATOR | BATCH_SEPARATOR_OLD => {
                r.u8("separator")?;
                break;
            }
            NO_EXECUTE => {
                r.u8("separator")?;
                rpc.no_execute = true;
                break;
            }
            _ if rpc.parameters.len() == PARAMETERS_MAX => {
                return Err(ProtocolError::TooManyParameters);
            }
            _ => {
                steps(breath, CALL_STEPS)?;
                rpc.parameters.push(parameter(r)?);
            }
        }
    }
    Ok(rpc)
}

fn parameter(r: &mut Reader<'_>) -> Result<RpcParameter> {
    let name = r.b_varchar("parameter name")?;
    let status = r.u8("parameter status")?;
    if status & ENCRYPTED != 0 {
        return Err(ProtocolError::NotSupported { what: "An encrypted parameter" });
    }
    let (ty, value) = if r.peek() == Some(type_info::token::TABLE) {
        (SqlType::Int, RpcValue::Table(Table::decode(r)?))
    } else {
        let info = TypeInfo::decode(r)?;
        let (ty, value) = decode::parameter(r, &info)?;
        (ty, RpcValue::Scalar(value))
    };
    Ok(RpcParameter {
        name: (!name.is_empty()).then(|| name.into_boxed_str()),
        output: status & BY_REFERENCE != 0,
        default: status & DEFAULT != 0,
        ty,
        value,
    })
}

impl Rpc {
    /// Appends one call: the client's side. Between calls of one message goes [`Rpc::separate`].
    pub fn encode(&self, out: &mut Vec<u8>) -> std::result::Result<(), EncodeError> {
        match &self.procedure {
            RpcName::Name(name) => put_us_varchar(out, name, 1000),
            RpcName::Id(id) => {
                out.extend_from_slice(&PROCEDURE_BY_ID.to_le_bytes());
                out.extend_from_slice(&id.to_le_bytes());
            }
        }
        let recompile = if self.recompile { WITH_RECOMPILE } else { 0 };
        let no_metadata = if self.no_metadata { NO_METADATA } else { 0 };
        out.extend_from_slice(&(recompile | no_metadata).to_le_bytes());
        for parameter in &self.parameters {
            put_b_varchar(out, parameter.name.as_deref().unwrap_or(""));
            let output = if parameter.output { BY_REFERENCE } else { 0 };
            out.push(output | if parameter.default { DEFAULT } else { 0 });
            match &parameter.value {
                RpcValue::Scalar(value) => {
                    type_info::put(out, parameter.ty);
                    encode::value(out, parameter.ty, value)?;
                }
                RpcValue::Table(table) => table.encode(out)?,
            }
        }
        Ok(())
    }

    /// Appends what stands between two calls.
    pub fn separate(out: &mut Vec<u8>) {
        out.push(BATCH_SEPARATOR);
    }
}
