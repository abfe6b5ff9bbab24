//! How a call of each function may be moved, shared and kept: one row for each, and no default, so that the compiler
//! asks for the row of a new one.
//!
//! The words are PostgreSQL's (CREATE FUNCTION: IMMUTABLE, STABLE, VOLATILE; PARALLEL SAFE, RESTRICTED). Which are
//! deterministic is SQL Server's list (docs/relational-databases/user-defined-functions/
//! deterministic-and-nondeterministic-functions.md, and the functions' own pages): those alone may stand in a PERSISTED
//! or indexed computed column.

use super::FuncId;
use types::DatePart as Part;

/// Whether the same arguments give the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Volatility {
    /// Always: it may be evaluated when a plan is made, and its value kept in a row.
    Immutable,
    /// Within a statement: it asks the clock, a setting, the session or the catalog.
    Stable,
    /// Not even for two rows of a statement: it may not be moved, and is evaluated once for each row.
    Volatile,
}

/// Where a call may be evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parallel {
    /// On any branch of a plan: what it needs beside its arguments was copied when the statement began.
    Safe,
    /// By the session alone.
    Restricted,
}

/// The row of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    pub volatility: Volatility,
    pub parallel: Parallel,
}

const PURE: Class = Class { volatility: Volatility::Immutable, parallel: Parallel::Safe };
/// The clock and the settings of a statement, which every branch has.
const OF_STATEMENT: Class = Class { volatility: Volatility::Stable, parallel: Parallel::Safe };
/// The session, its transaction or the catalog.
const OF_SESSION: Class = Class { volatility: Volatility::Stable, parallel: Parallel::Restricted };
const OF_ROW: Class = Class { volatility: Volatility::Volatile, parallel: Parallel::Restricted };

impl FuncId {
    /// Its row.
    pub fn class(self) -> Class {
        use FuncId::*;
        match self {
            // A user's function has its own definition; here it is the session's.
            User(_) | Mask(_) | PartitionNumber(_) => OF_SESSION,
            NextValue(_) | ThisValue(_) => OF_ROW,
            UpdatedColumn | ColumnsUpdated | TriggerNestLevel | EventData => OF_SESSION,
            CursorStatus | CurrentOf => OF_SESSION,

            FulltextMatch | FulltextRank => OF_STATEMENT,

            GetDate | GetUtcDate | SysDateTime | SysUtcDateTime | SysDateTimeOffset => OF_STATEMENT,
            DateAdd(_) | DateDiff(_) | DateDiffBig(_) | EoMonth | SwitchOffset => PURE,
            ToDateTimeOffset | DateFromParts | DateTimeFromParts | DateBucket(_) => PURE,
            // SET DATEFIRST.
            DatePart(Part::Weekday | Part::Week) => OF_STATEMENT,
            DatePart(_) => PURE,
            DateTrunc(Part::Weekday | Part::Week) => OF_SESSION,
            DateTrunc(_) => PURE,
            // SET LANGUAGE.
            DateName(_) => OF_STATEMENT,
            // SET DATEFORMAT and LANGUAGE, of the session.
            IsDate | Format | Parse | TryParse => OF_SESSION,
            ColumnSet | PartOfSet => PURE,
            Convert { .. } => OF_STATEMENT,
            // The rules of time zones change; SQL Server holds it for nondeterministic.
            AtTimeZone => OF_STATEMENT,
            CurrentTimezone | CurrentTimezoneId => OF_SESSION,

            LeftShift | RightShift | BitCount | GetBit | SetBit => PURE,
            Clr(_) | IntoPage(_) => PURE,
            IsJson | JsonValue | JsonQuery | JsonModify | JsonPathExists => PURE,
            JsonObject | JsonArray | AsJson | StringEscape => PURE,
            Collate(_) | Greatest | Least | Difference | Compress | Decompress => PURE,
            Checksum | BinaryChecksum | HashBytes | BinaryText => PURE,

            Abs | Sign | Floor | Ceiling | Round | Power | Square | Sqrt | Exp | Log | Log10 => {
                PURE
            }
            Pi | Sin | Cos | Tan | Cot | Asin | Acos | Atan | Atn2 | Degrees | Radians => PURE,
            IsNumeric => PURE,
            // One value for a statement.
            Rand => OF_SESSION,
            CryptGenRandom | NewId | NewSequentialId | PasswordHash => OF_ROW,

            Len | DataLength | Left | Right | Substring | Upper | Lower | LTrim | RTrim => PURE,
            Trim | Reverse | Replace | Replicate | Space | Str | CharIndex | PatIndex => PURE,
            Stuff | Char | NChar | Ascii | Unicode | Concat | ConcatWs | QuoteName => PURE,
            Soundex | Translate | IsNull | VariantProperty | ParseName => PURE,
            // Its errors name the statement's column.
            WriteInto | CheckPointer | ReadText => OF_SESSION,
            TextPointer => PURE,
            // The message of a number is looked up.
            FormatMessage => OF_SESSION,

            ObjectId | ObjectName | ObjectSchemaName | ObjectDefinition | DbId | DbName => {
                OF_SESSION
            }
            SchemaName | SchemaId | TypeId | TypeName | ColName | ColLength => OF_SESSION,
            IdentCurrent | IdentSeed | IdentIncr | IndexCol | StatsDate => OF_SESSION,
            FileId | FileName | FileProperty | FilegroupProperty | FilegroupId => OF_SESSION,
            FulltextCatalogProperty => OF_SESSION,
            FilegroupName | ServerProperty | DatabasePropertyEx | CollationProperty => OF_SESSION,
            ObjectProperty | ObjectPropertyEx | IndexProperty | IndexKeyProperty => OF_SESSION,
            TypeProperty | OdbcScale | ColumnProperty | AssemblyProperty => OF_SESSION,
            SUserSName | SUserName | SUserId | SUserSid | OriginalLogin | UserName => OF_SESSION,
            UserId | IsRoleMember | HasPermsByName | LoginProperty | PasswordMatches => OF_SESSION,
            PermissionBits | HasDbAccess | IsSrvRoleMember | IsMember => OF_SESSION,
            HostName | AppName | ContextInfo | SessionContext | ConnectionProperty => OF_SESSION,
            HostId | SessionProperty | CurrentRequestId | OriginalDbName => OF_SESSION,
            XmlSchemaNamespace => OF_SESSION,
            ScopeIdentity | ErrorNumber | ErrorMessage | ErrorLine | ErrorSeverity => OF_SESSION,
            ErrorState | ErrorProcedure | XactState | CurrentTransactionId => OF_SESSION,
            RowCountBig | AppLockMode | AppLockTest | LastRowVersion => OF_SESSION,
            MinActiveRowVersion | ServerFigure(_) | ChangeTrackingCurrentVersion => OF_SESSION,
            ChangeTrackingMinValidVersion | ChangeTrackingIsColumnInMask => OF_SESSION,
        }
    }

