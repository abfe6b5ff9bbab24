    @indexonly char(9) = 'NO',
    @fullscan char(9) = 'NO',
    @norecompute char(12) = 'NO',
    @incremental char(12) = 'NO'
AS
DECLARE @only varchar(9) = UPPER(RTRIM(ISNULL(@indexonly, 'NO'))), @full varchar(9) = UPPER(RTRIM(ISNULL(@fullscan, 'NO'))),
    @keep varchar(12) = UPPER(RTRIM(ISNULL(@norecompute, 'NO')))
IF @only NOT IN ('INDEXONLY', 'NO') OR @full NOT IN ('FULLSCAN', 'NO') OR @keep NOT IN ('NORECOMPUTE', 'NO')
BEGIN
    RAISERROR(15600, -1, -1, N'sys.sp_createstats')
    RETURN 1
END
IF @@TRANCOUNT > 0
BEGIN
    RAISERROR(15002, -1, -1, N'sys.sp_createstats')
    RETURN 1
END
IF IS_MEMBER('db_owner') = 0 AND IS_SRVROLEMEMBER('sysadmin') = 0
BEGIN
    RAISERROR(15247, -1, -1)
    RETURN 1
END
DECLARE @with nvarchar(60) = CASE WHEN @full = 'FULLSCAN' AND @keep = 'NORECOMPUTE' THEN N' WITH FULLSCAN, NORECOMPUTE'
    WHEN @full = 'FULLSCAN' THEN N' WITH FULLSCAN' WHEN @keep = 'NORECOMPUTE' THEN N' WITH NORECOMPUTE' ELSE N'' END
DECLARE @table int = 0, @column int, @name nvarchar(400), @made int = 0, @text nvarchar(max), @any bit
WHILE 1 = 1
BEGIN
    SELECT @table = MIN(object_id) FROM sys.tables WHERE object_id > @table
    IF @table IS NULL BREAK
    SET @name = DB_NAME() + N'.' + OBJECT_SCHEMA_NAME(@table) + N'.' + OBJECT_NAME(@table)
    SELECT @column = 0, @any = 0
    WHILE 1 = 1
    BEGIN
        -- A column that no statistics begin with, and (INDEXONLY) that is in an index.
        SELECT @column = MIN(c.column_id) FROM sys.columns AS c
        WHERE c.object_id = @table AND c.column_id > @column
            AND NOT EXISTS (SELECT 1 FROM sys.stats_columns AS s
                WHERE s.object_id = c.object_id AND s.column_id = c.column_id AND s.stats_column_id = 1)
            AND NOT EXISTS (SELECT 1 FROM sys.stats AS s WHERE s.object_id = c.object_id AND s.name = c.name)
            AND (@only = 'NO' OR EXISTS (SELECT 1 FROM sys.index_columns AS i
                WHERE i.object_id = c.object_id AND i.column_id = c.column_id AND i.key_ordinal > 0))
        IF @column IS NULL BREAK
        IF @any = 0 RAISERROR(15018, -1, -1, @name)
        SET @any = 1
        SET @text = N'CREATE STATISTICS ' + QUOTENAME(COL_NAME(@table, @column)) + N' ON ' + QUOTENAME(OBJECT_SCHEMA_NAME(@table))
            + N'.' + QUOTENAME(OBJECT_NAME(@table)) + N' (' + QUOTENAME(COL_NAME(@table, @column)) + N')' + @with
        EXEC (@text)
        IF @@ERROR = 0
        BEGIN
            SET @made = @made + 1
            SET @text = N'     ' + COL_NAME(@table, @column)
            PRINT @text
        END
    END
    IF @any = 0 RAISERROR(15013, -1, -1, @name)
END
RAISERROR(15020, -1, -1, @made)
RETURN 0
