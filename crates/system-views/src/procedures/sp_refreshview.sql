    @viewname nvarchar(776)
AS
IF @viewname IS NULL OR ISNULL(OBJECTPROPERTY(OBJECT_ID(@viewname), 'IsView'), 0) = 0
BEGIN
    RAISERROR(15165, -1, -1, @viewname)
    RETURN 1
END
DECLARE @status int
EXEC @status = sys.sp_refreshsqlmodule @viewname
RETURN @status
