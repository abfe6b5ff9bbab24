    @loginame sysname,
    @defdb sysname
AS
IF @loginame IS NULL OR SUSER_ID(@loginame) IS NULL
BEGIN
    RAISERROR(15007, -1, -1, @loginame)
    RETURN 1
END
IF @defdb IS NULL OR DB_ID(@defdb) IS NULL
BEGIN
    RAISERROR(15010, -1, -1, @defdb)
    RETURN 1
END
DECLARE @text nvarchar(600) = N'ALTER LOGIN ' + QUOTENAME(@loginame) + N' WITH DEFAULT_DATABASE = ' + QUOTENAME(@defdb)
EXEC (@text)
IF @@ERROR <> 0 RETURN 1
RETURN 0
