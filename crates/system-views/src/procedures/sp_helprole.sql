    @rolename sysname = NULL
AS
IF @rolename IS NOT NULL AND NOT EXISTS
    (SELECT 1 FROM sys.database_principals WHERE name = @rolename AND type IN ('R', 'A'))
BEGIN
    RAISERROR(15409, -1, -1, @rolename)
    RETURN 1
END
SELECT p.name AS RoleName, CAST(p.principal_id AS smallint) AS RoleId,
    CAST(CASE p.type WHEN 'A' THEN 1 ELSE 0 END AS int) AS IsAppRole
FROM sys.database_principals AS p
WHERE p.type IN ('R', 'A') AND (@rolename IS NULL OR p.name = @rolename)
ORDER BY p.principal_id
RETURN 0
