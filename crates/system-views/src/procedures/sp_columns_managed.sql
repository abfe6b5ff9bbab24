    @Catalog sysname = NULL,
    @Owner sysname = NULL,
    @Table sysname = NULL,
    @Column sysname = NULL,
    @SchemaType int = 0
AS
-- What SqlConnection.GetSchema reads. 0: columns that SELECT * shows; 1: all; 2: those behind a column set, which no table has.
SELECT c.TABLE_CATALOG, c.TABLE_SCHEMA, c.TABLE_NAME, c.COLUMN_NAME, c.ORDINAL_POSITION, c.COLUMN_DEFAULT, c.IS_NULLABLE, c.DATA_TYPE,
    c.CHARACTER_MAXIMUM_LENGTH, c.CHARACTER_OCTET_LENGTH, c.NUMERIC_PRECISION, c.NUMERIC_PRECISION_RADIX, c.NUMERIC_SCALE,
    c.DATETIME_PRECISION, c.CHARACTER_SET_CATALOG, c.CHARACTER_SET_SCHEMA, c.CHARACTER_SET_NAME, c.COLLATION_CATALOG,
    CAST(s.is_sparse AS bit) AS IS_SPARSE, CAST(s.is_column_set AS bit) AS IS_COLUMN_SET, CAST(s.is_filestream AS bit) AS IS_FILESTREAM
FROM INFORMATION_SCHEMA.COLUMNS AS c
    JOIN sys.columns AS s ON s.object_id = OBJECT_ID(QUOTENAME(c.TABLE_SCHEMA) + N'.' + QUOTENAME(c.TABLE_NAME)) AND s.column_id = c.ORDINAL_POSITION
WHERE (@Catalog IS NULL OR c.TABLE_CATALOG = @Catalog) AND (@Owner IS NULL OR c.TABLE_SCHEMA = @Owner)
    AND (@Table IS NULL OR c.TABLE_NAME = @Table) AND (@Column IS NULL OR c.COLUMN_NAME = @Column)
    AND @SchemaType <> 2
ORDER BY c.TABLE_CATALOG, c.TABLE_SCHEMA, c.TABLE_NAME, c.COLUMN_NAME
