//! The options of sp_configure: every one of SQL Server 2022's, with its number, range and default.
//!
//! What an option means here, if anything, is the session crate's to know; the others are kept and shown, and change
//! nothing (docs/compatibility.md). Source: SQL Server's page "Server configuration options", and sys.configurations of a
//! fresh SQL Server.

/// A configuration option.
pub struct ConfigurationOption {
    pub id: i32,
    pub name: &'static str,
    pub minimum: i64,
    pub maximum: i64,
    pub default: i64,
    pub description: &'static str,
    /// It comes into use by RECONFIGURE; else at the next start.
    pub is_dynamic: bool,
    /// Seen only while 'show advanced options' is 1.
    pub is_advanced: bool,
}

macro_rules! options {
    ($($id:literal $name:literal [$minimum:literal, $maximum:literal] $default:literal, $description:literal, $($word:ident)*;)*) => {
        &[$(ConfigurationOption {
            id: $id,
            name: $name,
            minimum: $minimum,
            maximum: $maximum,
            default: $default,
            description: $description,
            is_dynamic: $(options!(@dynamic $word) ||)* false,
            is_advanced: $(options!(@advanced $word) ||)* false,
        }),*]
    };
    (@dynamic dynamic) => { true };
    (@dynamic $other:ident) => { false };
    (@advanced advanced) => { true };
    (@advanced $other:ident) => { false };
}

