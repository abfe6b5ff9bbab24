    @filename sysname = NULL
AS
IF @filename IS NOT NULL AND FILE_ID(@filename) IS NULL
BEGIN
    RAISERROR(15325, -1, -1, 'file', @filename)
    RETURN 1
END
SELECT f.name, CAST(f.file_id & 0x7fff AS smallint) AS fileid, CAST(f.physical_name AS nchar(260)) AS filename,
    CAST(CASE WHEN f.data_space_id = 0 THEN NULL ELSE FILEGROUP_NAME(f.data_space_id) END AS sysname) AS filegroup,
    CAST(CAST(CAST(f.size AS bigint) * 8 AS nvarchar(15)) + N' KB' AS nvarchar(18)) AS size,
    CAST(CASE WHEN f.max_size = -1 THEN N'Unlimited' ELSE CAST(CAST(f.max_size AS bigint) * 8 AS nvarchar(15)) + N' KB' END AS nvarchar(18)) AS maxsize,
    CAST(CAST(CAST(f.growth AS bigint) * 8 AS nvarchar(15)) + N' KB' AS nvarchar(18)) AS growth,
    CAST(CASE WHEN f.type = 1 THEN 'log only' ELSE 'data only' END AS varchar(9)) AS usage
FROM sys.database_files AS f
WHERE @filename IS NULL OR f.name = @filename
ORDER BY f.file_id
RETURN 0
