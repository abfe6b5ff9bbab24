    @table_name sysname,
    @table_owner sysname = NULL,
    @table_qualifier sysname = NULL,
    @column_name nvarchar(384) = NULL
AS
SELECT c.TABLE_QUALIFIER, c.TABLE_OWNER, c.TABLE_NAME, c.COLUMN_NAME, CAST('dbo' AS sysname) AS GRANTOR, CAST('dbo' AS sysname) AS GRANTEE,
    CAST(p.name AS varchar(32)) AS PRIVILEGE, CAST('YES' AS varchar(3)) AS IS_GRANTABLE
FROM sys.spt_columns AS c CROSS JOIN (VALUES ('INSERT'), ('REFERENCES'), ('SELECT'), ('UPDATE')) AS p(name)
WHERE c.TABLE_NAME = @table_name AND (@table_owner IS NULL OR c.TABLE_OWNER = @table_owner)
    AND (@column_name IS NULL OR c.COLUMN_NAME LIKE @column_name ESCAPE '\')
ORDER BY 1, 2, 3, 4, 7
