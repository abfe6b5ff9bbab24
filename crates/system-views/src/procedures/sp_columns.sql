    @table_name nvarchar(384),
    @table_owner nvarchar(384) = NULL,
    @table_qualifier sysname = NULL,
    @column_name nvarchar(384) = NULL,
    @ODBCVer int = 2
AS
DECLARE @fUsePattern bit = 1
IF @table_qualifier IS NOT NULL AND @table_qualifier <> '' AND @table_qualifier <> '%' AND @table_qualifier <> DB_NAME()
BEGIN
    RAISERROR(15250, -1, -1)
    RETURN
END
SET @table_name = ISNULL(@table_name, N'%')
SELECT TABLE_QUALIFIER, TABLE_OWNER, TABLE_NAME, COLUMN_NAME,
    CAST(CASE WHEN IS_RECENT = 1 THEN -9 WHEN @ODBCVer >= 3 THEN DATA_TYPE_3 ELSE DATA_TYPE_2 END AS smallint) AS DATA_TYPE,
    TYPE_NAME, PRECISION, CASE WHEN IS_RECENT = 1 THEN PRECISION * 2 ELSE LENGTH END AS LENGTH, CASE WHEN IS_RECENT = 1 THEN NULL ELSE SCALE END AS SCALE, RADIX, NULLABLE, REMARKS, COLUMN_DEF,
    CAST(CASE WHEN IS_RECENT = 1 THEN -9 ELSE SQL_DATA_TYPE END AS smallint) AS SQL_DATA_TYPE,
    CASE WHEN IS_RECENT = 1 THEN NULL ELSE SQL_DATETIME_SUB END AS SQL_DATETIME_SUB,
    CASE WHEN IS_RECENT = 1 THEN PRECISION * 2 ELSE CHAR_OCTET_LENGTH END AS CHAR_OCTET_LENGTH,
    ORDINAL_POSITION, IS_NULLABLE,
    SS_DATA_TYPE
FROM sys.spt_columns
WHERE ((@fUsePattern = 1 AND TABLE_NAME LIKE @table_name ESCAPE '\') OR (@fUsePattern = 0 AND TABLE_NAME = @table_name))
    AND (@table_owner IS NULL OR (@fUsePattern = 1 AND TABLE_OWNER LIKE @table_owner ESCAPE '\') OR (@fUsePattern = 0 AND TABLE_OWNER = @table_owner))
    AND (@column_name IS NULL OR (@fUsePattern = 1 AND COLUMN_NAME LIKE @column_name ESCAPE '\') OR (@fUsePattern = 0 AND COLUMN_NAME = @column_name))
ORDER BY TABLE_OWNER, TABLE_NAME, ORDINAL_POSITION
