    @command1 nvarchar(2000),
    @replacechar nchar(1) = N'?',
    @command2 nvarchar(2000) = NULL,
    @command3 nvarchar(2000) = NULL,
    @precommand nvarchar(2000) = NULL,
    @postcommand nvarchar(2000) = NULL
AS
-- As sp_MSforeachtable; names of databases are put in as they are, without brackets.
DECLARE @names nvarchar(max), @name sysname, @command nvarchar(max), @end int
SELECT @names = STRING_AGG(CAST(name AS nvarchar(max)) + NCHAR(1), N'') WITHIN GROUP (ORDER BY database_id)
FROM sys.databases WHERE state = 0 AND HAS_DBACCESS(name) = 1
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
