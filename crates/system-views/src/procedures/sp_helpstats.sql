    @objname nvarchar(776),
    @results nvarchar(5) = 'STATS'
AS
IF PARSENAME(@objname, 3) <> DB_NAME()
BEGIN
    RAISERROR(15250, -1, -1)
    RETURN 1
END
DECLARE @id int = OBJECT_ID(@objname)
IF @id IS NULL
BEGIN
    DECLARE @database sysname = DB_NAME()
    RAISERROR(15009, -1, -1, @objname, @database)
    RETURN 1
END
IF UPPER(@results) NOT IN ('STATS', 'ALL')
BEGIN
    RAISERROR(N'Invalid option: %s', 16, 1, @results)
    RETURN 1
END
IF NOT EXISTS (
    SELECT 1 FROM sys.stats s
    WHERE s.object_id = @id
        AND (UPPER(@results) = 'ALL' OR s.auto_created = 1 OR s.user_created = 1)
)
BEGIN
    IF UPPER(@results) = 'ALL'
        RAISERROR(15575, -1, -1)
    ELSE
        RAISERROR(15574, -1, -1)
    RETURN 0
END
SELECT s.name AS statistics_name,
    CAST(STRING_AGG(COL_NAME(c.object_id, c.column_id), ', ')
        WITHIN GROUP (ORDER BY c.stats_column_id) AS nvarchar(2078)) AS statistics_keys
FROM sys.stats s JOIN sys.stats_columns c ON c.object_id = s.object_id AND c.stats_id = s.stats_id
WHERE s.object_id = @id
    AND (UPPER(@results) = 'ALL' OR s.auto_created = 1 OR s.user_created = 1)
GROUP BY s.name, s.stats_id
ORDER BY s.stats_id
RETURN 0
