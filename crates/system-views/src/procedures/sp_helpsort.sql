AS
SELECT description AS [Server default collation] FROM sys.fn_helpcollations()
WHERE name = CAST(SERVERPROPERTY('Collation') AS sysname)
RETURN 0
