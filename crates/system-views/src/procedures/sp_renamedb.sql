    @dbname sysname,
    @newname sysname
AS
IF DB_ID(@dbname) IS NULL
BEGIN
    RAISERROR(15010, -1, -1, @dbname)
    RETURN 1
END
DECLARE @text nvarchar(600) = N'ALTER DATABASE ' + QUOTENAME(@dbname) + N' MODIFY NAME = ' + QUOTENAME(@newname)
EXEC (@text)
RETURN @@ERROR
