//! Bulk load: the rows of one message, read packet by packet and inserted as they come.
//!
//! `INSERT BULK` comes as a batch of its own and is answered; the rows follow in the next message. The announcement is
//! tried out at once, so that its errors are told to the batch that made them. After an error the rest of the message
//! is read and dropped, and then answered.

use crate::connection::{Connection, Packet};
use crate::sink::Answer;
use executor::{Command, Done, ResultSink, SqlError};
use session::Session;
use tds::bulk::{BulkReader, BulkStep};

/// Bytes that one row may have on the wire: SQL Server's limit of a value.
const ROW_BYTES: usize = 1 << 30;

/// Why a load ends early.
enum Trouble {
    Sql(SqlError),
    /// Stopped, given up, or the connection is over: nothing is told.
    Silent,
}

impl From<SqlError> for Trouble {
    fn from(error: SqlError) -> Trouble {
        Trouble::Sql(error)
    }
}

/// Answers `INSERT BULK`; what to load into, if it can be.
pub(crate) fn announce(
    session: &mut Session,
    insert: String,
    answer: &mut Answer<'_>,
) -> Option<String> {
    let result = session.bulk(&insert).map(drop);
    match result {
        Ok(()) => {
            answer.done(Done::new(Command::BulkInsert, None));
            Some(insert)
        }
        Err(error) => {
            refuse(answer, &error);
            None
        }
    }
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
    let mut reader = BulkReader::new(ROW_BYTES);
    reader.push(first, last);
    let mut ended = last;
    let result = insert_all(session, insert, &mut reader, &mut ended, connection);
    // The rest belongs to nobody.
    while !ended {
        match connection.next_bulk(|_, last| ended = last) {
            Packet::Bulk => {}
            Packet::Stopped => ended = true,
            Packet::Over => return true,
        }
    }
    match result {
        Ok(rows) => answer.done(Done::new(Command::BulkInsert, Some(rows))),
        Err(Trouble::Sql(error)) => refuse(answer, &error),
        Err(Trouble::Silent) => answer.fail(),
    }
    false
}

fn insert_all(
    session: &mut Session,
    insert: &str,
    reader: &mut BulkReader,
    ended: &mut bool,
    connection: &Connection,
) -> Result<u64, Trouble> {
    let mut bulk = session.bulk(insert)?;
    let mut row = Vec::new();
    loop {
        let step = reader
            .next_row(&mut row)
            .map_err(|error| SqlError::new(error.number(), 16, error.to_string()))?;
        match step {
            BulkStep::Row => bulk.row(&row)?,
            BulkStep::End => return Ok(bulk.finish()?),
            BulkStep::NeedMore => {
                let packet = connection.next_bulk(|data, last| {
                    reader.push(data, last);
                    *ended = last;
                });
                match packet {
                    Packet::Bulk => {}
                    Packet::Stopped | Packet::Over => {
                        *ended = matches!(packet, Packet::Stopped);
                        return Err(Trouble::Silent);
                    }
                }
            }
        }
    }
}

fn refuse(answer: &mut Answer<'_>, error: &SqlError) {
    answer.message(&error.to_message());
    answer.fail();
}
