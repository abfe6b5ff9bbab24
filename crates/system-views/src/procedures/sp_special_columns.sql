    @table_name sysname,
    @table_owner sysname = NULL,
    @table_qualifier sysname = NULL,
    @col_type char(1) = 'R',
    @scope char(1) = 'T',
    @nullable char(1) = 'U',
    @ODBCVer int = 2
AS
IF @table_qualifier IS NOT NULL AND @table_qualifier <> '' AND @table_qualifier <> '%' AND @table_qualifier <> DB_NAME()
BEGIN
    RAISERROR(15250, -1, -1)
    RETURN
END
-- No table has a rowversion column: nothing changes by itself (@col_type = 'V').
SELECT CAST(CASE WHEN @col_type = 'V' THEN NULL WHEN @scope = 'C' THEN 0 ELSE 1 END AS smallint) AS SCOPE, s.COLUMN_NAME,
    CAST(CASE WHEN s.IS_RECENT = 1 THEN -9 WHEN @ODBCVer = 3 THEN s.DATA_TYPE_3 ELSE s.DATA_TYPE_2 END AS smallint) AS DATA_TYPE,
    s.TYPE_NAME, s.PRECISION, s.LENGTH, s.SCALE, CAST(1 AS smallint) AS PSEUDO_COLUMN
FROM sys.spt_columns AS s
    JOIN sys.objects AS o ON o.name = s.TABLE_NAME AND SCHEMA_NAME(o.schema_id) = s.TABLE_OWNER
    JOIN sys.index_columns AS i ON i.object_id = o.object_id AND i.column_id = s.ORDINAL_POSITION
WHERE @col_type = 'R' AND s.TABLE_NAME = @table_name AND (@table_owner IS NULL OR s.TABLE_OWNER = @table_owner)
ORDER BY i.key_ordinal