    /// Asks the database that the session is in, or something of the user's in it, when it is called with so many
    /// arguments.
    pub fn asks_database(self, args: usize) -> bool {
        use FuncId::*;
        match self {
            User(_) | Mask(_) | PartitionNumber(_) | NextValue(_) | ThisValue(_) => true,
            DbId | DbName => args == 0,
            ObjectId | ObjectName | ObjectSchemaName | ObjectDefinition | SchemaName | SchemaId => {
                true
            }
            TypeId | TypeName | ColName | ColLength | IdentCurrent | IdentSeed | IdentIncr => true,
            IndexCol | StatsDate | FileId | FileName | FileProperty | FilegroupProperty => true,
            FulltextCatalogProperty => true,
            FilegroupId | FilegroupName | ObjectProperty | ObjectPropertyEx | IndexProperty => true,
            IndexKeyProperty | TypeProperty | ColumnProperty | AssemblyProperty => true,
            UserName | UserId | IsRoleMember | IsMember | HasPermsByName | PermissionBits => true,
            OriginalDbName | AppLockMode | AppLockTest | LastRowVersion => true,
            MinActiveRowVersion | ChangeTrackingCurrentVersion => true,
            ChangeTrackingMinValidVersion => true,
            _ => false,
        }
    }

    /// Depends on its arguments alone: may be evaluated when a plan is made.
    pub fn is_deterministic(self) -> bool {
        self.class().volatility == Volatility::Immutable
    }

    /// Yields another value for every row (so it must not be moved or evaluated once).
    pub fn is_per_row(self) -> bool {
        self.class().volatility == Volatility::Volatile
    }

    /// May be evaluated on any branch of a plan.
    pub fn is_parallel_safe(self) -> bool {
        self.class().parallel == Parallel::Safe
    }
}
