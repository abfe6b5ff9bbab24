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
-- Without an owner the table is the one that a statement of the caller would find.
DECLARE @table int = OBJECT_ID(ISNULL(QUOTENAME(@table_owner) + N'.', N'') + QUOTENAME(@table_name))
-- The first unique key, or the columns that change by themselves (@col_type = 'V').
DECLARE @index int = (
    SELECT MIN(i.index_id) FROM sys.indexes AS i
    WHERE i.object_id = @table AND i.is_unique = 1 AND i.has_filter = 0 AND i.is_disabled = 0 AND @col_type = 'R'
        AND (@nullable <> 'O' OR NOT EXISTS (
            SELECT * FROM sys.index_columns AS k JOIN sys.columns AS c ON c.object_id = k.object_id AND c.column_id = k.column_id
            WHERE k.object_id = i.object_id AND k.index_id = i.index_id AND k.key_ordinal > 0 AND c.is_nullable = 1)))
SELECT CAST(CASE WHEN @col_type = 'V' THEN NULL WHEN @scope = 'C' THEN 0 ELSE 1 END AS smallint) AS SCOPE, s.COLUMN_NAME,
    CAST(CASE WHEN s.IS_RECENT = 1 THEN -9 WHEN @ODBCVer >= 3 THEN s.DATA_TYPE_3 ELSE s.DATA_TYPE_2 END AS smallint) AS DATA_TYPE,
    s.TYPE_NAME, s.PRECISION, s.LENGTH, s.SCALE, CAST(1 AS smallint) AS PSEUDO_COLUMN
FROM sys.spt_columns AS s
    LEFT JOIN sys.index_columns AS i
        ON i.object_id = @table AND i.index_id = @index AND i.column_id = s.ORDINAL_POSITION AND i.key_ordinal > 0
WHERE s.OBJECT_ID = @table AND (i.column_id IS NOT NULL OR (@col_type = 'V' AND s.TYPE_NAME = 'timestamp'))
ORDER BY i.key_ordinal, s.ORDINAL_POSITION
