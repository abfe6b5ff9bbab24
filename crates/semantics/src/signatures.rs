//! Functions that are told by their name alone: those of a fixed signature, and the aggregates.

use ir::*;

use types::{Len, SqlType};

const NAME: SqlType = SqlType::NVarChar(Len::N(128));
const SID: SqlType = SqlType::VarBinary(Len::N(85));
const FLOAT: SqlType = SqlType::Float;
const INT: SqlType = SqlType::Int;
const BIGINT: SqlType = SqlType::BigInt;
const NUMERIC38: SqlType = SqlType::numeric(38, 0);
const TEXT: SqlType = SqlType::NVarChar(Len::N(4000));

/// The type of EVENTDATA().
const EVENT_DATA: SqlType = SqlType::Xml;

/// Functions whose signature is fixed: least number of arguments, their types, the result.
pub fn fixed(name: &str) -> Option<(FuncId, usize, &'static [SqlType], SqlType)> {
    use FuncId as F;
    const DT2: SqlType = SqlType::DateTime2(7);
    const BINARY: SqlType = SqlType::VarBinary(Len::N(8000));
    const MESSAGE: SqlType = SqlType::NVarChar(Len::N(4000));
    Some(match name {
        "GETDATE" | "CURRENT_TIMESTAMP" => (F::GetDate, 0, &[], SqlType::DateTime),
        "GETUTCDATE" => (F::GetUtcDate, 0, &[], SqlType::DateTime),
        "SYSDATETIME" => (F::SysDateTime, 0, &[], DT2),
        "SYSUTCDATETIME" => (F::SysUtcDateTime, 0, &[], DT2),
        "SYSDATETIMEOFFSET" => (F::SysDateTimeOffset, 0, &[], SqlType::DateTimeOffset(7)),
        "DATEFROMPARTS" => (F::DateFromParts, 3, &[INT, INT, INT], SqlType::Date),
        "CRYPT_GEN_RANDOM" => (F::CryptGenRandom, 1, &[INT], SqlType::VarBinary(Len::N(8000))),
        "TRIGGER_NESTLEVEL" => (F::TriggerNestLevel, 0, &[INT, TEXT, TEXT], INT),
        "EVENTDATA" => (F::EventData, 0, &[], EVENT_DATA),
        "NEWID" => (F::NewId, 0, &[], SqlType::UniqueIdentifier),
        "NEWSEQUENTIALID" => (F::NewSequentialId, 0, &[], SqlType::UniqueIdentifier),
        "SQUARE" => (F::Square, 1, &[FLOAT], FLOAT),
        "SQRT" => (F::Sqrt, 1, &[FLOAT], FLOAT),
        "EXP" => (F::Exp, 1, &[FLOAT], FLOAT),
        "LOG" => (F::Log, 1, &[FLOAT, FLOAT], FLOAT),
        "LOG10" => (F::Log10, 1, &[FLOAT], FLOAT),
        "PI" => (F::Pi, 0, &[], FLOAT),
        "CURRENT_TIMEZONE" => (F::CurrentTimezone, 0, &[], SqlType::VarChar(Len::N(64))),
        "CURRENT_TIMEZONE_ID" => (F::CurrentTimezoneId, 0, &[], SqlType::VarChar(Len::N(64))),
        "CHANGE_TRACKING_CURRENT_VERSION" => (F::ChangeTrackingCurrentVersion, 0, &[], BIGINT),
        "CHANGE_TRACKING_MIN_VALID_VERSION" => {
            (F::ChangeTrackingMinValidVersion, 1, &[INT], BIGINT)
        }
        "CHANGE_TRACKING_IS_COLUMN_IN_MASK" => {
            const MASK: SqlType = SqlType::VarBinary(Len::N(4100));
            (F::ChangeTrackingIsColumnInMask, 2, &[INT, MASK], SqlType::Bit)
        }
        "CURRENT_REQUEST_ID" => (F::CurrentRequestId, 0, &[], SqlType::SmallInt),
        "ORIGINAL_DB_NAME" => (F::OriginalDbName, 0, &[], NAME),
        "SIN" => (F::Sin, 1, &[FLOAT], FLOAT),
        "COS" => (F::Cos, 1, &[FLOAT], FLOAT),
        "TAN" => (F::Tan, 1, &[FLOAT], FLOAT),
        "COT" => (F::Cot, 1, &[FLOAT], FLOAT),
        "ASIN" => (F::Asin, 1, &[FLOAT], FLOAT),
        "ACOS" => (F::Acos, 1, &[FLOAT], FLOAT),
        "ATAN" => (F::Atan, 1, &[FLOAT], FLOAT),
        "ATN2" => (F::Atn2, 2, &[FLOAT, FLOAT], FLOAT),
        "CHAR" => (F::Char, 1, &[INT], SqlType::Char(1)),
        "NCHAR" => (F::NChar, 1, &[INT], SqlType::NChar(1)),
        "SOUNDEX" => (F::Soundex, 1, &[TEXT], SqlType::VarChar(Len::N(5))),
        // Of the schema sys alone, and so named.
        "SYS.FN_VARBINTOHEXSTR" => (F::BinaryText, 1, &[BINARY], SqlType::NVarChar(Len::Max)),
        "SYS.FN_VARBINTOHEXSUBSTRING" => {
            (F::BinaryText, 4, &[INT, BINARY, INT, INT], SqlType::NVarChar(Len::Max))
        }
        "XML_SCHEMA_NAMESPACE" => (F::XmlSchemaNamespace, 2, &[NAME, NAME, TEXT], SqlType::Xml),
        "OBJECT_ID" => (F::ObjectId, 1, &[TEXT, NAME], INT),
        "OBJECT_NAME" => (F::ObjectName, 1, &[INT, INT], NAME),
        "OBJECT_SCHEMA_NAME" => (F::ObjectSchemaName, 1, &[INT, INT], NAME),
        "DB_ID" => (F::DbId, 0, &[NAME], SqlType::SmallInt),
        "DB_NAME" => (F::DbName, 0, &[INT], NAME),
        "SCHEMA_NAME" => (F::SchemaName, 0, &[INT], NAME),
        "SCHEMA_ID" => (F::SchemaId, 0, &[NAME], INT),
        "TYPE_ID" => (F::TypeId, 1, &[TEXT], INT),
        "TYPE_NAME" => (F::TypeName, 1, &[INT], NAME),
        "COL_NAME" => (F::ColName, 2, &[INT, INT], NAME),
        "COL_LENGTH" => (F::ColLength, 2, &[TEXT, NAME], SqlType::SmallInt),
        "IDENT_CURRENT" => (F::IdentCurrent, 1, &[TEXT], NUMERIC38),
        "IDENT_SEED" => (F::IdentSeed, 1, &[TEXT], NUMERIC38),
        "IDENT_INCR" => (F::IdentIncr, 1, &[TEXT], NUMERIC38),
        "OBJECT_DEFINITION" => (F::ObjectDefinition, 1, &[INT], SqlType::NVarChar(Len::Max)),
        "STATS_DATE" => (F::StatsDate, 2, &[INT, INT], SqlType::DateTime),
        "INDEX_COL" => (F::IndexCol, 3, &[TEXT, INT, INT], NAME),
        "INDEXKEY_PROPERTY" => (F::IndexKeyProperty, 4, &[INT, INT, INT, NAME], INT),
        "LOGINPROPERTY" => (F::LoginProperty, 2, &[NAME, NAME], SqlType::Variant),
        "PWDENCRYPT" => (F::PasswordHash, 1, &[NAME], SqlType::VarBinary(Len::N(256))),
        "PWDCOMPARE" => {
            const HASH: SqlType = SqlType::VarBinary(Len::N(256));
            (F::PasswordMatches, 2, &[NAME, HASH, INT], INT)
        }
        "PERMISSIONS" => (F::PermissionBits, 0, &[INT, NAME], INT),
        "MIN_ACTIVE_ROWVERSION" => (F::MinActiveRowVersion, 0, &[], SqlType::Binary(8)),
        "INDEXPROPERTY" => (F::IndexProperty, 3, &[INT, NAME, NAME], INT),
        "ODBCSCALE" => (F::OdbcScale, 2, &[INT, INT], INT),
        "ASSEMBLYPROPERTY" => (F::AssemblyProperty, 2, &[NAME, NAME], SqlType::Variant),
        "TYPEPROPERTY" => (F::TypeProperty, 2, &[TEXT, NAME], INT),
        "FILE_ID" => (F::FileId, 1, &[NAME], SqlType::SmallInt),
        "FILE_IDEX" => (F::FileIdex, 1, &[NAME], INT),
        "FILE_NAME" => (F::FileName, 1, &[INT], NAME),
        "FILEGROUP_ID" => (F::FilegroupId, 1, &[NAME], INT),
        "FILEPROPERTY" => (F::FileProperty, 2, &[NAME, NAME], INT),
        "FULLTEXTCATALOGPROPERTY" => (F::FulltextCatalogProperty, 2, &[NAME, NAME], INT),
        "FILEGROUPPROPERTY" => (F::FilegroupProperty, 2, &[NAME, NAME], INT),
        "FILEGROUP_NAME" => (F::FilegroupName, 1, &[INT], NAME),
        "HOST_NAME" => (F::HostName, 0, &[], NAME),
        "APP_NAME" | "PROGRAM_NAME" => (F::AppName, 0, &[], NAME),
        "HOST_ID" => (F::HostId, 0, &[], SqlType::Char(10)),
        "CONTEXT_INFO" => (F::ContextInfo, 0, &[], SqlType::VarBinary(Len::N(128))),
        "SESSION_CONTEXT" => (F::SessionContext, 1, &[NAME], SqlType::Variant),
        "CONNECTIONPROPERTY" => (F::ConnectionProperty, 1, &[NAME], SqlType::Variant),
        "SCOPE_IDENTITY" => (F::ScopeIdentity, 0, &[], NUMERIC38),
        "ERROR_NUMBER" => (F::ErrorNumber, 0, &[], INT),
        "ERROR_MESSAGE" => (F::ErrorMessage, 0, &[], MESSAGE),
        "ERROR_LINE" => (F::ErrorLine, 0, &[], INT),
        "ERROR_SEVERITY" => (F::ErrorSeverity, 0, &[], INT),
        "ERROR_STATE" => (F::ErrorState, 0, &[], INT),
        "ERROR_PROCEDURE" => (F::ErrorProcedure, 0, &[], NAME),
        "XACT_STATE" => (F::XactState, 0, &[], SqlType::SmallInt),
        "APPLOCK_MODE" => (F::AppLockMode, 3, &[NAME, TEXT, NAME], NAME),
        "APPLOCK_TEST" => (F::AppLockTest, 4, &[NAME, TEXT, NAME, NAME], SqlType::SmallInt),
        "OBJECTPROPERTY" => (F::ObjectProperty, 2, &[INT, NAME], INT),
        "COLUMNPROPERTY" => (F::ColumnProperty, 3, &[INT, NAME, NAME], INT),
        "SESSIONPROPERTY" => (F::SessionProperty, 1, &[NAME], SqlType::Variant),
        "CURRENT_TRANSACTION_ID" => (F::CurrentTransactionId, 0, &[], BIGINT),
        "HAS_DBACCESS" => (F::HasDbAccess, 1, &[NAME], INT),
        "IS_SRVROLEMEMBER" => (F::IsSrvRoleMember, 1, &[NAME, NAME], INT),
        "IS_MEMBER" => (F::IsMember, 1, &[NAME], INT),
        "ROWCOUNT_BIG" => (F::RowCountBig, 0, &[], BIGINT),
        "PARSENAME" => (F::ParseName, 2, &[TEXT, INT], NAME),
        "USER_ID" | "DATABASE_PRINCIPAL_ID" => (F::UserId, 0, &[NAME], INT),
        "USER_NAME" => (F::UserName, 0, &[INT], NAME),
        "SUSER_SNAME" => (F::SUserSName, 0, &[SID], NAME),
        "SUSER_NAME" => (F::SUserName, 0, &[INT], NAME),
        "SUSER_ID" => (F::SUserId, 0, &[NAME], INT),
        "SUSER_SID" => (F::SUserSid, 0, &[NAME, INT], SID),
        // What administrators' tools ask with the name of an account.
        "SID_BINARY" => (F::SUserSid, 1, &[NAME], SID),
        "ORIGINAL_LOGIN" => (F::OriginalLogin, 0, &[], NAME),
        "IS_ROLEMEMBER" => (F::IsRoleMember, 1, &[NAME, NAME], INT),
        "HAS_PERMS_BY_NAME" => (F::HasPermsByName, 3, &[TEXT, NAME, NAME, NAME, NAME], INT),
        _ => return None,
    })
}

/// The aggregate of that name.
pub fn aggregate_func(name: &str) -> Option<AggFunc> {
    Some(match name {
        "COUNT" => AggFunc::Count,
        "COUNT_BIG" | "APPROX_COUNT_DISTINCT" => AggFunc::CountBig,
        "CHECKSUM_AGG" => AggFunc::ChecksumAgg,
        "SUM" => AggFunc::Sum,
        "AVG" => AggFunc::Avg,
        "MIN" => AggFunc::Min,
        "MAX" => AggFunc::Max,
        "STDEV" => AggFunc::StDev,
        "STDEVP" => AggFunc::StDevP,
        "VAR" => AggFunc::Var,
        "VARP" => AggFunc::VarP,
        "STRING_AGG" => AggFunc::StringAgg,
        "APPROX_PERCENTILE_CONT" => AggFunc::PercentileCont,
        "APPROX_PERCENTILE_DISC" => AggFunc::PercentileDisc,
        _ => return None,
    })
}
