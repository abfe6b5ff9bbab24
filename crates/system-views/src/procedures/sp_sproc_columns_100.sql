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
    CAST(CASE WHEN @ODBCVer >= 3 THEN DATA_TYPE_3 ELSE DATA_TYPE_2 END AS smallint) AS DATA_TYPE,
    TYPE_NAME, PRECISION, LENGTH, SCALE, RADIX, NULLABLE, REMARKS, COLUMN_DEF,
    SQL_DATA_TYPE,
    SQL_DATETIME_SUB,
    CHAR_OCTET_LENGTH,
    ORDINAL_POSITION, IS_NULLABLE,
    SS_TYPE_CATALOG_NAME, SS_TYPE_SCHEMA_NAME,
    CAST(NULL AS sysname) AS SS_UDT_CATALOG_NAME, CAST(NULL AS sysname) AS SS_UDT_SCHEMA_NAME,
    CAST(NULL AS sysname) AS SS_UDT_ASSEMBLY_TYPE_NAME,
    CAST(NULL AS sysname) AS SS_XML_SCHEMACOLLECTION_CATALOG_NAME,
    CAST(NULL AS sysname) AS SS_XML_SCHEMACOLLECTION_SCHEMA_NAME,
    CAST(NULL AS sysname) AS SS_XML_SCHEMACOLLECTION_NAME,
    SS_DATA_TYPE
FROM sys.spt_parameters
WHERE ((@fUsePattern = 1 AND PROCEDURE_BARE_NAME LIKE @procedure_name ESCAPE '\') OR (@fUsePattern = 0 AND PROCEDURE_BARE_NAME = @procedure_name))
    AND (@procedure_owner IS NULL OR (@fUsePattern = 1 AND PROCEDURE_OWNER LIKE @procedure_owner ESCAPE '\') OR (@fUsePattern = 0 AND PROCEDURE_OWNER = @procedure_owner))
    AND (@column_name IS NULL OR (@fUsePattern = 1 AND COLUMN_NAME LIKE @column_name ESCAPE '\') OR (@fUsePattern = 0 AND COLUMN_NAME = @column_name))
ORDER BY PROCEDURE_OWNER, PROCEDURE_NAME, ORDINAL_POSITION
