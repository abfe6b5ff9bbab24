//! Every built-in function of SQL Server 2022's documentation, and some of 2025's: it runs, or it is refused by name (40510).
//!
//! docs/compatibility.md has the same list between two marks; `UPDATE_EXPECT=1 cargo test -p session --test it builtins`
//! writes it there. A call is `SELECT call` unless it begins with a keyword. Source of the list: SQL documentation,
//! "What are the SQL database functions?" and the pages it leads to.

use device::SimFs;
use executor::Collected;
use session::{Instance, InstanceConfig, Session};
use std::fmt::Write;
use std::path::Path;

use Is::{Either, Refused, Runs};

/// What becomes of a call.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Is {
    Runs,
    Refused,
    /// Being built: what it does is only written down.
    Either,
}

/// A category, what is expected of its calls, and the calls: name and text, or a name that is its own call.
type Row = (&'static str, Is, &'static [(&'static str, &'static str)]);

const LIST: &[Row] = &[
    (
        "aggregate",
        Runs,
        &[
            ("AVG", "AVG(1.0)"),
            ("CHECKSUM_AGG", "CHECKSUM_AGG(1)"),
            ("COUNT", "COUNT(*)"),
            ("APPROX_COUNT_DISTINCT", "APPROX_COUNT_DISTINCT(1)"),
            ("COUNT_BIG", "COUNT_BIG(*)"),
            ("MAX", "MAX(1)"),
            ("MIN", "MIN(1)"),
            ("STDEV", "STDEV(1)"),
            ("STDEVP", "STDEVP(1)"),
            ("SUM", "SUM(1)"),
            ("VAR", "VAR(1)"),
            ("VARP", "VARP(1)"),
        ],
    ),
    (
        "aggregate",
        Either,
        &[
            ("GROUPING", "SELECT GROUPING(n) FROM (VALUES (1)) v (n) GROUP BY ROLLUP (n)"),
            ("GROUPING_ID", "SELECT GROUPING_ID(n) FROM (VALUES (1)) v (n) GROUP BY ROLLUP (n)"),
            ("STRING_AGG", "SELECT STRING_AGG(n, ',') FROM (VALUES ('a')) v (n)"),
            (
                "APPROX_PERCENTILE_CONT",
                "SELECT APPROX_PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY n) FROM (VALUES (1)) v (n)",
            ),
            (
                "APPROX_PERCENTILE_DISC",
                "SELECT APPROX_PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY n) FROM (VALUES (1)) v (n)",
            ),
        ],
    ),
    (
        "analytic",
        Runs,
        &[
            ("FIRST_VALUE", "SELECT FIRST_VALUE(n) OVER (ORDER BY n) FROM (VALUES (1)) v (n)"),
            ("LAG", "SELECT LAG(n) OVER (ORDER BY n) FROM (VALUES (1)) v (n)"),
            ("LAST_VALUE", "SELECT LAST_VALUE(n) OVER (ORDER BY n) FROM (VALUES (1)) v (n)"),
            ("LEAD", "SELECT LEAD(n) OVER (ORDER BY n) FROM (VALUES (1)) v (n)"),
        ],
    ),
    (
        "analytic",
        Either,
        &[
            ("CUME_DIST", "SELECT CUME_DIST() OVER (ORDER BY n) FROM (VALUES (1)) v (n)"),
            ("PERCENT_RANK", "SELECT PERCENT_RANK() OVER (ORDER BY n) FROM (VALUES (1)) v (n)"),
            (
                "PERCENTILE_CONT",
                "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY n) OVER () FROM (VALUES (1)) v (n)",
            ),
            (
                "PERCENTILE_DISC",
                "SELECT PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY n) OVER () FROM (VALUES (1)) v (n)",
            ),
        ],
    ),
    (
        "bit",
        Runs,
        &[
            ("BIT_COUNT", "BIT_COUNT(5)"),
            ("GET_BIT", "GET_BIT(5, 0)"),
            ("LEFT_SHIFT", "LEFT_SHIFT(5, 1)"),
            ("RIGHT_SHIFT", "5 >> 1"),
            ("SET_BIT", "SET_BIT(5, 1)"),
        ],
    ),
    (
        "collation",
        Runs,
        &[("COLLATIONPROPERTY", "COLLATIONPROPERTY('Latin1_General_BIN2', 'CodePage')")],
    ),
    ("collation", Refused, &[("TERTIARY_WEIGHTS", "TERTIARY_WEIGHTS('a')")]),
    (
        "configuration",
        Runs,
        &[
            ("@@DBTS", ""),
            ("@@DATEFIRST", ""),
            ("@@LANGID", ""),
            ("@@LANGUAGE", ""),
            ("@@LOCK_TIMEOUT", ""),
            ("@@MAX_CONNECTIONS", ""),
            ("@@MAX_PRECISION", ""),
            ("@@NESTLEVEL", ""),
            ("@@OPTIONS", ""),
            ("@@REMSERVER", ""),
            ("@@SERVERNAME", ""),
            ("@@SERVICENAME", ""),
            ("@@SPID", ""),
            ("@@TEXTSIZE", ""),
            ("@@VERSION", ""),
        ],
    ),
    (
        "conversion",
        Runs,
        &[
            ("CAST", "CAST('1' AS int)"),
            ("CONVERT", "CONVERT(int, '1')"),
            ("PARSE", "PARSE('1' AS int)"),
            ("TRY_CAST", "TRY_CAST('x' AS int)"),
            ("TRY_CONVERT", "TRY_CONVERT(int, 'x')"),
            ("TRY_PARSE", "TRY_PARSE('x' AS int)"),
        ],
    ),
    (
        "cryptographic",
        Runs,
        &[("HASHBYTES", "HASHBYTES('SHA2_256', 'a')"), ("CRYPT_GEN_RANDOM", "CRYPT_GEN_RANDOM(4)")],
    ),
    (
        "cryptographic",
        Refused,
        &[
            ("ASYMKEYPROPERTY", "ASYMKEYPROPERTY(1, 'sid')"),
            ("ASYMKEY_ID", "ASYMKEY_ID('a')"),
            ("CERTENCODED", "CERTENCODED(1)"),
            ("CERTPRIVATEKEY", "CERTPRIVATEKEY(1, 'a')"),
            ("CERTPROPERTY", "CERTPROPERTY(1, 'sid')"),
            ("CERT_ID", "CERT_ID('a')"),
            ("DECRYPTBYASYMKEY", "DECRYPTBYASYMKEY(1, 0x00)"),
            ("DECRYPTBYCERT", "DECRYPTBYCERT(1, 0x00)"),
            ("DECRYPTBYKEY", "DECRYPTBYKEY(0x00)"),
            ("DECRYPTBYKEYAUTOASYMKEY", "DECRYPTBYKEYAUTOASYMKEY(1, N'a', 0x00)"),
            ("DECRYPTBYKEYAUTOCERT", "DECRYPTBYKEYAUTOCERT(1, N'a', 0x00)"),
            ("DECRYPTBYPASSPHRASE", "DECRYPTBYPASSPHRASE('a', 0x00)"),
            ("ENCRYPTBYASYMKEY", "ENCRYPTBYASYMKEY(1, 'a')"),
            ("ENCRYPTBYCERT", "ENCRYPTBYCERT(1, 'a')"),
            ("ENCRYPTBYKEY", "ENCRYPTBYKEY(NULL, 'a')"),
            ("ENCRYPTBYPASSPHRASE", "ENCRYPTBYPASSPHRASE('a', 'b')"),
            ("IS_OBJECTSIGNED", "IS_OBJECTSIGNED('OBJECT', 1, 'certificate', 0x00)"),
            ("KEY_GUID", "KEY_GUID('a')"),
            ("KEY_ID", "KEY_ID('a')"),
            ("KEY_NAME", "KEY_NAME('a')"),
            ("SIGNBYASYMKEY", "SIGNBYASYMKEY(1, 'a')"),
            ("SIGNBYCERT", "SIGNBYCERT(1, 'a')"),
            ("SYMKEYPROPERTY", "SYMKEYPROPERTY(1, 'algorithm_desc')"),
            ("VERIFYSIGNEDBYASYMKEY", "VERIFYSIGNEDBYASYMKEY(1, 'a', 0x00)"),
            ("VERIFYSIGNEDBYCERT", "VERIFYSIGNEDBYCERT(1, 'a', 0x00)"),
        ],
    ),
    ("cursor", Runs, &[("@@CURSOR_ROWS", ""), ("@@FETCH_STATUS", "")]),
    ("cursor", Either, &[("CURSOR_STATUS", "CURSOR_STATUS('global', 'c')")]),
    (
        "data type",
        Runs,
        &[
            ("DATALENGTH", "DATALENGTH('a')"),
            ("IDENT_CURRENT", "IDENT_CURRENT('t')"),
            ("IDENT_INCR", "IDENT_INCR('t')"),
            ("IDENT_SEED", "IDENT_SEED('t')"),
            ("SQL_VARIANT_PROPERTY", "SQL_VARIANT_PROPERTY(1, 'BaseType')"),
        ],
    ),
    (
        "date and time",
        Runs,
        &[
            ("AT TIME ZONE", "GETDATE() AT TIME ZONE 'UTC'"),
            ("CURRENT_TIMESTAMP", ""),
            ("CURRENT_TIMEZONE", "CURRENT_TIMEZONE()"),
            ("CURRENT_TIMEZONE_ID", "CURRENT_TIMEZONE_ID()"),
            ("DATE_BUCKET", "DATE_BUCKET(week, 1, GETDATE())"),
            ("DATEADD", "DATEADD(day, 1, '20240101')"),
            ("DATEDIFF", "DATEDIFF(day, '20240101', '20240102')"),
            ("DATEDIFF_BIG", "DATEDIFF_BIG(ns, '20240101', '20240102')"),
            ("DATEFROMPARTS", "DATEFROMPARTS(2024, 1, 1)"),
            ("DATENAME", "DATENAME(dw, '20240101')"),
            ("DATEPART", "DATEPART(dw, '20240101')"),
            ("DATETIME2FROMPARTS", "DATETIME2FROMPARTS(2024, 1, 1, 0, 0, 0, 0, 0)"),
            ("DATETIMEFROMPARTS", "DATETIMEFROMPARTS(2024, 1, 1, 0, 0, 0, 0)"),
            ("DATETIMEOFFSETFROMPARTS", "DATETIMEOFFSETFROMPARTS(2024, 1, 1, 0, 0, 0, 0, 0, 0, 0)"),
            ("DATETRUNC", "DATETRUNC(month, GETDATE())"),
            ("DAY", "DAY('20240101')"),
            ("EOMONTH", "EOMONTH('20240101')"),
            ("GETDATE", "GETDATE()"),
            ("GETUTCDATE", "GETUTCDATE()"),
            ("ISDATE", "ISDATE('20240101')"),
            ("MONTH", "MONTH('20240101')"),
            ("SMALLDATETIMEFROMPARTS", "SMALLDATETIMEFROMPARTS(2024, 1, 1, 0, 0)"),
            ("SWITCHOFFSET", "SWITCHOFFSET(SYSDATETIMEOFFSET(), '+01:00')"),
            ("SYSDATETIME", "SYSDATETIME()"),
            ("SYSDATETIMEOFFSET", "SYSDATETIMEOFFSET()"),
            ("SYSUTCDATETIME", "SYSUTCDATETIME()"),
            ("TIMEFROMPARTS", "TIMEFROMPARTS(0, 0, 0, 0, 0)"),
            ("TODATETIMEOFFSET", "TODATETIMEOFFSET(SYSDATETIME(), 0)"),
            ("YEAR", "YEAR('20240101')"),
        ],
    ),
    (
        "graph",
        Refused,
        &[
            ("EDGE_ID_FROM_PARTS", "EDGE_ID_FROM_PARTS(1, 1)"),
            ("GRAPH_ID_FROM_EDGE_ID", "GRAPH_ID_FROM_EDGE_ID('a')"),
            ("GRAPH_ID_FROM_NODE_ID", "GRAPH_ID_FROM_NODE_ID('a')"),
            ("NODE_ID_FROM_PARTS", "NODE_ID_FROM_PARTS(1, 1)"),
            ("OBJECT_ID_FROM_EDGE_ID", "OBJECT_ID_FROM_EDGE_ID('a')"),
            ("OBJECT_ID_FROM_NODE_ID", "OBJECT_ID_FROM_NODE_ID('a')"),
        ],
    ),
    (
        "JSON",
        Runs,
        &[
            ("ISJSON", "ISJSON('{}')"),
            ("JSON_ARRAY", "JSON_ARRAY(1)"),
            ("JSON_MODIFY", "JSON_MODIFY('{}', '$.a', 1)"),
            ("JSON_OBJECT", "JSON_OBJECT('a':1)"),
            ("JSON_PATH_EXISTS", "JSON_PATH_EXISTS('{}', '$.a')"),
            ("JSON_QUERY", "JSON_QUERY('{}')"),
            ("JSON_VALUE", "JSON_VALUE('{}', '$.a')"),
            ("OPENJSON", "SELECT * FROM OPENJSON('{}')"),
        ],
    ),
    (
        "logical",
        Runs,
        &[
            ("CHOOSE", "CHOOSE(1, 'a', 'b')"),
            ("COALESCE", "COALESCE(NULL, 1)"),
            ("GREATEST", "GREATEST(1, 2)"),
            ("IIF", "IIF(1 = 1, 1, 2)"),
            ("LEAST", "LEAST(1, 2)"),
            ("NULLIF", "NULLIF(1, 2)"),
        ],
    ),
    (
        "mathematical",
        Runs,
        &[
            ("ABS", "ABS(1)"),
            ("ACOS", "ACOS(1)"),
            ("ASIN", "ASIN(1)"),
            ("ATAN", "ATAN(1)"),
            ("ATN2", "ATN2(1, 1)"),
            ("CEILING", "CEILING(1.5)"),
            ("COS", "COS(1)"),
            ("COT", "COT(1)"),
            ("DEGREES", "DEGREES(1)"),
            ("EXP", "EXP(1)"),
            ("FLOOR", "FLOOR(1.5)"),
            ("LOG", "LOG(1)"),
            ("LOG10", "LOG10(1)"),
            ("PI", "PI()"),
            ("POWER", "POWER(2, 2)"),
            ("RADIANS", "RADIANS(1)"),
            ("RAND", "RAND(1)"),
            ("ROUND", "ROUND(1.5, 0)"),
            ("SIGN", "SIGN(1)"),
            ("SIN", "SIN(1)"),
            ("SQRT", "SQRT(1)"),
            ("SQUARE", "SQUARE(1)"),
            ("TAN", "TAN(1)"),
        ],
    ),
    (
        "metadata",
        Runs,
        &[
            ("INDEXKEY_PROPERTY", "INDEXKEY_PROPERTY(1, 1, 1, 'ColumnId')"),
            ("@@PROCID", ""),
            ("APP_NAME", "APP_NAME()"),
            ("APPLOCK_MODE", "APPLOCK_MODE('public', 'a', 'Session')"),
            ("APPLOCK_TEST", "APPLOCK_TEST('public', 'a', 'Shared', 'Session')"),
            ("COL_LENGTH", "COL_LENGTH('t', 'a')"),
            ("COL_NAME", "COL_NAME(1, 1)"),
            ("COLUMNPROPERTY", "COLUMNPROPERTY(1, 'a', 'AllowsNull')"),
            ("DATABASE_PRINCIPAL_ID", "DATABASE_PRINCIPAL_ID()"),
            ("FULLTEXTCATALOGPROPERTY", "FULLTEXTCATALOGPROPERTY('a', 'ItemCount')"),
            ("FULLTEXTSERVICEPROPERTY", "FULLTEXTSERVICEPROPERTY('IsFulltextInstalled')"),
            ("DATABASEPROPERTYEX", "DATABASEPROPERTYEX('master', 'Status')"),
            ("DB_ID", "DB_ID()"),
            ("DB_NAME", "DB_NAME()"),
            ("FILE_ID", "FILE_ID('a')"),
            ("FILE_IDEX", "FILE_IDEX('a')"),
            ("FILE_NAME", "FILE_NAME(1)"),
            ("FILEGROUP_ID", "FILEGROUP_ID('PRIMARY')"),
            ("FILEGROUP_NAME", "FILEGROUP_NAME(1)"),
            ("FILEGROUPPROPERTY", "FILEGROUPPROPERTY('PRIMARY', 'IsDefault')"),
            ("FILEPROPERTY", "FILEPROPERTY('a', 'SpaceUsed')"),
            ("INDEX_COL", "INDEX_COL('t', 1, 1)"),
            ("INDEXPROPERTY", "INDEXPROPERTY(1, 'a', 'IsUnique')"),
            ("OBJECT_DEFINITION", "OBJECT_DEFINITION(1)"),
            ("OBJECT_ID", "OBJECT_ID('t')"),
            ("ASSEMBLYPROPERTY", "ASSEMBLYPROPERTY('a', 'CultureInfo')"),
            ("OBJECT_NAME", "OBJECT_NAME(1)"),
            ("OBJECT_SCHEMA_NAME", "OBJECT_SCHEMA_NAME(1)"),
            ("OBJECTPROPERTY", "OBJECTPROPERTY(1, 'IsTable')"),
            ("OBJECTPROPERTYEX", "OBJECTPROPERTYEX(1, 'IsTable')"),
            ("ORIGINAL_DB_NAME", "ORIGINAL_DB_NAME()"),
            ("PARSENAME", "PARSENAME('a.b', 1)"),
            ("SCHEMA_ID", "SCHEMA_ID()"),
            ("SCHEMA_NAME", "SCHEMA_NAME()"),
            ("SCOPE_IDENTITY", "SCOPE_IDENTITY()"),
            ("SERVERPROPERTY", "SERVERPROPERTY('Edition')"),
            ("TYPE_ID", "TYPE_ID('int')"),
            ("TYPE_NAME", "TYPE_NAME(56)"),
            ("TYPEPROPERTY", "TYPEPROPERTY('int', 'Precision')"),
            ("STATS_DATE", "STATS_DATE(1, 1)"),
        ],
    ),
    ("metadata", Refused, &[("FILEPROPERTYEX", "FILEPROPERTYEX('a', 'BlobTier')")]),
    ("metadata", Either, &[("NEXT VALUE FOR", "SELECT NEXT VALUE FOR dbo.seq")]),
    (
        "ranking",
        Runs,
        &[
            ("DENSE_RANK", "SELECT DENSE_RANK() OVER (ORDER BY n) FROM (VALUES (1)) v (n)"),
            ("NTILE", "SELECT NTILE(2) OVER (ORDER BY n) FROM (VALUES (1)) v (n)"),
            ("RANK", "SELECT RANK() OVER (ORDER BY n) FROM (VALUES (1)) v (n)"),
            ("ROW_NUMBER", "SELECT ROW_NUMBER() OVER (ORDER BY n) FROM (VALUES (1)) v (n)"),
        ],
    ),
    (
        "relational",
        Either,
        &[
            ("GENERATE_SERIES", "SELECT * FROM GENERATE_SERIES(1, 2)"),
            ("STRING_SPLIT", "SELECT * FROM STRING_SPLIT('a,b', ',')"),
            ("OPENDATASOURCE", "SELECT * FROM OPENDATASOURCE('a', 'b')"),
            ("OPENQUERY", "SELECT * FROM OPENQUERY(a, 'b')"),
            ("OPENROWSET", "SELECT * FROM OPENROWSET('a', 'b', 'c')"),
            (
                "OPENXML",
                "SELECT TOP (0) 1 DECLARE @h int EXEC sp_xml_preparedocument @h OUTPUT SELECT * FROM OPENXML(@h, '/a') WITH (a int)",
            ),
        ],
    ),
    ("replication", Refused, &[("PUBLISHINGSERVERNAME", "PUBLISHINGSERVERNAME()")]),
    (
        "security",
        Runs,
        &[
            ("LOGINPROPERTY", "LOGINPROPERTY('sa', 'IsLocked')"),
            ("PERMISSIONS", "PERMISSIONS()"),
            ("PWDCOMPARE", "PWDCOMPARE('a', 0x00)"),
            ("PWDENCRYPT", "PWDENCRYPT('a')"),
            ("CURRENT_USER", ""),
            ("HAS_DBACCESS", "HAS_DBACCESS('master')"),
            ("HAS_PERMS_BY_NAME", "HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE')"),
            ("IS_MEMBER", "IS_MEMBER('db_owner')"),
            ("IS_ROLEMEMBER", "IS_ROLEMEMBER('db_owner')"),
            ("IS_SRVROLEMEMBER", "IS_SRVROLEMEMBER('sysadmin')"),
            ("ORIGINAL_LOGIN", "ORIGINAL_LOGIN()"),
            ("SESSION_USER", ""),
            ("SUSER_ID", "SUSER_ID()"),
            ("SUSER_NAME", "SUSER_NAME()"),
            ("SUSER_SID", "SUSER_SID()"),
            ("SUSER_SNAME", "SUSER_SNAME()"),
            ("SYSTEM_USER", ""),
            ("USER", ""),
            ("USER_ID", "USER_ID()"),
            ("USER_NAME", "USER_NAME()"),
        ],
    ),
    ("security", Refused, &[]),
    (
        "string",
        Runs,
        &[
            ("ASCII", "ASCII('a')"),
            ("CHAR", "CHAR(65)"),
            ("CHARINDEX", "CHARINDEX('a', 'a')"),
            ("CONCAT", "CONCAT('a', 1)"),
            ("CONCAT_WS", "CONCAT_WS(',', 'a', 1)"),
            ("DIFFERENCE", "DIFFERENCE('a', 'b')"),
            ("FORMAT", "FORMAT(1, 'N')"),
            ("LEFT", "LEFT('a', 1)"),
            ("LEN", "LEN('a')"),
            ("LOWER", "LOWER('a')"),
            ("LTRIM", "LTRIM('a')"),
            ("NCHAR", "NCHAR(65)"),
            ("PATINDEX", "PATINDEX('%a%', 'a')"),
            ("QUOTENAME", "QUOTENAME('a')"),
            ("REPLACE", "REPLACE('a', 'a', 'b')"),
            ("REPLICATE", "REPLICATE('a', 2)"),
            ("REVERSE", "REVERSE('a')"),
            ("RIGHT", "RIGHT('a', 1)"),
            ("RTRIM", "RTRIM('a')"),
            ("SOUNDEX", "SOUNDEX('a')"),
            ("SPACE", "SPACE(1)"),
            ("STR", "STR(1)"),
            ("STRING_ESCAPE", "STRING_ESCAPE('a', 'json')"),
            ("STUFF", "STUFF('abc', 1, 1, 'x')"),
            ("SUBSTRING", "SUBSTRING('abc', 1, 1)"),
            ("TRANSLATE", "TRANSLATE('a', 'a', 'b')"),
            ("TRIM", "TRIM(BOTH 'a' FROM 'aba')"),
            ("UNICODE", "UNICODE('a')"),
            ("UPPER", "UPPER('a')"),
        ],
    ),
    (
        "system",
        Runs,
        &[
            ("@@CONNECTIONS", ""),
            ("@@CPU_BUSY", ""),
            ("@@IDLE", ""),
            ("@@IO_BUSY", ""),
            ("@@PACKET_ERRORS", ""),
            ("@@PACK_RECEIVED", ""),
            ("@@PACK_SENT", ""),
            ("@@TOTAL_ERRORS", ""),
            ("@@TOTAL_READ", ""),
            ("@@TOTAL_WRITE", ""),
            ("MIN_ACTIVE_ROWVERSION", "MIN_ACTIVE_ROWVERSION()"),
            ("@@ERROR", ""),
            ("@@IDENTITY", ""),
            ("@@ROWCOUNT", ""),
            ("@@TRANCOUNT", ""),
            ("BINARY_CHECKSUM", "BINARY_CHECKSUM(1)"),
            ("CHECKSUM", "CHECKSUM(1)"),
            ("COMPRESS", "COMPRESS('a')"),
            ("CONNECTIONPROPERTY", "CONNECTIONPROPERTY('net_transport')"),
            ("CONTEXT_INFO", "CONTEXT_INFO()"),
            ("CURRENT_REQUEST_ID", "CURRENT_REQUEST_ID()"),
            ("CURRENT_TRANSACTION_ID", "CURRENT_TRANSACTION_ID()"),
            ("DECOMPRESS", "DECOMPRESS(COMPRESS('a'))"),
            ("ERROR_LINE", "ERROR_LINE()"),
            ("ERROR_MESSAGE", "ERROR_MESSAGE()"),
            ("ERROR_NUMBER", "ERROR_NUMBER()"),
            ("ERROR_PROCEDURE", "ERROR_PROCEDURE()"),
            ("ERROR_SEVERITY", "ERROR_SEVERITY()"),
            ("ERROR_STATE", "ERROR_STATE()"),
            ("FORMATMESSAGE", "FORMATMESSAGE('%s', 'a')"),
            ("GETANSINULL", "GETANSINULL()"),
            ("HOST_ID", "HOST_ID()"),
            ("HOST_NAME", "HOST_NAME()"),
            ("ISNULL", "ISNULL(NULL, 1)"),
            ("ISNUMERIC", "ISNUMERIC('1')"),
            ("NEWID", "NEWID()"),
            ("ROWCOUNT_BIG", "ROWCOUNT_BIG()"),
            ("SESSION_CONTEXT", "SESSION_CONTEXT(N'a')"),
            ("SESSIONPROPERTY", "SESSIONPROPERTY('ANSI_NULLS')"),
            ("XACT_STATE", "XACT_STATE()"),
            ("@@TIMETICKS", ""),
        ],
    ),
    (
        "system",
        Refused,
        &[("GET_FILESTREAM_TRANSACTION_CONTEXT", "GET_FILESTREAM_TRANSACTION_CONTEXT()")],
    ),
    (
        "text and image",
        Runs,
        &[
            (
                "TEXTPTR",
                "CREATE TABLE of_text (id int PRIMARY KEY, t text) SELECT TEXTPTR(t) FROM of_text",
            ),
            (
                "TEXTVALID",
                "CREATE TABLE of_texts (id int PRIMARY KEY, t text) SELECT TEXTVALID('of_texts.t', 0x00)",
            ),
        ],
    ),
    (
        "of SQL Server 2025",
        Runs,
        &[("BASE64_DECODE", "BASE64_DECODE('qQ==')"), ("BASE64_ENCODE", "BASE64_ENCODE(0xA9)")],
    ),
    (
        "trigger",
        Runs,
        &[("EVENTDATA", "EVENTDATA()"), ("TRIGGER_NESTLEVEL", "TRIGGER_NESTLEVEL()")],
    ),
];

