//! SQL batches (MS-TDS 2.2.6.7) and transaction manager requests (2.2.6.9).

use crate::ProtocolError;
use crate::headers::AllHeaders;
use crate::reader::{Reader, Result, put_utf16, utf16};
use crate::version::Version;

/// A batch: T-SQL text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    pub headers: AllHeaders,
    pub text: String,
}

impl Batch {
    /// Reads a message of type 0x01; 4002.
    pub fn decode(data: &[u8]) -> Result<Batch> {
        Batch::decode_of(data, Version::V7_4)
    }

    /// The same of a client of that version.
    pub fn decode_of(data: &[u8], version: Version) -> Result<Batch> {
        let mut r = Reader::new(data);
        let headers = AllHeaders::decode_of(&mut r, version)?;
        let text = r.rest();
        if !text.len().is_multiple_of(2) {
            return Err(ProtocolError::Malformed { what: "a batch of half a character" });
        }
        Ok(Batch { headers, text: utf16(text) })
    }

    /// Appends the message body: the client's side.
    pub fn encode(out: &mut Vec<u8>, headers: &AllHeaders, text: &str) {
        headers.encode(out);
        put_utf16(out, text);
    }
}

/// What to do about the session's transaction. `isolation` is 0 for "as it is", else 1 READ UNCOMMITTED,
/// 2 READ COMMITTED, 3 REPEATABLE READ, 4 SERIALIZABLE, 5 SNAPSHOT. An empty name is no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransactionRequest {
    Begin { isolation: u8, name: String },
    Commit { name: String, then_begin: Option<NextTransaction> },
    Rollback { name: String, then_begin: Option<NextTransaction> },
    Save { name: String },
}

/// A transaction to begin in the same breath (fBeginXact), as both ODBC drivers do in manual-commit mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextTransaction {
    pub isolation: u8,
    pub name: String,
}

const GET_DTC_ADDRESS: u16 = 0;
const PROPAGATE: u16 = 1;
const BEGIN: u16 = 5;
const PROMOTE: u16 = 6;
const COMMIT: u16 = 7;
const ROLLBACK: u16 = 8;
const SAVE: u16 = 9;
const THEN_BEGIN: u8 = 0x01;

impl TransactionRequest {
    /// Reads a message of type 0x0E; 4002, or 40510 for requests of distributed transactions.
    pub fn decode(data: &[u8]) -> Result<(AllHeaders, TransactionRequest)> {
        TransactionRequest::decode_of(data, Version::V7_4)
    }

    /// The same of a client of that version.
    pub fn decode_of(data: &[u8], version: Version) -> Result<(AllHeaders, TransactionRequest)> {
        const WHAT: &str = "transaction manager request";
        let mut r = Reader::new(data);
        let headers = AllHeaders::decode_of(&mut r, version)?;
        let request = match r.u16(WHAT)? {
            BEGIN => {
                let isolation = isolation(&mut r)?;
                TransactionRequest::Begin { isolation, name: name(&mut r)? }
            }
            COMMIT => {
                let name = name(&mut r)?;
                TransactionRequest::Commit { name, then_begin: next(&mut r)? }
            }
            ROLLBACK => {
                let name = name(&mut r)?;
                TransactionRequest::Rollback { name, then_begin: next(&mut r)? }
            }
            SAVE => TransactionRequest::Save { name: name(&mut r)? },
            GET_DTC_ADDRESS | PROPAGATE | PROMOTE => {
                return Err(ProtocolError::NotSupported {
                    what: "A distributed transaction (TM_GET_DTC_ADDRESS, TM_PROPAGATE_XACT, \
                           TM_PROMOTE_XACT)",
                });
            }
            _ => return Err(ProtocolError::Malformed { what: WHAT }),
        };
        Ok((headers, request))
    }

    /// Appends the message body: the client's side. Names are cut to 127 characters.
    pub fn encode(&self, out: &mut Vec<u8>, headers: &AllHeaders) {
        headers.encode(out);
        let code = |out: &mut Vec<u8>, code: u16| out.extend_from_slice(&code.to_le_bytes());
        match self {
            TransactionRequest::Begin { isolation, name } => {
                code(out, BEGIN);
                out.push(*isolation);
                put_name(out, name);
            }
            TransactionRequest::Commit { name, then_begin }
            | TransactionRequest::Rollback { name, then_begin } => {
                let commit = matches!(self, TransactionRequest::Commit { .. });
                code(out, if commit { COMMIT } else { ROLLBACK });
                put_name(out, name);
                match then_begin {
                    None => out.push(0),
                    Some(next) => {
                        out.extend_from_slice(&[THEN_BEGIN, next.isolation]);
                        put_name(out, &next.name);
                    }
                }
            }
            TransactionRequest::Save { name } => {
                code(out, SAVE);
                put_name(out, name);
            }
        }
    }
}

fn isolation(r: &mut Reader<'_>) -> Result<u8> {
    match r.u8("isolation level")? {
        level @ 0..=5 => Ok(level),
        _ => Err(ProtocolError::Malformed { what: "isolation level" }),
    }
}

/// A B_VARBYTE: its length counts bytes, not characters.
fn name(r: &mut Reader<'_>) -> Result<String> {
    const WHAT: &str = "transaction name";
    let length = r.u8(WHAT)? as usize;
    if !length.is_multiple_of(2) {
        return Err(ProtocolError::Malformed { what: WHAT });
    }
    Ok(utf16(r.bytes(length, WHAT)?))
}

fn next(r: &mut Reader<'_>) -> Result<Option<NextTransaction>> {
    if r.is_empty() || r.u8("transaction flags")? & THEN_BEGIN == 0 {
        return Ok(None);
    }
    let isolation = isolation(r)?;
    Ok(Some(NextTransaction { isolation, name: name(r)? }))
}

fn put_name(out: &mut Vec<u8>, name: &str) {
    let at = out.len();
    out.push(0);
    put_utf16(out, crate::reader::cut_utf16(name, 127));
    out[at] = (out.len() - at - 1) as u8;
}
