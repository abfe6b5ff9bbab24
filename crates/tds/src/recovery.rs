//! Connection resiliency (MS-TDS: FEATUREEXT of LOGIN7, FEATUREEXTACK, SESSIONSTATE): the states of a session, which a
//! client keeps and gives back when it opens another connection in the place of one that broke.
//!
//! ```text
//! state           id, length (1 byte, or 0xFF and 4), bytes
//! SESSIONSTATE    0xE4, length (4), sequence (4), status (1: recoverable), states
//! feature 1       of a new session nothing; else the session's beginning and its end, each
//!                 length (4), database (B_VARCHAR), collation (length, 0 or 5 bytes), language (B_VARCHAR), states
//! ```
//!
//! What a state means, and what of it is to be believed, is the session's to know.

use crate::ProtocolError;
use crate::reader::{Reader, Result, put_b_varchar};

const WHAT: &str = "session recovery";
/// From here on a length takes four bytes more.
const LONG: u8 = 0xFF;
/// Databases have names of 128 characters at most.
const NAME_UNITS_MAX: usize = 128;

/// States, each with its number.
pub type States = Vec<(u8, Vec<u8>)>;

/// A session as it was at some time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Empty: in the end as in the beginning.
    pub database: String,
    /// The same.
    pub language: String,
    pub states: States,
}

/// The session that a client wants back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// After its login.
    pub initial: Recorded,
    /// When its connection broke: what differs from the beginning.
    pub last: Recorded,
}

impl Recovery {
    /// Reads the feature's data; `None` where a session begins that may be recovered later.
    pub fn decode(data: &[u8]) -> Result<Option<Recovery>> {
        if data.is_empty() {
            return Ok(None);
        }
        let mut r = Reader::new(data);
        let recovery = Recovery { initial: recorded(&mut r)?, last: recorded(&mut r)? };
        match r.is_empty() {
            true => Ok(Some(recovery)),
            false => Err(ProtocolError::Login { what: WHAT }),
        }
    }

    /// The client's side.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for recorded in [&self.initial, &self.last] {
            let mut part = Vec::new();
            put_b_varchar(&mut part, &recorded.database);
            part.push(0);
            put_b_varchar(&mut part, &recorded.language);
            put_states(&mut part, &recorded.states);
            out.extend_from_slice(&(part.len() as u32).to_le_bytes());
            out.extend_from_slice(&part);
        }
        out
    }
}

fn recorded(r: &mut Reader<'_>) -> Result<Recorded> {
    let length = r.u32(WHAT)? as usize;
    let mut r = Reader::new(r.bytes(length, WHAT)?);
    let database = r.b_varchar(WHAT)?;
    let collation = r.u8(WHAT)? as usize;
    r.bytes(collation, WHAT)?;
    let language = r.b_varchar(WHAT)?;
    let long = |name: &str| name.encode_utf16().count() > NAME_UNITS_MAX;
    if !matches!(collation, 0 | 5) || long(&database) || long(&language) {
        return Err(ProtocolError::Login { what: WHAT });
    }
    Ok(Recorded { database, language, states: states(&mut r)? })
}

/// The states that are left to read.
pub(crate) fn states(r: &mut Reader<'_>) -> Result<States> {
    let mut states = Vec::new();
    while !r.is_empty() {
        let id = r.u8(WHAT)?;
        let length = match r.u8(WHAT)? {
            LONG => r.u32(WHAT)? as usize,
            short => usize::from(short),
        };
        states.push((id, r.bytes(length, WHAT)?.to_vec()));
    }
    Ok(states)
}

/// Appends states.
pub fn put_states(out: &mut Vec<u8>, states: &[(u8, Vec<u8>)]) {
    for (id, bytes) in states {
        out.push(*id);
        match u8::try_from(bytes.len()) {
            Ok(short) if short < LONG => out.push(short),
            _ => {
                out.push(LONG);
                out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
            }
        }
        out.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_gives_back_is_read() {
        let recorded = |database: &str, states: States| Recorded {
            database: database.into(),
            language: "us_english".into(),
            states,
        };
        let recovery = Recovery {
            initial: recorded("master", vec![(0, vec![1, 2]), (5, vec![])]),
            last: recorded("", vec![(0, vec![3; 300])]),
        };
        let data = recovery.encode();
        assert_eq!(Recovery::decode(&data), Ok(Some(recovery)));
        assert_eq!(Recovery::decode(&[]), Ok(None));
        for cut in 1..data.len() {
            assert!(Recovery::decode(&data[..cut]).is_err(), "{cut} of {} bytes", data.len());
        }
        let mut longer = data;
        longer.push(0);
        assert!(Recovery::decode(&longer).is_err());
    }
}
