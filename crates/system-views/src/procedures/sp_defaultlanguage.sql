    @loginame sysname,
    @language sysname = NULL
AS
IF @loginame IS NULL OR SUSER_ID(@loginame) IS NULL
BEGIN
    RAISERROR(15007, -1, -1, @loginame)
    RETURN 1
END
SET @language = ISNULL(@language, (SELECT l.name FROM sys.syslanguages AS l JOIN sys.configurations AS c ON l.langid = c.value_in_use WHERE c.name = N'default language'))
DECLARE @text nvarchar(600) = N'ALTER LOGIN ' + QUOTENAME(@loginame) + N' WITH DEFAULT_LANGUAGE = ' + QUOTENAME(@language)
EXEC (@text)
IF @@ERROR <> 0 RETURN 1
RETURN 0
