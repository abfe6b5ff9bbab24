//! A record: the columns of sys.fn_get_audit_file, but for those that say where it was found.
//!
//! ```text
//!  0 u8 version 1   1 u8 flags: 1 succeeded, 2 of a column   2 u16 session   4 u32 sequence number
//!  8 u64 time, ns since 1970   16 4 bytes action   20 2 bytes class   22 u16 zero
//! 24 i32 server principal   28 i32 database principal   32 i32 target at the server   36 i32 target in the database
//! 40 i32 object   44 i64 transaction   52 16 bytes that records of one event share
//! 68.. two binaries, then the texts: u32 length (all ones: NULL), bytes
//! ```
//! Promise: what was encoded is decoded as it was; bytes that are no record are refused, whatever they are.

/// UTF-16 units of a statement in one record; a longer one goes on in further records.
pub const STATEMENT_UNITS_MAX: usize = 4000;

const VERSION: u8 = 1;
const FIXED_BYTES: usize = 68;
const NULL: u32 = u32::MAX;

macro_rules! record {
    ($($(#[$doc:meta])* $text:ident,)*) => {
        /// See the file's first lines.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Record {
            pub event_unix_ns: u64,
            /// From 1 on.
            pub sequence_number: u32,
            /// As in sys.dm_audit_actions, with blanks at its end.
            pub action: [u8; 4],
            /// As in sys.dm_audit_class_type_map.
            pub class: [u8; 2],
            pub succeeded: bool,
            pub is_column_permission: bool,
            pub session_id: u16,
            pub server_principal_id: i32,
            pub database_principal_id: i32,
            pub target_server_principal_id: i32,
            pub target_database_principal_id: i32,
            pub object_id: i32,
            pub transaction_id: i64,
            pub sequence_group: [u8; 16],
            pub server_principal_sid: Option<Box<[u8]>>,
            pub target_server_principal_sid: Option<Box<[u8]>>,
            $($(#[$doc])* pub $text: Option<Box<str>>,)*
        }

        impl Record {
            /// Of an action on a class, now; nothing else is known yet.
            pub fn new(action: &[u8; 4], class: &[u8; 2]) -> Record {
                Record {
                    event_unix_ns: runtime::clock::unix_ns(),
                    sequence_number: 1,
                    action: *action,
                    class: *class,
                    succeeded: true,
                    is_column_permission: false,
                    session_id: 0,
                    server_principal_id: 0,
                    database_principal_id: 0,
                    target_server_principal_id: 0,
                    target_database_principal_id: 0,
                    object_id: 0,
                    transaction_id: 0,
                    sequence_group: [0; 16],
                    server_principal_sid: None,
                    target_server_principal_sid: None,
                    $($text: None,)*
                }
            }

            fn encode_texts(&self, out: &mut Vec<u8>) {
                $(put(self.$text.as_deref().map(str::as_bytes), out);)*
            }

            fn decode_texts(&mut self, rest: &mut &[u8]) -> Option<()> {
                $(self.$text = text(rest)?;)*
                Some(())
            }

            fn shown_text(&self, name: &str) -> Option<Shown<'_>> {
                $(if name == stringify!($text) {
                    return Some(self.$text.as_deref().map_or(Shown::Null, Shown::Text));
                })*
                None
            }
        }
    };
}

record! {
    session_server_principal_name,
    server_principal_name,
    database_principal_name,
    target_server_principal_name,
    target_database_principal_name,
    server_instance_name,
    database_name,
    schema_name,
    object_name,
    statement,
    additional_information,
    client_ip,
    application_name,
    host_name,
}

/// A column's value, for whoever asks by its name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shown<'a> {
    Null,
    Number(i64),
    Text(&'a str),
}

impl Record {
    /// A column by its name in sys.fn_get_audit_file. None: there is no such column, or none that a predicate may name.
    pub fn shown(&self, column: &str) -> Option<Shown<'_>> {
        let number = |n: i64| Some(Shown::Number(n));
        match column {
            "sequence_number" => number(self.sequence_number.into()),
            "succeeded" => number(self.succeeded.into()),
            "is_column_permission" => number(self.is_column_permission.into()),
            "session_id" => number(self.session_id.into()),
            "server_principal_id" => number(self.server_principal_id.into()),
            "database_principal_id" => number(self.database_principal_id.into()),
            "target_server_principal_id" => number(self.target_server_principal_id.into()),
            "target_database_principal_id" => number(self.target_database_principal_id.into()),
            "object_id" => number(self.object_id.into()),
            "transaction_id" => number(self.transaction_id),
            // As numbers, of which the first letter is the lowest byte.
            "action_id" => number(u32::from_le_bytes(self.action).into()),
            "class_type" => number(u16::from_le_bytes(self.class).into()),
            "user_defined_event_id" => number(0),
            "user_defined_information" => Some(Shown::Null),
            other => self.shown_text(other),
        }
    }

    /// The action without its blanks.
    pub fn action_text(&self) -> String {
        String::from_utf8_lossy(&self.action).trim_end().to_owned()
    }

    /// The class without its blanks.
    pub fn class_text(&self) -> String {
        String::from_utf8_lossy(&self.class).trim_end().to_owned()
    }

    /// The records that it is written as: several where its statement is long.
    pub fn parts(mut self) -> Vec<Record> {
        let long = |text: &str| {
            text.len() > STATEMENT_UNITS_MAX && text.encode_utf16().count() > STATEMENT_UNITS_MAX
        };
        let Some(text) = self.statement.take_if(|text| long(text)) else { return vec![self] };
        if self.sequence_group == [0; 16] {
            runtime::random::fill(&mut self.sequence_group);
        }
        let mut parts = Vec::new();
        let (mut from, mut units) = (0, 0);
        let mut part = |piece: &str| {
            let sequence_number = parts.len() as u32 + 1;
            parts.push(Record { sequence_number, statement: Some(piece.into()), ..self.clone() });
        };
        for (at, c) in text.char_indices() {
            if units + c.len_utf16() > STATEMENT_UNITS_MAX {
                part(&text[from..at]);
                (from, units) = (at, 0);
            }
            units += c.len_utf16();
        }
        part(&text[from..]);
        parts
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let flags = u8::from(self.succeeded) | u8::from(self.is_column_permission) << 1;
        out.extend([VERSION, flags]);
        out.extend(self.session_id.to_le_bytes());
        out.extend(self.sequence_number.to_le_bytes());
        out.extend(self.event_unix_ns.to_le_bytes());
        out.extend(self.action);
        out.extend(self.class);
        out.extend([0, 0]);
        for id in [
            self.server_principal_id,
            self.database_principal_id,
            self.target_server_principal_id,
            self.target_database_principal_id,
            self.object_id,
        ] {
            out.extend(id.to_le_bytes());
        }
        out.extend(self.transaction_id.to_le_bytes());
        out.extend(self.sequence_group);
        put(self.server_principal_sid.as_deref(), out);
        put(self.target_server_principal_sid.as_deref(), out);
        self.encode_texts(out);
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Record> {
        let (fixed, mut rest) = bytes.split_at_checked(FIXED_BYTES)?;
        if fixed[0] != VERSION || fixed[1] > 3 {
            return None;
        }
        let long = |at: usize| u64::from_le_bytes(fixed[at..at + 8].try_into().unwrap_or_default());
        let int = |at: usize| i32::from_le_bytes(fixed[at..at + 4].try_into().unwrap_or_default());
        let mut record = Record::new(&[0; 4], &[fixed[20], fixed[21]]);
        record.action.copy_from_slice(&fixed[16..20]);
        record.sequence_group.copy_from_slice(&fixed[52..68]);
        record.succeeded = fixed[1] & 1 != 0;
        record.is_column_permission = fixed[1] & 2 != 0;
        record.session_id = u16::from_le_bytes([fixed[2], fixed[3]]);
        record.sequence_number = int(4) as u32;
        record.event_unix_ns = long(8);
        record.server_principal_id = int(24);
        record.database_principal_id = int(28);
        record.target_server_principal_id = int(32);
        record.target_database_principal_id = int(36);
        record.object_id = int(40);
        record.transaction_id = long(44) as i64;
        record.server_principal_sid = binary(&mut rest)?;
        record.target_server_principal_sid = binary(&mut rest)?;
        record.decode_texts(&mut rest)?;
        rest.is_empty().then_some(record)
    }
}

fn put(bytes: Option<&[u8]>, out: &mut Vec<u8>) {
    let length = bytes.map_or(NULL, |bytes| bytes.len() as u32);
    out.extend(length.to_le_bytes());
    out.extend(bytes.unwrap_or_default());
}

/// The outer None: the bytes end too early.
fn take<'a>(rest: &mut &'a [u8]) -> Option<Option<&'a [u8]>> {
    let (length, behind) = rest.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length);
    if length == NULL {
        *rest = behind;
        return Some(None);
    }
    let (bytes, behind) = behind.split_at_checked(length as usize)?;
    *rest = behind;
    Some(Some(bytes))
}

fn binary(rest: &mut &[u8]) -> Option<Option<Box<[u8]>>> {
    Some(take(rest)?.map(Into::into))
}

fn text(rest: &mut &[u8]) -> Option<Option<Box<str>>> {
    match take(rest)? {
        None => Some(None),
        Some(bytes) => Some(Some(std::str::from_utf8(bytes).ok()?.into())),
    }
}
