//! Scalar functions by identity. What each takes and returns the binder decides; after
//! binding, arguments have the types listed here and the result has the node's type. How a call may be moved, shared
//! and kept, and who
//! evaluates it, is one row for each ([`FuncId::class`]): the compiler asks for the row of a new one.
//!
//! COALESCE, NULLIF, IIF and CHOOSE do not appear: they are rewritten to CASE. CAST and CONVERT are
//! [`super::ExprKind::Cast`].

mod class;
mod figure;

pub use class::{Class, Evaluator, Parallel, Volatility};
pub use figure::ServerFigure;
pub use types::{DatePart, MaskFunction};

use types::DatePart as Part;

const PURE: Class = Class::PURE;
const OF_STATEMENT: Class = Class::OF_STATEMENT;
const OF_SESSION: Class = Class::OF_SESSION;
const OF_DATABASE: Class = Class::OF_DATABASE;
const OF_ROW: Class = Class::OF_ROW;

/// A user's function where it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Called {
    pub object_id: i32,
    /// The view or inline function whose text calls it, for its owner's sake; 0: the statement itself.
    pub within: i32,
}

/// A scalar function. "str" below is any (n)char, (n)varchar; where two strings take part both have
/// been brought to one of varchar or nvarchar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FuncId {
    /// A user's scalar function; arguments have the types of its parameters.
    User(Called),
    /// (nvarchar condition, int language, int [`fulltext_flags`], then a column and the one that tells its documents' type, NULL
    /// where there is none, for each that is searched) -> bit: CONTAINS, FREETEXT
    FulltextMatch,
    /// (the same) -> int: the rank, NULL where there is no match
    FulltextRank,
    /// (any, the function's arguments) -> the first's type: what is shown to who lacks UNMASK. Only
    /// [`crate::masking`] makes it.
    Mask(MaskFunction),
    /// () -> the next number of a sequence, by its object id
    NextValue(i32),
    /// () -> the number that the row has taken of the sequence already
    ThisValue(i32),
    /// (the function's type) -> int: the partition that a value belongs to under a partition function, by its object id
    PartitionNumber(i32),
    /// (int ordinal) -> int: 1 when the statement that fired the trigger names the column
    UpdatedColumn,
    /// () -> varbinary(128): the same of all columns, a bit each
    ColumnsUpdated,
    /// ([int object id]) -> int
    TriggerNestLevel,
    EventData,
    /// (nvarchar kind, nvarchar name, int number of the variable) -> smallint
    CursorStatus,
    /// (nvarchar name, int global, int number of the variable, int table, int part) -> a part of the key of the row that
    /// the cursor stands on, or its locator for part -1
    CurrentOf,
    // Clock.
    /// () -> datetime
    GetDate,
    /// () -> datetime
    GetUtcDate,
    /// () -> datetime2(7)
    SysDateTime,
    /// () -> datetime2(7)
    SysUtcDateTime,
    /// () -> datetimeoffset(7)
    SysDateTimeOffset,
    // Date and time.
    /// (int, date-like) -> same date-like type
    DateAdd(DatePart),
    /// (date-like, date-like of the same type) -> int; error 535 when it does not fit
    DateDiff(DatePart),
    /// the same -> bigint
    DateDiffBig(DatePart),
    /// (date-like) -> int. YEAR, MONTH and DAY come as this.
    DatePart(DatePart),
    /// (date-like) -> nvarchar(30)
    DateName(DatePart),
    /// (date-like) -> date; optional second argument int months
    EoMonth,
    /// The same moment at another offset.
    SwitchOffset,
    /// A local time with an offset.
    ToDateTimeOffset,
    /// (int, int, int) -> date
    DateFromParts,
    /// (str) -> int: 1 when it converts to datetime
    IsDate,
    /// (int ...) -> the node's type: TIMEFROMPARTS, DATETIMEFROMPARTS, DATETIME2FROMPARTS ...
    DateTimeFromParts,
    /// (date-like) -> the same type
    DateTrunc(DatePart),
    /// (bigint width, date-like [, origin of that type]) -> that type
    DateBucket(DatePart),
    /// (date-like, str zone) -> datetimeoffset
    AtTimeZone,
    /// () -> varchar
    CurrentTimezone,
    CurrentTimezoneId,
    // Bits: (integer or varbinary, bigint) -> the first's type.
    LeftShift,
    RightShift,
    /// (integer or varbinary) -> bigint
    BitCount,
    /// (integer or varbinary, bigint) -> bit
    GetBit,
    /// (integer or varbinary, bigint [, bigint]) -> the first's type
    SetBit,
    // JSON.
    /// (str [, str what]) -> int
    IsJson,
    /// (str, str path) -> nvarchar(4000)
    JsonValue,
    /// (str [, str path]) -> nvarchar(max)
    JsonQuery,
    /// (str, str path, any) -> nvarchar(max)
    JsonModify,
    /// (str, str path) -> int
    JsonPathExists,
    /// (int 1 where NULLs are left out, str name, any value, ...) -> nvarchar(max)
    JsonObject,
    /// (int 1 where NULLs are left out, any ...) -> nvarchar(max)
    JsonArray,
    /// (str) -> str: the text is JSON and needs no quotes in other JSON
    AsJson,
    /// (str, str kind) -> nvarchar(max)
    StringEscape,
    /// (str, str name of the collation) -> the same text, compared by this rule
    Collate(types::collation::Rule),
    /// (nvarchar name, any value, nvarchar name, any value ...) -> xml: an element for each value but NULL
    ColumnSet,
    /// (xml set, nvarchar column, nvarchar name of the set, nvarchar its columns, nvarchar the table's others; names with a
    /// NUL between two) -> the node's type: what the set says of the column, NULL where it says nothing. Errors
    /// 207, 9523, 9524, 9525, 9528, 9532, 9533
    PartOfSet,
    // Other.
    /// (any, int style) -> the node's type: CONVERT and TRY_CONVERT whose style is no constant
    Convert {
        try_: bool,
    },
    /// (any but a text, int style) -> the node's varchar, in the code page of this rule
    IntoPage(types::collation::Rule),
    /// (a ...) -> a; NULLs are skipped
    Greatest,
    Least,
    /// (str, str) -> int
    Difference,
    /// (str [, str culture]) -> the node's type
    Parse,
    TryParse,
    /// (str or varbinary) -> varbinary(max)
    Compress,
    /// (varbinary) -> varbinary(max)
    Decompress,
    /// (str or int, any ...) -> nvarchar(4000)
    FormatMessage,
    /// () -> smallint
    CurrentRequestId,
    /// () -> nvarchar(128)
    OriginalDbName,
    // Chance.
    /// (int bytes) -> varbinary(8000)
    CryptGenRandom,
    /// () -> uniqueidentifier
    NewId,
    /// () -> uniqueidentifier, growing
    NewSequentialId,
    /// () or (int seed) -> float; once per statement, as in SQL Server
    Rand,
    // Numbers. "num" = the node's own type unless said otherwise.
    /// (any ...) -> int
    Checksum,
    /// (any ...) -> int
    BinaryChecksum,
    /// (str algorithm, str or varbinary) -> varbinary(8000)
    HashBytes,
    /// (varbinary [, int url_safe]) -> varchar
    Base64Encode,
    /// (varchar) -> varbinary
    Base64Decode,
    /// (varbinary) or (int prefix, varbinary, int first, int count) -> nvarchar(max): sys.fn_varbintohexstr and
    /// sys.fn_varbintohexsubstring
    BinaryText,
    /// (nvarchar schema, nvarchar collection [, nvarchar namespace]) -> xml
    XmlSchemaNamespace,
    /// (what its row tells) -> what its row tells: a method of a type of the CLR
    Clr(types::clr::MethodId),
    /// (num) -> num
    Abs,
    /// (num) -> num: -1, 0, 1
    Sign,
    /// (num) -> num
    Floor,
    /// (num) -> num
    Ceiling,
    /// (num, int length [, int function]) -> num
    Round,
    /// (num, float) -> num
    Power,
    /// (float) -> float
    Square,
    /// (float) -> float
    Sqrt,
    /// (float) -> float
    Exp,
    /// (float [, float base]) -> float
    Log,
    /// (float) -> float
    Log10,
    /// () -> float
    Pi,
    /// (float) -> float
    Sin,
    Cos,
    Tan,
    Cot,
    Asin,
    Acos,
    Atan,
    /// (float, float) -> float
    Atn2,
    /// (num) -> num
    Degrees,
    Radians,
    /// (any) -> int
    IsNumeric,
    // Text.
    /// (str) -> int (bigint for max types); trailing blanks do not count
    Len,
    /// (any) -> int (bigint for max types): bytes
    DataLength,
    /// (str, bigint) -> str; negative length is error 536
    Left,
    Right,
    /// (str or varbinary, bigint start, bigint length); negative length is error 537
    Substring,
    /// (str) -> str
    Upper,
    Lower,
    LTrim,
    RTrim,
    /// (str) -> str; with a second argument the characters to trim
    Trim,
    Reverse,
    /// (str, str from, str to) -> str
    Replace,
    /// (str, bigint) -> str; NULL when negative
    Replicate,
    /// (bigint) -> varchar
    Space,
    /// (float, int length, int decimals) -> varchar
    Str,
    /// (str what, str in [, bigint start]) -> int
    CharIndex,
    /// (str pattern, str) -> int
    PatIndex,
    /// (str, bigint start, bigint length, str) -> str
    Stuff,
    /// (large text or binary, the same, bigint offset, bigint length, nvarchar name) -> the first's type: column.WRITE.
    /// Errors 5302, 7116, 7135
    WriteInto,
    /// (int table, int column, varbinary key ...) -> varbinary(16): a text pointer
    TextPointer,
    /// (varbinary pointer, varbinary of a row, nvarchar statement) -> varbinary(16): the pointer. Errors 7123, 7133
    CheckPointer,
    /// (varbinary pointer, large text or binary, bigint offset, bigint size) -> the second's type: READTEXT. Errors 7123,
    /// 7124, 7133
    ReadText,
    /// (int [, int the bits of a rule]) -> char(1), of the rule's code page; NULL for what is no whole character there
    Char,
    /// (int) -> nchar(1)
    NChar,
    /// (str) -> int
    Ascii,
    Unicode,
    /// (str ...) -> str; NULL as empty
    Concat,
    /// (str separator, str ...) -> str; NULLs skipped
    ConcatWs,
    /// (str [, str delimiter]) -> nvarchar(258)
    QuoteName,
    /// (number or date-like, str format [, str culture]) -> nvarchar(4000)
    Format,
    /// (str) -> int
    Soundex,
    /// (str, str from, str to)
    Translate,
    // Choice.
    /// (a, a) -> a: the second when the first is NULL
    IsNull,
    // The catalog and the session.
    /// (nvarchar name [, nvarchar type]) -> int
    ObjectId,
    /// (int id [, int database]) -> nvarchar(128)
    ObjectName,
    /// (int id [, int database]) -> nvarchar(128)
    ObjectSchemaName,
    /// (int id) -> nvarchar(max)
    ObjectDefinition,
    /// ([nvarchar name]) -> smallint
    DbId,
    /// ([int id]) -> nvarchar(128)
    DbName,
    /// ([int id]) -> nvarchar(128)
    SchemaName,
    /// ([nvarchar name]) -> int
    SchemaId,
    /// (nvarchar name) -> int
    TypeId,
    /// (int id) -> nvarchar(128)
    TypeName,
    /// (int object, int column) -> nvarchar(128)
    ColName,
    /// (nvarchar table, nvarchar column) -> smallint
    ColLength,
    /// (nvarchar table) -> numeric(38,0)
    IdentCurrent,
    /// The same: IDENT_SEED, IDENT_INCR
    IdentSeed,
    IdentIncr,
    /// (nvarchar table, int index, int place) -> nvarchar(128)
    IndexCol,
    StatsDate,
    /// (nvarchar name) -> smallint
    FileId,
    /// (nvarchar name) -> int
    FileIdex,
    /// (int id) -> nvarchar(128)
    FileName,
    /// (nvarchar name, nvarchar property) -> int
    FileProperty,
    /// The same of a filegroup.
    FilegroupProperty,
    /// The same of a full-text catalog.
    FulltextCatalogProperty,
    /// (nvarchar name) -> int
    FilegroupId,
    /// (int id) -> nvarchar(128)
    FilegroupName,
    /// ([varbinary sid]) -> nvarchar(128): SUSER_SNAME, SYSTEM_USER
    SUserSName,
    /// ([int id]) -> nvarchar(128): SUSER_NAME
    SUserName,
    /// ([nvarchar login]) -> int
    SUserId,
    /// ([nvarchar login]) -> varbinary(85)
    SUserSid,
    /// () -> nvarchar(128)
    OriginalLogin,
    /// ([int id]) -> nvarchar(128): USER_NAME, CURRENT_USER, SESSION_USER, USER
    UserName,
    /// ([nvarchar principal]) -> int: USER_ID, DATABASE_PRINCIPAL_ID
    UserId,
    /// (nvarchar role [, nvarchar principal]) -> int
    IsRoleMember,
    /// (nvarchar securable, nvarchar class, nvarchar permission [, nvarchar, nvarchar]) -> int
    HasPermsByName,
    /// () -> nvarchar(128)
    HostName,
    AppName,
    /// () -> varbinary(128)
    ContextInfo,
    /// (nvarchar key) -> nvarchar(4000) (SQL Server: sql_variant)
    SessionContext,
    /// (nvarchar property) -> nvarchar(128) (SQL Server: sql_variant)
    ConnectionProperty,
    /// () -> char(10)
    HostId,
    /// () -> numeric(38,0)
    ScopeIdentity,
    /// () -> int, nvarchar(4000), int, int, int, nvarchar(128): NULL outside CATCH
    ErrorNumber,
    ErrorMessage,
    ErrorLine,
    ErrorSeverity,
    ErrorState,
    ErrorProcedure,
    /// () -> smallint
    XactState,
    /// (nvarchar principal, nvarchar resource, nvarchar owner) -> nvarchar(32)
    AppLockMode,
    /// (nvarchar principal, nvarchar resource, nvarchar mode, nvarchar owner) -> smallint
    AppLockTest,
    /// () -> bigint
    ChangeTrackingCurrentVersion,
    /// (int object) -> bigint
    ChangeTrackingMinValidVersion,
    /// (int column, varbinary mask) -> bit
    ChangeTrackingIsColumnInMask,
    /// (nvarchar property) -> nvarchar(128) (SQL Server: sql_variant)
    ServerProperty,
    /// (nvarchar database, nvarchar property) -> nvarchar(128)
    DatabasePropertyEx,
    /// (nvarchar collation, nvarchar property) -> nvarchar(128)
    CollationProperty,
    /// (sql_variant, nvarchar property) -> nvarchar(128) or int, as the property has it
    VariantProperty,
    /// (int object, nvarchar property) -> int
    ObjectProperty,
    /// The same -> nvarchar(128)
    ObjectPropertyEx,
    /// (int object, nvarchar index, nvarchar property) -> int
    IndexProperty,
    /// (int object, int index, int key, nvarchar property) -> int
    IndexKeyProperty,
    /// (nvarchar login, nvarchar property) -> sql_variant
    LoginProperty,
    /// (nvarchar password) -> varbinary(256): PWDENCRYPT
    PasswordHash,
    /// (nvarchar password, varbinary hash [, int version]) -> int: PWDCOMPARE
    PasswordMatches,
    /// ([int object [, nvarchar column]]) -> int: PERMISSIONS
    PermissionBits,
    /// () -> varbinary(8): @@DBTS
    LastRowVersion,
    /// () -> binary(8)
    MinActiveRowVersion,
    /// () -> int
    ServerFigure(ServerFigure),
    /// (nvarchar assembly, nvarchar property) -> sql_variant
    AssemblyProperty,
    /// (nvarchar type, nvarchar property) -> int
    TypeProperty,
    /// (int system type, int scale) -> int: ODBCSCALE
    OdbcScale,
    /// (int object, nvarchar column, nvarchar property) -> int
    ColumnProperty,
    /// (nvarchar) -> nvarchar(128)
    SessionProperty,
    /// () -> bigint: CURRENT_TRANSACTION_ID
    CurrentTransactionId,
    /// (str name) -> int: HAS_DBACCESS
    HasDbAccess,
    /// (str role) -> int
    IsSrvRoleMember,
    IsMember,
    /// () -> bigint
    RowCountBig,
    /// (nvarchar name, int part) -> nvarchar(128)
    ParseName,
}

