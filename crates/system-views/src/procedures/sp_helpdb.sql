    @dbname sysname = NULL
AS
IF @dbname IS NOT NULL AND DB_ID(@dbname) IS NULL
BEGIN
    RAISERROR(15010, -1, -1, @dbname)
    RETURN 1
END
SELECT d.name, CAST(STR(s.pages / 128.0, 10, 2) + N' MB' AS nvarchar(13)) AS db_size, CAST(SUSER_SNAME(d.owner_sid) AS sysname) AS owner,
    CAST(d.database_id AS smallint) AS dbid, CAST(CONVERT(varchar(11), d.create_date, 109) AS nvarchar(11)) AS created,
    CAST('Status=' + d.state_desc + ', Updateability=READ_WRITE, UserAccess=MULTI_USER, Recovery=' + d.recovery_model_desc
        + ', Version=957, Collation=' + d.collation_name + ', SQLSortOrder=' + CAST(DATABASEPROPERTYEX(d.name, 'SQLSortOrder') AS nvarchar(12)) AS nvarchar(600)) AS status,
    d.compatibility_level
FROM sys.databases AS d
    LEFT JOIN (SELECT database_id, SUM(CAST(size AS bigint)) AS pages FROM sys.master_files GROUP BY database_id) AS s
        ON s.database_id = d.database_id
WHERE @dbname IS NULL OR d.name = @dbname
ORDER BY d.name
IF @dbname IS NOT NULL
    SELECT f.name, CAST(f.file_id & 0x7fff AS smallint) AS fileid, CAST(f.physical_name AS nchar(260)) AS filename,
        CAST(CASE WHEN f.data_space_id = 0 THEN NULL ELSE FILEGROUP_NAME(f.data_space_id) END AS sysname) AS filegroup,
        CAST(CAST(CAST(f.size AS bigint) * 8 AS nvarchar(15)) + N' KB' AS nvarchar(18)) AS size,
        CAST(CASE WHEN f.max_size = -1 THEN N'Unlimited' ELSE CAST(CAST(f.max_size AS bigint) * 8 AS nvarchar(15)) + N' KB' END AS nvarchar(18)) AS maxsize,
        CAST(CAST(CAST(f.growth AS bigint) * 8 AS nvarchar(15)) + N' KB' AS nvarchar(18)) AS growth,
        CAST(CASE WHEN f.type = 1 THEN 'log only' ELSE 'data only' END AS varchar(9)) AS usage
    FROM sys.master_files AS f WHERE f.database_id = DB_ID(@dbname) ORDER BY f.file_id
RETURN 0
