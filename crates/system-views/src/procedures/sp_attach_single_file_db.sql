    @dbname sysname,
    @physname nvarchar(260)
AS
DECLARE @text nvarchar(max) = N'CREATE DATABASE ' + QUOTENAME(@dbname) + N' ON (FILENAME = N''' + REPLACE(@physname, N'''', N'''''') + N''') FOR ATTACH'
EXEC (@text)
IF @@ERROR <> 0 RETURN 1
RETURN 0
