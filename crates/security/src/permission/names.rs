//! Every permission of SQL Server 2022 on the classes that there are here: its name, its type, its number.
//!
//! The names and types are those of sys.fn_builtin_permissions, where one name on several classes is one line. Numbers
//! are this house's and stand in system tables: a new permission takes one that no permission ever had, and below
//! 1,000, where those of columns begin.

macro_rules! permissions {
    ($($variant:ident = $id:literal, $name:literal, $code:literal,)*) => {
        /// A permission by name. Its number is what the system tables hold: never reused.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Permission { $($variant = $id,)* }

        impl Permission {
            /// Every one.
            pub const ALL: &'static [Permission] = &[$(Permission::$variant,)*];
            /// As in GRANT, and `permission_name`.
            pub fn name(self) -> &'static str { match self { $(Permission::$variant => $name,)* } }
            /// `type`: up to four letters.
            pub fn code(self) -> &'static str { match self { $(Permission::$variant => $code,)* } }
            /// As stored.
            pub fn number(self) -> i16 { self as i16 }
        }
    };
}

permissions! {
    Control = 1, "CONTROL", "CL",
    Alter = 2, "ALTER", "AL",
    TakeOwnership = 3, "TAKE OWNERSHIP", "TO",
    Impersonate = 4, "IMPERSONATE", "IM",
    ViewDefinition = 5, "VIEW DEFINITION", "VW",
    Select = 6, "SELECT", "SL",
    Insert = 7, "INSERT", "IN",
    Update = 8, "UPDATE", "UP",
    Delete = 9, "DELETE", "DL",
    References = 10, "REFERENCES", "RF",
    Execute = 11, "EXECUTE", "EX",
    ViewChangeTracking = 12, "VIEW CHANGE TRACKING", "VWCT",
    Connect = 20, "CONNECT", "CO",
    CreateTable = 21, "CREATE TABLE", "CRTB",
    CreateProcedure = 22, "CREATE PROCEDURE", "CRPR",
    CreateView = 23, "CREATE VIEW", "CRVW",
    CreateFunction = 24, "CREATE FUNCTION", "CRFN",
    CreateSchema = 25, "CREATE SCHEMA", "CRSM",
    CreateRole = 26, "CREATE ROLE", "CRRL",
    CreateType = 27, "CREATE TYPE", "CRTY",
    AlterAnyUser = 28, "ALTER ANY USER", "ALUS",
    AlterAnyRole = 29, "ALTER ANY ROLE", "ALRL",
    AlterAnySchema = 30, "ALTER ANY SCHEMA", "ALSM",
    ViewDatabaseState = 31, "VIEW DATABASE STATE", "VWDS",
    BackupDatabase = 32, "BACKUP DATABASE", "BADB",
    BackupLog = 33, "BACKUP LOG", "BALO",
    Checkpoint = 34, "CHECKPOINT", "CP",
    ShowPlan = 35, "SHOWPLAN", "SPLN",
    Unmask = 36, "UNMASK", "UMSK",
    AlterAnyMask = 37, "ALTER ANY MASK", "AAMK",
    CreateDefault = 38, "CREATE DEFAULT", "CRDF",
    CreateRule = 39, "CREATE RULE", "CRRU",
    AlterAnyDatabaseDdlTrigger = 40, "ALTER ANY DATABASE DDL TRIGGER", "ALTG",
    AlterAnyApplicationRole = 41, "ALTER ANY APPLICATION ROLE", "ALAR",
    CreateXmlSchemaCollection = 42, "CREATE XML SCHEMA COLLECTION", "CRXS",
    CreateFulltextCatalog = 43, "CREATE FULLTEXT CATALOG", "CRFT",
    AlterAnyDatabaseAudit = 44, "ALTER ANY DATABASE AUDIT", "ALDA",
    CreateSynonym = 45, "CREATE SYNONYM", "CRSN",
    AlterAnySecurityPolicy = 46, "ALTER ANY SECURITY POLICY", "ALSP",
    AlterAnyDataspace = 47, "ALTER ANY DATASPACE", "ALDS",
    AlterAnyDatabaseScopedConfiguration = 48, "ALTER ANY DATABASE SCOPED CONFIGURATION", "ALDC",
    AlterAnySensitivityClassification = 49, "ALTER ANY SENSITIVITY CLASSIFICATION", "AASC",
    ConnectSql = 50, "CONNECT SQL", "COSQ",
    ControlServer = 51, "CONTROL SERVER", "CL",
    ViewServerState = 52, "VIEW SERVER STATE", "VWSS",
    AlterServerState = 53, "ALTER SERVER STATE", "ALSS",
    AlterSettings = 54, "ALTER SETTINGS", "ALST",
    AlterAnyLogin = 55, "ALTER ANY LOGIN", "ALLG",
    AlterAnyDatabase = 56, "ALTER ANY DATABASE", "ALDB",
    AlterAnyServerRole = 57, "ALTER ANY SERVER ROLE", "ALSR",
    AlterAnyConnection = 58, "ALTER ANY CONNECTION", "ALCO",
    AlterTrace = 59, "ALTER TRACE", "ALTR",
    CreateAnyDatabase = 60, "CREATE ANY DATABASE", "CRDB",
    ViewAnyDatabase = 61, "VIEW ANY DATABASE", "VWDB",
    ViewAnyDefinition = 62, "VIEW ANY DEFINITION", "VWAD",
    ConnectAnyDatabase = 63, "CONNECT ANY DATABASE", "CADB",
    SelectAllUserSecurables = 64, "SELECT ALL USER SECURABLES", "SUS",
    ImpersonateAnyLogin = 65, "IMPERSONATE ANY LOGIN", "IAL",
    AdministerBulkOperations = 66, "ADMINISTER BULK OPERATIONS", "ADBO",
    Shutdown = 67, "SHUTDOWN", "SHDN",
    ViewAnyErrorLog = 68, "VIEW ANY ERROR LOG", "VEL",
    AlterAnyServerAudit = 69, "ALTER ANY SERVER AUDIT", "ALAA",
    AlterAnyAvailabilityGroup = 100, "ALTER ANY AVAILABILITY GROUP", "ALAG",
    AlterAnyCredential = 101, "ALTER ANY CREDENTIAL", "ALCD",
    AlterAnyEndpoint = 102, "ALTER ANY ENDPOINT", "ALHE",
    AlterAnyEventNotification = 103, "ALTER ANY EVENT NOTIFICATION", "ALES",
    AlterAnyEventSession = 104, "ALTER ANY EVENT SESSION", "AAES",
    AlterAnyEventSessionAddEvent = 105, "ALTER ANY EVENT SESSION ADD EVENT", "LSAE",
    AlterAnyEventSessionAddTarget = 106, "ALTER ANY EVENT SESSION ADD TARGET", "LSAT",
    AlterAnyEventSessionDisable = 107, "ALTER ANY EVENT SESSION DISABLE", "DES",
    AlterAnyEventSessionDropEvent = 108, "ALTER ANY EVENT SESSION DROP EVENT", "LSDE",
    AlterAnyEventSessionDropTarget = 109, "ALTER ANY EVENT SESSION DROP TARGET", "LSDT",
    AlterAnyEventSessionEnable = 110, "ALTER ANY EVENT SESSION ENABLE", "EES",
    AlterAnyEventSessionOption = 111, "ALTER ANY EVENT SESSION OPTION", "LESO",
    AlterAnyLinkedServer = 112, "ALTER ANY LINKED SERVER", "ALLS",
    AlterResources = 113, "ALTER RESOURCES", "ALRS",
    AuthenticateServer = 114, "AUTHENTICATE SERVER", "AUTH",
    CreateAnyEventSession = 115, "CREATE ANY EVENT SESSION", "CRES",
    CreateAvailabilityGroup = 116, "CREATE AVAILABILITY GROUP", "CRAC",
    CreateDdlEventNotification = 117, "CREATE DDL EVENT NOTIFICATION", "CRDE",
    CreateEndpoint = 118, "CREATE ENDPOINT", "CRHE",
    CreateLogin = 119, "CREATE LOGIN", "CRLG",
    CreateServerRole = 120, "CREATE SERVER ROLE", "CRSR",
    CreateTraceEventNotification = 121, "CREATE TRACE EVENT NOTIFICATION", "CRTE",
    DropAnyEventSession = 122, "DROP ANY EVENT SESSION", "DRES",
    ExternalAccessAssembly = 123, "EXTERNAL ACCESS ASSEMBLY", "XA",
    UnsafeAssembly = 124, "UNSAFE ASSEMBLY", "XU",
    ViewAnyCryptographicallySecuredDefinition = 125, "VIEW ANY CRYPTOGRAPHICALLY SECURED DEFINITION", "VACD",
    ViewAnyPerformanceDefinition = 126, "VIEW ANY PERFORMANCE DEFINITION", "VAP",
    ViewAnySecurityDefinition = 127, "VIEW ANY SECURITY DEFINITION", "VAS",
    ViewServerPerformanceState = 128, "VIEW SERVER PERFORMANCE STATE", "VSP",
    ViewServerSecurityAudit = 129, "VIEW SERVER SECURITY AUDIT", "VSSA",
    ViewServerSecurityState = 130, "VIEW SERVER SECURITY STATE", "VSS",
    CreateSequence = 200, "CREATE SEQUENCE", "CRSO",
    ViewAnySensitivityClassification = 201, "VIEW ANY SENSITIVITY CLASSIFICATION", "VASC",
    Receive = 202, "RECEIVE", "RC",
    AdministerDatabaseBulkOperations = 300, "ADMINISTER DATABASE BULK OPERATIONS", "DABO",
    AlterAnyAssembly = 301, "ALTER ANY ASSEMBLY", "ALAS",
    AlterAnyAsymmetricKey = 302, "ALTER ANY ASYMMETRIC KEY", "ALAK",
    AlterAnyCertificate = 303, "ALTER ANY CERTIFICATE", "ALCF",
    AlterAnyColumnEncryptionKey = 304, "ALTER ANY COLUMN ENCRYPTION KEY", "ALCK",
    AlterAnyColumnMasterKey = 305, "ALTER ANY COLUMN MASTER KEY", "ALCM",
    AlterAnyContract = 306, "ALTER ANY CONTRACT", "ALSC",
    AlterAnyDatabaseEventNotification = 307, "ALTER ANY DATABASE EVENT NOTIFICATION", "ALED",
    AlterAnyDatabaseEventSession = 308, "ALTER ANY DATABASE EVENT SESSION", "AADS",
    AlterAnyDatabaseEventSessionAddEvent = 309, "ALTER ANY DATABASE EVENT SESSION ADD EVENT", "LDAE",
    AlterAnyDatabaseEventSessionAddTarget = 310, "ALTER ANY DATABASE EVENT SESSION ADD TARGET", "LDAT",
    AlterAnyDatabaseEventSessionDisable = 311, "ALTER ANY DATABASE EVENT SESSION DISABLE", "DDES",
    AlterAnyDatabaseEventSessionDropEvent = 312, "ALTER ANY DATABASE EVENT SESSION DROP EVENT", "LDDE",
    AlterAnyDatabaseEventSessionDropTarget = 313, "ALTER ANY DATABASE EVENT SESSION DROP TARGET", "LDDT",
    AlterAnyDatabaseEventSessionEnable = 314, "ALTER ANY DATABASE EVENT SESSION ENABLE", "EDES",
    AlterAnyDatabaseEventSessionOption = 315, "ALTER ANY DATABASE EVENT SESSION OPTION", "LDSO",
    AlterAnyExternalDataSource = 316, "ALTER ANY EXTERNAL DATA SOURCE", "AEDS",
    AlterAnyExternalFileFormat = 317, "ALTER ANY EXTERNAL FILE FORMAT", "AEFF",
    AlterAnyExternalJob = 318, "ALTER ANY EXTERNAL JOB", "AESJ",
    AlterAnyExternalLanguage = 319, "ALTER ANY EXTERNAL LANGUAGE", "ALLA",
    AlterAnyExternalLibrary = 320, "ALTER ANY EXTERNAL LIBRARY", "ALEL",
    AlterAnyExternalStream = 321, "ALTER ANY EXTERNAL STREAM", "AEST",
    AlterAnyFulltextCatalog = 322, "ALTER ANY FULLTEXT CATALOG", "ALFT",
    AlterAnyMessageType = 323, "ALTER ANY MESSAGE TYPE", "ALMT",
    AlterAnyRemoteServiceBinding = 324, "ALTER ANY REMOTE SERVICE BINDING", "ALSB",
    AlterAnyRoute = 325, "ALTER ANY ROUTE", "ALRT",
    AlterAnyService = 326, "ALTER ANY SERVICE", "ALSV",
    AlterAnySymmetricKey = 327, "ALTER ANY SYMMETRIC KEY", "ALSK",
    AlterLedger = 328, "ALTER LEDGER", "ALR",
    AlterLedgerConfiguration = 329, "ALTER LEDGER CONFIGURATION", "ALC",
    Authenticate = 330, "AUTHENTICATE", "AUTH",
    ConnectReplication = 331, "CONNECT REPLICATION", "CORP",
    CreateAggregate = 332, "CREATE AGGREGATE", "CRAG",
    CreateAnyDatabaseEventSession = 333, "CREATE ANY DATABASE EVENT SESSION", "CRDS",
    CreateAssembly = 334, "CREATE ASSEMBLY", "CRAS",
    CreateAsymmetricKey = 335, "CREATE ASYMMETRIC KEY", "CRAK",
    CreateCertificate = 336, "CREATE CERTIFICATE", "CRCF",
    CreateContract = 337, "CREATE CONTRACT", "CRSC",
    CreateDatabase = 338, "CREATE DATABASE", "CRDB",
    CreateDatabaseDdlEventNotification = 339, "CREATE DATABASE DDL EVENT NOTIFICATION", "CRED",
    CreateExternalLanguage = 340, "CREATE EXTERNAL LANGUAGE", "CRLA",
    CreateExternalLibrary = 341, "CREATE EXTERNAL LIBRARY", "CREL",
    CreateMessageType = 342, "CREATE MESSAGE TYPE", "CRMT",
    CreateQueue = 343, "CREATE QUEUE", "CRQU",
    CreateRemoteServiceBinding = 344, "CREATE REMOTE SERVICE BINDING", "CRSB",
    CreateRoute = 345, "CREATE ROUTE", "CRRT",
    CreateService = 346, "CREATE SERVICE", "CRSV",
    CreateSymmetricKey = 347, "CREATE SYMMETRIC KEY", "CRSK",
    CreateUser = 348, "CREATE USER", "CUSR",
    DropAnyDatabaseEventSession = 349, "DROP ANY DATABASE EVENT SESSION", "DRDS",
    EnableLedger = 350, "ENABLE LEDGER", "EL",
    ExecuteAnyExternalEndpoint = 351, "EXECUTE ANY EXTERNAL ENDPOINT", "EAEE",
    ExecuteAnyExternalScript = 352, "EXECUTE ANY EXTERNAL SCRIPT", "EAES",
    KillDatabaseConnection = 353, "KILL DATABASE CONNECTION", "KIDC",
    SubscribeQueryNotifications = 354, "SUBSCRIBE QUERY NOTIFICATIONS", "SUQN",
    ViewAnyColumnEncryptionKeyDefinition = 355, "VIEW ANY COLUMN ENCRYPTION KEY DEFINITION", "VWCK",
    ViewAnyColumnMasterKeyDefinition = 356, "VIEW ANY COLUMN MASTER KEY DEFINITION", "VWCM",
    ViewCryptographicallySecuredDefinition = 357, "VIEW CRYPTOGRAPHICALLY SECURED DEFINITION", "VCD",
    ViewDatabasePerformanceState = 358, "VIEW DATABASE PERFORMANCE STATE", "VDP",
    ViewDatabaseSecurityAudit = 359, "VIEW DATABASE SECURITY AUDIT", "VDSA",
    ViewDatabaseSecurityState = 360, "VIEW DATABASE SECURITY STATE", "VDS",
    ViewLedgerContent = 361, "VIEW LEDGER CONTENT", "VLC",
    ViewPerformanceDefinition = 362, "VIEW PERFORMANCE DEFINITION", "VWP",
    ViewSecurityDefinition = 363, "VIEW SECURITY DEFINITION", "VWS",
}

impl Permission {
    /// By its name, in capitals with single spaces; EXEC and ALL are the parser's matter.
    pub fn by_name(name: &str) -> Option<Permission> {
        Permission::ALL.iter().copied().find(|p| p.name() == name)
    }

    /// As stored.
    pub fn from_number(number: i16) -> Option<Permission> {
        Permission::ALL.iter().copied().find(|p| p.number() == number)
    }
}
