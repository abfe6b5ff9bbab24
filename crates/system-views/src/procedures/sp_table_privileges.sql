    @table_name nvarchar(384),
    @table_owner nvarchar(384) = NULL,
    @table_qualifier sysname = NULL,
    @fUsePattern bit = 1
AS
IF @table_qualifier IS NOT NULL AND @table_qualifier <> '' AND @table_qualifier <> '%' AND @table_qualifier <> DB_NAME()
BEGIN
    RAISERROR(15250, -1, -1)
    RETURN
END
-- What the owner of a table may, and what was granted.
SELECT CAST(DB_NAME() AS sysname) AS TABLE_QUALIFIER, CAST(SCHEMA_NAME(o.schema_id) AS sysname) AS TABLE_OWNER, o.name AS TABLE_NAME,
    CAST(p.grantor AS sysname) AS GRANTOR, CAST(p.grantee AS sysname) AS GRANTEE, CAST(p.name AS varchar(32)) AS PRIVILEGE,
    CAST(p.grantable AS varchar(3)) AS IS_GRANTABLE
FROM sys.objects AS o CROSS APPLY (
    SELECT USER_NAME(OBJECTPROPERTY(o.object_id, 'OwnerId')) AS grantor, USER_NAME(OBJECTPROPERTY(o.object_id, 'OwnerId')) AS grantee,
        t.name, 'YES' AS grantable
    FROM (VALUES ('DELETE'), ('INSERT'), ('REFERENCES'), ('SELECT'), ('UPDATE')) AS t(name)
    UNION ALL
    SELECT USER_NAME(d.grantor_principal_id), USER_NAME(d.grantee_principal_id), d.permission_name,
        CASE d.state WHEN 'W' THEN 'YES' ELSE 'NO' END
    FROM sys.database_permissions AS d
    WHERE d.class = 1 AND d.major_id = o.object_id AND d.minor_id = 0 AND d.state IN ('G', 'W')
        AND d.type IN ('DL', 'IN', 'RF', 'SL', 'UP')
) AS p
WHERE o.type IN ('U', 'V')
    AND ((@fUsePattern = 1 AND o.name LIKE @table_name ESCAPE '\') OR (@fUsePattern = 0 AND o.name = @table_name))
    AND (@table_owner IS NULL OR (@fUsePattern = 1 AND SCHEMA_NAME(o.schema_id) LIKE @table_owner ESCAPE '\')
        OR (@fUsePattern = 0 AND SCHEMA_NAME(o.schema_id) = @table_owner))
ORDER BY 1, 2, 3, 6, 5
