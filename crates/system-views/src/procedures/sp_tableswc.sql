    @table_name nvarchar(384) = NULL,
    @table_owner nvarchar(384) = NULL,
    @table_qualifier nvarchar(384) = NULL,
    @table_type varchar(100) = NULL,
    @fUsePattern bit = 1
AS
-- sp_tables of all databases whose names fit a pattern. ODBC asks it whenever a pattern for them is possible.
IF @table_qualifier IS NULL OR @table_qualifier = DB_NAME()
    OR (@table_qualifier IN ('', '%') AND (@table_name = '' OR @table_owner = ''))
BEGIN
    EXEC sys.sp_tables @table_name, @table_owner, @table_qualifier, @table_type, @fUsePattern
    RETURN
END
DECLARE @from nvarchar(max) = N''
SELECT @from += N' UNION ALL SELECT TABLE_QUALIFIER, TABLE_OWNER, TABLE_NAME, TABLE_TYPE, REMARKS FROM ' + QUOTENAME(name) + N'.sys.spt_tables'
FROM sys.databases
WHERE HAS_DBACCESS(name) = 1
    AND (@fUsePattern = 1 AND name LIKE @table_qualifier ESCAPE '\' OR @fUsePattern = 0 AND name = @table_qualifier)
DECLARE @text nvarchar(max) = N'SELECT TABLE_QUALIFIER, TABLE_OWNER, TABLE_NAME, TABLE_TYPE, REMARKS
FROM (SELECT TABLE_QUALIFIER, TABLE_OWNER, TABLE_NAME, TABLE_TYPE, REMARKS FROM sys.spt_tables WHERE 1 = 0' + @from + N') AS t
WHERE (@name IS NULL OR (@pattern = 1 AND TABLE_NAME LIKE @name ESCAPE ''\'') OR (@pattern = 0 AND TABLE_NAME = @name))
    AND (@owner IS NULL OR (@pattern = 1 AND TABLE_OWNER LIKE @owner ESCAPE ''\'') OR (@pattern = 0 AND TABLE_OWNER = @owner))
    AND (@type IS NULL OR @type = '''' OR @type = ''%'' OR CHARINDEX('''''''' + TABLE_TYPE + '''''''', UPPER(@type)) > 0)
ORDER BY 4, 1, 2, 3'
EXEC sys.sp_executesql @text, N'@name nvarchar(384), @owner nvarchar(384), @type varchar(100), @pattern bit',
    @table_name, @table_owner, @table_type, @fUsePattern
