//! Tokens out, in packets.
//!
//! One buffer holds the packets of the answer, headers in place. A token is appended as if there were no
//! packets; when the open packet has grown past its size it is cut, which moves only the bytes behind the cut.
//!
//! ```text
//! | sent | full packets, ready to go | open packet: header to be, tokens so far |
//!        ^sent                       ^open
//! ```
//!
//! Invariants:
//! - a packet is full (exactly the packet size) unless it is the last of its message or [`TokenWriter::flush`] ended it;
//! - the last packet of a message, and no other, has the end-of-message bit;
//! - a DONE waits until it is known whether anything follows, which decides its MORE bit: callers need not know;
//! - ROW follows COLMETADATA with the same columns;
//! - a failed [`TokenWriter::row`] leaves no trace.

mod packets;
mod rows;
#[cfg(test)]
mod stored_tests;

use crate::charset::Collation;
use crate::packet::{HEADER_BYTES, PACKET_BYTES_DEFAULT, PacketType, Status};
use crate::prelogin::PreloginReply;
use crate::reader::{put_b_varchar, put_us_varchar};
use crate::token::{ColumnInfo, Done, DoneKind, DoneStatus, EnvChange, Message, byte};
use crate::version::Version;
use types::collation::CodePage;
use types::{RowColumn, SqlType};

/// Longest text of a message, in UTF-16 units: the token's length is two bytes.
const MESSAGE_UNITS_MAX: usize = 16_000;

/// How a column's values go.
#[derive(Clone, Copy)]
struct Sent {
    declared: SqlType,
    /// The type as sent.
    ty: SqlType,
    /// In the fixed-length form, which has no NULL.
    fixed: bool,
    /// Behind a text pointer.
    long: bool,
    /// How the last row had it stored, and whether its bytes are then those that go.
    stored: Option<(RowColumn, bool)>,
    #[cfg(debug_assertions)]
    nullable: bool,
    /// Of varchar.
    page: CodePage,
}

/// Writes the server's answers. One per connection; see the module for its invariants.
pub struct TokenWriter {
    out: Vec<u8>,
    sent: usize,
    /// Start of the open packet's header, while a message is open.
    open: Option<usize>,
    packet_bytes: usize,
    next_packet_bytes: usize,
    packet_id: u8,
    spid: u16,
    version: Version,
    /// The client reads varchar in UTF-8 (UTF8_SUPPORT); another gets such texts as nvarchar.
    utf8: bool,
    /// That of texts which belong to no column: output parameters.
    collation: types::Collation,
    /// The columns of the current result set.
    columns: Vec<Sent>,
    /// Whether any column is sent as another type than declared (dates to a TDS 7.2 client).
    has_substitutes: bool,
    pending: Option<Done>,
    /// Values are asked whether they fit their columns.
    #[cfg(debug_assertions)]
    guards: bool,
}

impl TokenWriter {
    /// A writer of packets of 4,096 bytes.
    pub fn new(spid: u16) -> TokenWriter {
        TokenWriter {
            out: Vec::new(),
            sent: 0,
            open: None,
            packet_bytes: PACKET_BYTES_DEFAULT as usize,
            next_packet_bytes: PACKET_BYTES_DEFAULT as usize,
            packet_id: 0,
            spid,
            version: Version::V7_4,
            utf8: true,
            collation: types::Collation::default(),
            columns: Vec::new(),
            has_substitutes: false,
            pending: None,
            #[cfg(debug_assertions)]
            guards: true,
        }
    }

    /// The version from LOGIN7; before the first answer to it.
    pub fn set_version(&mut self, version: Version) {
        self.version = version;
    }

    /// What LOGIN7 says of UTF8_SUPPORT; before the first answer to it.
    pub fn set_utf8(&mut self, utf8: bool) {
        self.utf8 = utf8;
    }

    /// The collation of the database that is the current one from now on.
    pub fn set_collation(&mut self, collation: types::Collation) {
        self.collation = collation;
    }

    pub fn version(&self) -> Version {
        self.version
    }

    /// The packet size, from the next message on. 512 to 32,767: [`crate::negotiate_packet_size`].
    pub fn set_packet_size(&mut self, bytes: u16) {
        assert!((crate::PACKET_BYTES_MIN..=crate::PACKET_BYTES_MAX).contains(&bytes));
        self.next_packet_bytes = bytes as usize;
    }

    /// The session's id, in every packet header.
    pub fn set_spid(&mut self, spid: u16) {
        self.spid = spid;
    }

    // ---- messages ----

    /// Ends the message. A message without a DONE gets one: an answer must have it.
    pub fn finish(&mut self) {
        let last = self.pending.take().unwrap_or(Done {
            kind: DoneKind::Done,
            status: DoneStatus::FINAL,
            command: 0,
            rows: 0,
        });
        self.put_done(last);
        self.end_token();
        self.close_packet(Status::END_OF_MESSAGE);
        self.open = None;
    }

