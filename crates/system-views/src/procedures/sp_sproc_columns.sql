    @procedure_name nvarchar(390) = '%',
    @procedure_owner nvarchar(384) = NULL,
    @procedure_qualifier sysname = NULL,
    @column_name nvarchar(384) = NULL,
    @ODBCVer int = 2,
    @fUsePattern bit = 1
AS
SET @procedure_name = ISNULL(@procedure_name, N'%')
IF CHARINDEX(';', @procedure_name) > 0
    SET @procedure_name = LEFT(@procedure_name, CHARINDEX(';', @procedure_name) - 1)
IF @procedure_qualifier IS NOT NULL AND @procedure_qualifier <> '' AND @procedure_qualifier <> '%' AND @procedure_qualifier <> DB_NAME()
BEGIN
    RAISERROR(15250, -1, -1)
    RETURN
END
SELECT PROCEDURE_QUALIFIER, PROCEDURE_OWNER, PROCEDURE_NAME, COLUMN_NAME, COLUMN_TYPE,
    CAST(CASE WHEN IS_RECENT = 1 THEN -9 WHEN @ODBCVer >= 3 THEN DATA_TYPE_3 ELSE DATA_TYPE_2 END AS smallint) AS DATA_TYPE,
    TYPE_NAME, PRECISION, CASE WHEN IS_RECENT = 1 THEN PRECISION * 2 ELSE LENGTH END AS LENGTH, CASE WHEN IS_RECENT = 1 THEN NULL ELSE SCALE END AS SCALE, RADIX, NULLABLE, REMARKS, COLUMN_DEF,
    CAST(CASE WHEN IS_RECENT = 1 THEN -9 ELSE SQL_DATA_TYPE END AS smallint) AS SQL_DATA_TYPE,
    CASE WHEN IS_RECENT = 1 THEN NULL ELSE SQL_DATETIME_SUB END AS SQL_DATETIME_SUB,
    CASE WHEN IS_RECENT = 1 THEN PRECISION * 2 ELSE CHAR_OCTET_LENGTH END AS CHAR_OCTET_LENGTH,
    ORDINAL_POSITION, IS_NULLABLE,
    SS_DATA_TYPE
FROM sys.spt_parameters
WHERE ((@fUsePattern = 1 AND PROCEDURE_BARE_NAME LIKE @procedure_name ESCAPE '\') OR (@fUsePattern = 0 AND PROCEDURE_BARE_NAME = @procedure_name))
    AND (@procedure_owner IS NULL OR (@fUsePattern = 1 AND PROCEDURE_OWNER LIKE @procedure_owner ESCAPE '\') OR (@fUsePattern = 0 AND PROCEDURE_OWNER = @procedure_owner))
    AND (@column_name IS NULL OR (@fUsePattern = 1 AND COLUMN_NAME LIKE @column_name ESCAPE '\') OR (@fUsePattern = 0 AND COLUMN_NAME = @column_name))
ORDER BY PROCEDURE_OWNER, PROCEDURE_NAME, ORDINAL_POSITION
