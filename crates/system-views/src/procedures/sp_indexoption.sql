    @IndexNamePattern nvarchar(1035),
    @OptionName varchar(35),
    @OptionValue varchar(12)
AS
DECLARE @option varchar(35) = LOWER(@OptionName), @value varchar(12) = LOWER(@OptionValue)
IF ISNULL(@option, '') NOT IN ('allowrowlocks', 'allowpagelocks', 'disallowrowlocks', 'disallowpagelocks')
    OR ISNULL(@value, '') NOT IN ('on', 'off', 'yes', 'no', '0', '1', 'true', 'false')
BEGIN
    RAISERROR(15600, -1, -1, N'sys.sp_indexoption')
    RETURN 1
END
-- A table, for all of its indexes, or table.index.
DECLARE @table int = OBJECT_ID(@IndexNamePattern), @index sysname = NULL
IF @table IS NULL
BEGIN
    SET @index = PARSENAME(@IndexNamePattern, 1)
    SET @table = OBJECT_ID(ISNULL(QUOTENAME(PARSENAME(@IndexNamePattern, 3)) + N'.', N'') + QUOTENAME(PARSENAME(@IndexNamePattern, 2)))
    IF @table IS NULL OR NOT EXISTS (SELECT 1 FROM sys.indexes WHERE object_id = @table AND name = @index)
    BEGIN
        RAISERROR(15390, -1, -1, @IndexNamePattern)
        RETURN 1
    END
END
DECLARE @on bit = CASE WHEN @value IN ('on', 'yes', '1', 'true') THEN 1 ELSE 0 END
IF @option LIKE 'dis%' SET @on = 1 - @on
DECLARE @text nvarchar(max) = N'ALTER INDEX ' + ISNULL(QUOTENAME(@index), N'ALL') + N' ON ' + QUOTENAME(OBJECT_SCHEMA_NAME(@table)) + N'.'
    + QUOTENAME(OBJECT_NAME(@table)) + N' SET (' + CASE WHEN @option LIKE '%row%' THEN N'ALLOW_ROW_LOCKS' ELSE N'ALLOW_PAGE_LOCKS' END
    + CASE @on WHEN 1 THEN N' = ON)' ELSE N' = OFF)' END
EXEC (@text)
IF @@ERROR <> 0 RETURN 1
RETURN 0