/// In the order of numbers.
pub static OPTIONS: &[ConfigurationOption] = options! {
    101 "recovery interval (min)" [0, 32767] 0, "Maximum recovery interval in minutes", dynamic advanced;
    102 "allow updates" [0, 1] 0, "Allow updates to system tables", dynamic;
    103 "user connections" [0, 32767] 0, "Number of user connections allowed", advanced;
    106 "locks" [5000, 2147483647] 0, "Number of locks for all users", advanced;
    107 "open objects" [0, 2147483647] 0, "Number of open database objects", advanced;
    109 "fill factor (%)" [0, 100] 0, "Default fill factor percentage", advanced;
    114 "disallow results from triggers" [0, 1] 0, "Disallow returning results from triggers", dynamic advanced;
    115 "nested triggers" [0, 1] 1, "Allow triggers to be invoked within triggers", dynamic;
    116 "server trigger recursion" [0, 1] 1, "Allow recursion for server level triggers", dynamic;
    117 "remote access" [0, 1] 1, "Allow remote access", ;
    124 "default language" [0, 9999] 0, "default language", dynamic;
    400 "cross db ownership chaining" [0, 1] 0, "Allow cross db ownership chaining", dynamic;
    503 "max worker threads" [128, 65535] 0, "Maximum worker threads", dynamic advanced;
    505 "network packet size (B)" [512, 32767] 4096, "Network packet size", dynamic advanced;
    518 "show advanced options" [0, 1] 0, "show advanced options", dynamic;
    542 "remote proc trans" [0, 1] 0, "Create DTC transaction for remote procedures", dynamic;
    544 "c2 audit mode" [0, 1] 0, "c2 audit mode", advanced;
    1126 "default full-text language" [0, 2147483647] 1033, "default full-text language", dynamic advanced;
    1127 "two digit year cutoff" [1753, 9999] 2049, "two digit year cutoff", dynamic advanced;
    1505 "index create memory (KB)" [704, 2147483647] 0, "Memory for index create sorts (kBytes)", dynamic advanced;
    1517 "priority boost" [0, 1] 0, "Priority boost", advanced;
    1519 "remote login timeout (s)" [0, 2147483647] 10, "remote login timeout", dynamic;
    1520 "remote query timeout (s)" [0, 2147483647] 600, "remote query timeout", dynamic;
    1531 "cursor threshold" [-1, 2147483647] -1, "cursor threshold", dynamic advanced;
    1532 "set working set size" [0, 1] 0, "set working set size", advanced;
    1534 "user options" [0, 32767] 0, "user options", dynamic;
    1535 "affinity mask" [-2147483648, 2147483647] 0, "affinity mask", dynamic advanced;
    1536 "max text repl size (B)" [-1, 2147483647] 65536, "Maximum size of a text field in replication.", dynamic;
    1537 "media retention" [0, 365] 0, "Tape retention period in days", dynamic advanced;
    1538 "cost threshold for parallelism" [0, 32767] 5, "cost threshold for parallelism", dynamic advanced;
    1539 "max degree of parallelism" [0, 32767] 0, "maximum degree of parallelism", dynamic advanced;
    1540 "min memory per query (KB)" [512, 2147483647] 1024, "minimum memory per query (kBytes)", dynamic advanced;
    1541 "query wait (s)" [-1, 2147483647] -1, "maximum time to wait for query memory (s)", dynamic advanced;
    1543 "min server memory (MB)" [0, 2147483647] 0, "Minimum size of server memory (MB)", dynamic advanced;
    1544 "max server memory (MB)" [128, 2147483647] 2147483647, "Maximum size of server memory (MB)", dynamic advanced;
    1545 "query governor cost limit" [0, 2147483647] 0, "Maximum estimated cost allowed by query governor", dynamic advanced;
    1546 "lightweight pooling" [0, 1] 0, "User mode scheduler uses lightweight pooling", advanced;
    1547 "scan for startup procs" [0, 1] 0, "scan for startup stored procedures", advanced;
    1549 "affinity64 mask" [-2147483648, 2147483647] 0, "affinity64 mask", dynamic advanced;
    1550 "affinity I/O mask" [-2147483648, 2147483647] 0, "affinity I/O mask", advanced;
    1551 "affinity64 I/O mask" [-2147483648, 2147483647] 0, "affinity64 I/O mask", advanced;
    1555 "transform noise words" [0, 1] 0, "Transform noise words for full-text query", dynamic advanced;
    1556 "precompute rank" [0, 1] 0, "Use precomputed rank for full-text query", dynamic advanced;
    1557 "PH timeout (s)" [1, 3600] 60, "DB connection timeout for full-text protocol handler (s)", dynamic advanced;
    1562 "clr enabled" [0, 1] 0, "CLR user code execution enabled in the server", dynamic;
    1563 "max full-text crawl range" [0, 256] 4, "Maximum  crawl ranges allowed in full-text indexing", dynamic advanced;
    1564 "ft notify bandwidth (min)" [0, 32767] 0, "Number of reserved full-text notifications buffers", dynamic advanced;
    1565 "ft notify bandwidth (max)" [0, 32767] 100, "Max number of full-text notifications buffers", dynamic advanced;
    1566 "ft crawl bandwidth (min)" [0, 32767] 0, "Number of reserved full-text crawl buffers", dynamic advanced;
    1567 "ft crawl bandwidth (max)" [0, 32767] 100, "Max number of full-text crawl buffers", dynamic advanced;
    1568 "default trace enabled" [0, 1] 1, "Enable or disable the default trace", dynamic advanced;
    1569 "blocked process threshold (s)" [0, 86400] 0, "Blocked process reporting threshold", dynamic advanced;
    1570 "in-doubt xact resolution" [0, 2] 0, "Recovery policy for DTC transactions with unknown outcome", dynamic advanced;
    1576 "remote admin connections" [0, 1] 0, "Dedicated Admin Connections are allowed from remote clients", dynamic;
    1577 "common criteria compliance enabled" [0, 1] 0, "Common Criteria compliance mode enabled", advanced;
    1578 "EKM provider enabled" [0, 1] 0, "Enable or disable EKM provider", dynamic advanced;
    1579 "backup compression default" [0, 1] 0, "Enable compression of backups by default", dynamic;
    1580 "filestream access level" [0, 2] 0, "Sets the FILESTREAM access level", dynamic;
    1581 "optimize for ad hoc workloads" [0, 1] 0, "When this option is set, plan cache size is further reduced for a single-use adhoc OLTP workload.", dynamic advanced;
    1582 "access check cache bucket count" [0, 65536] 0, "Default hash bucket count for the access check result security cache", dynamic advanced;
    1583 "access check cache quota" [0, 2147483647] 0, "Default quota for the access check result security cache", dynamic advanced;
    1584 "backup checksum default" [0, 1] 0, "Enable checksum of backups by default", dynamic;
    1585 "automatic soft-NUMA disabled" [0, 1] 0, "Automatic soft-NUMA is enabled by default", advanced;
    1586 "external scripts enabled" [0, 1] 0, "Allows execution of external scripts", dynamic;
    1587 "clr strict security" [0, 1] 1, "CLR strict security enabled in the server", dynamic advanced;
    1588 "column encryption enclave type" [0, 2] 0, "Type of enclave used for computations on encrypted columns", ;
    1589 "tempdb metadata memory-optimized" [0, 1] 0, "Tempdb metadata memory-optimized is disabled by default.", advanced;
    1591 "ADR cleaner retry timeout (min)" [0, 32767] 15, "ADR cleaner retry timeout.", dynamic advanced;
    1592 "ADR Preallocation Factor" [0, 32767] 4, "ADR Preallocation Factor.", dynamic advanced;
    1593 "version high part of SQL Server" [-2147483648, 2147483647] 1048576, "version high part of SQL Server that model database copied for", dynamic advanced;
    1594 "version low part of SQL Server" [-2147483648, 2147483647] 65536006, "version low part of SQL Server that model database copied for", dynamic advanced;
    1595 "Data processed daily limit in TB" [0, 2147483647] 2147483647, "SQL On-demand data processed daily limit in TB", dynamic;
    1596 "Data processed weekly limit in TB" [0, 2147483647] 2147483647, "SQL On-demand data processed weekly limit in TB", dynamic;
    1597 "Data processed monthly limit in TB" [0, 2147483647] 2147483647, "SQL On-demand data processed monthly limit in TB", dynamic;
    1598 "ADR Cleaner Thread Count" [1, 32767] 1, "Max number of threads ADR cleaner can assign.", dynamic advanced;
    1599 "hardware offload enabled" [0, 1] 0, "Enable hardware offloading on the server", advanced;
    1600 "hardware offload config" [0, 255] 0, "Configure hardware offload on the server", advanced;
    1601 "hardware offload mode" [0, 255] 0, "Configure hardware offload mode on the server", advanced;
    1602 "backup compression algorithm" [0, 2] 0, "Configure default backup compression algorithm", dynamic;
    16384 "Agent XPs" [0, 1] 0, "Enable or disable Agent XPs", dynamic advanced;
    16386 "Database Mail XPs" [0, 1] 0, "Enable or disable Database Mail XPs", dynamic advanced;
    16387 "SMO and DMO XPs" [0, 1] 1, "Enable or disable SMO and DMO XPs", dynamic advanced;
    16388 "Ole Automation Procedures" [0, 1] 0, "Enable or disable Ole Automation Procedures", dynamic advanced;
    16390 "xp_cmdshell" [0, 1] 0, "Enable or disable command shell", dynamic advanced;
    16391 "Ad Hoc Distributed Queries" [0, 1] 0, "Enable or disable Ad Hoc Distributed Queries", dynamic advanced;
    16392 "Replication XPs" [0, 1] 0, "Enable or disable Replication XPs", dynamic advanced;
    16393 "contained database authentication" [0, 1] 0, "Enables contained databases and contained authentication", dynamic;
    16394 "hadoop connectivity" [0, 7] 0, "Configure SQL Server to connect to external Hadoop or Microsoft Azure storage blob data sources through PolyBase", ;
    16395 "polybase network encryption" [0, 1] 1, "Configure SQL Server to encrypt control and data channels when using PolyBase", dynamic;
    16396 "remote data archive" [0, 1] 0, "Allow the use of the REMOTE_DATA_ARCHIVE data access for databases", dynamic;
    16397 "allow polybase export" [0, 1] 0, "Allow INSERT into a Hadoop external table", dynamic;
    16398 "allow filesystem enumeration" [0, 1] 1, "Allow enumeration of filesystem", dynamic advanced;
    16399 "polybase enabled" [0, 1] 0, "Configure SQL Server to connect to external data sources through PolyBase", ;
    16400 "suppress recovery model errors" [0, 1] 0, "Return warning instead of error for unsupported ALTER DATABASE SET RECOVERY command", dynamic;
    16401 "openrowset auto_create_statistics" [0, 1] 1, "Enable or disable auto create statistics for openrowset sources.", dynamic advanced;
};
