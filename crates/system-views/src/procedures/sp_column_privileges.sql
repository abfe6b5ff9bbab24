    @table_name sysname,
    @table_owner sysname = NULL,
    @table_qualifier sysname = NULL,
    @column_name nvarchar(384) = NULL
AS
IF @table_qualifier IS NOT NULL AND @table_qualifier <> '' AND @table_qualifier <> '%' AND @table_qualifier <> DB_NAME()
BEGIN
    RAISERROR(15250, -1, -1)
    RETURN
END
-- Without an owner the table is the one that a statement of the caller would find.
DECLARE @table int = OBJECT_ID(ISNULL(QUOTENAME(@table_owner) + N'.', N'') + QUOTENAME(@table_name))
-- What the owner of the table may, and what was granted on the table or on a column.
SELECT CAST(DB_NAME() AS sysname) AS TABLE_QUALIFIER, CAST(OBJECT_SCHEMA_NAME(@table) AS sysname) AS TABLE_OWNER,
    CAST(OBJECT_NAME(@table) AS sysname) AS TABLE_NAME, c.name AS COLUMN_NAME,
    CAST(p.grantor AS sysname) AS GRANTOR, CAST(p.grantee AS sysname) AS GRANTEE, CAST(p.name AS varchar(32)) AS PRIVILEGE,
    CAST(p.grantable AS varchar(3)) AS IS_GRANTABLE
FROM sys.columns AS c CROSS APPLY (
    SELECT USER_NAME(OBJECTPROPERTY(@table, 'OwnerId')) AS grantor, USER_NAME(OBJECTPROPERTY(@table, 'OwnerId')) AS grantee,
        t.name, 'YES' AS grantable
    FROM (VALUES ('INSERT'), ('REFERENCES'), ('SELECT'), ('UPDATE')) AS t(name)
    UNION
    SELECT USER_NAME(d.grantor_principal_id), USER_NAME(d.grantee_principal_id), d.permission_name,
        CASE d.state WHEN 'W' THEN 'YES' ELSE 'NO' END
    FROM sys.database_permissions AS d
    WHERE d.class = 1 AND d.major_id = @table AND d.minor_id IN (0, c.column_id) AND d.state IN ('G', 'W')
        AND d.type IN ('IN', 'RF', 'SL', 'UP')
) AS p
WHERE c.object_id = @table AND (@column_name IS NULL OR c.name LIKE @column_name ESCAPE '\')
ORDER BY 1, 2, 3, 4, 7, 6
