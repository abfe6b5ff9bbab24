    @table_name nvarchar(384) = NULL,
    @table_owner nvarchar(384) = NULL,
    @table_qualifier sysname = NULL,
    @table_type varchar(100) = NULL,
    @fUsePattern bit = 1
AS
-- Three questions that ODBC and JDBC ask by patterns: which databases, which owners, which types are there?
IF @table_qualifier = '%' AND @table_owner = '' AND @table_name = ''
BEGIN
    SELECT CAST(name AS sysname) AS TABLE_QUALIFIER, CAST(NULL AS sysname) AS TABLE_OWNER,
        CAST(NULL AS sysname) AS TABLE_NAME, CAST(NULL AS varchar(32)) AS TABLE_TYPE,
        CAST(NULL AS varchar(254)) AS REMARKS
    FROM sys.databases ORDER BY 1
    RETURN
END
IF @table_owner = '%' AND @table_qualifier = '' AND @table_name = ''
BEGIN
    SELECT CAST(NULL AS sysname) AS TABLE_QUALIFIER, CAST(name AS sysname) AS TABLE_OWNER,
        CAST(NULL AS sysname) AS TABLE_NAME, CAST(NULL AS varchar(32)) AS TABLE_TYPE,
        CAST(NULL AS varchar(254)) AS REMARKS
    FROM sys.schemas ORDER BY 2
    RETURN
END
IF @table_type = '%' AND @table_qualifier = '' AND @table_owner = '' AND @table_name = ''
BEGIN
    SELECT CAST(NULL AS sysname) AS TABLE_QUALIFIER, CAST(NULL AS sysname) AS TABLE_OWNER,
        CAST(NULL AS sysname) AS TABLE_NAME, CAST(t.name AS varchar(32)) AS TABLE_TYPE,
        CAST(NULL AS varchar(254)) AS REMARKS
    FROM (VALUES ('SYSTEM TABLE'), ('TABLE'), ('VIEW')) AS t(name) ORDER BY 4
    RETURN
END
IF @table_qualifier IS NOT NULL AND @table_qualifier <> '' AND @table_qualifier <> '%' AND @table_qualifier <> DB_NAME()
BEGIN
    RAISERROR(15250, -1, -1)
    RETURN
END
SELECT TABLE_QUALIFIER, TABLE_OWNER, TABLE_NAME, TABLE_TYPE, REMARKS
FROM sys.spt_tables
WHERE (@table_name IS NULL OR (@fUsePattern = 1 AND TABLE_NAME LIKE @table_name ESCAPE '\') OR (@fUsePattern = 0 AND TABLE_NAME = @table_name))
    AND (@table_owner IS NULL OR (@fUsePattern = 1 AND TABLE_OWNER LIKE @table_owner ESCAPE '\') OR (@fUsePattern = 0 AND TABLE_OWNER = @table_owner))
    AND (@table_type IS NULL OR @table_type = '' OR @table_type = '%' OR CHARINDEX('''' + TABLE_TYPE + '''', UPPER(@table_type)) > 0)
ORDER BY 4, 1, 2, 3