    /// Ends the packet at hand, so that what has been written so far can go (RAISERROR WITH NOWAIT). A DONE that
    /// waits for its MORE bit keeps waiting.
    pub fn flush(&mut self) {
        if let Some(open) = self.open
            && self.out.len() > open + HEADER_BYTES
        {
            self.close_packet(0);
            self.open_packet();
        }
    }

    /// The answer to PRELOGIN: a message of its own.
    pub fn prelogin(&mut self, reply: &PreloginReply) {
        self.begin();
        reply.encode(&mut self.out);
        self.close_packet(Status::END_OF_MESSAGE);
        self.open = None;
    }

    /// Bytes of the TLS handshake, in packets of type PRELOGIN, as a message of its own.
    pub fn tls_handshake(&mut self, bytes: &[u8]) {
        assert!(self.open.is_none(), "a message is open");
        crate::packet::put_message(
            &mut self.out,
            PacketType::Prelogin,
            0,
            self.packet_bytes as u16,
            bytes,
        );
    }

    /// DONE_ATTN: the answer to an attention, the last of its message.
    pub fn attention(&mut self) {
        let done =
            Done { kind: DoneKind::Done, status: DoneStatus::ATTENTION, command: 0, rows: 0 };
        self.done(done);
        self.finish();
    }

    // ---- tokens ----

    /// LOGINACK (2.2.7.14): T-SQL, the version, the program's name and version.
    pub fn login_ack(&mut self, program: &str, (major, minor, build): (u8, u8, u16)) {
        let version = self.version.number().to_be_bytes();
        self.sized_token(byte::LOGIN_ACK, |out| {
            out.push(1);
            out.extend_from_slice(&version);
            put_b_varchar(out, program);
            out.extend_from_slice(&[major, minor]);
            out.extend_from_slice(&build.to_be_bytes());
        });
    }

    /// FEATUREEXTACK (2.2.7.11): ids and data of what is acknowledged.
    pub fn feature_ext_ack(&mut self, features: &[(u8, &[u8])]) {
        self.begin_token();
        self.out.push(byte::FEATURE_EXT_ACK);
        for (id, data) in features {
            self.out.push(*id);
            self.out.extend_from_slice(&(data.len() as u32).to_le_bytes());
            self.out.extend_from_slice(data);
        }
        self.out.push(0xFF);
        self.end_token();
    }

    /// SESSIONSTATE (2.2.7.21): what the client is to give back when it opens another connection for this session.
    /// What follows is the last DONE of the answer.
    pub fn session_state(&mut self, sequence: u32, recoverable: bool, states: &[(u8, Vec<u8>)]) {
        self.begin_token();
        self.out.push(byte::SESSION_STATE);
        let at = self.out.len();
        self.out.extend_from_slice(&[0; 4]);
        self.out.extend_from_slice(&sequence.to_le_bytes());
        self.out.push(u8::from(recoverable));
        crate::recovery::put_states(&mut self.out, states);
        let length = (self.out.len() - at - 4) as u32;
        self.out[at..at + 4].copy_from_slice(&length.to_le_bytes());
        self.end_token();
    }

    /// ERROR above class 10, else INFO (2.2.7.10, 2.2.7.13).
    pub fn message(&mut self, message: &Message<'_>) {
        let token = if message.class > 10 { byte::ERROR } else { byte::INFO };
        let wide = self.version.is_of_2005();
        self.sized_token(token, |out| {
            out.extend_from_slice(&message.number.to_le_bytes());
            out.extend_from_slice(&[message.state, message.class]);
            put_us_varchar(out, message.text, MESSAGE_UNITS_MAX);
            put_b_varchar(out, message.server);
            put_b_varchar(out, message.procedure);
            let line = message.line.to_le_bytes();
            out.extend_from_slice(if wide { &line } else { &line[..2] });
        });
    }

    /// ENVCHANGE.
    pub fn env_change(&mut self, change: &EnvChange<'_>) {
        fn texts(out: &mut Vec<u8>, kind: u8, new: &str, old: &str) {
            out.push(kind);
            put_b_varchar(out, new);
            put_b_varchar(out, old);
        }
        fn bytes(out: &mut Vec<u8>, kind: u8, new: &[u8], old: &[u8]) {
            out.push(kind);
            for value in [new, old] {
                out.push(value.len() as u8);
                out.extend_from_slice(value);
            }
        }
        use EnvChange::{
            BeginTransaction, CommitTransaction, ResetConnection, RollbackTransaction,
        };
        let of_2005 = matches!(
            change,
            BeginTransaction(_) | CommitTransaction(_) | RollbackTransaction(_) | ResetConnection
        );
        if of_2005 && !self.version.is_of_2005() {
            return;
        }
        self.sized_token(byte::ENV_CHANGE, |out| match *change {
            EnvChange::Database { new, old } => texts(out, 1, new, old),
            EnvChange::Language { new, old } => texts(out, 2, new, old),
            EnvChange::CharacterSet { new, old } => texts(out, 3, new, old),
            EnvChange::PacketSize { new, old } => texts(out, 4, &new.to_string(), &old.to_string()),
            EnvChange::Collation { new, old } => {
                let old = old.as_ref().map_or(&[][..], |Collation(old)| old);
                bytes(out, 7, &new.0, old)
            }
            EnvChange::BeginTransaction(id) => bytes(out, 8, &id.to_le_bytes(), &[]),
            EnvChange::CommitTransaction(id) => bytes(out, 9, &[], &id.to_le_bytes()),
            EnvChange::RollbackTransaction(id) => bytes(out, 10, &[], &id.to_le_bytes()),
            EnvChange::ResetConnection => bytes(out, 18, &[], &[]),
        });
    }

