//! The tokens of an answer, as plain data (MS-TDS 2.2.7).

use crate::charset::Collation;
use types::{SqlType, Value};

/// Token bytes.
pub mod byte {
    pub const RETURN_STATUS: u8 = 0x79;
    pub const COL_METADATA: u8 = 0x81;
    pub const ORDER: u8 = 0xA9;
    pub const ERROR: u8 = 0xAA;
    pub const INFO: u8 = 0xAB;
    pub const RETURN_VALUE: u8 = 0xAC;
    pub const LOGIN_ACK: u8 = 0xAD;
    pub const FEATURE_EXT_ACK: u8 = 0xAE;
    pub const ROW: u8 = 0xD1;
    pub const NBC_ROW: u8 = 0xD2;
    pub const ENV_CHANGE: u8 = 0xE3;
    pub const SSPI: u8 = 0xED;
    pub const DONE: u8 = 0xFD;
    pub const DONE_PROC: u8 = 0xFE;
    pub const DONE_IN_PROC: u8 = 0xFF;
    pub const TAB_NAME: u8 = 0xA4;
    pub const COL_INFO: u8 = 0xA5;
    pub const SESSION_STATE: u8 = 0xE4;
    pub const FED_AUTH_INFO: u8 = 0xEE;
}

/// Whether a column can be written through the result set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Updatable {
    ReadOnly = 0,
    ReadWrite = 1,
    /// What SQL Server says of a base table's columns outside browse mode.
    #[default]
    Unknown = 2,
}

/// One column, for COLMETADATA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column<'a> {
    /// Cut to 255 UTF-16 units; SQL Server's names have 128.
    pub name: &'a str,
    pub ty: SqlType,
    pub nullable: bool,
    pub updatable: Updatable,
    pub identity: bool,
    pub computed: bool,
    /// In browse mode: part of the key, and not asked for by the query.
    pub key: bool,
    pub hidden: bool,
    /// A rowversion, which has a user type of its own.
    pub rowversion: bool,
    /// A (max) type goes as the old long one: text, ntext or image. With the name of its table in its parts; none for an
    /// expression.
    pub long: Option<&'a [String]>,
    /// Of a text.
    pub collation: types::Collation,
}

/// What COLINFO tells of a column (browse mode).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnInfo<'a> {
    /// The table's place in TABNAME, from 1; 0: an expression.
    pub table: u8,
    pub key: bool,
    pub hidden: bool,
    /// The name in the table, when the result has another.
    pub base_name: Option<&'a str>,
}

impl<'a> Column<'a> {
    /// A nullable column of which nothing else is known.
    pub fn new(name: &'a str, ty: SqlType) -> Column<'a> {
        Column {
            name,
            ty,
            nullable: true,
            updatable: Updatable::Unknown,
            identity: false,
            computed: false,
            key: false,
            hidden: false,
            rowversion: false,
            long: None,
            collation: types::Collation::default(),
        }
    }

    /// The Flags of 2.2.7.4.
    pub(crate) fn flags(&self) -> u16 {
        u16::from(self.nullable)
            | (self.updatable as u16) << 2
            | u16::from(self.identity) << 4
            | u16::from(self.computed) << 5
            | u16::from(self.hidden) << 13
            | u16::from(self.key) << 14
    }
}

/// ERROR or INFO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    pub number: i32,
    pub state: u8,
    /// Severity; up to 10 it goes out as INFO, above as ERROR.
    pub class: u8,
    pub text: &'a str,
    pub server: &'a str,
    /// Empty outside procedures.
    pub procedure: &'a str,
    /// From 1; 0 for none.
    pub line: u32,
}

/// ENVCHANGE (2.2.7.9): what has changed about the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnvChange<'a> {
    /// 1
    Database { new: &'a str, old: &'a str },
    /// 2
    Language { new: &'a str, old: &'a str },
    /// 3, TDS 7.0 only, and harmless later.
    CharacterSet { new: &'a str, old: &'a str },
    /// 4, from the next message on.
    PacketSize { new: u16, old: u16 },
    /// 7
    Collation { new: Collation, old: Option<Collation> },
    /// 8, with the descriptor that the client sends back in ALL_HEADERS.
    BeginTransaction(u64),
    /// 9, with the descriptor that is now over.
    CommitTransaction(u64),
    /// 10
    RollbackTransaction(u64),
    /// 18: the reset asked for in the packet header is done.
    ResetConnection,
}

/// Which of the three DONE tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoneKind {
    /// A statement of a batch.
    Done,
    /// A call.
    Proc,
    /// A statement inside a procedure.
    InProc,
}

/// Status bits of DONE (2.2.7.6). `MORE` is set by the writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DoneStatus(pub u16);

impl DoneStatus {
    /// No bits: the end of a batch, without a count.
    pub const FINAL: DoneStatus = DoneStatus(0);
    pub const MORE: DoneStatus = DoneStatus(0x0001);
    pub const ERROR: DoneStatus = DoneStatus(0x0002);
    pub const IN_TRANSACTION: DoneStatus = DoneStatus(0x0004);
    pub const COUNT: DoneStatus = DoneStatus(0x0010);
    pub const ATTENTION: DoneStatus = DoneStatus(0x0020);
    pub const RPC_IN_BATCH: DoneStatus = DoneStatus(0x0080);
    /// An error so severe that the results must be discarded.
    pub const SERVER_ERROR: DoneStatus = DoneStatus(0x0100);

    pub fn has(self, bits: DoneStatus) -> bool {
        self.0 & bits.0 == bits.0
    }
}

impl std::ops::BitOr for DoneStatus {
    type Output = DoneStatus;
    fn bitor(self, other: DoneStatus) -> DoneStatus {
        DoneStatus(self.0 | other.0)
    }
}

/// DONE, DONEPROC or DONEINPROC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    pub kind: DoneKind,
    pub status: DoneStatus,
    /// CurCmd: what kind of statement it was (0xC1 SELECT, 0xC3 INSERT ...).
    pub command: u16,
    /// Means something with [`DoneStatus::COUNT`].
    pub rows: u64,
}

/// RETURNVALUE: an output parameter, or the result of a function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReturnValue<'a> {
    /// Its place among the parameters, from 0.
    pub ordinal: u16,
    /// The parameter's name as the client sent it.
    pub name: &'a str,
    /// The result of a scalar function, and not an output parameter.
    pub function_result: bool,
    pub ty: SqlType,
    pub value: &'a Value,
}
