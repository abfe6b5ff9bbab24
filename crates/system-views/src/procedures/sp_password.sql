    @old sysname = NULL,
    @new sysname,
    @loginame sysname = NULL
AS
SET @loginame = ISNULL(@loginame, SUSER_SNAME())
IF SUSER_ID(@loginame) IS NULL
BEGIN
    RAISERROR(15007, -1, -1, @loginame)
    RETURN 1
END
DECLARE @text nvarchar(1000) = N'ALTER LOGIN ' + QUOTENAME(@loginame) + N' WITH PASSWORD = N''' + REPLACE(@new, N'''', N'''''') + N''''
    + ISNULL(N' OLD_PASSWORD = N''' + REPLACE(@old, N'''', N'''''') + N'''', N'')
EXEC (@text)
IF @@ERROR <> 0 RETURN 1
RETURN 0
