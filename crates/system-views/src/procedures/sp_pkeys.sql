    @table_name sysname,
    @table_owner sysname = NULL,
    @table_qualifier sysname = NULL
AS
IF @table_qualifier IS NOT NULL AND @table_qualifier <> '' AND @table_qualifier <> '%' AND @table_qualifier <> DB_NAME()
BEGIN
    RAISERROR(15250, -1, -1)
    RETURN
END
-- Without an owner the table is the one that a statement of the caller would find.
DECLARE @table int = OBJECT_ID(ISNULL(QUOTENAME(@table_owner) + N'.', N'') + QUOTENAME(@table_name))
SELECT CAST(DB_NAME() AS sysname) AS TABLE_QUALIFIER, CAST(SCHEMA_NAME(o.schema_id) AS sysname) AS TABLE_OWNER,
    o.name AS TABLE_NAME, c.name AS COLUMN_NAME, CAST(i.key_ordinal AS smallint) AS KEY_SEQ, k.name AS PK_NAME
FROM sys.key_constraints AS k
    JOIN sys.objects AS o ON o.object_id = k.parent_object_id
    JOIN sys.index_columns AS i ON i.object_id = o.object_id AND i.index_id = k.unique_index_id
    JOIN sys.columns AS c ON c.object_id = o.object_id AND c.column_id = i.column_id
WHERE k.type = 'PK' AND k.parent_object_id = @table AND i.key_ordinal > 0
ORDER BY 1, 2, 3, 5
