    @name_in_db sysname = NULL
AS
IF @name_in_db IS NOT NULL AND EXISTS
    (SELECT 1 FROM sys.database_principals WHERE name = @name_in_db AND type = 'R')
BEGIN
    SELECT r.name AS Role_name, CAST(r.principal_id AS smallint) AS Role_id, u.name AS Users_in_role,
        CAST(u.principal_id AS smallint) AS Userid
    FROM sys.database_role_members AS m
    JOIN sys.database_principals AS r ON r.principal_id = m.role_principal_id
    JOIN sys.database_principals AS u ON u.principal_id = m.member_principal_id
    WHERE r.name = @name_in_db
    ORDER BY 1, 3
    RETURN 0
END
IF @name_in_db IS NOT NULL AND NOT EXISTS
    (SELECT 1 FROM sys.database_principals AS u LEFT JOIN sys.server_principals AS l ON l.sid = u.sid
     WHERE u.type <> 'R' AND (u.name = @name_in_db OR l.name = @name_in_db))
BEGIN
    RAISERROR(15198, -1, -1, @name_in_db)
    RETURN 1
END
SELECT u.name AS UserName, CAST(COALESCE(r.name, 'public') AS sysname) AS RoleName, l.name AS LoginName,
    l.default_database_name AS DefDBName, u.default_schema_name AS DefSchemaName,
    CAST(CAST(u.principal_id AS smallint) AS char(10)) AS UserID, u.sid AS SID
FROM sys.database_principals AS u
LEFT JOIN sys.database_role_members AS m ON m.member_principal_id = u.principal_id
LEFT JOIN sys.database_principals AS r ON r.principal_id = m.role_principal_id
LEFT JOIN sys.server_principals AS l ON l.sid = u.sid
WHERE u.type <> 'R' AND (@name_in_db IS NULL OR u.name = @name_in_db OR l.name = @name_in_db)
ORDER BY 1, 2
RETURN 0
