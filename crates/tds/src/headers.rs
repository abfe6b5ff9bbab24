//! ALL_HEADERS (MS-TDS 2.2.5.3), which opens every batch, call, and transaction request.

use crate::ProtocolError;
use crate::reader::{Reader, Result};
use crate::version::Version;

/// What the headers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct AllHeaders {
    /// The transaction the client believes to be in, from ENVCHANGE 8; 0 for none.
    pub transaction: u64,
    /// Requests under way on this connection: 1 without MARS.
    pub outstanding_requests: u32,
    /// The client's activity id and its sequence number, for tracing.
    pub activity: Option<([u8; 16], u32)>,
    /// A query notification is asked for. It is not delivered.
    pub notification: bool,
}

impl AllHeaders {
    /// A client's usual header.
    pub fn of_transaction(transaction: u64) -> AllHeaders {
        AllHeaders { transaction, outstanding_requests: 1, ..AllHeaders::default() }
    }

    /// Before TDS 7.2 there are none.
    pub(crate) fn decode_of(r: &mut Reader<'_>, version: Version) -> Result<AllHeaders> {
        match version.is_of_2005() {
            true => AllHeaders::decode(r),
            false => Ok(AllHeaders::default()),
        }
    }

    pub(crate) fn decode(r: &mut Reader<'_>) -> Result<AllHeaders> {
        const WHAT: &str = "ALL_HEADERS";
        let bad = ProtocolError::Malformed { what: WHAT };
        let total = r.u32(WHAT)? as usize;
        let mut inner = Reader::new(r.bytes(total.checked_sub(4).ok_or(bad.clone())?, WHAT)?);
        let mut headers = AllHeaders::default();
        while !inner.is_empty() {
            let length = inner.u32(WHAT)? as usize;
            let kind = inner.u16(WHAT)?;
            let mut data =
                Reader::new(inner.bytes(length.checked_sub(6).ok_or(bad.clone())?, WHAT)?);
            match kind {
                1 => headers.notification = true,
                2 => {
                    headers.transaction = data.u64(WHAT)?;
                    headers.outstanding_requests = data.u32(WHAT)?;
                }
                3 => {
                    let mut id = [0; 16];
                    id.copy_from_slice(data.bytes(16, WHAT)?);
                    headers.activity = Some((id, data.u32(WHAT)?));
                }
                _ => {}
            }
        }
        Ok(headers)
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&22u32.to_le_bytes());
        out.extend_from_slice(&18u32.to_le_bytes());
        out.extend_from_slice(&2u16.to_le_bytes());
        out.extend_from_slice(&self.transaction.to_le_bytes());
        out.extend_from_slice(&self.outstanding_requests.to_le_bytes());
    }
}
