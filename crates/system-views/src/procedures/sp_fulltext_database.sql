    @action varchar(20)
AS
-- Every database can be searched, since SQL Server 2008: the action is accepted and changes nothing.
IF ISNULL(LOWER(@action), '') NOT IN ('enable', 'disable')
BEGIN
    RAISERROR(15600, -1, -1, N'sys.sp_fulltext_database')
    RETURN 1
END
IF IS_MEMBER(N'db_owner') = 0
BEGIN
    RAISERROR(15247, -1, -1)
    RETURN 1
END
RETURN 0
