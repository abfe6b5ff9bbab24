    @LoginNamePattern sysname = NULL
AS
IF IS_SRVROLEMEMBER('securityadmin') = 0 AND IS_SRVROLEMEMBER('sysadmin') = 0
BEGIN
    RAISERROR(15247, -1, -1)
    RETURN 1
END
IF @LoginNamePattern IS NOT NULL AND NOT EXISTS (SELECT 1 FROM sys.server_principals WHERE type = 'S' AND name = @LoginNamePattern)
BEGIN
    RAISERROR(15007, -1, -1, @LoginNamePattern)
    RETURN 1
END
-- Each database's users and their roles, as one query.
DECLARE @users nvarchar(max), @query nvarchar(max)
SELECT @users = STRING_AGG(CAST(N'SELECT p.sid AS sid, ' + QUOTENAME(name, N'''') + N' AS db, u.name AS uname, ''User'' AS kind'
    + N' FROM ' + QUOTENAME(name) + N'.sys.database_principals u JOIN sys.server_principals p ON p.sid = u.sid'
    + N' UNION ALL SELECT p.sid, ' + QUOTENAME(name, N'''') + N', r.name, ''MemberOf'''
    + N' FROM ' + QUOTENAME(name) + N'.sys.database_principals u JOIN sys.server_principals p ON p.sid = u.sid'
    + N' JOIN ' + QUOTENAME(name) + N'.sys.database_role_members m ON m.member_principal_id = u.principal_id'
    + N' JOIN ' + QUOTENAME(name) + N'.sys.database_principals r ON r.principal_id = m.role_principal_id' AS nvarchar(max)),
    N' UNION ALL ') WITHIN GROUP (ORDER BY database_id)
FROM sys.databases WHERE state = 0 AND database_id <> 2
SET @query = N'SELECT l.name AS LoginName, CAST(l.sid AS varbinary(85)) AS SID, l.default_database_name AS DefDBName,
    l.default_language_name AS DefLangName,
    CAST(CASE WHEN EXISTS (SELECT 1 FROM (' + @users + N') AS x WHERE x.sid = l.sid) THEN ''yes'' ELSE ''no'' END AS char(5)) AS Auser,
    CAST(''no'' AS char(7)) AS ARemote
FROM sys.server_principals AS l WHERE l.type = ''S'' AND (@login IS NULL OR l.name = @login) ORDER BY 1'
EXEC sp_executesql @query, N'@login sysname', @LoginNamePattern
SET @query = N'SELECT l.name AS LoginName, CAST(x.db AS sysname) AS DBName, CAST(x.uname AS sysname) AS UserName,
    CAST(x.kind AS char(8)) AS UserOrAlias
FROM sys.server_principals AS l JOIN (' + @users + N') AS x ON x.sid = l.sid
WHERE l.type = ''S'' AND (@login IS NULL OR l.name = @login) ORDER BY 1, 2, 4 DESC, 3'
EXEC sp_executesql @query, N'@login sysname', @LoginNamePattern
RETURN 0
