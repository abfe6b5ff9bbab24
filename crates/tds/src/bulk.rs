//! Bulk load (BulkLoadBCP, MS-TDS 2.2.6.1): COLMETADATA, rows, DONE; read packet by packet.
//!
//! Invariants:
//! - a row is handed out whole or not at all; what has come of the next one waits, at most `row_limit` bytes;
//! - a long row that waits for more is looked at again only when the bytes have doubled or the message has ended, so
//!   a value of many packets is not read many times over;
//! - all rows before an error have been handed out.

use crate::ProtocolError;
use crate::decode;
use crate::reader::{Reader, Result};
use crate::token::byte;
use crate::type_info::TypeInfo;
use crate::version::Version;
use types::{SqlType, Value};

/// A column as the client announces it.
#[derive(Clone, Debug, PartialEq)]
pub struct BulkColumn {
    pub name: String,
    pub ty: SqlType,
    pub nullable: bool,
}

/// What [`BulkReader::next_row`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkStep {
    /// A row.
    Row,
    /// [`BulkReader::push`] more first.
    NeedMore,
    /// There are no more rows.
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Columns,
    Rows,
    Ended,
}

/// Waiting bytes up to which an unfinished row is tried again with every packet.
const TRY_ALWAYS: usize = 64 << 10;

/// Reads the rows of one bulk load message.
pub struct BulkReader {
    buffer: Vec<u8>,
    at: usize,
    /// Do not try before so many bytes wait.
    try_at: usize,
    last: bool,
    row_limit: usize,
    version: Version,
    state: State,
    columns: Vec<BulkColumn>,
    infos: Vec<TypeInfo>,
}

impl BulkReader {
    /// A reader whose rows have at most `row_limit` bytes on the wire.
    pub fn new(row_limit: usize) -> BulkReader {
        BulkReader {
            buffer: Vec::new(),
            at: 0,
            try_at: 0,
            last: false,
            row_limit,
            version: Version::V7_4,
            state: State::Columns,
            columns: Vec::new(),
            infos: Vec::new(),
        }
    }

    /// Of a client of that version.
    pub fn of_version(self, version: Version) -> BulkReader {
        BulkReader { version, ..self }
    }

    /// Adds the data of a packet; `last` when the message ends with it. Take all rows before the next packet.
    pub fn push(&mut self, data: &[u8], last: bool) {
        if self.at > 0 {
            self.buffer.drain(..self.at);
            self.at = 0;
        }
        self.buffer.extend_from_slice(data);
        self.last = last;
    }

    /// The columns, once they have come; none at all when the message was empty.
    pub fn columns(&mut self) -> Result<Option<&[BulkColumn]>> {
        if self.state == State::Columns {
            let waiting = self.buffer.len() - self.at;
            if waiting < self.try_at && !self.last {
                return Ok(None);
            }
            let mut r = Reader::new(&self.buffer[self.at..]);
            match read_columns(&mut r, self.version) {
                Ok((columns, infos)) => {
                    self.at += r.position();
                    self.try_at = 0;
                    self.state = if columns.is_empty() { State::Ended } else { State::Rows };
                    (self.columns, self.infos) = (columns, infos);
                }
                Err(error) => {
                    self.wait(error)?;
                    return Ok(None);
                }
            }
        }
        Ok(Some(&self.columns))
    }

    /// Reads the next row into `row`, which is overwritten.
    pub fn next_row(&mut self, row: &mut Vec<Value>) -> Result<BulkStep> {
        if self.columns()?.is_none() {
            return Ok(BulkStep::NeedMore);
        }
        if self.state == State::Ended {
            return Ok(BulkStep::End);
        }
        let waiting = &self.buffer[self.at..];
        if waiting.is_empty() && self.last {
            // Some clients leave out the DONE.
            self.state = State::Ended;
            return Ok(BulkStep::End);
        }
        if waiting.len() < self.try_at && !self.last {
            return Ok(BulkStep::NeedMore);
        }
        let mut r = Reader::new(waiting);
        match read_row(&mut r, &self.infos, row) {
            Ok(more) => {
                self.at += r.position();
                self.try_at = 0;
                if !more {
                    self.state = State::Ended;
                    return Ok(BulkStep::End);
                }
                Ok(BulkStep::Row)
            }
            Err(error) => self.wait(error).map(|()| BulkStep::NeedMore),
        }
    }

    /// Bytes that lack are to be waited for, if more can come and the limit allows it.
    fn wait(&mut self, error: ProtocolError) -> Result<()> {
        let waiting = self.buffer.len() - self.at;
        match error {
            ProtocolError::Truncated { .. } if self.last => {
                self.state = State::Ended;
                Err(ProtocolError::BulkRow { column: 0, what: "end of message" })
            }
            ProtocolError::Truncated { .. } if waiting > self.row_limit => {
                Err(ProtocolError::PacketLength { length: waiting, limit: self.row_limit })
            }
            ProtocolError::Truncated { .. } => {
                self.try_at = if waiting > TRY_ALWAYS { waiting * 2 } else { 0 };
                self.try_at = self.try_at.min(self.row_limit);
                Ok(())
            }
            error => Err(error),
        }
    }
}

/// SQL Server's limit on columns of an INSERT.
const COLUMNS_MAX: u16 = 4096;

fn read_columns(r: &mut Reader<'_>, version: Version) -> Result<(Vec<BulkColumn>, Vec<TypeInfo>)> {
    const WHAT: &str = "bulk load columns";
    match r.u8(WHAT)? {
        byte::COL_METADATA => {}
        // Nothing to load.
        byte::DONE => return Ok((Vec::new(), Vec::new())),
        _ => return Err(ProtocolError::Malformed { what: WHAT }),
    }
    let count = r.u16(WHAT)?;
    if count == 0 || count > COLUMNS_MAX {
        return Err(ProtocolError::Malformed { what: WHAT });
    }
    let (mut columns, mut infos) = (Vec::new(), Vec::new());
    for _ in 0..count {
        match version.is_of_2005() {
            true => _ = r.u32(WHAT)?,
            false => _ = r.u16(WHAT)?,
        }
        let flags = r.u16(WHAT)?;
        let info = TypeInfo::decode_column(r)?;
        if info.has_table_name() {
            // One part, unlike in the server's COLMETADATA.
            r.us_varchar(WHAT)?;
        }
        let name = r.b_varchar(WHAT)?;
        columns.push(BulkColumn { name, ty: info.ty, nullable: flags & 1 != 0 });
        infos.push(info);
    }
    Ok((columns, infos))
}

/// False at the end.
fn read_row(r: &mut Reader<'_>, infos: &[TypeInfo], row: &mut Vec<Value>) -> Result<bool> {
    const WHAT: &str = "bulk load row";
    let bitmap = match r.u8(WHAT)? {
        byte::ROW => None,
        byte::NBC_ROW => Some(r.bytes(infos.len().div_ceil(8), WHAT)?),
        byte::DONE => return Ok(false),
        _ => return Err(ProtocolError::Malformed { what: WHAT }),
    };
    row.clear();
    for (i, info) in infos.iter().enumerate() {
        if bitmap.is_some_and(|bits| bits[i / 8] & 1 << (i % 8) != 0) {
            row.push(Value::Null);
            continue;
        }
        row.push(decode::column(r, info, true).map_err(|error| match error {
            ProtocolError::BadTypeInfo { .. } => {
                ProtocolError::BulkRow { column: i as u16 + 1, what: "longer than its column" }
            }
            other => other,
        })?);
    }
    Ok(true)
}
