    @table_name nvarchar(384),
    @table_owner nvarchar(384) = NULL,
    @table_qualifier sysname = NULL,
    @fUsePattern bit = 1
AS
SELECT t.TABLE_QUALIFIER, t.TABLE_OWNER, t.TABLE_NAME, CAST('dbo' AS sysname) AS GRANTOR, CAST('dbo' AS sysname) AS GRANTEE,
    CAST(p.name AS varchar(32)) AS PRIVILEGE, CAST('YES' AS varchar(3)) AS IS_GRANTABLE
FROM sys.spt_tables AS t CROSS JOIN (VALUES ('DELETE'), ('INSERT'), ('REFERENCES'), ('SELECT'), ('UPDATE')) AS p(name)
WHERE t.TABLE_TYPE = 'TABLE'
    AND ((@fUsePattern = 1 AND t.TABLE_NAME LIKE @table_name ESCAPE '\') OR (@fUsePattern = 0 AND t.TABLE_NAME = @table_name))
    AND (@table_owner IS NULL OR t.TABLE_OWNER LIKE @table_owner ESCAPE '\')
ORDER BY 1, 2, 3, 6
