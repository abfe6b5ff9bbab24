    @filegroupname sysname = NULL
AS
IF @filegroupname IS NOT NULL AND FILEGROUP_ID(@filegroupname) IS NULL
BEGIN
    RAISERROR(15021, -1, -1, N'@filegroupname')
    RETURN 1
END
SELECT g.name AS groupname, CAST(g.data_space_id AS smallint) AS groupid,
    (SELECT COUNT(*) FROM sys.database_files AS f WHERE f.data_space_id = g.data_space_id) AS filecount
FROM sys.filegroups AS g WHERE @filegroupname IS NULL OR g.name = @filegroupname
ORDER BY g.data_space_id
IF @filegroupname IS NOT NULL
    SELECT CAST(f.name AS sysname) AS file_in_group, CAST(f.file_id & 0x7fff AS smallint) AS fileid, CAST(f.physical_name AS nchar(260)) AS filename,
        CAST(CAST(CAST(f.size AS bigint) * 8 AS nvarchar(15)) + N' KB' AS nvarchar(15)) AS size,
        CAST(CASE WHEN f.max_size = -1 THEN N'Unlimited' ELSE CAST(CAST(f.max_size AS bigint) * 8 AS nvarchar(15)) + N' KB' END AS nvarchar(15)) AS maxsize,
        CAST(CAST(CAST(f.growth AS bigint) * 8 AS nvarchar(15)) + N' KB' AS nvarchar(15)) AS growth
    FROM sys.database_files AS f WHERE f.data_space_id = FILEGROUP_ID(@filegroupname) ORDER BY f.file_id
RETURN 0