impl FuncId {
    /// Its row.
    pub fn class(self) -> Class {
        use Evaluator::{Bits, Calendar, Digest, Json, Number, Text, Time, Values};
        use FuncId::*;
        match self {
            // A user's function has its own definition; here it is the session's.
            User(_) | PartitionNumber(_) => OF_DATABASE,
            Mask(_) => OF_DATABASE.by(Values),
            NextValue(_) | ThisValue(_) => Class { asks_database: true, ..OF_ROW },
            UpdatedColumn | ColumnsUpdated | TriggerNestLevel | EventData => OF_SESSION,
            CursorStatus | CurrentOf => OF_SESSION,

            FulltextMatch | FulltextRank => OF_STATEMENT,

            GetDate | GetUtcDate => OF_STATEMENT,
            SysDateTime | SysUtcDateTime | SysDateTimeOffset => OF_STATEMENT.by(Time),
            DateAdd(_) | DateDiff(_) | DateDiffBig(_) | EoMonth | SwitchOffset => PURE.by(Time),
            ToDateTimeOffset | DateFromParts => PURE.by(Time),
            DateTimeFromParts | DateBucket(_) => PURE.by(Calendar),
            // SET DATEFIRST.
            DatePart(Part::Weekday | Part::Week) => OF_STATEMENT.by(Time),
            DatePart(_) => PURE.by(Time),
            DateTrunc(Part::Weekday | Part::Week) => OF_SESSION.by(Calendar),
            DateTrunc(_) => PURE.by(Calendar),
            // SET LANGUAGE.
            DateName(_) => OF_STATEMENT.by(Time),
            // SET DATEFORMAT and LANGUAGE, of the session.
            IsDate => OF_SESSION.by(Time),
            Format | Parse | TryParse => OF_SESSION.by(Evaluator::Parse),
            Convert { .. } => OF_STATEMENT.by(Values),
            // The rules of time zones change; SQL Server holds it for nondeterministic.
            AtTimeZone => OF_STATEMENT.by(Calendar),
            CurrentTimezone | CurrentTimezoneId => OF_SESSION.by(Calendar),

            LeftShift | RightShift | BitCount | GetBit | SetBit => PURE.by(Bits),
            FuncId::Clr(_) => PURE.by(Evaluator::Clr),
            IsJson | JsonValue | JsonQuery | JsonModify | JsonPathExists => PURE.by(Json),
            JsonObject | JsonArray | AsJson | StringEscape => PURE.by(Json),
            ColumnSet | PartOfSet | IntoPage(_) | Collate(_) | Greatest | Least => PURE.by(Values),
            VariantProperty => PURE.by(Values),
            Checksum | BinaryChecksum | HashBytes | BinaryText => PURE.by(Digest),
            Compress | Decompress | TextPointer => PURE.by(Digest),
            Base64Encode | Base64Decode => PURE.by(Digest),

            Abs | Sign | Floor | Ceiling | Round | Power | Square | Sqrt => PURE.by(Number),
            Exp | Log | Log10 | Pi | Sin | Cos | Tan | Cot | Asin | Acos => PURE.by(Number),
            Atan | Atn2 | Degrees | Radians | IsNumeric => PURE.by(Number),
            // One value for a statement.
            Rand => OF_SESSION.by(Number),
            CryptGenRandom | NewId | NewSequentialId => OF_ROW.by(Number),
            PasswordHash => OF_ROW,

            Len | DataLength | Left | Right | Substring | Upper | Lower => PURE.by(Text),
            LTrim | RTrim | Trim | Reverse | Replace | Replicate | Space => PURE.by(Text),
            Str | CharIndex | PatIndex | Stuff | Char | NChar | Ascii => PURE.by(Text),
            Unicode | Concat | ConcatWs | QuoteName | Soundex | Difference => PURE.by(Text),
            Translate | ParseName => PURE.by(Text),
            IsNull => PURE,
            // Its errors name the statement's column.
            WriteInto => OF_SESSION.by(Text),
            CheckPointer | ReadText => OF_SESSION.by(Values),
            // The message of a number is looked up.
            FormatMessage => OF_SESSION,

            ObjectId | ObjectName | ObjectSchemaName | ObjectDefinition => OF_DATABASE,
            DbId | DbName | SchemaName | SchemaId | TypeId | TypeName => OF_DATABASE,
            ColName | ColLength | IdentCurrent | IdentSeed | IdentIncr => OF_DATABASE,
            IndexCol | StatsDate | FileId | FileIdex | FileName | FileProperty => OF_DATABASE,
            FilegroupProperty | FilegroupId | FilegroupName => OF_DATABASE,
            FulltextCatalogProperty | ObjectProperty | ObjectPropertyEx => OF_DATABASE,
            IndexProperty | IndexKeyProperty | TypeProperty | ColumnProperty => OF_DATABASE,
            AssemblyProperty | UserName | UserId | IsRoleMember | IsMember => OF_DATABASE,
            HasPermsByName | PermissionBits | OriginalDbName => OF_DATABASE,
            AppLockMode | AppLockTest | LastRowVersion | MinActiveRowVersion => OF_DATABASE,
            ChangeTrackingCurrentVersion | ChangeTrackingMinValidVersion => OF_DATABASE,

            ServerProperty | DatabasePropertyEx | CollationProperty | OdbcScale => OF_SESSION,
            SUserSName | SUserName | SUserId | SUserSid | OriginalLogin => OF_SESSION,
            LoginProperty | PasswordMatches | HasDbAccess | IsSrvRoleMember => OF_SESSION,
            HostName | AppName | ContextInfo | SessionContext | ConnectionProperty => OF_SESSION,
            HostId | SessionProperty | CurrentRequestId => OF_SESSION,
            XmlSchemaNamespace => OF_SESSION,
            ScopeIdentity | ErrorNumber | ErrorMessage | ErrorLine | ErrorSeverity => OF_SESSION,
            ErrorState | ErrorProcedure | XactState | CurrentTransactionId => OF_SESSION,
            RowCountBig | ServerFigure(_) | ChangeTrackingIsColumnInMask => OF_SESSION,
        }
    }
}

/// Bits of the third argument of [`FuncId::FulltextMatch`].
pub mod fulltext_flags {
    /// FREETEXT.
    pub const FREETEXT: i32 = 1;
    /// STOPLIST = OFF.
    pub const NO_STOPWORDS: i32 = 2;
    /// ACCENT_SENSITIVITY = OFF.
    pub const NO_ACCENTS: i32 = 4;
}
