    @loginame sysname,
    @language sysname = NULL
AS
IF @loginame IS NULL OR SUSER_ID(@loginame) IS NULL
BEGIN
    RAISERROR(15007, -1, -1, @loginame)
    RETURN 1
END
SET @language = ISNULL(@language, N'us_english')
DECLARE @text nvarchar(600) = N'ALTER LOGIN ' + QUOTENAME(@loginame) + N' WITH DEFAULT_LANGUAGE = ' + QUOTENAME(@language)
EXEC (@text)
IF @@ERROR <> 0 RETURN 1
RETURN 0
