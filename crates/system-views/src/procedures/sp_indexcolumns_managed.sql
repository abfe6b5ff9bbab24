    @Catalog sysname = NULL,
    @Owner sysname = NULL,
    @Table sysname = NULL,
    @ConstraintName sysname = NULL,
    @Column sysname = NULL
AS
-- What SqlConnection.GetSchema("IndexColumns") reads. KeyType is the column's type.
SELECT CAST(DB_NAME() AS sysname) AS constraint_catalog, CAST(SCHEMA_NAME(o.schema_id) AS sysname) AS constraint_schema,
    i.name AS constraint_name, CAST(DB_NAME() AS sysname) AS table_catalog, CAST(SCHEMA_NAME(o.schema_id) AS sysname) AS table_schema,
    o.name AS table_name, c.name AS column_name, CAST(k.key_ordinal AS int) AS ordinal_position, c.system_type_id AS KeyType,
    i.name AS index_name
FROM sys.objects AS o
    JOIN sys.indexes AS i ON i.object_id = o.object_id
    JOIN sys.index_columns AS k ON k.object_id = i.object_id AND k.index_id = i.index_id
    JOIN sys.columns AS c ON c.object_id = k.object_id AND c.column_id = k.column_id
WHERE o.type = 'U' AND i.index_id > 0 AND i.is_hypothetical = 0 AND k.key_ordinal > 0
    AND (@Catalog IS NULL OR DB_NAME() = @Catalog) AND (@Owner IS NULL OR SCHEMA_NAME(o.schema_id) = @Owner)
    AND (@Table IS NULL OR o.name = @Table) AND (@ConstraintName IS NULL OR i.name = @ConstraintName)
    AND (@Column IS NULL OR c.name = @Column)
ORDER BY table_name, index_name, ordinal_position