const BEGIN: &str = "<!-- built-in functions: written by the test `builtins` -->\n";
const END: &str = "<!-- end of built-in functions -->\n";

/// Whether each call runs (true) or is refused; what else it answers.
fn answers(session: &mut Session) -> (Vec<(&'static str, &'static str, bool)>, String) {
    let mut found = Vec::new();
    let mut wrong = String::new();
    for (category, expected, calls) in LIST {
        for (name, call) in *calls {
            let batch = match *call {
                "" => format!("SELECT {name}"),
                call if call.starts_with("SELECT ") || call.starts_with("CREATE ") => {
                    call.to_string()
                }
                call => format!("SELECT {call}"),
            };
            let mut said = Collected::default();
            let _ = session.execute(&batch, &mut said);
            let errors = said.errors();
            let runs = errors.is_empty();
            let refused = errors == [40510] || (*expected == Either && !runs);
            let as_expected = match expected {
                Runs => runs,
                Refused => refused,
                Either => true,
            };
            if !as_expected {
                let _ = writeln!(wrong, "{batch}: expected {expected:?}, {:?}", said.messages);
            }
            found.push((*category, *name, runs));
        }
    }
    (found, wrong)
}

/// The table of the document.
fn table(found: &[(&str, &str, bool)]) -> String {
    let mut out = String::from("| category | runs | refused by name |\n|---|---|---|\n");
    let mut categories: Vec<&str> = found.iter().map(|(category, ..)| *category).collect();
    categories.dedup();
    categories.sort_unstable();
    categories.dedup();
    for category in categories {
        let names = |runs: bool| {
            let mut names: Vec<&str> = found
                .iter()
                .filter(|(c, _, r)| *c == category && *r == runs)
                .map(|(_, name, _)| *name)
                .collect();
            names.sort_unstable();
            names.join(", ")
        };
        let _ = writeln!(out, "| {category} | {} | {} |", names(true), names(false));
    }
    out
}

