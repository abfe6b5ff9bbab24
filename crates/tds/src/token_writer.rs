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

use crate::charset::Collation;
use crate::encode::{self, EncodeError, null_bytes};
use crate::packet::{HEADER_BYTES, Header, PACKET_BYTES_DEFAULT, PacketType, Status};
use crate::prelogin::PreloginReply;
use crate::reader::{put_b_varchar, put_us_varchar};
use crate::token::{
    Column, ColumnInfo, Done, DoneKind, DoneStatus, EnvChange, Message, ReturnValue, byte,
};
use crate::type_info;
use crate::version::Version;
use types::collation::CodePage;
use types::convert::cast;
use types::{Len, SqlType, Value};

/// Longest text of a message, in UTF-16 units: the token's length is two bytes.
const MESSAGE_UNITS_MAX: usize = 16_000;
/// The style that keeps every digit of a date or time as text.
const ODBC_STYLE: i32 = 121;

/// The UserType of a rowversion.
const USER_TYPE_TIMESTAMP: u32 = 80;

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

    // ---- what is ready ----

    /// Whole packets that can go to the socket.
    pub fn ready(&self) -> &[u8] {
        &self.out[self.sent..self.open.unwrap_or(self.out.len())]
    }

    /// All bytes held, ready or not: the measure for back-pressure.
    pub fn buffered(&self) -> usize {
        self.out.len() - self.sent
    }

    /// Says that the first `count` bytes of [`TokenWriter::ready`] are gone.
    pub fn consume(&mut self, count: usize) {
        assert!(count <= self.ready().len(), "more than was ready");
        self.sent += count;
        let end = self.open.unwrap_or(self.out.len());
        if self.sent == end {
            self.out.copy_within(end.., 0);
            self.out.truncate(self.out.len() - end);
            self.sent = 0;
            self.open = self.open.map(|_| 0);
        }
    }

    /// Takes all whole packets away.
    pub fn take_full_packets(&mut self) -> Vec<u8> {
        let ready = self.ready().to_vec();
        self.consume(ready.len());
        ready
    }

    /// Whether a message has been begun and not finished.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Gives back the buffer of an idle connection; it must be empty.
    pub fn shrink(&mut self) {
        if self.out.is_empty() {
            self.out = Vec::new();
        }
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

    /// COLMETADATA (2.2.7.4): a result set begins.
    pub fn columns<'a>(&mut self, columns: impl IntoIterator<Item = Column<'a>>) {
        self.begin_token();
        let at = self.out.len();
        self.out.extend_from_slice(&[byte::COL_METADATA, 0xFF, 0xFF]);
        self.columns.clear();
        self.has_substitutes = false;
        let wide = self.version.is_of_2005();
        for column in columns {
            let page = column.collation.page();
            let sent = match self.sent_type(column.ty) {
                text if page == CodePage::Utf8 && !self.utf8 => in_utf16(text),
                sent => sent,
            };
            // Clients from before (max) know such values as text, ntext and image alone.
            let old: Option<&[String]> = if wide { None } else { Some(&[]) };
            let long = column.long.or(old).filter(|_| type_info::long(sent).is_some());
            self.has_substitutes |= sent != column.ty || page != CodePage::Cp1252 || long.is_some();
            let fixed = if column.nullable { None } else { type_info::fixed(sent) };
            let fixed_form = fixed.is_some();
            self.columns.push(Sent {
                declared: column.ty,
                ty: sent,
                fixed: fixed_form,
                long: long.is_some(),
                #[cfg(debug_assertions)]
                nullable: column.nullable,
                page,
            });
            let user_type = if column.rowversion { USER_TYPE_TIMESTAMP } else { 0 };
            let user_type = user_type.to_le_bytes();
            self.out.extend_from_slice(if wide { &user_type } else { &user_type[..2] });
            self.out.extend_from_slice(&column.flags().to_le_bytes());
            match (fixed, long) {
                (Some(token), _) => self.out.push(token),
                (None, Some(table)) => {
                    type_info::put_long(&mut self.out, sent, column.collation, table, wide);
                }
                (None, None) => type_info::put_with(&mut self.out, sent, column.collation),
            }
            put_b_varchar(&mut self.out, column.name);
        }
        assert!(self.columns.len() < 0xFFFF, "too many columns");
        let count = self.columns.len() as u16;
        self.out[at + 1..at + 3].copy_from_slice(&count.to_le_bytes());
        self.end_token();
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

    /// ROW or, when it is shorter, NBCROW (2.2.7.19, 2.2.7.15). Panics when the row has not as many values as there
    /// are columns.
    #[inline]
    pub fn row(&mut self, row: &[Value]) -> Result<(), EncodeError> {
        assert_eq!(row.len(), self.columns.len(), "values and columns");
        self.begin_token();
        let at = self.out.len();
        let result = self.put_row(row);
        match result {
            Ok(()) => self.end_token(),
            Err(_) => self.out.truncate(at),
        }
        result
    }

    /// In debug builds: no value leaves that its column does not hold.
    #[cfg(debug_assertions)]
    fn guard(&self, row: &[Value]) -> Result<(), EncodeError> {
        for (value, column) in row.iter().zip(&self.columns).filter(|_| self.guards) {
            let fault = crate::guard::fault(column.declared, column.page, column.nullable, value);
            if fault.is_some() {
                let (ty, value) = (column.declared, value.natural_type());
                return Err(EncodeError { ty, value, fault });
            }
        }
        Ok(())
    }

    fn put_row(&mut self, row: &[Value]) -> Result<(), EncodeError> {
        #[cfg(debug_assertions)]
        self.guard(row)?;
        let bitmap_bytes = row.len().div_ceil(8);
        let nulls: usize = row
            .iter()
            .zip(&self.columns)
            .map(|(value, column)| match (value.is_null(), column.fixed) {
                (false, _) => 0,
                // The length of no text pointer.
                (true, false) if column.long => 1,
                (true, false) => null_bytes(column.ty),
                // There is no NULL in this form: only the bitmap can say it.
                (true, true) => bitmap_bytes + 1,
            })
            .sum();
        let compact = nulls > bitmap_bytes && self.version.has_null_bitmap_rows();
        if compact {
            self.out.push(byte::NBC_ROW);
            let bitmap = self.out.len();
            self.out.resize(bitmap + bitmap_bytes, 0);
            for (i, value) in row.iter().enumerate() {
                if value.is_null() {
                    self.out[bitmap + i / 8] |= 1 << (i % 8);
                }
            }
        } else {
            self.out.push(byte::ROW);
        }
        for (value, &Sent { declared, ty: sent, fixed, long, page, .. }) in
            row.iter().zip(&self.columns)
        {
            if compact && value.is_null() {
                continue;
            }
            if fixed {
                encode::fixed(&mut self.out, sent, value)?;
            } else if self.has_substitutes && long {
                encode::long(&mut self.out, sent, page, value)?;
            } else if self.has_substitutes && declared != sent {
                encode::value(&mut self.out, sent, &as_text(value, declared, sent)?)?;
            } else if self.has_substitutes && page != CodePage::Cp1252 {
                encode::paged(&mut self.out, sent, page, value)?;
            } else {
                encode::value(&mut self.out, sent, value)?;
            }
        }
        Ok(())
    }

    /// RETURNSTATUS (2.2.7.18): what the procedure returned.
    pub fn return_status(&mut self, status: i32) {
        self.begin_token();
        self.out.push(byte::RETURN_STATUS);
        self.out.extend_from_slice(&status.to_le_bytes());
        self.end_token();
    }

    /// RETURNVALUE (2.2.7.19).
    pub fn return_value(&mut self, value: &ReturnValue<'_>) -> Result<(), EncodeError> {
        self.begin_token();
        let at = self.out.len();
        let sent = self.sent_output(value.ty);
        self.out.push(byte::RETURN_VALUE);
        self.out.extend_from_slice(&value.ordinal.to_le_bytes());
        put_b_varchar(&mut self.out, value.name);
        self.out.push(if value.function_result { 2 } else { 1 });
        let type_and_flags = if self.version.is_of_2005() { 6 } else { 4 };
        self.out.extend_from_slice(&[0; 6][..type_and_flags]);
        type_info::put(&mut self.out, sent);
        let result = if sent == value.ty {
            encode::value(&mut self.out, sent, value.value)
        } else {
            as_text(value.value, value.ty, sent)
                .and_then(|text| encode::value(&mut self.out, sent, &text))
        };
        match result {
            Ok(()) => self.end_token(),
            Err(_) => self.out.truncate(at),
        }
        result
    }

    /// DONE, DONEPROC or DONEINPROC. Held back until something follows or the message is finished: its MORE bit
    /// is set then.
    pub fn done(&mut self, done: Done) {
        self.begin_token();
        self.pending = Some(done);
    }

    // ---- inside ----

    /// The type a column is sent as: the date types that TDS 7.2 lacks go as text, and xml and types of the CLR, which
    /// 7.1 lacks, as their text and their bytes.
    fn sent_type(&self, ty: SqlType) -> SqlType {
        if self.version.has_date_types() {
            return ty;
        }
        match ty {
            SqlType::Date => SqlType::NVarChar(Len::N(10)),
            SqlType::Time(_) => SqlType::NVarChar(Len::N(16)),
            SqlType::DateTime2(_) => SqlType::NVarChar(Len::N(27)),
            SqlType::DateTimeOffset(_) => SqlType::NVarChar(Len::N(34)),
            SqlType::Xml | SqlType::TypedXml { .. } if !self.version.is_of_2005() => {
                SqlType::NVarChar(Len::Max)
            }
            SqlType::Clr(_) if !self.version.is_of_2005() => SqlType::VarBinary(Len::Max),
            _ => ty,
        }
    }

    /// The type an output parameter is sent as: before (max) there was none for what is longer than a row.
    fn sent_output(&self, ty: SqlType) -> SqlType {
        match self.sent_type(ty) {
            sent if self.version.is_of_2005() => sent,
            SqlType::VarChar(Len::Max) => SqlType::VarChar(Len::N(8000)),
            SqlType::NVarChar(Len::Max) => SqlType::NVarChar(Len::N(4000)),
            SqlType::VarBinary(Len::Max) => SqlType::VarBinary(Len::N(8000)),
            sent => sent,
        }
    }

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

    #[inline]
    fn begin(&mut self) {
        if self.open.is_none() {
            self.packet_bytes = self.next_packet_bytes;
            self.packet_id = 0;
            self.open_packet();
        }
    }

    #[inline]
    fn end_token(&mut self) {
        if let Some(open) = self.open
            && self.out.len() - open > self.packet_bytes
        {
            self.cut(open);
        }
    }

    fn open_packet(&mut self) {
        self.open = Some(self.out.len());
        self.out.extend_from_slice(&[0; HEADER_BYTES]);
    }

    /// Makes full packets of an open one that has grown past its size.
    fn cut(&mut self, open: usize) {
        let room = self.packet_bytes - HEADER_BYTES;
        let body = self.out.len() - open - HEADER_BYTES;
        let packets = body.div_ceil(room);
        self.out.resize(open + body + packets * HEADER_BYTES, 0);
        for i in (1..packets).rev() {
            let from = open + HEADER_BYTES + i * room;
            let length = room.min(body - i * room);
            self.out.copy_within(from..from + length, open + i * self.packet_bytes + HEADER_BYTES);
        }
        for i in 0..packets - 1 {
            self.put_header(open + i * self.packet_bytes, self.packet_bytes, 0);
        }
        self.open = Some(open + (packets - 1) * self.packet_bytes);
    }

    fn close_packet(&mut self, status: u8) {
        if let Some(open) = self.open {
            let length = self.out.len() - open;
            debug_assert!(length <= self.packet_bytes);
            self.put_header(open, length, status);
        }
    }

    fn put_header(&mut self, at: usize, length: usize, status: u8) {
        self.packet_id = self.packet_id.wrapping_add(1);
        let header = Header {
            kind: PacketType::Reply as u8,
            status: Status(status),
            length: length as u16,
            spid: self.spid,
            packet_id: self.packet_id,
        };
        self.out[at..at + HEADER_BYTES].copy_from_slice(&header.encode());
    }
}

/// A type of texts in UTF-8 as one of UTF-16: with room for as many characters as it has bytes.
fn in_utf16(ty: SqlType) -> SqlType {
    match ty {
        SqlType::Char(n) => in_utf16(SqlType::VarChar(Len::N(n))),
        SqlType::VarChar(Len::N(n)) if n <= 4000 => SqlType::NVarChar(Len::N(n)),
        SqlType::VarChar(_) => SqlType::NVarChar(Len::Max),
        ty => ty,
    }
}

/// A value as the text that a client gets which does not know its type.
fn as_text(value: &Value, declared: SqlType, sent: SqlType) -> Result<Value, EncodeError> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    cast(value, declared, sent, ODBC_STYLE).map_err(|_| EncodeError {
        ty: sent,
        value: declared,
        fault: None,
    })
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
