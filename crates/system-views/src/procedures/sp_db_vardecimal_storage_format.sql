    @dbname sysname = NULL,
    @vardecimal_storage_format varchar(3) = NULL
AS
IF @dbname IS NOT NULL AND DB_ID(@dbname) IS NULL
BEGIN
    RAISERROR(15010, -1, -1, @dbname)
    RETURN 1
END
IF @vardecimal_storage_format IS NOT NULL AND UPPER(@vardecimal_storage_format) NOT IN ('ON', 'OFF')
BEGIN
    RAISERROR(15229, -1, -1, 128, N'@vardecimal_storage_format')
    RETURN 1
END
-- On for every database, as since SQL Server 2008.
IF @vardecimal_storage_format IS NULL
    SELECT name AS [Database Name], CAST('ON' AS varchar(3)) AS [Vardecimal State] FROM sys.databases
    WHERE @dbname IS NULL OR name = @dbname ORDER BY name
RETURN 0
