    @Catalog sysname = NULL,
    @Owner sysname = NULL,
    @Table sysname = NULL,
    @Name sysname = NULL
AS
-- What SqlConnection.GetSchema("Indexes") reads.
SELECT CAST(DB_NAME() AS sysname) AS constraint_catalog, CAST(SCHEMA_NAME(o.schema_id) AS sysname) AS constraint_schema,
    i.name AS constraint_name, CAST(DB_NAME() AS sysname) AS table_catalog, CAST(SCHEMA_NAME(o.schema_id) AS sysname) AS table_schema,
    o.name AS table_name, i.name AS index_name, i.type_desc
FROM sys.objects AS o JOIN sys.indexes AS i ON i.object_id = o.object_id
WHERE o.type = 'U' AND i.index_id > 0 AND i.is_hypothetical = 0
    AND (@Catalog IS NULL OR DB_NAME() = @Catalog) AND (@Owner IS NULL OR SCHEMA_NAME(o.schema_id) = @Owner)
    AND (@Table IS NULL OR o.name = @Table) AND (@Name IS NULL OR i.name = @Name)
ORDER BY table_name, index_name