    /// TABNAME and COLINFO (2.2.7.20, 2.2.7.3): in browse mode, behind COLMETADATA. Names are in their parts; columns
    /// are those of COLMETADATA. What does not fit into a token is left out, and with it all of it.
    pub fn browse_info(&mut self, tables: &[&[String]], columns: &[ColumnInfo<'_>]) {
        const EXPRESSION: u8 = 0x04;
        const KEY: u8 = 0x08;
        const HIDDEN: u8 = 0x10;
        const DIFFERENT_NAME: u8 = 0x20;
        let mut names = Vec::new();
        for parts in tables {
            names.push(parts.len() as u8);
            parts.iter().for_each(|part| put_us_varchar(&mut names, part, 128));
        }
        let mut infos = Vec::new();
        for (i, column) in columns.iter().enumerate() {
            let expression = if column.table == 0 { EXPRESSION } else { 0 };
            let key = if column.key { KEY } else { 0 };
            let hidden = if column.hidden { HIDDEN } else { 0 };
            let other = if column.base_name.is_some() { DIFFERENT_NAME } else { 0 };
            infos.extend_from_slice(&[
                (i + 1) as u8,
                column.table,
                expression | key | hidden | other,
            ]);
            if let Some(name) = column.base_name {
                put_b_varchar(&mut infos, name);
            }
        }
        if names.len().max(infos.len()) > usize::from(u16::MAX) {
            return;
        }
        self.sized_token(byte::TAB_NAME, |out| out.extend_from_slice(&names));
        self.sized_token(byte::COL_INFO, |out| out.extend_from_slice(&infos));
    }

    /// ORDER (2.2.7.18): the columns, from 1, that the rows are ordered by; the first 4,096 of them.
    pub fn order(&mut self, columns: &[u16]) {
        self.sized_token(byte::ORDER, |out| {
            columns.iter().take(4096).for_each(|c| out.extend_from_slice(&c.to_le_bytes()));
        });
    }

    /// RETURNSTATUS (2.2.7.18): what the procedure returned.
    pub fn return_status(&mut self, status: i32) {
        self.begin_token();
        self.out.push(byte::RETURN_STATUS);
        self.out.extend_from_slice(&status.to_le_bytes());
        self.end_token();
    }

    /// DONE, DONEPROC or DONEINPROC. Held back until something follows or the message is finished: its MORE bit
    /// is set then.
    pub fn done(&mut self, done: Done) {
        self.begin_token();
        self.pending = Some(done);
    }

    // ---- inside ----

    fn put_done(&mut self, done: Done) {
        self.begin();
        self.out.push(match done.kind {
            DoneKind::Done => byte::DONE,
            DoneKind::Proc => byte::DONE_PROC,
            DoneKind::InProc => byte::DONE_IN_PROC,
        });
        self.out.extend_from_slice(&done.status.0.to_le_bytes());
        self.out.extend_from_slice(&done.command.to_le_bytes());
        let rows = done.rows.to_le_bytes();
        self.out.extend_from_slice(if self.version.is_of_2005() { &rows } else { &rows[..4] });
    }

    fn sized_token(&mut self, token: u8, write: impl FnOnce(&mut Vec<u8>)) {
        self.begin_token();
        self.out.push(token);
        let at = self.out.len();
        self.out.extend_from_slice(&[0, 0]);
        write(&mut self.out);
        let length = u16::try_from(self.out.len() - at - 2).expect("tokens are cut to fit");
        self.out[at..at + 2].copy_from_slice(&length.to_le_bytes());
        self.end_token();
    }

    /// A token begins: a DONE that waited knows now that it is not the last.
    #[inline]
    fn begin_token(&mut self) {
        if let Some(mut done) = self.pending.take() {
            done.status = done.status | DoneStatus::MORE;
            self.put_done(done);
            self.end_token();
        }
        self.begin();
    }
}

#[cfg(test)]
impl TokenWriter {
    /// As in a release build: it sends what it can.
    #[cfg_attr(not(debug_assertions), allow(unused_mut, reason = "there is no guard to take off"))]
    pub(crate) fn unguarded(mut self) -> TokenWriter {
        #[cfg(debug_assertions)]
        {
            self.guards = false;
        }
        self
    }

    /// All bytes held.
    pub(crate) fn out(&self) -> &[u8] {
        &self.out
    }
}
