    @pktable_name sysname = NULL,
    @pktable_owner sysname = NULL,
    @pktable_qualifier sysname = NULL,
    @fktable_name sysname = NULL,
    @fktable_owner sysname = NULL,
    @fktable_qualifier sysname = NULL
AS
IF @pktable_name IS NULL AND @fktable_name IS NULL
BEGIN
    RAISERROR(15252, -1, -1)
    RETURN
END
IF (@pktable_qualifier <> '' AND @pktable_qualifier <> '%' AND @pktable_qualifier <> DB_NAME())
    OR (@fktable_qualifier <> '' AND @fktable_qualifier <> '%' AND @fktable_qualifier <> DB_NAME())
BEGIN
    RAISERROR(15250, -1, -1)
    RETURN
END
-- Without an owner a table is the one that a statement of the caller would find.
DECLARE @pktable int = OBJECT_ID(ISNULL(QUOTENAME(@pktable_owner) + N'.', N'') + QUOTENAME(@pktable_name))
DECLARE @fktable int = OBJECT_ID(ISNULL(QUOTENAME(@fktable_owner) + N'.', N'') + QUOTENAME(@fktable_name))
SELECT CAST(DB_NAME() AS sysname) AS PKTABLE_QUALIFIER, CAST(SCHEMA_NAME(p.schema_id) AS sysname) AS PKTABLE_OWNER,
    p.name AS PKTABLE_NAME, CAST(COL_NAME(p.object_id, k.referenced_column_id) AS sysname) AS PKCOLUMN_NAME,
    CAST(DB_NAME() AS sysname) AS FKTABLE_QUALIFIER, CAST(SCHEMA_NAME(t.schema_id) AS sysname) AS FKTABLE_OWNER,
    t.name AS FKTABLE_NAME, CAST(COL_NAME(t.object_id, k.parent_column_id) AS sysname) AS FKCOLUMN_NAME,
    CAST(k.constraint_column_id AS smallint) AS KEY_SEQ,
    CAST(CASE f.update_referential_action WHEN 1 THEN 0 WHEN 0 THEN 1 ELSE f.update_referential_action END AS smallint) AS UPDATE_RULE,
    CAST(CASE f.delete_referential_action WHEN 1 THEN 0 WHEN 0 THEN 1 ELSE f.delete_referential_action END AS smallint) AS DELETE_RULE,
    f.name AS FK_NAME, CAST(i.name AS sysname) AS PK_NAME, CAST(7 AS smallint) AS DEFERRABILITY
FROM sys.foreign_keys AS f
    JOIN sys.foreign_key_columns AS k ON k.constraint_object_id = f.object_id
    JOIN sys.objects AS p ON p.object_id = f.referenced_object_id
    JOIN sys.objects AS t ON t.object_id = f.parent_object_id
    JOIN sys.indexes AS i ON i.object_id = p.object_id AND i.index_id = f.key_index_id
WHERE (@pktable_name IS NULL OR p.object_id = @pktable) AND (@fktable_name IS NULL OR t.object_id = @fktable)
-- By the table that was not asked for: who refers to this one, or whom this one refers to.
ORDER BY CASE WHEN @pktable_name IS NULL THEN SCHEMA_NAME(p.schema_id) ELSE SCHEMA_NAME(t.schema_id) END,
    CASE WHEN @pktable_name IS NULL THEN p.name ELSE t.name END, f.name, k.constraint_column_id