#[test]
fn every_builtin_runs_or_is_refused_by_name() {
    let fs = SimFs::new(1);
    let config = InstanceConfig::small("/data", fs);
    let instance = Instance::open(config).expect("opens");
    let run = instance.spawn_session("builtins", answers);
    let (found, wrong) = match run.join() {
        Ok(found) => found,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    instance.shutdown().expect("closes");
    assert!(wrong.is_empty(), "{wrong}");

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/compatibility.md");
    let document = std::fs::read_to_string(&path).expect("the document");
    let (front, rest) = document.split_once(BEGIN).expect("the mark before the list");
    let (old, back) = rest.split_once(END).expect("the mark behind the list");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let new = format!("{front}{BEGIN}{}{END}{back}", table(&found));
        std::fs::write(&path, new).expect("a writable document");
        return;
    }
    // What is being built may have got further than the document.
    let settled: Vec<(&str, &str, bool)> = found
        .into_iter()
        .filter(|(_, name, _)| {
            !LIST.iter().any(|(_, is, calls)| *is == Either && calls.iter().any(|(n, _)| n == name))
        })
        .collect();
    for (category, name, runs) in settled {
        let line = old.lines().find(|l| l.starts_with(&format!("| {category} |"))).unwrap_or("");
        let column = line.split('|').nth(if runs { 2 } else { 3 }).unwrap_or("");
        let told = column.split(',').any(|n| n.trim() == name);
        assert!(
            told,
            "docs/compatibility.md does not say this of {name}: UPDATE_EXPECT=1 writes it"
        );
    }
}
