    @table_name nvarchar(384),
    @table_owner nvarchar(384) = NULL,
    @table_qualifier sysname = NULL,
    @column_name nvarchar(384) = NULL,
    @NameScope int = 0,
    @ODBCVer int = 2,
    @fUsePattern bit = 1
AS
IF @table_qualifier IS NOT NULL AND @table_qualifier <> '' AND @table_qualifier <> '%' AND @table_qualifier <> DB_NAME()
BEGIN
    RAISERROR(15250, -1, -1)
    RETURN
END
SET @table_name = ISNULL(@table_name, N'%')
SELECT TABLE_QUALIFIER, TABLE_OWNER, TABLE_NAME, COLUMN_NAME,
    CAST(CASE WHEN @ODBCVer >= 3 THEN DATA_TYPE_3 ELSE DATA_TYPE_2 END AS smallint) AS DATA_TYPE,
    TYPE_NAME, PRECISION, LENGTH, SCALE, RADIX, NULLABLE, REMARKS, COLUMN_DEF,
    SQL_DATA_TYPE,
    SQL_DATETIME_SUB,
    CHAR_OCTET_LENGTH,
    ORDINAL_POSITION, IS_NULLABLE,
    SS_IS_SPARSE, SS_IS_COLUMN_SET,
    SS_IS_COMPUTED, SS_IS_IDENTITY,
    CAST(NULL AS sysname) AS SS_UDT_CATALOG_NAME, CAST(NULL AS sysname) AS SS_UDT_SCHEMA_NAME,
    CAST(NULL AS sysname) AS SS_UDT_ASSEMBLY_TYPE_NAME,
    CAST(NULL AS sysname) AS SS_XML_SCHEMACOLLECTION_CATALOG_NAME,
    CAST(NULL AS sysname) AS SS_XML_SCHEMACOLLECTION_SCHEMA_NAME,
    CAST(NULL AS sysname) AS SS_XML_SCHEMACOLLECTION_NAME,
    SS_DATA_TYPE
FROM sys.spt_columns
WHERE ((@fUsePattern = 1 AND TABLE_NAME LIKE @table_name ESCAPE '\') OR (@fUsePattern = 0 AND TABLE_NAME = @table_name))
    AND (@table_owner IS NULL OR (@fUsePattern = 1 AND TABLE_OWNER LIKE @table_owner ESCAPE '\') OR (@fUsePattern = 0 AND TABLE_OWNER = @table_owner))
    AND (@column_name IS NULL OR (@fUsePattern = 1 AND COLUMN_NAME LIKE @column_name ESCAPE '\') OR (@fUsePattern = 0 AND COLUMN_NAME = @column_name))
ORDER BY TABLE_OWNER, TABLE_NAME, ORDINAL_POSITION
