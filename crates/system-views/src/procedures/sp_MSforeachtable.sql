    @command1 nvarchar(2000),
    @replacechar nchar(1) = N'?',
    @command2 nvarchar(2000) = NULL,
    @command3 nvarchar(2000) = NULL,
    @whereand nvarchar(2000) = NULL,
    @precommand nvarchar(2000) = NULL,
    @postcommand nvarchar(2000) = NULL
AS
-- No INSERT ... EXEC and no temporary table: a caller may take the rows of the commands by INSERT ... EXEC himself.
DECLARE @query nvarchar(max), @names nvarchar(max), @name nvarchar(600), @command nvarchar(max), @end int
-- @whereand names sysobjects o and sys.all_objects syso.
SET @query = N'SELECT @names = STRING_AGG(CAST(QUOTENAME(SCHEMA_NAME(syso.schema_id)) + N''.'' + QUOTENAME(o.name)
        AS nvarchar(max)) + NCHAR(1), N'''') WITHIN GROUP (ORDER BY o.id)
    FROM dbo.sysobjects o JOIN sys.all_objects syso ON o.id = syso.object_id
    WHERE OBJECTPROPERTY(o.id, N''IsUserTable'') = 1 ' + ISNULL(@whereand, N'')
EXEC sp_executesql @query, N'@names nvarchar(max) OUTPUT', @names OUTPUT
IF @@ERROR <> 0 RETURN 1
IF @precommand IS NOT NULL EXEC (@precommand)
WHILE LEN(@names) > 0
BEGIN
    SET @end = CHARINDEX(NCHAR(1), @names)
    SET @name = LEFT(@names, @end - 1)
    SET @names = SUBSTRING(@names, @end + 1, LEN(@names))
    SET @command = REPLACE(@command1, @replacechar, @name)
    EXEC (@command)
    IF @command2 IS NOT NULL
    BEGIN
        SET @command = REPLACE(@command2, @replacechar, @name)
        EXEC (@command)
    END
    IF @command3 IS NOT NULL
    BEGIN
        SET @command = REPLACE(@command3, @replacechar, @name)
        EXEC (@command)
    END
END
IF @postcommand IS NOT NULL EXEC (@postcommand)
RETURN 0
