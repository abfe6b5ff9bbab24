//! Bulk load: the rows of one message, read packet by packet and inserted as they come.
//!
//! `INSERT BULK` comes as a batch of its own and is answered; the rows follow in the next message. The announcement is
//! tried out at once, so that its errors are told to the batch that made them. After an error the rest of the message
//! is read and dropped, and then answered.

use crate::connection::{Connection, Packet};
use crate::sink::Answer;
use executor::{SqlError, cancelled};
use session::Session;
use tds::bulk::{BulkReader, BulkStep};
use types::Value;

/// Bytes that one row may have on the wire: SQL Server's limit of a value.
const ROW_BYTES: usize = 1 << 30;

/// Why there is no next row.
enum Trouble {
    Sql(SqlError),
    /// Stopped, given up, or the connection is over: nothing is told.
    Silent,
}

/// Answers `INSERT BULK`; what to load into, if it can be.
pub(crate) fn announce(
    session: &mut Session,
    insert: String,
    answer: &mut Answer<'_>,
) -> Option<String> {
    session.announce_bulk(&insert, answer).is_ok().then_some(insert)
}

/// Loads the message that begins with this packet; whether the connection cannot go on. Suspends.
pub(crate) fn load(
    session: &mut Session,
    insert: &str,
    first: &[u8],
    last: bool,
    answer: &mut Answer<'_>,
    connection: &Connection,
) -> bool {
    let mut reader = BulkReader::new(ROW_BYTES).of_version(answer.version());
    reader.push(first, last);
    let (mut ended, mut given_up) = (last, false);
    let mut rows = |row: &mut Vec<Value>| {
        let next = next_row(&mut reader, row, &mut ended, connection);
        next.map_err(|trouble| match trouble {
            Trouble::Sql(error) => error,
            Trouble::Silent => {
                given_up = true;
                cancelled()
            }
        })
    };
    // What went wrong is in the answer.
    let _ = session.load_bulk(insert, &mut rows, answer);
    if given_up {
        answer.fail();
    }
    // The rest belongs to nobody.
    while !ended {
        match connection.next_bulk(|_, last| ended = last) {
            Packet::Bulk => {}
            Packet::Stopped => ended = true,
            Packet::Over => return true,
        }
    }
    false
}

/// The next row of the message; false at its end.
fn next_row(
    reader: &mut BulkReader,
    row: &mut Vec<Value>,
    ended: &mut bool,
    connection: &Connection,
) -> Result<bool, Trouble> {
    loop {
        let step = reader
            .next_row(row)
            .map_err(|error| Trouble::Sql(SqlError::new(error.number(), 16, error.to_string())))?;
        match step {
            BulkStep::Row => return Ok(true),
            BulkStep::End => return Ok(false),
            BulkStep::NeedMore => {
                let packet = connection.next_bulk(|data, last| {
                    reader.push(data, last);
                    *ended = last;
                });
                match packet {
                    Packet::Bulk => {}
                    Packet::Stopped => {
                        *ended = true;
                        return Err(Trouble::Silent);
                    }
                    Packet::Over => return Err(Trouble::Silent),
                }
            }
        }
    }
}
