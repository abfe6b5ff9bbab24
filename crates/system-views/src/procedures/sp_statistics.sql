    @table_name sysname,
    @table_owner sysname = NULL,
    @table_qualifier sysname = NULL,
    @index_name sysname = '%',
    @is_unique char(1) = 'N',
    @accuracy char(1) = 'Q'
AS
IF @table_qualifier IS NOT NULL AND @table_qualifier <> '' AND @table_qualifier <> '%' AND @table_qualifier <> DB_NAME()
BEGIN
    RAISERROR(15250, -1, -1)
    RETURN
END
-- Without an owner the table is the one that a statement of the caller would find.
DECLARE @table int = OBJECT_ID(ISNULL(QUOTENAME(@table_owner) + N'.', N'') + QUOTENAME(@table_name))
SELECT CAST(DB_NAME() AS sysname) AS TABLE_QUALIFIER, CAST(SCHEMA_NAME(o.schema_id) AS sysname) AS TABLE_OWNER,
    o.name AS TABLE_NAME, CAST(s.NON_UNIQUE AS smallint) AS NON_UNIQUE, CAST(s.INDEX_QUALIFIER AS sysname) AS INDEX_QUALIFIER,
    CAST(s.INDEX_NAME AS sysname) AS INDEX_NAME, CAST(s.TYPE AS smallint) AS TYPE, CAST(s.SEQ_IN_INDEX AS smallint) AS SEQ_IN_INDEX,
    CAST(s.COLUMN_NAME AS sysname) AS COLUMN_NAME, CAST(s.COLLATION AS char(1)) AS COLLATION,
    CAST(p.rows AS int) AS CARDINALITY, CAST(p.data_pages AS int) AS PAGES, CAST(NULL AS varchar(128)) AS FILTER_CONDITION
FROM sys.objects AS o
    JOIN (
        SELECT p.object_id, SUM(p.rows) AS rows, SUM(a.data_pages) AS data_pages
        FROM sys.partitions AS p JOIN sys.allocation_units AS a ON a.container_id = p.hobt_id
        WHERE p.object_id = @table AND p.index_id <= 1
        GROUP BY p.object_id
    ) AS p ON p.object_id = o.object_id
    JOIN (
        SELECT object_id, NULL AS NON_UNIQUE, NULL AS INDEX_QUALIFIER, NULL AS INDEX_NAME, 0 AS TYPE, NULL AS SEQ_IN_INDEX,
            NULL AS COLUMN_NAME, NULL AS COLLATION
        FROM sys.tables
        UNION ALL
        SELECT i.object_id, CASE WHEN i.is_unique = 1 THEN 0 ELSE 1 END, OBJECT_NAME(i.object_id), i.name,
            CASE WHEN i.index_id = 1 THEN 1 ELSE 3 END, c.key_ordinal, COL_NAME(i.object_id, c.column_id),
            CASE WHEN c.is_descending_key = 1 THEN 'D' ELSE 'A' END
        FROM sys.indexes AS i JOIN sys.index_columns AS c ON c.object_id = i.object_id AND c.index_id = i.index_id
        WHERE i.index_id > 0 AND c.key_ordinal > 0 AND (ISNULL(@is_unique, 'N') <> 'Y' OR i.is_unique = 1) AND i.name LIKE ISNULL(@index_name, N'%')
    ) AS s ON s.object_id = o.object_id
WHERE o.object_id = @table
ORDER BY 4, 7, 6, 8
